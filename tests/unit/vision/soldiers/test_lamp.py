"""The lamp, found from the soldiers' shadows."""

import cv2
import numpy as np
import painted_table as painted
import pytest
from painted_table import CROWD, Table

from vision.registration import BoardView
from vision.soldiers import read_board
from vision.soldiers.figure import Figure, hidden_by_figures
from vision.soldiers.lamp import Lamp, cast_shadows, in_shadow
from vision.soldiers.surface import Raster

MIDDLE_MM = np.array([180.0, 405.0])
FIGURE_MM = 42.0


def shaded(camera: BoardView, lamp: Lamp | None) -> np.ndarray:
    """The crowd on its table, each with its shadow."""
    table = Table(camera, tuple(painted.standing(CROWD).values()))
    picture = table.paint()
    if lamp is None:
        return picture
    heights = np.arange(0.0, FIGURE_MM, 1.5)
    shadow = np.zeros(picture.shape[:2], np.uint8)
    figure = np.zeros_like(shadow)
    for standing in table.figures:
        body = np.array([(standing.x_mm, standing.y_mm, z) for z in heights])
        for mask, points in ((shadow, lamp.shadow(body)), (figure, body)):
            for u, v in camera.project(points):
                cv2.circle(mask, (round(u), round(v)), 6, 255, -1)
    dark = (shadow > 0) & (figure == 0)
    picture[dark] = (0.6 * picture[dark]).astype(np.uint8)
    return picture


@pytest.mark.parametrize("slope", [(0.6, 0.3), (-0.9, 0.5), (0.2, -0.8)])
def test_the_lamp_is_found_from_the_shadows(slope: tuple[float, float]) -> None:
    camera = painted.view()
    lamp = Lamp(np.array(slope), 0.0, 1 / 1500.0, 3e-4, MIDDLE_MM, 0.4)
    scene = painted.scene(camera, expected=CROWD)
    found = read_board(shaded(camera, lamp), scene, camera).lamp
    assert found is not None
    assert np.abs(found.slope - lamp.slope).max() < 2 * found.slope_sigma
    across = found.slope @ np.array([-slope[1], slope[0]]) / np.hypot(*slope)
    assert abs(across) < 0.15


def test_without_shadows_there_is_no_lamp() -> None:
    camera = painted.view()
    scene = painted.scene(camera, expected=CROWD)
    assert read_board(shaded(camera, None), scene, camera).lamp is None


def test_a_shadow_lies_on_the_board_away_from_the_lamp() -> None:
    lamp = Lamp(np.array([0.5, 0.0]), 0.1, 1 / 1000.0, 3e-4, MIDDLE_MM, 0.4)
    thrown = lamp.shadow(np.array([[180.0, 405.0, 0.0], [180.0, 405.0, 20.0]]))
    assert thrown[0] == pytest.approx([180.0, 405.0, 0.0])
    assert thrown[1, 2] == 0.0
    assert thrown[1, 0] == pytest.approx(190.0, abs=0.5)


def test_a_point_its_shadow_and_the_lamp_lie_on_one_line() -> None:
    lamp = Lamp(np.array([0.5, -0.2]), 0.1, 1 / 900.0, 3e-4, MIDDLE_MM, 0.4)
    hangs_mm = np.append(MIDDLE_MM - 900.0 * lamp.slope, 900.0)
    points = np.array([(x, y, 40.0) for x in (0.0, 180.0, 360.0) for y in (0.0, 405.0, 810.0)])
    along = (points - hangs_mm) / (900.0 - points[:, 2:])
    assert lamp.shadow(points) == pytest.approx(hangs_mm + 900.0 * along, abs=0.2)


def test_a_shadow_is_as_dark_as_the_others_and_of_the_boards_colour() -> None:
    """What is darker, or of another colour, is something that lies in the shadow, and what is no darker is bare."""
    camera = painted.view()
    raster = Raster(camera, painted.scene(camera))
    lamp = Lamp(np.array([0.9, 0.0]), 0.1, 1 / 1000.0, 3e-4, MIDDLE_MM, 0.4)
    figure, feet_mm = Figure(FIGURE_MM, 11.0), np.array([[180.0, 300.0]])

    def shaded_share(darkness: float, *, tinted: bool = False) -> float:
        dark = np.full(raster.shape, darkness, np.float32)
        other = np.full(raster.shape, tinted)
        found = in_shadow(lamp, dark, other, raster, camera, figure, feet_mm)
        return float(found.sum() / cast_shadows(lamp, raster, camera, figure, feet_mm).sum())

    assert shaded_share(0.4) == 1.0
    assert shaded_share(0.2) == 1.0
    assert shaded_share(0.0) == 0.0
    assert shaded_share(0.6) == 0.0
    assert shaded_share(0.4, tinted=True) == 0.0
    assert not (
        cast_shadows(lamp, raster, camera, figure, feet_mm)
        & hidden_by_figures(raster, camera, figure, feet_mm)
    ).any()

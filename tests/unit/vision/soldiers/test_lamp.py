"""The lamp, found from the soldiers' shadows."""

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Table

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.registration import BoardView
from vision.soldiers import read_board
from vision.soldiers.figure import Figure, hidden_by_figures
from vision.soldiers.lamp import Lamp, cast_shadows, find_darkness, find_lamp, find_tinted, in_shadow
from vision.soldiers.surface import Raster, learn_surface

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


CAMERA = painted.view()
RASTER = Raster(CAMERA, painted.scene(CAMERA))
FIGURE = Figure(FIGURE_MM, 11.0)
CROWD_MM = np.array([(each.x_mm, each.y_mm) for each in painted.standing(CROWD).values()])


def lamp_over(slope: tuple[float, float], height_mm: float) -> Lamp:
    return Lamp(np.array(slope), 0.0, 1 / height_mm, 0.0, MIDDLE_MM, 0.4)


def found_by(
    lamp: Lamp, missing: float, feet_mm: NDArray[np.float64] = CROWD_MM, *, grain: float = 0.02
) -> Lamp | None:
    """Look for the lamp on a board that soldiers' shadows darken by so much, and that has its grain."""
    dark = np.random.default_rng(4).normal(0, grain, RASTER.shape).astype(np.float32)
    dark[cast_shadows(lamp, RASTER, CAMERA, FIGURE, feet_mm)] += np.float32(missing)
    hidden = hidden_by_figures(RASTER, CAMERA, FIGURE, feet_mm)
    return find_lamp(dark, hidden, RASTER, FIGURE, feet_mm)


@pytest.mark.parametrize("height_mm", [700.0, 3000.0])
@pytest.mark.parametrize("slope", [(0.43, 0.16), (-0.3, 1.0)])
def test_a_lamp_is_found_where_it_hangs_be_it_low_or_high(
    slope: tuple[float, float], height_mm: float
) -> None:
    lamp = lamp_over(slope, height_mm)
    found = found_by(lamp, 0.35)
    assert found is not None
    assert np.abs(found.slope - lamp.slope).max() < 1.5 * found.slope_sigma
    assert abs(found.nearness_per_mm - lamp.nearness_per_mm) < 1.5 * found.nearness_sigma_per_mm
    assert found.darkness == pytest.approx(0.35, abs=0.03)


def test_few_soldiers_tell_of_a_lamp_less_than_many() -> None:
    """Faint shadows of a handful may be chance; of two, any may."""
    lamp = lamp_over((0.6, -0.3), 1000.0)
    assert found_by(lamp, 0.12) is not None
    assert found_by(lamp, 0.12, CROWD_MM[:5]) is None
    assert found_by(lamp, 0.5, CROWD_MM[:5]) is not None
    assert found_by(lamp, 0.5, CROWD_MM[:2]) is None


def test_what_hardly_darkens_the_board_is_no_shadow_however_many_there_are() -> None:
    lamp = lamp_over((0.6, -0.3), 1000.0)
    assert found_by(lamp, 0.065, grain=0.003) is None
    assert found_by(lamp, 0.15) is not None


def test_where_something_dark_begins_beside_soldiers_is_no_shadow() -> None:
    """A shadow has light on both its sides."""
    rank_mm = np.array([(60.0, y_mm) for y_mm in np.arange(50.0, 800.0, 45.0)])
    dark = np.zeros(RASTER.shape, np.float32)
    dark[:, int(RASTER.to_px(66.0)) :] = 0.35
    hidden = hidden_by_figures(RASTER, CAMERA, FIGURE, rank_mm)
    assert find_lamp(dark, hidden, RASTER, FIGURE, rank_mm) is None


def test_a_shadow_is_about_as_wide_as_the_figure() -> None:
    cast = cast_shadows(lamp_over((0.9, 0.0), 1e6), RASTER, CAMERA, FIGURE, np.array([[180.0, 300.0]]))
    rows, columns = np.nonzero(cast)
    across_mm = RASTER.to_mm(rows) - 300.0
    along_mm = RASTER.to_mm(columns) - 180.0
    widest_mm = float(FIGURE.body_radius_mm(np.array([0.0]))[0])
    assert widest_mm - 2.0 < np.abs(across_mm).max() < widest_mm + 4.0
    assert along_mm.max() == pytest.approx(0.9 * FIGURE_MM, abs=8.0)


@pytest.mark.parametrize("foot_mm", [(20.0, 20.0), (340.0, 790.0)])
def test_a_shadow_that_falls_beside_the_board_is_cut_off_at_its_margin(foot_mm: tuple[float, float]) -> None:
    """A low sun over the middle: it reaches farther than the margin of one square."""
    away = 1.0 if foot_mm[0] > MIDDLE_MM[0] else -1.0
    lamp = lamp_over((2.0 * away, 2.0 * away), 1e6)
    cast = cast_shadows(lamp, RASTER, CAMERA, FIGURE, np.array([foot_mm]))
    rows, columns = np.nonzero(cast)
    off_mm = np.array([RASTER.to_mm(columns) - foot_mm[0], RASTER.to_mm(rows) - foot_mm[1]]) * away
    assert cast.any()
    assert cast[(0 if away < 0 else -1)].any() or cast[:, (0 if away < 0 else -1)].any()
    assert (off_mm > -15.0).all()


def test_a_shadow_keeps_the_boards_colour_and_a_thing_does_not() -> None:
    n = RASTER.px_per_square
    bare = np.full((BOARD_ROWS * n, BOARD_FILES * n, 3), (70.0, 130.0, 95.0), np.float32)
    bare += np.random.default_rng(2).normal(0, 1.0, bare.shape).astype(np.float32)
    surface = learn_surface(bare, n)
    shadow, thing = np.s_[3 * n : 4 * n, 2 * n : 3 * n], np.s_[9 * n : 10 * n, 5 * n : 6 * n]
    seen = bare.copy()
    seen[shadow] *= 0.6
    seen[thing] = (130.0, 70.0, 60.0)
    shades = surface.shades(seen)
    tinted = find_tinted(shades, surface, RASTER)[RASTER.board]
    assert tinted[thing].mean() > 0.95
    assert tinted[shadow].mean() < 0.05
    assert np.median(find_darkness(shades, RASTER)[RASTER.board][shadow]) == pytest.approx(0.4, abs=0.03)


def test_a_grey_picture_shows_no_colour_that_is_not_the_boards() -> None:
    n = RASTER.px_per_square
    grey = np.full((BOARD_ROWS * n, BOARD_FILES * n, 1), 110.0, np.float32)
    grey += np.random.default_rng(2).normal(0, 1.0, grey.shape).astype(np.float32)
    surface = learn_surface(grey, n)
    seen = grey.copy()
    seen[3 * n : 4 * n] = 20.0
    assert not find_tinted(surface.shades(seen), surface, RASTER).any()

"""What a figure hides of the board: from its foot away from the camera, and no farther than its head."""

from __future__ import annotations

import numpy as np
import painted_table as painted
import pytest

from vision.soldiers.figure import Figure, hidden_by_figures
from vision.soldiers.surface import Raster

CAMERA = painted.view(tilt_rad=0.05)
RASTER = Raster(CAMERA, painted.scene(CAMERA))
FIGURE = Figure(42.0, 11.0)
PLACES_MM = [(22.5, 22.5), (180.0, 405.0), (340.0, 800.0)]


def seen_on_board(x_mm: float, y_mm: float, z_mm: float) -> np.ndarray:
    """The board point that a point hides."""
    return CAMERA.on_plane(CAMERA.project(np.array([[x_mm, y_mm, z_mm]])))[0]


@pytest.mark.parametrize(("x_mm", "y_mm"), PLACES_MM)
def test_a_figure_hides_what_lies_behind_its_head_and_its_foot(x_mm: float, y_mm: float) -> None:
    foot, _, head = FIGURE.shadow_of_sight(CAMERA.camera_mm, x_mm, y_mm)
    assert foot == pytest.approx((x_mm, y_mm, 11.0))
    assert head[:2] == pytest.approx(seen_on_board(x_mm, y_mm, 42.0), abs=1e-6)
    beside = seen_on_board(x_mm + FIGURE.body_radius_mm(np.array([42.0]))[0], y_mm, 42.0)
    assert head[2] == pytest.approx(float(np.linalg.norm(beside - head[:2])), abs=1e-6)


def test_a_body_narrows_upwards_and_is_a_third_as_wide_as_it_is_tall() -> None:
    low, head = FIGURE.body_radius_mm(np.array([0.0, 42.0]))
    assert 0.5 * low < head < 0.8 * low
    assert 2 * low == pytest.approx(42.0 / 3, rel=0.1)


def test_from_a_height_on_it_hides_neither_its_foot_nor_what_is_lower() -> None:
    low, head = FIGURE.shadow_of_sight(CAMERA.camera_mm, 340.0, 800.0, from_z_mm=20.0)
    assert low[:2] == pytest.approx(seen_on_board(340.0, 800.0, 20.0), abs=1e-6)
    assert head == FIGURE.shadow_of_sight(CAMERA.camera_mm, 340.0, 800.0)[-1]


@pytest.mark.parametrize("radius_mm", [7.0, 11.0, 17.0])
def test_a_foot_is_drawn_where_and_as_large_as_it_is(radius_mm: float) -> None:
    """But for half a pixel all round, which OpenCV adds."""
    drawn = Figure.draw([(100.0, 120.0, radius_mm)], RASTER, (0, 0), RASTER.shape[::-1])
    assert 0.0 < np.sqrt(drawn.sum() / np.pi) * RASTER.mm_per_px - radius_mm < 0.6 * RASTER.mm_per_px
    rows, columns = np.nonzero(drawn > 0.5)
    assert RASTER.to_mm(np.array([columns.mean(), rows.mean()])) == pytest.approx([100.0, 120.0], abs=0.3)


def test_a_body_without_its_foot_is_drawn_from_its_shoulders_to_its_head() -> None:
    discs = Figure(42.0, 20.0).shadow_of_sight(CAMERA.camera_mm, 340.0, 800.0)
    drawn = Figure.draw(discs[1:], RASTER, (0, 0), RASTER.shape[::-1])

    def at(x_mm: float, y_mm: float) -> float:
        column, row = np.round(RASTER.to_px(np.array([x_mm, y_mm]))).astype(int)
        return float(drawn[row, column])

    (_, _, _), low, head = discs
    for share in (0.0, 0.3, 0.7, 1.0):
        assert at(*(np.array(low[:2]) + share * np.subtract(head[:2], low[:2]))) == 1.0
    away = np.subtract(low[:2], head[:2]) / np.hypot(*np.subtract(low[:2], head[:2]))
    assert at(*(low[:2] + 14.0 * away)) == 0.0, "there is its foot"


def test_all_that_any_figure_hides_is_hidden_by_figures() -> None:
    feet_mm = np.array([(180.0, 405.0), (-44.0, 300.0), (363.0, 806.0), (185.0, 420.0)])
    whole = np.zeros(RASTER.shape, np.bool_)
    for x_mm, y_mm in feet_mm:
        discs = FIGURE.shadow_of_sight(CAMERA.camera_mm, x_mm, y_mm)
        whole |= Figure.draw(discs, RASTER, (0, 0), RASTER.shape[::-1]) > 0
    assert np.array_equal(hidden_by_figures(RASTER, CAMERA, FIGURE, feet_mm), whole)


@pytest.mark.parametrize("x_mm", [-40.0, 400.0])
def test_of_a_figure_over_the_rasters_rim_the_rest_is_seen(x_mm: float) -> None:
    box, inside = FIGURE.hidden(FIGURE.shadow_of_sight(CAMERA.camera_mm, x_mm, 405.0), RASTER)
    whole = np.zeros(RASTER.shape, np.bool_)
    assert whole[box].shape == inside.shape
    whole[box] = inside
    drawn = Figure.draw(
        FIGURE.shadow_of_sight(CAMERA.camera_mm, x_mm, 405.0), RASTER, (0, 0), RASTER.shape[::-1]
    )
    assert np.array_equal(whole, drawn > 0.5)
    assert inside.any()


def test_a_figure_beside_the_raster_hides_nothing_of_it() -> None:
    for x_mm, y_mm in ((-300.0, 405.0), (900.0, 405.0), (180.0, -300.0), (180.0, 1300.0)):
        box, inside = FIGURE.hidden(FIGURE.shadow_of_sight(CAMERA.camera_mm, x_mm, y_mm), RASTER)
        assert RASTER.lay(np.zeros((720, 1280), np.uint8))[box].shape[:2] == inside.shape == (0, 0)

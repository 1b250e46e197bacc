"""What a figure hides of the board: from its foot away from the camera, and no farther than its head."""

from __future__ import annotations

import numpy as np
import painted_table as painted
import pytest

from vision.soldiers.figure import Figure
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

"""A camera that sees the board: what it is from the other end, and how fine it sees."""

from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest

from game.montecassino import BOARD_FILES, BOARD_ROWS

TILTED = painted.view(tilt_rad=0.12, roll_rad=0.3, distortion=(-0.1, 0.03, 0.0, 0.0, 0.0))
ERRORS_MM = np.arange(BOARD_ROWS * BOARD_FILES, dtype=np.float64).reshape(BOARD_ROWS, BOARD_FILES)
SCENE = painted.scene(TILTED)


def test_from_the_other_end_a_point_is_seen_where_the_opposite_one_was() -> None:
    points = np.array([(30.0, 50.0, 0.0), (200.0, 700.0, 0.0), (90.0, 333.0, 40.0)])
    opposite = points * (-1, -1, 1) + (SCENE.width_mm, SCENE.length_mm, 0.0)
    turned = TILTED.turned(SCENE)
    assert turned.project(opposite) == pytest.approx(TILTED.project(points), abs=1e-6)
    assert turned.on_plane(TILTED.project(points), 0.0)[:2] == pytest.approx(opposite[:2, :2], abs=0.05)


def test_from_the_other_end_each_square_keeps_its_error() -> None:
    view = replace(TILTED, square_error_mm=ERRORS_MM)
    turned = view.turned(SCENE).square_error_mm
    assert turned is not None
    for row, file in ((0, 0), (3, 1), (17, 5)):
        assert turned[BOARD_ROWS - 1 - row, BOARD_FILES - 1 - file] == ERRORS_MM[row, file]
    assert TILTED.turned(SCENE).square_error_mm is None, "a camera that nobody fitted has none"


def test_a_pixel_covers_less_of_what_is_nearer_to_the_camera() -> None:
    """By similar triangles: as much of the plane as it lies below the camera, for each px of the focal length."""
    above = painted.view(height_mm=1200.0, focal_px=1000.0)
    for z_mm in (0.0, 40.0, 600.0):
        assert above.mm_per_px(180.0, 405.0, z_mm) == pytest.approx((1200.0 - z_mm) / 1000.0, rel=1e-3)


def test_a_pixel_of_a_board_seen_aslant_covers_the_mean_of_both_directions() -> None:
    low = painted.view(tilt_rad=0.7, height_mm=1500.0, focal_px=800.0)
    square = np.array([(178.0, 403.0, 0.0), (183.0, 403.0, 0.0), (183.0, 408.0, 0.0), (178.0, 408.0, 0.0)])
    u, v = low.project(square).T
    area_px = abs(u @ np.roll(v, 1) - v @ np.roll(u, 1)) / 2
    assert low.mm_per_px(180.0, 405.0) == pytest.approx(5.0 / np.sqrt(area_px), rel=0.01)

"""Pictures in which a square is a few pixels wide are told as that, and nothing is read from them."""

from __future__ import annotations

import numpy as np
import painted_table as painted
import pytest

from vision.registration import BoardView, NoBoard, register

FOCAL_PX, HEIGHT_MM = 1180.0, 1250.0


@pytest.mark.parametrize(("smaller", "is_read"), [(6, True), (10, False)])
def test_a_board_whose_squares_are_less_than_six_pixels_wide_is_too_coarse_to_be_read(
    smaller: int, is_read: bool
) -> None:
    camera = painted.view(
        width_px=960 // smaller, height_px=540 // smaller, focal_px=FOCAL_PX / smaller, height_mm=HEIGHT_MM
    )
    outline_mm = np.array([(*corner, 0.0) for corner in painted.scene(camera).outline_mm])
    corners_px = tuple((float(u), float(v)) for u, v in camera.project(outline_mm))
    scene = painted.scene(camera, markers=None, corners_px=corners_px)
    found = register(painted.Table(camera).paint(), scene)
    if is_read:
        assert isinstance(found, BoardView), found
    else:
        assert isinstance(found, NoBoard)
        assert found.reason == (
            "a square of the board is 4.2 px wide in the picture, and 6 are needed: "
            "hang the camera lower, or ask it for larger pictures"
        )

"""Corners that were told, held against the board that is seen."""

from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray

from vision.registration.corners import are_one_along, turned_over_since

CAMERA = replace(
    painted.view(tilt_rad=0.06, roll_rad=0.2, height_mm=1400.0),
    translation_mm=np.array([-440.0, -190.0, 1400.0]),
)
SCENE = painted.scene(CAMERA)
SIZE_PX = CAMERA.width_px, CAMERA.height_px


def corners_px(beside_squares: float = 0.0) -> NDArray[np.float64]:
    """Pixels of the board's corners, or of what lies so far beside them."""
    off_mm = np.array((0.0, beside_squares * SCENE.square_mm, 0.0))
    return CAMERA.project(np.array([(x, y, 0.0) for x, y in SCENE.outline_mm]) + off_mm)


OUTLINE = corners_px()


@pytest.mark.parametrize("half_turn", [0, 2])
def test_corners_begun_one_along_either_way_are_told_whichever_end_is_seen_first(half_turn: int) -> None:
    outline = np.roll(OUTLINE, half_turn, axis=0)
    for by in (1, 3):
        assert are_one_along(np.roll(OUTLINE, by, axis=0), outline, SCENE)
    for by in (0, 2):
        assert not are_one_along(np.roll(OUTLINE, by, axis=0), outline, SCENE)


def test_corners_are_the_boards_as_well_as_a_hand_clicks_them_and_not_where_they_lie_beside_it() -> None:
    for beside_squares, are_these in ((0.15, True), (-0.15, True), (0.6, False), (-0.6, False), (1.0, False)):
        told = np.roll(corners_px(beside_squares), 1, axis=0)
        assert are_one_along(told, OUTLINE, SCENE) is are_these


def test_one_corner_that_was_clicked_elsewhere_makes_them_others() -> None:
    told = np.roll(OUTLINE, 1, axis=0)
    told[2] += (60.0, 20.0)
    assert not are_one_along(told, OUTLINE, SCENE)


@pytest.mark.parametrize("half_turn", [0, 2])
@pytest.mark.parametrize(
    ("seen", "how"),
    [
        (OUTLINE, None),
        (OUTLINE * (-1, 1) + (SIZE_PX[0] - 1, 0), "mirrored"),
        (OUTLINE * (1, -1) + (0, SIZE_PX[1] - 1), "mirrored"),
        (OUTLINE * (-1, -1) + (SIZE_PX[0] - 1, SIZE_PX[1] - 1), "turned by half"),
    ],
    ids=["as it was", "left to right", "top to bottom", "upside down"],
)
def test_how_a_picture_was_turned_over_since_is_told(
    seen: NDArray[np.float64], how: str | None, half_turn: int
) -> None:
    """The outline of what is seen goes round as the board does, whichever way the picture was turned."""
    around = seen[::-1] if how == "mirrored" else seen
    assert turned_over_since(OUTLINE, np.roll(around, half_turn, axis=0), SCENE, SIZE_PX) == how

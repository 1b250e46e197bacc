"""When a soldier began to move, and where he is followed to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Table

from game.montecassino import Square
from vision.falls.table_after import place_of
from vision.falls.topple import Place, Watch
from vision.soldiers import Board, read_board
from vision.steady import Sways

Image = NDArray[np.uint8]
CAMERA = painted.view(tilt_rad=0.03)
PLACED = painted.standing(CROWD)
HIT = Square.parse("A-28")
STANDS = Table(CAMERA, tuple(PLACED.values())).paint()
GONE = Table(CAMERA, tuple(figure for square, figure in PLACED.items() if square != HIT)).paint(seed=1)
BEGINS = 9
FRAME_US = 8333


@pytest.fixture(scope="module")
def board() -> Board:
    return read_board(STANDS, painted.scene(CAMERA, expected=CROWD), CAMERA)


def watch(board: Board, frames: Sequence[Image]) -> tuple[Watch, Place]:
    (soldier,) = (each for each in board.standing.soldiers if each.square == HIT)
    times_us = [FRAME_US * k for k in range(len(frames))]
    seen = Watch(frames, times_us, board, Sways(frames[0]), step=12.0, smooth_px=1, first=BEGINS - 2)
    return seen, place_of(soldier, board, CAMERA)


def with_spot(picture: Image, place: Place, board: Board, share: float, by_mm: float, grey: int) -> Image:
    """With a spot so far along the board from where a figure is seen, and so large a share of it."""
    rows, columns = np.nonzero(place.telling)
    middle = [columns.mean() + place.window[1].start, rows.mean() + place.window[0].start]
    x_mm, y_mm = np.add(board.raster.to_mm(np.array(middle)), (0.0, by_mm))
    radius_mm = math.sqrt(share * len(rows) / math.pi) * board.raster.mm_per_px
    (u, v), (beside, _) = CAMERA.project(np.array([(x_mm, y_mm, 0.0), (x_mm, y_mm + radius_mm, 0.0)]))
    spotted = picture.copy()
    at = (round(16 * u), round(16 * v))
    cv2.circle(spotted, at, round(16 * (beside - u)), (grey, grey, grey), -1, cv2.LINE_AA, 4)
    return spotted


def test_who_looks_otherwise_in_part_before_anything_may_have_moved_began_when_the_rest_of_him_does(
    board: Board,
) -> None:
    """A shadow has come to lie on him, say."""
    _, place = watch(board, [STANDS])
    shaded = with_spot(STANDS, place, board, 0.12, 0.0, 250)
    frames = [STANDS] * 2 + [shaded] * (BEGINS - 2) + [GONE] * 6
    seen, place = watch(board, frames)
    assert seen.began(place) == BEGINS
    frames = [STANDS] * BEGINS + [GONE] * 6
    seen, place = watch(board, frames)
    assert seen.began(place) == BEGINS


@pytest.mark.parametrize(("share", "is_followed"), [(0.08, False), (0.22, True)])
def test_what_is_too_small_for_him_is_not_followed(board: Board, share: float, is_followed: bool) -> None:
    """Of one who is nearly all covered, what still shows is no middle of him."""
    _, place = watch(board, [STANDS])
    elsewhere = with_spot(GONE, place, board, share, 15.0, 40)
    seen, place = watch(board, [STANDS] * BEGINS + [elsewhere] * 8)
    (toppling,) = seen.topplings([place])
    (start,) = watch(board, [STANDS] * 12)[0].topplings([place])
    moved_mm = toppling.rest_mm[1] - start.rest_mm[1]
    assert moved_mm == pytest.approx(15.0 if is_followed else 0.0, abs=3.0)


def test_a_camera_that_the_shot_has_shaken_makes_nobody_move() -> None:
    """Sharpened edges of a figure half a pixel aside differ by more than its first motion."""

    def sharpened(picture: Image) -> Image:
        return cv2.addWeighted(picture, 4.0, cv2.GaussianBlur(picture, (0, 0), 1.0), -3.0, 0.0)

    stands = sharpened(STANDS)
    shaken = [
        sharpened(Table(CAMERA, tuple(PLACED.values())).paint((0.5, -0.45), seed=seed)) for seed in (2, 3)
    ]
    keen = read_board(stands, painted.scene(CAMERA, expected=CROWD), CAMERA)
    seen, place = watch(keen, [stands] * BEGINS + shaken + [sharpened(GONE)] * 6)
    assert seen.began(place) == BEGINS + len(shaken)

"""How much a shadow looks like the one that a soldier threw before."""

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Table

from vision.falls.same_shadow import ShadowsThen
from vision.soldiers import Board, read_board
from vision.soldiers.lamp import Lamp

CAMERA = painted.view()
SCENE = painted.scene(CAMERA, expected=CROWD)
LAMP = Lamp(np.array([0.9, 0.4]), 0.05, 1 / 1500.0, 0.0, np.array([180.0, 405.0]), 0.4)
FOOT_MM, SHIFT_MM = (157.5, 382.5), (12.0, -20.0)

FloatImage = NDArray[np.float32]


@pytest.fixture(scope="module")
def board() -> Board:
    return read_board(Table(CAMERA, tuple(painted.standing(CROWD).values())).paint(), SCENE, CAMERA)


def darkness(board: Board, foot_mm: tuple[float, float], *, lying: bool = False) -> FloatImage:
    """A shadow on a board that is bright everywhere else; or a body that lies there, as dark, but striped."""
    dark = np.zeros(board.raster.shape, np.float32)
    for z in np.arange(0.0, board.figure.height_mm, 1.0):
        thrown = LAMP.shadow(np.array([[*foot_mm, z]]))[0, :2]
        at = tuple(round(v) for v in board.raster.to_px(thrown).tolist())
        shade = LAMP.darkness * (0.8 + 1.2 * np.sin(z / 3)) if lying else LAMP.darkness * (1.2 - 0.01 * z)
        cv2.circle(dark, at, 4, float(shade), -1)
    return cv2.GaussianBlur(dark, (0, 0), 1.0).astype(np.float32)


def likeness(board: Board, now: FloatImage, hidden: NDArray[np.bool_] | None = None) -> float | None:
    nobody = np.zeros(board.raster.shape, np.bool_)
    own = nobody.copy()
    column, row = (round(v) for v in board.raster.to_px(np.array(FOOT_MM)).tolist())
    own[row - 3 : row + 4, column - 3 : column + 4] = True
    then = ShadowsThen(board, LAMP, CAMERA, darkness(board, FOOT_MM), now)
    return then.likeness(FOOT_MM, SHIFT_MM, own, nobody if hidden is None else hidden)


def moved() -> tuple[float, float]:
    return FOOT_MM[0] + SHIFT_MM[0], FOOT_MM[1] + SHIFT_MM[1]


def test_the_shadow_of_one_that_slid_looks_as_it_did(board: Board) -> None:
    alike = likeness(board, darkness(board, moved()))
    assert alike is not None
    assert alike > 0.9


@pytest.mark.parametrize("off_px", [(1, 1), (-1, 1), (0, -1)])
def test_a_place_that_is_off_by_a_pixel_does_no_harm(board: Board, off_px: tuple[int, int]) -> None:
    x_mm, y_mm = moved()
    across_mm, down_mm = (px * board.raster.mm_per_px for px in off_px)
    exactly, off = (
        likeness(board, darkness(board, at_mm)) for at_mm in (moved(), (x_mm + across_mm, y_mm + down_mm))
    )
    assert off == pytest.approx(exactly, abs=0.01)


def test_a_body_that_lies_along_the_shadow_does_not(board: Board) -> None:
    alike = likeness(board, darkness(board, moved(), lying=True))
    assert alike is not None
    assert alike < 0.65


def test_where_others_hide_the_shadow_nothing_is_told(board: Board) -> None:
    assert likeness(board, darkness(board, moved()), np.ones(board.raster.shape, np.bool_)) is None

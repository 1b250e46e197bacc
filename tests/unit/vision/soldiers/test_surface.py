"""The bare board, and what is no shade of it."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.soldiers.surface import learn_surface, strangeness

PX = 24
GREEN = np.array([70.0, 130.0, 95.0], dtype=np.float32)


def _green_board(stains: float) -> NDArray[np.float32]:
    """One colour all over; stains as large as soldiers change how bright it is."""
    rng = np.random.default_rng(5)
    shape = (BOARD_ROWS * PX, BOARD_FILES * PX)
    coarse = rng.standard_normal((shape[0] // 10, shape[1] // 10)).astype(np.float32)
    share = 1 + stains * cv2.resize(coarse, shape[::-1], interpolation=cv2.INTER_CUBIC)
    return np.asarray(share[..., None] * GREEN + rng.normal(0, 1.5, (*shape, 3)), dtype=np.float32)


def test_stains_do_not_hide_a_green_soldier_on_a_green_field() -> None:
    board = _green_board(stains=0.12)
    body = np.s_[5 * PX + 6 : 5 * PX + 18, 3 * PX + 6 : 3 * PX + 18]
    board[body] += (18.0, -2.0, -18.0)  # bluer, as bright
    surface = learn_surface(board, PX)
    strange = strangeness(board, surface, surface.shades(board))
    assert np.median(strange[body]) > 2 * np.percentile(strange, 95)


@pytest.mark.parametrize("stains", [0.0, 0.12])
def test_the_spread_of_a_boards_colour_is_that_of_the_pictures_noise(stains: float) -> None:
    surface = learn_surface(_green_board(stains), PX)
    assert np.median(surface.tint_noise) == pytest.approx(1.5, abs=0.3)
    assert (surface.tint_noise <= surface.noise + 1e-6).all()


def test_a_grey_picture_has_no_colour_to_be_strange() -> None:
    grey = np.ascontiguousarray(_green_board(stains=0.1)[..., :1])
    surface = learn_surface(grey, PX)
    assert np.isfinite(strangeness(grey, surface, surface.shades(grey))).all()


def test_a_woven_board_is_learnt_under_its_soldiers() -> None:
    """Gingham: every second line and file is dyed, so that squares of a checkered board's one colour are of two shades."""
    rng = np.random.default_rng(11)
    rows, files = np.mgrid[0:BOARD_ROWS, 0:BOARD_FILES]
    dyed = np.float32([230.0, 160.0, 70.0])[rows % 2 + files % 2]
    board = np.kron(dyed, np.ones((PX, PX)))[..., None] * np.ones(3) + rng.normal(
        0, 1.5, (BOARD_ROWS * PX, BOARD_FILES * PX, 3)
    )
    bare = board.astype(np.float32)
    manned = bare.copy()
    there = rng.permutation(rows.size)[: rows.size // 3]
    for row, file in zip(rows.ravel()[there], files.ravel()[there], strict=True):
        manned[row * PX + 7 : row * PX + 17, file * PX + 7 : file * PX + 17] = 110.0
    surface = learn_surface(manned, PX)
    assert np.percentile(np.abs(surface.colour - bare), 95) < 6

"""The bare board, and what is no shade of it."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.soldiers.surface import learn_surface, middle, strange_share, strangeness

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


def seen_on(board: NDArray[np.float32], rank: float = 50.0) -> NDArray[np.float64]:
    """How strange each square (row, file) looks."""
    surface = learn_surface(board, PX)
    strange = strangeness(board, surface, surface.shades(board))
    squares = strange.reshape(BOARD_ROWS, PX, BOARD_FILES, PX)[:, 6:-6, :, 6:-6]
    return np.percentile(squares, rank, axis=(1, 3))


def square(row: int, file: int, inset: int = 4) -> tuple[slice, slice]:
    return np.s_[row * PX + inset : (row + 1) * PX - inset, file * PX + inset : (file + 1) * PX - inset]


def test_a_shadow_is_less_strange_than_what_is_as_much_brighter_or_far_darker() -> None:
    board = _green_board(stains=0.0)
    board[square(3, 2)] *= 0.6
    board[square(7, 5)] *= 1.4
    board[square(12, 3)] *= 0.15
    strange = seen_on(board)
    bare = float(np.median(strange))
    assert bare < strange[3, 2]
    assert strange[7, 5] > 1.8 * strange[3, 2]
    assert strange[12, 3] > 1.8 * strange[3, 2]


def test_something_of_the_boards_own_light_is_strange_by_its_colour_or_by_its_edges() -> None:
    board = _green_board(stains=0.0)
    level = float(GREEN.mean())
    board[square(5, 4)] = (level + 30, level, level - 30)
    row = np.arange(PX - 8)
    board[square(10, 2)] *= (1 + 0.12 * (-1.0) ** (row // 3))[:, None, None].astype(np.float32)
    strange = seen_on(board)
    assert strange[5, 4] > 3 * np.median(strange)
    assert strange[10, 2] > 1.5 * np.percentile(strange, 90)


@pytest.mark.parametrize("across", [True, False], ids=["across the board", "along it"])
def test_a_line_drawn_through_the_whole_board_is_nothing_that_stands_on_it(across: bool) -> None:
    """Once only, like the front between the fields, so that no other square has it."""
    board = _green_board(stains=0.0)
    line = np.s_[9 * PX + 10 : 9 * PX + 14] if across else np.s_[:, 3 * PX + 10 : 3 * PX + 14]
    board[line] = (60.0, 40.0, 200.0)
    short = board.copy()
    strange = seen_on(board, rank=95)
    on_line = strange[9] if across else strange[:, 3]
    assert np.median(on_line) < 2.5
    piece = np.s_[14 * PX + 10 : 14 * PX + 14, 5 * PX + 2 : 6 * PX - 2]
    short[piece] = (60.0, 40.0, 200.0)
    assert seen_on(short, rank=95)[14, 5] > 5


@pytest.mark.parametrize("across", [True, False], ids=["across the board", "along it"])
def test_who_lies_over_a_line_that_is_drawn_once_is_as_strange_on_it_as_beside_it(across: bool) -> None:
    """Or his legs and his trunk, seen on either side of the line, are each as short as one that stands."""
    board = _green_board(stains=0.05)
    line = np.s_[9 * PX + 9 : 9 * PX + 14] if across else np.s_[:, 3 * PX + 9 : 3 * PX + 14]
    board[line] = (60.0, 40.0, 200.0)
    body = (
        np.s_[9 * PX + 2 : 10 * PX - 2, 3 * PX + 8 : 3 * PX + 16]
        if across
        else np.s_[9 * PX + 8 : 9 * PX + 16, 3 * PX + 2 : 4 * PX - 2]
    )
    board[body] = (140.0, 110.0, 60.0)
    surface = learn_surface(board, PX)
    lies = strangeness(board, surface, surface.shades(board))[body]
    assert lies.min() > 0.5 * np.median(lies)


def test_nothing_is_stranger_than_eight_or_less_than_nought() -> None:
    board = _green_board(stains=0.1)
    board[square(5, 4)] = 255.0
    board[square(6, 1)] = 0.0
    surface = learn_surface(board, PX)
    strange = strangeness(board, surface, surface.shades(board))
    assert strange.min() >= 0
    assert 6 < strange.max() <= 8


def test_a_board_is_learnt_in_light_that_falls_off_and_in_two_fields_and_two_colours() -> None:
    rows, files = np.mgrid[0:BOARD_ROWS, 0:BOARD_FILES]
    shade = np.where((rows + files) % 2, 0.7, 1.0) * np.where(rows < BOARD_ROWS // 2, 1.0, 0.85)
    down, across = np.mgrid[0 : 1 : BOARD_ROWS * PX * 1j, 0 : 1 : BOARD_FILES * PX * 1j]
    light = (1.15 - 0.4 * across - 0.25 * down)[..., None]
    bare = (np.kron(shade, np.ones((PX, PX)))[..., None] * GREEN * light).astype(np.float32)
    bare += np.random.default_rng(3).normal(0, 1.0, bare.shape).astype(np.float32)
    manned = bare.copy()
    for row, file in np.random.default_rng(8).permutation(np.argwhere(rows >= 0))[:48]:
        manned[square(row, file, inset=7)] = (30.0, 40.0, 160.0)
    learnt = learn_surface(manned, PX)
    assert np.percentile(np.abs(learnt.colour - bare), 95) < 5
    share = learnt.shades(bare * np.float32(0.5)).share
    assert np.median(share) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_the_middle_is_the_median_of_even_and_odd_numbers(count: int) -> None:
    values = np.random.default_rng(count).normal(0, 1, (count, 3)).astype(np.float32)
    assert middle(values) == pytest.approx(np.median(values, axis=0))


def test_what_is_no_stranger_than_the_board_is_none_of_a_figure_and_a_figure_is_all_of_one() -> None:
    strange = np.float32([0.0, 1.0, 2.0, 3.0, 7.0])
    assert strange_share(strange, (1.0, 3.0)).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_a_faint_shadow_is_less_strange_than_what_is_as_little_brighter() -> None:
    board = _green_board(stains=0.0)
    board[square(3, 2)] *= 0.96
    board[square(7, 5)] *= 1.04
    strange = seen_on(board)
    assert strange[7, 5] > 1.5 * strange[3, 2]


def test_what_is_as_dark_as_a_shadow_and_has_edges_within_is_stranger() -> None:
    board = _green_board(stains=0.0)
    board[square(3, 2)] *= 0.7
    row = np.arange(PX - 8)
    board[square(10, 2)] *= np.where(row % 8 < 4, 0.6, 0.8)[:, None, None].astype(np.float32)
    strange = seen_on(board)
    assert strange[10, 2] > 1.5 * strange[3, 2]


def test_soldiers_that_fill_two_ranks_are_not_taken_for_the_dark_end_of_the_board() -> None:
    bare = _green_board(stains=0.0)
    manned = bare.copy()
    for row in (0, 1):
        for file in range(BOARD_FILES):
            manned[square(row, file, inset=2)] = (20.0, 25.0, 30.0)
    assert np.percentile(np.abs(learn_surface(manned, PX).colour - bare), 95) < 6


def test_a_full_rank_of_soldiers_is_no_line_that_was_drawn() -> None:
    board = _green_board(stains=0.0)
    for file in range(BOARD_FILES):
        board[square(6, file, inset=6)] = (40.0, 60.0, 150.0)
    assert seen_on(board)[6].min() > 4
    for file in range(BOARD_FILES):
        board[square(12, file, inset=4)] = (
            40.0,
            60.0,
            150.0,
        )  # on bases that cover two thirds of their squares
    surface = learn_surface(board, PX)
    rank = np.s_[12 * PX : 13 * PX]
    assert np.median(np.abs(surface.colour[rank] - GREEN)) < 6


def test_a_picture_without_any_grain_is_no_finer_judged_than_one_has_levels_of_grey() -> None:
    """Compression leaves none where nothing is, and a step of one level elsewhere."""
    board = np.full((BOARD_ROWS * PX, BOARD_FILES * PX, 3), 120.0, np.float32)
    board[square(4, 4)] += 1.0
    assert seen_on(board)[4, 4] < 2


def test_the_bare_board_is_learnt_where_more_of_a_field_is_manned_than_not_and_the_light_falls_off() -> None:
    """Soldiers stand now here now there on their squares."""
    rng = np.random.default_rng(12)
    down, across = np.mgrid[0 : 1 : BOARD_ROWS * PX * 1j, 0 : 1 : BOARD_FILES * PX * 1j]
    bare = ((1.2 - 0.35 * across - 0.35 * down)[..., None] * GREEN).astype(np.float32)
    bare += rng.normal(0, 1.0, bare.shape).astype(np.float32)
    manned = bare.copy()
    field = np.argwhere(np.ones((BOARD_ROWS // 2, BOARD_FILES), dtype=bool))
    for row, file in rng.permutation(field)[:42]:
        top, left = (int(at) * PX + int(rng.integers(4, 7)) for at in (row, file))
        manned[top : top + 14, left : left + 14] = rng.uniform(10, 60, 3)
    learnt = learn_surface(manned, PX).colour
    assert np.percentile(np.abs(learnt - bare), 90) < 8

"""What is painted around a soldier's old place, and what is not."""

import numpy as np
import pytest
from numpy.typing import NDArray

from game.montecassino import Side, Square
from vision.falls.topple import Place
from vision.falls.uncovered import find_uncovered
from vision.outcome import Soldier

BOARD, PATH, UNIFORM = (210.0, 220.0, 205.0), (170.0, 120.0, 130.0), (40.0, 90.0, 60.0)
SIDE_PX = 60
ROWS, COLUMNS = np.mgrid[0:SIDE_PX, 0:SIDE_PX]
STOOD = np.hypot(ROWS - 30, COLUMNS - 30) < 8
Mask = NDArray[np.bool_]


def uncovered(paint: Mask, somebody: Mask, moved_on: Mask = STOOD) -> Mask:
    """Ask of a table on which one left its place: where it is painted, and where somebody is seen now."""
    flat = np.full((SIDE_PX, SIDE_PX, 3), BOARD, dtype=np.float32)
    flat[paint], flat[somebody] = PATH, UNIFORM
    soldier = Soldier(Square.parse("A-28"), Side.A, 100.0, 100.0)
    place = Place(soldier, np.s_[22:39, 22:39], STOOD[22:39, 22:39], STOOD[22:39, 22:39])
    return find_uncovered(flat, [place], paint | somebody, ~moved_on, mm_per_px=1.5, step=12.0)


def test_a_path_that_goes_on_around_a_place_is_board() -> None:
    path = np.abs(ROWS - 30) < 6
    assert (uncovered(path, np.zeros_like(path)) == (path & STOOD)).all()


def test_who_stands_there_is_no_path() -> None:
    path = np.abs(ROWS - 30) < 6
    pushed = np.hypot(ROWS - 30, COLUMNS - 34) < 8
    assert (uncovered(path, pushed, STOOD | pushed) == (path & STOOD & ~pushed)).all()


@pytest.mark.parametrize(
    "paint",
    [
        pytest.param(STOOD, id="nothing around it"),
        pytest.param(STOOD | ((ROWS == 30) & (COLUMNS > 30)), id="a line, as a rifle, leads away from it"),
    ],
)
def test_what_does_not_go_on_around_a_place_is_somebody(paint: Mask) -> None:
    assert not uncovered(paint, np.zeros_like(paint)).any()


def test_what_changed_around_a_place_as_well_says_nothing_of_it() -> None:
    """A lying neighbour of the same colours is no paint."""
    path = np.abs(ROWS - 30) < 6
    assert not uncovered(path, np.zeros_like(path), path | STOOD).any()

"""The board as bits, for speed: a square is a bit, a set of squares an int.

All bits are in the mover's own frame: bit ``(line - 1) * 8 + file``, line 1 being its own first and file 0 its left.
So forward is a shift by 8 for either side, and each rule is written once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from game.montecassino.position import Position
from game.montecassino.squares import BASE_LINES, BOARD_FILES, BOARD_ROWS, Side, Square

SQUARES = BOARD_FILES * BOARD_ROWS
ALL = (1 << SQUARES) - 1


def _lines(first: int, last: int) -> int:
    """Return the squares of own lines `first` to `last`."""
    return ((1 << (last - first + 1) * BOARD_FILES) - 1) << (first - 1) * BOARD_FILES


FORWARD = BOARD_FILES
BASE = _lines(1, BASE_LINES)
LINE_1 = _lines(1, 1)
LINE_16 = _lines(16, 16)
LINE_17 = _lines(17, 17)
LINE_18 = _lines(18, 18)
LINES_3_TO_13 = _lines(3, 13)
LINES_3_TO_14 = _lines(3, 14)
LINES_3_TO_15 = _lines(3, 15)
LINES_13_TO_15 = _lines(13, 15)
MAY_STEP_BACK = _lines(5, 9)
NOT_LEFT = ALL // ((1 << BOARD_FILES) - 1) * ((1 << BOARD_FILES) - 2)
NOT_RIGHT = NOT_LEFT >> 1


Pattern = tuple[int, int, bool]
"""Moves of one kind by all soldiers: where they end, the shift from start to end, whether they take a prisoner."""


class Forces(NamedTuple):
    """Both sides' soldiers as the mover sees them, and how many of its men the enemy holds."""

    own: int
    enemy: int
    comrades_held: int


def forces_of(position: Position) -> Forces:
    """Return the forces of a position, seen by the side to move."""
    side = position.turn
    own = enemy = 0
    for square, owner in position.soldiers.items():
        bit = 1 << index_of(square, side)
        if owner is side:
            own |= bit
        else:
            enemy |= bit
    return Forces(own, enemy, position.held[side.enemy])


def index_of(square: Square, side: Side) -> int:
    """Return the number of a square's bit in a side's own frame."""
    return square.number - 1 if square.field is side else SQUARES - square.number


@cache
def square_of(index: int, side: Side) -> Square:
    """Return the square of a bit's number in a side's own frame."""
    return Square.from_own(side, index // BOARD_FILES + 1, index % BOARD_FILES)


def indices(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def lowest(bits: int, count: int) -> int:
    """Return the lowest `count` bits of a set."""
    taken = 0
    for _ in range(count):
        low = bits & -bits
        taken |= low
        bits ^= low
    return taken


def turned(bits: int) -> int:
    """Return a set of squares in the other side's frame: the board turned round."""
    return int(f"{bits:0{SQUARES}b}"[::-1], 2)


def beside(squares: int) -> int:
    """Return the squares to the left and to the right of a few."""
    return (squares & NOT_LEFT) >> 1 | (squares & NOT_RIGHT) << 1


def one_step_from(squares: int) -> int:
    """Return the squares from which one step other than a capture may lead onto one of a few (M3 to M5)."""
    return squares >> FORWARD | beside(squares) | squares << FORWARD & MAY_STEP_BACK


def single_steps(movers: int, empty: int, enemy: int) -> tuple[Pattern, ...]:
    """Return every single step (M3 to M6)."""
    leftward, rightward = movers & NOT_LEFT, movers & NOT_RIGHT
    return (
        (movers << FORWARD & empty, FORWARD, False),
        (leftward >> 1 & empty, -1, False),
        (rightward << 1 & empty, 1, False),
        ((movers & MAY_STEP_BACK) >> FORWARD & empty, -FORWARD, False),
        (leftward << FORWARD - 1 & enemy, FORWARD - 1, True),
        (rightward << FORWARD + 1 & enemy, FORWARD + 1, True),
    )

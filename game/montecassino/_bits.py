"""The board as bits, for speed: a square is a bit, a set of squares an int.

All bits are in the mover's own frame: bit ``(line - 1) * files + file``, line 1 being its own first and file 0 its left.
So forward is a shift by the number of files for either side, and each rule is written once. There is a frame for each
side of one board, and of two joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from game.montecassino.position import Position
from game.montecassino.squares import (
    BASE_LINES,
    BASE_SQUARES,
    BOARD_FILES,
    BOARD_ROWS,
    MOST_BOARDS,
    Side,
    Square,
    all_squares,
    own_squares,
)

Pattern = tuple[int, int, bool]
"""Moves of one kind by all soldiers: where they end, the shift from start to end, whether they take a prisoner."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The board as one side sees it, in bits."""

    side: Side
    size: int
    """How many squares there are."""
    forward: int
    """The shift by one line, which is the number of files."""
    all: int
    base_parts: tuple[int, ...]
    """The base, in parts whose lowest numbers have the lowest bits; all numbers of a part before those of the next."""
    line_1: int
    line_16: int
    line_17: int
    line_18: int
    lines_3_to_13: int
    lines_3_to_14: int
    lines_3_to_15: int
    lines_13_to_15: int
    may_step_back: int
    not_left: int
    """Every square but those of the leftmost file."""
    not_right: int
    bit_of: tuple[int, ...]
    """The bit of a square, by the square's index; 0 for squares of another number of boards."""
    squares: tuple[Square, ...]
    """The square of a bit, by the bit's number."""

    def lowest_in_base(self, empty: int, count: int) -> int:
        """Return the squares of the base with the lowest numbers, as many as `count` of those that are empty."""
        taken = 0
        for part in self.base_parts:
            free = part & empty
            while free and count:
                low = free & -free
                taken |= low
                free ^= low
                count -= 1
        return taken

    def room_in_base(self, empty: int) -> int:
        """Return how many squares of the base are empty."""
        return sum((part & empty).bit_count() for part in self.base_parts)

    def turned(self, bits: int) -> int:
        """Return a set of squares in the other side's frame: the board turned round."""
        return int(f"{bits:0{self.size}b}"[::-1], 2)

    def beside(self, squares: int) -> int:
        """Return the squares to the left and to the right of a few."""
        return (squares & self.not_left) >> 1 | (squares & self.not_right) << 1

    def one_step_from(self, squares: int) -> int:
        """Return the squares from which one step other than a capture may lead onto one of a few (M3 to M5)."""
        return squares >> self.forward | self.beside(squares) | squares << self.forward & self.may_step_back

    def single_steps(self, movers: int, empty: int, enemy: int) -> tuple[Pattern, ...]:
        """Return every single step (M3 to M6)."""
        forward = self.forward
        leftward, rightward = movers & self.not_left, movers & self.not_right
        return (
            (movers << forward & empty, forward, False),
            (leftward >> 1 & empty, -1, False),
            (rightward << 1 & empty, 1, False),
            ((movers & self.may_step_back) >> forward & empty, -forward, False),
            (leftward << forward - 1 & enemy, forward - 1, True),
            (rightward << forward + 1 & enemy, forward + 1, True),
        )


class Forces(NamedTuple):
    """Both sides' soldiers as the mover sees them, and how many of its men the enemy holds."""

    own: int
    enemy: int
    comrades_held: int


def _frame(side: Side, boards: int) -> Frame:
    files = boards * BOARD_FILES
    size = files * BOARD_ROWS
    everything = (1 << size) - 1
    a_line = (1 << files) - 1

    def lines(first: int, last: int) -> int:
        return ((1 << (last - first + 1) * files) - 1) << (first - 1) * files

    squares = tuple(Square.from_own(side, 1 + bit // files, bit % files, boards) for bit in range(size))
    number_of = {square: bit for bit, square in enumerate(squares)}
    bit_of = [0] * (1 + all_squares(MOST_BOARDS)[-1].index)
    for square, number in number_of.items():
        bit_of[square.index] = 1 << number
    # Line by line, board 1 before board 2: where the side sees board 1 at its right, the base falls into parts.
    base_parts = [0]
    highest = -1
    for square in own_squares(side, boards)[: boards * BASE_SQUARES]:
        if number_of[square] < highest:
            base_parts.append(0)
        highest = number_of[square]
        base_parts[-1] |= 1 << highest
    not_left = everything // a_line * (a_line - 1)
    return Frame(
        side=side,
        size=size,
        forward=files,
        all=everything,
        base_parts=tuple(base_parts),
        line_1=lines(1, 1),
        line_16=lines(16, 16),
        line_17=lines(17, 17),
        line_18=lines(18, 18),
        lines_3_to_13=lines(BASE_LINES, 13),
        lines_3_to_14=lines(BASE_LINES, 14),
        lines_3_to_15=lines(BASE_LINES, 15),
        lines_13_to_15=lines(13, 15),
        may_step_back=lines(5, 9),
        not_left=not_left,
        not_right=not_left >> 1,
        bit_of=tuple(bit_of),
        squares=squares,
    )


_FRAMES = {boards: {side: _frame(side, boards) for side in Side} for boards in range(1, MOST_BOARDS + 1)}


def frame_of(position: Position, side: Side | None = None) -> Frame:
    """Return the frame of one side of a position's board: by default of the side to move."""
    return _FRAMES[position.boards][position.turn if side is None else side]


def forces_of(position: Position) -> Forces:
    """Return the forces of a position, seen by the side to move."""
    side = position.turn
    bit_of = frame_of(position).bit_of
    own = enemy = 0
    for square, owner in position.soldiers.items():
        if owner is side:
            own |= bit_of[square.index]
        else:
            enemy |= bit_of[square.index]
    return Forces(own, enemy, position.held[side.enemy])


def indices(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low

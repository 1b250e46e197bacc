"""Sides, squares and the board frame (clauses B1 to B5, S3 and N1)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Self

BOARD_FILES = 8
"""Squares in a line of one board."""

FIELD_LINES = 9
"""Lines of one side's field."""

BOARD_ROWS = 2 * FIELD_LINES
"""Lines of the whole board, be it one or two joined."""

FIELD_SQUARES = BOARD_FILES * FIELD_LINES
"""Squares of one side's field on one board, numbered from 1."""

BASE_LINES = 3
"""Own lines 1 to 3 are a side's base (B4)."""

BASE_SQUARES = BASE_LINES * BOARD_FILES
"""Squares of a base on one board, numbered from 1."""

MOST_BOARDS = 2
"""Boards that may be joined side by side (S3)."""

_SQUARES_OF_A_FIELD = (1 + MOST_BOARDS) * FIELD_SQUARES

SQUARE_PATTERN = r"([AGT])-?(\d{1,2})(?:\.(\d))?"
"""A square as it is written: field, number, and the board where two are joined (N1, S3)."""

_SQUARE = re.compile(SQUARE_PATTERN, re.ASCII)


class SquareError(ValueError):
    """A square, or a list of squares, that cannot be read.

    Attributes
    ----------
    faults : tuple of str
        Everything that is wrong, a clause each.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


class Side(StrEnum):
    """A side of the battle: A the Allies, G the Germans."""

    A = "A"
    G = "G"

    @property
    def enemy(self) -> Side:
        """The other side."""
        return Side.G if self is Side.A else Side.A


def _behind_the_dot(board: int | None) -> str:
    return f".{board}" if board else ""


def _square_faults(field: Side, number: int, board: int) -> list[str]:
    faults = []
    if not 0 <= board <= MOST_BOARDS:
        faults.append(
            f"{field}-{number:02d}.{board} names no board: two boards joined are 1 and {MOST_BOARDS}"
        )
    if not 1 <= number <= FIELD_SQUARES:
        faults.append(
            f"{field}-{number}{_behind_the_dot(board)} is not on the board: "
            f"numbers go from 1 to {FIELD_SQUARES}"
        )
    return faults


@dataclass(frozen=True, slots=True, order=True)
class Square:
    """One square, ordered by field, then by board, then by number: A-01 to A-72, then G-01 to G-72.

    Parameters
    ----------
    field : Side
        The field that the square belongs to, whoever stands on it.
    number : int
        1 to 72 as the owner of the field sees it: 1 at the far left of line 1, 9 above it (B1).
    board : int
        0 for the one board of the usual game. Of two boards joined (S3), 1 for the left one as the Allies see it
        and 2 for the right one.

    Attributes
    ----------
    index : int
        Place in the order of the squares of all boards, 0 to 431; no two squares share it.
    """

    # The index alone is compared: it has the order, and no two squares share one.
    field: Side = dataclasses.field(compare=False)
    number: int = dataclasses.field(compare=False)
    board: int = dataclasses.field(default=0, compare=False)
    index: int = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (1 <= self.number <= FIELD_SQUARES and 0 <= self.board <= MOST_BOARDS):
            raise SquareError(_square_faults(self.field, self.number, self.board))
        first = 0 if self.field is Side.A else _SQUARES_OF_A_FIELD
        object.__setattr__(self, "index", first + self.board * FIELD_SQUARES + self.number - 1)

    def __hash__(self) -> int:
        # Positions are dictionaries of squares, and the hash of an enum member, by its name, is slow.
        return self.index

    def __str__(self) -> str:
        return f"{self.field}-{self.number:02d}{_behind_the_dot(self.board)}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a square as N1 and S3 write it: ``A-09``, ``A-09.2``.

        ``A-9``, ``A09`` and the Italian ``T-49`` are read too.

        Raises
        ------
        SquareError
            If the text is no square, or its number is not on the board.
        """
        match = _SQUARE.fullmatch(text)
        if match is None:
            raise SquareError([f"{text!r} is not a square: expected A or G and a number, such as G-49"])
        told = square_told(match[1], match[2], match[3])
        if faults := faults_told(*told):
            raise SquareError(faults)
        field, number, board = told
        return cls(field, number, board or 0)

    @classmethod
    def from_own(cls, side: Side, line: int, file: int, boards: int = 1) -> Self:
        """Return the square on a side's own line 1 to 18 and file, counted from 0 at that side's left.

        Files are 0 to 7, and 0 to 15 where two boards are joined.
        """
        files = boards * BOARD_FILES
        if not (1 <= line <= BOARD_ROWS and 0 <= file < files):
            raise SquareError(
                [f"there is no own line {line}, file {file}: lines are 1 to 18, files 0 to {files - 1}"]
            )
        from_left = file if side is Side.A else files - 1 - file
        board = 0 if boards == 1 else 1 + from_left // BOARD_FILES
        file %= BOARD_FILES
        if line <= FIELD_LINES:
            return cls(side, (line - 1) * BOARD_FILES + file + 1, board)
        return cls(side.enemy, (BOARD_ROWS - line) * BOARD_FILES + (BOARD_FILES - 1 - file) + 1, board)

    @classmethod
    def at_mm(cls, x_mm: float, y_mm: float, square_mm: float, boards: int = 1) -> Self | None:
        """Return the square under a point of the board frame (B3), or None beside the board.

        A point on the line between two squares belongs to the one with the larger x or y.
        """
        column = x_mm // square_mm
        row = y_mm // square_mm
        if not (0 <= column < boards * BOARD_FILES and 0 <= row < BOARD_ROWS):
            return None
        return cls.from_own(Side.A, int(row) + 1, int(column), boards)

    def own_line(self, side: Side) -> int:
        """Return the line 1 to 18 counted from that side's own base (B5)."""
        line = (self.number - 1) // BOARD_FILES + 1
        return line if self.field is side else BOARD_ROWS + 1 - line

    def own_file(self, side: Side) -> int:
        """Return the file counted from 0 at the left as that side sees the board: to 7, or to 15 on two boards."""
        file = (self.number - 1) % BOARD_FILES
        if self.field is not side:
            file = BOARD_FILES - 1 - file
        # The right board, as the side sees the two: the second for the Allies, the first for the Germans.
        on_the_right = self.board == (2 if side is Side.A else 1)
        return file + BOARD_FILES if on_the_right else file

    def centre_mm(self, square_mm: float) -> tuple[float, float]:
        """Return the (x, y) of the square's centre in the board frame (B3, S3), in mm."""
        row = self.own_line(Side.A) - 1
        return (self.own_file(Side.A) + 0.5) * square_mm, (row + 0.5) * square_mm

    @property
    def mirrored(self) -> Square:
        """The square that this one becomes when the board is turned round and the sides change names.

        Two boards joined are turned together, so that the left one becomes the right one.
        """
        return Square(self.field.enemy, self.number, self.board and MOST_BOARDS + 1 - self.board)


@cache
def all_squares(boards: int = 1) -> tuple[Square, ...]:
    """Return every square of one board, or of two joined, in order."""
    return tuple(
        Square(field, number, board)
        for field in Side
        for board in board_indices(boards)
        for number in range(1, FIELD_SQUARES + 1)
    )


@cache
def own_squares(side: Side, boards: int = 1) -> tuple[Square, ...]:
    """Return a side's own field, lowest numbers first: line by line, board 1 before board 2 (S3)."""
    return tuple(
        Square(side, line * BOARD_FILES + file + 1, board)
        for line in range(FIELD_LINES)
        for board in board_indices(boards)
        for file in range(BOARD_FILES)
    )


def board_indices(boards: int) -> tuple[int, ...]:
    """Return what stands for the board in the squares of a game: 0 where there is one, 1 and 2 where there are two.

    Raises
    ------
    ValueError
        If so many boards are not joined.
    """
    if boards == 1:
        return (0,)
    if boards == MOST_BOARDS:
        return (1, 2)
    raise ValueError(f"boards is {boards!r}, expected 1 or {MOST_BOARDS}")


def board_fault(square: Square, boards: int) -> str | None:
    """Name what is wrong with a square in a game of so many boards, or return None."""
    if boards == 1:
        return f"{square} names one of two boards, and the position has one" if square.board else None
    return None if square.board else f"{square} names no board, and the position has two joined"


ALL_SQUARES = all_squares()
"""The whole board of the usual game, in order."""


def square_told(letter: str, number: str, board: str | None) -> tuple[Side, int, int | None]:
    """Return a square as it was read: field, number, and board where one is named.

    The Italian sheet writes T for G (N1).
    """
    return Side.G if letter == "T" else Side(letter), int(number), None if board is None else int(board)


def faults_told(field: Side, number: int, board: int | None) -> list[str]:
    """Name what is wrong with a square that was read; a board named is 1 or 2."""
    faults = _square_faults(field, number, 0 if board is None else board)
    if board == 0:
        faults.append(f"{field}-{number:02d}.0 names no board: two boards joined are 1 and {MOST_BOARDS}")
    return faults

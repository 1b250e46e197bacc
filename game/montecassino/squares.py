"""Sides, squares and the board frame (clauses B1 to B5, N1 and the square lists of N4)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

BOARD_FILES = 8
"""Squares in a line."""

FIELD_LINES = 9
"""Lines of one side's field."""

BOARD_ROWS = 2 * FIELD_LINES
"""Lines of the whole board."""

FIELD_SQUARES = BOARD_FILES * FIELD_LINES
"""Squares of one side's field, numbered from 1."""

BASE_LINES = 3
"""Own lines 1 to 3 are a side's base (B4)."""

BASE_SQUARES = BASE_LINES * BOARD_FILES
"""Squares of a base, numbered from 1."""

_SQUARE = r"([AGT])-?(\d{1,2})"
_SQUARE_PATTERN = re.compile(_SQUARE, re.ASCII)
_ITEM_PATTERN = re.compile(rf"{_SQUARE}(?:-{_SQUARE})?", re.ASCII)


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


@dataclass(frozen=True, slots=True, order=True)
class Square:
    """One square of the board, ordered A-01 to A-72, then G-01 to G-72.

    Parameters
    ----------
    field : Side
        The field that the square belongs to, whoever stands on it.
    number : int
        1 to 72 as the owner of the field sees it: 1 at the far left of line 1, 9 above it (B1).

    Attributes
    ----------
    index : int
        Place on the whole board, 0 to 143 in the order of squares.
    """

    field: Side
    number: int
    index: int = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.number <= FIELD_SQUARES:
            raise SquareError([_out_of_range(self.field, self.number)])
        first = 0 if self.field is Side.A else FIELD_SQUARES
        object.__setattr__(self, "index", first + self.number - 1)

    def __hash__(self) -> int:
        # Positions are dictionaries of squares, and the hash of an enum member, by its name, is slow.
        return self.index

    def __str__(self) -> str:
        return f"{self.field}-{self.number:02d}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a square as N1 writes it: ``A-09``; ``A-9``, ``A09`` and the Italian ``T-49`` are read too.

        Raises
        ------
        SquareError
            If the text is no square, or its number is not on the board.
        """
        match = _SQUARE_PATTERN.fullmatch(text)
        if match is None:
            raise SquareError([f"{text!r} is not a square: expected A or G and a number, such as G-49"])
        return cls(_side(match[1]), int(match[2]))

    @classmethod
    def from_own(cls, side: Side, line: int, file: int) -> Self:
        """Return the square on a side's own line 1 to 18 and file 0 to 7, counted from that side's left."""
        if not (1 <= line <= BOARD_ROWS and 0 <= file < BOARD_FILES):
            raise SquareError([f"there is no own line {line}, file {file}: lines are 1 to 18, files 0 to 7"])
        if line <= FIELD_LINES:
            return cls(side, (line - 1) * BOARD_FILES + file + 1)
        return cls(side.enemy, (BOARD_ROWS - line) * BOARD_FILES + (BOARD_FILES - 1 - file) + 1)

    @classmethod
    def at_mm(cls, x_mm: float, y_mm: float, square_mm: float) -> Self | None:
        """Return the square under a point of the board frame (B3), or None beside the board.

        A point on the line between two squares belongs to the one with the larger x or y.
        """
        column = x_mm // square_mm
        row = y_mm // square_mm
        if not (0 <= column < BOARD_FILES and 0 <= row < BOARD_ROWS):
            return None
        return cls.from_own(Side.A, int(row) + 1, int(column))

    def own_line(self, side: Side) -> int:
        """Return the line 1 to 18 counted from that side's own base (B5)."""
        line = (self.number - 1) // BOARD_FILES + 1
        return line if self.field is side else BOARD_ROWS + 1 - line

    def own_file(self, side: Side) -> int:
        """Return the file 0 to 7 counted from the left as that side sees the board."""
        file = (self.number - 1) % BOARD_FILES
        return file if self.field is side else BOARD_FILES - 1 - file

    def centre_mm(self, square_mm: float) -> tuple[float, float]:
        """Return the (x, y) of the square's centre in the board frame (B3), in mm."""
        row = self.own_line(Side.A) - 1
        return (self.own_file(Side.A) + 0.5) * square_mm, (row + 0.5) * square_mm

    @property
    def mirrored(self) -> Square:
        """The square that this one becomes when the board is turned round and the sides change names."""
        return Square(self.field.enemy, self.number)


ALL_SQUARES = tuple(Square(field, number) for field in Side for number in range(1, FIELD_SQUARES + 1))
"""The whole board, in order."""


def own_squares(side: Side) -> tuple[Square, ...]:
    """Return a side's own field, lowest numbers first."""
    return tuple(square for square in ALL_SQUARES if square.field is side)


def parse_squares(text: str) -> tuple[Square, ...]:
    """Read a list of squares as N4 writes it: ``A01-A24,G49``, or ``-`` for none.

    Order does not matter, and what is one run may be given as several.

    Returns
    -------
    tuple of Square
        Sorted.

    Raises
    ------
    SquareError
        With every fault of the list: unreadable items, numbers off the board, runs that cross from A to G or
        do not go up, squares that stand twice.
    """
    if text == "-":
        return ()
    faults: list[str] = []
    squares: set[Square] = set()
    twice: set[Square] = set()
    for item in text.split(","):
        found = _parse_item(item, faults)
        twice.update(squares.intersection(found))
        squares.update(found)
    faults.extend(f"{square} stands twice" for square in sorted(twice))
    if faults:
        raise SquareError(faults)
    return tuple(sorted(squares))


def _parse_item(item: str, faults: list[str]) -> list[Square]:
    """Read one square or one run; what is wrong is added to `faults`, and gives no squares."""
    match = _ITEM_PATTERN.fullmatch(item)
    if match is None:
        faults.append(f"{item!r} is neither a square nor a run such as A01-A24")
        return []
    field, first = _side(match[1]), int(match[2])
    last_field, last = (field, first) if match[3] is None else (_side(match[3]), int(match[4]))
    off_board = [
        _out_of_range(side, number)
        for side, number in dict.fromkeys([(field, first), (last_field, last)])
        if not 1 <= number <= FIELD_SQUARES
    ]
    if off_board:
        faults.extend(off_board)
        return []
    if field is not last_field:
        faults.append(f"the run {item} crosses from one field to the other")
        return []
    if match[3] is not None and last <= first:
        faults.append(f"the run {item} does not go up")
        return []
    return [Square(field, number) for number in range(first, last + 1)]


def format_squares(squares: Iterable[Square]) -> str:
    """Write squares as N4 does: sorted, consecutive numbers of one field as a run, ``-`` for none."""
    runs: list[list[Square]] = []
    for square in sorted(squares):
        if runs and runs[-1][-1].field is square.field and runs[-1][-1].number + 1 == square.number:
            runs[-1].append(square)
        else:
            runs.append([square])
    return (
        ",".join(_short(run[0]) if len(run) == 1 else f"{_short(run[0])}-{_short(run[-1])}" for run in runs)
        or "-"
    )


def _short(square: Square) -> str:
    return f"{square.field}{square.number:02d}"


def _side(letter: str) -> Side:
    """Read the letter of a field; the Italian sheet writes T for G (N1)."""
    return Side.G if letter == "T" else Side(letter)


def _out_of_range(field: Side, number: int) -> str:
    return f"{field}-{number:02d} is not on the board: numbers go from 1 to {FIELD_SQUARES}"

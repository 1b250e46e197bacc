"""The combat chart: what a battle leaves on paper, row by row (clauses N2 and N3).

A row notes what one soldier did, or one shot, and stands for itself: it is sound when its cells can be read, be its
turn legal or not. `game.montecassino.chart_turns` holds rows against a position.

The booklet shows no row for a retreat, an abandoned or an adjourned battle. Here such a row has its sign of N5 in the
column From (`R`, `#`, `||`) and no mark under Inf. or Art.; it is numbered and counts the enemies as every other row
(our reading). A shot is one row whatever it hit, with its losses side by side in one cell.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from game.montecassino.agreement import Agreement
from game.montecassino.position import Position
from game.montecassino.squares import Square, SquareError

NOTHING = "-----"
"""What a cell holds where there is nothing to note."""

SAME_TURN = '"'
"""The number of a row that belongs to the turn of the row above."""

_MARK = "X"
_EMPTY = re.compile(r"[-\u2010-\u2015\u2212]*")
_SAME_TURN = re.compile("[\"\u201c-\u201f\u2033\u00ab\u00bb]|''")
_NUMBER = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_COUNT = re.compile(r"\d{1,2}", re.ASCII)
_BETWEEN_SQUARES = re.compile(r"[\s,;+]+")


class Column(StrEnum):
    """The columns, in order, by their English heads."""

    NUMBER = "No."
    INFANTRY = "Inf."
    ARTILLERY = "Art."
    START = "From"
    END = "To"
    CAPTURE = "Capture"
    FREEING = "Freeing"
    LOSSES = "Losses by cannon"
    ENEMIES = "Enemies on the field"


class Act(StrEnum):
    """What a row notes: a mark in the column of that name, or a sign in the column From."""

    INFANTRY = "Inf."
    ARTILLERY = "Art."
    RETREAT = "R"
    ABANDON = "#"
    ADJOURN = "||"


_SIGNS = {str(act): act for act in (Act.RETREAT, Act.ABANDON, Act.ADJOURN)}


@dataclass(frozen=True, slots=True)
class CellFault:
    """A cell that cannot be read."""

    column: Column | None
    """None: the row as a whole."""
    found: str
    expected: str

    def __str__(self) -> str:
        said = (
            f"found {self.found!r}, expected {self.expected}" if self.found else f"expected {self.expected}"
        )
        return f"{self.column or 'the row'}: {said}"


class ChartRowError(ValueError):
    """Cells that make no row.

    Attributes
    ----------
    faults : tuple of CellFault
        Everything that is wrong.
    """

    def __init__(self, faults: Iterable[CellFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, self.faults)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRow:
    """One row of the chart (N2). `cells` gives it as it is written, `parse` reads it.

    Raises
    ------
    ValueError
        If infantry moves from or to nowhere, a cell is given that such a row leaves empty, or a number makes no sense.
    """

    number: int | None
    """Number of the turn in the battle, from 1; None for a further soldier of the same turn."""
    act: Act
    start: Square | None = None
    """Where the soldier started; None in all but infantry rows."""
    end: Square | None = None
    """Where it came to, before freeing brought it home; None in all but infantry rows."""
    captured: int = 0
    """Prisoners that it took, 0 or 1 (M6)."""
    freed: int = 0
    """Comrades that it freed."""
    losses: tuple[Square, ...] = ()
    """Squares whose soldiers left for good by the shot."""
    enemies: int | None = None
    """Soldiers of the mover's enemy on the board after the turn; None: not noted."""

    def __post_init__(self) -> None:
        if (self.act is Act.INFANTRY) != (self.start is not None and self.end is not None):
            raise ValueError("an infantry row, and no other, needs the squares from and to")
        if self.act is not Act.INFANTRY and (self.start or self.end or self.captured or self.freed):
            raise ValueError(f"a row of {self.act} has neither squares nor prisoners")
        if self.act is not Act.ARTILLERY and self.losses:
            raise ValueError(f"a row of {self.act} has no losses by cannon")
        if len(set(self.losses)) != len(self.losses):
            raise ValueError("a row names each loss once")
        if (
            self.captured not in {0, 1}
            or min(self.freed, self.enemies or 0) < 0
            or (self.number is not None and self.number < 1)
        ):
            raise ValueError("a row takes one prisoner at most, and counts from 0, its number from 1")
        if self.act is not Act.INFANTRY and self.number is None:
            raise ValueError(f"a row of {self.act} is a turn of its own and needs its number")

    @property
    def cells(self) -> tuple[str, ...]:
        """The nine cells as the booklet writes them."""
        return (
            SAME_TURN if self.number is None else str(self.number),
            _MARK if self.act is Act.INFANTRY else "",
            _MARK if self.act is Act.ARTILLERY else "",
            str(self.act) if self.act in _SIGNS.values() else str(self.start or NOTHING),
            str(self.end or NOTHING),
            str(self.captured or NOTHING),
            str(self.freed or NOTHING),
            " ".join(map(str, self.losses)) or NOTHING,
            NOTHING if self.enemies is None else str(self.enemies),
        )

    @classmethod
    def parse(cls, cells: Sequence[str]) -> Self:
        """Read a row from its nine cells.

        Nothing may be an empty cell or any number of dashes; the Italian ``T-49`` is read as ``G-49`` (N1).

        Raises
        ------
        ChartRowError
            With every cell that cannot be read.
        """
        if len(cells) != len(Column):
            columns = ", ".join(Column)
            raise ChartRowError([CellFault(None, f"{len(cells)} cells", f"{len(Column)}: {columns}")])
        reader = _CellReader(dict(zip(Column, (cell.strip() for cell in cells), strict=True)))
        number = reader.number()
        act = reader.act()
        start = end = None
        captured = freed = 0
        losses: tuple[Square, ...] = ()
        if act is Act.INFANTRY:
            start, end = reader.square(Column.START), reader.square(Column.END)
            captured, freed = reader.count(Column.CAPTURE, 1), reader.count(Column.FREEING, 99)
            reader.expect_nothing(act, Column.LOSSES)
        elif act is Act.ARTILLERY:
            losses = reader.losses()
            reader.expect_nothing(act, Column.START, Column.END, Column.CAPTURE, Column.FREEING)
        elif act is not None:
            reader.expect_nothing(act, Column.END, Column.CAPTURE, Column.FREEING, Column.LOSSES)
        enemies = reader.enemies()
        if act not in {None, Act.INFANTRY} and reader.says_same_turn:
            reader.fault(Column.NUMBER, "the number of the turn, which only infantry shares among rows")
        if reader.faults or act is None:
            raise ChartRowError(reader.faults)
        return cls(
            number=number,
            act=act,
            start=start,
            end=end,
            captured=captured,
            freed=freed,
            losses=losses,
            enemies=enemies,
        )


@dataclass(frozen=True, slots=True)
class UnreadRow:
    """A line of a chart that is no sound row, kept as it was found."""

    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A combat chart, of a whole battle or of some turns of it."""

    rows: tuple[ChartRow | UnreadRow, ...]
    agreement: Agreement | None = None
    """Who fought and what was agreed (S4, S5); None: not noted."""
    began: datetime.date | None = None
    """The day it began; None: not noted."""
    start: Position | None = None
    """Who stood where before the first row; None: as S1 has it."""


class _CellReader:
    """Reads the cells of one row, gathering what is wrong."""

    def __init__(self, cells: dict[Column, str]) -> None:
        self.cells = cells
        self.faults: list[CellFault] = []

    def fault(self, column: Column, expected: str) -> None:
        self.faults.append(CellFault(column, self.cells[column], expected))

    def is_empty(self, column: Column) -> bool:
        return _EMPTY.fullmatch(self.cells[column]) is not None

    @property
    def says_same_turn(self) -> bool:
        return _SAME_TURN.fullmatch(self.cells[Column.NUMBER]) is not None

    def expect_nothing(self, act: Act, *columns: Column) -> None:
        for column in columns:
            if not self.is_empty(column):
                self.fault(column, f"{NOTHING} in a row of {act}")

    def number(self) -> int | None:
        text = self.cells[Column.NUMBER]
        if _NUMBER.fullmatch(text):
            return int(text)
        if not self.says_same_turn:
            self.fault(Column.NUMBER, f"a number from 1, or {SAME_TURN} for the turn of the row above")
        return None

    def act(self) -> Act | None:
        """Return what the row notes; None where the marks do not tell, which is a fault then."""
        before = len(self.faults)
        marked = [column for column in (Column.INFANTRY, Column.ARTILLERY) if self._marked(column)]
        sign = _SIGNS.get(self.cells[Column.START].upper())
        if len(self.faults) > before:
            return None
        if sign is not None and not marked:
            return sign
        if sign is None and len(marked) == 1:
            return Act(marked[0])
        if sign is not None:
            self.fault(marked[0], f"no mark beside {sign}")
        elif marked:
            self.fault(Column.ARTILLERY, f"no mark, for {Column.INFANTRY} has one")
        else:
            self.fault(Column.INFANTRY, f"{_MARK} here or under {Column.ARTILLERY}")
        return None

    def _marked(self, column: Column) -> bool:
        if self.is_empty(column):
            return False
        if self.cells[column].upper() != _MARK:
            self.fault(column, f"{_MARK}, or nothing")
            return False
        return True

    def square(self, column: Column) -> Square | None:
        try:
            return Square.parse(self.cells[column].upper())
        except SquareError:
            self.fault(column, "a square from A-01 to A-72 or G-01 to G-72")
            return None

    def count(self, column: Column, most: int) -> int:
        if self.is_empty(column):
            return 0
        text = self.cells[column]
        if not _COUNT.fullmatch(text) or not 1 <= int(text) <= most:
            self.fault(column, f"{'1' if most == 1 else 'a number'}, or {NOTHING}")
            return 0
        return int(text)

    def losses(self) -> tuple[Square, ...]:
        if self.is_empty(Column.LOSSES):
            return ()
        try:
            found = tuple(
                Square.parse(text) for text in _BETWEEN_SQUARES.split(self.cells[Column.LOSSES].upper())
            )
        except SquareError:
            found = ()
        if len(set(found)) != len(found) or not found:
            self.fault(Column.LOSSES, f"squares, each once, parted by blanks as A-62 G-40, or {NOTHING}")
        return found

    def enemies(self) -> int | None:
        if self.is_empty(Column.ENEMIES):
            return None
        if not _COUNT.fullmatch(self.cells[Column.ENEMIES]):
            self.fault(Column.ENEMIES, f"a number of soldiers, or {NOTHING}")
            return None
        return int(self.cells[Column.ENEMIES])

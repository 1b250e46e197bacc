"""The combat chart as text in columns and as a table for a spreadsheet, written and read (clause N2).

Both are the same lines: the title, a label and its value each; the heads; the rows. Columns of the text are parted by
bars. The table is CSV; its cells are parted by commas in English, by semicolons in Spanish and Italian, as the
spreadsheets of these countries have it. The reader takes any of these, and tabs as the booklet's own text has them,
whatever the language, and heads in any order.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from game.montecassino.agreement import MOST_SHOTS, Agreement, AgreementError, Cannons, Commanders
from game.montecassino.casualties import Option
from game.montecassino.chart import Chart, ChartRow, ChartRowError, Column, UnreadRow
from game.montecassino.chart_battle import first_side
from game.montecassino.chart_words import WORDS, Language, TitleLine, plain
from game.montecassino.position import Position, PositionError
from game.montecassino.square_lists import format_squares, parse_squares
from game.montecassino.squares import Side, Square, SquareError

_LONE_BAR = re.compile(r"(?<!\|)\|(?!\|)")
_RULE = re.compile(r"-+(?:\+-+)+")
_SEPARATORS = "|\t;,"
_HEADS_AT_LEAST = 3
_WORD_AT_LEAST = 2
"""Letters; the marks X and R are no words."""
_NUMBER = re.compile(rf"\d{{1,{len(str(MOST_SHOTS))}}}", re.ASCII)
"""As long as the greatest that an agreement may hold."""

_COLUMNS: Mapping[str, Column | None] = MappingProxyType(
    {
        **{plain(head): column for words in WORDS.values() for column, head in words.heads.items()},
        # The booklet's English sheet shortens two heads, and the upper of its two lines of heads names no column.
        **{"lossescannon": Column.LOSSES, "enemiesfield": Column.ENEMIES},
        **{plain(head): None for words in WORDS.values() for head in (words.movements, words.prisoner)},
    }
)

_TITLE_LINES: Mapping[str, TitleLine] = MappingProxyType(
    {plain(label): line for words in WORDS.values() for line, label in words.title.items()}
)

_SIDES: Mapping[str, Side] = MappingProxyType(
    {
        **{"a": Side.A, "g": Side.G, "t": Side.G},
        **{plain(words.title[TitleLine.PLAYER_A]): Side.A for words in WORDS.values()},
        **{plain(words.title[TitleLine.PLAYER_G]): Side.G for words in WORDS.values()},
    }
)

_CANNONS = (Cannons.NONE, Cannons.SHARED, Cannons.EACH)
"""In the order of their number on the table."""

_ALL_HEADS = ", ".join(Column)

_ValueT = TypeVar("_ValueT")


@dataclass(frozen=True, slots=True)
class ChartFault:
    """A place in a chart's text that cannot be read."""

    line: int
    """From 1."""
    column: str
    """Head of the column or label of the title's line, in English."""
    found: str
    expected: str

    def __str__(self) -> str:
        found = repr(self.found) if self.found else "nothing"
        return f"line {self.line}, {self.column}: found {found}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class ChartReading:
    """A chart as it was read."""

    chart: Chart
    lines: tuple[int, ...]
    """The line, from 1, on which each row of the chart stands."""
    faults: tuple[ChartFault, ...]
    """Everything that cannot be read, by lines. Such lines are among the rows, as they were found."""
    looks_like_one: bool
    """Whether any line is one of the title, has heads of the chart, or as many cells as a row, right or wrong."""


def format_chart(chart: Chart, language: Language = Language.ENGLISH) -> str:
    """Return the chart as lines of text, its columns aligned."""
    words = WORDS[language]
    table = [tuple(words.heads[column] for column in Column), *(row.cells for row in chart.rows)]
    whole = [cells for cells in table if len(cells) == len(Column)]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    lines = [f"{words.title[line]}: {value}".rstrip() for line, value in title_values(chart).items()]
    if lines:
        lines.append("")
    for cells in table:
        if len(cells) == len(Column):
            number, *others = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            lines.append(" | ".join([number.strip().rjust(widths[0]), *others]).rstrip())
        else:
            lines.append(" | ".join(cells))
        if cells is table[0]:
            lines.append("-+-".join("-" * width for width in widths))
    return "\n".join(lines) + "\n"


def format_chart_csv(chart: Chart, language: Language = Language.ENGLISH) -> str:
    """Return the chart as CSV."""
    words = WORDS[language]
    written = io.StringIO()
    writer = csv.writer(written, delimiter="," if language is Language.ENGLISH else ";")
    title = [(words.title[line], value) for line, value in title_values(chart).items()]
    if title:
        writer.writerows([*title, ()])
    writer.writerow(words.heads[column] for column in Column)
    writer.writerows(row.cells for row in chart.rows)
    return written.getvalue()


def read_chart(text: str) -> ChartReading:
    """Read a chart from text in columns, CSV, or text parted by tabs. Whatever the text, there is a reading."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    reader = _ChartReader(_separator_of(lines))
    for number, line in enumerate(lines, 1):
        reader.read(number, line)
    return reader.reading()


def title_values(chart: Chart) -> dict[TitleLine, str]:
    """Return the title's lines as they are written, in order; those that say nothing new are left out."""
    values: dict[TitleLine, str] = {}
    agreement = chart.agreement
    if chart.began is not None:
        values[TitleLine.BEGAN] = chart.began.isoformat()
    if agreement is not None:
        for side, player, cannon in (
            (Side.A, TitleLine.PLAYER_A, TitleLine.CANNON_A),
            (Side.G, TitleLine.PLAYER_G, TitleLine.CANNON_G),
        ):
            commanders = agreement.players[side]
            values[player] = commanders.infantry
            if commanders.cannon != commanders.infantry:
                values[cannon] = commanders.cannon
        values |= {
            TitleLine.FIRST: str(agreement.first),
            TitleLine.OPTION: str(agreement.option),
            TitleLine.ZONE_A: format_squares(agreement.zones[Side.A]),
            TitleLine.ZONE_G: format_squares(agreement.zones[Side.G]),
            TitleLine.SHOTS_A: str(agreement.shots[Side.A]),
            TitleLine.SHOTS_G: str(agreement.shots[Side.G]),
            TitleLine.CANNONS: str(_CANNONS.index(agreement.cannons)),
            TitleLine.LINES: str(agreement.lines),
            TitleLine.BOARDS: str(agreement.boards),
        }
    if chart.start is not None:
        values[TitleLine.START] = str(chart.start)
    return values


def _separator_of(lines: Iterable[str]) -> str:
    """Return what parts most lines into as many cells as a row has."""

    def rows(separator: str) -> tuple[int, int]:
        counts = [len(_split(line, separator)) for line in lines]
        return counts.count(len(Column)), sum(counts)

    return max(_SEPARATORS, key=rows)


def _split(line: str, separator: str) -> tuple[str, ...]:
    """Return the cells of a line, without blanks about them."""
    if separator == "|":
        # Two bars side by side are an empty cell written close, or the sign of an adjournment.
        cells: Iterable[str] = line.split("|")
        if line.count("|") != len(Column) - 1:
            cells = _LONE_BAR.split(line)
    else:
        # A ditto mark written by hand is no opening quotation mark of CSV.
        line = re.sub(rf'^\s*"(?={separator})', '""""', line)
        try:
            cells = next(csv.reader([line], delimiter=separator), [])
        except csv.Error:
            cells = [line]  # longer than any cell may be
    return tuple(cell.strip() for cell in cells)


def _are_heads(cells: Sequence[str]) -> bool:
    """Tell whether a line's cells are heads: some of the chart's, or only words, where every turn has a number."""
    words = [cell for cell in cells if sum(map(str.isalpha, cell)) >= _WORD_AT_LEAST]
    return sum(plain(cell) in _COLUMNS for cell in cells) >= _HEADS_AT_LEAST or (
        len(words) >= _HEADS_AT_LEAST and not any(map(str.isdigit, "".join(cells)))
    )


def _is_whole(row: ChartRow | UnreadRow) -> bool:
    return len(row.cells) == len(Column)


class _ChartReader:
    """Takes lines one after another."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._title: dict[TitleLine, _Noted] = {}
        self._heads: dict[Column, int] = {}
        self._heads_missing: ChartFault | None = None
        self._has_heads = False
        self._rows: list[tuple[int, ChartRow | UnreadRow]] = []
        self._faults: list[ChartFault] = []

    def read(self, number: int, line: str) -> None:
        cells = _split(line, self._separator)
        if not any(cells) or _RULE.fullmatch(line.strip()):
            return
        if (titled := self._title_line(line, cells)) is not None:
            named, label, value = titled
            self._take_title(named, _Noted(number, label, value))
        elif _are_heads(cells):
            self._take_heads(number, cells)
        else:
            self._take_row(number, cells)

    def reading(self) -> ChartReading:
        rows = [row for _, row in self._rows]
        title = _Title(self._title, first_side(rows))
        for noted in title.unread:
            self._rows.append((noted.line, UnreadRow((noted.label, noted.value))))
        self._rows.sort(key=lambda numbered: numbered[0])
        return ChartReading(
            Chart(tuple(row for _, row in self._rows), title.agreement, title.began, title.start),
            tuple(line for line, _ in self._rows),
            tuple(sorted([*self._faults, *title.faults], key=lambda fault: fault.line)),
            looks_like_one=bool(self._title) or self._has_heads or any(map(_is_whole, rows)),
        )

    def _title_line(self, line: str, cells: Sequence[str]) -> tuple[TitleLine, str, str] | None:
        """Return what a line of the title names, its label and its value; None where it is no such line."""
        beside = list(cells[1:])
        while beside and not beside[-1]:
            beside.pop()
        found = [(cells[0].removesuffix(":").strip(), self._separator.join(beside))]
        before_colon, colon, after_colon = line.partition(":")
        if colon:
            # In columns of text a value may have bars; in a table the label has a cell of its own, and values colons.
            found.insert(0 if self._separator == "|" else 1, (before_colon.strip(), after_colon.strip()))
        for label, value in found:
            if ":" not in label and plain(label) in _TITLE_LINES:
                return _TITLE_LINES[plain(label)], label, value
        return None

    def _take_title(self, line: TitleLine, noted: _Noted) -> None:
        if line in self._title:
            expected = f"it once, and line {self._title[line].line} has it"
            self._faults.append(ChartFault(noted.line, noted.label, noted.value, expected))
            self._rows.append((noted.line, UnreadRow((noted.label, noted.value))))
        else:
            self._title[line] = noted

    def _take_heads(self, number: int, cells: Sequence[str]) -> None:
        if len(self._heads) == len(Column):
            self._heads = {}  # the heads of another page
        for place, cell in enumerate(cells):
            column = _COLUMNS.get(plain(cell))
            if column is not None:
                self._heads.setdefault(column, place)
        self._has_heads |= len(self._heads) >= _HEADS_AT_LEAST
        if strange := ", ".join(cell for cell in cells if cell and plain(cell) not in _COLUMNS):
            self._faults.append(ChartFault(number, "heads", strange, f"heads of the chart: {_ALL_HEADS}"))
        missing = [column for column in Column if column not in self._heads]
        # The booklet has two lines of heads: what the first does not name the second may.
        self._heads_missing = (
            ChartFault(number, "heads", "", f"also {', '.join(missing)}") if missing else None
        )

    def _take_row(self, number: int, cells: tuple[str, ...]) -> None:
        if self._heads_missing is not None:
            self._faults.append(self._heads_missing)
            self._heads_missing = None
        cells = self._in_order(cells)
        row: ChartRow | UnreadRow
        try:
            row = ChartRow.parse(cells)
        except ChartRowError as error:
            row = UnreadRow(cells)
            self._faults += [
                ChartFault(number, fault.column or "the row", fault.found, fault.expected)
                for fault in error.faults
            ]
        self._rows.append((number, row))

    def _in_order(self, cells: tuple[str, ...]) -> tuple[str, ...]:
        """Return the cells in the chart's order of columns, as far as the heads tell it."""
        while len(cells) > len(Column) and not cells[-1]:
            cells = cells[:-1]  # spreadsheets fill lines up
        places = [self._heads.get(column, len(cells)) for column in Column]
        beyond = [cell for place, cell in enumerate(cells) if cell and place not in places]
        if max(places) >= len(cells) or beyond:
            return cells
        return tuple(cells[place] for place in places)


@dataclass(frozen=True, slots=True)
class _Noted:
    """A line of the title as it was found."""

    line: int
    label: str
    value: str


class _Title:
    """What the lines of the title say together."""

    def __init__(self, noted: Mapping[TitleLine, _Noted], usual_first: Side) -> None:
        self._noted = noted
        self.faults: list[ChartFault] = []
        self.unread: list[_Noted] = []
        self.began = self._value(TitleLine.BEGAN, _date)
        self.start = self._value(TitleLine.START, _position)
        self.agreement: Agreement | None = None
        agreed: dict[TitleLine, _Noted] = {
            line: each for line, each in noted.items() if line not in {TitleLine.BEGAN, TitleLine.START}
        }
        if agreed:
            self.agreement = self._agreement(agreed, usual_first)

    def _agreement(self, agreed: Mapping[TitleLine, _Noted], usual_first: Side) -> Agreement | None:
        """Return what was agreed, the usual where a line is missing; None where a line is faulty."""
        usual = Agreement(usual_first)
        first = self._value(TitleLine.FIRST, _side)
        option = self._value(TitleLine.OPTION, _option)
        cannons = self._value(TitleLine.CANNONS, _cannons)
        lines = self._value(TitleLine.LINES, _count)
        boards = self._value(TitleLine.BOARDS, _count)
        zones = self._of_sides(TitleLine.ZONE_A, TitleLine.ZONE_G, _zone)
        shots = self._of_sides(TitleLine.SHOTS_A, TitleLine.SHOTS_G, _count)
        infantry = self._of_sides(TitleLine.PLAYER_A, TitleLine.PLAYER_G, str)
        cannon = self._of_sides(TitleLine.CANNON_A, TitleLine.CANNON_G, str)
        if not any(noted in agreed.values() for noted in self.unread):
            try:
                return Agreement(
                    first or usual.first,
                    option=option or usual.option,
                    shots=shots,
                    cannons=cannons or usual.cannons,
                    zones=zones,
                    lines=usual.lines if lines is None else lines,
                    boards=usual.boards if boards is None else boards,
                    players={side: Commanders(infantry.get(side, ""), cannon.get(side, "")) for side in Side},
                )
            except AgreementError as error:
                line = min(noted.line for noted in agreed.values())
                self.faults += [
                    ChartFault(line, "what was agreed", fault, "what the rules allow")
                    for fault in error.faults
                ]
        self.unread = [noted for noted in self._noted.values() if noted in [*self.unread, *agreed.values()]]
        return None

    def _of_sides(
        self, line_a: TitleLine, line_g: TitleLine, read: Callable[[str], _ValueT]
    ) -> dict[Side, _ValueT]:
        values = {Side.A: self._value(line_a, read), Side.G: self._value(line_g, read)}
        return {side: value for side, value in values.items() if value is not None}

    def _value(self, line: TitleLine, read: Callable[[str], _ValueT]) -> _ValueT | None:
        """Return what a line says; None where it is missing, empty or faulty."""
        noted = self._noted.get(line)
        if noted is None or not noted.value:
            return None
        try:
            return read(noted.value)
        except ValueError as expected:
            self.faults.append(ChartFault(noted.line, noted.label, noted.value, str(expected)))
            self.unread.append(noted)
            return None


# Readers of a title's values; what they raise says what was expected.


def _date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError("a date as 2026-05-18") from None


def _side(text: str) -> Side:
    try:
        return _SIDES[plain(text)]
    except KeyError:
        raise ValueError("A or G") from None


def _option(text: str) -> Option:
    try:
        return Option(text.lower())
    except ValueError:
        raise ValueError(f"one of {', '.join(Option)}") from None


def _cannons(text: str) -> Cannons:
    try:
        return _CANNONS[_count(text)]
    except (ValueError, IndexError):
        raise ValueError("0, 1 (one that both share) or 2 (one each)") from None


def _count(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("a number")
    return int(text)


def _zone(text: str) -> tuple[Square, ...]:
    try:
        return parse_squares(text)
    except SquareError as error:
        raise ValueError(f"squares as G25-G72 ({error})") from error


def _position(text: str) -> Position:
    try:
        return Position.parse(text)
    except PositionError as error:
        raise ValueError(f"a position in one line ({'; '.join(error.faults)})") from error

"""A CSV file that somebody wrote by hand or in a spreadsheet: its header, its rows with their lines, its numbers."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from rig.counted import counted
from rig.files.checked_file import Fault, FaultyFile, read_text

__all__ = [
    "CsvRow",
    "CsvTable",
    "no_number",
    "offering_the_others",
    "read_table",
    "shown",
    "to_number",
    "to_typed_number",
]

_LONGEST_SHOWN = 60
_DECIMALS = "write decimals with a point"
_SEPARATORS: Mapping[str, str] = MappingProxyType({",": "commas", ";": "semicolons", "\t": "tabs"})
_QUOTED = re.compile(r'"[^"]*"')
_WITH_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?", re.ASCII)
_WITH_POINT = re.compile(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?", re.ASCII)
# Behind a comma that may be a decimal one or part two cells. Of three it may also be that of thousands, or another range.
_DECIMAL_PLACES = re.compile(r"\d{1,2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CsvRow:
    """A row that holds something."""

    line: int
    """Where in the file it ends, from 1."""
    cells: tuple[str, ...]
    """Without the blanks around them; decimals stand behind a point, also where the file has a comma."""


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A header, and the rows below it."""

    header: tuple[str, ...]
    rows: tuple[CsvRow, ...]

    def uneven(self, row: CsvRow) -> Fault | None:
        """Say so where a row has more or fewer cells than the header."""
        count = len(row.cells)
        if count == len(self.header):
            return None
        hint = _DECIMALS if len(self.header) == 1 else ""
        return Fault(
            f"line {row.line}", counted(count, "cell"), f"{len(self.header)}, as the header has", hint
        )


def read_table(path: Path, error: type[FaultyFile], *, expected: str) -> CsvTable:
    """Read a CSV file; empty lines are passed over.

    Cells are parted as the header's are: by commas, by semicolons or by tabs. Where no comma parts them decimals may stand
    behind one, as spreadsheets write them in German or French; a file of one column has nothing to part.

    Parameters
    ----------
    path : Path
        UTF-8, with or without the byte order mark that spreadsheets put before it.
    error : type of FaultyFile
        What to raise.
    expected : str
        What the file should hold, as "columns x,y".

    Raises
    ------
    FaultyFile
        The file cannot be read, is no CSV, is empty, or may be read in two ways; whether there are rows below the header is
        the caller's to ask.
    """
    name = str(path)
    text = read_text(path, error, missing=f"a CSV file with {expected}")
    separator = _separator_of(text, name, error)
    rows = _rows(text, separator, name, error)
    if not rows:
        raise error(name, [Fault("the file", "nothing in it", expected)])
    if len(rows[0].cells) == 1:
        rows = [_of_one_column(row) for row in rows]
    elif separator != ",":
        rows = _with_points(rows, name, error)
    return CsvTable(rows[0].cells, tuple(rows[1:]))


def _separator_of(text: str, name: str, error: type[FaultyFile]) -> str:
    """Return what parts the cells: the only separator in the header, or the one that gives most rows as many cells."""
    lines = enumerate(text.splitlines(), start=1)
    number, header = next(((at, line) for at, line in lines if line.strip(' ,;\t"')), (1, ""))
    unquoted = _QUOTED.sub("", header)
    found = [separator for separator in _SEPARATORS if separator in unquoted]
    if len(found) < 2:
        return found[0] if found else ","
    even = {each: _even_rows(text, each, name, error) for each in found}
    likely = [each for each in found if even[each] == max(even.values())]
    if len(likely) > 1:
        signs = " or ".join(_SEPARATORS[each] for each in found)
        raise error(name, [Fault(f"line {number}", shown(header), f"cells parted by one sign: {signs}")])
    return likely[0]


def _even_rows(text: str, separator: str, name: str, error: type[FaultyFile]) -> int:
    """Count the rows that have as many cells as the header, whatever their quotation marks."""
    rows = _rows(text, separator, name, error, strict=False)
    return sum(len(row.cells) == len(rows[0].cells) for row in rows)


def _rows(
    text: str, separator: str, name: str, error: type[FaultyFile], *, strict: bool = True
) -> list[CsvRow]:
    """Part a text into its rows."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=strict
    )
    rows = []
    try:
        for row in reader:
            cells = tuple(cell.strip() for cell in row)
            if any(cells):
                rows.append(CsvRow(reader.line_num, cells))
    except csv.Error as bad:
        fault = Fault(
            f"line {reader.line_num}", str(bad), f"rows of cells parted by {_SEPARATORS[separator]}"
        )
        raise error(name, [fault]) from bad
    return rows


def _of_one_column(row: CsvRow) -> CsvRow:
    """Take the comma in the only cell of a row for a decimal one, where it can be nothing else."""
    if len(row.cells) == 2 and _DECIMAL_PLACES.fullmatch(row.cells[1]):
        whole = ",".join(row.cells)
        return replace(row, cells=(_pointed(whole),)) if _WITH_COMMA.fullmatch(whole) else row
    return row


def _with_points(rows: Sequence[CsvRow], name: str, error: type[FaultyFile]) -> list[CsvRow]:
    """Write decimals with a point; where some have a comma and some a point, one of the two may part thousands."""
    first: dict[str, int] = {}
    for row in rows:
        for place, cell in enumerate(row.cells):
            mark = "comma" if _WITH_COMMA.fullmatch(cell) else "point" if _WITH_POINT.fullmatch(cell) else ""
            if not mark:
                continue
            first.setdefault(mark, row.line)
            if len(first) == 2:
                usual, line = next(iter(first.items()))
                column = f", {rows[0].cells[place]}" if place < len(rows[0].cells) else ""
                expected = f"decimals behind a {usual}, as line {line} has them"
                raise error(name, [Fault(f"line {row.line}{column}", shown(cell), expected)])
    return [replace(row, cells=tuple(map(_pointed, row.cells))) for row in rows]


def _pointed(cell: str) -> str:
    """Return a cell with its decimal comma, if it is a number with one, as a point."""
    return cell.replace(",", ".") if _WITH_COMMA.fullmatch(cell) else cell


def offering_the_others(faults: Sequence[Fault]) -> list[Fault]:
    """Return the faults of some rows, one or more; the last one says how the other rows are used all the same."""
    hint = "; ".join(filter(None, (faults[-1].hint, "--skip-bad-rows uses the others")))
    return [*faults[:-1], replace(faults[-1], hint=hint)]


def to_number(cell: str) -> float | None:
    """Return the finite number that a cell holds, or None."""
    # Python also reads 1_000, which nobody means.
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def to_typed_number(text: str) -> float | None:
    """Return the finite number that somebody typed by itself, or None; its decimals stand behind a point or a comma.

    Examples
    --------
    >>> to_typed_number("412,5"), to_typed_number("1,234"), to_typed_number("1,234.5")
    (412.5, None, None)
    """
    whole, comma, places = text.partition(",")
    if comma and "." not in whole and _DECIMAL_PLACES.fullmatch(places):
        return to_number(f"{whole}.{places}")
    return to_number(text)


def no_number(place: str, cell: str, hint: str = "") -> Fault:
    """Return what is wrong with a cell that `to_number` does not take; `hint` is told but of a decimal comma."""
    if "," in cell:
        hint = "thousands are not parted" if "." in cell else _DECIMALS
    return Fault(place, shown(cell), "a number", hint)


def shown(cells: str | Sequence[str]) -> str:
    """Return a cell, or a row of them, as a message quotes it."""
    text = (cells if isinstance(cells, str) else ",".join(cells)).strip()
    if not text:
        return "nothing"
    cut = text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
    return json.dumps(cut, ensure_ascii=False)

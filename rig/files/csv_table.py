"""A CSV file that somebody wrote by hand or in a spreadsheet: its header, its rows with their lines, its numbers."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rig.counted import counted
from rig.files.checked_file import Fault, FaultyFile, read_text

__all__ = ["CsvRow", "CsvTable", "no_number", "offering_the_others", "read_table", "shown", "to_number"]

_LONGEST_SHOWN = 60
_DECIMALS = "write decimals with a point"


@dataclass(frozen=True, slots=True)
class CsvRow:
    """A row that holds something."""

    line: int
    """Where in the file it ends, from 1."""
    cells: tuple[str, ...]
    """Without the blanks around them."""


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
        return Fault(f"line {row.line}", counted(count, "cell"), f"{len(self.header)}, as the header has")

    @property
    def hint(self) -> str:
        """What to do about a header that is not understood, if it shows; else nothing."""
        parted = any(sign in name for name in self.header for sign in ";\t")
        return f"part columns by commas, and {_DECIMALS}" if parted else ""


def read_table(path: Path, error: type[FaultyFile], *, expected: str) -> CsvTable:
    """Read a CSV file; empty lines are passed over.

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
        The file cannot be read, is no CSV, or is empty; whether there are rows below the header is the caller's to ask.
    """
    name = str(path)
    text = read_text(path, error, missing=f"a CSV file with {expected}")
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    rows = []
    try:
        for row in reader:
            cells = tuple(cell.strip() for cell in row)
            if any(cells):
                rows.append(CsvRow(reader.line_num, cells))
    except csv.Error as bad:
        fault = Fault(f"line {reader.line_num}", str(bad), "rows of cells parted by commas")
        raise error(name, [fault]) from bad
    if not rows:
        raise error(name, [Fault("the file", "nothing in it", expected)])
    return CsvTable(rows[0].cells, tuple(rows[1:]))


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


def no_number(place: str, cell: str, hint: str = "") -> Fault:
    """Return what is wrong with a cell that `to_number` does not take; `hint` is told but of a decimal comma."""
    return Fault(place, shown(cell), "a number", _DECIMALS if "," in cell else hint)


def shown(cells: str | Sequence[str]) -> str:
    """Return a cell, or a row of them, as a message quotes it."""
    text = (cells if isinstance(cells, str) else ",".join(cells)).strip()
    if not text:
        return "nothing"
    cut = text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
    return json.dumps(cut, ensure_ascii=False)

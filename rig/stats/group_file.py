"""A group of shots in a CSV file: where each lies beside the point of aim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rig.files.checked_file import Fault, FaultyFile
from rig.files.csv_table import CsvRow, CsvTable, no_number, offering_the_others, read_table, shown, to_number
from rig.files.length_unit import LengthUnit

__all__ = ["GroupFile", "GroupFileError", "check_radius", "read_group", "same_unit"]

_EXPECTED = "columns x,y or x_mm,y_mm (also cm, m, in)"
_COLUMN = re.compile(r"([xy])(?:_(\w+))?", re.ASCII)
_FARTHEST_MM = 20_000.0
_FARTHEST = 1e6
_FEWEST_TO_COMPARE = 5
_TOO_FAR = 30.0
"""Times the median distance; a normal spread has no shot beyond 10 in any group that somebody will ever shoot."""


class GroupFileError(FaultyFile):
    """A file that holds no group, or rows that cannot be used."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupFile:
    """A group as it was read."""

    name: str
    points: NDArray[np.float64]
    """(x, y) of each shot, in the file's unit, shape (n, 2)."""
    unit: LengthUnit | None
    """None: nobody said."""
    lines: tuple[int, ...]
    """Line of each shot in the file, from 1."""
    skipped: tuple[Fault, ...]
    """Rows that were left out because somebody said so."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where in a row the coordinates are."""

    x: int
    y: int
    unit: LengthUnit | None


def read_group(path: Path, *, unit: LengthUnit | None = None, skip_bad_rows: bool = False) -> GroupFile:
    """Read a group.

    Parameters
    ----------
    path : Path
        A CSV file whose first line names the columns: `x` and `y`, or `x_mm` and `y_mm`, also with `cm`, `m` or `in`.
        Other columns, and empty lines, are passed over.
    unit : LengthUnit, optional
        What `x` and `y` are in, where the names do not say.
    skip_bad_rows : bool
        Leave out rows that cannot be used, and say which, instead of refusing the file.

    Raises
    ------
    GroupFileError
        With everything that is wrong: no such file, no such columns, units that disagree, rows with something else
        than two numbers, numbers that no shot can have, and no rows.
    """
    name = str(path)
    table = read_table(path, GroupFileError, expected=_EXPECTED)
    columns = _columns(name, table, unit)
    faults: list[Fault] = []
    lines, points = [], []
    for row in table.rows:
        found = table.uneven(row) or _point(row, columns)
        if isinstance(found, Fault):
            faults.append(found)
        else:
            lines.append(row.line)
            points.append(found)
    placed = np.array(points, dtype=np.float64).reshape(-1, 2)
    sound = np.ones(len(placed), dtype=bool)
    for index, fault in _misplaced(placed, lines):
        sound[index] = False
        faults.append(fault)
    if not lines and not faults:
        faults.append(Fault("the file", "no rows below the header", "a row for each shot"))
    elif skip_bad_rows and not sound.any():
        faults.append(Fault("the file", "no row that can be used", "a row for each shot"))
        skip_bad_rows = False
    if faults and not skip_bad_rows:
        raise GroupFileError(name, offering_the_others(faults) if sound.any() else faults)
    kept = tuple(line for line, good in zip(lines, sound, strict=True) if good)
    return GroupFile(name, placed[sound], columns.unit, kept, tuple(faults))


def same_unit(files: Sequence[GroupFile]) -> LengthUnit | None:
    """Return the unit of files that are to be compared.

    Raises
    ------
    GroupFileError
        If one of them is in another unit than the first, or says none where the first does.
    """
    first = files[0]
    for other in files[1:]:
        if other.unit is not first.unit:
            found, expected = (each.unit or "no unit" for each in (other, first))
            raise GroupFileError(other.name, [Fault("line 1", found, f"{expected}, as {first.name} has")])
    return first.unit


def check_radius(radius: float, unit: LengthUnit | None) -> None:
    """Refuse the radius of a target that nobody shoots at; it may be as large as a shot may lie beside the point of aim.

    Parameters
    ----------
    radius : float
        In `unit`, or in the file's where nobody said one.

    Raises
    ------
    GroupFileError
        If it is not above 0, or too large.
    """
    most, sign = (_FARTHEST, "") if unit is None else (_FARTHEST_MM / unit.in_mm, f" {unit}")
    if not 0 < radius <= most:
        expected = f"a number above 0, at most {most:g}{sign}"
        raise GroupFileError("--radius", [Fault("the target's radius", f"{radius:g}{sign}", expected)])


def _columns(name: str, table: CsvTable, unit: LengthUnit | None) -> _Columns:
    """Find the coordinates' columns, or raise."""
    header, quoted = table.header, shown(table.header)
    if to_number(header[0]) is not None:
        raise GroupFileError(name, [Fault("line 1", quoted, f"a header: {_EXPECTED}")])
    places: dict[str, tuple[int, str | None]] = {}
    for place, cell in enumerate(header):
        match = _COLUMN.fullmatch(cell.lower())
        if match is None:
            continue
        if match[1] in places:
            raise GroupFileError(name, [Fault("line 1", f"{quoted}, two columns of {match[1]}", _EXPECTED)])
        places[match[1]] = (place, match[2])
    if len(places) < 2:
        raise GroupFileError(name, [Fault("line 1", quoted, _EXPECTED)])
    (x, x_unit), (y, y_unit) = places["x"], places["y"]
    if x_unit != y_unit:
        raise GroupFileError(name, [Fault("line 1", quoted, "x and y in the same unit")])
    said = unit
    if x_unit is not None:
        if x_unit not in set(LengthUnit):
            raise GroupFileError(
                name, [Fault("line 1", quoted, f"a unit of length: {', '.join(LengthUnit)}")]
            )
        said = LengthUnit(x_unit)
        if unit is not None and unit is not said:
            raise GroupFileError(
                name, [Fault("line 1", f"{quoted}, which says {said}", f"{unit}, as asked for")]
            )
    return _Columns(x, y, said)


def _point(row: CsvRow, columns: _Columns) -> tuple[float, float] | Fault:
    """Read one row, or say what is wrong with it."""
    x = _coordinate(row.line, "x", row.cells[columns.x], columns)
    y = _coordinate(row.line, "y", row.cells[columns.y], columns)
    if isinstance(x, Fault):
        return x
    if isinstance(y, Fault):
        return y
    return x, y


def _coordinate(line: int, axis: str, cell: str, columns: _Columns) -> float | Fault:
    place, value = f"line {line}, {axis}", to_number(cell)
    if value is None:
        hint = "the unit stands in the header" if re.match(r"[-+.\d]+ ?[a-z\"]+$", cell) else ""
        return no_number(place, cell, hint)
    unit = columns.unit
    if unit is not None and abs(value) * unit.in_mm > _FARTHEST_MM:
        return Fault(
            place,
            f"{value:g} {unit}",
            f"at most {_FARTHEST_MM / unit.in_mm:g} {unit} beside the point of aim",
            "another unit?",
        )
    if abs(value) > _FARTHEST:
        return Fault(place, f"{value:g}", f"a number of at most {_FARTHEST:g}")
    return value


def _misplaced(points: NDArray[np.float64], lines: Iterable[int]) -> Iterator[tuple[int, Fault]]:
    """Find rows so far from the others that they are rather in another unit than wild."""
    if len(points) < _FEWEST_TO_COMPARE:
        return
    distances = np.hypot(*(points - np.median(points, axis=0)).T)
    usual = float(np.median(distances))
    for index, (distance, line) in enumerate(zip(distances, lines, strict=True)):
        if distance > _TOO_FAR * usual > 0:
            x, y = points[index]
            yield (
                index,
                Fault(
                    f"line {line}",
                    f"({x:g}, {y:g}), {distance / usual:.0f} times as far from the middle as half of the shots",
                    f"less than {_TOO_FAR:g} times",
                    "another unit? if it was a wild shot, leave it out",
                ),
            )

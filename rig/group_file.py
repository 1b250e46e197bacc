"""A group of shots in a CSV file: where each lies beside the point of aim."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rig.checked_file import Fault, FaultyFile
from rig.length_unit import LengthUnit

__all__ = ["GroupFile", "GroupFileError", "read_group", "same_unit"]

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

    count: int
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
    rows = _rows(name, _text(path))
    _, header = next(rows, (1, []))
    columns = _columns(name, header, unit)
    faults: list[Fault] = []
    lines, points = [], []
    for line, row in rows:
        found = _point(line, row, columns)
        if isinstance(found, Fault):
            faults.append(found)
        else:
            lines.append(line)
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
        if sound.any():
            hint = "; ".join(filter(None, (faults[-1].hint, "--skip-bad-rows uses the others")))
            faults[-1] = replace(faults[-1], hint=hint)
        raise GroupFileError(name, faults)
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


def _text(path: Path) -> str:
    # A spreadsheet may begin its UTF-8 with a byte order mark.
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        fault = Fault("the file", "nothing", "a CSV file with columns x and y")
    except UnicodeDecodeError as bad:
        fault = Fault(f"byte {bad.start + 1}", "text that is not UTF-8", "a CSV file with columns x and y")
    except OSError as bad:
        fault = Fault("the file", str(bad.strerror), "a CSV file that can be read")
    raise GroupFileError(str(path), [fault])


def _rows(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that hold something, each with its line."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as bad:
            fault = Fault(f"line {reader.line_num}", str(bad), "rows of numbers parted by commas")
            raise GroupFileError(name, [fault]) from bad
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield reader.line_num, cells


def _columns(name: str, header: list[str], unit: LengthUnit | None) -> _Columns:
    """Find the coordinates' columns, or raise."""
    expected = "columns x,y or x_mm,y_mm (also cm, m, in)"
    if not header:
        raise GroupFileError(name, [Fault("the file", "nothing in it", expected)])
    shown = _shown(",".join(header))
    if _number(header[0]) is not None:
        raise GroupFileError(name, [Fault("line 1", shown, f"a header: {expected}")])
    places: dict[str, tuple[int, str | None]] = {}
    for place, cell in enumerate(header):
        match = _COLUMN.fullmatch(cell.lower())
        if match is None:
            continue
        if match[1] in places:
            raise GroupFileError(name, [Fault("line 1", f"{shown}, two columns of {match[1]}", expected)])
        places[match[1]] = (place, match[2])
    if len(places) < 2:
        hint = "part columns by commas, and write decimals with a point" if ";" in header[0] else ""
        raise GroupFileError(name, [Fault("line 1", shown, expected, hint)])
    (x, x_unit), (y, y_unit) = places["x"], places["y"]
    if x_unit != y_unit:
        raise GroupFileError(name, [Fault("line 1", shown, "x and y in the same unit")])
    said = unit
    if x_unit is not None:
        if x_unit not in set(LengthUnit):
            raise GroupFileError(name, [Fault("line 1", shown, f"a unit of length: {', '.join(LengthUnit)}")])
        said = LengthUnit(x_unit)
        if unit is not None and unit is not said:
            raise GroupFileError(
                name, [Fault("line 1", f"{shown}, which says {said}", f"{unit}, as asked for")]
            )
    return _Columns(len(header), x, y, said)


def _point(line: int, row: list[str], columns: _Columns) -> tuple[float, float] | Fault:
    """Read one row, or say what is wrong with it."""
    if len(row) != columns.count:
        cells = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
        return Fault(f"line {line}", cells, f"{columns.count}, as the header has")
    x, y = _coordinate(line, "x", row[columns.x], columns), _coordinate(line, "y", row[columns.y], columns)
    if isinstance(x, Fault):
        return x
    if isinstance(y, Fault):
        return y
    return x, y


def _coordinate(line: int, axis: str, cell: str, columns: _Columns) -> float | Fault:
    place, value = f"line {line}, {axis}", _number(cell)
    if value is None or not math.isfinite(value):
        hint = "the unit stands in the header" if re.match(r"[-+.\d]+ ?[a-z\"]+$", cell) else ""
        return Fault(place, _shown(cell) if cell else "nothing", "a number", hint)
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


def _number(cell: str) -> float | None:
    # Python also reads 1_000, which nobody means.
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _shown(text: str) -> str:
    return json.dumps(text if len(text) <= 60 else f"{text[:57]}...", ensure_ascii=False)

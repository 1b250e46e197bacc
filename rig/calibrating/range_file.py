"""Ranges that somebody measured on the floor: a CSV file, or a few numbers on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rig.calibrating.shots_file import open_range
from rig.files.checked_file import Fault, FaultyFile
from rig.files.csv_table import CsvTable, no_number, offering_the_others, read_table, shown, to_number
from rig.files.length_unit import LengthUnit

__all__ = ["MeasuredRanges", "RangeFileError", "read_ranges", "read_tape"]

_COLUMN = re.compile(r"range(?:_(\w+))?", re.ASCII)
_EXPECTED = "a column range_cm (or range_mm, range_m, range_in); shot and dwell_s may stand beside it"
_BESIDE = frozenset({"shot", "shots_before", "dwell_s", "elevation_deg"})
"""Columns that are read besides; `shots_before` is what the files of `rig calibrate` have in place of `shot`."""
_LIKELY_M = (2.0, 20.0)
"""A cannon of this kind shoots so far; a typical range outside it is asked back, unless the unit was said by `unit`."""
_NAMED_M = (0.7, 20.0)
"""The same where the name of the column says the unit: names are copied, so ten times too short is asked back all the same."""
_POSSIBLE_M = (0.05, 60.0)
_ALIKE = 3.0
"""Ranges of one cannon at one set-up differ by less than this factor; more is another unit or a slip of the pen."""


class RangeFileError(FaultyFile):
    """Ranges that cannot be used; `faults` holds everything that is wrong with them."""


@dataclass(frozen=True, slots=True)
class MeasuredRanges:
    """Ranges in the order fired."""

    name: str
    ranges_m: tuple[float, ...]
    unit: LengthUnit
    """What they were written in."""
    shot_numbers: tuple[float, ...]
    """Which shot of the spring each was; which row of the file, from 1, where that does not say."""
    dwell_s: tuple[float, ...] | None
    """How long the cannon stood cocked before each; None where the file does not say."""
    elevation_deg: float | None = None
    """Of the barrel, the same for all; None where the file does not say."""
    skipped: tuple[Fault, ...] = ()
    """Rows that were left out because somebody said so."""


@dataclass(slots=True)
class _Row:
    place: str
    number: int
    """Among all rows, the unusable ones too: each was a shot."""
    value: float
    shot: float | None = None
    dwell_s: float | None = None
    elevation_deg: float | None = None


def read_tape(text: str, *, unit: LengthUnit | None = None) -> MeasuredRanges:
    """Read ranges from the command line, parted by commas, as 648,655,651.

    Raises
    ------
    RangeFileError
        With everything that is wrong with them.
    """
    faults: list[Fault] = []
    rows: list[_Row] = []
    for index, cell in enumerate(text.split(","), start=1):
        value = to_number(cell)
        if value is None:
            hint = "ranges are parted by commas" if len(cell.split()) > 1 else ""
            faults.append(Fault(f"number {index}", shown(cell), "a range, as 648.5", hint))
        else:
            rows.append(_Row(f"number {index}", index, value))
    return _checked("--tape", rows, unit, faults)


def read_ranges(path: Path, *, unit: LengthUnit | None = None, skip_bad_rows: bool = False) -> MeasuredRanges:
    """Read a CSV file of ranges.

    Parameters
    ----------
    path : Path
        Its first line names the columns: `range_cm` (or `range_mm`, `range_m`, `range_in`; `range` alone is cm), and if
        it was noted `shot`, the number of the shot with this spring (or `shots_before`, how many came before it),
        `dwell_s` and `elevation_deg`. Other columns are passed over.
    unit : LengthUnit, optional
        What a column `range` is in; where the column says it too, that ranges this cannon does not usually shoot are meant.
    skip_bad_rows : bool
        Leave out rows that cannot be used, and say which, instead of refusing the file.

    Raises
    ------
    RangeFileError
        With everything that is wrong.
    """
    name = str(path)
    table = read_table(path, RangeFileError, expected=_EXPECTED)
    places, column_unit = _columns(name, table, unit)
    rows: list[_Row] = []
    faults: list[Fault] = []
    header = [cell.lower() for cell in table.header]
    for number, row in enumerate(table.rows, start=1):
        line, cells = f"line {row.line}", row.cells
        uneven = table.uneven(row)
        if uneven is not None:
            faults.append(uneven)
            continue
        waiting = open_range(row.line, number, dict(zip(header, cells, strict=True)))
        if waiting is not None:
            faults.append(waiting)
            continue
        values = {key: to_number(cells[place]) for key, place in places.items()}
        bad = [
            no_number(f"{line}, {key}", cells[places[key]])
            for key, value in values.items()
            # Beside the range an empty cell means that it was not noted.
            if value is None and (key == "range" or cells[places[key]])
        ]
        faults += bad
        value = values["range"]
        if not bad and value is not None:
            before = values.get("shots_before")
            shot = values.get("shot") if before is None else before + 1
            rows.append(_Row(line, number, value, shot, values.get("dwell_s"), values.get("elevation_deg")))
    return _checked(
        name, rows, unit, faults, column_unit=column_unit, skip_bad_rows=skip_bad_rows, may_skip=True
    )


def _checked(
    name: str,
    rows: list[_Row],
    unit: LengthUnit | None,
    faults: list[Fault],
    *,
    column_unit: LengthUnit | None = None,
    skip_bad_rows: bool = False,
    may_skip: bool = False,
) -> MeasuredRanges:
    given = unit or column_unit or LengthUnit.CM
    factor = given.in_mm / 1000
    if not rows and not faults:
        faults.append(Fault("the file", "no rows below the header", "a row for each shot"))
    if rows:
        usual = median(row.value for row in rows)
        likely_m = _LIKELY_M if column_unit is None else _NAMED_M
        if unit is None and not likely_m[0] <= usual * factor <= likely_m[1]:
            raise RangeFileError(
                name, [_asked_back(usual, given, likely_m, by_column=column_unit is not None)]
            )
        sound = []
        for row in rows:
            fault = _implausible(row, usual, given)
            if fault is None:
                sound.append(row)
            else:
                faults.append(fault)
        rows = sound
    if faults and not (skip_bad_rows and rows):
        raise RangeFileError(name, offering_the_others(faults) if may_skip and rows else faults)
    elevations = sorted({row.elevation_deg for row in rows if row.elevation_deg is not None})
    if len(elevations) > 1:
        told = ", ".join(f"{elevation:g}" for elevation in elevations[:4])
        raise RangeFileError(
            name,
            [
                Fault(
                    "elevation_deg",
                    told,
                    "one elevation: a range is certified at one set-up",
                    "give the shots of each elevation a file of their own",
                )
            ],
        )
    shots = [row.shot for row in rows]
    dwells = [row.dwell_s for row in rows]
    numbers = [float(row.number) for row in rows]
    return MeasuredRanges(
        name=name,
        ranges_m=tuple(row.value * factor for row in rows),
        unit=given,
        shot_numbers=tuple(numbers if None in shots else (shot for shot in shots if shot is not None)),
        dwell_s=None if None in dwells else tuple(dwell for dwell in dwells if dwell is not None),
        elevation_deg=elevations[0] if elevations else None,
        skipped=tuple(faults),
    )


def _asked_back(usual: float, given: LengthUnit, likely_m: tuple[float, float], *, by_column: bool) -> Fault:
    """Ask what the ranges are in; `by_column`: the name of their column says `given`."""
    likely = [unit for unit in LengthUnit if _LIKELY_M[0] <= usual * unit.in_mm / 1000 <= _LIKELY_M[1]]
    right = f"if they are right, say --unit {given}"
    if likely and by_column:
        ask = f"are they in {likely[0]}? then call the column range_{likely[0]}; {right}"
    elif likely:
        ask = f"are they in {likely[0]}? then say --unit {likely[0]}"
    else:
        ask = right
    low, high = (1000 * bound / given.in_mm for bound in likely_m)
    return Fault(
        "the ranges",
        f"about {usual:g}, read as {given}",
        f"ranges of {low:g} to {high:g} {given}, as this cannon shoots",
        ask,
    )


def _implausible(row: _Row, usual: float, given: LengthUnit) -> Fault | None:
    length_m = row.value * given.in_mm / 1000
    if not _POSSIBLE_M[0] <= length_m <= _POSSIBLE_M[1]:
        expected = (
            f"{1000 * _POSSIBLE_M[0] / given.in_mm:g} to {1000 * _POSSIBLE_M[1] / given.in_mm:g} {given}"
        )
        return Fault(
            f"{row.place}, range", f"{row.value:g} {given}", expected, _in_another(row.value, usual, given)
        )
    if not usual / _ALIKE < row.value < usual * _ALIKE:
        return Fault(
            f"{row.place}, range",
            f"{row.value:g} {given}",
            f"something like the others, of about {usual:g} {given}",
            _in_another(row.value, usual, given),
        )
    if row.dwell_s is not None and not 0 <= row.dwell_s <= 86_400:
        return Fault(f"{row.place}, dwell_s", f"{row.dwell_s:g}", "seconds, from 0 to a day")
    if row.elevation_deg is not None and not -90 <= row.elevation_deg <= 90:
        return Fault(f"{row.place}, elevation_deg", f"{row.elevation_deg:g}", "degrees, from -90 to 90")
    if row.shot is not None and not 0 <= row.shot <= 1e7:
        return Fault(f"{row.place}, shot", f"{row.shot:g}", "the number of a shot")
    return None


def _in_another(value: float, usual: float, given: LengthUnit) -> str:
    for unit in LengthUnit:
        if unit is not given and usual / 1.5 < value * unit.in_mm / given.in_mm < usual * 1.5:
            return f"is it in {unit}?"
    return "if it was a wild shot, leave it out"


def _columns(name: str, table: CsvTable, unit: LengthUnit | None) -> tuple[dict[str, int], LengthUnit | None]:
    """Return where each column is, and the unit that the name of the ranges' says."""
    quoted = shown(table.header)
    places: dict[str, int] = {}
    said = None
    for place, cell in enumerate(table.header):
        key = cell.lower()
        match = _COLUMN.fullmatch(key)
        if match is None and key not in _BESIDE:
            continue
        key = "range" if match is not None else key
        if key in places:
            raise RangeFileError(name, [Fault("line 1", f"{quoted}, two columns of {key}", _EXPECTED)])
        places[key] = place
        if match is not None and match[1] is not None:
            if match[1] not in set(LengthUnit):
                units = ", ".join(LengthUnit)
                raise RangeFileError(name, [Fault("line 1", quoted, f"a unit of length: {units}")])
            said = LengthUnit(match[1])
            if unit is not None and unit is not said:
                raise RangeFileError(
                    name, [Fault("line 1", f"{quoted}, which says {said}", f"{unit}, as asked for")]
                )
    if "range" not in places:
        raise RangeFileError(name, [Fault("line 1", quoted, _EXPECTED)])
    return places, said

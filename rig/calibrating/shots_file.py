"""Shots for a calibration, as somebody wrote them down: in a CSV file, or typed in as ranges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from calibration.fit import MeasuredShot
from calibration.flight import Projectile
from rig.counted import counted
from rig.files.checked_file import Fault, FaultyFile
from rig.files.csv_table import CsvTable, no_number, offering_the_others, read_table, shown, to_number
from rig.files.length_unit import LengthUnit

__all__ = [
    "OPEN_RANGE",
    "SHOT_RADIUS_M",
    "ShotsFile",
    "ShotsFileError",
    "open_range",
    "read_shots",
    "shots_of_tape",
]

_FARTHEST_M = 1000.0  # as MeasuredShot takes it
SHOT_RADIUS_M = Projectile().diameter_m / 2
"""How high a shot's middle is where it lies on something flat."""
_TO_SI: Mapping[str, float] = MappingProxyType(
    {
        "elevation_deg": math.pi / 180,
        "azimuth_deg": math.pi / 180,
        "traverse_mm": 1e-3,
        "shots_before": 1.0,
        "dwell_s": 1.0,
        "floor_mm": 1e-3,
        "gate_mps": 1.0,
        "tracked_mps": 1.0,
        "fell_right_mm": 1e-3,
        "fell_ahead_mm": 1e-3,
    }
)
_ANGLES = frozenset({"elevation_deg", "azimuth_deg"})
_FROM = "elevation_from"
_APPROACHES: Mapping[str, int] = MappingProxyType({"below": 1, "above": -1, "": 0})
_RANGE_COLUMNS: Mapping[str, LengthUnit | None] = MappingProxyType(
    {"range": None} | {f"range_{unit}": unit for unit in LengthUnit}
)
_MEASURES = frozenset({*_RANGE_COLUMNS, "gate_mps", "tracked_mps", "fell_right_mm", "fell_ahead_mm"})
_KNOWN = (*_TO_SI, _FROM, *_RANGE_COLUMNS)
OPEN_RANGE = "?"
"""In place of a range: the shot was about to be fired, and nobody has said yet how far it went."""


class ShotsFileError(FaultyFile):
    """Shots that cannot be used; `faults` holds everything that is wrong with them."""


@dataclass(frozen=True, slots=True)
class ShotsFile:
    """Shots as they were measured."""

    name: str
    shots: tuple[MeasuredShot, ...]
    unit: LengthUnit
    """What ranges were written in."""
    fired: int
    """How many shots the spring had fired after the last one, counted as their `shots_before` are."""
    skipped: tuple[Fault, ...] = ()
    """Rows left out: their range is still open, nothing was measured, or somebody said so; shots of the log of another mount."""


def shots_of_tape(
    text: str,
    unit: LengthUnit,
    *,
    elevation_rad: float | None,
    floor_m: float,
    fired: Sequence[MeasuredShot],
    logged: int = 0,
) -> ShotsFile:
    """Read ranges as they were typed, 648,655,651: one for each shot, in the order fired.

    Parameters
    ----------
    text : str
        Ranges parted by commas.
    unit : LengthUnit
        What they are in.
    elevation_rad : float or None
        What all of them were fired at; None where `fired` says.
    floor_m : float
        How high the floor lies that was measured on, over the board's surface.
    fired : sequence of MeasuredShot
        The log's record of the same shots, so that speeds and ranges come together; may be empty.
    logged : int
        How many shots of the spring the log has, where it records these.
    """
    faults: list[Fault] = []
    ranges_m: list[float] = []
    for index, cell in enumerate(text.split(","), start=1):
        value = to_number(cell)
        if value is None or not 0 < value * unit.in_mm / 1000 < _FARTHEST_M:
            most = f"{1000 * _FARTHEST_M / unit.in_mm:.0f} {unit}"
            faults.append(Fault(f"number {index}", shown(cell), f"a range above 0 and below {most}"))
        else:
            ranges_m.append(value * unit.in_mm / 1000)
    if not faults and fired and len(fired) != len(ranges_m):
        faults.append(
            Fault(
                "the ranges",
                f"{len(ranges_m)} of them",
                f"one for each of the {counted(len(fired), 'shot')} named",
            )
        )
    if faults:
        raise ShotsFileError("--tape", faults)
    height_m = floor_m + SHOT_RADIUS_M
    shots = []
    for index, range_m in enumerate(ranges_m):
        known = fired[index] if fired else None
        angle_rad = elevation_rad if known is None else known.elevation_rad
        assert angle_rad is not None, "the caller asks for an elevation where no logged shots are named"
        shots.append(
            MeasuredShot(
                name=f"number {index + 1}" if known is None else known.name,
                elevation_rad=angle_rad,
                azimuth_rad=0.0 if known is None else known.azimuth_rad,
                traverse_m=0.0 if known is None else known.traverse_m,
                elevation_approach=0 if known is None else known.elevation_approach,
                azimuth_approach=0 if known is None else known.azimuth_approach,
                shots_before=index if known is None else known.shots_before,
                dwell_s=0.0 if known is None else known.dwell_s,
                fall_height_m=height_m,
                gate_speed_mps=None if known is None else known.gate_speed_mps,
                range_m=range_m,
            )
        )
    return ShotsFile("--tape", tuple(shots), unit, logged if fired else len(shots))


def read_shots(
    path: Path,
    *,
    unit: LengthUnit | None,
    elevation_rad: float | None,
    floor_m: float,
    skip_bad_rows: bool = False,
) -> ShotsFile:
    """Read a CSV file with a row for each shot, in the order fired.

    Parameters
    ----------
    path : Path
        Its first line names the columns: `elevation_deg`; what was measured: `range_cm` (or `range_mm`, `range_m`,
        `range_in`, or `range`), `gate_mps`, `tracked_mps`, `fell_right_mm` with `fell_ahead_mm`; and if it was noted
        `azimuth_deg`, `traverse_mm`, `dwell_s`, `shots_before`, `floor_mm`, `elevation_from` (below or above). An empty
        cell means "not measured", and a range of `?` that it is still open: such a row, and one of which nothing was
        measured, is left out, and counts as a shot of the spring, as every row does.
    unit : LengthUnit, optional
        What a column `range` is in; cm by default.
    elevation_rad : float, optional
        Of all shots, where the file has no such column, or an empty cell in it. It may not say another one.
    floor_m : float
        Where the file does not say.
    skip_bad_rows : bool
        Leave out rows that cannot be used instead of refusing the file.

    Raises
    ------
    ShotsFileError
        With everything that is wrong.
    """
    name = str(path)
    table = read_table(path, ShotsFileError, expected="a line of column names, and a row for each shot")
    header = [cell.lower() for cell in table.header]
    given = _checked_header(name, table, unit, elevation_rad)
    shots: list[MeasuredShot] = []
    faults: list[Fault] = []
    left_out: list[Fault] = []
    others: list[Fault] = []
    fired = last = 0
    for index, row in enumerate(table.rows):
        uneven = table.uneven(row)
        if uneven is not None:
            faults.append(uneven)
            continue
        cells = dict(zip(header, row.cells, strict=True))
        waiting = open_range(row.line, index + 1, cells)
        if waiting is not None:
            left_out.append(waiting)
            continue
        if not any(cell for column, cell in cells.items() if column in _MEASURES):
            unmeasured = f"nothing measured of shot {index + 1}"
            left_out.append(
                Fault(
                    f"line {row.line}", unmeasured, "its range or its speed; it counts as fired, and no more"
                )
            )
            continue
        shot = _shot_of(row.line, cells, index, given, elevation_rad, floor_m)
        if isinstance(shot, MeasuredShot):
            shots.append(shot)
            last = index
            fired = max(fired, shot.shots_before + 1)
            if elevation_rad is not None and not math.isclose(shot.elevation_rad, elevation_rad):
                others.append(_other_elevation(row.line, cells["elevation_deg"], elevation_rad))
        else:
            faults += shot
    if others:
        raise ShotsFileError(name, others)
    if not table.rows:
        faults.append(Fault("the file", "no rows below the header", "a row for each shot"))
    if not shots or (faults and not skip_bad_rows):
        raise ShotsFileError(name, (offering_the_others(faults) if shots else faults) + left_out)
    # A row that is left out is a shot of the spring all the same.
    fired = max(fired, shots[-1].shots_before + len(table.rows) - last)
    return ShotsFile(name, tuple(shots), given, fired, tuple(faults + left_out))


def _other_elevation(line: int, cell: str, elevation_rad: float) -> Fault:
    asked = f"{math.degrees(elevation_rad):g}, as --elevation says"
    return Fault(
        f"line {line}, elevation_deg", cell, asked, "without --elevation each shot has that of its row"
    )


def _checked_header(
    name: str, table: CsvTable, unit: LengthUnit | None, elevation_rad: float | None
) -> LengthUnit:
    faults: list[Fault] = []
    header = [cell.lower() for cell in table.header]
    for column in dict.fromkeys(header):
        if column not in _KNOWN:
            faults.append(
                Fault("line 1", shown(column), "the name of a column", f"it knows {', '.join(_KNOWN)}")
            )
        elif header.count(column) > 1:
            faults.append(Fault("line 1", f"{column!r} twice", "each column once"))
    ranges = [column for column in dict.fromkeys(header) if column in _RANGE_COLUMNS]
    if len(ranges) > 1:
        faults.append(Fault("line 1", " and ".join(ranges), "ranges in one unit"))
    if "elevation_deg" not in header and elevation_rad is None:
        faults.append(
            Fault(
                "line 1", "no column elevation_deg", "one, or --elevation where it was the same for all shots"
            )
        )
    said = _RANGE_COLUMNS[ranges[0]] if ranges else None
    if said is not None and unit is not None and said is not unit:
        faults.append(Fault("line 1", f"{ranges[0]}, which says {said}", f"{unit}, as asked for"))
    if ("fell_right_mm" in header) != ("fell_ahead_mm" in header):
        faults.append(Fault("line 1", "one of fell_right_mm and fell_ahead_mm", "both of them, or neither"))
    if faults:
        raise ShotsFileError(name, faults)
    return said or unit or LengthUnit.CM


def open_range(line: int, number: int, cells: Mapping[str, str]) -> Fault | None:
    """Say what to do about a row whose range is still open; None for any other."""
    column = next(
        (column for column, cell in cells.items() if column in _RANGE_COLUMNS and cell == OPEN_RANGE), None
    )
    if column is None:
        return None
    at = f", at {cells['elevation_deg']} degrees" if cells.get("elevation_deg") else ""
    return Fault(
        f"line {line}, {column}",
        f"{OPEN_RANGE} for shot {number}{at}",
        "its range, nothing where it was not measured, or no such line where it was not fired",
    )


def _shot_of(
    line: int,
    cells: Mapping[str, str],
    index: int,
    unit: LengthUnit,
    elevation_rad: float | None,
    floor_m: float,
) -> MeasuredShot | list[Fault]:
    values, range_m, faults = _values_of(line, cells, unit)
    shots_before = values.get("shots_before", float(index))
    if not shots_before.is_integer():
        faults.append(Fault(f"line {line}, shots_before", f"{shots_before:g}", "a whole number"))
    angle_rad = values.get("elevation_deg", elevation_rad)
    if angle_rad is None and not cells.get("elevation_deg"):
        faults.append(Fault(f"line {line}, elevation_deg", "nothing", "what the shot was fired at"))
    if ("fell_right_mm" in values) != ("fell_ahead_mm" in values):
        faults.append(Fault(f"line {line}", "one of fell_right_mm and fell_ahead_mm", "both, or neither"))
    if faults or angle_rad is None:
        return faults
    try:
        return MeasuredShot(
            name=f"line {line}",
            elevation_rad=angle_rad,
            azimuth_rad=values.get("azimuth_deg", 0.0),
            traverse_m=values.get("traverse_mm", 0.0),
            elevation_approach=_APPROACHES[cells.get(_FROM, "").lower()],
            shots_before=int(shots_before),
            dwell_s=values.get("dwell_s", 0.0),
            fall_height_m=values.get("floor_mm", floor_m) + SHOT_RADIUS_M,
            gate_speed_mps=values.get("gate_mps"),
            tracked_speed_mps=values.get("tracked_mps"),
            range_m=range_m,
            fell_m=(
                (values["fell_right_mm"], values["fell_ahead_mm"]) if "fell_right_mm" in values else None
            ),
        )
    except ValueError as refused:
        found, _, expected = str(refused).removeprefix(f"line {line}: ").partition(", expected ")
        return [Fault(f"line {line}", found, expected or "a shot that can have been")]


def _values_of(
    line: int, cells: Mapping[str, str], unit: LengthUnit
) -> tuple[dict[str, float], float | None, list[Fault]]:
    """Give the numbers of a line by column, in SI units, its range in metres, and what is none."""
    faults: list[Fault] = []
    values: dict[str, float] = {}
    range_m = None
    for column, cell in cells.items():
        if column == _FROM:
            if cell.lower() not in _APPROACHES:
                faults.append(Fault(f"line {line}, {column}", shown(cell), "below, above, or nothing"))
        elif cell:
            value = to_number(cell)
            if value is None:
                faults.append(no_number(f"line {line}, {column}", cell))
            elif column in _RANGE_COLUMNS:
                range_m = value * unit.in_mm / 1000
            elif column in _ANGLES and not -90 <= value <= 90:
                faults.append(Fault(f"line {line}, {column}", f"{value:g}", "degrees, from -90 to 90"))
            else:
                values[column] = value * _TO_SI[column]
    return values, range_m, faults

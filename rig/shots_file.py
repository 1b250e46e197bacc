"""Shots for a calibration: from a CSV file, from ranges typed in, from the shot log."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from calibration.aim import Strip
from calibration.fit import MeasuredShot
from calibration.flight import Projectile
from rig.calibration_file import CalibrationFile
from rig.checked_file import Fault, FaultyFile, read_text
from rig.csv_table import CsvTable, read_table, shown, to_number
from rig.length_unit import LengthUnit
from rig.log import Shot, Stage
from rig.whole_file import write_whole

__all__ = ["ShotRows", "ShotsFile", "ShotsFileError", "logged_shots", "read_shots", "shots_of_tape"]

_FARTHEST_M = 1000.0
SHOT_RADIUS_M = Projectile().diameter_m / 2
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
_FROM = "elevation_from"
_APPROACHES: Mapping[str, int] = MappingProxyType({"below": 1, "above": -1, "": 0})
_RANGE_COLUMNS: Mapping[str, LengthUnit | None] = MappingProxyType(
    {"range": None} | {f"range_{unit}": unit for unit in LengthUnit}
)
_KNOWN = (*_TO_SI, _FROM, *_RANGE_COLUMNS)
_OPEN = "?"  # in place of a range: the shot was about to be fired, and nobody has said yet how far it went


class ShotsFileError(FaultyFile):
    """Shots that cannot be used; `faults` holds everything that is wrong with them."""


@dataclass(frozen=True, slots=True)
class ShotsFile:
    """Shots as they were measured."""

    name: str
    shots: tuple[MeasuredShot, ...]
    unit: LengthUnit
    """What ranges were written in."""
    skipped: tuple[Fault, ...] = ()
    """Rows left out: their range is still open, or somebody said so."""


def shots_of_tape(
    text: str, unit: LengthUnit, *, elevation_rad: float | None, floor_m: float, fired: Sequence[MeasuredShot]
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
    """
    faults: list[Fault] = []
    ranges_m: list[float] = []
    for index, cell in enumerate(text.split(","), start=1):
        value = to_number(cell)
        if value is None or not 0 < value * unit.in_mm / 1000 < _FARTHEST_M:
            faults.append(
                Fault(f"number {index}", shown(cell), f"a range above 0 {unit}, as a tape shows it")
            )
        else:
            ranges_m.append(value * unit.in_mm / 1000)
    if not faults and fired and len(fired) != len(ranges_m):
        faults.append(
            Fault("the ranges", f"{len(ranges_m)} of them", f"one for each of the {len(fired)} shots named")
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
    return ShotsFile("--tape", tuple(shots), unit)


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
        cell means "not measured", and a range of `?` that it is still open: such a row is left out, and counts as a
        shot of the spring, as every row does.
    unit : LengthUnit, optional
        What a column `range` is in; cm by default.
    elevation_rad : float, optional
        Of all shots, where the file has no such column.
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
    still_open: list[Fault] = []
    for index, row in enumerate(table.rows):
        uneven = table.uneven(row)
        if uneven is not None:
            faults.append(uneven)
            continue
        cells = dict(zip(header, row.cells, strict=True))
        waiting = _open_range(row.line, index + 1, cells)
        if waiting is not None:
            still_open.append(waiting)
            continue
        shot = _shot_of(row.line, cells, index, given, elevation_rad, floor_m)
        if isinstance(shot, MeasuredShot):
            shots.append(shot)
        else:
            faults += shot
    if not table.rows:
        faults.append(Fault("the file", "no rows below the header", "a row for each shot"))
    if not shots or (faults and not skip_bad_rows):
        raise ShotsFileError(name, faults + still_open)
    return ShotsFile(name, tuple(shots), given, tuple(faults + still_open))


def _checked_header(
    name: str, table: CsvTable, unit: LengthUnit | None, elevation_rad: float | None
) -> LengthUnit:
    faults: list[Fault] = []
    header = [cell.lower() for cell in table.header]
    if table.hint:
        raise ShotsFileError(name, [Fault("line 1", shown(table.header), "names of columns", table.hint)])
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


def _open_range(line: int, number: int, cells: Mapping[str, str]) -> Fault | None:
    """Say what to do about a row whose range is still open; None for any other."""
    column = next(
        (column for column, cell in cells.items() if column in _RANGE_COLUMNS and cell == _OPEN), None
    )
    if column is None:
        return None
    at = f", at {cells['elevation_deg']} degrees" if cells.get("elevation_deg") else ""
    return Fault(
        f"line {line}, {column}",
        f"{_OPEN} for shot {number}{at}",
        "its range, nothing where it was not measured, or no such line where it was not fired",
    )


def _shot_of(
    number: int,
    cells: Mapping[str, str],
    index: int,
    unit: LengthUnit,
    elevation_rad: float | None,
    floor_m: float,
) -> MeasuredShot | list[Fault]:
    faults: list[Fault] = []
    values: dict[str, float] = {}
    range_m = None
    for column, cell in cells.items():
        if column == _FROM:
            if cell.lower() not in _APPROACHES:
                faults.append(Fault(f"line {number}, {column}", shown(cell), "below, above, or nothing"))
        elif cell:
            value = to_number(cell)
            if value is None:
                faults.append(Fault(f"line {number}, {column}", shown(cell), "a number"))
            elif column in _RANGE_COLUMNS:
                range_m = value * unit.in_mm / 1000
            else:
                values[column] = value * _TO_SI[column]
    shots_before = values.get("shots_before", float(index))
    if not shots_before.is_integer():
        faults.append(Fault(f"line {number}, shots_before", f"{shots_before:g}", "a whole number"))
    angle_rad = values.get("elevation_deg", elevation_rad)
    if angle_rad is None and not cells.get("elevation_deg"):
        faults.append(Fault(f"line {number}, elevation_deg", "nothing", "what the shot was fired at"))
    if ("fell_right_mm" in values) != ("fell_ahead_mm" in values):
        faults.append(Fault(f"line {number}", "one of fell_right_mm and fell_ahead_mm", "both, or neither"))
    if faults or angle_rad is None:
        return faults
    try:
        return MeasuredShot(
            name=f"line {number}",
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
        found = str(refused).removeprefix(f"line {number}: ")
        return [Fault(f"line {number}", found, "a shot that can have been")]


class ShotRows:
    """A CSV file of shots that grows while they are fired: `elevation_deg`, `range_cm`, `gate_mps`, `dwell_s`.

    A shot's row is on the disk before it is fired, with its range open. What is learnt of it is put in as soon as it is
    known: whatever ends the program, no shot is fired of which the file says nothing.

    Attributes
    ----------
    count : int
        Shots in it.
    """

    _HEADER = "elevation_deg,range_cm,gate_mps,dwell_s"

    def __init__(self, path: Path, count: int) -> None:
        self._path = path
        self._row: str | None = None
        self.count = count

    @classmethod
    def open(cls, path: Path) -> ShotRows:
        """Begin a file, or go on with one that was begun so.

        Raises
        ------
        ShotsFileError
            Another file lies there, or it cannot be written.
        """
        name = str(path)
        try:
            if not path.exists():
                path.write_text(f"{cls._HEADER}\n", encoding="utf-8")
                return cls(path, 0)
            with path.open("a", encoding="utf-8"):
                pass
        except OSError as error:
            raise ShotsFileError(
                name, [Fault("the file", str(error.strerror), "a file that can be written")]
            ) from error
        rows = cls(path, 0)
        lines = [line for line in rows._lines() if line.strip()]
        if not lines or lines[0].strip() != cls._HEADER:
            found = repr(lines[0].strip()) if lines else "nothing"
            raise ShotsFileError(name, [Fault("line 1", found, f"{cls._HEADER}, to add shots below it")])
        rows.count = len(lines) - 1
        return rows

    def begin(self, elevation_deg: float) -> None:
        """Write down the shot that is about to be fired, its range still open; on return that is on the disk.

        Raises
        ------
        ShotsFileError
            It cannot be written, as for each of the methods below.
        """
        row = f"{elevation_deg:g},{_OPEN},,"
        self._write([*self._lines(), row], row)
        self._row = row
        self.count += 1

    def left(self, gate_mps: float | None, dwell_s: float) -> None:
        """Write down what the rig measured of the shot that was begun."""
        elevation, *_ = self._begun().split(",")
        gate = "" if gate_mps is None else f"{gate_mps:.4f}"
        row = f"{elevation},{_OPEN},{gate},{dwell_s:.1f}"
        self._replace(row)
        self._row = row

    def taped(self, range_cm: float | None) -> None:
        """Write down the range of the shot that was begun; None: it was not measured."""
        elevation, _, gate, dwell = self._begun().split(",")
        self._replace(f"{elevation},{'' if range_cm is None else f'{range_cm:g}'},{gate},{dwell}")
        self._row = None

    def strike(self) -> None:
        """Take the row out again, if one was begun: its shot was not fired."""
        if self._row is not None:
            self._replace(None)
            self._row = None
            self.count -= 1

    def open_ranges(self) -> Iterator[Fault]:
        """Say of each shot whose range is still open what to do about it."""
        table = read_table(self._path, ShotsFileError, expected=self._HEADER)
        for number, row in enumerate(table.rows, start=1):
            still_open = _open_range(row.line, number, dict(zip(table.header, row.cells, strict=False)))
            if still_open is not None:
                yield still_open

    def _begun(self) -> str:
        assert self._row is not None, "a shot is begun first"
        return self._row

    def _lines(self) -> list[str]:
        return read_text(self._path, ShotsFileError, missing="a CSV file of shots").splitlines()

    def _replace(self, row: str | None) -> None:
        """Put another row in the place of the one that was begun; None: take it out."""
        lines = self._lines()
        # From the end: an earlier shot of which nothing is known has the same row. And somebody may have edited the file.
        at = next((k for k in reversed(range(len(lines))) if lines[k] == self._row), None)
        if at is None:
            fault = Fault("the file", f"no line {self._row}", f"that line, to make it {row or 'none'}")
            raise ShotsFileError(str(self._path), [fault])
        lines[at : at + 1] = [] if row is None else [row]
        self._write(lines, row)

    def _write(self, lines: Sequence[str], row: str | None) -> None:
        try:
            write_whole(self._path, "".join(f"{line}\n" for line in lines))
        except OSError as error:
            fault = Fault("the file", str(error.strerror), f"one that takes this shot's row, {row or 'none'}")
            raise ShotsFileError(str(self._path), [fault]) from error


def logged_shots(
    shots: Sequence[Shot],
    wanted: Collection[int] | None,
    known: CalibrationFile | None,
    strips: Mapping[str, Strip],
    *,
    elevation_approach: int,
    azimuth_approach: int,
) -> Iterator[MeasuredShot]:
    """Yield the logged shots whose speed the muzzle gate timed, as they were set.

    Parameters
    ----------
    shots : sequence of Shot
        All of the log, oldest first.
    wanted : collection of int, optional
        Numbers of those to take; all by default.
    known : CalibrationFile, optional
        By which the rig aims now.
    strips : mapping of str to Strip
        Where the settings put the cannon of each side, "A" and "G".
    elevation_approach, azimuth_approach : int
        From which side the settings' axes come to an aim, as in `MeasuredShot`.

    Raises
    ------
    ShotsFileError
        A wanted shot is not there, was not timed, or was aimed by another calibration.
    """
    faults: list[Fault] = []
    found = {shot.shot_id for shot in shots}
    for number in sorted(set(wanted or ()) - found):
        faults.append(Fault(f"shot {number}", "nothing", "a shot of the log"))
    before = 0
    taken: list[MeasuredShot] = []
    for shot in shots:
        gate, aim = shot.muzzle_gate, shot.aim
        count, before = before, before + (gate is not None)
        if wanted is not None and shot.shot_id not in wanted:
            continue
        speed_mps = None if gate is None else gate.muzzle_speed_mps
        if aim is None or speed_mps is None:
            if wanted is not None:
                faults.append(
                    Fault(f"shot {shot.shot_id}", "no speed by the muzzle gate", "a shot that was timed")
                )
            continue
        if aim.calibration and (known is None or aim.calibration != known.identity):
            if wanted is not None:
                faults.append(
                    Fault(
                        f"shot {shot.shot_id}",
                        f"aimed by the calibration {aim.calibration}",
                        "shots aimed without one, or by the one that the settings name",
                    )
                )
            continue
        by = known.calibration if known is not None and aim.calibration else None
        elevation_rad, azimuth_rad = aim.elevation_rad, aim.azimuth_rad
        if by is not None:
            elevation_rad = by.set_elevation_rad(elevation_rad, elevation_approach)
            azimuth_rad = by.set_azimuth_rad(azimuth_rad, azimuth_approach)
        taken.append(
            MeasuredShot(
                name=f"shot {shot.shot_id}",
                elevation_rad=elevation_rad,
                azimuth_rad=azimuth_rad,
                traverse_m=aim.traverse_mm / 1000,
                elevation_approach=elevation_approach,
                azimuth_approach=azimuth_approach,
                shots_before=count,
                dwell_s=_dwell_s(shot),
                fall_height_m=SHOT_RADIUS_M,
                gate_speed_mps=speed_mps,
                fell_m=_fell_m(shot, strips),
            )
        )
    if faults:
        raise ShotsFileError("the log", faults)
    yield from taken


def _fell_m(shot: Shot, strips: Mapping[str, Strip]) -> tuple[float, float] | None:
    """Return where a shot that touched no soldier first met the board, as its shooter sees it."""
    if not shot.analyses:
        return None
    last = shot.analyses[-1]
    where_mm = last.raw.get("first_contact_mm")
    # What it met first may be a soldier, and is for certain only where none fell and none was pushed.
    if last.falls or last.moved or not isinstance(where_mm, list) or len(where_mm) != 2:
        return None
    return strips[shot.planned.side].from_board(float(where_mm[0]) / 1000, float(where_mm[1]) / 1000)


def _dwell_s(shot: Shot) -> float:
    cocked, fired = shot.entry(Stage.COCKED), shot.entry(Stage.FIRED)
    if cocked is None or fired is None or cocked.clock_us is None or fired.clock_us is None:
        return 0.0
    return max(0.0, (fired.clock_us - cocked.clock_us) / 1e6)

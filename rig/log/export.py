"""The log as two flat tables, for a spreadsheet or a notebook. Every column's unit is in its name."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from rig.files.whole_file import write_whole
from rig.log.errors import LogError
from rig.log.records import Analysis, Fall, Session, Shot, Stage
from rig.log.store import ShotLog
from rig.log.telling import tell

__all__ = ["FORMATS", "export", "falls_table", "shots_table"]

_TIME = pa.timestamp("us", tz="UTC")

_AFTER = (
    Stage.AIMED,
    Stage.COCKED,
    Stage.LOADED,
    Stage.ARMED,
    Stage.ASKED,
    Stage.FIRED,
    Stage.SEEN,
    Stage.RECORDED,
)

_SHOT_COLUMNS: Mapping[str, Any] = MappingProxyType(
    {
        "shot_id": pa.int64(),
        "session_id": pa.int64(),
        "planned_at_utc": _TIME,
        "side": pa.string(),
        "target": pa.string(),
        "option": pa.string(),
        "zone": pa.string(),
        "position": pa.string(),
        "plan": pa.string(),
        "plan_index": pa.int64(),
        "stage": pa.string(),
        "fired": pa.string(),
        "told": pa.string(),
        "target_x_mm": pa.float64(),
        "target_y_mm": pa.float64(),
        "target_z_mm": pa.float64(),
        "traverse_mm": pa.float64(),
        "azimuth_rad": pa.float64(),
        "elevation_rad": pa.float64(),
        "expected_muzzle_speed_mps": pa.float64(),
        "calibration": pa.string(),
        **{f"{stage}_after_us": pa.int64() for stage in _AFTER},
        "release_to_first_us": pa.float64(),
        "first_to_second_us": pa.float64(),
        "gate_spacing_mm": pa.float64(),
        "muzzle_speed_mps": pa.float64(),
        "analyses": pa.int64(),
        "falls": pa.int64(),
        "casualties": pa.string(),
        "put_back": pa.string(),
        "pending": pa.string(),
        "after": pa.string(),
        "winner": pa.string(),
        "recording_path": pa.string(),
        "transcript_path": pa.string(),
        "software_version": pa.string(),
        "firmware_version": pa.string(),
        "wire_version": pa.int64(),
        # New columns come last: whoever counts columns finds the old ones where they were.
        "fallen": pa.string(),
        "fallen_causes": pa.string(),
        "pushed": pa.string(),
    }
)

_FALL_COLUMNS: Mapping[str, Any] = MappingProxyType(
    {
        "shot_id": pa.int64(),
        "analysis": pa.int64(),
        "latest": pa.bool_(),
        "analysis_software_version": pa.string(),
        "side": pa.string(),
        "square": pa.string(),
        "cause": pa.string(),
        "possible_causes": pa.string(),
        "confidence": pa.float64(),
        "t_us": pa.int64(),
        "evidence": pa.string(),
        "verdict": pa.string(),
        "decided_by": pa.string(),
        "decided_at_utc": _TIME,
        "decided_by_name": pa.string(),
        "decided_cause": pa.string(),
    }
)


def shots_table(log: ShotLog) -> pa.Table:
    """Give one row a shot, oldest first.

    `<stage>_after_us` is counted from `planned` on the rig's own clock, to the last time the shot came to that
    stage. Lists of squares are parted by blanks; `fallen_causes` has the likeliest cause of each of `fallen`, in the
    same order. What is not known is null.
    """
    shots = log.shots()
    # Read after the shots: of each of them the session was begun before, even where a rig fires meanwhile.
    sessions = {session.session_id: session for session in log.sessions()}
    rows = [_shot_row(shot, sessions[shot.session_id]) for shot in shots]
    return pa.Table.from_pylist(rows, schema=pa.schema(_SHOT_COLUMNS))


def falls_table(log: ShotLog) -> pa.Table:
    """Give one row for each fall of each analysis; `latest` marks those of a shot's last analysis.

    `analysis` counts a shot's analyses from 1. `verdict` is what the standing verdict says of that soldier:
    casualty, put back, or doubt; null where it says nothing. `decided_by` is the side that ruled on a doubt,
    `decided_by_name` who spoke for it, and `decided_cause` what they called the cause; null where nobody signed.
    """
    rows = [
        _fall_row(shot, number, analysis, fall)
        for shot in log.shots()
        for number, analysis in enumerate(shot.analyses, start=1)
        for fall in analysis.falls
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(_FALL_COLUMNS))


def _shot_row(shot: Shot, session: Session) -> dict[str, Any]:
    planned, aim, gate, verdict = shot.planned, shot.aim, shot.muzzle_gate, shot.verdict
    row: dict[str, Any] = {
        "shot_id": shot.shot_id,
        "session_id": shot.session_id,
        "planned_at_utc": shot.history[0].at_utc_us,
        "side": planned.side,
        "target": planned.target,
        "option": planned.option,
        "zone": planned.zone,
        "position": planned.position,
        "plan": planned.plan,
        "plan_index": planned.plan_index,
        "stage": shot.stage.value,
        "fired": shot.fired.value,
        "told": tell(shot),
        "analyses": len(shot.analyses),
        **_felled(shot),
        "recording_path": shot.recording_path,
        "transcript_path": session.transcript_path,
        "software_version": session.software_version,
        "firmware_version": session.firmware_version,
        "wire_version": session.wire_version,
    }
    if aim is not None:
        row |= dict(zip(("target_x_mm", "target_y_mm", "target_z_mm"), aim.target_mm, strict=True))
        row |= {
            "traverse_mm": aim.traverse_mm,
            "azimuth_rad": aim.azimuth_rad,
            "elevation_rad": aim.elevation_rad,
            "expected_muzzle_speed_mps": aim.expected_muzzle_speed_mps,
            "calibration": aim.calibration,
        }
    row |= {f"{stage}_after_us": _after_us(shot, stage) for stage in _AFTER}
    if gate is not None:
        row |= {
            "release_to_first_us": gate.release_to_first_us,
            "first_to_second_us": gate.first_to_second_us,
            "gate_spacing_mm": gate.spacing_mm,
            "muzzle_speed_mps": gate.muzzle_speed_mps,
        }
    if verdict is not None:
        row |= {
            "casualties": " ".join(verdict.casualties),
            "put_back": " ".join(verdict.put_back),
            "pending": " ".join(doubt.square for doubt in shot.pending),
            "after": verdict.after,
            "winner": verdict.winner,
        }
    return row


def _felled(shot: Shot) -> dict[str, Any]:
    """Tell who fell and who was pushed, as the last analysis has it."""
    if not shot.analyses:
        return {}
    last = shot.analyses[-1]
    return {
        "falls": len(last.falls),
        "fallen": " ".join(fall.square for fall in last.falls),
        "fallen_causes": " ".join(fall.causes[0] for fall in last.falls),
        "pushed": " ".join(moved.square for moved in last.moved),
    }


def _after_us(shot: Shot, stage: Stage) -> int | None:
    start_us = shot.history[0].clock_us
    entry = shot.entry(stage)
    if entry is None or entry.clock_us is None or start_us is None:
        return None
    return entry.clock_us - start_us


def _fall_row(shot: Shot, number: int, analysis: Analysis, fall: Fall) -> dict[str, Any]:
    decision = next((doubt.decision for doubt in shot.doubts if doubt.square == fall.square), None)
    return {
        "shot_id": shot.shot_id,
        "analysis": number,
        "latest": number == len(shot.analyses),
        "analysis_software_version": analysis.software_version,
        "side": fall.side,
        "square": fall.square,
        "cause": fall.causes[0],
        "possible_causes": " ".join(fall.causes),
        "confidence": fall.confidence,
        "t_us": fall.t_us,
        "evidence": fall.evidence,
        "verdict": _said_of(shot, fall.square),
        "decided_by": None if decision is None else decision.decided_by,
        "decided_at_utc": None if decision is None else decision.at_utc_us,
        "decided_by_name": None if decision is None else decision.name,
        "decided_cause": None if decision is None else decision.cause,
    }


def _said_of(shot: Shot, square: str) -> str | None:
    if shot.verdict is None:
        return None
    if square in shot.verdict.casualties:
        return "casualty"
    if square in shot.verdict.put_back:
        return "put back"
    return "doubt" if any(doubt.square == square for doubt in shot.pending) else None


def _refuse_other(path: Path, first_column: str) -> None:
    """Refuse a table that is there and is no earlier export: measured shots are kept as `shots.csv` too."""
    if not path.is_file() or not path.stat().st_size:
        return
    if _FIRST_COLUMN[path.suffix](path) != first_column:
        raise LogError(f"{path}: found a table that is no earlier export; name another folder")


def _first_of_csv(path: Path) -> str:
    with path.open("rb") as file:
        return file.readline().split(b",")[0].strip(b'"').decode(errors="replace")


def _first_of_parquet(path: Path) -> str | None:
    with path.open("rb") as file:
        try:
            return next(iter(pyarrow.parquet.read_schema(file).names), None)
        except (OSError, pa.ArrowInvalid):  # as pyarrow says that it is no Parquet, or a damaged one
            return None


_FIRST_COLUMN: Mapping[str, Callable[[Path], str | None]] = MappingProxyType(
    {".csv": _first_of_csv, ".parquet": _first_of_parquet}
)


def _write_csv(table: pa.Table, path: Path) -> None:
    written = io.BytesIO()
    pyarrow.csv.write_csv(table, written)
    write_whole(path, written.getvalue())


def _write_parquet(table: pa.Table, path: Path) -> None:
    written = io.BytesIO()
    pyarrow.parquet.write_table(table, written)
    write_whole(path, written.getvalue())


FORMATS: Mapping[str, Callable[[pa.Table, Path], None]] = MappingProxyType(
    {"csv": _write_csv, "parquet": _write_parquet}
)
"""How a table is written, by the ending of its file."""


def export(log: ShotLog, folder: Path, formats: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """Write both tables into a folder, once for each format.

    Parameters
    ----------
    log : ShotLog
        What to write.
    folder : Path
        Made where it is missing; files of an earlier export are replaced.
    formats : sequence of str
        Keys of `FORMATS`.

    Yields
    ------
    tuple of Path and int
        Each file written, and its number of rows.

    Raises
    ------
    LogError
        A file cannot be written, or a table of another kind has its name.
    """
    falls = falls_table(log)
    # Read after the falls, so that each of them has its shot, even where a rig fires meanwhile.
    tables = {"shots": shots_table(log), "falls": falls}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending, name in itertools.product(formats, tables):
            _refuse_other(folder / f"{name}.{ending}", tables[name].column_names[0])
        for ending in formats:
            for name, table in tables.items():
                path = folder / f"{name}.{ending}"
                FORMATS[ending](table, path)
                yield path, table.num_rows
    except OSError as error:
        raise LogError(f"{folder}: the export cannot be written: {error.strerror or error}") from error

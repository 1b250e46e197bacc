"""The log's rows as values: what was written into many tables, put together again shot by shot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from rig.log import _tables as t
from rig.log._sqlite import GarbledError
from rig.log.records import (
    Aim,
    Analysis,
    DecidedDoubt,
    Decision,
    Doubt,
    Fall,
    Fired,
    Moved,
    MuzzleGate,
    Session,
    Shot,
    ShotPlan,
    Stage,
    StageEntry,
    Verdict,
)

__all__ = ["read_sessions", "read_shots", "stage_of"]


def read_sessions(
    connection: sa.Connection, condition: sa.ColumnElement[bool], folder: Path
) -> tuple[Session, ...]:
    """Read the sessions that a condition on their table selects, oldest first."""
    select = (
        sa.select(t.session, t.session_end.c.at_utc_us, t.session_end.c.cause)
        .outerjoin(t.session_end, t.session_end.c.session_id == t.session.c.session_id)
        .where(condition)
        .order_by(t.session.c.session_id)
    )
    return tuple(
        Session(
            session_id=row.session_id,
            started_utc_us=row.started_utc_us,
            ended_utc_us=row.at_utc_us,
            end_cause=row.cause or "",
            software_version=row.software_version,
            firmware_version=row.firmware_version,
            wire_version=row.wire_version,
            settings=row.settings,
            port=row.port,
            camera=row.camera,
            transcript_path=_usable(folder, row.transcript_path),
        )
        for row in connection.execute(select)
    )


def read_shots(
    connection: sa.Connection, condition: sa.ColumnElement[bool], folder: Path
) -> tuple[Shot, ...]:
    """Read the shots that a condition on their table selects, oldest first, with all that is known of each."""
    rows = connection.execute(sa.select(t.shot).where(condition).order_by(t.shot.c.shot_id)).all()
    shot_ids = sa.select(t.shot.c.shot_id).where(condition)
    analysis_ids = sa.select(t.analysis.c.analysis_id).where(t.analysis.c.shot_id.in_(shot_ids))
    verdict_ids = sa.select(t.verdict.c.verdict_id).where(t.verdict.c.shot_id.in_(shot_ids))

    history = _grouped(connection, t.stage, t.stage.c.shot_id, shot_ids)
    aims = _grouped(connection, t.aim, t.aim.c.shot_id, shot_ids)
    gates = _grouped(connection, t.muzzle_gate, t.muzzle_gate.c.shot_id, shot_ids)
    recordings = _grouped(connection, t.recording, t.recording.c.shot_id, shot_ids)
    analyses = _grouped(connection, t.analysis, t.analysis.c.shot_id, shot_ids)
    falls = _grouped(connection, t.fall, t.fall.c.analysis_id, analysis_ids)
    moved = _grouped(connection, t.moved, t.moved.c.analysis_id, analysis_ids)
    verdicts = _grouped(connection, t.verdict, t.verdict.c.shot_id, shot_ids)
    doubts = _grouped(connection, t.doubt, t.doubt.c.verdict_id, verdict_ids)
    doubt_ids = sa.select(t.doubt.c.doubt_id).where(t.doubt.c.verdict_id.in_(verdict_ids))
    decisions = _grouped(connection, t.decision, t.decision.c.doubt_id, doubt_ids)
    signatures = _grouped(connection, t.signature, t.signature.c.doubt_id, doubt_ids)

    def decided_doubts(of_shot: Sequence[sa.Row[Any]]) -> tuple[DecidedDoubt, ...]:
        if not of_shot:
            return ()
        standing = of_shot[-1]
        return tuple(
            _decided_doubt(doubt, decisions[doubt.doubt_id], signatures[doubt.doubt_id])
            for doubt in doubts[standing.settles or standing.verdict_id]
        )

    return tuple(
        Shot(
            shot_id=row.shot_id,
            session_id=row.session_id,
            planned=ShotPlan(
                side=row.side,
                target=row.target,
                option=row.option,
                zone=row.zone,
                position=row.position,
                plan=row.plan,
                plan_index=row.plan_index,
            ),
            history=tuple(_stage_entry(entry) for entry in history[row.shot_id]),
            aim=_aim(aims[row.shot_id][-1]) if aims[row.shot_id] else None,
            muzzle_gate=_gate(gates[row.shot_id][0]) if gates[row.shot_id] else None,
            recording_path=_usable(folder, recordings[row.shot_id][0].path)
            if recordings[row.shot_id]
            else None,
            analyses=tuple(
                _analysis(analysis, falls[analysis.analysis_id], moved[analysis.analysis_id])
                for analysis in analyses[row.shot_id]
            ),
            verdicts=tuple(
                _verdict(verdict, doubts[verdict.verdict_id]) for verdict in verdicts[row.shot_id]
            ),
            doubts=decided_doubts(verdicts[row.shot_id]),
        )
        for row in rows
    )


def stage_of(name: str) -> Stage:
    """Give the stage that a row names.

    Raises
    ------
    GarbledError
        There is no such stage.
    """
    try:
        return Stage(name)
    except ValueError:
        raise GarbledError(f"a shot at stage {name!r}, which there is not") from None


def _usable(folder: Path, kept: str | None) -> str | None:
    """Give a path of the log as it leads there from where the rig runs; absolute ones stay."""
    return None if kept is None else str(folder / kept)


def _grouped(
    connection: sa.Connection, table: sa.Table, owner: sa.Column[Any], owners: sa.Select[Any]
) -> Mapping[int, Sequence[sa.Row[Any]]]:
    """Read the rows of a table that belong to some owners, oldest first, by owner."""
    groups: defaultdict[int, list[sa.Row[Any]]] = defaultdict(list)
    select = sa.select(table).where(owner.in_(owners)).order_by(*table.primary_key.columns)
    for row in connection.execute(select):
        groups[getattr(row, owner.name)].append(row)
    return groups


def _stage_entry(row: sa.Row[Any]) -> StageEntry:
    return StageEntry(
        stage=stage_of(row.stage),
        at_utc_us=row.at_utc_us,
        clock_us=row.clock_us,
        cause=row.cause,
        fired=_fired(row.fired) if row.fired is not None else None,
    )


def _fired(name: str) -> Fired:
    try:
        return Fired(name)
    except ValueError:
        raise GarbledError(f"{name!r} where it says whether a shot was fired") from None


def _aim(row: sa.Row[Any]) -> Aim:
    return Aim(
        target_mm=(row.target_x_mm, row.target_y_mm, row.target_z_mm),
        traverse_mm=row.traverse_mm,
        azimuth_rad=row.azimuth_rad,
        elevation_rad=row.elevation_rad,
        expected_muzzle_speed_mps=row.expected_muzzle_speed_mps,
        calibration=row.calibration,
    )


def _gate(row: sa.Row[Any]) -> MuzzleGate:
    return MuzzleGate(
        release_to_first_us=row.release_to_first_us,
        first_to_second_us=row.first_to_second_us,
        spacing_mm=row.spacing_mm,
    )


def _analysis(row: sa.Row[Any], falls: Sequence[sa.Row[Any]], moved: Sequence[sa.Row[Any]]) -> Analysis:
    return Analysis(
        software_version=row.software_version,
        raw=row.raw,
        falls=tuple(
            Fall(
                side=fall.side,
                square=fall.square,
                causes=tuple(fall.causes),
                confidence=fall.confidence,
                t_us=fall.t_us,
                evidence=fall.evidence,
            )
            for fall in falls
        ),
        moved=tuple(
            Moved(side=each.side, square=each.square, x_mm=each.x_mm, y_mm=each.y_mm) for each in moved
        ),
    )


def _verdict(row: sa.Row[Any], doubts: Sequence[sa.Row[Any]]) -> Verdict:
    return Verdict(
        casualties=tuple(row.casualties),
        put_back=tuple(row.put_back),
        doubts=tuple(
            Doubt(square=doubt.square, between=tuple(doubt.between), commander=doubt.commander)
            for doubt in doubts
        ),
        after=row.after,
        winner=row.winner,
    )


def _decided_doubt(
    row: sa.Row[Any], decisions: Sequence[sa.Row[Any]], signatures: Sequence[sa.Row[Any]]
) -> DecidedDoubt:
    return DecidedDoubt(
        number=row.doubt_id,
        square=row.square,
        between=tuple(row.between),
        commander=row.commander,
        decision=Decision(
            square=row.square,
            decided_by=decisions[0].decided_by,
            leaves=decisions[0].leaves,
            at_utc_us=decisions[0].at_utc_us,
            name=signatures[0].name if signatures else None,
            cause=signatures[0].cause if signatures else None,
        )
        if decisions
        else None,
    )

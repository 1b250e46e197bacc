"""The log in an SQL database, through SQLAlchemy: what is written, and when. All SQL of the rig is in this package."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from rig.files.one_line import on_one_line
from rig.files.real_path import real_path
from rig.log import _tables as t
from rig.log._progress import why_not
from rig.log._rows import read_sessions, read_shots, stage_of
from rig.log._sqlite import SessionLock, open_engine, spoken_errors
from rig.log.deciding import why_not_decide, why_not_final
from rig.log.errors import LogError
from rig.log.records import (
    FINISHING,
    Aim,
    Analysis,
    Doubt,
    Fired,
    MuzzleGate,
    SeenShots,
    Session,
    SessionStart,
    Shot,
    ShotPlan,
    Signature,
    Stage,
    Verdict,
)
from rig.log.store import ShotLog

__all__ = ["open_log", "open_log_in_memory"]

_DIED = "its process ended without a word"
_BARE = frozenset({Stage.COCKED, Stage.LOADED, Stage.ARMED, Stage.ASKED, Stage.FIRED})
"""Stages that carry nothing but their name."""


def _now_utc_us() -> int:
    return time.time_ns() // 1000


def open_log(
    path: Path,
    *,
    create: bool = True,
    look_only: bool = False,
    now_utc_us: Callable[[], int] = _now_utc_us,
) -> ShotLog:
    """Open the log in an SQLite file, bring it to the present revision, and see what a dead process left.

    Parameters
    ----------
    path : Path
        The file; it and its folder are made where they are missing.
    create : bool
        False: a missing file is an error, as it is for whoever only wants to read.
    look_only : bool
        True: nothing will be written, so that a full disk, or one that is read only, does no harm. What a dead process left
        is marked all the same where it can be.
    now_utc_us : callable
        Wall time in microseconds since 1970-01-01 UTC.

    Returns
    -------
    ShotLog
        To be closed when done; it is a context manager.

    Raises
    ------
    LogError
        The file is missing, no log, damaged, written by a newer rig, locked, or must not be read or written.
    """
    try:
        real = real_path(path) if path.is_symlink() else path
    except OSError as error:
        raise LogError(f"{path}: cannot be opened as a log: {error.strerror}") from error
    lock = SessionLock(real.parent / f"{real.name}.lock")
    engine = open_engine(path, lock, create=create, look_only=look_only)
    return _SqlShotLog(engine, str(path), path.parent, lock, now_utc_us, look_only=look_only)


def open_log_in_memory(*, now_utc_us: Callable[[], int] = _now_utc_us) -> ShotLog:
    """Open a log that nobody else sees and that ends when it is closed."""
    lock = SessionLock(None)
    return _SqlShotLog(open_engine(None, lock, create=True), "the log in memory", Path(), lock, now_utc_us)


class _SqlShotLog:
    """The one implementation of `ShotLog`."""

    def __init__(
        self,
        engine: sa.Engine,
        name: str,
        folder: Path,
        lock: SessionLock,
        now_utc_us: Callable[[], int],
        *,
        look_only: bool = False,
    ) -> None:
        self._engine = engine
        self._name = name
        self._folder = folder
        self._lock = lock
        self._now_utc_us = now_utc_us
        self._session_id: int | None = None
        self._interrupted: tuple[Shot, ...] = ()
        try:
            with contextlib.suppress(*((LogError,) if look_only else ())):
                if self._lock.try_take():
                    try:
                        self._lock.note_log()
                        self._interrupted = self._mark_interrupted()
                    finally:
                        self._lock.release()
        except BaseException:
            self._engine.dispose()
            raise

    @property
    def folder(self) -> Path:
        return self._folder

    # Sessions

    @property
    def interrupted(self) -> tuple[Shot, ...]:
        return self._interrupted

    def start_session(self, start: SessionStart) -> int:
        if self._session_id is not None:
            raise LogError(f"{self._name}: session {self._session_id} is still open; one at a time")
        if not self._lock.try_take(patient=True):
            raise LogError(
                f"{self._name}: another rig is firing with this log; end that one first, or name another file"
                " under [log] path"
            )
        try:
            self._interrupted += self._mark_interrupted()
            with self._write() as connection:
                session_id = _insert(
                    connection,
                    t.session,
                    started_utc_us=self._now_utc_us(),
                    software_version=start.software_version,
                    firmware_version=start.firmware_version,
                    wire_version=start.wire_version,
                    settings=dict(start.settings),
                    port=start.port,
                    camera=start.camera,
                    transcript_path=None
                    if start.transcript_path is None
                    else self._kept(start.transcript_path),
                )
        except BaseException:
            self._lock.release()
            raise
        self._session_id = session_id
        return session_id

    def end_session(self, session_id: int, cause: str) -> None:
        self._must_be_open(session_id)
        with self._write() as connection:
            self._interrupt_unfinished(connection, cause, t.shot.c.session_id == session_id)
            _insert(
                connection,
                t.session_end,
                session_id=session_id,
                at_utc_us=self._now_utc_us(),
                cause=on_one_line(cause),
            )
        self._session_id = None
        self._lock.release()

    def session(self, session_id: int) -> Session:
        with self._read() as connection:
            found = read_sessions(connection, t.session.c.session_id == session_id, self._folder)
        if not found:
            raise LogError(f"{self._name}: there is no session {session_id}")
        return found[0]

    def sessions(self) -> tuple[Session, ...]:
        with self._read() as connection:
            return read_sessions(connection, sa.true(), self._folder)

    def close(self) -> None:
        self._session_id = None
        self._lock.release()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # A shot, step by step

    def begin_shot(self, session_id: int, plan: ShotPlan, *, clock_us: int | None = None) -> int:
        self._must_be_open(session_id)
        with self._write() as connection:
            shot_id = _insert(
                connection,
                t.shot,
                session_id=session_id,
                side=plan.side,
                target=plan.target,
                option=plan.option,
                zone=plan.zone,
                position=plan.position,
                plan=plan.plan,
                plan_index=plan.plan_index,
            )
            self._append(connection, shot_id, Stage.PLANNED, clock_us)
        return shot_id

    def aimed(self, shot_id: int, aim: Aim, *, clock_us: int | None = None) -> None:
        x_mm, y_mm, z_mm = aim.target_mm
        with self._step(shot_id, Stage.AIMED, clock_us) as connection:
            _insert(
                connection,
                t.aim,
                shot_id=shot_id,
                target_x_mm=x_mm,
                target_y_mm=y_mm,
                target_z_mm=z_mm,
                traverse_mm=aim.traverse_mm,
                azimuth_rad=aim.azimuth_rad,
                elevation_rad=aim.elevation_rad,
                expected_muzzle_speed_mps=aim.expected_muzzle_speed_mps,
                calibration=aim.calibration,
            )

    def reached(self, shot_id: int, stage: Stage, *, clock_us: int | None = None) -> None:
        if stage not in _BARE:
            raise ValueError(f"stage {stage} carries more than its name; use the method made for it")
        with self._step(shot_id, stage, clock_us):
            pass

    def seen(self, shot_id: int, gate: MuzzleGate, *, clock_us: int | None = None) -> None:
        with self._step(shot_id, Stage.SEEN, clock_us) as connection:
            _insert(
                connection,
                t.muzzle_gate,
                shot_id=shot_id,
                release_to_first_us=gate.release_to_first_us,
                first_to_second_us=gate.first_to_second_us,
                spacing_mm=gate.spacing_mm,
                muzzle_speed_mps=gate.muzzle_speed_mps,
            )

    def recorded(self, shot_id: int, path: str, *, clock_us: int | None = None, cause: str = "") -> None:
        with self._step(shot_id, Stage.RECORDED, clock_us, cause=cause) as connection:
            _insert(connection, t.recording, shot_id=shot_id, path=self._kept(path))

    def analysed(
        self,
        shot_id: int,
        analysis: Analysis,
        *,
        verdict: Verdict | None = None,
        clock_us: int | None = None,
    ) -> None:
        with self._step(shot_id, Stage.ANALYSED, clock_us) as connection:
            analysis_id = _insert(
                connection,
                t.analysis,
                shot_id=shot_id,
                software_version=analysis.software_version,
                raw=dict(analysis.raw),
            )
            for fall in analysis.falls:
                _insert(
                    connection,
                    t.fall,
                    analysis_id=analysis_id,
                    side=fall.side,
                    square=fall.square,
                    causes=list(fall.causes),
                    confidence=fall.confidence,
                    t_us=fall.t_us,
                    evidence=fall.evidence,
                )
            for moved in analysis.moved:
                _insert(
                    connection,
                    t.moved,
                    analysis_id=analysis_id,
                    side=moved.side,
                    square=moved.square,
                    x_mm=moved.x_mm,
                    y_mm=moved.y_mm,
                )
            if verdict is not None:
                self._append(connection, shot_id, Stage.JUDGED, clock_us)
                self._rule(connection, shot_id, analysis_id, verdict, clock_us)

    def abort(
        self, shot_id: int, cause: str, *, fired: Fired | None = None, clock_us: int | None = None
    ) -> None:
        with self._write() as connection:
            self._append(connection, shot_id, Stage.ABORTED, clock_us, cause=cause, fired=fired)

    # Verdicts and what commanders decide

    def _rule(
        self,
        connection: sa.Connection,
        shot_id: int,
        analysis_id: int,
        verdict: Verdict,
        clock_us: int | None,
    ) -> None:
        verdict_id = _insert_verdict(connection, shot_id, analysis_id, None, verdict)
        for doubt in verdict.doubts:
            _insert(
                connection,
                t.doubt,
                verdict_id=verdict_id,
                square=doubt.square,
                between=list(doubt.between),
                commander=doubt.commander,
            )
        if not verdict.doubts:
            self._append(connection, shot_id, Stage.DECIDED, clock_us, cause="no doubt")

    def decide(
        self,
        shot_id: int,
        decided_by: str,
        decisions: Mapping[str, bool],
        *,
        final: Verdict | None = None,
        signed: Mapping[str, Signature] | None = None,
    ) -> tuple[Doubt, ...]:
        with self._write() as connection:
            shot = self._one_shot(connection, shot_id)
            reason = why_not_decide(shot, decisions, decided_by) or why_not_final(shot, decisions, final)
            if reason is not None:
                raise LogError(reason)
            doubtful = connection.execute(_doubtful_verdict(shot_id)).one()
            rows = connection.execute(
                sa.select(t.doubt.c.square, t.doubt.c.doubt_id).where(
                    t.doubt.c.verdict_id == doubtful.verdict_id
                )
            )
            doubt_ids = {row.square: row.doubt_id for row in rows}
            for square, leaves in decisions.items():
                _insert(
                    connection,
                    t.decision,
                    doubt_id=doubt_ids[square],
                    decided_by=decided_by,
                    leaves=leaves,
                    at_utc_us=self._now_utc_us(),
                )
            for square, signature in (signed or {}).items():
                _insert(
                    connection,
                    t.signature,
                    doubt_id=doubt_ids[square],
                    name=signature.name,
                    cause=signature.cause,
                )
            if final is not None:
                _insert_verdict(connection, shot_id, doubtful.analysis_id, doubtful.verdict_id, final)
                self._append(connection, shot_id, Stage.DECIDED, cause="every doubt is decided")
            return tuple(doubt for doubt in shot.pending if doubt.square not in decisions)

    # Reading

    def shot(self, shot_id: int) -> Shot:
        with self._read() as connection:
            return self._one_shot(connection, shot_id)

    def shots(self, *, plan: str | None = None) -> tuple[Shot, ...]:
        condition = sa.true() if plan is None else t.shot.c.plan == plan
        with self._read() as connection:
            return read_shots(connection, condition, self._folder)

    def last_shots(self, count: int) -> tuple[Shot, ...]:
        newest = sa.select(t.shot.c.shot_id).order_by(t.shot.c.shot_id.desc()).limit(count)
        with self._read() as connection:
            return read_shots(connection, t.shot.c.shot_id.in_(newest), self._folder)

    def shots_by_session(self) -> Mapping[int, int]:
        select = sa.select(t.shot.c.session_id, sa.func.count().label("shots")).group_by(t.shot.c.session_id)
        with self._read() as connection:
            return {row.session_id: row.shots for row in connection.execute(select)}

    def shots_not_judged(self) -> tuple[Shot, ...]:
        asked = sa.select(t.stage.c.shot_id).where(t.stage.c.stage == Stage.ASKED.value)
        judged = sa.select(t.verdict.c.shot_id)
        condition = t.shot.c.shot_id.in_(asked) & t.shot.c.shot_id.not_in(judged)
        with self._read() as connection:
            return read_shots(connection, condition, self._folder)

    def single_shots(self, *, position: str | None = None) -> Iterator[Shot]:
        select = sa.select(t.shot.c.shot_id).where(t.shot.c.plan.is_(None))
        if position is not None:
            select = select.where(t.shot.c.position == position)
        with self._read() as connection:
            shot_ids = connection.execute(select.order_by(t.shot.c.shot_id.desc())).scalars().all()
        return map(self.shot, shot_ids)

    def shots_in_doubt(self) -> tuple[Shot, ...]:
        doubted = sa.select(t.verdict.c.shot_id).join(t.doubt, t.doubt.c.verdict_id == t.verdict.c.verdict_id)
        with self._read() as connection:
            return read_shots(connection, t.shot.c.shot_id.in_(doubted), self._folder)

    def count_seen(self, calibration: str) -> tuple[SeenShots, ...]:
        again = t.aim.alias("again")
        last_aim_id = sa.select(sa.func.max(again.c.aim_id)).where(again.c.shot_id == t.shot.c.shot_id)
        of = (t.shot.c.session_id, t.session.c.port, t.shot.c.side)
        select = (
            sa.select(*of, sa.func.count())
            .join_from(t.shot, t.session)
            .join(t.muzzle_gate, t.muzzle_gate.c.shot_id == t.shot.c.shot_id)
            .join(t.aim, t.aim.c.aim_id == last_aim_id.scalar_subquery())
            .where(t.aim.c.calibration == calibration)
            .group_by(*of)
            .order_by(*of)
        )
        with self._read() as connection:
            return tuple(
                SeenShots(session_id=session_id, port=port, side=side, count=count)
                for session_id, port, side, count in connection.execute(select)
            )

    def _one_shot(self, connection: sa.Connection, shot_id: int) -> Shot:
        found = read_shots(connection, t.shot.c.shot_id == shot_id, self._folder)
        if not found:
            raise LogError(f"{self._name}: there is no shot {shot_id}")
        return found[0]

    # Transactions, and what is written in them

    @contextlib.contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        with spoken_errors(self._name), self._engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        engine = self._engine.execution_options(writes=True)
        with spoken_errors(self._name), engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def _step(
        self, shot_id: int, stage: Stage, clock_us: int | None, *, cause: str = ""
    ) -> Iterator[sa.Connection]:
        with self._write() as connection:
            self._append(connection, shot_id, stage, clock_us, cause=cause)
            yield connection

    def _append(
        self,
        connection: sa.Connection,
        shot_id: int,
        stage: Stage,
        clock_us: int | None = None,
        *,
        cause: str = "",
        fired: Fired | None = None,
    ) -> None:
        behind = [
            stage_of(name)
            for name in connection.execute(
                sa.select(t.stage.c.stage).where(t.stage.c.shot_id == shot_id)
            ).scalars()
        ]
        if not behind and stage is not Stage.PLANNED:
            raise LogError(f"{self._name}: there is no shot {shot_id}")
        reason = why_not(stage, behind, fired=fired)
        if reason is not None:
            raise LogError(f"shot {shot_id} cannot be at stage {stage}: {reason}")
        _insert(
            connection,
            t.stage,
            shot_id=shot_id,
            stage=stage.value,
            at_utc_us=self._now_utc_us(),
            clock_us=clock_us,
            cause=on_one_line(cause),  # it may name a file whose name is no UTF-8
            fired=fired.value if fired is not None else None,
        )

    def _kept(self, path: str) -> str:
        """Give a path as it stays true wherever the rig is run, and where the log's whole folder is moved."""
        # Links are left as they are: where one leads may be another disk, and the folder that holds it moves.
        there, folder = os.path.abspath(path), os.path.abspath(self._folder)  # noqa: PTH100
        return str(Path(there).relative_to(folder)) if Path(there).is_relative_to(folder) else there

    def _must_be_open(self, session_id: int) -> None:
        if session_id != self._session_id:
            raise LogError(f"{self._name}: session {session_id} is not open here")

    def _mark_interrupted(self) -> tuple[Shot, ...]:
        """Mark what is unfinished. Whoever calls holds the lock: nobody is firing."""
        with self._read() as connection:
            # The usual case: nothing to do, and then a reader writes nothing.
            if not _unfinished(connection, sa.true()):
                return ()
        with self._write() as connection:
            return self._interrupt_unfinished(connection, _DIED, sa.true())

    def _interrupt_unfinished(
        self, connection: sa.Connection, cause: str, condition: sa.ColumnElement[bool]
    ) -> tuple[Shot, ...]:
        unfinished = _unfinished(connection, condition)
        for shot_id in unfinished:
            self._append(connection, shot_id, Stage.INTERRUPTED, cause=cause)
        if not unfinished:
            return ()
        return read_shots(connection, t.shot.c.shot_id.in_(unfinished), self._folder)


def _insert(connection: sa.Connection, table: sa.Table, **values: Any) -> int:
    key = connection.execute(table.insert().values(**values)).inserted_primary_key
    assert key is not None  # every table has a key of one integer
    return int(key[0])


def _insert_verdict(
    connection: sa.Connection, shot_id: int, analysis_id: int, settles: int | None, verdict: Verdict
) -> int:
    return _insert(
        connection,
        t.verdict,
        shot_id=shot_id,
        analysis_id=analysis_id,
        settles=settles,
        casualties=list(verdict.casualties),
        put_back=list(verdict.put_back),
        after=verdict.after,
        winner=verdict.winner,
    )


def _doubtful_verdict(shot_id: int) -> sa.Select[int, int]:
    """Select the verdict that stands; it is the one whose doubts can be decided."""
    return (
        sa.select(t.verdict.c.verdict_id, t.verdict.c.analysis_id)
        .where(t.verdict.c.shot_id == shot_id)
        .order_by(t.verdict.c.verdict_id.desc())
        .limit(1)
    )


def _unfinished(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[int]:
    finished = sa.select(t.stage.c.shot_id).where(t.stage.c.stage.in_([stage.value for stage in FINISHING]))
    select = sa.select(t.shot.c.shot_id).where(t.shot.c.shot_id.not_in(finished)).where(condition)
    return list(connection.execute(select.order_by(t.shot.c.shot_id)).scalars())

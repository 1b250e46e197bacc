"""The log as the rest of the rig sees it. How it is kept is nobody else's business.

Rows are appended and never changed. Every method that writes has its row on the disk when it returns: what it was
told survives the end of the process, and of the power, from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from rig.log.records import (
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

__all__ = ["ShotLog"]


class ShotLog(Protocol):
    """Keeps sessions and shots.

    Every method raises `rig.log.LogError` where the store fails, where an id is unknown, or where what it is told
    contradicts what it knows; nothing is written then. `clock_us` is the rig's monotonic clock.

    A path of a file goes in and comes out as it leads there from where the rig runs. It is kept relative to `folder`
    where it lies below it, else absolute, so that it is true from anywhere, and moves with the whole folder.
    """

    @property
    def folder(self) -> Path:
        """The folder of the log's file; of a log in memory, where the rig runs."""

    @property
    def interrupted(self) -> tuple[Shot, ...]:
        """Shots that a dead process had left unfinished, and that were marked so when this log was opened."""

    def start_session(self, start: SessionStart) -> int:
        """Begin a session and hold it until `end_session`, `close` or the end of the process.

        One log takes one session at a time.
        """

    def end_session(self, session_id: int, cause: str) -> None:
        """End the session; a shot that it leaves unfinished is marked interrupted with this cause."""

    def begin_shot(self, session_id: int, plan: ShotPlan, *, clock_us: int | None = None) -> int:
        """Write the shot's row, stage `PLANNED`, and give its number."""

    def aimed(self, shot_id: int, aim: Aim, *, clock_us: int | None = None) -> None:
        """Keep where the cannon points, stage `AIMED`."""

    def reached(self, shot_id: int, stage: Stage, *, clock_us: int | None = None) -> None:
        """Keep that the shot came to `COCKED`, `LOADED`, `ARMED`, `ASKED` or `FIRED`.

        `ASKED` is written before the fire command goes out.
        """

    def seen(self, shot_id: int, gate: MuzzleGate, *, clock_us: int | None = None) -> None:
        """Keep what the muzzle gate timed, stage `SEEN`."""

    def recorded(self, shot_id: int, path: str, *, clock_us: int | None = None, cause: str = "") -> None:
        """Keep where the recording is, stage `RECORDED`; before the reading or after it."""

    def analysed(
        self,
        shot_id: int,
        analysis: Analysis,
        *,
        verdict: Verdict | None = None,
        clock_us: int | None = None,
    ) -> None:
        """Keep one reading of the shot's pictures beside those before it, stage `ANALYSED`.

        With the verdict on it `JUDGED` follows, and `DECIDED` too where it has no doubts: they are written together, so that
        none stands there without the other.
        """

    def decide(
        self,
        shot_id: int,
        decided_by: str,
        decisions: Mapping[str, bool],
        *,
        final: Verdict | None = None,
        signed: Mapping[str, Signature] | None = None,
    ) -> tuple[Doubt, ...]:
        """Keep what a commander said of some doubts, and give those that are still pending.

        Parameters
        ----------
        shot_id : int
            The shot.
        decided_by : str
            The side whose commander spoke.
        decisions : mapping of str to bool
            Square of the doubt; True: the soldier leaves, False: it stays.
        final : Verdict, optional
            The verdict that follows, exactly where these were the last doubts: stage `DECIDED`. It is written
            together with the decisions, so that none stands there without the other.
        signed : mapping of str to Signature, optional
            Who spoke, by square of the doubt.
        """

    def abort(
        self, shot_id: int, cause: str, *, fired: Fired | None = None, clock_us: int | None = None
    ) -> None:
        """Give the shot up. `fired` says whether it left, where the rig has learnt that; else the stages tell."""

    def shot(self, shot_id: int) -> Shot:
        """Give one shot."""

    def shots(self, *, plan: str | None = None) -> tuple[Shot, ...]:
        """Give all shots, oldest first; only those of a programme, where one is named."""

    def last_shots(self, count: int) -> tuple[Shot, ...]:
        """Give the newest shots, as many as there are and are wanted, oldest first; the others are not read."""

    def shots_by_session(self) -> Mapping[int, int]:
        """Count the shots of each session that has any, by its number; none of them is read."""

    def shots_not_judged(self) -> tuple[Shot, ...]:
        """Give the shots that were asked for and of which there is no verdict, oldest first; no other is read."""

    def single_shots(self, *, position: str | None = None) -> Iterator[Shot]:
        """Give the shots of no programme, newest first; only those planned from a position, where one is given.

        Each is read when its turn comes: who looks for the last one waits for no other.
        """

    def shots_in_doubt(self) -> tuple[Shot, ...]:
        """Give the shots of which a verdict ever had a doubt, decided since or not, oldest first."""

    def count_seen(self, calibration: str) -> tuple[SeenShots, ...]:
        """Count the shots that the muzzle gate saw leave and that a calibration aimed last.

        In a log of thousands of shots too it takes milliseconds, as a rig that is firing asks it before each shot.

        Parameters
        ----------
        calibration : str
            Its identity.
        """

    def session(self, session_id: int) -> Session:
        """Give one session."""

    def sessions(self) -> tuple[Session, ...]:
        """Give all sessions, oldest first."""

    def close(self) -> None:
        """Let go of the store. A session that was not ended counts as interrupted from now on."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

"""A programme under way: which shots are due, from which position, and what came of those that were fired.

All of it follows from the programme and the log, so a programme that was stopped, at whatever moment, goes on where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from game.montecassino import JudgeError, Option, Position, Side, Square
from rig import log
from rig.aim.pointing import TargetOutOfReach, aim_at
from rig.camera import CameraError
from rig.cannon import CannonError
from rig.files.checked_file import Fault
from rig.hands import Hands
from rig.link.errors import LinkError
from rig.link.transcript import TranscriptError
from rig.log import Fired, LogError, ShotLog
from rig.match import DoubtPending, Match, NotKept, Order, PositionDiffers, ShotDone, ShotNotAllowed, Tell
from rig.plan import PlanError, PlannedShot, Programme, remaining
from rig.recording import RecordingError
from rig.sequence import NotInSequence
from rig.settings import Settings
from rig.uniforms_file import UniformsFileError

__all__ = ["ProgrammeRun", "ProgrammeStopped", "Tally", "check_reach", "settings_for"]

_STOPS = (
    CameraError,
    CannonError,
    DoubtPending,
    JudgeError,
    LinkError,
    LogError,
    NotInSequence,
    NotKept,
    OSError,
    PositionDiffers,
    RecordingError,
    TargetOutOfReach,
    TranscriptError,
    UniformsFileError,
)
"""What may go wrong with a shot although the programme and the rig are sound."""
_INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended


class ProgrammeStopped(Exception):
    """A programme came to a halt; nothing more is fired, and it can be taken up again unless the rules end it there."""

    def __init__(
        self,
        why: str,
        *,
        shot: PlannedShot,
        of: int,
        then: str = "the same command goes on from where it stopped",
        exit_status: int = 1,
    ) -> None:
        self.exit_status = exit_status
        super().__init__(
            f"stopped at shot {shot.index + 1} of {of} ({shot.side} at {shot.target}): {why}; {then}"
        )


class NotJudged(LogError):
    """An earlier shot of the programme may have changed the table, and nothing says how."""

    def __init__(self, shot: log.Shot, settings: Settings) -> None:
        judge = settings.command("judge", str(shot.shot_id))
        read = "" if not shot.tells_who_fell else f"read its recording, {judge}, or "
        super().__init__(
            f"shot {shot.shot_id} may have been fired and was never judged, so nobody knows who still stands; "
            f"{read}begin a programme of its own with the position on the table"
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of all shots at one target under one option."""

    side: Side
    target: Square
    option: Option
    shots: int
    """Fired, or perhaps fired."""
    hits: int
    """Shots after which the soldier on the target square lay, whatever felled it."""
    casualties: Mapping[Side, int]
    doubts: int
    """Falls that wait for a commander."""
    not_judged: int
    """Shots of which nothing was learnt."""


def settings_for(programme: Programme, settings: Settings) -> Settings:
    """Return the settings with loading as the programme wants it."""
    pauses, cannon = programme.pauses, settings.cannon
    return settings.model_copy(
        update={
            "cannon": cannon.model_copy(
                update={
                    "loader": pauses.loading == "loader",
                    "load_s": cannon.load_s if pauses.loading_s is None else pauses.loading_s,
                }
            )
        }
    )


def check_reach(programme: Programme, settings: Settings, name: str) -> None:
    """Refuse a programme with targets that the cannon cannot be pointed at.

    Raises
    ------
    PlanError
        With every such target.
    """
    faults = []
    for side, target in dict.fromkeys((shot.side, shot.target) for shot in programme.shots()):
        try:
            aim_at(target, side, settings.cannon, settings.board)
        except TargetOutOfReach as far:
            faults.append(
                Fault("targets", f"{target} for {side}", f"squares within the cannon's reach: {far.reason}")
            )
    if faults:
        raise PlanError(name, faults)


class ProgrammeRun:
    """One programme and what the log knows of it.

    Parameters
    ----------
    programme
        What is to be fired.
    settings
        All of `rig.toml`.
    zones
        The artillery zone of each side.
    shots
        The log.
    """

    def __init__(
        self,
        programme: Programme,
        settings: Settings,
        zones: Mapping[Side, tuple[Square, ...]],
        shots: ShotLog,
    ) -> None:
        self.programme = programme
        self.planned = programme.shots()
        self._first = programme.first_position(settings)
        self._settings = settings
        self._zones = zones
        self._log = shots
        self._identity = programme.identity_at(settings)

    def spent(self) -> Mapping[int, log.Shot]:
        """Give the shots that were fired, or perhaps fired, by their place in the programme.

        None of them is fired again: what nobody knows to be harmless is not repeated unasked.
        """
        return {
            shot.planned.plan_index: shot
            for shot in self._log.shots(plan=self._identity)
            if shot.planned.plan_index is not None and shot.fired is not Fired.NO
        }

    def due(self) -> tuple[PlannedShot, ...]:
        """Give the shots that are still to be fired, in order."""
        return remaining(self.planned, self.spent().keys())

    def position_before(self, shot: PlannedShot) -> Position:
        """Give who should stand where before a shot that is due.

        Raises
        ------
        DoubtPending, NotJudged
            Where casualties stay away and an earlier shot has not said who they are.
        """
        position = self._first
        if self.programme.soldiers == "survivors":
            # By shot number: the order of the log is the order of firing.
            for earlier in sorted(self.spent().values(), key=lambda each: each.shot_id):
                if earlier.pending:
                    raise DoubtPending(earlier, self._settings)
                if earlier.verdict is None or earlier.verdict.after is None:
                    raise NotJudged(earlier, self._settings)
                position = Position.parse(earlier.verdict.after)
        return replace(position, turn=shot.side)

    def fire(self, shot: PlannedShot, match: Match, tell: Tell = lambda read: None) -> ShotDone:
        """Fire one shot; `tell` is as `Match.shoot` takes it.

        Raises
        ------
        ProgrammeStopped
            Where it could not be fired, or not be followed to its end. The cannon is safe then.
        """
        with self._stopping(shot):
            return match.shoot(
                Order(
                    target=shot.target,
                    position=self.position_before(shot),
                    zone=self._zones[shot.side],
                    option=shot.option,
                    plan=self._identity,
                    plan_index=shot.index,
                ),
                tell,
            )

    def set_up(self, shot: PlannedShot, done: ShotDone, hands: Hands, wait_us: Callable[[int], None]) -> None:
        """Have the table put in order for the next shot, as the programme's pauses say.

        Raises
        ------
        ProgrammeStopped
            Where the cannon or the camera reports a fault meanwhile.
        """
        pauses = self.programme.pauses
        if pauses.putting_back == "none":
            return
        casualties: Collection[Square] = done.verdict.casualties
        put_back: Iterable[Square] = done.verdict.put_back
        if self.programme.soldiers == "all":
            casualties, put_back = (), _touched(done)
        elif done.verdict.undecided:
            return  # nobody is moved until the commanders have spoken
        with self._stopping(shot):
            hands.set_up(casualties, sorted(put_back))
            if pauses.putting_back_s is not None:
                wait_us(round(pauses.putting_back_s * 1e6))

    def tallies(self) -> tuple[Tally, ...]:
        """Count what came of every target under every option, over all runs of the programme."""
        spent = self.spent()
        groups: dict[tuple[Side, Square, Option], list[log.Shot]] = {}
        for planned in self.planned:
            group = groups.setdefault((planned.side, planned.target, planned.option), [])
            if planned.index in spent:
                group.append(spent[planned.index])
        return tuple(_tally(side, target, option, shots) for (side, target, option), shots in groups.items())

    @contextmanager
    def _stopping(self, shot: PlannedShot) -> Iterator[None]:
        try:
            yield
        except _STOPS as fault:
            raise ProgrammeStopped(str(fault).rstrip("."), shot=shot, of=len(self.planned)) from fault
        except ShotNotAllowed as over:
            raise ProgrammeStopped(
                str(over), shot=shot, of=len(self.planned), then="the programme cannot go on from there"
            ) from over
        except KeyboardInterrupt:
            raise ProgrammeStopped(
                "asked to end", shot=shot, of=len(self.planned), exit_status=_INTERRUPTED
            ) from None


def _touched(done: ShotDone) -> set[Square]:
    """Give the squares of everybody who fell or was pushed."""
    reading = done.analysis.reading
    return {fall.toppling.soldier.square for fall in reading.falls} | {
        push.soldier.square for push in reading.pushes
    }


def _tally(side: Side, target: Square, option: Option, shots: Collection[log.Shot]) -> Tally:
    judged = [shot for shot in shots if shot.verdict is not None]
    gone = Counter(owner for shot in judged for owner in _owners_of_casualties(shot))
    return Tally(
        side=side,
        target=target,
        option=option,
        shots=len(shots),
        hits=sum(
            any(fall.square == str(target) for fall in shot.analyses[-1].falls)
            for shot in shots
            if shot.analyses
        ),
        casualties={owner: gone[owner] for owner in Side},
        doubts=sum(len(shot.pending) for shot in judged),
        not_judged=len(shots) - len(judged),
    )


def _owners_of_casualties(shot: log.Shot) -> Iterator[Side]:
    assert shot.verdict is not None and shot.planned.position is not None, "it was judged, by a position"
    soldiers = Position.parse(shot.planned.position).soldiers
    return (soldiers[Square.parse(square)] for square in shot.verdict.casualties)

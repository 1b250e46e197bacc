"""One shot after another: from a target square to a verdict, over cannon, camera, judge and log.

The order of things is the promise. The log has a shot before anything moves, and knows that fire is about to be asked for
before it is. What went wrong before that stops the shot and leaves the cannon safe; what goes wrong after it loses
nothing that is known.

The verdict does not wait for the recording: the shot is read from the pictures in memory, and told before they are written.
But it is on record before it is told, so that whatever ends the program then, the log has what the players heard. That
there is a recording the log says once it is whole; who ends the program meanwhile has it all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from game.montecassino import (
    JudgeError,
    Option,
    Position,
    Side,
    Square,
    Verdict,
    board_fault,
    format_squares,
    outcome,
)
from rig import log
from rig.aim.pointing import AimedShot, aim_at
from rig.calibrating.calibration_file import calibration_of
from rig.calibrating.spring import spring_now
from rig.camera import CameraError, Frame
from rig.cannon import Cannon, CannonError, ShotFired, ShotNotSeen
from rig.end_put_off import EndPutOff
from rig.eye import BoardNotSeen, Eye, fewest_fps_of
from rig.given_up import why_given_up
from rig.hands import Hands
from rig.link.errors import LinkError
from rig.link.port import Clock
from rig.link.transcript import TranscriptError
from rig.log import LogError, ShotLog, Stage
from rig.recording import (
    BESIDE_BYTES,
    RecordingError,
    picture_bytes,
    recording_of,
    refuse_full_disk,
    refuse_recorded,
    shot_bytes,
    write_recording,
)
from rig.sequence import NotInSequence, State
from rig.settings import Settings
from rig.shot_identity import recording_name, shot_identity
from rig.table_reading import TableReading
from rig.uniforms_file import UniformsFileError
from rig.verdict.analyse import Analysis
from rig.verdict.logged_reading import log_reading
from rig.verdict.reading_ahead import ReadingAhead
from vision.rest import Stillness

__all__ = [
    "DoubtPending",
    "Match",
    "NotKept",
    "Order",
    "PositionDiffers",
    "ShotDone",
    "ShotNotAllowed",
    "ShotRead",
    "Tell",
    "how_to_decide",
    "refuse_what_the_rules_forbid",
    "why_nobody_fires",
]

_PICTURES_TO_WEIGH = 5
_OF_ANOTHER_LOG = "a shot of another log lies there: let [log] recordings name another folder"
_FAILURES = (CameraError, CannonError, LinkError, LogError, NotInSequence, TranscriptError)
"""What may go wrong at a table in order; anything else is a mistake of ours, and is told as that."""

Progress = Callable[[str], None]
Tell = Callable[["ShotRead"], None]


class PositionDiffers(Exception):
    """The table does not stand as the position says; nothing was fired."""

    exit_status = 1

    def __init__(self, differences: tuple[str, ...]) -> None:
        self.differences = differences
        super().__init__(f"the table does not stand as the position says: {'; '.join(differences)}")


class ShotNotAllowed(Exception):
    """The rules allow no shot here; nothing was moved."""

    exit_status = 1


def how_to_decide(shot_id: int, settings: Settings) -> str:
    """Return the command by which a commander's word is said."""
    return settings.command("decide", f"{shot_id} SQUARE leaves|stays")


class DoubtPending(Exception):
    """An earlier shot waits for a commander's word, so nobody knows who still stands."""

    exit_status = 1

    def __init__(self, shot: log.Shot, settings: Settings) -> None:
        self.shot_id = shot.shot_id
        doubts = ", ".join(f"{doubt.square} (side {doubt.commander})" for doubt in shot.pending)
        super().__init__(
            f"shot {shot.shot_id} waits for a decision on {doubts}; say it with: {how_to_decide(shot.shot_id, settings)}"
        )


class NotKept(Exception):
    """A shot was fired, or may have been, and was not judged, or not all that is known of it kept; the text says what to do."""

    exit_status = 1


@dataclass(frozen=True, slots=True)
class Order:
    """What a commander orders."""

    target: Square
    position: Position
    """Before the shot; the side to move fires."""
    zone: tuple[Square, ...]
    option: Option
    plan: str | None = None
    """Identity of the programme that this shot belongs to."""
    plan_index: int | None = None

    @property
    def side(self) -> Side:
        """Who fires."""
        return self.position.turn


@dataclass(frozen=True, slots=True, eq=False)
class ShotRead:
    """A shot as it was read, before its recording is on the disk."""

    shot_id: int
    order: Order
    fired: ShotFired
    analysis: Analysis


@dataclass(frozen=True, slots=True, eq=False)
class ShotDone:
    """A shot, and what came of it."""

    shot_id: int
    order: Order
    aimed: AimedShot
    fired: ShotFired
    folder: Path
    """Its recording."""
    analysis: Analysis
    verdict: Verdict


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    frames: Sequence[Frame]
    whole: bool
    """Whether the pictures go on until all was at rest, or until there was no more time."""
    failure: BaseException | None
    """What ended the watching."""


class Match:
    """A table in use: one cannon, one camera, one log.

    Parameters
    ----------
    settings
        All of `rig.toml`.
    cannon, eye, hands, clock
        What the shot is made with.
    shots, session_id
        The log, and the session in it that is open.
    progress
        Told in a few words what is going on.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        cannon: Cannon,
        eye: Eye,
        hands: Hands,
        clock: Clock,
        shots: ShotLog,
        session_id: int,
        progress: Progress = lambda words: None,
    ) -> None:
        self.settings = settings
        self._cannon = cannon
        self._eye = eye
        self._hands = hands
        self._clock = clock
        self._log = shots
        self._session = shots.session(session_id)
        self._progress = progress
        self._asked_us: int | None = None
        self._unheard: list[BaseException] = []
        """What was raised by whoever was told of a shot that had left."""

    def read_position(self, known: Position) -> Position:
        """Read from the camera who stands where before a shot by the side to move; what no camera sees is as `known`."""
        # As before a shot: the cannon itself is in the picture.
        self._hands.carry_to(known.turn)
        self._progress("reading the table")
        standing = self._read_all(known.turn, None).standing
        return replace(known, soldiers={soldier.square: soldier.side for soldier in standing.soldiers})

    def shoot(self, order: Order, tell: Tell = lambda read: None) -> ShotDone:
        """Fire one shot and judge it.

        Parameters
        ----------
        order
            Who fires at what, under which rules.
        tell
            Told what was read and ruled as soon as that is known and in the log; the recording is still being written then.

        Raises
        ------
        ShotNotAllowed, PositionDiffers, TargetOutOfReach, UniformsFileError, RecordingError
            Where the shot could not be fired. The cannon is safe then, and the log tells how far the shot came.
        CannonError, NotInSequence, LinkError, TranscriptError, CameraError, LogError
            Likewise, ShotNotSeen where the trigger was pulled and nothing was seen to leave; those of cannon and line also
            once the shot is on record.
        NotKept
            Where it was fired, or may have been, and could not be followed to its end or judged, or the log or the recording
            could not be written.
        KeyboardInterrupt
            As asked; where that is once the shot has left, after it was judged, told and recorded, unless it is asked twice.
        """
        refuse_what_the_rules_forbid(order.position, order.target)
        self._refuse_full_disks()
        # Before the table is read: the cannon itself is in the picture.
        self._hands.carry_to(order.side)
        self._progress("reading the table")
        reading = self._read_all(order.side, order.position.soldiers)
        if reading.standing.differences:
            raise PositionDiffers(reading.standing.differences)
        self._refuse_few_pictures()
        self._refuse_full_disks(self._picture_bytes())
        self._asked_us = None
        self._unheard = []
        ending = EndPutOff()
        try:
            shot_id = self._log.begin_shot(self._session.session_id, _plan_of(order), clock_us=self._now())
        except LogError as error:
            raise _not_fired(error) from error
        with ReadingAhead(self._folder(shot_id)) as ahead, ExitStack() as once_asked:
            try:
                # A shot without a recording is lost.
                refuse_recorded(self._folder(shot_id), hint=_OF_ANOTHER_LOG)
                aimed, fired = self._fire(
                    shot_id, order, reading, ahead, lambda: once_asked.enter_context(ending)
                )
                done = self._follow(shot_id, order, aimed, fired, ahead, tell)
            except BaseException as error:
                # First of all the cannon: what is being read ends later. Nothing of it is broken off by another Ctrl-C.
                with EndPutOff():
                    self._give_up(shot_id, error)
                self._refuse_to_hide(shot_id, error)
                raise
        if ending.asked:
            raise KeyboardInterrupt
        if self._unheard:
            raise self._unheard[0]
        if self._eye.line_failure is not None:
            raise self._eye.line_failure  # the shot is on record by now
        return done

    def _read_all(self, side: Side, expected: Mapping[Square, Side] | None) -> TableReading:
        """Read the table as `Eye.read` does, and refuse one of which a part is not seen: a shot could not be judged there."""
        reading = self._eye.read(side, expected)
        if reading.outside is not None:
            raise BoardNotSeen(f"camera {self._eye.ring.camera.name}: {reading.outside}")
        return reading

    def _fire(
        self,
        shot_id: int,
        order: Order,
        reading: TableReading,
        ahead: ReadingAhead,
        put_off_the_end: Callable[[], object],
    ) -> tuple[AimedShot, ShotFired]:
        """Bring the cannon from safe to safe, with a shot between; once that is asked for, no end is heard before its own."""
        cannon, settings = self._cannon, self.settings
        soldier = reading.standing.at(order.target)
        spring = spring_now(settings, self._log, self._session.session_id)
        shots_before = None if spring is None else spring.shots_before
        aimed = aim_at(
            order.target,
            order.side,
            settings.cannon,
            settings.board,
            foot_mm=None if soldier is None else (soldier.x_mm, soldier.y_mm),
            shots_before=shots_before,
        )
        # What no recording takes, whenever its pictures are taken, is told while nothing has moved: the shot would be lost.
        keys = self._recording_keys(order, aimed, None)
        recording_of(self._folder(shot_id), keys, timestamps_us=(0, 1))
        if cannon.state is State.SAFE_DRAWN:
            self._progress("letting down a lever that was left drawn")
            cannon.let_down("left drawn by an earlier shot")
        self._progress("homing")
        cannon.home()
        self._progress(f"aiming at {order.target}")
        cannon.aim(aimed.traverse_us, aimed.azimuth_us, aimed.elevation_us)
        self._log.aimed(shot_id, _logged_aim(aimed, settings, shots_before), clock_us=self._now())
        # The barrel stays where it is now: the table is read while the lever is drawn.
        ahead.see_aimed(self._eye.pictures(), keys)
        self._progress("cocking")
        cannon.cock()
        self._reached(shot_id, Stage.COCKED)
        self._progress("loading")
        cannon.load(
            None if settings.cannon.loader else self._hands.load,
            timeout_us=round(settings.cannon.load_s * 1e6),
        )
        self._reached(shot_id, Stage.LOADED)
        self._progress("checking the lane, arming, firing")
        self._eye.ring.hold(self._now())
        self._refuse_few_pictures()  # it may have become dark since
        try:
            fired = cannon.fire(self._eye.lane, lambda: self._about_to_fire(shot_id, put_off_the_end))
            self._left(shot_id, fired)
        except BaseException as error:
            if self._asked_us is not None and cannon.fired is not False:
                self._keep(shot_id, order, aimed, self._asked_us, error)
            raise
        return aimed, fired

    def _about_to_fire(self, shot_id: int, put_off_the_end: Callable[[], object]) -> None:
        """Write what must stand in the log before the fire command leaves."""
        self._reached(shot_id, Stage.ARMED)
        self._reached(shot_id, Stage.ASKED)
        put_off_the_end()  # asked for before, it stops the shot
        self._asked_us = self._now()

    def _left(self, shot_id: int, fired: ShotFired) -> None:
        """Write that the shot left, and what the muzzle gate saw of it."""
        self._reached(shot_id, Stage.FIRED)
        self._log.seen(
            shot_id,
            log.MuzzleGate(
                release_to_first_us=None if fired.left_us is None else fired.left_us - fired.released_us,
                first_to_second_us=fired.transit_us,
                spacing_mm=self.settings.cannon.gate_spacing_mm,
            ),
            clock_us=self._now(),
        )

    def _give_up(self, shot_id: int, error: BaseException) -> None:
        """Tell the log why the shot was given up, and whether it left as far as that is known."""
        self._eye.ring.release()
        why = why_given_up(error)
        with suppress(TranscriptError):  # the cannon is at rest, and what went wrong first is told
            self._cannon.leave(why)
        why = "; ".join(filter(None, (why, self._cannon.left_drawn)))
        fired = None
        if self._asked_us is None:
            fired = log.Fired.NO  # though the log may have it already that fire is asked for
        elif self._cannon.fired is not None:
            fired = log.Fired.YES if self._cannon.fired else log.Fired.NO
        # What went wrong comes first: of a shot that the log takes no more the next start says how far it came.
        with suppress(LogError):
            if self._log.shot(shot_id).verdict is None:
                self._log.abort(shot_id, why, fired=fired, clock_us=self._now())

    def _refuse_to_hide(self, shot_id: int, error: BaseException) -> None:
        """Raise NotKept where a shot left, or may have, and what went wrong then says nothing of it, LogError where none did."""
        if self._asked_us is None or self._cannon.fired is False:
            if isinstance(error, LogError):
                # Of the cannon, the camera and the line a failure tells by itself how far the shot was; a log's does not.
                raise _not_fired(error) from error
            return
        if not isinstance(error, _FAILURES) or isinstance(error, ShotNotSeen):
            return
        look = "look at the table for who fell"
        with suppress(LogError):
            shot = self._log.shot(shot_id)
            if shot.verdict is not None:
                return
            if shot.tells_who_fell:
                look = f"{self._judge_later(shot_id)} reads its recording"
        why = str(error).rstrip(".")
        fired = (
            f"was fired, and was not judged: {why}"
            if self._cannon.fired
            else f"may have been fired, and was not judged: {why}; treat the cannon as loaded until you have looked"
        )
        raise NotKept(f"shot {shot_id} {fired}; {look}") from error

    def _follow(
        self, shot_id: int, order: Order, aimed: AimedShot, fired: ShotFired, ahead: ReadingAhead, tell: Tell
    ) -> ShotDone:
        """Watch until all is at rest and the shot is read, judge it, tell it and write its recording.

        It left when the muzzle gate timed it: solenoid, lever and spring take some 10 ms, in which the shot would have flown
        10 cm. Only where nothing was timed it is the trigger's own time.
        """
        released_us = fired.left_us or fired.released_us
        folder = self._folder(shot_id)
        keys = self._recording_keys(order, aimed, released_us)
        watched = self._watch(released_us, ahead, keys)
        verdict: Verdict | None = None
        try:
            if watched.failure is not None:
                raise watched.failure
            analysis, verdict = self._judge(shot_id, order, ahead, watched.frames)
            self._say(lambda: tell(ShotRead(shot_id, order, fired, analysis)))
        finally:
            # Whatever the reading came to, the shot's pictures are kept.
            self._write(shot_id, folder, keys, watched, judged=verdict is not None)
        return ShotDone(shot_id, order, aimed, fired, folder, analysis, verdict)

    def _keep(
        self, shot_id: int, order: Order, aimed: AimedShot, asked_us: int, error: BaseException
    ) -> None:
        """Watch and write the recording of a shot that left, or may have, and of which something went wrong just then."""
        known = self._cannon.shot
        released_us = asked_us if known is None else known.left_us or known.released_us
        keys = self._recording_keys(order, aimed, released_us)
        watched = self._watch(released_us, None, keys)
        if known is not None and not isinstance(error, LogError):
            with suppress(LogError):  # what went wrong first is told, and the recording matters more
                self._left(shot_id, known)
        self._write(shot_id, self._folder(shot_id), keys, watched, judged=False)

    def _say(self, say: Callable[[], None]) -> None:
        """Say something of a shot that has left: where nobody listens any more, it is followed to its end all the same."""
        try:
            say()
        except (Exception, SystemExit) as error:  # rich ends the program where its pipe is closed
            self._unheard.append(error)

    def _watch(self, released_us: int, ahead: ReadingAhead | None, keys: Mapping[str, Any]) -> _Watched:
        """Watch a shot until all is at rest, and have it read meanwhile where that is wanted."""
        camera, ring = self.settings.camera, self._eye.ring
        self._say(lambda: self._progress("watching"))
        failure: BaseException | None = None
        start_us = released_us - round(camera.clip_before_s * 1e6)
        longest_us = round(camera.clip_after_s * 1e6)
        frames: Sequence[Frame] = ()
        whole = False
        try:
            self._eye.until_seen(released_us)
            if ahead is not None:
                ahead.see_before(ring.between(start_us, released_us), keys)
            for at_us, stillness in self._eye.follow(released_us, longest_us):
                whole = stillness is Stillness.REST
                frames = ring.between(start_us, at_us)
                if ahead is not None:
                    self._read_ahead(ahead, stillness, frames)
        except BaseException as error:
            # A camera that dies, or somebody who ends the program: the pictures that there are are kept all the same.
            failure = error
        if not whole:
            frames = ring.between(start_us, released_us + longest_us)
        ring.release()
        return _Watched(frames, whole, failure)

    def _read_ahead(self, ahead: ReadingAhead, stillness: Stillness, frames: Sequence[Frame]) -> None:
        if stillness is Stillness.MOVING:
            ahead.withdraw()
            ahead.look(frames)
        elif stillness is Stillness.QUIET:
            ahead.begin(frames)
        else:
            self._say(lambda: self._progress("reading the shot"))
            ahead.finish(frames)

    def _write(
        self, shot_id: int, folder: Path, keys: Mapping[str, Any], watched: _Watched, *, judged: bool
    ) -> None:
        if len(watched.frames) < 2:
            return
        self._say(lambda: self._progress("recording"))
        why = "" if watched.whole else str(watched.failure) or "asked to end"
        told = {**keys, "shot": shot_identity(self._session, shot_id).model_dump()}
        if why:
            told["incomplete"] = why
        known = f"shot {shot_id} was fired{', and its verdict is in the log' if judged else ''}"
        try:
            write_recording(folder, told, [(frame.timestamp_us, frame.image) for frame in watched.frames])
        except RecordingError as error:
            look = "" if judged else "; look at the table for who fell"
            raise NotKept(f"{known}; its recording cannot be kept: {error}{look}") from error
        cause = f"{log.CUT_SHORT}{why}" if why else ""
        try:
            self._log.recorded(shot_id, str(folder), clock_us=self._now(), cause=cause)
        except LogError as error:
            raise NotKept(
                f"{known}; its recording is whole in {folder}, and the log does not take that: {error}; "
                f"once that is mended: {self._judge_later(shot_id)}"
            ) from error

    def _picture_bytes(self) -> int:
        """Return the room that a picture of the table as it was just read takes on the disk."""
        ring = self._eye.ring
        frames = [(frame.timestamp_us, frame.image) for frame in ring.newest(_PICTURES_TO_WEIGH)]
        return picture_bytes(frames, ring.camera.fps) if frames else 0

    def _refuse_few_pictures(self) -> None:
        self._eye.ring.check_rate(fewest_fps_of(self.settings))

    def _refuse_full_disks(self, of_each_picture: int = 0) -> None:
        camera, asked, kept = self._eye.ring.camera, self.settings.camera, self.settings.log
        clip_s = asked.clip_before_s + asked.clip_after_s
        needed_bytes = shot_bytes(
            width_px=camera.width_px,
            height_px=camera.height_px,
            fps=camera.fps,
            clip_s=clip_s,
            of_each_picture=of_each_picture,
        )
        refuse_full_disk(Path(kept.recordings), needed_bytes)
        refuse_full_disk(Path(kept.path).parent, BESIDE_BYTES)

    def _folder(self, shot_id: int) -> Path:
        """Where a shot's recording goes."""
        return Path(self.settings.log.recordings) / recording_name(shot_id)

    def _recording_keys(self, order: Order, aimed: AimedShot, released_us: int | None) -> dict[str, Any]:
        camera, board = self._eye.ring.camera, self.settings.board
        lens = self.settings.camera
        return {
            "camera": {
                "width": camera.width_px,
                "height": camera.height_px,
                "fps": camera.fps,
                "exposure_us": lens.exposure_us,
                "delay_us": lens.delay_us,
                "readout_us": lens.readout_us,
                "intrinsics": lens.intrinsics_px,
                "distortion": lens.distortion,
            },
            "fire_us": released_us,
            "board": {
                "square_mm": board.square_mm,
                "markers": {
                    "dictionary": board.marker_dictionary,
                    "size_mm": board.marker_size_mm,
                    "centres_mm": board.marker_centres_mm,
                },
                "corners_px": None,
            },
            "cannon": {"side": order.side.value, "muzzle_mm": [round(v, 2) for v in aimed.muzzle_mm]},
            "position": str(order.position),
            "zone": format_squares(order.zone),
            "option": order.option.value,
        }

    def _judge(
        self, shot_id: int, order: Order, ahead: ReadingAhead, frames: Sequence[Frame]
    ) -> tuple[Analysis, Verdict]:
        try:
            analysis = ahead.analysis(frames)
            return analysis, log_reading(self._log, shot_id, _plan_of(order), analysis, clock_us=self._now())
        except (JudgeError, RecordingError, UniformsFileError) as error:
            raise NotKept(
                f"shot {shot_id} was fired, and could not be judged: {error}; "
                f"{self._judge_later(shot_id)} reads its recording again"
            ) from error
        except LogError as error:
            raise NotKept(
                f"shot {shot_id} was fired, and its verdict is not told, since the log does not take it: {error}; "
                f"once that is mended, {self._judge_later(shot_id)} reads its recording"
            ) from error

    def _judge_later(self, shot_id: int) -> str:
        return self.settings.command("judge", str(shot_id))

    def _reached(self, shot_id: int, stage: Stage) -> None:
        self._log.reached(shot_id, stage, clock_us=self._now())

    def _now(self) -> int:
        return self._clock.now_us()


def refuse_what_the_rules_forbid(position: Position, target: Square, *, soldiers_known: bool = True) -> None:
    """Raise ShotNotAllowed where the side to move has no shot left (C3), the battle is over (V0) or is of two boards.

    Parameters
    ----------
    position
        Before the shot.
    target
        The square to fire at.
    soldiers_known
        False: the camera is yet to tell who stands where, and so whether the battle is over.
    """
    if position.boards != 1:
        raise ShotNotAllowed(f"the table has one board, and the position two: {position}")
    if fault := board_fault(target, position.boards):
        raise ShotNotAllowed(fault)
    if why := why_nobody_fires(position, soldiers_known=soldiers_known):
        raise ShotNotAllowed(why)


def why_nobody_fires(position: Position, *, soldiers_known: bool = True) -> str | None:
    """Say why the side to move fires at nothing: it has no shot left (C3), or the battle is over (V0); None where it may."""
    if position.shots_left[position.turn] < 1:
        return f"side {position.turn} has no shot left: {position}"
    ended = outcome(position) if soldiers_known else None
    return None if ended is None else f"the battle is over ({ended.winner}): {position}"


def _not_fired(error: LogError) -> LogError:
    return LogError(f"nothing was fired: {error}")


def _plan_of(order: Order) -> log.ShotPlan:
    return log.ShotPlan(
        side=order.side.value,
        target=str(order.target),
        option=order.option.value,
        zone=format_squares(order.zone),
        position=str(order.position),
        plan=order.plan,
        plan_index=order.plan_index,
    )


def _logged_aim(aimed: AimedShot, settings: Settings, shots_before: int | None) -> log.Aim:
    calibrated = calibration_of(settings.cannon)
    return log.Aim(
        target_mm=aimed.target_mm,
        traverse_mm=1000 * aimed.aim.traverse_m,
        azimuth_rad=aimed.aim.azimuth_rad,
        elevation_rad=aimed.aim.elevation_rad,
        expected_muzzle_speed_mps=(
            settings.cannon.muzzle_speed_mps
            if calibrated is None
            else calibrated.calibration.muzzle_speed_mps(shots_before=shots_before)
        ),
        calibration="" if calibrated is None else calibrated.identity,
    )

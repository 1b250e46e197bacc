"""A shot is read while the table is still being watched, and is read as it would be from its recording."""

from __future__ import annotations

import gc
import math
import os
import signal
import statistics
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import numpy as np
import painted_table as painted
import pytest
import sqlalchemy as sa
from logged_shots import START
from numpy.typing import NDArray
from painted_settings import settings_of
from painted_table import CROWD, Table

import rig.verdict.reading_ahead
from game.montecassino import Cause, JudgeError, Option, Position, Side, Square, parse_squares
from rig.camera import CameraStalled, Frame, FrameRing
from rig.cannon import Cannon, ShotFired
from rig.eye import Eye
from rig.hands import Hands, PromptedHands
from rig.log import Fired, LogError, Shot, ShotLog, Stage, open_log
from rig.log.sql_store import open_log_in_memory
from rig.match import Match, NotKept, Order
from rig.recording import RecordingError, read_recording
from rig.sequence import State
from rig.shot_identity import shot_identity
from rig.verdict.analyse import Analysis, analyse_folder
from rig.verdict.late_judging import judge_recorded
from rig.verdict.reading_ahead import ReadingAhead
from vision.table_before import NoReading, TableBefore

Image = NDArray[np.uint8]

FPS = 60.0
FALL_US = 120_000
FIRST, SECOND = Square.parse("A-12"), Square.parse("G-60")
CAMERA = painted.view(width_px=800, height_px=450, focal_px=980)
PLACED = painted.standing(CROWD)
STILL = Table(CAMERA, tuple(f for square, f in PLACED.items() if square not in {FIRST, SECOND}))
ORDER = Order(
    Square.parse("G-60"),
    Position(
        turn=Side.A,
        soldiers=CROWD,
        held=dict.fromkeys(Side, 0),
        shots_left=dict.fromkeys(Side, 20),
    ),
    parse_squares("G25-G72"),
    Option.I,
)


NO_HANDS = PromptedHands(lambda words: None, lambda words: None)


@dataclass
class Picture:
    index: int
    timestamp_us: int
    image: Image


@lru_cache(maxsize=100)
def painted_still_but_for(moving: tuple[painted.Figure, ...], *, seed: int) -> Image:
    """The table with these figures, who may lean. Most shots of these tests show the same pictures."""
    return replace(STILL, moving=moving).paint(seed=seed)


@dataclass
class PaintedTable:
    """A camera over a painted table, a cannon, and their time. Soldiers begin to fall so long after the release."""

    falls_us: Mapping[Square, int]
    name: str = "painted"
    width_px: int = CAMERA.width_px
    height_px: int = CAMERA.height_px
    fps: float = FPS
    time_us: int = 500_000
    state: State = State.SAFE
    fired: bool = True
    nudge_mm: float = 0.0
    """By how much SECOND is pushed aside once the lane was found clear."""
    late_us: int = 0
    """How long it takes from the lane's last look until the shot leaves."""
    _second: painted.Figure = PLACED[SECOND]
    _released_us: int | None = None
    _shown: int = 0

    def now_us(self) -> int:
        return self.time_us

    def wait(self, time_us: int) -> None:
        self.time_us += time_us

    def poll(self) -> list[Frame]:
        frames: list[Frame] = []
        while (due_us := round(self._shown * 1e6 / FPS)) <= self.time_us:
            frames.append(Picture(self._shown, due_us, self._paint(due_us)))
            self._shown += 1
        return frames

    def close(self) -> None:
        pass

    @property
    def is_fired(self) -> bool:
        return self._released_us is not None

    def fire(self, lane: Callable[[], Any], before_fire: Callable[[], None]) -> ShotFired:
        assert lane().clear
        if self.nudge_mm:
            second = PLACED[SECOND]
            self._second = replace(second, x_mm=second.x_mm + self.nudge_mm)
            self.time_us += 200_000
        self.time_us += self.late_us
        before_fire()
        self._released_us = self.time_us
        return ShotFired(self.time_us, 0, 0, None, None, None)

    def _paint(self, at_us: int) -> Image:
        since_us = -1 if self._released_us is None else at_us - self._released_us
        leans = {
            square: min(max(since_us - self.falls_us.get(square, 10**9), 0) / FALL_US, 1.0) * math.pi / 2
            for square in (FIRST, SECOND)
        }
        moving = tuple(
            replace(figure, lean_rad=leans[square], heading_rad=1.2)
            for square, figure in ((FIRST, PLACED[FIRST]), (SECOND, self._second))
        )
        return painted_still_but_for(moving, seed=self._shown % 8)


@dataclass(frozen=True)
class Done:
    analysis: Analysis
    shot: Shot
    read: list[int]
    """How many pictures each reading was given."""
    tables: int
    """How often the table before the shot was read."""

    @property
    def recorded(self) -> Analysis:
        """What `rig analyse` makes of the recording."""
        assert self.shot.recording_path is not None
        return analyse_folder(Path(self.shot.recording_path))


def fire(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    first_us: int = 50_000,
    second_us: int | None = None,
    read_us: int = 0,
    fails: Sequence[int] = (),
    nudge_mm: float = 0.0,
    log: ShotLog | None = None,
    told: Callable[[str], None] = lambda words: None,
    table: PaintedTable | None = None,
    hands: Hands = NO_HANDS,
    cannon_keys: Mapping[str, object] = MappingProxyType({}),
    load: Callable[[object, int], None] = lambda prompt, timeout_us: None,
) -> Done:
    """Fire once. The rig first takes `read_us` over the shot once all is at rest; readings of these numbers fail."""
    falls_us = {FIRST: first_us} | ({} if second_us is None else {SECOND: second_us})
    table = PaintedTable(falls_us, nudge_mm=nudge_mm) if table is None else table
    analyse = rig.verdict.reading_ahead.analyse_pictures
    read: list[int] = []

    def counted(folder: Path, recording: Any, pictures: Sequence[Image], *ahead: Any) -> Analysis:
        read.append(len(pictures))
        if len(read) - 1 in fails:
            raise RecordingError("clip", "not enough to be read")
        return analyse(folder, recording, pictures, *ahead)

    read_before = rig.verdict.reading_ahead.read_before
    tables: list[TableBefore | NoReading] = []

    def counted_table(*what: Any) -> TableBefore | NoReading:
        tables.append(read_before(*what))
        return tables[-1]

    monkeypatch.setattr(rig.verdict.reading_ahead, "analyse_pictures", counted)
    monkeypatch.setattr(rig.verdict.reading_ahead, "read_before", counted_table)
    readings = iter([read_us])

    def progress(words: str) -> None:
        told(words)
        if words == "reading the shot":
            table.wait(next(readings, 0))

    chosen = settings_of(CAMERA, recordings=folder, fps=FPS)
    chosen = chosen.model_copy(update={"cannon": chosen.cannon.model_copy(update=dict(cannon_keys))})
    ring = FrameRing(table, keep_us=800_000, hold_us=3_000_000, stall_us=5_000_000)
    cannon = SimpleNamespace(
        state=State.SAFE,
        fired=True,
        home=lambda: None,
        aim=lambda *pulses: None,
        cock=lambda: None,
        load=load,
        fire=table.fire,
        leave=lambda why: None,
        left_drawn="",
    )
    log = open_log_in_memory() if log is None else log
    match = Match(
        chosen,
        cannon=cast(Cannon, cannon),
        eye=Eye(ring, table, table.wait, chosen),
        hands=hands,
        clock=table,
        shots=log,
        session_id=log.start_session(START),
        progress=progress,
    )
    done = match.shoot(ORDER)
    return Done(done.analysis, log.shot(done.shot_id), read, len(tables))


class Carrying(PromptedHands):
    """Hands that note how many pictures the camera had been asked for when they carried the cannon."""

    def __init__(self, table: PaintedTable) -> None:
        super().__init__(lambda words: None, lambda words: None)
        self._table = table
        self.carried: list[tuple[Side, int]] = []

    def carry_to(self, side: Side) -> None:
        self.carried.append((side, self._table._shown))


def test_c2_the_cannon_is_carried_to_its_platform_before_the_table_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in the picture itself, and where it was it may hide who stands there."""
    table = PaintedTable({FIRST: 50_000})
    hands = Carrying(table)
    fire(tmp_path, monkeypatch, table=table, hands=hands)
    assert hands.carried == [(Side.A, 0)]


@pytest.mark.parametrize("loader", [False, True])
def test_a_person_is_asked_for_the_shot_where_no_loader_puts_it_in_and_never_beside_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loader: bool
) -> None:
    asked: list[tuple[object, int]] = []
    fire(
        tmp_path,
        monkeypatch,
        cannon_keys={"loader": loader, "load_s": 12.5},
        load=lambda prompt, timeout_us: asked.append((prompt, timeout_us)),
    )
    assert asked == [(None if loader else NO_HANDS.load, 12_500_000)]


def test_where_the_camera_tells_who_stands_where_all_else_is_as_it_was_known(tmp_path: Path) -> None:
    """R1: a retreat is made once a battle, also where the soldiers of a later shot are read from the picture."""
    table = PaintedTable({})
    hands, chosen, log = (
        Carrying(table),
        settings_of(CAMERA, recordings=tmp_path, fps=FPS),
        open_log_in_memory(),
    )
    ring = FrameRing(table, keep_us=800_000, hold_us=3_000_000, stall_us=5_000_000)
    match = Match(
        chosen,
        cannon=cast(Cannon, None),
        eye=Eye(ring, table, table.wait, chosen),
        hands=hands,
        clock=table,
        shots=log,
        session_id=log.start_session(START),
    )
    known = Position.parse("G A01-A03 G01-G02 2/1 18/17 A")
    assert match.read_position(known) == replace(known, soldiers=CROWD)
    assert hands.carried == [(Side.G, 0)]


def fallen(analysis: Analysis) -> set[Square]:
    return {fall.toppling.soldier.square for fall in analysis.reading.falls}


def test_the_shot_is_read_once_and_before_the_table_is_surely_at_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = fire(tmp_path, monkeypatch)
    assert fallen(done.analysis) == {FIRST}
    (pictures,) = done.read
    recorded = len(read_recording(Path(done.shot.recording_path or "")).timestamps_us)
    # The clip goes on for 0.4 s of quiet, and reading began within the first tenth of it or little more.
    assert recorded - pictures >= 0.3 * FPS
    assert len(done.analysis.recording.timestamps_us) == recorded


def test_the_recording_says_which_shot_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_log_in_memory() as log:
        done = fire(tmp_path, monkeypatch, log=log)
        recording = read_recording(Path(done.shot.recording_path or ""))
        (session,) = log.sessions()
    assert recording.keys.shot == shot_identity(session, done.shot.shot_id)


def test_the_shot_is_aimed_at_where_the_soldier_stands_on_its_square(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aim = fire(tmp_path, monkeypatch).shot.aim
    assert aim is not None
    foot_mm, centre_mm = (PLACED[SECOND].x_mm, PLACED[SECOND].y_mm), SECOND.centre_mm(45.0)
    assert math.dist(aim.target_mm[:2], foot_mm) < 1.5 < math.dist(aim.target_mm[:2], centre_mm)


def test_the_recording_is_read_as_the_live_pictures_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = fire(tmp_path, monkeypatch)
    again = done.recorded
    assert again.verdicts == done.analysis.verdicts
    assert [f.possible for f in again.reading.falls] == [f.possible for f in done.analysis.reading.falls]
    for before, after in zip(done.analysis.reading.falls, again.reading.falls, strict=True):
        assert after.confidence == pytest.approx(before.confidence, abs=0.05)


def test_the_table_is_read_once_before_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = fire(tmp_path, monkeypatch)
    assert done.tables == 1
    live, again = done.analysis.reading.standing, done.recorded.reading.standing
    assert [(s.side, s.square) for s in live.soldiers] == [(s.side, s.square) for s in again.soldiers]
    off_mm = [
        math.hypot(seen.x_mm - recorded.x_mm, seen.y_mm - recorded.y_mm)
        for seen, recorded in zip(live.soldiers, again.soldiers, strict=True)
    ]
    # A foot is looked for in cells of 6 mm; where two tell of it about as surely, the film's may be the other.
    assert statistics.median(off_mm) < 0.5
    assert max(off_mm) < 3.0


def test_a_table_that_changed_since_the_cannon_was_aimed_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A soldier that was nudged by 3 mm after the lane's last check is read where it stands when the shot is fired."""
    done = fire(tmp_path, monkeypatch, nudge_mm=3.0)
    assert done.tables == 2
    seen = done.analysis.reading.standing.at(SECOND)
    assert seen is not None
    assert seen.x_mm - PLACED[SECOND].x_mm > 1.5
    assert done.analysis.reading.pushes == ()


class _TiedToItself:
    def __init__(self) -> None:
        self.itself = self


def test_what_lives_already_is_not_searched_for_garbage_while_a_shot_is_read(tmp_path: Path) -> None:
    with ReadingAhead(tmp_path):
        set_aside = gc.get_freeze_count()
    assert set_aside > 0
    # What a shot leaves behind, tied to itself, is found all the same, however many are fired.
    kept = _TiedToItself()
    left = weakref.ref(kept)
    with ReadingAhead(tmp_path):
        assert gc.get_freeze_count() <= set_aside
    del kept
    gc.collect()
    assert left() is None


def test_what_moves_again_after_a_pause_is_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = fire(tmp_path, monkeypatch, second_us=450_000)
    assert fallen(done.analysis) == {FIRST, SECOND} == fallen(done.recorded)
    assert done.read[-1] == max(done.read)


def test_a_soldier_that_falls_while_the_shot_is_being_read_holds_its_ruling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = fire(tmp_path, monkeypatch, second_us=900_000, read_us=700_000)
    for analysis in (done.analysis, done.recorded):
        (late,) = (f for f in analysis.reading.falls if f.toppling.soldier.square == SECOND)
        assert Cause.OTHER in late.possible
        assert any(f"{SECOND} began to fall" in alarm.reason for alarm in analysis.reading.alarms)


def test_a_camera_that_stalls_before_the_shot_is_looked_at_loses_no_picture_that_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stall(eye: Eye, at_us: int) -> None:
        raise CameraStalled("painted", 600_000, 16_667)

    monkeypatch.setattr(Eye, "until_seen", stall)
    with open_log_in_memory() as log:
        with pytest.raises(NotKept, match="shot 1 was fired, and was not judged: camera painted: no picture"):
            fire(tmp_path, monkeypatch, log=log)
        (shot,) = log.shots()
    recording = read_recording(Path(shot.recording_path or ""))
    assert recording.incomplete.startswith("camera painted: no picture for 600 ms")
    assert recording.keys.fire_us is not None
    assert recording.timestamps_us[0] < recording.keys.fire_us - 200_000


@pytest.mark.parametrize("late_us", [2_300_000, 3_200_000])
def test_a_shot_that_left_so_late_that_its_pictures_found_no_room_is_on_record_with_those_that_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late_us: int
) -> None:
    with open_log_in_memory() as log:
        with pytest.raises(NotKept, match=r"shot 1 was fired, .* no room for all of a shot's"):
            fire(
                tmp_path,
                monkeypatch,
                first_us=300_000,
                log=log,
                table=PaintedTable({FIRST: 300_000}, late_us=late_us),
            )
        (shot,) = log.shots()
    assert shot.fired is Fired.YES
    recording = read_recording(Path(shot.recording_path or ""))
    assert "there is no room for all of a shot's" in recording.incomplete


def test_a_shot_whose_reading_no_judge_takes_is_told_as_fired_and_is_judged_from_its_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def confused(*what: object) -> None:
        raise JudgeError("G-60 fell, and nobody stood there")

    with open_log_in_memory() as log:
        with monkeypatch.context() as patched:
            patched.setattr("rig.verdict.logged_reading.judge_reading", confused)
            with pytest.raises(NotKept, match=r"shot 1 was fired, .*nobody stood there; rig judge 1 reads"):
                fire(tmp_path, patched, log=log)
        (shot,) = log.shots()
        assert shot.fired is Fired.YES
        assert [fall.square for fall in shot.analyses[0].falls] == [str(FIRST)]
        judged, _ = judge_recorded(log, shot.shot_id)
    assert judged.verdict is not None


def test_c8_a_doubt_waits_on_where_the_recording_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path, keys: object, frames: object) -> None:
        raise RecordingError(folder, "no room")

    monkeypatch.setattr("rig.match.write_recording", full)
    with open_log_in_memory() as log:
        with pytest.raises(NotKept, match="its verdict is in the log; its recording cannot be kept"):
            fire(tmp_path, monkeypatch, second_us=900_000, read_us=700_000, log=log)
        (shot,) = log.shots()
    assert [doubt.square for doubt in shot.pending] == [str(SECOND)]
    assert shot.stage is Stage.JUDGED


def test_a_verdict_that_the_log_does_not_take_is_not_told_and_is_had_from_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise LogError("log.sqlite: another program is writing to it")

    with open_log_in_memory() as log:
        with monkeypatch.context() as patched:
            patched.setattr(log, "analysed", busy)
            with pytest.raises(
                NotKept,
                match=r"shot 1 was fired, and its verdict is not told, .*writing to it; once that is mended, rig judge 1",
            ):
                fire(tmp_path, patched, log=log)
        judged, _ = judge_recorded(log, 1)
    assert judged.verdict is not None


def test_of_a_shot_of_which_nothing_can_be_kept_who_fell_is_looked_for_on_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stall(eye: Eye, at_us: int) -> None:
        raise CameraStalled("painted", 600_000, 16_667)

    def full(folder: Path, keys: object, frames: object) -> None:
        raise RecordingError(folder, "no room")

    monkeypatch.setattr(Eye, "until_seen", stall)
    monkeypatch.setattr("rig.match.write_recording", full)
    with open_log_in_memory() as log:
        with pytest.raises(NotKept) as lost:
            fire(tmp_path, monkeypatch, log=log)
        (shot,) = log.shots()
    assert str(lost.value) == (
        f"shot 1 was fired; its recording cannot be kept: {tmp_path / 'shot-00001'}: no room; look at the table for who fell"
    )
    assert shot.fired is Fired.YES


def test_a_reading_on_trial_that_fails_is_followed_by_one_of_all_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = fire(tmp_path, monkeypatch, fails=[0])
    assert fallen(done.analysis) == {FIRST}
    first, second = done.read
    assert second > first


def test_a_slow_reading_loses_no_picture_of_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meanwhile far more pictures come than the ring has room for."""
    done = fire(tmp_path, monkeypatch, read_us=6_000_000)
    recording = read_recording(Path(done.shot.recording_path or ""))
    steps_us = np.diff(recording.timestamps_us)
    assert steps_us.max() <= 1.5e6 / FPS
    assert recording.keys.fire_us is not None
    assert recording.timestamps_us[0] < recording.keys.fire_us - 200_000


def test_ctrl_c_once_the_shot_has_left_ends_the_rig_when_the_shot_is_judged_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ctrl_c: None
) -> None:
    def told(words: str) -> None:
        if words == "watching":
            os.kill(os.getpid(), signal.SIGINT)

    with open_log_in_memory() as log:
        with pytest.raises(KeyboardInterrupt):
            fire(tmp_path, monkeypatch, log=log, told=told)
        (shot,) = log.shots()
    assert [fall.square for fall in shot.analyses[0].falls] == [str(FIRST)]
    assert shot.verdict is not None
    assert shot.recording_path is not None
    assert read_recording(Path(shot.recording_path)).incomplete == ""


def test_ctrl_c_twice_while_the_shot_is_read_keeps_its_pictures_and_its_verdict_is_had_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ctrl_c: None
) -> None:
    def told(words: str) -> None:
        if words == "reading the shot":
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with open_log_in_memory() as log:
        with pytest.raises(KeyboardInterrupt):
            fire(tmp_path, monkeypatch, log=log, told=told)
        (shot,) = log.shots()
        assert shot.analyses == ()
        assert shot.recording_path is not None
        judged, analysis = judge_recorded(log, shot.shot_id)
    assert analysis is not None
    assert fallen(analysis) == {FIRST}
    assert judged.verdict is not None


ASKING = {
    "before its row": "before_cursor_execute",
    "after its row": "after_cursor_execute",
    "before it is kept": "commit",
    "just kept": None,
}


def interrupt_asked(log: Any, moment: str) -> None:
    """Press Ctrl-C at a moment of the write by which the log keeps that fire is asked for."""
    reached, event = log.reached, ASKING[moment]

    def press(*what: Any) -> None:
        if event == "commit" or what[2].startswith("INSERT INTO stage"):
            signal.raise_signal(signal.SIGINT)

    def and_press(shot_id: int, stage: Stage, **how: Any) -> None:
        if stage is Stage.ASKED and event is not None:
            sa.event.listen(log._engine, event, press)
        try:
            reached(shot_id, stage, **how)
        finally:
            if stage is Stage.ASKED and event is not None:
                sa.event.remove(log._engine, event, press)
        if stage is Stage.ASKED and event is None:
            signal.raise_signal(signal.SIGINT)

    log.reached = and_press


@pytest.mark.parametrize("moment", ASKING)
def test_ctrl_c_while_the_log_writes_that_fire_is_asked_for_fires_nothing_and_leaves_no_half_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ctrl_c: None, moment: str
) -> None:
    table = PaintedTable({})
    with open_log(tmp_path / "log.sqlite") as log:
        interrupt_asked(log, moment)
        with pytest.raises(KeyboardInterrupt):
            fire(tmp_path, monkeypatch, log=log, table=table)
        (session,) = log.sessions()
        log.end_session(session.session_id, "asked to end")
    assert not table.is_fired
    with open_log(tmp_path / "log.sqlite") as log:
        assert log.interrupted == ()
        (shot,) = log.shots()
    assert shot.stage is Stage.ABORTED
    assert shot.history[-1].cause == "asked to end"
    stages = [Stage.PLANNED, Stage.AIMED, Stage.COCKED, Stage.LOADED, Stage.ARMED]
    asked = [Stage.ASKED] if moment == "just kept" else []
    assert [entry.stage for entry in shot.history] == [*stages, *asked, Stage.ABORTED]
    assert shot.fired is Fired.NO
    assert shot.recording_path is None

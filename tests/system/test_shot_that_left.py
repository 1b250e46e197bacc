"""Whatever breaks between the trigger's release and the end of a shot: what left the cannon is on record."""

import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from small_twin import SMALL_TWIN
from test_match import assert_cannon_is_safe, order, rig_on

from rig.camera import CameraGone, Frame
from rig.cannon import Change
from rig.cli import main
from rig.cli.opening.rig import OpenRig
from rig.link.errors import PortGone
from rig.log import Fired, LogError, Shot, Stage, open_log
from rig.match import NotKept, ShotRead
from rig.recording import read_frames, read_recording, write_recording
from rig.sequence import Event, State
from twin.chip import ResetCause


def pictures_of(shot: Shot) -> list[int]:
    """The times of the pictures in a shot's recording, all of which can be read."""
    assert shot.recording_path is not None
    recording = read_recording(Path(shot.recording_path))
    assert len(list(read_frames(Path(shot.recording_path), recording))) == len(recording.timestamps_us)
    return list(recording.timestamps_us)


def when_fired(rig: OpenRig, act: Callable[[], object]) -> None:
    """Do something as soon as the controller knows that the shot left."""
    on_change = rig.cannon._on_change

    def and_act(change: Change) -> None:
        on_change(change)
        if change.state is State.FIRED:
            act()

    rig.cannon._on_change = and_act


@pytest.mark.parametrize(
    ("fault", "after_us"),
    [
        ("\n[[twin.resets]]\nat_us = {at_us}\ncause = 4\n", 3_000),
        ("\n[twin.plant.emergency_stop]\nwire_cut_at_s = {at_s}\n", 18_000),
    ],
    ids=["the solenoid's kick resets the chip", "emergency stop"],
)
def test_a_cannon_that_fails_as_the_shot_leaves_loses_no_picture_of_it(tmp_path, left_us, fault, after_us):
    at_us = left_us + after_us
    with rig_on(tmp_path, fault.format(at_us=at_us, at_s=at_us / 1e6)) as (rig, position):
        with pytest.raises(
            NotKept,
            match=r"^shot 1 was fired, and was not judged: .*; rig judge --settings .*rig.toml 1 reads its recording$",
        ):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert len(rig.twin.shots) == 1
        assert_cannon_is_safe(rig)
    assert shot.fired is Fired.YES
    times_us = pictures_of(shot)
    assert times_us[0] < left_us - 200_000
    assert times_us[-1] > left_us + 300_000
    recorded = shot.entry(Stage.RECORDED)
    assert recorded is not None
    assert recorded.cause == "", "all was at rest in its last picture"
    # The log has it as any shot that was recorded and not judged.
    assert main(["judge", "1", "--settings", str(tmp_path / "rig.toml")]) == 0
    with open_log(Path(rig.settings.log.path)) as log:
        assert log.shot(1).verdict is not None


def test_what_the_muzzle_gate_saw_before_an_emergency_stop_is_in_the_log(tmp_path, left_us):
    fault = f"\n[twin.plant.emergency_stop]\nwire_cut_at_s = {(left_us + 18_000) / 1e6}\n"
    with rig_on(tmp_path, fault) as (rig, position):
        with pytest.raises(NotKept, match=r"shot 1 was fired, and was not judged: .* emergency stop"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
    assert shot.muzzle_gate is not None
    assert shot.muzzle_gate.first_to_second_us is not None


def test_a_camera_that_dies_five_milliseconds_after_the_shot_leaves_what_it_saw(tmp_path, left_us):
    with rig_on(tmp_path, f"\n[twin.camera.faults]\ngone_at_us = {left_us + 5_000}\n") as (rig, position):
        with pytest.raises(NotKept, match="shot 1 was fired, and was not judged: camera twin"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert_cannon_is_safe(rig)
    assert shot.fired is Fired.YES
    assert pictures_of(shot)[-1] > left_us - 20_000
    recorded = shot.entry(Stage.RECORDED)
    assert recorded is not None
    assert "incomplete: camera twin" in recorded.cause


def test_a_trigger_that_a_stop_took_back_before_it_freed_the_lever_makes_no_shot_that_was_fired(tmp_path):
    """The solenoid needs some milliseconds; who believes that the shot left does not look into the muzzle."""
    with rig_on(tmp_path) as (rig, position):
        fire = rig.cannon._fire

        def gone() -> list[Frame]:
            raise CameraGone("camera twin: it stopped giving pictures (unplugged)")

        def and_unplug(token):
            rig.eye.ring.camera.poll = gone
            return fire(token)

        rig.cannon._fire = and_unplug
        with pytest.raises(
            NotKept,
            match=r"^shot 1 may have been fired, and was not judged: camera twin: .* \(unplugged\); "
            r"treat the cannon as loaded until you have looked; look at the table for who fell$",
        ):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert rig.twin.shots == []
        assert_cannon_is_safe(rig)
    assert shot.fired is Fired.UNCERTAIN


def test_a_chip_that_restarts_once_the_shot_was_seen_changes_nothing_of_when_it_left(tmp_path, left_us):
    """Its clock begins anew, and the shot was timed on the old one."""
    with rig_on(tmp_path) as (rig, position):
        recover = rig.cannon._recover

        def reset_and_recover(event: Event, cause: str = "") -> Exception | None:
            if event is Event.SHOT_SEEN:
                rig.twin.chip.reset(ResetCause.BROWN_OUT)
            return recover(event, cause)

        rig.cannon._recover = reset_and_recover
        done = rig.match.shoot(order(rig, position))
        assert_cannon_is_safe(rig)
    assert done.fired.left_us == pytest.approx(left_us, abs=2_000)
    assert done.analysis is not None


def test_a_line_that_falls_silent_after_the_fire_command_loses_no_picture(tmp_path, left_us):
    with rig_on(tmp_path) as (rig, position):
        fire = rig.cannon._fire
        port = rig.cannon.link._port

        def and_cut(token):
            write, written = port.write, []

            def once(data: bytes) -> None:
                write(data)
                written.append(data)
                port.read = lambda timeout_us: (rig.twin.run_for(timeout_us), b"")[1]

            port.write = once
            return fire(token)

        rig.cannon._fire = and_cut
        camera = rig.eye.ring.camera
        poll = camera.poll
        # As the real camera's: what nobody asks for in time is lost, the oldest first.
        camera.poll = lambda: [each for each in poll() if each.timestamp_us > rig.match._now() - 2_000_000]
        with pytest.raises(
            NotKept, match=r"shot 1 may have been fired, and was not judged: .* did not answer"
        ):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert len(rig.twin.shots) == 1
    assert shot.fired is Fired.UNCERTAIN
    assert pictures_of(shot)[0] < left_us - 200_000
    assert pictures_of(shot)[-1] > left_us + 300_000


def unplug_at(rig: OpenRig, at_us: int) -> None:
    """From that moment on the cannon's port is gone; the camera has a cable of its own."""
    port = rig.cannon.link._port
    read, write = port.read, port.write

    def must_be_there() -> None:
        if rig.twin.now_us >= at_us:
            raise PortGone("/dev/ttyACM0", "it has vanished")

    def and_read(timeout_us: int) -> bytes:
        must_be_there()
        return read(min(timeout_us, at_us - rig.twin.now_us))

    def and_write(data: bytes) -> None:
        must_be_there()
        write(data)

    port.read, port.write = and_read, and_write


def test_a_shot_is_filmed_to_its_end_though_the_cannons_port_vanishes_with_it(tmp_path, left_us):
    """As where the solenoid's kick throws the USB bus off."""
    with rig_on(tmp_path) as (rig, position):
        unplug_at(rig, left_us)
        with pytest.raises(NotKept, match=r"shot 1 was fired, .* it has vanished; rig judge .* 1 reads"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
    assert pictures_of(shot)[-1] > left_us + 300_000
    recorded = shot.entry(Stage.RECORDED)
    assert recorded is not None
    assert recorded.cause == ""


def test_a_shot_is_judged_and_told_though_the_cannons_port_vanishes_in_its_flight(tmp_path, left_us):
    told: list[ShotRead] = []
    with rig_on(tmp_path) as (rig, position):
        unplug_at(rig, left_us + 300_000)
        with pytest.raises(PortGone):
            rig.match.shoot(order(rig, position), told.append)
        (shot,) = rig.log.shots()
    assert shot.verdict is not None
    assert shot.entry(Stage.ABORTED) is None
    assert [read.shot_id for read in told] == [1]
    assert pictures_of(shot)


def test_a_log_that_is_busy_as_the_shot_leaves_says_where_its_recording_is(tmp_path, left_us, monkeypatch):
    monkeypatch.setattr("rig.log._sqlite._BUSY_TIMEOUT_S", 0.5)  # it stays busy, however long one waits
    with rig_on(tmp_path) as (rig, position):
        other = sqlite3.connect(rig.settings.log.path, isolation_level=None)
        when_fired(rig, lambda: other.execute("BEGIN IMMEDIATE"))
        with pytest.raises(NotKept, match=r"its recording is whole in .*shot-00001.*rig judge .* 1"):
            rig.match.shoot(order(rig, position))
        other.rollback()
        other.close()
    folder = Path(rig.settings.log.recordings) / "shot-00001"
    assert read_recording(folder).timestamps_us[-1] > left_us + 300_000


def test_a_log_that_fails_as_the_shot_leaves_and_cannot_be_read_hides_no_shot(tmp_path):
    def fails(*_: object, **__: object) -> None:
        raise LogError("rig-log.sqlite: the disk did not take it (disk I/O error)")

    with rig_on(tmp_path) as (rig, position):
        shot, reached = rig.log.shot, rig.log.reached

        def reached_until_fired(shot_id: int, stage: Stage, **told: int) -> None:
            if stage is Stage.FIRED:
                rig.log.shot = fails
                fails()
            reached(shot_id, stage, **told)

        rig.log.reached = reached_until_fired
        with pytest.raises(
            NotKept, match=r"shot 1 was fired, and was not judged: .*I/O error\); look at the table"
        ):
            rig.match.shoot(order(rig, position))
        rig.log.shot = shot
        assert len(rig.twin.shots) == 1


def test_ctrl_c_as_the_shot_leaves_ends_the_rig_once_it_is_judged_and_recorded(tmp_path, ctrl_c):
    with rig_on(tmp_path) as (rig, position):
        when_fired(rig, lambda: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert_cannon_is_safe(rig)
    assert shot.entry(Stage.ABORTED) is None
    assert shot.verdict is not None
    assert pictures_of(shot)


def test_ctrl_c_while_a_shot_is_recorded_does_not_hide_where(tmp_path, monkeypatch, capsys, ctrl_c):
    def interrupted(*recording):
        signal.raise_signal(signal.SIGINT)
        write_recording(*recording)

    monkeypatch.setattr("rig.match.write_recording", interrupted)
    monkeypatch.chdir(tmp_path)
    Path("rig.toml").write_text(SMALL_TWIN.format(seed=3), encoding="utf-8")
    assert main(["shoot", "G-61"]) == 130
    told = capsys.readouterr()
    assert told.out.splitlines()[-1] == "recorded in recordings/shot-00001"
    assert told.err == "rig: stopped\n"
    read_recording(Path("recordings/shot-00001"))


@pytest.mark.parametrize("moment", [Stage.ARMED, Stage.ASKED], ids=["armed", "on record as asked for"])
def test_ctrl_c_before_the_fire_command_fires_nothing_and_the_log_knows_it(tmp_path, ctrl_c, moment):
    with rig_on(tmp_path) as (rig, position):
        reached = rig.log.reached

        def and_interrupt(shot_id, stage, **told):
            reached(shot_id, stage, **told)
            if stage is moment:
                signal.raise_signal(signal.SIGINT)

        rig.log.reached = and_interrupt
        with pytest.raises(KeyboardInterrupt):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert rig.twin.shots == []
        assert_cannon_is_safe(rig)
    assert shot.fired is Fired.NO


@pytest.mark.parametrize(
    "closed", [OSError(5, "Input/output error"), SystemExit(1)], ids=["terminal", "pipe"]
)
def test_where_nobody_listens_any_more_a_shot_is_judged_and_recorded(tmp_path, closed):
    heard: list[str] = []

    def listen(words: str) -> None:
        heard.append(words)
        if "watching" in heard:
            raise closed

    with rig_on(tmp_path) as (rig, position):
        rig.match._progress = listen
        with pytest.raises(type(closed)):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
    assert {"watching", "reading the shot", "recording"} <= set(heard)
    assert shot.entry(Stage.ABORTED) is None
    assert shot.verdict is not None
    assert pictures_of(shot)

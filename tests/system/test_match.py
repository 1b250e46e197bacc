"""One shot on the twin, step by step, and what is left of it where something dies on the way."""

import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from one_shot import order, rig_on

from game.montecassino import Option, Square
from rig.camera import Camera, CameraError, Frame
from rig.cannon import CannonError
from rig.cli.arguments.orders import zone_of
from rig.cli.opening.rig import OpenRig
from rig.eye import BoardNotSeen
from rig.link.errors import LinkError
from rig.log import Doubt, Fired, LogError, Stage, Verdict, open_log
from rig.match import NotKept, PositionDiffers, ShotRead
from rig.recording import RecordingError, read_frames, read_recording
from rig.sequence import State
from vision.rest import Stillness


def take_a_soldier_away_with_loading(rig: OpenRig) -> None:
    """A soldier that is gone once the cannon is loaded stands for whatever changes over the table."""
    load = rig.hands.load

    def load_and_take_a_soldier_away() -> None:
        load()
        rig.twin.table.remove(Square.parse("A-58"))

    rig.hands.load = load_and_take_a_soldier_away  # type: ignore[method-assign]


def assert_cannon_is_safe(rig: OpenRig) -> None:
    twin = rig.twin
    assert twin is not None
    lever, forward_s = twin.plant.lever, 0
    for _ in range(60):  # the controller is silent; whatever is due, the firmware does by itself
        twin.run_for(1_000_000)
        forward_s = forward_s + 1 if lever.position_mm < 0.1 else 0
        if forward_s == 3:
            break
    assert not lever.held, "a lever left drawn must be let down by the firmware"
    assert forward_s == 3, f"the lever stands at {lever.position_mm:.1f} mm"


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (KeyboardInterrupt, "Ctrl-C, or asked to end"),
        (typer.Abort, "Ctrl-C at a question, or nobody there to answer it"),
        (BrokenPipeError, "what the rig says was read no further"),
    ],
)
def test_a_session_that_a_person_ended_says_so(tmp_path, ending, told):
    with pytest.raises(ending), rig_on(tmp_path):
        raise ending
    with open_log(tmp_path / "rig-log.sqlite", create=False) as log:
        (session,) = log.sessions()
    assert session.end_cause == told


def test_a_shot_goes_through_every_stage_and_is_recorded_and_judged(tmp_path, capsys):
    told: list[tuple[ShotRead, Stage]] = []
    with rig_on(tmp_path, seed=2) as (
        rig,
        position,
    ):  # one soldier falls, and plainly: no doubt is left to decide
        camera = rig.settings.camera.model_copy(
            update={"delay_us": 7_000, "distortion": (-0.001, 0.0, 0.0, 0.0, 0.0)}
        )
        rig.match.settings = rig.settings.model_copy(update={"camera": camera})
        done = rig.match.shoot(
            order(rig, position), lambda read: told.append((read, rig.log.shot(read.shot_id).stage))
        )
        shot = rig.log.shot(done.shot_id)
        assert_cannon_is_safe(rig)
        (fired,) = rig.twin.shots
        true_speed_mps, truly_left_us = fired.speed_mps, fired.exit_cycle / 16
    assert capsys.readouterr().err == "", "of a shot that left nothing is told of the muzzle"
    assert [entry.stage for entry in shot.history][:11] == [
        Stage.PLANNED,
        Stage.AIMED,
        Stage.COCKED,
        Stage.LOADED,
        Stage.ARMED,
        Stage.ASKED,
        Stage.FIRED,
        Stage.SEEN,
        Stage.ANALYSED,
        Stage.JUDGED,
        Stage.DECIDED,
    ]
    # The verdict is told from memory: it is on record by then, the pictures need not be.
    ((read, stage),) = told
    assert stage is Stage.DECIDED
    assert shot.entry(Stage.RECORDED) is not None
    assert shot.stage is Stage.DECIDED
    assert read.analysis is done.analysis
    assert shot.fired is Fired.YES
    assert shot.muzzle_gate is not None
    assert shot.muzzle_gate.muzzle_speed_mps == pytest.approx(true_speed_mps, rel=0.005)
    assert shot.muzzle_gate.release_to_first_us == done.fired.left_us - done.fired.released_us
    # Where the cannon pointed, within its play.
    assert shot.aim is not None
    assert shot.aim.traverse_mm == pytest.approx(fired.aim.traverse_mm, abs=0.5)
    assert shot.aim.azimuth_rad == pytest.approx(fired.aim.azimuth_rad, abs=0.005)
    assert shot.aim.elevation_rad == pytest.approx(fired.aim.elevation_rad, abs=0.005)
    recording = read_recording(done.folder)
    assert recording.position == position
    # The shot is looked for from when it left, not from the trigger: the lever takes some 10 ms.
    assert done.fired.left_us is not None
    assert recording.keys.fire_us == done.fired.left_us > done.fired.released_us
    assert recording.keys.fire_us == pytest.approx(truly_left_us, abs=100)
    assert recording.timestamps_us[0] < recording.keys.fire_us < recording.timestamps_us[-1]
    # What is known beforehand is told to whoever reads it again, as the settings have it.
    scene, lens, board = recording.scene, camera, rig.settings.board
    assert (scene.exposure_us, scene.intrinsics, scene.distortion) == (
        1000,
        lens.intrinsics_px,
        lens.distortion,
    )
    assert scene.markers is not None
    assert (scene.markers.dictionary, scene.markers.size_mm) == (
        board.marker_dictionary,
        board.marker_size_mm,
    )
    assert (recording.zone, recording.option) == (zone_of(rig.settings, position.turn), Option.I)
    assert scene.muzzle_mm == pytest.approx(done.aimed.muzzle_mm, abs=0.01)
    # What was taken off the pictures' times: whoever learns from the recording how late they come adds it.
    assert recording.keys.camera.delay_us == 7_000


def test_a_table_that_stands_otherwise_than_the_position_says_is_not_fired_at(tmp_path):
    with rig_on(tmp_path) as (rig, position):
        rig.twin.table.remove(Square.parse("G-53"))
        with pytest.raises(PositionDiffers, match="G-53"):
            rig.match.shoot(order(rig, position))
        assert rig.log.shots() == ()
        assert rig.twin.shots == []


@pytest.mark.parametrize("position_told", [True, False])
def test_a_board_of_which_a_part_is_outside_the_picture_is_not_fired_at(tmp_path, position_told):
    """Its ruling would be held; nor is a position taken from it."""
    with rig_on(tmp_path, "camera.pose.aim_mm = [180.0, 100.0]\n") as (rig, position):
        with pytest.raises(
            BoardNotSeen, match=r"^camera twin: part of the board is outside the picture, G01-G"
        ):
            if position_told:
                rig.match.shoot(order(rig, position))
            else:
                rig.match.read_position(position)
        assert rig.log.shots() == ()
        assert rig.twin.shots == []


def test_a_hand_over_the_table_stops_the_shot_and_nobody_is_left_to_think_that_the_muzzle_is_empty(
    tmp_path, capsys
):
    """What sits in it goes with whatever is ordered next, without anybody being asked to load."""
    with rig_on(tmp_path) as (rig, position):
        take_a_soldier_away_with_loading(rig)
        with pytest.raises(CannonError, match="the lane is not clear: the soldier on A-58 fell"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert shot.stage is Stage.ABORTED
        assert shot.fired is Fired.NO
        assert rig.twin.shots == []
        # The room for its pictures is left to the next one.
        rig.cannon.wait(5_000_000)
        assert len(rig.eye.pictures()) == 3
        assert len(rig.eye.ring.newest(10_000)) < 60
        assert_cannon_is_safe(rig)
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(
        "rig: a shot is still seated in the muzzle: take it out, from the side, or the next one"
    )


def test_a_shot_that_is_stopped_at_once_is_not_taken_for_the_one_before_it(tmp_path):
    with rig_on(tmp_path) as (rig, position):
        done = rig.match.shoot(order(rig, position))
        assert done.verdict.after is not None
        rig.hands.set_up(done.verdict.casualties, done.verdict.put_back)
        after = replace(done.verdict.after, turn=position.turn)
        in_the_way = Path(rig.settings.log.recordings) / "shot-00002" / "recording.json"
        in_the_way.parent.mkdir()
        in_the_way.write_text("of another log")
        with pytest.raises(RecordingError, match=r"shot-00002.*a recording is never overwritten"):
            rig.match.shoot(order(rig, after))
        _, shot = rig.log.shots()
    assert (shot.stage, shot.fired) == (Stage.ABORTED, Fired.NO)


class Dimmed:
    """A camera in a light so dim that it gives but every eighth picture."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._given = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._camera, name)

    def poll(self) -> list[Frame]:
        frames = self._camera.poll()
        first, self._given = -self._given % 8, self._given + len(frames)
        return frames[first::8]


def test_a_light_that_fails_while_the_cannon_is_loaded_stops_the_shot(tmp_path):
    with rig_on(tmp_path) as (rig, position):
        load = rig.hands.load

        def load_in_the_dark() -> None:
            rig.eye.ring.camera = Dimmed(rig.eye.ring.camera)
            rig.cannon.wait(1_500_000)
            load()

        rig.hands.load = load_in_the_dark  # type: ignore[method-assign]
        with pytest.raises(CameraError, match=r"7\.5 pictures a second come, and at least 8\.6 are needed"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert Stage.LOADED in {entry.stage for entry in shot.history}
        assert (shot.stage, shot.fired) == (Stage.ABORTED, Fired.NO)
        assert rig.twin.shots == []
        assert_cannon_is_safe(rig)


def test_a_camera_that_dies_in_the_flight_loses_no_shot(tmp_path, left_us):
    with rig_on(tmp_path, f"\n[twin.camera.faults]\ngone_at_us = {left_us + 100_000}\n") as (rig, position):
        with pytest.raises(
            NotKept,
            match=r"^shot 1 was fired, and was not judged: camera twin: .*; look at the table for who fell$",
        ) as error:
            rig.match.shoot(order(rig, position))
        assert isinstance(error.value.__cause__, CameraError)
        (shot,) = rig.log.shots()
        assert len(rig.twin.shots) == 1
        assert_cannon_is_safe(rig)
    assert shot.fired is Fired.YES
    recorded = shot.entry(Stage.RECORDED)
    assert recorded is not None
    assert "incomplete: camera twin" in recorded.cause
    assert shot.recording_path is not None
    assert len(read_recording(Path(shot.recording_path)).timestamps_us) > 6


@pytest.mark.parametrize(
    ("misbehaviour", "said"),
    [
        (
            "\n[twin.plant.loader]\njams = [1]\n[cannon]\nloader = true\n",
            "loader gave no shot",
        ),
        ("\n[twin.plant.emergency_stop]\nwire_cut_at_s = 3.0\n", "emergency stop"),
        ("\n[twin.plant.arming_key]\nwire_cut_at_s = 3.0\n", "key"),
        ("\n[twin.plant.lane_clear]\nwire_cut_at_s = 3.0\n", "lane is not clear"),
    ],
    ids=["jammed loader", "emergency stop", "key wire", "lane wire"],
)
def test_a_fault_of_the_cannon_stops_the_shot_and_says_why(tmp_path, misbehaviour, said):
    with rig_on(tmp_path, misbehaviour) as (rig, position):
        with pytest.raises((CannonError, LinkError), match=said):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert said in shot.history[-1].cause
        assert len(rig.twin.shots) == 0
        assert_cannon_is_safe(rig)


def test_a_lever_that_an_emergency_stop_left_drawn_is_let_down_before_the_next_shot(tmp_path):
    with rig_on(tmp_path) as (rig, position):
        hands = rig.twin.hands
        load = rig.hands.load

        def press_instead_of_loading() -> None:
            hands.press_estop()

        rig.hands.load = press_instead_of_loading  # type: ignore[method-assign]
        with pytest.raises(CannonError, match="emergency stop"):
            rig.match.shoot(order(rig, position))
        assert rig.twin.plant.lever.held
        hands.release_estop()
        hands.turn_key(False)
        rig.cannon.wait(200_000)
        hands.turn_key(True)
        rig.cannon.wait(200_000)
        rig.hands.load = load  # type: ignore[method-assign]
        done = rig.match.shoot(order(rig, position))
        assert rig.log.shot(done.shot_id).fired is Fired.YES
        assert len(rig.twin.shots) == 1


def test_nobody_is_left_to_think_that_the_lever_is_forward_while_it_is_drawn(tmp_path, capsys):
    """README, Safety: if the rig says that it could not let the lever down, see to it at once."""
    with pytest.raises(CannonError, match="emergency stop"), rig_on(tmp_path) as (rig, position):
        rig.hands.load = rig.twin.hands.press_estop  # type: ignore[method-assign]
        rig.match.shoot(order(rig, position))
    assert capsys.readouterr().err == (
        "rig: the lever is still drawn: nobody before the muzzle, hands away; within 30 s the cannon lets it down by itself, "
        "and where it does not, ease it by hand, from behind\n"
    )
    with open_log(tmp_path / "rig-log.sqlite", create=False) as log:
        assert log.shots()[0].history[-1].cause.endswith("; the lever is still drawn")
        assert log.sessions()[0].end_cause.endswith("; the lever is still drawn")


def test_a_shot_that_stays_in_the_muzzle_though_its_trigger_was_pulled_is_told(tmp_path, capsys):
    """The solenoid does not free the lever: what left nowhere goes with whatever is ordered next."""
    fault = "\n[twin.plant.lever]\nsolenoid_works = false\n"
    with rig_on(tmp_path, fault) as (rig, position):
        with pytest.raises(CannonError, match="no shot passed the muzzle gate"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert "no shot passed the muzzle gate" in shot.history[-1].cause
        assert rig.twin.shots == []
        assert_cannon_is_safe(rig)
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("rig: a shot is still seated in the muzzle: take it out, from the side")


def test_a_lever_that_is_drawn_when_something_else_fails_is_let_down_before_anybody_is_told(tmp_path):
    """README, Safety: never leave it cocked. Here it is the log that fails, of which the cannon knows nothing."""
    with rig_on(tmp_path) as (rig, position):
        reached = rig.log.reached

        def until_cocked(shot_id: int, stage: Stage, **told: int) -> None:
            if stage is Stage.COCKED:
                assert rig.twin.plant.lever.held
                raise LogError("rig-log.sqlite: the disk did not take it (disk I/O error)")
            reached(shot_id, stage, **told)

        rig.log.reached = until_cocked
        with pytest.raises(LogError, match=r"^nothing was fired: rig-log\.sqlite: .* \(disk I/O error\)$"):
            rig.match.shoot(order(rig, position))
        assert rig.cannon.state is State.SAFE
        assert not rig.twin.plant.lever.held
        assert rig.twin.plant.lever.position_mm < 0.1
        (shot,) = rig.log.shots()
    assert (shot.stage, shot.fired) == (Stage.ABORTED, Fired.NO)


def test_a_shot_that_the_log_does_not_take_is_not_fired_and_says_so(tmp_path):
    def fails(*_: object, **__: object) -> int:
        raise LogError("rig-log.sqlite: the disk did not take it (disk I/O error)")

    with rig_on(tmp_path) as (rig, position):
        rig.log.begin_shot = fails
        with pytest.raises(LogError, match=r"^nothing was fired: rig-log\.sqlite: "):
            rig.match.shoot(order(rig, position))
        assert rig.twin.shots == []


def test_a_shot_that_no_recording_could_keep_is_not_fired(tmp_path):
    with rig_on(tmp_path) as (rig, position):
        camera = rig.settings.camera.model_copy(
            update={"exposure_us": 900_000}
        )  # of a camera that turned out faster
        rig.match.settings = rig.settings.model_copy(update={"camera": camera})
        with pytest.raises(RecordingError, match=r"camera\.exposure_us: found 900000, expected at most"):
            rig.match.shoot(order(rig, position))
        assert not rig.twin.shots
        assert_cannon_is_safe(rig)


def test_no_shot_begins_whose_grainy_pictures_the_disk_has_no_room_for(tmp_path, monkeypatch):
    """Pictures that find no room once the shot was fired are lost."""
    free = shutil.disk_usage(tmp_path)._replace(free=5_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: free)
    clear, grainy = tmp_path / "clear", tmp_path / "grainy"
    clear.mkdir()
    with rig_on(clear) as (rig, position):
        size = sum(path.stat().st_size for path in rig.match.shoot(order(rig, position)).folder.iterdir())
    assert size < 5_000_000
    grainy.mkdir()
    with rig_on(grainy, "\n[twin.camera.sensor]\nnoise = 5.0\n") as (rig, position):
        with pytest.raises(RecordingError, match=r"its disk has 5\.0 MB left, and a shot takes up to .* MB"):
            rig.match.shoot(order(rig, position))
        assert rig.log.shots() == ()
        assert rig.cannon.state is State.SAFE


def test_an_emergency_stop_just_before_the_fire_command_is_on_record_as_a_shot_that_stayed(tmp_path):
    """The log has it by then that fire is asked for; that the cannon would not is known all the same."""
    with rig_on(tmp_path) as (rig, position):
        reached = rig.log.reached

        def and_press(shot_id, stage, **told):
            reached(shot_id, stage, **told)
            if stage is Stage.ASKED:
                rig.twin.hands.press_estop()
                rig.twin.run_for(20_000)

        rig.log.reached = and_press
        with pytest.raises(CannonError, match="emergency stop"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert not rig.twin.shots
    assert (shot.stage, shot.fired) == (Stage.ABORTED, Fired.NO)
    assert shot.recording_path is None


def test_a_shot_that_cannot_be_read_is_recorded_whole(tmp_path, monkeypatch):
    def unreadable(folder: Path, *rest: object) -> None:
        raise RecordingError(folder, "nothing can be made of it")

    monkeypatch.setattr("rig.verdict.reading_ahead.analyse_pictures", unreadable)
    with rig_on(tmp_path) as (rig, position):
        with pytest.raises(NotKept, match=r"shot 1 was fired, .*nothing can be made of it; rig judge .* 1"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
        assert_cannon_is_safe(rig)
    recorded = shot.entry(Stage.RECORDED)
    assert recorded is not None
    assert recorded.cause == ""
    assert shot.stage is Stage.ABORTED
    assert shot.recording_path is not None
    folder = Path(shot.recording_path)
    recording = read_recording(folder)
    assert len(list(read_frames(folder, recording))) == len(recording.timestamps_us) > 20


def test_a_verdict_that_waits_for_its_commander_is_not_given_up_where_no_recording_can_be_kept(
    tmp_path, monkeypatch
):
    doubt = Doubt(square="G-61", between=("direct", "ricochet"), commander="G")

    def full(folder: Path, *_: object) -> None:
        raise RecordingError(folder, "cannot be written: No space left on device")

    with rig_on(tmp_path) as (rig, position):
        analysed = rig.log.analysed
        rig.log.analysed = lambda shot_id, read, **told: analysed(
            shot_id, read, **told | {"verdict": Verdict(doubts=(doubt,))}
        )
        monkeypatch.setattr("rig.match.write_recording", full)
        with pytest.raises(NotKept, match=r"its verdict is in the log; its recording cannot be kept"):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
    assert shot.stage is Stage.JUDGED
    assert [each.square for each in shot.pending] == ["G-61"]


def test_a_verdict_that_nobody_hears_is_on_record(tmp_path):
    def closed(read: ShotRead) -> None:
        raise BrokenPipeError

    with rig_on(tmp_path) as (rig, position):
        with pytest.raises(BrokenPipeError):
            rig.match.shoot(order(rig, position), closed)
        (shot,) = rig.log.shots()
    assert shot.entry(Stage.JUDGED) is not None
    assert shot.entry(Stage.ABORTED) is None


def test_a_shot_that_was_given_up_with_its_closed_pipe_says_so(tmp_path):
    """`rig shoot G-20 | head -3`: rich, which tells how far the shot is, ends the program by a bare number then."""
    with rig_on(tmp_path) as (rig, position):

        def closed(words: str) -> None:
            if words == "homing":
                raise SystemExit(1)

        rig.match._progress = closed
        with pytest.raises(SystemExit):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
    assert shot.history[-1].cause == "what the rig says was read no further"


def test_somebody_who_ends_the_program_in_the_flight_loses_no_pictures(tmp_path, monkeypatch):
    with rig_on(tmp_path) as (rig, position):
        follow = rig.eye.follow

        def ended_half_way(released_us: int, longest_us: int) -> Iterator[tuple[int, Stillness]]:
            yield from (told for told in follow(released_us, 200_000) if told[1] is not Stillness.REST)
            raise KeyboardInterrupt

        monkeypatch.setattr(rig.eye, "follow", ended_half_way)
        with pytest.raises(KeyboardInterrupt):
            rig.match.shoot(order(rig, position))
        (shot,) = rig.log.shots()
    assert shot.fired is Fired.YES
    recorded = shot.entry(Stage.RECORDED)
    assert recorded is not None
    assert recorded.cause == "incomplete: asked to end"
    assert shot.recording_path is not None
    assert len(read_recording(Path(shot.recording_path)).timestamps_us) > 20


def test_somebody_who_ends_the_program_once_the_verdict_is_told_loses_nothing(tmp_path, ctrl_c):
    told: list[ShotRead] = []

    def tell(read: ShotRead) -> None:
        told.append(read)
        signal.raise_signal(signal.SIGINT)

    with rig_on(tmp_path) as (rig, position):
        with pytest.raises(KeyboardInterrupt):
            rig.match.shoot(order(rig, position), tell)
        (shot,) = rig.log.shots()
        assert_cannon_is_safe(rig)
    assert shot.entry(Stage.ABORTED) is None
    assert shot.verdict is not None
    (read,) = told
    assert set(shot.verdict.casualties) == {str(square) for square in read.analysis.verdict.casualties}
    assert shot.recording_path is not None
    recording = read_recording(Path(shot.recording_path))
    assert len(list(read_frames(Path(shot.recording_path), recording))) == len(recording.timestamps_us)

"""Bad input gets one clear message that says what, where, found and expected; exit status not 0; nothing armed."""

import json
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from small_twin import SMALL_TWIN

from rig.cli import main
from rig.link import wire
from rig.link.codec import Decoder, Frame, encode
from rig.link.messages import Arm, Fire, Identify, Identity
from rig.link.transcript import decoded, read_transcript
from rig.log import Fired, open_log


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rig.toml").write_text(SMALL_TWIN.format(seed=1), encoding="utf-8")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must fail; give its one line."""
    status = main(list(arguments))
    errors = capsys.readouterr().err
    assert status not in {0, None}
    assert "Traceback" not in errors
    lines = [line for line in errors.splitlines() if line]
    assert len(lines) == 1, errors
    return lines[0]


def nothing_was_armed() -> bool:
    for path in Path("transcripts").glob("*"):
        for _, item in decoded(read_transcript(path)):
            if isinstance(item, Frame) and isinstance(item.message, Arm | Fire):
                return False
    return True


def test_target_that_is_no_square(capsys):
    assert "'X-99' is not a square" in refused(capsys, "shoot", "X-99")


def test_target_off_the_board(capsys):
    assert "73" in refused(capsys, "shoot", "G-73")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["G-49.2"], "G-49.2 names one of two boards, and the position has one"),
        (["G-49", "--position", "A A30.1 G49.1 0/0 1/1 -"], "the table has one board, and the position two"),
    ],
)
def test_s3_the_table_has_one_board(capsys, arguments, said):
    assert said in refused(capsys, "shoot", *arguments)
    assert nothing_was_armed()


def test_target_out_of_reach_is_told_with_figures_and_nothing_is_armed(capsys):
    line = refused(capsys, "shoot", "A-05")
    assert "A-05 cannot be aimed at" in line
    assert "it needs -21.1 degrees, and the cannon turns from -15.0 to 45.0 degrees" in line
    assert nothing_was_armed()
    assert not Path("rig-log.sqlite").exists()


def test_position_with_faults_names_them_all(capsys):
    line = refused(capsys, "shoot", "G-61", "--position", "A A01,A01 G80 0/0 20/20 -")
    assert "A-01" in line
    assert "80" in line


def test_side_without_a_cannon(capsys):
    line = refused(capsys, "shoot", "G-61", "--side", "B")
    assert "found 'B', expected a side that has a cannon: A or G" in line


def test_side_without_a_shot_left_fires_nothing(capsys):
    line = refused(capsys, "shoot", "G-61", "--position", "A A01-A08 G01-G08,G61 0/0 0/20 -")
    assert "side A has no shot left" in line
    assert nothing_was_armed()


def test_battle_that_is_over_has_no_shots(capsys):
    line = refused(capsys, "shoot", "G-61", "--position", "A A01-A08,G08 G01-G07,G61 0/0 20/20 -")
    assert "the battle is over" in line


def test_folder_of_recordings_that_cannot_be_made_is_told_before_anything_moves(capsys):
    Path("recordings").write_text("in the way", encoding="utf-8")
    line = refused(capsys, "shoot", "G-61")
    assert "log.recordings: found recordings" in line
    assert nothing_was_armed()


@pytest.mark.parametrize("fault", ['[log]\nrecordings = "in the way"', "[twin.plant]\nsprin = 1"])
def test_the_settings_file_that_is_in_use_is_named(capsys, fault):
    Path("in the way").touch()
    Path("cellar.toml").write_text(fault, encoding="utf-8")
    assert refused(capsys, "shoot", "G-61", "-s", "cellar.toml").startswith("rig: cellar.toml: ")
    assert nothing_was_armed()


def test_every_fault_of_a_programme_is_told_a_line_each(capsys):
    Path("plan.toml").write_text("nmae = 1\norder = 'any'\n", encoding="utf-8")
    assert main(["run", "plan.toml"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) >= 3
    assert all(line.startswith("rig: plan.toml: ") for line in errors)


def test_empty_port(capsys):
    assert "--port: found an empty word" in refused(capsys, "shoot", "G-61", "--port", "", "--camera", "0")


@pytest.mark.parametrize(
    ("port", "camera", "said"),
    [
        ("\udcff", "0", r"--port: found '\udcff', which is not UTF-8"),
        ("loop://", "\udcff", r"--camera: found '\udcff', which is not UTF-8"),
        ("loop://", "4294967296", '--camera: found "4294967296", expected a device number up to 9999'),
        ("loop://", "²", "camera ²: there is no such file"),
        ("loop://?logging=bad", None, "port loop://?logging=bad: it cannot be opened"),
    ],
)
def test_port_or_camera_that_can_be_none(capsys, port, camera, said):
    assert said in refused(capsys, "shoot", "G-61", "--port", port, "--camera", camera or clip())


def test_option_that_is_none(capsys):
    assert "expected i, ii or iii" in refused(capsys, "shoot", "G-61", "--option", "iv")


def test_port_that_is_not_there(capsys):
    line = refused(capsys, "shoot", "G-61", "--port", "/dev/ttyNOWHERE", "--camera", clip())
    assert "/dev/ttyNOWHERE" in line


def test_camera_that_is_not_there(capsys):
    line = refused(capsys, "shoot", "G-61", "--port", "loop://", "--camera", "nowhere.mkv")
    assert "nowhere.mkv: there is no such file" in line


def test_port_without_a_camera(capsys):
    assert "--camera" in refused(capsys, "shoot", "G-61", "--port", "loop://")


def test_board_that_does_not_answer(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        line = refused(capsys, "shoot", "G-61", "--port", url, "--camera", clip())
    assert "no cannon answered" in line or "answer" in line


def test_board_with_another_wire_version(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=speak_another_version, args=(server,), daemon=True)
        thread.start()
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        line = refused(capsys, "shoot", "G-61", "--port", url, "--camera", clip())
    assert str(wire.WIRE_VERSION + 1) in line
    assert str(wire.WIRE_VERSION) in line
    thread.join(timeout=5)


def speak_another_version(server: socket.socket) -> None:
    """Answer every identify as a firmware of the next wire version would."""
    connection, _ = server.accept()
    decoder = Decoder()
    with connection:
        while data := connection.recv(256):
            for item in decoder.feed(data):
                if isinstance(item, Frame) and isinstance(item.message, Identify):
                    whole = Identity(
                        wire_version=wire.WIRE_VERSION + 1,
                        firmware_major=9,
                        firmware_minor=0,
                        firmware_patch=0,
                        board=1,
                        reset_cause=1,
                        settings_source=0,
                        settings_crc=0,
                        time_us=0,
                    )
                    code = wire.Command.IDENTIFY + wire.ANSWER_OFFSET
                    connection.sendall(encode(replace(item, code=code, message=whole)))


def clip() -> str:
    """A short film of an empty grey wall: a camera that works and shows no board."""
    path = Path("wall.avi")
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 30.0, (320, 240))
    for _ in range(900):
        writer.write(np.full((240, 320, 3), 120, np.uint8))
    writer.release()
    return str(path)


def test_lens_cap_is_no_board_and_nothing_is_armed(capsys):
    with Path("rig.toml").open("a", encoding="utf-8") as file:
        file.write("\n[twin.camera.faults]\ncap_on_at_us = 0\n")
    line = refused(capsys, "shoot", "G-61")
    assert "lens" in line or "black" in line
    assert nothing_was_armed()


def test_camera_that_dies_while_the_lever_is_drawn_stops_the_shot(capsys):
    with Path("rig.toml").open("a", encoding="utf-8") as file:
        file.write("\n[twin.camera.faults]\ngone_at_us = 3_500_000\n")
    assert "camera twin" in refused(capsys, "shoot", "G-61")
    assert nothing_was_armed()
    with open_log(Path("rig-log.sqlite"), create=False) as log:
        assert [shot.fired for shot in log.shots()] == [Fired.NO]


def test_without_the_firmware_nothing_stands_in_for_it(capsys):
    with Path("rig.toml").open("a", encoding="utf-8") as file:
        file.write('\n[twin.chip]\nelf_path = "gone/cannon-uno.elf"\n')
    line = refused(capsys, "shoot", "G-61")
    assert "gone/cannon-uno.elf" in line
    assert "make firmware" in line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda keys: keys.pop("fire_us"), "fire_us"),
        (lambda keys: keys["camera"].update(width="wide"), "camera.width"),
        (lambda keys: keys.update(timestamps_us=[3, 2, 1]), "timestamps_us"),
        (lambda keys: keys.update(clip="no.mkv"), "no.mkv"),
        (lambda keys: keys.update(format="shot-recording/9"), "shot-recording/1"),
        (lambda keys: keys["camera"].update(intrinsics=[0, 800, 160, 120]), "camera.intrinsics"),
        (lambda keys: keys["board"].update(corners_px=[[5, 5]] * 4), "board.corners_px"),
        (lambda keys: keys["board"].update(square_mm=1e9), "board.square_mm"),
    ],
    ids=[
        "missing key",
        "wrong type",
        "times that fall",
        "no clip",
        "another format",
        "no lens",
        "no board",
        "giant squares",
    ],
)
def test_recording_that_cannot_be_read(capsys, change, said):
    keys = {
        "format": "shot-recording/1",
        "camera": {
            "width": 320,
            "height": 240,
            "fps": 30.0,
            "exposure_us": None,
            "intrinsics": None,
            "distortion": None,
        },
        "clip": "wall.avi",
        "timestamps_us": [0, 33_333, 66_667],
        "fire_us": None,
        "board": {"square_mm": 45.0, "markers": None, "corners_px": [[0, 0], [300, 0], [300, 200], [0, 200]]},
        "cannon": {"side": "A", "muzzle_mm": None},
        "position": None,
        "zone": "G25-G72",
        "option": "i",
    }
    change(keys)
    Path("shot").mkdir()
    Path("shot/recording.json").write_text(json.dumps(keys), encoding="utf-8")
    assert said in refused(capsys, "analyse", "shot")


def test_recording_without_a_folder(capsys):
    assert "nowhere" in refused(capsys, "analyse", "nowhere", "--json")


@pytest.mark.parametrize("asked", [["--help"], ["game", "show", "A A01-A24 G01-G24 0/0 20/20 -"]])
def test_standard_output_on_a_full_disk(asked):
    rig = Path(sys.executable).with_name("rig")
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run([rig, *asked], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "rig: could not write: No space left on device\n"

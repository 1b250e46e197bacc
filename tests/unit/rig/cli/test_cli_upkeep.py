"""The commands that look after the cannon, on the twin: what they say, and that none of them ever arms or fires."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_answer import Answer, Rig, one_line
from served_table import served
from table_top import TableTop

from rig.cannon import Cannon
from rig.cli import main
from rig.cli.terminal.answers import Answers
from rig.link import wire
from rig.link.codec import Frame
from rig.link.errors import LinkLost
from rig.link.link import Link
from rig.link.messages import (
    Arm,
    Cock,
    Configure,
    Fire,
    InputChanged,
    LetDown,
    Load,
    Message,
    Move,
    SaveSettings,
    Service,
    StateChanged,
)
from rig.link.transcript import decoded, follow_transcript, read_transcript
from rig.settings import read_settings

ROOT = Path(__file__).parents[4]
TWIN = """
[game]
position = "A A01-A08 G01-G08 0/0 20/20 -"

[camera]
width_px = 640
height_px = 360
fps = 60.0
exposure_us = 1000
intrinsics_px = [780.0, 780.0, 319.5, 179.5]

[twin]
seed = 1
"""


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Rig]:
    """Run `rig` in a folder with a small twin, with lines typed; at the end, nothing in any transcript armed."""
    monkeypatch.chdir(tmp_path)
    Path("rig.toml").write_text(TWIN)

    def run(*words: str, typed: str = "", twin: str = "") -> Answer:
        if twin:
            Path("rig.toml").write_text(f"{TWIN}\n{twin}\n")
        Path("typed").write_text(typed)
        with Path("typed").open() as typing:
            monkeypatch.setattr(sys, "stdin", typing)
            status = main(words)
            # Who listens has it by its number, which the next file may have once this one is closed.
            for thread in threading.enumerate():
                if thread.name == "answers":
                    thread.join()
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    yield run
    assert not [message for message in said(tmp_path) if isinstance(message, Arm | Fire | Load | Cock)]


def said(folder: Path) -> list[Message]:
    """Every message of every transcript."""
    found: list[Message] = []
    for path in sorted((folder / "transcripts").glob("*.transcript")):
        items = [item for _, item in decoded(read_transcript(path))]
        found += [item.message for item in items if isinstance(item, Frame)]
    return found


def ends(folder: Path) -> wire.State:
    """Return the state in which the cannon was left."""
    return [message.state for message in said(folder) if isinstance(message, StateChanged)][-1]


# rig doctor


def test_doctor_tries_everything_that_is_confirmed(rig: Rig, tmp_path: Path) -> None:
    answer = rig("doctor", typed="y\n" * 20)
    assert answer.status == 0, answer.out
    for part in ("clock", "port", "camera rate", "board", "markers", "firmware"):
        assert answer.line(part).startswith("ok"), answer.out
    for part in ("emergency stop", "arming key", "inner gate", "lane"):
        assert "follows the hand" in answer.line(part)
    for part in ("axes", "traverse", "azimuth", "elevation"):
        assert "moved as asked" in answer.line(part)
    assert "came back" in answer.line("draw and latch")
    assert any(isinstance(message, Service) for message in said(tmp_path))


def test_doctor_moves_nothing_that_is_not_confirmed(rig: Rig, tmp_path: Path) -> None:
    answer = rig("doctor")
    assert answer.status == 0
    assert "not confirmed" in answer.line("axes")
    assert not [
        message for message in said(tmp_path) if type(message).__name__ in {"Home", "Move", "Service"}
    ]


def test_a_movement_that_was_not_seen_is_a_fault(rig: Rig) -> None:
    # Four inputs; home and see it; move traverse, and not see it.
    answer = rig("doctor", typed="n\n" * 4 + "y\ny\n" + "y\nn\n")
    assert answer.status == 1
    assert answer.line("traverse").startswith("fault") and "D5" in answer.line("traverse")
    assert "not confirmed" in answer.line("azimuth")


def test_a_line_lost_while_an_input_is_tried_is_no_fault_of_the_firmware(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> bool:
        raise LinkLost("the cannon fell silent")

    monkeypatch.setattr("rig.cli.examining.cannon.CannonExamination._follows", lost)
    answer = rig("doctor", typed="y\n" * 20)
    assert answer.status == 1
    assert answer.line("firmware").startswith("ok")
    assert answer.line("inputs").startswith("fault") and "fell silent" in answer.line("inputs")
    assert "axes" not in answer.out, "nothing is moved"


# Its switch says drawn whatever is done.
STUCK = "[twin.plant.lever_drawn]\nstuck = true"


def test_a_lever_that_cannot_be_let_down_is_no_fault_of_the_firmware(rig: Rig) -> None:
    answer = rig("doctor", typed="y\n" * 20, twin=STUCK)
    assert answer.status == 1
    assert answer.line("firmware").startswith("ok")
    told = answer.line("draw and latch")
    assert told.startswith("fault") and "the lever could not be let down" in told and "by hand" in told
    assert "flash" not in told and "axes" not in answer.out, "nothing more is moved"


def test_a_cannon_whose_lever_cannot_be_let_down_says_so_to_whoever_wants_to_use_it(rig: Rig) -> None:
    rig("doctor", twin=STUCK)  # writes the settings
    answer = rig("service", typed="y\n")
    assert answer.status == 1
    warned, why = answer.err.splitlines()
    assert warned.startswith("rig: the lever is still drawn: nobody before the muzzle")
    assert "the lever could not be let down" in why


def test_doctor_without_camera_and_port_still_looks_at_the_rest(rig: Rig) -> None:
    answer = rig("doctor", "--port", "/dev/nowhere", "--camera", "nothing.mp4")
    assert answer.status == 1
    assert answer.line("port").startswith("fault") and "there is no such port" in answer.line("port")
    assert answer.line("camera").startswith("fault") and "no such file" in answer.line("camera")
    assert answer.line("recordings").startswith("ok")


def test_doctor_asks_a_cannon_at_a_serial_port(rig: Rig) -> None:
    with served(TableTop()) as port:
        answer = rig("doctor", "--port", port, "--camera", "nothing.mp4")
    assert answer.status == 1, "the camera is missing"
    assert "version 0.1.0 on host, wire version" in answer.line("firmware")
    assert answer.line("arming key").startswith("warning"), "not tried"
    assert "arming key      on" in answer.out


def test_doctor_asks_for_no_hand_at_the_muzzle_of_a_cannon_that_stays_cocked(rig: Rig) -> None:
    table = TableTop()
    cannon = Cannon(Link(table, table), gate_spacing_mm=20)
    cannon.connect()
    cannon.home()
    cannon.aim(1500, 1500, 1500)
    cannon.cock()
    table.take(wire.Input.ESTOP_OK)
    table.run(600_000)
    with served(table) as port:
        answer = rig("doctor", "--port", port, "--camera", "nothing.mp4", typed="y\n" * 20)
    assert answer.status == 1
    assert "fault    draw and latch  the lever is drawn and could not be let down: " in answer.out
    assert "by hand (" not in answer.out
    assert answer.err.startswith("rig: the lever is still drawn: nobody before the muzzle")


def test_doctor_at_a_port_where_nobody_answers_says_so(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.link.link._IDENTIFY_US", 300_000)
    controller, device = pty.openpty()
    try:
        answer = rig("doctor", "--port", os.ttyname(device), "--camera", "nothing.mp4")
    finally:
        os.close(controller)
        os.close(device)
    assert answer.status == 1
    assert "no cannon answered" in answer.line("firmware") and "rig flash" in answer.line("firmware")


def test_doctor_finds_a_cannon_that_speaks_at_the_other_speed(rig: Rig) -> None:
    Path("rig.toml").write_text(f"[port]\nbaud = 250000\n{TWIN}")
    with served(TableTop(), speed=termios.B115200) as port:
        answer = rig("doctor", "--port", port, "--camera", "nothing.mp4")
    assert answer.status == 1
    said = answer.line("firmware")
    assert said.startswith("fault")
    assert "no cannon answers at 250000 baud, and one does at 115200" in said
    assert "set baud = 115200 under [port] of rig.toml" in said


def test_doctor_without_folders_still_asks_the_cannon(rig: Rig) -> None:
    Path("recordings").write_text("a file")
    Path("transcripts").write_text("a file")
    answer = rig("doctor")
    assert answer.status == 1
    assert answer.line("recordings").startswith("fault") and answer.line("transcripts").startswith("fault")
    assert answer.line("firmware").startswith("ok")


@pytest.mark.skipif(
    not Path("/proc").is_dir(), reason="/proc is a folder that takes no files, root's neither"
)
def test_doctor_with_a_folder_that_takes_no_transcript_still_asks_the_cannon(rig: Rig) -> None:
    answer = rig("doctor", twin='[log]\ntranscripts = "/proc"')
    assert answer.status == 1
    assert answer.line("transcripts").startswith("fault")
    assert answer.line("port").startswith("ok") and answer.line("firmware").startswith("ok")


@pytest.mark.parametrize(
    ("twin", "part", "says"),
    [
        ("plant.emergency_stop.wire_cut_at_s = 1e-2", "emergency stop", "its wire is broken"),
        ("plant.gate.first_stuck = true", "inner gate", "take the shot out"),
        ("camera.faults.cap_on_at_us = 0", "board", "is the lens covered"),
        ("camera.faults.gone_at_us = 0", "camera", "unplugged"),
    ],
)
def test_doctor_names_what_is_wrong_and_what_to_do(rig: Rig, twin: str, part: str, says: str) -> None:
    answer = rig("doctor", twin="[twin." + twin.rpartition(".")[0] + "]\n" + twin.rpartition(".")[2])
    lines = [line for line in answer.out.splitlines() if line[9:].startswith(part)]
    assert not lines[0].startswith("ok") and says in lines[0], answer.out


@pytest.mark.parametrize("option", ["--port", "--camera"])
def test_doctor_with_an_empty_word_is_one_line(rig: Rig, option: str) -> None:
    assert f"{option}: found an empty word" in one_line(rig("doctor", option, ""), 2)


def test_doctor_tells_what_was_learnt_and_cannot_be_used_and_looks_at_the_rest(rig: Rig) -> None:
    Path("recordings").mkdir()
    Path("recordings/uniforms.json").write_text("{")
    answer = rig("doctor", twin='[cannon]\ncalibration = "nowhere.json"')
    assert answer.status == 1
    assert answer.line("calibration").startswith("fault") and "nowhere.json" in answer.line("calibration")
    assert answer.line("uniforms").startswith("fault") and "uniforms.json" in answer.line("uniforms")
    assert answer.line("board").startswith("ok")
    assert answer.line("firmware").startswith("ok")


def test_doctor_with_settings_that_cannot_be_used_says_which(rig: Rig) -> None:
    Path("rig.toml").write_text("[port]\nurl = 7\n")
    answer = rig("doctor")
    assert answer.status == 1
    assert "port.url: found 7" in answer.line("settings")
    assert answer.line("clock").startswith("ok")


def test_the_page_shows_what_doctor_says(rig: Rig) -> None:
    page = (ROOT / "docs/upkeep.md").read_text()
    (shown,) = re.findall(r"^\$ rig doctor\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    said = rig("doctor").out
    for line in shown.splitlines():
        assert line in said


# rig service


def test_service_goes_through_its_steps_and_brings_the_lever_back(rig: Rig, tmp_path: Path) -> None:
    answer = rig("service", typed="y\ny\ny\n")
    assert answer.status == 0
    steps = re.findall(r"(\d) of 4", answer.out)
    assert steps == ["1", "2", "3", "4"]
    assert ends(tmp_path) is wire.State.SAFE
    assert [type(message) for message in said(tmp_path) if isinstance(message, Service | LetDown)] == [
        Service,
        LetDown,
    ]


@pytest.mark.parametrize("typed", ["", "n\n", "y\n", "y\nno\n"])
def test_service_that_is_not_confirmed_draws_nothing(rig: Rig, tmp_path: Path, typed: str) -> None:
    assert "the lever is at rest" in one_line(rig("service", typed=typed), 1)
    assert not [message for message in said(tmp_path) if isinstance(message, Service)]


def test_service_lets_down_where_nobody_is_there_any_more(rig: Rig, tmp_path: Path) -> None:
    assert rig("service", typed="y\ny\n").status == 0
    assert ends(tmp_path) is wire.State.SAFE


def test_service_with_a_shot_in_the_muzzle_is_refused(rig: Rig) -> None:
    answer = rig("service", typed="y\ny\ny\n", twin="[twin.plant.gate]\nfirst_stuck = true")
    assert "sits in the muzzle" in one_line(answer, 1)


def test_ctrl_c_in_service_lets_the_lever_down(rig: Rig, tmp_path: Path) -> None:
    command = "import sys; from rig.cli import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-u", "-c", command, "service"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write("y\ny\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith("3 of 4"):
                break
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == "rig: stopped\n"
    assert ends(tmp_path) is wire.State.SAFE
    levers = [message.inputs for message in said(tmp_path) if isinstance(message, InputChanged)]
    assert any(wire.Input.LEVER_DRAWN in inputs for inputs in levers)
    assert wire.Input.LEVER_DRAWN not in levers[-1]


# rig jog


def test_jog_moves_finds_limits_and_stores_them_among_the_comments(rig: Rig, tmp_path: Path) -> None:
    Path("rig.toml").unlink()
    rig("init")
    before = Path("rig.toml").read_text()
    answer = rig(
        "jog",
        "azimuth",
        "--find-limits",
        typed="-100\n+20\n+\nmin\n2100\nmax\ncentre\n1500\ncentre\nstore\nquit\n",
    )
    assert answer.status == 0
    assert "stored in rig.toml" in answer.out
    changed = [
        (old, new)
        for old, new in zip(before.splitlines(), Path("rig.toml").read_text().splitlines(), strict=True)
        if old != new
    ]
    assert changed == [("min_us = 1000", "min_us = 1440"), ("max_us = 2000", "max_us = 2100")]
    assert read_settings(Path("rig.toml")).cannon.azimuth.max_us == 2100
    given = [message for message in said(tmp_path) if isinstance(message, Configure)]
    last = {message.setting: message.value for message in given}
    assert last[wire.Setting.AZIMUTH_MAX_TICKS] == 4000, "the wide limits are taken back"
    assert ends(tmp_path) is wire.State.SAFE


def test_the_wide_limits_are_never_kept_by_the_chip(rig: Rig, tmp_path: Path) -> None:
    rig("jog", "--find-limits", typed="2300\nquit\n")
    high = wire.SETTING_LIMITS[wire.Setting.TRAVERSE_MAX_TICKS].default
    for message in said(tmp_path):
        if isinstance(message, Configure) and message.setting is wire.Setting.TRAVERSE_MAX_TICKS:
            high = message.value
        assert not (isinstance(message, SaveSettings) and high == 5000)


def test_jog_stays_within_the_limits_of_the_settings(rig: Rig, tmp_path: Path) -> None:
    answer = rig("jog", "elevation", typed="2001\n999\n+99999\n")
    assert answer.status == 0
    assert answer.out.count("elevation stays at 1500 us") == 3
    assert not [message for message in said(tmp_path) if isinstance(message, Move)]


def test_jog_says_what_it_does_not_know_and_goes_on(rig: Rig) -> None:
    answer = rig("jog", typed="up\n\x00\n\nstep 0\nstep 7\n+\nstore\n")
    assert answer.status == 0
    assert "found 'up', expected a line each" in answer.out
    assert "traverse: 1507 us" in answer.out
    assert "nothing to store" in answer.out


def test_jog_does_not_store_settings_that_contradict_each_other(rig: Rig) -> None:
    before = Path("rig.toml").read_text()
    answer = rig("jog", typed="1900\nmin\n1100\nmax\nstore\n")
    assert "not stored: cannon.traverse.max_us: found 1100" in answer.out
    assert Path("rig.toml").read_text() == before
    assert answer.out.endswith(
        "not stored; in rig.toml it would be:\n[cannon.traverse]\nmin_us = 1900\nmax_us = 1100\n"
    )


def test_jog_without_a_settings_file_says_how_to_get_one(rig: Rig) -> None:
    Path("rig.toml").unlink()
    answer = rig("jog", typed="1600\nmax\nstore\n")
    assert "`rig init` writes one" in answer.out
    assert not Path("rig.toml").exists()


def test_jog_knows_three_axes(rig: Rig) -> None:
    assert "expected traverse, azimuth or elevation" in one_line(rig("jog", "draw"), 2)


@pytest.mark.parametrize("command", ["jog", "service"])
def test_no_cannon_at_the_port_is_one_line(rig: Rig, command: str) -> None:
    assert "there is no such port" in one_line(rig(command, "--port", "/dev/nowhere"), 2)
    assert "an empty word" in one_line(rig(command, "--port", ""), 2)


def test_keys_stand_for_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"\x1b[Czq\x1b[A")
    os.close(writing)
    with os.fdopen(reading) as typing:
        monkeypatch.setattr(sys, "stdin", typing)
        answers = Answers(by_keys={"\x1b[C": "+", "q": "quit", "\x1b[A": "coarser"})
        assert [answers.next() for _ in range(4)] == ["+", "quit", "coarser", None]


def test_the_page_shows_what_jog_says(rig: Rig) -> None:
    page = (ROOT / "docs/upkeep.md").read_text()
    (shown,) = re.findall(r"^\$ rig jog azimuth --find-limits\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    said = rig("jog", "azimuth", "--find-limits", typed="1200\nmin\nstore\n").out
    assert shown in said.partition("help\n")[2]


@pytest.mark.parametrize("asked", ["help", "?"])
def test_jog_tells_its_words_when_asked_from_a_pipe(rig: Rig, asked: str) -> None:
    assert "found" not in rig("jog", "azimuth", typed=f"{asked}\n").out


# rig monitor

SHOT = ROOT / "docs/examples/shot.transcript"


def test_monitor_tells_what_transcript_tells(rig: Rig) -> None:
    told = rig("transcript", str(SHOT)).out
    assert rig("monitor", str(SHOT), "--quiet", "0", "--heartbeats").out == told
    fewer = rig("monitor", str(SHOT), "--quiet", "0").out.splitlines()
    assert fewer == [line for line in told.splitlines() if "heartbeat" not in line.partition(":")[0]]


def test_monitor_follows_a_session_that_goes_on(rig: Rig, tmp_path: Path) -> None:
    """Every cut of the file: what is told before it grows and after it is what is told at once."""
    lines = SHOT.read_bytes().splitlines(keepends=True)[:40]
    path = tmp_path / "growing"
    whole = b"".join(lines)
    for cut in range(0, len(whole), 97):
        path.write_bytes(whole[:cut])
        pauses = 0

        def pause(cut: int = cut) -> bool:
            nonlocal pauses
            pauses += 1
            if pauses == 1:
                with path.open("ab") as file:
                    file.write(whole[cut:])
            return pauses < 3

        followed = list(follow_transcript(path, pause))
        assert followed == read_transcript(path)


def test_monitor_follows_the_newest_transcript(rig: Rig) -> None:
    assert "there is no transcript" in one_line(rig("monitor"), 1)
    rig("service")
    newest_s = next(Path("transcripts").iterdir()).stat().st_mtime
    # Neither what was copied there and has a name of its own, nor what a clock that was set back since calls later.
    for name, written_s in (
        ("00000000-older", newest_s - 60),
        ("of-the-fair", newest_s - 60),
        ("99990101-000000-000000", newest_s - 60),
        ("99990102-000000-000000", newest_s + 86_400),
    ):
        path = Path("transcripts") / f"{name}.transcript"
        path.write_text("cannon transcript 1\n")
        os.utime(path, (written_s, written_s))
    answer = rig("monitor", "--quiet", "0")
    assert answer.status == 0 and "answer to identify" in answer.out


@pytest.mark.parametrize("words", [("monitor", "--port", "twin", "--quiet", "0"), ("service",)])
def test_transcripts_that_have_no_folder_are_told_by_their_key(rig: Rig, words: tuple[str, ...]) -> None:
    Path("transcripts").write_text("a file")
    told = (
        "rig.toml: log.transcripts: found transcripts (File exists), expected a folder that can be written to"
    )
    assert told in one_line(rig(*words), 2)


def test_monitor_listens_to_a_cannon_by_itself(rig: Rig) -> None:
    answer = rig("monitor", "--port", "twin", "--quiet", "0.5")
    assert answer.status == 0
    assert "answer to identify" in answer.out and "answer to status: state safe" in answer.out
    assert "heartbeat" not in answer.out


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("nothing",), 2, "nothing: found nothing, expected a transcript"),
        (("transcripts",), 2, "transcripts: found a folder, expected a transcript"),
        (("rig.toml",), 2, "rig.toml: the first line is"),
        (("binary",), 2, "binary: the first line is"),
        (("short",), 2, "short: the first line is"),
        (("rig.toml", "--port", "twin"), 2, "a file or a port, not both"),
        (("--port", "/dev/nowhere"), 2, "there is no such port"),
    ],
)
def test_monitor_of_what_is_no_transcript_is_one_line(
    rig: Rig, words: tuple[str, ...], status: int, says: str
) -> None:
    Path("transcripts").mkdir()
    Path("binary").write_bytes(bytes(range(256)) * 4)
    Path("short").write_bytes(b"cannon trumpet")
    answer = rig("monitor", *words, "--quiet", "0")
    assert answer.status == status
    assert says in answer.err and "Traceback" not in answer.err

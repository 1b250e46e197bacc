"""`rig twin` in another process, reached as real hardware is: one whole shot over a serial port and a camera's URL."""

import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_twin import SMALL_TWIN

from game.montecassino import Option, Position, Square, parse_squares
from rig.camera import CameraError, OpenCvCamera
from rig.cannon import CannonError
from rig.cli import main
from rig.cli.opening.rig import open_rig
from rig.cli.opening.twin_table import twin_faults
from rig.hands import PromptedHands
from rig.link.errors import LinkError
from rig.link.transcript import read_transcript, tell
from rig.log import Fired, Stage, open_log
from rig.match import NotKept, Order, ShotDone
from rig.recording import read_recording
from rig.settings import Camera, Log, Port, Settings, parse_settings
from twin.chip import FIRMWARE_PATH

pytestmark = pytest.mark.skipif(
    not FIRMWARE_PATH.is_file(), reason=f"{FIRMWARE_PATH} is not there; `make firmware` builds it"
)

POSITION = Position.parse("A A01-A08,A17 G01-G08,G53,G61 0/0 20/20 -")
TRIES = 3
"""A machine that is busy with other tests may starve stream or line for a moment; then the rig stops the shot, rightly."""
SET_UP_AGAIN_S = 8.0
"""The attendant has seen to the table by then."""

RIG_TOML = f"""
[game]
position = "{POSITION}"

[twin.camera]
fps = 20.0
"""


@dataclass(frozen=True, slots=True)
class Served:
    port: str
    camera_url: str
    said: list[str]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "rig.toml").write_text(RIG_TOML, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from rig.cli import main; sys.exit(main())", "twin"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert process.stdout is not None
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    said: list[str] = []
    try:
        while not said or not said[-1].startswith("in another terminal: "):
            line = lines.get(timeout=120)
            assert line is not None, "".join(said)
            said.append(line)
        words = said[-1].split()
        yield Served(words[words.index("--port") + 1], words[words.index("--camera") + 1], said)
    finally:
        process.terminate()
        process.wait()
        reader.join()
        process.stdout.close()


def fire(served: Served, folder: Path) -> tuple[ShotDone, Path]:
    """Fire once; give the shot and the file of its transcript."""
    settings = Settings(
        port=Port(url=served.port),
        camera=Camera(source=served.camera_url, clip_before_s=1.0, clip_after_s=3.0, stall_s=2.0),
        log=Log(
            path=str(folder / "log.sqlite"),
            recordings=str(folder / "recordings"),
            transcripts=str(folder / "transcripts"),
        ),
    )
    hands = PromptedHands(lambda words: None, lambda words: None)
    with open_rig(settings, POSITION, hands, progress=lambda words: None) as rig:
        assert rig.twin is None
        assert isinstance(rig.eye.ring.camera, OpenCvCamera)
        done = rig.match.shoot(Order(Square.parse("G-53"), POSITION, parse_squares("G25-G72"), Option.I))
        path = rig.log.session(rig.session_id).transcript_path
        assert path is not None
        return done, Path(path)


def test_a_shot_over_a_serial_port_and_a_camera_url(served: Served, tmp_path: Path) -> None:
    assert "pictures a second" in served.said[0], "size and rate are said at the start"
    for last in range(1, TRIES + 1):
        try:
            done, transcript = fire(served, tmp_path)
            break
        except (CameraError, CannonError, LinkError, NotKept):  # the last: pictures are missing
            if last == TRIES:
                raise
            time.sleep(SET_UP_AGAIN_S)
    with open_log(tmp_path / "log.sqlite") as log:
        shot = log.shot(done.shot_id)
    assert shot.fired is Fired.YES
    reached = {entry.stage for entry in shot.history}
    assert {Stage.ASKED, Stage.FIRED, Stage.SEEN, Stage.RECORDED, Stage.ANALYSED, Stage.JUDGED} <= reached
    assert shot.muzzle_gate is not None
    assert shot.muzzle_gate.muzzle_speed_mps == pytest.approx(9.6, rel=0.1)
    recording = read_recording(done.folder)
    assert len(recording.timestamps_us) >= 4
    assert recording.position == POSITION
    words = list(tell(read_transcript(transcript)))
    assert any("fire" in line for line in words)
    assert any("shot seen" in line for line in words)


def test_a_port_for_the_pictures_that_is_taken_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rig.toml").write_text(SMALL_TWIN.format(seed=3), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        assert main(["twin", "--camera-port", str(number)]) == 1
    assert capsys.readouterr().err == (
        f"rig: cannot serve pictures at 127.0.0.1:{number}: Address already in use; "
        "name another with --camera-port, or leave it out for any free one\n"
    )


def test_the_settings_on_the_page_are_the_twins() -> None:
    page = (Path(__file__).parents[2] / "docs" / "twin.md").read_text(encoding="utf-8")
    misbehaving = page.rpartition("```toml\n")[2].partition("```")[0]
    assert twin_faults(parse_settings(misbehaving).twin) == []

"""The commands that look after the cannon, on the twin: what they say, and that none of them ever arms or fires."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rig.cli import main
from rig.link.codec import Decoder, Frame
from rig.link.messages import Arm, Cock, Fire, Load, Message, Service
from rig.link.transcript import read_transcript

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

[twin.camera]
fps = 60.0

[twin.camera.lens]
width_px = 640
height_px = 360
focal_px = 780.0
"""


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str

    def line(self, part: str) -> str:
        """Return the last line of that part."""
        return next(line for line in reversed(self.out.splitlines()) if line[9:].startswith(part))


Rig = Callable[..., Answer]


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
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    yield run
    assert not [message for message in said(tmp_path) if isinstance(message, Arm | Fire | Load | Cock)]


def said(folder: Path) -> list[Message]:
    """Every message of every transcript."""
    found: list[Message] = []
    for path in sorted((folder / "transcripts").glob("*.transcript")):
        decoders: dict[object, Decoder] = {}
        for entry in read_transcript(path):
            items = decoders.setdefault(entry.direction, Decoder()).feed(entry.data)
            found += [item.message for item in items if isinstance(item, Frame)]
    return found


def one_line(answer: Answer, status: int) -> str:
    assert answer.status == status, answer
    assert answer.err.startswith("rig: ") and answer.err.count("\n") == 1, answer.err
    return answer.err.removeprefix("rig: ").strip()


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


def test_doctor_without_camera_and_port_still_looks_at_the_rest(rig: Rig) -> None:
    answer = rig("doctor", "--port", "/dev/nowhere", "--camera", "nothing.mp4")
    assert answer.status == 1
    assert answer.line("port").startswith("fault") and "there is no such port" in answer.line("port")
    assert answer.line("camera").startswith("fault") and "no such file" in answer.line("camera")
    assert answer.line("recordings").startswith("ok")


def test_doctor_without_folders_still_asks_the_cannon(rig: Rig) -> None:
    Path("recordings").write_text("a file")
    Path("transcripts").write_text("a file")
    answer = rig("doctor")
    assert answer.status == 1
    assert answer.line("recordings").startswith("fault") and answer.line("transcripts").startswith("fault")
    assert answer.line("firmware").startswith("ok")


@pytest.mark.parametrize(
    ("twin", "part", "says"),
    [
        ("plant.gate.first_stuck = true", "inner gate", "take the shot out"),
        ("camera.faults.cap_on_at_us = 0", "board", "is the lens covered"),
        ("camera.faults.gone_at_us = 0", "camera", "unplugged"),
    ],
)
def test_doctor_names_what_is_wrong_and_what_to_do(rig: Rig, twin: str, part: str, says: str) -> None:
    answer = rig("doctor", twin="[twin." + twin.rpartition(".")[0] + "]\n" + twin.rpartition(".")[2])
    lines = [line for line in answer.out.splitlines() if line[9:].startswith(part)]
    assert not lines[0].startswith("ok") and says in lines[0], answer.out


def test_doctor_with_settings_that_cannot_be_used_says_which(rig: Rig) -> None:
    Path("rig.toml").write_text("[port]\nurl = 7\n")
    answer = rig("doctor")
    assert answer.status == 1
    assert "port.url: found 7" in answer.line("settings")
    assert answer.line("clock").startswith("ok")


def test_the_page_shows_what_doctor_says(rig: Rig) -> None:
    page = (ROOT / "docs/upkeep.md").read_text()
    (shown,) = re.findall(r"^\$ rig doctor\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    Path("rig.toml").unlink()
    said = rig("doctor").out
    for line in shown.splitlines():
        assert line in said

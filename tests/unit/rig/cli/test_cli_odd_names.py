r"""A name of a file or folder may hold any sign: a message stays one line all the same, and no name rules the terminal."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from rig.cli import main

ODD = "shot\n1 \x1b[31m  red\x07\u202e"
SHOWN = r"shot\n1 \x1b[31m  red\x07\u202e"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "words",
    [
        ("analyse", ODD),
        ("replay", ODD),
        ("vision", "teach", ODD),
        ("check", "--settings", ODD),
        ("log", "--settings", ODD),
        ("run", ODD),
        ("stats", "group", ODD),
        ("camera", "calibrate", ODD),
    ],
)
def test_what_is_not_there_is_told_in_one_line(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.removeprefix("rig: ").startswith(f"{SHOWN}: ")


def test_what_is_there_already_is_told_in_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / ODD / "clip-00001").mkdir(parents=True)
    (here / ODD / "clip-00001" / "recording.json").touch()
    assert main(["clips", ODD, "--count", "1"]) == 0
    assert capsys.readouterr().out == f"{SHOWN}: the one asked for is there already\n"


def test_of_many_recordings_each_has_its_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (f"a{ODD}", f"b{ODD}", f"c{ODD}"):
        (here / "all" / name).mkdir(parents=True)
    for name in ("a", "b"):
        (here / "all" / f"{name}{ODD}" / "recording.json").touch()
    (here / "all" / f"c{ODD}" / "clip.mkv").touch()
    assert main(["analyse", "all"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.removeprefix("rig: all/")[: len(SHOWN) + 1] for line in told] == [
        f"{name}{SHOWN}" for name in "cab"
    ]


def test_a_photograph_that_cannot_be_used_has_its_line(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "photographs").mkdir()
    cv2.imwrite("photographs/grey.png", np.full((240, 320), 128, np.uint8))
    Path("photographs/grey.png").rename(f"photographs/{ODD}.png")
    assert main(["camera", "calibrate", "photographs", "--chessboard", "8x6"]) == 1
    assert capsys.readouterr().err.splitlines()[0].startswith(f"  {SHOWN}.png: not used: ")

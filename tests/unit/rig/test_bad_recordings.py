"""A recording that cannot be read is one sentence that names the file, on standard error, and exit status 2."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from painted_shot import CAMERA, FIRE, FRAMES, TIMES_US, keys, pictures, record

from rig.cli import main
from rig.recording import write_recording
from rig.verdict.analyse import analyse_folder

Image = NDArray[np.uint8]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("sound") / "shot")


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "shot"))


def change(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "recording.json"
    keys = json.loads(path.read_text())
    edit(keys)
    path.write_text(json.dumps(keys))


def cut(folder: Path, share: float) -> None:
    clip = folder / "clip.mkv"
    whole = clip.read_bytes()
    clip.write_bytes(whole[: round(share * len(whole))])


def damage(folder: Path) -> None:
    clip = folder / "clip.mkv"
    whole = bytearray(clip.read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 20_000] = bytes(20_000)
    clip.write_bytes(whole)


def ends_early(keys: dict[str, Any]) -> None:
    """The film stops while the shot flies."""
    keys["fire_us"] = keys["timestamps_us"][-1] - 20_000


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "ends early": (lambda f: change(f, ends_early), "the clip is too short"),
    "ends before the shot": (
        lambda f: change(f, lambda k: k.update(fire_us=k["timestamps_us"][-1] + 50_000)),
        "it ends 50 ms before the trigger's release",
    ),
    "begins late": (
        lambda f: change(f, lambda k: k.update(fire_us=k["timestamps_us"][0] - 9000)),
        "begins 9 ms after",
    ),
    "truncated": (lambda f: cut(f, 0.5), f"expected {FRAMES}"),
    "nearly nothing left": (lambda f: cut(f, 0.001), "expected"),
    "empty": (lambda f: (f / "clip.mkv").write_bytes(b""), "found no video"),
    "no clip": (lambda f: (f / "clip.mkv").unlink(), "found nothing, expected a video"),
    "damaged": (damage, "clip.mkv"),
    "times out of order": (
        lambda f: change(f, lambda k: k["timestamps_us"].reverse()),
        "expected rising times",
    ),
    "times that stand still": (
        lambda f: change(f, lambda k: k["timestamps_us"].__setitem__(5, k["timestamps_us"][4])),
        "expected rising times",
    ),
    "times with a gap": (
        lambda f: change(f, lambda k: k.update(timestamps_us=[t + 700_000 * (t > 90_000) for t in TIMES_US])),
        "picture 12 was taken 0.7 s after the one before",
    ),
    "times of another unit": (
        lambda f: change(
            f, lambda k: k.update(timestamps_us=[10 * t for t in TIMES_US], fire_us=10 * k["fire_us"])
        ),
        "the pictures are 83.33 ms apart",
    ),
    "fewer pictures than times": (
        lambda f: change(f, lambda k: k["timestamps_us"].append(10**9)),
        f"ends after {FRAMES} pictures, expected {FRAMES + 1}",
    ),
    "more pictures than times": (
        lambda f: change(f, lambda k: k["timestamps_us"].pop()),
        f"more than {FRAMES - 1} pictures",
    ),
    "another resolution": (
        lambda f: change(f, lambda k: k["camera"].update(width=1280, height=720)),
        "picture 1 is 800 x 450 px, expected 1280 x 720 px",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("as_json", [False, True], ids=["words", "json"])
def test_a_faulty_clip_is_told(
    fault: str, as_json: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil, said = FAULTS[fault]
    spoil(folder)
    assert main(["analyse", str(folder), *(["--json"] if as_json else [])]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert str(folder) in line
    assert said in line
    assert len(line) < len(str(folder)) + 400


def bare(_: int, picture: Image) -> Image:
    return np.full_like(picture, 120)


def black(k: int, picture: Image) -> Image:
    return np.zeros_like(picture) if k > 20 else picture


def mirrored(_: int, picture: Image) -> Image:
    return np.ascontiguousarray(picture[::-1])


def two_boards(_: int, picture: Image) -> Image:
    """The board twice beside each other, each half as large."""
    half = cv2.resize(picture, (picture.shape[1] // 2, picture.shape[0] // 2), interpolation=cv2.INTER_AREA)
    # Small markers are found in a picture that is large enough.
    both = np.full_like(picture, 90)
    both[100 : 100 + half.shape[0], : half.shape[1]] = half
    both[100 : 100 + half.shape[0], half.shape[1] :] = half
    return both


PICTURES: dict[str, tuple[Callable[[int, Image], Image], str]] = {
    "no board": (bare, "no board in the picture"),
    "two boards": (two_boards, "two boards"),
    "upside down, as in a mirror": (mirrored, "board"),
    "black at the end": (black, "goes black"),
}


@pytest.mark.parametrize("fault", PICTURES)
def test_pictures_that_show_no_shot_are_told(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, said = PICTURES[fault]
    folder = record(tmp_path / "shot", edit)
    assert main(["analyse", str(folder), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert str(folder) in line
    assert said in line


def test_another_table_than_the_position_tells_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path / "shot", position="G A25-A48 G25-G48 0/0 20/20 -")
    assert main(["analyse", str(folder), "--json"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "the table does not stand as the position says on" in line


def test_a_clip_that_ends_while_somebody_falls_holds_its_ruling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    falling = FIRE + 15  # most of the way down
    frames = list(zip(TIMES_US, pictures(), strict=True))[:falling]
    write_recording(tmp_path / "shot", keys(), frames)
    assert main(["analyse", str(tmp_path / "shot"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["held"] == ["the pictures end while something on the board still moves"]


def test_a_camera_that_is_turned_away_during_the_shot_holds_its_ruling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def turned(k: int, picture: Image) -> Image:
        return np.ascontiguousarray(picture[::-1, ::-1]) if k > 20 else picture

    folder = record(tmp_path / "shot", turned)
    assert main(["analyse", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held"]


def test_a_camera_that_hung_during_the_shot_is_told_of_its_film_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it was on the pictures that it gave, though the film's encoder gives no two of them back alike."""
    folder = record(tmp_path / "shot", lambda k, picture: pictures()[min(k, FIRE + 2)])
    assert main(["analyse", str(folder), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"the same picture is repeated from picture {FIRE + 3} on, while the shot should fly" in err


def test_a_camera_slower_than_it_says_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # In words and as JSON it is the same reading.
    monkeypatch.setattr("rig.verdict.analyse.analyse_folder", cache(analyse_folder))
    camera = {**keys()["camera"], "fps": 240.0}
    folder = record(tmp_path / "shot", camera=camera)
    assert main(["analyse", str(folder)]) == 0
    assert "Note: the pictures are 8.333 ms apart" in capsys.readouterr().out
    assert main(["analyse", str(folder), "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note.startswith("the pictures are 8.333 ms apart")


def test_a_picture_turned_by_half_is_read_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Markers tell which way the board lies, so a camera hung the other way round is no fault."""
    folder = record(tmp_path / "shot", lambda k, picture: np.ascontiguousarray(picture[::-1, ::-1]))
    assert main(["analyse", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [fall["square"] for fall in told["falls"]] == ["A-12"]


def test_corners_of_another_picture_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    width, height = CAMERA.width_px, CAMERA.height_px
    corners = [[5, 5], [width - 5, 5], [width - 5, height - 5], [5, height - 5]]
    board = {"square_mm": 45.0, "markers": None, "corners_px": corners}
    folder = record(tmp_path / "shot", board=board)
    assert main(["analyse", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "corners" in line


def test_pictures_that_teach_no_uniforms_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path / "shot", bare)
    assert main(["vision", "teach", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"rig: {folder / 'clip.mkv'}: no board in the picture")


def test_a_picture_of_one_shade_teaches_nothing_though_the_corners_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So it looks where the lamp shines into the lens."""
    width, height = CAMERA.width_px, CAMERA.height_px
    corners = [[100, 50], [width - 100, 50], [width - 100, height - 50], [100, height - 50]]
    board = {"square_mm": 45.0, "markers": None, "corners_px": corners}
    folder = record(tmp_path / "shot", lambda k, picture: np.full_like(picture, 255), board=board)
    assert main(["vision", "teach", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("no board in the picture: it is of one shade all over")

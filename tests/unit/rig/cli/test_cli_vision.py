"""`rig vision teach`: what it writes is used beside it, and told; what it writes over is told too."""

import json
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from painted_shot import FIRE, TIMES_US, keys, pictures, record
from painted_table import CROWD

from game.montecassino import Position, Side
from rig.cli import main
from rig.recording import KEYS_NAME, write_recording
from rig.uniforms_file import NAME
from rig.verdict.analyse import analyse_folder
from vision.steady import typical

POSITION = str(Position(Side.G, CROWD, dict.fromkeys(Side, 0), dict.fromkeys(Side, 20)))


def test_what_was_taught_is_named_where_it_is_used_and_where_it_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = record(tmp_path / "told", position=POSITION)
    for _ in range(2):
        assert main(["vision", "teach", str(told)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"the uniforms are in {tmp_path / NAME}",
        f"the uniforms are in {tmp_path / NAME}, in place of those taught before",
    ]
    analysis = analyse_folder(record(tmp_path / "untold"))
    note = f"the sides are told by the uniforms taught in {tmp_path / NAME}"
    assert note in analysis.as_json()["notes"]
    words = list(analysis.in_words())
    assert f"Note: {note}." in words
    counts = ", ".join(f"{sum(of is side for of in CROWD.values())} {side}" for side in Side)
    assert words[0] == f"{len(CROWD)} soldiers stood on the board ({counts})."


def test_the_file_is_named_as_the_recording_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "evening" / "shot", position=POSITION)
    (tmp_path / "link").symlink_to(tmp_path / "evening" / "shot")
    monkeypatch.chdir(tmp_path)
    for named in ("evening/shot", "./evening/shot/", "link"):
        assert main(["vision", "teach", named]) == 0
    record(tmp_path / "evening" / "untold")
    assert (
        f"the sides are told by the uniforms taught in evening/{NAME}"
        in analyse_folder(Path("evening/untold")).as_json()["notes"]
    )
    monkeypatch.chdir(tmp_path / "evening" / "shot")
    assert main(["vision", "teach", "."]) == 0
    assert [
        line.split(",")[0].removeprefix("the uniforms are in ")
        for line in capsys.readouterr().out.splitlines()
    ] == [
        f"evening/{NAME}",
        f"evening/{NAME}",
        str(tmp_path / "evening" / NAME),
        str(tmp_path / "evening" / NAME),
    ]


def test_of_a_shot_that_was_fired_at_0_only_what_lies_before_is_learnt_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_us = TIMES_US[FIRE]
    frames = [(t - first_us, picture) for t, picture in zip(TIMES_US, pictures(), strict=True)]
    write_recording(tmp_path / "shot", keys(fire_us=0, position=POSITION), frames[FIRE - 1 :])
    learnt: list[int] = []

    def count(pictures: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
        learnt.append(len(pictures))
        return typical(pictures)

    monkeypatch.setattr("vision.steady.typical", count)
    assert main(["vision", "teach", str(tmp_path / "shot")]) == 0
    assert learnt[0] == 2


def test_from_a_film_that_ends_too_early_or_too_late_for_its_times_nothing_is_learnt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first pictures would do, but film and position may be of two shots."""
    folder = record(tmp_path / "told", position=POSITION)
    told = json.loads((folder / KEYS_NAME).read_text())
    times_us = told["timestamps_us"]
    for changed_us, why in (
        ([*times_us, times_us[-1] + 8333], f"the clip ends after {len(times_us)} pictures, expected "),
        (times_us[:-1], f"more than {len(times_us) - 1} pictures, expected one for each of timestamps_us"),
    ):
        (folder / KEYS_NAME).write_text(json.dumps(told | {"timestamps_us": changed_us}))
        assert main(["vision", "teach", str(folder)]) == 2
        assert why in capsys.readouterr().err
    assert not (tmp_path / NAME).exists()


def test_from_a_film_that_is_not_read_nothing_is_learnt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """OpenCV gives an interlaced film's pictures black; what is wrong with it is said as `rig analyse` says it."""
    folder = record(tmp_path / "told", position=POSITION)
    told = json.loads((folder / KEYS_NAME).read_text())
    with av.open(str(folder / "film.mp4"), "w") as film:
        stream = film.add_stream("libx264", rate=120, options={"x264-params": "interlaced=1:log=-1"})
        stream.width, stream.height = told["camera"]["width"], told["camera"]["height"]
        stream.pix_fmt = "yuv444p"
        for picture in pictures():
            film.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        film.mux(stream.encode())
    for changed, why in (
        ({"clip": "film.mp4", "clip_sha256": None}, "film.mp4: its pictures are interlaced"),
        ({"clip": "film.mp4"}, "film.mp4: not the clip that was recorded"),
    ):
        (folder / KEYS_NAME).write_text(json.dumps(told | changed))
        for command in (["analyse"], ["vision", "teach"]):
            assert main([*command, str(folder)]) != 0
            assert why in capsys.readouterr().err
    assert not (tmp_path / NAME).exists()

"""`rig replay`: a film that OpenCV opens and a sheet, with the fall, its cause and the verdict in them."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any, cast

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from painted_shot import FIRE, FRAMES, TIMES_US, keys, pictures, record

from game.montecassino import Cause, Doubt, Side, Square
from rig.cli import main
from rig.drawing.table_drawing import GROUND
from rig.recording import Recording, read_recording, write_recording
from rig.replay import film as replay_film
from rig.replay.film import _Film
from rig.replay.sheet import _KeyPictures, write_sheet
from rig.replay.story import Story
from rig.verdict.analyse import Analysis, analyse_folder
from rig.verdict.unseen_shot import of_the_shot


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("replay") / "shot-7")


@pytest.fixture(scope="module")
def analysis(folder: Path) -> Analysis:
    return analyse_folder(folder)


def test_a_film_and_a_sheet_are_written_beside_the_reading(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(folder)]) == 0
    film, sheet = (Path(line) for line in capsys.readouterr().out.splitlines())
    assert film.parent == sheet.parent == folder / "analysis"
    capture = cv2.VideoCapture(str(film))
    seen = []
    while (read := capture.read())[0]:
        seen.append(read[1])
    capture.release()
    # In slow motion: more pictures than the clip has.
    assert len(seen) > 2 * FRAMES
    assert {picture.shape for picture in seen} == {(720, 1280 + 440, 3)}
    # The verdict stands at the end, below what has happened: nothing was written there before.
    verdict = np.s_[600:700, 1300:1700]
    assert seen[-1][verdict].std() > 3 * max(seen[0][verdict].std(), 1.0)
    picture = cv2.imread(str(sheet))
    assert picture is not None
    assert picture.shape[1] == 1976


def test_they_go_where_they_are_asked_to(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("film.write_film", "sheet.write_sheet"):
        monkeypatch.setattr(f"rig.replay.{name}", lambda path, analysis, folder: path.touch())
    assert main(["replay", str(folder), "--into", str(tmp_path / "films")]) == 0
    assert {path.name for path in (tmp_path / "films").iterdir()} == {"shot-7.mp4", "shot-7.png"}


def test_a_shot_that_cannot_be_read_leaves_no_folder_behind(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken, ignore=shutil.ignore_patterns("analysis"))
    (broken / "clip.mkv").write_bytes(b"no film")
    held = sorted(broken.iterdir())
    assert main(["replay", str(broken)]) == 2
    assert main(["replay", str(broken), "--into", str(tmp_path / "films" / "of today")]) == 2
    assert sorted(broken.iterdir()) == held
    assert not (tmp_path / "films").exists()


def test_they_take_the_place_of_their_own_recordings_alone(
    folder: Path,
    analysis: Analysis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def read_before(folder: Path) -> Analysis:
        return replace(analysis, recording=read_recording(folder))

    monkeypatch.setattr("rig.verdict.analyse.analyse_folder", read_before)
    for name in ("_FLIGHT_SLOWNESS", "_SLOWNESS", "_VERDICT_S"):
        monkeypatch.setattr(replay_film, name, 1)  # a short film does
    films, other = tmp_path / "films", tmp_path / "other-table" / "shot-7"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("analysis"))
    told = json.loads((other / "recording.json").read_text())
    (other / "recording.json").write_text(json.dumps({**told, "zone": "A01-A72"}))
    films.mkdir()
    (films / "shot-7.png").write_bytes(b"somebody's own")
    written = []
    for recording in (folder, other, folder):
        assert main(["replay", str(recording), "--into", str(films)]) == 0
        written.append([Path(line).name for line in capsys.readouterr().out.splitlines()])
    assert written == [[f"shot-7-{n}.mp4", f"shot-7-{n}.png"] for n in (2, 3, 2)]
    assert (films / "shot-7.png").read_bytes() == b"somebody's own"


def test_a_picture_of_another_shape_than_a_tile_s_is_not_stretched_on_the_sheet(tmp_path: Path) -> None:
    """As from a camera of 4 to 3, or a telephone held upright."""

    def upright(k: int, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.asarray(cv2.copyMakeBorder(picture, 275, 275, 0, 0, cv2.BORDER_REPLICATE), dtype=np.uint8)

    camera = keys()["camera"]
    fx, fy, cx, cy = camera["intrinsics"]
    camera |= {"height": 1000, "intrinsics": [fx, fy, cx, cy + 275]}
    folder = record(tmp_path / "upright", upright, camera=camera)
    write_sheet(tmp_path / "sheet.png", analyse_folder(folder), folder)
    sheet = cv2.imread(str(tmp_path / "sheet.png"))
    assert sheet is not None
    seen = upright(0, pictures()[0])
    expected = cv2.resize(seen, (288, 360), interpolation=cv2.INTER_AREA)
    first = sheet[:, 14 : 14 + 640]
    places = cv2.matchTemplate(first, expected, cv2.TM_CCOEFF_NORMED)
    _, like, _, (left, _) = cv2.minMaxLoc(places)
    assert like > 0.95
    assert abs(left - (640 - 288) // 2) <= 1


def test_where_the_pictures_end_too_soon_that_is_told_and_why_the_ruling_is_held(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = list(zip(TIMES_US, pictures(), strict=True))[: FIRE + 15]  # A-12 is falling still
    write_recording(tmp_path / "shot", keys(), frames)
    cut = analyse_folder(tmp_path / "shot")
    for read, end in ((analysis, "at rest"), (cut, "the pictures end")):
        story, said = Story(read, "shot"), []
        monkeypatch.setattr(
            replay_film, "write", lambda canvas, words, *where, said=said, **how: said.append(words)
        )
        _Film(story).page(pictures()[0], TIMES_US[-1], ruled=True)
        held = [words for words in said if words.startswith("held")]
        assert end in said
        assert _KeyPictures(story).tiles()[-2].caption == end
        assert held == ([] if read is analysis else ["held: the pictures end while something on the board"])


def test_a_long_name_and_a_long_zone_keep_to_their_room(analysis: Analysis) -> None:
    zone = ",".join(f"{side}{number:02d}" for side in "AG" for number in range(1, 72, 2))
    keys = analysis.recording.keys.model_copy(update={"zone": zone})
    story = Story(replace(analysis, recording=Recording(keys)), "the shot before supper " * 9)
    picture = np.zeros((720, 1280, 3), np.uint8)
    margin = _Film(story).page(picture, TIMES_US[-1], ruled=True)[:, -19:]
    assert (margin == GROUND).all()
    header = _KeyPictures(story).header(1552)
    assert (header[:50, 1000:1400] != GROUND).any(), "who fires stands beside the name"
    assert (header[:50, -1:] == GROUND).all()


def test_where_they_cannot_be_written_is_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["replay", str(folder), "--into", str(tmp_path / "file")]) == 2
    (tmp_path / "dir" / "shot-7.mp4").mkdir(parents=True)
    assert main(["replay", str(folder), "--into", str(tmp_path / "dir")]) == 2
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 2
    assert "file" in err[0]
    assert "shot-7.mp4" in err[1]


def test_a_film_that_the_encoder_does_not_take_is_one_line_and_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A second pass, without what the first one finds.
    monkeypatch.setattr(replay_film, "_ENCODER", {"flags": "+pass2"})
    assert main(["replay", str(folder), "--into", str(tmp_path / "films")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"rig: {tmp_path}/films/shot-7.mp4 cannot be written: Generic error in an external library"
    assert not (tmp_path / "films").exists()


def test_two_that_write_one_film_at_once_both_leave_it_whole(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = tmp_path / "shot-7.mp4"
    monkeypatch.setattr(replay_film, "Story", lambda analysis, name: None)
    second = Thread(target=lambda: replay_film.write_film(film, None, folder))  # type: ignore[arg-type]

    def encode(path: Path, story: object, folder: Path) -> None:
        with path.open("w") as file:
            if not second.is_alive():
                second.start()
                second.join(timeout=0.3)  # long enough for one who does not wait for this one to be done
            file.write("whole")

    monkeypatch.setattr(replay_film, "_encode", encode)
    replay_film.write_film(film, None, folder)  # type: ignore[arg-type]
    second.join()
    assert film.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [film]


def test_why_a_shot_was_not_seen_is_said_once_of_it_and_not_of_each_fall(analysis: Analysis) -> None:
    reason = analysis.reading.track.reason
    details = [event.detail for event in Story(analysis, "shot-7").events]
    assert [detail for detail in details if reason in detail] == [of_the_shot(reason)]


@pytest.mark.parametrize(("of_each", "named"), [(1, False), (2, False), (5, True), (8, True), (12, False)])
def test_a_verdict_leaves_room_for_what_happened_however_many_are_in_doubt(
    analysis: Analysis, of_each: int, named: bool
) -> None:
    doubts = tuple(
        Doubt(Square.parse(f"{side}-{k:02}"), (Cause.DIRECT, Cause.DRAGGED), side)
        for side in Side
        for k in range(1, 1 + of_each)
    )
    verdict = replace(analysis.verdict, doubts=doubts, undecided=tuple(doubt.square for doubt in doubts))
    keys = analysis.recording.keys
    story = Story(replace(analysis, verdicts={keys.option: verdict}), "shot-7")
    picture = np.zeros((keys.camera.height, keys.camera.width, 3), np.uint8)
    page = _Film(story).page(picture, TIMES_US[-1], ruled=True)
    panel = page[:, -replay_film._PANEL_PX :]
    said = [words for words, _ in story.verdict_lines(15, 400, most_lines=replay_film._MOST_LINES)]
    assert len(said) <= replay_film._MOST_LINES
    ground = (panel == panel[0, 0]).all(axis=(1, 2))
    assert ground[-8:].all()
    told = " ".join(said)
    assert ("in doubt, the commander of A decides: A-01 A-02" in told) is named
    assert ("in doubt, direct or dragged" in told) is (of_each <= 2)


def _shown(analysis: Analysis, times_us: Sequence[int], *numbers: int) -> list[int]:
    """How often the film shows some pictures that came at these times."""
    keys = analysis.recording.keys.model_copy(update={"timestamps_us": tuple(times_us)})
    film = _Film(Story(replace(analysis, recording=Recording(keys)), "shot-7"))
    return [film.shown(k) for k in numbers]


def test_a_picture_that_was_held_up_is_shown_as_long_as_the_others(analysis: Analysis) -> None:
    """As those of a stream are, which are stamped when they are handed over: it was taken when it was due."""
    frame_us = TIMES_US[1] - TIMES_US[0]
    late = (*TIMES_US[: FIRE + 3], TIMES_US[FIRE + 4] - frame_us // 10, *TIMES_US[FIRE + 4 :])
    usual, held_up, at_once = _shown(analysis, late, FIRE + 2, FIRE + 3, FIRE + 4)
    assert 0 < at_once == usual == held_up


def test_every_picture_is_shown_though_two_come_at_once_and_by_no_clock(analysis: Analysis) -> None:
    """A pause before one makes it last longer."""
    frame_us = TIMES_US[1] - TIMES_US[0]
    uneven = [us + (k * k * frame_us) // 40 for k, us in enumerate(TIMES_US)]
    uneven[FIRE + 3] = uneven[FIRE + 4] - frame_us // 10
    assert Recording(
        analysis.recording.keys.model_copy(update={"timestamps_us": tuple(uneven)})
    ).taken_us == tuple(uneven)
    at_once, paused = _shown(analysis, uneven, FIRE + 4, FIRE + 3)
    assert 0 < at_once < paused


def test_a_lost_picture_does_not_make_the_film_say_that_it_runs_slower(
    analysis: Analysis, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times_us = TIMES_US[: FIRE + 3] + TIMES_US[FIRE + 4 :]
    keys = analysis.recording.keys.model_copy(update={"timestamps_us": times_us})
    picture = np.zeros((keys.camera.height, keys.camera.width, 3), np.uint8)
    monkeypatch.setattr(replay_film, "read_frames", lambda folder, recording: [picture] * len(times_us))
    said = set()
    write = replay_film.write

    def heard(canvas: NDArray[np.uint8], words: str, *where: Any, **how: Any) -> None:
        said.add(words)
        write(canvas, words, *where, **how)

    monkeypatch.setattr(replay_film, "write", heard)
    replay_film.write_film(tmp_path / "shot.mp4", replace(analysis, recording=Recording(keys)), folder)
    assert {words for words in said if "speed" in words} == {"1/19 of its speed", "1/5 of its speed"}


@pytest.mark.parametrize("fps", [30, 60, 120, 240, 500])
def test_a_flight_is_twenty_times_slower_however_fast_the_camera_is(fps: int) -> None:
    film = cast(_Film, SimpleNamespace(_frame_us=1e6 / fps, _flight_us=(0, 100_000)))
    assert 18 <= _Film._repeats(film, 50_000) * fps / replay_film._FILM_FPS <= 21

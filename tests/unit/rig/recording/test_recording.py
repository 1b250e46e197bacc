"""The recording folder: what is written is read again, and what is wrong is told in one sentence."""

import copy
import errno
import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from small_recording import HEIGHT, KEYS, TIMES_US, WIDTH, pictures, write

from game.montecassino import Option, Side, Square
from rig.cli import main
from rig.film.faults import fault_of_film
from rig.film.free_memory import free_memory_bytes
from rig.recording import (
    RecordingError,
    picture_bytes,
    read_all_frames,
    read_frames,
    read_recording,
    refuse_full_disk,
    write_recording,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "shot")
    return tmp_path / "shot"


def change(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "recording.json"
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("grey", [False, True])
def test_what_is_written_is_read_again(tmp_path: Path, grey: bool) -> None:
    write(tmp_path / "a" / "shot", grey=grey)
    recording = read_recording(tmp_path / "a" / "shot")
    assert recording.timestamps_us == tuple(TIMES_US)
    assert recording.option is Option.III
    assert recording.zone[0] == Square.parse("A-25")
    assert recording.position is not None
    assert recording.position.soldiers[Square.parse("A-62")] is Side.G
    scene = recording.scene
    assert scene.cannon_side is Side.G
    assert scene.markers is not None
    assert scene.markers.centres_mm == {0: (-30.0, 25.0), 12: (390.0, 780.0)}
    assert scene.intrinsics == (900.0, 900.0, 47.5, 31.5)
    assert scene.distortion == (-0.1, 0.02, 0.0, 0.0, 0.0)
    assert (scene.square_mm, scene.fps, scene.exposure_us) == (45.0, 120.0, 1000)
    assert scene.muzzle_mm == (180.0, 860.0, 50.0)
    assert scene.corners_px is None
    assert scene.fire_us == 1_010_000
    assert recording.incomplete == ""
    assert scene.expected == recording.position.soldiers
    for read, written in zip(
        read_frames(tmp_path / "a" / "shot", recording), pictures(grey=grey), strict=True
    ):
        # A grey camera's film has no colours again, whatever a decoder makes of it.
        assert read.shape == written.shape
        assert np.abs(read.astype(int) - written).mean() < 4


@pytest.mark.parametrize(
    "colours",
    [
        ((128, 128, 128), (200, 120, 60)),
        ((10, 10, 10), (40, 90, 150)),
        ((230, 230, 230), (60, 110, 50)),
        ((60, 60, 180), (90, 90, 140)),
        ((180, 60, 60), (140, 90, 90)),
        (128, 77),
    ],
    ids=str,
)
def test_a_recording_is_as_bright_and_of_the_colours_that_were_seen(tmp_path: Path, colours: Any) -> None:
    seen = np.repeat(np.array([colours], dtype=np.uint8), HEIGHT, axis=0).repeat(WIDTH // 2, axis=1)
    write_recording(tmp_path / "shot", KEYS, [(time_us, seen) for time_us in TIMES_US])
    for read in read_frames(tmp_path / "shot", read_recording(tmp_path / "shot")):
        off = np.abs(read.astype(int) - seen)
        assert max(off[:, : WIDTH // 2 - 2].max(), off[:, WIDTH // 2 + 2 :].max()) <= 2


def same_before(frames: Sequence[NDArray[np.uint8]]) -> list[bool]:
    return [np.array_equal(a, b) for a, b in pairwise(frames)]


@pytest.mark.parametrize("grey", [False, True])
def test_pictures_that_were_the_same_to_the_last_bit_are_read_as_the_same(tmp_path: Path, grey: bool) -> None:
    """So a camera that hung is told again; the film's encoder gives no two pictures back alike."""
    noise = np.random.default_rng(1).integers(0, 255, (3, HEIGHT, WIDTH), np.uint8)
    seen = [noise[k] if grey else np.repeat(noise[k][..., None], 3, axis=2) for k in (0, 0, 1, 1, 2)]
    recorded = write_recording(tmp_path / "shot", KEYS, list(zip(TIMES_US, seen, strict=True)))
    recording = read_recording(tmp_path / "shot")
    assert recorded.keys.repeated_us == recording.keys.repeated_us == (TIMES_US[1], TIMES_US[3])
    assert same_before(read_all_frames(tmp_path / "shot", recording)) == [True, False, True, False]


def test_of_pictures_that_all_differ_nothing_is_said_to_be_repeated(folder: Path) -> None:
    assert "repeated_us" not in json.loads((folder / "recording.json").read_text())


def test_a_repeated_picture_that_is_none_of_the_film_is_told(folder: Path) -> None:
    change(folder, lambda keys: keys.update(repeated_us=[TIMES_US[1], 1_020_000, 1_020_001]))
    with pytest.raises(RecordingError) as refusal:
        read_recording(folder)
    assert str(refusal.value).endswith(
        "recording.json: repeated_us: found 1020000 and 1 more, expected times of timestamps_us"
    )


def test_of_a_film_that_was_cut_the_first_picture_repeats_none(folder: Path) -> None:
    change(folder, lambda keys: keys.update(repeated_us=TIMES_US[:1]))
    assert len(read_all_frames(folder, read_recording(folder))) == len(TIMES_US)


def test_the_clip_keeps_the_times_to_the_millisecond(folder: Path) -> None:
    capture = cv2.VideoCapture(str(folder / "clip.mkv"))
    seen_ms = []
    while capture.grab():
        seen_ms.append(capture.get(cv2.CAP_PROP_POS_MSEC))
    capture.release()
    assert seen_ms == pytest.approx([(t - TIMES_US[0]) / 1000 for t in TIMES_US], abs=1.0)


def test_numbered_pictures_are_read_too(folder: Path) -> None:
    change(folder, lambda d: d.update(clip="frames"))
    (folder / "frames").mkdir()
    for k, picture in reversed([*enumerate(pictures())]):
        cv2.imwrite(str(folder / "frames" / f"{k:06d}.png"), picture)
    recording = read_recording(folder)
    read = list(read_frames(folder, recording))
    assert all(np.array_equal(a, b) for a, b in zip(read, pictures(), strict=True))
    (folder / "frames" / "000002.png").unlink()
    with pytest.raises(RecordingError, match=r"000003\.png.*000002\.png"):
        list(read_frames(folder, recording))


@pytest.mark.skipif(free_memory_bytes() is None, reason="this system does not tell how much memory is free")
def test_a_film_that_takes_more_memory_than_there_is_is_told_before_it_is_decoded(folder: Path) -> None:
    camera = {**KEYS["camera"], "width": 4096, "height": 4096, "intrinsics": None, "distortion": None}
    change(folder, lambda d: d.update(clip="frames", camera=camera, timestamps_us=[*range(100_000)]))
    (folder / "frames").mkdir()
    cv2.imwrite(str(folder / "frames" / "000000.png"), np.zeros((4096, 4096), np.uint8))
    with pytest.raises(
        RecordingError,
        match=r"frames: its 100000 pictures take 1677\.7 GB of memory, and .* GB are free: cut",
    ):
        read_all_frames(folder, read_recording(folder))


def test_a_numbered_picture_of_another_size_is_told(folder: Path) -> None:
    change(folder, lambda d: d.update(clip="frames"))
    (folder / "frames").mkdir()
    for k, picture in enumerate(pictures()):
        seen = picture if k != 3 else picture[:-2]
        cv2.imwrite(str(folder / "frames" / f"{k:06d}.png"), seen)
    with pytest.raises(RecordingError, match="picture 4 is 96 x 62 px, expected 96 x 64 px as camera says"):
        list(read_frames(folder, read_recording(folder)))


@pytest.mark.parametrize("grey", [False, True])
@pytest.mark.parametrize("bits", [8, 10, 12, 14, 16])
def test_pictures_of_more_bits_are_as_bright_as_the_camera_saw_them(
    folder: Path, bits: int, grey: bool
) -> None:
    """A camera of 12 bits leaves four of a file's 16 empty, and its first picture may not fill those 12."""
    seen = pictures(grey=grey)
    seen[0] //= 8
    seen[3][-1, -1] = 255
    numbered(folder, [picture.astype(np.uint16) << (bits - 8) for picture in seen])
    read = list(read_frames(folder, read_recording(folder)))
    assert [picture.dtype for picture in read] == [np.uint8] * len(seen)
    assert all(np.array_equal(one, other) for one, other in zip(read, seen, strict=True))


def numbered(folder: Path, seen: Sequence[NDArray[np.uint8]]) -> Path:
    change(folder, lambda d: d.update(clip="frames"))
    (folder / "frames").mkdir()
    for k, picture in enumerate(seen):
        cv2.imwrite(str(folder / "frames" / f"{k:06d}.png"), picture)
    return folder / "frames"


def test_a_grey_picture_among_coloured_ones_is_told(folder: Path) -> None:
    """A soldier that lost his colours would look like one who left his place, or hide that he did."""
    seen = pictures()
    seen[2] = cv2.cvtColor(seen[2], cv2.COLOR_BGR2GRAY)
    frames = numbered(folder, seen)
    said = f"{frames}: picture 3 is grey, expected coloured ones as picture 1 is"
    with pytest.raises(RecordingError, match=re.escape(said)):
        list(read_frames(folder, read_recording(folder)))


def test_grey_pictures_are_read_also_where_some_are_stored_with_colours(folder: Path) -> None:
    seen = pictures(grey=True)
    numbered(folder, [*seen[:2], cv2.cvtColor(seen[2], cv2.COLOR_GRAY2BGR), *seen[3:]])
    read = list(read_frames(folder, read_recording(folder)))
    assert all(np.array_equal(a, b) for a, b in zip(read, seen, strict=True))


def test_a_folder_of_pictures_without_a_numbered_one_is_told_with_what_is_in_it(folder: Path) -> None:
    frames = numbered(folder, [])
    (frames / "000000.PNG").touch()
    said = (
        f"{frames}: the folder: found no PNG picture, but '000000.PNG', expected 000000.png, 000001.png, ..."
    )
    with pytest.raises(RecordingError, match=re.escape(said)):
        list(read_frames(folder, read_recording(folder)))


@pytest.mark.parametrize("stray", ["._000002.png", "000002 (1).png", "2.png", "board.png"])
def test_a_picture_that_is_none_of_the_numbered_ones_is_told_by_its_name(folder: Path, stray: str) -> None:
    """It was said of the next one that the one in its place is missing."""
    frames = numbered(folder, pictures())
    cv2.imwrite(str(frames / stray), pictures()[0])
    said = f"{frames / stray}: is none of the pictures 000000.png, 000001.png, ...: take it out of the folder"
    with pytest.raises(RecordingError, match=f"^{re.escape(said)}$"):
        list(read_frames(folder, read_recording(folder)))


def test_the_other_name_of_a_dictionary_is_read_as_the_one_that_is_known(folder: Path) -> None:
    change(folder, setting("board.markers.dictionary", "DICT_APRILTAG_36H11"))
    markers = read_recording(folder).scene.markers
    assert markers is not None
    assert markers.dictionary == "DICT_APRILTAG_36h11"


def test_an_unknown_key_is_kept_and_ignored(folder: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["weather"] = {"rain": True}
        document["camera"]["lens_name"] = "old"

    before = read_recording(folder).scene
    change(folder, edit)
    after = read_recording(folder)
    assert after.scene == before
    assert after.keys.model_extra == {"weather": {"rain": True}}


def test_nothing_is_written_over(folder: Path) -> None:
    with pytest.raises(RecordingError, match=r"expected none; a recording is never overwritten\Z"):
        write(folder)


@pytest.mark.parametrize("side", ["width", "height"])
def test_pictures_of_another_size_are_not_written(tmp_path: Path, side: str) -> None:
    keys = copy.deepcopy(KEYS)
    keys["camera"][side] += 2
    with pytest.raises(RecordingError, match="picture 1 is 96 x 64"):
        write(tmp_path / "shot", keys)
    assert not (tmp_path / "shot" / "recording.json").exists()


@pytest.mark.parametrize(("width", "height"), [(95, 63), (95, 64), (96, 63)])
def test_odd_sides_can_be_written(tmp_path: Path, width: int, height: int) -> None:
    keys = copy.deepcopy(KEYS)
    keys["camera"].update(width=width, height=height)
    frames = [(t, p[:height, :width].copy()) for t, p in zip(TIMES_US, pictures(), strict=True)]
    write_recording(tmp_path / "shot", keys, frames)
    recording = read_recording(tmp_path / "shot")
    assert [p.shape for p in read_frames(tmp_path / "shot", recording)] == [(height, width, 3)] * len(
        TIMES_US
    )


def test_on_return_the_disk_has_the_names_of_the_folders_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the name of its folder a recording is lost where the power goes, though all of it was on the disk."""
    synced: list[Path] = []
    fsync = os.fsync

    def note(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve())

    monkeypatch.setattr(os, "fsync", note)
    shot = tmp_path / "recordings" / "shot-00001"
    write(shot)
    assert {shot, shot.parent, tmp_path} <= set(synced)
    synced.clear()
    write(shot.parent / "shot-00002")
    assert shot.parent in synced
    assert tmp_path not in synced, "it was there already"


def test_a_clip_that_the_disk_does_not_take_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        assert path.name == "clip.mkv"
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rig.recording.writing.to_disk", full)
    with pytest.raises(RecordingError, match=r"shot: cannot be written: No space left on device"):
        write(tmp_path / "shot")
    assert list((tmp_path / "shot").iterdir()) == []


def test_a_clip_that_the_encoder_does_not_take_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A second pass, without what the first one finds.
    monkeypatch.setattr("rig.recording.encoding._ENCODER", {"flags": "+pass2"})
    with pytest.raises(
        RecordingError, match=r"shot: cannot be written: Generic error in an external library"
    ):
        write(tmp_path / "shot")
    assert list((tmp_path / "shot").iterdir()) == []


@pytest.mark.parametrize(("free", "refused"), [(19_999_999, True), (20_000_000, False)])
def test_no_shot_begins_where_the_disk_of_its_folder_has_no_room_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, refused: bool
) -> None:
    """The folder itself need not be made yet."""

    def usage(place: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free if Path(place) == tmp_path else 10**12)

    monkeypatch.setattr("shutil.disk_usage", usage)
    with pytest.raises(RecordingError, match="make room") if refused else nullcontext():
        refuse_full_disk(tmp_path / "not made yet" / "recordings", 20_000_000)


@pytest.mark.parametrize("noise", [4.0, 8.0])
def test_a_few_pictures_tell_what_each_of_a_clip_takes(tmp_path: Path, noise: float) -> None:
    rng = np.random.default_rng(7)
    keys = {**KEYS, "camera": {**KEYS["camera"], "width": 640, "height": 360}, "fire_us": None}
    grainy = [
        (8_333 * k, np.clip(128 + rng.normal(0, noise, (360, 640, 3)), 0, 255).astype(np.uint8))
        for k in range(60)
    ]
    write_recording(tmp_path / "shot", keys, grainy)
    each = (tmp_path / "shot" / "clip.mkv").stat().st_size / len(grainy)
    assert each <= picture_bytes(grainy[20:25], 120.0) <= 1.5 * each


def setting(dotted: str, value: Any) -> Callable[[dict[str, Any]], None]:
    *path, last = dotted.split(".")

    def edit(document: dict[str, Any]) -> None:
        place = document
        for part in path:
            place = place[part]
        place[last] = value

    return edit


def without(dotted: str) -> Callable[[dict[str, Any]], None]:
    *path, last = dotted.split(".")

    def edit(document: dict[str, Any]) -> None:
        place = document
        for part in path:
            place = place[part]
        del place[last]

    return edit


EVERY_KEY = [
    *(f"camera.{name}" for name in KEYS["camera"]),
    *(f"board.{name}" for name in KEYS["board"]),
    *(f"board.markers.{name}" for name in KEYS["board"]["markers"]),
    "cannon.side",
    "cannon.muzzle_mm",
    "format",
    "camera",
    "clip",
    "timestamps_us",
    "fire_us",
    "board",
    "cannon",
    "position",
    "zone",
    "option",
]


@pytest.mark.parametrize("key", EVERY_KEY)
def test_a_missing_key_is_named(folder: Path, key: str) -> None:
    change(folder, without(key))
    with pytest.raises(RecordingError) as caught:
        read_recording(folder)
    said = str(caught.value)
    assert "recording.json" in said
    assert key in said
    assert "expected" in said
    assert "\n" not in said


ONE_PICTURE = f"recording.json: timestamps_us: found [{TIMES_US[0]}], expected a list of at least 2 items"


def test_a_recording_of_one_picture_is_one_sentence(folder: Path) -> None:
    change(folder, setting("timestamps_us", TIMES_US[:1]))
    with pytest.raises(RecordingError) as caught:
        read_recording(folder)
    assert str(caught.value) == f"{folder}/{ONE_PICTURE}"


def test_a_recording_of_one_picture_is_not_written_and_leaves_nothing(tmp_path: Path) -> None:
    """So it is where the camera dies after its first picture of a shot."""
    with pytest.raises(RecordingError) as caught:
        write_recording(tmp_path / "shot", KEYS, [(TIMES_US[0], pictures()[0])])
    assert str(caught.value) == f"{tmp_path}/shot/{ONE_PICTURE}"
    assert list(tmp_path.iterdir()) == []


def test_the_time_that_does_not_rise_is_told_by_its_number(folder: Path) -> None:
    change(folder, setting("timestamps_us", [5, 6, 6, 7, 8]))
    with pytest.raises(RecordingError, match="expected rising times; number 3 is 6 after 6"):
        read_recording(folder)


@pytest.mark.parametrize(
    ("missing", "more"), [(4, ""), (5, "; and 1 more fault"), (6, "; and 2 more faults")]
)
def test_of_many_faults_those_that_are_left_out_are_counted(folder: Path, missing: int, more: str) -> None:
    for key in list(KEYS["camera"])[:missing]:
        change(folder, without(f"camera.{key}"))
    with pytest.raises(RecordingError) as caught:
        read_recording(folder)
    assert str(caught.value).count("this key must be given") == 4
    assert str(caught.value).partition("; and camera.exposure_us: ")[2].partition("given")[2] == more


@pytest.mark.parametrize("side_mm", [0, 4.5, 450, 4500])
def test_squares_that_cannot_be_are_told_with_what_can(folder: Path, side_mm: float) -> None:
    change(folder, setting("board.square_mm", side_mm))
    with pytest.raises(
        RecordingError, match=f"board.square_mm: found {side_mm}, expected a number from 10 to 200$"
    ):
        read_recording(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "shot-recording/2"),
        ("camera.width", "640"),
        ("camera.width", 640.5),
        ("camera.height", 0),
        ("camera.fps", -1),
        ("camera.fps", None),
        ("camera.exposure_us", True),
        ("camera.intrinsics", [1, 2, 3]),
        ("camera.distortion", "none"),
        ("clip", ""),
        ("clip", "../elsewhere.mkv"),
        ("timestamps_us", [1, 2.5, 3]),
        ("timestamps_us", [5, 4, 6]),
        ("timestamps_us", [5, 5, 6]),
        ("timestamps_us", []),
        ("fire_us", "soon"),
        ("board.square_mm", 0),
        ("board.markers", 4),
        ("board.markers.centres_mm", {"left": [0, 0]}),
        ("board.markers.centres_mm", {}),
        ("board.corners_px", [[0, 0], [1, 1], [2, 2]]),
        ("board.corners_px", [[10, 10], [40, 10], [40, 42], [10, 42]]),  # 960 px2
        ("board.corners_px", [[0, 0], [90, 0], [20, 20], [0, 60]]),  # one lies within the others
        ("board.corners_px", [[0, 0], [90, 0], [0, 60], [80, 20]]),  # not in order round it
        ("camera.exposure_us", 10**400),
        ("camera.exposure_us", 10_000),  # longer than a picture lasts
        ("camera.readout_us", 8334),  # so is this
        ("camera.readout_us", -1),
        ("camera.readout_us", None),
        ("camera.intrinsics", [0, 900, 47.5, 31.5]),
        ("camera.intrinsics", [1000, 1000, 47.5, 31.5]),  # above ten times the width
        ("camera.intrinsics", None),  # with the distortion of a lens
        ("camera.distortion", [0, 0, 1e5, 0, 0]),
        ("camera.distortion", [1e100, 0, 0, 0, 0]),
        ("timestamps_us", [*TIMES_US[:-1], 10**400]),
        ("timestamps_us", [t + 10**30 for t in TIMES_US]),
        ("fire_us", 10**400),
        ("fire_us", -(10**400)),
        ("board.markers.size_mm", 1),
        ("board.markers.size_mm", 1e6),
        ("board.markers.centres_mm", {"0": [1e300, 0]}),
        ("board.markers.centres_mm", {"7": [0, 0], "007": [0, 700]}),
        ("board.markers.centres_mm", {"9" * 5000: [0, 0]}),
        ("board.markers.centres_mm", {"1": [0, 0], "2": [10, 10]}),  # one on the other
        ("board.markers.centres_mm", {"0": [-30, 25], "50": [390, 780]}),  # DICT_4X4_50 has 0 to 49
        ("board.markers.dictionary", "DICT_X"),
        ("board.corners_px", [[-1e300, -1e300], [1e300, -1e300], [1e300, 1e300], [-1e300, 1e300]]),
        ("cannon.muzzle_mm", [180, 20_860, 50]),
        ("cannon.muzzle_mm", [180, 860, -500]),
        ("cannon.muzzle_mm", [180, 860, 1400]),
        ("cannon.muzzle_mm", [180, -50, 50]),  # at the other side's end
        ("cannon.side", "A"),
        ("cannon.side", "B"),
        ("cannon.muzzle_mm", [1, 2]),
        ("position", "G A01 A01 0/0 1/1 -"),
        ("zone", "G25-G99"),
        ("option", "iv"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found_and_expected(
    folder: Path, key: str, value: object
) -> None:
    change(folder, setting(key, value))
    with pytest.raises(RecordingError) as caught:
        read_recording(folder)
    said = str(caught.value)
    assert "recording.json" in said
    assert key.split(".", maxsplit=1)[0] in said
    assert "found" in said
    assert "expected" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (
            "camera",
            {**KEYS["camera"], "intrinsics": None, "distortion": [0, 0, 0, 0, 0]},
        ),  # no distortion at all
        (
            "camera",
            {**KEYS["camera"], "intrinsics": [28.8, 28.8, 47.5, 31.5]},
        ),  # a wide lens: 0.3 of the width
        (
            "camera",
            {**KEYS["camera"], "intrinsics": [768, 768, 47.5, 31.5]},
        ),  # a tele lens: 8 times the width
        ("camera", {**KEYS["camera"], "width": 64, "height": 96, "intrinsics": [19.2, 19.2, 31.5, 47.5]}),
        ("camera", {**KEYS["camera"], "distortion": [-4.2, 20.0, 0.01, -0.02, -35.0, -4.1, 19.0, -33.0]}),
        ("camera", {**KEYS["camera"], "exposure_us": 8334}),  # all of a picture
        ("camera", {**KEYS["camera"], "readout_us": 8333}),  # so is this
        ("timestamps_us", [t + 1_800_000_000_000_000 for t in TIMES_US]),  # since 1970
        ("fire_us", -50_000),
        ("board", {**KEYS["board"], "corners_px": [[10, 10], [50, 10], [50, 42], [10, 42]]}),
        ("cannon", {"side": "A", "muzzle_mm": [180.0, -120.0, 30.0]}),
        ("cannon", {"side": "G", "muzzle_mm": [180.0, 795.0, 50.0]}),  # a long barrel over the first line
        (
            "cannon",
            {"side": "A", "muzzle_mm": [180.0, 400.0, 50.0]},
        ),  # of the longest barrel that there may be
        ("cannon", {"side": "A", "muzzle_mm": None}),
    ],
)
def test_what_cameras_and_tables_can_be_is_read(folder: Path, key: str, value: object) -> None:
    change(folder, setting(key, value))
    read_recording(folder)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"format": NaN}', "\ufeff{}", f'{{"fire_us": {"9" * 5000}}}', "[" * 100_000]
)
def test_a_file_that_is_no_recording_is_told(folder: Path, text: str) -> None:
    (folder / "recording.json").write_text(text)
    with pytest.raises(RecordingError, match=r"recording\.json"):
        read_recording(folder)


def test_a_muzzle_farther_over_the_board_than_any_barrel_reaches_is_told(folder: Path) -> None:
    change(folder, setting("board", {**KEYS["board"], "square_mm": 90.0, "markers": None}))
    with pytest.raises(
        RecordingError, match=r"found y 860, expected a muzzle at the end of G, with .* 1120 to 3120"
    ):
        read_recording(folder)


def test_a_file_in_which_nothing_is_is_told_as_that(folder: Path) -> None:
    (folder / "recording.json").write_text("\n")
    with pytest.raises(RecordingError, match=r"recording\.json: the file: found an empty file, expected"):
        read_recording(folder)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ((), "and nothing else either"),
        (("clip.mkv",), "but 'clip.mkv'"),
        (("e", "d", "c", "b", "a"), "but 'a', 'b', 'c' and 2 more"),
    ],
)
def test_of_a_folder_without_a_recording_it_is_told_what_is_there(
    tmp_path: Path, names: tuple[str, ...], found: str
) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(RecordingError) as told:
        read_recording(tmp_path)
    expected = "recording.json in it, or the name of a folder that has one"
    assert str(told.value) == f"{tmp_path}: the folder: found no recording, {found}, expected {expected}"


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="nowhere"):
        read_recording(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "value", ["[" * 300 + "]" * 300, r'"\ud800"'], ids=["lists in lists", "half a character"]
)
def test_values_that_only_some_json_readers_take_are_told(folder: Path, value: str) -> None:
    path = folder / "recording.json"
    path.write_text(path.read_text().replace('"option"', f'"weather": {value}, "option"'))
    with pytest.raises(RecordingError, match=r"recording\.json: the file: found lists in lists"):
        read_recording(folder)


def test_a_mark_of_the_encoding_before_the_text_does_no_harm(folder: Path) -> None:
    before = read_recording(folder)
    path = folder / "recording.json"
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert read_recording(folder) == before


def test_a_key_given_twice_is_told(folder: Path) -> None:
    path = folder / "recording.json"
    path.write_text(path.read_text().replace('"option"', '"option": "i", "option"'))
    with pytest.raises(RecordingError, match="option: found more than once, expected once"):
        read_recording(folder)


def test_what_is_no_folder_or_no_file_is_said_to_be_what_it_is(folder: Path) -> None:
    with pytest.raises(RecordingError, match="the folder: found a file, expected a folder"):
        read_recording(folder / "clip.mkv")
    recording = read_recording(folder)
    (folder / "clip.mkv").unlink()
    (folder / "clip.mkv").mkdir()
    with pytest.raises(RecordingError, match=r"clip\.mkv: the clip: found a folder, expected a video"):
        list(read_frames(folder, recording))
    (folder / "recording.json").unlink()
    (folder / "recording.json").mkdir()
    with pytest.raises(RecordingError, match=r"recording\.json: the file: found a folder"):
        read_recording(folder)


def test_a_name_that_is_no_utf_8_is_told_as_that(folder: Path) -> None:
    """OpenCV ends the process on such a name, as of a folder from an old disk."""
    old = folder.with_name(os.fsdecode(b"caf\xe9"))
    folder.rename(old)
    with pytest.raises(
        RecordingError, match=r"clip\.mkv: its name: found '.*caf\\udce9/clip\.mkv', which is not"
    ):
        list(read_frames(old, read_recording(old)))


def test_a_folder_named_by_a_time_of_day_is_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = write_recording(Path("12:30"), KEYS, list(zip(TIMES_US, pictures(), strict=True)))
    assert len(list(read_frames(Path("12:30"), written))) == len(TIMES_US)


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    recording = read_recording(folder)
    for name in ("recording.json", "clip.mkv"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
    with pytest.raises(RecordingError, match=r"recording\.json: the file: found a device or a pipe"):
        read_recording(folder)
    with pytest.raises(RecordingError, match=r"clip\.mkv: the clip: found a device or a pipe"):
        list(read_frames(folder, recording))


def test_a_pipe_among_numbered_pictures_is_not_waited_for(folder: Path) -> None:
    frames = numbered(folder, pictures())
    (frames / "000002.png").unlink()
    os.mkfifo(frames / "000002.png")
    with pytest.raises(
        RecordingError, match=r"000002\.png: the file: found a device or a pipe, expected a PNG"
    ):
        list(read_frames(folder, read_recording(folder)))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_clip_that_must_not_be_read_is_told_as_that(folder: Path) -> None:
    (folder / "clip.mkv").chmod(0)
    with pytest.raises(RecordingError, match=r"clip\.mkv: the clip: found Permission denied"):
        list(read_frames(folder, read_recording(folder)))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (
            "timestamps_us",
            [str(t) for t in TIMES_US],
            'timestamps_us[1]: found "1000000", expected a whole number (and 4 more items like it)',
        ),
        ("camera", [], 'camera: found [], expected an object, {"key": value, ...}'),
        (
            "camera",
            {},
            "camera.width: found nothing, expected a value; this key must be given; and camera.height",
        ),
    ],
    ids=["a list of wrong items", "no object", "an object without keys"],
)
def test_many_faults_are_one_line(
    folder: Path, key: str, value: object, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder, setting(key, value))
    assert main(["analyse", str(folder)]) == 2
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert out == ""
    assert line.startswith(f"rig: {folder / 'recording.json'}: {said}")
    assert len(line) < len(str(folder)) + 400


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (
            "clip",
            "../film.mkv",
            'clip: found "../film.mkv", expected the name of a video beside this file, or frames',
        ),
        (
            "clip",
            "clip\0.mkv",
            r'clip: found "clip\u0000.mkv", expected the name of a video beside this file, or frames',
        ),
        (
            "clip",
            "é" * 128,
            f'clip: found "{"é" * 119} ..., expected the name of a video beside this file, or frames',
        ),
        (
            "clip_sha256",
            "0D" * 32,
            f'clip_sha256: found "{"0D" * 32}", expected 64 digits from 0 to f, small letters',
        ),
        (
            "board.markers.dictionary",
            "4X4",
            'board.markers.dictionary: found "4X4", expected a dictionary that OpenCV knows, as DICT_4X4_50',
        ),
        (
            "board.markers.centres_mm",
            {},
            "board.markers.centres_mm: found {}, expected an object of at least 1 key",
        ),
    ],
)
def test_of_a_text_or_a_table_it_is_told_in_words_what_is_expected(
    folder: Path, key: str, value: object, said: str
) -> None:
    change(folder, setting(key, value))
    with pytest.raises(RecordingError) as caught:
        read_recording(folder)
    assert str(caught.value) == f"{folder / 'recording.json'}: {said}"


@pytest.mark.parametrize("key", ["clip", "position", "zone", "option", "cannon.side", "clip_sha256"])
def test_of_a_text_that_nobody_reads_to_its_end_the_beginning_is_told(folder: Path, key: str) -> None:
    change(folder, setting(key, "x" * 5000))
    with pytest.raises(RecordingError) as caught:
        read_recording(folder)
    told = str(caught.value).removeprefix(f"{folder / 'recording.json'}: ")
    assert told.startswith(f'{key}: found "xxx')
    assert len(told) < 800


def test_more_or_fewer_pictures_than_times_are_told(folder: Path) -> None:
    change(folder, lambda d: d.update(timestamps_us=TIMES_US[:-1]))
    with pytest.raises(RecordingError, match=r"clip\.mkv.*4"):
        list(read_frames(folder, read_recording(folder)))
    change(folder, lambda d: d.update(timestamps_us=[*TIMES_US, 2_000_000]))
    with pytest.raises(RecordingError, match=r"clip\.mkv.*after 5 pictures, expected 6"):
        list(read_frames(folder, read_recording(folder)))


def test_a_clip_of_a_single_picture_is_told_as_that(folder: Path) -> None:
    numbered(folder, pictures()[:1])
    with pytest.raises(RecordingError, match="the clip ends after 1 picture, expected 5"):
        list(read_frames(folder, read_recording(folder)))


@pytest.mark.parametrize(
    ("side", "said"),
    [("width", "96 x 64 px, expected 128 x 64"), ("height", "96 x 64 px, expected 96 x 128")],
)
def test_a_clip_of_another_size_is_told(folder: Path, side: str, said: str) -> None:
    change(folder, setting(f"camera.{side}", 128))
    with pytest.raises(RecordingError, match=said):
        list(read_frames(folder, read_recording(folder)))


def test_a_clip_that_is_missing_or_no_video_is_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    recording = read_recording(folder)
    (folder / "clip.mkv").write_bytes(b"no video at all" * 100)
    with pytest.raises(RecordingError, match=r"clip\.mkv"):
        list(read_frames(folder, recording))
    (folder / "clip.mkv").unlink()
    with pytest.raises(RecordingError, match=r"clip\.mkv"):
        list(read_frames(folder, recording))
    # The sentence is the caller's to print; the decoder keeps quiet.
    assert capfd.readouterr() == ("", "")


def test_a_clip_damaged_inside_a_picture_is_told_though_it_decodes(folder: Path) -> None:
    recording = read_recording(folder)
    clip = folder / "clip.mkv"
    whole = bytearray(clip.read_bytes())
    whole[len(whole) * 2 // 3] ^= 0xFF  # a bit rots; the decoder says nothing and gives as many pictures
    clip.write_bytes(whole)
    with pytest.raises(RecordingError, match=r"clip\.mkv: not the clip that was recorded"):
        list(read_frames(folder, recording))


def film(path: Path, *, x264: str, seen: Sequence[Any] | None = None) -> None:
    """Write pictures as others' encoders may."""
    seen = pictures() if seen is None else seen
    with av.open(str(path), "w") as made:
        stream = made.add_stream("libx264", rate=25, options={"x264-params": f"{x264}:log=-1"})
        stream.width, stream.height, stream.pix_fmt = seen[0].shape[1], seen[0].shape[0], "yuv420p"
        for picture in seen:
            made.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        made.mux(stream.encode())


@pytest.mark.parametrize("with_what", [bytes(8), b"\xff" * 8])
@pytest.mark.parametrize("x264", [None, "keyint=1"])
def test_a_clip_damaged_in_its_middle_is_told_though_nobody_took_its_digest(
    folder: Path, x264: str | None, with_what: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    if x264 is not None:
        film(folder / "clip.mkv", x264=x264)
    change(folder, lambda keys: keys.pop("clip_sha256"))
    clip = folder / "clip.mkv"
    assert len(list(read_frames(folder, read_recording(folder)))) == len(TIMES_US)
    with av.open(str(clip)) as opened:
        second = list(opened.demux(video=0))[1]
    whole = bytearray(clip.read_bytes())
    middle = (second.pos or 0) + second.size // 2
    whole[middle : middle + len(with_what)] = with_what
    clip.write_bytes(whole)
    with pytest.raises(RecordingError, match=r"clip\.mkv: picture 2 is damaged, and its decoder made up"):
        list(read_frames(folder, read_recording(folder)))
    assert capfd.readouterr() == ("", "")


def test_of_a_film_whose_pictures_change_their_size_that_is_told(tmp_path: Path) -> None:
    """As of two films joined to one; OpenCV gives all pictures in the size of the first."""
    joined = b""
    for part, size in ((slice(2), (WIDTH, HEIGHT)), (slice(2, None), (2 * WIDTH, 2 * HEIGHT))):
        seen = [cv2.resize(each, size) for each in pictures()[part]]
        film(tmp_path / "part.h264", x264="bframes=0", seen=seen)
        joined += (tmp_path / "part.h264").read_bytes()
    (tmp_path / "film.h264").write_bytes(joined)
    assert fault_of_film(tmp_path / "part.h264") is None
    assert fault_of_film(tmp_path / "film.h264") == (
        f"picture 3 is {2 * WIDTH} x {2 * HEIGHT} px, expected {WIDTH} x {HEIGHT} px as picture 1 is: are all of one film?"
    )


def test_an_interlaced_film_is_told(folder: Path) -> None:
    """As of a camcorder; OpenCV gives black pictures of it, and as many as there are."""
    film(folder / "film.mp4", x264="interlaced=1")
    change(folder, lambda keys: keys.update(clip="film.mp4", clip_sha256=None))
    with pytest.raises(RecordingError, match=r"film\.mp4: its pictures are interlaced"):
        list(read_frames(folder, read_recording(folder)))


def test_a_clip_whose_digest_nobody_took_is_read(folder: Path) -> None:
    change(folder, lambda keys: keys.pop("clip_sha256"))
    with (folder / "clip.mkv").open("ab") as clip:
        clip.write(bytes(16))
    recording = read_recording(folder)
    assert len(list(read_frames(folder, recording))) == len(recording.timestamps_us)

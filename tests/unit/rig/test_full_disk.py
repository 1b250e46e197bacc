"""A disk that is really full, a megabyte of memory mounted as one; and one that a shot does not go onto."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from logged_shots import START, until
from painted_shot import CAMERA, keys
from whole_rig import ORDER

from rig.calibrating.shot_rows import ShotRows
from rig.calibrating.shots_file import ShotsFileError
from rig.cli import main
from rig.eye import Eye
from rig.files.whole_file import write_whole
from rig.link.transcript import Transcript
from rig.log import LogError, Stage, open_log, open_log_in_memory
from rig.log._sqlite import spoken_errors
from rig.match import Match
from rig.recording import BESIDE_BYTES, RecordingError, read_recording, refuse_full_disk, write_recording
from rig.settings import Camera as CameraSettings
from rig.settings import Log, Settings
from rig.verdict.analysis_store import keep


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> None:
    with (disk / "film").open("wb", buffering=0) as film, pytest.raises(OSError, match="No space left"):
        while True:
            film.write(bytes(4096))


def test_no_shot_begins_where_there_is_no_room_for_one(small_disk: Path) -> None:
    with pytest.raises(
        RecordingError, match=r"recordings: its disk has 1\.0 MB left, .* up to 20 MB; make room"
    ):
        refuse_full_disk(small_disk / "not made yet" / "recordings", 20_000_000)


def refused(settings: Settings, camera: SimpleNamespace) -> str:
    """Why no shot begins; before anything is asked of cannon, camera or hands, and with nothing in the log."""
    nobody = cast(Any, None)
    with open_log_in_memory() as log:
        match = Match(
            settings,
            cannon=nobody,
            eye=cast(Eye, SimpleNamespace(ring=SimpleNamespace(camera=camera))),
            hands=nobody,
            clock=nobody,
            shots=log,
            session_id=log.start_session(START),
        )
        with pytest.raises(RecordingError) as full:
            match.shoot(ORDER)
        assert not log.shots()
    return str(full.value)


def test_no_shot_begins_where_there_is_no_room_for_a_long_clip_of_large_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1_000_000_000))
    camera = SimpleNamespace(width_px=3840, height_px=2160, fps=120.0)
    settings = Settings(
        camera=CameraSettings(clip_after_s=30), log=Log(recordings=str(tmp_path / "recordings"))
    )
    said = refused(settings, camera)
    assert f"{tmp_path / 'recordings'}: its disk has 1000.0 MB left, and a shot takes up to 2129 MB" in said


def test_no_shot_begins_where_the_logs_own_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recordings may go onto another."""
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.setattr(
        shutil, "disk_usage", lambda place: SimpleNamespace(free=1_000_000 if Path(place) == logs else 10**12)
    )
    settings = Settings(log=Log(path=str(logs / "log.sqlite"), recordings=str(tmp_path / "recordings")))
    said = refused(settings, SimpleNamespace(width_px=1280, height_px=720, fps=120.0))
    assert f"{logs}: its disk has 1.0 MB left, and a shot takes up to 2 MB" in said


def test_half_a_recording_is_none_and_leaves_its_room(small_disk: Path) -> None:
    folder = small_disk / "shot-00001"
    rng = np.random.default_rng(1)
    size = (CAMERA.height_px, CAMERA.width_px, 3)
    noise = [(10_000 * k, rng.integers(0, 255, size, dtype=np.uint8)) for k in range(12)]
    with pytest.raises(RecordingError, match=r"shot-00001: cannot be written: No space left on device"):
        write_recording(folder, keys(), noise)
    assert list(folder.iterdir()) == []
    still = [(10_000 * k, np.zeros(size, np.uint8)) for k in range(12)]
    write_recording(folder, keys(), still)
    assert len(read_recording(folder).timestamps_us) == 12


def test_what_was_there_is_there_still(small_disk: Path) -> None:
    path = small_disk / "battle.json"
    write_whole(path, "as it was")
    with pytest.raises(OSError, match="No space left on device"):
        write_whole(path, "x" * 2_000_000)
    assert path.read_text() == "as it was"
    assert [each.name for each in small_disk.iterdir()] == ["battle.json"]


@pytest.mark.parametrize(
    "words", [("init", "rig.toml"), ("tournament", "new", "spring.json", "--rounds", "3")], ids=" ".join
)
def test_a_file_that_finds_no_room_is_named_and_nothing_of_it_is_left(
    small_disk: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    fill(small_disk)
    path = small_disk / next(word for word in words if "." in word)
    assert main([str(path) if word == path.name else word for word in words]) == 2
    assert capsys.readouterr().err == f"rig: {path} cannot be written: No space left on device\n"
    assert [each.name for each in small_disk.iterdir()] == ["film"]


@pytest.mark.parametrize("into", [False, True])
def test_a_reading_that_finds_no_room_leaves_no_empty_folder(
    small_disk: Path, tmp_path: Path, into: bool
) -> None:
    fill(small_disk)
    recording = (small_disk if not into else tmp_path) / "shot"
    recording.mkdir()
    place = (small_disk / "kept" / "shot" if into else recording) / "analysis" / "0.1.0-0123456789ab.json"
    with pytest.raises(OSError, match="No space left on device"):
        keep(place, {"notes": ["who fell"] * 1000})
    assert {each.name for each in small_disk.rglob("*")} == {"film"} | ({"shot"} if not into else set())


def test_shots_that_find_no_room_leave_no_file_that_the_next_ones_stumble_over(small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(ShotsFileError, match=r"shots\.csv: the file: found No space left on device"):
        ShotRows.open(small_disk / "shots.csv")
    (small_disk / "film").unlink()
    assert ShotRows.open(small_disk / "shots.csv").count == 0


def test_a_transcript_that_finds_no_room_is_named_and_nothing_of_it_is_left(small_disk: Path) -> None:
    fill(small_disk)
    path = small_disk / "session.transcript"
    with pytest.raises(OSError, match="No space left on device") as full:
        Transcript(path)
    assert full.value.filename == str(path)
    assert [each.name for each in small_disk.iterdir()] == ["film"]


def test_films_of_the_twin_that_find_no_room_are_told_by_their_folder(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(small_disk)
    assert main(["clips", str(small_disk / "films"), "--count", "1"]) == 2
    films = small_disk / "films"
    assert (
        capsys.readouterr().err == f"rig: {films / 'clip-00001'} cannot be written: No space left on device\n"
    )
    assert not films.exists()


def test_a_log_without_room_says_so_keeps_what_it_has_and_goes_on_where_there_is_room_again(
    small_disk: Path,
) -> None:
    path, in_the_way = small_disk / "log.sqlite", small_disk / "film"
    with open_log(path) as log:
        session_id = log.start_session(START)
        first = until(log, session_id, Stage.JUDGED)
        kept = log.shot(first)
        fill(small_disk)
        with pytest.raises(
            LogError,
            match=r"log\.sqlite: the disk did not take it \(.*\): it has 0\.0 MB left, and a shot takes up to "
            rf"{BESIDE_BYTES // 1_000_000} MB there; make room; what the log had is in it still",
        ):
            for _ in range(100):
                until(log, session_id, Stage.ARMED)
        assert log.shot(first) == kept
        in_the_way.unlink()
        last = until(log, session_id, Stage.JUDGED)
        log.end_session(session_id, "done")
    with open_log(path, create=False) as log:
        assert log.shot(first) == kept
        assert log.shot(last).stage is Stage.DECIDED
        assert log.sessions()[0].end_cause == "done"


def test_a_disk_that_fails_with_room_left_is_not_told_to_be_full(tmp_path: Path) -> None:
    broken = sqlite3.OperationalError("disk I/O error")
    broken.sqlite_errorcode = sqlite3.SQLITE_IOERR
    with (
        pytest.raises(LogError, match=r"\(disk I/O error\), though it has \d+ MB left: it fails, or no more"),
        spoken_errors(str(tmp_path / "log.sqlite")),
    ):
        raise broken

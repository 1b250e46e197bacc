"""Where a result cannot be written is told before the work, and nothing is printed or made."""

from __future__ import annotations

from pathlib import Path

import pytest
from logged_shots import PLAN, START, until
from painted_shot import record

from rig.cli import main
from rig.log import Stage, open_log


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("circle").symlink_to("circle")
    Path("file").write_text("mine")
    with open_log(Path("rig-log.sqlite")) as log:
        session_id = log.start_session(START)
        until(log, session_id, Stage.JUDGED, plan=PLAN)
        log.end_session(session_id, "done")


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run `rig`, which refuses, says so in one line and prints nothing else; and give the line."""
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert Path("file").read_text() == "mine"
    return line


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("folder", "Is a directory"),
        ("nowhere/hits.csv", "No such file or directory"),
        ("file/hits.csv", "Not a directory"),
        ("circle", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_table_that_cannot_be_written_is_told_before_it_is_printed(
    capsys: pytest.CaptureFixture[str], target: str, why: str
) -> None:
    assert refused(capsys, "stats", "--csv", target).endswith(f"{target} cannot be written: {why}")


def test_what_is_there_is_not_touched_by_looking_whether_it_can_be_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("rig-log.sqlite").unlink()
    for name in ("file", "new.csv"):
        assert "there is no log here" in refused(capsys, "stats", "--csv", name)
    assert not Path("new.csv").exists()


@pytest.mark.parametrize("name", ["rig.toml", "recordings", "transcripts", "report.html"])
def test_a_demo_takes_nothing_away_from_a_folder_in_which_somebody_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("rig.cli._opening.open_rig", lambda *_, **__: pytest.fail("it was played"))
    Path(name).mkdir()
    assert f"found {name} in ., expected an empty folder or one that an earlier demo left" in refused(
        capsys, "demo", "--folder", "."
    )
    assert Path(name).exists()


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("file", "file: Not a directory"),
        ("file/clips", "Not a directory"),
        ("/proc/clips", "No such file or directory"),
    ],
)
def test_nothing_is_filmed_for_a_folder_that_cannot_be_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: str, why: str
) -> None:
    monkeypatch.setattr("twin.clips.film", lambda number: pytest.fail("it was filmed"))
    assert why in refused(capsys, "clips", folder)


def test_clips_that_are_all_there_are_said_to_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twin.clips.film", lambda number: pytest.fail("it was filmed"))
    Path("folder/clip-00001").mkdir()
    Path("folder/clip-00001/recording.json").write_text("{}")
    assert main(["clips", "folder", "--count", "1"]) == 0
    assert capsys.readouterr().out == "folder: all 1 asked for are there already\n"


def test_nothing_is_filmed_where_a_file_has_the_clips_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twin.clips.film", lambda number: pytest.fail("it was filmed"))
    Path("folder/clip-00001").write_text("")
    assert "clip-00001: Not a directory" in refused(capsys, "clips", "folder")


def test_no_shot_is_read_for_a_replay_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(Path("shot"))
    monkeypatch.setattr("rig.analyse.analyse_folder", lambda folder: pytest.fail("it was read"))
    assert "file: Not a directory" in refused(capsys, "replay", "shot", "--into", "file")

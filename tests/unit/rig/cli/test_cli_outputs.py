"""Where a result cannot be written is told before the work, and nothing is printed or made."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet
import pytest
import typer
from logged_shots import PLAN, START, until
from painted_shot import record
from painted_table import CROWD
from small_recording import KEYS, TIMES_US, pictures

from game.montecassino import Agreement, Battle, Position, Side
from rig.battle.file import write_battle
from rig.cli import main
from rig.files.file_lock import hold_lock_beside
from rig.files.not_written import NotWrittenError
from rig.log import Stage, open_log
from rig.settings import Settings


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder.csv").mkdir()
    Path("circle.csv").symlink_to("circle.csv")
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
        ("folder.csv", "Is a directory"),
        ("nowhere/hits.csv", "No such file or directory"),
        ("file/hits.csv", "Not a directory"),
        ("circle.csv", "Too many levels of symbolic links"),
        ("x" * 300 + ".csv", "File name too long"),
    ],
)
def test_a_table_that_cannot_be_written_is_told_before_it_is_printed(
    capsys: pytest.CaptureFixture[str], target: str, why: str
) -> None:
    assert refused(capsys, "stats", "--csv", target).endswith(f"{target} cannot be written: {why}")


def test_a_picture_of_the_table_that_cannot_be_written_is_told_before_it_is_looked_at(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = refused(capsys, "watch", "--save", "nowhere/seen.png")
    assert said.endswith("nowhere/seen.png cannot be written: No such file or directory")


def test_what_is_there_is_not_touched_by_looking_whether_it_can_be_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("rig-log.sqlite").unlink()
    Path("old.csv").write_text("mine")
    for name in ("old.csv", "new.csv"):
        assert "there is no log here" in refused(capsys, "stats", "--csv", name)
    assert Path("old.csv").read_text() == "mine"
    assert not Path("new.csv").exists()


_NAMES = ("rig-log.sqlite", "rig.toml", "friday.json")
_START = "A A01-A24 G01-G24 0/0 20/20 -"


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (("stats", "--csv"), ".csv"),
        (("stats", "--plot"), ".png, .svg or .pdf"),
        (("aim", "table", "--csv"), ".csv"),
        (("aim", "table", "--pdf"), ".pdf"),
        (("aim", "reach", "--plot"), ".png, .svg or .pdf"),
        (("aim", "best", "--plot"), ".png, .svg or .pdf"),
        (("camera", "markers", "--out"), ".pdf"),
        (("certificate", "--tape", "648,650,655", "--html"), ".html"),
        (("docket", "show", "1", "--picture"), ".png"),
        (("game", "show", _START, "--svg"), ".svg"),
        (("tournament", "page", "friday.json", "--out"), ".html"),
        (("watch", "--save"), ".png or .jpg"),
    ],
    ids=" ".join,
)
def test_what_is_named_to_be_written_over_by_a_slip_stays(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], ending: str, name: str
) -> None:
    before = _precious()
    assert refused(capsys, *words, name).endswith(f"expected a name that ends in {ending}")
    assert {each: Path(each).read_bytes() for each in _NAMES} == before


@pytest.mark.parametrize("name", _NAMES)
def test_a_calibration_and_taught_uniforms_replace_only_what_is_one(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    before = _precious()
    said = refused(capsys, "calibrate", "range", "--tape", "648,655,651", "--elevation", "42", "--out", name)
    if name == "friday.json":
        assert said == (
            f"rig: {name}: the file: found another one that is there already, expected a new file, or one whose format is "
            '"cannon-calibration/1"'
        )
    else:
        assert said.endswith(f"found '{name}', expected a name that ends in .json")
    record(
        Path("told"), position=str(Position(Side.G, CROWD, dict.fromkeys(Side, 0), dict.fromkeys(Side, 20)))
    )
    said = refused(capsys, "vision", "teach", "told", "--out", name)
    assert said.endswith('expected a new file, or one whose format is "uniforms/1"')
    assert {each: Path(each).read_bytes() for each in _NAMES} == before
    for _ in range(2):
        assert main(["calibrate", "range", "--tape", "648,655,651", "--elevation", "42"]) == 0


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("kind", ["text", "csv", "pdf", "battle", None])
def test_a_chart_replaces_only_what_may_be_one(
    capsys: pytest.CaptureFixture[str], kind: str | None, name: str
) -> None:
    before = _precious()
    write_battle(Path("monday.json"), Battle.begin(Agreement(Side.A)))
    words = ["game", "chart", "monday.json", "--out", name, *(["--format", kind] if kind else [])]
    if kind is None and name != "friday.json":
        assert "says what to write" in refused(capsys, *words)
    else:
        assert f"{name} is there already" in refused(capsys, *words)
    assert {each: Path(each).read_bytes() for each in _NAMES} == before
    if kind in {"text", "csv", "pdf"}:
        named = "chart." + {"text": "txt"}.get(kind, kind)
        for _ in range(2):
            assert main(["game", "chart", "monday.json", "--out", named, "--format", kind]) == 0
    assert main(["game", "chart", "monday.json", "--out", "new", "--format", "csv"]) == 0


def test_an_export_replaces_no_shots_that_were_measured(capsys: pytest.CaptureFixture[str]) -> None:
    measured = "elevation_deg,range_cm\n41.6,666\n"
    Path("shots.csv").write_text(measured)
    assert "shots.csv: found a table that is no earlier export; name another folder" in refused(
        capsys, "log", "export", "."
    )
    assert Path("shots.csv").read_text() == measured
    assert not Path("falls.csv").exists()
    for _ in range(2):
        assert main(["log", "export", "out"]) == 0


@pytest.mark.parametrize("kind", ["a table", "no table", "a damaged one"])
def test_an_export_replaces_no_parquet_that_is_not_its_own(
    capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    written = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"elevation_deg": [41.6]}), written)
    sound = written.getvalue()
    precious = {
        "a table": sound,
        "no table": b"notes",
        "a damaged one": sound[:-40] + b"\xff" * 28 + sound[-12:],
    }
    Path("falls.parquet").write_bytes(precious[kind])
    said = refused(capsys, "log", "export", ".")
    assert "falls.parquet: found a table that is no earlier export; name another folder" in said
    assert Path("falls.parquet").read_bytes() == precious[kind]
    assert not Path("shots.csv").exists()
    assert main(["log", "export", ".", "--format", "csv"]) == 0


def _precious() -> dict[str, bytes]:
    """Make what nobody wants to lose, beside the log; give the content of all."""
    write_battle(Path("friday.json"), Battle.begin(Agreement(Side.A)))
    Path("rig.toml").touch()
    return {each: Path(each).read_bytes() for each in _NAMES}


@pytest.mark.parametrize("name", ["rig.toml", "log.sqlite", "recordings", "transcripts", "report.html"])
def test_a_demo_takes_nothing_away_from_a_folder_in_which_somebody_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("rig.cli.opening.rig.open_rig", lambda *_, **__: pytest.fail("it was played"))
    Path(name).mkdir()
    said = refused(capsys, "demo", "--folder", ".")
    assert (
        f"found {name} in ., expected an empty folder or one that an earlier demo left (it has made-by-rig-demo)"
        in said
    )
    # So may a demo of an older rig have left it, but for a settings file.
    assert ("if an older rig's demo left it, delete it yourself" in said) is (name != "rig.toml")
    assert Path(name).exists()


def test_a_demo_that_cannot_be_written_is_told_with_where_else_it_can_go(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept(folder: Path) -> None:
        raise NotWrittenError(errno.EROFS, os.strerror(errno.EROFS), str(folder))

    monkeypatch.setattr("rig.files.ready_folder.try_in", kept)
    assert main(["demo", "--folder", "played"]) == 1
    assert capsys.readouterr().err == (
        "rig: played cannot be written: Read-only file system; name another folder with --folder\n"
    )


def test_a_demo_takes_nothing_away_from_another_one_that_is_playing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(settings: Settings, *_: object, **__: object) -> None:
        with open_log(Path(settings.log.path)) as log:
            log.start_session(START)
            capsys.readouterr()
            assert main(["demo", "--folder", "played"]) == 1
            assert Path(settings.log.path).exists()
        raise typer.Abort

    monkeypatch.setattr("rig.cli.opening.rig.open_rig", play)
    assert main(["demo", "--folder", "played"]) == 130
    assert capsys.readouterr().err == (
        "rig: played: another rig demo is playing in it; wait for it, or name another folder with --folder\n"
        "rig: stopped\n"
    )


def test_a_demo_takes_away_no_log_but_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither that of somebody whose `[log]` names a folder, nor one of its own with which somebody fired since."""

    def play(settings: Settings, *_: object, **__: object) -> None:
        with open_log(Path(settings.log.path)) as log:
            log.end_session(log.start_session(START), "done")
        raise typer.Abort

    monkeypatch.setattr("rig.cli.opening.rig.open_rig", play)
    for _ in range(2):
        assert main(["demo", "--folder", "played"]) == 130
    capsys.readouterr()
    Path("played/log.sqlite.copy").write_text("mine")
    Path("data/recordings").mkdir(parents=True)
    with open_log(Path("data/log.sqlite")) as log:
        log.end_session(log.start_session(START), "done")
    with open_log(Path("played/log.sqlite")) as log:
        log.end_session(log.start_session(START), "done")
    for folder, found in (
        ("data", "log.sqlite, log.sqlite.lock, recordings"),
        ("played", "a log.sqlite with which others fired too"),
    ):
        said = refused(capsys, "demo", "--folder", folder)
        assert (
            f"found {found} in {folder}, expected an empty folder or one that an earlier demo left (it has made-by-rig-demo)"
            in said
        )
        with open_log(Path(folder, "log.sqlite"), create=False) as log:
            assert log.sessions()
    assert Path("data/recordings").is_dir()
    assert Path("played/log.sqlite.copy").read_text() == "mine"


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


def test_filming_that_is_broken_off_leaves_no_empty_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_off(_number: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("twin.clips.film", broken_off)
    assert main(["clips", "films", "--count", "1"]) != 0
    assert not Path("films").exists()
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "end", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"]
)
def test_a_clip_that_could_not_be_written_leaves_no_half_of_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, end: BaseException
) -> None:
    """A truth whose pictures are not there would be read as a clip's, and it takes the room that was wanting."""

    def broken_off(path: Path, *_: object) -> None:
        path.write_bytes(b"half")
        raise end

    clip = SimpleNamespace(
        truth=SimpleNamespace(as_json=dict),
        look={},
        keys=KEYS,
        frames=list(zip(TIMES_US, pictures(), strict=True)),
    )
    monkeypatch.setattr("twin.clips.film", lambda number: clip)
    monkeypatch.setattr("rig.recording.writing.encode", broken_off)
    assert main(["clips", "films", "--count", "1"]) != 0
    assert not Path("films").exists()
    assert "Traceback" not in capsys.readouterr().err


def test_clips_that_are_all_there_are_said_to_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twin.clips.film", lambda number: pytest.fail("it was filmed"))
    Path("folder/clip-00001").mkdir()
    Path("folder/clip-00001/recording.json").write_text("{}")
    Path("folder/clip-00002").mkdir()
    Path("folder/clip-00002/recording.json").write_text("{}")
    for count, said in (("1", "the one asked for is"), ("2", "all 2 asked for are")):
        assert main(["clips", "folder", "--count", count]) == 0
        assert capsys.readouterr().out == f"folder: {said} there already\n"


def test_a_clip_that_another_films_is_left_to_that_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs into one folder share the work: neither writes into what the other is at."""
    monkeypatch.setattr("twin.clips.film", lambda number: pytest.fail("it was filmed"))
    Path("folder/clip-00002").mkdir()
    Path("folder/clip-00002/recording.json").write_text("{}")
    with hold_lock_beside(Path("folder/clip-00001"), "rig clips", wait=False):
        assert main(["clips", "folder", "--count", "2"]) == 0
    assert capsys.readouterr().out == f"folder/clip-00001: rig clips, process {os.getpid()}, films it\n"
    assert sorted(path.name for path in Path("folder").iterdir()) == ["clip-00002"]


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
    monkeypatch.setattr("rig.verdict.analyse.analyse_folder", lambda folder: pytest.fail("it was read"))
    assert "file: Not a directory" in refused(capsys, "replay", "shot", "--into", "file")


def test_a_recording_that_takes_no_replay_is_told_with_where_else_it_can_go(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one on a card that is kept from being written to."""
    record(Path("shot"))

    def kept(folder: Path) -> None:
        raise NotWrittenError(errno.EROFS, os.strerror(errno.EROFS), str(folder))

    monkeypatch.setattr("rig.files.ready_folder.try_in", kept)
    monkeypatch.setattr("rig.verdict.analyse.analyse_folder", lambda folder: pytest.fail("it was read"))
    assert main(["replay", "shot"]) == 1
    assert capsys.readouterr().err == (
        "rig: shot/analysis cannot be written: Read-only file system; name another folder with --into\n"
    )


@pytest.mark.parametrize(
    "words", [["camera", "markers"], ["tournament", "page", "spring.json"]], ids=["markers", "page"]
)
def test_a_file_with_a_name_of_its_own_that_cannot_be_written_is_told_with_how_to_name_another(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["tournament", "new", "spring.json", "--rounds", "3"]) == 0
    capsys.readouterr()

    def refuse(_descriptor: int) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "fsync", refuse)
    assert main(words) == 1
    assert capsys.readouterr().err.endswith(
        " cannot be written: Read-only file system; name another place with --out\n"
    )


@pytest.mark.parametrize(("into", "why"), [("file", "Not a directory"), ("locked", "Permission denied")])
def test_no_shot_is_read_whose_reading_cannot_be_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, into: str, why: str
) -> None:
    record(Path("shot"))
    Path("locked").mkdir(mode=0o555)
    if into == "locked" and os.access("locked", os.W_OK):
        pytest.skip("the superuser may write anywhere")
    monkeypatch.setattr("rig.verdict.analyse_many.analyse_many", lambda *_, **__: pytest.fail("it was read"))
    assert why in refused(capsys, "analyse", "shot", "--into", into)


@pytest.mark.parametrize("words", [["analyse", "."], ["camera", "markers"]])
def test_a_working_folder_that_is_gone_is_told(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a stick that was pulled, or where somebody removed it in another window."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(words) == 2
    assert capsys.readouterr().err.endswith(
        "rig: the folder that you are in is not there any more: change to one that is\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("game", "play", "--battle", "a\nname.json"),
        ("game", "show", "A A01-A24 G01-G24 0/0 20/20 -", "--svg", "a\nname.svg"),
        ("stats", "--csv", "a\nname.csv"),
        ("stats", "group", "a\nname in.csv"),
        ("stats", "compare", "a\nname in.csv", "a\nname in.csv"),
        ("aim", "table", "--csv", "a\nname.csv"),
        ("certificate", "--tape", "648,655,651", "--html", "a\nname.html"),
        ("calibrate", "range", "--tape", "648,655,651", "--elevation", "41.6", "--out", "a\nname.json"),
    ],
    ids=" ".join,
)
def test_a_name_with_a_line_break_is_shown_in_one_line(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("adjourn\n"))
    Path("a\nname in.csv").write_text("x_mm,y_mm\n1,2\n3,1\n2,4\n")
    assert main(words) == 0
    told = "".join(capsys.readouterr())
    assert r"a\nname" in told
    assert "a\nname" not in told

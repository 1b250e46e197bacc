"""Many recordings read at once: what is done stays done, older readings stay, a bad one stops nobody."""

import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from painted_shot import record
from small_recording import write

from rig.cli import main
from rig.recording import read_recording
from rig.verdict import analyse_many as many
from rig.verdict import analysis_store as store
from rig.verdict.analyse_many import Outcome, Read, Tally, find_recordings
from rig.verdict.analysis_store import keep, place_of
from rig.verdict.kept_readings import FORMAT, kept_readings

RESULT = {
    "falls": [{"square": "G-02", "cause": "direct"}],
    "moved": [],
    "verdict": {"casualties": ["G-02"], "put_back": [], "doubts": []},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "shot")
    return tmp_path / "shot"


def test_a_reading_by_other_code_is_kept_beside_the_older_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = read_recording(folder)
    old = place_of(folder, recording)
    keep(old, {**RESULT, "by": "old code"})
    monkeypatch.setattr(store, "_code_digest", lambda: b"newer code")
    new = place_of(folder, recording)
    assert new != old
    keep(new, {**RESULT, "by": "new code"})
    assert {reading.result["by"] for reading in kept_readings(folder)} == {"old code", "new code"}


def test_a_reading_is_never_written_over(folder: Path) -> None:
    path = place_of(folder, read_recording(folder))
    keep(path, {**RESULT, "first": True})
    before = path.read_bytes()
    keep(path, {**RESULT, "first": False})
    assert path.read_bytes() == before


def test_a_recording_that_was_changed_is_read_anew(folder: Path) -> None:
    recording = read_recording(folder)
    before = place_of(folder, recording)
    text = (folder / "recording.json").read_text()
    (folder / "recording.json").write_text(text.replace('"iii"', '"i"'))
    assert place_of(folder, read_recording(folder)) != before
    (folder / "recording.json").write_text(text)
    assert place_of(folder, recording) == before
    with (folder / "clip.mkv").open("ab") as clip:
        clip.write(b"\0")
    assert place_of(folder, recording) != before


def test_a_recording_whose_uniforms_were_taught_since_is_read_anew(folder: Path) -> None:
    recording = read_recording(folder)
    untaught = place_of(folder, recording)
    (folder.parent / "uniforms.json").write_text("taught once")
    once = place_of(folder, recording)
    (folder.parent / "uniforms.json").write_text("taught again")
    assert len({untaught, once, place_of(folder, recording)}) == 3
    (folder.parent / "uniforms.json").unlink()
    assert place_of(folder, recording) == untaught


def test_what_is_no_reading_of_ours_is_left_out(folder: Path) -> None:
    keep(place_of(folder, read_recording(folder)), RESULT)
    (folder / "analysis" / "notes.json").write_text("{")
    (folder / "analysis" / "list.json").write_text("[]")
    for name, changed in (
        ("software", {"software": None}),
        ("falls", {"result": {**RESULT, "falls": [{"square": "G-02"}]}}),
        ("verdict", {"result": {**RESULT, "verdict": None}}),
    ):
        whole = {"format": FORMAT, "software": {"rig": "0.1.0"}, "result": RESULT, **changed}
        (folder / "analysis" / f"{name}.json").write_text(json.dumps(whole))
    assert [reading.result for reading in kept_readings(folder)] == [RESULT]


def test_recordings_are_found_once_and_below_folders(tmp_path: Path) -> None:
    for name in ("b/shot", "a/deep/shot", "a/shot"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "recording.json").write_text("{}")
    found, left_out = find_recordings([tmp_path, tmp_path / "b" / "shot", tmp_path / "nowhere"])
    assert [str(each.relative_to(tmp_path)) for each in found] == [
        "a/deep/shot",
        "a/shot",
        "b/shot",
        "nowhere",
    ]
    assert left_out == ()


def test_a_film_without_its_recording_json_is_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "shot")
    keep(place_of(tmp_path / "shot", read_recording(tmp_path / "shot")), RESULT)
    for film in ("film/clip.mp4", "pictures/frames/000000.png", "replays/shot-7.mp4"):
        (tmp_path / film).parent.mkdir(parents=True)
        (tmp_path / film).touch()
    assert main(["analyse", str(tmp_path), "--jobs", "1"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"rig: {tmp_path / name} has a film and no recording.json: left out" for name in ("film", "pictures")
    ]
    assert main(["analyse", str(tmp_path), str(tmp_path / "film"), "--jobs", "1"]) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert (
        f"{tmp_path / 'film'}: the folder: found no recording, but 'clip.mp4', expected recording.json" in err
    )
    assert f"{tmp_path / 'film'} has a film" not in err


def test_what_is_read_goes_into_a_file_while_a_terminal_shows_the_progress(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name)
        keep(place_of(tmp_path / name, read_recording(tmp_path / name)), RESULT)
    command = [sys.executable, "-c", "import sys; from rig.cli import main; sys.exit(main())"]
    ours, theirs = os.openpty()
    with (tmp_path / "out").open("w") as out:
        subprocess.run(
            [*command, "analyse", str(tmp_path), "--json", "--jobs", "1"],
            stdout=out,
            stderr=theirs,
            check=True,
        )
    os.close(theirs)
    os.close(ours)
    assert len((tmp_path / "out").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "G-02 leaves"),
        ({"verdict": {"casualties": [], "doubts": []}}, "nobody leaves"),
        (
            {"verdict": {"casualties": ["G-02", "G-03"], "doubts": [{"square": "G-01"}]}},
            "G-02, G-03 leave; doubt: G-01",
        ),
        ({"held": ["a hand"]}, "G-02 leaves; held"),
    ],
)
def test_of_several_each_has_a_line_that_says_who_leaves_and_what_is_in_doubt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, object], said: str
) -> None:
    for name in ("one", "two"):
        write(tmp_path / name)
        keep(place_of(tmp_path / name, read_recording(tmp_path / name)), {**RESULT, **changed})
    assert main(["analyse", str(tmp_path), "--jobs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"{tmp_path / name}: {said}" for name in ("one", "two")]
    assert lines[2].startswith("2 recordings")


def test_a_bad_recording_is_a_sentence_and_the_rest_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "tiny")  # five pictures: too few to be a shot
    write(tmp_path / "kept")
    keep(place_of(tmp_path / "kept", read_recording(tmp_path / "kept")), RESULT)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "recording.json").write_text("{}")
    assert main(["analyse", str(tmp_path), str(tmp_path / "nowhere"), "--jobs", "1"]) == 2
    out, err = capsys.readouterr()
    assert "4 recordings: 0 read, 1 read before by the same code, 3 cannot be read." in out
    complaints = [" ".join(line.split()) for line in err.splitlines()]
    assert len(complaints) == 3
    for name in ("tiny", "empty", "nowhere"):
        assert sum(f"/{name}" in line for line in complaints) == 1, name


def test_a_file_that_no_json_reader_takes_is_a_sentence_and_the_rest_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "kept")
    keep(place_of(tmp_path / "kept", read_recording(tmp_path / "kept")), RESULT)
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "recording.json").write_text(f'{{"fire_us": {"9" * 5000}}}')
    assert main(["analyse", str(tmp_path), "--jobs", "1"]) == 2
    out, err = capsys.readouterr()
    assert "2 recordings: 0 read, 1 read before by the same code, 1 cannot be read." in out
    assert "large/recording.json: the file: found no JSON" in " ".join(err.split())


def test_a_reading_that_cannot_be_kept_is_given_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path / "shot")
    (folder / "analysis").write_text("a file where the folder of readings belongs")
    assert main(["analyse", str(folder), "--keep", "--json", "--jobs", "1"]) == 2
    out, err = capsys.readouterr()
    (told,) = map(json.loads, out.splitlines())
    assert told["folder"] == str(folder)
    assert [fall["square"] for fall in told["falls"]] == ["A-12"]
    said = f"rig: {folder / 'analysis'}: Not a directory; the recording is read, and its reading is not kept"
    assert said in err.splitlines()
    assert "1 read (of 1 the reading is not kept), 0 read before by the same code, 0 cannot be read" in err
    assert err.splitlines()[-1] == "rig: --into FOLDER keeps readings in another folder"


def test_a_name_that_is_no_utf_8_is_told_as_that_though_readings_are_kept_elsewhere(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = folder.rename(os.fsdecode(bytes(tmp_path) + b"/shot \xff"))
    assert main(["analyse", str(odd), "--into", str(tmp_path / "readings")]) == 2
    said = capsys.readouterr().err
    assert "which is not UTF-8, expected one that is; give file or folder another name" in said


@pytest.mark.parametrize(
    ("left", "why"),
    [(Path.mkdir, "Is a directory"), (os.mkfifo, "a device or a pipe")],
    ids=["folder", "pipe"],
)
def test_a_recording_whose_kept_readings_cannot_be_looked_into_is_read_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], left: Callable[[Path], None], why: str
) -> None:
    folder = record(tmp_path / "shot")
    place = place_of(folder, read_recording(folder))
    place.parent.mkdir()
    left(place)
    assert main(["analyse", str(folder), "--keep", "--json", "--jobs", "1"]) == 2
    out, err = capsys.readouterr()
    assert [fall["square"] for fall in json.loads(out)["falls"]] == ["A-12"]
    said = f"rig: {place}: {why}; the recording is read, and its reading is not kept"
    assert said in err.splitlines()


@pytest.mark.parametrize(
    "left",
    [
        "",
        '{"format": "shot-analysis/1", "resu',
        "[]",
        '{"format": "shot-analysis/1", "software": {"rig": "0.1.0"}, "result": {}}',
    ],
    ids=["emptied", "cut short", "a list", "without its result"],
)
def test_a_kept_reading_that_was_emptied_is_made_anew_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], left: str
) -> None:
    folder = record(tmp_path / "shot")
    place = place_of(folder, read_recording(folder))
    place.parent.mkdir()
    place.write_text(left)
    beside = place.with_name(f"{place.stem}-2.json")
    for told in ("1 read, 0 read before", "0 read, 1 read before"):
        assert main(["analyse", str(folder), "--keep", "--jobs", "1"]) == 0
        out, err = capsys.readouterr()
        assert told in out
        assert (f"found no reading in it; read anew, and kept beside it as {beside.name}" in err) == (
            told == "1 read, 0 read before"
        )
    assert place.read_text() == left, "what is no reading is left as it is"
    assert [reading.path for reading in kept_readings(folder)] == [beside]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_folder_that_must_not_be_looked_into_is_named_and_the_rest_is_found(tmp_path: Path) -> None:
    write(tmp_path / "shot")
    (tmp_path / "shut").mkdir(mode=0)
    assert find_recordings([tmp_path])[0] == (tmp_path / "shot", tmp_path / "shut")
    assert find_recordings([tmp_path / "shut"])[0] == (tmp_path / "shut",)


def test_a_link_that_leads_to_itself_is_named_and_the_rest_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "shot")
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    assert find_recordings([circle, tmp_path])[0] == (circle, tmp_path / "shot")
    assert main(["analyse", str(circle)]) == 2
    assert (
        capsys.readouterr().err
        == f"rig: {circle}: the folder: found nothing, expected a folder with recording.json\n"
    )


def test_one_fall_is_told_as_one() -> None:
    tally = Tally()
    tally.add(Read(Path("shot"), Outcome.READ, RESULT))
    assert list(tally.in_words())[-1].startswith("1 fall (1 direct), ")


def test_of_several_json_is_one_object_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        write(tmp_path / name)
        keep(place_of(tmp_path / name, read_recording(tmp_path / name)), RESULT)
    assert main(["analyse", str(tmp_path), "--json", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    told = [json.loads(line) for line in out.splitlines()]
    assert {Path(each["folder"]).name for each in told} == {"one", "two"}
    assert all(each["falls"] == RESULT["falls"] for each in told)
    assert "2 recordings" in err


def _end_the_process(folder: Path, into: Path | None) -> Read:
    if folder.name == "poison":
        time.sleep(1.0)  # as one that is too large does, it has begun to read
        os.kill(os.getpid(), signal.SIGKILL)
    return Read(folder, Outcome.READ, dict(RESULT))


def test_a_recording_that_ends_its_process_is_named_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "_known", lambda folder, into: None)
    monkeypatch.setattr(many, "_read_one", _end_the_process)
    monkeypatch.setattr(many, "_LONGEST_S", 20.0)  # should its death go unnoticed, it is given up
    folders = [tmp_path / name for name in ("poison", "b")]
    reads = {read.folder.name: read for read in many.analyse_many(folders, jobs=1)}
    assert {name for name, read in reads.items() if read.outcome is Outcome.READ} == {"b"}
    assert "poison" in reads["poison"].why


def _never_end(folder: Path, into: Path | None) -> Read:
    while folder.name == "endless":
        time.sleep(0.1)
    return Read(folder, Outcome.READ, dict(RESULT))


def test_a_recording_whose_reading_hangs_is_given_up_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "_known", lambda folder, into: None)
    monkeypatch.setattr(many, "_read_one", _never_end)
    monkeypatch.setattr(many, "_LONGEST_S", 1.0)
    folders = [tmp_path / name for name in ("a", "endless", "b")]
    reads = {read.folder.name: read for read in many.analyse_many(folders, jobs=1)}
    assert {name for name, read in reads.items() if read.outcome is Outcome.READ} == {"a", "b"}
    assert "given up" in reads["endless"].why


def test_of_many_recordings_none_is_passed_over_where_some_end_their_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "_known", lambda folder, into: None)
    monkeypatch.setattr(many, "_read_one", _end_the_process)
    monkeypatch.setattr(many, "_LONGEST_S", 20.0)  # should its death go unnoticed, it is given up
    folders = [tmp_path / str(k) / ("poison" if k % 7 == 3 else "fine") for k in range(20)]
    reads = list(many.analyse_many(folders, jobs=2))
    assert sorted(read.folder for read in reads) == sorted(folders)
    assert {read.folder for read in reads if read.outcome is Outcome.BAD} == {
        folder for folder in folders if folder.name == "poison"
    }


@pytest.mark.parametrize("presses", [1, 2])
@pytest.mark.parametrize("after_readings", [0, 1])
def test_ctrl_c_ends_it_with_one_line_and_the_next_run_does_the_rest(
    tmp_path: Path, presses: int, after_readings: int
) -> None:
    for name in ("a", "b"):
        record(tmp_path / "shots" / name)
    kept = tmp_path / "kept"
    command = [sys.executable, "-c", "import sys; from rig.cli import main; sys.exit(main())"]
    command += ["analyse", str(tmp_path / "shots"), "--into", str(kept), "--jobs", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as rig:
        # The folder is there just before the processes are started that read.
        while not kept.is_dir() or len(list(kept.rglob("*.json"))) < after_readings:
            assert rig.poll() is None
            time.sleep(0.02)
        for _ in range(presses):
            os.killpg(rig.pid, signal.SIGINT)  # as a terminal does: to all that belongs to the command
        _, err = rig.communicate(timeout=120)
    assert (rig.returncode, err.splitlines()) == (130, ["rig: stopped"])
    assert main(["analyse", str(tmp_path / "shots"), "--into", str(kept), "--jobs", "1"]) == 0
    assert len(list(kept.rglob("*.json"))) == 2


def test_nothing_that_lies_in_the_folder_one_works_in_is_taken_for_a_module(tmp_path: Path) -> None:
    """A file of anybody's own, as cv2.py or game.py, stands beside the recordings: it is not run."""
    installed, works_in = tmp_path / "installed", tmp_path / "works-in"
    for each in (installed, works_in):
        each.mkdir()
    (installed / "begin.py").write_text(
        "import sys\nfrom rig.start import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    for name in ("cv2", "game", "pebble"):
        (works_in / f"{name}.py").write_text("open('was-run', 'w')\n")
    for name in ("a", "b"):
        write(works_in / "shots" / name)
    command = [sys.executable, str(installed / "begin.py"), "analyse", "shots", "--jobs", "1"]
    done = subprocess.run(command, cwd=works_in, capture_output=True, text=True, check=False)
    assert "2 cannot be read" in done.stdout, done.stderr
    assert not (works_in / "was-run").exists()


_LIBRARIES = (threading.__file__, concurrent.futures._base.__file__)


def _wait_and_press(presses: Collection[int]) -> int:
    """Wait for a reading that never ends, and press Ctrl-C before these of the lines that Python's own wait runs through.

    Returns
    -------
    How many lines it ran through.
    """
    lines, never = 0, Future[Read]()

    def each_line(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        nonlocal lines
        if frame.f_code.co_filename not in _LIBRARIES:
            return None
        if event == "line":
            lines += 1
            if lines in presses:
                signal.raise_signal(signal.SIGINT)
        return each_line

    before = sys.gettrace()
    sys.settrace(each_line)
    try:
        with pytest.raises(KeyboardInterrupt):
            many._wait_for_one([never])
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize(
    "more", [(), (1,), (3,), (1, 2)], ids=["once", "twice", "twice, a little later", "thrice"]
)
def test_wherever_ctrl_c_breaks_into_the_wait_for_a_reading_it_ends_as_ctrl_c_does(
    monkeypatch: pytest.MonkeyPatch, ctrl_c: None, more: tuple[int, ...]
) -> None:
    """Python's own wait holds a lock that it releases for a while: just then, what breaks in becomes a RuntimeError."""
    monkeypatch.setattr(many, "_LOOKS_UP_S", 0.001)
    whole = _wait_and_press({20})
    assert whole > 40, "it is noted, and the wait goes on to its end"
    for line in range(1, whole + 1):
        _wait_and_press({line, *(line + each for each in more)})


def test_the_tally_counts_what_was_read() -> None:
    tally = Tally()
    tally.add(Read(Path("a"), Outcome.READ, RESULT))
    tally.add(Read(Path("b"), Outcome.KEPT, {**RESULT, "held": "a hand"}))
    tally.add(Read(Path("c"), Outcome.BAD, None, "c: broken"))
    first, second = tally.in_words()
    assert first == "3 recordings: 1 read, 1 read before by the same code, 1 cannot be read."
    assert second == "2 falls (2 direct), 0 pushed; 0 with doubts, 1 held by a guard."


def test_a_place_that_cannot_hold_readings_is_told_before_any_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "analyse_many", lambda *_, **__: pytest.fail("a recording was read"))
    taken = folder / "recording.json"
    assert main(["analyse", str(folder), "--into", str(taken)]) == 2
    assert capsys.readouterr().err.splitlines() == [f"rig: {taken}: Not a directory"]


def test_uniforms_that_cannot_be_used_are_told_of_and_are_no_bug_of_ours(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "uniforms.json").write_text("{")
    assert main(["analyse", str(folder), "--keep", "--jobs", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"rig: {folder.parent / 'uniforms.json'}: the file: found no JSON")

"""`rig analyse`: shared recordings with known truth, and the form of the answer."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from game.montecassino import Side, Square
from rig.cli import main
from rig.recording import RecordingError, read_all_frames, read_recording
from rig.verdict.analyse import Analysis, analyse_folder, analyse_pictures
from vision.outcome import Push

RECORDINGS = Path(__file__).parents[5] / "shared" / "recordings"
pytestmark = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason="the shared recordings are not beside this checkout"
)


@pytest.fixture(scope="module")
def analyses() -> dict[Path, Analysis]:
    return {folder: analyse_folder(folder) for folder in sorted(RECORDINGS.glob("shot-*"))}


def test_the_shared_recordings_are_read_as_they_were(analyses: dict[Path, Analysis]) -> None:
    """All who stood, all who fell and why: one of the 22 falls may be lost to another computer's arithmetic, no more."""
    assert analyses
    wrong: list[str] = []
    for folder, analysis in analyses.items():
        truth = json.loads((folder / "truth.json").read_text())
        told = analysis.as_json()
        stood, seen = (
            {(s["side"], s["square"]) for s in each} for each in (truth["before"], told["soldiers"])
        )
        assert seen == stood, folder.name
        true, read = (
            {each["square"]: (each["side"], each["cause"]) for each in falls}
            for falls in (truth["falls"], told["falls"])
        )
        wrong += [
            f"{folder.name}: {square} is {true.get(square)}, read as {read.get(square)}"
            for square in sorted(true.keys() | read.keys())
            if true.get(square) != read.get(square)
        ]
    assert len(wrong) <= 1, wrong


def test_the_answer_has_the_form_of_the_format_page(analyses: dict[Path, Analysis]) -> None:
    for analysis in analyses.values():
        told = json.loads(json.dumps(analysis.as_json()))
        assert list(told) == [
            "soldiers",
            "falls",
            "moved",
            "pellet",
            "first_contact_mm",
            "speed_mps",
            "graph",
            "verdict",
            "verdicts",
            "notes",
            "timing_ms",
        ]
        for soldier in told["soldiers"] + told["moved"]:
            assert set(soldier) == {"side", "square", "x_mm", "y_mm"}
        for fall in told["falls"]:
            assert set(fall) == {"side", "square", "cause", "confidence", "t_us", "evidence"}
            assert 0 <= fall["confidence"] <= 1
            assert "\n" not in fall["evidence"]
        for point in told["pellet"]:
            assert len(point) == 3
        assert set(told["verdict"]) == {"casualties", "put_back", "doubts"}
        assert set(told["timing_ms"]) == {"decode", "analyse"}
        # Every fall and push is dealt with: it leaves, is put back, or waits for its commander.
        # One analysis gives the verdict under all three options, to be compared.
        assert told["verdicts"][analysis.recording.option] == told["verdict"]
        leaving = [set(told["verdicts"][option]["casualties"]) for option in ("iii", "ii", "i")]
        assert leaving[0] <= leaving[1] <= leaving[2]
        verdict = told["verdict"]
        dealt = {*verdict["casualties"], *verdict["put_back"], *(d["square"] for d in verdict["doubts"])}
        assert dealt == {each["square"] for each in told["falls"] + told["moved"]}
        assert all(line and "\n" not in line for line in analysis.in_words())


def test_a_single_soldier_is_told_as_one() -> None:
    analysis = analyse_folder(RECORDINGS / "shot-06")
    standing = analysis.reading.standing
    alone = replace(standing, soldiers=standing.soldiers[:1])
    words = replace(analysis, reading=replace(analysis.reading, standing=alone)).in_words()
    assert next(words).startswith("1 soldier stood on the board (")


@pytest.mark.parametrize(
    ("more", "position", "put_back"),
    [
        ((), "A A01-A21 G01-G20 4/3 13/7 -", 23 + 21),
        (("A-01", "A-02", "A-03"), "A A01-A24 G01-G24 0/0 13/7 -", 24 + 21),
    ],
    ids=["the position has more of them captive", "more are seen of a side than it has"],
)
def test_where_the_table_was_bumped_and_more_stand_than_can_the_shot_is_judged_all_the_same(
    more: tuple[str, ...], position: str, put_back: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody was pushed, and for some the position has no place."""
    folder = RECORDINGS / "shot-06"
    recording = read_recording(folder)
    frames = read_all_frames(folder, recording)
    reading = analyse_pictures(folder, recording, frames).reading
    seen = reading.standing.soldiers
    soldiers = (*seen, *(replace(seen[0], side=Side.A, square=Square.parse(name)) for name in more))
    bumped = replace(
        reading,
        standing=replace(reading.standing, soldiers=soldiers),
        pushes=tuple(Push(soldier, 0, soldier.x_mm, soldier.y_mm) for soldier in soldiers),
    )
    monkeypatch.setattr("rig.verdict.analyse.read_shot", lambda *_: bumped)
    told = replace(recording, keys=recording.keys.model_copy(update={"position": position}))
    assert len(analyse_pictures(folder, told, frames).verdict.put_back) == put_back


def test_the_command_prints_one_object_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", str(RECORDINGS / "shot-06"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["falls"] == []
    assert err == ""


def test_a_folder_that_is_no_recording_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", str(tmp_path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "recording.json" in err


def test_a_clip_cut_short_names_the_clip(tmp_path: Path) -> None:
    source = RECORDINGS / "shot-04"
    (tmp_path / "recording.json").write_bytes((source / "recording.json").read_bytes())
    whole = (source / "clip.mkv").read_bytes()
    (tmp_path / "clip.mkv").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RecordingError, match=r"clip\.mkv.*expected 147"):
        analyse_folder(tmp_path)

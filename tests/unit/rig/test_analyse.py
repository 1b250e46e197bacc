"""`rig analyse`: shared recordings with known truth, and the form of the answer."""

import json
from pathlib import Path

import pytest

from rig.analyse import Analysis, analyse_folder
from rig.cli import main
from rig.recording import RecordingError

RECORDINGS = Path(__file__).parents[4] / "shared" / "recordings"
pytestmark = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason="the shared recordings are not beside this checkout"
)


@pytest.fixture(scope="module")
def analyses() -> dict[Path, Analysis]:
    return {folder: analyse_folder(folder) for folder in sorted(RECORDINGS.glob("shot-*"))}


def test_the_recordings_are_read_as_well_as_promised(analyses: dict[Path, Analysis]) -> None:
    stood = [0, 0, 0]  # true, told, both
    fell = [0, 0, 0]
    right = 0
    for folder, analysis in analyses.items():
        truth = json.loads((folder / "truth.json").read_text())
        told = analysis.as_json()
        for count, key, name in ((stood, "before", "soldiers"), (fell, "falls", "falls")):
            true = {(each["side"], each["square"]) for each in truth[key]}
            seen = {(each["side"], each["square"]) for each in told[name]}
            for index, number in enumerate((len(true), len(seen), len(true & seen))):
                count[index] += number
        causes = {each["square"]: each["cause"] for each in truth["falls"]}
        right += sum(causes.get(each["square"]) == each["cause"] for each in told["falls"])
    assert stood[2] / stood[0] >= 0.98
    assert stood[2] / stood[1] >= 0.98
    assert 2 * fell[2] / (fell[0] + fell[1]) >= 0.85
    assert right / fell[2] >= 0.70


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

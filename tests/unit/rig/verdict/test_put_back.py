"""Who is put back is told why: in the words of a reading, and on the sheet of a replay."""

from dataclasses import replace
from pathlib import Path

import pytest
from painted_shot import FALLS, record

from rig.replay import sheet as replay_sheet
from rig.verdict.analyse import Analysis, analyse_folder
from vision.outcome import Push


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A-12 falls outside the zone."""
    return record(tmp_path_factory.mktemp("put back") / "shot", zone="A25-A72")


@pytest.fixture(scope="module")
def analysis(folder: Path) -> Analysis:
    return analyse_folder(folder)


def pushed(analysis: Analysis) -> Analysis:
    """The same, and one of those that stand was pushed."""
    reading = analysis.reading
    soldier = next(each for each in reading.standing.soldiers if each.square != FALLS)
    verdict = replace(analysis.verdict, put_back=(*analysis.verdict.put_back, soldier.square))
    return replace(
        analysis,
        reading=replace(reading, pushes=(Push(soldier, 100_000, soldier.x_mm, soldier.y_mm + 20.0),)),
        verdicts={**analysis.verdicts, analysis.recording.option: verdict},
    )


def test_the_words_say_why_a_soldier_is_put_back(analysis: Analysis) -> None:
    told = pushed(analysis)
    _, stands = told.verdict.put_back
    assert [line for line in told.in_words() if "put back" in line] == [
        f"{FALLS} is put back: outside the zone A25-A72.",
        f"{stands} is put back: pushed off its square but still standing.",
    ]


def test_the_sheet_says_why_a_soldier_is_put_back(
    analysis: Analysis, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(replay_sheet, "write", lambda canvas, words, *rest, **how: written.append(words))
    told = pushed(analysis)
    replay_sheet.write_sheet(tmp_path / "sheet.png", told, folder)
    _, stands = told.verdict.put_back
    assert f"put back: {FALLS}, outside the zone A25-A72" in written
    assert f"put back: {stands}, pushed off its square but still standing" in written

"""A doubt in the log is decided, and the verdict that follows is the judge's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from logged_shots import ANALYSIS, PLAN, START, read_and_judge, until

from game.montecassino import JudgeError, SquareError
from rig.log import Analysis, Fall, LogError, Moved, Shot, ShotLog, Stage, open_log_in_memory
from rig.verdict.judging import as_logged, decide, judge_again, why_back

_PLAN = replace(PLAN, position="A A01-A23,A60 G25-G48 0/0 20/20 -", zone="G25-G40,A60")


def _fall(square: str, *causes: str) -> Fall:
    return Fall(side=square[0], square=square, causes=causes, confidence=0.9, t_us=None, evidence="seen")


@pytest.fixture
def log() -> Iterator[ShotLog]:
    with open_log_in_memory() as opened:
        opened.start_session(START)
        yield opened


def _judged(log: ShotLog, *falls: Fall, moved: tuple[Moved, ...] = (), option: str = "iii") -> int:
    """Log a shot with these falls, and judge it as the rig does."""
    shot_id = until(log, 1, Stage.RECORDED, plan=replace(_PLAN, option=option))
    read_and_judge(log, shot_id, Analysis(software_version="1", raw={}, falls=falls, moved=moved))
    return shot_id


def _words(shot: Shot) -> dict[str, bool | None]:
    return {doubt.square: doubt.decision.leaves if doubt.decision else None for doubt in shot.doubts}


def test_a_shot_without_doubt_is_final_at_once(log: ShotLog) -> None:
    moved = Moved(side="G", square="G-34", x_mm=1.0, y_mm=2.0)
    shot = log.shot(_judged(log, _fall("G-33", "direct"), _fall("G-41", "direct", "dragged"), moved=(moved,)))
    assert shot.stage is Stage.DECIDED
    assert shot.verdict is not None
    assert shot.verdict.casualties == ("G-33",)
    assert shot.verdict.put_back == ("G-34", "G-41"), "G-41 lies outside the zone"
    assert shot.verdict.after == "G A01-A23,A60 G25-G32,G34-G48 0/0 19/20 -"


def test_c5_c7_c8_the_log_says_why_each_is_put_back(log: ShotLog) -> None:
    falls = (_fall("G-33", "dragged"), _fall("G-41", "direct"), _fall("A-60", "direct", "ricochet"))
    shot_id = _judged(log, *falls, moved=(Moved(side="G", square="G-34", x_mm=1.0, y_mm=2.0),))
    decide(log, shot_id, "A-60", leaves=False)
    shot = log.shot(shot_id)
    assert shot.verdict is not None
    assert {square: why_back(shot, square) for square in shot.verdict.put_back} == {
        "G-33": "dragged, which does not count under option iii",
        "G-34": "pushed off its square but still standing",
        "G-41": "outside the zone A60,G25-G40",
        "A-60": "as was ruled",
    }


def test_c8_a_word_on_the_last_doubt_gives_the_final_verdict(log: ShotLog) -> None:
    shot_id = _judged(log, _fall("G-33", "direct"), _fall("A-60", "direct", "ricochet"))
    assert log.shot(shot_id).stage is Stage.JUDGED
    decide(log, shot_id, "A60", leaves=True)
    shot = log.shot(shot_id)
    assert shot.verdict is not None
    assert shot.verdict.casualties == ("A-60", "G-33")
    assert shot.verdict.after == "G A01-A23 G25-G32,G34-G48 0/0 19/20 -"
    assert shot.doubts[0].decision is not None
    assert shot.doubts[0].decision.decided_by == "A"


def test_c8_two_commanders_decide_one_after_the_other(log: ShotLog) -> None:
    shot_id = _judged(log, _fall("G-33", "direct", "ricochet"), _fall("A-60", "direct", "ricochet"))
    decide(log, shot_id, "A-60", leaves=False, decided_by="A")
    assert log.shot(shot_id).stage is Stage.JUDGED
    decide(log, shot_id, "G-33", leaves=False, decided_by="G")
    shot = log.shot(shot_id)
    assert shot.verdict is not None
    assert shot.verdict.put_back == ("A-60", "G-33")
    assert shot.stage is Stage.DECIDED


def test_c8_naming_the_one_that_leaves_says_that_the_others_stay(log: ShotLog) -> None:
    shot_id = _judged(log, *(_fall(f"G-{number}", "direct", "ricochet") for number in (33, 34, 35)))
    decide(log, shot_id, "G-34", leaves=True)
    shot = log.shot(shot_id)
    assert _words(shot) == {"G-33": False, "G-34": True, "G-35": False}
    assert shot.verdict is not None
    assert shot.verdict.casualties == ("G-34",)


def test_c8_not_all_can_stay_where_one_must_be_named(log: ShotLog) -> None:
    shot_id = _judged(log, *(_fall(f"G-{number}", "direct", "ricochet") for number in (33, 34)))
    decide(log, shot_id, "G-33", leaves=False)
    with pytest.raises(JudgeError, match="names exactly one of G-33, G-34 to leave"):
        decide(log, shot_id, "G-34", leaves=False)
    assert _words(log.shot(shot_id)) == {"G-33": False, "G-34": None}
    decide(log, shot_id, "G-34", leaves=True)
    assert log.shot(shot_id).stage is Stage.DECIDED


def test_under_option_ii_every_doubt_is_decided_by_itself(log: ShotLog) -> None:
    shot_id = _judged(log, *(_fall(f"G-{number}", "ricochet", "dragged") for number in (33, 34)), option="ii")
    decide(log, shot_id, "G-33", leaves=True)
    assert _words(log.shot(shot_id)) == {"G-33": True, "G-34": None}


@pytest.mark.parametrize(
    ("square", "by", "sentence"),
    [
        ("G-35", None, "has no doubt about G-35; its doubts: G-33, G-34"),
        ("G-33", None, "G-33: G has decided already: it leaves"),
        ("G-34", "A", "G-34: the commander of G decides, not A"),
    ],
)
def test_a_word_out_of_place_is_one_clear_sentence(
    log: ShotLog, square: str, by: str | None, sentence: str
) -> None:
    shot_id = _judged(log, *(_fall(f"G-{number}", "ricochet", "dragged") for number in (33, 34)), option="ii")
    decide(log, shot_id, "G-33", leaves=True)
    with pytest.raises(LogError, match=sentence):
        decide(log, shot_id, square, leaves=True, decided_by=by)
    assert _words(log.shot(shot_id)) == {"G-33": True, "G-34": None}


def test_a_square_that_cannot_be_read_is_the_games_own_sentence(log: ShotLog) -> None:
    with pytest.raises(SquareError, match="G-73"):
        decide(log, 1, "G-73", leaves=True)


def test_a_shot_that_was_read_again_is_judged_by_the_later_reading(log: ShotLog) -> None:
    shot_id = _judged(log, _fall("G-33", "direct"))
    log.analysed(shot_id, Analysis(software_version="2", raw={}, falls=(_fall("G-34", "direct"),)))
    assert as_logged(judge_again(log.shot(shot_id), {})).casualties == ("G-34",)


def test_a_shot_without_analysis_or_position_cannot_be_judged(log: ShotLog) -> None:
    shot_id = until(log, 1, Stage.RECORDED)
    with pytest.raises(LogError, match="was not analysed"):
        judge_again(log.shot(shot_id), {})
    shot_id = until(log, 1, Stage.RECORDED, plan=replace(_PLAN, position=None))
    log.analysed(shot_id, ANALYSIS)
    with pytest.raises(LogError, match="fired without a position"):
        judge_again(log.shot(shot_id), {})

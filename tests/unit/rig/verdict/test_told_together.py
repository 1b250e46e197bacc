"""What is said of nearly everybody after a bump or in fog is one line that counts them; of a few, each has its own."""

from dataclasses import replace

import pytest
from painted_shot import record

from game.montecassino import Cause
from rig.verdict.analyse import Analysis, analyse_folder
from rig.verdict.told_together import parted, told_together
from vision.guards import Alarm, Trouble
from vision.outcome import Push

BUMP = Alarm(Trouble.BUMP, "the table or the camera was moved by 47.9 mm during the shot")

SURE = {Cause.DIRECT: 0.97, Cause.RICOCHET: 0.02, Cause.DRAGGED: 0.01, Cause.OTHER: 0.0}


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return analyse_folder(record(tmp_path_factory.mktemp("together") / "shot"))


def held(analysis: Analysis, *alarms: Alarm) -> Analysis:
    """The shot with something else that may have felled its soldier, and everybody else pushed."""
    reading = analysis.reading
    falls = tuple(
        replace(fall, possible=(Cause.DIRECT, Cause.OTHER), probabilities=SURE) for fall in reading.falls
    )
    fell = {fall.toppling.soldier for fall in falls}
    pushed = [soldier for soldier in reading.standing.soldiers if soldier not in fell]
    pushes = tuple(Push(each, 100_000, each.x_mm, each.y_mm + 20.0) for each in pushed)
    return replace(analysis, reading=replace(reading, falls=falls, pushes=pushes, alarms=alarms))


def test_after_a_bump_the_words_count_who_was_pushed_and_the_json_names_them(analysis: Analysis) -> None:
    bumped = held(analysis, BUMP)
    lines = list(bumped.in_words())
    pushed = [line for line in lines if "was pushed" in line]
    assert pushed == ["24 soldiers, A-03 (A), A-05 (A), A-07 (A) and 21 more: each was pushed and stands."]
    assert f"The ruling is held: {BUMP.reason}." in lines
    assert len(bumped.as_json()["moved"]) == 24


def test_a_guard_that_asks_is_no_sentence_with_a_full_stop(analysis: Analysis) -> None:
    asks = Alarm(Trouble.BEGUN, "something still moved 130 ms before the release: is fire_us too late?")
    noted = held(analysis, asks)
    noted = replace(noted, reading=replace(noted.reading, notes=("are there two lamps?", "the light is dim")))
    lines = list(noted.in_words())
    assert f"The ruling is held: {asks.reason}" in lines
    assert lines[1:3] == ["Note: are there two lamps?", "Note: the light is dim."]


def test_where_nothing_holds_the_ruling_everybody_is_named(analysis: Analysis) -> None:
    assert sum("was pushed" in line for line in held(analysis).in_words()) == 24


def test_a_fall_whose_ruling_is_held_is_not_called_sure(analysis: Analysis) -> None:
    (sure,) = (line for line in analysis.in_words() if " fell: " in line)
    (open_to_doubt,) = (line for line in held(analysis, BUMP).in_words() if " fell: " in line)
    assert "% sure" in sure
    assert ", unless something else had a part in it" in open_to_doubt
    assert "% sure" not in open_to_doubt


def test_why_the_shot_was_not_seen_is_said_once_however_many_fell(analysis: Analysis) -> None:
    reading = analysis.reading
    (fall,) = reading.falls
    falls = (replace(fall, evidence=f"{fall.evidence}; it may have been dragged (38 %)"), fall)
    lines = list(replace(analysis, reading=replace(reading, falls=falls)).in_words())
    assert lines[1:4] == [
        f"The shot was not seen: {reading.track.reason}; falls are judged by the order in which soldiers moved, "
        "and who stood near.",
        "A-12 (A) fell: direct, 95% sure; it may have been dragged (38 %)",
        "A-12 (A) fell: direct, 95% sure",
    ]


def test_of_eight_each_has_a_line_of_its_own() -> None:
    sentences = [f"A-{k:02} is put back." for k in range(1, 9)]
    assert list(told_together(map(parted, sentences))) == sentences


def test_many_are_counted_where_the_first_of_them_stood() -> None:
    late = [f"A-{k:02} began to fall 900 ms after everything else lay still" for k in range(1, 24)]
    assert list(told_together(map(parted, [BUMP.reason, *late, "G-01 fell"]))) == [
        BUMP.reason,
        "23 soldiers, A-01, A-02, A-03 and 20 more: each began to fall 900 ms after everything else lay still",
        "G-01 fell",
    ]

"""The docket: doubts with their likely answers; a ruling is signed, goes the way of every decision, and stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import pytest
from logged_shots import PLAN, START, read_and_judge, until
from painted_shot import FALLS, FIRE_US, TIMES_US, keys, pictures, record

from game.montecassino import JudgeError, Square
from rig.cli import main
from rig.log import Analysis, Doubt, Fall, LogError, ShotLog, Stage, Verdict, open_log, open_log_in_memory
from rig.recording import KEYS_NAME, write_recording
from rig.shot_identity import shot_identity
from rig.verdict.docket import case, open_cases, rule
from rig.verdict.docket_picture import write_crops
from rig.verdict.judging import decide, judge_again

_PLAN = replace(PLAN, position="A A01-A23,A60 G25-G48 0/0 20/20 -", zone="G25-G48,A60")


def _fall(square: str, *causes: str) -> Fall:
    return Fall(
        side=square[0], square=square, causes=causes, confidence=0.6, t_us=None, evidence="half hidden"
    )


def _judged(log: ShotLog, *falls: Fall, option: str = "iii", **raw: object) -> int:
    session_id = log.start_session(START)
    shot_id = until(log, session_id, Stage.RECORDED, plan=replace(_PLAN, option=option))
    read_and_judge(log, shot_id, Analysis(software_version="1", raw=raw, falls=falls))
    log.end_session(session_id, "finished")
    return shot_id


@pytest.fixture
def log() -> Iterator[ShotLog]:
    with open_log_in_memory() as opened:
        yield opened


DIRECT = _fall("G-33", "direct")
G41 = _fall("G-41", "ricochet", "direct")
A60 = _fall("A-60", "direct", "dragged", "other")


def test_open_doubts_come_with_ranked_answers_and_what_each_does(log: ShotLog) -> None:
    _judged(log, DIRECT, G41, A60, probabilities={"G-41": {"ricochet": 0.55, "direct": 0.41}})
    first, second = open_cases(log)
    assert first.doubt.square == "A-60"
    assert [(a.cause, a.probability, a.leaves) for a in second.answers] == [
        ("ricochet", 0.55, False),
        ("direct", 0.41, True),
    ]
    # An older log knows how likely the likeliest was.
    assert [(a.cause, a.probability, a.leaves) for a in first.answers] == [
        ("direct", 0.6, True),
        ("dragged", None, False),
        ("other", None, False),
    ]


def test_of_many_that_wait_the_first_ones_are_named(log: ShotLog) -> None:
    for _ in range(6):
        _judged(log, G41, A60)
    with pytest.raises(
        LogError, match=r"no doubt 99; waiting for a ruling: 1, 2, 3, 4, 5, 6, 7, 8 and 4 more$"
    ):
        case(log, 99)


def test_of_a_held_ruling_no_answer_is_said_to_be_likely(log: ShotLog) -> None:
    """The camera's shares are those of a shot that nothing disturbed: "other 0%" of a bumped table misleads."""
    shares = {"A-60": {"direct": 0.99, "dragged": 0.01}}
    _judged(log, A60, probabilities=shares, held=["the table or the camera was moved by 21.9 mm"])
    (found,) = open_cases(log)
    assert [(answer.cause, answer.probability) for answer in found.answers] == [
        ("direct", None),
        ("dragged", None),
        ("other", None),
    ]


@pytest.mark.parametrize(
    ("option", "leaving"),
    [("i", {"direct", "ricochet", "dragged"}), ("ii", {"direct", "ricochet"}), ("iii", {"direct"})],
)
def test_c7_what_leaves_follows_from_the_agreed_option(log: ShotLog, option: str, leaving: set[str]) -> None:
    _judged(log, _fall("G-41", "direct", "ricochet", "dragged", "other"), option=option)
    (found,) = open_cases(log)
    assert {answer.cause for answer in found.answers if answer.leaves} == leaving


def test_a_ruling_is_signed_and_makes_the_verdict_final(log: ShotLog) -> None:
    shot_id = _judged(log, DIRECT, G41)
    (found,) = open_cases(log)
    ruled = rule(log, found.doubt.number, "direct", side="G", name=" Ada ")
    decision = ruled.doubt.decision
    assert decision is not None
    assert (decision.decided_by, decision.name, decision.cause, decision.leaves) == (
        "G",
        "Ada",
        "direct",
        True,
    )
    assert decision.at_utc_us > 0
    shot = log.shot(shot_id)
    assert shot.stage is Stage.DECIDED
    assert shot.verdict is not None
    assert shot.verdict.casualties == ("G-33", "G-41")
    assert not list(open_cases(log))


def test_a_word_given_by_rig_decide_is_on_the_same_docket(log: ShotLog) -> None:
    shot_id = _judged(log, DIRECT, G41, A60)
    number = next(each.doubt.number for each in open_cases(log) if each.doubt.square == "G-41")
    decide(log, shot_id, "G-41", leaves=False)
    assert [each.doubt.square for each in open_cases(log)] == ["A-60"]
    with pytest.raises(LogError, match="decided already"):
        rule(log, number, "direct", side="G", name="Ada")


def test_numbers_stay_when_others_are_ruled_on_and_later_shots_come(log: ShotLog) -> None:
    _judged(log, DIRECT, G41, A60)
    before = {each.doubt.square: each.doubt.number for each in open_cases(log)}
    rule(log, before["A-60"], "other", side="A", name="Bob")
    _judged(log, DIRECT, G41)
    assert case(log, before["G-41"]).shot.shot_id == 1
    assert len({each.doubt.number for each in open_cases(log)} | set(before.values())) == 3


def test_c8_naming_one_under_option_iii_signs_the_others_too(log: ShotLog) -> None:
    shot_id = _judged(log, G41, _fall("G-42", "direct", "ricochet"))
    first, second = open_cases(log)
    assert first.one_leaves and second.one_leaves
    rule(log, second.doubt.number, "direct", side="G", name="Ada")
    said = {d.square: d.decision for d in log.shot(shot_id).doubts}
    assert {square: d.leaves for square, d in said.items() if d} == {"G-41": False, "G-42": True}
    assert {square: (d.name, d.cause) for square, d in said.items() if d} == {
        "G-41": ("Ada", None),
        "G-42": ("Ada", "direct"),
    }


@pytest.mark.parametrize("option", ["i", "ii", "iii"])
@pytest.mark.parametrize(
    "falls",
    [
        (G41,),
        (G41, _fall("G-42", "direct", "ricochet")),
        (G41, A60),
        (DIRECT, G41, _fall("G-42", "direct", "ricochet")),
        (_fall("G-41", "ricochet", "other"), _fall("G-42", "dragged", "other")),
    ],
    ids=lambda falls: " ".join(fall.square for fall in falls),
)
def test_c8_the_docket_says_that_one_must_leave_exactly_where_the_judge_does(
    log: ShotLog, falls: tuple[Fall, ...], option: str
) -> None:
    shot_id = _judged(log, *falls, option=option)
    judged = judge_again(log.shot(shot_id), {})
    assert {each.one_leaves for each in open_cases(log)} <= {judged.one_leaves}


def test_c8_none_cannot_leave_where_one_must(log: ShotLog) -> None:
    _judged(log, G41, _fall("G-42", "direct", "ricochet"))
    first, second = open_cases(log)
    rule(log, first.doubt.number, "ricochet", side="G", name="Ada")
    with pytest.raises(JudgeError, match="exactly one"):
        rule(log, second.doubt.number, "ricochet", side="G", name="Ada")


def test_a_shot_that_the_rules_cannot_judge_is_on_the_docket_all_the_same(log: ShotLog) -> None:
    session_id = log.start_session(START)
    no_shot_left = replace(_PLAN, position="A A01-A23,A60 G25-G48 0/0 0/20 -", option="iii")
    shot_id = until(log, session_id, Stage.RECORDED, plan=no_shot_left)
    doubt = Doubt(square="G-41", between=("ricochet", "direct"), commander="G")
    log.analysed(
        shot_id, Analysis(software_version="1", raw={}, falls=(G41,)), verdict=Verdict(doubts=(doubt,))
    )
    (found,) = open_cases(log)
    assert not found.one_leaves
    with pytest.raises(JudgeError, match="no shot left"):
        rule(log, found.doubt.number, "direct", side="G", name="Ada")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"side": "A"}, "the commander of G decides, not A"),
        ({"side": "X"}, "the commander of G decides, not X"),
        ({"cause": "dragged"}, "found 'dragged', expected ricochet or direct"),
        ({"cause": ""}, "found '', expected ricochet or direct"),
        ({"name": "  "}, "a ruling is signed; found '  ', expected a name that can be seen"),
        ({"name": "\u200b"}, r"found '\\u200b', expected a name that can be seen"),
        ({"name": "\u3164\u2800\u0301"}, r"found '\\u3164\\u2800\\u0301', expected a name that can be seen"),
        ({"name": "Ada" * 1000}, r"found a name of 3000 letters, 'Ada.*'\.\.\., expected 60 at most"),
        ({"number": 99}, "no doubt 99"),
    ],
)
def test_a_ruling_that_cannot_be_taken_is_a_sentence_and_changes_nothing(
    log: ShotLog, change: dict[str, object], said: str
) -> None:
    _judged(log, DIRECT, G41)
    (found,) = open_cases(log)
    given: dict[str, object] = {"number": found.doubt.number, "cause": "direct", "side": "G", "name": "Ada"}
    given |= change
    with pytest.raises(LogError, match=said):
        rule(log, given["number"], given["cause"], side=given["side"], name=given["name"])  # type: ignore[arg-type]
    assert [each.doubt.number for each in open_cases(log)] == [found.doubt.number]


def test_the_pictures_show_the_soldier_before_falling_and_after(tmp_path: Path) -> None:
    folder = record(tmp_path / "shot")
    path = tmp_path / "crops.png"
    write_crops(path, folder, FALLS, title="shot 1, A-12")
    strip = cv2.imread(str(path))
    assert strip is not None
    assert strip.shape[1] == 5 * (400 + 12) + 12
    tiles = [strip[60:460, 12 + k * 412 : 412 + k * 412] for k in range(5)]
    # It stood in the first and lies in the last: about its square much has changed.
    assert cv2.absdiff(tiles[0], tiles[-1]).max(axis=2)[100:300, 100:300].mean() > 8
    # Between them it moves: each shows something else than the one before and than it at rest.
    for k in (2, 3):
        for other in (tiles[k - 1], tiles[-1]):
            assert cv2.absdiff(tiles[k], other).max(axis=2)[100:300, 100:300].mean() > 4


def test_a_shot_that_was_fired_at_0_has_the_same_captions_as_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captions: list[str] = []
    monkeypatch.setattr(
        "rig.verdict.docket_picture.write", lambda canvas, words, *where, **how: captions.append(words)
    )
    shifted = [(t - FIRE_US, picture) for t, picture in zip(TIMES_US, pictures(), strict=True)]
    write_recording(tmp_path / "at 0", keys(fire_us=0), shifted)
    write_crops(tmp_path / "0.png", tmp_path / "at 0", FALLS, title="shot 1, A-12")
    at_0, captions = captions, []
    write_crops(tmp_path / "1.png", record(tmp_path / "shot"), FALLS, title="shot 1, A-12")
    assert at_0 == captions
    assert any(words.startswith("−") for words in at_0)


def test_a_place_where_nothing_moved_is_shown_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "crops.png"
    write_crops(path, record(tmp_path / "shot"), Square.parse("A-72"), title="shot 1, A-72")
    strip = cv2.imread(str(path))
    assert strip is not None
    assert 2 * 412 + 12 <= strip.shape[1] <= 5 * 412 + 12


def test_a_doubt_that_is_decided_is_said_to_be_so_whatever_cause_is_named(log: ShotLog) -> None:
    _judged(log, DIRECT, G41)
    (found,) = open_cases(log)
    rule(log, found.doubt.number, "direct", side="G", name="Ada")
    with pytest.raises(LogError, match="decided already"):
        rule(log, found.doubt.number, "dragged", side="G", name="Ada")


def test_the_commands_say_what_waits_and_take_the_ruling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_log(Path("rig-log.sqlite")) as log:
        _judged(log, DIRECT, G41)
    assert main(["docket"]) == 0
    assert "G-41" in capsys.readouterr().out
    for name, shown in (("\udcff", r"\udcff"), ("Ada\nwinner A", r"Ada\nwinner A")):
        assert main(["docket", "rule", "1", "direct", "--side", "g", "--by", name]) == 2
        assert f"found '{shown}', expected a name that can be printed" in capsys.readouterr().err
    assert main(["docket", "rule", "1", "direct", "--side", "g", "--by", "Ada"]) == 0
    out = capsys.readouterr().out
    assert "doubt 1, G-41: direct, leaves, said G, signed Ada" in out
    assert "shot 1 is judged: leave G-33 G-41" in out
    assert main(["docket"]) == 0
    assert capsys.readouterr().out == "nothing waits for a ruling\n"
    assert main(["docket", "rule", "1", "direct", "--side", "G", "--by", "Ada"]) != 0
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_c7_a_second_ruling_that_names_the_direct_hit_is_told_and_stands_as_c8_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_log(Path("rig-log.sqlite")) as log:
        _judged(log, G41, A60)
    told = "a shot has one direct fall at most, and G-41 was ruled to be by G, signed Ada"
    said = f"{told}; whether A-60 leaves its commander says all the same"
    assert main(["docket", "rule", "2", "direct", "--side", "G", "--by", "Ada"]) == 0
    assert "direct fall" not in capsys.readouterr().out
    assert main(["docket", "show", "1"]) != 0, "its shot's recording is not there"
    assert f"  rule       {said}\n" in capsys.readouterr().out
    assert main(["docket", "rule", "1", "direct", "--side", "A", "--by", "Bob"]) == 0
    out = capsys.readouterr().out
    assert f"{said}, and the ruling stands\n" in out
    assert "shot 1 is judged: leave A-60 G-41" in out


def test_why_a_shot_was_not_seen_is_said_apart_from_what_is_said_of_the_fall(log: ShotLog) -> None:
    reason = "no streak moves like a shot"
    order = "judged by the order in which soldiers moved, and who stood near"
    evidence = f"{reason}; the fall is {order}; it may have been dragged (38 %)"
    _judged(log, replace(G41, evidence=evidence), A60)
    first, second = open_cases(log)
    assert (first.unseen, first.evidence) == ("", "half hidden")
    assert (second.unseen, second.evidence) == (
        f"{reason}; falls are {order}",
        "it may have been dragged (38 %)",
    )


def test_c7_a_direct_hit_that_was_seen_is_told_only_of_who_may_be_a_second(log: ShotLog) -> None:
    _judged(log, DIRECT, G41, option="iii")
    (found,) = open_cases(log)
    assert found.direct == ("G-33 was seen to be",)
    _judged(log, G41, option="iii")
    assert [each.direct for each in open_cases(log)] == [("G-33 was seen to be",), ()]


def test_pictures_that_cannot_be_drawn_leave_no_folder_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_log(Path("rig-log.sqlite")) as log:
        _judged(log, DIRECT, G41)
    folder = record(Path("recordings/shot-00001"))
    (folder / "clip.mkv").unlink()
    assert main(["docket", "show", "1"]) == 2
    assert "clip.mkv: the clip: found nothing" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["recording.json"]


def test_of_another_log_s_shot_no_pictures_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shots are counted from 1 in every log, and a ruling by the pictures of another one would stand."""
    monkeypatch.chdir(tmp_path)
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = _judged(log, DIRECT, G41)
        own = shot_identity(log.session(log.shot(shot_id).session_id), shot_id)
    folder = record(
        Path("recordings/shot-00001"),
        shot={**own.model_dump(), "session_began_utc_us": 1_700_000_000_000_000},
    )
    assert main(["docket", "show", "1"]) == 2
    assert "session 1, begun 2023-11-14 22:13:20 UTC" in capsys.readouterr().err
    assert not (folder / "analysis").exists()
    told = json.loads((folder / KEYS_NAME).read_text())
    (folder / KEYS_NAME).write_text(json.dumps({**told, "shot": own.model_dump()}))
    assert main(["docket", "show", "1"]) == 0
    assert (folder / "analysis" / "doubt-1-G-41.png").exists()


@pytest.mark.parametrize("to_nowhere", [False, True])
def test_what_is_no_folder_where_the_pictures_belong_is_told_as_that(
    to_nowhere: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_log(Path("rig-log.sqlite")) as log:
        _judged(log, DIRECT, G41)
    place = record(Path("recordings/shot-00001")) / "analysis"
    if to_nowhere:
        place.symlink_to("nowhere")
    else:
        place.touch()
    assert main(["docket", "show", "1"]) == 2
    assert capsys.readouterr().err == f"rig: {place}: Not a directory\n"

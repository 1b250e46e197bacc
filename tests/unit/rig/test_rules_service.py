"""Questions about positions and their answers: the rules cases once more, and everything a bad question may be."""

from __future__ import annotations

import hashlib
import json
import string
from pathlib import Path
from typing import Any

import pytest
import slow_rules
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rig.rules_service import QuestionError, answer, answer_line

DATA = Path(__file__).parents[1] / "game" / "data"
CASES = json.loads((DATA / "positions.json").read_text())
SHOTS = json.loads((DATA / "shots.json").read_text())["shots"]

START = "A A01-A24 G01-G24 0/0 20/20 -"
SHOT = {
    "position": "A A01-A03 G30-G34,A40 0/0 2/1 -",
    "ask": "shot",
    "zone": "G25-G72",
    "option": "iii",
    "falls": [{"side": "G", "square": "G-30", "between": ["direct", "ricochet"]}],
}


def asked(ask: str, position: str = START, **more: object) -> dict[str, Any]:
    return answer({"ask": ask, "position": position, **more})


@pytest.mark.parametrize("case", CASES["positions"], ids=lambda case: case["id"])
def test_answers_about_positions_are_those_of_the_rules_cases(case):
    position = case["position"]
    found = asked("results", position)["results"]
    assert found == sorted(found)
    assert hashlib.sha256("\n".join(found).encode()).hexdigest() == case["results_sha256"]
    assert asked("perft", position, depth=1) == {"count": case["perft1"]}
    state = asked("state", position)
    assert (state["winner"], state["immobilised"]) == (case["winner"], case["immobilised"])
    assert (state["reason"] is None) == (case["winner"] is None)
    assert asked("retreat", position) == {"after": case["after_retreat"]}


@pytest.mark.parametrize("case", CASES["perft2"], ids=lambda case: case["id"])
def test_n6_counts_are_those_of_the_rules_cases(case):
    assert asked("perft", case["position"], depth=2) == {"count": case["perft2"]}


@pytest.mark.parametrize("case", SHOTS, ids=lambda case: case["id"])
def test_answers_about_shots_are_those_of_the_rules_cases(case):
    told = ("position", "zone", "option", "falls", "moved", "decisions")
    said = answer({"ask": "shot", **{key: case[key] for key in told}})
    assert said == {key: case[key] for key in ("casualties", "put_back", "doubts", "after", "winner")}


def test_a_legal_turn_is_answered_with_the_position_after_it():
    assert asked("legal", turn="A-17>A-25;A-18>A-26") == {
        "legal": True,
        "clause": None,
        "why": None,
        "after": "G A01-A16,A19-A26 G01-G24 0/0 20/20 -",
    }


@pytest.mark.parametrize(
    ("turn", "clause"),
    [
        ("A-17>A-25>A-33>A-41>A-49", "M1"),
        ("A-17>A-25;A-25>A-33", "M2"),
        ("A-09>A-17", "M8"),
        ("A-17xA-26", "M6"),
        ("A-17xA-26>A-34", "M6"),
        ("A-17>A-25+1", "P2"),
    ],
)
def test_an_illegal_turn_is_answered_with_its_clause_and_a_sentence(turn, clause):
    said = asked("legal", turn=turn)
    assert (said["legal"], said["clause"], said["after"]) == (False, clause, None)
    assert len(said["why"].split()) > 3


JOINED = "A A01.1-A03.1,A32.1,A30.2 G30.1-G34.1,A40.2 1/2 2/1 -"


def test_s3_questions_about_two_boards():
    found = asked("results", JOINED)["results"]
    assert len(found) == asked("perft", JOINED, depth=1)["count"]
    assert "G A01.1-A03.1,A25.2,A30.2 A40.2,G30.1-G34.1 1/2 2/1 -" in found
    assert found == sorted(slow_rules.results(JOINED))
    assert asked("state", JOINED) == {"winner": None, "immobilised": False, "reason": None}
    assert asked("retreat", JOINED) == {
        "after": "G A01.1-A05.1 A40.2,G30.1-G34.1 1/2 2/1 A",
    }
    assert asked("legal", JOINED, turn="A-32.1>A-25.2")["legal"]
    assert asked("legal", JOINED, turn="A-32>A-40")["clause"] == "S3"


def test_s3_a_shot_on_two_boards():
    said = asked(
        "shot",
        JOINED,
        zone="G25.1-G72.1,A40.2",
        option="i",
        falls=[
            {"side": "G", "square": "G-30.1", "cause": "ricochet"},
            {"side": "G", "square": "A-40.2", "between": ["dragged", "other"]},
            {"side": "A", "square": "A-30.2", "cause": "dragged"},
        ],
        moved=["G-31.1"],
        decisions={"A-40.2": "stays"},
    )
    assert said == {
        "casualties": ["G-30.1"],
        "put_back": ["A-30.2", "A-40.2", "G-31.1"],
        "doubts": [{"square": "A-40.2", "between": ["dragged", "other"], "commander": "G"}],
        "after": "G A01.1-A03.1,A32.1,A30.2 A40.2,G31.1-G34.1 1/2 1/1 -",
        "winner": None,
    }


def test_v_the_state_of_a_battle_that_is_over_has_its_reason():
    said = asked("state", "A A30 - 0/0 0/0 -")
    assert (said["winner"], said["reason"]) == ("A", "the enemy has no soldier on the board")
    assert asked("state", "G - - 0/0 0/0 -")["winner"] == "draw"


def test_r1_a_second_retreat_is_no_position():
    assert asked("retreat", "A A30 G30 0/0 0/0 A") == {"after": None}


def test_c8_an_undecided_doubt_leaves_the_position_open():
    doubt = {"square": "G-30", "between": ["direct", "ricochet"], "commander": "G"}
    said = answer(SHOT)
    assert (said["doubts"], said["after"], said["winner"]) == ([doubt], None, None)
    assert said["casualties"] == said["put_back"] == []
    said = answer({**SHOT, "decisions": {"G-30": "leaves"}})
    assert (said["doubts"], said["casualties"]) == ([doubt], ["G-30"])


FALL = {"side": "G", "square": "G-30", "cause": "direct"}


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ([], "found a list, expected an object with ask and position"),
        (None, "found null, expected an object with ask and position"),
        ({"position": START}, "ask: found nothing, expected a text"),
        (
            {"ask": "hop", "position": START},
            'ask: found "hop", expected perft, results, state, retreat, legal or shot',
        ),
        ({"ask": "state"}, "position: found nothing, expected a text"),
        ({"ask": "state", "position": 3}, "position: found 3, expected a text"),
        ({"ask": "state", "position": "A A73 - 0/0 0/0 -"}, "A-73 is not on the board"),
        ({"ask": "perft", "position": START}, "depth: found nothing, expected a whole number from 1 to 100"),
        ({"ask": "perft", "position": START, "depth": 0}, "depth: found 0"),
        (
            {"ask": "perft", "position": START, "depth": 101},
            "depth: found 101, expected a whole number from 1",
        ),
        ({"ask": "perft", "position": START, "depth": 10**80}, "depth: found 1000"),
        ({"ask": "perft", "position": START, "depth": 1.0}, "depth: found 1.0"),
        ({"ask": "perft", "position": START, "depth": True}, "depth: found true"),
        ({"ask": "legal", "position": START}, "turn: found nothing"),
        ({"ask": "legal", "position": START, "turn": "hop"}, "'hop' is not a move"),
        ({**SHOT, "option": "iv"}, 'option: found "iv", expected i, ii or iii'),
        ({**SHOT, "zone": "G25-A72"}, "crosses from one field to the other"),
        ({**SHOT, "zone": ["G-25"]}, "zone: found a list, expected a text"),
        ({**SHOT, "falls": {}}, "falls: found an object, expected a list of falls"),
        ({**SHOT, "falls": ["G-30"]}, 'falls[1]: found "G-30", expected an object'),
        ({**SHOT, "falls": [FALL, {**FALL, "cause": "hit"}]}, 'falls[2].cause: found "hit", expected direct'),
        ({**SHOT, "falls": [{**FALL, "cause": ["direct"]}]}, "falls[1].cause: found a list"),
        ({**SHOT, "falls": [{**FALL, "between": ["direct"]}]}, "falls[1]: expected either cause, or between"),
        ({**SHOT, "falls": [{"side": "G", "square": "G-30"}]}, "falls[1]: expected either cause, or between"),
        ({**SHOT, "falls": [{"side": "G", "square": "G-30", "between": []}]}, "needs one cause or several"),
        ({**SHOT, "falls": [{**FALL, "between": "direct", "cause": 1}]}, "falls[1]: expected either"),
        (
            {**SHOT, "falls": [{"side": "G", "square": "G-30", "between": "direct"}]},
            'falls[1].between: found "direct", expected a list of causes',
        ),
        ({**SHOT, "falls": [{**FALL, "side": "T"}]}, 'falls[1].side: found "T", expected A or G'),
        ({**SHOT, "falls": [{**FALL, "square": None}]}, "falls[1].square: found null, expected a square"),
        ({**SHOT, "falls": [{**FALL, "square": "G-40"}]}, "G-40, where nobody stood"),
        ({**SHOT, "falls": [FALL, {**FALL, "square": "G-31"}]}, "one direct fall at most"),
        ({**SHOT, "moved": [30]}, "moved[1]: found 30, expected a square"),
        ({**SHOT, "decisions": {"G-31": "leaves"}}, "in no doubt"),
        ({**SHOT, "decisions": {"G-30": "goes"}}, "expected leaves or stays"),
        ({**SHOT, "decisions": {"G-30": ["stays"]}}, "decisions.G-30: found a list"),
        ({**SHOT, "decisions": {"G-30": "stays", "G30": "leaves"}}, "decisions: G-30 stands twice"),
        ({**SHOT, "position": "A A01 G30 0/0 0/5 -"}, "side A has no shot left"),
        ({**SHOT, "position": "A A30 - 0/0 5/5 -"}, "the battle is over, and nobody fires any more (V0)"),
        ({**SHOT, "position": "A A01.1 G30.1 0/0 5/5 -"}, "the zone: G-"),
        ({**SHOT, "zone": "G25-G72,A01.1"}, "A-01.1 names one of two boards and G-25 none"),
        ({**SHOT, "zone": "G25.1"}, "the zone: G-25.1 names one of two boards, and the position has one"),
        ({**SHOT, "falls": [{**FALL, "square": "G-30.1"}]}, "G-30.1, where nobody stood"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(question, sentence):
    with pytest.raises(QuestionError) as refused:
        answer(question)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"", "the line is not JSON"),
        (b"\n", "the line is not JSON"),
        (
            b"{'ask': 1}",
            "the line is not JSON: Expecting property name enclosed in double quotes at character 2",
        ),
        (b'{"ask": "\xff"}', "byte 10 of the line is not UTF-8"),
        (b"[" * 100_000, "the line is JSON of a size that no question has"),
        (b"1" * 5000, "the line is JSON of a size that no question has"),
        (b'"' + b"x" * 5000 + b'"', "..., expected an object with ask and position"),
        (b'{"ask": "\\ud800"}', "expected perft, results"),
    ],
)
def test_a_line_that_is_no_question_gets_an_error(line, sentence):
    said = json.loads(answer_line(line))
    assert list(said) == ["error"]
    assert sentence in said["error"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(string.printable, max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(["position", "zone", "option", "falls", "moved", "decisions", "ask", "turn"]), JSON)
def test_whatever_stands_at_a_key_one_line_comes_back(key, value):
    asked = {**SHOT, "ask": "legal"} if key == "turn" else SHOT
    said = answer_line(json.dumps({**asked, key: value}).encode())
    assert "\n" not in said
    assert isinstance(json.loads(said), dict)


SPITE = [
    *(
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"null",
        b"true",
        b"1e999",
        b"-1",
        b"0",
        b"NaN",
        b"A73",
        b".1",
    ),
    *(
        b".2",
        b".0",
        b"-",
        b"\\ud800",
        b"\x00",
        b"\xff",
        b"\n",
        b">",
        b"x",
        b"+",
        b"99999999999",
        b" ",
        b'"G-30"',
    ),
]


@given(st.data())
@settings(max_examples=300)
def test_whatever_a_line_has_come_to_one_line_comes_back(data):
    question = data.draw(
        st.sampled_from(
            [
                SHOT,
                {"ask": "perft", "position": JOINED, "depth": 1},
                {"ask": "legal", "position": JOINED, "turn": "A-32.1>A-25.2>A-33.2"},
                {"ask": "retreat", "position": JOINED},
                {"ask": "state", "position": START},
            ]
        )
    )
    line = bytearray(json.dumps(question).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(line)))
        line[begin : begin + data.draw(st.integers(0, 4))] = data.draw(st.sampled_from(SPITE))
    # A deeper count is a sound question, and a long one.
    assume(b'"depth": 1' not in line or b'"depth": 1}' in line)
    said = answer_line(bytes(line))
    assert "\n" not in said
    assert isinstance(json.loads(said), dict)

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from montecassino_strategies import ONE_OR_TWO, battles, falls_of, mirrored

from game.montecassino import (
    ALL_SQUARES,
    Cause,
    Doubt,
    Fall,
    JudgeError,
    Option,
    Position,
    Side,
    Square,
    Winner,
    all_squares,
    format_squares,
    judge,
    judge_any_shot,
    parse_squares,
    proposed_zone,
    why_put_back,
)

SHOTS = json.loads((Path(__file__).parent / "data" / "shots.json").read_text())["shots"]

POSITION = Position.parse("A A01-A03 G30-G34,A40 0/0 2/1 -")


def fall(square: str, *causes: str) -> Fall:
    where = Square.parse(square)
    return Fall(where, POSITION.soldiers[where], tuple(map(Cause, causes)))


def decided(**decisions: str) -> dict[Square, str]:
    return {Square.parse(square): said for square, said in decisions.items()}


def names(squares_of_verdict) -> list[str]:
    return [str(square) for square in squares_of_verdict]


@pytest.mark.parametrize("case", SHOTS, ids=lambda case: case["id"])
def test_rules_cases(case):
    verdict = judge(
        Position.parse(case["position"]),
        parse_squares(case["zone"]),
        Option(case["option"]),
        [
            Fall(
                Square.parse(fall["square"]),
                Side(fall["side"]),
                tuple(map(Cause, fall.get("between") or [fall["cause"]])),
            )
            for fall in case["falls"]
        ],
        [Square.parse(square) for square in case["moved"]],
        {Square.parse(square): said for square, said in case["decisions"].items()},
    )
    assert {
        "casualties": names(verdict.casualties),
        "put_back": names(verdict.put_back),
        "doubts": [
            {"square": str(d.square), "between": list(d.between), "commander": d.commander}
            for d in verdict.doubts
        ],
        "after": verdict.after and str(verdict.after),
        "winner": verdict.winner,
    } == {key: case[key] for key in ("casualties", "put_back", "doubts", "after", "winner")}


@pytest.mark.parametrize(
    ("option", "casualties"),
    [(Option.I, "G30-G32"), (Option.II, "G30-G31"), (Option.III, "G30")],
)
def test_c7_the_option_says_which_causes_count(option, casualties):
    falls = [fall("G-33", "other"), fall("G-32", "dragged"), fall("G-31", "ricochet"), fall("G-30", "direct")]
    verdict = judge(POSITION, ALL_SQUARES, option, falls)
    assert format_squares(verdict.casualties) == casualties
    assert set(verdict.casualties) | set(verdict.put_back) == set(parse_squares("G30-G33"))


def test_c3_c6_a_shot_is_spent_the_casualties_leave_and_the_turn_passes():
    verdict = judge(POSITION, ALL_SQUARES, Option.I, [fall("G-30", "direct"), fall("A-02", "dragged")])
    assert str(verdict.after) == "G A01,A03 A40,G31-G34 0/0 1/1 -"


def test_c1_a_shot_takes_the_place_of_the_whole_infantry_turn():
    after = judge(POSITION, ALL_SQUARES, Option.I, []).after
    assert after.turn is POSITION.turn.enemy
    assert after.soldiers == POSITION.soldiers


def test_c3_a_miss_spends_a_shot_too():
    assert str(judge(POSITION, (), Option.I, []).after) == "G A01-A03 A40,G30-G34 0/0 1/1 -"


def test_c4_the_proposed_zone_is_the_enemys_field_without_its_base():
    assert format_squares(proposed_zone(Side.A)) == "G25-G72"
    assert format_squares(proposed_zone(Side.G)) == "A25-A72"


def test_c4_s3_the_proposed_zone_lies_on_both_boards():
    zone = proposed_zone(Side.A, boards=2)
    assert format_squares(zone) == "G25.1-G72.1,G25.2-G72.2"
    assert list(zone) == sorted(zone)


def test_c4_s3_a_zone_of_another_number_of_boards_is_refused():
    with pytest.raises(
        JudgeError, match=r"the zone: G-25\.1 names one of two boards, and the position has one"
    ):
        judge(POSITION, parse_squares("G25.1"), Option.I, [])
    with pytest.raises(JudgeError, match="the zone: G-25 names no board, and the position has two joined"):
        judge(Position.parse("A A01.1 G30.1 0/0 1/0 -"), parse_squares("G25"), Option.I, [])


def test_s3_a_shot_on_two_boards():
    position = Position.parse("A A30.2 G30.1,G30.2 0/0 1/0 -")
    shot = [Fall(Square.parse(f"G-30.{board}"), Side.G, (Cause.DRAGGED,)) for board in (1, 2)]
    verdict = judge(position, parse_squares("G25.1-G72.1"), Option.I, shot)
    assert (names(verdict.casualties), names(verdict.put_back)) == (["G-30.1"], ["G-30.2"])
    assert str(verdict.after) == "G A30.2 G30.2 0/0 0/0 -"


@pytest.mark.parametrize(
    "position", ["A A30 - 0/0 1/0 -", "A A30 A01,G30 0/0 1/0 -", "A A17 A18,A25 0/0 5/0 -"]
)
def test_v0_nobody_fires_in_a_battle_that_is_over_but_any_shot_can_be_judged(position):
    before = Position.parse(position)
    with pytest.raises(JudgeError, match=r"the battle is over, and nobody fires any more \(V0\)"):
        judge(before, (), Option.I, [])
    assert judge_any_shot(before, (), Option.I, []).after.soldiers == before.soldiers


def test_c5_a_fall_outside_the_zone_is_put_back_and_is_no_doubt():
    falls = [fall("A-40", "direct", "ricochet"), fall("G-30", "direct")]
    verdict = judge(POSITION, parse_squares("G25-G72"), Option.III, falls)
    assert (names(verdict.casualties), names(verdict.put_back), verdict.doubts) == (["G-30"], ["A-40"], ())


@pytest.mark.parametrize(
    ("fallen", "option", "why"),
    [
        (fall("A-40", "direct"), Option.I, "outside the zone G25-G72"),
        (fall("A-40", "other"), Option.III, "outside the zone G25-G72"),
        (fall("G-30", "dragged"), Option.II, "dragged, which does not count under option ii"),
        (
            fall("G-30", "ricochet", "dragged"),
            Option.III,
            "ricochet or dragged, which does not count under option iii",
        ),
        (fall("G-30", "other"), Option.I, "other, which counts under no option"),
        (
            fall("G-30", "dragged", "other"),
            Option.II,
            "dragged or other, which does not count under option ii",
        ),
    ],
)
def test_c5_why_a_fall_is_put_back_is_told(fallen, option, why):
    zone = parse_squares("G25-G72")
    assert judge(POSITION, zone, option, [fallen]).put_back == (fallen.square,)
    assert why_put_back(fallen, zone, option) == why


def test_c8_possible_causes_that_agree_are_no_doubt():
    falls = [fall("G-30", "direct", "ricochet"), fall("G-31", "dragged", "other")]
    verdict = judge(POSITION, ALL_SQUARES, Option.II, falls)
    assert (names(verdict.casualties), names(verdict.put_back), verdict.doubts) == (["G-30"], ["G-31"], ())


def test_c8_a_doubt_stays_pending_until_decided():
    falls = [fall("G-30", "direct", "dragged"), fall("A-02", "direct", "other")]
    pending = judge(POSITION, ALL_SQUARES, Option.II, falls, decisions=decided(**{"G-30": "leaves"}))
    assert pending.doubts == (
        Doubt(Square.parse("A-02"), (Cause.DIRECT, Cause.OTHER), Side.A),
        Doubt(Square.parse("G-30"), (Cause.DIRECT, Cause.DRAGGED), Side.G),
    )
    assert names(pending.undecided) == ["A-02"]
    assert names(pending.casualties) == ["G-30"]
    assert pending.after is None
    assert pending.winner is None
    done = judge(
        POSITION, ALL_SQUARES, Option.II, falls, decisions=decided(**{"G-30": "leaves", "A-02": "stays"})
    )
    assert done.doubts == pending.doubts
    assert done.undecided == ()
    assert names(done.put_back) == ["A-02"]
    assert done.after is not None


TWO_DOUBTS = [fall("G-30", "direct", "ricochet"), fall("G-31", "direct", "ricochet")]


@pytest.mark.parametrize("said", [("stays", "stays"), ("leaves", "leaves")])
def test_c8_iii_the_commander_names_exactly_one_to_leave(said):
    with pytest.raises(JudgeError, match="side G names exactly one of G-30, G-31 to leave"):
        judge(
            POSITION,
            ALL_SQUARES,
            Option.III,
            TWO_DOUBTS,
            decisions=decided(**dict(zip(("G30", "G31"), said, strict=True))),
        )


def test_c8_iii_one_named_to_leave_is_accepted():
    verdict = judge(
        POSITION, ALL_SQUARES, Option.III, TWO_DOUBTS, decisions=decided(G30="stays", G31="leaves")
    )
    assert verdict.one_leaves
    assert names(verdict.casualties) == ["G-31"]


@pytest.mark.parametrize(
    "falls",
    [
        pytest.param([*TWO_DOUBTS, fall("G-32", "direct")], id="beside a certain direct fall"),
        pytest.param([*TWO_DOUBTS, fall("A-40", "direct")], id="beside one outside the zone"),
        pytest.param([*TWO_DOUBTS, fall("A-02", "direct", "ricochet")], id="doubts of both sides"),
        pytest.param(TWO_DOUBTS[:1], id="one doubt alone"),
    ],
)
def test_c8_iii_elsewhere_each_doubt_is_decided_freely(falls):
    stays = {each.square: "stays" for each in falls if len(each.causes) > 1}
    verdict = judge(POSITION, parse_squares("A02,G25-G72"), Option.III, falls, decisions=stays)
    assert not verdict.one_leaves
    assert set(verdict.put_back) - set(parse_squares("A40")) == set(stays)


def test_c8_ii_each_doubt_is_decided_freely():
    """That exactly one leaves is agreed under option iii alone."""
    falls = [fall("G-30", "ricochet", "dragged"), fall("G-31", "ricochet", "dragged")]
    said = dict.fromkeys(parse_squares("G30-G31"), "leaves")
    verdict = judge(POSITION, ALL_SQUARES, Option.II, falls, decisions=said)
    assert not verdict.one_leaves
    assert names(verdict.casualties) == ["G-30", "G-31"]


def test_c8_a_soldier_that_leaves_by_decision_stands_among_the_others_in_order():
    falls = [fall("G-30", "direct", "other"), fall("G-31", "ricochet"), fall("G-32", "ricochet", "dragged")]
    said = decided(G30="leaves", G32="stays")
    verdict = judge(POSITION, ALL_SQUARES, Option.II, falls, parse_squares("G33"), said)
    assert names(verdict.casualties) == ["G-30", "G-31"]
    assert names(verdict.put_back) == ["G-32", "G-33"]


def test_c9_a_soldier_pushed_off_is_put_back():
    verdict = judge(POSITION, (), Option.I, [fall("G-31", "direct")], parse_squares("A01,G30"))
    assert names(verdict.put_back) == ["A-01", "G-30", "G-31"]


@pytest.mark.parametrize(
    ("position", "winner"),
    [
        ("A A01 G30 0/0 1/0 -", Winner.A),
        ("G A30 G01 0/0 0/1 -", Winner.G),
        ("A A01,A30 G30 0/0 1/0 -", Winner.A),
    ],
)
def test_v1_a_shot_that_takes_the_last_enemy_wins(position, winner):
    before = Position.parse(position)
    target = before.squares_of(before.turn.enemy)[0]
    shot = [Fall(target, before.turn.enemy, (Cause.DIRECT,))]
    assert judge(before, ALL_SQUARES, Option.I, shot).winner is winner


def test_v1_the_last_own_soldier_lost_loses():
    shot = [Fall(Square.parse("A-01"), Side.A, (Cause.DIRECT,))]
    assert judge(Position.parse("A A01 G30 0/0 1/0 -"), ALL_SQUARES, Option.I, shot).winner is Winner.G


def test_v5_a_shot_that_leaves_nobody_draws():
    shot = [
        Fall(Square.parse("A-01"), Side.A, (Cause.DIRECT,)),
        Fall(Square.parse("G-30"), Side.G, (Cause.DRAGGED,)),
    ]
    assert judge(Position.parse("A A01 G30 0/0 1/0 -"), ALL_SQUARES, Option.I, shot).winner is Winner.DRAW


@pytest.mark.parametrize(
    ("falls", "moved", "decisions", "sentence"),
    [
        (
            [Fall(Square.parse("A-60"), Side.A, (Cause.DIRECT,))],
            (),
            {},
            "a fall is reported on A-60, where nobody",
        ),
        ([Fall(Square.parse("A-40"), Side.A, (Cause.DIRECT,))], (), {}, "on A-40 is of side G, not A"),
        ([fall("G-30", "dragged")] * 2, (), {}, "the fall on G-30 is reported twice"),
        ([fall("G-30", "direct"), fall("G-31", "direct")], (), {}, "G-30 and G-31 are all direct"),
        ([], parse_squares("A50"), {}, "pushed off A-50, where nobody stood"),
        ([fall("G-30", "direct")], parse_squares("G30"), {}, "the soldier on G-30 is reported twice"),
        ([], parse_squares("G30") * 2, {}, "the soldier on G-30 is reported twice"),
        ([fall("G-30", "direct")], (), decided(G30="leaves"), "a decision is given for G-30, .* in no doubt"),
        ([fall("G-30", "direct", "other")], (), decided(G30="dies"), "is 'dies', expected leaves or stays"),
    ],
)
def test_a_report_that_does_not_fit_is_refused_in_one_sentence(falls, moved, decisions, sentence):
    with pytest.raises(JudgeError, match=sentence):
        judge(POSITION, ALL_SQUARES, Option.II, falls, moved, decisions)


def test_c3_without_a_shot_left_nothing_is_judged():
    with pytest.raises(JudgeError, match="side G has no shot left"):
        judge(Position.parse("G A01 G01 0/0 1/0 -"), ALL_SQUARES, Option.I, [])


@pytest.mark.parametrize("causes", [(), (Cause.DIRECT, Cause.DIRECT)])
def test_a_fall_has_a_cause_or_several_different_ones(causes):
    with pytest.raises(JudgeError, match="G-30 needs one cause or several different ones"):
        Fall(Square.parse("G-30"), Side.G, causes)


options = st.sampled_from(Option)


@st.composite
def shots(draw, certain=False):
    position = draw(battles(ONE_OR_TWO))
    falls = draw(falls_of(position, certain=certain))
    fallen = {each.square for each in falls}
    some_squares = st.sets(st.sampled_from(all_squares(position.boards)))
    moved = sorted(
        square for square in draw(some_squares) if square in position.soldiers and square not in fallen
    )
    return position, draw(some_squares), falls, moved


def leave_the_first(verdict) -> dict[Square, str]:
    return {doubt.square: "stays" if index else "leaves" for index, doubt in enumerate(verdict.doubts)}


@given(shots(), options)
def test_every_fall_is_judged_once_and_soldiers_are_conserved(shot, option):
    position, zone, falls, moved = shot
    pending = judge(position, zone, option, falls, moved)
    assert sorted((*pending.casualties, *pending.put_back, *pending.undecided)) == sorted(
        [*(each.square for each in falls), *moved]
    )
    verdict = judge(position, zone, option, falls, moved, leave_the_first(pending))
    assert set(verdict.casualties) | set(verdict.put_back) == {each.square for each in falls} | set(moved)
    assert len(verdict.after.soldiers) + len(verdict.casualties) == len(position.soldiers)
    assert verdict.after.soldiers.items() <= position.soldiers.items()
    assert verdict.after.held == position.held
    assert verdict.after.turn is position.turn.enemy


@given(shots(certain=True))
def test_c7_option_i_takes_all_that_ii_takes_and_ii_all_that_iii_takes(shot):
    position, zone, falls, moved = shot
    taken = [set(judge(position, zone, option, falls, moved).casualties) for option in Option]
    assert taken[0] >= taken[1] >= taken[2]


@given(shots(), options)
def test_exchanging_the_sides_exchanges_the_verdict(shot, option):
    position, zone, falls, moved = shot
    decisions = leave_the_first(judge(position, zone, option, falls, moved))
    verdict = judge(position, zone, option, falls, moved, decisions)
    mirror = judge(
        mirrored(position),
        {square.mirrored for square in zone},
        option,
        [Fall(each.square.mirrored, each.side.enemy, each.causes) for each in falls],
        [square.mirrored for square in moved],
        {square.mirrored: said for square, said in decisions.items()},
    )
    assert set(mirror.casualties) == {square.mirrored for square in verdict.casualties}
    assert set(mirror.put_back) == {square.mirrored for square in verdict.put_back}
    assert mirror.after == mirrored(verdict.after)
    exchanged = {Winner.A: Winner.G, Winner.G: Winner.A}
    assert mirror.winner == exchanged.get(verdict.winner, verdict.winner)

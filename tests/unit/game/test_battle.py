"""A battle from its agreement to its end."""

from collections import Counter

import pytest
from random_battles import random_battle

from game.montecassino import (
    Abandon,
    Adjourn,
    Agreement,
    AgreementError,
    Battle,
    BattleError,
    Cannons,
    Commanders,
    IllegalTurnError,
    Option,
    Outcome,
    Position,
    Reason,
    Retreat,
    Shot,
    Side,
    Square,
    Winner,
    format_battle,
    parse_battle,
    parse_squares,
    proposed_zone,
    read_entry,
)


def begun(position: str, **agreed: object) -> Battle:
    start = Position.parse(position)
    return Battle.begin(Agreement(start.turn, boards=start.boards, **agreed), start)


def play(battle: Battle, *texts: str) -> Battle:
    for text in texts:
        battle = battle.play(read_entry(battle.position, text))
    return battle


def refused(battle: Battle, entry: object) -> str:
    with pytest.raises(IllegalTurnError) as caught:
        battle.play(entry)
    return str(caught.value)


def test_s4_what_is_not_said_is_the_usual():
    agreed = Agreement(Side.G)
    assert agreed.shots == {Side.A: 20, Side.G: 20}
    assert agreed.zones == {side: proposed_zone(side) for side in Side}
    assert str(agreed.start()) == "G A01-A24 G01-G24 0/0 20/20 -"
    assert Agreement(Side.A, cannons=Cannons.NONE).shots == {Side.A: 0, Side.G: 0}
    assert len(Agreement(Side.A, boards=2).zones[Side.A]) == 96


def test_s1_s3_s4_the_start_is_as_agreed():
    handicap = Agreement(Side.A, shots={Side.G: 5}, lines=1)
    assert str(handicap.start()) == "A A01-A08 G01-G08 0/0 20/5 -"
    joined = Agreement(Side.A, lines=2, boards=2)
    assert str(joined.start()) == "A A01.1-A16.1,A01.2-A16.2 G01.1-G16.1,G01.2-G16.2 0/0 20/20 -"


def test_s5_the_cannon_is_the_commanders_own_unless_somebody_else_has_it():
    assert Commanders("Anna").cannon == "Anna"
    assert str(Commanders("Anna", "Bo")) == "Anna, Bo"
    assert str(Commanders("Anna")) == "Anna"


def test_s4_all_faults_of_an_agreement_are_named_at_once():
    with pytest.raises(AgreementError) as caught:
        Agreement(
            Side.A,
            shots={Side.A: -1, Side.G: 10**9},
            zones={Side.A: (), Side.G: parse_squares("A30.1")},
            lines=0,
            players={Side.A: Commanders("two\nlines", "\u3164"), Side.G: Commanders("A" * 5000)},
        )
    assert caught.value.faults == (
        "lines is 0, expected 1 to 3",
        "shots of A are -1, expected 0 to 999999999",
        "shots of G are 1000000000, expected 0 to 999999999",
        "zone of A is empty, expected a square at least",
        "zone of G has A-30.1, expected squares of one board, whose squares name none",
        "players of A: 'two\\nlines' is no name that a line of text can hold",
        r"players of A: '\u3164' is no name that can be seen",
        "players of G: a name has 5000 letters, 'AAAAAAAAAAAAAAAAAAAA'..., expected 60 at most",
    )
    with pytest.raises(AgreementError, match="boards is 3, expected 1 or 2"):
        Agreement(Side.A, boards=3)
    with pytest.raises(AgreementError, match="shots of G are 1, and without a cannon there are none"):
        Agreement(Side.A, shots={Side.G: 1}, cannons=Cannons.NONE)


def test_v4_a_battle_may_begin_in_positions_that_were_noted_down():
    battle = begun("G A30 G30 3/2 4/0 A")
    assert battle.position.turn is Side.G
    with pytest.raises(BattleError) as caught:
        Battle.begin(Agreement(Side.A, boards=2, shots={Side.A: 3}), Position.parse("A A30 - 0/0 4/21 -"))
    assert caught.value.faults == (
        "the start has boards: 1, agreed are 2",
        "the start has shots left of A: 4, agreed are 3",
        "the start has shots left of G: 21, agreed are 20",
        "it is over at the start: the enemy has no soldier on the board",
    )


def test_s2_turns_alternate_and_the_history_says_whose_each_was():
    battle = play(Battle.begin(Agreement(Side.G)), "G-17>G-25", "*", "R", "A-17>A-25", "||").resume()
    battle = play(battle, "#")
    assert [str(played.side) for played in battle.history] == list("GAGAGG")
    assert [str(played.entry) for played in battle.history] == ["G-17>G-25", "*", "R", "A-17>A-25", "||", "#"]
    assert list(battle.positions())[1:] == [played.after for played in battle.history]
    assert next(battle.positions()) == battle.start


def test_c3_c6_a_shot_takes_the_turn_is_spent_and_its_casualties_leave_for_good():
    battle = play(begun("A A30,G28 G30,G25 0/0 2/1 -"), "*G-28,G-30")
    assert str(battle.position) == "G A30 G25 0/0 1/1 -"
    assert str(play(battle, "*").position) == "A A30 G25 0/0 1/0 -"


@pytest.mark.parametrize(
    ("position", "agreed", "entry", "said"),
    [
        ("A A30 G30 0/0 0/1 -", {}, Shot(), "side A has no shot left (C3)"),
        (
            "A A30 G30 0/0 0/0 -",
            {"cannons": Cannons.NONE},
            Shot(),
            "no cannon is agreed (S4)",
        ),
        (
            "A A30 G30,G24 0/0 1/1 -",
            {},
            Shot((Square.parse("G-24"), Square.parse("A-30"))),
            "A-30 and G-24 are outside the zone G25-G72, where the fallen are put back (C5)",
        ),
        (
            "A A30 G30,G24 0/0 1/1 -",
            {"zones": {Side.A: parse_squares("A30,G24")}},
            Shot((Square.parse("G-30"),)),
            "G-30 is outside the zone A30,G24, where the fallen are put back (C5)",
        ),
        (
            "A A30 G30 0/0 1/1 -",
            {},
            Shot((Square.parse("G-31"),)),
            "nobody stood on G-31 before the shot (C5)",
        ),
        ("A A30 G30 0/0 1/1 A", {}, Retreat(), "side A has retreated before, and may once a battle (R1)"),
    ],
)
def test_what_is_not_allowed_names_its_clause(position, agreed, entry, said):
    assert refused(begun(position, **agreed), entry) == said


def test_c4_the_zone_may_differ_by_shooter():
    battle = begun("A A30 G30 0/0 1/1 -", zones={Side.G: parse_squares("G30")})
    assert "outside the zone" in refused(play(battle, "*"), Shot((Square.parse("A-30"),)))
    assert play(battle, "*", "*G-30").outcome == Outcome(Winner.A, Reason.NO_SOLDIERS)


def test_r3_a_retreat_gives_the_adversary_half_a_point_at_once():
    battle = play(Battle.begin(Agreement(Side.A)), "R")
    assert battle.outcome is None
    assert battle.points == {Side.A: 0, Side.G: 0.5}


@pytest.mark.parametrize("retreats", [(), ("A",), ("G",), ("A", "G")])
def test_v6_the_winner_gets_one_point_and_each_retreat_gave_the_adversary_a_half(retreats):
    battle = Battle.begin(Agreement(Side.A))
    battle = play(
        battle, "R" if "A" in retreats else "A-17>A-25", "R" if "G" in retreats else "G-17>G-25", "#"
    )
    assert battle.outcome == Outcome(Winner.G, Reason.ABANDONED)
    assert battle.points == {Side.A: 0.5 * ("G" in retreats), Side.G: 1 + 0.5 * ("A" in retreats)}
    assert sum(battle.points.values()) == 1 + 0.5 * len(retreats)


def test_v5_v6_a_draw_gives_no_point_for_the_battle():
    battle = play(begun("A A30 G30 0/0 1/1 G", zones={Side.A: parse_squares("A30,G30")}), "*A-30,G-30")
    assert battle.outcome == Outcome(Winner.DRAW, Reason.BOTH_WITHOUT_SOLDIERS)
    assert battle.points == {Side.A: 0.5, Side.G: 0}


@pytest.mark.parametrize("ending", ["#", "A-30xA-39"])
def test_v0_v4_nothing_follows_the_end(ending):
    battle = play(begun("A A30 A39 0/0 5/5 -"), ending)
    assert battle.outcome is not None
    for entry in (Shot(), Retreat(), Abandon(), Adjourn()):
        assert refused(battle, entry) == "the battle is over (V0)"
    assert battle.undo().outcome is None


def test_v4_an_adjourned_battle_goes_on_when_it_is_resumed():
    battle = play(Battle.begin(Agreement(Side.A)), "A-17>A-25", "||")
    assert battle.adjourned
    assert battle.outcome is None
    assert refused(battle, Shot()) == "the battle is adjourned, and goes on when it is resumed (V4)"
    resumed = battle.resume()
    assert not resumed.adjourned
    assert resumed == battle, "resuming is no part of the record"
    after = resumed.play(Shot())
    assert not after.adjourned
    assert after.undo().play(Shot()) == after
    with pytest.raises(ValueError, match="not adjourned"):
        resumed.resume()
    assert resumed.play(Adjourn()).adjourned


def test_nothing_is_there_to_be_taken_back_at_the_start():
    with pytest.raises(ValueError, match="nothing has been done yet"):
        Battle.begin(Agreement(Side.A)).undo()


def test_a_battle_is_a_value():
    one, other = (play(Battle.begin(Agreement(Side.A, Option.I)), "A-17>A-25", "*") for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != one.undo()


@pytest.mark.parametrize("seed", range(40))
def test_battles_at_random_come_to_an_end_that_their_file_replays_to(seed):
    """5,000 of these have been played; see docs/battle.md for the file."""
    battle = random_battle(seed)
    assert battle.outcome is not None
    assert sum(battle.points.values()) == (battle.outcome.winner is not Winner.DRAW) + 0.5 * len(
        battle.position.retreated
    )
    check_every_step(battle)
    again = parse_battle(format_battle(battle))
    assert again == battle
    assert again.outcome == battle.outcome


def check_every_step(battle: Battle) -> None:
    """Nobody appears or vanishes; every entry reads back from its text; what is taken back is as it was."""
    men = Counter(battle.start.soldiers.values())
    for before, played in zip(battle.positions(), battle.history, strict=False):
        if isinstance(played.entry, Shot):
            men.subtract(before.soldiers[square] for square in played.entry.casualties)
        for side in Side:
            assert len(played.after.squares_of(side)) + played.after.held[side.enemy] == men[side]
        assert played.side is before.turn
        assert read_entry(before, str(played.entry)) == played.entry
    last = battle.history[-1].entry
    undone = battle.undo()
    assert undone.play(last) == battle
    assert undone.position == list(battle.positions())[-2]

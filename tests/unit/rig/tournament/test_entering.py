"""Results from battle files: whose battle it was, and whether it was fought as agreed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from tournament_fields import AT, begun

from game.montecassino import (
    Abandon,
    Adjourn,
    Agreement,
    Battle,
    Cannons,
    Commanders,
    Entry,
    Option,
    Position,
    Retreat,
    Side,
    Turn,
    parse_squares,
)
from game.montecassino.tournament import Fought, Player, Terms, Tournament, TournamentError, pair
from rig.tournament.entering import BattleNotEntered, entry_of_battle
from rig.tournament.matching import least_cost_matching

STEP, BACK = Turn.parse("A-17>A-25"), Turn.parse("G-17>G-25")


@pytest.fixture
def tournament() -> Tournament:
    """Anna (A) meets Carla (G), Dario (A, 12 shots, a zone of his own) meets Bruno (G)."""
    players = [
        Player("Anna"),
        Player("Bruno"),
        Player("Carla"),
        Player("Dario", parse_squares("G25-G40"), 12),
    ]
    started = pair(replace(begun(0), rounds_planned=3).with_players(players), least_cost_matching)
    assert [pairing.names for pairing in started.rounds[0].pairings] == [
        ("Anna", "Carla"),
        ("Dario", "Bruno"),
    ]
    return started


def fought(
    allies: str = "Anna",
    germans: str = "Carla",
    *entries: Entry,
    start: Position | None = None,
    **changes: object,
) -> Battle:
    """Return a battle of these two, which Anna's side gives up where nothing else is said."""
    players = {Side.A: Commanders(allies), Side.G: Commanders(germans, "a gunner")}
    agreement = replace(Agreement(Side.A, players=players), **changes)
    battle = Battle.begin(agreement, start)
    for entry in entries or (STEP, Retreat(), Abandon()):
        battle = battle.play(entry)
    return battle


def test_a_battle_goes_to_its_board_with_its_points(tournament):
    """The Germans retreated and the Allies gave up: ½-1 (V6)."""
    number, board, entry = entry_of_battle(tournament, fought(), "b.json", AT)
    assert (number, board) == (1, 1)
    assert entry.result == Fought.parse("½-1")
    assert entry.source == "b.json"
    assert str(tournament.entered(number, board, entry).pairing(1, 1).result) == "½-1"


def test_the_one_who_commands_the_infantry_takes_part_capitals_or_not(tournament):
    """S5."""
    assert entry_of_battle(tournament, fought("ANNA", "carla"), "b.json", AT)[:2] == (1, 1)


def test_a_battle_is_known_again_in_another_file_and_no_other_is_taken_for_it(tournament):
    ours = entry_of_battle(tournament, fought(), "b.json", AT)[2]
    copy = entry_of_battle(tournament, fought(), "copy.json", AT)[2]
    other = entry_of_battle(tournament, fought("Anna", "Carla", STEP, Abandon()), "other.json", AT)[2]
    assert ours.battle == copy.battle != other.battle
    days = [
        entry_of_battle(tournament, replace(fought(), began=date(2026, 5, day)), "b.json", AT)[2].battle
        for day in (2, 3)
    ]
    assert len({ours.battle, *days}) == 3, "of the same turns on another day"
    with pytest.raises(TournamentError, match=r"copy.json is entered already: round 1, board 1"):
        tournament.entered(1, 1, ours).entered(1, 1, replace(copy, why="again"))


@pytest.mark.parametrize(
    ("battle", "fault"),
    [
        (fought("Anna", "Carla", STEP), "the battle goes on, side G to move; a result needs its end"),
        (fought("Anna", "Carla", STEP, Adjourn()), "the battle is adjourned; a result needs its end"),
        (fought("", "Carla"), "players of A: found nobody"),
        (fought("Anna", "Karla"), "players of G: nobody is called 'Karla'; did you mean 'Carla'?"),
        (fought("Anna", "Bruno"), "Anna and Bruno are not paired with each other in any round"),
        (fought("Anna", "Anna"), "Anna and Anna are not paired"),
        (fought("Carla", "Anna"), "in round 1 Anna has the Allies and Carla the Germans, in this battle the other way"),
        (fought(shots={Side.A: 20, Side.G: 25}), "board 1 has it: shots of G: found 25, expected 20"),
        (fought(option=Option.I), "option: found i, expected ii"),
        (fought(cannons=Cannons.SHARED), "cannons: found shared, expected each"),
        (fought("Anna", "Carla", Abandon(), lines=2), "lines: found 2, expected 3"),
        (fought(zones={Side.A: parse_squares("G25-G72"), Side.G: parse_squares("A25")}), "the zone of G: found A25, expected A25-A72"),
        (fought("Anna", "Carla", Abandon(), start=Position.parse("A A01-A23 G01-G24 0/0 20/20 -")), "the start: found A A01-A23 G01-G24"),
        (fought("Dario", "Bruno"), "shots of A: found 20, expected 12; the zone of A: found G25-G72, expected G25-G40"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(tournament, battle, fault):
    with pytest.raises(BattleNotEntered) as caught:
        entry_of_battle(tournament, battle, "b.json", AT)
    assert str(caught.value).startswith("b.json: ")
    assert fault in str(caught.value)


def test_a_battle_under_the_handicap_is_entered(tournament):
    """S4."""
    battle = fought(
        "Dario",
        "Bruno",
        shots={Side.A: 12, Side.G: 20},
        zones={Side.A: parse_squares("G25-G40"), Side.G: parse_squares("A25-A72")},
    )
    assert entry_of_battle(tournament, battle, "b.json", AT)[:2] == (1, 2)


def test_a_tournament_without_the_cannon(tournament):
    bare = replace(begun(0), rounds_planned=1, terms=Terms(cannons=Cannons.NONE, shots=0))
    bare = pair(bare.with_players([Player("Anna"), Player("Carla")]), least_cost_matching)
    battle = fought(cannons=Cannons.NONE, shots={Side.A: 0, Side.G: 0})
    assert entry_of_battle(bare, battle, "b.json", AT)[:2] == (1, 1)
    somewhere = replace(battle, agreement=replace(battle.agreement, zones={Side.A: parse_squares("G25")}))
    assert entry_of_battle(bare, somewhere, "b.json", AT)[:2] == (1, 1), "no zone means anything there"
    with pytest.raises(BattleNotEntered, match="cannons: found none, expected each"):
        entry_of_battle(tournament, battle, "b.json", AT)


def test_of_two_who_meet_again_the_battle_is_that_of_the_round_that_waits(tournament):
    two = replace(begun(0), rounds_planned=3).with_players([Player("Anna"), Player("Carla")])
    for number, (names, entries) in enumerate(
        [(("Anna", "Carla"), (STEP, Abandon())), (("Carla", "Anna"), (STEP, BACK, Abandon()))], start=1
    ):
        two = pair(two, least_cost_matching)
        found = entry_of_battle(two, fought(*names, *entries), "b.json", AT)
        assert found[0] == number
        two = two.entered(*found)


def test_a_correction_that_fits_several_rounds_asks_for_the_round(tournament):
    """Of four rounds of two players, the first and the third have them on the same sides."""
    two = replace(begun(0), rounds_planned=4).with_players([Player("Anna"), Player("Carla")])
    for number, entries in enumerate([(Retreat(), Abandon()), (STEP, Abandon()), (STEP, BACK, Abandon())], 1):
        two = pair(two, least_cost_matching)
        battle = fought(*two.pairing(number, 1).names, *entries)
        two = two.entered(*entry_of_battle(two, battle, f"{number}.json", AT))
    assert [two.pairing(number, 1).names[0] for number in (1, 2, 3)] == ["Anna", "Carla", "Anna"]
    better = fought("Anna", "Carla", STEP, Abandon())
    with pytest.raises(
        BattleNotEntered, match="Anna and Carla have a result in rounds 1, 3; say which: --round"
    ):
        entry_of_battle(two, better, "better.json", AT, "the wrong file")
    number, board, entry = entry_of_battle(two, better, "better.json", AT, "the wrong file", 1)
    assert (number, board) == (1, 1)
    assert two.entered(number, board, entry).pairing(1, 1).result == Fought.parse("1-0")
    with pytest.raises(BattleNotEntered, match="in round 2 Carla has the Allies"):
        entry_of_battle(two, better, "better.json", AT, "the wrong file", 2)
    with pytest.raises(BattleNotEntered, match="not paired with each other in round 9"):
        entry_of_battle(two, better, "better.json", AT, "the wrong file", 9)


def test_a_correction_goes_to_the_pairing_that_has_a_result(tournament):
    first = entry_of_battle(tournament, fought(), "b.json", AT)
    done = tournament.entered(*first)
    other = fought("Anna", "Carla", STEP, Abandon())
    number, board, entry = entry_of_battle(done, other, "better.json", AT, "the wrong file")
    after = done.entered(number, board, entry)
    assert [str(each.result) for each in after.pairing(1, 1).entries] == ["½-1", "1-0"]

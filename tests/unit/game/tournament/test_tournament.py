"""The table of battles: players, handicaps, results and their corrections."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tournament_fields import AT, begun, entered

from game.montecassino import AgreementError, Cannons, Side, parse_squares, proposed_zone
from game.montecassino.tournament import (
    Artillery,
    Forfeit,
    Fought,
    Player,
    ResultEntry,
    System,
    Terms,
    Tournament,
    TournamentError,
    encounters,
    pair,
    standings,
    unpair,
)
from rig.tournament.matching import least_cost_matching


def hand(score: str, why: str = "", battle: str = "") -> ResultEntry:
    return ResultEntry(Fought.parse(score), "by hand", AT, battle, why)


def paired(count: int = 4, system: System = System.SWISS) -> Tournament:
    return pair(begun(count, 3, system), least_cost_matching)


# Handicap by zone and shots


def test_without_a_handicap_each_side_has_the_zone_that_the_booklet_proposes():
    """C4."""
    for pairing in paired().rounds[0].pairings:
        for side in Side:
            assert pairing.seat(side).artillery == Artillery(proposed_zone(side), 20)


def test_a_players_own_shots_and_zone_go_with_the_player_and_the_zone_turns_round_with_the_side():
    """S4."""
    tournament = begun(2, 3, System.DOUBLE_ROUND_ROBIN)
    players = [tournament.players[0], Player("Dario", parse_squares("G25-G40"), 12)]
    tournament = pair(replace(tournament, players=tuple(players)), least_cost_matching)
    expected = {Side.A: parse_squares("G25-G40"), Side.G: parse_squares("A25-A40")}
    for each in tournament.rounds:
        (pairing,) = each.pairings
        (side,) = (side for side in Side if pairing.seat(side).player == "Dario")
        assert pairing.seat(side).artillery == Artillery(expected[side], 12)
        assert pairing.seat(side.enemy).artillery == Artillery(proposed_zone(side.enemy), 20)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"lines": 4}, "lines is 4"),
        ({"boards": 3}, "boards is 3"),
        ({"cannons": Cannons.NONE}, "without a cannon"),
        (
            {"cannons": Cannons.NONE, "shots": 0, "zone": parse_squares("G25-G48")},
            "zone is G25-G48, and without a cannon there is none",
        ),
        ({"shots": -1}, "shots of A are -1"),
        ({"zone": ()}, "zone of A is empty"),
        ({"zone": parse_squares("G25.1-G40.1")}, "expected squares of one board"),
    ],
)
def test_terms_that_the_rules_do_not_allow_are_refused(changes, fault):
    with pytest.raises(AgreementError, match=fault):
        Terms(**changes)


def test_a_handicap_that_the_terms_do_not_allow_is_refused_with_the_players_name():
    tournament = Tournament("test", System.SWISS, 3, Terms(cannons=Cannons.NONE, shots=0))
    for handicap in (Player("Dario", shots=3), Player("Dario", zone=parse_squares("G25-G48"))):
        with pytest.raises(TournamentError, match=r"'Dario': .*without a cannon"):
            tournament.with_players([handicap])


# Players


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(TournamentError, match=r"nobody is called 'anna b'; did you mean 'Anna B\.'\?"):
        begun(0).with_players([Player("Anna B."), Player("Bruno")]).player("anna b")


def test_capitals_make_no_other_name():
    tournament = begun(0).with_players([Player("Anna")])
    assert tournament.player("ANNA").name == "Anna"
    with pytest.raises(TournamentError, match="'Anna' takes part already"):
        tournament.with_players([Player("anna")])


@pytest.mark.parametrize(
    "name",
    ["", " ", " Anna", "Anna ", "An  na", "An\nna", "An\tna", "\x1b[31m", "A" * 61, "\u3164\u3164", "\u2800"],
)
def test_what_cannot_be_a_name_is_refused(name):
    with pytest.raises(TournamentError, match="expected"):
        begun(0).with_players([Player(name)])


def test_a_name_of_which_nothing_is_seen_is_shown_by_its_signs_numbers():
    with pytest.raises(TournamentError, match=r"found '\\u3164', expected a player's name: letters"):
        begun(0).with_players([Player("\u3164")])


def test_one_who_withdraws_before_the_first_round_is_off_the_list():
    assert [player.name for player in begun(3).withdrawn("P2", AT).players] == ["P1", "P3"]


def test_one_who_withdraws_later_keeps_points_and_rank_and_may_come_back():
    tournament = entered(entered(paired(), 1, 1, "1-0"), 1, 2, "1-0")
    gone = tournament.withdrawn("P1", AT)
    assert standings(gone) == standings(tournament)
    with pytest.raises(TournamentError, match="withdrawn already"):
        gone.withdrawn("P1", AT)
    back = gone.with_players([Player("p1")])
    assert back == tournament


def test_an_accent_in_one_piece_or_in_two_is_the_same_name():
    tournament = begun(0).with_players([Player("Zo\u00eb")])
    assert tournament.player("Zoe\u0308").name == "Zo\u00eb"


def test_one_who_comes_back_has_the_handicap_of_before_but_for_what_is_given_anew():
    tournament = pair(
        begun(0).with_players([Player("Anna", None, 3), *begun(3).players]), least_cost_matching
    )
    back = tournament.withdrawn("Anna", AT).with_players([Player("Anna")])
    assert back.player("Anna").shots == 3
    assert tournament.withdrawn("Anna", AT).with_players([Player("Anna", shots=5)]).player("Anna").shots == 5


def test_one_who_comes_late_has_nothing_from_the_rounds_before():
    late = entered(entered(paired(), 1, 1, "1-0"), 1, 2, "1-0").with_players([Player("late")])
    assert [each.points for each in encounters(late)["late"]] == [0]


def test_in_a_round_robin_nobody_comes_late():
    with pytest.raises(TournamentError, match="comes too late"):
        paired(4, System.ROUND_ROBIN).with_players([Player("late")])


def test_one_who_left_a_round_robin_by_mistake_comes_back_and_the_forfeits_stay_until_corrected():
    gone = paired(3, System.ROUND_ROBIN).withdrawn("P1", AT)
    back = gone.with_players([Player("p1")])
    assert not back.player("P1").withdrawn
    assert back.rounds == gone.rounds
    number, board = next(
        (number, pairing.board)
        for number, each in enumerate(back.rounds, start=1)
        for pairing in each.pairings
        if "P1" in pairing.names
    )
    fought = back.entered(number, board, hand("1-0", why="P1 had not gone"))
    assert fought.pairing(number, board).result == Fought.parse("1-0")


def test_one_who_comes_back_to_a_paired_round_robin_has_no_other_handicap():
    gone = paired(3, System.ROUND_ROBIN).withdrawn("P1", AT)
    with pytest.raises(TournamentError, match="'P1' comes back with the handicap of before"):
        gone.with_players([Player("P1", shots=5)])


def test_one_who_leaves_a_round_robin_forfeits_what_is_not_fought():
    tournament = paired(3, System.ROUND_ROBIN)
    first = next(pairing.board for number, pairing in tournament.open_pairings() if number == 1)
    tournament = entered(tournament, 1, first, "1-0")
    fought = tournament.rounds[0].pairings[0]
    gone = tournament.withdrawn("P3", AT)
    assert gone.rounds[0].pairings[0] == fought
    for _, pairing in tournament.open_pairings():
        if "P3" in pairing.names:
            (side,) = (side for side in Side if pairing.seat(side).player == "P3")
            (now,) = [
                each for round_ in gone.rounds for each in round_.pairings if each.names == pairing.names
            ]
            assert now.result == Forfeit(frozenset({side}))
    both = gone.withdrawn("P1", AT).withdrawn("P2", AT)
    assert not list(both.open_pairings())


def test_a_battle_forfeited_by_the_first_who_left_stays_with_the_other_who_leaves_later():
    tournament = paired(3, System.ROUND_ROBIN).withdrawn("P1", AT).withdrawn("P2", AT)
    (between,) = [
        pairing
        for each in tournament.rounds
        for pairing in each.pairings
        if set(pairing.names) == {"P1", "P2"}
    ]
    # P1's going gave the battle to P2; that P2 went as well, later, changes nothing that was entered.
    assert len(between.entries) == 1
    p2 = Side.A if between.names[0] == "P2" else Side.G
    assert between.result == Forfeit(frozenset({p2.enemy}))


def test_a_round_robin_is_paired_once():
    with pytest.raises(TournamentError, match="all 3 rounds of the round robin"):
        pair(paired(4, System.ROUND_ROBIN), least_cost_matching)


# Results


def test_a_result_is_never_overwritten_and_a_correction_keeps_what_was_there():
    tournament = paired().entered(1, 1, hand("1-0"))
    with pytest.raises(
        TournamentError, match=r"has a result already: 1-0 \(by hand\); a correction needs a reason"
    ):
        tournament.entered(1, 1, hand("0-1"))
    corrected = tournament.entered(1, 1, hand("0-1", why="swapped"))
    pairing = corrected.pairing(1, 1)
    assert [str(entry.result) for entry in pairing.entries] == ["1-0", "0-1"]
    assert str(pairing.result) == "0-1"


def test_there_must_be_something_to_correct():
    with pytest.raises(TournamentError, match="no result yet that could be corrected"):
        paired().entered(1, 1, hand("1-0", why="swapped"))
    with pytest.raises(TournamentError, match="has that result already: 1-0"):
        paired().entered(1, 1, hand("1-0")).entered(1, 1, hand("1-0", why="swapped"))


def test_one_battle_is_entered_once():
    tournament = paired().entered(1, 1, hand("1-0", battle="abc"))
    for board, why in ((2, ""), (1, "again")):
        with pytest.raises(TournamentError, match="is entered already: round 1, board 1, P1 against P3"):
            tournament.entered(1, board, hand("0-1", why=why, battle="abc"))


def test_a_correction_that_was_wrong_gives_way_to_the_battle_before():
    tournament = paired().entered(1, 1, hand("1-0", battle="abc")).entered(1, 1, hand("0-1", why="swapped"))
    back = tournament.entered(1, 1, hand("1-0", why="it was right", battle="abc"))
    assert str(back.pairing(1, 1).result) == "1-0"
    with pytest.raises(TournamentError, match="is entered already: round 1, board 1"):
        tournament.entered(1, 2, hand("1-0", battle="abc"))


@pytest.mark.parametrize(
    ("round_number", "board", "fault"),
    [
        (2, 1, "there is no round 2: round 1 is paired$"),
        (0, 1, "there is no round 0"),
        (1, 3, "round 1 has no board 3: its boards are 1 to 2"),
        (1, 0, "no board 0"),
    ],
)
def test_a_place_that_is_not_on_the_table_is_named(round_number, board, fault):
    with pytest.raises(TournamentError, match=fault):
        paired().entered(round_number, board, hand("1-0"))


def test_where_there_is_but_one_board_it_is_told_as_one():
    with pytest.raises(TournamentError, match=r"^round 1 has no board 2: its one board is 1$"):
        paired(count=2).entered(1, 2, hand("1-0"))


def test_nothing_can_be_entered_before_the_first_round():
    with pytest.raises(TournamentError, match="none is paired yet"):
        begun(4).entered(1, 1, hand("1-0"))


# A round taken back


@pytest.mark.parametrize("system", list(System))
def test_taking_back_is_the_way_back_of_pairing(system):
    before = begun(5, 3, system)
    assert unpair(pair(before, least_cost_matching)) == before


def test_a_swiss_round_is_taken_back_alone_and_the_results_before_it_stay():
    first = entered(entered(paired(), 1, 1, "1-0"), 1, 2, "1-0")
    assert unpair(pair(first, least_cost_matching)) == first
    with pytest.raises(TournamentError, match=r"round 1 stays: the result of board 1, .* against .*, is in"):
        unpair(first)


def test_a_round_robin_with_a_result_stays():
    tournament = paired(4, System.ROUND_ROBIN)
    with pytest.raises(TournamentError, match="round 2 stays: the result of board 1"):
        unpair(tournament.entered(2, 1, hand("1-0")))


def test_what_is_not_paired_cannot_be_taken_back():
    with pytest.raises(TournamentError, match="no round is paired"):
        unpair(begun(4, 3))

"""Points, tie-breaks and ranks, against sums done by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tournament_fields import begun, entered, played, with_drawn_results

from game.montecassino import Side
from game.montecassino.tournament import (
    Forfeit,
    Kind,
    System,
    TieBreak,
    Tournament,
    pair,
    standings,
)
from rig.tournament.matching import least_cost_matching


def played_out(count: int, system: System, results: dict[tuple[str, str], str]) -> Tournament:
    """Return a tournament with results by who has the Allies and who the Germans."""
    tournament = pair(begun(count, 1, system), least_cost_matching)
    for number, pairing in list(tournament.open_pairings()):
        tournament = entered(tournament, number, pairing.board, results[pairing.names])
    return tournament


def values(tournament: Tournament, tie_break: TieBreak) -> dict[str, Fraction]:
    return {line.player: line.values[tie_break] for line in standings(tournament)}


def ranks(tournament: Tournament) -> dict[str, int]:
    return {line.player: line.rank for line in standings(tournament)}


FOUR = played_out(
    4,
    System.ROUND_ROBIN,
    {
        ("P4", "P1"): "0-1½",
        ("P2", "P3"): "1-½",
        ("P2", "P4"): "½-1",
        ("P3", "P1"): "1-0",
        ("P4", "P3"): "0-0",
        ("P1", "P2"): "0-1",
    },
)


def test_points_add_up_with_their_halves():
    assert {line.player: line.points for line in standings(FOUR)} == {
        "P1": Fraction(3, 2),
        "P2": Fraction(5, 2),
        "P3": Fraction(3, 2),
        "P4": Fraction(1),
    }


def test_of_two_who_are_tied_the_one_who_won_between_them_comes_first():
    assert ranks(FOUR) == {"P2": 1, "P3": 2, "P1": 3, "P4": 4}
    direct = {line.player: line.direct for line in standings(FOUR)}
    assert direct == {"P1": (0,), "P3": (1,), "P2": (), "P4": ()}


def test_opponents_points():
    assert values(FOUR, TieBreak.OPPONENTS) == {"P1": 5, "P2": 4, "P3": 5, "P4": Fraction("5.5")}


def test_sonneborn_berger():
    assert values(FOUR, TieBreak.SONNEBORN_BERGER) == {
        "P1": Fraction("1.5"),
        "P2": Fraction("3.5"),
        "P3": Fraction("2.75"),
        "P4": Fraction("2.5"),
    }


def test_battles_won_and_retreats():
    assert values(FOUR, TieBreak.WINS) == {"P1": 1, "P2": 2, "P3": 1, "P4": 1}
    assert values(FOUR, TieBreak.RETREATS) == {"P1": 0, "P2": 1, "P3": 0, "P4": 2}


def test_the_direct_encounter_is_asked_again_among_those_whom_it_leaves_tied():
    tournament = played_out(
        4,
        System.ROUND_ROBIN,
        {
            ("P4", "P1"): "1-0",
            ("P2", "P3"): "1-0",
            ("P2", "P4"): "1-0",
            ("P3", "P1"): "1-½",
            ("P4", "P3"): "0-1",
            ("P1", "P2"): "1½-0",
        },
    )
    lines = standings(tournament)
    assert [(line.player, line.points, line.direct) for line in lines] == [
        ("P1", 2, (2,)),
        ("P2", 2, (1, 1)),
        ("P3", 2, (1, 0)),
        ("P4", 1, ()),
    ]


def test_of_two_who_met_twice_the_average_counts():
    tournament = played_out(2, System.DOUBLE_ROUND_ROBIN, {("P1", "P2"): "1-0", ("P2", "P1"): "1-0"})
    assert [(line.rank, line.direct) for line in standings(tournament)] == [(1, (Fraction(1, 2),))] * 2


def test_fewer_retreats_part_those_whom_nothing_else_does():
    """P1 and P2 have drawn with each other, lost to P3 and beaten P4; P1 has retreated once."""
    tournament = played_out(
        4,
        System.ROUND_ROBIN,
        {
            ("P4", "P1"): "0-1",
            ("P2", "P3"): "0-1",
            ("P2", "P4"): "1-0",
            ("P3", "P1"): "1½-0",
            ("P4", "P3"): "0-1",
            ("P1", "P2"): "0-0",
        },
    )
    first, second, third, _ = standings(tournament)
    assert (first.player, second.player, third.player) == ("P3", "P2", "P1")
    assert (second.points, second.direct) == (third.points, third.direct)
    parted_by = [key for key in second.values if second.values[key] != third.values[key]]
    assert parted_by == [TieBreak.RETREATS]
    assert (second.rank, third.rank) == (2, 3)


def test_those_whom_nothing_parts_share_the_rank_and_the_next_rank_leaves_as_many_out():
    tournament = pair(begun(6, 1), least_cost_matching)
    for board in (1, 2, 3):
        tournament = entered(tournament, 1, board, "1-0")
    assert [line.rank for line in standings(tournament)] == [1, 1, 1, 4, 4, 4]


def test_before_the_first_round_everybody_is_first():
    assert [line.rank for line in standings(begun(3))] == [1, 1, 1]


def test_a_swiss_bye_counts_in_sums_as_met_with_somebody_of_the_own_points():
    """FIDE C.07, article 16."""
    tournament = entered(pair(begun(3, 1), least_cost_matching), 1, 1, "1-0")
    assert [line.player for line in standings(tournament)] == ["P3", "P1", "P2"]
    assert values(tournament, TieBreak.OPPONENTS) == {"P3": 1, "P1": 0, "P2": 1}
    assert values(tournament, TieBreak.SONNEBORN_BERGER) == {"P3": 1, "P1": 0, "P2": 0}
    assert values(tournament, TieBreak.WINS) == {"P3": 0, "P1": 1, "P2": 0}


def test_a_swiss_forfeit_counts_as_met_with_nobody_and_no_direct_encounter():
    tournament = entered(pair(begun(2, 2), least_cost_matching), 1, 1, Forfeit(frozenset({Side.G})))
    assert values(tournament, TieBreak.OPPONENTS) == {"P1": 1, "P2": 0}
    assert values(tournament, TieBreak.WINS) == {"P1": 0, "P2": 0}
    tied = entered(pair(begun(2, 2), least_cost_matching), 1, 1, Forfeit(frozenset(Side)))
    assert all(line.direct == () for line in standings(tied))


def test_a_round_robin_forfeit_counts_as_a_battle_with_the_opponent_who_was_due():
    tournament = pair(begun(2, 1, System.ROUND_ROBIN), least_cost_matching)
    a, g = tournament.rounds[0].pairings[0].names
    tournament = entered(tournament, 1, 1, Forfeit(frozenset({Side.G})))
    assert values(tournament, TieBreak.OPPONENTS) == {a: 0, g: 1}


def test_a_round_robin_bye_gives_nothing():
    tournament = pair(begun(3, 1, System.ROUND_ROBIN), least_cost_matching)
    assert all(line.points == 0 for line in standings(tournament))


def test_a_battle_whose_result_is_not_in_counts_for_nothing():
    tournament = pair(begun(4, 2), least_cost_matching)
    tournament = entered(tournament, 1, 1, "1-0")
    assert values(tournament, TieBreak.OPPONENTS) == {"P1": 0, "P3": 1, "P2": 0, "P4": 0}


def test_who_waits_for_a_result_has_from_that_round_nobody_not_even_the_dummy_of_a_bye():
    tournament = entered(entered(pair(begun(4, 2), least_cost_matching), 1, 1, "1-0"), 1, 2, "1-0")
    first = {tie_break: values(tournament, tie_break) for tie_break in (TieBreak.OPPONENTS, TieBreak.WINS)}
    waiting = pair(tournament, least_cost_matching)
    assert {tie_break: values(waiting, tie_break) for tie_break in first} == first


@settings(max_examples=30)
@given(count=st.integers(2, 20), rounds=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_points_in_all_are_the_battles_won_the_retreats_the_byes_and_the_forfeits(count, rounds, seed):
    *_, (_, last) = played(count, rounds, seed, least_cost_matching, coming_and_going=True)
    lines = standings(with_drawn_results(last, random.Random(seed), forfeits=0.2))
    ways = [each for line in lines for each in line.way]
    won = sum(each.won for each in ways)
    halves = sum(each.retreated for each in ways)
    unfought = sum(each.points for each in ways if each.kind is not Kind.FOUGHT)
    assert sum(line.points for line in lines) == won + Fraction(halves, 2) + unfought


@settings(max_examples=30)
@given(count=st.integers(2, 20), rounds=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_ranks_are_the_same_in_whatever_order_the_players_stand(count, rounds, seed):
    *_, (_, last) = played(count, rounds, seed, least_cost_matching, coming_and_going=True)
    mixed = list(last.players)
    random.Random(seed).shuffle(mixed)
    assert ranks(replace(last, players=tuple(mixed))) == ranks(last)


@settings(max_examples=30)
@given(count=st.integers(2, 20), rounds=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_ranks_follow_points_then_the_tie_breaks_in_their_order(count, rounds, seed):
    *_, (_, last) = played(count, rounds, seed, least_cost_matching)
    lines = standings(last)
    for upper, lower in pairwise(lines):
        assert upper.points >= lower.points
        if upper.points == lower.points and upper.direct == lower.direct:
            keys = [
                [each.values[key] for key in (TieBreak.OPPONENTS, TieBreak.SONNEBORN_BERGER, TieBreak.WINS)]
                + [-each.values[TieBreak.RETREATS]]
                for each in (upper, lower)
            ]
            assert keys[0] >= keys[1]
            assert (upper.rank == lower.rank) == (keys[0] == keys[1])
        else:
            assert upper.rank < lower.rank

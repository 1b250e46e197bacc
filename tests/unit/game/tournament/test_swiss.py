"""Swiss pairing: each goal, their order, and that nothing better was there."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tournament_fields import AT, all_matchings, begun, brute_force, entered, played, with_drawn_results

from game.montecassino import Side
from game.montecassino.tournament import (
    Contender,
    Forfeit,
    Fought,
    Kind,
    TournamentError,
    contenders,
    encounters,
    pair,
    pair_swiss,
    rematches_of,
    standings,
)
from game.montecassino.tournament.sides import seated
from game.montecassino.tournament.swiss import GOALS
from rig.tournament.matching import least_cost_matching

seeds = st.integers(0, 2**32)


def cost_of(field: tuple[Contender, ...], matching: list[tuple[int, int]]) -> tuple[int, ...]:
    """Return what a pairing of a field costs by each goal; the vertex after the last player's is the bye."""
    vertices = [*field, None]
    return tuple(sum(goal(field[i], vertices[j]) for i, j in matching) for goal in GOALS)


@settings(max_examples=60)
@given(count=st.integers(4, 40), rounds=st.integers(1, 9), seed=seeds)
def test_each_round_has_everybody_in_play_exactly_once(count, rounds, seed):
    for before, after in played(count, rounds, seed, least_cost_matching, coming_and_going=True):
        paired = after.rounds[-1]
        names = [name for pairing in paired.pairings for name in pairing.names]
        if paired.bye is not None:
            names.append(paired.bye)
        assert sorted(names) == sorted(player.name for player in before.in_play)
        assert (paired.bye is None) == (len(before.in_play) % 2 == 0)
        assert [pairing.board for pairing in paired.pairings] == list(range(1, len(paired.pairings) + 1))


@settings(max_examples=40)
@given(count=st.integers(2, 8), rounds=st.integers(1, 9), seed=seeds)
def test_no_pairing_serves_the_goals_better_as_brute_force_shows(count, rounds, seed):
    """Among all pairings of a small field none costs less, the goals taken in their order."""
    for before, _ in played(count, rounds, seed, least_cost_matching, coming_and_going=True):
        field = contenders(before)
        size = len(field) + len(field) % 2
        pairs, bye = pair_swiss(field, least_cost_matching)
        found = [(first.place, second.place) for first, second in pairs]
        if bye is not None:
            found.append((bye.place, len(field)))
        assert cost_of(field, found) == min(cost_of(field, each) for each in all_matchings(range(size)))


@settings(max_examples=25)
@given(count=st.integers(2, 6), rounds=st.integers(2, 7), seed=seeds)
def test_the_goals_mean_what_they_say_reckoned_from_the_table_of_battles(count, rounds, seed):
    """Rematches, second byes, who has the bye, differences of points, sides: by another reckoning than the code's own."""
    for before, after in played(count, rounds, seed, least_cost_matching, coming_and_going=True):
        names = [player.name for player in before.in_play]
        fought = [
            (pairing.names, pairing.result)
            for each in before.rounds
            for pairing in each.pairings
            if isinstance(pairing.result, Fought)
        ]
        points = {line.player: line.points for line in standings(before)}
        order = sorted(names, key=lambda name: -points[name])
        unfought = {
            name: sum(each.points > 0 for each in encounters(before)[name] if each.kind is not Kind.FOUGHT)
            for name in names
        }

        def cost(pairs, bye, fought=fought, points=points, order=order, unfought=unfought, names=names):
            """Take (Allies, Germans) pairs and who has the bye."""
            sides = Counter(dict.fromkeys(names, 0))
            for a, g in [*(met for met, _ in fought), *pairs]:
                sides[a] += 1
                sides[g] -= 1
            return (
                sum(1 for each in pairs for met, _ in fought if set(met) == set(each)),
                0 if bye is None else unfought[bye],
                0 if bye is None else -order.index(bye),
                sum((points[a] - points[g]) ** 2 for a, g in pairs),
                sum(sides[name] ** 2 for name in names if name != bye),
            )

        best = min(
            cost(seats, bye)
            for pairs, bye in named_pairings(names)
            for seats in product(*(((a, g), (g, a)) for a, g in pairs))
        )
        found = after.rounds[-1]
        assert cost([pairing.names for pairing in found.pairings], found.bye) == best


def named_pairings(names: list[str]) -> Iterator[tuple[list[tuple[str, str]], str | None]]:
    """Yield every pairing of some players, and who has the bye in it."""
    for matching in all_matchings(range(len(names) + len(names) % 2)):
        pairs = [(names[i], names[j]) for i, j in matching if j < len(names)]
        bye = next((names[i] for i, j in matching if j == len(names)), None)
        yield pairs, bye


@settings(max_examples=40)
@given(count=st.integers(2, 8), rounds=st.integers(3, 10), seed=seeds)
def test_a_rematch_is_paired_only_where_every_pairing_has_one(count, rounds, seed):
    """Said by `rematches_of`, proved by looking at every pairing of the field."""
    for before, after in played(count, rounds, seed, least_cost_matching):
        met = {frozenset(pairing.names) for each in before.rounds for pairing in each.pairings}
        names = [player.name for player in before.in_play] + ["bye"] * (count % 2)
        avoidable = any(
            all(frozenset((names[i], names[j])) not in met for i, j in matching)
            for matching in all_matchings(range(len(names)))
        )
        again = rematches_of(after, len(after.rounds))
        assert bool(again) != avoidable
        for pairing, rounds_before in again:
            for number in rounds_before:
                assert set(pairing.names) in [set(each.names) for each in after.rounds[number - 1].pairings]


@settings(max_examples=30)
@given(count=st.integers(8, 40), seed=seeds)
def test_in_as_many_rounds_as_half_the_players_nobody_meets_twice(count, seed):
    """With fewer rounds than half the field a pairing without a rematch always exists (Dirac's theorem)."""
    for _, after in played(count, (count - 1) // 2, seed, least_cost_matching):
        assert not rematches_of(after, len(after.rounds))


@settings(max_examples=30)
@given(half=st.integers(2, 15), seed=seeds)
def test_nobody_has_a_second_bye_while_somebody_had_none(half, seed):
    count = 2 * half + 1
    byes = [after.rounds[-1].bye for _, after in played(count, half, seed, least_cost_matching)]
    assert len(set(byes)) == len(byes)


def test_the_bye_goes_to_the_lowest_who_had_none_and_gives_a_point():
    tournament = pair(begun(5, 3), least_cost_matching)
    assert tournament.rounds[0].bye == "P5"
    assert encounters(tournament)["P5"][0].points == 1
    for board in (1, 2):
        tournament = entered(tournament, 1, board, "1-0")
    # P1 and P4 have won, P5 had the bye; of P2 and P3, who have nothing, P3 entered later.
    assert pair(tournament, least_cost_matching).rounds[1].bye == "P3"


def test_a_point_by_forfeit_stands_for_a_bye():
    """FIDE C.04.1: who had a point without playing gets no bye."""
    tournament = pair(begun(5, 3), least_cost_matching)
    allies, germans = tournament.rounds[0].pairings[1].names
    tournament = entered(tournament, 1, 1, "1-0")
    tournament = entered(tournament, 1, 2, Forfeit(frozenset({Side.A})))
    byes = {each.player: each.byes for each in contenders(tournament)}
    assert byes[germans] == 1
    assert byes[allies] == 0


def test_the_first_round_pairs_the_upper_half_with_the_lower_half():
    tournament = pair(begun(8), least_cost_matching)
    assert [set(pairing.names) for pairing in tournament.rounds[0].pairings] == [
        {"P1", "P5"},
        {"P2", "P6"},
        {"P3", "P7"},
        {"P4", "P8"},
    ]
    assert [pairing.names[0] for pairing in tournament.rounds[0].pairings] == ["P1", "P6", "P3", "P8"]


def test_equal_points_meet_while_they_can():
    tournament = pair(begun(8, 3), least_cost_matching)
    for board in range(1, 5):
        tournament = entered(tournament, 1, board, "1-0")
    tournament = pair(tournament, least_cost_matching)
    before = {
        each.player: each.halves for each in contenders(replace(tournament, rounds=tournament.rounds[:1]))
    }
    for pairing in tournament.rounds[1].pairings:
        a, g = pairing.names
        assert before[a] == before[g]


def test_after_a_round_everybody_changes_sides_where_that_pairs_equal_points():
    tournament = pair(begun(16, 2), least_cost_matching)
    for board in range(1, 9):
        tournament = entered(tournament, 1, board, "1-0" if board % 2 else "0-1")
    first = {
        name: side
        for pairing in tournament.rounds[0].pairings
        for name, side in zip(pairing.names, Side, strict=True)
    }
    for pairing in pair(tournament, least_cost_matching).rounds[1].pairings:
        for name, side in zip(pairing.names, Side, strict=True):
            assert first[name] is not side


def contender(name: str, *, group: tuple[int, int] = (0, 1), sides: str = "", **changes: int) -> Contender:
    """Return a player by place and size of the group of equal points, and the sides of the battles, oldest first."""
    had = tuple(map(Side, sides))
    known = Contender(name, 0, 0, 0, *group, {}, 0, had, had.count(Side.A) - had.count(Side.G), 0)
    return replace(known, **changes)


@pytest.mark.parametrize(
    ("first", "second", "board", "allies"),
    [
        ("AG", "GAG", 1, "second"),
        ("GAG", "AG", 1, "first"),
        ("AGGA", "AGAG", 1, "second"),
        ("AGAG", "AGGA", 1, "first"),
        ("GAAG", "AG", 1, "first"),
        ("AG", "GA", 2, "first"),
        ("AG", "AG", 2, "first"),
        ("GA", "GA", 1, "second"),
        ("", "", 1, "first"),
        ("", "", 2, "second"),
    ],
)
def test_the_allies_go_to_who_had_them_less_often_else_both_change_sides(first, second, board, allies):
    """docs/tournament.md: against the last battle in which theirs differed."""
    seats = seated(contender("first", sides=first), contender("second", sides=second), board)
    assert seats[0].player == allies
    assert {each.player for each in seats} == {"first", "second"}


@pytest.mark.parametrize(("spared", "floats"), [(None, "U3"), ("U3", "U2")])
def test_who_met_one_of_fewer_points_in_the_last_round_is_spared_it_in_this(spared, floats):
    """docs/tournament.md, goal 6; C.04.3. Of three who have a point and one who has none, one must."""
    field = [
        contender(name, group=(k, 3), place=k, halves=2, last_float=-1 if name == spared else 0)
        for k, name in enumerate(("U1", "U2", "U3"))
    ]
    pairs, bye = pair_swiss([*field, contender("L1", place=3)], least_cost_matching)
    assert bye is None
    assert {pair[0].player for pair in pairs if pair[1].player == "L1"} == {floats}


@pytest.mark.parametrize(("spared", "floats"), [(None, "L1"), ("L1", "L2")])
def test_who_met_one_of_more_points_in_the_last_round_is_spared_it_in_this(spared, floats):
    field = [
        contender(name, group=(k, 3), place=1 + k, last_float=1 if name == spared else 0)
        for k, name in enumerate(("L1", "L2", "L3"))
    ]
    pairs, _ = pair_swiss([contender("U1", halves=2), *field], least_cost_matching)
    assert {pair[1].player for pair in pairs if pair[0].player == "U1"} == {floats}


def test_who_met_one_of_more_or_fewer_points_is_reckoned_by_what_they_had_before_the_round():
    tournament = entered(pair(begun(4, 3), least_cost_matching), 1, 1, "1-0")
    tournament = pair(entered(tournament, 1, 2, "0-0"), least_cost_matching)
    (down,) = (pairing for pairing in tournament.rounds[1].pairings if "P1" in pairing.names)
    (other,) = (name for name in down.names if name != "P1")
    for number, pairing in list(tournament.open_pairings()):
        # Who had less wins, so that both have a point now.
        tournament = entered(tournament, number, pairing.board, "1-0" if pairing.names[0] == other else "0-1")
    floats = {each.player: each.last_float for each in contenders(tournament)}
    assert floats == {"P1": -1, other: 1} | dict.fromkeys(floats.keys() - {"P1", other}, 0)


def test_the_bye_counts_as_meeting_one_of_fewer_points():
    tournament = entered(pair(begun(3, 2), least_cost_matching), 1, 1, "1-0")
    assert {each.player: each.last_float for each in contenders(tournament)} == {"P1": 0, "P2": 0, "P3": -1}


def test_the_same_tournament_is_paired_the_same_way_every_time():
    *_, (before, after) = played(31, 7, 5, least_cost_matching)
    assert all(pair(before, least_cost_matching) == after for _ in range(5))


@settings(max_examples=30)
@given(count=st.integers(2, 7), rounds=st.integers(1, 4), seed=seeds)
def test_any_matcher_will_do(count, rounds, seed):
    for before, after in played(count, rounds, seed, brute_force):
        theirs = pair(before, least_cost_matching)
        field = contenders(before)
        places = {each.player: each.place for each in field}

        def cost(tournament, places=places, field=field):
            pairs = [
                tuple(sorted(places[name] for name in pairing.names))
                for pairing in tournament.rounds[-1].pairings
            ]
            bye = tournament.rounds[-1].bye
            return cost_of(field, pairs + ([] if bye is None else [(places[bye], len(field))]))

        assert cost(theirs) == cost(after)


def test_a_forfeit_is_no_battle_and_the_two_may_be_paired_again():
    tournament = pair(begun(2, 2), least_cost_matching)
    tournament = entered(tournament, 1, 1, Forfeit(frozenset({Side.G})))
    tournament = pair(tournament, least_cost_matching)
    assert not rematches_of(tournament, 2)


def test_a_late_entry_is_paired_from_the_next_round_and_a_withdrawal_no_more():
    draw = random.Random(1)
    tournament = with_drawn_results(pair(begun(4, 3), least_cost_matching), draw)
    tournament = tournament.withdrawn("P2", AT)
    tournament = tournament.with_players([replace(tournament.players[0], name="late")])
    tournament = pair(tournament, least_cost_matching)
    names = {name for pairing in tournament.rounds[1].pairings for name in pairing.names}
    assert names == {"P1", "P3", "P4", "late"}


def test_the_next_round_waits_and_names_what_is_missing():
    tournament = pair(begun(4, 3), least_cost_matching)
    tournament = entered(tournament, 1, 1, "1-0")
    with pytest.raises(TournamentError, match=r"round 1, board 2, P4 against P2$"):
        pair(tournament, least_cost_matching)


def test_no_more_rounds_than_planned():
    tournament = with_drawn_results(pair(begun(4, 1), least_cost_matching), random.Random(2))
    with pytest.raises(TournamentError, match="all rounds that were planned"):
        pair(tournament, least_cost_matching)


@pytest.mark.parametrize("count", [0, 1])
def test_a_round_needs_two(count):
    with pytest.raises(TournamentError, match="needs two players"):
        pair(begun(count), least_cost_matching)


def test_costs_too_large_to_be_exact_are_refused_rather_than_wrong():
    far = 10**9
    field = [Contender(f"P{k}", k, 1 - k, k * far, 0, 1, {}, far, (), far, 0) for k in range(2)]
    field = [replace(each, met={"P1": far}, group_size=far) for each in field]
    with pytest.raises(OverflowError, match="too many to be paired exactly"):
        pair_swiss(field, least_cost_matching)

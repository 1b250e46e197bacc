"""Round robin: everybody meets everybody, sides and byes even."""

from __future__ import annotations

from collections import Counter

import pytest

from game.montecassino.tournament import round_robin

COUNTS = range(2, 41)


@pytest.mark.parametrize("double", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("count", COUNTS)
def test_everybody_meets_everybody_as_often_as_the_system_says(count, double):
    met = Counter(
        (a, g) for meetings in round_robin(count, double=double) for a, g in meetings if g is not None
    )
    pairs = Counter(frozenset(pair) for pair in met.elements())
    assert len(pairs) == count * (count - 1) // 2
    assert set(pairs.values()) == {2 if double else 1}
    if double:
        assert set(met.values()) == {1}, "once on each side"


@pytest.mark.parametrize("double", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("count", COUNTS)
def test_each_round_has_everybody_once(count, double):
    rounds = round_robin(count, double=double)
    assert len(rounds) == (count - 1 + count % 2) * (2 if double else 1)
    for meetings in rounds:
        places = [place for meeting in meetings for place in meeting if place is not None]
        assert sorted(places) == list(range(count))


@pytest.mark.parametrize("count", [count for count in COUNTS if count % 2])
def test_an_odd_number_gives_each_one_bye_and_it_stands_last(count):
    rounds = round_robin(count)
    assert sorted(meetings[-1][0] for meetings in rounds) == list(range(count))
    assert all(meetings[-1][1] is None for meetings in rounds)
    assert all(g is not None for meetings in rounds for _, g in meetings[:-1])


@pytest.mark.parametrize("double", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("count", COUNTS)
def test_sides_differ_by_one_at_most_and_not_at_all_where_they_need_not(count, double):
    surplus = Counter(dict.fromkeys(range(count), 0))
    for meetings in round_robin(count, double=double):
        for a, g in meetings:
            if g is not None:
                surplus[a] += 1
                surplus[g] -= 1
    even = double or count % 2 == 1
    assert {abs(each) for each in surplus.values()} == ({0} if even else {1})


@pytest.mark.parametrize("count", [count for count in COUNTS if count > 2])
def test_nobody_has_one_side_three_times_running(count):
    for player in range(count):
        sides = [
            "A" if a == player else "G"
            for meetings in round_robin(count)
            for a, g in meetings
            if player in (a, g) and g is not None
        ]
        assert not any(len(set(sides[k : k + 3])) == 1 for k in range(len(sides) - 2))


def test_a_single_player_has_nobody_to_meet():
    with pytest.raises(ValueError, match="has no battles"):
        round_robin(1)

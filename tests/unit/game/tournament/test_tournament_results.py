"""Results of battles as scores: a point for the battle, a half for the adversary's retreat (R3, V6)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from game.montecassino import Side, Winner, points
from game.montecassino.tournament import Forfeit, Fought, ResultTextError, format_points

RETREATS = [frozenset(), frozenset({Side.A}), frozenset({Side.G}), frozenset(Side)]
ALL = [Fought(winner, retreated) for winner, retreated in product(Winner, RETREATS)]


@pytest.mark.parametrize("result", ALL, ids=str)
def test_points_are_those_of_the_rules_and_exact(result):
    """V6; R3."""
    for side in Side:
        gained = result.points(side)
        assert isinstance(gained, Fraction)
        assert gained == Fraction(points(result.winner, result.retreated)[side])


@pytest.mark.parametrize("result", ALL, ids=str)
def test_a_score_says_who_won_and_who_retreated(result):
    assert Fought.parse(str(result)) == result


def test_each_of_the_twelve_results_has_a_score_of_its_own():
    assert len({str(result) for result in ALL}) == 12


@pytest.mark.parametrize(
    ("text", "winner", "retreated"),
    [
        ("1-0", Winner.A, ""),
        ("1-½", Winner.A, "A"),
        ("1½-0", Winner.A, "G"),
        ("1½-½", Winner.A, "AG"),
        ("0-0", Winner.DRAW, ""),
        ("½-½", Winner.DRAW, "AG"),
        ("1.5-0.5", Winner.A, "AG"),
        ("1,5 - 0,5", Winner.A, "AG"),
        (".5-1", Winner.G, "G"),
        ("1 1/2 - 1/2", Winner.A, "AG"),
        ("1.0:0.0", Winner.A, ""),
        (" 0 – 1½ ", Winner.G, "A"),
    ],
)
def test_scores_are_read_as_people_write_them(text, winner, retreated):
    assert Fought.parse(text) == Fought(winner, frozenset(map(Side, retreated)))


@pytest.mark.parametrize("text", ["2-0", "0-2", "1-1", "1½-1", "99-0", "2.5-0"])
def test_scores_that_no_battle_gives_are_refused_by_the_clause(text):
    with pytest.raises(ResultTextError, match=r"is no score: .*\(V6\)"):
        Fought.parse(text)


@pytest.mark.parametrize(
    "text", ["", "-", "1", "1-", "-1", "1-0-0", "one-nil", "1-0.25", "½½-0", "1--0", "٣-0", "1" * 5000 + "-0"]
)
def test_what_is_no_score_is_refused(text):
    with pytest.raises(ResultTextError, match="expected"):
        Fought.parse(text)


@pytest.mark.parametrize(
    ("absent", "score"), [("A", "0-1 forfeit"), ("G", "1-0 forfeit"), ("AG", "0-0 forfeit")]
)
def test_who_did_not_come_gets_nothing_and_the_other_one_a_point(absent, score):
    assert str(Forfeit(frozenset(map(Side, absent)))) == score


def test_a_forfeit_needs_somebody_who_did_not_come():
    with pytest.raises(ResultTextError):
        Forfeit(frozenset())


@pytest.mark.parametrize(
    ("number", "text"),
    [("0", "0"), ("1/2", "½"), ("1", "1"), ("3/2", "1½"), ("11/4", "2¾"), ("4/3", "4/3"), ("10", "10")],
)
def test_points_are_written_as_the_booklet_writes_them(number, text):
    assert format_points(Fraction(number)) == text

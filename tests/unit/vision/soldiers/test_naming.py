"""Which side is which, where places hardly tell: which way soldiers look, and what the shot struck first."""

from __future__ import annotations

import pytest

from game.montecassino import Side, Square
from vision.outcome import Soldier, Standing
from vision.soldiers.naming import hardly_named, named_by_the_shot, naming_odds

SQUARE_MM = 45.0


def standing(**sides: str) -> Standing:
    """Soldiers on squares such as ``A_62``."""
    soldiers = []
    for name, side in sides.items():
        square = Square.parse(name.replace("_", "-"))
        soldiers.append(Soldier(square, Side(side), *square.centre_mm(SQUARE_MM)))
    return Standing(tuple(sorted(soldiers)), 42.0, 12.0)


# Both sides have come to the middle, and stand where the other's are as often as not.
MIXED = standing(A_62="A", A_70="G", A_53="G", G_61="A", G_70="G", G_54="A")
# Each on its own lines.
APART = standing(**{f"A_{n:02d}": "A" for n in range(1, 9)}, **{f"G_{n:02d}": "G" for n in range(1, 9)})


def looking(table: Standing, odds: float) -> dict[Square, float]:
    """All look at the enemy's base with these odds; below 0 at their own."""
    return {s.square: odds if s.side is Side.A else -odds for s in table.soldiers}


def named_odds(table: Standing, odds: float) -> float:
    forward = looking(table, odds)
    return naming_odds(((s.side, s.y_mm, forward[s.square]) for s in table.soldiers), SQUARE_MM)


def of(table: Standing, square: str) -> Soldier:
    soldier = table.at(Square.parse(square))
    assert soldier is not None
    return soldier


@pytest.mark.parametrize("shooter", list(Side))
def test_who_was_felled_first_is_an_enemy_where_places_do_not_tell(shooter: Side) -> None:
    for soldier in MIXED.soldiers:
        named = named_by_the_shot(MIXED, [soldier], shooter, looking(MIXED, 0.0), SQUARE_MM)
        assert of(named, str(soldier.square)).side is shooter.enemy
        # All of a uniform go together, and nobody moves.
        turned = {a.side is not b.side for a, b in zip(MIXED.soldiers, named.soldiers, strict=True)}
        assert turned == {soldier.side is shooter}
        assert [(s.square, s.x_mm, s.y_mm) for s in named.soldiers] == [
            (s.square, s.x_mm, s.y_mm) for s in MIXED.soldiers
        ]


def test_one_may_fell_ones_own_where_places_tell() -> None:
    struck = [of(APART, "A-05")]
    assert named_by_the_shot(APART, struck, Side.A, looking(APART, 0.0), SQUARE_MM) == APART


def test_one_may_fell_ones_own_where_all_look_at_the_enemy() -> None:
    struck = [of(MIXED, "A-62")]
    assert named_by_the_shot(MIXED, struck, Side.A, looking(MIXED, 2.0), SQUARE_MM) == MIXED


@pytest.mark.parametrize(("odds", "is_turned"), [(0.5, True), (0.6, False)])
def test_one_may_fell_ones_own_where_looks_tell_more_than_the_shot(odds: float, is_turned: bool) -> None:
    named = named_by_the_shot(MIXED, [of(MIXED, "A-62")], Side.A, looking(MIXED, odds), SQUARE_MM)
    assert (named != MIXED) is is_turned


def test_who_looks_where_names_the_sides_where_places_do_not_tell_and_not_where_they_do() -> None:
    assert named_odds(MIXED, 2.0) > 0 > named_odds(MIXED, -2.0)
    assert named_odds(APART, -9.0) > 0


@pytest.mark.parametrize("first", [[], ["A-62", "A-70"]])
def test_nobody_or_both_sides_felled_at_once_name_nobody(first: list[str]) -> None:
    struck = [of(MIXED, square) for square in first]
    assert named_by_the_shot(MIXED, struck, Side.A, looking(MIXED, 0.0), SQUARE_MM) == MIXED


def test_it_is_open_whose_uniform_is_whose_where_neither_places_nor_looks_tell() -> None:
    assert hardly_named(MIXED, looking(MIXED, 0.0), SQUARE_MM)
    assert not hardly_named(APART, looking(APART, 0.0), SQUARE_MM)
    assert not hardly_named(standing(), {}, SQUARE_MM), "of nobody nothing can be mistaken"


def test_looks_alone_leave_it_open_and_a_few_soldiers_near_their_own_bases_do_not() -> None:
    assert hardly_named(MIXED, looking(MIXED, 9.0), SQUARE_MM)
    at_home = standing(A_02="A", A_05="A", G_03="G")
    assert not hardly_named(at_home, looking(at_home, 0.0), SQUARE_MM)
    away = standing(A_02="G", A_05="G", G_03="A")
    assert not hardly_named(away, looking(away, 0.0), SQUARE_MM), "plainly the other way round"


def test_how_many_there_are_of_a_side_does_not_tell_which_it_is() -> None:
    """On the middle of the board anybody may stand."""
    for side in Side:
        assert naming_odds([(side, 9 * SQUARE_MM, 0.0)] * 12, SQUARE_MM) == pytest.approx(0.0)


def test_one_who_plainly_looks_back_tells_less_than_two_who_look_ahead() -> None:
    looks = [(Side.A, 9 * SQUARE_MM, odds) for odds in (-20.0, 2.0, 2.0)]
    assert naming_odds(looks, SQUARE_MM) > 0


def test_however_many_look_the_wrong_way_they_do_not_outweigh_an_army_at_its_own_base() -> None:
    assert naming_odds([(Side.A, 2 * SQUARE_MM, -20.0)] * 24, SQUARE_MM) > 40

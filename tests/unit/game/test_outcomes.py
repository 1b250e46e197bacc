import pytest

from game.montecassino import (
    Outcome,
    Position,
    Reason,
    RetreatError,
    Side,
    Winner,
    abandon,
    immobilised,
    outcome,
    points,
    retreat,
)


@pytest.mark.parametrize(
    ("position", "winner", "reason"),
    [
        ("A A01 - 1/0 0/0 -", Winner.A, Reason.NO_SOLDIERS),
        ("A - G01 0/1 0/0 -", Winner.G, Reason.NO_SOLDIERS),
        ("A - - 0/0 0/0 -", Winner.DRAW, Reason.BOTH_WITHOUT_SOLDIERS),
        ("G A30,G08 G30 0/0 0/0 -", Winner.A, Reason.LAST_LINE),
        ("A A30 A01,G30 0/0 0/0 -", Winner.G, Reason.LAST_LINE),
        ("G A64,A71 A72,G30 0/0 0/0 -", None, None),
        ("A G09 G01 0/0 0/0 -", None, None),
        ("A G09 G01,G17 0/0 0/0 -", None, None),
        ("A A17 A18,A25 0/0 5/0 -", Winner.G, Reason.IMMOBILISED),
        ("G A17 A18,A25 0/0 5/0 -", None, None),
        ("A A24.1 A17.2,A32.1,A23.1 0/0 5/0 -", Winner.G, Reason.IMMOBILISED),
        ("A A24.1 A32.1,A23.1 0/0 5/0 -", None, None),
        ("G G05.1,A01.1 G30.1 0/0 0/0 -", Winner.A, Reason.LAST_LINE),
        ("A A30.1 A08.2 0/0 0/0 -", Winner.G, Reason.LAST_LINE),
        ("A - - 0/30 0/0 -", Winner.DRAW, Reason.BOTH_WITHOUT_SOLDIERS),
    ],
)
def test_v_how_a_battle_stands(position, winner, reason):
    expected = None if winner is None else Outcome(winner, reason)
    assert outcome(Position.parse(position)) == expected


def test_v2_the_side_that_moved_last_came_last_to_line_18():
    assert outcome(Position.parse("A G08 A01 0/0 0/0 -")).winner is Winner.G


def test_v3_a_backward_step_is_a_step_too():
    assert immobilised(Position.parse("A A57 A58,A65 0/0 0/0 -")) is False
    assert immobilised(Position.parse("A A25 A26,A33 0/0 0/0 -")) is True


def test_r2_the_soldiers_go_to_the_lowest_empty_squares_and_nobody_else_moves():
    after = retreat(Position.parse("A A01-A08,A13,A30,G60 A09,A40 0/0 1/1 -"))
    assert str(after) == "G A01-A08,A10-A11,A13 A09,A40 0/0 1/1 A"


def test_r2_nobody_outside_the_base_changes_only_the_turn():
    assert str(retreat(Position.parse("G A30 G01,G24 0/0 0/0 A"))) == "A A30 G01,G24 0/0 0/0 AG"


def test_r2_where_the_base_is_full_it_goes_on_with_line_4():
    after = retreat(Position.parse("A A01-A20,G30 A21-A23,A25 0/0 0/0 -"))
    assert str(after) == "G A01-A20,A24 A21-A23,A25 0/0 0/0 A"
    after = retreat(Position.parse("A A01-A20,G30,G40 A21-A23,A25 0/0 0/0 -"))
    assert str(after) == "G A01-A20,A24,A26 A21-A23,A25 0/0 0/0 A"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A A08.1,A30.1,A01.2,A40.2 G30.1 0/0 0/0 -", "G A01.1-A02.1,A08.1,A01.2 G30.1 0/0 0/0 A"),
        (
            "A A01.1-A08.1,A30.1,A40.2,G70.1 G30.1 0/0 0/0 -",
            "G A01.1-A08.1,A01.2-A03.2 G30.1 0/0 0/0 A",
        ),
        (
            "G A30.1 G01.1-G08.1,G07.2,G40.1,G41.1,A40.2 0/0 0/0 A",
            "A A30.1 G01.1-G08.1,G01.2-G03.2,G07.2 0/0 0/0 AG",
        ),
        (
            "G A30.1 G01.1-G07.1,G01.2-G08.2,G40.1,G41.2 0/0 0/0 -",
            "A A30.1 G01.1-G09.1,G01.2-G08.2 0/0 0/0 G",
        ),
    ],
)
def test_s3_r2_on_two_boards_line_by_line_and_board_1_before_board_2(before, after):
    assert str(retreat(Position.parse(before))) == after


@pytest.mark.parametrize(
    ("position", "why"),
    [
        ("A A30 G30 0/0 0/0 A", "side A has retreated before"),
        ("A A30 - 0/0 0/0 -", "the battle is over"),
        ("A A17 A18,A25 0/0 5/0 -", "the battle is over"),
    ],
)
def test_r1_a_retreat_that_may_not_be(position, why):
    with pytest.raises(RetreatError, match=why):
        retreat(Position.parse(position))


def test_v4_a_side_that_abandons_has_lost():
    assert abandon(Position.parse("A A30 G30 0/0 0/0 -")) == Outcome(Winner.G, Reason.ABANDONED)
    with pytest.raises(ValueError, match="the battle is over"):
        abandon(Position.parse("A A30 - 0/0 0/0 -"))


@pytest.mark.parametrize(
    ("winner", "retreated", "a", "g"),
    [
        (None, "", 0, 0),
        (Winner.A, "", 1, 0),
        (Winner.A, "A", 1, 0.5),
        (Winner.A, "G", 1.5, 0),
        (Winner.A, "AG", 1.5, 0.5),
        (Winner.G, "AG", 0.5, 1.5),
        (Winner.DRAW, "G", 0.5, 0),
        (None, "A", 0, 0.5),
    ],
)
def test_v6_points(winner, retreated, a, g):
    assert points(winner, set(map(Side, retreated))) == {Side.A: a, Side.G: g}

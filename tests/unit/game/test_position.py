import pickle

import pytest
from hypothesis import given
from montecassino_strategies import positions

from game.montecassino import Position, PositionError, Side, Square

START = "A A01-A24 G01-G24 0/0 20/20 -"


def test_n4_the_start():
    position = Position.parse(START)
    assert position.turn is Side.A
    assert len(position.squares_of(Side.A)) == len(position.squares_of(Side.G)) == 24
    assert position.soldiers[Square.parse("G-24")] is Side.G
    assert (position.held[Side.A], position.shots_left[Side.G]) == (0, 20)
    assert not position.retreated
    assert str(position) == START


@pytest.mark.parametrize(
    ("lines", "text"),
    [(3, START), (2, "A A01-A16 G01-G16 0/0 20/20 -"), (1, "A A01-A08 G01-G08 0/0 20/20 -")],
)
def test_s1_three_two_or_one_line_of_soldiers(lines, text):
    assert str(Position.start(Side.A, shots=20, lines=lines)) == text


def test_s1_there_are_three_lines_in_a_base():
    with pytest.raises(ValueError, match="lines is 4, expected 1 to 3"):
        Position.start(Side.G, shots=20, lines=4)


@given(positions())
def test_n4_parse_print_parse(position):
    again = Position.parse(str(position))
    assert again == position
    assert hash(again) == hash(position)
    assert str(again) == str(position)
    assert pickle.loads(pickle.dumps(position)) == position


def test_n4_all_faults_are_named_at_once():
    with pytest.raises(PositionError) as caught:
        Position.parse("B A01-A24,A30,A30 A01,G99 0/x 1/-2 GA")
    assert caught.value.faults == (
        "turn is 'B', expected A or G",
        "soldiers of A: A-30 stands twice",
        "soldiers of G: G-99 is not on the board: numbers go from 1 to 72",
        "A-01 stands twice, for A and for G",
        "prisoners is '0/x', expected two numbers such as 0/0",
        "shots left is '1/-2', expected two numbers such as 0/0",
        "retreated is 'GA', expected -, A, G or AG",
    )


def test_n4_a_square_may_not_stand_for_both_sides():
    with pytest.raises(PositionError, match="A-05 stands twice, for A and for G"):
        Position.parse("A A01-A05 A05-A06 0/0 0/0 -")


@pytest.mark.parametrize(
    ("text", "side"),
    [("A A01-A20 G01 0/5 0/0 -", "A"), ("A A01 G01-G24 1/0 0/0 -", "G"), ("A A01-A25 - 0/0 0/0 -", "A")],
)
def test_n4_soldiers_and_men_held_come_to_24_at_most(text, side):
    with pytest.raises(PositionError, match=f"side {side} has .* together more than 24"):
        Position.parse(text)


def test_n4_too_many_men_are_named_beside_the_other_faults():
    with pytest.raises(PositionError) as caught:
        Position.parse("? A01-A25 - 0/0 0/0 -")
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize("text", ["", "A", START + " ", START.replace(" ", "  ")])
def test_n4_six_fields_parted_by_one_blank(text):
    with pytest.raises(PositionError, match="fields parted by one blank, expected 6"):
        Position.parse(text)


def test_a_position_does_not_change_under_its_holder():
    soldiers = {Square.parse("A-01"): Side.A}
    position = Position(Side.A, soldiers, {Side.A: 0, Side.G: 0}, {Side.A: 1, Side.G: 1})
    soldiers.clear()
    assert str(position) == "A A01 - 0/0 1/1 -"
    with pytest.raises(TypeError):
        position.held[Side.A] = 3


def test_a_count_is_not_negative():
    with pytest.raises(PositionError, match="shots_left of side G is -1"):
        Position(Side.A, {}, {Side.A: 0, Side.G: 0}, {Side.A: 0, Side.G: -1})

import pickle

import pytest
from hypothesis import assume, given
from montecassino_strategies import ONE_OR_TWO, positions

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


def test_s3_two_boards_hold_48_soldiers_a_side():
    start = Position.start(Side.G, shots=9, boards=2)
    assert str(start) == "G A01.1-A24.1,A01.2-A24.2 G01.1-G24.1,G01.2-G24.2 0/0 9/9 -"
    assert start.boards == Position.parse(str(start)).boards == 2
    assert len(start.squares_of(Side.A)) == 48
    two_lines = Position.start(Side.G, shots=9, lines=2, boards=2)
    assert str(two_lines) == "G A01.1-A16.1,A01.2-A16.2 G01.1-G16.1,G01.2-G16.2 0/0 9/9 -"


@pytest.mark.parametrize(
    ("text", "boards"),
    [
        (START, 1),
        ("A A01.2 - 0/0 0/0 -", 2),
        ("A - - 24/24 0/0 -", 1),
        ("A - - 0/25 0/0 -", 2),
        ("A - - 48/48 0/0 -", 2),
    ],
)
def test_s3_dots_or_else_the_men_held_tell_two_boards(text, boards):
    assert Position.parse(text).boards == boards
    assert str(Position.parse(text)) == text


def test_s3_there_are_one_or_two_boards():
    for boards in (0, 3):
        with pytest.raises(ValueError, match=f"boards is {boards}, expected 1 or 2"):
            Position.start(Side.A, shots=0, boards=boards)


@pytest.mark.parametrize(
    ("square", "boards", "fault"),
    [
        ("A-01.1", 1, "A-01.1 names one of two boards, and the position has one"),
        ("A-01", 2, "A-01 names no board, and the position has two joined"),
    ],
)
def test_s3_soldiers_stand_on_squares_of_the_boards_there_are(square, boards, fault):
    none = dict.fromkeys(Side, 0)
    with pytest.raises(PositionError, match=fault):
        Position(Side.A, {Square.parse(square): Side.A}, none, none, boards=boards)


def test_s3_all_faults_of_a_position_of_two_boards_are_named_at_once():
    with pytest.raises(PositionError) as caught:
        Position.parse("A A01.1-A24.1,A01.2-A24.2,A30 A02.2,G01.1-G09.2,G01.3 50/0 1 -")
    assert caught.value.faults == (
        "soldiers of G: the run G01.1-G09.2 crosses from one board to the other",
        "soldiers of G: G-01.3 names no board: two boards joined are 1 and 2",
        "A-02.2 stands twice, for A and for G",
        "A-01.1 names one of two boards and A-30 none: expected a board for every square or for none",
        "shots left is '1', expected two numbers such as 0/0",
        "side G has 1 soldiers and 50 men held, together more than 48",
    )


@given(positions(ONE_OR_TWO))
def test_n4_parse_print_parse(position):
    assert pickle.loads(pickle.dumps(position)) == position
    # Where nobody stands the line does not always tell the number of boards.
    assume(position.soldiers or position.boards == 1)
    again = Position.parse(str(position))
    assert again == position
    assert hash(again) == hash(position)
    assert str(again) == str(position)


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


def test_b7_n4_a_square_holds_one_soldier_so_it_may_not_stand_for_both_sides():
    with pytest.raises(PositionError, match="A-05 stands twice, for A and for G"):
        Position.parse("A A01-A05 A05-A06 0/0 0/0 -")


@pytest.mark.parametrize(
    ("text", "side", "most"),
    [
        ("A A01-A20 G01 0/5 0/0 -", "A", 24),
        ("A A01 G01-G24 1/0 0/0 -", "G", 24),
        ("A A01-A25 - 0/0 0/0 -", "A", 24),
        ("A A01.1 - 49/0 0/0 -", "G", 48),
        ("A A01.1-A48.1 G01.1 0/1 0/0 -", "A", 48),
        ("A - - 0/49 0/0 -", "A", 48),
    ],
)
def test_n4_s3_soldiers_and_men_held_come_to_24_at_most_and_to_48_on_two_boards(text, side, most):
    with pytest.raises(PositionError, match=f"side {side} has .* together more than {most}"):
        Position.parse(text)


def test_n4_too_many_men_are_named_beside_the_other_faults():
    with pytest.raises(PositionError) as caught:
        Position.parse("? A01-A25 - 0/0 0/0 -")
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize("text", ["", "A", START + " ", START.replace(" ", "  ")])
def test_n4_six_fields_parted_by_one_blank(text):
    with pytest.raises(PositionError, match=r"fields? parted by one blank, expected 6"):
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

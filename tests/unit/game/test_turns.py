from itertools import islice

import pytest
from hypothesis import given
from montecassino_strategies import ONE_OR_TWO, positions

from game.montecassino import (
    IllegalTurnError,
    Move,
    Position,
    Side,
    Square,
    Turn,
    TurnTextError,
    apply_turn,
    legal_turns,
)


def turn_of(text: str) -> Turn:
    """Read a turn as N5 writes it, with a blank for the semicolon."""
    return Turn.parse(text.replace(" ", ";"))


def after(position: str, turn: str) -> str:
    return str(apply_turn(Position.parse(position), turn_of(turn)))


@pytest.mark.parametrize(
    ("clause", "position", "turn", "result"),
    [
        ("M3", "A A30 G01 0/0 0/0 -", "A-30>A-38>A-46>A-54", "G A54 G01 0/0 0/0 -"),
        ("M3", "G A01 A30 0/0 0/0 -", "A-30>A-22", "A A01 A22 0/0 0/0 -"),
        ("B2", "A A72 G01 0/0 0/0 -", "A-72>G-65>G-57>G-49", "G G49 G01 0/0 0/0 -"),
        ("M4", "A A30 G01 0/0 0/0 -", "A-30>A-38>A-39>A-47", "G A47 G01 0/0 0/0 -"),
        ("M4", "G A01 G30 0/0 0/0 -", "G-30>G-29", "A A01 G29 0/0 0/0 -"),
        ("M5", "A A33 G01 0/0 0/0 -", "A-33>A-25", "G A25 G01 0/0 0/0 -"),
        ("M6", "A A30 A39,G01 0/0 0/0 -", "A-30xA-39", "G A39 G01 1/0 0/0 -"),
        ("M6", "G A30,A51 A39,G01 0/0 0/0 -", "A-39xA-30", "A A51 A30,G01 0/1 0/0 -"),
        ("M6", "A A22,A30 A47,G01 0/0 0/0 -", "A-30>A-38xA-47 A-22>A-30", "G A30,A47 G01 1/0 0/0 -"),
        ("M2", "A A22,A30 G01 0/0 0/0 -", "A-30>A-38 A-22>A-30>A-31", "G A31,A38 G01 0/0 0/0 -"),
        ("M1", "A A30-A32 G01 0/0 0/0 -", "A-31>A-39 A-30>A-38 A-32>A-40", "G A38-A40 G01 0/0 0/0 -"),
        ("M7", "A A20 G01 0/0 0/0 -", "A-20>A-28>A-36>A-44", "G A44 G01 0/0 0/0 -"),
        ("P2", "A A30,G26 G01 0/2 0/0 -", "G-26>G-18+2", "G A01-A03,A30 G01 0/0 0/0 -"),
        ("P2", "A A30,G26 G01 0/2 0/0 -", "G-26>G-18+1", "G A01-A02,A30 G01 0/1 0/0 -"),
        ("P2", "A A30,G26 G01,G17 0/1 0/0 -", "G-26xG-17+1", "G A01-A02,A30 G01 1/0 0/0 -"),
        ("P2", "A A30,G34 G01,G10 0/1 0/0 -", "G-34>G-26>G-18+1", "G A01-A02,A30 G01,G10 0/0 0/0 -"),
        (
            "P3",
            "A A01-A08,G26 A10,G01 0/2 0/0 -",
            "A-01>A-09 G-26>G-18+2",
            "G A01-A09,A11-A12 A10,G01 0/0 0/0 -",
        ),
        ("P5", "A G26 G01 0/2 0/0 -", "G-26>G-18", "G G18 G01 0/2 0/0 -"),
        ("V2", "A G10 G07 0/2 0/0 -", "G-10>G-02", "G G02 G07 0/2 0/0 -"),
        ("V1", "A A30 A39 0/0 0/0 -", "A-30xA-39", "G A39 - 1/0 0/0 -"),
        ("S3", "A A32.1 G01.1 0/0 0/0 -", "A-32.1>A-25.2>A-33.2", "G A33.2 G01.1 0/0 0/0 -"),
        ("S3", "A A25.2 A40.1,G01.1 0/0 0/0 -", "A-25.2xA-40.1", "G A40.1 G01.1 1/0 0/0 -"),
        ("S3", "G A01.1,A65.2 G65.1 0/0 0/0 -", "G-65.1xA-65.2", "A A01.1 A65.2 0/1 0/0 -"),
        ("S3", "A A72.1 G01.1 0/0 0/0 -", "A-72.1>G-65.1>G-72.2", "G G72.2 G01.1 0/0 0/0 -"),
        (
            "S3",
            "G A08.1 A32.2,G01.1-G08.1,G02.2 2/0 0/0 -",
            "A-32.2>A-24.2+2",
            "A A08.1 G01.1-G08.1,G01.2-G04.2 0/0 0/0 -",
        ),
    ],
)
def test_legal_turns(clause, position, turn, result):
    assert after(position, turn) == result, clause


@pytest.mark.parametrize(
    ("clause", "position", "turn", "why"),
    [
        (
            "M1",
            "A A30-A33 G01 0/0 0/0 -",
            "A-30>A-38>A-46 A-31>A-39>A-47",
            "takes 4 steps, and 3 is the most",
        ),
        ("M1", "A A30 G01 0/0 0/0 -", "A-31>A-39", "no soldier of side A on A-31"),
        ("M1", "A A30 G01 0/0 0/0 -", "G-01>G-09", "no soldier of side A on G-01"),
        ("M2", "A A30,A40 G01 0/0 0/0 -", "A-30>A-38 A-40>A-48 A-38>A-46", "on A-38 has moved in this turn"),
        ("M3", "A A30 A38 0/0 0/0 -", "A-30>A-38", "an enemy stands there"),
        ("M4", "A A30 A31 0/0 0/0 -", "A-30>A-31", "an enemy stands there"),
        ("M4", "A A30 G01 0/0 0/0 -", "A-30>A-31>A-32", "second step sideways"),
        ("M4", "A A30 G01 0/0 0/0 -", "A-30>A-31>A-39>A-38", "second step sideways"),
        ("M5", "A A40 A32 0/0 0/0 -", "A-40>A-32", "an enemy stands there"),
        ("M5", "A A40 G01 0/0 0/0 -", "A-40>A-32>A-31", "the only step of its soldier"),
        ("M5", "A A40 G01 0/0 0/0 -", "A-40>A-39>A-31", "the only step of its soldier"),
        ("M5", "A A30 G01 0/0 0/0 -", "A-30>A-22", "outside squares 25 to 72"),
        ("M5", "A G65 G01 0/0 0/0 -", "G-65>A-72", "outside squares 25 to 72"),
        ("M5", "A A40 G01 0/0 0/0 -", "A-40>A-31", "back is straight back"),
        ("M6", "A A30 G01 0/0 0/0 -", "A-30xA-39", "no enemy to take on A-39"),
        ("M6", "A A30 A39 0/0 0/0 -", "A-30>A-39", "for taking a prisoner"),
        ("M6", "A A30 A38 0/0 0/0 -", "A-30xA-38", "taken diagonally forward"),
        ("M6", "A A30 A40,G01 0/0 0/0 -", "A-30>A-31xA-40", "stepped sideways in this turn"),
        ("M8", "A A32 A41,G01 0/0 0/0 -", "A-32xA-41", "is not one step"),
        ("M7", "A A16 G01 0/0 0/0 -", "A-16>A-24>A-32", "starts on own line 2 takes one step"),
        ("M7", "A G24 G01 0/0 0/0 -", "G-24>G-16>G-08", "starts on own line 16 takes one step"),
        ("M7", "A G32 G01 0/0 0/0 -", "G-32>G-24>G-23", "the move ends on G-24, on own line 16"),
        ("M8", "A A30 G01 0/0 0/0 -", "A-30>A-46", "nobody jumps"),
        ("M8", "A A30,A38 G01 0/0 0/0 -", "A-30>A-38", "an own soldier stands on A-38"),
        ("M8", "A A30,A39 G01 0/0 0/0 -", "A-30xA-39", "an own soldier stands on A-39"),
        ("P2", "A A30,G26 G01 0/2 0/0 -", "A-30>A-38+1", "no arrival on own line 16"),
        ("P2", "A A30,G18 G01 0/2 0/0 -", "G-18>G-17+1", "no arrival on own line 16"),
        ("P2", "A A30,G26 G01,G09 0/2 0/0 -", "G-26>G-18+1", "G-18 is defended from G-09"),
        ("P2", "A A30,G26 G01,G11 0/2 0/0 -", "G-26>G-18+1", "G-18 is defended from G-11"),
        ("P2", "A A30,G26 G01 0/1 0/0 -", "G-26>G-18+2", "the enemy holds 1"),
        ("P2", "A A30,G26 G01 0/4 0/0 -", "G-26>G-18+3", "one or two may be"),
        ("P4", "A A01-A20,G26 A21-A23,G01 0/1 0/0 -", "G-26>G-18+1", "1 free squares, too few"),
        ("P4", "A A01-A20,G26 A21-A22,G01 0/2 0/0 -", "G-26>G-18+2", "2 free squares, too few"),
        ("P2", "A A30,G26 G01 0/22 0/0 -", "G-26>G-18+22", "22 are freed, and one or two may be"),
        ("P2", "A A30.1,G25.1 G01.1,G16.2 0/1 0/0 -", "G-25.1>G-17.1+1", "G-17.1 is defended from G-16.2"),
        (
            "S3",
            "A A30 G01 0/0 0/0 -",
            "A-30.1>A-38.1",
            "A-30.1 names one of two boards, and the position has one",
        ),
        (
            "S3",
            "A A30.1 G01.1 0/0 0/0 -",
            "A-30.1>A-38",
            "A-38 names no board, and the position has two joined",
        ),
        ("M8", "A A32.1 G01.1 0/0 0/0 -", "A-32.1>A-32.2", "is not one step"),
        ("M4", "A A32.1 G01.1 0/0 0/0 -", "A-32.1>A-25.2>A-26.2", "second step sideways"),
        ("V0", "A A30,G10 G07 0/0 0/0 -", "G-10>G-02 A-30>A-38", "nobody else moves"),
        ("V0", "A A30,A50 A39 0/0 0/0 -", "A-30xA-39 A-50>A-51", "nobody else moves"),
        ("V0", "A A30,G26 G17 0/1 0/0 -", "G-26xG-17+1", "nobody is freed"),
        ("V0", "A A30 - 0/0 0/0 -", "A-30>A-38", "the battle is over"),
        ("V0", "A G04 G07 0/0 0/0 -", "G-04>G-05", "the battle is over"),
    ],
)
def test_illegal_turns_name_the_clause_that_forbids_them(clause, position, turn, why):
    with pytest.raises(IllegalTurnError) as caught:
        after(position, turn)
    assert caught.value.clause == clause
    assert why in caught.value.why
    assert str(caught.value) == f"{caught.value.why} ({clause})"


def test_m1_at_least_one_step_is_due():
    with pytest.raises(IllegalTurnError, match=r"at least one step is due \(M1\)"):
        apply_turn(Position.parse("A A30 G01 0/0 0/0 -"), Turn(()))
    with pytest.raises(ValueError, match="one step at least"):
        Move((Square.parse("A-30"),))


def test_p2_a_defender_taken_in_the_same_turn_defends_no_more():
    before = "A A30,G18,G28 G01,G09 0/1 0/0 -"
    assert after(before, "G-18xG-09 G-28>G-20+1") == "G A01-A02,A30,G09 G01 1/0 0/0 -"
    with pytest.raises(IllegalTurnError, match="defended from G-11"):
        after("A A30,G18,G28 G01,G09,G11 0/1 0/0 -", "G-18xG-09 G-28>G-20+1")


def test_p1_a_prisoner_leaves_the_board_and_is_held_by_its_captor():
    before = Position.parse("G A30,A51 A39,G01 3/2 0/0 -")
    given = apply_turn(before, turn_of("A-39xA-30"))
    assert given.squares_of(Side.A) == (Square.parse("A-51"),)
    assert given.held == {Side.A: 3, Side.G: 3}


def test_m9_who_was_touched_is_not_asked_so_a_turn_may_be_tried_and_another_played():
    before = Position.parse("A A30,A40 G01 0/0 0/0 -")
    tried, played = (apply_turn(before, turn_of(text)) for text in ("A-30>A-38", "A-40>A-48"))
    assert str(tried) == "G A38,A40 G01 0/0 0/0 -"
    assert str(played) == "G A30,A48 G01 0/0 0/0 -"


@pytest.mark.parametrize(
    "text",
    [
        "A-72>G-65>G-57>G-49",
        "A-29>A-37>A-45xA-52",
        "G-68>G-69;G-63>G-55;A-44>A-36",
        "G-32>G-24+2",
        "A-32.1>A-25.2xA-34.2;G-32.2>G-24.2+1",
        "G-32>G-24+24",
    ],
)
def test_n5_a_turn_is_read_and_written_as_the_page_does(text):
    assert str(Turn.parse(text)) == text


def test_n5_a_turn_of_the_italian_sheet_is_read():
    assert str(Turn.parse("T-9>T-1")) == "G-09>G-01"


@given(positions(ONE_OR_TWO))
def test_n5_parse_print_parse(position):
    for turn in islice(legal_turns(position), 50):
        assert Turn.parse(str(turn)) == turn


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'' is not a move"),
        ("A-30", "'A-30' is not a move: expected squares parted by > or x"),
        ("A-30>A-38;", "'' is not a move"),
        ("A-30>B-38", "'B-38' is not a square"),
        ("A-30>A-99", "A-99 is not on the board"),
        ("A-30-A-38", "is not a move"),
        ("G-32>G-24+", "expected .1 or .2 after the plus sign"),
        ("G-32>G-24+0", "expected .1 or .2"),
        ("G-32>G-24+1+1", "expected .1 or .2"),
        ("G-32>G-24+02", "expected .1 or .2"),
        ("G-32>G-24+9999", "expected .1 or .2"),
        ("A-30.3>A-38.3", "A-30.3 names no board"),
    ],
)
def test_n5_what_cannot_be_read_is_named(text, sentence):
    with pytest.raises(TurnTextError, match=sentence):
        Turn.parse(text)


def test_m6_a_soldier_that_goes_on_after_a_capture_is_illegal_anywhere():
    with pytest.raises(IllegalTurnError, match=r"A-30xA-39>A-47 goes on \(M6\)"):
        Turn.parse("A-30xA-39>A-47")

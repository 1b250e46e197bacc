"""Reading what players write for a turn, in full and in short (clause N5)."""

from itertools import islice

import pytest
from hypothesis import given
from montecassino_strategies import positions

from game.montecassino import (
    Abandon,
    Adjourn,
    AmbiguousTurnError,
    IllegalTurnError,
    Position,
    Retreat,
    Shot,
    Square,
    Turn,
    TurnTextError,
    apply_turn,
    legal_turns,
    read_entry,
)

OPEN = "A A01-A06,A09-A24,A72 G01-G24 0/0 2/2 -"


def read(position: str, text: str) -> str:
    return str(read_entry(Position.parse(position), text))


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("A-72>G-65>G-57>G-49", "A-72>G-65>G-57>G-49"),
        ("A-72>G-49", "A-72>G-65>G-57>G-49"),
        ("A-72>G-65>G-49", "A-72>G-65>G-57>G-49"),
        ("G-49", "A-72>G-65>G-57>G-49"),
        ("A-72>A-71>G-58", "A-72>A-71>G-66>G-58"),
        ("T-49", "A-72>G-65>G-57>G-49"),
        ("a72 > t49", "A-72>G-65>G-57>G-49"),
        (" A-17>A-25 ; A-18 >A-26 ", "A-17>A-25;A-18>A-26"),
        ("A-17>A-25 A-18>A-26", "A-17>A-25;A-18>A-26"),
        ("A-25;A-26;A-27", "A-17>A-25;A-18>A-26;A-19>A-27"),
        ("A-20>A-36;A-12>A-20", "A-20>A-28>A-36;A-12>A-20"),
        ("*", "*"),
        ("* g-24 , A1", "*A-01,G-24"),
        ("*A01-A03", "*A-01,A-02,A-03"),
        ("r", "R"),
        (" # ", "#"),
        ("| |", "||"),
    ],
)
def test_n5_what_people_write_is_read_as_the_full_text(text, full):
    assert read(OPEN, text) == full


@pytest.mark.parametrize("text", ["A-39", "A-30>A-39", "a30 X a39"])
def test_n5_a_step_that_can_only_be_a_capture_is_one(text):
    assert read("A A29-A30 A39,A46,G01 0/0 0/0 -", text) == "A-30xA-39"


def test_n5_the_chart_names_start_and_end_of_a_capture_over_several_steps():
    assert read("A A29 A52,G01 0/0 0/0 -", "A-29>A-52") == "A-29>A-37>A-45xA-52"


def test_p2_freeing_is_done_where_it_is_said_and_only_there():
    before = "A A30,G34 G01 0/2 0/0 -"
    assert read(before, "G-18") == "G-34>G-26>G-18"
    assert read(before, "G-18 + 2") == "G-34>G-26>G-18+2"


def test_s3_on_two_boards_squares_name_theirs():
    before = "A A32.1,A30.2 G01.2 0/0 0/0 -"
    assert read(before, "a32.1>a25.2") == "A-32.1>A-25.2"
    with pytest.raises(TurnTextError, match=r"has A-38, expected A-38\.1 or A-38\.2"):
        read(before, "A-38")
    with pytest.raises(TurnTextError, match=r"has A-38\.1, expected no board"):
        read("A A30 G01 0/0 0/0 -", "A-38.1")


@given(positions())
def test_n5_full_texts_read_back_as_the_same_entry(position):
    entries = [*islice(legal_turns(position), 30), Shot(), Shot(tuple(islice(position.soldiers, 3)))]
    for entry in entries:
        try:
            assert read_entry(position, str(entry)) == entry
        except IllegalTurnError as error:
            assert error.clause == "V0"


@given(positions())
def test_n5_ends_alone_are_read_as_a_turn_that_gives_the_same_position_or_are_ambiguous(position):
    for turn in islice(legal_turns(position), 0, 400, 23):
        after = apply_turn(position, turn)
        for short in (
            ";".join(f"{move.squares[0]}>{move.squares[-1]}" for move in turn.moves),
            ";".join(str(move.squares[-1]) for move in turn.moves),
        ):
            text = f"{short}+{turn.freed}" if turn.freed else short
            try:
                assert apply_turn(position, read_entry(position, text)) == after
            except AmbiguousTurnError as error:
                results = [apply_turn(position, candidate) for candidate in error.candidates]
                assert after in results
                assert len(set(results)) == len(results) > 1


def test_n5_a_text_that_may_mean_several_things_names_them():
    with pytest.raises(AmbiguousTurnError) as caught:
        read(OPEN, "A-25")
    assert [str(turn) for turn in caught.value.candidates] == ["A-17>A-25", "A-18>A-26>A-25"]
    assert str(caught.value) == "'A-25' may be A-17>A-25 or A-18>A-26>A-25"


def test_n5_of_many_candidates_the_sentence_names_a_few():
    with pytest.raises(AmbiguousTurnError, match=r"may be A-.*, A-.* or \d+ more$") as caught:
        read("A A17-A24,A33-A40 G01 0/0 0/0 -", "A-27;A-30")
    assert len(caught.value.candidates) > 6


@pytest.mark.parametrize(
    ("position", "text", "clause", "why"),
    [
        (OPEN, "A-17>A-49", "M1", "the soldier on A-17 cannot come to A-49 in 3 steps"),
        (OPEN, "A-60", "M1", "no soldier of side A can come to A-60 in 3 steps"),
        (OPEN, "A-17>A-33>A-25", "M1", "cannot come to A-25 in 3 steps by that way"),
        (OPEN, "A-72xG-49", "M1", "the soldier on A-72 cannot take a prisoner on G-49 in 3 steps"),
        (OPEN, "G-24>G-48", "M1", "there is no soldier of side A on G-24"),
        (OPEN, "A-24>A-40;A-23>A-39", "M1", "the turn takes more steps than 3"),
        (OPEN, "A-25;A-26;A-27;A-28", "M1", "4 soldiers take a step each"),
        (OPEN, "A-17>A-25;A-18>A-26;A-19>A-27;A-20>A-28", "M1", "the turn takes 4 steps"),
        (OPEN, "A-01>A-09", "M8", "an own soldier stands on A-09"),
        (OPEN, "A-09>A-25", "M7", "a soldier that starts on own line 2 takes one step"),
        (OPEN, "G-49+1", "P2", "no arrival on own line 16"),
        ("A A30,G26 G01 0/4 0/0 -", "G-26>G-18+3", "P2", "3 are freed, and one or two may be"),
        ("A A30,G26 G01 0/4 0/0 -", "G-18+3", "P2", "3 are freed, and one or two may be"),
        (OPEN, "A-30xA-39>A-40", "M6", "taking a prisoner ends a soldier's move"),
        ("A A30 A39,A46,G01 0/0 0/0 -", "A-30>A-54", "M3", "an enemy stands there"),
        ("A A30 A39,A46,G01 0/0 0/0 -", "A-30xA-46", "M6", "stepped sideways in this turn"),
        ("A A40 G01 0/0 0/0 -", "A-40>A-24", "M5", "the only step of its soldier"),
        (OPEN, "*A-30", "C5", "nobody stood on A-30 before the shot"),
        ("A A30 G01 0/0 0/1 -", "*", "C3", "side A has no shot left"),
        ("A A30 G01 0/0 0/1 A", "R", "R1", "side A has retreated before"),
        ("A A30 - 0/0 0/1 -", "R", "V0", "the battle is over"),
        ("A A30 - 0/0 1/1 -", "*", "V0", "the battle is over"),
        ("A A30 - 0/0 1/1 -", "#", "V0", "the battle is over"),
        ("A A30 - 0/0 1/1 -", "A-38", "V0", "the battle is over"),
    ],
)
def test_n5_what_is_not_allowed_here_names_the_clause_of_the_nearest_reading(position, text, clause, why):
    with pytest.raises(IllegalTurnError) as caught:
        read(position, text)
    assert caught.value.clause == clause
    assert why in caught.value.why


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'' is no turn"),
        ("forward", "'FORWARD' is no turn: 'FORWARD' is not a square"),
        ("G-99", "'G-99' is no turn: G-99 is not on the board"),
        ("A-72>", "'A-72>' is not a move"),
        ("A-17>A-25;", "'' is no turn"),
        ("A-72>G-65+0", "expected .1 or .2 after the plus sign"),
        ("*Z-1", "'\\*Z-1' is no shot"),
        ("*G-01,G-01", "G-01 stands twice"),
        ("RR", "'RR' is no turn"),
        ("#!", "'#!' is no turn"),
    ],
)
def test_n5_what_nobody_could_read_is_said(text, sentence):
    with pytest.raises(TurnTextError, match=sentence):
        read(OPEN, text)


def test_n5_entries_that_are_no_infantry_turn_print_as_the_page_says():
    g50, a62 = Square.parse("G-50"), Square.parse("A-62")
    assert [str(entry) for entry in (Shot(), Shot((a62,)), Shot((g50, a62)))] == ["*", "*A-62", "*A-62,G-50"]
    assert [str(entry) for entry in (Retreat(), Abandon(), Adjourn())] == ["R", "#", "||"]
    with pytest.raises(ValueError, match="a soldier leaves once, and A-62 stands twice"):
        Shot((a62, a62))


def test_n5_whoever_writes_more_soldiers_than_steps_is_told_so_at_once():
    with pytest.raises(IllegalTurnError, match="200 soldiers take a step each"):
        read(OPEN, ";".join(["A-30"] * 200))


def test_a_turn_of_no_moves_has_no_text_that_reads():
    with pytest.raises(TurnTextError):
        read(OPEN, str(Turn(())))

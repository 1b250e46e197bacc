import pytest
from hypothesis import given
from hypothesis import strategies as st
from montecassino_strategies import sides, squares

from game.montecassino import (
    ALL_SQUARES,
    BOARD_FILES,
    BOARD_ROWS,
    Side,
    Square,
    SquareError,
    format_squares,
    parse_squares,
)


def test_b1_numbers_run_from_the_owners_left_line_by_line():
    assert [Square(Side.G, n).own_file(Side.G) for n in (1, 8, 9)] == [0, 7, 0]
    assert [Square(Side.G, n).own_line(Side.G) for n in (1, 8, 9, 72)] == [1, 1, 2, 9]


def test_b2_the_fields_face_each_other():
    for a, g in (("A-72", "G-65"), ("A-65", "G-72")):
        (ax, ay), (gx, gy) = Square.parse(a).centre_mm(45), Square.parse(g).centre_mm(45)
        assert (gx, gy) == (ax, ay + 45)


def test_b2_three_squares_forward_from_a_72_is_g_49():
    start = Square.parse("A-72")
    assert Square.from_own(Side.A, start.own_line(Side.A) + 3, start.own_file(Side.A)) == Square.parse("G-49")


@pytest.mark.parametrize(
    ("name", "centre_mm"),
    [("A-01", (22.5, 22.5)), ("A-08", (337.5, 22.5)), ("A-72", (337.5, 382.5)), ("G-01", (337.5, 787.5))],
)
def test_b3_centres_in_the_board_frame(name, centre_mm):
    assert Square.parse(name).centre_mm(45) == centre_mm


@given(squares, sides)
def test_b5_the_sides_count_lines_from_opposite_ends(square, side):
    assert square.own_line(side) + square.own_line(side.enemy) == BOARD_ROWS + 1
    assert square.own_file(side) + square.own_file(side.enemy) == BOARD_FILES - 1
    assert Square.from_own(side, square.own_line(side), square.own_file(side)) == square
    assert square.mirrored.own_line(side) == square.own_line(side.enemy)
    assert square.mirrored.mirrored == square


@given(squares, st.floats(-0.49, 0.49), st.floats(-0.49, 0.49), st.floats(10, 100))
def test_b3_every_point_of_a_square_finds_it(square, dx, dy, square_mm):
    x_mm, y_mm = square.centre_mm(square_mm)
    assert Square.at_mm(x_mm + dx * square_mm, y_mm + dy * square_mm, square_mm) == square


@pytest.mark.parametrize("point_mm", [(-0.1, 5), (360, 5), (5, -0.1), (5, 810), (float("nan"), 5)])
def test_a_point_beside_the_board_is_on_no_square(point_mm):
    assert Square.at_mm(*point_mm, 45) is None


def test_squares_sort_a_before_g():
    assert list(ALL_SQUARES) == sorted(ALL_SQUARES)
    assert [str(ALL_SQUARES[i]) for i in (0, 71, 72, 143)] == ["A-01", "A-72", "G-01", "G-72"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [("A-9", "A-09"), ("A-09", "A-09"), ("T-49", "G-49"), ("G72", "G-72"), ("A01", "A-01")],
)
def test_n1_squares_are_read_and_written_with_two_digits(text, printed):
    assert str(Square.parse(text)) == printed


@pytest.mark.parametrize(
    "text", ["", "A", "B-09", "A-099", "A 9", "a-9", "A-9 ", "A-\N{ARABIC-INDIC DIGIT ONE}", "-"]
)
def test_n1_what_is_no_square_is_named(text):
    with pytest.raises(SquareError, match="is not a square"):
        Square.parse(text)


@pytest.mark.parametrize("text", ["A-00", "G-73", "T-99"])
def test_n1_a_number_off_the_board_is_named(text):
    with pytest.raises(SquareError, match="not on the board: numbers go from 1 to 72"):
        Square.parse(text)


def test_there_is_no_line_19():
    with pytest.raises(SquareError, match="own line 19"):
        Square.from_own(Side.A, 19, 0)


@given(st.sets(squares))
def test_n4_lists_parse_print_parse(wanted):
    text = format_squares(wanted)
    assert parse_squares(text) == tuple(sorted(wanted))
    assert format_squares(parse_squares(text)) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("A01,A02,A03,G49", "A01-A03,G49"),
        ("G2,A72,G1", "A72,G01-G02"),
        ("-", "-"),
        ("A-71-A-72,T-1", "A71-A72,G01"),
    ],
)
def test_n4_runs_are_folded_and_never_cross_from_a_to_g(text, printed):
    assert format_squares(parse_squares(text)) == printed


def test_n4_all_faults_of_a_list_are_named_at_once():
    with pytest.raises(SquareError) as caught:
        parse_squares("A01-G03,A05,A05,A99,x,A09-A08,G70-G80")
    assert caught.value.faults == (
        "the run A01-G03 crosses from one field to the other",
        "A-99 is not on the board: numbers go from 1 to 72",
        "'x' is neither a square nor a run such as A01-A24",
        "the run A09-A08 does not go up",
        "G-80 is not on the board: numbers go from 1 to 72",
        "A-05 stands twice",
    )

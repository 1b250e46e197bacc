import pytest
from hypothesis import given
from hypothesis import strategies as st
from montecassino_strategies import ONE_OR_TWO, any_squares, sides

from game.montecassino import (
    ALL_SQUARES,
    BASE_LINES,
    BOARD_FILES,
    BOARD_ROWS,
    Side,
    Square,
    SquareError,
    all_squares,
    format_squares,
    own_squares,
    parse_squares,
)
from rig.settings import Board


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


@pytest.mark.parametrize(("boards", "squares"), [(1, "{0}01-{0}24"), (2, "{0}01.1-{0}24.1,{0}01.2-{0}24.2")])
@pytest.mark.parametrize("side", Side)
def test_b4_squares_1_to_24_are_the_base_and_the_other_48_the_field(boards, squares, side):
    base = parse_squares(squares.format(side))
    assert {square.own_line(side) for square in base} == set(range(1, BASE_LINES + 1))
    field = set(own_squares(side, boards)) - set(base)
    assert len(field) == boards * 48
    assert {square.own_line(side) for square in field} == set(range(4, 10))


def test_b6_the_side_of_a_square_is_a_setting_45_mm_where_nobody_says():
    assert Board.model_fields["square_mm"].default == 45.0
    x_mm, y_mm = Square.parse("G-30").centre_mm(45.0)
    assert Square.parse("G-30").centre_mm(90.0) == (2 * x_mm, 2 * y_mm)


@pytest.mark.parametrize(
    ("name", "centre_mm"),
    [("A-01", (22.5, 22.5)), ("A-08", (337.5, 22.5)), ("A-72", (337.5, 382.5)), ("G-01", (337.5, 787.5))],
)
def test_b3_centres_in_the_board_frame(name, centre_mm):
    assert Square.parse(name).centre_mm(45) == centre_mm


def boards_of(square: Square) -> int:
    return 2 if square.board else 1


@given(any_squares, sides)
def test_b5_s3_the_sides_count_lines_and_files_from_opposite_ends(square, side):
    boards = boards_of(square)
    assert square.own_line(side) + square.own_line(side.enemy) == BOARD_ROWS + 1
    assert square.own_file(side) + square.own_file(side.enemy) == boards * BOARD_FILES - 1
    assert Square.from_own(side, square.own_line(side), square.own_file(side), boards) == square


@given(any_squares, sides)
def test_s3_the_board_turned_round_shows_each_side_what_the_other_saw(square, side):
    assert square.mirrored.own_line(side) == square.own_line(side.enemy)
    assert square.mirrored.own_file(side) == square.own_file(side.enemy)
    assert square.mirrored.mirrored == square


@given(any_squares, st.floats(-0.49, 0.49), st.floats(-0.49, 0.49), st.floats(10, 100))
def test_b3_s3_every_point_of_a_square_finds_it(square, dx, dy, square_mm):
    x_mm, y_mm = square.centre_mm(square_mm)
    found = Square.at_mm(x_mm + dx * square_mm, y_mm + dy * square_mm, square_mm, boards_of(square))
    assert found == square


@pytest.mark.parametrize("point_mm", [(-0.1, 5), (360, 5), (5, -0.1), (5, 810), (float("nan"), 5)])
def test_a_point_beside_the_board_is_on_no_square(point_mm):
    assert Square.at_mm(*point_mm, 45) is None


def test_s3_beside_one_board_lies_the_other():
    assert Square.at_mm(360, 5, 45, boards=2) == Square.parse("A-01.2")
    assert Square.at_mm(720, 5, 45, boards=2) is None


@given(st.sampled_from(all_squares(1)))
def test_s3_board_2_lies_8_squares_further_along_x(square):
    left, right = Square(square.field, square.number, 1), Square(square.field, square.number, 2)
    x_mm, y_mm = square.centre_mm(45)
    assert left.centre_mm(45) == (x_mm, y_mm)
    assert right.centre_mm(45) == (x_mm + 360, y_mm)


@pytest.mark.parametrize("side", Side)
def test_s3_lowest_numbers_first_runs_line_by_line_board_1_before_board_2(side):
    own = own_squares(side, boards=2)
    assert len(own) == len(set(own)) == 144
    assert format_squares(own[:8]) == f"{side}01.1-{side}08.1"
    assert format_squares(own[8:16]) == f"{side}01.2-{side}08.2"
    assert format_squares(own[16:24]) == f"{side}09.1-{side}16.1"
    assert [square.own_line(side) for square in own] == sorted(square.own_line(side) for square in own)


def test_s3_across_the_seam_the_boards_touch():
    for left, right in (
        ("A-08.1", "A-01.2"),
        ("A-72.1", "A-65.2"),
        ("G-01.1", "G-08.2"),
        ("G-65.1", "G-72.2"),
    ):
        near, far = Square.parse(left), Square.parse(right)
        assert far.own_file(Side.A) == near.own_file(Side.A) + 1
        assert near.own_file(Side.G) == far.own_file(Side.G) + 1
        assert far.own_line(Side.A) == near.own_line(Side.A)


def test_s3_no_more_than_two_boards_are_joined():
    with pytest.raises(ValueError, match="boards is 3, expected 1 or 2"):
        all_squares(3)
    with pytest.raises(SquareError, match=r"A-01\.3 names no board: two boards joined are 1 and 2"):
        Square(Side.A, 1, 3)


@pytest.mark.parametrize("boards", ONE_OR_TWO)
def test_n4_s3_squares_sort_by_field_then_by_board_then_by_number(boards):
    squares = all_squares(boards)
    assert len(set(squares)) == len(squares) == 144 * boards
    assert list(squares) == sorted(squares, key=lambda square: (square.field, square.board, square.number))
    assert list(squares) == sorted(squares)


def test_n4_squares_sort_a_before_g():
    assert [str(ALL_SQUARES[i]) for i in (0, 71, 72, 143)] == ["A-01", "A-72", "G-01", "G-72"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("A-9", "A-09"),
        ("A-09", "A-09"),
        ("T-49", "G-49"),
        ("G72", "G-72"),
        ("A01", "A-01"),
        ("A-72.1", "A-72.1"),
        ("T9.2", "G-09.2"),
    ],
)
def test_n1_squares_are_read_and_written_with_two_digits(text, printed):
    assert str(Square.parse(text)) == printed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "B-09",
        "A-099",
        "A 9",
        "a-9",
        "A-9 ",
        "A-\N{ARABIC-INDIC DIGIT ONE}",
        "-",
        "A-9.",
        "A-9.12",
        "A.1",
    ],
)
def test_n1_what_is_no_square_is_named(text):
    with pytest.raises(SquareError, match="is not a square"):
        Square.parse(text)


@given(any_squares)
def test_n1_s3_a_square_parse_print_parse(square):
    assert Square.parse(str(square)) == square
    assert str(Square.parse(str(square))) == str(square)


@pytest.mark.parametrize("text", ["A-30.0", "A-30.3", "G-1.9"])
def test_s3_a_board_that_there_is_not_is_named(text):
    with pytest.raises(SquareError, match="names no board: two boards joined are 1 and 2"):
        Square.parse(text)


@pytest.mark.parametrize("text", ["A-00", "G-73", "T-99", "G-73.2"])
def test_n1_a_number_off_the_board_is_named(text):
    with pytest.raises(SquareError, match="not on the board: numbers go from 1 to 72"):
        Square.parse(text)


def test_there_is_no_line_19():
    with pytest.raises(SquareError, match="own line 19"):
        Square.from_own(Side.A, 19, 0)


@given(st.sampled_from(ONE_OR_TWO).flatmap(lambda boards: st.sets(st.sampled_from(all_squares(boards)))))
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
        ("A01.2,A72.1,G01.1,A02.2,G72.2", "A72.1,A01.2-A02.2,G01.1,G72.2"),
        ("A01.1-A24.1,A01.2-A24.2", "A01.1-A24.1,A01.2-A24.2"),
    ],
)
def test_n4_runs_are_folded_and_never_cross_from_a_to_g(text, printed):
    assert format_squares(parse_squares(text)) == printed


def test_n4_all_faults_of_a_list_are_named_at_once():
    with pytest.raises(SquareError) as caught:
        parse_squares("A01-G03,A05,A05,A99,x,A09-A08,G70-G80,G0")
    assert caught.value.faults == (
        "the run A01-G03 crosses from one field to the other",
        "A-99 is not on the board: numbers go from 1 to 72",
        "'x' is neither a square nor a run such as A01-A24",
        "the run A09-A08 does not go up",
        "G-80 is not on the board: numbers go from 1 to 72",
        "G-0 is not on the board: numbers go from 1 to 72",
        "A-05 stands twice",
    )


def test_s3_all_faults_of_a_list_of_two_boards_are_named_at_once():
    with pytest.raises(SquareError) as caught:
        parse_squares("A01.1-A24.2,A30.1-A33,A05.1,A05.1,A99.2,G04.0,G07")
    assert caught.value.faults == (
        "the run A01.1-A24.2 crosses from one board to the other",
        "the run A30.1-A33 names its board at one end only",
        "A-99.2 is not on the board: numbers go from 1 to 72",
        "G-04.0 names no board: two boards joined are 1 and 2",
        "A-05.1 stands twice",
        "A-05.1 names one of two boards and G-07 none: expected a board for every square or for none",
    )

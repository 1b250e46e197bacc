"""Squares and positions in our files: those of the table, which has one board, and those of two joined (S3)."""

import pytest
from pydantic import TypeAdapter, ValidationError

from rig.keys.notation import PositionText, SquaresText, TableSquaresText


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (PositionText, "A A01-A24 G01-G24 0/0 20/20 -"),
        (SquaresText, "G25-G72"),
        (SquaresText, "G25.1-G72.1,G25.2-G72.2"),
        (TableSquaresText, "G25-G72"),
        (TableSquaresText, "-"),
    ],
)
def test_notation_is_kept_as_it_is_written(kind, text):
    assert TypeAdapter(kind).validate_python(text) == text


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (PositionText, "A A01.1 G30.1 0/0 0/0 -", "a position of one board, as the table has one"),
        (PositionText, "A A01.1 G30 0/0 0/0 -", "a position: A-01.1 names one of two boards and G-30 none"),
        (
            PositionText,
            "B A01 G99 0/0 0/0 -",
            "a position: turn is 'B', expected A or G; soldiers of G: G-99",
        ),
        (SquaresText, "G25.1-G72.2", "a list of squares, as G25-G72: the run G25.1-G72.2 crosses"),
        (
            TableSquaresText,
            "G25.1-G72.1",
            "a list of squares, as G25-G72, without boards, as the table has one",
        ),
        (TableSquaresText, "G99", "a list of squares, as G25-G72: G-99 is not on the board"),
    ],
)
def test_s3_what_does_not_fit_the_table_or_the_notation_is_named(kind, text, said):
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(text)
    assert said in str(refused.value)

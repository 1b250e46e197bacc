"""Keys of our files that hold the game's notation: checked when read, kept as written."""

from typing import Annotated

from pydantic import AfterValidator

from game.montecassino import Position, PositionError, SquareError, parse_squares

__all__ = ["PositionText", "SquaresText", "TableSquaresText"]


def _position(text: str) -> str:
    try:
        position = Position.parse(text)
    except PositionError as bad:
        raise ValueError(f"a position: {'; '.join(bad.faults)}") from bad
    if position.boards != 1:
        raise ValueError("a position of one board, as the table has one")
    return text


def _squares(text: str) -> str:
    try:
        parse_squares(text)
    except SquareError as bad:
        raise ValueError(f"a list of squares, as G25-G72: {'; '.join(bad.faults)}") from bad
    return text


def _table_squares(text: str) -> str:
    if any(square.board for square in parse_squares(_squares(text))):
        raise ValueError("a list of squares, as G25-G72, without boards, as the table has one")
    return text


PositionText = Annotated[str, AfterValidator(_position)]
"""A position of the one board under the camera, in one line (rules page, N4)."""

SquaresText = Annotated[str, AfterValidator(_squares)]
"""Squares with runs, as `G25-G72`, of one board or of two joined."""

TableSquaresText = Annotated[str, AfterValidator(_table_squares)]
"""Squares with runs, as `G25-G72`, of the one board under the camera."""

"""Keys of our files that hold the game's notation: checked when read, kept as written."""

from typing import Annotated

from pydantic import AfterValidator

from game.montecassino import Position, PositionError, SquareError, parse_squares

__all__ = ["PositionText", "SquaresText"]


def _position(text: str) -> str:
    try:
        Position.parse(text)
    except PositionError as bad:
        raise ValueError(f"a position: {'; '.join(bad.faults)}") from bad
    return text


def _squares(text: str) -> str:
    try:
        parse_squares(text)
    except SquareError as bad:
        raise ValueError(f"a list of squares, as G25-G72: {'; '.join(bad.faults)}") from bad
    return text


PositionText = Annotated[str, AfterValidator(_position)]
"""A position in one line (rules page, N4)."""

SquaresText = Annotated[str, AfterValidator(_squares)]
"""Squares with runs, as `G25-G72`."""

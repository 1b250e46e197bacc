"""Soldiers are dressed alike: whether a square shows what those wear who are seen plainly."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.soldiers.alike import alike_odds, anybody_open

# Colours 0 to 3 are uniforms, 4 to 7 the board's, of which 4 and 5 are of the one field and 6 and 7 of the other.
UNIFORM = (0.5, 0.3, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0)
OTHER_UNIFORM = (0.0, 0.0, 0.2, 0.6, 0.0, 0.1, 0.1, 0.0)
BARE = ((0.0, 0.0, 0.0, 0.0, 0.6, 0.4, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5))
PLAIN = 7.0


class Squares:
    """A table: plain soldiers of both sides and plainly bare squares, half of them on either field."""

    def __init__(self, plain: float = PLAIN) -> None:
        self.log_odds = [plain] * 12 + [-plain] * 60
        self.field = [k % 2 for k in range(72)]
        worn = [(UNIFORM, OTHER_UNIFORM)[k % 3 == 0] for k in range(12)]
        self.shares = [*worn, *(BARE[k % 2] for k in range(60))]

    def also(self, shares: tuple[float, ...], field: int = 0, log_odds: float = 0.0) -> None:
        """Add a square that shows these colours, of which nothing else tells."""
        self.log_odds.append(log_odds)
        self.field.append(field)
        self.shares.append(shares)

    def told(self) -> NDArray[np.float64]:
        return alike_odds(np.array(self.log_odds), np.array(self.shares), np.array(self.field))


@pytest.mark.parametrize("uniform", [UNIFORM, OTHER_UNIFORM])
def test_who_wears_what_the_plain_ones_wear_is_a_soldier(uniform: tuple[float, ...]) -> None:
    squares = Squares()
    squares.also(uniform)
    assert squares.told()[-1] > 2


@pytest.mark.parametrize("field", [0, 1])
def test_where_the_board_is_seen_nobody_stands(field: int) -> None:
    squares = Squares()
    squares.also(BARE[field], field)
    assert squares.told()[-1] < -2


def test_a_uniform_of_one_fields_colour_is_plain_on_the_other() -> None:
    """Each field is held against its own bare squares."""
    worn = (0.3, 0.0, 0.0, 0.0, 0.3, 0.2, 0.1, 0.1)
    told = []
    for field in (0, 1):
        squares = Squares()
        for k in range(12):
            squares.shares[k] = worn
        squares.also(worn, field)
        squares.also(BARE[1], 1)
        told.append(squares.told()[-2])
    assert min(told) > 0


def test_colours_that_nobody_else_wears_speak_for_nobody() -> None:
    """A thing that lies about is as little board as a soldier; it does not speak for itself."""
    squares = Squares()
    squares.also((0.0,) * 7 + (1.0,), 0, log_odds=1.0)
    assert abs(squares.told()[-1]) < 1


def test_colours_tell_nothing_where_all_squares_show_the_same() -> None:
    squares = Squares()
    squares.shares = [BARE[0]] * len(squares.shares)
    assert squares.told() == pytest.approx(0, abs=0.5)


def test_among_many_that_hardly_show_those_who_are_alike_are_told_from_the_board() -> None:
    """Nobody is plain, and each is a little likelier there than the bare squares are: together they tell."""
    squares = Squares(plain=1.0)
    told = squares.told() + np.array(squares.log_odds)
    assert (told[:12] > 2).all()
    assert (told[12:] < -2).all()


def test_colours_alone_decide_nothing_that_is_plain_without_them() -> None:
    squares = Squares()
    squares.also(BARE[0], 0, log_odds=PLAIN)
    squares.also(UNIFORM, 0, log_odds=-PLAIN)
    told = squares.told() + np.array(squares.log_odds)
    assert told[-2] > 0 > told[-1]
    assert not anybody_open(np.array([PLAIN, -PLAIN]))
    assert anybody_open(np.array([PLAIN, -2.0]))

"""Two heaps of figures held against each other by their colours."""

from __future__ import annotations

import numpy as np
import pytest

from vision.soldiers.colours import RARE
from vision.soldiers.heaps import MOST_ODDS, by_field, log_shares_in, odds_by_ratio

WORN = np.array([0.5, 0.3, 0.2, 0.0])
OTHER = np.array([0.0, 0.0, 0.4, 0.6])
# As they mostly are.
USUAL, USUAL_OF_OTHERS = (1.0, 0.7), (-1.0, 0.7)


def told(*ratio: float, first: tuple[float, ...] | None = None) -> np.ndarray:
    """Log-odds of figures by their ratios; half of them are of the first heap."""
    halves = [1.0] * (len(ratio) // 2) + [0.0] * (len(ratio) - len(ratio) // 2)
    return odds_by_ratio(np.array(ratio), np.array(first or halves), USUAL, USUAL_OF_OTHERS)


def fit(mine: np.ndarray, theirs: np.ndarray) -> float:
    """Mean logarithm of how often the colours of one occur on others."""
    return float((mine * np.log(theirs + RARE)).sum())


@pytest.mark.parametrize("others", [1, 2, 9])
def test_a_figure_fits_a_heap_by_what_its_others_wear_however_many_they_are(others: int) -> None:
    shares = np.array([WORN, *[OTHER] * others])
    fits = log_shares_in(shares, np.ones(1 + others))
    assert fits[0] == pytest.approx(fit(WORN, OTHER))
    beside = log_shares_in(shares, np.array([0.0, *[1.0] * others]))
    assert beside[0] == pytest.approx(fits[0]), "itself it is not held against, of the heap or not"


def test_a_figure_that_is_alone_in_its_heap_fits_it_as_what_was_never_seen() -> None:
    assert log_shares_in(np.array([WORN, OTHER]), np.array([1.0, 0.0]))[0] == pytest.approx(np.log(RARE))


def test_one_that_is_of_the_heap_in_part_counts_in_part() -> None:
    shares = np.array([WORN, WORN, OTHER])
    fits = log_shares_in(shares, np.array([0.0, 1.0, 0.25]))
    assert fits[0] == pytest.approx(fit(WORN, (WORN + 0.25 * OTHER) / 1.25))


def test_of_two_heaps_that_are_apart_each_figure_is_told_and_nobody_more_surely_than_colours_can() -> None:
    odds = told(*[2.0] * 10, *[-2.0] * 10)
    assert odds[0] == -odds[-1] == MOST_ODDS
    between = told(*[2.0] * 10, 0.0, *[-2.0] * 10, first=(*[1.0] * 10, 0.5, *[0.0] * 10))
    assert between[10] == pytest.approx(0.0, abs=1e-6)


def test_of_two_heaps_that_are_hardly_apart_nothing_is_told() -> None:
    """However little their figures scatter."""
    odds = told(*[0.05] * 40, *[-0.05] * 40)
    assert not odds.any()


def test_colours_that_are_seen_nowhere_else_tell_next_to_nothing() -> None:
    """As rare in the one heap as in the other, whatever the heaps mostly are."""
    ratio = (*[6.0] * 30, *[1.0] * 30, 0.1)
    odds = told(*ratio, first=(*[1.0] * 30, *[0.0] * 31))
    assert abs(odds[-1]) < 0.5


def test_a_heap_of_which_nobody_is_seen_is_taken_to_be_as_it_usually_is() -> None:
    odds = told(*[1.0] * 10, 0.0, -1.0, first=(*[1.0] * 10, 0.2, 0.2))
    assert odds[0] > 1.0
    assert abs(odds[10]) < 0.5
    assert odds[11] < -1.0


@pytest.mark.parametrize(("shows", "taken"), [(0.8, 0.8), (-0.8, 0.0)])
def test_what_goes_with_the_field_is_taken_off_where_its_colour_shows_on_who_stands_there(
    shows: float, taken: float
) -> None:
    first = np.array([1.0, 1.0, 0.0, 0.0] * 10)
    field = np.array([0.5, -0.5] * 20)
    ratio = 2.0 * first - 1.0 + shows * field
    off = by_field(ratio, first, field)
    assert off == pytest.approx(taken * field, abs=0.06)

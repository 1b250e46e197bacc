"""Tables on which everything is told less surely than usual are read by what parts their squares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.montecassino import SOLDIERS_PER_SIDE
from vision.soldiers.plainest import plainest

SQUARES = 144
EVEN = np.arange(SQUARES) % 2  # every other square is of the other field


def test_a_table_where_all_is_fainter_is_read_by_what_parts_its_squares() -> None:
    """As was seen of figures that nothing had been learnt from."""
    faint = (-3.7, -1.7, -1.1, -0.8, -0.4, 0.3, 0.4, 0.6, 0.7, 0.8, 0.8, 1.0, 1.5, 1.9, 2.2, 2.6)
    told = np.array([*faint, *[-12.0] * (SQUARES - len(faint))])
    assert (np.flatnonzero(plainest(told, EVEN) > 0) == np.arange(len(faint))).all()


def test_a_board_on_which_nobody_shows_is_not_taken_for_a_full_one() -> None:
    """As was seen of soldiers of the board's own colour: no more stand on it than there are in the game."""
    hardly = -0.4 + np.arange(SQUARES) % 5 / 10
    assert (plainest(hardly, EVEN) > 0).sum() <= 2 * SOLDIERS_PER_SIDE


def test_a_board_on_which_all_hardly_show_is_not_taken_for_an_empty_one() -> None:
    """As was seen of 24 soldiers of the board's colours: what parts them from the bare squares is little, but it is there."""
    hardly = -0.9 + 0.18 * np.arange(24)
    bare = np.maximum(-0.9 - 0.15 * np.arange(80), -6.0)
    seen = plainest(np.concatenate([hardly, bare]), EVEN[:104]) > 0
    assert not seen[24:].any()
    assert seen[:24].sum() >= 24 / 4


@pytest.mark.parametrize(("of_one_field", "soldiers"), [(True, 40), (False, 20)])
def test_two_armies_of_which_one_hardly_shows_are_likelier_than_one(
    of_one_field: bool, soldiers: int
) -> None:
    """As was seen of dark figures on green bases, on a green board; what is strewn over both fields may be marks of the board."""
    told = np.concatenate([np.full(20, 8.0), np.linspace(-2.6, -1.6, 20), np.full(SQUARES - 40, -12.0)])
    field = np.concatenate([np.ones(20), np.zeros(20), EVEN[40:]]).astype(np.intp) if of_one_field else EVEN
    assert (plainest(told, field) > 0).sum() == soldiers
    assert (plainest(told, 1 - field) > 0).sum() == soldiers, "whichever army it is"


def test_armies_that_differ_by_no_more_than_armies_do_are_read_as_they_are_seen() -> None:
    told = np.array([8.0] * 18 + [-1.6] * 6 + [-12.0] * (SQUARES - 24))
    field = np.array([0] * 12 + [1] * 12 + [0, 1] * ((SQUARES - 24) // 2))
    assert (plainest(told, field) > 0).sum() == 18


def test_a_few_squares_that_would_be_a_little_plainer_do_not_shift_a_table_far() -> None:
    told = np.array([9.0] * 30 + [-2.0] * 3 + [-20.0] * (SQUARES - 33))
    assert (plainest(told, EVEN) > 0).sum() == 30


@given(st.lists(st.floats(-30, 15), min_size=SQUARES, max_size=SQUARES))
def test_whatever_is_told_the_order_of_likelihood_stays(told: list[float]) -> None:
    log_odds = np.array(told)
    shifted = plainest(log_odds, EVEN)
    seen = log_odds > -20
    assert np.ptp(np.append((shifted - log_odds)[seen], shifted[0] - max(log_odds[0], -20))) == pytest.approx(
        0
    )


def test_a_plain_table_is_left_as_it_is() -> None:
    plain = np.array([9.0] * 30 + [-12.0] * (SQUARES - 30))
    assert (plainest(plain, EVEN) > 0).sum() == 30

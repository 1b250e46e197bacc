"""Clause C7: the first push that matters decides the cause of a fall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.montecassino import Cause
from twin.contacts import (
    BOARD,
    EDGE,
    MERGE_GAP_S,
    SHOT,
    SHOT_TOUCH_NS,
    SOLDIER_PUSH_NS,
    ContactLog,
    blame_is_shared,
    cause_of_fall,
)

HERE = (0.1, 0.2, 0.03)


def log_of(*touches: tuple[float, int, int, float]) -> ContactLog:
    log = ContactLog()
    for at_s, first, second, impulse_ns in touches:
        log.touch(first, second, at_s=at_s, impulse_ns=impulse_ns, shot_m=HERE)
    return log


def test_the_first_soldier_that_the_shot_touches_is_hit_directly():
    log = log_of((0.010, SHOT, 3, 1e-3), (0.020, SHOT, 4, 1e-3))
    assert cause_of_fall(log.contacts, 3) is Cause.DIRECT
    assert cause_of_fall(log.contacts, 4) is Cause.RICOCHET


def test_a_shot_off_the_board_or_its_edge_is_a_ricochet():
    for ground in (BOARD, EDGE):
        log = log_of((0.010, SHOT, ground, 1e-4), (0.020, SHOT, 3, 1e-3))
        assert cause_of_fall(log.contacts, 3) is Cause.RICOCHET


def test_whom_another_soldier_knocks_over_is_dragged():
    log = log_of((0.010, SHOT, 3, 1e-3), (0.150, 3, 4, 3e-4), (0.300, 4, 5, 3e-4))
    assert cause_of_fall(log.contacts, 4) is Cause.DRAGGED
    assert cause_of_fall(log.contacts, 5) is Cause.DRAGGED


def test_touched_by_the_shot_before_a_soldier_counts_as_the_shot():
    log = log_of((0.010, SHOT, 3, 1e-3), (0.011, 3, 4, 3e-4))
    assert cause_of_fall(log.contacts, 3) is Cause.DIRECT


def test_a_fall_that_nothing_touched_has_another_cause():
    assert cause_of_fall(log_of((0.010, SHOT, 3, 1e-3)).contacts, 9) is Cause.OTHER


def test_touches_that_are_too_light_do_not_count():
    log = log_of(
        (0.010, SHOT, 3, 0.9 * SHOT_TOUCH_NS), (0.020, 3, 4, 0.9 * SOLDIER_PUSH_NS), (0.030, SHOT, 4, 1e-3)
    )
    assert cause_of_fall(log.contacts, 3) is Cause.OTHER
    assert cause_of_fall(log.contacts, 4) is Cause.DIRECT
    assert [contact.parties for contact in log.shot_contacts()] == [(SHOT, 4)]


@given(st.lists(st.floats(1e-5, 0.9 * MERGE_GAP_S), min_size=1, max_size=20))
def test_touches_with_short_gaps_are_one_contact_and_add_up(gaps_s):
    at_s, touches = 0.0, []
    for gap_s in gaps_s:
        at_s += gap_s
        touches.append((at_s, 3, SHOT, 1e-6))
    log = log_of(*touches)
    assert len(log.contacts) == 1
    assert abs(log.contacts[0].impulse_ns - 1e-6 * len(gaps_s)) < 1e-12


def test_a_longer_gap_begins_another_contact():
    log = log_of((0.0, 3, SHOT, 1e-3), (0.0 + 1.1 * MERGE_GAP_S, SHOT, 3, 1e-3))
    assert len(log.contacts) == 2


def test_the_push_that_first_comes_to_the_amount_that_matters_decides_and_not_the_one_that_began_first():
    log = log_of(
        (0.0100, 3, 4, 0.6 * SOLDIER_PUSH_NS), (0.0110, SHOT, 4, 1e-3), (0.0115, 3, 4, 0.6 * SOLDIER_PUSH_NS)
    )
    assert cause_of_fall(log.contacts, 4) is Cause.DIRECT


def test_who_is_touched_in_the_moment_in_which_the_shot_first_touches_anything_is_hit_directly():
    log = log_of((0.010, SHOT, BOARD, 1e-4), (0.010, SHOT, 3, 1e-3))
    assert cause_of_fall(log.contacts, 3) is Cause.DIRECT


@pytest.mark.parametrize(
    ("touches", "shared"),
    [
        ([(0.010, SHOT, 4, 1e-3), (0.021, 3, 4, 6e-4)], True),
        ([(0.010, 3, 4, 1e-3), (0.021, SHOT, 4, 6e-4)], True),
        ([(0.010, SHOT, 4, 1e-3), (0.023, 3, 4, 6e-4)], False),
        ([(0.010, SHOT, 4, 1e-3), (0.021, 3, 4, 4e-4)], False),
        ([(0.010, 3, 4, 1e-3), (0.011, 5, 4, 1e-3)], False),
        ([(0.010, SHOT, 4, 1e-3), (0.011, SHOT, 5, 1e-3), (0.012, 5, 6, 1e-3)], False),
        ([(0.010, SHOT, 4, 3e-6), (0.011, 3, 4, 0.9 * SOLDIER_PUSH_NS)], False),
        ([], False),
    ],
    ids=["shot first", "soldier first", "too late", "too weak", "no shot", "others", "too light", "nobody"],
)
def test_the_shot_and_a_soldier_share_the_blame_where_both_push_at_about_the_same_time(touches, shared):
    assert blame_is_shared(log_of(*touches).contacts, 4) is shared

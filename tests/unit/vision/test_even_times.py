"""When pictures were taken, told by when they came: a camera's own clock, found by stamps that waver."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vision.even_times import FEWEST_OF_CLOCK, OwnClock, evened, own_clock

Times = NDArray[np.float64]

COUNT = 90
PACKET_US = 4000  # of USB: a stamp is the time at which one had come
RATES = st.sampled_from([60.0, 90.0, 120.0, 200.0])
SEEDS = st.integers(0, 2**32 - 1)


def taken(seed: int, fps: float, count: int = COUNT, lost: int = 0) -> Times:
    """Give the times of pictures by a quartz that is a little off, some of them lost."""
    rng = np.random.default_rng(seed)
    period_us = 1e6 / fps * (1 + rng.normal(0, 3e-4))
    numbers = np.arange(count + lost)
    gone = rng.choice(numbers[6:-6], lost, replace=False)
    return np.asarray(rng.uniform(0, 1e8) + np.setdiff1d(numbers, gone) * period_us)


def stamped(came_us: Times) -> list[int]:
    """Stamp pictures in the order in which they were taken, whole microseconds apart at least."""
    stamps = np.round(came_us).astype(int)
    for k in range(1, len(stamps)):
        stamps[k] = max(stamps[k], stamps[k - 1] + 1)
    return [int(us) for us in stamps]


def off_us(times_us: tuple[int, ...], taken_us: Times) -> Times:
    """How far off each is, beside the delay that all of them have."""
    late_us = np.asarray(times_us) - taken_us
    return np.asarray(late_us - np.median(late_us))


@given(SEEDS, RATES, st.integers(0, 4))
def test_stamps_that_waver_by_a_tenth_of_a_period_are_all_told_better_than_most_of_them_came(
    seed: int, fps: float, lost: int
) -> None:
    taken_us = taken(seed, fps, lost=lost)
    wavering_us = 0.1e6 / fps
    came_us = taken_us + np.random.default_rng(seed).normal(0, wavering_us, len(taken_us))
    assert np.abs(off_us(evened(stamped(came_us)), taken_us)).max() < wavering_us


@given(SEEDS, st.sampled_from([60.0, 90.0, 120.0]))
def test_packets_of_usb_are_seen_through(seed: int, fps: float) -> None:
    """120 pictures a second that come in packets of 4 ms look like 130 as well, every thirteenth of them lost."""
    taken_us = taken(seed, fps, count=240)
    came_us = np.ceil(taken_us / PACKET_US) * PACKET_US
    assert np.abs(off_us(evened(stamped(came_us)), taken_us)).max() < PACKET_US / 5


@given(SEEDS, RATES, st.integers(10, COUNT - 10), st.floats(10_000, 30_000))
def test_pictures_that_were_held_up_have_the_times_at_which_they_were_taken(
    seed: int, fps: float, at: int, held_us: float
) -> None:
    """A busy computer or network gives a few at once; all others come as evenly as ever."""
    taken_us = taken(seed, fps)
    came_us = taken_us.copy()
    came_us[at : at + 5] = np.maximum(came_us[at : at + 5], taken_us[at] + held_us)
    assert np.abs(off_us(evened(stamped(came_us)), taken_us)).max() < 100


@given(SEEDS, RATES, st.integers(0, 4))
def test_times_that_are_even_stay_as_they_are(seed: int, fps: float, lost: int) -> None:
    taken_us = taken(seed, fps, lost=lost)
    stamps = stamped(taken_us + np.random.default_rng(seed).uniform(-20, 20, len(taken_us)))
    assert evened(stamps) == tuple(stamps)


@given(SEEDS, RATES)
def test_a_camera_that_changes_its_pace_is_not_made_even(seed: int, fps: float) -> None:
    """In failing light one takes its pictures more and more slowly."""
    periods_us = 1e6 / fps * np.linspace(1.0, 1.3, COUNT)
    stamps = stamped(np.cumsum(periods_us) + np.random.default_rng(seed).normal(0, 200, COUNT))
    assert evened(stamps) == tuple(stamps)


@given(SEEDS, RATES)
def test_pictures_that_come_by_chance_have_no_clock(seed: int, fps: float) -> None:
    stamps = stamped(np.cumsum(np.random.default_rng(seed).exponential(1e6 / fps, COUNT) + 100))
    assert own_clock(stamps) is None
    assert evened(stamps) == tuple(stamps)


@pytest.mark.parametrize("pause_us", [10_000_000, 10**12])
@pytest.mark.parametrize("at", [2, 45, 88])
def test_a_pause_of_seconds_or_days_is_no_clock_and_costs_no_memory(pause_us: int, at: int) -> None:
    stamps = [8333 * k + (pause_us if k >= at else 0) for k in range(COUNT)]
    assert evened(stamps) == tuple(stamps)


def test_pictures_that_always_come_two_at_once_are_left_as_they_came() -> None:
    stamps = [16_667 * (k // 2) + k % 2 for k in range(COUNT + 1)]
    assert evened(stamps) == tuple(stamps)


@given(st.lists(st.integers(1, 10**7), min_size=2, max_size=200))
def test_whatever_the_times_are_as_many_come_back_and_rise(apart_us: list[int]) -> None:
    stamps = np.cumsum(apart_us).tolist()
    made_even = evened(stamps)
    assert len(made_even) == len(stamps)
    assert all(a < b for a, b in pairwise(made_even))


@given(SEEDS, RATES, st.floats(0, 0.4))
def test_times_rise_however_they_waver(seed: int, fps: float, share: float) -> None:
    taken_us = taken(seed, fps)
    came_us = taken_us + np.random.default_rng(seed).exponential(share * 1e6 / fps, COUNT)
    made_even = evened(stamped(came_us))
    assert len(made_even) == COUNT
    assert all(a < b for a, b in pairwise(made_even))


@pytest.mark.parametrize(("count", "is_told"), [(FEWEST_OF_CLOCK - 1, False), (FEWEST_OF_CLOCK, True)])
def test_a_few_pictures_tell_no_clock(count: int, is_told: bool) -> None:
    came_us = taken(1, 120.0, count) + np.random.default_rng(1).normal(0, 500, count)
    stamps = stamped(came_us)
    assert (own_clock(stamps) is not None) is is_told
    assert (evened(stamps) != tuple(stamps)) is is_told


def test_a_clock_tells_of_pictures_yet_to_come_when_they_were_taken() -> None:
    taken_us = taken(3, 120.0, 800)
    came_us = taken_us + np.random.default_rng(3).uniform(0, 3000, len(taken_us))
    clock = own_clock(stamped(came_us)[:500])
    assert clock is not None
    stamps = stamped(came_us)
    told = [clock.taken_us(came_us, before_us) for before_us, came_us in pairwise(stamps[499:])]
    assert all(us is not None for us in told)
    assert np.abs(off_us(tuple(us or 0 for us in told), taken_us[500:])).max() < 150


@pytest.mark.parametrize(
    ("late", "lost", "is_told"),
    [(0.3, 0, True), (0.45, 0, False), (0.7, 0, False), (-0.3, 1, False), (0.3, 1, True)],
)
def test_when_one_was_taken_that_was_held_up_is_not_told(late: float, lost: int, is_told: bool) -> None:
    """Nor when one that comes early for its place was, after one that seems to be lost: it is likelier that one, held up."""
    clock = OwnClock(start_us=0.0, period_us=10_000.0, wavering_us=1000.0)
    told_us = clock.taken_us(round((8 + lost + late) * 10_000), before_us=70_000)
    assert told_us == ((8 + lost) * 10_000 if is_told else None)

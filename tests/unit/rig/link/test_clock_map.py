"""The cannon's clock on the controller's: never further off than the bound says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.link.clock_map import ClockMap

# A line that is USB all the way is quicker than the bytes would be at the speed that it is said to have.
_TRIPS = st.lists(
    st.tuples(st.integers(1_000, 3_000_000), st.integers(0, 40_000), st.integers(0, 40_000)),
    min_size=1,
    max_size=50,
)


@given(
    start_us=st.integers(0, (1 << 32) - 1),
    drift=st.floats(-0.005, 0.005),
    trips=_TRIPS,
    asked=st.floats(-1, 2),
)
def test_the_guess_is_never_further_off_than_its_bound(start_us, drift, trips, asked):
    def device(host_us: int) -> int:
        return round(start_us + host_us * (1 + drift)) % (1 << 32)

    clock_map = ClockMap()
    host_us = 0
    for pause_us, there_us, back_us in trips:
        sent_us = host_us + pause_us
        host_us = sent_us + there_us + back_us
        clock_map.add(
            device(sent_us + there_us), sent_us=sent_us, received_us=host_us, request_us=700, answer_us=1_100
        )
    true_us = round(host_us * asked)
    found = clock_map.to_host(device(true_us))
    assert found is not None
    assert abs(found.us - true_us) <= found.bound_us + 2  # both clocks are read to a whole microsecond


def test_with_only_the_bytes_under_way_the_guess_is_exact():
    clock_map = ClockMap()
    clock_map.add(5_000, sent_us=100_000, received_us=101_800, request_us=700, answer_us=1_100)
    found = clock_map.to_host(5_000)
    assert found is not None
    assert found.us == 100_700


def test_before_any_round_trip_nothing_is_claimed_and_clearing_forgets():
    clock_map = ClockMap()
    assert clock_map.to_host(5) is None
    clock_map.add(5_000, sent_us=0, received_us=2_000)
    clock_map.clear()
    assert clock_map.to_host(5) is None


@pytest.mark.parametrize("took_us", [0, 400, 700, 1_100, 1_700])
def test_an_answer_that_is_back_before_its_bytes_could_be_is_placed_within_its_round_trip(took_us):
    clock_map = ClockMap()
    clock_map.add(5_000, sent_us=100_000, received_us=100_000 + took_us, request_us=700, answer_us=1_100)
    found = clock_map.to_host(5_000)
    assert found is not None
    assert 100_000 <= found.us <= 100_000 + took_us
    assert found.bound_us <= took_us


def test_a_slow_round_trip_does_not_spoil_what_a_quick_one_told():
    clock_map = ClockMap()
    clock_map.add(5_000, sent_us=100_000, received_us=101_800, request_us=700, answer_us=1_100)
    clock_map.add(25_000, sent_us=120_000, received_us=160_000)
    found = clock_map.to_host(25_000)
    assert found is not None
    assert found.us == 120_700
    assert found.bound_us == 1_100 + 20_000 * 0.005


def test_the_bound_grows_with_what_an_unos_clock_may_drift_until_a_later_round_trip_is_the_better():
    clock_map = ClockMap()
    clock_map.add(0, sent_us=0, received_us=2_000)
    for device_us, bound_us in ((0, 1_000), (1_000_000, 6_000), (-1_000_000 % (1 << 32), 6_000)):
        found = clock_map.to_host(device_us)
        assert found is not None
        assert found.bound_us == bound_us
    clock_map.add(1_000_000, sent_us=1_000_000, received_us=1_008_000)
    found = clock_map.to_host(1_000_000)
    assert found is not None
    assert (found.us, found.bound_us) == (1_004_000, 4_000)


@given(
    drift=st.floats(-0.005, 0.005),
    ways=st.lists(st.tuples(st.integers(700, 4_000), st.integers(1_100, 5_000)), min_size=150, max_size=300),
)
def test_within_half_a_minute_of_heartbeats_it_is_known_how_fast_the_cannons_clock_goes(drift, ways):
    clock_map = ClockMap()
    host_us = 0
    for there_us, back_us in ways:
        sent_us = host_us + 150_000
        host_us = sent_us + there_us + back_us
        clock_map.add(
            round((sent_us + there_us) * (1 + drift)),
            sent_us=sent_us,
            received_us=host_us,
            request_us=700,
            answer_us=1_100,
        )
    told = clock_map.rate()
    assert told.bound < 1e-3
    assert abs(told.rate - 1 / (1 + drift)) <= told.bound + 1e-6


def test_a_clock_is_taken_to_go_right_until_round_trips_tell_it_better_than_its_resonator_is_made():
    clock_map = ClockMap()
    clock_map.add(0, sent_us=0, received_us=2_000)
    assert (clock_map.rate().rate, clock_map.rate().bound) == (1.0, 0.005)
    clock_map.add(1_507_500, sent_us=1_500_000, received_us=1_502_000)
    assert (clock_map.rate().rate, clock_map.rate().bound) == (1.0, 0.005)
    clock_map.add(20_100_000, sent_us=20_000_000, received_us=20_002_000)
    assert clock_map.rate().rate == pytest.approx(1 / 1.005, abs=1e-6)
    clock_map.clear()
    assert clock_map.rate().rate == 1.0

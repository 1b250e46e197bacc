"""The cannon's clock on the controller's: never further off than the bound says."""

from hypothesis import given
from hypothesis import strategies as st

from rig.link.clock_map import ClockMap

_TRIPS = st.lists(
    st.tuples(st.integers(1_000, 3_000_000), st.integers(700, 40_000), st.integers(1_100, 40_000)),
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

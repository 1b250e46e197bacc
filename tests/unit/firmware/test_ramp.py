"""Promise: no axis leaves its limits or outruns its speed, whatever is commanded or stored."""

from cannon_host import FACTORY, Refused, cannon_in, configured, lib
from hypothesis import given, settings
from hypothesis import strategies as st

from rig.link.wire import SETTING_LIMITS, Axis, Command, Event, Refusal, Setting, State

TICKS = st.integers(0, 0xFFFF)
SPEED = st.integers(SETTING_LIMITS[Setting.AZIMUTH_SPEED_TICKS].minimum, 400)
RANGES = {
    Axis.TRAVERSE: (Setting.TRAVERSE_MIN_TICKS, Setting.TRAVERSE_MAX_TICKS, Setting.TRAVERSE_SPEED_TICKS),
    Axis.AZIMUTH: (Setting.AZIMUTH_MIN_TICKS, Setting.AZIMUTH_MAX_TICKS, Setting.AZIMUTH_SPEED_TICKS),
    Axis.ELEVATION: (Setting.ELEVATION_MIN_TICKS, Setting.ELEVATION_MAX_TICKS, Setting.ELEVATION_SPEED_TICKS),
}
AIMING = st.sampled_from(list(RANGES))


@given(TICKS, TICKS, SPEED)
def test_step_goes_towards_the_target_and_never_beyond(position: int, target: int, speed: int) -> None:
    after = lib.ramp_next(position, target, speed)
    assert abs(after - position) <= speed
    assert min(position, target) <= after <= max(position, target)
    assert after == target or abs(after - position) == speed


@given(st.integers(1000, 5000), st.integers(1000, 5000), SPEED)
def test_time_is_that_of_the_steps(position: int, target: int, speed: int) -> None:
    steps = 0
    at = position
    while at != target:
        at = lib.ramp_next(at, target, speed)
        steps += 1
    assert lib.ramp_time_ms(position, target, speed) == steps * 20


@given(TICKS, st.integers(0, 0xFFFF), st.integers(0, 0xFFFF))
def test_clamp_stays_between(ticks: int, one: int, other: int) -> None:
    low, high = sorted((one, other))
    clamped = lib.ramp_clamp(ticks, low, high)
    assert low <= clamped <= high
    assert clamped == ticks or not low <= ticks <= high


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(Axis), TICKS), min_size=1, max_size=8))
def test_axes_stay_within_limits_and_speed_whatever_is_asked(moves: list[tuple[Axis, int]]) -> None:
    cannon = cannon_in(State.READY)
    for axis, ticks in moves:
        answer = cannon.command(Command.MOVE, axis=axis, pulse_ticks=ticks)
        if axis not in RANGES:
            assert answer == Refused(Refusal.AXIS_RESERVED, axis)
        elif not FACTORY[RANGES[axis][0]] <= ticks <= FACTORY[RANGES[axis][1]]:
            assert answer == Refused(Refusal.BAD_VALUE, axis)
        for _ in range(10):
            before = cannon.pulses
            cannon.run(20)
            for each, (low, high, speed) in RANGES.items():
                assert abs(cannon.pulse(each) - before[each]) <= FACTORY[speed]
                assert FACTORY[low] <= cannon.pulse(each) <= FACTORY[high]


def test_axis_that_is_none_is_refused() -> None:
    cannon = cannon_in(State.READY)
    assert cannon.command(Command.MOVE, axis=9, pulse_ticks=3000) == Refused(Refusal.BAD_VALUE, 9)


@given(AIMING, st.integers(2000, 4000))
def test_move_arrives_in_the_time_it_announces_and_says_so(axis: Axis, ticks: int) -> None:
    cannon = cannon_in(State.READY)
    expected_ms = cannon.ask(Command.MOVE, axis=axis, pulse_ticks=ticks)["expected_ms"]
    assert expected_ms == lib.ramp_time_ms(3000, ticks, FACTORY[RANGES[axis][2]])
    cannon.run(expected_ms + 20)
    assert cannon.pulse(axis) == ticks
    assert {"axis": axis, "pulse_ticks": ticks} in cannon.happened(Event.MOVE_DONE)


def test_longest_way_at_the_least_speed_takes_no_longer_than_announced() -> None:
    """Of a move, and of a homing from there."""
    least = SETTING_LIMITS[Setting.AZIMUTH_SPEED_TICKS].minimum
    cannon = configured(
        {
            Setting.AZIMUTH_MIN_TICKS: 1000,
            Setting.AZIMUTH_MAX_TICKS: 5000,
            Setting.AZIMUTH_HOME_TICKS: 1000,
            Setting.AZIMUTH_SPEED_TICKS: least,
        }
    )
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    expected_ms = cannon.ask(Command.MOVE, axis=Axis.AZIMUTH, pulse_ticks=5000)["expected_ms"]
    assert expected_ms == 20 * 4000 // least
    cannon.run(expected_ms + 20)
    assert cannon.pulse(Axis.AZIMUTH) == 5000
    cannon.ask(Command.SAFE)
    cannon.run_until(State.READY, limit_ms=cannon.ask(Command.HOME)["expected_ms"])


@settings(max_examples=60)
@given(st.data())
def test_axes_stay_within_stored_limits(data: st.DataObject) -> None:
    cannon = cannon_in(State.READY)
    cannon.ask(Command.SAFE)
    for setting in data.draw(st.lists(st.sampled_from(Setting), max_size=10)):
        limits = SETTING_LIMITS[setting]
        cannon.ask(
            Command.CONFIGURE, setting=setting, value=data.draw(st.integers(limits.minimum, limits.maximum))
        )
    value = {s: cannon.ask(Command.READ_SETTING, setting=s)["value"] for s in Setting}
    cannon.command(Command.HOME)
    for _ in range(60):
        cannon.run(20)
        for axis, (low, high, _) in RANGES.items():
            assert cannon.pulse(axis) == 0 or value[low] <= cannon.pulse(axis) <= value[high]
        draw = sorted((value[Setting.DRAW_REST_TICKS], value[Setting.DRAW_BREECH_TICKS]))
        assert cannon.pulse(Axis.DRAW) == 0 or draw[0] <= cannon.pulse(Axis.DRAW) <= draw[1]


def test_axis_that_there_is_not_is_refused() -> None:
    """S-7. Whatever lies in memory behind the axes."""
    cannon = cannon_in(State.READY)
    before = cannon.pulses
    for axis in range(len(Axis), 256):
        assert cannon.command(Command.MOVE, axis=axis, pulse_ticks=3000) == Refused(Refusal.BAD_VALUE, axis)
    cannon.run(100)
    assert cannon.pulses == before

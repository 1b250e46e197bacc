import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.servo import ServoMap, ServoRangeError

maps = st.builds(
    ServoMap,
    centre_us=st.floats(1400, 1600),
    gain_us_per_unit=st.one_of(st.floats(100, 2000), st.floats(-2000, -100)),
    minimum_us=st.just(900.0),
    maximum_us=st.just(2100.0),
)


@given(maps, st.floats(0, 1))
def test_position_to_pulse_and_back(servo, share):
    low, high = servo.limits
    position = min(low + share * (high - low), high)
    assert servo.position(servo.pulse_us(position)) == pytest.approx(position, abs=1e-9)


@given(maps)
def test_both_ends_of_the_limits_are_within_the_pulses(servo):
    pulses_us = sorted(servo.pulse_us(end) for end in servo.limits)
    assert pulses_us == pytest.approx([servo.minimum_us, servo.maximum_us])


@given(maps, st.floats(-0.5, 0.5), st.floats(-0.1, 0.1), st.floats(0.7, 1.4), st.floats(0, 1))
def test_a_corrected_map_sends_a_faulty_axis_where_it_is_wanted(servo, at, offset, gain, share):
    corrected = servo.corrected(at=at, offset=offset, gain=gain)
    low, high = corrected.limits
    wanted = min(low + share * (high - low), high)
    told = servo.position(corrected.pulse_us(wanted))
    assert at + offset + gain * (told - at) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("beyond_us", [-0.01, 0.01])
def test_a_pulse_a_hundredth_of_a_microsecond_beyond_the_limits_is_refused(beyond_us):
    servo = ServoMap(1500, 1000, 1000, 2000)
    end_us = 2000 if beyond_us > 0 else 1000
    with pytest.raises(ServoRangeError):
        servo.pulse_us(servo.position(end_us + beyond_us))


def test_a_worked_servo():
    servo = ServoMap(1500, 1000 / (math.pi / 2), 1000, 2000)
    assert servo.pulse_us(math.radians(45)) == pytest.approx(2000)
    assert servo.pulse_us(math.radians(-9)) == pytest.approx(1400)
    assert servo.limits == pytest.approx((-math.pi / 4, math.pi / 4))


def test_a_servo_mounted_the_other_way_round():
    servo = ServoMap(1500, -500, 1000, 2000)
    assert servo.pulse_us(0.5) == 1250
    assert servo.limits == (-1, 1)


def test_a_position_beyond_the_pulse_limits_is_refused_with_numbers():
    with pytest.raises(
        ServoRangeError, match=r"a pulse of 2500\.0 us, allowed are 1000 to 2000 us"
    ) as caught:
        ServoMap(1500, 500, 1000, 2000).pulse_us(2.0)
    assert (caught.value.pulse_us, caught.value.minimum_us, caught.value.maximum_us) == (2500, 1000, 2000)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"gain_us_per_unit": 0.0}, "would not move"),
        ({"minimum_us": 2000.0}, "lower one first"),
    ],
)
def test_a_map_that_cannot_work_is_named(changes, sentence):
    whole = {"centre_us": 1500.0, "gain_us_per_unit": 500.0, "minimum_us": 1000.0, "maximum_us": 2000.0}
    with pytest.raises(ValueError, match=sentence):
        ServoMap(**{**whole, **changes})

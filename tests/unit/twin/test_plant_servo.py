import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.chip import CHIP_HZ
from twin.plant import Servo, ServoSettings

FRAME = CHIP_HZ // 50


def drive(servo: Servo, width_us: float, frames: int, *, start_cycle: int = 0, **step: float) -> int:
    """Give pulses of one width, a frame each, and let time pass in steps of a millisecond."""
    for frame in range(frames):
        begin = start_cycle + frame * FRAME
        servo.edge(begin, high=True)
        servo.edge(begin + round(width_us * 16), high=False)
        for step_ms in range(20):
            servo.step(begin + (step_ms + 1) * 16_000, 1e-3, **step)
    return start_cycle + frames * FRAME


@given(st.floats(min_value=600, max_value=2400))
def test_it_goes_where_the_pulse_says(width_us: float) -> None:
    servo = Servo(ServoSettings())
    drive(servo, width_us, 20)
    assert servo.output_us == pytest.approx(width_us, abs=0.3)


@given(
    st.floats(min_value=600, max_value=1400),
    st.floats(min_value=1600, max_value=2400),
    st.floats(0, 1),
    st.booleans(),
)
def test_other_pulses_may_bring_it_to_its_ends_and_either_may_be_the_shorter(
    short_us: float, long_us: float, share: float, turned: bool
) -> None:
    first_us, last_us = (long_us, short_us) if turned else (short_us, long_us)
    servo = Servo(ServoSettings(ends_us=(first_us, last_us)))
    drive(servo, first_us + share * (last_us - first_us), 20)
    assert servo.output_us == pytest.approx(1000 + 1000 * share, abs=0.5)


def test_a_servo_whose_ends_are_one_is_refused() -> None:
    with pytest.raises(ValueError, match="ends_us are both 1500"):
        ServoSettings(ends_us=(1500.0, 1500.0))


def test_it_takes_its_time() -> None:
    servo = Servo(ServoSettings(start_us=1000, slew_us_per_s=2000, backlash_us=0))
    drive(servo, 2000, 10)
    assert servo.output_us == pytest.approx(1400, abs=5)


def test_a_change_within_the_dead_band_does_nothing() -> None:
    servo = Servo(ServoSettings(dead_band_us=5, backlash_us=0))
    end = drive(servo, 1600, 10)
    end = drive(servo, 1604, 10, start_cycle=end)
    assert servo.output_us == pytest.approx(1600, abs=0.1)
    drive(servo, 1606, 10, start_cycle=end)
    assert servo.output_us == pytest.approx(1606, abs=0.1)


def test_backlash_leaves_the_output_behind_on_either_side() -> None:
    servo = Servo(ServoSettings(backlash_us=8))
    end = drive(servo, 1700, 10)
    below = servo.output_us
    drive(servo, 1700, 1, start_cycle=drive(servo, 1900, 10, start_cycle=end))
    end = drive(servo, 1700, 10, start_cycle=end + 20 * FRAME)
    assert servo.output_us - below == pytest.approx(8, abs=0.1)


def test_offset_and_gain_show_at_the_output() -> None:
    servo = Servo(ServoSettings(offset_us=10, gain_error=0.02, backlash_us=0))
    drive(servo, 1700, 20)
    assert servo.output_us == pytest.approx(1500 + 200 * 1.02 + 10, abs=0.1)


def test_without_pulses_it_goes_limp_and_a_load_turns_it() -> None:
    servo = Servo(ServoSettings(backlash_us=0))
    end = drive(servo, 1700, 20)
    for step_ms in range(100):
        servo.step(end + step_ms * 16_000, 1e-3, push_us_per_s=-1000)
    assert servo.command_us is None
    assert 1600 < servo.output_us < 1660


def test_a_digital_servo_holds_without_pulses() -> None:
    servo = Servo(ServoSettings(holds_without_pulses=True, backlash_us=0))
    end = drive(servo, 1700, 20)
    for step_ms in range(100):
        servo.step(end + step_ms * 16_000, 1e-3, push_us_per_s=-1000)
    assert servo.output_us == pytest.approx(1700, abs=0.1)


@pytest.mark.parametrize("width_us", [50, 390, 2700, 9000])
def test_what_is_no_servo_pulse_is_no_command(width_us: float) -> None:
    servo = Servo(ServoSettings())
    drive(servo, width_us, 5)
    assert servo.command_us is None
    assert servo.output_us == 1500


def test_a_stuck_servo_stays() -> None:
    servo = Servo(ServoSettings(stuck=True))
    drive(servo, 2000, 20)
    assert servo.output_us == 1500


def test_a_stalled_servo_does_not_go_up_but_comes_down() -> None:
    servo = Servo(ServoSettings(backlash_us=0))
    end = drive(servo, 1800, 20, up_factor=0.0)
    assert servo.output_us == 1500
    drive(servo, 1200, 20, start_cycle=end, up_factor=0.0)
    assert servo.output_us == pytest.approx(1200, abs=0.1)

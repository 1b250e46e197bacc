"""The binary itself on the simulated ATmega328P, with figures to the cycle."""

import itertools
from collections.abc import Iterator

import pytest

from rig.link import messages as m
from rig.link import wire
from rig.link.wire import Axis, Board, Setting, State
from twin.bare import QUICK, SERVOS, US, BareCannon
from twin.chip import EventKind, Pin, ResetCause

TICK = 8  # cycles in 0.5 us


@pytest.fixture
def cannon() -> Iterator[BareCannon]:
    it = BareCannon()
    it.identify()
    it.configure(QUICK)
    yield it
    it.close()


def last_heard(cannon: BareCannon, byte: int) -> int:
    """The cycle at which the chip's receiver had that byte last."""
    return max(e.cycle for e in cannon.log if e.kind is EventKind.RECEIVED and e.value == byte)


def rises(cannon: BareCannon, pin: Pin) -> list[int]:
    return [e.cycle for e in cannon.log if e.kind is EventKind.PIN and e.pin == pin and e.value]


def falls(cannon: BareCannon, pin: Pin) -> list[int]:
    return [e.cycle for e in cannon.log if e.kind is EventKind.PIN and e.pin == pin and not e.value]


def test_boots_and_identifies() -> None:
    cannon = BareCannon()
    answer = cannon.identify()
    assert answer.wire_version == wire.WIRE_VERSION
    assert answer.board == Board.UNO
    assert answer.reset_cause == wire.ResetCause.POWER_ON
    cannon.close()


@pytest.mark.parametrize("pin", [Pin.EMERGENCY_STOP, Pin.ARMING_KEY, Pin.LANE_CLEAR])
def test_input_lost_drops_the_trigger_within_20_us(cannon: BareCannon, pin: Pin) -> None:
    cannon.bring_to(State.FIRING)
    assert cannon.chip.output(Pin.TRIGGER)
    lost = cannon.chip.cycle + 37
    cannon.chip.drive(pin, True, at_cycle=lost)
    cannon.run_us(100)
    (dropped,) = falls(cannon, Pin.TRIGGER)
    assert lost < dropped <= lost + 20 * US
    assert cannon.state is State.SAFE


def test_stop_byte_drops_the_trigger_within_20_us(cannon: BareCannon) -> None:
    cannon.bring_to(State.FIRING)
    cannon.chip.send(bytes([wire.STOP]))
    cannon.run_us(300)
    (dropped,) = falls(cannon, Pin.TRIGGER)
    assert dropped - last_heard(cannon, wire.STOP) <= 20 * US


def test_trigger_is_held_for_its_time(cannon: BareCannon) -> None:
    cannon.bring_to(State.FIRING)
    cannon.run_us(20_000)
    held = falls(cannon, Pin.TRIGGER)[0] - rises(cannon, Pin.TRIGGER)[0]
    assert 5_000 * US <= held <= 7_000 * US


def test_gate_times_the_shot_to_a_few_microseconds(cannon: BareCannon) -> None:
    cannon.configure({Setting.SHOT_TIMEOUT_MS: 100})
    cannon.bring_to(State.FIRING)
    left = cannon.chip.cycle + 1234
    cannon.chip.drive(Pin.GATE_SECOND, True, at_cycle=left - 400 * US)
    cannon.chip.drive(Pin.GATE_FIRST, False, at_cycle=left)
    cannon.chip.drive(Pin.GATE_SECOND, False, at_cycle=left + 2_000 * US)
    cannon.run_us(20_000)
    seen = next(frame.message for frame in cannon.frames if isinstance(frame.message, m.ShotSeen))
    assert abs(seen.transit_ticks - 4_000) <= 20
    since_release = left - rises(cannon, Pin.TRIGGER)[0]
    assert abs(seen.left_first_us - seen.released_us - since_release // US) <= 10


@pytest.mark.parametrize("axis", [Axis.TRAVERSE, Axis.AZIMUTH, Axis.ELEVATION])
@pytest.mark.parametrize("ticks", [2000, 2255, 2496, 3333, 4000])
def test_pulses_have_the_commanded_width_under_traffic(cannon: BareCannon, axis: Axis, ticks: int) -> None:
    cannon.bring_to(State.READY)
    cannon.ask(m.Move(axis, ticks))
    cannon.run_beating(1_200_000)
    cannon.log.clear()
    for _ in range(10):
        cannon.chip.send(bytes([0x55] * 40 + [wire.FLAG]))
        cannon.beat()
        cannon.run_us(13_000)
    widths = cannon.pulse_widths(SERVOS[axis])
    assert len(widths) >= 5
    assert set(widths) == {ticks * TICK}
    starts = rises(cannon, SERVOS[axis])
    gaps = {after - before for before, after in itertools.pairwise(starts)}
    assert all(abs(gap - 20_000 * US) <= 130 * US for gap in gaps)


def test_draw_and_latch_pulses_follow_their_axes(cannon: BareCannon) -> None:
    cannon.bring_to(State.COCKED)
    cannon.log.clear()
    cannon.run_us(100_000)
    assert set(cannon.pulse_widths(Pin.DRAW_SERVO)) == {2000 * TICK}
    latch = cannon.pulse_widths(Pin.LATCH_SERVO)
    assert latch
    assert all(abs(width - 3000 * TICK) <= 5 * US for width in latch)


@pytest.mark.parametrize("cause", [ResetCause.EXTERNAL, ResetCause.BROWN_OUT])
def test_reset_releases_the_trigger_and_moves_nothing(cannon: BareCannon, cause: ResetCause) -> None:
    cannon.bring_to(State.FIRING)
    assert cannon.chip.output(Pin.TRIGGER)
    cannon.chip.reset(cause)
    assert not cannon.chip.output(Pin.TRIGGER)
    cannon.collect()
    cannon.log.clear()
    cannon.await_start()
    cannon.run_us(500_000)
    assert not rises(cannon, Pin.TRIGGER)
    assert not any(cannon.pulse_widths(pin) for pin in SERVOS.values())
    cannon.identify(session=2)
    assert cannon.state is State.SAFE


def test_settings_outlive_the_supply(cannon: BareCannon) -> None:
    cannon.configure({Setting.DWELL_MS: 4321})
    cannon.ask(m.SaveSettings())
    cannon.run_beating(500_000)
    cannon.restart(ResetCause.POWER_ON)
    cannon.identify()
    assert cannon.ask(m.ReadSetting(Setting.DWELL_MS)).value == 4321

"""The binary itself on the simulated ATmega328P, with figures to the cycle."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from cannon_host import ROOT
from chip_cannon import US, ChipCannon

from rig.link import wire
from rig.link.wire import Axis, Board, Command, Event, Setting, State
from twin.chip import EventKind, Pin, ResetCause

ELF = ROOT / "build" / "firmware" / "cannon-uno.elf"
SERVOS = {
    Axis.TRAVERSE: Pin.TRAVERSE_SERVO,
    Axis.AZIMUTH: Pin.AZIMUTH_SERVO,
    Axis.ELEVATION: Pin.ELEVATION_SERVO,
    Axis.DRAW: Pin.DRAW_SERVO,
    Axis.LATCH: Pin.LATCH_SERVO,
}
TICK = 8  # cycles in 0.5 us


@pytest.fixture
def cannon() -> Iterator[ChipCannon]:
    it = ChipCannon()
    it.identify()
    it.make_quick()
    yield it
    it.close()


def arm_and_send_fire(cannon: ChipCannon) -> None:
    token = cannon.ask(Command.ARM)["token"]
    cannon.log.clear()
    cannon.chip.send(cannon.request(Command.FIRE, token=token))


def last_heard(cannon: ChipCannon, byte: int) -> int:
    """The cycle at which the chip's receiver had that byte last."""
    return max(e.cycle for e in cannon.log if e.kind is EventKind.RECEIVED and e.value == byte)


def rises(cannon: ChipCannon, pin: Pin) -> list[int]:
    return [e.cycle for e in cannon.log if e.kind is EventKind.PIN and e.pin == pin and e.value]


def falls(cannon: ChipCannon, pin: Pin) -> list[int]:
    return [e.cycle for e in cannon.log if e.kind is EventKind.PIN and e.pin == pin and not e.value]


def test_boots_and_identifies() -> None:
    cannon = ChipCannon()
    answer = cannon.identify()
    assert answer["wire_version"] == wire.WIRE_VERSION
    assert answer["board"] == Board.UNO
    assert answer["reset_cause"] == wire.ResetCause.POWER_ON
    cannon.close()


@pytest.mark.parametrize("pin", [Pin.EMERGENCY_STOP, Pin.ARMING_KEY, Pin.LANE_CLEAR])
def test_input_lost_drops_the_trigger_within_20_us(cannon: ChipCannon, pin: Pin) -> None:
    cannon.cocked()
    arm_and_send_fire(cannon)
    cannon.run_us(2_000)
    assert cannon.chip.output(Pin.TRIGGER)
    lost = cannon.chip.cycle + 37
    cannon.chip.drive(pin, True, at_cycle=lost)
    cannon.run_us(100)
    (dropped,) = falls(cannon, Pin.TRIGGER)
    assert lost < dropped <= lost + 20 * US
    assert cannon.state == State.SAFE


def test_stop_byte_drops_the_trigger_within_20_us(cannon: ChipCannon) -> None:
    cannon.cocked()
    arm_and_send_fire(cannon)
    cannon.run_us(2_000)
    cannon.chip.send(bytes([wire.STOP]))
    cannon.run_us(300)
    (dropped,) = falls(cannon, Pin.TRIGGER)
    assert dropped - last_heard(cannon, wire.STOP) <= 20 * US


def test_trigger_is_held_for_its_time(cannon: ChipCannon) -> None:
    cannon.cocked()
    arm_and_send_fire(cannon)
    cannon.run_us(20_000)
    held = falls(cannon, Pin.TRIGGER)[0] - rises(cannon, Pin.TRIGGER)[0]
    assert 5_000 * US <= held <= 7_000 * US


def test_gate_times_the_shot_to_a_few_microseconds(cannon: ChipCannon) -> None:
    cannon.ask(Command.CONFIGURE, setting=Setting.SHOT_TIMEOUT_MS, value=100)
    cannon.cocked()
    arm_and_send_fire(cannon)
    cannon.run_us(2_000)
    left = cannon.chip.cycle + 1234
    cannon.chip.drive(Pin.GATE_SECOND, True, at_cycle=left - 400 * US)
    cannon.chip.drive(Pin.GATE_FIRST, False, at_cycle=left)
    cannon.chip.drive(Pin.GATE_SECOND, False, at_cycle=left + 2_000 * US)
    cannon.run_us(20_000)
    seen = next(
        wire.EVENT_LAYOUTS[Event.SHOT_SEEN].unpack(payload)
        for _, kind, payload in cannon.frames
        if kind == Event.SHOT_SEEN
    )
    assert abs(seen["transit_ticks"] - 4_000) <= 20
    since_release = left - rises(cannon, Pin.TRIGGER)[0]
    assert abs(seen["left_first_us"] - seen["released_us"] - since_release // US) <= 10


@pytest.mark.parametrize("axis", [Axis.TRAVERSE, Axis.AZIMUTH, Axis.ELEVATION])
@pytest.mark.parametrize("ticks", [2000, 2255, 2496, 3333, 4000])
def test_pulses_have_the_commanded_width_under_traffic(cannon: ChipCannon, axis: Axis, ticks: int) -> None:
    cannon.ready()
    cannon.ask(Command.MOVE, axis=axis, pulse_ticks=ticks)
    for _ in range(60):
        cannon.acknowledge()
        cannon.run_us(20_000)
    cannon.log.clear()
    for _ in range(10):
        cannon.chip.send(bytes([0x55] * 40 + [wire.FLAG]))
        cannon.acknowledge()
        cannon.run_us(13_000)
    pulses = cannon.pulses(SERVOS[axis])
    assert len(pulses) >= 5
    assert {width for _, width in pulses} == {ticks * TICK}
    starts = [start for start, _ in pulses]
    gaps = {after - before for before, after in itertools.pairwise(starts)}
    assert all(abs(gap - 20_000 * US) <= 130 * US for gap in gaps)


def test_draw_and_latch_pulses_follow_their_axes(cannon: ChipCannon) -> None:
    cannon.cocked()
    cannon.log.clear()
    cannon.run_us(100_000)
    draw = {width for _, width in cannon.pulses(Pin.DRAW_SERVO)}
    latch = {width for _, width in cannon.pulses(Pin.LATCH_SERVO)}
    assert draw == {2000 * TICK}
    assert all(abs(width - 3000 * TICK) <= 5 * US for width in latch)


def reset_now(cannon: ChipCannon) -> None:
    cannon.chip.reset(ResetCause.EXTERNAL)


def cut_supply(cannon: ChipCannon) -> None:
    cannon.chip.reset(ResetCause.BROWN_OUT)


@pytest.mark.parametrize("reset", [reset_now, cut_supply])
def test_reset_releases_the_trigger_and_moves_nothing(
    cannon: ChipCannon, reset: Callable[[ChipCannon], None]
) -> None:
    cannon.cocked()
    arm_and_send_fire(cannon)
    cannon.run_us(2_000)
    assert cannon.chip.output(Pin.TRIGGER)
    reset(cannon)
    assert not cannon.chip.output(Pin.TRIGGER)
    cannon._line.clear()
    cannon.run_us(2_000)
    cannon.log.clear()
    cannon.run_us(500_000)
    assert not rises(cannon, Pin.TRIGGER)
    assert not any(cannon.pulses(pin) for pin in SERVOS.values())
    cannon.last_id = 0
    cannon.frames.clear()
    cannon.chip.send(cannon.request(Command.IDENTIFY, wire_version=wire.WIRE_VERSION, session=2))
    cannon.answer(Command.IDENTIFY)
    assert cannon.state == State.SAFE


def test_settings_outlive_the_supply(cannon: ChipCannon) -> None:
    cannon.ask(Command.CONFIGURE, setting=Setting.DWELL_MS, value=4321)
    cannon.ask(Command.SAVE_SETTINGS)
    for _ in range(25):
        cannon.acknowledge()
        cannon.run_us(20_000)
    cannon.chip.reset(ResetCause.POWER_ON)
    cannon._line.clear()
    cannon.run_us(20_000)
    cannon.identify()
    assert cannon.ask(Command.READ_SETTING, setting=Setting.DWELL_MS)["value"] == 4321

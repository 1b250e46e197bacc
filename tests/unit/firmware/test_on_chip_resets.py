"""S-5 and S-6 on the simulated chip: every cause of a reset, in every state, with the real binary."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

import pytest

from rig.link import messages as m
from rig.link.errors import Refused
from rig.link.wire import Axis, Fault, Refusal, Setting, SettingsSource, State
from rig.link.wire import ResetCause as Told
from twin.bare import QUICK, SERVOS, US, BareCannon, BareMoment
from twin.chip import EventKind, Pin, ResetCause

OUTPUTS = (Pin.TRIGGER, Pin.LOADER, Pin.ARMED_LAMP, *SERVOS.values())
STILL = (Pin.TRIGGER, Pin.LOADER, Pin.ARMED_LAMP, *(SERVOS[axis] for axis in Axis if axis is not Axis.DRAW))
TICK = US // 2
WATCHDOG_US = 64_000  # 8192 periods of its own 128 kHz; a real one is up to a seventh slower
QUIET_US = 300_000
KEPT_BYTES = 24  # two copies, with their CRC

SITUATIONS = [*(state.name.lower() for state in State), "loading"]


@pytest.fixture(scope="module")
def situations() -> Iterator[Callable[[str], tuple[BareCannon, BareMoment]]]:
    """A cannon, brought into each of the nine states, and with the loader energised."""
    cannon = BareCannon()
    cannon.identify()
    cannon.configure({**QUICK, Setting.TRIGGER_HOLD_MS: 100, Setting.LOADER_HOLD_MS: 1000})
    begin = cannon.keep()

    @cache
    def kept(situation: str) -> BareMoment:
        cannon.go_back(begin)
        if situation == "loading":
            cannon.bring_to(State.COCKED)
            cannon.ask(m.Load())
            cannon.run_us(2_000)
        else:
            cannon.bring_to(State[situation.upper()])
            if situation not in {"safe", "ready", "cocked", "armed", "firing"}:
                cannon.run_beating(140_000)  # in the midst of the work
        return cannon.keep()

    def bring(situation: str) -> tuple[BareCannon, BareMoment]:
        moment = kept(situation)
        cannon.go_back(moment)
        cannon.log.clear()
        return cannon, moment

    yield bring
    cannon.close()


Bring = Callable[[str], tuple[BareCannon, BareMoment]]


def hang_until_it_bites(cannon: BareCannon, *, interrupts_off: bool) -> None:
    """The main loop never comes back; the watchdog must."""
    cannon.run_until_asleep()
    cannon.chip.hang(interrupts_off=interrupts_off)
    hung = cannon.chip.cycle
    while not any(event.kind is EventKind.RESET for event in cannon.log):
        assert cannon.chip.cycle - hung <= WATCHDOG_US * US
        cannon.run_us(100)


RESETS: dict[str, tuple[ResetCause, Told, Callable[[BareCannon], None]]] = {
    "power_on": (ResetCause.POWER_ON, Told.POWER_ON, lambda cannon: cannon.chip.reset(ResetCause.POWER_ON)),
    "external": (ResetCause.EXTERNAL, Told.EXTERNAL, lambda cannon: cannon.chip.reset(ResetCause.EXTERNAL)),
    "brown_out": (
        ResetCause.BROWN_OUT,
        Told.BROWN_OUT,
        lambda cannon: cannon.chip.reset(ResetCause.BROWN_OUT),
    ),
    "watchdog": (
        ResetCause.WATCHDOG,
        Told.WATCHDOG,
        lambda cannon: hang_until_it_bites(cannon, interrupts_off=False),
    ),
    "watchdog_interrupts_off": (
        ResetCause.WATCHDOG,
        Told.WATCHDOG,
        lambda cannon: hang_until_it_bites(cannon, interrupts_off=True),
    ),
}


def test_the_situations_are_what_they_say(situations: Bring) -> None:
    for situation in SITUATIONS:
        cannon, _ = situations(situation)
        assert cannon.chip.output(Pin.TRIGGER) == (situation == "firing")
        assert cannon.chip.output(Pin.LOADER) == (situation == "loading")
        assert cannon.state is (State.COCKED if situation == "loading" else State[situation.upper()])


@pytest.mark.parametrize("kind", RESETS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_after_any_reset_in_any_state_nothing_is_on_and_nothing_moves(
    situations: Bring, situation: str, kind: str
) -> None:
    cannon, _ = situations(situation)
    cause, told, reset = RESETS[kind]
    draw_before = cannon.pulse_ticks(Pin.DRAW_SERVO)
    reset(cannon)
    cannon.collect()
    (began,) = [event.cycle for event in cannon.log if event.kind is EventKind.RESET]
    lasted = [event for event in cannon.log if event.kind is EventKind.PIN and event.cycle > began]
    assert not lasted, "outputs float from the cycle of the reset"
    assert not any(cannon.chip.output(pin) or cannon.chip.drives(pin) for pin in OUTPUTS)

    cannon.log.clear()
    cannon.await_start()
    cannon.run_us(QUIET_US)
    assert [event.value for event in cannon.log if event.kind is EventKind.RESET] == []
    rises = [event.pin for event in cannon.log if event.kind is EventKind.PIN and event.value]
    assert not set(rises) & set(STILL), "no pulse but of the draw before a command"
    assert all(cannon.chip.drives(pin) for pin in OUTPUTS)
    if cause is ResetCause.POWER_ON:
        assert not rises
    eased = [width // TICK for width in cannon.pulse_widths(Pin.DRAW_SERVO)]
    step = QUICK[Setting.DRAW_SPEED_TICKS]  # it may have gone on by one since the last whole pulse
    assert all(after <= before for before, after in pairwise([draw_before + step, *eased]))

    assert cannon.identify(session=2).reset_cause == told
    status = cannon.ask(m.ReadStatus())
    assert status.state is State.SAFE
    assert (Fault.WATCHDOG in status.faults) == (told is Told.WATCHDOG)
    assert (Fault.BROWN_OUT in status.faults) == (told is Told.BROWN_OUT)


@pytest.mark.parametrize("situation", ["cocking", "letting_down", "service"])
def test_a_draw_that_was_out_is_eased_forward_after_a_watchdog_reset(
    situations: Bring, situation: str
) -> None:
    cannon, _ = situations(situation)
    before = cannon.pulse_ticks(Pin.DRAW_SERVO)
    assert before > 2000
    hang_until_it_bites(cannon, interrupts_off=False)
    cannon.log.clear()
    cannon.await_start()
    cannon.run_us(3_500_000)
    widths = [width // TICK for width in cannon.pulse_widths(Pin.DRAW_SERVO)]
    assert before - 100 <= widths[0] <= before + QUICK[Setting.DRAW_SPEED_TICKS]
    assert all(later <= sooner for sooner, later in pairwise(widths))
    assert widths[-1] == 2000


def test_a_reset_at_no_moment_forgets_the_key_or_the_draw(situations: Bring) -> None:
    """S-5, S-11: what is kept over a reset is written after every step; one in the middle of that finds it whole."""
    cannon, _ = situations("ready")
    cannon.ask(m.Cock())
    cannon.run_beating(60_000)
    cannon.chip.drive(Pin.EMERGENCY_STOP, True)
    cannon.run_us(30_000)
    cannon.chip.drive(Pin.EMERGENCY_STOP, False)
    cannon.run_us(20_000)  # the draw eases now
    kept = cannon.chip.ram_address("kept")
    before = after = b""
    while before == after:  # a step in which the draw moves, so that something new is written
        before = cannon.chip.data(kept, KEPT_BYTES)
        cannon.run_until_asleep()
        while cannon.chip.asleep:
            cannon.chip.run_to(cannon.chip.cycle + 40)
        woken, woken_at = cannon.keep(), cannon.chip.cycle
        cannon.run_until_asleep()
        after = cannon.chip.data(kept, KEPT_BYTES)
    for offset in range(0, cannon.chip.cycle - woken_at, 61):  # writing a copy takes more than 200
        cannon.go_back(woken)
        cannon.log.clear()
        cannon.run_to(cannon.chip.cycle + offset)
        cannon.restart(ResetCause.EXTERNAL)
        cannon.run_us(25_000)
        assert any(e.kind is EventKind.PIN and e.pin == Pin.DRAW_SERVO and e.value for e in cannon.log), (
            offset
        )
        cannon.identify(session=3)
        with pytest.raises(Refused) as refused:
            cannon.ask(m.Home())
        assert refused.value.reason is Refusal.KEY_NOT_CYCLED, offset


def test_what_is_kept_nowhere_whole_means_that_the_key_must_be_turned(situations: Bring) -> None:
    """S-11: a brown-out may have spoilt the memory; any doubt means safe."""
    cannon, _ = situations("safe")
    cannon.identify(session=4)
    address = cannon.chip.ram_address("kept")
    for at in range(address, address + KEPT_BYTES):
        cannon.chip.poke(at, 0x5A)
    cannon.chip.reset(ResetCause.BROWN_OUT)
    cannon.await_start()
    cannon.identify(session=5)
    with pytest.raises(Refused) as refused:
        cannon.ask(m.Home())
    assert refused.value.reason is Refusal.KEY_NOT_CYCLED


def test_a_reset_in_the_middle_of_a_save_reads_what_is_stored(situations: Bring) -> None:
    """S-12: EEPROM goes on writing its byte over a reset, and until that is done it reads as nothing."""
    cannon, _ = situations("safe")
    cannon.ask(m.SaveSettings())
    cannon.run_beating(400_000)
    cannon.ask(m.SaveSettings())
    cannon.run_us(20_000)
    saving = cannon.keep()
    for late_us in range(0, 4_000, 500):
        cannon.go_back(saving)
        cannon.run_us(late_us)
        cannon.restart(ResetCause.EXTERNAL)
        assert cannon.identify(session=6).settings_source == SettingsSource.STORED, late_us


WITHDRAWN: dict[str, Callable[[BareCannon, int], None]] = {
    "emergency_stop": lambda cannon, at: cannon.chip.drive(Pin.EMERGENCY_STOP, True, at_cycle=at),
    "arming_key": lambda cannon, at: cannon.chip.drive(Pin.ARMING_KEY, True, at_cycle=at),
    "lane_clear": lambda cannon, at: cannon.chip.drive(Pin.LANE_CLEAR, True, at_cycle=at),
}


@pytest.mark.parametrize("what", WITHDRAWN)
def test_a_stop_drops_the_trigger_within_20_us_though_the_main_loop_hangs(
    situations: Bring, what: str
) -> None:
    cannon, _ = situations("firing")
    cannon.run_until_asleep()
    cannon.chip.hang()
    cannon.run_us(1_000)
    assert cannon.chip.output(Pin.TRIGGER)
    at = cannon.chip.cycle + 1_234
    WITHDRAWN[what](cannon, at)
    cannon.run_us(200)
    (dropped,) = [
        e.cycle for e in cannon.log if e.kind is EventKind.PIN and e.pin == Pin.TRIGGER and not e.value
    ]
    assert at < dropped <= at + 20 * US


def test_the_watchdog_takes_the_trigger_from_a_hung_main_loop(situations: Bring) -> None:
    """Sooner than the interrupt that counts periods would, and long before the core could say so."""
    cannon, _ = situations("firing")
    hang_until_it_bites(cannon, interrupts_off=False)
    (bitten,) = [event.cycle for event in cannon.log if event.kind is EventKind.RESET]
    (dropped,) = [
        e.cycle for e in cannon.log if e.kind is EventKind.PIN and e.pin == Pin.TRIGGER and not e.value
    ]
    assert dropped == bitten


def test_fire_sent_while_the_chip_restarts_fires_nothing(situations: Bring) -> None:
    cannon, _ = situations("armed")
    cannon.go_back(situations("cocked")[1])
    cannon.seat(True)
    cannon.run_beating(20_000)
    fire = cannon.fire_frame()
    cannon.chip.reset(ResetCause.EXTERNAL)
    cannon.chip.send(fire * 20)
    cannon.log.clear()
    cannon.run_us(100_000)
    assert not any(e.kind is EventKind.PIN and e.pin == Pin.TRIGGER and e.value for e in cannon.log)

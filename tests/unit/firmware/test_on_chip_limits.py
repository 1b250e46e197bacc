"""What the real binary takes at most of stack, RAM, flash and time; and what happens when bytes come too fast for it."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from cannon_host import ROOT
from machine_code import MachineCode

from rig.link import messages as m
from rig.link import wire
from rig.link.errors import Refused
from rig.link.wire import Axis, Fault, Setting, State
from twin.bare import QUICK, SERVOS, US, BareCannon, BareMoment
from twin.chip import CHIP_HZ, EventKind, Pin

ELF = ROOT / "build" / "firmware" / "cannon-uno.elf"
DESIGN = ROOT / "firmware" / "DESIGN.md"
BAUDS = (115_200, 250_000)
_TIMER2_COMPA, _TIMER1_OVF = 7, 13
EDGES = (Pin.GATE_FIRST, Pin.GATE_SECOND, Pin.LANE_CLEAR)


@pytest.fixture(scope="module")
def code() -> MachineCode:
    return MachineCode(ELF)


def everything(draw: random.Random, cannon: BareCannon) -> m.Request[m.Answer]:
    """Any command, mostly with values that are right."""
    return draw.choice(
        (
            m.ReadStatus(),
            m.Heartbeat(cannon.seen),
            m.Configure(Setting.DWELL_MS, 30_000),
            m.ReadSetting(draw.choice(list(Setting))),
            m.SaveSettings(),
            m.Home(),
            m.Move(draw.choice(list(Axis)), draw.randrange(1500, 4500)),
            m.Cock(),
            m.Load(),
            m.LetDown(),
            m.Arm(),
            m.Fire(draw.randrange(1 << 32)),
            m.MakeSafe(),
            m.Service(),
        )
    )


@dataclass
class Exercise:
    """What was seen at worst."""

    stack_bytes: int = 0
    waited: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Of each interrupt: cycles from its flag to the first instruction of its handler."""
    overruns: int = 0

    def take(self, cannon: BareCannon) -> None:
        cannon.collect()
        self.stack_bytes = max(self.stack_bytes, cannon.chip.deepest_stack_bytes())
        for event in cannon.log:
            if event.kind is EventKind.INTERRUPT:
                self.waited[event.pin] = max(self.waited[event.pin], event.value)
            self.overruns += event.kind is EventKind.OVERRUN
        cannon.log.clear()

    def disturb(self, cannon: BareCannon, draw: random.Random) -> None:
        """Lane and gates change for a moment, at any cycle."""
        for pin in draw.sample(EDGES, draw.randrange(3)):
            at = cannon.chip.cycle + draw.randrange(2_000 * US)
            level = pin == Pin.GATE_FIRST
            cannon.chip.drive(pin, not level, at_cycle=at)
            cannon.chip.drive(pin, level, at_cycle=at + draw.randrange(5, 500))

    def saturate(self, cannon: BareCannon, draw: random.Random, state: State) -> None:
        """A state under a line without a gap, ended by the emergency stop and the key."""
        cannon.bring_to(state)
        end = cannon.chip.cycle + CHIP_HZ // 8
        while cannon.chip.cycle < end:
            cannon.chip.send(cannon.traffic(draw, 40))
            self.disturb(cannon, draw)
            while cannon.chip.line_pending:
                cannon.run_us(100)
            cannon.move_lever()
        cannon.chip.send(cannon.traffic(draw, 200))
        for pin in (Pin.EMERGENCY_STOP, Pin.ARMING_KEY) * 4:
            at = cannon.chip.cycle + draw.randrange(1_000 * US)
            cannon.chip.drive(pin, True, at_cycle=at)
            cannon.chip.drive(pin, False, at_cycle=at + 500 * US)
            cannon.run_us(1_600)

    def anything(self, cannon: BareCannon, draw: random.Random, count: int) -> None:
        """Any command in any order."""
        for _ in range(count):
            self.disturb(cannon, draw)
            with suppress(Refused):
                cannon.ask(everything(draw, cannon))
            cannon.run_beating(draw.randrange(60_000))
            cannon.seat(bool(draw.randrange(2)))


@pytest.fixture(scope="module", params=BAUDS)
def exercise(request: pytest.FixtureRequest) -> Iterator[Exercise]:
    """Every state, every command, every interrupt, at a baud rate."""
    draw = random.Random(328)
    seen = Exercise()
    cannon = BareCannon(baud=request.param)
    cannon.identify()
    cannon.configure(QUICK)
    seen.take(cannon)
    cannon.chip.log_interrupts(True)
    safe = cannon.keep()
    for state in State:
        seen.saturate(cannon, draw, state)
        seen.take(cannon)
        cannon.go_back(safe)
    seen.anything(cannon, draw, 300)
    seen.take(cannon)
    yield seen
    cannon.close()


def test_binary_fits_its_budget_of_flash_and_ram(code: MachineCode) -> None:
    """The stack is the deepest that the machine code allows, every nested interrupt at its deepest too."""
    assert code.flash_bytes <= 12 * 1024
    assert code.static_ram_bytes + code.worst_stack_bytes <= 1024


def test_stack_in_use_is_within_what_the_machine_code_allows(code: MachineCode, exercise: Exercise) -> None:
    assert code.main_bytes - 20 <= exercise.stack_bytes <= code.worst_stack_bytes


def test_no_floating_point_no_heap_no_recursion(code: MachineCode) -> None:
    float_helpers = re.compile(r"__(add|sub|mul|div|neg|cmp|eq|ne|lt|le|gt|ge|fix|float|unord).*[sd][fc]")
    assert not [name for name in code.symbols if float_helpers.search(name)]
    assert not code.symbols & {"malloc", "free", "calloc", "realloc", "__brkval", "__malloc_heap_start"}
    assert (
        code.worst_stack_bytes > 0
    )  # which asserts that no call comes in a circle, or goes to nobody knows whom


def longest_waits() -> dict[int, int]:
    """The table of DESIGN.md."""
    section = DESIGN.read_text(encoding="utf-8").split("## How long an interrupt waits")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \|[^|]*\|[^|]*\| (\d+) \|$", section, re.MULTILINE)
    return {int(vector): int(cycles) for vector, cycles in rows}


def test_no_interrupt_waits_longer_than_derived(code: MachineCode, exercise: Exercise) -> None:
    """What was seen is within what the machine code allows, and that within what DESIGN.md says."""
    said = longest_waits()
    allowed = {vector: code.longest_wait(vector) for vector in code.vectors()}
    assert said.keys() == allowed.keys() == exercise.waited.keys()
    assert all(allowed[vector] <= said[vector] for vector in said), allowed
    assert all(waited <= allowed[vector] for vector, waited in exercise.waited.items()), exercise.waited
    assert exercise.overruns == 0


@pytest.fixture
def cannon() -> Iterator[BareCannon]:
    it = BareCannon()
    it.identify()
    it.configure(QUICK)
    yield it
    it.close()


@pytest.mark.parametrize("baud", BAUDS)
def test_bytes_lost_in_the_hardware_are_told_and_neither_fire_nor_move(baud: int) -> None:
    """The core stands still for five bytes of a full line, in the midst of a fire and of a move behind it."""
    cannon = BareCannon(baud=baud)
    cannon.identify()
    cannon.configure(QUICK)
    cannon.bring_to(State.COCKED)
    cannon.seat(True)
    cannon.run_beating(1_500_000)  # every axis at rest
    fire = cannon.fire_frame()
    line = fire + cannon.request(m.Move(Axis.AZIMUTH, 2222))
    armed = cannon.keep()
    byte = 10 * CHIP_HZ // baud
    fired = []
    for frozen_at in range(len(line) - 5):
        cannon.go_back(armed)
        cannon.log.clear()
        cannon.frames.clear()
        begin = cannon.chip.cycle
        cannon.chip.send(line)
        cannon.run_to(begin + frozen_at * byte + byte // 2)
        cannon.chip.freeze(5 * byte)
        cannon.run_us(100_000)
        came = [event.cycle for event in cannon.log if event.kind is EventKind.RECEIVED]
        lost = [event.cycle for event in cannon.log if event.kind is EventKind.OVERRUN]
        first_lost = sum(cycle <= min(lost) for cycle in came) - 1  # the one that waited for the others
        pulled = [e.cycle for e in cannon.log if e.kind is EventKind.PIN and e.pin == Pin.TRIGGER and e.value]
        assert len(pulled) == (first_lost >= len(fire))
        assert set(cannon.pulse_widths(Pin.AZIMUTH_SERVO)) == {3000 * US // 2}
        assert any(
            isinstance(f.message, m.FaultSeen) and f.message.fault is Fault.RECEIVE_OVERRUN
            for f in cannon.frames
        )
        fired.append(bool(pulled))
    assert any(fired) and not all(fired)
    cannon.close()


@pytest.mark.parametrize("baud", BAUDS)
def test_fire_reaches_the_trigger_within_10_us_at_every_phase(baud: int) -> None:
    """Behind a busy line its last byte comes at every second cycle of a byte's time; `make bench` has many more."""
    draw = random.Random(baud)
    cannon = BareCannon(baud=baud)
    cannon.identify()
    cannon.configure(QUICK)
    cannon.bring_to(State.COCKED)
    cannon.seat(True)
    cannon.run_beating(1_500_000)
    token = cannon.ask(m.Arm()).token
    chip, byte = cannon.chip, 10 * CHIP_HZ // baud
    took = []
    for _ in range(3):
        cannon.chip.send(cannon.traffic(draw, 40))
        before = cannon.keep()
        chip.send(cannon.request(m.Fire(token))[:-1])
        while chip.line_pending:
            chip.run_for_us(10)
        moment, begin = chip.keep(), chip.cycle + byte
        for phase in range(0, byte, 2):
            chip.go_back(moment)
            chip.events()
            chip.send(bytes([wire.FLAG]), at_cycle=begin + phase)
            chip.run_to(begin + phase + byte + 400)
            events = chip.events()
            heard = max(e.cycle for e in events if e.kind is EventKind.RECEIVED and e.value == wire.FLAG)
            (pulled,) = [e.cycle for e in events if e.kind is EventKind.PIN and e.pin == Pin.TRIGGER]
            took.append(pulled - heard)
        cannon.go_back(before)
    assert max(took) <= 10 * US
    cannon.close()


@pytest.mark.parametrize("shift_us", [0, 2_500, 5_000, 9_000, 13_000, 17_000])
def test_pulses_of_an_axis_on_its_way_are_whole(cannon: BareCannon, shift_us: int) -> None:
    """A width that changes in the midst of the train of pulses must not mix two shapes."""
    cannon.bring_to(State.READY)
    cannon.chip.freeze(shift_us * US)  # moves the main loop's period against the pulses'
    cannon.run_us(1_000)
    cannon.ask(m.Move(Axis.TRAVERSE, 3_500))
    cannon.log.clear()
    cannon.run_beating(700_000)
    ticks = [width / (US // 2) for width in cannon.pulse_widths(SERVOS[Axis.TRAVERSE])]
    assert max(ticks) == 3_500
    assert all(0 <= after - before <= 20 for before, after in pairwise(ticks))


def test_aim_servo_gets_whole_pulses_or_none(cannon: BareCannon) -> None:
    """S-7. New limits leave azimuth and elevation outside, in safe: their pulses end, at whatever moment it is said,
    and begin again with the next homing, whole from the first to the last."""
    home = 3_000 * US // 2
    cannon.bring_to(State.READY)
    cannon.ask(m.MakeSafe())
    cannon.run_beating(60_000)
    cannon.log.clear()
    cannon.run_us(40_000)
    rises = [
        e.cycle for e in cannon.log if e.kind is EventKind.PIN and e.pin == Pin.AZIMUTH_SERVO and e.value
    ]
    period = rises[-1] - rises[-2]
    safe = cannon.keep()
    for least, pin in (
        (Setting.AZIMUTH_MIN_TICKS, Pin.AZIMUTH_SERVO),
        (Setting.ELEVATION_MIN_TICKS, Pin.ELEVATION_SERVO),
    ):
        for offset_us in range(-1_500, 2_200, 100):
            cannon.go_back(safe)
            cannon.log.clear()
            cannon.chip.send(
                cannon.request(m.Configure(least, 3_100)), at_cycle=rises[-1] + 2 * period + offset_us * US
            )
            cannon.run_us(100_000)
            widths = cannon.pulse_widths(pin)
            assert widths and all(abs(width - home) <= US for width in widths), offset_us
            assert not cannon.chip.output(pin)
            cannon.log.clear()
            cannon.ask(m.Configure(least, 2_000))
            cannon.ask(m.Home())
            cannon.run_beating(100_000)
            widths = cannon.pulse_widths(pin)
            assert widths and all(abs(width - home) <= US for width in widths), offset_us


def just_fired(cannon: BareCannon) -> BareMoment:
    """Fire, and log the interrupts from then on; give what to go back to."""
    cannon.configure({Setting.SHOT_TIMEOUT_MS: 100})
    cannon.bring_to(State.COCKED)
    cannon.seat(True)
    cannon.run_beating(1_500_000)
    cannon.chip.send(cannon.fire_frame())
    cannon.run_us(3_000)
    fired = cannon.keep()
    cannon.chip.log_interrupts(True)
    cannon.log.clear()
    return fired


def test_gate_is_timed_right_at_every_phase_of_the_chip_s_period(cannon: BareCannon) -> None:
    """A barrier becomes free while the main loop takes the period that has just ended into its clock."""
    transit_us = 2_000
    fired = just_fired(cannon)
    cannon.run_us(25_000)
    begins = {
        vector: [e.cycle for e in cannon.log if e.kind is EventKind.INTERRUPT and e.pin == vector]
        for vector in (_TIMER1_OVF, _TIMER2_COMPA)
    }
    period = begins[_TIMER1_OVF][0]
    step = next(cycle for cycle in begins[_TIMER2_COMPA] if cycle > period)
    for late in (False, True):  # the edge that meets it is the inner barrier's, or the outer one's
        for edge in range(step - 40, step + 900, 31):  # it was told wrong in windows of 84 and 118 cycles
            cannon.go_back(fired)
            cannon.chip.log_interrupts(False)
            cannon.frames.clear()
            left_first = edge - transit_us * US * late
            cannon.chip.drive(Pin.GATE_FIRST, False, at_cycle=left_first)
            cannon.chip.drive(Pin.GATE_SECOND, True, at_cycle=left_first + 400 * US)
            cannon.chip.drive(Pin.GATE_SECOND, False, at_cycle=left_first + transit_us * US)
            cannon.run_to(edge + 4_000 * US)
            cannon.run_us(3_000)
            seen = [f.message for f in cannon.frames if isinstance(f.message, m.ShotSeen)]
            assert seen, edge - step
            assert abs(seen[0].transit_ticks - 2 * transit_us) <= 40, edge - step


def test_gate_is_timed_to_half_a_microsecond_where_nothing_else_is_to_be_done(cannon: BareCannon) -> None:
    transit_cycles = 2_000 * US + US // 2
    fired = just_fired(cannon)
    cannon.run_us(5_000)
    tick = next(e.cycle for e in cannon.log if e.kind is EventKind.INTERRUPT and e.pin == _TIMER2_COMPA)
    for phase in range(US):
        cannon.go_back(fired)
        cannon.frames.clear()
        left_first = tick + 500 * US + phase
        cannon.chip.drive(Pin.GATE_FIRST, False, at_cycle=left_first)
        cannon.chip.drive(Pin.GATE_SECOND, True, at_cycle=left_first + 400 * US)
        cannon.chip.drive(Pin.GATE_SECOND, False, at_cycle=left_first + transit_cycles)
        cannon.run_us(10_000)
        seen = [f.message for f in cannon.frames if isinstance(f.message, m.ShotSeen)]
        assert [message.transit_ticks for message in seen] == [4_001], phase


def test_draw_and_latch_pulses_are_whole_while_cocking(cannon: BareCannon) -> None:
    cannon.bring_to(State.READY)
    cannon.ask(m.Cock())
    cannon.log.clear()
    cannon.run_beating(1_500_000)
    assert cannon.state is State.COCKED
    draw = {width // (US // 2) for width in cannon.pulse_widths(Pin.DRAW_SERVO)}
    assert draw == {2000 + 400 * step for step in range(6)}
    latch = cannon.pulse_widths(Pin.LATCH_SERVO)
    assert latch and all(
        min(abs(width - ticks * US // 2) for ticks in (2000, 2400, 2800, 3000)) <= 8 * US for width in latch
    )

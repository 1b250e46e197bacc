"""The firmware on the simulated chip with nothing around it but its pins: for tests and figures to the cycle.

Where `twin.Twin` has a spring, servos and a table, here a hand drives every input, and a lever is there that follows
the servo pulses at once. What is prepared once (`keep`) serves for thousands of futures (`go_back`), each of which
runs the real binary; so a sweep over every phase of a command against the chip's timers takes seconds.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from rig.link import messages as m
from rig.link import wire
from rig.link.codec import Decoder, Frame, encode, request_frame
from rig.link.errors import LinkLost, Refused
from rig.link.wire import Axis, Setting, State
from twin.chip import CHIP_HZ, Chip, ChipEvent, ChipSettings, EventKind, Moment, Pin, ResetCause

__all__ = ["QUICK", "SERVOS", "US", "BareCannon", "BareMoment"]

US = CHIP_HZ // 1_000_000
"""Cycles in a microsecond."""

SERVOS = {
    Axis.TRAVERSE: Pin.TRAVERSE_SERVO,
    Axis.AZIMUTH: Pin.AZIMUTH_SERVO,
    Axis.ELEVATION: Pin.ELEVATION_SERVO,
    Axis.DRAW: Pin.DRAW_SERVO,
    Axis.LATCH: Pin.LATCH_SERVO,
}
"""The output of each axis."""

QUICK = {
    Setting.DRAW_SPEED_TICKS: 400,
    Setting.DRAW_EASE_SPEED_TICKS: 100,
    Setting.LATCH_SPEED_TICKS: 400,
    Setting.SHOT_TIMEOUT_MS: 20,
    Setting.TRIGGER_HOLD_MS: 5,
    Setting.ARM_EXPIRES_MS: 10_000,
    Setting.LOADER_PRESENT: 1,
}
"""The quickest lever that the settings allow, and the longest arming, so that a test need not wait."""

_TICK = CHIP_HZ // 2_000_000
_UBRR0L = 0xC4
_DOUBLE_SPEED = 8  # cycles a bit for each step of UBRR0, with U2X0
_STEP_US = 20_000
_LONGEST_WAY_US = 8_000_000  # from one state to the next
_ANSWER_US = 40_000

A = TypeVar("A", bound=m.Answer)


@dataclass(frozen=True, slots=True)
class BareMoment:
    """A state of a `BareCannon`, for `go_back`."""

    chip: Moment
    attributes: dict[str, Any]


class BareCannon:
    """A cannon on the bench. Made with power on and everything permitting, not yet identified.

    Parameters
    ----------
    baud
        Speed of the line. Where it is not the firmware's own, the chip's rate register is set by a debugger as soon as
        the firmware has started.

    Attributes
    ----------
    log : list of ChipEvent
        All that the chip's pins and line did; a test clears it.
    frames : list of Frame
        All that the chip said; cleared by every `ask`.
    seen : int
        Number of the last event that the chip told.
    """

    def __init__(self, *, baud: int = wire.BAUD) -> None:
        # A start-up delay of 1 ms, not of 66 ms: thousands of starts are waited for.
        self.chip = Chip(ChipSettings(startup_us=1000, line_baud=baud))
        self._baud = baud
        self.log: list[ChipEvent] = []
        self.frames: list[Frame] = []
        self._decoder = Decoder()
        self.seen = 0
        self._last_id = 0
        self._last_command = wire.Command.IDENTIFY
        # Of each servo: cycle of the last rise, width of the last pulse.
        self._pulse: dict[int, tuple[int, int]] = {}
        self._held = False
        for pin in (Pin.EMERGENCY_STOP, Pin.ARMING_KEY, Pin.LANE_CLEAR, Pin.GATE_FIRST, Pin.GATE_SECOND):
            self.chip.drive(pin, False)
        self.set_lever(drawn=False, latched=False)
        self.restart(ResetCause.POWER_ON)

    def close(self) -> None:
        """Let the chip go."""
        self.chip.close()

    # -- the chip ------------------------------------------------------------------------------------------------

    def restart(self, cause: ResetCause) -> None:
        """Reset, and wait until the firmware runs."""
        self.chip.reset(cause)
        self.await_start()

    def await_start(self) -> None:
        """After a reset: wait until the firmware runs."""
        self.run_us(self.chip.settings.startup_us + 5_000)
        if self._baud != wire.BAUD:
            self.chip.poke(_UBRR0L, round(CHIP_HZ / _DOUBLE_SPEED / self._baud) - 1)
        self._decoder = Decoder()
        self.run_us(15_000)

    def run_us(self, duration_us: int) -> None:
        """Let time pass, without a word."""
        self.chip.run_for_us(duration_us)
        self.collect()

    def run_to(self, cycle: int) -> None:
        """Let time pass up to a cycle, without a word."""
        self.chip.run_to(cycle)
        self.collect()

    def collect(self) -> None:
        """Take up what the chip did since the last time."""
        events = self.chip.events()
        self.log += events
        sent = bytes(event.value for event in events if event.kind is EventKind.SENT)
        for item in self._decoder.feed(sent):
            if isinstance(item, Frame):
                self.frames.append(item)
                if isinstance(item.message, m.Event) and (item.seq - self.seen - 1) % 256 < 128:
                    self.seen = item.seq
        for event in events:
            if event.kind is EventKind.PIN and event.pin in (Pin.DRAW_SERVO, Pin.LATCH_SERVO):
                rise, width = self._pulse.get(event.pin, (event.cycle, 0))
                self._pulse[event.pin] = (event.cycle, width) if event.value else (rise, event.cycle - rise)

    def pulse_ticks(self, pin: Pin) -> int:
        """Return the width of the last whole pulse of the draw's or latch's servo; 0 where there was none."""
        return self._pulse.get(pin, (0, 0))[1] // _TICK

    def pulse_widths(self, pin: Pin) -> list[int]:
        """Return the widths of all whole pulses in the log, in cycles."""
        edges = [event for event in self.log if event.kind is EventKind.PIN and event.pin == pin]
        return [fall.cycle - rise.cycle for rise, fall in pairwise(edges) if rise.value and not fall.value]

    def run_until_asleep(self) -> None:
        """Let instructions pass until the core sleeps, so that it is surely in its main loop."""
        while not self.chip.asleep:
            self.chip.run_to(self.chip.cycle + 1)
        self.collect()

    def keep(self) -> BareMoment:
        """Return the present state, of the chip and of who talks with it."""
        kept = {name: value for name, value in vars(self).items() if name != "chip"}
        return BareMoment(self.chip.keep(), copy.deepcopy(kept))

    def go_back(self, moment: BareMoment) -> None:
        """Make everything what it was."""
        self.chip.go_back(moment.chip)
        vars(self).update(copy.deepcopy(moment.attributes))

    # -- its inputs ----------------------------------------------------------------------------------------------

    def set_lever(self, *, drawn: bool, latched: bool) -> None:
        """Drive the lever's two switches."""
        self._held = latched
        self.chip.drive(Pin.LEVER_DRAWN, not drawn)
        self.chip.drive(Pin.LEVER_LATCHED, not latched)

    def seat(self, seated: bool) -> None:
        """Put a shot into the muzzle, or take it out."""
        self.chip.drive(Pin.GATE_FIRST, seated)

    def move_lever(self) -> None:
        """Drive the lever's switches: at the breech when drawn there; held when the latch is turned meanwhile."""
        draw, latch = self.pulse_ticks(Pin.DRAW_SERVO), self.pulse_ticks(Pin.LATCH_SERVO)
        if self.chip.output(Pin.TRIGGER) or 0 < latch < 2500:
            self._held = False
        drawn = draw > 3980 or self._held
        self.set_lever(drawn=drawn, latched=self._held or (drawn and latch > 2900))

    # -- the line ------------------------------------------------------------------------------------------------

    def request(self, request: m.Request[Any]) -> bytes:
        """Return the bytes of the next command, to be sent by the caller."""
        self._last_id = (self._last_id + 1) % 256
        self._last_command = request.command
        return encode(request_frame(self._last_id, request), self._decoder.session)

    def answer(self, kind: type[A]) -> A:
        """Wait for the answer to the command requested last.

        Raises
        ------
        Refused
            Where the cannon will not.
        LinkLost
            Where no answer comes.
        """
        for _ in range(_ANSWER_US // 200):
            for frame in self.frames:
                if frame.seq == self._last_id and isinstance(frame.message, kind):
                    return frame.message
                if frame.seq == self._last_id and isinstance(frame.message, m.Refused):
                    raise Refused(self._last_command, frame.message.reason, frame.message.detail)
            self.run_us(200)
        raise LinkLost(f"no {kind.__name__} came")

    def ask(self, request: m.Request[A]) -> A:
        """Send a command and return its answer; raises as `answer` does."""
        self.frames.clear()
        self.chip.send(self.request(request))
        return self.answer(m.ANSWERS[request.command])  # type: ignore[return-value]

    def identify(self, session: int = 1) -> m.Identity:
        """Begin a session."""
        self._last_id = 0
        self.seen = 0
        self._decoder.session = session
        identity = self.ask(m.Identify(wire.WIRE_VERSION, session))
        self.seen = 0
        return identity

    def beat(self) -> m.Alive:
        """Send a heartbeat that acknowledges every event."""
        return self.ask(m.Heartbeat(self.seen))

    def traffic(self, draw: random.Random, least_bytes: int) -> bytes:
        """Return bytes that keep the line busy without a gap and change no state.

        Commands that are answered, copies of them that are answered again, and damaged frames; of the latter so many
        that the answers, which are longer than the commands, keep up.
        """
        out = b""
        while len(out) < least_bytes:
            request = draw.choice((m.ReadStatus(), m.Heartbeat(self.seen), m.ReadSetting(Setting.DWELL_MS)))
            out += self.request(request) * draw.randrange(1, 3)
            for _ in range(draw.randrange(2, 7)):
                out += bytes(draw.randrange(0x20, 0x70) for _ in range(draw.randrange(3, 9))) + bytes(
                    [wire.FLAG]
                )
        return out

    @property
    def state(self) -> State:
        """The cannon's state, by a heartbeat."""
        return self.beat().state

    def run_beating(self, duration_us: int) -> None:
        """Let time pass with a heartbeat and a look at the lever every 20 ms."""
        end = self.chip.cycle + duration_us * US
        while self.chip.cycle < end:
            self.beat()
            self.run_to(min(end, self.chip.cycle + _STEP_US * US))
            self.move_lever()

    def wait_for(self, state: State) -> None:
        """Go on until the cannon is in a state.

        Raises
        ------
        LinkLost
            Where it is not in time.
        """
        for _ in range(_LONGEST_WAY_US // _STEP_US):
            if self.state is state:
                return
            self.run_beating(_STEP_US)
        raise LinkLost(f"not {state.name} after {_LONGEST_WAY_US / 1e6:g} s, but {self.state.name}")

    def configure(self, changes: dict[Setting, int]) -> None:
        """Set settings, in safe."""
        for setting, value in changes.items():
            self.ask(m.Configure(setting, value))

    # -- the way to a state --------------------------------------------------------------------------------------

    def bring_to(self, state: State) -> None:
        """From safe (identified, lever forward) into a state by commands alone.

        Armed and firing have a shot in the muzzle; in firing the trigger is energised.
        """
        for step in _WAY_TO[state]:
            step(self)

    def fire_frame(self) -> bytes:
        """Arm, and return the bytes of the fire command."""
        return self.request(m.Fire(self.ask(m.Arm()).token))


def _load_by_hand(cannon: BareCannon) -> None:
    cannon.seat(True)
    cannon.run_beating(10_000)


def _fire(cannon: BareCannon) -> None:
    cannon.chip.send(cannon.fire_frame())
    cannon.run_us(2_000)


def _asking(request: m.Request[Any]) -> Callable[[BareCannon], None]:
    def step(cannon: BareCannon) -> None:
        cannon.ask(request)

    return step


def _waiting(state: State) -> Callable[[BareCannon], None]:
    def step(cannon: BareCannon) -> None:
        cannon.wait_for(state)

    return step


_Steps = tuple[Callable[[BareCannon], None], ...]


def _ways() -> Iterator[tuple[State, _Steps]]:
    home = (_asking(m.Home()),)
    ready = (*home, _waiting(State.READY))
    cock = (*ready, _asking(m.Cock()))
    cocked = (*cock, _waiting(State.COCKED))
    loaded = (*cocked, _load_by_hand)
    yield State.SAFE, ()
    yield State.HOMING, home
    yield State.READY, ready
    yield State.COCKING, cock
    yield State.COCKED, cocked
    yield State.ARMED, (*loaded, _asking(m.Arm()))
    yield State.FIRING, (*loaded, _fire)
    yield State.LETTING_DOWN, (*cocked, _asking(m.LetDown()))
    yield State.SERVICE, (*ready, _asking(m.Service()))


_WAY_TO = dict(_ways())

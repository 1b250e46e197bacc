"""The real firmware core on a table of plain parts, at the end of a line that can be made bad. Time is virtual.

The parts are as simple as they can be: servos that stand where their pulse says, a lever that a latch holds, a shot
that leaves 4 ms after the trigger and passes the second barrier 2 ms later.
"""

import random
from collections import deque
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cffi

from rig.link import wire
from rig.link.errors import PortGone

_ROOT = Path(__file__).parents[3]
_LIBRARY = _ROOT / "build/firmware/libcannon.so"
_HEADER = _ROOT / "firmware/host/host.h"
_STEP_US = 1_000
_BYTE_US = 87  # ten bits at 115,200 a second
_LEAVES_US, _LENGTH_US = 4_000, 600  # a shot at the muzzle gate, from release
_ROLLS_US = 200_000  # a shot from the loader to its seat
_PERMISSIONS = wire.Input.ESTOP_OK | wire.Input.KEY_ON | wire.Input.LANE_CLEAR


@cache
def _library() -> tuple[cffi.FFI, Any]:
    if not _LIBRARY.exists():
        raise FileNotFoundError(f"{_LIBRARY} is missing; `make firmware` builds it")
    ffi = cffi.FFI()
    declarations = (
        _HEADER.read_text().partition("/* -- declarations -- */")[2].partition("/* -- end -- */")[0]
    )
    ffi.cdef(declarations)
    return ffi, ffi.dlopen(str(_LIBRARY))


@dataclass(frozen=True, slots=True)
class Noise:
    """How bad the line is: the chance of each harm to each piece of bytes."""

    drop: float = 0.0
    corrupt: float = 0.0
    repeat: float = 0.0
    delay: float = 0.0


QUIET = Noise()


class TableTop:
    """A port, its clock, and what stands at the other end.

    Attributes
    ----------
    permissions : wire.Input
        Emergency stop, key and lane, as the person at the table has them.
    noise : Noise
        Of the line, both ways.
    cut, unplugged : bool
        The line carries nothing; the port is gone.
    shots_in_loader : int
    trigger_pulses, loader_pulses, draws : int
        What the cannon has done so far.
    released_us : int
        When the trigger was last energised.
    heard_us : int
        When a byte last reached the chip.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self._ffi, self._core = _library()
        self._host = self._ffi.gc(self._core.host_new(), self._core.host_free)
        self._view = self._ffi.new("struct host_view *")
        self._sent = self._ffi.new("uint8_t[256]")
        self._random = random.Random(seed)
        self.time_us = 5_000_000
        self.permissions = _PERMISSIONS
        self.noise = QUIET
        self.cut = False
        self.unplugged = False
        self.jammed = False
        """The shot stays in the muzzle whatever the lever does."""
        self.transit_us = 2_000
        """Of a shot, from the first barrier to the second."""
        self.shots_in_loader = 0
        self.seated = False
        self.trigger_pulses = 0
        self.loader_pulses = 0
        self.draws = 0
        self.released_us = 0
        self.heard_us = 0
        self.bytes_written = 0
        self.written: list[bytes] = []
        self.pulses: list[tuple[int, ...]] = []
        self._to_cannon: deque[tuple[int, int]] = deque()
        self._to_controller: deque[tuple[int, int]] = deque()
        self._lever = 0.0  # 0 forward, 1 at the breech
        self._latched = False
        self._latch_turned = False
        self._draw_out = False
        self._trigger = False
        self._loader = False
        self._passing: deque[tuple[int, wire.Input]] = deque()  # when the shot changes the gate, and to what
        self._gate = wire.Input(0)
        self._seats_us: int | None = None
        self._plans: list[tuple[int, Any]] = []
        self.reset(wire.ResetCause.POWER_ON)

    # The port and its clock

    def now_us(self) -> int:
        return self.time_us

    def read(self, timeout_us: int) -> bytes:
        if self.unplugged:
            raise PortGone("table", "it has vanished")
        deadline_us = self.time_us + timeout_us
        while not self._arrived() and self.time_us < deadline_us:
            self._step(min(self.time_us + _STEP_US, deadline_us))
        data = bytearray()
        while self._arrived():
            data.append(self._to_controller.popleft()[1])
        return bytes(data)

    def write(self, data: bytes) -> None:
        if self.unplugged:
            raise PortGone("table", "it has vanished")
        self.bytes_written += len(data)
        self.written.append(data)
        self._carry(data, self._to_cannon)

    def close(self) -> None:
        pass

    # What a person can do and see

    def at(self, after_us: int, what: Any) -> None:
        """Have something happen in a while, whatever the controller does meanwhile."""
        self._plans.append((self.time_us + after_us, what))

    def run(self, time_us: int) -> None:
        """Let time go by without the controller."""
        end_us = self.time_us + time_us
        while self.time_us < end_us:
            self._step(min(self.time_us + _STEP_US, end_us))

    def stand_idle(self, time_us: int) -> None:
        """Let time go by, up to an hour of it, in which nobody does anything and nobody hears what the cannon sends."""
        self._core.host_run(self._host, time_us)
        while self._core.host_sent(self._host, self._sent, len(self._sent)):
            pass
        self.time_us += time_us
        self._see()

    def seat_a_shot(self) -> None:
        self.seated = True

    def take(self, permission: wire.Input) -> None:
        self.permissions &= ~permission

    def give(self, permission: wire.Input) -> None:
        self.permissions |= permission

    def reset(self, cause: wire.ResetCause) -> None:
        """Restart the chip; what is on the line to it is lost."""
        self._to_cannon.clear()
        self._core.host_reset(self._host, int(cause))
        self._trigger = self._loader = False
        self._core.host_set_inputs(self._host, int(self._levels()))
        self._core.host_view(self._host, self._view)

    @property
    def state(self) -> wire.State:
        return wire.State(self._view.state)

    @property
    def shots(self) -> int:
        return int(self._view.shots)

    @property
    def trigger(self) -> bool:
        return self._trigger

    @property
    def lever_is_forward(self) -> bool:
        return self._lever < 0.05 and not self._latched

    # What happens in a millisecond

    def _step(self, until_us: int) -> None:
        for due_us, what in [plan for plan in self._plans if plan[0] <= until_us]:
            self._plans.remove((due_us, what))
            what()
        while self._to_cannon and self._to_cannon[0][0] <= until_us:
            due_us, byte = self._to_cannon.popleft()
            self._run_to(due_us)
            self.heard_us = self.time_us
            self._core.host_receive(self._host, bytes([byte]), 1)
            self._see()
        self._run_to(until_us)

    def _run_to(self, until_us: int) -> None:
        while self._passing and self._passing[0][0] <= until_us:
            due_us, gate = self._passing.popleft()
            self._run_core(due_us)
            self._gate, self.seated = gate, False
            self._core.host_set_inputs(self._host, int(self._levels()))
        self._run_core(until_us)

    def _run_core(self, until_us: int) -> None:
        if until_us > self.time_us:
            self._move_parts()
            self._core.host_set_inputs(self._host, int(self._levels()))
            self._core.host_run(self._host, until_us - self.time_us)
            self.time_us = until_us
            self._see()
            count = self._core.host_sent(self._host, self._sent, len(self._sent))
            if count:
                self._carry(bytes(self._ffi.buffer(self._sent, count)), self._to_controller)

    def _see(self) -> None:
        self._core.host_view(self._host, self._view)
        self._watch_trigger()
        self._watch_loader()

    def _carry(self, data: bytes, line: deque[tuple[int, int]]) -> None:
        noise, chance = self.noise, self._random.random
        if self.cut:
            return
        start_us = self.time_us
        if noise is not QUIET:
            carried = bytearray(data)
            if chance() < noise.drop:
                del carried[self._random.randrange(len(carried))]
            if carried and chance() < noise.corrupt:
                carried[self._random.randrange(len(carried))] ^= self._random.randrange(1, 256)
            if chance() < noise.repeat:
                carried *= 2
            if chance() < noise.delay:
                start_us += self._random.randrange(120_000)
            data = bytes(carried)
        due_us = max(start_us, line[-1][0] if line else 0)
        for byte in data:
            due_us += _BYTE_US
            line.append((due_us, byte))

    def _arrived(self) -> bool:
        return bool(self._to_controller) and self._to_controller[0][0] <= self.time_us

    def _levels(self) -> wire.Input:
        levels = self.permissions | self._gate
        if self._lever > 0.95:
            levels |= wire.Input.LEVER_DRAWN
        if self._latched:
            levels |= wire.Input.LEVER_LATCHED
        if self.seated:
            levels |= wire.Input.GATE_FIRST_BLOCKED
        return levels

    def _move_parts(self) -> None:
        pulses = tuple(self._view.pulse_ticks)
        if not self.pulses or self.pulses[-1] != pulses:
            self.pulses.append(pulses)
        draw_ticks, latch_ticks = pulses[wire.Axis.DRAW], pulses[wire.Axis.LATCH]
        drawn = min(1.0, max(0.0, (draw_ticks - 2000) / 2000)) if draw_ticks else 0.0
        turned = latch_ticks >= 2900
        if turned and not self._latch_turned and self._lever > 0.95:
            self._latched = True
        elif latch_ticks and not turned:
            self._latched = False
        self._latch_turned = turned
        self._lever = 1.0 if self._latched else drawn
        if draw_ticks > 2000 and not self._draw_out:
            self.draws += 1
        self._draw_out = draw_ticks > 2000
        if self._seats_us is not None and self.time_us >= self._seats_us:
            self._seats_us = None
            self.seated = True

    def _watch_trigger(self) -> None:
        trigger = bool(self._view.trigger)
        if trigger and not self._trigger:
            self.trigger_pulses += 1
            self.released_us = now_us = self.time_us
            if self._latched:
                self._latched = False
                self._let_fly(now_us)
        self._trigger = trigger

    def _let_fly(self, now_us: int) -> None:
        """The lever was let go: a shot that lies in the muzzle leaves."""
        if self.seated and not self.jammed:
            second_us = now_us + _LEAVES_US + self.transit_us
            self._passing.append((now_us + _LEAVES_US, wire.Input(0)))
            self._passing.append((second_us - _LENGTH_US, wire.Input.GATE_SECOND_BLOCKED))
            self._passing.append((second_us, wire.Input(0)))

    def _watch_loader(self) -> None:
        loader = bool(self._view.loader)
        if loader and not self._loader:
            self.loader_pulses += 1
            if self.shots_in_loader:
                self.shots_in_loader -= 1
                self._seats_us = self.time_us + _ROLLS_US
        self._loader = loader

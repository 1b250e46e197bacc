"""The firmware's core on the PC, with a lever, a line and a controller around it, all as plain as can be.

Frames are made and read here by an implementation of its own, so that the firmware is not checked against itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cffi

from rig.link import wire
from rig.link.wire import Axis, Command, Event, HistoryKind, Input, Loss, Refusal, ResetCause, Setting, State

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "build" / "firmware" / "libcannon.so"
HEADER = ROOT / "firmware" / "host" / "host.h"

NOTHING = Input(0)
PERMITTED = Input.ESTOP_OK | Input.KEY_ON | Input.LANE_CLEAR


def _load() -> tuple[Any, Any]:
    if not LIBRARY.exists():
        raise FileNotFoundError(f"{LIBRARY} is not built; run: make -C firmware host")
    ffi = cffi.FFI()
    text = HEADER.read_text(encoding="utf-8")
    match = re.search(r"/\* -- declarations -- \*/(.*)/\* -- end -- \*/", text, re.DOTALL)
    assert match
    ffi.cdef(match.group(1))
    return ffi, ffi.dlopen(str(LIBRARY))


ffi, lib = _load()


def crc(data: bytes) -> int:
    """CRC-16/X-25, bit by bit."""
    register = 0xFFFF
    for byte in data:
        for bit in range(8):
            low = (register ^ (byte >> bit)) & 1
            register = (register >> 1) ^ (0x8408 if low else 0)
    return register ^ 0xFFFF


def stuff(data: bytes) -> bytes:
    out = bytearray()
    for byte in data:
        out += (
            bytes([wire.ESCAPE, byte ^ 0x20])
            if byte in {wire.FLAG, wire.ESCAPE, wire.STOP}
            else bytes([byte])
        )
    return bytes(out)


SESSIONLESS = {Command.IDENTIFY, Command.IDENTIFY + wire.ANSWER_OFFSET, Event.BOOTED}


def checksum(body: bytes, session: int | None) -> bytes:
    """The session's number counts but is not sent; some frames are of no session."""
    unsent = b"" if session is None or body[1] in SESSIONLESS else session.to_bytes(2, "little")
    return crc(unsent + body).to_bytes(2, "little")


def frame(sequence: int, kind: int, payload: bytes = b"", *, session: int | None = 1) -> bytes:
    body = bytes([sequence, kind]) + payload
    return stuff(body + checksum(body, session)) + bytes([wire.FLAG])


def unstuff(data: bytes) -> bytes:
    out = bytearray()
    rest = iter(data)
    for byte in rest:
        out.append(next(rest) ^ 0x20 if byte == wire.ESCAPE else byte)
    return bytes(out)


def read_frames(data: bytes, *, session: int | None = 1) -> Iterator[tuple[int, int, bytes]]:
    """Every frame of what the cannon sent; a damaged one fails the test."""
    pieces = data.split(bytes([wire.FLAG]))
    assert pieces.pop() == b"", "the cannon stopped in the middle of a frame"
    for piece in pieces:
        body = unstuff(piece)
        assert checksum(body[:-2], session) == body[-2:]
        yield body[0], body[1], body[2:-2]


@dataclass(frozen=True)
class Refused:
    reason: Refusal
    detail: int


@dataclass(frozen=True)
class Happened:
    """An event of the cannon."""

    sequence: int
    event: Event
    fields: Mapping[str, int]


class Cannon:
    """One host with its lever; `command` speaks to it as a controller would."""

    def __init__(self) -> None:
        self._host = ffi.gc(lib.host_new(), lib.host_free)
        self._view = ffi.new("struct host_view *")
        self._buffer = ffi.new("uint8_t[4096]")
        self.inputs = Input(0)
        self.last_id = 0
        self.session: int | None = None
        self.events: list[Happened] = []
        self.lever_held = False
        self.lever_moves = True
        self.reset(ResetCause.POWER_ON)

    # -- the machine ---------------------------------------------------------------------------------------------

    def copy(self) -> Cannon:
        other = Cannon()
        lib.host_copy(other._host, self._host)
        other.inputs = self.inputs
        other.last_id = self.last_id
        other.session = self.session
        other.events = list(self.events)
        other.lever_held = self.lever_held
        other.lever_moves = self.lever_moves
        return other

    def reset(self, cause: ResetCause) -> None:
        lib.host_set_inputs(self._host, int(self.inputs))
        lib.host_reset(self._host, cause)
        self.session = None
        self.events.clear()

    @property
    def view(self) -> Any:
        lib.host_view(self._host, self._view)
        return self._view

    @property
    def state(self) -> State:
        return State(self.view.state)

    def pulse(self, axis: Axis) -> int:
        return int(self.view.pulse_ticks[axis])

    @property
    def pulses(self) -> tuple[int, ...]:
        return tuple(self.view.pulse_ticks)

    @property
    def eeprom(self) -> Any:
        return ffi.buffer(lib.host_eeprom(self._host), 1024)

    @property
    def history_ram(self) -> Any:
        """The history's ring as it lies in RAM."""
        count = ffi.new("size_t *")
        start = lib.host_history(self._host, count)
        return ffi.buffer(start, count[0])

    def lose(self, losses: Loss) -> None:
        lib.host_lose(self._host, int(losses))

    def history(self) -> list[Mapping[str, int]]:
        """Every entry that can be read, newest first, with its number."""
        newest = self.ask(Command.READ_HISTORY, number=0)["newest"]
        entries = []
        for back in range(wire.HISTORY_ENTRIES):
            number = (newest - back) % 65536
            entry = self.ask(Command.READ_HISTORY, number=number)
            if entry["kind"] != HistoryKind.MISSING:
                entries.append({"number": number, **entry})
        return entries

    def fail_after_writes(self, writes: int) -> None:
        lib.host_fail_after_writes(self._host, writes)

    def set(self, *, on: Input = NOTHING, off: Input = NOTHING) -> None:
        self.inputs = (self.inputs | on) & ~off
        lib.host_set_inputs(self._host, int(self.inputs))

    def think(self) -> None:
        """The first half of the main loop."""
        lib.host_think(self._host)

    def act(self) -> None:
        """The second half: outputs become what was thought."""
        lib.host_act(self._host)

    def interrupt_at(self, lock: int, *, off: Input = NOTHING, for_good: bool = True, byte: int = 0) -> bool:
        """Interrupts come when the core is about to hold them off, or to ask for its history, for so many times.

        False: the last ones still wait.
        """
        return not lib.host_interrupt(self._host, lock, int(self.inputs & ~off), for_good, byte)

    def step(self) -> None:
        lib.host_step(self._host)
        self._collect()

    def hang(self, ms: int) -> None:
        lib.host_hang(self._host, ms * 1000)

    def run(self, ms: int, *, beat: bool = True) -> None:
        """Let time pass, with a heartbeat every 100 ms."""
        passed = 0
        while passed < ms:
            if beat and passed % 100 == 0:
                self.heartbeat()
            stride = min(10 - passed % 10, ms - passed)  # ramps take a step every 20 ms
            lib.host_run(self._host, stride * 1000)
            passed += stride
            if self.lever_moves:
                self._move_lever()
        self._collect()

    def run_until(self, state: State, *, limit_ms: int = 20000, beat: bool = True) -> None:
        for _ in range(0, limit_ms, 10):
            if self.state == state:
                return
            self.run(10, beat=beat)
        raise AssertionError(f"still {self.state.name} after {limit_ms} ms, not {state.name}")

    def _move_lever(self) -> None:
        """The lever: at the breech when drawn there, held when the latch is turned meanwhile."""
        view = self.view
        draw, latch = view.pulse_ticks[Axis.DRAW], view.pulse_ticks[Axis.LATCH]
        if view.trigger or (latch and latch < 2500):
            self.lever_held = False
        drawn = draw > 3980 or self.lever_held
        if drawn and latch > 2900:
            self.lever_held = True
        lever = (Input.LEVER_DRAWN if drawn else Input(0)) | (
            Input.LEVER_LATCHED if self.lever_held else Input(0)
        )
        both = Input.LEVER_DRAWN | Input.LEVER_LATCHED
        if self.inputs & both != lever:
            self.set(on=lever, off=both & ~lever)

    # -- the line ------------------------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Bytes reach the receive interrupt; the main loop does not run."""
        lib.host_receive(self._host, data, len(data))

    def sent(self) -> bytes:
        data = b""
        while count := lib.host_sent(self._host, self._buffer, 4096):
            data += bytes(ffi.buffer(self._buffer, count))
        return data

    def _collect(self) -> list[tuple[int, int, bytes]]:
        answers = []
        for sequence, kind, payload in read_frames(self.sent(), session=self.session):
            if kind in Event.__members__.values():
                event = Event(kind)
                self.events.append(Happened(sequence, event, wire.EVENT_LAYOUTS[event].unpack(payload)))
            else:
                answers.append((sequence, kind, payload))
        return answers

    def exchange(self, data: bytes) -> list[tuple[int, int, bytes]]:
        """Send bytes, let the main loop run once; returns what is no event."""
        self._collect()
        self.receive(data)
        lib.host_step(self._host)
        return self._collect()

    def request(self, command: Command, **fields: int) -> bytes:
        """The frame of the next command; with identify its session begins."""
        if command == Command.IDENTIFY:
            self._collect()
            self.session = fields["session"]
        self.last_id = (self.last_id + 1) % 256
        return self.frame(self.last_id, command, wire.COMMAND_LAYOUTS[command].payload.pack(fields))

    def frame(self, sequence: int, kind: int, payload: bytes = b"") -> bytes:
        """A frame of the present session."""
        return frame(sequence, kind, payload, session=self.session)

    def command(self, command: Command, **fields: int) -> Mapping[str, int] | Refused:
        request = self.request(command, **fields)
        answers = self.exchange(request)
        assert len(answers) == 1, f"{len(answers)} answers to {command.name}"
        sequence, kind, payload = answers[0]
        assert sequence == self.last_id
        if kind == wire.REFUSAL_TYPE:
            values = wire.REFUSAL_LAYOUT.unpack(payload)
            return Refused(Refusal(values["reason"]), values["detail"])
        assert kind == command + wire.ANSWER_OFFSET
        return wire.COMMAND_LAYOUTS[command].answer.unpack(payload)

    def ask(self, command: Command, **fields: int) -> Mapping[str, int]:
        """A command that must be obeyed."""
        answer = self.command(command, **fields)
        assert not isinstance(answer, Refused), f"{command.name}: {answer}"
        return answer

    def identify(self, session: int = 1, *, sequence: int | None = None) -> Mapping[str, int]:
        self.last_id = self.last_id if sequence is None else (sequence - 1) % 256
        return self.ask(Command.IDENTIFY, wire_version=wire.WIRE_VERSION, session=session)

    def heartbeat(self) -> None:
        seen = max((happened.sequence for happened in self.events), default=0)
        self.receive(self.request(Command.HEARTBEAT, event_ack=seen))

    def happened(self, event: Event) -> list[Mapping[str, int]]:
        """Fields of the events of a kind, each counted once however often it was sent."""
        self._collect()
        seen = {happened.sequence: happened for happened in self.events}
        return [happened.fields for happened in seen.values() if happened.event == event]

    # -- the way to a state --------------------------------------------------------------------------------------

    def seat(self) -> None:
        """A shot lies in the muzzle."""
        self.set(on=Input.GATE_FIRST_BLOCKED)
        self.run(10)

    def shoot(self, *, transit_ms: int = 2) -> None:
        """The shot leaves both barriers."""
        self.set(off=Input.GATE_FIRST_BLOCKED)
        self.set(on=Input.GATE_SECOND_BLOCKED)
        self.run(transit_ms)
        self.set(off=Input.GATE_SECOND_BLOCKED)
        self.run(10)


def _started() -> Cannon:
    cannon = Cannon()
    cannon.set(on=PERMITTED)
    cannon.run(10, beat=False)
    cannon.identify()
    return cannon


@functools.cache
def _prepared(state: State) -> Cannon:
    if state == State.SAFE:
        return _started()
    before = {
        State.HOMING: State.SAFE,
        State.READY: State.HOMING,
        State.COCKING: State.READY,
        State.COCKED: State.COCKING,
        State.ARMED: State.COCKED,
        State.FIRING: State.ARMED,
        State.LETTING_DOWN: State.COCKED,
        State.SERVICE: State.READY,
    }[state]
    cannon = _prepared(before).copy()
    match state:
        case State.HOMING:
            cannon.ask(Command.HOME)
        case State.READY | State.COCKED:
            cannon.run_until(state)
        case State.COCKING:
            cannon.ask(Command.COCK)
        case State.ARMED:
            cannon.seat()
            cannon.ask(Command.ARM)
        case State.FIRING:
            cannon.ask(Command.FIRE, token=cannon.view.token)
        case State.LETTING_DOWN:
            cannon.ask(Command.LET_DOWN)
        case State.SERVICE:
            cannon.ask(Command.SERVICE)
    assert cannon.state == state
    return cannon


def cannon_in(state: State) -> Cannon:
    """A cannon that has just come into a state, by commands, with every permission there."""
    return _prepared(state).copy()


FACTORY = {setting: limits.default for setting, limits in wire.SETTING_LIMITS.items()}


def configured(changes: Mapping[Setting, int]) -> Cannon:
    """A cannon in safe with some settings changed."""
    cannon = cannon_in(State.SAFE)
    for setting, value in changes.items():
        cannon.ask(Command.CONFIGURE, setting=setting, value=value)
    return cannon


def armed_with(changes: Mapping[Setting, int]) -> Cannon:
    """An armed cannon with some settings changed."""
    cannon = configured(changes)
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    cannon.seat()
    cannon.ask(Command.ARM)
    return cannon

"""The firmware binary on the simulated chip, with its inputs wired by hand and no plant: for figures to the cycle."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from cannon_host import frame, read_frames

from rig.link import wire
from rig.link.wire import Command, Event, Setting, State
from twin.chip import CHIP_HZ, Chip, ChipEvent, ChipSettings, EventKind, Pin, ResetCause

US = CHIP_HZ // 1_000_000

# The quickest lever that the settings allow, so that a test need not wait for it.
QUICK = {
    Setting.DRAW_SPEED_TICKS: 400,
    Setting.DRAW_EASE_SPEED_TICKS: 100,
    Setting.LATCH_SPEED_TICKS: 400,
    Setting.SHOT_TIMEOUT_MS: 20,
    Setting.TRIGGER_HOLD_MS: 5,
}


class ChipCannon:
    """A chip that is talked to; everything it did is kept in `log`."""

    def __init__(self, settings: ChipSettings | None = None) -> None:
        self.chip = Chip(settings or ChipSettings(startup_us=1000))
        self.log: list[ChipEvent] = []
        self.frames: list[tuple[int, int, bytes]] = []
        self._line = bytearray()
        self.last_id = 0
        self.session: int | None = None
        for pin in (Pin.EMERGENCY_STOP, Pin.ARMING_KEY, Pin.LANE_CLEAR, Pin.GATE_FIRST, Pin.GATE_SECOND):
            self.chip.drive(pin, False)
        self.lever(drawn=False, latched=False)
        self.chip.reset(ResetCause.POWER_ON)
        self.run_us(20_000)

    def close(self) -> None:
        self.chip.close()

    def lever(self, *, drawn: bool, latched: bool) -> None:
        self.chip.drive(Pin.LEVER_DRAWN, not drawn)
        self.chip.drive(Pin.LEVER_LATCHED, not latched)

    def run_us(self, duration_us: int) -> None:
        self.chip.run_for_us(duration_us)
        self._collect()

    def _collect(self) -> None:
        events = self.chip.events()
        self.log += events
        self._line += bytes(event.value for event in events if event.kind is EventKind.SENT)
        whole = self._line.rfind(wire.FLAG) + 1
        self.frames += read_frames(bytes(self._line[:whole]), session=self.session)
        del self._line[:whole]

    def request(self, command: Command, **fields: int) -> bytes:
        self.last_id = (self.last_id + 1) % 256
        if command == Command.IDENTIFY:
            self.session = fields["session"]
        payload = wire.COMMAND_LAYOUTS[command].payload.pack(fields)
        return frame(self.last_id, command, payload, session=self.session)

    def answer(self, command: Command) -> Mapping[str, int]:
        """Wait for the answer to the command sent last."""
        for _ in range(200):
            for sequence, kind, payload in self.frames:
                if sequence == self.last_id and kind == command + wire.ANSWER_OFFSET:
                    return wire.COMMAND_LAYOUTS[command].answer.unpack(payload)
                if sequence == self.last_id and kind == wire.REFUSAL_TYPE:
                    raise AssertionError(f"{command.name} refused: {wire.REFUSAL_LAYOUT.unpack(payload)}")
            self.run_us(100)
        raise AssertionError(f"no answer to {command.name}")

    def ask(self, command: Command, **fields: int) -> Mapping[str, int]:
        self.frames.clear()
        self.chip.send(self.request(command, **fields))
        return self.answer(command)

    def identify(self) -> Mapping[str, int]:
        return self.ask(Command.IDENTIFY, wire_version=wire.WIRE_VERSION, session=1)

    @property
    def state(self) -> State:
        seen = max((s for s, kind, _ in self.frames if kind in Event.__members__.values()), default=0)
        return State(self.ask(Command.HEARTBEAT, event_ack=seen)["state"])

    def wait(self, state: State, limit_ms: int = 5000) -> None:
        for _ in range(limit_ms // 20):
            if self.state == state:
                return
            self.run_us(20_000)
        raise AssertionError(f"not {state.name} after {limit_ms} ms")

    def acknowledge(self) -> None:
        seen = [s for s, kind, _ in self.frames if kind in Event.__members__.values()]
        self.ask(Command.HEARTBEAT, event_ack=seen[-1] if seen else 0)

    def make_quick(self) -> None:
        for setting, value in QUICK.items():
            self.ask(Command.CONFIGURE, setting=setting, value=value)

    def ready(self) -> None:
        self.ask(Command.HOME)
        self.wait(State.READY)

    def cocked(self) -> None:
        """Home, cock and load."""
        self.ready()
        self.ask(Command.COCK)
        for _ in range(15):
            self.run_us(20_000)
            self.acknowledge()
        self.lever(drawn=True, latched=False)
        for _ in range(15):
            self.run_us(20_000)
            self.acknowledge()
        self.lever(drawn=True, latched=True)
        self.wait(State.COCKED)
        self.chip.drive(Pin.GATE_FIRST, True)
        self.run_us(10_000)

    def pulses(self, pin: Pin) -> list[tuple[int, int]]:
        """(cycle of the rise, width in cycles) of every whole pulse in the log."""
        edges = [event for event in self.log if event.kind is EventKind.PIN and event.pin == pin]
        pairs = itertools.pairwise(edges)
        return [
            (rise.cycle, fall.cycle - rise.cycle) for rise, fall in pairs if rise.value and not fall.value
        ]

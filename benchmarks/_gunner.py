"""The twin's cannon, fired again and again over a link, with the chip's pins watched."""

from __future__ import annotations

from itertools import pairwise

from rig.link import messages as m
from rig.link import wire
from rig.link.link import Link
from twin import Twin, TwinSettings
from twin.chip import ChipEvent, EventKind, Pin

__all__ = ["Gunner"]


class Gunner:
    """Fires, and keeps what the chip's pins do."""

    def __init__(self, settings: TwinSettings) -> None:
        self.twin = Twin(settings)
        self._events: list[ChipEvent] = []
        self.twin.watch(self._events.append)
        self._link = Link(self.twin.port, self.twin.clock, session=1)
        self._link.identify()

    def _until(self, state: wire.State) -> None:
        while self._link.ask(m.ReadStatus()).state is not state:
            self._link.wait(50_000)

    def idle(self, duration_us: int) -> None:
        """Let the twin's time pass."""
        end_us = self.twin.now_us + duration_us
        while self.twin.now_us < end_us:
            self._link.wait(end_us - self.twin.now_us)

    def shoot(self, *, wait_us: int = 0) -> int:
        """Fire once, `wait_us` after everything is ready; return the cycles from the command's last byte to the trigger."""
        self.twin.hands.turn_key(True)
        self.twin.hands.lane(True)
        self.idle(100_000)
        self._link.ask(m.Home())
        self._until(wire.State.READY)
        self._link.ask(m.Cock())
        self._until(wire.State.COCKED)
        self.twin.hands.load()
        self.idle(150_000)
        token = self._link.ask(m.Arm())
        self.idle(wait_us)
        self._events.clear()
        self._link.ask(m.Fire(token.token))
        trigger = next(
            event for event in self._events if event.kind is EventKind.PIN and event.pin == Pin.TRIGGER
        )
        heard = [event.cycle for event in self._events if event.kind is EventKind.RECEIVED]
        self._until(wire.State.SAFE)
        return trigger.cycle - max(cycle for cycle in heard if cycle <= trigger.cycle)

    def settle(self) -> None:
        """Wait until everything on the table is at rest."""
        while not self.twin.table.at_rest:
            self.idle(50_000)

    def pulse_widths(self, pin: Pin) -> list[int]:
        """Return the widths of a second of pulses, in cycles."""
        self._events.clear()
        self.idle(1_000_000)
        edges = [event for event in self._events if event.kind is EventKind.PIN and event.pin == pin]
        return [fall.cycle - rise.cycle for rise, fall in pairwise(edges) if rise.value and not fall.value]

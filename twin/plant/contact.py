"""A contact to ground: closed it pulls its input low, open it leaves it to the chip's pull-up; and it bounces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from twin.chip import CHIP_HZ
from twin.limits import at_least, within

Drive = Callable[[int, bool | None, int], None]
"""Drives a pin: number, level or None, from which cycle on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactSettings:
    """A switch or a button with its wire."""

    bounce_us: int = 1500
    """For how long it may bounce."""
    bounces: int = 4
    """How often it opens and closes before it stays."""
    stuck: bool | None = None
    """True: closed for good; False: open for good."""
    wire_cut_at_s: float | None = None
    """From then on it is open whatever it does."""

    def __post_init__(self) -> None:
        within(self, 1, 1_000_000, "bounce_us")
        within(self, 0, 1000, "bounces")
        at_least(self, 0, "wire_cut_at_s")


class Contact:
    """One contact.

    Parameters
    ----------
    settings
        What it is like.
    pin
        The input it is wired to.
    drive
        Drives that input.
    rng
        Draws the bounces.
    closed
        How it is at the beginning.
    """

    def __init__(
        self,
        settings: ContactSettings,
        pin: int,
        drive: Drive,
        rng: np.random.Generator,
        *,
        closed: bool,
        chip_hz: float = CHIP_HZ,
    ) -> None:
        self.settings = settings
        self._hz = chip_hz
        self._pin = pin
        self._drive = drive
        self._rng = rng
        self._quiet_from_cycle = 0
        self.closed = closed if settings.stuck is None else settings.stuck
        self._cut_cycle = None if settings.wire_cut_at_s is None else round(settings.wire_cut_at_s * chip_hz)
        self._set(self.closed, 0)
        if self._cut_cycle is not None:
            drive(pin, None, self._cut_cycle)

    def set(self, closed: bool, cycle: int) -> None:
        """Close or open it, from a cycle on."""
        if self.settings.stuck is not None or closed is self.closed:
            return
        self.closed = closed
        cycle = max(cycle, self._quiet_from_cycle)
        self._set(closed, cycle)
        if self.settings.bounces:
            longest_cycles = int(self.settings.bounce_us * self._hz / 1e6)
            times = np.sort(self._rng.integers(1, longest_cycles, 2 * self.settings.bounces))
            for index, after in enumerate(times):
                self._set(closed ^ (index % 2 == 0), cycle + int(after))
            self._quiet_from_cycle = cycle + longest_cycles

    def _set(self, closed: bool, cycle: int) -> None:
        if self._cut_cycle is None or cycle < self._cut_cycle:
            self._drive(self._pin, False if closed else None, cycle)

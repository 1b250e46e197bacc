"""The automatic loader: a magazine with a gate that a pulse opens once."""

from __future__ import annotations

from dataclasses import dataclass

from twin.chip import CHIP_HZ
from twin.limits import at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderSettings:
    """The loader, and what it gets wrong."""

    fitted: bool = False
    """Whether there is one."""
    magazine: int = 100
    """Shots it holds."""
    needs_us: int = 20_000
    """A shorter pulse does not open it."""
    delay_us: int = 180_000
    """From the beginning of the pulse until the shot is seated."""
    jams: tuple[int, ...] = ()
    """Pulses, counted from 1, on which nothing comes."""
    double_feeds: tuple[int, ...] = ()
    """Pulses, counted from 1, on which two shots come."""

    def __post_init__(self) -> None:
        at_least(self, 0, "magazine", "needs_us", "delay_us")
        at_least(self, 1, "jams", "double_feeds")


class Loader:
    """One loader."""

    def __init__(self, settings: LoaderSettings, *, chip_hz: float = CHIP_HZ) -> None:
        self.settings = settings
        self._cycles_per_us = chip_hz / 1e6
        self.left = settings.magazine
        self._pulses = 0
        self._rise_cycle: int | None = None
        self._due_cycle: int | None = None

    def edge(self, cycle: int, *, high: bool) -> None:
        """Take an edge of the loader's output."""
        if high:
            self._rise_cycle = cycle
        elif self._rise_cycle is not None:
            if cycle - self._rise_cycle >= self.settings.needs_us * self._cycles_per_us:
                self._pulses += 1
                due_cycle = self._rise_cycle + round(self.settings.delay_us * self._cycles_per_us)
                self._due_cycle = max(due_cycle, cycle)
            self._rise_cycle = None

    def step(self, cycle: int) -> int:
        """Return how many shots have come by `cycle`."""
        if not self.settings.fitted or self._due_cycle is None or cycle < self._due_cycle:
            return 0
        self._due_cycle = None
        shots = (
            0
            if self._pulses in self.settings.jams
            else 2
            if self._pulses in self.settings.double_feeds
            else 1
        )
        shots = min(shots, self.left)
        self.left -= shots
        return shots

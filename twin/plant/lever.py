"""The firing lever between spring, draw servo, latch servo and solenoid.

Theory of operation
-------------------
The spring presses the lever forward. The draw servo's hook pulls it back: the lever is never forward of the hook, and
while nothing else holds it, it rests on the hook. At the breech the lever lies in the latch's fork. Turned there by
60 degrees or more it is held and the hook may go back. Turned to less than 30 degrees, or flicked by the solenoid, it
is free: it rests on the hook if that is behind it, or runs forward and fires if the hook is away. A hook halfway
catches it, with a bang and without a shot. A fork that is turned before the lever comes does not let it in, and in
the last millimetre before the breech the lever does not let the fork turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from twin.limits import at_least
from twin.plant.servo import Servo
from twin.spring import STANDARD_GRAVITY_MPS2, SpringSettings

_REST_US = 1000.0
_SPAN_US = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeverSettings:
    """The mechanics about the lever."""

    draw_stall_kgf: float = 8.0
    """Pull of the draw servo at which it stalls, at the lever; under about 3.5 kgf it never reaches the breech."""
    backdrive_kgf: float = 0.8
    """Force from which the lever turns a draw servo without power."""
    backdrive_us_per_s: float = 2000.0
    """How fast it does."""
    overtravel_mm: float = 0.3
    """The hook at its last position is this far behind the breech."""
    solenoid_delay_us: int = 6000
    """From current to the lever's being free; a shorter pulse does nothing."""
    solenoid_works: bool = True
    """False: it clicks and the lever stays."""

    def __post_init__(self) -> None:
        at_least(self, 0.01, "draw_stall_kgf")
        at_least(self, 0, "backdrive_kgf", "backdrive_us_per_s", "overtravel_mm", "solenoid_delay_us")


@dataclass(frozen=True, slots=True)
class Released:
    """The lever ran."""

    cycle: int
    """When it struck."""
    dwell_s: float
    """How long it had been held."""
    struck_shot: bool
    """False where the hook caught it on its way."""


class Lever:
    """The lever, its latch and the solenoid."""

    def __init__(
        self, settings: LeverSettings, spring: SpringSettings, draw: Servo, latch: Servo, *, chip_hz: float
    ) -> None:
        self.settings = settings
        self._spring = spring
        self._draw = draw
        self._latch = latch
        self._hz = chip_hz
        stiffness_npm = spring.draw_force_kgf * STANDARD_GRAVITY_MPS2 / (spring.draw_mm / 1e3)
        mass_kg = (spring.lever_mass_g + spring.shot_mass_g) / 1e3
        # A quarter of the period of that mass on that spring: from the breech to the shot.
        self.run_cycles = round(math.pi / 2 * math.sqrt(mass_kg / stiffness_npm) * chip_hz)
        self.held = False
        self.position_mm = 0.0
        """How far back the lever is; `SpringSettings.draw_mm` is the breech."""
        self._held_since_cycle = 0
        self._current_since_cycle: int | None = None
        self._current_until_cycle: int | None = None
        """When the current ended, in the step that is to come; None while it flows."""

    @property
    def turned_deg(self) -> float:
        """How far the latch is turned."""
        return (self._latch.output_us - _REST_US) / _SPAN_US * 180.0

    @property
    def hook_mm(self) -> float:
        """How far back the hook is."""
        full_mm = self._spring.draw_mm + self.settings.overtravel_mm
        return max(0.0, (self._draw.output_us - _REST_US) / _SPAN_US * full_mm)

    @property
    def at_breech(self) -> bool:
        """Whether the lever is all the way back."""
        return self.position_mm >= self._breech_mm

    @property
    def _breech_mm(self) -> float:
        return self._spring.draw_mm - 0.1

    @property
    def _entry_mm(self) -> float:
        """Where the lever meets the fork."""
        return self._spring.draw_mm - 1.0

    def solenoid_edge(self, cycle: int, *, high: bool) -> None:
        """Switch the solenoid's current."""
        if high:
            self._current_since_cycle, self._current_until_cycle = cycle, None
        else:
            self._current_until_cycle = cycle

    def step(self, cycle: int, duration_s: float) -> Released | None:
        """Let time pass up to `cycle`; servos move here."""
        full_us = _SPAN_US / (self._spring.draw_mm + self.settings.overtravel_mm)
        resting = not self.held
        load_kgf = self._spring.draw_force_kgf * self.position_mm / self._spring.draw_mm if resting else 0.0
        outside = self.position_mm < self._entry_mm + 1e-6
        fork_closed = self.turned_deg > 30.0
        self._draw.step(
            cycle,
            duration_s,
            up_factor=max(0.0, 1.0 - load_kgf / self.settings.draw_stall_kgf),
            push_us_per_s=-self.settings.backdrive_us_per_s
            if load_kgf > self.settings.backdrive_kgf
            else 0.0,
            stop_us=_REST_US + self._entry_mm * full_us if resting and outside and fork_closed else None,
        )
        caught = resting and not outside and not self.at_breech
        self._latch.step(cycle, duration_s, stop_us=_REST_US + 30.0 / 180.0 * _SPAN_US if caught else None)
        if resting:
            self.position_mm = min(self.hook_mm, self._spring.draw_mm)
        if not self.held and self.at_breech and self.turned_deg >= 60.0:
            self.held = True
            self._held_since_cycle = cycle
            self.position_mm = self._spring.draw_mm
        freed_cycle = self._freed_cycle(cycle) if self.held else None
        if self._current_until_cycle is not None:
            self._current_since_cycle = self._current_until_cycle = None
        return None if freed_cycle is None else self._release(freed_cycle)

    def _freed_cycle(self, cycle: int) -> int | None:
        if self.turned_deg < 30.0:
            return cycle
        if self._current_since_cycle is None or not self.settings.solenoid_works or self.turned_deg > 135.0:
            return None
        flick_cycle = self._current_since_cycle + round(self.settings.solenoid_delay_us * self._hz / 1e6)
        flowed_to_cycle = cycle if self._current_until_cycle is None else self._current_until_cycle
        return flick_cycle if flick_cycle <= flowed_to_cycle else None

    def _release(self, cycle: int) -> Released | None:
        self.held = False
        hook_mm = self.hook_mm
        if hook_mm >= self.position_mm - self.settings.overtravel_mm:
            return None  # it rests on the hook
        self.position_mm = hook_mm
        dwell_s = (cycle - self._held_since_cycle) / self._hz
        return Released(cycle + self.run_cycles, dwell_s, struck_shot=hook_mm < 0.1 * self._spring.draw_mm)

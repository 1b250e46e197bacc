"""The cannon's spring: from the draw to the speed at the muzzle.

The drawn spring's energy goes into the lever that strikes and the shot together, so
``v = sqrt(2 E / (lever + shot))``. The force fades with every shot, and while the cannon stands cocked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from twin.limits import above, at_least, within

STANDARD_GRAVITY_MPS2 = 9.80665
"""Turns kgf into N."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpringSettings:
    """The spring and how it ages."""

    draw_force_kgf: float = 3.5
    """Force at the end of the draw."""
    draw_mm: float = 10.0
    """Length of the draw, from no force."""
    lever_mass_g: float = 3.6
    """What moves with the shot, as if all of it moved as fast."""
    shot_mass_g: float = 0.12
    """Mass of the shot."""
    speed_scatter: float = 0.01
    """Standard deviation of the speed from shot to shot, as a part of it."""
    fade_per_shot: float = 2e-5
    """Part of the force lost for good with every shot."""
    fade_cocked: float = 0.04
    """Part of the force lost when left cocked for very long; it comes back at rest."""
    fade_cocked_time_s: float = 600.0
    """Time constant of that loss."""

    def __post_init__(self) -> None:
        above(self, 0, "draw_force_kgf", "draw_mm", "shot_mass_g", "fade_cocked_time_s")
        at_least(self, 0, "lever_mass_g")
        within(self, 0, 1, "speed_scatter", "fade_per_shot", "fade_cocked")


def muzzle_speed_mps(
    settings: SpringSettings, *, dwell_s: float, shot_number: int, rng: np.random.Generator
) -> float:
    """Return the speed of one shot at the muzzle.

    Parameters
    ----------
    settings : SpringSettings
        The spring.
    dwell_s : float
        How long the cannon has stood cocked.
    shot_number : int
        Shots fired with this spring before.
    rng : numpy.random.Generator
        Draws the scatter, one number a shot.
    """
    cocked = 1.0 - settings.fade_cocked * -math.expm1(-dwell_s / settings.fade_cocked_time_s)
    force_n = (
        settings.draw_force_kgf
        * STANDARD_GRAVITY_MPS2
        * (1.0 - settings.fade_per_shot) ** shot_number
        * cocked
    )
    energy_j = 0.5 * force_n * settings.draw_mm / 1e3
    speed_mps = math.sqrt(2.0 * energy_j * 1e3 / (settings.lever_mass_g + settings.shot_mass_g))
    return max(0.0, speed_mps * (1.0 + settings.speed_scatter * float(rng.standard_normal())))

"""Flight of the shot: a point mass under gravity and quadratic drag, in its vertical plane of fire.

The equations are those of a body of mass m in still air (for instance G. W. Parker, "Projectile motion with
air resistance quadratic in the speed", American Journal of Physics 45 (1977) 606)::

    dv/dt = g - k |v| v        k = air density * drag coefficient * frontal area / (2 m)

They have no solution in elementary functions, so they are integrated by the classical fourth-order
Runge-Kutta scheme. Its step is short beside 1 / (k |v|), the time in which drag takes hold: a path of up to
30 m ends within 1 um of a tight reference integration.

Frame of this module: x forward over the ground, z up, metres; the origin is the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from scipy.optimize import brentq

STANDARD_GRAVITY_MPS2 = 9.80665
"""Standard acceleration of free fall (3rd CGPM, 1901)."""

SEA_LEVEL_AIR_KGPM3 = 1.225
"""Density of air at sea level and 15 degrees Celsius in the International Standard Atmosphere (ISO 2533)."""

_LONGEST_STEP_S = 0.01
_STEP_PER_DRAG_TIME = 0.02
_FASTEST_MPS = 1000.0


@dataclass(frozen=True, slots=True)
class Projectile:
    """The shot: a sphere.

    Parameters
    ----------
    diameter_m, mass_kg : float
        Default: the booklet's calibre of 6 mm and 120 mg.
    drag_coefficient : float
        Of the frontal area. Default 0.47, the usual figure for a smooth sphere at Reynolds numbers of 1e3 to
        1e5 (S. F. Hoerner, "Fluid-Dynamic Drag", 1965, chapter 3); the shot flies at about 4e3.
    """

    diameter_m: float = 6e-3
    mass_kg: float = 120e-6
    drag_coefficient: float = 0.47

    def __post_init__(self) -> None:
        if not (self.diameter_m > 0 and self.mass_kg > 0 and self.drag_coefficient >= 0):
            raise ValueError(f"expected a diameter and a mass above 0 and a drag of 0 or more, found {self}")

    def drag_per_m(self, air_density_kgpm3: float = SEA_LEVEL_AIR_KGPM3) -> float:
        """Return k of the equation of motion, in 1/m."""
        frontal_area_m2 = math.pi / 4 * self.diameter_m**2
        return air_density_kgpm3 * self.drag_coefficient * frontal_area_m2 / (2 * self.mass_kg)


class FlightState(NamedTuple):
    """Where the shot is and how it moves, in the vertical plane of fire."""

    time_s: float
    x_m: float
    z_m: float
    vx_mps: float
    vz_mps: float

    @property
    def speed_mps(self) -> float:
        """Speed along the path."""
        return math.hypot(self.vx_mps, self.vz_mps)

    @property
    def angle_rad(self) -> float:
        """Angle of the path over the horizontal; negative where the shot comes down."""
        return math.atan2(self.vz_mps, self.vx_mps)


def launch(speed_mps: float, elevation_rad: float, x_m: float = 0.0, z_m: float = 0.0) -> FlightState:
    """Return the state of a shot that leaves a muzzle at (`x_m`, `z_m`).

    Raises
    ------
    ValueError
        If the speed is not above 0 and below 1000 m/s.
    """
    if not 0 < speed_mps < _FASTEST_MPS:
        raise ValueError(f"muzzle speed is {speed_mps} m/s, expected above 0 and below {_FASTEST_MPS:g}")
    return FlightState(
        0.0, x_m, z_m, speed_mps * math.cos(elevation_rad), speed_mps * math.sin(elevation_rad)
    )


def at_height(start: FlightState, drag_per_m: float, height_m: float) -> FlightState | None:
    """Return the state where the shot comes down through a height, or None if it never rises to it.

    A path whose top lies less than about 0.1 mm above the height may count as never rising to it.
    """
    state = start
    while True:
        following = _step(state, drag_per_m)
        if following.vz_mps < 0 and following.z_m < height_m:
            if state.z_m < height_m:
                return None
            return _refine(state, drag_per_m, lambda s: (s.z_m - height_m) / s.vz_mps, following)
        state = following


def at_distance(
    start: FlightState, drag_per_m: float, distance_m: float, floor_m: float
) -> FlightState | None:
    """Return the state where the shot passes x = `distance_m`, or None if it falls through `floor_m` before.

    Raises
    ------
    ValueError
        If the shot does not start short of the distance.
    """
    if distance_m < start.x_m:
        raise ValueError(f"the shot starts at {start.x_m} m, beyond the distance of {distance_m} m")
    state = start
    while True:
        following = _step(state, drag_per_m)
        if following.x_m >= distance_m:
            return _refine(state, drag_per_m, lambda s: (s.x_m - distance_m) / s.vx_mps, following)
        if following.vz_mps < 0 and following.z_m < floor_m:
            return None
        state = following


def trajectory(
    start: FlightState, drag_per_m: float, height_m: float, spacing_s: float = _LONGEST_STEP_S
) -> tuple[FlightState, ...]:
    """Return the path from the start until it comes down to a height, the end included.

    Neighbouring states lie `spacing_s` apart at most.

    Raises
    ------
    ValueError
        If the shot never rises to that height.
    """
    end = at_height(start, drag_per_m, height_m)
    if end is None:
        raise ValueError(f"the shot never rises to a height of {height_m} m")
    path = []
    state = start
    while state.time_s < end.time_s:
        path.append(state)
        state = _step(state, drag_per_m, spacing_s)
    return (*path, end)


def speed_for_range(
    range_m: float, elevation_rad: float, muzzle_height_m: float, drag_per_m: float
) -> float | None:
    """Return the muzzle speed at which the shot lands at `range_m` on the base plane z = 0, in m/s.

    The range is counted from the muzzle over the ground, as the booklet does. None where no speed below 1000
    m/s reaches that far.
    """

    def excess_m(speed_mps: float) -> float:
        landing = at_height(launch(speed_mps, elevation_rad, z_m=muzzle_height_m), drag_per_m, 0.0)
        return -range_m if landing is None else landing.x_m - range_m

    fast_mps = 1.0
    while excess_m(fast_mps) < 0:
        fast_mps *= 2
        if fast_mps >= _FASTEST_MPS:
            return None
    return float(brentq(excess_m, 1e-3, fast_mps, xtol=1e-9))


def _step(state: FlightState, drag_per_m: float, longest_s: float = _LONGEST_STEP_S) -> FlightState:
    """Take one step, short enough for the promised accuracy."""
    step_s = min(_LONGEST_STEP_S, longest_s)
    braking_per_s = drag_per_m * state.speed_mps
    if step_s * braking_per_s > _STEP_PER_DRAG_TIME:
        step_s = _STEP_PER_DRAG_TIME / braking_per_s
    return _advance(state, drag_per_m, step_s)


def _refine(
    state: FlightState,
    drag_per_m: float,
    time_past_s: Callable[[FlightState], float],
    guess: FlightState,
) -> FlightState:
    """Return the state after `state`, near `guess`, at which `time_past_s`, Newton's correction, is zero."""
    for _ in range(20):
        correction_s = time_past_s(guess)
        guess = _advance(state, drag_per_m, guess.time_s - correction_s - state.time_s)
        if abs(correction_s) < 1e-12:
            break
    return guess


def _advance(state: FlightState, drag_per_m: float, step_s: float) -> FlightState:
    """Take one Runge-Kutta step of fourth order."""
    time_s, x_m, z_m, vx1, vz1 = state
    k, g, h = drag_per_m, STANDARD_GRAVITY_MPS2, step_s
    drag = k * math.sqrt(vx1 * vx1 + vz1 * vz1)
    ax1, az1 = -drag * vx1, -g - drag * vz1
    vx2, vz2 = vx1 + h / 2 * ax1, vz1 + h / 2 * az1
    drag = k * math.sqrt(vx2 * vx2 + vz2 * vz2)
    ax2, az2 = -drag * vx2, -g - drag * vz2
    vx3, vz3 = vx1 + h / 2 * ax2, vz1 + h / 2 * az2
    drag = k * math.sqrt(vx3 * vx3 + vz3 * vz3)
    ax3, az3 = -drag * vx3, -g - drag * vz3
    vx4, vz4 = vx1 + h * ax3, vz1 + h * az3
    drag = k * math.sqrt(vx4 * vx4 + vz4 * vz4)
    ax4, az4 = -drag * vx4, -g - drag * vz4
    return FlightState(
        time_s + h,
        x_m + h / 6 * (vx1 + 2 * (vx2 + vx3) + vx4),
        z_m + h / 6 * (vz1 + 2 * (vz2 + vz3) + vz4),
        vx1 + h / 6 * (ax1 + 2 * (ax2 + ax3) + ax4),
        vz1 + h / 6 * (az1 + 2 * (az2 + az3) + az4),
    )

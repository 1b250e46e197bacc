"""Flight of the shot: a point mass under gravity and quadratic drag, in its vertical plane of fire.

The equations are those of a body of mass m in still air (for instance G. W. Parker, "Projectile motion with
air resistance quadratic in the speed", American Journal of Physics 45 (1977) 606)::

    dv/dt = g - k |v| v        k = air density * drag coefficient * frontal area / (2 m)

They are solved as `calibration.hodograph` says; a path of up to 30 m ends within 1 um of a tight reference
integration. Here it is asked about one shot at a time; for many shots ask `calibration.impact`, for other laws of drag and
for spin `calibration.spin`.

Frame of this module: x forward over the ground, z up, metres; the origin is the caller's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from calibration.constants import STANDARD_GRAVITY_MPS2
from calibration.hodograph import path
from calibration.single import SinglePath

__all__ = [
    "DEEPEST_M",
    "SEA_LEVEL_AIR_KGPM3",
    "STANDARD_GRAVITY_MPS2",
    "FlightState",
    "Projectile",
    "at_distance",
    "at_height",
    "launch",
    "speed_for_range",
    "trajectory",
]

DEEPEST_M = -100.0
"""Deeper than anything stands below a table: a shot that has fallen so far passes nothing any more."""
SEA_LEVEL_AIR_KGPM3 = 1.225
"""Density of air at sea level and 15 degrees Celsius in the International Standard Atmosphere (ISO 2533)."""

_SPACING_S = 0.01
_FASTEST_MPS = 1000.0
_FASTEST_ALLOWED_MPS = math.nextafter(_FASTEST_MPS, 0.0)


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
    """Return the state where the shot comes down through a height, or None if it never rises to it."""
    return _crossing(start, drag_per_m, forward=0.0, up=1.0, offset_m=height_m - start.z_m)


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
    if start.vx_mps < 0:
        return None
    state = _crossing(start, drag_per_m, forward=-1.0, up=0.0, offset_m=start.x_m - distance_m)
    return None if state is None or (state.vz_mps < 0 and state.z_m < floor_m) else state


def _crossing(
    start: FlightState, drag_per_m: float, *, forward: float, up: float, offset_m: float
) -> FlightState | None:
    path = SinglePath(start.speed_mps, math.atan2(start.vz_mps, abs(start.vx_mps)), drag_per_m)
    found = path.cross(forward, up, offset_m)
    if found is None:
        return None
    x_m, z_m, time_s, vx_mps, vz_mps = found
    # The path to the other side is the same, seen in a mirror.
    ahead = math.copysign(1.0, start.vx_mps)
    return FlightState(
        start.time_s + time_s, start.x_m + ahead * x_m, start.z_m + z_m, ahead * vx_mps, vz_mps
    )


def trajectory(
    start: FlightState, drag_per_m: float, height_m: float, spacing_s: float = _SPACING_S
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
    ahead = math.copysign(1.0, start.vx_mps)
    pieces = max(1, math.ceil((end.time_s - start.time_s) / spacing_s))
    points = path(
        start.speed_mps,
        math.atan2(start.vz_mps, abs(start.vx_mps)),
        drag_per_m,
        np.linspace(0.0, end.time_s - start.time_s, pieces + 1)[1:-1],
    )
    between = (
        FlightState(start.time_s + t, start.x_m + ahead * x, start.z_m + z, ahead * vx, vz)
        for t, x, z, vx, vz in points.T.tolist()
    )
    return (start, *between, end)


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
        if fast_mps == _FASTEST_ALLOWED_MPS:
            return None
        fast_mps = min(2 * fast_mps, _FASTEST_ALLOWED_MPS)
    return float(brentq(excess_m, 1e-3, fast_mps, xtol=1e-9))

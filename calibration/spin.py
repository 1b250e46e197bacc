"""Shots that the fast solution cannot fly: a drag coefficient that depends on speed, and the lift of a spinning shot.

The equations of a sphere of mass m and radius r that spins with a constant angular velocity ``w`` in still air::

    dv/dt = g - rho A / (2 m) (c_D(Re) |v| v - c r w x v)        Re = rho |v| 2 r / mu

The lift (Magnus force) is linear in the spin, ``c_L = c r |w| / |v|`` with c = 0.4, as Y. Tsuji, Y. Morikawa and O. Mizuno
measured it ("Experimental measurement of the Magnus force on a rotating sphere at low Reynolds numbers", Journal of Fluids
Engineering 107 (1985) 484-488: 0.40 +- 0.1 for Reynolds numbers of 550 to 1,600 and spin ratios up to 0.7); the shot is
about twice as fast, so take it for an estimate. The spin of so short a flight does not fade.

They are integrated by the classical fourth-order Runge-Kutta scheme, all shots abreast.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.air import Air
from calibration.constants import STANDARD_GRAVITY_MPS2
from calibration.drag import ConstantDrag, DragLaw
from calibration.flight import Projectile
from calibration.impact import Impacts, Plane

__all__ = ["MAGNUS_COEFFICIENT", "fly"]

FloatArray: TypeAlias = NDArray[np.float64]

MAGNUS_COEFFICIENT = 0.4
"""Lift coefficient for each unit of spin ratio; see the module's source."""

_LONGEST_STEP_S = 4e-3
_STEP_PER_DRAG_TIME = 0.01
_DEEPEST_M = 100.0
"""A shot that has fallen so far below 0, or below the lowest muzzle where that lies lower, is not followed any farther."""
_CORRECTIONS = 6
_DOWN = np.array([0.0, 0.0, -STANDARD_GRAVITY_MPS2])


def fly(
    speed_mps: ArrayLike,
    elevation_rad: ArrayLike,
    azimuth_rad: ArrayLike = 0.0,
    *,
    muzzle_m: ArrayLike,
    plane: Plane,
    projectile: Projectile,
    air: Air,
    law: DragLaw | None = None,
    spin_radps: ArrayLike = (0.0, 0.0, 0.0),
) -> Impacts:
    """Fly shots to a plane.

    Parameters
    ----------
    speed_mps, elevation_rad, azimuth_rad, muzzle_m, plane
        As for `calibration.impact.impacts`. A path whose top lies less than 0.03 mm before the plane may count as not
        meeting it.
    projectile : Projectile
        Its diameter and mass.
    air : Air
        Its density and viscosity.
    law : DragLaw, optional
        The drag; the projectile's own constant coefficient by default.
    spin_radps : (..., 3) array_like
        Angular velocity, board frame: one spin, or one for each shot. Back spin lifts: a shot towards +y is lifted by a
        spin about +x.

    Returns
    -------
    Impacts

    Raises
    ------
    ValueError
        A muzzle speed is not above 0, or not finite.
    """
    law = law or ConstantDrag(projectile.drag_coefficient)
    elevation, azimuth = (
        np.asarray(elevation_rad, dtype=np.float64),
        np.asarray(azimuth_rad, dtype=np.float64),
    )
    speed = np.asarray(speed_mps, dtype=np.float64)
    if not ((speed > 0) & (speed < np.inf)).all():
        raise ValueError("a muzzle speed is not above 0 m/s")
    level = np.cos(elevation)
    direction = np.stack(
        np.broadcast_arrays(level * np.sin(azimuth), level * np.cos(azimuth), np.sin(elevation)), axis=-1
    )
    velocity = speed[..., None] * direction
    shape = np.broadcast_shapes(velocity.shape, np.shape(muzzle_m), np.shape(spin_radps))
    velocity, place, spin = (
        np.array(np.broadcast_to(np.asarray(values, dtype=np.float64), shape)).reshape(-1, 3)
        for values in (velocity, muzzle_m, spin_radps)
    )
    radius_m = projectile.diameter_m / 2
    thickness = air.density_kgpm3 * math.pi * radius_m**2 / (2 * projectile.mass_kg)
    reynolds_per_mps = air.density_kgpm3 * projectile.diameter_m / air.viscosity_pas

    def pull(velocity: FloatArray, spin: FloatArray) -> FloatArray:
        speed = np.sqrt(np.einsum("ij,ij->i", velocity, velocity))
        drag = law.coefficient(reynolds_per_mps * speed) * speed
        pulled: FloatArray = _DOWN - thickness * (
            drag[:, None] * velocity - MAGNUS_COEFFICIENT * radius_m * np.cross(spin, velocity)
        )
        return pulled

    def moved(
        place: FloatArray, velocity: FloatArray, spin: FloatArray, step_s: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        h = step_s[:, None]
        a1 = pull(velocity, spin)
        v2 = velocity + h / 2 * a1
        a2 = pull(v2, spin)
        v3 = velocity + h / 2 * a2
        a3 = pull(v3, spin)
        v4 = velocity + h * a3
        a4 = pull(v4, spin)
        return place + h / 6 * (velocity + 2 * (v2 + v3) + v4), velocity + h / 6 * (a1 + 2 * (a2 + a3) + a4)

    normal = np.asarray(plane.normal) / math.hypot(*plane.normal)
    offset_m = float(normal @ np.asarray(plane.point_m))
    found = np.full((len(place), 3), np.nan), np.full((len(place), 3), np.nan), np.full(len(place), np.nan)
    left = np.arange(len(place))
    time_s = np.zeros(len(place))
    deepest_m = float(np.min(place[:, 2], initial=0.0)) - _DEEPEST_M
    while len(left):
        fastest = float(np.max(np.sqrt(np.einsum("ij,ij->i", velocity, velocity))))
        reynolds = np.array([reynolds_per_mps * fastest])
        braking = thickness * fastest * float(law.coefficient(reynolds)[0])
        step = np.full(len(left), min(_LONGEST_STEP_S, _STEP_PER_DRAG_TIME / max(braking, 1e-9)))
        next_place, next_velocity = moved(place, velocity, spin, step)
        hit = (place @ normal >= offset_m) & (next_place @ normal < offset_m)
        if hit.any():
            # Newton's method for the time within the step.
            within = step[hit]
            at, going = next_place[hit], next_velocity[hit]
            for _ in range(_CORRECTIONS):
                within = within - (at @ normal - offset_m) / (going @ normal)
                at, going = moved(place[hit], velocity[hit], spin[hit], within)
            found[0][left[hit]], found[1][left[hit]], found[2][left[hit]] = at, going, time_s[hit] + within
        on = ~hit & (next_place[:, 2] > deepest_m)
        left, place, velocity, spin, time_s = (
            left[on],
            next_place[on],
            next_velocity[on],
            spin[on],
            (time_s + step)[on],
        )
    end, going, when = found
    speeds = np.sqrt(np.einsum("ij,ij->i", going, going))
    angles = np.arctan2(going[:, 2], np.hypot(going[:, 0], going[:, 1]))
    return Impacts(
        end.reshape(shape), when.reshape(shape[:-1]), speeds.reshape(shape[:-1]), angles.reshape(shape[:-1])
    )

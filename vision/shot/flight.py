"""A free flight of the shot.

Between two contacts the shot falls freely, slowed by the air. Over a table the flight is flat, so along its first direction the
distance flown is ``ln(1 + k v t) / k`` with ``k = rho c_d A / (2 m)``, which solves ``dv/dt = -k v^2`` exactly, and gravity adds
``g t^2 / 2`` downwards, itself slowed to first order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["DRAG_PER_MM", "FLIGHT_UNKNOWNS", "GRAVITY_MM_PER_MS2", "Flight", "positions_and_slopes"]

FloatArray = NDArray[np.float64]

GRAVITY_MM_PER_MS2 = 9.80665e-3
DRAG_PER_MM = 0.045e-3
"""Drag of a smooth 6 mm ball of 0.12 to 0.25 g: k = 1.2 kg/m3 * 0.45 * 28.3 mm2 / (2 m), so 0.03 to 0.064 a metre."""
FLIGHT_UNKNOWNS = 8
"""What a flight is told by, in this order: start time (us), start x, y, z (mm), velocity x, y, z (m/s), drag (1/mm)."""


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """A free flight from a start."""

    start_us: float
    """When it starts."""
    start_mm: FloatArray
    """Where it starts, shape (3,), board frame."""
    velocity_mps: FloatArray
    """Velocity at the start, shape (3,), board frame; one m/s is one mm a millisecond."""
    drag_per_mm: float = DRAG_PER_MM
    """The ``k`` of the air's deceleration ``k v^2``."""

    @staticmethod
    def of(unknowns: FloatArray) -> Flight:
        """Make the flight of unknowns in the order of `FLIGHT_UNKNOWNS`, shape (8,)."""
        return Flight(float(unknowns[0]), unknowns[1:4].copy(), unknowns[4:7].copy(), float(unknowns[7]))

    @property
    def unknowns(self) -> FloatArray:
        """Its unknowns in the order of `FLIGHT_UNKNOWNS`, shape (8,)."""
        return np.array([self.start_us, *self.start_mm, *self.velocity_mps, self.drag_per_mm])

    def at(self, times_us: FloatArray | float) -> FloatArray:
        """Positions of the shot's centre, shape (N, 3) mm, at times of shape (N,) or one time."""
        times = np.atleast_1d(np.asarray(times_us, dtype=np.float64))
        return _positions(self.unknowns, times)

    def velocity_at(self, time_us: float) -> FloatArray:
        """Velocity in m/s, shape (3,)."""
        vx, vy, vz = self.velocity_mps.tolist()
        drag_speed = max(self.drag_per_mm, 1e-9) * max(math.sqrt(vx**2 + vy**2 + vz**2), 1e-9)
        elapsed_ms = (time_us - self.start_us) / 1000.0
        slowed = max(drag_speed * elapsed_ms, -0.5)
        half_fall = GRAVITY_MM_PER_MS2 / 2 * elapsed_ms**2
        sinking = GRAVITY_MM_PER_MS2 * elapsed_ms * (1 - slowed / 3) - half_fall * drag_speed / 3
        pace = 1 / (1 + slowed)
        return np.array([pace * vx, pace * vy, pace * vz - sinking])


def _positions(unknowns: FloatArray, times_us: FloatArray) -> FloatArray:
    """Positions (N, 3) at N times."""
    elapsed_ms = (times_us - unknowns[0]) / 1000.0
    velocity = unknowns[4:7]
    drag_speed = max(float(unknowns[7]), 1e-9) * max(float(np.sqrt(velocity @ velocity)), 1e-9)
    # The logarithm has no value far before the start of a fast flight; nothing there is asked for in earnest.
    slowed = np.maximum(drag_speed * elapsed_ms, -0.5)
    along = np.log1p(slowed) / drag_speed
    points: FloatArray = unknowns[1:4] + along[:, None] * velocity
    points[:, 2] -= GRAVITY_MM_PER_MS2 / 2 * elapsed_ms**2 * (1 - slowed / 3)
    return points


_THINGS = 7  # that change with time, of which positions and their slopes are sums


def _share_tables() -> tuple[FloatArray, NDArray[np.intp]]:
    """Shares of each thing in `positions_and_slopes`, those that are the same for every flight, and where the others go."""
    # By thing, then by axis, then by what it is a share of: the position, and its slopes.
    fixed = np.zeros((_THINGS, 3, 1 + FLIGHT_UNKNOWNS))
    place = np.arange(fixed.size).reshape(fixed.shape)
    one, along, fallen, _, sinking, _, _ = fixed
    one[:, 2:5] = along[:, 5:8] = np.eye(3)
    fallen[2, 0], sinking[2, 1] = -1.0, 1 / 1000.0
    of_one, of_along, _, of_pace, _, of_lag, of_held = place
    others = (
        of_one[:, 0],
        of_along[:, 0],
        of_pace[:, 1],
        of_lag[:, 5:8].ravel(),
        of_lag[:, 8],
        of_held[2, 5:],
    )
    return fixed.reshape(_THINGS, -1), np.concatenate(others)


_FIXED_SHARES, _OTHER_SHARES = _share_tables()


def positions_and_slopes(unknowns: FloatArray, times_us: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positions (N, 3), mm, at N times, and their slopes (N, 3, 8) in a flight's unknowns.

    Each of them is a sum of a few things that change with time; what share each thing has in which sum does not change.
    """
    start_us, x, y, z, vx, vy, vz, drag = unknowns.tolist()
    speed = max(math.sqrt(vx**2 + vy**2 + vz**2), 1e-9)
    drag = max(drag, 1e-9)
    things = np.empty((_THINGS, len(times_us)))
    one, along, fallen, pace, sinking, lag, held = things
    elapsed_ms = (times_us - start_us) / 1000.0
    slowed = np.maximum((drag * speed) * elapsed_ms, -0.5)
    half_fall = (GRAVITY_MM_PER_MS2 / 2) * elapsed_ms * elapsed_ms
    one[:] = 1.0
    np.divide(np.log1p(slowed), drag * speed, out=along)
    np.divide(slowed, 3.0, out=held)
    np.subtract(1.0, held, out=sinking)
    np.multiply(held, half_fall, out=held)
    np.subtract(half_fall, held, out=fallen)
    np.divide(1.0, 1.0 + slowed, out=pace)  # of the way along the first direction
    np.multiply(sinking, GRAVITY_MM_PER_MS2 * elapsed_ms, out=sinking)
    np.subtract(sinking, (drag * speed / 3) * half_fall, out=sinking)
    # Both the speed and the drag slow it: what a relative change of either does.
    np.subtract(elapsed_ms * pace, along, out=lag)
    u, v, w = vx / speed**2, vy / speed**2, vz / speed**2
    shares = _FIXED_SHARES.copy()
    shares.put(
        _OTHER_SHARES,
        (
            *(x, y, z),  # of one in the position
            *(vx, vy, vz),  # of the way along
            *(vx / -1000.0, vy / -1000.0, vz / -1000.0),  # of the pace in the slope in the start's time
            *(
                vx * u,
                vx * v,
                vx * w,
                vy * u,
                vy * v,
                vy * w,
                vz * u,
                vz * v,
                vz * w,
            ),  # of the lag in the velocity's
            *(vx / drag, vy / drag, vz / drag),  # and in the drag's
            *(u, v, w, 1 / drag),  # of what the air holds up of the fall
        ),
    )
    sums = (things.T @ shares).reshape(len(times_us), 3, 1 + FLIGHT_UNKNOWNS)
    return sums[:, :, 0], sums[:, :, 1:]

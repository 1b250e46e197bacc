"""How fast batches of shots are flown to the ground, beside the textbook way."""

import math
import time

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import timed
from benchmarks.figure import Figure
from calibration.flight import STANDARD_GRAVITY_MPS2, Projectile
from calibration.impact import Plane, impacts

_SHOTS = 100_000
_TIMES = 25
_HEIGHT_M = 0.05
_STEP_S = 0.05
"""Of the textbook's Runge-Kutta: long enough to be quick, and about a micrometre off."""
_PEER_SHOTS = 4_096
"""How many it takes at a time, so that they stay in the cache as ours do."""
_DRAG_PER_M = Projectile().drag_per_m()


def measure() -> list[Figure]:
    """Fly a batch both ways, and see that they agree."""
    rng = np.random.default_rng(1)
    speeds_mps = rng.normal(9.6, 0.1, _SHOTS)
    elevations_rad = rng.normal(math.radians(41.6), 0.01, _SHOTS)
    fast = impacts(
        speeds_mps,
        elevations_rad,
        muzzle_m=(0.0, 0.0, _HEIGHT_M),
        drag_per_m=_DRAG_PER_M,
        plane=Plane.level(0.0),
    ).point_m[:, 1]
    some = slice(0, 2_000)
    fine = _runge_kutta(speeds_mps[some], elevations_rad[some], _STEP_S / 50)
    error_m = float(np.max(np.abs(fast[some] - fine)))
    assert error_m < 1e-6, f"impacts are {error_m} m off"
    peer_error_m = float(np.max(np.abs(_in_pieces(speeds_mps, elevations_rad) - fast)))
    name = f"impacts of {_SHOTS:,} shots, within {max(error_m, 1e-9) * 1e6:.1g} um"
    peer = f"plain Runge-Kutta in numpy, within {peer_error_m * 1e6:.1f} um"
    figures = []
    for clock, what in ((time.perf_counter, "all cores against one"), (time.process_time, "for CPU time")):
        _, spent_s = timed(
            lambda: impacts(
                speeds_mps,
                elevations_rad,
                muzzle_m=(0.0, 0.0, _HEIGHT_M),
                drag_per_m=_DRAG_PER_M,
                plane=Plane.level(0.0),
            ),
            _TIMES,
            clock,
        )
        _, peer_s = timed(lambda: _in_pieces(speeds_mps, elevations_rad), _TIMES, clock)
        figures.append(Figure(f"{name}, {what}", _SHOTS / spent_s, "1/s", peer, _SHOTS / peer_s))
    return figures


def _in_pieces(speeds_mps: NDArray[np.float64], elevations_rad: NDArray[np.float64]) -> NDArray[np.float64]:
    pieces = range(0, len(speeds_mps), _PEER_SHOTS)
    return np.concatenate(
        [
            _runge_kutta(speeds_mps[at : at + _PEER_SHOTS], elevations_rad[at : at + _PEER_SHOTS], _STEP_S)
            for at in pieces
        ]
    )


def _runge_kutta(
    speeds_mps: NDArray[np.float64], elevations_rad: NDArray[np.float64], step_s: float
) -> NDArray[np.float64]:
    """Range on the ground by the classical scheme with a fixed step, all shots abreast until the last is down."""

    def stepped(
        state: tuple[NDArray[np.float64], ...], h: float | NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], ...]:
        x, z, vx, vz = state
        drag = _DRAG_PER_M * np.sqrt(vx * vx + vz * vz)
        ax1, az1 = -drag * vx, -STANDARD_GRAVITY_MPS2 - drag * vz
        vx2, vz2 = vx + h / 2 * ax1, vz + h / 2 * az1
        drag = _DRAG_PER_M * np.sqrt(vx2 * vx2 + vz2 * vz2)
        ax2, az2 = -drag * vx2, -STANDARD_GRAVITY_MPS2 - drag * vz2
        vx3, vz3 = vx + h / 2 * ax2, vz + h / 2 * az2
        drag = _DRAG_PER_M * np.sqrt(vx3 * vx3 + vz3 * vz3)
        ax3, az3 = -drag * vx3, -STANDARD_GRAVITY_MPS2 - drag * vz3
        vx4, vz4 = vx + h * ax3, vz + h * az3
        drag = _DRAG_PER_M * np.sqrt(vx4 * vx4 + vz4 * vz4)
        ax4, az4 = -drag * vx4, -STANDARD_GRAVITY_MPS2 - drag * vz4
        return (
            x + h / 6 * (vx + 2 * (vx2 + vx3) + vx4),
            z + h / 6 * (vz + 2 * (vz2 + vz3) + vz4),
            vx + h / 6 * (ax1 + 2 * (ax2 + ax3) + ax4),
            vz + h / 6 * (az1 + 2 * (az2 + az3) + az4),
        )

    state: tuple[NDArray[np.float64], ...] = (
        np.zeros_like(speeds_mps),
        np.full_like(speeds_mps, _HEIGHT_M),
        speeds_mps * np.cos(elevations_rad),
        speeds_mps * np.sin(elevations_rad),
    )
    before = state
    while True:
        following = stepped(state, step_s)
        flying = following[1] >= 0
        before = tuple(np.where(flying, new, old) for new, old in zip(following, before, strict=True))
        if not flying.any():
            break
        state = following
    within_s = np.zeros_like(speeds_mps)
    landed = before
    for _ in range(4):
        within_s = within_s - landed[1] / landed[3]
        landed = stepped(before, within_s)
    return landed[0]

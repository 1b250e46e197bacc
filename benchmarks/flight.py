"""How fast batches of shots are flown to the ground, beside the textbook way; and one aim."""

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Figure
from calibration import aim
from calibration.flight import STANDARD_GRAVITY_MPS2, Projectile
from calibration.impact import Plane, impacts

_SHOTS = 100_000
_TIMES = 9
_HEIGHT_M = 0.05
_STEP_S = 0.02
"""Of the textbook's Runge-Kutta: its error is 1.3 um at worst then."""
_DRAG_PER_M = Projectile().drag_per_m()


def measure() -> list[Figure]:
    """Fly a batch both ways, see that they agree, and aim once."""
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
    fine = _runge_kutta(speeds_mps[some], elevations_rad[some], _STEP_S / 16)
    error_m = float(np.max(np.abs(fast[some] - fine)))
    assert error_m < 1e-6, f"impacts are {error_m} m off"
    peer_error_m = float(np.max(np.abs(_runge_kutta(speeds_mps, elevations_rad, _STEP_S) - fast)))
    spent_s = _least_s(
        lambda: impacts(
            speeds_mps,
            elevations_rad,
            muzzle_m=(0.0, 0.0, _HEIGHT_M),
            drag_per_m=_DRAG_PER_M,
            plane=Plane.level(0.0),
        )
    )
    peer_s = _least_s(lambda: _runge_kutta(speeds_mps, elevations_rad, _STEP_S))
    cannon = aim.Cannon(
        aim.Strip.of_side("A", 0.36, 0.81, 0.045),
        9.6,
        _DRAG_PER_M,
        _HEIGHT_M,
        0.06,
        aim.Limits(0.03, 0.33),
        aim.Limits(-0.5, 0.5),
        aim.Limits(-0.25, 0.78),
    )
    aim_s = _least_s(lambda: aim.solve(cannon, (0.1, 0.6, 0.02)))
    return [
        Figure(
            f"impacts of {_SHOTS:,} shots, all cores, within {max(error_m, 1e-9) * 1e6:.1g} um",
            _SHOTS / spent_s,
            "1/s",
            f"plain Runge-Kutta in numpy, within {peer_error_m * 1e6:.1f} um",
            _SHOTS / peer_s,
        ),
        Figure("one aim", 1e3 * aim_s, "ms", "what the gunner may wait", 2.0),
    ]


def _runge_kutta(
    speeds_mps: NDArray[np.float64], elevations_rad: NDArray[np.float64], step_s: float
) -> NDArray[np.float64]:
    """Range on the ground by the classical scheme with a fixed step, as a textbook writes it."""
    state = np.stack(
        [
            np.zeros_like(speeds_mps),
            np.full_like(speeds_mps, _HEIGHT_M),
            speeds_mps * np.cos(elevations_rad),
            speeds_mps * np.sin(elevations_rad),
        ]
    )

    def slope(state: NDArray[np.float64]) -> NDArray[np.float64]:
        drag = _DRAG_PER_M * np.sqrt(state[2] * state[2] + state[3] * state[3])
        return np.stack([state[2], state[3], -drag * state[2], -STANDARD_GRAVITY_MPS2 - drag * state[3]])

    def stepped(state: NDArray[np.float64], step_s: float | NDArray[np.float64]) -> NDArray[np.float64]:
        first = slope(state)
        second = slope(state + step_s / 2 * first)
        third = slope(state + step_s / 2 * second)
        fourth = slope(state + step_s * third)
        result: NDArray[np.float64] = state + step_s / 6 * (first + 2 * (second + third) + fourth)
        return result

    before = state
    while True:
        following = stepped(state, step_s)
        flying = following[1] >= 0
        before = np.where(flying, following, before)
        if not flying.any():
            break
        state = following
    within_s = np.zeros_like(speeds_mps)
    landed = before
    for _ in range(4):
        within_s = within_s - landed[1] / landed[3]
        landed = stepped(before, within_s)
    return landed[0]


def _least_s(act: Callable[[], object]) -> float:
    """Do something a few times; return its least wall time in s, since more than one core works."""
    spent_s = []
    for _ in range(_TIMES):
        begun_s = time.perf_counter()
        act()
        spent_s.append(time.perf_counter() - begun_s)
    return min(spent_s)

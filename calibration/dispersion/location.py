"""Where a group lies: its centre with intervals, and whether that may be the point of aim."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from calibration.dispersion.shots import FLAT, TAIL, Estimate, GroupError, Shots

__all__ = ["centre_interval", "hotelling_p", "on_a_line"]


def on_a_line(covariance: NDArray[np.float64]) -> bool:
    """Whether a covariance has no more than rounding across its longer axis."""
    least, most = np.linalg.eigvalsh(covariance)
    return bool(least <= FLAT * most)


def centre_interval(shots: Shots) -> tuple[Estimate, Estimate]:
    """Return x and y of the centre, each with its interval by Student's t.

    Raises
    ------
    GroupError
        If there are fewer than 2 shots, or they all lie at one place.
    """
    shots.need(2, "an interval of the centre")
    half = stdtrit(len(shots) - 1, 1 - TAIL) * np.sqrt(np.diag(shots.covariance) / len(shots))
    x, y = (
        Estimate(float(value), float(value - by), float(value + by))
        for value, by in zip(shots.centre, half, strict=True)
    )
    return x, y


def hotelling_p(shots: Shots) -> float:
    """Return how probable a centre at least as far off is, where the true centre is the point of aim.

    H. Hotelling, "The generalization of Student's ratio", Annals of Mathematical Statistics 2 (1931) 360. The tail of
    an F distribution with 2 degrees of freedom above has a closed form.

    Raises
    ------
    GroupError
        If there are fewer than 3 shots, or they lie on a line.
    """
    shots.need(3, "a test of the centre")
    if on_a_line(shots.covariance):
        raise GroupError(f"a test of the centre takes shots beside a line; all {len(shots)} lie on one")
    square = len(shots) * float(shots.centre @ np.linalg.solve(shots.covariance, shots.centre))
    return float((1 + square / (len(shots) - 1)) ** (-(len(shots) - 2) / 2))

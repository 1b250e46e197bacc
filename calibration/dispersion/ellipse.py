"""The shape of a group: its confidence ellipse, and whether it is round."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibration.dispersion.shots import FLAT, Shots

__all__ = ["Ellipse", "confidence_ellipse", "roundness_p"]


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse about the group's centre."""

    semi_major: float
    semi_minor: float
    angle_rad: float
    """From the x axis to the longer axis, counter-clockwise, above -pi/2 to pi/2."""


def confidence_ellipse(shots: Shots, level: float) -> Ellipse:
    """Return the ellipse of the sample's covariance that holds a share of the shots.

    Its squared Mahalanobis distance is 2 F(level; 2, n - 1), the F quantile of J. Fox and S. Weisberg's data ellipse
    ("An R Companion to Applied Regression", 3rd edition, 2019): a little more than the chi-square
    quantile of 2 degrees of freedom, for the covariance is an estimate. With 2 degrees of freedom above, the
    quantile has a closed form.

    Raises
    ------
    GroupError
        If there are fewer than 2 shots, or they all lie at one place.
    """
    shots.need(2, "an ellipse")
    freedom = len(shots) - 1
    square = freedom * math.expm1(-2 / freedom * math.log1p(-level))
    variances, axes = np.linalg.eigh(shots.covariance)
    # A line of shots has a shorter axis of nothing but rounding.
    variances = np.where(variances <= FLAT * variances[1], 0.0, variances)
    minor, major = np.sqrt(square * variances)
    x, y = axes[:, 1]
    angle_rad = math.pi / 2 - (math.pi / 2 - math.atan2(y, x)) % math.pi
    return Ellipse(float(major), float(minor), angle_rad)


def roundness_p(shots: Shots) -> float:
    """Return how probable a group at least as elongated is, where the true spread is round and normal.

    Mauchly's criterion W = 4 det / trace^2 (J. W. Mauchly, "Significance test for sphericity of a normal n-variate
    distribution", Annals of Mathematical Statistics 11 (1940) 204), whose distribution is exact in two dimensions:
    P(W <= w) = w^((n - 2) / 2).

    Raises
    ------
    GroupError
        If there are fewer than 3 shots, or they all lie at one place.
    """
    shots.need(3, "a test of roundness")
    variances = np.linalg.eigvalsh(shots.covariance / np.trace(shots.covariance))
    roundness = 4 * max(float(variances[0]), 0.0) * float(variances[1])
    return float(min(roundness, 1.0) ** ((len(shots) - 2) / 2))

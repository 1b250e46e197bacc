"""Probability of a circle under a normal distribution of any shape, and the circle of a probability.

About the group's centre this is the Hoyt distribution (R. S. Hoyt, "Probability functions for the modulus and angle of
the normal complex variate", Bell System Technical Journal 26 (1947) 318); about any other point the offset circle
of A. R. DiDonato and M. P. Jarnagin, "Integration of the general bivariate Gaussian distribution over an offset
circle", Mathematics of Computation 15 (1961) 375. Neither has a closed form.

One direction is integrated in closed form, chord by chord, and the other by Gauss-Legendre quadrature over the angle
under which the circle's centre sees the chord's end: that takes the square roots off the ends. Chords along the
group's longer axis vary smoothly, unless the group lies far out along its shorter axis, where the circle's rim
cuts through it almost straight: there chords along the line to the group do. The error stays below 1e-9 for offsets
up to 1e5 and axes down to 1e-3 of the longer one, and is usually nearer to 1e-13.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

__all__ = ["CircleProbability"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)
_REACH = 9.0  # sigmas; beyond lie 1e-19 of the shots
_FLAT = 1e-7  # shorter over longer axis below which a group is a line
_RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class CircleProbability:
    """Circles about the origin, and the shots of a normal distribution within them.

    Made by `CircleProbability.of`. `across` runs over the chords, `along` within one.
    """

    across_mean: float
    across_sd: float
    """0: all shots lie on one chord."""
    along_mean: float
    slope: float
    """How the mean along a chord moves with the place across."""
    along_sd: float
    """Within one chord."""
    farthest: float
    """Distance of the distribution's mean from the origin."""
    longest_sd: float
    """Standard deviation along the longer axis."""

    @classmethod
    def of(cls, mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> Self:
        """Take a normal distribution by its mean, shape (2,), and its covariance, shape (2, 2), not zero."""
        variances, axes = np.linalg.eigh(covariance)
        shorter, longer = np.sqrt(np.maximum(variances, 0.0))
        distance = float(np.hypot(*mean))
        across, along = axes.T
        on_across, on_along = abs(across @ mean), abs(along @ mean)
        if on_across * shorter > 2 * longer * (on_along + longer):
            along = mean / distance
            across = np.array([-along[1], along[0]])
        variance = max(float(across @ covariance @ across), 0.0)
        flat = shorter <= _FLAT * longer
        slope = 0.0 if flat else float(along @ covariance @ across) / variance
        return cls(
            across_mean=float(across @ mean),
            across_sd=0.0 if flat else math.sqrt(variance),
            along_mean=float(along @ mean),
            slope=slope,
            along_sd=math.sqrt(max(float(along @ covariance @ along) - slope**2 * variance, 0.0)),
            farthest=distance,
            longest_sd=float(longer),
        )

    def within(self, radius: float) -> float:
        """Return the probability of the circle."""
        if not self.across_sd:
            half_square = radius**2 - self.across_mean**2
            return 0.0 if half_square <= 0 else float(self._chord(math.sqrt(half_square), self.along_mean))
        left = max(-radius, self.across_mean - _REACH * self.across_sd)
        right = min(radius, self.across_mean + _REACH * self.across_sd)
        if left >= right:
            return 0.0
        first, last = math.asin(left / radius), math.asin(right / radius)
        angle = (first + last) / 2 + (last - first) / 2 * _NODES
        beside = radius * np.sin(angle) - self.across_mean
        half_chord = radius * np.cos(angle)
        density = np.exp(-((beside / self.across_sd) ** 2) / 2) / (math.sqrt(2 * math.pi) * self.across_sd)
        share = self._chord(half_chord, self.along_mean + self.slope * beside)
        # The place across moves by half_chord for each radian.
        return min(1.0, (last - first) / 2 * float(_WEIGHTS @ (density * share * half_chord)))

    def radius_holding(self, level: float) -> float:
        """Return the radius of the circle of a probability above 0 and below 1, to 1e-12 of its length."""
        # Were it round with the longer sigma, about a centre as far out, more would lie outside.
        enough = self.farthest + self.longest_sd * math.sqrt(-2 * math.log1p(-level))
        return float(
            brentq(
                lambda radius: self.within(radius) - level,
                enough * 1e-9,
                enough * (1 + 1e-9),
                xtol=enough * 1e-15,
                rtol=_RELATIVE_TOLERANCE,
            )
        )

    def _chord(
        self, half_chord: NDArray[np.float64] | float, mean: NDArray[np.float64] | float
    ) -> NDArray[np.float64]:
        """Return the probability of chords from -half_chord to half_chord."""
        share: NDArray[np.float64] = ndtr((half_chord - mean) / self.along_sd) - ndtr(
            (-half_chord - mean) / self.along_sd
        )
        return share

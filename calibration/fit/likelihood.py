"""How well a cannon explains what was measured: normal equations and restricted likelihood.

Every shot leaves with a speed of its own, a share ``e`` off the mean, with the standard deviation ``scatter``. That moves
all that is measured of this shot together, along ``g = d(prediction) / d(ln speed)``. So the measurements of shot i have
the covariance ``S_i = scatter^2 g g' + D_i`` with the tools' own variances on the diagonal of ``D_i``; the inverse of such
a matrix needs no more than sums over the shot's measurements (Sherman and Morrison 1950). The scatter and the noise of
places are found by restricted maximum likelihood (H. D. Patterson, R. Thompson, Biometrika 58 (1971) 545), which does not
take the parameters for known while it judges the noise: with a dozen shots, that matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.fit.model import Observed

__all__ = ["Linear", "Spread", "linearised"]

FloatArray: TypeAlias = NDArray[np.float64]

_WORST = 1e12
"""Of a likelihood that there is not: worse than all others, and a number, as whoever seeks the best reckons with it."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What is left to chance."""

    scatter: float
    """Standard deviation of the speed from shot to shot, as a share of it."""
    place_factor: float
    """Noise of places over what was stated of the tools."""


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """The measurements near one set of parameters: residuals and slopes, with what was known beforehand."""

    residual: FloatArray
    """(m,)"""
    slope: FloatArray
    """(m, a), of the a parameters that may move."""
    along_speed: FloatArray
    """g, (m,)"""
    variance: FloatArray
    """Of the tools, (m,)."""
    is_place: NDArray[np.bool_]
    first: NDArray[np.intp]
    """First measurement of each shot, (n,)."""
    shot: NDArray[np.intp]
    weight: FloatArray
    """Of each shot, (n,); 1, but for shots that a robust fit mistrusts."""
    precision: FloatArray
    """Known beforehand of each moving parameter, (a,); 0: nothing."""
    pull: FloatArray
    """From here to what was assumed, (a,)."""

    @property
    def is_lost(self) -> bool:
        """Whether there is no way on from here: a shot never comes down, or what may move moves no measurement."""
        seen = np.any(self.slope != 0, axis=0) | (self.precision > 0)
        return not (np.isfinite(self.residual).all() and np.isfinite(self.slope).all() and seen.all())

    def normal(self, spread: Spread) -> tuple[FloatArray, FloatArray, float, float]:
        """Return the information matrix, the gradient, the sum of squares and the log determinant of all S_i."""
        variance = np.where(self.is_place, spread.place_factor**2, 1.0) * self.variance
        weights = self.weight[self.shot] / variance
        weighted = self.slope * weights[:, None]
        information = self.slope.T @ weighted
        gradient = weighted.T @ self.residual
        squares = float(weights @ self.residual**2)
        by_shot = np.add.reduceat(self.along_speed**2 / variance, self.first)
        shrink = spread.scatter**2 / (self.weight * (1.0 + spread.scatter**2 * by_shot))
        across = np.add.reduceat(weighted * self.along_speed[:, None], self.first, axis=0)
        aside = np.add.reduceat(weights * self.along_speed * self.residual, self.first)
        information -= across.T @ (shrink[:, None] * across)
        gradient -= across.T @ (shrink * aside)
        squares -= float(shrink @ aside**2)
        logarithm = float(np.sum(np.log(variance)) + np.sum(np.log1p(spread.scatter**2 * by_shot)))
        information += np.diag(self.precision)
        gradient += self.precision * self.pull
        squares += float(self.precision @ self.pull**2)
        return information, gradient, squares, logarithm

    def restricted(self, spread: Spread) -> float:
        """Return minus twice the restricted log likelihood, up to a constant."""
        information, gradient, squares, logarithm = self.normal(spread)
        sign, volume = np.linalg.slogdet(information)
        if sign <= 0:
            return _WORST
        return logarithm + float(volume) + squares - float(gradient @ np.linalg.solve(information, gradient))

    def distances(self, spread: Spread) -> FloatArray:
        """Return the squared distance of each shot from what was expected, in standard deviations; (n,)."""
        variance = np.where(self.is_place, spread.place_factor**2, 1.0) * self.variance
        by_shot = np.add.reduceat(self.along_speed**2 / variance, self.first)
        aside = np.add.reduceat(self.along_speed * self.residual / variance, self.first)
        squares: FloatArray = np.add.reduceat(self.residual**2 / variance, self.first)
        squares -= spread.scatter**2 / (1.0 + spread.scatter**2 * by_shot) * aside**2
        return np.maximum(squares, 0.0)  # less than that is rounding


def linearised(
    data: Observed,
    predicted: FloatArray,
    slope: FloatArray,
    along_speed: FloatArray,
    *,
    weight: FloatArray,
    precision: FloatArray,
    pull: FloatArray,
) -> Linear:
    """Put the measurements beside what was predicted of them."""
    return Linear(
        residual=data.value - predicted,
        slope=slope,
        along_speed=along_speed,
        variance=data.sd**2,
        is_place=data.is_place,
        first=np.flatnonzero(np.diff(data.shot, prepend=-1)),
        shot=data.shot,
        weight=weight,
        precision=precision,
        pull=pull,
    )

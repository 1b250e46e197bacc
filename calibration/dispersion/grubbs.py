"""Radii from the moments of the squared distance: three approximations to the correlated normal.

Under a normal distribution of any shape the squared distance from a point is a sum of weighted chi-squares, whose
cumulants are simple. F. E. Grubbs ("Approximate circular and noncircular offset probabilities of hitting",
Operations Research 12 (1964) 51) replaces that sum by one chi-square with the same first cumulants. How many
cumulants are matched, and how, makes the three variants:

- `PATNAIK`: mean and variance, by a multiple of a chi-square (P. B. Patnaik, "The non-central chi-square and
  F-distributions and their applications", Biometrika 36 (1949) 202);
- `PEARSON`: skewness too, by a shifted multiple (E. S. Pearson, "Note on an approximation to the distribution of
  non-central chi-square", Biometrika 46 (1959) 364, for sums as in J. P. Imhof, Biometrika 48 (1961) 419);
- `LIU`: kurtosis too where it can be, by a non-central one (H. Liu, Y. Tang and H. H. Zhang, "A new chi-square
  approximation to the distribution of non-negative definite quadratic forms in non-central normal variables",
  Computational Statistics and Data Analysis 53 (2009) 853).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray

from calibration.dispersion import noncentral

__all__ = ["GrubbsVariant", "MatchedChiSquare"]


class GrubbsVariant(StrEnum):
    """Which cumulants are matched."""

    PATNAIK = "grubbs_patnaik"
    PEARSON = "grubbs_pearson"
    LIU = "grubbs_liu"


@dataclass(frozen=True, slots=True)
class MatchedChiSquare:
    """A chi-square that stands for the squared distance: distance^2 = shift + scale * chi-square."""

    shift: float
    scale: float
    freedom: float
    noncentrality: float

    @classmethod
    def of(cls, variant: GrubbsVariant, mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> Self:
        """Match the squared distance from the origin under a normal distribution.

        Parameters
        ----------
        variant : GrubbsVariant
            How.
        mean : ndarray, shape (2,)
            Of the shots.
        covariance : ndarray, shape (2, 2)
            Of the shots; not zero.
        """
        variances, axes = np.linalg.eigh(covariance)
        squares = (axes.T @ mean) ** 2
        # The cumulants, without the factors 2^(k - 1) (k - 1)!.
        first, second, third, fourth = (
            float(np.sum(variances**k + k * variances ** (k - 1) * squares)) for k in (1, 2, 3, 4)
        )
        match variant:
            case GrubbsVariant.PATNAIK:
                return cls(0.0, second / first, first**2 / second, 0.0)
            case GrubbsVariant.PEARSON:
                return cls._shifted(first, second, second**3 / third**2, 0.0)
            case GrubbsVariant.LIU:
                skewness, kurtosis = third / second**1.5, fourth / second**2
                if skewness**2 <= kurtosis:
                    return cls._shifted(first, second, 1 / skewness**2, 0.0)
                a = 1 / (skewness - math.sqrt(skewness**2 - kurtosis))
                noncentrality = skewness * a**3 - a**2
                return cls._shifted(first, second, a**2 - 2 * noncentrality, noncentrality)

    @classmethod
    def _shifted(cls, first: float, second: float, freedom: float, noncentrality: float) -> Self:
        """Return the multiple of a chi-square that has the first two cumulants."""
        scale = math.sqrt(second / (freedom + 2 * noncentrality))
        return cls(first - scale * (freedom + noncentrality), scale, freedom, noncentrality)

    def within(self, radius: float) -> float:
        """Return the probability of the circle about the origin."""
        return noncentral.probability((radius**2 - self.shift) / self.scale, self.freedom, self.noncentrality)

    def radius_holding(self, level: float) -> float:
        """Return the radius of the circle of a probability above 0 and below 1.

        A shifted chi-square can begin below zero: a level that falls there has radius 0.
        """
        quantile = noncentral.quantile(level, self.freedom, self.noncentrality)
        return math.sqrt(max(self.shift + self.scale * quantile, 0.0))

"""Sigma from what can be measured with a ruler: extreme spread, figure of merit, diagonal of the upright box.

Of a round normal group each of them is on average sigma times a factor that depends on the number of shots. The
factors stand in `range_statistics.csv`; `_range_table.py` makes them. Those of the figure of merit are exact, the
others have standard errors below 0.015 % (extreme spread) and 0.001 % (diagonal).
"""

from __future__ import annotations

import math
from enum import StrEnum
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaincinv, gammaln

from calibration.dispersion.shots import TAIL, Estimate, GroupError

__all__ = ["RangeStatistic", "range_factors", "sigma_from_range"]

_MOST_FREEDOM = 1e7
_MOST_GROUPS = 10_000


class RangeStatistic(StrEnum):
    """What is measured."""

    EXTREME_SPREAD = "extreme_spread"
    """The largest distance between two shots."""
    FIGURE_OF_MERIT = "figure_of_merit"
    """The mean of width and height."""
    DIAGONAL = "diagonal"
    """Of the upright box."""


def range_factors(statistic: RangeStatistic, shots: int) -> tuple[float, float]:
    """Return mean and standard deviation of a range statistic of a round normal group of sigma 1.

    Between the numbers of shots of the table the factors are read off straight lines over the logarithm of the
    number, which costs less than 0.1 %.

    Raises
    ------
    GroupError
        If the table does not have that number of shots: it goes from 2 to 100.
    """
    table = _table()
    numbers = table["shots"]
    if not numbers[0] <= shots <= numbers[-1]:
        raise GroupError(
            f"range statistics are known for {numbers[0]:g} to {numbers[-1]:g} shots; the group has {shots}"
        )
    mean, sd = (
        float(np.interp(math.log(shots), np.log(numbers), table[column]))
        for column in (statistic.value, f"{statistic.value}_sd")
    )
    return mean, sd


def sigma_from_range(statistic: RangeStatistic, value: float, shots: int, *, groups: int = 1) -> Estimate:
    """Estimate sigma from a range statistic.

    Parameters
    ----------
    statistic : RangeStatistic
        What was measured.
    value : float
        Its value; with several groups, their mean.
    shots : int
        In each group, 2 to 100.
    groups : int
        How many groups of so many shots were measured.

    Returns
    -------
    Estimate
        In the unit of `value`. The interval takes the mean statistic as a multiple of a chi with the same coefficient
        of variation (P. B. Patnaik, "The use of mean range as an estimator of variance in statistical tests",
        Biometrika 37 (1950) 78); its ends are right to within 3 %.

    Raises
    ------
    GroupError
        If the table does not have that number of shots, there are no groups or over 10,000, or the value is not
        above 0.
    """
    if not (1 <= groups <= _MOST_GROUPS and value > 0):
        raise GroupError(
            f"a range statistic is above 0 and of 1 to {_MOST_GROUPS} groups; found {value:g} of {groups}"
        )
    mean, sd = range_factors(statistic, shots)
    freedom, correction = _matching_chi(sd / mean / math.sqrt(groups))
    least, most = 2 * gammaincinv(freedom / 2, [TAIL, 1 - TAIL])
    sigma = value / mean
    return Estimate(
        sigma, sigma * correction * math.sqrt(freedom / most), sigma * correction * math.sqrt(freedom / least)
    )


def _matching_chi(variation: float) -> tuple[float, float]:
    """Return the degrees of freedom of the chi with a coefficient of variation, and the mean of chi / sqrt(them)."""

    def mean(freedom: float) -> float:
        return math.exp(gammaln((freedom + 1) / 2) - gammaln(freedom / 2)) * math.sqrt(2 / freedom)

    freedom = brentq(lambda found: 1 / mean(found) ** 2 - 1 - variation**2, 1.0, _MOST_FREEDOM)
    return float(freedom), mean(freedom)


@cache
def _table() -> NDArray[np.void]:
    path = resources.files("calibration.dispersion") / "range_statistics.csv"
    with path.open(encoding="utf-8") as lines:
        return np.genfromtxt(lines, delimiter=",", names=True)

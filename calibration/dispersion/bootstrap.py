"""Intervals that ask nothing of the shots' distribution: the bootstrap."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from calibration.dispersion.rayleigh import c4
from calibration.dispersion.shots import Estimate, GroupError, Shots

__all__ = ["Bootstrapped", "bootstrap"]

_FEWEST = 5
_LEVEL = 0.95


class Bootstrapped(StrEnum):
    """Figures that a bootstrap gives honest intervals of."""

    SIGMA = "sigma"
    CEP = "cep"
    """Rayleigh's radius of half the shots."""
    MEAN_RADIUS = "mean_radius"
    OFFSET = "offset"
    """Of the centre from the point of aim."""


def bootstrap(
    shots: Shots, rng: np.random.Generator, *, resamples: int = 9_999
) -> Mapping[Bootstrapped, Estimate]:
    """Return 95 % intervals by the bias-corrected and accelerated bootstrap.

    B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987) 171.
    Whole shots are drawn anew, x and y together. The largest of a sample has no bootstrap, so extreme spread, boxes
    and smallest circle have no interval here.

    Parameters
    ----------
    shots : Shots
        5 or more; below about 10 the intervals come out too short.
    rng : numpy.random.Generator
        Draws the samples.
    resamples : int
        How many.

    Raises
    ------
    GroupError
        If there are fewer than 5 shots, all lie at one place, or they lie so evenly that whichever is left out makes no
        difference, as at the corners of a square: how skewed a figure is shows by that difference.
    """
    shots.need(_FEWEST, "a bootstrap")
    x, y = shots.points.T
    estimates = {}
    for figure, statistic in _STATISTICS.items():
        with warnings.catch_warnings():
            # Said below, in our words; where no shot makes a difference, the skewness is 0 over 0.
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)
            warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
            interval = stats.bootstrap(
                (x, y),
                statistic,
                paired=True,
                vectorized=True,
                n_resamples=resamples,
                confidence_level=_LEVEL,
                method="BCa",
                rng=rng,
            ).confidence_interval
        if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
            raise GroupError(
                f"a bootstrap takes shots that each make a difference; these {len(shots)} lie so evenly that it is "
                "the same whichever is left out"
            )
        value = float(statistic(x, y, axis=-1))
        estimates[figure] = Estimate(value, float(interval.low), float(interval.high))
    return MappingProxyType(estimates)


def _radii(x: NDArray[np.float64], y: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    radii: NDArray[np.float64] = np.hypot(
        x - x.mean(axis=axis, keepdims=True), y - y.mean(axis=axis, keepdims=True)
    )
    return radii


def _sigma(x: NDArray[np.float64], y: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    freedom = 2 * (x.shape[axis] - 1)
    sigmas: NDArray[np.float64] = np.sqrt((_radii(x, y, axis) ** 2).sum(axis=axis) / freedom) / c4(
        freedom + 1
    )
    return sigmas


def _cep(x: NDArray[np.float64], y: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    return _sigma(x, y, axis) * math.sqrt(2 * math.log(2))


def _mean_radius(x: NDArray[np.float64], y: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    means: NDArray[np.float64] = _radii(x, y, axis).mean(axis=axis)
    return means


def _offset(x: NDArray[np.float64], y: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    offsets: NDArray[np.float64] = np.hypot(x.mean(axis=axis), y.mean(axis=axis))
    return offsets


_STATISTICS: Mapping[Bootstrapped, Callable[..., NDArray[np.float64]]] = MappingProxyType(
    {
        Bootstrapped.SIGMA: _sigma,
        Bootstrapped.CEP: _cep,
        Bootstrapped.MEAN_RADIUS: _mean_radius,
        Bootstrapped.OFFSET: _offset,
    }
)

"""How fast a group of shots is described."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import chi2

from benchmarks._timing import timed
from benchmarks.figure import Figure
from calibration.dispersion import LEVELS, Shots, describe
from calibration.dispersion.bootstrap import bootstrap

_SHOTS = 60
_TIMES = 50
_RESAMPLES = 1_999
_BAR_MS = 25.0
"""CPU time of the R package shotGroups 0.8.4 for its spread report of 60 shots, without bootstrap, on a machine like this."""


def measure() -> list[Figure]:
    """Describe a group of 60 shots, without and with a bootstrap."""
    points = np.random.default_rng(60).multivariate_normal([5, 3], [[100, 40], [40, 400]], size=_SHOTS)
    report_ms = _least_ms(lambda: describe(Shots.of(points)), _TIMES)
    name = f"full report of a group of {_SHOTS} shots, CPU"
    return [
        Figure(
            name,
            report_ms,
            "ms",
            "covariance and 3 chi-square quantiles alone",
            _least_ms(_floor(points), _TIMES),
        ),
        Figure(name, report_ms, "ms", "the R package's report, measured elsewhere", _BAR_MS, at_most=1.0),
        Figure(
            f"bootstrap intervals of 4 figures, {_RESAMPLES} samples, CPU",
            _least_ms(lambda: bootstrap(Shots.of(points), np.random.default_rng(1), resamples=_RESAMPLES), 3),
            "ms",
            "drawing the samples and their means alone",
            _least_ms(_drawing(points), 3),
        ),
    ]


def _floor(points: np.ndarray) -> Callable[[], object]:
    return lambda: (np.cov(points.T), [chi2.ppf(level, 2) for level in LEVELS])


def _drawing(points: np.ndarray) -> Callable[[], object]:
    def draw() -> object:
        rng = np.random.default_rng(1)
        return [points[rng.integers(_SHOTS, size=(_RESAMPLES, _SHOTS))].mean(axis=1) for _ in range(4)]

    return draw


def _least_ms(act: Callable[[], object], times: int) -> float:
    """Return the least CPU time of a few goes."""
    return 1000 * timed(act, times)[1]

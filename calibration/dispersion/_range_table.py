"""Makes `range_statistics.csv`: means and standard deviations of range statistics of a round normal group.

``python -m calibration.dispersion._range_table > calibration/dispersion/range_statistics.csv``

Width and height of a round normal group of sigma 1 are independent ranges of `n` normals (L. H. C. Tippett, "On the
extreme individuals and the range of samples taken from a normal population", Biometrika 17 (1925) 364), whose
moments are integrals, so the figure of merit is exact. The extreme spread and the diagonal are simulated with width
and height as control variates (W. G. Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 7): what is known of
those takes most of the chance out of these.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

__all__ = ["SHOTS", "range_moments", "simulate"]

SHOTS = (*range(2, 21), 22, 24, 26, 28, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100)
"""Numbers of shots that the table has."""

_GROUPS = 2_000_000
_GROUPS_AT_ONCE = 2_000
_SEED = 650


def range_moments(shots: int) -> tuple[float, float]:
    """Return mean and standard deviation of the range of `shots` normals of sigma 1, to 1e-10.

    The chance that a range is shorter than r is n times the integral of phi(x) (Phi(x + r) - Phi(x))^(n - 1).
    """
    x, x_weights = np.polynomial.legendre.leggauss(200)
    x, x_weights = 10 * x, 10 * x_weights
    r, r_weights = np.polynomial.legendre.leggauss(200)
    r, r_weights = 8 * (r + 1), 8 * r_weights
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    shorter = shots * (ndtr(x + r[:, None]) - ndtr(x)) ** (shots - 1) @ (density * x_weights)
    mean = float(r_weights @ (1 - shorter))
    mean_square = float(2 * (r_weights * r) @ (1 - shorter))
    return mean, float(np.sqrt(mean_square - mean * mean))


def simulate(shots: int, groups: int, rng: np.random.Generator) -> dict[str, tuple[float, float, float]]:
    """Return (mean, standard deviation, standard error of the mean) of extreme spread and diagonal."""
    range_mean, range_sd = range_moments(shots)
    range_square = range_mean**2 + range_sd**2
    drawn = np.concatenate(list(_draw(shots, groups, rng)), axis=1)
    spread, width, height = drawn
    # Their means are known: of w + h, of its square, of w^2 + h^2.
    controls = np.stack([width + height, (width + height) ** 2, width**2 + height**2], axis=1)
    known = np.array([2 * range_mean, 2 * range_square + 2 * range_mean**2, 2 * range_square])
    moments = {}
    for name, values in {"extreme_spread": spread, "diagonal": np.hypot(width, height)}.items():
        mean, error = _controlled(values, controls, known)
        mean_square, _ = _controlled(values**2, controls, known)
        moments[name] = (mean, float(np.sqrt(mean_square - mean**2)), error)
    return moments


def _draw(shots: int, groups: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Yield extreme spreads, widths and heights, some groups at a time."""
    for begun in range(0, groups, _GROUPS_AT_ONCE):
        x, y = rng.standard_normal((2, shots, min(_GROUPS_AT_ONCE, groups - begun)), dtype=np.float32)
        square = np.zeros(x.shape[1], np.float32)
        for lag in range(1, shots):
            dx, dy = x[lag:] - x[:-lag], y[lag:] - y[:-lag]
            np.maximum(square, (dx * dx + dy * dy).max(axis=0), out=square)
        yield np.stack([np.sqrt(square), np.ptp(x, axis=0), np.ptp(y, axis=0)]).astype(np.float64)


def _controlled(
    values: NDArray[np.float64], controls: NDArray[np.float64], known: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the mean of values, with what is known of the controls' means taken in, and its standard error."""
    design = np.column_stack([np.ones(len(values)), controls - known])
    fitted, residue, *_ = np.linalg.lstsq(design, values, rcond=None)
    return float(fitted[0]), float(np.sqrt(residue[0] / len(values) / len(values)))


def _main() -> None:
    rng = np.random.default_rng(_SEED)
    print("shots,extreme_spread,extreme_spread_sd,figure_of_merit,figure_of_merit_sd,diagonal,diagonal_sd")
    for shots in SHOTS:
        range_mean, range_sd = range_moments(shots)
        moments = simulate(shots, _GROUPS, rng)
        spread, diagonal = moments["extreme_spread"], moments["diagonal"]
        row = (*spread[:2], range_mean, range_sd / np.sqrt(2), *diagonal[:2])
        print(",".join([str(shots), *(f"{value:.5f}" for value in row)]), flush=True)
        print(f"{shots}: standard errors {spread[2]:.1e} and {diagonal[2]:.1e}", file=sys.stderr)


if __name__ == "__main__":
    _main()

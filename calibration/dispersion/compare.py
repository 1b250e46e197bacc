"""Whether groups lie at the same place, and spread alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, fdtri
from scipy.stats import kruskal, rankdata

from calibration.dispersion.location import on_a_line
from calibration.dispersion.rayleigh import sigma
from calibration.dispersion.shots import TAIL, Estimate, GroupError, Shots

__all__ = ["Comparison", "compare"]

_DRAWS = 9_999
_SEED = 1952
_BLOCK = 1_000_000  # radii that are drawn at a time: some 50 MB
_LARGE = 50  # shots, from which on chi-square is near enough, and drawing would take long


@dataclass(frozen=True, slots=True)
class Comparison:
    """How groups differ. Small probabilities speak against "all alike"."""

    sigmas: tuple[Estimate, ...]
    """Of each group."""
    same_centre_p: float | None
    """How probable centres at least as different are, where all true centres are one.

    None: there are too few shots, or all lie on lines of one direction.
    """
    same_sigma_p: float
    """How probable sigmas at least as different are, where all true sigmas are one and spreads round and normal."""
    same_radii_p: float | None
    """The same asked of the ranks of distances from each group's centre, so that one wild shot counts for little.

    None: all distances are alike.
    """
    sigma_ratio: Estimate | None
    """The second group's sigma over the first's; None where there are more than two groups."""


def compare(groups: Sequence[Shots]) -> Comparison:
    """Compare two or more groups.

    Notes
    -----
    Centres: Wilks's lambda, the determinant of the scatter within groups over that of all shots. For points of a
    plane its square root gives an exact F (C. R. Rao, "Linear Statistical Inference and Its Applications", 2nd
    edition, 1973, section 8c.5); for two groups that is Hotelling's test. The spread's shape may be any, the same in
    all groups.

    Sigmas: for two groups the F ratio of their variances with 2 (n - 1) degrees of freedom each, exact; for more
    M. S. Bartlett, "Properties of sufficiency and statistical tests", Proceedings of the Royal Society A 160 (1937)
    268. Ranks: W. H. Kruskal and W. A. Wallis, "Use of ranks in one-criterion variance analysis", Journal of the
    American Statistical Association 47 (1952) 583, of distances times sqrt(n / (n - 1)), for those from an estimated
    centre are shorter by that. Distances from one estimated centre are not independent, so that chi-square, by which
    that statistic is usually judged, would call 3 and 3 shots that are alike different in 18 % of cases. It is held
    against what 9,999 drawings of round normal groups of the same sizes give, the same ones each time, as long as a
    group has fewer than 50 shots. Alike groups are then called different at 5 % in 5 % of cases at most, whatever the
    shape of the ellipse.

    Raises
    ------
    GroupError
        If there are fewer than two groups, or one has fewer than 2 shots or no spread.
    """
    if len(groups) < 2:
        raise GroupError(f"a comparison takes 2 groups or more; there is {len(groups)}")
    sigmas = tuple(map(sigma, groups))
    freedoms = np.array([2.0 * (len(group) - 1) for group in groups])
    variances = np.array([float(group.radii @ group.radii) for group in groups]) / freedoms
    two = len(groups) == 2
    return Comparison(
        sigmas=sigmas,
        same_centre_p=_same_centre_p(groups),
        same_sigma_p=(_same_of_two_p if two else _same_of_several_p)(variances, freedoms),
        same_radii_p=_same_radii_p(groups),
        sigma_ratio=_ratio(sigmas, variances, freedoms) if two else None,
    )


def _same_centre_p(groups: Sequence[Shots]) -> float | None:
    shots, kinds = sum(map(len, groups)), len(groups)
    centre = sum((len(group) * group.centre for group in groups), np.zeros(2)) / shots
    within = sum(((len(group) - 1) * group.covariance for group in groups), np.zeros((2, 2)))
    between = sum(
        (len(group) * np.outer(group.centre - centre, group.centre - centre) for group in groups),
        np.zeros((2, 2)),
    )
    above, below = 2 * (kinds - 1), 2 * (shots - kinds - 1)
    if below <= 0 or on_a_line(within):
        return None
    wilks = float(np.linalg.det(within) / np.linalg.det(within + between))
    return float(fdtrc(above, below, (1 / math.sqrt(wilks) - 1) * below / above))


def _same_of_two_p(variances: NDArray[np.float64], freedoms: NDArray[np.float64]) -> float:
    ratio = variances[1] / variances[0]
    upper = float(fdtrc(freedoms[1], freedoms[0], ratio))
    lower = float(fdtrc(freedoms[0], freedoms[1], 1 / ratio))
    return min(1.0, 2 * min(upper, lower))


def _same_of_several_p(variances: NDArray[np.float64], freedoms: NDArray[np.float64]) -> float:
    total = freedoms.sum()
    statistic = total * math.log(freedoms @ variances / total) - freedoms @ np.log(variances)
    correction = 1 + (np.sum(1 / freedoms) - 1 / total) / (3 * (len(variances) - 1))
    return float(chdtrc(len(variances) - 1, statistic / correction))


def _same_radii_p(groups: Sequence[Shots]) -> float | None:
    sizes = [len(group) for group in groups]
    widened = [group.radii * math.sqrt(len(group) / (len(group) - 1)) for group in groups]
    # The two distances of a group of two are one, but for the last digits of the arithmetic.
    ranks = rankdata(np.round(np.concatenate(widened) / max(map(np.max, widened)), 9))
    if np.ptp(ranks) == 0:
        return None
    parted = np.split(ranks, np.cumsum(sizes)[:-1])
    if min(sizes) >= _LARGE:
        return float(kruskal(*parted).pvalue)
    # What Kruskal and Wallis add to and multiply this by is the same for all drawings.
    found = sum(float(each.sum()) ** 2 / len(each) for each in parted)
    rng = np.random.default_rng(_SEED)
    as_far = drawn = 0
    while drawn < _DRAWS:
        count = min(_DRAWS - drawn, max(1, _BLOCK // sum(sizes)))
        as_far += int(np.count_nonzero(_rank_sums(sizes, count, rng) >= found * (1 - 1e-9)))
        drawn += count
    return (1 + as_far) / (1 + _DRAWS)


def _rank_sums(sizes: Sequence[int], count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw groups that are alike so many times; give the sum over groups of (sum of ranks) squared over its shots."""
    squares = []
    for size in sizes:
        points = rng.standard_normal((count, size, 2))
        points -= points.mean(axis=1, keepdims=True)
        squares.append(np.sum(points**2, axis=2) * (size / (size - 1)))
    owners = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(np.concatenate(squares, axis=1), axis=1)]
    ranks = np.arange(1.0, owners.shape[1] + 1)
    total = np.zeros(count)
    for owner, size in enumerate(sizes):
        total += ((owners == owner) @ ranks) ** 2 / size
    return total


def _ratio(
    sigmas: Sequence[Estimate], variances: NDArray[np.float64], freedoms: NDArray[np.float64]
) -> Estimate:
    """Return the ratio of the sigmas; its interval is that of the variances' F ratio."""
    ratio = variances[1] / variances[0]
    lowest = ratio / fdtri(freedoms[1], freedoms[0], 1 - TAIL)
    highest = ratio * fdtri(freedoms[0], freedoms[1], 1 - TAIL)
    return Estimate(sigmas[1].value / sigmas[0].value, math.sqrt(lowest), math.sqrt(highest))

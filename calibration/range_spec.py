"""Does this cannon reach the range that the booklet names? An answer with its certainty, from measured shots.

Theory of operation
-------------------
The mean range is known to lie in an interval only, so "the mean differs from 650 cm" and "it does not" are both the
wrong question: with many shots every cannon differs, with few none does. The question is whether the mean lies within
an agreed margin, and it has three answers:

- *meets*: two one-sided t tests at level alpha both refuse that the mean lies outside the margin (D. J. Schuirmann,
  "A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of average
  bioavailability", J. Pharmacokinet. Biopharm. 15 (1987) 657);
- *does not meet*: a one-sided t test at the same level refuses that it lies inside;
- *not enough shots to say*: neither.

Seen otherwise: the interval of confidence 1 - 2 alpha lies wholly inside the margin, wholly outside it, or across an
edge. The chance that a given number of shots will do is the power of the two tests, exact for normal scatter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc, gammaincinv, ndtr, stdtr, stdtrit

__all__ = [
    "FEWEST_SHOTS",
    "Drift",
    "DriftUnknown",
    "RangeError",
    "RangeFinding",
    "RangeSpec",
    "SpecVerdict",
    "assess_range",
    "shots_needed",
    "tost_power",
]

FEWEST_SHOTS = 3
"""Fewer shots have no scatter to speak of."""

_TRIMMED = 0.2
_WILD_LEVEL = 0.01
_COLLINEAR = 0.95
_NODES = 200
_MOST_SHOTS = 10_000


class RangeError(ValueError):
    """Ranges from which nothing can be concluded, in one sentence."""


class SpecVerdict(StrEnum):
    """Whether the mean range lies within the margin of the one that was promised."""

    MEETS = "meets"
    DOES_NOT_MEET = "does not meet"
    NOT_ENOUGH_SHOTS = "not enough shots to say"


@dataclass(frozen=True, slots=True)
class RangeSpec:
    """What was promised, and how sure one wants to be.

    Parameters
    ----------
    range_m : float
        The mean range promised; the booklet's 650 cm.
    margin : float
        How far the mean may lie off, as a part of `range_m`.
    alpha : float
        Level of each one-sided test: the risk of a wrong "meets", and of a wrong "does not meet".
    """

    range_m: float = 6.5
    margin: float = 0.05
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not (self.range_m > 0 and 0 < self.margin < 1 and 0 < self.alpha < 0.5):
            raise RangeError(
                f"expected a range above 0, a margin between 0 and 1 and a risk between 0 and 0.5, found {self}"
            )

    @property
    def margin_m(self) -> float:
        """The margin as a length."""
        return self.margin * self.range_m


class DriftUnknown(StrEnum):
    """Why the effect of something on the range cannot be told."""

    NOT_MEASURED = "not measured"
    ALL_ALIKE = "the same for every shot"
    TIED = "tied to the other: both changed together"
    TOO_FEW = "too few shots"


@dataclass(frozen=True, slots=True)
class Drift:
    """How the range changes with something, by least squares.

    Parameters
    ----------
    per_unit_m : float
        Change of the range for one shot, or one second.
    low_m, high_m : float
        Its 95 % interval.
    p_value : float
        How often chance alone would show as much.
    """

    per_unit_m: float
    low_m: float
    high_m: float
    p_value: float

    @property
    def shown(self) -> bool:
        """Whether the interval leaves 0 out."""
        return not self.low_m <= 0 <= self.high_m


@dataclass(frozen=True, slots=True)
class RangeFinding:
    """What the measured ranges say.

    Parameters
    ----------
    spec : RangeSpec
    shots : int
    mean_m, sd_m : float
        Of the ranges; sd with n - 1.
    mean_interval_m : tuple of float
        95 % t interval of the mean.
    trimmed_mean_m : float
        Mean without the shortest and the longest fifth, which a wild shot does not move.
    trimmed_interval_m : tuple of float, or None
        Its 95 % interval (J. W. Tukey and D. H. McLaughlin, Sankhya A 25 (1963) 331). Of few shots it is a little short: it holds
        the mean of 92.6 % of normal groups of 5, and of 94 % from 6 on. None where all that is left was read as one number: what
        the tape cannot part tells no scatter.
    equivalence_interval_m : tuple of float
        The interval of confidence 1 - 2 alpha on which the verdict rests.
    p_meets, p_fails : float
        Of the two one-sided tests together, and of the test that the mean lies outside the margin.
    verdict : SpecVerdict
    wild_shot : int or None
        Index of a shot that Grubbs' test at 1 % calls wild (F. E. Grubbs, Technometrics 11 (1969) 1). It stays in
        all the figures: whoever knows why it was wild may leave it out.
    with_shot_number, with_dwell : Drift or DriftUnknown
        How the range changes from shot to shot, and with each second that the cannon stood cocked; where both are
        known, each with the other held.
    """

    spec: RangeSpec
    shots: int
    mean_m: float
    sd_m: float
    mean_interval_m: tuple[float, float]
    trimmed_mean_m: float
    trimmed_interval_m: tuple[float, float] | None
    equivalence_interval_m: tuple[float, float]
    p_meets: float
    p_fails: float
    verdict: SpecVerdict
    wild_shot: int | None
    with_shot_number: Drift | DriftUnknown
    with_dwell: Drift | DriftUnknown

    def shots_for(self, certainty: float) -> int | None:
        """Return how many shots in all "meets" takes with a given certainty, were mean and scatter as seen.

        None where the mean seen lies outside the margin, or too near its edge.
        """
        return shots_needed(
            self.mean_m - self.spec.range_m,
            self.sd_m,
            margin_m=self.spec.margin_m,
            certainty=certainty,
            alpha=self.spec.alpha,
        )


def assess_range(
    ranges_m: ArrayLike,
    spec: RangeSpec,
    *,
    shot_numbers: ArrayLike | None = None,
    dwell_s: ArrayLike | None = None,
) -> RangeFinding:
    """Hold measured ranges against the one that was promised.

    Parameters
    ----------
    ranges_m : (n,) array_like
        From the muzzle to where the path meets the horizontal plane of the base, in order of firing.
    spec : RangeSpec
    shot_numbers : (n,) array_like, optional
        Number of each shot with this spring; 1 to n by default.
    dwell_s : (n,) array_like, optional
        How long the cannon stood cocked before each shot.

    Raises
    ------
    RangeError
        Where there are fewer than three shots, all are alike, or a number is none.
    """
    ranges = np.asarray(ranges_m, dtype=float)
    count = _check(ranges)
    numbers = np.arange(1.0, count + 1) if shot_numbers is None else np.asarray(shot_numbers, dtype=float)
    dwells = None if dwell_s is None else np.asarray(dwell_s, dtype=float)
    for name, values in (("shot numbers", numbers), ("times cocked", dwells)):
        if values is not None and (values.shape != ranges.shape or not np.isfinite(values).all()):
            raise RangeError(f"expected {count} {name}, one for each range, all of them numbers")

    mean_m, sd_m = float(ranges.mean()), float(ranges.std(ddof=1))
    error_m, degrees = sd_m / math.sqrt(count), count - 1
    off_m = mean_m - spec.range_m
    above = float(stdtr(degrees, -(off_m + spec.margin_m) / error_m))
    below = float(stdtr(degrees, -(spec.margin_m - off_m) / error_m))
    p_meets, p_fails = max(above, below), min(1 - above, 1 - below)
    verdict = SpecVerdict.NOT_ENOUGH_SHOTS
    if p_meets < spec.alpha:
        verdict = SpecVerdict.MEETS
    elif p_fails < spec.alpha:
        verdict = SpecVerdict.DOES_NOT_MEET
    trimmed_mean_m, trimmed_interval_m = _trimmed(ranges)
    with_number, with_dwell = _drifts(ranges, numbers, dwells)
    return RangeFinding(
        spec=spec,
        shots=count,
        mean_m=mean_m,
        sd_m=sd_m,
        mean_interval_m=_t_interval(mean_m, error_m, degrees, 0.95),
        trimmed_mean_m=trimmed_mean_m,
        trimmed_interval_m=trimmed_interval_m,
        equivalence_interval_m=_t_interval(mean_m, error_m, degrees, 1 - 2 * spec.alpha),
        p_meets=p_meets,
        p_fails=p_fails,
        verdict=verdict,
        wild_shot=_wild(ranges),
        with_shot_number=with_number,
        with_dwell=with_dwell,
    )


def tost_power(difference: float, margin: float, standard_error: float, degrees: int, alpha: float) -> float:
    """Return the chance that two one-sided t tests show a mean to lie within a margin.

    Given the standard deviation that the sample will show, which is sigma * sqrt(chi2 / degrees), the tests pass where
    the mean falls into an interval; that chance is a difference of two normal integrals, averaged here over the
    distribution of chi2. It is the same number as Owen's integral of the bivariate noncentral t distribution (D. B.
    Owen, Biometrika 52 (1965) 437; K. F. Phillips, J. Pharmacokinet. Biopharm. 18 (1990) 137).

    Parameters
    ----------
    difference : float
        True mean less the value promised.
    margin : float
        Half of the interval that counts as equal.
    standard_error : float
        True standard error of the mean; same unit as the two before.
    degrees : int
        Degrees of freedom of its estimate.
    alpha : float
        Level of each test.
    """
    quantile = float(stdtrit(degrees, 1 - alpha))
    # The samples pass that show an error below margin / quantile; the average runs over their part of all samples.
    most = float(gammainc(degrees / 2, degrees * (margin / (quantile * standard_error)) ** 2 / 2))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    shown = np.sqrt(2 * gammaincinv(degrees / 2, most * (nodes + 1) / 2) / degrees)
    high = (margin - difference) / standard_error - quantile * shown
    low = (-margin - difference) / standard_error + quantile * shown
    passing = np.maximum(ndtr(high) - ndtr(low), 0.0)
    return float(most / 2 * (weights @ passing))


def shots_needed(
    difference_m: float, sd_m: float, *, margin_m: float, certainty: float, alpha: float
) -> int | None:
    """Return the least number of shots with which `tost_power` reaches a certainty; None where 10,000 do not.

    Parameters
    ----------
    difference_m : float
        True mean range less the one promised.
    sd_m : float
        True standard deviation of one range.
    margin_m, alpha : float
        As agreed.
    certainty : float
        Wanted chance of the verdict "meets", between 0 and 1.
    """
    if not 0 < certainty < 1:
        raise RangeError(f"the certainty is {certainty:g}, expected between 0 and 1")

    def enough(shots: int) -> bool:
        error_m = sd_m / math.sqrt(shots)
        return tost_power(difference_m, margin_m, error_m, shots - 1, alpha) >= certainty

    if abs(difference_m) >= margin_m or not enough(_MOST_SHOTS):
        return None
    few, many = FEWEST_SHOTS - 1, _MOST_SHOTS
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many


def _check(ranges: NDArray[np.float64]) -> int:
    if ranges.ndim != 1 or len(ranges) < FEWEST_SHOTS:
        raise RangeError(
            f"{ranges.size} range{'' if ranges.size == 1 else 's'} cannot show how the shots scatter: "
            f"expected {FEWEST_SHOTS} or more"
        )
    if not (np.isfinite(ranges).all() and (ranges > 0).all()):
        raise RangeError("expected ranges above 0")
    if _all_alike(ranges):
        raise RangeError(
            f"all {len(ranges)} ranges are the same: real shots scatter; expected each as it was read from the tape"
        )
    return len(ranges)


def _all_alike(ranges: NDArray[np.float64]) -> bool:
    return bool(np.ptp(ranges) < 1e-9 * ranges.max())


def _t_interval(middle: float, error: float, degrees: int, confidence: float) -> tuple[float, float]:
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * error
    return middle - half, middle + half


def _trimmed(ranges: NDArray[np.float64]) -> tuple[float, tuple[float, float] | None]:
    """Return the trimmed mean and its interval, from the standard deviation of the ranges pulled in to the kept ones.

    Where these are all alike there is no interval.
    """
    count = len(ranges)
    cut = int(_TRIMMED * count)
    kept = count - 2 * cut
    ordered = np.sort(ranges)
    mean_m = float(ordered[cut : count - cut].mean())
    pulled_in = np.clip(ordered, ordered[cut], ordered[count - 1 - cut])
    if _all_alike(pulled_in):
        return mean_m, None
    error_m = float(pulled_in.std(ddof=1)) * math.sqrt(count) / kept
    return mean_m, _t_interval(mean_m, error_m, kept - 1, 0.95)


def _wild(ranges: NDArray[np.float64]) -> int | None:
    count = len(ranges)
    away = np.abs(ranges - ranges.mean()) / ranges.std(ddof=1)
    quantile = float(stdtrit(count - 2, 1 - _WILD_LEVEL / (2 * count)))
    limit = (count - 1) / math.sqrt(count) * math.sqrt(quantile**2 / (count - 2 + quantile**2))
    return int(away.argmax()) if away.max() > limit else None


def _drifts(
    ranges: NDArray[np.float64], numbers: NDArray[np.float64], dwells: NDArray[np.float64] | None
) -> tuple[Drift | DriftUnknown, Drift | DriftUnknown]:
    """Return the drift with the shot number and with the time cocked."""
    if dwells is None:
        return _drift_of([numbers], ranges)[0], DriftUnknown.NOT_MEASURED
    if np.ptp(dwells) == 0:
        return _drift_of([numbers], ranges)[0], DriftUnknown.ALL_ALIKE
    if np.ptp(numbers) == 0:
        return DriftUnknown.ALL_ALIKE, _drift_of([dwells], ranges)[0]
    if abs(float(np.corrcoef(numbers, dwells)[0, 1])) > _COLLINEAR:
        return DriftUnknown.TIED, DriftUnknown.TIED
    by_number, by_dwell = _drift_of([numbers, dwells], ranges)
    return by_number, by_dwell


def _drift_of(causes: list[NDArray[np.float64]], ranges: NDArray[np.float64]) -> list[Drift | DriftUnknown]:
    """Fit the range to straight lines in all the causes at once."""
    degrees = len(ranges) - len(causes) - 1
    if degrees < 1:
        return [DriftUnknown.TOO_FEW for _ in causes]
    if any(np.ptp(cause) == 0 for cause in causes):
        return [DriftUnknown.ALL_ALIKE for _ in causes]
    design = np.column_stack([np.ones(len(ranges)), *(cause - cause.mean() for cause in causes)])
    found = np.linalg.lstsq(design, ranges, rcond=None)[0]
    variance = float(((ranges - design @ found) ** 2).sum()) / degrees
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    drifts: list[Drift | DriftUnknown] = []
    for slope, error in zip(found[1:], errors[1:], strict=True):
        low, high = _t_interval(float(slope), float(error), degrees, 0.95)
        p_value = 2 * float(stdtr(degrees, -abs(slope) / error)) if error > 0 else 0.0
        drifts.append(Drift(float(slope), low, high, p_value))
    return drifts

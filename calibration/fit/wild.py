"""Wild shots: which shots do not belong to the others.

The rule. A robust fit first finds who is suspect: farther off than 19 of 20 shots would be. Then all others are fitted
without the suspects, and each suspect is predicted from them, with the uncertainty of the fit. It is wild where a shot
that belongs to the others would be so far off with a chance of less than 1 % over all shots together (Bonferroni's bound
on a test of Hotelling's kind). Suspects that are not wild are taken back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from calibration.fit.estimate import ORDER, Estimate, estimate
from calibration.fit.model import SETTINGS, Observed, slopes
from calibration.fit.parameters import Assumption, Parameter

__all__ = ["FEWEST_TO_JUDGE", "Wild", "subset", "wild_shots"]

FloatArray: TypeAlias = NDArray[np.float64]

FEWEST_TO_JUDGE = 6
"""With fewer shots none is called wild: nobody could say which."""
_ROBUST_ROUNDS = 5
"""Enough to see who is far off."""
_SUSPECT = 0.05
_WILD = 0.01
_MOST_SHARE = 0.34
"""Where more of the shots than this are suspect, there is no majority to judge them by."""


@dataclass(frozen=True, slots=True)
class Wild:
    """A shot that does not belong to the others."""

    index: int
    chance: float
    """That a shot which does belong is so far off."""


def wild_shots(
    data: Observed,
    assumed: Mapping[Parameter, Assumption],
    free: Sequence[Parameter],
    held: Sequence[Parameter],
    near: Estimate,
) -> tuple[Wild, ...]:
    """Find the shots that do not belong to the others; `near` is where to begin from."""
    count = data.count
    if count < max(FEWEST_TO_JUDGE, len(free) + 4):
        return ()
    robust = estimate(data, assumed, free=free, held=held, robust=True, start=near, rounds=_ROBUST_ROUNDS)
    kinds = np.bincount(data.shot, minlength=count)
    freedom = count - len(free)
    off = robust.linear.distances(robust.spread)
    suspect = fdtrc(kinds, freedom, off / kinds) < _SUSPECT
    if not suspect.any() or suspect.sum() > _MOST_SHARE * count:
        return ()
    kept = estimate(subset(data, ~suspect), assumed, free=free, held=held, start=robust)
    if not kept.is_determined:
        return ()  # without the suspects nothing tells what is to be learnt: they are not held against the others
    freedom = max(1, int(count - suspect.sum()) - len(free))
    wild = []
    for index in np.flatnonzero(suspect):
        chance = _chance(subset(data, np.arange(count) == index), kept, freedom)
        if chance < _WILD / count:
            wild.append(Wild(int(index), chance))
    return tuple(wild)


def _chance(shot: Observed, fitted: Estimate, freedom: int) -> float:
    """Return how probable it is that a shot that belongs to the fitted ones is so far off."""
    predicted, slope = slopes(shot, fitted.values)
    residual = shot.value - predicted
    if not np.isfinite(residual).all():
        return 0.0
    along = fitted.values[ORDER.index(Parameter.SPEED)] * slope[:, ORDER.index(Parameter.SPEED)]
    noise = np.where(shot.is_place, fitted.spread.place_factor, 1.0) * shot.sd
    expected = (
        np.diag(noise**2)
        + fitted.spread.scatter**2 * np.outer(along, along)
        + slope @ fitted.covariance @ slope.T
    )
    off = float(residual @ np.linalg.solve(expected, residual)) / len(residual)
    return float(fdtrc(len(residual), freedom, off))


def subset(data: Observed, chosen: NDArray[np.bool_]) -> Observed:
    """Return some of the shots."""
    measurements = chosen[data.shot]
    renumbered = np.cumsum(chosen) - 1
    return replace(
        data,
        **{name: getattr(data, name)[chosen] for name in SETTINGS},
        shot=renumbered[data.shot[measurements]],
        kind=data.kind[measurements],
        value=data.value[measurements],
        sd=data.sd[measurements],
    )

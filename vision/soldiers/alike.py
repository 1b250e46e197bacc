"""Whether a square shows the colours that soldiers of this table wear.

Each of them is looked for on its own (`vision.soldiers.feet`), and on a board of their own colours, or one that is printed
all over, each hardly shows. But soldiers are dressed alike: who is seen plainly tells how the others look. So the
colours that figures show are held against those of bare squares, each square itself not counted in (naive Bayes), and from
what is made of it they are counted anew, a few times over (expectation and maximisation).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.soldiers.colours import RARE
from vision.soldiers.thrown_shadow import log_density

__all__ = ["alike_odds", "anybody_open"]

FloatArray = NDArray[np.float64]

# Mean and spread of the log-likelihood ratio of a figure's colours, and of a bare square's; so many of them it takes to know
# better. Of the twin's tables, half of them painted all over.
_FIGURE, _BARE, _USUAL_SQUARES = (1.0, 0.7), (-1.2, 0.7), 4.0
_LEAST_SPREAD = 0.5
_LEAST_APART = 0.3
# What one pixel shows its neighbours show too. Of 401 tables' 12,500 soldiers 235 are missed and 151 seen that are none without
# colours, 156 and 104 with them; of 73 tables of other figures 16 and 3, 3 and 1. Within 0.5 and 1, and 2 and 6, it is much
# the same.
_INDEPENDENT, _MOST_ODDS = 0.7, 3.0
_PIXELS = 4.0  # that are independent of one another: colours that are seen nowhere else tell nothing
_FEWEST = 0.5  # soldiers, or bare squares
_ROUNDS = 4


def anybody_open(log_odds: FloatArray) -> bool:
    """Whether colours can decide on any of squares (N,)."""
    return bool((np.abs(log_odds) < _MOST_ODDS).any())


def alike_odds(log_odds: FloatArray, shares: FloatArray, field: NDArray[np.intp]) -> FloatArray:
    """Say what colours tell of who stands on a table.

    Parameters
    ----------
    log_odds
        That somebody stands, of each square, by all else that is seen: shape (N,).
    shares
        How often each colour occurs where the figure would be seen, as `count_colours` gives them: shape (N, colours).
    field
        On which field, 0 or 1, each square lies, since fields differ: shape (N,).

    Returns
    -------
    Log-odds to be added, shape (N,).
    """
    square, colour = np.nonzero(shares)
    share = shares[square, colour]
    bare_as = np.eye(2)[field].T  # (2, N)
    told = np.zeros(len(log_odds))
    for _ in range(_ROUNDS):
        there = 1 / (1 + np.exp(-log_odds - told))
        bare = bare_as * (1 - there)
        of_figures = _others((there @ shares)[colour], there.sum(), there[square], share)
        of_bare = _others(
            (bare @ shares)[field[square], colour], bare.sum(axis=1)[field[square]], 1 - there[square], share
        )
        ratio = np.asarray(
            np.bincount(square, share * np.log(of_figures / of_bare), len(log_odds)), np.float64
        )
        told = _told(ratio, there)
    return told


def _others(total: FloatArray, count: FloatArray, own: FloatArray, share: FloatArray) -> FloatArray:
    """Shares of colours on others than a square that counts for `own` of what is summed up."""
    return np.maximum(total - own * share, 0.0) / np.maximum(count - own, _FEWEST) + RARE


def _told(ratio: FloatArray, there: FloatArray) -> FloatArray:
    """Log-odds of squares by the ratio of their colours, by what it is where somebody stands, and where nobody does."""
    (figure, with_one), (bare, without) = (
        _usual(ratio, weights, *usual) for weights, usual in ((there, _FIGURE), (1 - there, _BARE))
    )
    if figure - bare < _LEAST_APART:
        return np.zeros(len(ratio))
    told = log_density(ratio, figure, with_one) - log_density(ratio, bare, without)
    most = np.minimum(_MOST_ODDS, _PIXELS * np.abs(ratio))
    return np.asarray(np.clip(_INDEPENDENT * told, -most, most))


def _usual(ratio: FloatArray, weights: FloatArray, mean: float, spread: float) -> tuple[float, float]:
    """Mean and spread of a table's ratios, held to what is usual where there are few."""
    count = float(weights.sum()) + _USUAL_SQUARES
    middle = (float(weights @ ratio) + _USUAL_SQUARES * mean) / count
    variance = (float(weights @ (ratio - middle) ** 2) + _USUAL_SQUARES * spread**2) / count
    return middle, max(float(np.sqrt(variance)), _LEAST_SPREAD)

"""Whether a square shows the colours that soldiers of this table wear.

Each of them is looked for on its own (`vision.soldiers.feet`), and on a board of their own colours, or one that is printed
all over, each hardly shows. But soldiers are dressed alike: who is seen plainly tells how the others look. So the
colours that figures show are held against those of bare squares, each square itself not counted in (naive Bayes), and from
what is made of it they are counted anew, a few times over (expectation and maximisation).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.soldiers.heaps import MOST_ODDS, log_shares_in, odds_by_ratio

__all__ = ["alike_odds", "anybody_open"]

FloatArray = NDArray[np.float64]

# Mean and spread of the log-likelihood ratio of a figure's colours, and of a bare square's. Of the twin's tables, half of them
# painted all over.
_FIGURE, _BARE = (1.0, 0.7), (-1.2, 0.7)
_ROUNDS = 4


def anybody_open(log_odds: FloatArray) -> bool:
    """Whether colours can decide on any of squares (N,)."""
    return bool((np.abs(log_odds) < MOST_ODDS).any())


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
    told = np.zeros(len(log_odds))
    for _ in range(_ROUNDS):
        there = 1 / (1 + np.exp(-log_odds - told))
        ratio = log_shares_in(shares, there)
        for on_it in (field == 0, field == 1):
            ratio[on_it] -= log_shares_in(shares[on_it], 1 - there[on_it])
        told = odds_by_ratio(ratio, there, _FIGURE, _BARE)
    return told

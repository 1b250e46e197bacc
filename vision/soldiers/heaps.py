"""Two heaps of figures held against each other by the colours that they show (naive Bayes).

Each figure is compared with the others of either heap, itself left out; it may be of a heap in part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.soldiers.colours import RARE
from vision.soldiers.thrown_shadow import log_density

__all__ = ["MOST_ODDS", "Usual", "by_field", "log_shares_in", "odds_by_ratio"]

FloatArray = NDArray[np.float64]

Usual = tuple[float, float]
"""Mean and spread of a heap's log-likelihood ratios, as they mostly are."""

_FEWEST = 0.5  # figures in a heap
# So many figures it takes to know better than what is usual.
_USUAL_WEIGHT = 4.0
_LEAST_SPREAD = 0.5
_LEAST_APART = 0.3
MOST_ODDS = 3.0
"""Log-odds that colours tell at most."""
# What one pixel shows its neighbours show too. Of 401 tables' 12,500 soldiers 235 are missed and 151 seen that are none without
# colours, 156 and 104 with them; of 73 tables of other figures 16 and 3, 3 and 1. Within 0.5 and 1, and at most 2 and 6,
# it is much the same.
_INDEPENDENT = 0.7
# How firmly a ratio's mean, what the heap adds and what the field adds are each held near nothing: as by so many soldiers. Of 1,726
# soldiers of other figures than the twin's, parted without a position, 24 are wrong with less than this for the last one and 9 with
# it; with more one who has crossed alone is.
_HARDLY_BY_FIELD = (1e-3, 1e-3, 1.5)
_PIXELS = 4.0  # that are independent of one another: colours that are seen nowhere else tell nothing


def log_shares_in(shares: FloatArray, heap: FloatArray) -> FloatArray:
    """Say how well figures' colours fit those of a heap.

    Parameters
    ----------
    shares
        How often each colour occurs on each figure, as `count_colours` gives them: shape (N, colours).
    heap
        What part of each figure is of the heap, 0 to 1: shape (N,).

    Returns
    -------
    Of each figure the mean logarithm of how often its pixels' colours occur on the heap's others, shape (N,).
    """
    figure, colour = np.nonzero(shares)
    share = shares[figure, colour]
    others = np.maximum((heap @ shares)[colour] - heap[figure] * share, 0.0)
    others /= np.maximum(heap.sum() - heap[figure], _FEWEST)
    return np.asarray(np.bincount(figure, share * np.log(others + RARE), len(shares)), dtype=np.float64)


def by_field(ratio: FloatArray, first: FloatArray, field: FloatArray) -> FloatArray:
    """Give what of soldiers' ratios goes with the field that they stand on, whose colour shows on all who stand there.

    By least squares, beside what goes with the heap.

    Parameters
    ----------
    ratio, first
        As for `odds_by_ratio`.
    field
        Half for those on the field where the first heap is at home, and minus half for the others: shape (N,).

    Returns
    -------
    What to take off each ratio, shape (N,).
    """
    terms = np.column_stack([np.ones(len(field)), first, field])
    fit = np.linalg.solve(terms.T @ terms + np.diag(_HARDLY_BY_FIELD), terms.T @ ratio)
    return np.asarray(max(float(fit[2]), 0.0) * field)


def odds_by_ratio(ratio: FloatArray, first: FloatArray, usual: Usual, usual_of_others: Usual) -> FloatArray:
    """Give the log-odds that figures are of the first heap by their ratios.

    Parameters
    ----------
    ratio
        Mean log-likelihood ratio of each figure's colours, above 0 for the first heap: shape (N,).
    first
        What part of each figure is of the first heap; the rest is of the other: shape (N,).
    usual, usual_of_others
        What the ratios of either heap mostly are.

    Returns
    -------
    Log-odds, shape (N,); 0 where the heaps are hardly apart.
    """
    (of_first, with_it), (of_others, without) = (
        _found(ratio, weights, *mostly) for weights, mostly in ((first, usual), (1 - first, usual_of_others))
    )
    if of_first - of_others < _LEAST_APART:
        return np.zeros(len(ratio))
    told = log_density(ratio, of_first, with_it) - log_density(ratio, of_others, without)
    most = np.minimum(MOST_ODDS, _PIXELS * np.abs(ratio))
    return np.asarray(np.clip(_INDEPENDENT * told, -most, most))


def _found(ratio: FloatArray, weights: FloatArray, mean: float, spread: float) -> Usual:
    """Mean and spread of a heap's ratios, held to what is usual where there are few."""
    count = float(weights.sum()) + _USUAL_WEIGHT
    middle = (float(weights @ ratio) + _USUAL_WEIGHT * mean) / count
    variance = (float(weights @ (ratio - middle) ** 2) + _USUAL_WEIGHT * spread**2) / count
    return middle, max(float(np.sqrt(variance)), _LEAST_SPREAD)

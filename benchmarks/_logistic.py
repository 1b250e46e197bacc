"""Logistic regression: how what was measured tells one thing from another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["fit_logistic"]

FloatArray = NDArray[np.float64]

_RIDGE = 0.3


def fit_logistic(table: FloatArray, is_so: FloatArray, counts: FloatArray) -> tuple[FloatArray, float]:
    """Fit a logistic regression with a small ridge on standardised columns.

    Parameters
    ----------
    table
        What was measured, shape (N, measures).
    is_so
        1 where that is so which is to be told, 0 where not: shape (N,).
    counts
        How much each row counts, shape (N,).

    Returns
    -------
    Weights for the columns as given, shape (measures,), and the offset: together log-odds.
    """
    middle, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    columns = np.column_stack([(table - middle) / spread, np.ones(len(table))])

    def misfit(weights: FloatArray) -> tuple[float, FloatArray]:
        odds = columns @ weights
        ridge = np.r_[weights[:-1], 0.0]
        cost = np.sum(counts * (np.logaddexp(0, odds) - is_so * odds)) + _RIDGE * np.sum(ridge**2)
        return float(cost), columns.T @ (counts * (1 / (1 + np.exp(-odds)) - is_so)) + 2 * _RIDGE * ridge

    found = minimize(misfit, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B").x
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ middle)

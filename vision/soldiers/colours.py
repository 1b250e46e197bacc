"""The colours that figures show a camera, and how often each occurs on each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["RARE", "colours_of", "count_colours"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

RARE = 2e-4
"""Share that a colour never seen is given."""
# Steps of CIE lightness, a and b in which colours are counted.
_STEPS = (6.0, 3.0, 3.0)


def colours_of(flat: FloatImage) -> FloatImage:
    """Give CIE lightness, a and b of a picture (rows, columns, colours); of a grey one the lightness."""
    if flat.shape[2] == 3:
        return np.asarray(cv2.cvtColor(flat / 255, cv2.COLOR_BGR2LAB), dtype=np.float32)
    return np.asarray(flat * (100 / 255), dtype=np.float32)


def count_colours(seen: Sequence[FloatImage]) -> FloatArray:
    """Count how often each colour occurs.

    Parameters
    ----------
    seen
        The colours of each figure's pixels, (pixels, 1 or 3), as `colours_of` gives them.

    Returns
    -------
    Shares of the figure's pixels, shape (figures, colours); a colour that none has is left out.
    """
    everything = np.concatenate(seen)
    steps = np.array(_STEPS[: everything.shape[1]])
    lowest = everything.min(axis=0)
    shares = np.zeros((len(seen), *(int(n) + 3 for n in (everything.max(axis=0) - lowest) / steps)))
    for pixels, all_of_it in zip(seen, shares, strict=True):
        bins = ((pixels - lowest) / steps).astype(int)
        # Its own corner of all colours, with a rim.
        first, last = bins.min(axis=0), bins.max(axis=0) + 3
        size = tuple((last - first).tolist())
        count = np.bincount(
            np.ravel_multi_index(tuple((bins - first + 1).T), size), minlength=math.prod(size)
        )
        share = count.reshape(size) / len(pixels)
        # A colour is also its neighbours, a little: light falls differently on the next figure.
        for axis in range(len(size)):
            beside = share.swapaxes(axis, 0)
            half = 0.5 * beside
            half[1:] += 0.25 * beside[:-1]
            half[:-1] += 0.25 * beside[1:]
            share = half.swapaxes(axis, 0)
        all_of_it[tuple(slice(*ends) for ends in zip(first, last, strict=True))] = share
    found = shares.reshape(len(seen), -1)
    return found[:, found.any(axis=0)]

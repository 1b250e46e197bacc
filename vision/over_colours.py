"""The sum over a picture's colours, several times as fast as numpy's own, which is slow over an axis so short."""

from __future__ import annotations

from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["over_colours"]

_Float = TypeVar("_Float", np.float32, np.float64)


def over_colours(values: NDArray[_Float]) -> NDArray[_Float]:
    """Sum over the last of three axes or more."""
    ones = np.ones((1, values.shape[-1]), dtype=values.dtype)
    summed = cv2.transform(values.reshape(-1, *values.shape[-2:]), ones)
    return np.asarray(summed, dtype=values.dtype).reshape(values.shape[:-1])

"""Pictures in grey."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["grey", "is_black", "is_white"]

_BLACK_LEVEL = 12
_WHITE_LEVEL = 243


def grey(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Give the picture in grey, shape (height, width), whatever it came in (grey or BGR)."""
    if image.ndim == 2:
        return image
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def is_black(shades: NDArray[np.uint8]) -> bool:
    """Say whether a picture in grey shows nothing at all: even its brightest hundredth is dark."""
    return float(np.percentile(shades[::4, ::4], 99)) < _BLACK_LEVEL


def is_white(shades: NDArray[np.uint8] | NDArray[np.float32]) -> bool:
    """Say whether a picture in grey is over-exposed all over: even its darkest hundredth is white."""
    return float(np.percentile(shades, 1)) > _WHITE_LEVEL

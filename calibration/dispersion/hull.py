"""The corners of a group: all that its widest distances depend on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

__all__ = ["corners"]


def corners(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the corners of the convex hull, counter-clockwise, shape (k, 2).

    The two ends where all points lie on a line, the point itself where all are one.
    """
    try:
        hull: NDArray[np.float64] = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        # Too few points for an area, or an area of nothing but rounding.
        along = points @ np.linalg.svd(points - points.mean(axis=0))[2][0]
        first, last = points[np.argmin(along)], points[np.argmax(along)]
        return np.array([first]) if np.array_equal(first, last) else np.array([first, last])
    return hull

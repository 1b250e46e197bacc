"""The smallest circle around a group, and its widest pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from calibration.dispersion.hull import corners

__all__ = ["Circle", "extreme_spread", "smallest_circle"]

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle around shots."""

    x: float
    y: float
    radius: float

    def holds(self, points: NDArray[np.float64]) -> bool:
        """Whether no point lies outside by more than rounding."""
        return bool(_distances(self, points).max() <= self.radius * (1 + _ROUNDING))


def extreme_spread(points: NDArray[np.float64]) -> float:
    """Return the largest distance between two shots: between two corners of the hull."""
    hull = corners(points)
    return float(np.hypot(*(hull[:, None] - hull).transpose(2, 0, 1)).max())


def smallest_circle(points: NDArray[np.float64]) -> Circle:
    """Return the smallest circle that holds all points.

    Two or three points determine it. From any two, the point farthest outside is taken in and the smallest circle of
    those few is drawn anew; it grows each time, so this ends (B. Gaertner, "Fast and robust smallest enclosing
    balls", ESA 1999, after E. Welzl, 1991).
    """
    hull = corners(points)
    middle = hull.mean(axis=0)
    # Lengths of the order of 1 about the origin, so that products keep their digits.
    scale = float(np.abs(hull - middle).max()) or 1.0
    scaled = (hull - middle) / scale
    support = scaled[:1]
    circle = Circle(float(support[0, 0]), float(support[0, 1]), 0.0)
    while not circle.holds(scaled):
        farthest = scaled[[int(np.argmax(_distances(circle, scaled)))]]
        grown, support = _smallest_of_few(np.concatenate([support, farthest]))
        if grown.radius <= circle.radius:
            break  # nothing but rounding is left
        circle = grown
    return Circle(
        scale * circle.x + float(middle[0]), scale * circle.y + float(middle[1]), scale * circle.radius
    )


def _smallest_of_few(points: NDArray[np.float64]) -> tuple[Circle, NDArray[np.float64]]:
    """Return the smallest circle of up to four points, and the points that determine it."""
    candidates = []
    for count in (2, 3):
        for chosen in combinations(points, count):
            circle = _through(*chosen)
            if circle is not None and circle.holds(points):
                candidates.append((circle.radius, circle, np.array(chosen)))
    _, circle, support = min(candidates, key=lambda candidate: candidate[0])
    return circle, support


def _through(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64] | None = None
) -> Circle | None:
    """Return the circle through three points, or over two as its diameter; None where three lie on a line."""
    if c is None:
        centre = (a + b) / 2
    else:
        sides = np.array([b - a, c - a])
        try:
            centre = a + np.linalg.solve(sides, (sides**2).sum(axis=1) / 2)
        except np.linalg.LinAlgError:
            return None
    return Circle(float(centre[0]), float(centre[1]), float(np.hypot(*(a - centre))))


def _distances(circle: Circle, points: NDArray[np.float64]) -> NDArray[np.float64]:
    distances: NDArray[np.float64] = np.hypot(points[:, 0] - circle.x, points[:, 1] - circle.y)
    return distances

"""Boxes around a group: upright, and the one of least area."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.dispersion.hull import corners

__all__ = ["Box", "smallest_box", "upright_box"]

_ROUNDING = 1e-15  # of the farthest coordinate: what rounding makes of the height of a line of shots, at most


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle around shots."""

    x: float
    """Of its middle."""
    y: float
    width: float
    """Along `angle_rad`."""
    height: float
    angle_rad: float
    """From the x axis to the width, counter-clockwise, above -pi/2 to pi/2; 0 for an upright box."""

    @property
    def area(self) -> float:
        """In the square of the unit of length."""
        return self.width * self.height

    @property
    def figure_of_merit(self) -> float:
        """Mean of width and height."""
        return (self.width + self.height) / 2

    @property
    def diagonal(self) -> float:
        """From corner to corner."""
        return math.hypot(self.width, self.height)


def upright_box(points: NDArray[np.float64]) -> Box:
    """Return the box whose sides run along x and y."""
    return _boxes(points, np.zeros(1))[0]


def smallest_box(points: NDArray[np.float64]) -> Box:
    """Return the box of least area; its width is its longer side.

    One of its sides lies along an edge of the convex hull (H. Freeman and R. Shapira, "Determining the
    minimum-area encasing rectangle for an arbitrary closed curve", Communications of the ACM 18 (1975) 409).
    """
    hull = corners(points)
    edges = np.roll(hull, -1, axis=0) - hull
    box = min(_boxes(hull, np.arctan2(edges[:, 1], edges[:, 0])), key=lambda each: each.area)
    if box.width < box.height:
        box = Box(box.x, box.y, box.height, box.width, box.angle_rad + math.pi / 2)
    turned = math.pi / 2 - (math.pi / 2 - box.angle_rad) % math.pi
    height = 0.0 if box.height <= _ROUNDING * np.abs(hull).max() else box.height
    return Box(box.x, box.y, box.width, height, turned)


def _boxes(points: NDArray[np.float64], angles_rad: NDArray[np.float64]) -> list[Box]:
    """Return the box for each angle."""
    cosines, sines = np.cos(angles_rad), np.sin(angles_rad)
    middle = points.mean(axis=0)
    x, y = (points - middle).T
    along = cosines[:, None] * x + sines[:, None] * y
    across = cosines[:, None] * y - sines[:, None] * x
    widths, heights = np.ptp(along, axis=1), np.ptp(across, axis=1)
    along_middle, across_middle = along.min(axis=1) + widths / 2, across.min(axis=1) + heights / 2
    x_middle = middle[0] + cosines * along_middle - sines * across_middle
    y_middle = middle[1] + sines * along_middle + cosines * across_middle
    columns = np.stack([x_middle, y_middle, widths, heights, angles_rad], axis=1)
    return [Box(*map(float, row)) for row in columns]

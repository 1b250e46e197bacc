"""The shots of a group, checked, with what every figure of them begins from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["FLAT", "TAIL", "Estimate", "GroupError", "Shots"]

TAIL = 0.025
"""Chance on either side of an interval of 95 %."""
FLAT = 1e-14
"""Shorter over longer variance of a line of shots, by rounding, at most."""
_FARTHEST = 1e15  # twelfth powers of it (grubbs.py), and of what lies as far below 1, are still numbers
_SAME = 1e-7  # of the distance from the point of aim: a hair at 500 m


class GroupError(ValueError):
    """Points that are no group, or too few of them for the figure that was asked for."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval of 95 %."""

    value: float
    lowest: float
    highest: float

    def times(self, factor: float) -> Estimate:
        """Return the estimate of a fixed multiple of the figure."""
        return Estimate(factor * self.value, factor * self.lowest, factor * self.highest)


@dataclass(frozen=True, slots=True, eq=False)
class Shots:
    """A group of shots, seen from the point of aim.

    Made by `Shots.of`. Lengths are in one unit of the caller's choice, and so is every length worked out from them.
    """

    points: NDArray[np.float64]
    """One row a shot: x to the right and y up (or ahead) of the point of aim."""
    centre: NDArray[np.float64]
    """Mean point of impact, (x, y)."""
    covariance: NDArray[np.float64]
    """Sample covariance, with divisor n - 1; zero for a single shot."""
    radii: NDArray[np.float64]
    """Distance of each shot from the centre."""

    @classmethod
    def of(cls, points: ArrayLike) -> Self:
        """Take the points of a group.

        Parameters
        ----------
        points : array_like, shape (n, 2)
            (x, y) of each shot relative to the point of aim.

        Raises
        ------
        GroupError
            If there are none, the shape is another, or a coordinate is no number or beyond 1e15.
        """
        checked = np.array(points, dtype=np.float64)
        if checked.ndim != 2 or checked.shape[1] != 2 or not len(checked):
            raise GroupError(
                f"a group is at least one row of x and y; found an array of shape {checked.shape}"
            )
        if not np.all(np.abs(checked) <= _FARTHEST):
            row = int(np.argmax(~np.all(np.abs(checked) <= _FARTHEST, axis=1)))
            x, y = checked[row]
            raise GroupError(
                f"shot {row + 1} lies at ({x:g}, {y:g}); expected two numbers of at most {_FARTHEST:g}"
            )
        centre = checked.mean(axis=0)
        offsets = checked - centre
        covariance = offsets.T @ offsets / max(len(checked) - 1, 1)
        checked.flags.writeable = False
        return cls(checked, centre, covariance, np.hypot(*offsets.T))

    def __len__(self) -> int:
        return len(self.points)

    @property
    def offset(self) -> float:
        """Distance of the centre from the point of aim."""
        return float(np.hypot(*self.centre))

    @property
    def spread_out(self) -> bool:
        """Whether the shots lie at two places at least, apart by more than 1e-7 of their distance."""
        same = _SAME * np.abs(self.points).max()
        return bool(np.ptp(self.points, axis=0).max() > max(same, 1 / _FARTHEST))

    def need(self, shots: int, what: str) -> None:
        """Refuse a figure that takes more shots, or shots that differ.

        Raises
        ------
        GroupError
            If there are fewer than `shots`, or they all lie at one place.
        """
        if len(self) < shots:
            raise GroupError(f"{what} takes {shots} shots or more; the group has {len(self)}")
        if not self.spread_out:
            raise GroupError(f"{what} takes shots that differ; all {len(self)} lie at one place")

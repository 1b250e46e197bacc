"""A soldier as the shot sees it: a stack of upright cylinders, one in another's axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["BANDS", "Figure"]

BANDS: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.045, 0.235),
    (0.045, 0.36, 0.13),
    (0.36, 0.60, 0.118),
    (0.60, 0.94, 0.10),
    (0.94, 0.98, 0.075),
    (0.98, 1.0, 0.03),
)
"""Lower end, upper end and radius of base, legs, waist, chest with head, and the round of the helmet, in parts of the height.

Proportions of a standing figure on an oval base, turned a little this way or that: the base's radius is the mean of
its half axes, and arms and rifle are spread over waist and legs.
"""

_PROFILE_STEPS = 400


@dataclass(frozen=True, slots=True)
class Figure:
    """A standing soldier and the shot that flies at it.

    Parameters
    ----------
    height_m : float
        From the board to the top of the helmet.
    shot_radius_m : float
    bands : tuple of (low, high, radius)
        The cylinders, from the board upwards, in parts of the height; none wider than the one below it.
    """

    height_m: float
    shot_radius_m: float = 3e-3
    bands: tuple[tuple[float, float, float], ...] = BANDS

    def __post_init__(self) -> None:
        if not (self.height_m > 0 and self.shot_radius_m > 0):
            raise ValueError(f"expected a height above 0 and a shot's radius above 0, found {self}")
        radii = [radius for _, _, radius in self.bands]
        if sorted(radii, reverse=True) != radii:
            raise ValueError("expected bands from the board upwards, none wider than the one below it")
        if all(high - low < 0.1 for low, high, _ in self.bands):
            raise ValueError("expected a band of at least a tenth of the height: the body")

    @property
    def reach_m(self) -> float:
        """How near to the soldier's axis the shot's centre must pass, at least, to touch it anywhere."""
        return self.bands[0][2] * self.height_m + self.shot_radius_m

    @property
    def body_reach_m(self) -> float:
        """The same for the body, which is the highest band that holds at least a tenth of the height."""
        return self._body[2] * self.height_m + self.shot_radius_m

    @property
    def body_top_m(self) -> float:
        """How high the body reaches."""
        return self._body[1] * self.height_m

    @property
    def _body(self) -> tuple[float, float, float]:
        return [band for band in self.bands if band[1] - band[0] >= 0.1][-1]

    @property
    def top_m(self) -> float:
        """How high the shot's centre passes when it just clears the helmet."""
        return self.height_m + self.shot_radius_m

    def half_width_m(self, height_m: ArrayLike) -> NDArray[np.float64]:
        """Return how near to the axis a shot whose centre flies level at a height must pass to touch the soldier.

        0 where it passes above.
        """
        z_m = np.asarray(height_m, dtype=float)
        widest = np.zeros_like(z_m)
        for low, high, radius in self.bands:
            gap_m = np.maximum(np.maximum(low * self.height_m - z_m, z_m - high * self.height_m), 0.0)
            touching = gap_m < self.shot_radius_m
            beside_m = np.sqrt(np.where(touching, self.shot_radius_m**2 - gap_m**2, 0.0))
            widest = np.maximum(widest, np.where(touching, radius * self.height_m + beside_m, 0.0))
        return widest

    def cap_m(self, offset_m: ArrayLike) -> NDArray[np.float64]:
        """Return below which height a shot touches the soldier that passes so far beside its axis.

        0 where it passes beside it at any height.
        """
        heights_m = np.linspace(self.top_m, 0.0, _PROFILE_STEPS)
        # From the helmet down, the widest so far: what is under a wider part is touched as well.
        widths_m = np.maximum.accumulate(self.half_width_m(heights_m))
        offsets_m = np.abs(np.asarray(offset_m, dtype=float))
        index = np.searchsorted(widths_m, offsets_m, side="right")
        return np.where(index < _PROFILE_STEPS, heights_m[np.minimum(index, _PROFILE_STEPS - 1)], 0.0)

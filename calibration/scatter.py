"""How the shots of one aim differ: the scatter of the speed, of the axes, and of where the soldiers stand."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

__all__ = ["Draws", "Scatter"]


@dataclass(frozen=True, slots=True)
class Scatter:
    """Standard deviations from shot to shot, each normal and independent of the others.

    Parameters
    ----------
    speed_share : float
        Of the muzzle speed, as a part of it.
    azimuth_rad, elevation_rad : float
        Of the barrel's direction: play of the gears, and the shot's own wobble at the muzzle.
    traverse_m : float
        Of the carriage along its strip.
    placement_m : float
        Of a soldier's foot about the place where it is taken to stand, in x and in y; 0 where the camera saw it.
    """

    speed_share: float = 0.01
    azimuth_rad: float = 0.005
    elevation_rad: float = 0.005
    traverse_m: float = 0.0005
    placement_m: float = 0.0015

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < np.inf:
                raise ValueError(f"{field.name} is {value}, expected 0 or more")

    def draw(self, count: int, soldiers: int, rng: np.random.Generator) -> Draws:
        """Draw what scatters in each of `count` shots at a board with so many soldiers."""
        return Draws(
            speed_factor=1.0 + self.speed_share * rng.standard_normal(count),
            azimuth_rad=self.azimuth_rad * rng.standard_normal(count),
            elevation_rad=self.elevation_rad * rng.standard_normal(count),
            traverse_m=self.traverse_m * rng.standard_normal(count),
            placement_m=self.placement_m * rng.standard_normal((count, soldiers, 2)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """What scatters in each of n shots; common to all aims that are compared, so that chance favours none of them.

    Parameters
    ----------
    speed_factor, azimuth_rad, elevation_rad, traverse_m : (n,) array
        The speed over the mean speed, and what is added to each axis.
    placement_m : (n, soldiers, 2) array
        How far each soldier stands off, x and y of the board frame.
    """

    speed_factor: NDArray[np.float64]
    azimuth_rad: NDArray[np.float64]
    elevation_rad: NDArray[np.float64]
    traverse_m: NDArray[np.float64]
    placement_m: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.speed_factor)

"""What there is to see on the table at one moment: small immutable values, cheap to keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side


@dataclass(frozen=True, slots=True)
class CannonPose:
    """The cannon behind a side's first line."""

    side: Side
    muzzle_mm: tuple[float, float, float]
    azimuth_rad: float
    """Direction of the barrel from +y towards +x."""
    elevation_rad: float


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """Where everything stands; compared by identity."""

    sides: tuple[Side, ...]
    """One a soldier."""
    stances: tuple[int, ...]
    poses: NDArray[np.float64]
    """(n, 7): position of the base in m, board frame, and quaternion (w, x, y, z). Never written to."""
    cannon: CannonPose | None
    hand_mm: tuple[float, float] | None = None
    """Fingertips (x, y) of an arm that somebody holds over the board; None for nobody's."""


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The table over one exposure.

    `still` is how everything stood when the table was last at rest, so that a picture needs to draw only what has
    moved since. At rest `now` is `still`.
    """

    still: Arrangement
    now: Arrangement
    shot_m: NDArray[np.float64] | None
    """(k, 3) centres of the shot over the exposure, evenly spaced in time; None where there is no shot."""
    shot_share: float = 1.0
    """The part of the exposure over which the shot was there to be seen."""
    released_us: int | None = None
    """When the last shot was released; None before the first."""

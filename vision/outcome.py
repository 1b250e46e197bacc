"""Who stood, who fell and who was pushed: the values that `vision.soldiers`, `vision.falls` and `vision.causes` hand on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side, Square

__all__ = ["Push", "Soldier", "Standing", "Toppling"]


@dataclass(frozen=True, slots=True, order=True)
class Soldier:
    """A soldier that stands on the board."""

    square: Square
    side: Side
    x_mm: float
    """Middle of its foot."""
    y_mm: float

    @property
    def foot_mm(self) -> NDArray[np.float64]:
        """Middle of its foot, (x, y)."""
        return np.array([self.x_mm, self.y_mm])


@dataclass(frozen=True, slots=True)
class Standing:
    """All who stand on the board at one moment."""

    soldiers: tuple[Soldier, ...]
    """Sorted by square."""
    height_mm: float
    """Height of a figure, one for all: they come from one mould."""
    foot_radius_mm: float
    """Radius of the disc that covers as much as a figure's foot."""
    differences: tuple[str, ...] = ()
    """Where the picture and the expected position disagree, a sentence each."""

    def at(self, square: Square) -> Soldier | None:
        """Who stands on a square."""
        return next((s for s in self.soldiers if s.square == square), None)


@dataclass(frozen=True, slots=True)
class Toppling:
    """A soldier that stood before the shot and lies, or is gone, after it."""

    soldier: Soldier
    """As it stood before."""
    began_us: int
    """First picture in which it had moved; it was touched shortly before."""
    passed_us: int
    """When it passed 45 degrees, as far as one view from above can tell."""
    heading: tuple[float, float]
    """Unit vector (x, y) on the board from its foot to where it fell; (0, 0) where that cannot be told."""
    rest_mm: tuple[float, float]
    """Middle of where it came to rest (x, y); where it left the picture or hides in a heap, of where it was seen last."""


@dataclass(frozen=True, slots=True)
class Push:
    """A soldier that was pushed more than 5 mm and still stands."""

    soldier: Soldier
    """As it stood before."""
    began_us: int
    """First picture in which it had moved."""
    x_mm: float
    """Middle of its foot afterwards."""
    y_mm: float

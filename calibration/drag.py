"""How hard the air holds a sphere back: laws of the drag coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ConstantDrag", "DragLaw", "SphereDrag"]

FloatArray: TypeAlias = NDArray[np.float64]


class DragLaw(Protocol):
    """A drag coefficient of the frontal area."""

    def coefficient(self, reynolds: FloatArray) -> FloatArray:
        """Return it for Reynolds numbers of the diameter, above 0."""
        ...


@dataclass(frozen=True, slots=True)
class ConstantDrag:
    """The same coefficient at every speed."""

    drag_coefficient: float

    def coefficient(self, reynolds: FloatArray) -> FloatArray:
        """Return it once for each Reynolds number."""
        return np.full_like(reynolds, self.drag_coefficient)


@dataclass(frozen=True, slots=True)
class SphereDrag:
    """A smooth sphere, by how fast it is.

    P. P. Brown, D. F. Lawler, "Sphere drag and settling velocity revisited", Journal of Environmental Engineering 129
    (2003) 222-231: fitted to 480 measurements corrected for walls, Reynolds numbers below 2e5. The shot
    flies at 2e3 to 4e3, where it says 0.39 to 0.41; a scratched, dented or seamed shot is held back more.
    """

    def coefficient(self, reynolds: FloatArray) -> FloatArray:
        """Return the coefficient."""
        creeping: FloatArray = 24.0 / reynolds * (1.0 + 0.150 * reynolds**0.681)
        return creeping + 0.407 / (1.0 + 8710.0 / reynolds)

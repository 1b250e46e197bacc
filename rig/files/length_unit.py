"""What a length in somebody's file is given in."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["LengthUnit"]


class LengthUnit(StrEnum):
    """A unit of length, by its usual sign."""

    MM = "mm"
    CM = "cm"
    M = "m"
    INCH = "in"

    @property
    def in_mm(self) -> float:
        """Length of one, in mm."""
        return {LengthUnit.MM: 1.0, LengthUnit.CM: 10.0, LengthUnit.M: 1000.0, LengthUnit.INCH: 25.4}[self]

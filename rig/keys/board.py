"""The board's squares, as settings and recordings write them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

__all__ = ["SquareMm"]

SquareMm = Annotated[float, Field(ge=10, le=200)]
"""Side of a square; a foot of the figures hardly stands on a smaller one, and a camera sees none of them on a larger board."""

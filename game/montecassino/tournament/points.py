"""Points in whole and half, exact: they are fractions, never floats (R3, V6)."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["HALF", "format_points"]

HALF = Fraction(1, 2)
"""What a retreat gives the adversary (R3)."""

_PARTS = {Fraction(0): "", Fraction(1, 2): "½", Fraction(1, 4): "¼", Fraction(3, 4): "¾"}


def format_points(points: Fraction) -> str:
    """Write points as the booklet does: ``0``, ``½``, ``1``, ``1½``; an average that is no quarter as ``4/3``."""
    whole, part = divmod(points, 1)
    if part not in _PARTS:
        return str(points)
    return f"{whole or ''}{_PARTS[part]}" or "0"

"""How sure the eye is of a cause, in words."""

from __future__ import annotations

__all__ = ["how_sure"]

_SUREST = 0.99


def how_sure(confidence: float) -> str:
    """Give a probability as a share, 99 % at most: of 755 causes that were told to be likelier three were wrong.

    >>> how_sure(0.634), how_sure(0.9996)
    ('63%', '99%')
    """
    return f"{min(confidence, _SUREST):.0%}"

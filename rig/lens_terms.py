"""The terms of a lens's distortion, as settings and recordings write them."""

from typing import Annotated

from pydantic import AfterValidator

__all__ = ["LensTerms"]


def _five_or_eight(terms: tuple[float, ...]) -> tuple[float, ...]:
    if len(terms) not in {5, 8}:
        raise ValueError("5 numbers, [k1, k2, p1, p2, k3], or 8, these and k4, k5, k6")
    return terms


LensTerms = Annotated[tuple[float, ...], AfterValidator(_five_or_eight)]
"""``k1, k2, p1, p2, k3`` in OpenCV's order, or these and ``k4, k5, k6``."""

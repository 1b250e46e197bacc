"""Ranges in the wrong unit, caught by what the cannon can do at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from types import MappingProxyType

__all__ = ["METRES", "doubt_about_units"]

METRES: Mapping[str, float] = MappingProxyType({"mm": 0.001, "cm": 0.01, "m": 1.0, "in": 0.0254})
"""Units that a tape may have, in m."""

_FAR_OFF = 3.0
"""A range that is more or less than the expected one by this factor is no scatter."""


def doubt_about_units(ranges: Sequence[float], unit: str, expected_m: Sequence[float]) -> str | None:
    """Say where ranges look as if they were meant in another unit, or in several.

    Parameters
    ----------
    ranges : sequence of float
        As written down.
    unit : str
        What they are said to be in, a key of `METRES`.
    expected_m : sequence of float
        What each shot should reach, roughly.

    Returns
    -------
    str or None
        A sentence; None where nothing looks wrong.
    """
    ratios = [value * METRES[unit] / expected for value, expected in zip(ranges, expected_m, strict=True)]
    middle = median(ratios)
    odd = [index for index, ratio in enumerate(ratios) if not 1 / _FAR_OFF**2 < ratio / middle < _FAR_OFF**2]
    if odd and len(odd) <= len(ratios) / 2:
        named = ", ".join(f"number {index + 1} is {ranges[index]:g}" for index in odd[:4])
        return (
            f"the ranges are in mixed units: most are near {median(ranges):g}, but {named}; "
            "write all of them in one unit"
        )
    if 1 / _FAR_OFF < middle < _FAR_OFF:
        return None
    better = min(METRES, key=lambda other: abs(math.log(middle * METRES[other] / METRES[unit])))
    asked = f"ranges near {median(ranges):g} {unit}, where about {median(expected_m) / METRES[unit]:.3g} {unit} are expected"
    if 1 / _FAR_OFF < middle * METRES[better] / METRES[unit] < _FAR_OFF:
        return f"{asked}: are they in {better}? then say --unit {better}"
    return f"{asked}: look at the elevation and the muzzle speed in the settings, and at the unit"

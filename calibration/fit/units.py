"""Ranges in the wrong unit, caught by what the cannon can do at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median, median_high, median_low
from types import MappingProxyType

__all__ = ["METRES", "doubt_about_units"]

METRES: Mapping[str, float] = MappingProxyType({"mm": 0.001, "cm": 0.01, "m": 1.0, "in": 0.0254})
"""Units that a tape may have, in m."""

_FAR_OFF = 3.0
"""A range that is more or less than the expected one by this factor is no scatter."""

_NEAR = 1.5
"""A range in another unit that is as near as this to the expected one was meant in that."""

_MOST_NAMED = 4


def doubt_about_units(
    ranges: Sequence[float], unit: str, expected_m: Sequence[float], names: Sequence[str] | None = None
) -> str | None:
    """Say where ranges look as if they were meant in another unit, or in several.

    Parameters
    ----------
    ranges : sequence of float
        As written down.
    unit : str
        What they are said to be in, a key of `METRES`.
    expected_m : sequence of float
        What each shot should reach, roughly.
    names : sequence of str, optional
        What the person who wrote them knows each by, as "line 8"; "number 1" and so on by default.

    Returns
    -------
    str or None
        A sentence; None where nothing looks wrong. A shot that fell short by less than `_FAR_OFF` squared is believed,
        unless another unit explains it.
    """
    called = names or [f"number {index + 1}" for index in range(len(ranges))]
    ratios = [value * METRES[unit] / expected for value, expected in zip(ranges, expected_m, strict=True)]
    # Of two in the middle the one that is likelier: the mean of 6.5 and 650 would be neither.
    middle = min(median_low(ratios), median_high(ratios), key=lambda ratio: abs(math.log(ratio)))
    if not 1 / _FAR_OFF < middle < _FAR_OFF:
        asked = (
            f"ranges near {median(ranges):g} {unit}, where about {median(expected_m) / METRES[unit]:.3g} {unit} "
            "are expected"
        )
        better = min(METRES, key=lambda other: abs(math.log(middle * METRES[other] / METRES[unit])))
        if 1 / _FAR_OFF < middle * METRES[better] / METRES[unit] < _FAR_OFF:
            return f"{asked}: are they in {better}? then say --unit {better}, or call their column range_{better}"
        return f"{asked}: look at the elevation and the muzzle speed in the settings, and at the unit"
    told = []
    for name, value, ratio, reach_m in zip(called, ranges, ratios, expected_m, strict=True):
        meant = _meant(ratio / middle, unit)
        if meant is not None or not 1 / _FAR_OFF**2 < ratio / middle < _FAR_OFF**2:
            expected = middle * reach_m / METRES[unit]
            told.append(
                f"{name}: found a range of {value:g} {unit}, expected about {expected:.3g} {unit} beside the others "
                f"({'a slip of the pen?' if meant is None else f'is it in {meant}?'})"
            )
    more = f"; and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
    return f"{'; '.join(told[:_MOST_NAMED])}{more}" if told else None


def _meant(ratio: float, unit: str) -> str | None:
    """Return the unit in which a range would be as expected, though in its own it is far off; None where there is none."""
    if 1 / _FAR_OFF < ratio < _FAR_OFF:
        return None
    in_unit = {other: ratio * METRES[other] / METRES[unit] for other in METRES if other != unit}
    return next((other for other, again in in_unit.items() if 1 / _NEAR < again < _NEAR), None)

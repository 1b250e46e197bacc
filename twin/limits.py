"""Limits of settings: a value outside them is refused where the settings are made."""

from __future__ import annotations

import math


def within(settings: object, low: float, high: float, *names: str) -> None:
    """Ask for fields that lie between two limits, and all that a list has; a field that is None is not asked.

    Raises
    ------
    ValueError
        For the first that does not, or is not a number.
    """
    for name in names:
        value = getattr(settings, name)
        for each in value if isinstance(value, tuple) else (value,):
            if each is not None and not low <= each <= high:
                span = f"{low:g} or more" if math.isinf(high) else f"{low:g} to {high:g}"
                verb = "is" if each is value else "has"
                raise ValueError(f"{name} {verb} {each:g}, expected {span}")


def above(settings: object, low: float, *names: str) -> None:
    """Ask for fields that are more than a limit.

    Raises
    ------
    ValueError
        For the first that is not, or is not a number.
    """
    for name in names:
        value = getattr(settings, name)
        if not value > low:
            raise ValueError(f"{name} is {value:g}, expected more than {low:g}")


def at_least(settings: object, low: float, *names: str) -> None:
    """Ask for fields that are not less than a limit; a field that is None is not asked.

    Raises
    ------
    ValueError
        For the first that is, or is not a number.
    """
    within(settings, low, math.inf, *names)

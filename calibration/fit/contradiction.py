"""Which shots contradict the others, where no cannon explains them all: told from each by itself, as there is no good fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

import numpy as np

from calibration.fit.model import Kind, Observed, predict
from calibration.fit.parameters import Assumption, Parameter

__all__ = ["contradictions"]

_FAR_OFF = 1.5
"""Times as much, or as little, as would suit the others: no scatter, and no drag that was assumed wrongly."""
_MOST_SHARE = 0.34
"""Where more of the shots than this are far off, nobody could say which are right."""
_MOST_NAMED = 3


def contradictions(data: Observed, assumed: Mapping[Parameter, Assumption], names: Sequence[str]) -> str:
    """Say which shots contradict the others, or which two each other; nothing where no shot by itself shows it.

    Parameters
    ----------
    data : Observed
        The shots.
    assumed : mapping
        What is taken of every parameter before: how far each shot should go, beside the others, is judged by it.
    names : sequence of str
        What the person at the table knows each shot by.

    Returns
    -------
    str
        As "line 4 went 1.3 m, where 6.5 m would suit the others".
    """
    odd: dict[int, str] = {}
    apart, told = _FAR_OFF, ""
    for kind in _kinds(data, assumed):
        ratios = [found / expected for found, expected in zip(kind.found, kind.expected, strict=True)]
        usual = median_low(ratios)  # of two in the middle one: between two halves there would be none
        for index, found, ratio in zip(kind.shots, kind.found, ratios, strict=True):
            if not 1 / _FAR_OFF < ratio / usual < _FAR_OFF:
                suits = f"{found * usual / ratio:.3g} {kind.unit}"
                odd.setdefault(
                    index,
                    f"{names[index]} {kind.did} {found:.3g} {kind.unit}, where {suits} would suit the others",
                )
        if max(ratios) / min(ratios) > apart:
            apart = max(ratios) / min(ratios)
            most, least = (names[kind.shots[ratios.index(extreme)]] for extreme in (max(ratios), min(ratios)))
            told = f"{most} {kind.did_beside.format(f'{apart:.3g} times')} as {least}"
    if len(odd) > _MOST_SHARE * data.count:
        return told
    more = f"; and {len(odd) - _MOST_NAMED} more" if len(odd) > _MOST_NAMED else ""
    return "; ".join(list(odd.values())[:_MOST_NAMED]) + more


@dataclass(frozen=True, slots=True)
class _Measured:
    """What was measured of one kind, each beside what was expected of its shot; all above 0."""

    did: str
    unit: str
    did_beside: str
    """What it did beside another, where how many times as much is put in."""
    shots: Sequence[int]
    found: Sequence[float]
    expected: Sequence[float]


def _kinds(data: Observed, assumed: Mapping[Parameter, Assumption]) -> Iterator[_Measured]:
    speeds = data.kind <= Kind.TRACKED
    speed_mps = float(np.median(data.value[speeds])) if speeds.any() else assumed[Parameter.SPEED].value
    values = {parameter: assumed[parameter].value for parameter in Parameter} | {Parameter.SPEED: speed_mps}
    expected = predict(data, np.array([[values[parameter] for parameter in Parameter]]))[0]
    for which, did, unit, did_beside in (
        (speeds, "left at", "m/s", "left {} as fast"),
        (data.kind == Kind.RANGE, "went", "m", "went {} as far for its elevation"),
    ):
        usable = which & (expected > 0)
        if usable.any():
            yield _Measured(
                did,
                unit,
                did_beside,
                data.shot[usable].tolist(),
                data.value[usable].tolist(),
                expected[usable].tolist(),
            )

"""Which shots contradict the others, where no cannon explains them all: told from each by itself, as there is no good fit.

What was measured of a shot is held against what was expected of it, as how many times as much it is. A place of fall, as seen from
where the cannon stood, is a complex number, ahead and to the right: how many times as much then has a direction too.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

import numpy as np

from calibration.fit.model import Kind, Observed, predict
from calibration.fit.parameters import Assumption, Parameter

__all__ = ["contradictions"]

_FAR_OFF = 1.5
"""Times as much, or as little, as would suit the others: no scatter, and no drag that was assumed wrongly."""
_FAR_ASIDE_RAD = 0.35
"""To the right or left of where it would suit the others: no play, and no gain of the azimuth."""
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
        sizes = [abs(ratio) for ratio in ratios]
        # Of two in the middle one: between two halves there would be none.
        usual = cmath.rect(median_low(sizes), median_low(map(cmath.phase, ratios)))
        for index, found, expected, start, ratio in zip(
            kind.shots, kind.found, kind.expected, kind.start, ratios, strict=True
        ):
            # Some fell at the cannon itself, as it was written down: nothing is divided by how many times as far that is.
            as_far = max(abs(ratio), abs(usual)) < _FAR_OFF * min(abs(ratio), abs(usual))
            if not as_far or abs(cmath.phase(ratio * usual.conjugate())) > _FAR_ASIDE_RAD:
                was, suits = kind.in_words(start + found), kind.in_words(start + expected * usual)
                odd.setdefault(index, f"{names[index]} {kind.did} {was}, where {suits} would suit the others")
        most, least = max(sizes), min(sizes)
        if most > apart * least > 0:
            apart = most / least
            far, near = (names[kind.shots[sizes.index(extreme)]] for extreme in (most, least))
            told = f"{far} {kind.did_beside.format(f'{apart:.3g} times')} as {near}"
    if len(odd) > _MOST_SHARE * data.count:
        return told
    more = f"; and {len(odd) - _MOST_NAMED} more" if len(odd) > _MOST_NAMED else ""
    return "; ".join(list(odd.values())[:_MOST_NAMED]) + more


@dataclass(frozen=True, slots=True)
class _Measured:
    """What was measured of one kind, each beside what was expected of its shot, which is not 0."""

    did: str
    in_words: Callable[[complex], str]
    did_beside: str
    """What it did beside another, where how many times as much is put in."""
    shots: Sequence[int]
    found: Sequence[complex]
    expected: Sequence[complex]
    start: Sequence[complex]
    """From where both are measured."""


def _kinds(data: Observed, assumed: Mapping[Parameter, Assumption]) -> Iterator[_Measured]:
    speeds = data.kind <= Kind.TRACKED
    speed_mps = float(np.median(data.value[speeds])) if speeds.any() else assumed[Parameter.SPEED].value
    values = {parameter: assumed[parameter].value for parameter in Parameter} | {Parameter.SPEED: speed_mps}
    expected = predict(data, np.array([[values[parameter] for parameter in Parameter]]))[0]
    right, ahead = data.kind == Kind.RIGHT, data.kind == Kind.AHEAD
    start = np.where(ahead, 1j * data.traverse_m[data.shot], 0.0)
    found, due = data.value - start, expected - start
    found[ahead] += 1j * data.value[right]
    due[ahead] += 1j * expected[right]
    for which, did, in_words, did_beside in (
        (speeds, "left at", _speed, "left {} as fast"),
        (data.kind == Kind.RANGE, "went", _range, "went {} as far for its elevation"),
        (ahead, "fell", _place, "fell {} as far away for its elevation"),
    ):
        usable = which & (due.real > 0)
        if usable.any():
            yield _Measured(
                did,
                in_words,
                did_beside,
                data.shot[usable].tolist(),
                found[usable].tolist(),
                due[usable].tolist(),
                start[usable].tolist(),
            )


def _speed(speed_mps: complex) -> str:
    return f"{speed_mps.real:.3g} m/s"


def _range(range_m: complex) -> str:
    return f"{range_m.real:.3g} m"


def _place(place_m: complex) -> str:
    side = "right" if place_m.imag >= 0 else "left"
    return f"{abs(place_m.imag):.2f} m to the {side} and {place_m.real:.2f} m ahead"

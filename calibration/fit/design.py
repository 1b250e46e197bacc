"""Which shots to fire next: those from which the most will be learnt.

What a shot will teach is known before it is fired: the information that its measurements carry about the parameters
(V. V. Fedorov, "Theory of optimal experiments", 1972). Shots are chosen one after the other, each the best one given all
before it: either to shrink the uncertainty of all parameters together (the determinant of their information, D-optimal),
or that of one range to be predicted (c-optimal).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.fit.calibration import Calibration
from calibration.fit.estimate import ORDER, USUAL_SCATTER, linear_at
from calibration.fit.likelihood import Spread
from calibration.fit.model import observed, slopes
from calibration.fit.parameters import ASSUMED, Assumption, Parameter
from calibration.fit.shots import MeasuredShot, Mount, Noise

__all__ = ["NoPlan", "Plan", "Proposed", "plan"]

FloatArray: TypeAlias = NDArray[np.float64]


class NoPlan(ValueError):
    """No shots can be chosen: none that the cannon can fire comes down where it would be measured."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """Shots to fire at one setting."""

    shot: MeasuredShot
    """How to set the cannon, and what to measure (its numbers are placeholders)."""
    times: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What to fire, and what will be known after it."""

    proposed: tuple[Proposed, ...]
    """In the order of their elevation."""
    before: Mapping[Parameter, float]
    """Standard deviation of each parameter now."""
    after: Mapping[Parameter, float]
    """And after these shots, as far as one can know beforehand."""
    range_before_m: float
    """Standard deviation of the mean range at the reference setting now."""
    range_after_m: float


def plan(
    candidates: Sequence[MeasuredShot],
    count: int,
    mount: Mount,
    *,
    reference: MeasuredShot,
    known: Calibration | None = None,
    learn: Sequence[Parameter] = (Parameter.SPEED, Parameter.DRAG),
    for_range: bool = False,
    assumed: Mapping[Parameter, Assumption] = MappingProxyType({}),
    noise: Noise | None = None,
) -> Plan:
    """Choose shots.

    Parameters
    ----------
    candidates : sequence of MeasuredShot
        Settings that the cannon can take, each with what would be measured.
    count : int
        How many shots to fire, at least 1.
    mount : Mount
    reference : MeasuredShot
        The setting whose range is to be predicted.
    known : Calibration, optional
        What was learnt so far; without it, only what is assumed.
    learn : sequence of Parameter
        What is to be learnt.
    for_range : bool
        True: choose for the reference's range; False: for all of `learn`.
    assumed, noise
        As for `calibration.fit.fit`.

    Returns
    -------
    Plan

    Raises
    ------
    NoPlan
        There is nothing to choose from.
    """
    if count < 1:
        raise ValueError(f"{count} shots are no plan; expected at least 1")
    before = {**ASSUMED, **assumed}
    noise = noise or Noise()
    learn = sorted(set(learn) | {Parameter.SPEED}, key=ORDER.index)
    values = (
        np.array([before[parameter].value for parameter in ORDER]) if known is None else known.values.copy()
    )
    spread = Spread(
        USUAL_SCATTER if known is None else known.scatter,
        1.0 if known is None else known.place_noise_m / noise.place_m,
    )

    def teaches(shot: MeasuredShot, number: int) -> FloatArray:
        """Return what a shot teaches that so many were fired before: a spring that fades shows by their number alone."""
        return _information(replace(shot, shots_before=number), values, learn, mount, noise, spread)

    choices = [candidate for candidate in candidates if np.isfinite(teaches(candidate, 0)).all()]
    if not choices:
        raise NoPlan("none of the elevations lets a shot come down where it is to be measured")
    # Of the middle one of the shots, as the fit will tell it.
    towards = _gradient(replace(reference, shots_before=count // 2), values, learn, mount)
    known_before = information = _known_information(known, learn, before)
    sure_before = np.linalg.inv(information)
    each_teaches = [teaches(candidate, 0) for candidate in choices]
    chosen: dict[int, int] = {}
    for number in range(count):
        if Parameter.FADE_PER_SHOT in learn:
            each_teaches = [teaches(candidate, number) for candidate in choices]
        gains = []
        for taught in each_teaches:
            covariance = np.linalg.inv(information + taught)
            gains.append(
                float(towards @ covariance @ towards)
                if for_range
                else float(np.linalg.slogdet(covariance)[1])
            )
        best = int(np.argmin(gains))
        chosen[best] = chosen.get(best, 0) + 1
        information = information + each_teaches[best]
    proposed = sorted(
        (Proposed(choices[index], times) for index, times in chosen.items()),
        key=lambda each: each.shot.elevation_rad,
    )
    # What is known after them, where they are fired as they are told: one elevation after the other.
    told = [each.shot for each in proposed for _ in range(each.times)]
    information = known_before + sum(teaches(shot, number) for number, shot in enumerate(told))
    sure_after = np.linalg.inv(information)
    return Plan(
        tuple(proposed),
        MappingProxyType(dict(zip(learn, np.sqrt(np.diag(sure_before)).tolist(), strict=True))),
        MappingProxyType(dict(zip(learn, np.sqrt(np.diag(sure_after)).tolist(), strict=True))),
        math.sqrt(float(towards @ sure_before @ towards)),
        math.sqrt(float(towards @ sure_after @ towards)),
    )


def _known_information(
    known: Calibration | None, learn: Sequence[Parameter], assumed: Mapping[Parameter, Assumption]
) -> FloatArray:
    """Return what is known before: from a calibration for what it does not just take for certain, else from what is assumed."""
    covariance = np.diag([assumed[parameter].sd ** 2 for parameter in learn])
    if known is not None:
        learnt = [index for index, parameter in enumerate(learn) if known.sd(parameter) > 0]
        places = [ORDER.index(learn[index]) for index in learnt]
        covariance[np.ix_(learnt, learnt)] = known.covariance[np.ix_(places, places)]
    information: FloatArray = np.linalg.inv(covariance)
    return information


def _information(
    shot: MeasuredShot,
    values: FloatArray,
    learn: Sequence[Parameter],
    mount: Mount,
    noise: Noise,
    spread: Spread,
) -> FloatArray:
    """Return what one shot teaches."""
    data = observed([shot], mount, noise)
    nothing = np.zeros(len(learn))
    linear = linear_at(data, values, learn, precision=nothing, pull=nothing, weight=np.ones(1))
    information, _, _, _ = linear.normal(spread)
    return information


def _gradient(
    reference: MeasuredShot, values: FloatArray, learn: Sequence[Parameter], mount: Mount
) -> FloatArray:
    """Return how the reference's range changes with what is learnt."""
    asked = replace(reference, range_m=1.0, gate_speed_mps=None, tracked_speed_mps=None, fell_m=None)
    predicted, slope = slopes(observed([asked], mount, Noise()), values, learn)
    if not np.isfinite(predicted[0]):
        raise NoPlan(f"{reference.name}: the shot never comes down to {reference.fall_height_m:g} m")
    towards: FloatArray = slope[0]
    return towards

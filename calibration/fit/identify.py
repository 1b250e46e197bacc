"""Which parameters the shots at hand determine, and in words which not and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.fit.model import Kind, Observed
from calibration.fit.parameters import Assumption, Parameter

__all__ = ["Undetermined", "undetermined"]

FloatArray: TypeAlias = NDArray[np.float64]

_NO_BETTER = 0.5
"""A parameter is determined where the shots alone leave less than this share of what was uncertain of it before."""
_FAINT = 1e-9
"""Of what was known before: added so that a direction that no shot sees has an inverse."""
_SAME_ANGLE_RAD = np.radians(2.0)


@dataclass(frozen=True, slots=True)
class Undetermined:
    """A parameter that the shots at hand do not tell; `str()` says so in a sentence."""

    parameter: Parameter
    confused_with: Parameter | None
    """With which it cannot be told apart; None where the shots say nothing of it at all."""
    shots: str
    """What kind of shots these were."""

    def __str__(self) -> str:
        if self.confused_with is None:
            return f"{self.shots} say nothing about {self.parameter.in_words}"
        first, second = sorted((self.parameter, self.confused_with), key=list(Parameter).index)
        return f"{second.in_words} and {first.in_words} cannot be told apart from {self.shots}"


def undetermined(
    data: Observed,
    information: FloatArray,
    free: Sequence[Parameter],
    assumed: Mapping[Parameter, Assumption],
) -> Undetermined | None:
    """Return the least important free parameter that the shots do not determine, or None where they determine all.

    Parameters
    ----------
    data : Observed
        The shots.
    information : (f, f) array
        Fisher's information of the free parameters, from the shots alone.
    free : sequence of Parameter
        Their order.
    assumed : mapping
        How uncertain each was before: what the information is measured by.
    """
    before = np.array([assumed[parameter].sd for parameter in free])
    scaled = information * before[:, None] * before
    covariance = np.linalg.inv(scaled + _FAINT * np.eye(len(free)))
    sure = np.sqrt(np.diag(covariance))
    weak = [index for index in range(len(free)) if sure[index] > _NO_BETTER]
    if not weak:
        return None
    worst = max(weak, key=lambda index: list(Parameter).index(free[index]))
    alone = 1.0 / np.sqrt(max(float(scaled[worst, worst]), 1e-300))
    if alone > _NO_BETTER or len(free) == 1:
        return Undetermined(free[worst], None, _kind_of_shots(data))
    correlation = np.abs(covariance[worst]) / (sure[worst] * sure)
    correlation[worst] = 0.0
    return Undetermined(free[worst], free[int(np.argmax(correlation))], _kind_of_shots(data))


def _kind_of_shots(data: Observed) -> str:
    names = {
        Kind.GATE: "muzzle speeds",
        Kind.TRACKED: "tracked speeds",
        Kind.RANGE: "ranges",
        Kind.RIGHT: "places of fall",
    }
    measured = " and ".join(name for kind, name in names.items() if np.any(data.kind == kind))
    if np.ptp(data.elevation_rad) < _SAME_ANGLE_RAD and data.is_place.any():
        return f"{measured} at one elevation"
    return measured

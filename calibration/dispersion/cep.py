"""Circles that hold a share of the shots, and the share that a circle holds, by every method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from calibration.dispersion import rayleigh
from calibration.dispersion.correlated_normal import CircleProbability
from calibration.dispersion.grubbs import GrubbsVariant, MatchedChiSquare
from calibration.dispersion.shots import Estimate, Shots

__all__ = ["Circles", "Method"]


class Method(StrEnum):
    """What the spread is taken as."""

    RAYLEIGH = "rayleigh"
    """Round."""
    CORRELATED_NORMAL = "correlated_normal"
    """Normal of any shape, taken as it is."""
    GRUBBS_PATNAIK = "grubbs_patnaik"
    """Normal of any shape, two cumulants of the squared distance."""
    GRUBBS_PEARSON = "grubbs_pearson"
    """Three cumulants."""
    GRUBBS_LIU = "grubbs_liu"
    """Four cumulants where that can be."""


@dataclass(frozen=True, slots=True)
class Circles:
    """Circles about one point: the group's centre, or the point of aim.

    Made by `about_centre` or `about_aim`. Rayleigh's sigma is corrected for few shots; the other methods take the
    sample's covariance as it is. All of them give the share of the next shots as if sample and truth were one: what
    few shots leave open is in the interval of sigma.
    """

    sigma: Estimate
    offset: float
    """Rayleigh's distance of the group's centre from the circles' centre."""
    normal: CircleProbability
    matched: Mapping[Method, MatchedChiSquare]

    @classmethod
    def about_centre(cls, shots: Shots) -> Self:
        """Take circles about the group's centre; raises `GroupError` where there is no spread."""
        return cls._about(shots, np.zeros(2), offset=False)

    @classmethod
    def about_aim(cls, shots: Shots) -> Self:
        """Take circles about the point of aim; raises `GroupError` where there is no spread."""
        return cls._about(shots, shots.centre, offset=True)

    @classmethod
    def _about(cls, shots: Shots, mean: NDArray[np.float64], *, offset: bool) -> Self:
        sigma = rayleigh.sigma(shots)
        return cls(
            sigma=sigma,
            offset=rayleigh.offset_of_centre(shots, sigma.value) if offset else 0.0,
            normal=CircleProbability.of(mean, shots.covariance),
            matched=MappingProxyType(
                {
                    Method(variant): MatchedChiSquare.of(variant, mean, shots.covariance)
                    for variant in GrubbsVariant
                }
            ),
        )

    def radius(self, method: Method, level: float) -> float:
        """Return the radius of the circle that holds a share of the shots, above 0 and below 1."""
        match method:
            case Method.RAYLEIGH:
                return rayleigh.radius_holding(level, self.sigma.value, self.offset)
            case Method.CORRELATED_NORMAL:
                return self.normal.radius_holding(level)
            case _:
                return self.matched[method].radius_holding(level)

    def probability(self, method: Method, radius: float) -> float:
        """Return the share of shots within a radius above 0."""
        match method:
            case Method.RAYLEIGH:
                return rayleigh.probability_within(radius, self.sigma.value, self.offset)
            case Method.CORRELATED_NORMAL:
                return self.normal.within(radius)
            case _:
                return self.matched[method].within(radius)

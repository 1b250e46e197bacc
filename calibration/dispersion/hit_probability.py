"""The chance to hit a round target."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibration.dispersion import rayleigh
from calibration.dispersion.cep import Circles, Method
from calibration.dispersion.shots import Estimate, GroupError, Shots

__all__ = ["HitProbability", "hit_probability", "next_shot_probability"]


@dataclass(frozen=True, slots=True)
class HitProbability:
    """The chance to hit a disc of a radius."""

    radius: float
    about_aim: dict[Method, float]
    """The disc lies about the point of aim, and the sights stay as they are."""
    about_centre: dict[Method, float]
    """It lies about the group's centre: as if the sights were set."""
    round_about_centre: Estimate
    """Rayleigh's chance about the centre, at both ends of sigma's interval."""
    next_shot: float
    """`next_shot_probability`."""


def hit_probability(shots: Shots, radius: float) -> HitProbability:
    """Return the chance to hit a disc.

    Parameters
    ----------
    shots : Shots
        What was shot at it.
    radius : float
        Of the disc, in the shots' unit, above 0.

    Raises
    ------
    GroupError
        If the radius is not a finite number above 0, there are fewer than 2 shots, or they all lie at one place.
    """
    if not (radius > 0 and math.isfinite(radius)):
        raise GroupError(f"the radius of the target is {radius:g}, expected a finite number above 0")
    about_aim, about_centre = Circles.about_aim(shots), Circles.about_centre(shots)
    sigma = about_centre.sigma
    chance, highest, lowest = (
        rayleigh.probability_within(radius, value) for value in (sigma.value, sigma.lowest, sigma.highest)
    )
    return HitProbability(
        radius=radius,
        about_aim={method: about_aim.probability(method, radius) for method in Method},
        about_centre={method: about_centre.probability(method, radius) for method in Method},
        round_about_centre=Estimate(chance, lowest, highest),
        next_shot=next_shot_probability(shots, radius),
    )


def next_shot_probability(shots: Shots, radius: float) -> float:
    """Return the chance that the next shot lies within a radius of the centre of those shot so far.

    The predictive chance for a round normal spread of which nothing is known but these shots: any centre and any log
    sigma were as likely before. The next shot's squared distance from the sample's centre, over (1 + 1/n) times the
    sample's variance a coordinate and over 2, is F(2, 2 (n - 1)), whose distribution has a closed form.

    Notes
    -----
    Of a radius in proportion to the sample's own scatter it comes true as often as it says. Of a disc of one size it
    does not: of few shots it says too much of a small disc and too little of a large one. On average over groups of 2
    shots it says 38.6 % of a disc of 1 sigma, and 28.4 % of next shots lie in it; of 3 sigma 78.6 %, and 95.0 % do. Of
    3 shots and half a sigma it says 14.0 % for 9.0 %, of 5 shots and 3 sigma 92.3 % for 97.7 %; from 10 shots on it is
    right to 3 points.

    Raises
    ------
    GroupError
        If there are fewer than 2 shots, or they all lie at one place.
    """
    shots.need(2, "a chance to hit")
    count = len(shots)
    squares = float(shots.radii @ shots.radii)
    return 1 - (1 + radius**2 / (squares * (1 + 1 / count))) ** -(count - 1)

"""How shots scatter: figures of a group, with intervals that stay honest for few shots.

Everything begins with `Shots.of(points)`: x and y of each shot relative to the point of aim. `describe` works out the
whole report; the modules have the figures one by one, with the source of each. Lengths have no unit of their own
here: every length that is worked out is in the unit of the points, so this is the one place of the house where
names carry none.

`calibration.dispersion.compare` and `calibration.dispersion.bootstrap` are not imported here: they lean on
`scipy.stats`, which takes longer to load than a report to make.
"""

from calibration.dispersion.boxes import Box
from calibration.dispersion.cep import Circles, Method
from calibration.dispersion.circles import Circle
from calibration.dispersion.ellipse import Ellipse
from calibration.dispersion.group import LEVELS, GroupReport, Radii, Spread, describe
from calibration.dispersion.hit_probability import HitProbability, hit_probability, next_shot_probability
from calibration.dispersion.range_statistics import RangeStatistic, sigma_from_range
from calibration.dispersion.shots import Estimate, GroupError, Shots

__all__ = [
    "LEVELS",
    "Box",
    "Circle",
    "Circles",
    "Ellipse",
    "Estimate",
    "GroupError",
    "GroupReport",
    "HitProbability",
    "Method",
    "Radii",
    "RangeStatistic",
    "Shots",
    "Spread",
    "describe",
    "hit_probability",
    "next_shot_probability",
    "sigma_from_range",
]

"""The report of one group: every figure, and why one is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from calibration.dispersion.boxes import Box, smallest_box, upright_box
from calibration.dispersion.cep import Circles, Method
from calibration.dispersion.circles import Circle, extreme_spread, smallest_circle
from calibration.dispersion.ellipse import Ellipse, confidence_ellipse, roundness_p
from calibration.dispersion.location import centre_interval, hotelling_p
from calibration.dispersion.outliers import outliers
from calibration.dispersion.range_statistics import RangeStatistic, sigma_from_range
from calibration.dispersion.shots import Estimate, GroupError, Shots

__all__ = ["LEVELS", "GroupReport", "Radii", "Spread", "describe"]

LEVELS = (0.5, 0.9, 0.95)
"""Shares of the shots that circles are drawn for."""

_ELLIPSE_LEVEL = 0.95

Radii = Mapping[Method, Mapping[float, float]]
"""By method and level: the radius of the circle that holds that share of the shots."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How shots scatter. Lengths are in the shots' unit; `Estimate` holds 95 % intervals."""

    centre: tuple[Estimate, Estimate]
    """x and y of the centre."""
    sigma: Estimate
    """Of a round group, corrected for few shots."""
    cep: Radii
    """About the group's centre."""
    cep_offset: Radii
    """About the point of aim."""
    mean_radius: float
    """Mean distance of these shots from their centre."""
    extreme_spread: float
    """Largest distance between two of these shots."""
    box: Box
    """Upright; its `figure_of_merit` is the mean of width and height."""
    min_box: Box
    """Of least area."""
    min_circle: Circle
    """The smallest that holds all shots."""
    ellipse: Ellipse
    """For 95 % of the shots."""
    sigma_from: Mapping[RangeStatistic, Estimate]
    """Sigma as a ruler would give it; empty beyond 100 shots."""
    roundness_p: float | None
    """How probable a group at least as elongated is where the true spread is round; None below 3 shots."""
    hotelling_p: float | None
    """How probable a centre at least as far off is where the true centre is the point of aim.

    None: there are fewer than 3 shots, or they lie on a line.
    """
    outliers: tuple[int, ...]
    """Rows of wild shots, the wildest first. They are counted in every other figure."""


@dataclass(frozen=True, slots=True)
class GroupReport:
    """What can be said of a group."""

    shots: Shots
    spread: Spread | None
    """None where nothing can be said of it."""
    reasons: tuple[str, ...]
    """What cannot be said, a sentence each."""


def describe(shots: Shots) -> GroupReport:
    """Work out the report of a group.

    Parameters
    ----------
    shots : Shots
        One is enough for a report of where it lies; two that differ, for one of how they scatter.
    """
    reasons: list[str] = []
    try:
        about_centre, about_aim = Circles.about_centre(shots), Circles.about_aim(shots)
    except GroupError as error:
        return GroupReport(shots, None, (str(error),))
    box = upright_box(shots.points)
    widest = extreme_spread(shots.points)
    return GroupReport(
        shots,
        Spread(
            centre=centre_interval(shots),
            sigma=about_centre.sigma,
            cep=_radii(about_centre),
            cep_offset=_radii(about_aim),
            mean_radius=float(shots.radii.mean()),
            extreme_spread=widest,
            box=box,
            min_box=smallest_box(shots.points),
            min_circle=smallest_circle(shots.points),
            ellipse=confidence_ellipse(shots, _ELLIPSE_LEVEL),
            sigma_from=_by_ruler(shots, widest, box, reasons),
            roundness_p=_test(roundness_p, shots, reasons),
            hotelling_p=_test(hotelling_p, shots, reasons),
            outliers=outliers(shots),
        ),
        tuple(reasons),
    )


def _radii(circles: Circles) -> Radii:
    return MappingProxyType(
        {
            method: MappingProxyType({level: circles.radius(method, level) for level in LEVELS})
            for method in Method
        }
    )


def _by_ruler(shots: Shots, widest: float, box: Box, reasons: list[str]) -> Mapping[RangeStatistic, Estimate]:
    measured = {
        RangeStatistic.EXTREME_SPREAD: widest,
        RangeStatistic.FIGURE_OF_MERIT: box.figure_of_merit,
        RangeStatistic.DIAGONAL: box.diagonal,
    }
    try:
        return MappingProxyType(
            {
                statistic: sigma_from_range(statistic, value, len(shots))
                for statistic, value in measured.items()
            }
        )
    except GroupError as error:
        reasons.append(str(error))
        return MappingProxyType({})


def _test(test: Callable[[Shots], float], shots: Shots, reasons: list[str]) -> float | None:
    try:
        return test(shots)
    except GroupError as error:
        reasons.append(str(error))
        return None

"""A group's report as JSON, its keys in the words that people who shoot use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from calibration.dispersion import (
    Box,
    Estimate,
    GroupReport,
    HitProbability,
    Radii,
    Shots,
    Spread,
    describe,
    hit_probability,
)
from rig.files.length_unit import LengthUnit
from rig.stats.group_file import GroupFile, check_radius

if TYPE_CHECKING:
    from calibration.dispersion.compare import Comparison

__all__ = ["FileReport", "comparison_as_json", "report_group"]

_Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What can be said of the group in a file."""

    file: GroupFile
    group: GroupReport
    chances: tuple[HitProbability, ...]
    """To hit the radii asked for; none where nothing can be said of the spread."""
    bootstrapped: Mapping[str, Estimate]
    """Intervals that ask nothing of the distribution; empty where nobody asked for them."""

    @property
    def unit(self) -> str:
        """What lengths are in, in words."""
        return "the file's unit" if self.file.unit is None else self.file.unit.value

    @property
    def wild_lines(self) -> tuple[int, ...]:
        """Lines of the file with wild shots, the wildest first."""
        spread = self.group.spread
        return () if spread is None else tuple(self.file.lines[row] for row in spread.outliers)

    def as_json(self) -> _Json:
        """Return what `rig stats group --json` prints. Lengths are in `unit`; what cannot be said is null."""
        shots, spread = self.group.shots, self.group.spread
        said: _Json = {
            "n": len(shots),
            "unit": None if self.file.unit is None else self.file.unit.value,
            "centre": shots.centre.tolist(),
            "offset": shots.offset,
            **(dict.fromkeys(_SPREAD_KEYS) if spread is None else _spread(spread)),
            "outlier_lines": list(self.wild_lines),
            "skipped": list(map(str, self.file.skipped)),
            "not_said": list(self.group.reasons),
        }
        if self.chances:
            said["hit_probability"] = [_chance(each) for each in self.chances]
        if self.bootstrapped:
            said["bootstrap"] = {
                figure: {"value": estimate.value, "ci": _interval(estimate)}
                for figure, estimate in self.bootstrapped.items()
            }
        return said


def report_group(
    file: GroupFile,
    *,
    radii: Sequence[float] = (),
    bootstrapped: Mapping[str, Estimate] = MappingProxyType({}),
) -> FileReport:
    """Work out the report of a group.

    Parameters
    ----------
    file : GroupFile
        The group.
    radii : sequence of float
        Of round targets that may be shot at, in the file's unit.
    bootstrapped : mapping of str to Estimate
        Intervals by `calibration.dispersion.bootstrap`, to be shown with the rest.

    Raises
    ------
    rig.stats.group_file.GroupFileError
        A radius is not above 0, or too large.
    """
    for radius in radii:
        check_radius(radius, file.unit)
    shots = Shots.of(file.points)
    group = describe(shots)
    chances = tuple(hit_probability(shots, radius) for radius in radii) if group.spread is not None else ()
    return FileReport(file, group, chances, bootstrapped)


def comparison_as_json(
    names: Sequence[str], groups: Sequence[Shots], unit: LengthUnit | None, comparison: Comparison
) -> _Json:
    """Return what `rig stats compare --json` prints."""
    return {
        "unit": None if unit is None else unit.value,
        "groups": [
            {
                "name": name,
                "n": len(shots),
                "centre": shots.centre.tolist(),
                "sigma": sigma.value,
                "sigma_ci": _interval(sigma),
            }
            for name, shots, sigma in zip(names, groups, comparison.sigmas, strict=True)
        ],
        "same_centre_p": comparison.same_centre_p,
        "same_sigma_p": comparison.same_sigma_p,
        "same_radii_p": comparison.same_radii_p,
        "sigma_ratio": None if comparison.sigma_ratio is None else comparison.sigma_ratio.value,
        "sigma_ratio_ci": None if comparison.sigma_ratio is None else _interval(comparison.sigma_ratio),
    }


def _spread(spread: Spread) -> _Json:
    return {
        "centre_ci": [_interval(each) for each in spread.centre],
        "sigma": spread.sigma.value,
        "sigma_ci": _interval(spread.sigma),
        "cep": _radii(spread.cep),
        "cep_offset": _radii(spread.cep_offset),
        "mean_radius": spread.mean_radius,
        "extreme_spread": spread.extreme_spread,
        "figure_of_merit": spread.box.figure_of_merit,
        "box": _box(spread.box),
        "min_circle_radius": spread.min_circle.radius,
        "min_circle_centre": [spread.min_circle.x, spread.min_circle.y],
        "min_box_area": spread.min_box.area,
        "min_box": _box(spread.min_box),
        "confidence_ellipse_95": [spread.ellipse.semi_major, spread.ellipse.semi_minor],
        "confidence_ellipse_angle_deg": math.degrees(spread.ellipse.angle_rad),
        "hotelling_p": spread.hotelling_p,
        "roundness_p": spread.roundness_p,
        "sigma_from": {
            statistic.value: {"value": estimate.value, "ci": _interval(estimate)}
            for statistic, estimate in spread.sigma_from.items()
        },
    }


_SPREAD_KEYS = (
    "centre_ci",
    "sigma",
    "sigma_ci",
    "cep",
    "cep_offset",
    "mean_radius",
    "extreme_spread",
    "figure_of_merit",
    "box",
    "min_circle_radius",
    "min_circle_centre",
    "min_box_area",
    "min_box",
    "confidence_ellipse_95",
    "confidence_ellipse_angle_deg",
    "hotelling_p",
    "roundness_p",
    "sigma_from",
)


def _radii(radii: Radii) -> _Json:
    return {
        method.value: {f"{level:g}": radius for level, radius in by_level.items()}
        for method, by_level in radii.items()
    }


def _box(box: Box) -> _Json:
    return {
        "width": box.width,
        "height": box.height,
        "diagonal": box.diagonal,
        "angle_deg": math.degrees(box.angle_rad),
    }


def _chance(chance: HitProbability) -> _Json:
    return {
        "radius": chance.radius,
        "about_aim": {method.value: share for method, share in chance.about_aim.items()},
        "about_centre": {method.value: share for method, share in chance.about_centre.items()},
        "about_centre_ci": _interval(chance.round_about_centre),
        "next_shot": chance.next_shot,
    }


def _interval(estimate: Estimate) -> list[float]:
    return [estimate.lowest, estimate.highest]

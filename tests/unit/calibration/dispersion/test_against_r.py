"""The figures of the R package shotGroups 0.8.4, over groups drawn by a seed and over real targets."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calibration.dispersion import LEVELS, Method, Shots, describe, hit_probability
from calibration.dispersion.rayleigh import offset_of_centre

_HERE = Path(__file__).parent
_REAL = Path(__file__).resolve().parents[5] / "shared" / "peer" / "groups-real.json"
_NAMES = {
    Method.RAYLEIGH: "Rayleigh",
    Method.CORRELATED_NORMAL: "CorrNormal",
    Method.GRUBBS_PATNAIK: "GrubbsPatnaik",
    Method.GRUBBS_PEARSON: "GrubbsPearson",
    Method.GRUBBS_LIU: "GrubbsLiu",
}


def _sets(path: Path) -> dict[str, dict[str, Any]]:
    sets: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["sets"]
    return sets


_SIMULATED = _sets(_HERE / "data" / "groups-simulated.json")


@pytest.mark.parametrize("name", _SIMULATED)
def test_a_simulated_group_has_the_figures_of_the_package(name: str) -> None:
    _check(_SIMULATED[name])


@pytest.mark.skipif(
    not _REAL.exists(), reason=f"{_REAL} is not here: real groups are GPL and not part of this project"
)
def test_real_groups_have_the_figures_of_the_package() -> None:
    for expected in _sets(_REAL).values():
        _check(expected)


def _check(expected: dict[str, Any]) -> None:
    shots = Shots.of(expected["points"])
    spread = describe(shots).spread
    assert spread is not None
    sigma = expected["rayleigh"]["sigma"]
    found_and_expected = {
        "sigma": (spread.sigma.value, sigma["sigma"]),
        "sigma lowest": (spread.sigma.lowest, sigma["sigCIlo"]),
        "sigma highest": (spread.sigma.highest, sigma["sigCIup"]),
        "offset": (shots.offset, expected["distPOA"]["unit"]),
        "rice": (offset_of_centre(shots, spread.sigma.value), expected["rice"]["nu"][0]),
        "mean radius": (spread.mean_radius, expected["mean_radius_sample"]),
        "extreme spread": (spread.extreme_spread, expected["extreme_spread"]),
        "figure of merit": (spread.box.figure_of_merit, expected["bbox"]["FoM"]),
        "diagonal": (spread.box.diagonal, expected["bbox"]["diag"]),
        "minimum box": (spread.min_box.area, expected["min_area_bbox"]["area"]),
        "minimum box diagonal": (spread.min_box.diagonal, expected["min_area_bbox"]["diag"]),
        "minimum circle": (spread.min_circle.radius, expected["min_circle"]["rad"]),
        "ellipse major": (spread.ellipse.semi_major, expected["confEll"]["0.95"]["semi"]["semi-major"]),
        "ellipse minor": (spread.ellipse.semi_minor, expected["confEll"]["0.95"]["semi"]["semi-minor"]),
        "hotelling": (spread.hotelling_p, expected["hotelling"]["p"]),
        "centre x lowest": (spread.centre[0].lowest, expected["meanCI"]["x"][0]),
        "centre y highest": (spread.centre[1].highest, expected["meanCI"]["y"][1]),
    }
    for radii, where in ((spread.cep, "cep_precision"), (spread.cep_offset, "cep_accuracy")):
        for method, name in _NAMES.items():
            for level in LEVELS:
                found_and_expected[f"{where} {name} {level}"] = (
                    radii[method][level],
                    expected[where][f"CEP{level}"][name],
                )
    for what, (found, package) in found_and_expected.items():
        # The package looks for the roots of the correlated normal with a tolerance of its own.
        tolerance = 5e-5 if "CorrNormal" in what else 1e-6
        assert found == pytest.approx(package, rel=tolerance), what
    # Half a turn makes no other ellipse.
    turned = math.remainder(
        spread.ellipse.angle_rad - math.radians(expected["confEll"]["0.95"]["shape"]["angle"]), math.pi
    )
    assert abs(turned) < 1e-6

    for each in expected["hitprob"].values():
        chances = hit_probability(shots, each["r"])
        for method in (Method.RAYLEIGH, Method.CORRELATED_NORMAL, Method.GRUBBS_PATNAIK):
            for found, package in (
                (chances.about_centre[method], each["precision"][_NAMES[method]]),
                (chances.about_aim[method], each["accuracy"][_NAMES[method]]),
            ):
                assert found == pytest.approx(package, rel=1e-6, abs=1e-9)

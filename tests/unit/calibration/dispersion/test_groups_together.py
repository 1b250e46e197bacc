"""Ruler, comparison and bootstrap: against exact values, the R package's table, and simulation."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import fdtrc
from scipy.stats import f

from calibration.dispersion import GroupError, RangeStatistic, Shots, sigma_from_range
from calibration.dispersion._range_table import range_moments, simulate
from calibration.dispersion.bootstrap import Bootstrapped, bootstrap
from calibration.dispersion.compare import compare
from calibration.dispersion.range_statistics import range_factors
from calibration.dispersion.rayleigh import sigma

_R = json.loads((Path(__file__).parent / "data" / "groups-simulated.json").read_text(encoding="utf-8"))


def test_mean_ranges_are_those_of_the_books() -> None:
    """Tippett's d2 and d3, as every table of control charts has them."""
    for shots, d2, d3 in ((2, 1.128, 0.853), (5, 2.326, 0.864), (10, 3.078, 0.797), (25, 3.931, 0.708)):
        assert range_moments(shots) == pytest.approx((d2, d3), abs=6e-4)


def test_factors_of_two_shots_are_exact() -> None:
    """Two shots are sqrt(2) Rayleigh apart."""
    mean, sd = math.sqrt(math.pi), math.sqrt(4 - math.pi)
    for statistic in (RangeStatistic.EXTREME_SPREAD, RangeStatistic.DIAGONAL):
        assert range_factors(statistic, 2) == pytest.approx((mean, sd), rel=5e-4)


@pytest.mark.parametrize("shots", [3, 10, 33])
def test_the_table_is_what_a_fresh_simulation_gives(shots: int) -> None:
    fresh = simulate(shots, 8_000, np.random.default_rng(shots))
    for name, (mean, sd, error) in fresh.items():
        found_mean, found_sd = range_factors(RangeStatistic(name), shots)
        assert found_mean == pytest.approx(mean, abs=4 * error + 1e-3 * mean)
        assert found_sd == pytest.approx(sd, rel=0.04)
    assert range_factors(RangeStatistic.FIGURE_OF_MERIT, shots)[0] == pytest.approx(
        range_moments(shots)[0], rel=1e-3
    )


@pytest.mark.parametrize("shots", [5, 10, 20])
def test_an_extreme_spread_of_5_gives_the_packages_sigma(shots: int) -> None:
    """The package's own simulated table, shotGroups 0.8.4: 0.1 % for sigma, 3 % for its interval."""
    package = _R["range2sigma_ES5"][str(shots)]
    found = sigma_from_range(RangeStatistic.EXTREME_SPREAD, 5.0, shots)
    assert found.value == pytest.approx(package["sigma.unit"], rel=1e-3)
    assert found.lowest == pytest.approx(package["sigmaCI1"], rel=0.03)
    assert found.highest == pytest.approx(package["sigmaCI2"], rel=0.03)


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("statistic", RangeStatistic)
def test_the_rulers_interval_covers_sigma(statistic: RangeStatistic, groups: int) -> None:
    rng = np.random.default_rng(11)
    points = rng.normal(size=(1_000, groups, 6, 2))
    size = np.ptp(points, axis=2)
    pairs = np.array([[a, b] for a in range(6) for b in range(a)])
    apart = np.hypot(*(points[:, :, pairs[:, 0]] - points[:, :, pairs[:, 1]]).transpose(3, 0, 1, 2))
    measured = {
        RangeStatistic.EXTREME_SPREAD: apart.max(axis=2),
        RangeStatistic.FIGURE_OF_MERIT: size.mean(axis=2),
        RangeStatistic.DIAGONAL: np.hypot(size[..., 0], size[..., 1]),
    }[statistic].mean(axis=1)
    found = [sigma_from_range(statistic, float(value), 6, groups=groups) for value in measured]
    covered = np.mean([estimate.lowest <= 1 <= estimate.highest for estimate in found])
    assert covered == pytest.approx(0.95, abs=0.03)
    assert np.mean([estimate.value for estimate in found]) == pytest.approx(1, abs=0.04)


@pytest.mark.parametrize(
    ("value", "shots", "groups"),
    [(0.0, 5, 1), (-1.0, 5, 1), (math.nan, 5, 1), (1.0, 1, 1), (1.0, 101, 1), (1.0, 5, 0)],
)
def test_a_ruler_has_its_limits(value: float, shots: int, groups: int) -> None:
    with pytest.raises(GroupError):
        sigma_from_range(RangeStatistic.DIAGONAL, value, shots, groups=groups)


def _groups(rng: np.random.Generator, *sigmas: float) -> list[Shots]:
    return [Shots.of(rng.normal(0, value, size=(8, 2))) for value in sigmas]


def test_groups_alike_differ_once_in_twenty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibration.dispersion.compare._DRAWS", 999)
    rng = np.random.default_rng(12)
    for kinds in (2, 3):
        found = [compare(_groups(rng, *[2.0] * kinds)) for _ in range(400)]
        for name in ("same_centre_p", "same_sigma_p", "same_radii_p"):
            alarms = np.mean([getattr(each, name) < 0.05 for each in found])
            assert alarms == pytest.approx(0.05, abs=0.044), (kinds, name)


@pytest.mark.parametrize("sizes", [(3, 3), (2, 20), (5, 5), (4, 6, 9), (60, 60)])
@pytest.mark.parametrize("shape", [1.0, 3.0])
def test_distances_of_small_groups_alike_differ_no_oftener_either(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], shape: float
) -> None:
    """Chi-square would call 3 and 3 shots different in 18 % of cases, 2 and 20 in 20 %."""
    monkeypatch.setattr("calibration.dispersion.compare._DRAWS", 999)
    rng = np.random.default_rng(21)
    found = [
        compare([Shots.of(rng.normal(0, [1, shape], (size, 2))) for size in sizes]).same_radii_p
        for _ in range(400)
    ]
    assert np.mean([p is None or p < 0.05 for p in found]) < 0.075


def test_distances_that_are_all_alike_say_nothing() -> None:
    first, second = Shots.of([[0.1, 0.2], [2.1, 0.2]]), Shots.of([[5, 5.3], [5, 7.3]])
    assert compare([first, second]).same_radii_p is None
    # Of two shots each, nothing can be told apart.
    assert compare([first, Shots.of([[5, 5.3], [5, 9.3]])]).same_radii_p == 1


def test_distances_of_groups_of_other_sizes_are_told_apart_as_those_from_their_true_centres() -> None:
    """From its own centre a group of two is nearer by sqrt(1/2), one of four by sqrt(3/4)."""
    away = math.sqrt(1.5)
    two, four = Shots.of([[-1, 0], [1, 0]]), Shots.of([[away, 0], [-away, 0], [0, away], [0, -away]])
    assert compare([two, four]).same_radii_p is None


def test_the_interval_of_a_ratio_is_that_of_the_variances_whichever_group_is_larger() -> None:
    rng = np.random.default_rng(31)
    few, many = Shots.of(rng.normal(0, 1, (4, 2))), Shots.of(rng.normal(0, 2, (15, 2)))
    for first, second in ((few, many), (many, few)):
        found = compare([first, second]).sigma_ratio
        assert found is not None
        freedoms = 2 * (len(second) - 1), 2 * (len(first) - 1)
        variances = (float(each.radii @ each.radii) / (2 * (len(each) - 1)) for each in (first, second))
        ratio = 1 / next(variances) * next(variances)
        ends = [math.sqrt(ratio / f.ppf(share, *freedoms)) for share in (0.975, 0.025)]
        assert [found.lowest, found.highest] == pytest.approx(ends, rel=1e-9)


def test_a_comparison_of_the_same_groups_is_the_same_and_asks_no_unit() -> None:
    first, second = _groups(np.random.default_rng(22), 1.0, 1.7)
    found = compare([first, second])
    assert compare([first, second]) == found
    in_cm = compare([Shots.of(first.points / 10), Shots.of(second.points / 10)])
    assert in_cm.same_radii_p == found.same_radii_p


def test_the_ratio_of_two_sigmas_covers_the_true_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibration.dispersion.compare._DRAWS", 9)
    rng = np.random.default_rng(13)
    ratios = [compare(_groups(rng, 2.0, 5.0)).sigma_ratio for _ in range(400)]
    assert np.mean([each.lowest <= 2.5 <= each.highest for each in ratios if each]) == pytest.approx(
        0.95, abs=0.044
    )


def test_groups_that_differ_are_told_apart() -> None:
    rng = np.random.default_rng(14)
    wide, tight = Shots.of(rng.normal(0, 9, (15, 2))), Shots.of(rng.normal(0, 2, (15, 2)))
    beside = Shots.of(rng.normal([5, 0], 2, (15, 2)))
    spread = compare([wide, tight])
    assert spread.same_sigma_p < 1e-4
    assert spread.same_radii_p is not None
    assert spread.same_radii_p < 1e-3
    assert spread.sigma_ratio is not None
    assert spread.sigma_ratio.highest < 1
    place = compare([tight, beside])
    assert place.same_centre_p is not None
    assert place.same_centre_p < 1e-4
    assert compare([tight, beside, wide]).sigma_ratio is None


def test_two_centres_are_compared_by_hotellings_test() -> None:
    """The textbook form of the two-sample test: T squared from the pooled covariance."""
    first, second = _groups(np.random.default_rng(15), 1.0, 1.0)
    pooled = (7 * first.covariance + 7 * second.covariance) / 14
    between = first.centre - second.centre
    square = 4 * between @ np.linalg.solve(pooled, between)
    expected = fdtrc(2, 13, square * 13 / (14 * 2))
    assert compare([first, second]).same_centre_p == pytest.approx(expected)


def test_a_comparison_says_what_it_takes() -> None:
    sound, lone = Shots.of([[0, 0], [1, 2], [3, 1]]), Shots.of([[0, 0]])
    with pytest.raises(GroupError, match="2 groups or more"):
        compare([sound])
    with pytest.raises(GroupError, match="2 shots or more"):
        compare([sound, lone])
    line = Shots.of([[0, 0], [1, 1], [2, 2]])
    assert compare([line, line]).same_centre_p is None


def test_the_bootstrap_repeats_by_its_seed_and_agrees_with_theory() -> None:
    shots = Shots.of(np.random.default_rng(16).normal(3, 5, size=(40, 2)))
    found = bootstrap(shots, np.random.default_rng(1), resamples=1_999)
    assert found == bootstrap(shots, np.random.default_rng(1), resamples=1_999)
    theory, drawn = sigma(shots), found[Bootstrapped.SIGMA]
    assert drawn.value == pytest.approx(theory.value)
    assert drawn.lowest == pytest.approx(theory.lowest, rel=0.1)
    assert drawn.highest == pytest.approx(theory.highest, rel=0.1)
    assert found[Bootstrapped.OFFSET].value == pytest.approx(shots.offset)
    for estimate in found.values():
        assert estimate.lowest < estimate.value < estimate.highest


def test_a_bootstrap_of_next_to_nothing_is_refused() -> None:
    with pytest.raises(GroupError, match="5 shots or more"):
        bootstrap(Shots.of([[0, 0], [1, 1], [2, 0], [0, 2]]), np.random.default_rng(1))


@pytest.mark.parametrize(
    "points", [[[1, 1], [1, -1], [-1, 1], [-1, -1]] * 2, [[0, 0], [1, 0]] * 3], ids=["a square", "two places"]
)
def test_a_bootstrap_of_shots_that_lie_so_evenly_that_none_makes_a_difference_is_refused(points) -> None:
    with pytest.raises(GroupError, match=f"these {len(points)} lie so evenly"):
        bootstrap(Shots.of(points), np.random.default_rng(1), resamples=499)


def test_a_bootstrap_of_shots_of_which_all_but_one_lie_at_one_place_has_its_intervals() -> None:
    found = bootstrap(Shots.of([[0, 0]] * 19 + [[1, 0]]), np.random.default_rng(1), resamples=499)
    assert all(estimate.lowest <= estimate.value <= estimate.highest for estimate in found.values())

"""Circles by each method: known values, limits in which methods meet, and what simulation says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import chndtrix
from scipy.stats import chi2, ncx2

from calibration.dispersion import (
    GroupError,
    Method,
    Shots,
    describe,
    hit_probability,
    next_shot_probability,
    noncentral,
)
from calibration.dispersion.correlated_normal import CircleProbability
from calibration.dispersion.grubbs import GrubbsVariant, MatchedChiSquare
from calibration.dispersion.rayleigh import c4, probability_within, radius_holding, sigma


@pytest.mark.parametrize(
    ("values", "expected"), [(2, 0.797885), (5, 0.939986), (10, 0.972659), (25, 0.989640)]
)
def test_c4_has_the_values_of_the_control_chart_tables(values: int, expected: float) -> None:
    assert c4(values) == pytest.approx(expected, abs=5e-7)


def test_half_of_a_round_group_lies_within_1_1774_sigma() -> None:
    assert radius_holding(0.5, 1.0) == pytest.approx(1.17741, abs=5e-6)


@given(st.floats(0.01, 0.99), st.floats(0.01, 100), st.floats(0, 1000))
def test_radius_and_probability_undo_each_other(level: float, sigma_value: float, offset: float) -> None:
    radius = radius_holding(level, sigma_value, offset)
    assert probability_within(radius, sigma_value, offset) == pytest.approx(level, abs=1e-8)


def test_sigma_is_right_on_average_and_its_interval_covers_it() -> None:
    """95 % intervals over 2,000 groups of 5 and of 20 shots with sigma 7: four standard errors of the count."""
    rng = np.random.default_rng(6)
    for count in (5, 20):
        groups = rng.normal(3, 7, size=(2_000, count, 2))
        estimates = [sigma(Shots.of(points)) for points in groups]
        values = np.array([estimate.value for estimate in estimates])
        assert values.mean() == pytest.approx(7, abs=4 * values.std() / math.sqrt(2_000))
        covered = np.mean([estimate.lowest <= 7 <= estimate.highest for estimate in estimates])
        # Exactly: the chi-square interval with both ends divided by c4.
        freedom = 2 * (count - 1)
        ends = chi2.ppf([0.025, 0.975], freedom) * c4(freedom + 1) ** 2
        exactly = float(np.diff(chi2.cdf(ends, freedom))[0])
        assert exactly == pytest.approx(0.95, abs=0.01)
        assert covered == pytest.approx(exactly, abs=4 * math.sqrt(0.05 / 2_000))


@pytest.mark.parametrize("freedom", [1.0, 2.0, 40.0])
def test_far_out_the_noncentral_chi_square_goes_on_as_it_began(freedom: float) -> None:
    for level in (0.05, 0.5, 0.95):
        for distance in (1.1e5, 1e7):
            exact = math.sqrt(chndtrix(level, freedom, distance))
            assert math.sqrt(noncentral.quantile(level, freedom, distance)) == pytest.approx(exact, rel=1e-9)
        for distance in (0.0, 3.0, 9e4, 1e6, 1e14):
            value = noncentral.quantile(level, freedom, distance)
            assert noncentral.probability(value, freedom, distance) == pytest.approx(level, abs=1e-6)


@given(st.integers(-6, 5), st.integers(-6, 5), st.integers(-8, 0), st.integers(0, 100))
def test_every_group_has_a_report_of_numbers(size: int, offset: int, flatness: int, seed: int) -> None:
    """From micrometres to kilometres, near and far, round and flat: nothing fails, nothing is infinite."""
    points = np.random.default_rng(seed).normal(size=(5, 2)) * [10.0**size, 10.0 ** (size + flatness)]
    spread = describe(Shots.of(points + np.array([10.0**offset, 0]))).spread
    if offset - size != 7:  # there it is close
        assert (spread is None) == (offset - size > 7)
    if spread is not None:
        for radii in (spread.cep, spread.cep_offset):
            for by_level in radii.values():
                assert all(math.isfinite(radius) and radius >= 0 for radius in by_level.values())
        normal, liu = (
            spread.cep_offset[method][0.9] for method in (Method.CORRELATED_NORMAL, Method.GRUBBS_LIU)
        )
        assert normal == pytest.approx(liu, rel=0.3)


@given(
    st.floats(0.0, 2e4),
    st.floats(-math.pi, math.pi),
    st.floats(-4, 4),
)
def test_a_round_correlated_normal_is_rice(offset: float, angle_rad: float, beside: float) -> None:
    mean = np.array([offset * math.cos(angle_rad), offset * math.sin(angle_rad)])
    radius = max(offset + beside, 0.1)
    found = CircleProbability.of(mean, np.eye(2)).within(radius)
    assert found == pytest.approx(ncx2.cdf(radius**2, 2, offset**2), abs=1e-8)


@pytest.mark.parametrize("ratio", [1.0, 0.3, 0.01])
@pytest.mark.parametrize("mean", [(0.0, 0.0), (0.7, -0.4), (3.0, 20.0), (-300.0, 2.0)])
def test_the_offset_circle_agrees_with_adaptive_quadrature(ratio: float, mean: tuple[float, float]) -> None:
    """Any orientation: the plain integral over polar angle's chords, by another library's quadrature."""
    tilt = 0.6
    axes = np.array([[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]])
    covariance = axes @ np.diag([1.0, ratio**2]) @ axes.T
    x_mean, y_mean = axes.T @ mean
    chances = CircleProbability.of(np.array(mean), covariance)
    for radius in (0.5, math.hypot(*mean) + 0.6):

        def across(y: float, radius: float = radius) -> float:
            half = math.sqrt(max(radius**2 - y**2, 0.0))
            share = (math.erf((half - x_mean) / math.sqrt(2)) - math.erf((-half - x_mean) / math.sqrt(2))) / 2
            return share * math.exp(-(((y - y_mean) / ratio) ** 2) / 2) / ratio / math.sqrt(2 * math.pi)

        lowest, highest = max(-radius, y_mean - 9 * ratio), min(radius, y_mean + 9 * ratio)
        expected = quad(across, lowest, highest, epsabs=1e-12, limit=500)[0] if lowest < highest else 0.0
        assert chances.within(radius) == pytest.approx(expected, abs=1e-9)


@given(st.floats(0.001, 1), st.floats(0, 50), st.floats(-math.pi, math.pi), st.floats(0.01, 0.99))
def test_the_correlated_normals_radius_holds_its_level(
    ratio: float, offset: float, angle_rad: float, level: float
) -> None:
    mean = np.array([offset * math.cos(angle_rad), offset * math.sin(angle_rad)])
    chances = CircleProbability.of(mean, np.diag([1.0, ratio**2]))
    assert chances.within(chances.radius_holding(level)) == pytest.approx(level, abs=1e-9)


def test_a_group_on_a_line_is_one_normal() -> None:
    chances = CircleProbability.of(np.zeros(2), np.array([[1.0, 2.0], [2.0, 4.0]]))
    assert chances.radius_holding(0.95) == pytest.approx(1.959964 * math.sqrt(5), rel=1e-6)
    beside = CircleProbability.of(np.array([0.0, 3.0]), np.diag([1.0, 0.0]))
    assert beside.within(2.9) == 0
    assert beside.within(5.0) == pytest.approx(math.erf(4 / math.sqrt(2)))


@pytest.mark.parametrize("variant", GrubbsVariant)
def test_grubbs_of_a_round_centred_group_is_rayleigh(variant: GrubbsVariant) -> None:
    matched = MatchedChiSquare.of(variant, np.zeros(2), 9 * np.eye(2))
    for level in (0.1, 0.5, 0.95):
        assert matched.radius_holding(level) == pytest.approx(radius_holding(level, 3.0))
        assert matched.within(radius_holding(level, 3.0)) == pytest.approx(level)


@pytest.mark.parametrize("variant", GrubbsVariant)
def test_grubbs_stays_near_the_correlated_normal(variant: GrubbsVariant) -> None:
    """Within 4 % for a group twice as long as wide (Grubbs 1964 finds the same)."""
    covariance = np.array([[4.0, 0.5], [0.5, 1.0]])
    for mean in (np.zeros(2), np.array([1.0, -2.0])):
        exact, matched = (
            CircleProbability.of(mean, covariance),
            MatchedChiSquare.of(variant, mean, covariance),
        )
        for level in (0.5, 0.9, 0.95):
            assert matched.radius_holding(level) == pytest.approx(exact.radius_holding(level), rel=0.04)


def test_every_method_holds_the_share_that_it_says() -> None:
    """100,000 shots of a normal spread, circles about the aim."""
    rng = np.random.default_rng(7)
    points = rng.multivariate_normal([4, -3], [[25, 9], [9, 16]], size=100_000)
    spread = describe(Shots.of(points)).spread
    assert spread is not None
    assert not spread.sigma_from
    distances = np.hypot(*points.T)
    for method, tolerance in ((Method.CORRELATED_NORMAL, 0.005), (Method.GRUBBS_LIU, 0.015)):
        for level, radius in spread.cep_offset[method].items():
            assert np.mean(distances <= radius) == pytest.approx(level, abs=tolerance)


def test_the_next_shot_lies_within_as_often_as_it_says() -> None:
    """From 4 shots the chance of the fifth, over 40,000 groups, with everything left open counted in."""
    rng = np.random.default_rng(8)
    groups = rng.normal(size=(40_000, 5, 2))
    # With a radius in proportion to the sample's scatter the chance is the same for every sample.
    distances = np.array([math.dist(points[4], points[:4].mean(axis=0)) for points in groups])
    scatters = ((groups[:, :4] - groups[:, :4].mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
    expected = next_shot_probability(Shots.of(groups[0, :4]), math.sqrt(scatters[0]))
    assert np.mean(distances**2 <= scatters) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("count", "radius", "says", "comes_true"),
    [(2, 1.0, 0.386, 0.284), (2, 3.0, 0.786, 0.950), (3, 0.5, 0.140, 0.090), (5, 3.0, 0.923, 0.977)],
)
def test_of_a_disc_of_one_size_the_next_shot_is_promised_as_the_pages_say(
    count: int, radius: float, says: float, comes_true: float
) -> None:
    """The figures of its docstring and of docs/statistics.md, by 20,000 groups of sigma 1 and by theory."""
    rng = np.random.default_rng(23)
    points = rng.normal(size=(20_000, count + 1, 2))
    before, last = points[:, :count], points[:, count]
    said = [next_shot_probability(Shots.of(each), radius) for each in before]
    assert np.mean(said) == pytest.approx(says, abs=4 * np.std(said) / math.sqrt(20_000))
    hit = np.hypot(*(last - before.mean(axis=1)).T) <= radius
    assert np.mean(hit) == pytest.approx(comes_true, abs=0.014)
    assert comes_true == pytest.approx(1 - math.exp(-(radius**2) / (2 + 2 / count)), abs=6e-4)


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_from_ten_shots_on_the_next_shot_is_promised_to_three_points(radius: float) -> None:
    def weighted(squares: float) -> float:
        return float(chi2.pdf(squares, 18)) * (1 - (1 + radius**2 / (squares * 1.1)) ** -9)

    said, _ = quad(weighted, 0, 200)
    assert said == pytest.approx(1 - math.exp(-(radius**2) / 2.2), abs=0.03)


@pytest.mark.parametrize(("count", "covers"), [(2, 0.925), (3, 0.937), (4, 0.941), (5, 0.943), (10, 0.947)])
def test_the_interval_of_sigma_covers_as_the_pages_say(count: int, covers: float) -> None:
    rng = np.random.default_rng(24)
    estimates = [sigma(Shots.of(points)) for points in rng.normal(size=(10_000, count, 2))]
    covered = np.mean([estimate.lowest <= 1 <= estimate.highest for estimate in estimates])
    assert covered == pytest.approx(covers, abs=0.008)
    freedom = 2 * (count - 1)
    ends = chi2.ppf([0.025, 0.975], freedom) * c4(freedom + 1) ** 2
    assert float(np.diff(chi2.cdf(ends, freedom))[0]) == pytest.approx(covers, abs=6e-4)


def test_few_shots_promise_less_than_sigma_alone() -> None:
    shots = Shots.of(np.random.default_rng(9).normal(size=(4, 2)))
    chance = hit_probability(shots, 2 * sigma(shots).value)
    assert chance.next_shot < chance.about_centre[Method.RAYLEIGH]
    assert chance.round_about_centre.lowest < chance.about_centre[Method.RAYLEIGH]
    assert chance.about_centre[Method.RAYLEIGH] < chance.round_about_centre.highest


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf])
def test_a_target_has_a_size(radius: float) -> None:
    with pytest.raises(GroupError, match="expected a finite number above 0"):
        hit_probability(Shots.of([[0, 0], [1, 1]]), radius)

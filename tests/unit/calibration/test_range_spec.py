"""The 650 cm verdict: equivalence within a margin, how many shots it takes, drift (issue: the spec)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from calibration.range_spec import (
    Drift,
    DriftUnknown,
    RangeError,
    RangeSpec,
    SpecVerdict,
    assess_range,
    shots_needed,
    tost_power,
)

SPEC = RangeSpec()
SEEN_M = (6.48, 6.55, 6.51, 6.46, 6.58, 6.49)


def shots_at(mean_m: float, sd_m: float, count: int) -> np.ndarray:
    """Give ranges with exactly this mean and standard deviation."""
    drawn = np.random.default_rng(7).standard_normal(count)
    return mean_m + sd_m * (drawn - drawn.mean()) / drawn.std(ddof=1)


@pytest.mark.parametrize(
    ("mean_m", "sd_m", "count", "verdict"),
    [
        (6.5, 0.1, 12, SpecVerdict.MEETS),
        (6.75, 0.1, 12, SpecVerdict.MEETS),
        (7.2, 0.1, 12, SpecVerdict.DOES_NOT_MEET),
        (5.9, 0.1, 12, SpecVerdict.DOES_NOT_MEET),
        (6.5, 0.6, 5, SpecVerdict.NOT_ENOUGH_SHOTS),
        (6.82, 0.1, 12, SpecVerdict.NOT_ENOUGH_SHOTS),
    ],
)
def test_the_verdict_has_three_answers(mean_m, sd_m, count, verdict):
    assert assess_range(shots_at(mean_m, sd_m, count), SPEC).verdict is verdict


@given(st.floats(5.5, 7.5), st.floats(0.01, 1.0), st.integers(3, 60))
def test_the_verdict_is_the_place_of_the_interval_in_the_margin(mean_m, sd_m, count):
    found = assess_range(shots_at(mean_m, sd_m, count), SPEC)
    low_m, high_m = found.equivalence_interval_m
    inside = SPEC.range_m - SPEC.margin_m < low_m and high_m < SPEC.range_m + SPEC.margin_m
    outside = high_m < SPEC.range_m - SPEC.margin_m or SPEC.range_m + SPEC.margin_m < low_m
    assert (found.verdict is SpecVerdict.MEETS) == inside
    assert (found.verdict is SpecVerdict.DOES_NOT_MEET) == outside


def test_the_tests_are_scipys():
    found = assess_range(SEEN_M, SPEC)
    above = stats.ttest_1samp(SEEN_M, 6.5 - 0.325, alternative="greater").pvalue
    below = stats.ttest_1samp(SEEN_M, 6.5 + 0.325, alternative="less").pvalue
    assert found.p_meets == pytest.approx(max(above, below))
    interval = stats.ttest_1samp(SEEN_M, 6.5).confidence_interval(0.95)
    assert found.mean_interval_m == (pytest.approx(interval.low), pytest.approx(interval.high))


@pytest.mark.parametrize("count", [5, 10, 15])
def test_the_trimmed_mean_and_its_interval_are_scipys(count):
    ranges_m = shots_at(6.5, 0.1, count)
    found = assess_range(ranges_m, SPEC)
    assert found.trimmed_mean_m == pytest.approx(stats.trim_mean(ranges_m, 0.2))
    low, high = stats.mstats.trimmed_mean_ci(ranges_m, limits=(0.2, 0.2), alpha=0.05)
    assert found.trimmed_interval_m == (pytest.approx(low, rel=1e-4), pytest.approx(high, rel=1e-4))


def test_of_four_shots_none_is_trimmed():
    found = assess_range(shots_at(6.5, 0.1, 4), SPEC)
    assert found.trimmed_mean_m == pytest.approx(found.mean_m)
    assert found.trimmed_interval_m == pytest.approx(found.mean_interval_m)


@pytest.mark.parametrize("tape_m", [(6.48, 6.51, 6.51, 6.51, 6.6), (3.2, 6.5, 6.5, 6.5, 6.5, 6.5)])
def test_where_all_that_is_left_without_the_extremes_is_one_number_there_is_no_interval(tape_m):
    """It had no width, as if the mean were known for certain."""
    found = assess_range(tape_m, SPEC)
    assert found.trimmed_mean_m == pytest.approx(np.median(tape_m))
    assert found.trimmed_interval_m is None


@pytest.mark.parametrize(
    ("variation", "shots", "power"), [(0.3, 40, 0.815845), (0.25, 28, 0.807439), (0.2, 20, 0.834680)]
)
def test_the_power_of_the_two_tests_is_the_published_one(variation, shots, power):
    """The usual sample sizes of a crossover study: limits 0.80 to 1.25, true ratio 0.95, power 80 %."""
    within = math.sqrt(math.log(1 + variation**2))
    found = tost_power(math.log(0.95), math.log(1.25), within * math.sqrt(2 / shots), shots - 2, 0.05)
    assert found == pytest.approx(power, abs=1e-6)


def test_the_power_is_how_often_the_verdict_is_meets():
    rng = np.random.default_rng(11)
    ranges_m = 6.6 + 0.25 * rng.standard_normal((800, 8))
    met = [assess_range(each, SPEC).verdict is SpecVerdict.MEETS for each in ranges_m]
    expected = tost_power(0.1, SPEC.margin_m, 0.25 / math.sqrt(8), 7, SPEC.alpha)
    assert np.mean(met) == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 800))


@settings(max_examples=15)
@given(st.floats(0.02, 0.6), st.floats(0.0, 0.25), st.floats(0.5, 0.95))
def test_the_shots_needed_are_the_fewest_that_do(sd_m, difference_m, certainty):
    agreed = {"margin_m": SPEC.margin_m, "alpha": 0.05}
    shots = shots_needed(difference_m, sd_m, certainty=certainty, **agreed)
    assert shots is not None

    def power(count: int) -> float:
        return tost_power(difference_m, SPEC.margin_m, sd_m / math.sqrt(count), count - 1, 0.05)

    assert power(shots) >= certainty
    assert shots == 3 or power(shots - 1) < certainty


@given(st.floats(0.02, 1.0), st.integers(3, 60), st.floats(0.01, 0.2))
def test_a_cannon_at_the_edge_of_the_margin_meets_it_no_more_often_than_the_risk(sd_m, count, alpha):
    """The risk of a wrong "meets", whatever the scatter and the number of shots."""
    assert tost_power(0.325, 0.325, sd_m / math.sqrt(count), count - 1, alpha) <= alpha + 1e-9


def test_thousands_of_shots_are_told_and_tens_of_thousands_are_not():
    agreed = {"margin_m": 0.325, "certainty": 0.9, "alpha": 0.05}
    assert shots_needed(0.30, 0.4, **agreed) == pytest.approx(2193, rel=0.01)
    assert shots_needed(0.32, 0.4, **agreed) is None


def test_no_number_of_shots_brings_a_mean_outside_the_margin_inside():
    assert shots_needed(0.33, 0.1, margin_m=0.325, certainty=0.9, alpha=0.05) is None
    assert assess_range(shots_at(7.2, 0.1, 12), SPEC).shots_for(0.9) is None


def test_drift_and_dwell_are_told_apart():
    rng = np.random.default_rng(3)
    numbers, dwell_s = np.arange(1.0, 41.0), rng.uniform(2, 30, 40)
    ranges_m = 6.6 - 0.004 * numbers - 0.006 * dwell_s + 0.01 * rng.standard_normal(40)
    found = assess_range(ranges_m, SPEC, shot_numbers=numbers, dwell_s=dwell_s)
    for drift, truth in ((found.with_shot_number, -0.004), (found.with_dwell, -0.006)):
        assert isinstance(drift, Drift)
        assert drift.shown
        assert drift.low_m < truth < drift.high_m
        assert drift.p_value < 0.001


def test_a_drift_alone_is_scipys():
    found = assess_range(SEEN_M, SPEC).with_shot_number
    line = stats.linregress(range(1, 7), SEEN_M)
    assert isinstance(found, Drift)
    assert found.per_unit_m == pytest.approx(line.slope)
    assert found.p_value == pytest.approx(line.pvalue)
    assert not found.shown


@pytest.mark.parametrize(
    ("dwell_s", "number", "dwell"),
    [
        (None, Drift, DriftUnknown.NOT_MEASURED),
        ([5.0] * 6, Drift, DriftUnknown.ALL_ALIKE),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.1], DriftUnknown.TIED, DriftUnknown.TIED),
    ],
)
def test_what_cannot_be_told_says_why(dwell_s, number, dwell):
    found = assess_range(SEEN_M, SPEC, dwell_s=dwell_s)
    assert found.with_dwell is dwell
    assert isinstance(found.with_shot_number, Drift) if number is Drift else found.with_shot_number is number


@pytest.mark.parametrize("dwell_s", [None, [2.0, 9.0, 4.0, 7.0, 3.0, 8.0]])
def test_shots_of_one_number_tell_no_drift_from_shot_to_shot(dwell_s):
    found = assess_range(SEEN_M, SPEC, shot_numbers=[7] * 6, dwell_s=dwell_s)
    assert found.with_shot_number is DriftUnknown.ALL_ALIKE
    if dwell_s is not None:
        line = stats.linregress(dwell_s, SEEN_M)
        assert isinstance(found.with_dwell, Drift)
        assert found.with_dwell.per_unit_m == pytest.approx(line.slope)


def test_three_shots_with_dwell_are_too_few_for_two_slopes():
    found = assess_range(SEEN_M[:3], SPEC, dwell_s=[5.0, 20.0, 9.0])
    assert found.with_shot_number is DriftUnknown.TOO_FEW
    assert found.with_dwell is DriftUnknown.TOO_FEW


@pytest.mark.parametrize(("far_off", "wild"), [(2.46, None), (2.51, 9)])
def test_a_shot_of_ten_is_wild_beyond_2_48_standard_deviations(far_off, wild):
    """Grubbs' test at 1 %, both sides: F. E. Grubbs and G. Beck, Technometrics 14 (1972) 847, table I, n = 10."""
    others = np.linspace(-1.0, 1.0, 9)

    def with_one_at(place: float) -> np.ndarray:
        return np.append(others, place)

    def more_off(place: float) -> float:
        shots = with_one_at(place)
        return float((place - shots.mean()) / shots.std(ddof=1)) - far_off

    shots = with_one_at(optimize.brentq(more_off, 1.0, 9.0))
    assert assess_range(6.5 + 0.05 * shots, SPEC).wild_shot == wild


def test_a_wild_shot_is_named_and_stays_in_the_figures():
    found = assess_range((6.48, 6.55, 6.51, 3.20, 6.58, 6.49, 6.52, 6.50), SPEC)
    assert found.wild_shot == 3
    assert found.mean_m < 6.2
    assert found.trimmed_mean_m == pytest.approx(6.51, abs=0.02)
    assert assess_range(SEEN_M, SPEC).wild_shot is None


@pytest.mark.parametrize(
    ("ranges_m", "sentence"),
    [
        ([], "0 ranges cannot show .* expected 3 or more"),
        ([6.5], "1 range cannot"),
        ([6.5, 6.6], "2 ranges cannot"),
        ([6.5, 6.5, 6.5, 6.5], "all 4 ranges are the same: real shots scatter"),
        ([6.5, math.nan, 6.6], "expected ranges above 0"),
        ([6.5, -6.4, 6.6], "expected ranges above 0"),
    ],
)
def test_ranges_that_say_nothing_are_refused(ranges_m, sentence):
    with pytest.raises(RangeError, match=sentence):
        assess_range(ranges_m, SPEC)


def test_dwells_that_do_not_match_and_a_strange_spec_are_refused():
    with pytest.raises(RangeError, match="expected 6 times cocked, one for each range"):
        assess_range(SEEN_M, SPEC, dwell_s=[1.0, 2.0])
    with pytest.raises(RangeError, match="a margin between 0 and 1"):
        RangeSpec(margin=1.5)
    with pytest.raises(RangeError, match="certainty is 1, expected between 0 and 1"):
        shots_needed(0.0, 0.1, margin_m=0.3, certainty=1.0, alpha=0.05)

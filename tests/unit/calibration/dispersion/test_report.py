"""What is said of a group with little to say about, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.dispersion import GroupError, Shots, describe
from calibration.dispersion.ellipse import confidence_ellipse, roundness_p
from calibration.dispersion.location import centre_interval, hotelling_p
from calibration.dispersion.outliers import outliers


def test_one_shot_has_a_place_and_no_spread() -> None:
    report = describe(Shots.of([[3, 4]]))
    assert report.shots.offset == 5
    assert report.spread is None
    assert report.reasons == ("a spread takes 2 shots or more; the group has 1",)


@pytest.mark.parametrize("scale", [1.0, 1e12, 1e-12])
def test_shots_all_alike_have_no_spread(scale: float) -> None:
    report = describe(Shots.of(np.full((4, 2), scale * 0.1)))
    assert report.spread is None
    assert report.reasons == ("a spread takes shots that differ; all 4 lie at one place",)


def test_two_shots_have_a_sigma_and_no_tests() -> None:
    report = describe(Shots.of([[0, 0], [3, 4]]))
    assert report.spread is not None
    assert report.spread.extreme_spread == 5
    assert report.spread.min_circle.radius == 2.5
    assert report.spread.min_box.area == pytest.approx(0, abs=1e-12)
    assert report.spread.hotelling_p is None
    assert report.spread.roundness_p is None
    assert any("3 shots or more" in reason for reason in report.reasons)


def test_shots_on_a_line_have_all_but_the_test_of_the_centre() -> None:
    report = describe(Shots.of([[0, 0], [1, 2], [2, 4], [5, 10]]))
    assert report.spread is not None
    assert report.spread.hotelling_p is None
    assert report.spread.ellipse.semi_minor == 0
    assert report.spread.ellipse.semi_minor == 0
    assert report.reasons == ("a test of the centre takes shots beside a line; all 4 lie on one",)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_shots_on_a_slanting_line_have_a_box_of_no_height(offset: float) -> None:
    """Their coordinates are rounded, each for itself: 7e-15 mm was told as the box's height, and its area with it."""
    points = np.array([[-19.3, 144.1], [-3.0, 13.7], [-20.1, 150.5], [-12.1, 86.5]]) + offset
    spread = describe(Shots.of(points)).spread
    assert spread is not None
    assert spread.min_box.height == spread.min_box.area == 0
    assert spread.min_box.width == pytest.approx(spread.extreme_spread)


def test_beyond_the_table_a_ruler_says_nothing() -> None:
    report = describe(Shots.of(np.random.default_rng(1).normal(size=(101, 2))))
    assert report.spread is not None
    assert not report.spread.sigma_from
    assert report.reasons == ("range statistics are known for 2 to 100 shots; the group has 101",)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "at least one row"),
        ([1, 2], "at least one row"),
        ([[1, 2, 3]], r"shape \(1, 3\)"),
        ([[0, 0], [1, math.nan]], r"shot 2 lies at \(1, nan\)"),
        ([[0, math.inf]], "shot 1 lies"),
        ([[1e200, 0]], "at most 1e"),
    ],
)
def test_what_is_no_group_is_refused(points: list[object], said: str) -> None:
    with pytest.raises(GroupError, match=said):
        Shots.of(points)  # type: ignore[arg-type]


def test_the_points_given_are_not_touched() -> None:
    points = np.random.default_rng(2).normal(size=(6, 2))
    before = points.copy()
    shots = Shots.of(points)
    describe(shots)
    assert np.array_equal(points, before)
    with pytest.raises(ValueError, match="read-only"):
        shots.points[0, 0] = 1.0


def test_tests_of_centre_and_shape_are_right_as_often_as_they_say() -> None:
    """Where the true centre is the aim and the spread round, p falls below 0.05 in 5 % of groups."""
    rng = np.random.default_rng(3)
    groups = [Shots.of(points) for points in rng.normal(size=(2_000, 7, 2))]
    for test in (hotelling_p, roundness_p):
        alarms = np.mean([test(group) < 0.05 for group in groups])
        assert alarms == pytest.approx(0.05, abs=4 * math.sqrt(0.05 / 2_000))
    covered = np.mean([x.lowest <= 0 <= x.highest for x, _ in map(centre_interval, groups)])
    assert covered == pytest.approx(0.95, abs=4 * math.sqrt(0.05 / 2_000))


def test_the_ellipse_lies_along_the_group() -> None:
    rng = np.random.default_rng(4)
    points = rng.normal(size=(2_000, 2)) * [10, 1] @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    ellipse = confidence_ellipse(Shots.of(points), 0.95)
    assert ellipse.angle_rad == pytest.approx(math.atan2(0.8, 0.6), abs=0.02)
    assert ellipse.semi_major / ellipse.semi_minor == pytest.approx(10, rel=0.1)
    # Large groups: chi-square with 2 degrees of freedom.
    assert ellipse.semi_minor == pytest.approx(math.sqrt(-2 * math.log(0.05)), rel=0.06)


def test_wild_shots_are_found_even_side_by_side() -> None:
    """Two wild shots near each other hide each other from a rule that looks at one at a time."""
    rng = np.random.default_rng(5)
    points = rng.normal(size=(20, 2))
    points[[4, 11]] = [[9, 9], [9.2, 9.1]]
    assert set(outliers(Shots.of(points))) == {4, 11}
    assert set(outliers(Shots.of(1000 * points @ np.array([[1, 3], [0, 0.1]]) + 7))) == {4, 11}


def test_a_sound_group_has_a_wild_shot_in_5_to_8_of_a_hundred() -> None:
    rng = np.random.default_rng(6)
    alarms = np.mean([bool(outliers(Shots.of(points))) for points in rng.normal(size=(600, 12, 2))])
    assert 0.03 < alarms < 0.1


def test_four_shots_have_no_wild_one() -> None:
    assert outliers(Shots.of([[0, 0], [0, 1], [1, 0], [500, 500]])) == ()
    assert outliers(Shots.of([[0, 0], [1, 1], [2, 2], [3, 3], [90, 90]])) == ()

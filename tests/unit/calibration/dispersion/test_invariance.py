"""Figures of a group turn, move and grow with it, and do not care who shot first."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calibration.dispersion import LEVELS, GroupError, Method, Shots, Spread, describe
from calibration.dispersion.boxes import smallest_box
from calibration.dispersion.circles import extreme_spread, smallest_circle

# Whole millimetres: a group is never almost a point, and never a line but for rounding.
_COORDINATES = st.integers(-300, 300).map(float)
GROUPS = (
    st.integers(4, 12)
    .flatmap(lambda count: arrays(np.float64, (count, 2), elements=_COORDINATES))
    .filter(lambda points: np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-6) == 2)
)
FEW = settings(max_examples=40)
ANGLES_RAD = st.floats(-math.pi, math.pi)


def _spread(points: np.ndarray) -> Spread:
    spread = describe(Shots.of(points)).spread
    assert spread is not None
    return spread


def _lengths(spread: Spread, *, about_aim: bool) -> np.ndarray:
    """Give every length that does not depend on the axes, or on the point of aim."""
    radii = [spread.cep[method][level] for method in Method for level in LEVELS]
    if about_aim:
        # Rayleigh's radius about the aim has the package's unit-dependent floor; see `offset_of_centre`.
        methods = [method for method in Method if method is not Method.RAYLEIGH]
        radii += [spread.cep_offset[method][level] for method in methods for level in LEVELS]
    sigma = spread.sigma
    return np.array(
        [
            *radii,
            sigma.value,
            sigma.lowest,
            sigma.highest,
            spread.mean_radius,
            spread.extreme_spread,
            spread.min_circle.radius,
            math.sqrt(spread.min_box.area),
            spread.ellipse.semi_major,
            spread.ellipse.semi_minor,
        ]
    )


@FEW
@given(GROUPS, ANGLES_RAD)
def test_turned_about_the_point_of_aim_nothing_changes(points: np.ndarray, angle_rad: float) -> None:
    cosine, sine = math.cos(angle_rad), math.sin(angle_rad)
    turned = points @ np.array([[cosine, sine], [-sine, cosine]])
    before, after = _spread(points), _spread(turned)
    expected = _lengths(before, about_aim=True)
    assert _lengths(after, about_aim=True) == pytest.approx(expected, rel=1e-7, abs=1e-6 * expected.max())
    assert after.hotelling_p == pytest.approx(before.hotelling_p, rel=1e-6)
    assert after.roundness_p == pytest.approx(before.roundness_p, rel=1e-6, abs=1e-9)


@FEW
@given(GROUPS, _COORDINATES, _COORDINATES)
def test_moved_it_scatters_as_before(points: np.ndarray, x: float, y: float) -> None:
    before, after = _spread(points), _spread(points + np.array([x, y]))
    expected = _lengths(before, about_aim=False)
    assert _lengths(after, about_aim=False) == pytest.approx(expected, rel=1e-7, abs=1e-6 * expected.max())
    assert after.box.figure_of_merit == pytest.approx(before.box.figure_of_merit)


@FEW
@given(GROUPS, st.sampled_from([0.001, 0.1, 25.4]))
def test_in_another_unit_lengths_are_in_that_unit(points: np.ndarray, factor: float) -> None:
    before, after = _spread(points), _spread(factor * points)
    expected = factor * _lengths(before, about_aim=True)
    assert _lengths(after, about_aim=True) == pytest.approx(expected, rel=1e-7, abs=1e-6 * expected.max())
    assert after.hotelling_p == pytest.approx(before.hotelling_p, rel=1e-6)


_SIX = np.array([[3.0, 1.0], [-2.0, 4.0], [0.5, -3.0], [1.0, 2.0], [-1.5, 0.0], [2.0, -1.0]])


@pytest.mark.parametrize("factor", [1e-15, 1e14])
def test_in_the_least_and_the_largest_unit_lengths_are_in_that_unit(factor: float) -> None:
    expected = factor * _lengths(_spread(_SIX), about_aim=True)
    assert _lengths(_spread(factor * _SIX), about_aim=True) == pytest.approx(expected, rel=1e-7)


def test_what_is_larger_or_smaller_than_that_is_no_group() -> None:
    with pytest.raises(GroupError, match="at most 1e\\+15"):
        Shots.of(1e26 * _SIX)
    assert not Shots.of(1e-28 * _SIX).spread_out
    assert describe(Shots.of(1e-28 * _SIX)).spread is None


@FEW
@given(GROUPS, st.randoms(use_true_random=False))
def test_the_order_of_shots_does_not_matter(points: np.ndarray, random: object) -> None:
    order = list(range(len(points)))
    random.shuffle(order)  # type: ignore[attr-defined]
    expected = _lengths(_spread(points), about_aim=True)
    assert _lengths(_spread(points[order]), about_aim=True) == pytest.approx(
        expected, rel=1e-7, abs=1e-6 * expected.max()
    )


@FEW
@given(GROUPS)
def test_more_shots_need_a_larger_circle(points: np.ndarray) -> None:
    spread = _spread(points)
    for radii in (spread.cep, spread.cep_offset):
        for method in Method:
            by_level = [radii[method][level] for level in LEVELS]
            assert by_level == sorted(by_level)
            assert by_level[0] < by_level[-1]


@FEW
@given(GROUPS)
def test_the_smallest_circle_holds_all_and_none_smaller_does(points: np.ndarray) -> None:
    circle = smallest_circle(points)
    distances = np.hypot(*(points - [circle.x, circle.y]).T)
    assert distances.max() <= circle.radius * (1 + 1e-9)
    assert circle.radius == pytest.approx(_least_radius(points), rel=1e-9)


def _least_radius(points: np.ndarray) -> float:
    """Try every circle over two points and through three."""
    centres = [(a + b) / 2 for a, b in combinations(points, 2)]
    for a, b, c in combinations(points, 3):
        sides = np.array([b - a, c - a])
        if abs(np.linalg.det(sides)) > 1e-6:
            centres.append(a + np.linalg.solve(sides, (sides**2).sum(axis=1) / 2))
    reach = np.array([np.hypot(*(points - centre).T).max() for centre in centres])
    return float(reach.min())


@FEW
@given(GROUPS)
def test_the_smallest_box_holds_all_and_is_no_larger_than_any_other(points: np.ndarray) -> None:
    box = smallest_box(points)
    cosine, sine = math.cos(box.angle_rad), math.sin(box.angle_rad)
    x, y = (points - [box.x, box.y]).T
    assert np.abs(cosine * x + sine * y).max() <= box.width / 2 * (1 + 1e-9) + 1e-9
    assert np.abs(cosine * y - sine * x).max() <= box.height / 2 * (1 + 1e-9) + 1e-9
    assert box.width >= box.height
    angles_rad = np.linspace(0, math.pi / 2, 200)
    along = np.cos(angles_rad)[:, None] * x + np.sin(angles_rad)[:, None] * y
    across = np.cos(angles_rad)[:, None] * y - np.sin(angles_rad)[:, None] * x
    assert box.area <= (np.ptp(along, axis=1) * np.ptp(across, axis=1)).min() * (1 + 1e-9)


@FEW
@given(GROUPS)
def test_the_extreme_spread_is_the_widest_pair(points: np.ndarray) -> None:
    widest = max(math.dist(a, b) for a, b in combinations(points, 2))
    assert extreme_spread(points) == pytest.approx(widest, rel=1e-12)


@pytest.mark.parametrize(
    ("points", "radius"),
    [
        ([[0, 0], [6, 8]], 5),
        ([[0, 0], [1, 1], [2, 2], [4, 4]], 2 * math.sqrt(2)),
        ([[0, 0], [4, 0], [4, 3], [0, 3], [2, 1]], 2.5),
        ([[7, 7]], 0),
    ],
)
def test_the_smallest_circle_of_few_points(points: list[list[float]], radius: float) -> None:
    assert smallest_circle(np.array(points, dtype=float)).radius == pytest.approx(radius)

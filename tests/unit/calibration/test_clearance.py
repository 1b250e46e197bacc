"""Who stands in the way, and the scatter at the target (issue: firing table and aim)."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.aim import Aim, Arc, Cannon, Limits, Strip, solve
from calibration.clearance import clearances
from calibration.figure import Figure
from calibration.flight import Projectile, at_distance
from calibration.precision import precision_at
from calibration.scatter import Scatter
from calibration.strikes import TouchBins, first_touches

CANNON = Cannon(
    strip=Strip.of_side("A", 0.36, 0.81, offset_m=0.045),
    muzzle_speed_mps=9.6,
    drag_per_m=Projectile().drag_per_m(),
    pivot_height_m=0.05,
    barrel_m=0.06,
    traverse_m=Limits(0.03, 0.33),
    azimuth_rad=Limits(-0.52, 0.52),
    elevation_rad=Limits(-0.3, 1.56),
)
FIGURE = Figure(0.042)


def aim_at(x_m: float, y_m: float, z_m: float = 0.024, arc: Arc = Arc.DIRECT, cannon: Cannon = CANNON) -> Aim:
    aim = solve(cannon, (x_m, y_m, z_m), arc)
    assert isinstance(aim, Aim)
    return aim


def test_the_clearance_over_a_helmet_in_line_is_height_less_helmet_and_radius():
    aim = aim_at(0.18, 0.74)
    (found,) = clearances(CANNON, aim, (0.18, 0.74), [(0.18, 0.1)], FIGURE)
    passing = at_distance(CANNON.fire(aim.elevation_rad), CANNON.drag_per_m, found.distance_m, -1.0)
    assert found.distance_m == pytest.approx(0.145)
    assert found.over_m == pytest.approx(passing.z_m - 0.045, abs=2e-4)
    assert not found.struck


def test_the_first_in_the_way_is_named_first_and_the_target_and_those_beyond_are_not():
    target = (0.18, 0.7)
    soldiers = [target, (0.18, 0.655), (0.18, 0.61), (0.18, 0.745), (0.225, 0.5), (0.18, 0.1)]
    found = clearances(CANNON, aim_at(*target), target, soldiers, FIGURE)
    assert [each.soldier for each in found] == [5, 2, 1]
    assert [each.struck for each in found] == [False, True, True]


def test_who_stands_a_little_before_the_target_or_well_beside_the_way_is_not_in_it():
    target = (0.18, 0.7)
    beside = 0.18 + 1.5 * FIGURE.reach_m
    assert clearances(CANNON, aim_at(*target), target, [(0.18, 0.696), (beside, 0.5)], FIGURE) == []


def test_a_shot_that_passes_beside_the_body_and_above_the_waist_strikes_nobody():
    beside_m = FIGURE.body_reach_m + 0.5e-3
    aim = aim_at(0.18, 0.5, z_m=0.034)
    (found,) = clearances(CANNON, aim, (0.18, 0.5), [(0.18 + beside_m, 0.45)], FIGURE)
    passing = at_distance(CANNON.fire(aim.elevation_rad), CANNON.drag_per_m, found.distance_m, -1.0)
    assert passing.z_m < FIGURE.body_top_m
    assert found.over_m == pytest.approx(passing.z_m - float(FIGURE.cap_m(beside_m)))
    assert not found.struck


@settings(max_examples=60)
@given(st.floats(0.05, 0.31), st.floats(0.3, 0.78), st.floats(-0.012, 0.012), st.floats(0.1, 0.9))
def test_who_is_struck_is_who_the_shot_touches_first(x_m, y_m, beside_m, share):
    """The same rule as for scattered shots, but for soldiers that it grazes by a few hundredths of a millimetre."""
    aim = aim_at(x_m, y_m)
    soldier = (x_m + beside_m, share * (y_m - 0.03))
    found = clearances(CANNON, aim, (x_m, y_m), [soldier], FIGURE)
    touches = first_touches(
        CANNON,
        elevations_rad=[aim.elevation_rad],
        traverses_m=[aim.traverse_m],
        azimuths_rad=[aim.azimuth_rad],
        soldiers_m=[soldier],
        figure=FIGURE,
        bins=TouchBins((), ()),
        draws=Scatter(0.0, 0.0, 0.0, 0.0, 0.0).draw(1, 1, np.random.default_rng(0)),
    )
    if found and abs(found[0].over_m) > 2e-4:
        assert found[0].struck == (touches.code[0, 0, 0] >= 0)
    elif not found:
        assert touches.code[0, 0, 0] < 0


def test_a_lobbed_shot_clears_whom_the_direct_one_strikes():
    cannon = dataclasses.replace(CANNON, muzzle_speed_mps=4.0)
    target, soldiers = (0.18, 0.6), [(0.18, 0.555), (0.18, 0.51)]
    direct = aim_at(*target, cannon=cannon)
    lobbed = aim_at(*target, arc=Arc.LOBBED, cannon=cannon)
    assert clearances(cannon, direct, target, soldiers, FIGURE)[0].struck
    over = clearances(cannon, lobbed, target, soldiers, FIGURE)
    assert len(over) == 2
    assert all(each.over_m > 0.1 for each in over)


@pytest.mark.parametrize("target", [(0.30, 0.6), (0.06, 0.6)], ids=["to the right", "to the left"])
def test_on_a_slanting_line_of_fire_distance_and_offset_are_along_it_and_across_it(target):
    cannon = dataclasses.replace(CANNON, traverse_m=Limits(0.18, 0.18))
    pivot = np.array((0.18, -0.045))
    aim = aim_at(*target, cannon=cannon)
    line = np.array(target) - pivot
    distance_m = float(np.hypot(*line))
    ahead = line / distance_m
    right = np.array((ahead[1], -ahead[0]))
    assert aim.azimuth_rad == pytest.approx(np.arctan2(*line))
    on_it = pivot + 0.4 * line
    soldiers = [on_it, on_it + 0.008 * right, on_it - 0.008 * right]
    found = {each.soldier: each for each in clearances(cannon, aim, target, soldiers, FIGURE)}
    assert [found[k].distance_m for k in range(3)] == pytest.approx([0.4 * distance_m] * 3)
    # To the right of the line stands who has the line to the left of its axis.
    assert [found[k].offset_m for k in range(3)] == pytest.approx([0.0, -0.008, 0.008], abs=1e-9)


def test_a_steep_shot_is_nearest_to_the_side_of_a_body_that_it_comes_down_behind_or_rises_before():
    cannon = dataclasses.replace(CANNON, muzzle_speed_mps=3.0)
    target = (0.18, 0.6)
    aim = aim_at(*target, arc=Arc.LOBBED, cannon=cannon)
    start = cannon.fire(aim.elevation_rad)

    def height_m(distance_m: float) -> float:
        return at_distance(start, cannon.drag_per_m, distance_m, -1.0).z_m

    rising, falling = clearances(cannon, aim, target, [(0.18, 0.03), (0.18, 0.575)], FIGURE)
    for found, shift_m in ((rising, -FIGURE.body_reach_m), (falling, FIGURE.body_reach_m)):
        over_body_m = height_m(found.distance_m + shift_m) - FIGURE.body_top_m
        over_helmet_m = height_m(found.distance_m) - float(FIGURE.cap_m(0.0))
        assert over_body_m < over_helmet_m - 0.001
        assert found.over_m == pytest.approx(over_body_m)
    # Passed a little beside its axis a body is thinner.
    (beside,) = clearances(cannon, aim, target, [(0.184, 0.575)], FIGURE)
    half_m = (FIGURE.body_reach_m**2 - 0.004**2) ** 0.5
    assert beside.over_m == pytest.approx(height_m(beside.distance_m + half_m) - FIGURE.body_top_m)


def test_the_scatter_at_the_target_is_that_of_simulated_shots():
    target = (0.18, 0.6)
    aim = aim_at(*target)
    scatter = Scatter(0.02, 0.01, 0.006, 0.002, 0.0)
    found = precision_at(CANNON, aim, target, scatter)
    drawn = scatter.draw(600, 0, np.random.default_rng(4))
    heights = [
        at_distance(
            dataclasses.replace(CANNON, muzzle_speed_mps=9.6 * float(factor)).fire(
                aim.elevation_rad + float(wobble)
            ),
            CANNON.drag_per_m,
            0.645,
            -10.0,
        ).z_m
        for factor, wobble in zip(drawn.speed_factor, drawn.elevation_rad, strict=True)
    ]
    assert np.std(heights) == pytest.approx(found.upright_m, rel=0.08)
    across = drawn.traverse_m + 0.645 * np.tan(drawn.azimuth_rad)
    assert np.std(across) == pytest.approx(found.across_m, rel=0.08)
    assert found.rise_m_per_rad == pytest.approx(0.645, rel=0.02)


def test_of_a_carriage_that_scatters_only_what_is_square_to_the_line_of_fire_counts():
    target = (0.0, 0.2)
    aim = aim_at(*target)
    assert aim.azimuth_rad == pytest.approx(-np.arctan(0.03 / 0.245))
    found = precision_at(CANNON, aim, target, Scatter(0.0, 0.0, 0.0, 0.002, 0.0))
    assert found.across_m == pytest.approx(0.002 * 0.245 / np.hypot(0.03, 0.245))


def test_95_per_cent_pass_through_the_ellipse():
    found = precision_at(CANNON, aim_at(0.18, 0.6), (0.18, 0.6), Scatter())
    across_m, upright_m = found.ellipse_95_m
    rng = np.random.default_rng(2)
    passing = rng.standard_normal((20_000, 2)) * (found.across_m, found.upright_m)
    inside = ((passing / (across_m, upright_m)) ** 2).sum(axis=1) < 1
    assert inside.mean() == pytest.approx(0.95, abs=0.006)

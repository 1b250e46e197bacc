import dataclasses
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from calibration import aim
from calibration.aim import Aim, Cannon, Limits, NoAim, NoAimReason, Strip
from calibration.flight import STANDARD_GRAVITY_MPS2, Projectile

WIDTH_M, LENGTH_M = 8 * 0.045, 18 * 0.045


def cannon_of(side: str, **changes: object) -> Cannon:
    cannon = Cannon(
        strip=Strip.of_side(side, WIDTH_M, LENGTH_M, offset_m=0.08),
        muzzle_speed_mps=9.7,
        drag_per_m=Projectile().drag_per_m(),
        pivot_height_m=0.05,
        barrel_m=0.06,
        traverse_m=Limits(0.04, 0.32),
        azimuth_rad=Limits(-0.35, 0.35),
        elevation_rad=Limits(-0.45, 0.9),
    )
    return dataclasses.replace(cannon, **changes)


def miss_m(cannon: Cannon, found: Aim, target_m: tuple[float, float, float]) -> float:
    """Fly the aim in three dimensions, by another integrator, and return how far from the target it passes."""
    azimuth_rad, elevation_rad = found.azimuth_rad, found.elevation_rad
    direction = (
        cannon.strip.forward * math.cos(elevation_rad) * math.sin(azimuth_rad),
        cannon.strip.forward * math.cos(elevation_rad) * math.cos(azimuth_rad),
        math.sin(elevation_rad),
    )

    def motion(_time_s, state):
        drag = cannon.drag_per_m * math.hypot(*state[3:])
        vx, vy, vz = state[3:]
        return [vx, vy, vz, -drag * vx, -drag * vy, -STANDARD_GRAVITY_MPS2 - drag * vz]

    start = [*found.muzzle_m, *(cannon.muzzle_speed_mps * part for part in direction)]
    flown = solve_ivp(motion, (0, found.time_of_flight_s), start, method="DOP853", rtol=1e-11, atol=1e-13)
    arrival = flown.y[:, -1]
    assert found.impact_speed_mps == pytest.approx(math.hypot(*arrival[3:]), abs=1e-6)
    assert found.impact_angle_rad == pytest.approx(
        math.atan2(arrival[5], math.hypot(*arrival[3:5])), abs=1e-6
    )
    return math.dist(arrival[:3], target_m)


cannon_sides = st.sampled_from(["A", "G"])
targets_m = st.tuples(st.floats(0.01, WIDTH_M - 0.01), st.floats(0.05, LENGTH_M - 0.05), st.floats(0.0, 0.05))


@given(cannon_sides, targets_m)
def test_every_point_of_the_board_is_hit_within_a_tenth_of_a_millimetre(side, target_m):
    cannon = cannon_of(side)
    found = aim.solve(cannon, target_m)
    assert isinstance(found, Aim)
    assert miss_m(cannon, found, target_m) < 1e-4
    assert found.traverse_m in cannon.traverse_m
    assert found.azimuth_rad in cannon.azimuth_rad
    assert found.elevation_rad in cannon.elevation_rad


@given(cannon_sides, targets_m, st.floats(6.0, 20.0), st.floats(0.0, 0.1))
def test_it_hits_whatever_the_speed_and_the_barrel(side, target_m, muzzle_speed_mps, barrel_m):
    cannon = cannon_of(side, muzzle_speed_mps=muzzle_speed_mps, barrel_m=barrel_m)
    found = aim.solve(cannon, target_m)
    assert isinstance(found, Aim)
    assert miss_m(cannon, found, target_m) < 1e-4


@given(targets_m)
def test_the_sides_see_the_board_turned_round(target_m):
    x_m, y_m, z_m = target_m
    from_a = aim.solve(cannon_of("A"), target_m)
    from_g = aim.solve(cannon_of("G"), (WIDTH_M - x_m, LENGTH_M - y_m, z_m))
    for axis in ("traverse_m", "azimuth_rad", "elevation_rad"):
        assert getattr(from_a, axis) == pytest.approx(getattr(from_g, axis), abs=1e-9)


def test_c2_the_cannon_stands_opposite_the_target_where_its_strip_allows():
    found = aim.solve(cannon_of("A"), (0.1, 0.4, 0.02))
    assert (found.traverse_m, found.azimuth_rad) == (pytest.approx(0.1), 0.0)
    found = aim.solve(cannon_of("G"), (0.1, 0.4, 0.02))
    assert (found.traverse_m, found.azimuth_rad) == (pytest.approx(WIDTH_M - 0.1), 0.0)


@pytest.mark.parametrize(("side", "sign"), [("A", 1), ("G", -1)])
def test_c2_beyond_the_strips_end_it_turns_and_azimuth_is_positive_to_the_shooters_right(side, sign):
    found = aim.solve(cannon_of(side), (WIDTH_M - 0.01, 0.4, 0.02))
    assert found.traverse_m == (0.32 if side == "A" else 0.04)
    assert math.copysign(1, found.azimuth_rad) == sign


def test_the_direct_path_is_taken_not_the_lobbed_one():
    found = aim.solve(cannon_of("A"), (0.18, 0.6, 0.02))
    assert abs(found.elevation_rad) < math.radians(10)
    assert found.time_of_flight_s < 0.1


@given(cannon_sides, targets_m, st.floats(2.8, 12.0))
def test_the_lobbed_path_hits_too_and_comes_down_steeper(side, target_m, muzzle_speed_mps):
    cannon = cannon_of(side, muzzle_speed_mps=muzzle_speed_mps, elevation_rad=Limits(-0.45, math.pi / 2))
    direct, lobbed = (aim.solve(cannon, target_m, arc) for arc in aim.Arc)
    if isinstance(direct, NoAim):
        assert isinstance(lobbed, NoAim)
        return
    assert isinstance(lobbed, Aim)
    assert miss_m(cannon, lobbed, target_m) < 1e-4
    assert lobbed.elevation_rad > direct.elevation_rad - 1e-9
    assert lobbed.impact_angle_rad < 0


def test_a_lobbed_shot_that_the_elevation_servo_does_not_allow_is_a_result_with_the_angle_it_needs():
    found = aim.solve(cannon_of("A"), (0.18, 0.6, 0.02), aim.Arc.LOBBED)
    assert isinstance(found, NoAim)
    assert found.reason is NoAimReason.ELEVATION
    assert found.needed > math.radians(80)


@pytest.mark.parametrize("ahead_m", [5.0, 6.0, 6.4, 6.5])
def test_a_lobbed_range_is_reached_too(ahead_m):
    target_m = (0.18, ahead_m, 0.0)
    cannon = cannon_of("A")
    assert miss_m(cannon, aim.solve(cannon, target_m), target_m) < 1e-4


@pytest.mark.parametrize("arc", aim.Arc)
@pytest.mark.parametrize("muzzle_speed_mps", [4.0, 9.7])
def test_on_either_way_a_target_is_reached_up_to_the_farthest_and_not_beyond(arc, muzzle_speed_mps):
    """With drag the farthest is shot at less than 45 degrees, and both ways meet there."""
    cannon = cannon_of("A", muzzle_speed_mps=muzzle_speed_mps, elevation_rad=Limits(-0.4, math.pi / 2))
    too_far = aim.solve(cannon, (0.18, 100.0, 0.0), arc)
    assert isinstance(too_far, NoAim)
    assert too_far.reason is NoAimReason.OUT_OF_REACH
    ahead_m = too_far.highest - 0.08
    just_within = aim.solve(cannon, (0.18, ahead_m - 1e-4, 0.0), arc)
    assert isinstance(just_within, Aim)
    assert miss_m(cannon, just_within, (0.18, ahead_m - 1e-4, 0.0)) < 1e-4
    just_beyond = aim.solve(cannon, (0.18, ahead_m + 1e-3, 0.0), arc)
    assert isinstance(just_beyond, NoAim)
    assert just_beyond.reason is NoAimReason.OUT_OF_REACH


@given(st.floats(4.0, 12.0), st.floats(3.0, 12.0))
def test_a_target_is_out_of_reach_exactly_where_no_elevation_reaches_it(muzzle_speed_mps, ahead_m):
    cannon = cannon_of("A", muzzle_speed_mps=muzzle_speed_mps, elevation_rad=Limits(-0.4, 1.2))
    found = aim.solve(cannon, (0.18, ahead_m, 0.0))
    reach_m = aim.solve(cannon, (0.18, 100.0, 0.0)).highest
    if isinstance(found, Aim):
        assert ahead_m + 0.08 < reach_m + 1e-4
    else:
        assert found.reason is NoAimReason.OUT_OF_REACH
        assert found.needed == pytest.approx(ahead_m + 0.08)
        assert found.needed > found.highest - 1e-4
        assert found.highest == pytest.approx(reach_m)


@pytest.mark.parametrize(
    ("target_m", "reason", "sentence"),
    [
        ((0.18, 9.0, 0.0), NoAimReason.OUT_OF_REACH, r"out of reach: it lies 9\.080 m .* to 6\.\d{3} m"),
        (
            (0.18, -0.05, 0.0),
            NoAimReason.TOO_NEAR,
            "it lies 0.030 m ahead of the cannon, which shoots at 0.060 m",
        ),
        ((2.0, -0.05, 0.0), NoAimReason.TOO_NEAR, "too near: it lies 0.030 m ahead of the cannon"),
        ((0.18, -0.5, 0.0), NoAimReason.TOO_NEAR, "too near: it lies 0.420 m behind the cannon"),
        (
            (0.18, 0.4, 20.0),
            NoAimReason.OUT_OF_REACH,
            "it lies 0.480 m from the cannon, from which no shot comes down at that height",
        ),
        ((2.0, 0.4, 0.0), NoAimReason.AZIMUTH, r"needs 74\.\d degrees .* from -20\.1 to 20\.1 degrees"),
        ((-2.0, 0.4, 0.0), NoAimReason.AZIMUTH, r"needs -76\.\d degrees"),
        ((0.18, 0.0, 0.0), NoAimReason.ELEVATION, r"needs -32\.\d degrees, .* from -25\.8 to 51\.6 degrees"),
    ],
)
def test_a_target_that_cannot_be_hit_is_a_result_with_reason_and_numbers(target_m, reason, sentence):
    found = aim.solve(cannon_of("A"), target_m)
    assert isinstance(found, NoAim)
    assert found.reason is reason
    assert not found.lowest <= found.needed <= found.highest
    assert re.search(sentence, str(found))


def test_the_body_of_a_soldier_is_its_torso():
    assert aim.body_point_m(0.1, 0.2, 0.04) == (0.1, 0.2, pytest.approx(0.0228))


def test_a_strip_knows_two_sides():
    with pytest.raises(ValueError, match="side is 'T', expected A or G"):
        Strip.of_side("T", WIDTH_M, LENGTH_M, 0.08)
    with pytest.raises(ValueError, match="forward is 0"):
        Strip(0.0, 0.0, 0)


@given(cannon_sides, st.floats(-1, 1), st.floats(-1, 1))
def test_a_strip_maps_there_and_back(side, x_m, y_m):
    strip = Strip.of_side(side, WIDTH_M, LENGTH_M, 0.08)
    assert strip.to_board(*strip.from_board(x_m, y_m)) == pytest.approx((x_m, y_m))


def test_limits_run_upwards():
    with pytest.raises(ValueError, match="expected the lower one first"):
        Limits(1.0, 0.0)

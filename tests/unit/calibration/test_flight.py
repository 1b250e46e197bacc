import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from calibration.flight import (
    STANDARD_GRAVITY_MPS2,
    Projectile,
    at_distance,
    at_height,
    launch,
    speed_for_range,
    trajectory,
)

DRAG_PER_M = Projectile().drag_per_m()


def reference_landing(speed_mps, elevation_rad, muzzle_height_m, drag_per_m):
    """Time, x, vx and vz on the base plane, by an eighth-order integrator at the limit of double precision."""

    def motion(_time_s, state):
        _, _, vx, vz = state
        drag = drag_per_m * math.hypot(vx, vz)
        return [vx, vz, -drag * vx, -STANDARD_GRAVITY_MPS2 - drag * vz]

    def height(_time_s, state):
        return state[1]

    height.terminal = True
    height.direction = -1
    start = [0.0, muzzle_height_m, speed_mps * math.cos(elevation_rad), speed_mps * math.sin(elevation_rad)]
    flown = solve_ivp(motion, (0, 60), start, method="DOP853", rtol=1e-13, atol=1e-15, events=height)
    x_m, _, vx, vz = flown.y_events[0][0]
    return flown.t_events[0][0], x_m, vx, vz


@pytest.mark.parametrize("elevation_deg", [5, 30, 45, 60])
def test_without_air_the_range_is_the_textbook_one(elevation_deg):
    speed_mps, elevation_rad = 9.0, math.radians(elevation_deg)
    landing = at_height(launch(speed_mps, elevation_rad), 0.0, 0.0)
    assert landing.x_m == pytest.approx(speed_mps**2 * math.sin(2 * elevation_rad) / STANDARD_GRAVITY_MPS2)
    assert landing.time_s == pytest.approx(2 * speed_mps * math.sin(elevation_rad) / STANDARD_GRAVITY_MPS2)
    assert landing.speed_mps == pytest.approx(speed_mps)
    assert landing.angle_rad == pytest.approx(-elevation_rad)


def test_without_air_a_level_shot_falls_as_a_stone():
    landing = at_height(launch(10.0, 0.0, z_m=0.05), 0.0, 0.0)
    assert landing.time_s == pytest.approx(math.sqrt(2 * 0.05 / STANDARD_GRAVITY_MPS2))


@pytest.mark.parametrize("elevation_deg", [0, 1, 5, 20, 35, 45, 70])
@pytest.mark.parametrize("speed_mps", [2.0, 9.7, 11.0, 25.0, 60.0, 100.0])
def test_with_drag_a_landing_is_within_a_micrometre_of_a_tight_reference(speed_mps, elevation_deg):
    elevation_rad = math.radians(elevation_deg)
    time_s, x_m, vx_mps, vz_mps = reference_landing(speed_mps, elevation_rad, 0.05, DRAG_PER_M)
    landing = at_height(launch(speed_mps, elevation_rad, z_m=0.05), DRAG_PER_M, 0.0)
    assert landing.x_m == pytest.approx(x_m, abs=1e-6)
    assert landing.time_s == pytest.approx(time_s, abs=1e-6)
    assert (landing.vx_mps, landing.vz_mps) == pytest.approx((vx_mps, vz_mps), abs=1e-6)


@pytest.mark.parametrize(
    ("elevation_deg", "speed_mps"),
    [
        (0, 75.398),
        (5, 21.522),
        (10, 15.671),
        (20, 11.598),
        (30, 10.101),
        (35, 9.759),
        (40, 9.607),
        (45, 9.629),
    ],
)
def test_speed_that_reaches_650_cm(elevation_deg, speed_mps):
    """The expected speeds are those of py-ballisticcalc 3.1.1 for the same shot, quoted to 1 mm/s."""
    found = speed_for_range(6.5, math.radians(elevation_deg), 0.05, DRAG_PER_M)
    assert found == pytest.approx(speed_mps, abs=6e-4)


@pytest.mark.parametrize("speed_mps", [300.0, 700.0, 999.9])
def test_a_range_that_takes_almost_the_fastest_shot_has_its_speed(speed_mps):
    landing = at_height(launch(speed_mps, 0.02, z_m=0.05), DRAG_PER_M, 0.0)
    assert speed_for_range(landing.x_m, 0.02, 0.05, DRAG_PER_M) == pytest.approx(speed_mps, rel=1e-6)


def test_a_range_that_only_a_faster_shot_reaches_is_no_speed():
    landing = at_height(launch(999.99, 0.02, z_m=0.05), DRAG_PER_M, 0.0)
    assert speed_for_range(landing.x_m + 0.01, 0.02, 0.05, DRAG_PER_M) is None


def test_a_range_that_no_speed_reaches_is_no_speed():
    assert speed_for_range(6.5, math.radians(-30), 0.05, DRAG_PER_M) is None


def test_drag_grows_with_air_and_area_and_falls_with_mass():
    assert Projectile().drag_per_m() == pytest.approx(0.06783, abs=1e-5)
    assert Projectile().drag_per_m(2.45) == pytest.approx(2 * DRAG_PER_M)
    assert Projectile(diameter_m=12e-3).drag_per_m() == pytest.approx(4 * DRAG_PER_M)
    assert Projectile(mass_kg=240e-6).drag_per_m() == pytest.approx(DRAG_PER_M / 2)


speeds = st.floats(1.0, 60.0)
elevations = st.floats(-0.3, 1.3)


@given(speeds, elevations, st.floats(0.1, 3.0))
def test_distance_and_height_of_a_point_on_the_path_agree(speed_mps, elevation_rad, distance_m):
    start = launch(speed_mps, elevation_rad, z_m=0.05)
    passing = at_distance(start, DRAG_PER_M, distance_m, -1.0)
    if passing is None:
        landing = at_height(start, DRAG_PER_M, -1.0)
        assert landing.x_m < distance_m + 1e-9
    else:
        assert passing.x_m == pytest.approx(distance_m, abs=1e-9)
        if passing.vz_mps < 0:
            landing = at_height(start, DRAG_PER_M, passing.z_m)
            assert landing.x_m == pytest.approx(distance_m, abs=1e-6)


@given(speeds, elevations)
def test_drag_shortens_every_shot_and_never_adds_energy(speed_mps, elevation_rad):
    start = launch(speed_mps, elevation_rad, z_m=0.05)
    assert at_height(start, DRAG_PER_M, 0.0).x_m < at_height(start, 0.0, 0.0).x_m + 1e-9
    path = trajectory(start, DRAG_PER_M, 0.0)
    energies = [state.speed_mps**2 / 2 + STANDARD_GRAVITY_MPS2 * state.z_m for state in path]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(energies))


def test_a_trajectory_runs_from_the_muzzle_to_the_plane():
    path = trajectory(launch(9.6, 0.7, z_m=0.05), DRAG_PER_M, 0.0)
    assert path[0].z_m == 0.05
    assert path[-1].z_m == pytest.approx(0.0, abs=1e-12)
    times = [state.time_s for state in path]
    assert times == sorted(set(times))
    finer = trajectory(path[0], DRAG_PER_M, 0.0, spacing_s=1e-3)
    assert max(later.time_s - earlier.time_s for earlier, later in pairwise(finer)) < 1.001e-3
    assert finer[-1] == path[-1]


def test_every_point_of_a_trajectory_is_where_the_shot_is_then():
    start = launch(9.6, 0.7, x_m=0.2, z_m=0.05)
    path = trajectory(start, DRAG_PER_M, 0.0)
    assert len(path) > 10
    for state in path[1:-1]:
        there = at_distance(start, DRAG_PER_M, state.x_m, -1.0)
        assert there is not None
        for key in ("time_s", "z_m", "vx_mps", "vz_mps"):
            assert getattr(state, key) == pytest.approx(getattr(there, key), abs=1e-9)


def test_a_shot_fired_backwards_goes_the_mirrored_way():
    forwards = trajectory(launch(9.6, 0.7, z_m=0.05), DRAG_PER_M, 0.0)
    backwards = trajectory(launch(9.6, math.pi - 0.7, z_m=0.05), DRAG_PER_M, 0.0)
    assert len(forwards) == len(backwards)
    for ahead, back in zip(forwards, backwards, strict=True):
        assert (back.time_s, back.x_m, back.z_m, back.vx_mps, back.vz_mps) == pytest.approx(
            (ahead.time_s, -ahead.x_m, ahead.z_m, -ahead.vx_mps, ahead.vz_mps), abs=1e-9
        )


def test_a_height_that_the_shot_does_not_rise_to():
    start = launch(9.6, 0.7)
    assert at_height(start, DRAG_PER_M, 5.0) is None
    with pytest.raises(ValueError, match="never rises to a height of 5"):
        trajectory(start, DRAG_PER_M, 5.0)


@pytest.mark.parametrize("speed_mps", [0.0, -1.0, 1000.0, math.nan])
def test_a_muzzle_speed_out_of_range_is_named(speed_mps):
    with pytest.raises(ValueError, match=r"muzzle speed is .* expected above 0 and below 1000"):
        launch(speed_mps, 0.0)


def test_a_distance_behind_the_muzzle_is_named():
    with pytest.raises(ValueError, match=r"starts at 0\.1 m, beyond the distance of 0\.05 m"):
        at_distance(launch(9.6, 0.0, x_m=0.1), DRAG_PER_M, 0.05, -1.0)


def test_a_shot_to_the_other_side_never_passes_a_distance():
    assert at_distance(launch(9.6, math.radians(135.0)), DRAG_PER_M, 0.05, -1.0) is None


def test_a_projectile_without_mass_is_named():
    with pytest.raises(ValueError, match="a mass above 0"):
        Projectile(mass_kg=0.0)

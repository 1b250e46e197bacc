import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from twin.physics import GRAVITY_MPS2, BodySettings, Box, PhysicsError, ShotRun, ShotSettings

SURFACE = Box(0.0, -0.065, 0.36, 0.875)
SHOT = ShotSettings()
RADIUS_M = SHOT.diameter_mm / 2e3


def fly(velocity_mps, *, muzzle_m=(0.18, 0.3, 0.05), shot=SHOT, bodies=None):
    return ShotRun(
        bodies=bodies or BodySettings(),
        shot=shot,
        surface=SURFACE,
        poses=np.zeros((0, 7)),
        stances=(),
        muzzle_m=np.array(muzzle_m),
        velocity_mps=np.array(velocity_mps, dtype=float),
    )


def energies_in_the_air(run, until_s):
    """Energy of the shot per mass, wherever it touches nothing."""
    found = []
    while run.now_s < until_s and not run.at_rest and not run.shot_gone:
        run.advance(run.now_s + 1e-4)
        height_m = run.shot_m[2] - RADIUS_M
        if height_m > 2e-4:
            found.append(0.5 * float(run.shot_mps @ run.shot_mps) + GRAVITY_MPS2 * height_m)
    return found


@pytest.mark.parametrize(
    "velocity_mps",
    [(0, 0, -0.4), (0, 0, -1.3), (0, 0, -3), (0, 0, -9), (0, 3, -3), (1, 8, -2), (0, 2, -0.7), (0, 0.2, 0)],
)
def test_energy_never_grows_at_a_bounce(velocity_mps):
    energies = energies_in_the_air(fly(velocity_mps), 0.4)
    assert len(energies) > 20
    assert all(later <= earlier * 1.001 for earlier, later in pairwise(energies))


@pytest.mark.parametrize("restitution", [0.4, 0.62, 0.8])
@pytest.mark.parametrize("speed_mps", [0.9, 2.0, 5.0, 9.0])
def test_a_square_bounce_keeps_the_set_part_of_the_speed(restitution, speed_mps):
    run = fly((0, 0, -speed_mps), muzzle_m=(0.18, 0.3, 0.02), shot=ShotSettings(restitution=restitution))
    before, after = 0.0, 0.0
    while run.now_s < 0.1 and after <= 0.0:
        run.advance(run.now_s + 5e-5)
        vertical_mps = float(run.shot_mps[2])
        if run.shot_m[2] > RADIUS_M:
            before, after = min(before, vertical_mps), vertical_mps
    assert after / -before == pytest.approx(restitution, abs=0.06)


@pytest.mark.parametrize("elevation_deg", [5.0, 40.0, 60.0])
def test_flight_agrees_with_an_independent_integration(elevation_deg):
    """Flight with quadratic drag; the reference is integrated by scipy to 1e-10."""
    elevation_rad = math.radians(elevation_deg)
    velocity = 9.6 * np.array([0.0, math.cos(elevation_rad), math.sin(elevation_rad)])
    muzzle = (0.18, -0.06, 0.05)
    run = fly(velocity, muzzle_m=muzzle, bodies=BodySettings(leaves_at_mm=9000.0))
    drag_pm = 0.5 * 1.2 * 0.45 * math.pi * RADIUS_M**2 / (SHOT.mass_g / 1e3)

    def slope(_, state):
        speed = np.linalg.norm(state[3:])
        return [*state[3:], *(-drag_pm * speed * state[3:] - [0, 0, GRAVITY_MPS2])]

    reference = solve_ivp(slope, (0, 1.6), [*muzzle, *velocity], rtol=1e-10, atol=1e-12, dense_output=True)
    run.advance(1.6)
    landed_s = run.log.contacts[0].began_s if run.log.contacts else 1.6
    worst_m = max(
        math.dist(point, reference.sol(at_s)[:3]) for at_s, *point in run.path if at_s < landed_s - 1e-3
    )
    assert landed_s > 0.2
    assert worst_m < 5e-4


def test_a_shot_that_leaves_the_table_is_gone_and_everything_rests():
    run = fly((0, 6.0, 1.0), bodies=BodySettings(leaves_at_mm=300.0))
    run.advance(10.0)
    assert run.shot_gone
    assert run.at_rest
    assert run.now_s < 3.0


def test_what_happens_does_not_depend_on_when_somebody_looks():
    pose = np.array([[0.18, 0.45, 0, 1, 0, 0, 0]], dtype=float)

    def outcome(steps_s):
        run = ShotRun(
            bodies=BodySettings(),
            shot=SHOT,
            surface=SURFACE,
            poses=pose,
            stances=(1,),
            muzzle_m=np.array([0.18, 0.0, 0.03]),
            velocity_mps=np.array([0.05, 9.0, 0.1]),
        )
        while not run.at_rest:
            run.advance(run.now_s + steps_s)
        return run.poses

    assert np.array_equal(outcome(7e-4), outcome(0.033))


def test_an_unstable_simulation_is_an_error_and_leaves_no_file_behind(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    run = fly((0, 60.0, 0), shot=ShotSettings(mass_g=0.001, drag_coefficient=100))
    with pytest.raises(PhysicsError, match="the physics became unstable"):
        run.advance(1.0)
    assert "unstable" in caplog.text
    assert list(tmp_path.iterdir()) == []

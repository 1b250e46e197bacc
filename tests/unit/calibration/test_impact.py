"""Impacts in the board frame, on any plane; and the slower integrator for other laws of drag and for spin."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from calibration.air import Air
from calibration.constants import STANDARD_GRAVITY_MPS2
from calibration.drag import ConstantDrag, SphereDrag
from calibration.flight import Projectile
from calibration.impact import Plane, impacts
from calibration.spin import MAGNUS_COEFFICIENT, fly

PROJECTILE = Projectile()
AIR = Air(temperature_c=23.0, pressure_pa=98_000.0, relative_humidity=0.4)
MUZZLE_M = (0.1, -0.045, 0.06)


def reference(speed_mps, elevation_rad, azimuth_rad, muzzle_m, plane, *, law, spin_radps=(0.0, 0.0, 0.0)):
    """Fly one shot in three dimensions with an eighth-order integrator at the limit of double precision."""
    radius_m = PROJECTILE.diameter_m / 2
    thickness = AIR.density_kgpm3 * math.pi * radius_m**2 / (2 * PROJECTILE.mass_kg)

    def motion(_time_s, state):
        velocity = state[3:]
        speed = math.sqrt(velocity @ velocity)
        reynolds = AIR.density_kgpm3 * speed * 2 * radius_m / AIR.viscosity_pas
        drag = float(law.coefficient(np.array([reynolds]))[0])
        lift = MAGNUS_COEFFICIENT * radius_m * np.cross(spin_radps, velocity)
        pull = thickness * (lift - drag * speed * velocity)
        return [*velocity, pull[0], pull[1], pull[2] - STANDARD_GRAVITY_MPS2]

    def excess(_time_s, state):
        return (state[:3] - np.array(plane.point_m)) @ np.array(plane.normal)

    excess.terminal = True
    excess.direction = -1
    level = math.cos(elevation_rad)
    velocity = speed_mps * np.array(
        [level * math.sin(azimuth_rad), level * math.cos(azimuth_rad), math.sin(elevation_rad)]
    )
    flown = solve_ivp(
        motion, (0, 20), [*muzzle_m, *velocity], method="DOP853", rtol=1e-13, atol=1e-15, events=excess
    )
    end = flown.y_events[0][0]
    return end[:3], flown.t_events[0][0], math.sqrt(end[3:] @ end[3:])


PLANES = [
    Plane.level(0.0),
    Plane((0.0, 3.0, 0.0), (0.2, -1.0, 0.4)),
    Plane((0.0, 0.0, -0.7), (0.1, 0.1, 2.0)),
]


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("elevation_deg", [2.0, 41.6])
def test_an_impact_on_any_plane_is_within_a_micrometre(plane, elevation_deg):
    law = ConstantDrag(PROJECTILE.drag_coefficient)
    shot = (9.6, math.radians(elevation_deg), 0.2, MUZZLE_M, plane)
    point_m, time_s, speed_mps = reference(*shot, law=law)
    drag_per_m = PROJECTILE.drag_per_m(AIR.density_kgpm3)
    fast = impacts(*shot[:3], muzzle_m=MUZZLE_M, drag_per_m=drag_per_m, plane=plane)
    slow = fly(*shot[:3], muzzle_m=MUZZLE_M, plane=plane, projectile=PROJECTILE, air=AIR)
    for found in (fast, slow):
        assert found.point_m == pytest.approx(point_m, abs=1e-6)
        assert float(found.time_s) == pytest.approx(time_s, abs=1e-6)
        assert float(found.speed_mps) == pytest.approx(speed_mps, abs=1e-6)


@pytest.mark.parametrize("spin_radps", [(0.0, 0.0, 0.0), (800.0, -100.0, 300.0)])
def test_drag_by_speed_and_spin_are_within_a_micrometre(spin_radps):
    law = SphereDrag()
    shot = (9.6, 0.7, -0.1, MUZZLE_M, PLANES[0])
    point_m, time_s, speed_mps = reference(*shot, law=law, spin_radps=spin_radps)
    found = fly(
        *shot[:3],
        muzzle_m=MUZZLE_M,
        plane=PLANES[0],
        projectile=PROJECTILE,
        air=AIR,
        law=law,
        spin_radps=spin_radps,
    )
    assert found.point_m == pytest.approx(point_m, abs=1e-6)
    assert float(found.time_s) == pytest.approx(time_s, abs=1e-6)
    assert float(found.speed_mps) == pytest.approx(speed_mps, abs=1e-6)


def test_back_spin_lifts_and_side_spin_curves():
    def landing(spin_radps):
        return fly(
            9.6,
            0.5,
            muzzle_m=(0.0, 0.0, 0.05),
            plane=Plane.level(0.0),
            projectile=PROJECTILE,
            air=AIR,
            spin_radps=spin_radps,
        ).point_m

    plain, back, top, side = (landing(spin) for spin in [(0, 0, 0), (500, 0, 0), (-500, 0, 0), (0, 0, -500)])
    assert top[1] < plain[1] < back[1]
    assert plain[0] == pytest.approx(0.0, abs=1e-12)
    assert side[0] > 0.05


@given(st.floats(3.0, 15.0), st.floats(-0.2, 1.3), st.floats(-math.pi, math.pi), st.floats(-3.0, 3.0))
def test_turning_muzzle_and_azimuth_turns_the_impact(speed_mps, elevation_rad, azimuth_rad, turn_rad):
    def landed(azimuth, muzzle_m):
        return impacts(
            speed_mps, elevation_rad, azimuth, muzzle_m=muzzle_m, drag_per_m=0.07, plane=Plane.level(-0.1)
        ).point_m

    def turned(x, y, z):
        c, s = math.cos(turn_rad), math.sin(turn_rad)
        return np.array([c * x + s * y, c * y - s * x, z])

    here = landed(azimuth_rad, MUZZLE_M)
    there = landed(azimuth_rad + turn_rad, turned(*MUZZLE_M))
    assert there == pytest.approx(turned(*here), abs=1e-9)


def test_a_shot_that_meets_no_plane_is_not_a_number():
    found = impacts(9.6, [0.1, -0.5], muzzle_m=MUZZLE_M, drag_per_m=0.07, plane=Plane.level(0.1))
    assert np.isfinite(found.point_m[0]).all()
    assert np.isnan(found.point_m[1]).all()
    assert math.isnan(found.speed_mps[1])
    away = fly(
        9.6,
        [0.1, -0.5],
        muzzle_m=MUZZLE_M,
        plane=Plane.level(0.1),
        projectile=PROJECTILE,
        air=AIR,
    )
    assert np.isnan(away.point_m).any(axis=1).tolist() == [False, True]


def test_bad_planes_and_muzzles_are_named():
    for point_m, normal in (
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ((0.0, math.nan, 0.0), (0.0, 0.0, 1.0)),
        ((0.0, 0.0, 0.0), (0.0, math.inf, 1.0)),
    ):
        with pytest.raises(ValueError, match="a normal that looks somewhere"):
            Plane(point_m, normal)
    for muzzle_m, azimuth_rad in (
        ((0.0, 0.0), 0.0),
        ((0.0, 0.0, math.nan), 0.0),
        (MUZZLE_M, math.nan),
        (MUZZLE_M, [0.1, math.inf]),
    ):
        with pytest.raises(ValueError, match="muzzles of three finite coordinates and finite azimuths"):
            impacts(
                9.6,
                0.1,
                muzzle_m=muzzle_m,
                azimuth_rad=azimuth_rad,
                drag_per_m=0.07,
                plane=Plane.level(0.0),
            )
    with pytest.raises(ValueError, match="a muzzle speed is not above 0"):
        fly(0.0, 0.1, muzzle_m=MUZZLE_M, plane=Plane.level(0.0), projectile=PROJECTILE, air=AIR)


# Air and the laws of drag


@pytest.mark.parametrize(
    ("temperature_c", "pressure_pa", "relative_humidity", "density_kgpm3"),
    [
        # Worked by hand from the formula's constants (Metrologia 45, 149), to the digits that tables give.
        (20.0, 101_325.0, 0.5, 1.1993),
        (20.0, 100_000.0, 0.5, 1.1835),
        (25.0, 95_000.0, 0.8, 1.0989),
    ],
)
def test_the_density_of_air(temperature_c, pressure_pa, relative_humidity, density_kgpm3):
    air = Air(temperature_c=temperature_c, pressure_pa=pressure_pa, relative_humidity=relative_humidity)
    assert air.density_kgpm3 == pytest.approx(density_kgpm3, abs=6e-4)


@given(st.floats(-10, 40), st.floats(60_000, 109_000), st.floats(0, 1))
@settings(max_examples=50)
def test_warm_thin_and_moist_air_is_lighter(temperature_c, pressure_pa, relative_humidity):
    def density(t, p, h):
        return Air(temperature_c=t, pressure_pa=p, relative_humidity=h).density_kgpm3

    here = density(temperature_c, pressure_pa, relative_humidity)
    assert density(temperature_c + 5, pressure_pa, relative_humidity) < here
    assert density(temperature_c, pressure_pa - 1000, relative_humidity) < here
    assert density(temperature_c, pressure_pa, 0.0) >= here
    # An ideal gas of dry air is at most 3 % off, all of it vapour.
    assert here == pytest.approx(pressure_pa / (287.05 * (temperature_c + 273.15)), rel=0.04)


def test_the_viscosity_of_air():
    # ISO 2533 at sea level.
    assert Air(temperature_c=15.0).viscosity_pas == pytest.approx(1.7894e-5, rel=1e-4)


@pytest.mark.parametrize(
    "changes", [{"temperature_c": 293.0}, {"pressure_pa": 1013.25}, {"relative_humidity": 50.0}]
)
def test_air_in_other_units_is_caught(changes):
    with pytest.raises(ValueError, match=r"the air's .* expected"):
        Air(**changes)


def test_the_drag_of_a_sphere_at_the_figures_of_the_standard_curve():
    """Brown and Lawler's curve passes the standard sphere's values (Clift, Grace, Weber 1978) within their 4 %."""
    reynolds = np.array([0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5])
    standard = np.array([245.0, 27.2, 4.26, 1.09, 0.471, 0.405, 0.451])
    got = SphereDrag().coefficient(reynolds)
    assert got == pytest.approx(standard, rel=0.11)
    assert got[:4] == pytest.approx(standard[:4], rel=0.04)


def test_at_the_shots_speed_a_smooth_sphere_is_held_back_less_than_the_usual_figure():
    reynolds = AIR.density_kgpm3 * 9.6 * PROJECTILE.diameter_m / AIR.viscosity_pas
    assert 3_000 < reynolds < 4_500
    assert 0.37 < float(SphereDrag().coefficient(np.array([reynolds]))[0]) < 0.41

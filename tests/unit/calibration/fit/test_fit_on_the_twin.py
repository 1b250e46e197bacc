"""Shots of the twin, whose physics shares no code with calibration: the fit finds what the twin was set to.

Issue 6, truth: with 12 shots the mean muzzle speed within 0.5 %, drag within 5 %, the mean 650 cm range within 1 %, and
95 % intervals that hold in 92 % to 98 % of 500 calibrations. 500 were run with this very code (benchmarks/calibration.py
prints the shares); here fewer are, and the bounds are those that a true 95 % keeps with 1 chance in 1,000.
"""

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from calibration.fit import Calibration, MeasuredShot, Mount, Parameter, fit
from twin.physics import GRAVITY_MPS2, BodySettings, Box, ShotRun, ShotSettings
from twin.spring import SpringSettings, muzzle_speed_mps

PIVOT_M, BARREL_M = 0.05, 0.06
LANDED_M = 0.003
MOUNT = Mount(
    pivot_height_m=PIVOT_M,
    barrel_m=BARREL_M,
    elevation_centre_rad=math.radians(15),
    gravity_mps2=GRAVITY_MPS2,
)
SPEC_DEG = 41.6
DESIGN_DEG = (SPEC_DEG, SPEC_DEG, 20.0)
DWELL_S = 16.0
SHOTS = 12
CALIBRATIONS = 80
SPRING = SpringSettings()
BALL = ShotSettings()
TRUE_DRAG_PER_M = (
    BALL.air_density_kgpm3
    * BALL.drag_coefficient
    * math.pi
    * (BALL.diameter_mm / 2e3) ** 2
    / (2 * BALL.mass_g / 1e3)
)


class NoChance:
    """A generator that draws nothing but zeros: the spring's mean."""

    def standard_normal(self):
        return 0.0


TRUE_SPEED_MPS = muzzle_speed_mps(SPRING, dwell_s=DWELL_S, shot_number=SHOTS // 2, rng=NoChance())


def flown_m(speed_mps, elevation_deg):
    """Range of one shot of the twin from its muzzle, on the board's level."""
    angle = math.radians(elevation_deg)
    run = ShotRun(
        bodies=BodySettings(),
        shot=BALL,
        surface=Box(0.0, 0.0, 0.36, 0.81),
        poses=np.zeros((0, 7)),
        stances=[],
        muzzle_m=np.array([0.18, 0.0, PIVOT_M + BARREL_M * math.sin(angle)]),
        velocity_mps=speed_mps * np.array([0.0, math.cos(angle), math.sin(angle)]),
    )
    while not run.shot_gone:
        run.advance(run.now_s + 0.02)
    path = np.array(run.path)
    down = int(np.flatnonzero(path[:, 3] > LANDED_M)[-1])
    (_, _, y0, z0), (_, _, y1, z1) = path[down], path[down + 1]
    return y0 + (y1 - y0) * (z0 - LANDED_M) / (z0 - z1)


@cache
def ranges_by_speed(elevation_deg):
    """The twin's range as a polynomial of the speed, through five of its flights."""
    speeds = TRUE_SPEED_MPS * (1 + 0.06 * np.cos(np.pi * np.arange(5) / 4))
    return np.polynomial.Polynomial.fit(speeds, [flown_m(v, elevation_deg) for v in speeds], 4)


def evening(rng, *, wild=None):
    """Twelve shots of the twin as somebody would measure them: gate to half a microsecond, tape to a centimetre."""
    shots = []
    for number in range(SHOTS):
        elevation_deg = DESIGN_DEG[number % len(DESIGN_DEG)]
        speed_mps = muzzle_speed_mps(SPRING, dwell_s=DWELL_S, shot_number=number, rng=rng)
        transit_us = round(20_000 / speed_mps * 2) / 2
        range_m = float(ranges_by_speed(elevation_deg)(speed_mps)) + rng.normal(0.0, 0.005)
        shots.append(
            MeasuredShot(
                name=f"shot {number + 1}",
                elevation_rad=math.radians(elevation_deg),
                fall_height_m=LANDED_M,
                gate_speed_mps=20_000 / transit_us,
                range_m=round(range_m, 2) - (0.7 if number == wild else 0.0),
            )
        )
    return shots


def test_the_polynomial_stands_for_the_twins_flights():
    for elevation_deg in set(DESIGN_DEG):
        speed_mps = 1.013 * TRUE_SPEED_MPS
        assert ranges_by_speed(elevation_deg)(speed_mps) == pytest.approx(
            flown_m(speed_mps, elevation_deg), abs=5e-4
        )


def test_twelve_shots_find_speed_drag_and_the_650_cm_range():
    found = fit(evening(np.random.default_rng(650)), MOUNT)
    assert isinstance(found, Calibration)
    assert found.value(Parameter.SPEED) == pytest.approx(TRUE_SPEED_MPS, rel=0.005)
    assert found.value(Parameter.DRAG) == pytest.approx(TRUE_DRAG_PER_M, rel=0.05)
    predicted = found.predict_range(math.radians(SPEC_DEG), fall_height_m=LANDED_M)
    assert predicted.mean_m == pytest.approx(flown_m(TRUE_SPEED_MPS, SPEC_DEG), rel=0.01)
    assert found.wild == ()


def test_a_wild_shot_is_named_and_does_no_harm():
    found = fit(evening(np.random.default_rng(7), wild=6), MOUNT)
    assert found.wild == ("shot 7",)
    assert any("shot 7 is left out" in note for note in found.notes)
    assert found.value(Parameter.DRAG) == pytest.approx(TRUE_DRAG_PER_M, rel=0.05)
    assert found.value(Parameter.SPEED) == pytest.approx(TRUE_SPEED_MPS, rel=0.01)


def test_ninety_five_per_cent_intervals_hold_in_ninety_five_per_cent_of_calibrations():
    held = hits(CALIBRATIONS, np.random.default_rng(500))
    low, high = binom.ppf([0.0005, 0.9995], CALIBRATIONS, 0.95)
    for what, count in held.items():
        assert low <= count <= high, f"the interval of the {what} held {count} times of {CALIBRATIONS}"


def hits(calibrations, rng):
    """How often each 95 % interval holds the twin's truth."""
    held = {"speed": 0, "drag": 0, "mean range": 0, "next shot": 0}
    mean_range_m = float(ranges_by_speed(SPEC_DEG)(TRUE_SPEED_MPS))
    for _ in range(calibrations):
        found = fit(evening(rng), MOUNT)
        predicted = found.predict_range(math.radians(SPEC_DEG), fall_height_m=LANDED_M)
        following = evening(rng)[0].range_m
        held["speed"] += TRUE_SPEED_MPS in found.interval(Parameter.SPEED)
        held["drag"] += TRUE_DRAG_PER_M in found.interval(Parameter.DRAG)
        held["mean range"] += mean_range_m in predicted.confidence_m
        held["next shot"] += following in predicted.next_m
    return held

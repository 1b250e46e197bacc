import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from twin.spring import SpringSettings, muzzle_speed_mps
from twin.streams import stream

STEADY = SpringSettings(speed_scatter=0.0)


def speed(settings=STEADY, *, dwell_s=0.0, shot_number=0, rng=None):
    return muzzle_speed_mps(settings, dwell_s=dwell_s, shot_number=shot_number, rng=rng or stream(1, "speed"))


def test_the_default_spring_throws_650_cm_over_the_base_plane():
    """The maker's range: 650 cm, here at 40 degrees; drag as for a 6 mm, 0.12 g ball."""
    drag_pm = 0.5 * 1.2 * 0.45 * math.pi * 0.003**2 / 0.12e-3
    v0 = speed()

    def slope(_, state):
        v = np.hypot(state[2], state[3])
        return [state[2], state[3], -drag_pm * v * state[2], -drag_pm * v * state[3] - 9.81]

    def landed(_, state):
        return state[1]

    landed.terminal = True
    landed.direction = -1
    angle = math.radians(40)
    way = solve_ivp(
        slope, (0, 3), [0, 1e-9, v0 * math.cos(angle), v0 * math.sin(angle)], events=landed, rtol=1e-9
    )
    assert way.y[0, -1] == pytest.approx(6.5, abs=0.3)


def test_the_spring_fades_while_cocked_and_with_every_shot():
    assert speed(dwell_s=0.0) > speed(dwell_s=30.0) > speed(dwell_s=600.0) > 0.9 * speed()
    assert speed(shot_number=0) > speed(shot_number=100) > speed(shot_number=1000)


def test_scatter_is_as_set_and_drawn_from_the_given_stream():
    settings = SpringSettings(speed_scatter=0.02)
    rng = stream(5, "speed")
    speeds = np.array([speed(settings, rng=rng) for _ in range(2000)])
    assert speeds.std() / speeds.mean() == pytest.approx(0.02, rel=0.1)
    again = stream(5, "speed")
    assert speeds[:5].tolist() == [speed(settings, rng=again) for _ in range(5)]


def test_a_stronger_draw_is_faster_by_the_root_of_its_energy():
    assert speed(SpringSettings(draw_force_kgf=7.0, speed_scatter=0.0)) == pytest.approx(
        math.sqrt(2) * speed()
    )

"""What each of many shots touches first: the same as flying each shot by itself (issue: aim that knows the rules)."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.aim import Aim, Cannon, Limits, Strip, solve
from calibration.figure import Figure
from calibration.flight import Projectile, at_distance, at_height
from calibration.scatter import Scatter
from calibration.strikes import Bounce, Paths, TouchBins, first_touches

CANNON = Cannon(
    strip=Strip.of_side("A", 0.36, 0.81, offset_m=0.045),
    muzzle_speed_mps=9.6,
    drag_per_m=Projectile().drag_per_m(),
    pivot_height_m=0.05,
    barrel_m=0.06,
    traverse_m=Limits(0.03, 0.33),
    azimuth_rad=Limits(-0.52, 0.52),
    elevation_rad=Limits(-0.26, 0.79),
)
FIGURE = Figure(0.042)
BINS = TouchBins((0.25, 0.5, 0.75), (-1 / 3, 1 / 3))
STEADY = Scatter(0.0, 0.0, 0.0, 0.0, 0.0)


def draws(scatter: Scatter, count: int, soldiers: int, seed: int = 1):
    return scatter.draw(count, soldiers, np.random.default_rng(seed))


def touched_by(cannon: Cannon, aim: Aim, soldiers_m: list[tuple[float, float]]) -> int:
    """Give the soldier that a shot without scatter touches first, -1 for nobody."""
    touches = first_touches(
        cannon,
        elevations_rad=[aim.elevation_rad],
        traverses_m=[aim.traverse_m],
        azimuths_rad=[aim.azimuth_rad],
        soldiers_m=soldiers_m,
        figure=FIGURE,
        bins=BINS,
        draws=draws(STEADY, 1, len(soldiers_m)),
    )
    code = int(touches.code[0, 0, 0])
    return -1 if code < 0 else code // (4 * 3 * 2)


@settings(max_examples=50)
@given(st.floats(-15, 65), st.floats(-0.02, 0.02), st.floats(-0.03, 0.03))
def test_the_path_over_distance_is_that_of_the_flight(elevation_deg, change, wobble_rad):
    """To 1 um wherever the shot is over the board."""
    scattered = dataclasses.replace(
        draws(STEADY, 1, 0), speed_factor=np.array([1 + change]), elevation_rad=np.array([wobble_rad])
    )
    paths = Paths.fly(
        CANNON, [math.radians(elevation_deg)], scattered, reach_m=0.9, shot_radius_m=0.003, bounce=Bounce()
    )
    cannon = dataclasses.replace(CANNON, muzzle_speed_mps=9.6 * (1 + change))
    start = cannon.fire(math.radians(elevation_deg) + wobble_rad)
    assert paths.muzzle_m[0, 0] == pytest.approx(start.x_m)
    for node in (0, 7, 14, 21):
        there = at_distance(start, cannon.drag_per_m, start.x_m + 0.04 * node, -10.0)
        assert paths.height_m[0, 0, node] == pytest.approx(there.z_m, abs=1e-6)
    landing = at_height(start, cannon.drag_per_m, 0.003)
    if landing.x_m < 0.9:
        assert paths.landing_m[0, 0] == pytest.approx(landing.x_m, abs=2e-6)


@given(st.floats(0.04, 0.32), st.floats(0.12, 0.78))
def test_who_is_aimed_at_and_stands_alone_is_touched(x_m, y_m):
    aim = solve(CANNON, (x_m, y_m, 0.024))
    assert isinstance(aim, Aim)
    assert touched_by(CANNON, aim, [(x_m, y_m)]) == 0


@given(st.floats(0.04, 0.32), st.floats(0.4, 0.78), st.floats(0.01, 0.04))
def test_who_stands_beside_is_not_touched(x_m, y_m, beside_m):
    aim = solve(CANNON, (x_m, y_m, 0.024))
    assert isinstance(aim, Aim)
    assert touched_by(CANNON, aim, [(x_m + beside_m + 0.013 / math.cos(aim.azimuth_rad), y_m)]) == -1


def test_the_first_on_the_way_is_touched_whatever_the_order():
    aim = solve(CANNON, (0.18, 0.7, 0.02))
    assert isinstance(aim, Aim)
    on_the_way = [(0.18, 0.7), (0.18, 0.655), (0.18, 0.2)]
    # At 0.2 m the shot is still above the helmets.
    assert touched_by(CANNON, aim, on_the_way) == 1
    assert touched_by(CANNON, aim, on_the_way[::-1]) == 1


def test_a_lobbed_shot_comes_down_on_its_target_over_those_in_between():
    cannon = dataclasses.replace(CANNON, muzzle_speed_mps=4.0)
    lobbed = solve(cannon, (0.18, 0.6, 0.02), "lobbed")
    low = solve(dataclasses.replace(cannon, elevation_rad=Limits(-0.3, 1.57)), (0.18, 0.6, 0.02))
    high = solve(dataclasses.replace(cannon, elevation_rad=Limits(-0.3, 1.57)), (0.18, 0.6, 0.02), "lobbed")
    assert not isinstance(lobbed, Aim)
    in_between = [(0.18, 0.6), (0.18, 0.555), (0.18, 0.51)]
    assert isinstance(low, Aim)
    assert isinstance(high, Aim)
    assert touched_by(cannon, high, in_between) == 0
    assert touched_by(cannon, low, in_between) > 0


def test_a_shot_that_comes_down_before_a_soldier_reaches_it_off_the_board():
    aim = solve(CANNON, (0.18, 0.3, 0.003))
    assert isinstance(aim, Aim)
    touches = first_touches(
        CANNON,
        elevations_rad=[aim.elevation_rad],
        traverses_m=[aim.traverse_m],
        azimuths_rad=[0.0],
        soldiers_m=[(0.18, 0.4), (0.18, 0.5)],
        figure=FIGURE,
        bins=BINS,
        draws=draws(STEADY, 1, 2),
    )
    direct, bounced = touches.chance()[0, 0].T
    assert list(direct) == [0, 0]
    assert list(bounced) == [1, 0]


def test_a_touch_is_sorted_by_height_and_side():
    """Aimed at the knees a little to the right of the axis: lowest class but one, rightmost."""
    target = (0.18, 0.6)
    aim = solve(CANNON, (target[0] + 0.004, target[1], 0.4 * 0.042))
    assert isinstance(aim, Aim)
    touches = first_touches(
        CANNON,
        elevations_rad=[aim.elevation_rad],
        traverses_m=[aim.traverse_m],
        azimuths_rad=[aim.azimuth_rad],
        soldiers_m=[target],
        figure=FIGURE,
        bins=BINS,
        draws=draws(STEADY, 1, 1),
    )
    worth = np.zeros((1, 4, 3, 2))
    worth[0, 1, 2, 0] = 1.0
    assert touches.mean(worth)[0, 0] == 1.0
    assert touches.deviation(worth)[0, 0] == 0.0


def test_chances_of_all_soldiers_add_up_to_what_touches_somebody():
    soldiers = [(0.18, 0.5), (0.19, 0.545), (0.16, 0.59)]
    touches = first_touches(
        CANNON,
        elevations_rad=np.radians([-2.0, -1.0, 0.0]),
        traverses_m=[0.18, 0.17],
        azimuths_rad=[0.0, 0.02],
        soldiers_m=soldiers,
        figure=FIGURE,
        bins=BINS,
        draws=draws(Scatter(), 400, 3),
    )
    assert touches.code.shape == (3, 2, 400)
    np.testing.assert_allclose(touches.chance().sum(axis=(2, 3)), (touches.code >= 0).mean(axis=2))
    np.testing.assert_allclose(touches.mean(np.ones((3, 4, 3, 2))), (touches.code >= 0).mean(axis=2))


def test_the_chance_to_hit_a_lone_soldier_is_that_of_its_width():
    """Only the azimuth scatters: the normal integral over the width at the height of the shot."""
    aim = solve(CANNON, (0.18, 0.6, 0.022))
    assert isinstance(aim, Aim)
    scatter = Scatter(0.0, 0.012, 0.0, 0.0, 0.0)
    touches = first_touches(
        CANNON,
        elevations_rad=[aim.elevation_rad],
        traverses_m=[aim.traverse_m],
        azimuths_rad=[0.0],
        soldiers_m=[(0.18, 0.6)],
        figure=FIGURE,
        bins=BINS,
        draws=draws(scatter, 20_000, 1),
    )
    half_width_m = float(FIGURE.half_width_m(0.022))
    expected = math.erf(half_width_m / (0.645 * 0.012) / math.sqrt(2))
    assert touches.chance()[0, 0, 0, 0] == pytest.approx(expected, abs=0.012)


def test_the_same_draws_for_every_aim_and_the_same_answer_every_time():
    arguments = {
        "elevations_rad": np.radians([-2.0, 0.0]),
        "traverses_m": [0.18],
        "azimuths_rad": [0.0],
        "soldiers_m": [(0.18, 0.5), (0.18, 0.7)],
        "figure": FIGURE,
        "bins": BINS,
        "draws": draws(Scatter(), 100, 2),
    }
    first, again = (first_touches(CANNON, **arguments).code for _ in range(2))
    assert (first == again).all()


def test_nobody_on_the_board_is_nobody_touched():
    touches = first_touches(
        CANNON,
        elevations_rad=[0.0],
        traverses_m=[0.18],
        azimuths_rad=[0.0],
        soldiers_m=np.zeros((0, 2)),
        figure=FIGURE,
        bins=BINS,
        draws=draws(Scatter(), 10, 0),
    )
    assert (touches.code == -1).all()
    assert touches.mean(np.zeros((0, 4, 3, 2)))[0, 0] == 0.0


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="one azimuth for each traverse"):
        first_touches(
            CANNON,
            elevations_rad=[0.0],
            traverses_m=[0.1, 0.2],
            azimuths_rad=[0.0],
            soldiers_m=[(0.1, 0.2)],
            figure=FIGURE,
            bins=BINS,
            draws=draws(STEADY, 1, 1),
        )
    with pytest.raises(ValueError, match="draws are for 2 soldiers, there are 1"):
        first_touches(
            CANNON,
            elevations_rad=[0.0],
            traverses_m=[0.1],
            azimuths_rad=[0.0],
            soldiers_m=[(0.1, 0.2)],
            figure=FIGURE,
            bins=BINS,
            draws=draws(STEADY, 1, 2),
        )


# The figure


@given(st.floats(-0.01, 0.06))
def test_half_widths_and_caps_agree(height_m):
    width_m = float(FIGURE.half_width_m(height_m))
    for offset_m in (0.9 * width_m, -0.9 * width_m):
        if width_m:
            assert float(FIGURE.cap_m(offset_m)) > height_m - 2e-4
    assert float(FIGURE.cap_m(FIGURE.reach_m + 1e-6)) == 0.0


def test_a_figure_narrows_upwards():
    widths = FIGURE.half_width_m([0.001, 0.01, 0.02, 0.03, 0.0445, 0.046])
    assert list(widths) == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(0.235 * 0.042 + 0.003)
    assert widths[-1] == 0.0
    assert FIGURE.top_m == pytest.approx(0.045)


def test_strange_figures_and_scatters_are_refused():
    with pytest.raises(ValueError, match="none wider than the one below it"):
        Figure(0.04, bands=((0.0, 0.5, 0.1), (0.5, 1.0, 0.2)))
    with pytest.raises(ValueError, match="a tenth of the height: the body"):
        Figure(0.04, bands=((0.0, 0.05, 0.2),))
    with pytest.raises(ValueError, match="height above 0"):
        Figure(0.0)
    with pytest.raises(ValueError, match="shot's radius above 0"):
        Figure(0.04, shot_radius_m=0.0)  # it would touch nobody
    with pytest.raises(ValueError, match=r"speed_share is -0\.1, expected 0 or more"):
        Scatter(speed_share=-0.1)

"""Which shots to fire next, and ranges in the wrong unit."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.fit import Calibration, MeasuredShot, Mount, Noise, Parameter, fit
from calibration.fit.design import plan
from calibration.fit.units import METRES, doubt_about_units
from calibration.hodograph import cross

MOUNT = Mount()


def candidates(*degrees, gate=None):
    return [
        MeasuredShot(name=f"{each}", elevation_rad=math.radians(each), range_m=1.0, gate_speed_mps=gate)
        for each in degrees
    ]


GRID = candidates(*range(0, 50, 5))
REFERENCE = candidates(41.6)[0]


def test_speed_and_drag_without_a_gate_want_flat_and_lobbed_shots():
    found = plan(GRID, 12, MOUNT, reference=REFERENCE)
    degrees = [round(math.degrees(each.shot.elevation_rad)) for each in found.proposed]
    assert min(degrees) <= 10
    assert max(degrees) >= 35
    assert sum(each.times for each in found.proposed) == 12
    assert found.after[Parameter.DRAG] < 0.3 * found.before[Parameter.DRAG]


def test_for_one_range_it_is_best_to_shoot_about_there():
    found = plan(GRID, 6, MOUNT, reference=REFERENCE, for_range=True)
    for_all = plan(GRID, 6, MOUNT, reference=REFERENCE)
    assert found.range_after_m <= for_all.range_after_m + 1e-9
    assert all(math.degrees(each.shot.elevation_rad) >= 30 for each in found.proposed)


@pytest.mark.parametrize("for_range", [True, False])
def test_more_shots_teach_more(for_range):
    few, many = (plan(GRID, count, MOUNT, reference=REFERENCE, for_range=for_range) for count in (4, 16))
    assert many.range_after_m < few.range_after_m < few.range_before_m
    for parameter in (Parameter.SPEED, Parameter.DRAG):
        assert many.after[parameter] <= few.after[parameter] <= few.before[parameter]


def test_a_spring_that_fades_is_told_by_the_shots_of_the_evening_as_well_as_the_plan_says():
    learn = (Parameter.SPEED, Parameter.FADE_PER_SHOT)
    found = plan(candidates(0, 40, gate=9.6), 40, MOUNT, reference=REFERENCE, learn=learn)
    fading = Parameter.FADE_PER_SHOT
    assert found.after[fading] < 0.4 * found.before[fading]
    rng = np.random.default_rng(3)
    order = [each.shot for each in found.proposed for _ in range(each.times)]
    fired = [
        replace(
            shot,
            range_m=None,
            shots_before=number,
            gate_speed_mps=9.6 * (1 - 1e-3 * number) * (1 + 0.01 * rng.standard_normal()),
        )
        for number, shot in enumerate(order)
    ]
    learnt = fit(fired, MOUNT, free=learn)
    assert isinstance(learnt, Calibration)
    assert learnt.sd(fading) == pytest.approx(found.after[fading], rel=0.25)


def lobbed():
    """Ranges of seven shots at one elevation."""
    return [
        MeasuredShot(
            name=f"{index}",
            elevation_rad=math.radians(41.6),
            range_m=float(cross(9.6 * (1 + off), math.radians(41.6), 0.0678, offset_m=-0.09).x_m),
        )
        for index, off in enumerate((-0.01, 0.004, 0.012, -0.003, 0.006, -0.008, 0.002))
    ]


def test_what_is_known_already_is_not_asked_again():
    known = fit(lobbed(), MOUNT)
    assert isinstance(known, Calibration)
    found = plan(GRID, 4, MOUNT, reference=REFERENCE, known=known)
    # Lobbed shots are there; flat ones part speed from drag.
    assert all(math.degrees(each.shot.elevation_rad) <= 15 for each in found.proposed)
    assert found.before[Parameter.DRAG] == pytest.approx(known.sd(Parameter.DRAG), rel=1e-6)


def test_the_noise_that_was_found_counts_and_not_the_one_that_was_stated():
    found = fit(lobbed(), MOUNT)
    known = replace(found, scatter=0.01, place_noise_m=0.02)
    one, other = (
        plan(candidates(0, 40, gate=9.6), 6, MOUNT, reference=REFERENCE, known=known, noise=Noise(place_m=m))
        for m in (0.005, 0.02)
    )
    for parameter in (Parameter.SPEED, Parameter.DRAG):
        assert one.after[parameter] == pytest.approx(other.after[parameter], rel=1e-9)


def test_the_promise_of_a_plan_is_kept_by_the_fit():
    """What the plan says will be known is what a fit of such shots says is known."""
    chosen = plan(candidates(*range(0, 50, 5), gate=9.6), 12, MOUNT, reference=REFERENCE)
    offs = (-0.012, 0.011, -0.006, 0.009, 0.013, -0.014, 0.003, -0.009, 0.008, -0.002, 0.011, -0.012)
    shots = []
    for each in chosen.proposed:
        for _ in range(each.times):
            index = len(shots)
            angle, speed = each.shot.elevation_rad, 9.6 * (1 + offs[index])
            range_m = float(cross(speed, angle, 0.0678, offset_m=-0.05 - 0.06 * math.sin(angle)).x_m)
            noise_m = 0.005 * (-1) ** (index // 2)
            shots.append(
                MeasuredShot(
                    name=f"{index}", elevation_rad=angle, gate_speed_mps=speed, range_m=range_m + noise_m
                )
            )
    found = fit(shots, MOUNT)
    assert found.sd(Parameter.SPEED) == pytest.approx(chosen.after[Parameter.SPEED], rel=0.25)
    assert found.sd(Parameter.DRAG) == pytest.approx(chosen.after[Parameter.DRAG], rel=0.4)


def test_nothing_to_choose_from_is_said():
    up = MeasuredShot(name="up", elevation_rad=0.1, fall_height_m=3.0, range_m=1.0)
    with pytest.raises(ValueError, match="none of the elevations"):
        plan([up], 3, MOUNT, reference=REFERENCE)
    with pytest.raises(ValueError, match="up: the shot never comes down"):
        plan(GRID, 3, MOUNT, reference=up)
    with pytest.raises(ValueError, match="0 shots are no plan"):
        plan(GRID, 0, MOUNT, reference=REFERENCE)


# Units


@given(st.sampled_from(list(METRES)), st.lists(st.floats(0.8, 1.25), min_size=3, max_size=9))
def test_ranges_in_their_unit_raise_no_doubt(unit, shares):
    expected_m = [6.5] * len(shares)
    assert doubt_about_units([6.5 * share / METRES[unit] for share in shares], unit, expected_m) is None


@given(st.sampled_from(list(METRES)), st.sampled_from(list(METRES)))
def test_another_unit_is_asked_back(said, meant):
    doubt = doubt_about_units(
        [6.5 / METRES[meant], 6.4 / METRES[meant], 6.7 / METRES[meant]], said, [6.5] * 3
    )
    if 1 / 3 < METRES[said] / METRES[meant] < 3:
        assert doubt is None
    else:
        assert f"are they in {meant}? then say --unit {meant}" in doubt


@pytest.mark.parametrize(
    ("unit", "ranges", "sentence"),
    [
        (
            "cm",
            [648, 6.55, 651, 660],
            "line 3: found a range of 6.55 cm, expected about 65.*is it in m?",
        ),
        ("cm", [648, 660, 5700], "line 4: found a range of 5700 cm, .*is it in mm?"),
        ("cm", [650, 6.5], "line 3: found a range of 6.5 cm, .*is it in m?"),
        ("cm", [6500, 650], "line 2: found a range of 6500 cm, .*is it in mm?"),
        ("mm", [6500, 648, 6600], "line 3: found a range of 648 mm, .*is it in cm?"),
        (
            "cm",
            [6.48, 640, 6.55],
            "ranges near 6.55 cm, where about 650 cm are expected: are they in m? then",
        ),
        ("cm", [648, 65, 651, 660], "line 3: found a range of 65 cm, .*a slip of the pen?"),
    ],
)
def test_a_range_in_another_unit_is_named_by_its_row_unless_most_are(unit, ranges, sentence):
    names = [f"line {index + 2}" for index in range(len(ranges))]
    doubt = doubt_about_units(ranges, unit, [6.5] * len(ranges), names)
    assert re.match(re.escape(sentence).replace(r"\.\*", ".*"), doubt), doubt


@pytest.mark.parametrize("short_cm", [75, 120, 300])
def test_a_shot_that_fell_short_is_believed(short_cm):
    assert doubt_about_units([648, short_cm, 651, 660], "cm", [6.5] * 4) is None


def test_ranges_in_no_unit_at_all():
    assert "look at the elevation" in doubt_about_units([90_000.0, 91_000.0], "mm", [6.5, 6.5])

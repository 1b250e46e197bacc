"""Free flights: the equation, and the fit to lines of sight."""

from dataclasses import replace

import numpy as np
import pytest
from flight_pictures import DRAG_PER_M, FIRE_US, MUZZLE_MM, camera, fly, seen_at
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightPrior, Shadows, fit_flight
from vision.soldiers.lamp import Lamp

VIEW = camera()
speeds = st.floats(3.0, 13.0)
sideways = st.floats(-0.3, 0.3)
climbs = st.floats(-0.8, 0.8)


def prior_of(velocity: np.ndarray) -> FlightPrior:
    return FlightPrior.of(
        start_us=FIRE_US,
        start_sigma_us=3000.0,
        start_mm=np.array(MUZZLE_MM),
        start_sigma_mm=np.full(3, 2.0),
        velocity_mps=velocity * [0.9, 0.9, 0.0],
        velocity_sigma_mps=np.array([4.0, 4.0, 2.0]),
    )


@settings(max_examples=25, deadline=None)
@given(speeds, sideways, climbs)
def test_equation_agrees_with_stepwise_integration(speed: float, aside: float, climb: float) -> None:
    velocity = np.array([aside * speed, speed, climb])
    path = fly(MUZZLE_MM, velocity)
    flight = Flight(0.0, np.array(MUZZLE_MM), velocity, DRAG_PER_M / 1000)
    for since_ms in (10.0, 40.0, 90.0):
        truth = path(since_ms)
        assert truth is not None
        assert np.abs(flight.at(1000 * since_ms)[0] - truth).max() < 1.0


@pytest.mark.parametrize("since_us", [0.0, 20_000.0, 90_000.0])
@pytest.mark.parametrize("velocity", [(0.4, 9.5, -0.1), (-1.0, 3.0, 0.8), (0.0, 13.0, 2.0)])
def test_the_velocity_is_how_fast_the_position_changes(
    velocity: tuple[float, float, float], since_us: float
) -> None:
    flight = Flight(FIRE_US, np.array(MUZZLE_MM), np.array(velocity), DRAG_PER_M / 1000)
    before, after = flight.at(FIRE_US + since_us + np.array([-50.0, 50.0]))
    assert flight.velocity_at(FIRE_US + since_us) == pytest.approx((after - before) / 0.1, abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(speeds, sideways, climbs, st.integers(0, 1000))
def test_fit_finds_the_flight_from_lines_of_sight(
    speed: float, aside: float, climb: float, seed: int
) -> None:
    velocity = np.array([aside * speed, speed, climb])
    path = fly(MUZZLE_MM, velocity)
    times_ms = np.arange(4.0, min(80.0, 750.0 / speed), 8.3)
    truth = np.array([path(t) for t in times_ms])
    assume(truth[-1, 2] > 3.0)
    pixels = VIEW.project(truth) + np.random.default_rng(seed).normal(0, 0.2, (len(truth), 2))
    fit = fit_flight(VIEW, seen_at(FIRE_US + 1000 * times_ms, pixels), prior_of(velocity))
    found = fit.flight.at(FIRE_US + 1000 * times_ms)
    assert np.hypot(*(found - truth)[:, :2].T).max() < 5.0
    # Height is only guessed from one view; its error must be within what the fit states.
    sigma_z = np.sqrt(fit.spread_at(FIRE_US + 1000 * times_ms[-1])[0, 2, 2])
    assert abs(found[-1, 2] - truth[-1, 2]) < 4 * sigma_z + 1.0
    assert fit.residuals_px.max() < 1.5


def test_one_spoilt_sight_pulls_a_robust_fit_less() -> None:
    velocity = np.array([0.2, 7.0, 0.0])
    path = fly(MUZZLE_MM, velocity)
    times_ms = np.arange(5.0, 80.0, 8.3)
    truth = np.array([path(t) for t in times_ms])
    pixels = VIEW.project(truth)
    pixels[-1] += [6.0, 4.0]
    errors = []
    for robust in (False, True):
        fit = fit_flight(VIEW, seen_at(FIRE_US + 1000 * times_ms, pixels), prior_of(velocity), robust=robust)
        errors.append(float(np.hypot(*(fit.flight.at(FIRE_US + 1000 * times_ms) - truth)[:, :2].T).max()))
    assert errors[1] < errors[0]


def test_a_flight_is_never_seen_below_the_board() -> None:
    velocity = np.array([0.0, 6.0, -1.0])
    path = fly((150.0, -40.0, 60.0), velocity)
    times_ms = np.arange(3.0, 40.0, 8.3)
    truth = np.array([path(t) for t in times_ms])
    low = prior_of(velocity)
    sunk = FlightPrior(low.mean - [0, 0, 0, 45.0, 0, 0, 1.0, 0], low.sigma)
    fit = fit_flight(VIEW, seen_at(FIRE_US + 1000 * times_ms, VIEW.project(truth)), sunk)
    assert fit.flight.at(FIRE_US + 1000 * times_ms)[:, 2].min() > -3.0


def test_the_shadow_settles_the_height_though_the_lamp_is_known_roughly() -> None:
    """Issue 5, point 4: the shot's own shadow is not it; it is a second line of sight to it."""
    velocity = np.array([0.2, 8.0, -0.4])
    path = fly(MUZZLE_MM, velocity)
    times_ms = np.arange(4.0, 54.0, 8.3)
    truth = np.array([path(t) for t in times_ms])
    lamp = Lamp(np.array([0.5, -0.3]), 0.02, 1 / 1400.0, 3e-4, np.array([180.0, 405.0]), 0.4)
    roughly = replace(lamp, slope=np.array([0.62, -0.2]), slope_sigma=0.15)
    times_us = FIRE_US + 1000 * times_ms
    sights = seen_at(times_us, VIEW.project(truth))
    thrown = seen_at(times_us, VIEW.project(lamp.shadow(truth)), sigma_px=1.2)
    alone = fit_flight(VIEW, sights, prior_of(velocity))
    both = fit_flight(VIEW, sights, prior_of(velocity), shadows=Shadows(roughly, thrown))
    assert np.abs(both.flight.at(times_us)[:, 2] - truth[:, 2]).max() < 4.0
    assert both.spread_at(times_us[-1])[0, 2, 2] < 0.25 * alone.spread_at(times_us[-1])[0, 2, 2]
    assert both.lamp is not None
    assert np.abs(both.lamp.slope - lamp.slope).max() < 0.06


def test_the_error_bar_of_the_speed_holds_as_often_as_it_says() -> None:
    """Issue 5, point 4: it feeds the calibration, which weighs shots by it."""
    rng = np.random.default_rng(5)
    off = []
    for _ in range(400):
        velocity = np.array([rng.normal(0.0, 0.5), rng.uniform(6.0, 12.0), rng.normal(0.0, 0.3)])
        prior = prior_of(velocity)
        start_us, x, y, z, *_, drag = rng.normal(prior.mean, prior.sigma)
        times_us = start_us + 1000 * np.arange(4.0, rng.uniform(25.0, 60.0), 8.3)
        seen = VIEW.project(Flight(start_us, np.array([x, y, z]), velocity, drag).at(times_us))
        seen += rng.normal(0.0, 0.6, seen.shape)
        speed, sigma = fit_flight(VIEW, seen_at(times_us, seen), prior).speed_mps
        off.append(abs(speed - float(np.linalg.norm(velocity))) / sigma)
    by_chance = 3 * np.sqrt(0.68 * 0.32 / len(off))
    assert np.mean(np.array(off) < 1.0) == pytest.approx(0.68, abs=by_chance)
    assert np.mean(np.array(off) < 2.0) == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / len(off)))


@pytest.mark.parametrize("nearness_per_mm", [1 / 800.0, 1 / 3000.0])
def test_the_shadow_settles_the_height_though_how_high_the_lamp_hangs_is_known_roughly(
    nearness_per_mm: float,
) -> None:
    """Near the lamp's foot a shadow hardly reaches out: taken for exact, a lamp at another height told heights 10 mm off there."""
    velocity = np.array([0.2, 8.0, 0.05])
    path = fly(MUZZLE_MM, velocity)
    times_ms = np.arange(4.0, 88.0, 8.3)
    truth = np.array([path(t) for t in times_ms])
    lamp = Lamp(np.array([-0.1, -0.25]), 0.02, 1 / 1300.0, 3e-4, np.array([180.0, 405.0]), 0.4)
    roughly = replace(lamp, nearness_per_mm=nearness_per_mm, slope_sigma=0.1)
    times_us = FIRE_US + 1000 * times_ms
    thrown = seen_at(times_us, VIEW.project(lamp.shadow(truth)), sigma_px=1.2)
    sights = seen_at(times_us, VIEW.project(truth))
    fit = fit_flight(VIEW, sights, prior_of(velocity), shadows=Shadows(roughly, thrown))
    assert np.abs(fit.flight.at(times_us)[:, 2] - truth[:, 2]).max() < 3.0
    assert fit.lamp is not None
    assert fit.lamp.nearness_per_mm == pytest.approx(lamp.nearness_per_mm, abs=2e-4)
    assert fit.lamp.nearness_sigma_per_mm < roughly.nearness_sigma_per_mm


def test_a_flight_by_its_height_is_as_high_as_asked_and_still_explains_what_was_seen() -> None:
    velocity = np.array([0.2, 8.0, -0.4])
    path = fly(MUZZLE_MM, velocity)
    times_us = FIRE_US + 1000 * np.arange(4.0, 54.0, 8.3)
    truth = np.array([path((t - FIRE_US) / 1000) for t in times_us])
    fit = fit_flight(VIEW, seen_at(times_us, VIEW.project(truth)), prior_of(velocity))
    points, change, sigma_mm = fit.by_height(times_us, float(times_us[-1]))
    assert points == pytest.approx(fit.flight.at(times_us))
    assert change[-1, 2] == pytest.approx(1.0)
    assert sigma_mm**2 == pytest.approx(fit.spread_at(times_us[-1])[0, 2, 2])
    # One standard deviation up, every picture shows it nearly where it was seen: one camera tells no height.
    off_px = np.hypot(*(VIEW.project(points + sigma_mm * change) - VIEW.project(truth)).T)
    assert off_px.max() < 1.0
    lower = fit.higher(float(times_us[-1]), -1.0).at(times_us)
    assert lower == pytest.approx(points - sigma_mm * change, abs=0.5)


def test_a_faint_smear_holds_the_flight_across_its_line_and_hardly_along_it() -> None:
    velocity = np.array([0.2, 7.0, 0.0])
    path = fly(MUZZLE_MM, velocity)
    times_ms = np.arange(5.0, 60.0, 8.3)
    truth = np.array([path(t) for t in times_ms])
    pixels = VIEW.project(truth)
    way = pixels[-1] - pixels[0]
    way /= np.hypot(*way)
    pixels[-1] += 8.0 * way
    times_us = FIRE_US + 1000 * times_ms
    plain = seen_at(times_us, pixels)
    sigmas = plain.sigmas_px.copy()
    sigmas[-1, 0] = 6.0
    faint = replace(plain, axes=np.tile(way, (len(pixels), 1)), sigmas_px=sigmas)
    off = [
        float(np.hypot(*(fit_flight(VIEW, seen, prior_of(velocity)).flight.at(times_us) - truth)[-1, :2]))
        for seen in (plain, faint)
    ]
    assert off[1] < 0.5 * off[0]

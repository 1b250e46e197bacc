"""A bounce off the board told from its two flights: issue 5, point 4."""

import numpy as np
import pytest
from flight_pictures import FIRE_US, camera, fly, seen_at

from vision.shot.bounce import fit_bounced
from vision.shot.flight_fit import FlightPrior, Seen, fit_flight

VIEW = camera()
MUZZLE_MM = (150.0, -40.0, 45.0)
VELOCITY = np.array([0.3, 7.0, -0.5])


def landing() -> tuple[float, np.ndarray]:
    """When the shot strikes the board, ms after release, and its velocity then."""
    path = fly(MUZZLE_MM, VELOCITY)
    times = np.arange(0.0, 120.0, 0.05)
    heights = np.array([path(t)[2] for t in times])
    at = float(times[np.argmax(heights < 3.0)])
    return at, (path(at) - path(at - 0.5)) / 0.5


def sights(path: object, times_ms: np.ndarray, seed: int) -> Seen:
    truth = np.array([path(t) for t in times_ms])
    pixels = VIEW.project(truth) + np.random.default_rng(seed).normal(0, 0.3, (len(truth), 2))
    return seen_at(FIRE_US + 1000 * times_ms, pixels, sigma_px=0.4)


def prior() -> FlightPrior:
    return FlightPrior.of(
        start_us=FIRE_US,
        start_sigma_us=3000.0,
        start_mm=np.array(MUZZLE_MM),
        start_sigma_mm=np.full(3, 2.0),
        velocity_mps=VELOCITY * [0.9, 0.9, 0.0],
        velocity_sigma_mps=np.array([4.0, 4.0, 1.1]),
    )


@pytest.mark.parametrize(("restitution", "friction"), [(0.55, 0.35), (0.65, 0.2), (0.8, 0.3)])
def test_bounce_is_found_where_and_when_it_was(restitution: float, friction: float) -> None:
    at_ms, before = landing()
    fall = -before[2]
    ahead = before[:2] * (1 - friction * (1 + restitution) * fall / np.hypot(*before[:2]))
    path = fly(MUZZLE_MM, VELOCITY, [(at_ms, (*ahead, restitution * fall))])
    seen = sights(path, np.arange(4.0, at_ms + 35.0, 8.3), seed=1)
    free = fit_flight(VIEW, seen, prior(), robust=True)
    falling = [(free, FIRE_US + 1000 * each) for each in np.arange(20.0, at_ms + 30.0, 10.0)]
    fit = fit_bounced(VIEW, seen, prior(), shadows=None, falling=falling)
    assert fit is not None
    assert free.misfit - fit.misfit > 10.0
    assert abs(fit.landing_us - FIRE_US - 1000 * at_ms) < 3500
    where = path(at_ms)
    assert np.hypot(*(fit.after.flight.start_mm - where)[:2]) < 20.0
    # The error it states covers what it is off.
    sigma = np.sqrt(np.diag(fit.after.spread_at(fit.landing_us + 20_000.0)[0]))
    truth = path((fit.landing_us + 20_000.0 - FIRE_US) / 1000)
    assert np.all(np.abs(fit.after.flight.at(fit.landing_us + 20_000.0)[0] - truth) < 4 * sigma + 1.0)


def test_flight_without_a_bounce_gains_nothing_by_one() -> None:
    path = fly((*MUZZLE_MM[:2], 60.0), (0.3, 9.0, 0.2))
    seen = sights(path, np.arange(4.0, 60.0, 8.3), seed=2)
    high = FlightPrior(prior().mean + np.array([0, 0, 0, 15.0, 0, 1.8, 0, 0]), prior().sigma)
    free = fit_flight(VIEW, seen, high, robust=True)
    falling = [(free, FIRE_US + 1000 * each) for each in np.arange(10.0, 60.0, 10.0)]
    fit = fit_bounced(VIEW, seen, high, shadows=None, falling=falling)
    assert fit is None or free.misfit - fit.misfit < 4.0

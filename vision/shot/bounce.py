"""A flight that bounces off the board, fitted as one: what comes after the bounce follows from what came before.

Seen from above a bounce hardly shows: the shot goes on in its direction, a little slower, and climbs where it sank. A
second flight, free of the first, would explain any few sights that lie a little off; a bounce has but two things of its
own, how much of the fall it gives back and how much the board's friction takes. A ball that strikes at the velocity
``(v, -w)`` leaves at ``(v - mu (1 + e) w, e w)``, unless it begins to roll first, which takes two sevenths of ``v``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.shot.flight import FLIGHT_UNKNOWNS, GRAVITY_MM_PER_MS2, Flight, positions_and_slopes
from vision.shot.flight_fit import (
    LAMP_UNKNOWNS,
    FlightFit,
    FlightPrior,
    FlightProblem,
    FlightState,
    Seen,
    Shadows,
)
from vision.shot.streaks import SHOT_RADIUS_MM

__all__ = ["BouncedFit", "fit_bounced"]

FloatArray = NDArray[np.float64]

# What a board of wood, felt or card gives back and takes: means and standard deviations.
_RESTITUTION, _RESTITUTION_SIGMA = 0.65, 0.12
_FRICTION, _FRICTION_SIGMA = 0.28, 0.12
_ROLLING_SHARE = 2 / 7
# How well a bounce is placed, where the flight after it is fitted alone.
_START_SIGMA_US, _START_SIGMA_MM = 3000.0, (3.0, 3.0, 1.0)
_TRIED = 2  # starts of the search
_OWN = FLIGHT_UNKNOWNS + 2  # restitution and friction as well
# By how much each unknown is moved to see what follows: us, mm, m/s, 1/mm, shares.
_STEPS = np.array([20.0, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 1e-6, 0.01, 0.01])


@dataclass(frozen=True, slots=True, eq=False)
class BouncedFit:
    """A flight, its bounce and the flight after."""

    before: FlightFit
    after: FlightFit
    """Its start is the bounce. Of the residuals and the misfit either has those of all sights."""

    @property
    def misfit(self) -> float:
        """Sum of squares of all residuals, in standard deviations."""
        return self.before.misfit

    @property
    def after_prior(self) -> FlightPrior:
        """What the bounce says of the flight after it, for a fit of that alone."""
        flight = self.after.flight
        speed = float(np.linalg.norm(flight.velocity_mps))
        return FlightPrior.of(
            start_us=flight.start_us,
            start_sigma_us=_START_SIGMA_US,
            start_mm=flight.start_mm,
            start_sigma_mm=np.array(_START_SIGMA_MM),
            velocity_mps=flight.velocity_mps,
            velocity_sigma_mps=np.array(
                [0.12 * speed, 0.12 * speed, 0.3 * float(flight.velocity_mps[2]) + 0.1]
            ),
        )

    @property
    def landing_us(self) -> float:
        """When it struck the board."""
        return self.after.flight.start_us


def fit_bounced(
    view: BoardView,
    sights: Seen,
    prior: FlightPrior,
    *,
    shadows: Shadows | None,
    falling: Sequence[tuple[FlightFit, float]],
) -> BouncedFit | None:
    """Fit a flight with one bounce, sights far off the rest pulling less than their square.

    Parameters
    ----------
    view, sights, prior, shadows
        As for `fit_flight`.
    falling
        Where the search may begin: a flight that fits what was seen until about when it struck the board, and when
        that was.

    Returns
    -------
    ``None`` where the best such flight does not bounce between the first and the last sight.
    """
    problem = _BouncedProblem(view, sights, prior, shadows)
    starts = []
    for near, landing_us in falling:
        start = problem.start(near)
        start[6] = _climb(near.flight, landing_us)
        starts.append(start)
    starts.sort(key=problem.cost)
    seen_us = np.concatenate([sights.times_us, [] if shadows is None else shadows.seen.times_us])
    best: tuple[FlightState, FloatArray] | None = None
    for start in starts[:_TRIED]:
        state = problem.solved(problem.solved(start, soft=False).unknowns, soft=True)
        landing = _landing(state.unknowns[:_OWN].tolist())
        bounces = landing is not None and seen_us.min() < landing[0] < seen_us.max()
        if landing is not None and bounces and (best is None or state.cost < best[0].cost):
            best = state, np.array(landing)
    return None if best is None else problem.both(*best)


class _BouncedProblem(FlightProblem):
    """What a flight that bounces where it comes down must explain; as `FlightProblem` for one that does not."""

    def __init__(self, view: BoardView, sights: Seen, prior: FlightPrior, shadows: Shadows | None) -> None:
        longer = FlightPrior(
            np.concatenate([prior.mean, [_RESTITUTION, _FRICTION]]),
            np.concatenate([prior.sigma, [_RESTITUTION_SIGMA, _FRICTION_SIGMA]]),
        )
        super().__init__(view, sights, longer, shadows)

    def cost(self, unknowns: FloatArray) -> float:
        """Sum of squares of all residuals, those far off softened."""
        return self.state(unknowns, soft=True).cost

    def both(self, state: FlightState, landing: FloatArray) -> BouncedFit:
        """Put together the flights before and after the bounce."""
        unknowns = state.unknowns
        covariance = self.covariance(state)
        slopes = np.zeros((FLIGHT_UNKNOWNS, len(unknowns)))
        slopes[:, :_OWN] = _landing_slopes(unknowns[:_OWN], landing)
        later = np.zeros_like(covariance)
        later[:FLIGHT_UNKNOWNS, :FLIGHT_UNKNOWNS] = slopes @ covariance @ slopes.T
        later[-LAMP_UNKNOWNS:, -LAMP_UNKNOWNS:] = covariance[-LAMP_UNKNOWNS:, -LAMP_UNKNOWNS:]
        return BouncedFit(self.told(state, unknowns, covariance), self.told(state, landing, later))

    def _ways(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        points = np.empty((len(self._times), 3))
        slopes = np.zeros((len(self._times), 3, _OWN))
        told = _landing(unknowns[:_OWN].tolist())
        early = self._times <= (np.inf if told is None else told[0])
        points[early], slopes[early, :, :FLIGHT_UNKNOWNS] = positions_and_slopes(
            unknowns[:FLIGHT_UNKNOWNS], self._times[early]
        )
        if told is not None and not early.all():
            landing = np.array(told)
            points[~early], own = positions_and_slopes(landing, self._times[~early])
            slopes[~early] = own @ _landing_slopes(unknowns[:_OWN], landing)
        return points, slopes


def _landing(unknowns: list[float]) -> list[float] | None:
    """Give the unknowns of the flight after the bounce; ``None`` where it never comes down."""
    start_us, x, y, z, vx, vy, climb, drag, restitution, friction = unknowns
    falls = climb**2 + 2 * GRAVITY_MM_PER_MS2 * (z - SHOT_RADIUS_MM)
    if falls <= 0:
        return None
    drag_speed = max(drag, 1e-9) * max(math.sqrt(vx**2 + vy**2 + climb**2), 1e-9)
    # Without air first, then as the air has it: see `vision.shot.flight`.
    since_ms = (climb + math.sqrt(falls)) / GRAVITY_MM_PER_MS2
    for _ in range(4):
        slowed = max(drag_speed * since_ms, -0.5)
        along, pace = math.log1p(slowed) / drag_speed, 1 / (1 + slowed)
        half_fall = GRAVITY_MM_PER_MS2 / 2 * since_ms**2
        height = z + climb * along - half_fall * (1 - slowed / 3)
        sinking = GRAVITY_MM_PER_MS2 * since_ms * (1 - slowed / 3) - half_fall * drag_speed / 3 - climb * pace
        if sinking < 1e-3:
            return None
        since_ms += (height - SHOT_RADIUS_MM) / sinking
    speed = max(math.hypot(vx, vy) * pace, 1e-9)
    taken = min(friction * (1 + restitution) * sinking, _ROLLING_SHARE * speed) / speed
    left = pace * (1 - taken)
    place = [x + vx * along, y + vy * along, SHOT_RADIUS_MM]
    return [start_us + 1000.0 * since_ms, *place, vx * left, vy * left, restitution * sinking, drag]


def _landing_slopes(unknowns: FloatArray, landing: FloatArray) -> FloatArray:
    """How the later flight's unknowns follow from the earlier's and the bounce's, shape (8, 10)."""
    slopes = np.zeros((FLIGHT_UNKNOWNS, _OWN))
    for i, step in enumerate(_STEPS):
        moved = unknowns.tolist()
        moved[i] += step
        there = _landing(moved)
        if there is not None:
            slopes[:, i] = (np.array(there) - landing) / step
    return slopes


def _climb(flight: Flight, landing_us: float) -> float:
    """Find the climb at the start with which a flight comes down at a time."""
    landed = float(replace(flight, velocity_mps=flight.velocity_mps * [1.0, 1.0, 0.0]).at(landing_us)[0, 2])
    flown_ms = max((landing_us - flight.start_us) / 1000.0, 1.0)
    return (SHOT_RADIUS_MM - landed) / flown_ms

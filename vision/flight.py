"""A free flight of the shot, and how to fit one to what the camera saw of it.

Between two contacts the shot falls freely, slowed by the air. One camera gives each picture a line of sight, not
a point; the known muzzle, gravity and the drag of a 6 mm ball make up for the missing depth. Over a table the flight
is flat, so along its first direction the distance flown is ``ln(1 + k v t) / k`` with ``k = rho c_d A / (2 m)``,
which solves ``dv/dt = -k v^2`` exactly, and gravity adds ``g t^2 / 2`` downwards, itself slowed to first order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vision.lamp import Lamp
from vision.registration import BoardView

__all__ = [
    "GRAVITY_MM_PER_MS2",
    "Flight",
    "FlightFit",
    "FlightPrior",
    "Seen",
    "Shadows",
    "Waypoint",
    "fit_flight",
]

FloatArray = NDArray[np.float64]

GRAVITY_MM_PER_MS2 = 9.80665e-3

# Drag of a smooth 6 mm ball of 0.12 to 0.25 g: k = 1.2 kg/m3 * 0.45 * 28.3 mm2 / (2 m), so 0.03 to 0.064 a metre.
_DRAG_PER_MM = 0.045e-3
_DRAG_SIGMA_PER_MM = 0.012e-3
_ITERATIONS = 12
# By how much each unknown is moved to see what follows: us, mm, m/s, 1/mm.
_STEPS = np.array([20.0, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 1e-6])
_SLOPE_STEP = 1e-3
_SHARP_PX = 0.6
_FLIGHT = 8  # unknowns of a flight; with shadows the lamp's two slopes come after them
# What the fit itself states holds 59 % of speeds of filmed shots within one standard deviation, not 68 %.
_SPEED_SLACK = 1.4
_HUBER = 2.0  # standard deviations beyond which a sight is taken for partly spoilt
# Centre of a shot that lies on the board, and how firmly it is kept from sinking below.
_LOWEST_MM = 3.0
_SUNK_SIGMA_MM = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """A free flight from a start."""

    start_us: float
    """When it starts."""
    start_mm: FloatArray
    """Where it starts, shape (3,), board frame."""
    velocity_mps: FloatArray
    """Velocity at the start, shape (3,), board frame; one m/s is one mm a millisecond."""
    drag_per_mm: float = _DRAG_PER_MM
    """The ``k`` of the air's deceleration ``k v^2``."""

    def at(self, times_us: FloatArray | float) -> FloatArray:
        """Positions of the shot's centre, shape (N, 3) mm, at times of shape (N,) or one time."""
        times = np.atleast_1d(np.asarray(times_us, dtype=np.float64))
        parameters = np.concatenate([[self.start_us], self.start_mm, self.velocity_mps, [self.drag_per_mm]])
        points: FloatArray = _positions(parameters[None], times)[0]
        return points

    def velocity_at(self, time_us: float) -> FloatArray:
        """Velocity in m/s, shape (3,)."""
        early, late = self.at(np.array([time_us - 50.0, time_us + 50.0]))
        velocity: FloatArray = (late - early) / 0.1
        return velocity


@dataclass(frozen=True, slots=True, eq=False)
class FlightPrior:
    """What is known of a flight before looking: a mean and a standard deviation for each unknown.

    The order is start time (us), start x, y, z (mm), velocity x, y, z (m/s), drag (1/mm).
    """

    mean: FloatArray
    sigma: FloatArray

    @staticmethod
    def of(
        *,
        start_us: float,
        start_sigma_us: float,
        start_mm: FloatArray,
        start_sigma_mm: FloatArray,
        velocity_mps: FloatArray,
        velocity_sigma_mps: FloatArray,
    ) -> FlightPrior:
        """Put the parts together; the drag is that of a 6 mm ball."""
        return FlightPrior(
            np.concatenate([[start_us], start_mm, velocity_mps, [_DRAG_PER_MM]]),
            np.concatenate([[start_sigma_us], start_sigma_mm, velocity_sigma_mps, [_DRAG_SIGMA_PER_MM]]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Waypoint:
    """A place that the shot is known to have passed."""

    time_us: float
    point_mm: FloatArray
    """Shape (3,), board frame."""
    sigma_mm: FloatArray
    """Its standard deviation along x, y, z."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """When and where something was seen, and how well: a faint smear shows its line better than its ends."""

    times_us: FloatArray
    """Shape (N,)."""
    pixels: FloatArray
    """Shape (N, 2)."""
    axes: FloatArray
    """Unit vectors (u, v) along each smear, shape (N, 2)."""
    sigmas_px: FloatArray
    """Standard deviations along the smear and across, shape (N, 2)."""

    @staticmethod
    def of(times_us: FloatArray, pixels: FloatArray, *, sigma_px: float = 0.6) -> Seen:
        """Sights that are equally good in every direction."""
        count = len(times_us)
        return Seen(times_us, pixels, np.tile([1.0, 0.0], (count, 1)), np.full((count, 2), sigma_px))

    def whitened(self, off_px: FloatArray) -> FloatArray:
        """Residuals (..., N, 2) in standard deviations along and across each smear."""
        along = off_px[..., 0] * self.axes[:, 0] + off_px[..., 1] * self.axes[:, 1]
        across = off_px[..., 1] * self.axes[:, 0] - off_px[..., 0] * self.axes[:, 1]
        white = np.empty(off_px.shape)
        np.divide(along, self.sigmas_px[:, 0], out=white[..., 0])
        np.divide(across, self.sigmas_px[:, 1], out=white[..., 1])
        return white


@dataclass(frozen=True, slots=True, eq=False)
class Shadows:
    """Where the shot's shadow was seen on the board."""

    lamp: Lamp
    """What throws it."""
    seen: Seen
    """Where it was seen."""


@dataclass(frozen=True, slots=True, eq=False)
class FlightFit:
    """A flight fitted to pictures, with how sure it is."""

    flight: Flight
    covariance: FloatArray
    """Of the unknowns in the order of `FlightPrior`, shape (8, 8)."""
    misfit: float
    """Sum of squares of all residuals, those of the prior among them, in standard deviations."""
    residuals_px: FloatArray
    """Distance of each observation from the fit, as that of a sharp sight would be, shape (N,)."""
    shadow_residuals_px: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Distance of each shadow from where it should be, shape (M,)."""
    lamp: Lamp | None = None
    """The lamp as the shadows of this flight tell it better; ``None`` without them."""

    def spread_at(self, times_us: FloatArray | float) -> FloatArray:
        """Covariance of the position at times (N,), mm^2, shape (N, 3, 3)."""
        times = np.atleast_1d(np.asarray(times_us, dtype=np.float64))
        slopes = _jacobian(_parameters(self.flight), times)
        spread: FloatArray = slopes @ self.covariance @ np.moveaxis(slopes, 1, 2)
        return spread

    @property
    def speed_mps(self) -> tuple[float, float]:
        """Speed at the start and its standard deviation."""
        velocity = self.flight.velocity_mps
        speed = float(np.linalg.norm(velocity))
        along = velocity / max(speed, 1e-9)
        return speed, _SPEED_SLACK * float(np.sqrt(along @ self.covariance[4:7, 4:7] @ along))


def fit_flight(
    view: BoardView,
    sights: Seen,
    prior: FlightPrior,
    *,
    passes: Waypoint | None = None,
    shadows: Shadows | None = None,
    robust: bool = False,
) -> FlightFit:
    """Fit a free flight to lines of sight by damped least squares.

    Parameters
    ----------
    view
        The camera.
    sights
        When and where the shot's centre was seen.
    prior
        What holds the unknowns that the pictures do not.
    passes
        Where else the shot was, if that is known.
    shadows
        Where its shadow was seen: a second line of sight, which tells its height.
    robust
        Whether sights far off the rest pull less than their square.
    """
    times = np.asarray(sights.times_us, dtype=np.float64)
    seen = _on_unit_plane(view, sights.pixels)
    focal = np.array([view.camera_matrix[0, 0], view.camera_matrix[1, 1]])
    mean, sigma, steps = prior.mean, prior.sigma, _STEPS
    shaded = np.zeros((0, 2))
    if shadows is not None:
        shaded = _on_unit_plane(view, shadows.seen.pixels)
        mean = np.concatenate([mean, shadows.lamp.slope])
        sigma = np.concatenate([sigma, np.full(2, shadows.lamp.slope_sigma)])
        steps = np.concatenate([steps, np.full(2, _SLOPE_STEP)])
    scale = np.maximum(sigma, 1e-12)

    def off_px(points: FloatArray, places: FloatArray) -> FloatArray:
        camera = points @ view.rotation.T + view.translation_mm
        off: FloatArray = (camera[..., :2] / camera[..., 2:3] - places) * focal
        return off

    # Everything that is asked of a flight, its way is worked out for at once: sights, shadows, the waypoint.
    whens = [times, np.zeros(0) if shadows is None else shadows.seen.times_us]
    if passes is not None:
        whens.append(np.array([passes.time_us]))
    everywhen = np.concatenate(whens)
    here, there = len(times), len(times) + len(whens[1])

    def misses(parameters: FloatArray, points: FloatArray) -> FloatArray:
        """Residuals in the pictures (M, 2 N) for M sets of unknowns with their ways, in standard deviations."""
        count = len(parameters)
        whitened = sights.whitened(off_px(points[:, :here], seen)).reshape(count, -1)
        if shadows is None:
            return whitened
        thrown = points[:, here:there].copy()
        thrown[..., 2] = np.maximum(thrown[..., 2], 0.0)
        places = shadows.lamp.shadow(thrown, parameters[:, None, _FLIGHT:])
        return np.concatenate(
            [whitened, shadows.seen.whitened(off_px(places, shaded)).reshape(count, -1)], axis=1
        )

    def softened(residuals: FloatArray) -> FloatArray:
        # Huber's loss as a residual: a smear cut by a line or joined to a shadow pulls no harder than its distance.
        size = np.abs(residuals)
        far = np.sqrt(np.maximum(2 * _HUBER * size - _HUBER**2, 0.0))
        soft: FloatArray = np.where(size <= _HUBER, residuals, np.sign(residuals) * far)
        return soft

    def told(parameters: FloatArray, points: FloatArray, *, soft: bool) -> FloatArray:
        pictures = misses(parameters, points)
        if soft:
            pictures = softened(pictures)
        parts = [pictures, (parameters - mean) / scale]
        if passes is not None:
            parts.append((points[:, there] - passes.point_mm) / passes.sigma_mm)
        return np.concatenate(parts, axis=1)

    def stacked(parameters: FloatArray, *, soft: bool) -> FloatArray:
        points = _positions(parameters[:, :_FLIGHT], everywhen)
        # Nothing flies through the board: a shot seen in flight is above it, however its height came about.
        sunk = np.minimum(points[:, :there, 2] - _LOWEST_MM, 0.0) / _SUNK_SIGMA_MM
        return np.concatenate([told(parameters, points, soft=soft), sunk], axis=1)

    best, cost = _descend(partial(stacked, soft=False), mean, steps)
    if robust:
        # Far from the flight the softened residuals are too flat to lead there: begin at the plain fit.
        best, cost = _descend(partial(stacked, soft=True), best, steps)
    # The board below holds a flight up without telling how high it is: it does not make it surer.
    around = np.concatenate([best[None], best + np.diag(steps)])
    points = _positions(around[:, :_FLIGHT], everywhen)
    near = told(around, points, soft=robust)
    slopes = (near[1:] - near[0]) / steps[:, None]
    normal = slopes @ slopes.T
    away = misses(best[None], points[:1])[0].reshape(-1, 2) * _SHARP_PX
    far_px = np.hypot(away[:, 0], away[:, 1])
    # Unknowns differ by ten orders of magnitude in size: invert in units of their prior spread.
    covariance: FloatArray = np.asarray(
        np.linalg.inv(normal * scale[:, None] * scale) * scale[:, None] * scale, dtype=np.float64
    )
    # Where the sights scatter more than they should, the flight is less sure by as much.
    covariance *= max(1.0, cost / (2 * there))
    flight = Flight(float(best[0]), best[1:4].copy(), best[4:7].copy(), float(best[7]))
    return FlightFit(
        flight,
        covariance[:_FLIGHT, :_FLIGHT].copy(),
        cost,
        far_px[: len(times)],
        far_px[len(times) :],
        None
        if shadows is None
        else replace(
            shadows.lamp,
            slope=best[_FLIGHT:].copy(),
            slope_sigma=float(np.sqrt(np.diag(covariance)[_FLIGHT:].mean())),
        ),
    )


def _on_unit_plane(view: BoardView, pixels: FloatArray) -> FloatArray:
    """Pixels (N, 2) on the plane at distance one before the camera, without the lens's distortion."""
    if len(pixels) == 0:
        return np.zeros((0, 2))
    _, directions = view.ray(pixels)
    in_camera = directions @ view.rotation.T
    flat: FloatArray = in_camera[:, :2] / in_camera[:, 2:3]
    return flat


def _descend(
    residuals: Callable[[FloatArray], FloatArray], start: FloatArray, steps: FloatArray
) -> tuple[FloatArray, float]:
    """Least squares after Levenberg and Marquardt; gives the best unknowns and their cost."""
    moves = np.concatenate([np.zeros((1, len(start))), np.diag(steps)])
    best = start.copy()
    # Each place is worked out together with those around it: the next round's slopes come for little more.
    around = residuals(best + moves)
    cost = float(around[0] @ around[0])
    damping = 1e-3
    for _ in range(_ITERATIONS):
        here = around[0]
        slopes = (around[1:] - here) / steps[:, None]
        normal = slopes @ slopes.T
        gradient = slopes @ here
        gain = 0.0
        for _ in range(6):
            change = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -gradient)
            trial = residuals(best + change + moves)
            trial_cost = float(trial[0] @ trial[0])
            if trial_cost < cost:
                gain = cost - trial_cost
                best, cost, around, damping = best + change, trial_cost, trial, max(damping / 6, 1e-9)
                break
            damping *= 6
        if gain < 1e-4 * max(cost, 1.0):
            break
    return best, cost


def _parameters(flight: Flight) -> FloatArray:
    return np.concatenate([[flight.start_us], flight.start_mm, flight.velocity_mps, [flight.drag_per_mm]])


def _positions(parameters: FloatArray, times_us: FloatArray) -> FloatArray:
    """Positions (M, N, 3) of M flights at N times."""
    elapsed_ms = (times_us[None, :] - parameters[:, :1]) / 1000.0
    velocity = parameters[:, 4:7]
    drag = np.maximum(parameters[:, 7:8], 1e-9)
    speed = np.maximum(np.sqrt((velocity * velocity).sum(axis=1, keepdims=True)), 1e-9)
    # The logarithm has no value far before the start of a fast flight; nothing there is asked for in earnest.
    slowed = np.maximum(drag * speed * elapsed_ms, -0.5)
    along = np.log1p(slowed) / (drag * speed)
    points: FloatArray = parameters[:, None, 1:4] + velocity[:, None, :] * along[..., None]
    points[..., 2] -= GRAVITY_MM_PER_MS2 / 2 * elapsed_ms**2 * (1 - slowed / 3)
    return points


def _jacobian(parameters: FloatArray, times_us: FloatArray) -> FloatArray:
    """Slopes of positions (N, 3, 8) in the unknowns."""
    here = _positions(parameters[None], times_us)[0]
    moved = _positions(parameters + np.diag(_STEPS), times_us)
    slopes: FloatArray = np.moveaxis((moved - here) / _STEPS[:, None, None], 0, -1)
    return slopes

"""A free flight fitted to what the camera saw of it.

One camera gives each picture a line of sight, not a point; the known muzzle, gravity and the drag of a 6 mm ball make up for the
missing depth, and so does the shot's shadow, where it is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.shot.flight import DRAG_PER_MM, FLIGHT_UNKNOWNS, Flight, positions_and_slopes
from vision.shot.streaks import SHOT_RADIUS_MM
from vision.soldiers.lamp import Lamp

__all__ = [
    "LAMP_UNKNOWNS",
    "FlightFit",
    "FlightPrior",
    "FlightProblem",
    "FlightState",
    "Seen",
    "Shadows",
    "fit_flight",
]

FloatArray = NDArray[np.float64]

LAMP_UNKNOWNS = 3
"""The lamp's two slopes and its nearness, which come after the flight's unknowns where there are shadows."""

_DRAG_SIGMA_PER_MM = 0.012e-3
_ITERATIONS = 12
_LEAST_GAIN = 1e-4  # of the sum of squares
_SHARP_PX = 0.6
_HUBER = 2.0  # standard deviations beyond which a sight is taken for partly spoilt
_SUNK_SIGMA_MM = 2.0  # how firmly a shot is kept from sinking into the board


@dataclass(frozen=True, slots=True, eq=False)
class FlightPrior:
    """What is known of a flight before looking: a mean and a standard deviation for each unknown.

    They are in the order of `FLIGHT_UNKNOWNS`.
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
            np.concatenate([[start_us], start_mm, velocity_mps, [DRAG_PER_MM]]),
            np.concatenate([[start_sigma_us], start_sigma_mm, velocity_sigma_mps, [_DRAG_SIGMA_PER_MM]]),
        )


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

    @property
    def whitening(self) -> FloatArray:
        """What makes of (u, v) off a sight standard deviations along and across its smear, shape (N, 2, 2)."""
        whitening = np.empty((len(self.axes), 2, 2))
        whitening[:, 0] = self.axes
        whitening[:, 1, 0] = -self.axes[:, 1]
        whitening[:, 1, 1] = self.axes[:, 0]
        whitening /= self.sigmas_px[:, :, None]
        return whitening


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
    """Of the unknowns in the order of `FLIGHT_UNKNOWNS`, shape (8, 8)."""
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
        _, slopes = positions_and_slopes(self.flight.unknowns, times)
        spread: FloatArray = slopes @ self.covariance @ slopes.swapaxes(1, 2)
        return spread

    def by_height(self, times_us: FloatArray, at_us: float) -> tuple[FloatArray, FloatArray, float]:
        """How the flight goes on as it is higher or lower at one time, all else being as likely as can be.

        Returns
        -------
        points, change
            Positions at times (N,), mm, and by how much each changes for a mm that the shot is higher at that one time, (N, 3).
        sigma_mm
            How well the height at that time is known.
        """
        unknowns = self.flight.unknowns
        _, there = positions_and_slopes(unknowns, np.array([at_us]))
        points, slopes = positions_and_slopes(unknowns, times_us)
        shared = self.covariance @ there[0, 2]
        variance = float(there[0, 2] @ shared)
        return points, slopes @ (shared / max(variance, 1e-12)), math.sqrt(max(variance, 0.0))

    def higher(self, at_us: float, sigmas: float) -> Flight:
        """Give the likeliest flight that is so many standard deviations higher at a time; lower, where they are negative."""
        unknowns = self.flight.unknowns
        _, there = positions_and_slopes(unknowns, np.array([at_us]))
        shared = self.covariance @ there[0, 2]
        return Flight.of(unknowns + shared * (sigmas / math.sqrt(max(float(there[0, 2] @ shared), 1e-12))))

    @property
    def speed_mps(self) -> tuple[float, float]:
        """Speed at the start and its standard deviation.

        Of 572 filmed shots 69 % were told to within one and 92 % to within two.
        """
        velocity = self.flight.velocity_mps
        speed = float(np.linalg.norm(velocity))
        along = velocity / max(speed, 1e-9)
        return speed, float(np.sqrt(along @ self.covariance[4:7, 4:7] @ along))


def fit_flight(
    view: BoardView,
    sights: Seen,
    prior: FlightPrior,
    *,
    shadows: Shadows | None = None,
    robust: bool = False,
    near: FlightFit | None = None,
) -> FlightFit:
    """Fit a free flight to lines of sight by damped least squares, after Levenberg and Marquardt.

    Parameters
    ----------
    view
        The camera.
    sights
        When and where the shot's centre was seen.
    prior
        What holds the unknowns that the pictures do not.
    shadows
        Where its shadow was seen: a second line of sight, which tells its height.
    robust
        Whether sights far off the rest pull less than their square.
    near
        A fit to nearly the same sights, from which the search begins; without it, it begins at the prior's mean.
    """
    problem = FlightProblem(view, sights, prior, shadows)
    best = problem.solved(problem.start(near), soft=False)
    if robust:
        # Far from the flight the softened residuals are too flat to lead there: begin at the plain fit.
        best = problem.solved(best.unknowns, soft=True)
    return problem.told(best, best.unknowns, problem.covariance(best))


@dataclass(frozen=True, slots=True, eq=False)
class FlightState:
    """A set of unknowns and how well it explains what was seen."""

    unknowns: FloatArray
    cost: float
    """Sum of squares of all residuals."""
    normal: FloatArray
    """Product of the residuals' slopes with themselves."""
    gradient: FloatArray
    sunk_normal: FloatArray
    """That part of `normal` which only keeps the flight above the board."""
    misses: FloatArray
    """Residuals of sights and shadows, not softened, in standard deviations, shape (N, 2)."""


class FlightProblem:
    """What a flight must explain, worked out in one go: sights, shadows, the prior.

    Parameters
    ----------
    view, sights, prior, shadows
        As for `fit_flight`.
    """

    def __init__(self, view: BoardView, sights: Seen, prior: FlightPrior, shadows: Shadows | None) -> None:
        self._mean, sigma = prior.mean, prior.sigma
        times, pixels, whitening = [sights.times_us], [sights.pixels], [sights.whitening]
        self._lamp = None if shadows is None else shadows.lamp
        if shadows is not None:
            # The lamp's unknowns are always the last ones.
            lamp = shadows.lamp
            self._mean = np.concatenate([self._mean, lamp.slope, [lamp.nearness_per_mm]])
            sigma = np.concatenate([sigma, np.full(2, lamp.slope_sigma), [lamp.nearness_sigma_per_mm]])
            times.append(shadows.seen.times_us)
            pixels.append(shadows.seen.pixels)
            whitening.append(shadows.seen.whitening)
        self._scale = np.maximum(sigma, 1e-12)
        self._known = np.diag(1 / self._scale**2)
        self._own = len(sights.times_us)
        self._times = np.concatenate(times, dtype=np.float64)
        self._seen = view.on_unit_plane(np.concatenate(pixels))
        self._rotation, self._translation = view.rotation, view.translation_mm
        self._whitening = np.concatenate(whitening) * [view.camera_matrix[0, 0], view.camera_matrix[1, 1]]

    def start(self, near: FlightFit | None) -> FloatArray:
        """Unknowns to begin with."""
        start = self._mean.copy()
        if near is not None:
            start[:FLIGHT_UNKNOWNS] = near.flight.unknowns
            if self._lamp is not None and near.lamp is not None:
                start[-LAMP_UNKNOWNS:] = *near.lamp.slope, near.lamp.nearness_per_mm
        return start

    def solved(self, start: FloatArray, *, soft: bool) -> FlightState:
        """Find the best unknowns from a start; soft: by Huber's loss."""
        best = self.state(start, soft=soft)
        damping = 1e-6
        for _ in range(_ITERATIONS):
            damped = best.normal.copy()
            damped.flat[:: len(damped) + 1] *= 1 + damping
            # OpenCV's takes a third of numpy's time for so few unknowns.
            _, found = cv2.solve(damped, best.gradient[:, None], flags=cv2.DECOMP_CHOLESKY)
            change = found[:, 0]
            if change @ best.gradient < _LEAST_GAIN * max(best.cost, 1.0):
                break  # what the step would gain, were the flight a straight line
            trial = self.state(best.unknowns - change, soft=soft)
            if trial.cost < best.cost:
                best, damping = trial, max(damping / 10, 1e-9)
            else:
                damping = max(10 * damping, 1e-3)
        return best

    def covariance(self, state: FlightState) -> FloatArray:
        """How sure all unknowns are."""
        # The board below holds a flight up without telling how high it is: it does not make it surer.
        normal = state.normal - state.sunk_normal
        scale = self._scale
        # Unknowns differ by ten orders of magnitude in size: invert in units of their prior spread.
        covariance: FloatArray = np.asarray(
            np.linalg.inv(normal * scale[:, None] * scale) * scale[:, None] * scale, dtype=np.float64
        )
        # Where the sights scatter more than they should, the flight is less sure by as much.
        covariance *= max(1.0, state.cost / (2 * len(self._times)))
        return covariance

    def told(self, state: FlightState, unknowns: FloatArray, covariance: FloatArray) -> FlightFit:
        """Put together what came out, given a flight's unknowns, and the covariance of all: the flight's first, the lamp's last."""
        away = state.misses * _SHARP_PX
        far_px = np.hypot(away[:, 0], away[:, 1])
        lamp = self._lamp
        if lamp is not None:
            *slope, nearness = state.unknowns[-LAMP_UNKNOWNS:].tolist()
            *slope_variances, nearness_variance = np.diag(covariance)[-LAMP_UNKNOWNS:].tolist()
            lamp = replace(
                lamp,
                slope=np.array(slope),
                slope_sigma=math.sqrt(sum(slope_variances) / len(slope)),
                nearness_per_mm=nearness,
                nearness_sigma_per_mm=math.sqrt(nearness_variance),
            )
        return FlightFit(
            Flight.of(unknowns[:FLIGHT_UNKNOWNS]),
            covariance[:FLIGHT_UNKNOWNS, :FLIGHT_UNKNOWNS].copy(),
            state.cost,
            far_px[: self._own],
            far_px[self._own :],
            lamp,
        )

    def _ways(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions at all times and their slopes in the unknowns that are not the lamp's."""
        return positions_and_slopes(unknowns[:FLIGHT_UNKNOWNS], self._times)

    def state(self, unknowns: FloatArray, *, soft: bool) -> FlightState:
        """Say how well a set of unknowns explains what was seen; soft: by Huber's loss."""
        points, point_slopes = self._ways(unknowns)
        own_unknowns, size = point_slopes.shape[2], len(unknowns)
        places, place_slopes = points, point_slopes
        if self._lamp is not None:
            places, place_slopes = _with_shadows(
                points, point_slopes, self._own, self._lamp, unknowns[-LAMP_UNKNOWNS:]
            )
        camera = places @ self._rotation.T + self._translation
        plane = camera[:, :2] / camera[:, 2:]
        # How the place on the unit plane changes with the point, then with the unknowns, in standard deviations.
        turned = self._rotation[:2] - plane[:, :, None] * self._rotation[2]
        slopes = (self._whitening @ (turned / camera[:, 2:, None])) @ place_slopes
        misses = (self._whitening @ (plane - self._seen)[:, :, None])[:, :, 0]
        residuals, rows = misses.ravel(), slopes.reshape(-1, size)
        if soft:
            # Huber's loss as a residual: a smear cut by a line or joined to a shadow pulls no harder than its distance.
            far = np.abs(residuals)
            shrunk = np.sqrt(np.maximum(2 * _HUBER * far - _HUBER**2, 1.0))
            beyond = far > _HUBER
            residuals = np.where(beyond, np.copysign(shrunk, residuals), residuals)
            rows = rows * np.where(beyond, _HUBER / shrunk, 1.0)[:, None]
        off = (unknowns - self._mean) / self._scale
        cost = float(residuals @ residuals) + float(off @ off)
        normal = rows.T @ rows + self._known
        gradient = rows.T @ residuals + off / self._scale
        # Nothing flies through the board: a shot seen in flight is above it, however its height came about.
        sunk_normal = np.zeros((size, size))
        if points[:, 2].min() < SHOT_RADIUS_MM:
            sunk = np.minimum(points[:, 2] - SHOT_RADIUS_MM, 0.0) / _SUNK_SIGMA_MM
            row = point_slopes[:, 2] * (sunk < 0)[:, None] / _SUNK_SIGMA_MM
            cost += float(sunk @ sunk)
            sunk_normal[:own_unknowns, :own_unknowns] = row.T @ row
            gradient[:own_unknowns] += row.T @ sunk
            normal += sunk_normal
        return FlightState(unknowns, cost, normal, gradient, sunk_normal, misses)


def _with_shadows(
    points: FloatArray, slopes: FloatArray, own: int, lamp: Lamp, lamp_unknowns: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Put shadows in place of the points after the first `own`; slopes become those in the lamp's unknowns as well."""
    places = points.copy()
    unknowns = slopes.shape[2]
    nearness = float(lamp_unknowns[2])
    wide = np.zeros((len(points), 3, unknowns + LAMP_UNKNOWNS))
    wide[:, :, :unknowns] = slopes
    thrown, above = points[own:], np.maximum(points[own:, 2], 0.0)
    from_middle_mm = thrown[:, :2] - lamp.middle_mm
    reach = lamp_unknowns[:2] + from_middle_mm * nearness
    lengthened = above * (1 + above * nearness)
    places[own:, :2] += reach * lengthened[:, None]
    places[own:, 2] = 0.0
    rising = np.where(thrown[:, 2] > 0, 1 + 2 * above * nearness, 0.0)
    wide[own:, :2, :unknowns] *= (1 + lengthened * nearness)[:, None, None]
    wide[own:, :2, :unknowns] += (reach * rising[:, None])[:, :, None] * slopes[own:, 2:, :]
    wide[own:, 2] = 0.0
    wide[own:, 0, unknowns] = lengthened
    wide[own:, 1, unknowns + 1] = lengthened
    wide[own:, :2, unknowns + 2] = from_middle_mm * lengthened[:, None] + reach * (above**2)[:, None]
    return places, wide

"""The best parameters for given measurements, and how sure they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from calibration.fit.likelihood import Linear, Spread, linearised
from calibration.fit.model import Kind, Observed, slopes
from calibration.fit.parameters import Assumption, Parameter

__all__ = ["ORDER", "USUAL_SCATTER", "Estimate", "carrying", "estimate", "linear_at", "place_factor_seen"]

FloatArray: TypeAlias = NDArray[np.float64]

ORDER = tuple(Parameter)
_SPEED = ORDER.index(Parameter.SPEED)
USUAL_SCATTER = 0.01
"""Of the speed, where there are too few shots to tell."""
_LEAST_SCATTER, _MOST_SCATTER = 1e-5, 0.5
_FEWEST_FOR_SCATTER = 2
"""More shots than parameters that there must be to tell the scatter."""
_FEWEST_FOR_NOISE = 5
"""Shots of which both a speed and a place must be known to tell the noise of places from the scatter of speeds."""
_FEWEST_TO_DOUBT = 2
"""Such shots that there must be to see that places do not belong to their speeds at all."""
_LOW_FACTOR, _HIGH_FACTOR = np.log(0.1), np.log(1e3)
_ROUNDS = 12
_STEPS = 30
_MOST_UNSETTLED = 3
"""Rounds that end with a step too long still, one after another: what then goes on is no search any more. Of the fits of some
thousand sets of shots none settled after as many."""
_RUNAWAY_MPS = 200.0
"""Twice what is taken for a measured speed: a search that comes there does not come back, and such flights take long to reckon."""
_SMALL_STEP = 1e-4
"""Of a standard deviation."""
_DEGREES_OF_T = 4.0
"""Of the t distribution that a robust fit takes for the shots'."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Where a fit ended."""

    values: FloatArray
    """All parameters, (p,), in the order of `Parameter`."""
    moving: tuple[Parameter, ...]
    """Those that the fit could move; the others stand where they were assumed."""
    information: FloatArray
    """Of the moving ones, (a, a)."""
    spread: Spread
    scatter_known: bool
    """Whether the scatter comes from these shots; else it is the usual one."""
    noise_known: bool
    """Whether the noise of places does; else it is what was stated of the tools."""
    linear: Linear
    settled: bool
    """Whether the last step was as small as it should be."""

    @property
    def is_determined(self) -> bool:
        """Whether it rests on the shots at all: contradictions lead where no shot comes down, and nothing moves any number."""
        return bool(np.all(np.diag(self.information) > 0))

    @property
    def deviance(self) -> float:
        """Minus twice the log likelihood of the measurements and of what was held near its assumption, up to a constant."""
        _, _, squares, logarithm = self.linear.normal(self.spread)
        return squares + logarithm

    @property
    def covariance(self) -> FloatArray:
        """Of all parameters, (p, p); 0 for what could not move."""
        whole = np.zeros((len(ORDER), len(ORDER)))
        places = [ORDER.index(parameter) for parameter in self.moving]
        # Parameters differ by orders of magnitude in size: scale them before the inversion.
        scale = 1.0 / np.sqrt(np.diag(self.information))
        covariance = scale[:, None] * np.linalg.inv(self.information * scale[:, None] * scale) * scale
        # Of what hardly follows each other it holds rounding, which is not the same on both sides of the diagonal.
        whole[np.ix_(places, places)] = (covariance + covariance.T) / 2.0
        return whole


def linear_at(
    data: Observed,
    values: FloatArray,
    moving: Sequence[Parameter],
    *,
    precision: FloatArray,
    pull: FloatArray,
    weight: FloatArray,
) -> Linear:
    """Linearise the measurements at a set of parameters."""
    if Parameter.SPEED not in moving:
        raise ValueError("the muzzle speed always moves")
    predicted, slope = slopes(data, values, moving)
    return linearised(
        data,
        predicted,
        slope,
        values[_SPEED] * slope[:, list(moving).index(Parameter.SPEED)],
        weight=weight,
        precision=precision,
        pull=pull,
    )


def estimate(
    data: Observed,
    assumed: Mapping[Parameter, Assumption],
    *,
    free: Sequence[Parameter],
    held: Sequence[Parameter] = (),
    robust: bool = False,
    start: Estimate | None = None,
    rounds: int = _ROUNDS,
) -> Estimate:
    """Find the parameters that explain the measurements best.

    Parameters
    ----------
    data : Observed
        The measurements.
    assumed : mapping
        What is taken of every parameter before.
    free : sequence of Parameter
        Found from the shots alone.
    held : sequence of Parameter
        Found from the shots and what was assumed together. All others are taken as assumed, for certain.
    robust : bool
        Whether shots far off count less, as if shots were distributed like t with four degrees of freedom (K. L. Lange,
        R. J. A. Little, J. M. G. Taylor, Journal of the American Statistical Association 84 (1989) 881).
    start : Estimate, optional
        Where to begin.
    rounds : int
        How often parameters and noise are found in turn, at most.
    """
    moving = (*free, *held)
    places = [ORDER.index(parameter) for parameter in moving]
    values = np.array([assumed[parameter].value for parameter in ORDER])
    values[_SPEED] = _start_speed(data, values[_SPEED])
    if start is not None:
        begun = [ORDER.index(parameter) for parameter in moving if parameter in start.moving]
        values[begun] = start.values[begun]
    target = np.array([assumed[parameter].value for parameter in moving])
    precision = np.array([0.0] * len(free) + [assumed[parameter].sd ** -2 for parameter in held])
    weight = np.ones(data.count)
    scatter_known = data.count - len(free) >= _FEWEST_FOR_SCATTER
    noise_known = scatter_known and _with_both(data) >= _FEWEST_FOR_NOISE
    spread = Spread(USUAL_SCATTER, 1.0) if start is None or not scatter_known else start.spread
    largest = np.array([3.0 * assumed[parameter].sd for parameter in moving])
    settled = False
    unsettled = 0

    def linear() -> Linear:
        return linear_at(
            data, values, moving, precision=precision, pull=target - values[places], weight=weight
        )

    def is_lost() -> bool:
        return here.is_lost or values[_SPEED] > _RUNAWAY_MPS

    here = linear()
    for _ in range(rounds):
        settled = False
        for _ in range(_STEPS):
            if is_lost():
                break
            information, gradient, _, _ = here.normal(spread)
            scale = 1.0 / np.sqrt(np.maximum(np.diag(information), 1e-300))
            # A direction that the shots do not see must not carry the others away: the smallest singular values are
            # left out.
            step = (
                scale
                * np.linalg.lstsq(information * scale[:, None] * scale, scale * gradient, rcond=1e-11)[0]
            )
            step *= min(1.0, float(np.min(largest / np.maximum(np.abs(step), 1e-300))))
            values[places] += step
            here = linear()
            if np.max(np.abs(step) / scale) < _SMALL_STEP * np.sqrt(max(1, data.count)):
                settled = True
                break
        if is_lost():
            settled = False
            break
        unsettled = 0 if settled else unsettled + 1
        if unsettled == _MOST_UNSETTLED:
            break
        before, before_weight = spread, weight
        if robust:
            kinds = np.diff(np.append(here.first, len(data.shot)))
            weight = (_DEGREES_OF_T + kinds) / (_DEGREES_OF_T + here.distances(spread))
            here = linear()
        if scatter_known:
            spread = _likeliest(here, spread, both=noise_known)
        if (
            settled
            and abs(np.log(spread.scatter / before.scatter)) < 2e-3
            and abs(np.log(spread.place_factor / before.place_factor)) < 2e-3
            and np.max(np.abs(weight - before_weight)) < 1e-2
        ):
            break
    information, _, _, _ = here.normal(spread)
    return Estimate(values, moving, information, spread, scatter_known, noise_known, here, settled)


def carrying(data: Observed, found: Estimate, known: FloatArray) -> FloatArray:
    """Return the covariance of all parameters, where those that the fit took for certain are known to so much only.

    What the fit moved follows what it trusted by ``-I_mm^-1 I_mt``, with Fisher's information between both; so its error is carried
    on, while its value stays (considered parameters: S. F. Schmidt, Advances in Control Systems 3 (1966) 293).

    Parameters
    ----------
    data : Observed
        What was fitted.
    found : Estimate
    known : (p, p) array
        How well all parameters were known before, as a covariance; what the fit moved is not read from it.
    """
    trusted = tuple(
        parameter
        for index, parameter in enumerate(ORDER)
        if parameter not in found.moving and known[index, index] > 0
    )
    every = (*found.moving, *trusted)
    nothing = np.zeros(len(every))
    linear = linear_at(data, found.values, every, precision=nothing, pull=nothing, weight=np.ones(data.count))
    information, _, _, _ = linear.normal(found.spread)
    count = len(found.moving)
    moved, kept = ([ORDER.index(parameter) for parameter in some] for some in (found.moving, trusted))
    before = known[np.ix_(kept, kept)]
    covariance = found.covariance
    follows = -covariance[np.ix_(moved, moved)] @ information[:count, count:]
    carried = follows @ before @ follows.T
    covariance[np.ix_(moved, moved)] += (carried + carried.T) / 2.0
    covariance[np.ix_(moved, kept)] = follows @ before
    covariance[np.ix_(kept, moved)] = (follows @ before).T
    covariance[np.ix_(kept, kept)] = before
    return covariance


def place_factor_seen(data: Observed, found: Estimate) -> float:
    """Return how many times farther than the tools' noise places lie from where their shots' own speeds would have them.

    Where there are too few to tell the noise of places it is rough, and the fit goes by what was stated of the tools all the same.
    """
    if found.noise_known or not found.scatter_known or _with_both(data) < _FEWEST_TO_DOUBT:
        return found.spread.place_factor
    return _likeliest(found.linear, found.spread, both=True).place_factor


def _start_speed(data: Observed, assumed_mps: float) -> float:
    speeds = data.value[data.kind <= Kind.TRACKED]
    return float(np.median(speeds)) if len(speeds) else assumed_mps


def _with_both(data: Observed) -> int:
    """Return of how many shots both a speed and a place were measured."""
    return len(np.intersect1d(data.shot[data.is_place], data.shot[~data.is_place]))


def _likeliest(linear: Linear, start: Spread, *, both: bool) -> Spread:
    """Return the scatter, and where asked the noise of places, of the highest restricted likelihood."""
    low, high = np.log(_LEAST_SCATTER), np.log(_MOST_SCATTER)
    if not both:
        found = minimize_scalar(
            lambda scatter: linear.restricted(Spread(float(np.exp(scatter)), start.place_factor)),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-4},
        )
        return Spread(float(np.exp(found.x)), start.place_factor)
    found = minimize(
        lambda logs: linear.restricted(
            Spread(
                float(np.exp(np.clip(logs[0], low, high))),
                float(np.exp(np.clip(logs[1], _LOW_FACTOR, _HIGH_FACTOR))),
            )
        ),
        np.log([start.scatter, start.place_factor]),
        method="Nelder-Mead",
        options={
            "xatol": 3e-3,
            "fatol": 1e-4,
            "initial_simplex": np.log([start.scatter, start.place_factor])
            + np.array([[0.0, 0.0], [0.3, 0.0], [0.0, 0.3]]),
        },
    )
    return Spread(
        float(np.exp(np.clip(found.x[0], low, high))),
        float(np.exp(np.clip(found.x[1], _LOW_FACTOR, _HIGH_FACTOR))),
    )

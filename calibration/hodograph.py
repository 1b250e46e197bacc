"""Where a batch of shots passes a plane, to well under a micrometre: drag of a constant coefficient.

Theory of operation
-------------------
For a drag ``k v^2`` the hodograph, speed over the path's angle, is known in closed form since Johann Bernoulli (1719; for
instance G. W. Parker, "Projectile motion with air resistance quadratic in the speed", American Journal of Physics 45
(1977) 606). With ``p = tan(angle) = sinh(u)`` and ``F(u) = sinh(u) cosh(u) + u``, the horizontal speed obeys ::

    1 / vx^2 = w(u) = w(u0) + k/g (F(u0) - F(u))

and place and time are integrals over the angle, which runs from ``u0`` downwards::

    x = 1/g int cosh(u) / w du     z = 1/g int sinh(u) cosh(u) / w du     t = 1/g int cosh(u) / sqrt(w) du

In ``u`` the integrands have no singularity but the zeros of ``w``: one on the real axis behind the muzzle, at least
``ln(1 + g / (k v^2)) / 2`` away, the others at least about pi/2 beside it. So Gauss-Legendre quadrature converges
fast; where the way from the muzzle is long beside that distance, it is cut into panels that grow geometrically from
the muzzle on. The angle at the plane is found by Newton's method: roughly with few nodes over the whole way, then with
all nodes once, and from there by short steps, each integrated by itself.

A chunk of shots stays in the cache of one core; numpy lets go of the interpreter in its loops, so that chunks run on
all cores.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.constants import STANDARD_GRAVITY_MPS2

__all__ = ["LOWEST_U", "MOST_STEPS", "PASSED_M", "STEEPEST", "Crossings", "cores", "cross", "path"]

FloatArray: TypeAlias = NDArray[np.float64]
Sums: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]
"""Integrals of x, z and t."""

_CHUNK = 12_500
"""Shots at a time: more no longer fit into a core's cache, fewer and numpy's overhead shows."""
_LEAST_TO_SHARE = 4096
"""Fewer shots than this are not worth a second thread."""
STEEPEST = 1e7
"""Slope that stands for upright: over 8 m of height it is under 1 um off the plumb line."""
LOWEST_U = -25.0
"""Angle that stands for straight down: 1e-11 rad from it."""
_PANEL_GROWTH = 7.0
_WIDEST_PANEL = 3.0
_FAR = 100.0
_CLOSE_M = 3e-8
"""So much error a Newton step may leave behind. A step du of the angle moves the place by gain du, where gain is v^2 / g;
its own error is about ``gain (1 + k gain) du^2 / 2``, from the curvature of the place over the angle."""
PASSED_M = 1e-6
"""A path that comes so near a line touches it."""
_ROUGH_STEPS = 2
_COMMON_STEPS = 3
"""So many steps all shots of a chunk take together; after that, only those that still need one."""
MOST_STEPS = 100
_CLOSE_ANGLE = 1e-10

_ROUGH = np.polynomial.legendre.leggauss(3)
_FINE = np.polynomial.legendre.leggauss(12)
_SHORT = ((5e-3, np.polynomial.legendre.leggauss(2)), (0.1, np.polynomial.legendre.leggauss(4)))
"""Which nodes are enough for a step of the angle up to so long."""


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """Where shots pass a line of their vertical plane of fire; each an array of the batch's shape.

    A shot that does not pass it is nan in all of them.
    """

    x_m: FloatArray
    """Over the ground, from the muzzle."""
    z_m: FloatArray
    """Upwards, from the muzzle."""
    time_s: FloatArray
    """From the muzzle."""
    speed_mps: FloatArray
    """There."""
    angle_rad: FloatArray
    """Of the path over the horizontal there; negative where the shot comes down."""


def cross(
    speed_mps: ArrayLike,
    elevation_rad: ArrayLike,
    drag_per_m: ArrayLike,
    *,
    forward: ArrayLike = 0.0,
    up: ArrayLike = 1.0,
    offset_m: ArrayLike = 0.0,
) -> Crossings:
    """Find where shots pass the line ``forward x + up z = offset`` from its positive to its negative side.

    The muzzle is the origin. ``(0, 1, -h)`` is the level ground a height h below it, passed on the way down;
    ``(-1, 0, -d)`` a wall at the distance d.

    Parameters
    ----------
    speed_mps : array_like
        Muzzle speeds, above 0.
    elevation_rad : array_like
        From -pi/2 to pi/2.
    drag_per_m : array_like
        k, 0 or more (`calibration.flight.Projectile.drag_per_m`).
    forward, up, offset_m : array_like
        The line. All six are broadcast against each other.

    Returns
    -------
    Crossings

    Raises
    ------
    ValueError
        A number is out of its range.
    """
    given = [
        np.asarray(value, dtype=np.float64)
        for value in (speed_mps, elevation_rad, drag_per_m, forward, up, offset_m)
    ]
    _check(*given)
    shape = np.broadcast_shapes(*(values.shape for values in given))
    flat = [
        values.reshape(()) if values.size == 1 else np.broadcast_to(values, shape).reshape(-1)
        for values in given
    ]
    count = int(np.prod(shape, dtype=np.int64))
    results = np.empty((5, count))

    # All cores get equal pieces.
    threads = cores() if count > _LEAST_TO_SHARE else 1
    size = -(-count // (threads * -(-count // (threads * _CHUNK)))) if count else 1

    def work(begin: int) -> None:
        piece = slice(begin, min(begin + size, count))
        speed, elevation, drag, *line = (values if values.ndim == 0 else values[piece] for values in flat)
        paths = _Paths(piece.stop - begin, speed, elevation, drag)
        _cross_chunk(paths, _Line(paths, *line), results[:, piece])

    begins = range(0, count, size)
    if threads == 1:
        for begin in begins:
            work(begin)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, begins))
    return Crossings(*(row.reshape(shape) for row in results))


def cores() -> int:
    """Return how many cores this process may use."""
    # Not every system says which cores the process may use.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check(
    speed_mps: FloatArray,
    elevation_rad: FloatArray,
    drag_per_m: FloatArray,
    forward: FloatArray,
    up: FloatArray,
    offset_m: FloatArray,
) -> None:
    for name, values, sound, expected in (
        ("muzzle speed", speed_mps, (speed_mps > 0) & (speed_mps < np.inf), "above 0 m/s"),
        ("elevation", elevation_rad, np.abs(elevation_rad) <= np.pi / 2, "from -pi/2 to pi/2 rad"),
        ("drag", drag_per_m, (drag_per_m >= 0) & (drag_per_m < np.inf), "0 or more, in 1/m"),
        ("line's direction", forward, np.isfinite(forward), "a number"),
        ("line's direction", up, np.isfinite(up), "a number"),
        ("line's offset", offset_m, np.isfinite(offset_m), "a number of metres"),
    ):
        if not sound.all():
            raise ValueError(f"a {name} is {values[~sound].flat[0]}, expected {expected}")
    if np.any((forward == 0) & (up == 0)):
        raise ValueError("a line's direction is (0, 0), expected a normal that points somewhere")


def _scratch(count: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    # Written over by every node: new arrays for each would cost more than the arithmetic in them.
    return np.empty(count), np.empty(count), np.empty(count), np.empty(count)


class _Paths:
    """The paths of `count` shots: each as a function of the angle u."""

    def __init__(
        self, count: int, speed_mps: FloatArray, elevation_rad: FloatArray, drag_per_m: FloatArray
    ) -> None:
        slope = np.clip(np.tan(elevation_rad), -STEEPEST, STEEPEST)
        steepness = 1.0 + slope * slope
        self.slope = slope
        self.u0 = np.broadcast_to(np.arcsinh(slope), (count,))
        self.w0 = steepness / (speed_mps * speed_mps)
        self.kg = drag_per_m / STANDARD_GRAVITY_MPS2
        self.whole = self.w0 + self.kg * (slope * np.sqrt(steepness) + np.arcsinh(slope))
        self._scratch = _scratch(count)
        # w0 / (kg cosh(u0)^2), which is g / (k v^2); without drag the singularity is infinitely far away.
        with np.errstate(divide="ignore"):
            self.reach = 0.5 * np.log1p(1.0 / (self.kg * speed_mps * speed_mps))

    def taken(self, chosen: NDArray[np.intp]) -> _Paths:
        """Give some of the paths."""
        some = object.__new__(_Paths)
        for name in ("slope", "u0", "w0", "kg", "whole", "reach"):
            values = getattr(self, name)
            setattr(some, name, values if values.ndim == 0 else values[chosen])
        some._scratch = _scratch(len(chosen))
        return some

    def at(self, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return sinh(u), cosh(u) and w(u), in arrays that the next call writes over."""
        sinh, cosh, w, _ = self._scratch
        np.sinh(u, out=sinh)
        np.multiply(sinh, sinh, out=cosh)
        cosh += 1.0
        np.sqrt(cosh, out=cosh)
        np.multiply(sinh, cosh, out=w)
        w += u
        w *= -self.kg
        w += self.whole
        return sinh, cosh, w

    def _nodes(
        self, begin: FloatArray, end: FloatArray, rule: tuple[FloatArray, FloatArray]
    ) -> Iterator[tuple[float, FloatArray, FloatArray, FloatArray]]:
        """Yield the weight of each node between two angles, and what `at` gives there."""
        half = (begin - end) * 0.5
        middle = (begin + end) * 0.5
        u = self._scratch[3]
        for node, weight in zip(*rule, strict=True):
            np.multiply(half, node, out=u)
            u += middle
            yield (weight, *self.at(u))

    def places(
        self, begin: FloatArray, end: FloatArray, rule: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Integrate x and z from one angle down to another."""
        x, z = np.zeros_like(end), np.zeros_like(end)
        for weight, sinh, part, w in self._nodes(begin, end, rule):
            np.divide(part, w, out=part)
            np.multiply(part, weight, out=part)
            x += part
            np.multiply(part, sinh, out=part)
            z += part
        scale = (begin - end) * (0.5 / STANDARD_GRAVITY_MPS2)
        x *= scale
        z *= scale
        return x, z

    def places_and_times(
        self, begin: FloatArray, end: FloatArray, rule: tuple[FloatArray, FloatArray]
    ) -> Sums:
        """Integrate x, z and t from one angle down to another."""
        x, z, t = np.zeros_like(end), np.zeros_like(end), np.zeros_like(end)
        for weight, sinh, part, w in self._nodes(begin, end, rule):
            np.multiply(part, weight, out=part)
            np.sqrt(w, out=w)
            np.divide(part, w, out=part)
            t += part
            np.divide(part, w, out=part)
            x += part
            np.multiply(part, sinh, out=part)
            z += part
        scale = (begin - end) * (0.5 / STANDARD_GRAVITY_MPS2)
        x *= scale
        z *= scale
        t *= scale
        return x, z, t

    def whole_way(self, u: FloatArray) -> Sums:
        """Integrate x, z and t from the muzzle on, in as many panels as the longest way of the chunk needs."""
        way = self.u0 - u
        # Where the singularity is far, the panels are equal.
        near = np.minimum(self.reach, _FAR)
        growth = np.log1p(way / near)
        widest = np.maximum(way + near, 1.01 * _WIDEST_PANEL)
        panels = int(
            np.ceil(
                np.max(
                    growth * np.maximum(1.0 / np.log(_PANEL_GROWTH), -1.0 / np.log1p(-_WIDEST_PANEL / widest))
                )
            )
        )
        if panels <= 1:
            return self.places_and_times(self.u0, u, _FINE)
        # A way that needs cutting is long and steep, and its errors count for more: cut it finer.
        panels *= 2
        sums: Sums = (np.zeros_like(way), np.zeros_like(way), np.zeros_like(way))
        begin = self.u0
        for panel in range(1, panels + 1):
            end = u if panel == panels else self.u0 - near * np.expm1(growth * (panel / panels))
            _add(sums, self.places_and_times(begin, end, _FINE))
            begin = end
        return sums


class _Line:
    """The line to be passed, and between which angles a path may pass it.

    Towards a line that faces upwards (`up` > 0) a path rises until it runs along it, and comes nearer ever after; towards
    one that faces downwards it comes nearer until it runs along it. A line upright before the muzzle is neared all the
    way.
    """

    def __init__(self, paths: _Paths, forward: FloatArray, up: FloatArray, offset_m: FloatArray) -> None:
        self.forward = forward
        self.up = up
        self.offset_m = offset_m
        with np.errstate(divide="ignore", invalid="ignore"):
            along = np.arcsinh(-forward / up)
        self.highest = np.where(up > 0, np.minimum(along, paths.u0), paths.u0)
        self.lowest = np.broadcast_to(
            np.where(up < 0, np.minimum(along, paths.u0), LOWEST_U), self.highest.shape
        )

    def taken(self, chosen: NDArray[np.intp]) -> _Line:
        """Give the lines of some shots."""
        some = object.__new__(_Line)
        for name in ("forward", "up", "offset_m", "highest", "lowest"):
            values = getattr(self, name)
            setattr(some, name, values if values.ndim == 0 else values[chosen])
        return some

    def excess_m(self, x_m: FloatArray, z_m: FloatArray) -> FloatArray:
        """Return how far a place lies on the positive side."""
        excess: FloatArray = self.forward * x_m + self.up * z_m - self.offset_m
        return excess


def _add(sums: Sums, more: Sums) -> None:
    for total, part in zip(sums, more, strict=True):
        np.add(total, part, out=total)


def _cross_chunk(paths: _Paths, line: _Line, found: FloatArray) -> None:
    """Write x, z, time, speed and angle where the paths pass their lines into an array of shape (5, n)."""
    passing = _passing(paths, line)
    u = _guess(paths, line)
    for _ in range(_ROUGH_STEPS):
        step, _, _ = _step(paths, line, u, *paths.places(paths.u0, u, _ROUGH))
        u = np.clip(u + step, line.lowest, line.highest)
    sums = paths.whole_way(u)
    u, sums, open_ = _refined(paths, line, u, sums, _COMMON_STEPS)
    if len(open_):
        some, its = paths.taken(open_), line.taken(open_)
        begun = (sums[0][open_], sums[1][open_], sums[2][open_])
        u[open_], better, hopeless = _refined(some, its, u[open_], begun, MOST_STEPS)
        for total, part in zip(sums, better, strict=True):
            total[open_] = part
        passing[open_[hopeless]] = False
    # What ended at an end of its angles found no place there: a wall beyond the shot's reach.
    passing &= np.abs(line.excess_m(sums[0], sums[1])) < PASSED_M
    sinh, cosh, w = paths.at(u)
    found[0], found[1], found[2] = sums
    np.divide(cosh, np.sqrt(w), out=found[3])
    np.arctan(sinh, out=found[4])
    if not passing.all():
        found[:, ~passing] = np.nan


def _passing(paths: _Paths, line: _Line) -> NDArray[np.bool_]:
    """Return which paths pass their lines, as far as the muzzle and the top of the path tell."""
    passing = np.array(np.broadcast_to(line.offset_m <= 0, paths.u0.shape))
    rising = np.flatnonzero(~passing & (line.up > 0) & (line.highest < paths.u0))
    if len(rising):
        some, its = paths.taken(rising), line.taken(rising)
        x_m, z_m, _ = some.whole_way(its.highest)
        passing[rising] = its.excess_m(x_m, z_m) >= -PASSED_M
    return passing


def _guess(paths: _Paths, line: _Line) -> FloatArray:
    """Return the angle at the line without air."""
    rise = line.forward + line.up * paths.slope
    needed = line.offset_m * STANDARD_GRAVITY_MPS2 * paths.w0
    root = np.sqrt(np.maximum(rise * rise - 2.0 * line.up * needed, 0.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        fallen = np.where(rise < 0, 2.0 * needed / (rise - root), (rise + root) / line.up)
    u: FloatArray = np.arcsinh(paths.slope - np.nan_to_num(fallen, posinf=0.0, neginf=0.0))
    return np.clip(u, line.lowest, line.highest)


def _step(
    paths: _Paths, line: _Line, u: FloatArray, x_m: FloatArray, z_m: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Newton's step of the angle, how far before the line the place lies, and the place's move for the angle."""
    sinh, cosh, w = paths.at(u)
    gain_m = cosh / w
    gain_m *= 1.0 / STANDARD_GRAVITY_MPS2
    sinh *= line.up
    sinh += line.forward
    sinh *= gain_m
    # Where the path runs along the line right at the muzzle there is no slope, and nowhere to go.
    sinh[sinh == 0] = np.inf
    excess_m = line.excess_m(x_m, z_m)
    gain_m *= cosh
    with np.errstate(over="ignore"):
        return excess_m / sinh, excess_m, gain_m


def _refined(
    paths: _Paths, line: _Line, u: FloatArray, sums: Sums, most_steps: int
) -> tuple[FloatArray, Sums, NDArray[np.intp]]:
    """Take Newton's steps until the last one is short; return angle, integrals, and which shots are not there yet.

    The place lies before the line above the angle wanted and behind it below: so the angle is bracketed, and where
    Newton would leave the bracket it is halved. `sums` are changed.
    """
    left_m = np.zeros(())
    highest, lowest = line.highest, line.lowest
    for _ in range(most_steps):
        step, excess_m, gain_m = _step(paths, line, u, sums[0], sums[1])
        before = excess_m > 0
        highest = np.where(before, u, highest)
        lowest = np.where(before, lowest, u)
        following = u + step
        # At the top there is no slope: Newton stays where it is.
        outside = (following < lowest) | (following > highest) | ((step == 0) & (excess_m > PASSED_M))
        if outside.any():
            following = np.where(outside, (lowest + highest) / 2, following)
            step = following - u
        left_m = paths.kg * STANDARD_GRAVITY_MPS2 * gain_m
        left_m += 1.0
        left_m *= gain_m
        left_m *= step
        left_m *= step
        longest = max(float(step.max()), -float(step.min()))
        nodes = next((nodes for length, nodes in _SHORT if longest < length), None)
        if nodes is not None:
            _add(sums, paths.places_and_times(u, following, nodes))
        else:
            sums = paths.whole_way(following)
        u = following
        if left_m.max() < _CLOSE_M:
            break
    return u, sums, np.flatnonzero(left_m >= _CLOSE_M)


def path(speed_mps: float, elevation_rad: float, drag_per_m: float, times_s: FloatArray) -> FloatArray:
    """Return where one shot is at given times after it left the muzzle, and how it moves.

    Parameters
    ----------
    speed_mps, elevation_rad, drag_per_m : float
        As for `cross`.
    times_s : (n,) array
        0 or more.

    Returns
    -------
    (5, n) array
        Time, x, z, horizontal and vertical speed, in SI units; the muzzle is the origin.
    """
    times_s = np.asarray(times_s, dtype=np.float64)
    if times_s.size == 0:
        return np.empty((5, 0))
    paths = _Paths(times_s.size, np.asarray(speed_mps), np.asarray(elevation_rad), np.asarray(drag_per_m))
    # Without air the slope falls evenly with time.
    u = np.arcsinh(paths.slope - STANDARD_GRAVITY_MPS2 * times_s * np.sqrt(paths.w0))
    sums = paths.whole_way(u)
    for _ in range(MOST_STEPS):
        _, cosh, w = paths.at(u)
        step = (sums[2] - times_s) * STANDARD_GRAVITY_MPS2 * np.sqrt(w) / cosh
        u = np.clip(u + step, LOWEST_U, paths.u0)
        sums = paths.whole_way(u)
        if np.max(np.abs(step)) < _CLOSE_ANGLE:
            break
    sinh, _, w = paths.at(u)
    vx_mps = 1.0 / np.sqrt(w)
    return np.stack([times_s, sums[0], sums[1], vx_mps, vx_mps * sinh])

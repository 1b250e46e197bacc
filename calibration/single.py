"""One shot at a time: `calibration.hodograph` in plain numbers, for those who ask often about a single shot.

The equations are the same, and so are the results within rounding. For a single shot numpy's overhead is ten times the
work, so this does without it, and may be simpler: every Newton step is integrated with all nodes from where the last one
ended.
"""

from __future__ import annotations

import math

import numpy as np

from calibration.constants import STANDARD_GRAVITY_MPS2
from calibration.hodograph import LOWEST_U, MOST_STEPS, PASSED_M, STEEPEST

__all__ = ["SinglePath"]

_PANEL_GROWTH = 3.0
"""How long a panel may be beside its distance from the singularity behind the muzzle."""
_WIDEST_PANEL = 1.5
_CLOSE_M = 1e-13
_NODES = tuple(zip(*(part.tolist() for part in np.polynomial.legendre.leggauss(12)), strict=True))


class SinglePath:
    """The path of one shot.

    Parameters
    ----------
    speed_mps, elevation_rad, drag_per_m : float
        As for `calibration.hodograph.cross`.
    """

    def __init__(self, speed_mps: float, elevation_rad: float, drag_per_m: float) -> None:
        self._slope = min(max(math.tan(elevation_rad), -STEEPEST), STEEPEST)
        steepness = 1.0 + self._slope * self._slope
        self._u0 = math.asinh(self._slope)
        self._w0 = steepness / (speed_mps * speed_mps)
        self._kg = drag_per_m / STANDARD_GRAVITY_MPS2
        self._whole = self._w0 + self._kg * (self._slope * math.sqrt(steepness) + self._u0)
        braking = self._kg * speed_mps * speed_mps
        self._reach = 0.5 * math.log1p(1.0 / braking) if braking > 0 else math.inf

    def cross(
        self, forward: float, up: float, offset_m: float
    ) -> tuple[float, float, float, float, float] | None:
        """Find where it passes the line ``forward x + up z = offset`` from its positive to its negative side.

        Returns
        -------
        tuple of float, or None
            x and z in m from the muzzle, time in s, horizontal and vertical speed in m/s; None where it does not pass.
        """
        u0 = self._u0
        highest = min(math.asinh(-forward / up), u0) if up > 0 else u0
        lowest = min(math.asinh(-forward / up), u0) if up < 0 else LOWEST_U
        place = (0.0, 0.0, 0.0)
        u = u0
        if offset_m > 0:
            if not (up > 0 and highest < u0):
                return None
            place = self._moved(place, u, highest)
            u = highest
            if forward * place[0] + up * place[1] < offset_m - PASSED_M:
                return None
        guess = min(max(self._guess(forward, up, offset_m), lowest), highest)
        place = self._moved(place, u, guess)
        u = guess
        for _ in range(MOST_STEPS):
            sinh = math.sinh(u)
            cosh = math.sqrt(1.0 + sinh * sinh)
            gain_m = cosh / ((self._whole - self._kg * (sinh * cosh + u)) * STANDARD_GRAVITY_MPS2)
            towards = (forward + up * sinh) * gain_m
            excess_m = forward * place[0] + up * place[1] - offset_m
            step = excess_m / towards if towards else 0.0
            # Positive before the line, negative behind it: the angle is bracketed, and the bracket halved where need be.
            if excess_m > 0:
                highest = u
            else:
                lowest = u
            # At the top there is no slope: Newton stays where it is.
            if not lowest <= u + step <= highest or (step == 0 and excess_m > PASSED_M):
                step = (lowest + highest) / 2 - u
            place = self._moved(place, u, u + step)
            u += step
            if step * step * cosh * gain_m < _CLOSE_M:
                break
        x_m, z_m, time_s = place
        if abs(forward * x_m + up * z_m - offset_m) > PASSED_M:
            return None
        sinh = math.sinh(u)
        vx_mps = 1.0 / math.sqrt(self._whole - self._kg * (sinh * math.sqrt(1.0 + sinh * sinh) + u))
        return x_m, z_m, time_s, vx_mps, vx_mps * sinh

    def _guess(self, forward: float, up: float, offset_m: float) -> float:
        """Return the angle at the line without air."""
        rise = forward + up * self._slope
        needed = offset_m * STANDARD_GRAVITY_MPS2 * self._w0
        root = math.sqrt(max(rise * rise - 2.0 * up * needed, 0.0))
        if rise < 0:
            return math.asinh(self._slope - 2.0 * needed / (rise - root))
        return math.asinh(self._slope - (rise + root) / up) if up else self._u0

    def _moved(
        self, place: tuple[float, float, float], begin: float, end: float
    ) -> tuple[float, float, float]:
        """Go on from a place at one angle to another angle, in as many panels as that needs."""
        x, z, t = place
        whole, kg = self._whole, self._kg
        # The panels are those of the way down, whichever way it is gone.
        sign = 1.0 if end < begin else -1.0
        begin, end = max(begin, end), min(begin, end)
        while begin != end:
            widest = min(_PANEL_GROWTH * (self._reach + self._u0 - begin), _WIDEST_PANEL)
            stop = max(end, begin - widest)
            half = (begin - stop) * 0.5
            middle = (begin + stop) * 0.5
            scale = sign * half / STANDARD_GRAVITY_MPS2
            for node, weight in _NODES:
                u = middle + node * half
                sinh = math.sinh(u)
                cosh = math.sqrt(1.0 + sinh * sinh)
                w = whole - kg * (sinh * cosh + u)
                part = scale * weight * cosh
                t += part / math.sqrt(w)
                part /= w
                x += part
                z += part * sinh
            begin = stop
        return x, z, t

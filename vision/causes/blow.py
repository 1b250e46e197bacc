"""Where a blow sends whom the shot strikes, and where the shot itself goes on.

A figure's sides are steep and nearly round. It is pushed along the line from the shot's centre to its own when they meet, so
one that is struck on its left goes to the right; the shot keeps at most what of its motion is along the figure's side, and
goes to the left. Neither need be seen: where the shot's first flight passes by the middle of the foot tells it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.outcome import Soldier
from vision.shot import ShotTrack
from vision.shot.streaks import SHOT_RADIUS_MM

__all__ = ["NO_BLOW", "Blow", "find_blow"]

FloatArray = NDArray[np.float64]

_GRAZE = 0.98  # of what it takes to miss: farther out a rifle or an arm was struck, and the line is as good as across
# Arms and rifle reach out so far beyond foot and shot; a flight farther off leads to somebody else.
_BESIDE_MM = 15.0
# A way that is known so well beside the foot tells half as much as one that is known exactly; one known no better than the second
# tells nothing.
_KNOWN_MM, _UNKNOWN_MM = 2.0, 8.0
# Where it came nearest is looked for from before it was seen first until after the soldier was seen to move.
_BEFORE_US, _AFTER_US, _STEP_US = 5_000, 3_000, 500.0


@dataclass(frozen=True, slots=True, eq=False)
class Blow:
    """How a soldier was struck, as far as the shot's way before tells."""

    pushed: FloatArray
    """Where it was pushed: (x, y), as long as that is well known, 0 to 1."""
    kept: FloatArray
    """What the shot kept of its motion over the board: (x, y), in shares of its speed, shortened in the same way."""


NO_BLOW = Blow(np.zeros(2), np.zeros(2))
"""Nothing is known of it."""


def find_blow(track: ShotTrack, struck: Soldier, began_us: int, foot_radius_mm: float) -> Blow:
    """Tell where a blow sent a soldier and the shot.

    Parameters
    ----------
    track
        The shot's way.
    struck, began_us
        Who was struck first, and the first picture in which it had moved.
    foot_radius_mm
        Radius of a figure's foot.
    """
    if not track.legs:
        return NO_BLOW
    leg = track.legs[0]
    times_us = np.arange(leg.first_us - _BEFORE_US, began_us + _AFTER_US, _STEP_US)
    if not len(times_us):
        return NO_BLOW
    foot = struck.foot_mm
    points = leg.flight.at(times_us)[:, :2]
    nearest = int(np.argmin(np.hypot(*(points - foot).T)))
    time_us = float(times_us[nearest])
    velocity = leg.flight.velocity_at(time_us)[:2]
    way = velocity / np.hypot(*velocity)
    across = np.array([-way[1], way[0]])
    aside_mm = float((foot - points[nearest]) @ across)
    sigma_mm = float(np.sqrt(max(across @ leg.fit.spread_at(time_us)[0, :2, :2] @ across, 0.0)))
    reach_mm = foot_radius_mm + SHOT_RADIUS_MM
    if abs(aside_mm) > reach_mm + _BESIDE_MM or sigma_mm > _UNKNOWN_MM:
        return NO_BLOW
    sine = float(np.clip(aside_mm / reach_mm, -_GRAZE, _GRAZE))
    pushed = way * np.sqrt(1 - sine**2) + across * sine
    known = 1 / (1 + (sigma_mm / _KNOWN_MM) ** 2)
    return Blow(known * pushed, known * (way - (way @ pushed) * pushed))

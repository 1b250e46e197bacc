"""How far the shot, as it was seen, kept from a soldier when that one began to move.

Where the shot is in sight it is where it is seen. Out of sight it may have gone anywhere that its speed allows: from
where it was seen last, and on to where it is seen next; but from high above it needs as long to come down as it falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vision.contacts import stirring_cost
from vision.outcome import Soldier
from vision.shot_track import Leg, ShotTrack

__all__ = ["Sight", "Whereabouts", "find_whereabouts"]

FloatArray = NDArray[np.float64]

_REACH_MM = 20.0  # from the foot: arms, rifle and the shot's own radius
_OVER_HEAD_MM = 10.0  # heights are known so well
_STIR_US = 4_000  # one that is struck may be seen to move so much later
_STEP_US = 1_000
_MISSED_SIGMA_MM = 15.0


class Sight(StrEnum):
    """Whether the shot was in sight at a moment."""

    NEVER = "never"
    """It was not seen at all, or not before something else had moved."""
    SEEN = "seen"
    """It was in sight."""
    BETWEEN = "between"
    """It was seen before and after."""
    LOST = "lost"
    """It was over the board where it was seen last."""
    LEFT = "left"
    """It had left the board."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where the shot was when a soldier began to move."""

    sight: Sight
    fit: float
    """How well that goes with its having touched the soldier just then, 0 to 1."""


def find_whereabouts(
    track: ShotTrack, soldier: Soldier, began_us: int, *, height_mm: float, frame_us: float, first_us: int
) -> Whereabouts:
    """Say how near the shot can have come to a soldier just before that one was seen to move.

    Parameters
    ----------
    track
        The shot's way.
    soldier, began_us
        Who, and the first picture in which it had moved.
    height_mm
        Height of a figure.
    frame_us
        Time between two pictures.
    first_us
        When the first of all soldiers had moved.
    """
    legs = track.legs
    # What was seen only after soldiers moved does not tell where the shot was before.
    if not legs or (began_us - frame_us < legs[0].first_us and first_us < legs[0].first_us):
        return Whereabouts(Sight.NEVER, 1.0)
    times_us = np.arange(began_us - frame_us - _STIR_US, began_us + 2 * _STEP_US, _STEP_US)
    foot = np.array([soldier.x_mm, soldier.y_mm])
    sights, missed_mm = zip(*(_at(track, foot, float(t), height_mm) for t in times_us), strict=True)
    cost = (np.array(missed_mm) / _MISSED_SIGMA_MM) ** 2 / 2 + stirring_cost(began_us, times_us, frame_us)
    best = int(np.argmin(cost))
    return Whereabouts(sights[best], float(np.exp(-cost[best])))


def _at(track: ShotTrack, foot: FloatArray, at_us: float, height_mm: float) -> tuple[Sight, float]:
    """Whether the shot was in sight at one moment, and how far it kept from a soldier at least, mm."""
    legs = track.legs
    past = [leg for leg in legs if leg.first_us <= at_us] or [legs[0]]
    last = past[-1]
    if at_us <= last.last_us:
        return Sight.SEEN, _missed(last, at_us, foot, height_mm)
    gone_ms = (at_us - last.last_us) / 1000.0
    here_mm = _missed(last, last.last_us, foot, np.inf) - _speed(last, last.last_us) * gone_ms
    if len(past) < len(legs):
        # From a soldier that it touched it came as fast as it is seen to fly on.
        after = legs[len(past)]
        left_ms = (after.first_us - at_us) / 1000.0
        there_mm = _missed(after, after.first_us, foot, np.inf) - _speed(after, after.first_us) * left_ms
        return Sight.BETWEEN, max(here_mm, there_mm, 0.0)
    above_mm = float(last.flight.at(at_us)[0, 2]) - height_mm - _OVER_HEAD_MM
    return Sight.LOST if track.lost_over_board else Sight.LEFT, max(here_mm, above_mm, 0.0)


def _missed(leg: Leg, at_us: float, foot: FloatArray, height_mm: float) -> float:
    """How far a flight is from a soldier at one moment."""
    x, y, z = leg.flight.at(at_us)[0]
    aside_mm = float(np.hypot(x - foot[0], y - foot[1])) - _REACH_MM
    return max(aside_mm, float(z) - height_mm - _OVER_HEAD_MM, 0.0)


def _speed(leg: Leg, at_us: float) -> float:
    """Speed over the board, m/s or mm/ms."""
    return float(np.hypot(*leg.flight.velocity_at(float(at_us))[:2]))

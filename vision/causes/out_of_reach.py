"""How far the shot, as it was seen, kept from a soldier when that one began to move.

Where the shot is in sight it is where it is seen. Out of sight it may have gone anywhere that its speed allows: from
where it was seen last, and on to where it is seen next; but from high above it needs as long to come down as it falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vision.causes.stirring import stirring_cost
from vision.outcome import Soldier
from vision.shot import Leg, ShotTrack
from vision.shot.shot_track import STRANGERS

__all__ = ["Sight", "Whereabouts", "find_whereabouts"]

FloatArray = NDArray[np.float64]

_REACH_MM = 20.0  # from the foot: arms, rifle and the shot's own radius
_OVER_HEAD_MM = 10.0  # heights are known so well
_STIR_US = 4_000  # one that is struck may be seen to move so much later
_STEP_US = 1_000
_MISSED_SIGMA_MM = 10.0
# How often it was not the shot that was followed, but lay 20 mm and more off its way: of 16 first flights of two sights 5,
# of 53 second flights slower than this 11 (mostly the head of one who falls), of 52 faster ones of two sights 4, of 330
# others 11.
_MISFOLLOWED, _MISFOLLOWED_DOUBTFUL = 0.03, 0.2
_SLOW_MPS = 2.0


class Sight(StrEnum):
    """Whether the shot was in sight at a moment."""

    SEEN = "seen"
    """It was, or before and after."""
    LOST = "lost"
    """It was not, and may have been over the board."""
    LEFT = "left"
    """It had left the board."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where the shot was when a soldier began to move."""

    sight: Sight
    fit: float
    """How well that goes with its having touched the soldier just then, 0 to 1."""
    misled: float = 0.0
    """How likely it was not the shot that was followed there."""


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
        return Whereabouts(Sight.LOST, 1.0)
    times_us = np.arange(began_us - frame_us - _STIR_US, began_us + 2 * _STEP_US, _STEP_US)
    foot = soldier.foot_mm
    missed_mm = np.zeros(len(times_us))
    sights = [Sight.SEEN] * len(times_us)
    misled = np.full(len(times_us), _MISFOLLOWED)
    misfollowed = [_misfollowed(leg, is_second=k == 1) for k, leg in enumerate(legs)]
    for i, (leg, after) in enumerate(zip(legs, (*legs[1:], None), strict=True)):
        in_sight = (times_us <= leg.last_us) & (times_us >= (leg.first_us if leg is not legs[0] else -np.inf))
        if in_sight.any():
            missed_mm[in_sight] = _missed(leg, times_us[in_sight], foot, height_mm)
            misled[in_sight] = misfollowed[i]
        unseen = np.flatnonzero(
            (times_us > leg.last_us) & (times_us < (np.inf if after is None else after.first_us))
        )
        if len(unseen):
            # What it struck since may have sent it up or down.
            as_it_flew = leg.last_us >= first_us
            missed_mm[unseen] = _missed_unseen(
                leg, after, times_us[unseen], foot, height_mm if as_it_flew else np.inf
            )
            misled[unseen] = max(misfollowed[i : i + 2])
            if after is None:
                for k in unseen:
                    sights[k] = Sight.LOST if track.lost_over_board else Sight.LEFT
    cost = (missed_mm / _MISSED_SIGMA_MM) ** 2 / 2 + stirring_cost(began_us, times_us, frame_us)
    best = int(np.argmin(cost))
    return Whereabouts(sights[best], float(np.exp(-cost[best])), float(misled[best]))


def _misfollowed(leg: Leg, *, is_second: bool) -> float:
    """How likely it is that a flight is not the shot's."""
    speed_mps = float(np.hypot(*leg.flight.velocity_at(float(leg.first_us))[:2]))
    doubtful = len(leg.streaks) <= STRANGERS or (is_second and speed_mps < _SLOW_MPS)
    return _MISFOLLOWED_DOUBTFUL if doubtful else _MISFOLLOWED


def _missed(leg: Leg, times_us: FloatArray, foot: FloatArray, height_mm: float) -> FloatArray:
    """How far a flight is from a soldier at each moment, mm."""
    points = leg.flight.at(times_us)
    aside_mm = np.hypot(points[:, 0] - foot[0], points[:, 1] - foot[1]) - _REACH_MM
    missed: FloatArray = np.maximum(np.maximum(aside_mm, points[:, 2] - height_mm - _OVER_HEAD_MM), 0.0)
    return missed


def _missed_unseen(
    leg: Leg, after: Leg | None, times_us: FloatArray, foot: FloatArray, height_mm: float
) -> FloatArray:
    """How far a shot out of sight keeps from a soldier at least, at each moment after a flight, mm."""
    missed_mm = _beyond(leg, leg.last_us, times_us - leg.last_us, foot)
    if after is not None:
        # From a soldier that it touched it came as fast as it is seen to fly on.
        return np.maximum(missed_mm, _beyond(after, after.first_us, after.first_us - times_us, foot))
    above_mm = leg.flight.at(times_us)[:, 2] - height_mm - _OVER_HEAD_MM
    missed: FloatArray = np.maximum(missed_mm, above_mm)
    return missed


def _beyond(leg: Leg, seen_us: int, apart_us: FloatArray, foot: FloatArray) -> FloatArray:
    """How far a soldier is beyond what a shot reaches in some time before or after it was seen, mm."""
    away_mm = float(_missed(leg, np.array([float(seen_us)]), foot, np.inf)[0])
    speed_mps = float(np.hypot(*leg.flight.velocity_at(float(seen_us))[:2]))
    beyond: FloatArray = np.maximum(away_mm - speed_mps * apart_us / 1000.0, 0.0)
    return beyond

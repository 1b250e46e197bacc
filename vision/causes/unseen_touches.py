"""What the shot may have touched where nobody saw it do so: who moved first tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from game.montecassino import Square
from vision.causes.stirring import earliest, first_to_stir
from vision.causes.touches import Course, Touch
from vision.causes.turn import STRIKE_REACH_MM
from vision.outcome import Soldier, Standing
from vision.shot import ShotTrack

__all__ = ["unseen_touches"]

_LED_ASTRAY = 0.1  # a way that was read wrongly leads anywhere
_LED_PAST_SIGMA_MM = 6.0  # of one who was struck, beyond where most are
_LONGEST_FLIGHT_US = 200_000
# How often the first soldier that a shot met was the first of all that it met: in 136 of 151 shots whose truth is known, of
# several makers' tables. Most of the others were seen to touch something; with 0.9 here, of 2,379 falls eleven more are in doubt.
_UNSEEN_FIRST = 0.97
# Per cosine of the turn to the next that it struck: of 78 shots of the twin that felled two, 61 had turned by less than 100
# degrees at the first.
_ONWARD = 0.6


def unseen_touches(
    track: ShotTrack,
    standing: Standing,
    stirred_us: Mapping[Square, int],
    frame_us: float,
    shot_from_mm: tuple[float, float],
    *,
    believed: bool = False,
) -> tuple[Course, ...]:
    """Accounts of a shot that was not seen to touch anything: it touched the first that moved, nearly always first.

    Of several that moved in one picture it touched that one likelier from which the others lie ahead.

    Parameters
    ----------
    track, standing, stirred_us, frame_us, shot_from_mm
        As for `vision.causes.contacts.find_contacts`.
    believed
        Whether the way that was seen is taken to be the shot's. Where it does not lead to the first that moved,
        something turned it.

    Returns
    -------
    Their probabilities add up to one; none where nobody moved.
    """
    if not stirred_us:
        return ()
    firsts = first_to_stir(track, stirred_us, frame_us) or earliest(stirred_us, frame_us)
    release_us = track.release_us
    if release_us is not None and min(stirred_us[s] for s in firsts) - release_us > _LONGEST_FLIGHT_US:
        return (Course((), 1.0),)
    courses = []
    there = {square: soldier for square in sorted(firsts) if (soldier := standing.at(square)) is not None}
    for square, soldier in there.items():
        time_us = float(stirred_us[square]) - frame_us / 2
        way = np.zeros(2)
        if track.found:
            velocity = track.legs[-1].flight.velocity_at(float(track.legs[-1].last_us))[:2]
            way = velocity / max(float(np.hypot(*velocity)), 1e-6)
        x_mm, y_mm = soldier.foot_mm - STRIKE_REACH_MM * way
        touch = Touch(square, False, time_us, (float(x_mm), float(y_mm), standing.height_mm / 2))
        before = Touch(None, False, time_us - frame_us / 2, touch.point_mm)
        near = _led_to(track, soldier, stirred_us[square], frame_us)
        onward = _flown_on(soldier, there.values(), shot_from_mm)
        courses += [
            Course((touch,), onward * _UNSEEN_FIRST * (near if believed else max(near, _LED_ASTRAY))),
            Course((before, touch), onward * (1 - _UNSEEN_FIRST) * max(near, _LED_ASTRAY)),
        ]
    total = sum(course.probability for course in courses)
    return tuple(replace(course, probability=course.probability / total) for course in courses)


def _flown_on(first: Soldier, others: Iterable[Soldier], shot_from_mm: tuple[float, float]) -> float:
    """How well a shot that struck one soldier first flies on to the others."""
    foot = first.foot_mm
    way = foot - shot_from_mm
    share = 1.0
    for other in others:
        if other is not first:
            ahead = other.foot_mm - foot
            share *= float(np.exp(_ONWARD * (ahead @ way) / (np.hypot(*ahead) * np.hypot(*way))))
    return share


def _led_to(track: ShotTrack, soldier: Soldier, stirred_us: int, frame_us: float) -> float:
    """How well the way that was seen before a soldier moved leads to it, if it goes on."""
    seen = [leg for leg in track.legs if leg.first_us < stirred_us]
    if not seen:
        return 1.0
    leg = seen[-1]
    since_us = min(float(leg.last_us), stirred_us - frame_us)
    times_us = np.arange(since_us, max(float(stirred_us), leg.last_us + frame_us), 1000.0)
    away = np.hypot(*(leg.flight.at(times_us)[:, :2] - [soldier.x_mm, soldier.y_mm]).T)
    nearest = int(np.argmin(away))
    spread = leg.fit.spread_at(float(times_us[nearest]))[0]
    variance = _LED_PAST_SIGMA_MM**2 + (spread[0, 0] + spread[1, 1]) / 2
    off = max(float(away[nearest]) - STRIKE_REACH_MM, 0.0) ** 2 / variance
    return float(np.exp(-off / 2))

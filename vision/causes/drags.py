"""Who may have knocked over whom.

A soldier that falls sweeps the strip from its foot to its head in the direction of its fall; one that is pushed sweeps the way that
it slid. It can push those whose feet it reaches, if they began to move after it did, and later by as long as the push needs to
arrive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from vision.outcome import Push, Standing, Toppling

__all__ = ["Drag", "find_drags"]

FloatArray = NDArray[np.float64]

_REACH_SIGMA_MM = 6.0
# Of 82 pushes of the twin the fastest came at 3.4 mm a ms; counted in pictures it may seem faster.
_FASTEST_MM_PER_MS = 4.0
_SHORT_FRAMES = 0.7
_EARLY_SIGMA_MS = 4.0
# A push a second later is one of others.
_LATE_US, _LATE_SIGMA_US = 300_000, 200_000
_LEAST_WEIGHT = 0.01


@dataclass(frozen=True, slots=True)
class Drag:
    """One soldier may have knocked over another."""

    by: Square
    fallen: Square
    weight: float
    """0 to 1: how well reach and times fit."""


def find_drags(
    topplings: Sequence[Toppling], pushes: Sequence[Push], standing: Standing, *, frame_us: float
) -> tuple[Drag, ...]:
    """Draw the graph of who may have knocked over whom.

    Parameters
    ----------
    topplings, pushes
        Who fell and who was pushed.
    standing
        Who stood where before, and the figures' size.
    frame_us
        Time between two pictures; the order of two that stirred in the same picture is not known.

    Returns
    -------
    Sorted by who fell; of one fall the likeliest first.
    """
    movers: tuple[Toppling | Push, ...] = (*topplings, *pushes)
    drags = []
    for fallen in topplings:
        there = fallen.soldier.foot_mm
        for mover in movers:
            later_us = fallen.began_us - mover.began_us
            if mover.soldier.square == fallen.soldier.square or later_us < 0:
                continue
            reach = _reach(mover, there, standing)
            gap_mm = float(np.hypot(*(there - mover.soldier.foot_mm)))
            weight = reach * _in_time(later_us, gap_mm, frame_us)
            if weight > _LEAST_WEIGHT:
                drags.append(Drag(mover.soldier.square, fallen.soldier.square, weight))
    return tuple(sorted(drags, key=lambda d: (d.fallen, -d.weight)))


def _reach(mover: Toppling | Push, there: FloatArray, standing: Standing) -> float:
    """How well a soldier that fell or slid reaches a foot."""
    start, both_mm, length_mm = mover.soldier.foot_mm, 2 * standing.foot_radius_mm, standing.height_mm
    if isinstance(mover, Push):
        return _near(_distance(there, start, np.array([mover.x_mm, mover.y_mm])) - both_mm)
    if mover.heading == (0.0, 0.0):
        return _near(float(np.hypot(*(there - start))) - length_mm - both_mm)
    head, rest = start + length_mm * np.array(mover.heading), np.array(mover.rest_mm)
    return max(_near(_distance(there, start, end) - both_mm) for end in (head, rest))


def _in_time(later_us: int, gap_mm: float, frame_us: float) -> float:
    """How well the time between two first motions fits a push."""
    early_ms = gap_mm / _FASTEST_MM_PER_MS - (later_us + _SHORT_FRAMES * frame_us) / 1000.0
    fit = float(np.exp(-((max(early_ms, 0.0) / _EARLY_SIGMA_MS) ** 2) / 2))
    fit *= float(np.exp(-((max(later_us - _LATE_US, 0) / _LATE_SIGMA_US) ** 2) / 2))
    return fit


def _near(away_mm: float) -> float:
    return float(np.exp(-((max(away_mm, 0.0) / _REACH_SIGMA_MM) ** 2) / 2))


def _distance(point: FloatArray, start: FloatArray, end: FloatArray) -> float:
    way = end - start
    along = float(np.clip((point - start) @ way / max(float(way @ way), 1e-9), 0.0, 1.0))
    return float(np.hypot(*(point - start - along * way)))

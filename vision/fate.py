"""Fell, or stands? What is seen of a soldier that is not where it was, weighed up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vision.resemblance import Resemblance
from vision.upright import Uprightness, read_weights

__all__ = ["Evidence", "chance_of_standing", "measures", "shift_mm"]

# Less than this tells nothing, or more no more.
_PART_ALIKE = 0.6
_PART_COVERED = 0.75
_COMPACT = 1.2
_MOST_LEFT = 4.0
_MOST_CROWD = 3
_MOST_SPREAD = 2.5
_MOST_ODDS = 6.0
_MOST_APART_MM = 20.0
# Likeness and uprightness each find a place within 2 mm or so, or they found two things.
_AGREE_MM = 8.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is seen of a soldier whose place looks otherwise than before."""

    same: float
    """Share of the figure that looks as before."""
    bare: float
    """Share of the figure where the bare board shows."""
    found: Resemblance
    """Where it looks most like itself, upright."""
    moved_mm: tuple[float, float]
    """How far that is from its old place, (x, y)."""
    tint: float
    """How far its mean colour is from the one there, in steps that tell for sure."""
    at_home: float
    """Correlation of colours at its own place, as it stood."""
    left: float
    """What lies around it and would not be seen if it stood there, as a share of its size."""
    size: float
    """How large what is new there in its colours is, as a share of its size."""
    spread: float
    """How long that is, as a share of how long it was upright."""
    crowd: int
    """How many more that do not stand plainly are near enough to lie in one heap with it."""
    upright: Uprightness
    """How much anything near looks like a figure on its feet."""


def shift_mm(evidence: Evidence) -> tuple[float, float]:
    """Give how far a soldier that stands was pushed, (x, y)."""
    upright = evidence.upright
    one, other = np.array(evidence.moved_mm), np.array(upright.moved_mm)
    if float(np.hypot(*(one - other))) < _AGREE_MM:
        one = (one + other) / 2
    elif upright.odds > 0:
        one = other
    return float(one[0]), float(one[1])


def measures(evidence: Evidence) -> tuple[float, ...]:
    """Give what is weighed, one number a weight."""
    found = evidence.found
    likeness = max(found.correlation, 0.0)
    return (
        evidence.same,
        evidence.bare,
        max(likeness - _PART_ALIKE, 0.0),
        max(found.covered - _PART_COVERED, 0.0),
        float(np.hypot(*evidence.moved_mm)) / 10,
        min(evidence.left, _MOST_LEFT),
        min(evidence.crowd, _MOST_CROWD),
        min(evidence.spread, _MOST_SPREAD),
        max(min(evidence.spread, _MOST_SPREAD) - _COMPACT, 0.0),
        float(np.clip(evidence.upright.odds, -_MOST_ODDS, _MOST_ODDS)),
        float(np.clip(evidence.upright.at_home, -_MOST_ODDS, _MOST_ODDS)) * evidence.same,
        min(float(np.hypot(*np.subtract(evidence.upright.moved_mm, evidence.moved_mm))), _MOST_APART_MM) / 10,
    )


def chance_of_standing(evidence: Evidence) -> float:
    """Probability that a soldier stands, pushed or half covered, rather than lies."""
    weights, offset = _weights()
    return float(1 / (1 + np.exp(-(np.array(measures(evidence)) @ weights + offset))))


@cache
def _weights() -> tuple[NDArray[np.float32], float]:
    kept = read_weights()
    return kept["measures"], float(kept["measures_bias"])

"""Fell, or stands? What is seen of a soldier that is not where it was, weighed up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from vision.falls.resemblance import Resemblance
from vision.falls.upright import Uprightness, read_weights

__all__ = ["NETWORK_MEASURES", "Evidence", "chance_of_standing", "has_left", "measures", "shift_mm"]

NETWORK_MEASURES = (7, 8)
"""Which of `measures` come from the network."""

# Less than this tells nothing, or more no more.
_PART_ALIKE = 0.6
_PART_COVERED = 0.75
_HOME_ALIKE = 0.5
_HALF_COVERED = 0.25
_MOST_CROWD = 3
_MOST_SPREAD = 2.5
_MOST_ODDS = 8.0
_MOST_APART_MM = 20.0
# Likeness and uprightness each find a place within 2 mm or so, or they found two things.
_AGREE_MM = 8.0
# Likeness is measured to a part of a pixel; the network looks every 2.25 mm. Of 11 pushes of the twin where both agree
# they were off by 0.6 and 2.5 mm, median.
_BY_LIKENESS = 0.8
_SAME_FIGURE = 0.6
_MOSTLY_SAME = 0.5
_NO_BARE = 0.06  # who left its place, even by 5 mm, left more of the board bare, or somebody fell across it
# So much its old place still looks like a soldier that stays there, half covered or in a shadow: 11 of 11 of the twin
# 0.24 or more, 11 of 12 that were pushed 0.22 or less.
_GONE = 0.2


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
    at_home: float
    """Correlation of colours at its own place, as it stood."""
    spread: float
    """How long what is new there in its colours is, as a share of how long it was upright."""
    crowd: int
    """How many more that do not stand plainly are near enough to lie in one heap with it."""
    upright: Uprightness
    """How much anything near looks like a figure on its feet."""


def has_left(evidence: Evidence) -> bool:
    """Say whether a soldier that stands is no longer where it stood, wherever it is now.

    Where most of it is as it was, what the rest differs by is a shadow, or whoever lies across it.
    """
    return evidence.at_home < _GONE and evidence.same < _MOSTLY_SAME


def shift_mm(evidence: Evidence) -> tuple[float, float]:
    """Give how far a soldier that stands was pushed, (x, y)."""
    is_itself = evidence.at_home > _SAME_FIGURE and (
        evidence.bare < _HALF_COVERED or evidence.same > _MOSTLY_SAME
    )
    if is_itself or (evidence.bare < _NO_BARE and not has_left(evidence)):
        return 0.0, 0.0
    upright = evidence.upright
    one, other = np.array(evidence.moved_mm), np.array(upright.moved_mm)
    if float(np.hypot(*(one - other))) < _AGREE_MM:
        one = _BY_LIKENESS * one + (1 - _BY_LIKENESS) * other
    elif upright.odds > 0:
        one = other
    return float(one[0]), float(one[1])


def measures(evidence: Evidence) -> tuple[float, ...]:
    """Give what is weighed, one number a weight."""
    found, upright = evidence.found, evidence.upright
    apart_mm = float(np.hypot(*np.subtract(upright.moved_mm, evidence.moved_mm)))
    return (
        evidence.same,
        evidence.bare,
        max(found.correlation - _PART_ALIKE, 0.0),
        max(found.covered - _PART_COVERED, 0.0),
        float(np.hypot(*evidence.moved_mm)) / 10,
        min(evidence.crowd, _MOST_CROWD),
        min(evidence.spread, _MOST_SPREAD),
        float(np.clip(upright.odds, -_MOST_ODDS, _MOST_ODDS)),
        min(apart_mm, _MOST_APART_MM) / 10,
        max(evidence.at_home - _HOME_ALIKE, 0.0),
        float(evidence.bare < _HALF_COVERED and evidence.same > _HALF_COVERED),
    )


def chance_of_standing(evidence: Evidence) -> float:
    """Probability that a soldier stands, pushed or half covered, rather than lies."""
    weights, offset = _weights()
    return float(1 / (1 + np.exp(-(np.array(measures(evidence)) @ weights + offset))))


@cache
def _weights() -> tuple[NDArray[np.float32], float]:
    kept = read_weights()
    return kept["measures"], float(kept["measures_bias"])

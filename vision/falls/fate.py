"""Fell, or stands? What is seen of a soldier that is not where it was, weighed up."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from vision.falls.resemblance import Resemblance
from vision.falls.stands_there import There
from vision.falls.upright import Uprightness

FloatArray = NDArray[np.float64]

__all__ = [
    "Evidence",
    "Followed",
    "chance_in_contest",
    "chance_of_standing",
    "measures",
    "odds_beside",
    "shift_mm",
]

# Less than this tells nothing, or more no more.
_PART_ALIKE = 0.6
_PART_COVERED = 0.75
_HALF_COVERED = 0.25
_MOST_SPREAD = 2.5
_MOST_ODDS = 8.0
# Who stands elsewhere is about as long as he was, where he can be seen: of ten that the twin's shots pushed eight were
# 0.75 to 1.3 times as long, of 183 that they felled two.
_SHORTEST, _LONGEST, _LEAST_SEEN = 0.5, 1.6, 0.65
# Who has left hardly any of his place bare and looks as before over so much of it, or most like himself no farther from there, stands
# there still, and is half covered if anything. However bare his place, three more of 148 whom shots pushed would be told to stand
# where they had; were none told so, eight more of 121 who stood there would be told as pushed.
_THERE_STILL, _THERE_STILL_MM = 0.5, 5.0
# Likeness and uprightness each find a place within 2 mm or so, or they found two things, of which the upright one is
# believed: of 38 whom the twin's shots pushed and 39 half covered ones that stood where they had, all are told rightly.
_AGREE_MM = 5.0
_BY_LIKENESS = 0.6
# Likeness looks for this very figure, the network for any on its feet. Where both find one in the same place, and likeness
# plainly, he rather than another stands there: so it was with 591 of 592 on 780 tables in disorder. Whether anybody does a closer look
# tells as well without.
_PLAINLY_ALIKE, _SAME_PLACE_MM = (0.78, 0.86), (2.0, 4.0)
_SEEN_TWICE_ODDS = 3.0
# The network finds nobody where it says that nobody is upright: of 71 on 60 tables in disorder and after 120 shots for whom
# both agree, six have less than 0, and one of these stands.
_FOUND_UPRIGHT = (-2.0, 0.0)
# Of those that fell half seem to throw a shadow where they might stand, another's or their own dark one; of those that stand
# nearly all. Of 589 after shots ten were taken for the other without it, six with it; of 3,805 on tables in disorder
# 321 and 295. Each of these, and shots of tables that were drawn by other means, ask for 2.25 to 3.75.
_SHADOW_ODDS, _WHOLE_SHADOW, _USUAL_SHADOW = 3.5, 0.8, 0.7
# A shadow that slid along looks as it did: of 29 who stand and had been pushed half are alike by 0.88 and more, of those that fell
# and are not told plainly one in ten. The network knows most of that: on 130 tables in disorder this takes 1.5 % off what is not
# known yet, with 1 to 3 much the same; of 255 shots' falls and pushes half as many are in doubt, 10 instead of 17.
_ALIKE_ODDS, _USUAL_ALIKE = 2.0, 0.7
# Where it hardly looks like itself in the end it may have been followed to where it lies.
_LED_ALIKE = (0.55, 0.65)
# A figure that lies is seen at full length: about twice as long as from above, and hardly larger. Of 109 that were so long and thin,
# of 968 whose place looked otherwise, two stood: on films of the twin and of others, half of them chosen because somebody was
# pushed.
_LONG, _THIN = (1.6, 1.9), (1.1, 1.3)
_AT_LENGTH_ODDS = -3.0
# A closer look at where it may stand knows most of the rest as well: that counts for no more than so much beside it. Half of those whom
# it learnt from stand, on tables in disorder, and after shots a tenth do. Of 443 that do not stand plainly after 296 shots of the twin
# and of another renderer ten are told wrongly so, by either alone 14 and 43; their mean log loss is 0.101, and 0.117 were it believed
# by as much more as here by less.
_MOST_BESIDE, _RARER = 3.0, 0.5
# Where two seem to stand in one place, somebody stands there, and looks lead to whom: of six such places on 340 films those who
# stood there were followed to within 2 mm, but for one to 10 mm, and the others to 5, 17 and 33 to 65 mm off.
_CONTEST_MM, _CONTEST_ODDS = (2.0, 4.0, 8.0, 30.0), (2.0, 0.0, -1.3, -3.0)


@dataclass(frozen=True, slots=True)
class Followed:
    """A soldier followed from picture to picture by its looks, upright."""

    moved_mm: tuple[float, float]
    """How far from its old place it was seen last, (x, y)."""
    correlation: float
    """Of its colours there with those that it had."""


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
    spread: float
    """How long what is new there in its colours is, as a share of how long it was upright."""
    area: float
    """How large that is, as a share of how large it was upright."""
    upright: Uprightness
    """How much anything near looks like a figure on its feet."""
    shadow: float | None
    """How much of its shadow is seen there, if it stands: 0 to 1; ``None`` where that cannot be seen."""
    shadow_alike: float | None
    """Correlation of what is seen of its shadow there with what it was; ``None`` likewise."""
    there: There | None = None
    """Where it is likeliest to stand, looked at more closely; ``None`` where that was not done."""


def shift_mm(evidence: Evidence) -> tuple[float, float]:
    """Give how far from its old place a soldier that stands is now, (x, y)."""
    near = float(np.hypot(*evidence.moved_mm)) <= _THERE_STILL_MM
    if evidence.bare < _HALF_COVERED and (evidence.same >= _THERE_STILL or near):
        return 0.0, 0.0
    return _at_first_sight_mm(evidence) if evidence.there is None else evidence.there.moved_mm


def _at_first_sight_mm(evidence: Evidence) -> tuple[float, float]:
    """Where it is, were it not looked at more closely."""
    one, other = np.array(evidence.moved_mm), np.array(evidence.upright.moved_mm)
    if float(np.hypot(*(one - other))) < _AGREE_MM:
        other = _BY_LIKENESS * one + (1 - _BY_LIKENESS) * other
    return float(other[0]), float(other[1])


def measures(evidence: Evidence) -> tuple[float, ...]:
    """Give what is weighed, one number a weight."""
    found = evidence.found
    # Where nothing is like it, likeness tells no place either.
    moved_mm = evidence.moved_mm if found.correlation > _PART_ALIKE else _at_first_sight_mm(evidence)
    return (
        evidence.same,
        max(found.correlation - _PART_ALIKE, 0.0),
        max(found.covered - _PART_COVERED, 0.0),
        float(np.hypot(*moved_mm)) / 10,
        min(evidence.spread, _MOST_SPREAD),
        float(np.clip(evidence.upright.odds, -_MOST_ODDS, _MOST_ODDS)),
        _as_long_as_before(evidence),
    )


def _as_long_as_before(evidence: Evidence) -> float:
    """How nearly what is seen of it elsewhere is as long as it was upright, 0 to 1."""
    if evidence.found.covered < _LEAST_SEEN:
        return 0.0
    share = np.interp(evidence.spread, (_SHORTEST, 1.0, _LONGEST), (0.0, 1.0, 0.0))
    return float(share)


def _at_full_length(evidence: Evidence) -> float:
    """How plainly what is seen there is one figure seen from its side, 0 to 1."""
    if evidence.area <= 0:
        return 0.0
    long = np.interp(evidence.spread, _LONG, (0.0, 1.0))
    thin = np.interp(evidence.spread / evidence.area, _THIN, (0.0, 1.0))
    return float(long * thin)


def chance_of_standing(evidence: Evidence) -> float:
    """Probability that a soldier stands, pushed or half covered, rather than lies."""
    odds = odds_beside(evidence)
    if evidence.there is not None:
        odds = float(np.clip(odds, -_MOST_BESIDE, _MOST_BESIDE)) + evidence.there.odds - _RARER
    return _chance(odds)


def chance_in_contest(evidence: Evidence, followed: Followed) -> float:
    """Probability that a soldier stands, were nobody else to stand in his place, to be held against that of another who may.

    However plain the last picture is, it is plain of both; so where their looks lead counts in full. So do their looks: that
    somebody stands there a closer look says of both.
    """
    odds = odds_beside(evidence) + _SEEN_TWICE_ODDS * _seen_twice(evidence)
    return _chance(odds + _followed_odds(evidence, followed))


def odds_beside(evidence: Evidence) -> float:
    """Log-odds that a soldier stands by what the last picture shows, beside the closer look at where it may stand."""
    weights, offset = _weights()
    odds = float(np.array(measures(evidence)) @ weights) + offset
    odds += _SHADOW_ODDS * _shadow_over_usual(evidence) + _ALIKE_ODDS * _alike_over_usual(evidence)
    return odds + _AT_LENGTH_ODDS * _at_full_length(evidence)


def _chance(odds: float) -> float:
    """Probability of log-odds."""
    return float(1 / (1 + np.exp(-odds)))


def _seen_twice(evidence: Evidence) -> float:
    """How plainly likeness and uprightness, each by itself, find it whole in one place, 0 to 1."""
    apart_mm = float(np.hypot(*np.subtract(evidence.moved_mm, evidence.upright.moved_mm)))
    alike = np.interp(evidence.found.correlation, _PLAINLY_ALIKE, (0.0, 1.0))
    together = np.interp(apart_mm, _SAME_PLACE_MM, (1.0, 0.0))
    upright = np.interp(evidence.upright.odds, _FOUND_UPRIGHT, (0.0, 1.0))
    return float(alike * together * upright * (evidence.found.covered > _PART_COVERED))


def _shadow_over_usual(evidence: Evidence) -> float:
    """How much more of its shadow is seen where it may stand than tells nothing, as a share of all; negative for less."""
    if evidence.shadow is None:
        return 0.0
    return float(np.interp(evidence.shadow, (0.0, _WHOLE_SHADOW), (0.0, 1.0))) - _USUAL_SHADOW


def _alike_over_usual(evidence: Evidence) -> float:
    """How much more its shadow looks as it did than tells nothing; negative for less."""
    if evidence.shadow_alike is None:
        return 0.0
    return max(evidence.shadow_alike, 0.0) - _USUAL_ALIKE


def _followed_odds(evidence: Evidence, followed: Followed) -> float:
    """Log-odds by how near to where it may stand its looks lead."""
    off = float(np.hypot(*np.subtract(followed.moved_mm, shift_mm(evidence))))
    odds = float(np.interp(off, _CONTEST_MM, _CONTEST_ODDS))
    return odds * float(np.interp(followed.correlation, _LED_ALIKE, (0.0, 1.0))) if odds > 0 else odds


@cache
def _weights() -> tuple[FloatArray, float]:
    kept = json.loads((resources.files("vision.falls") / "fate.json").read_text(encoding="utf-8"))
    return np.array(kept["weights"]), float(kept["offset"])

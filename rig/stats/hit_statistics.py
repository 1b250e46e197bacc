"""What the shots of the log add up to: hits, misses, casualties, and what another casualty option would have given.

A shot counts once it has left the cannon. *Hit* means that the soldier on the square aimed at fell, and that the shot
itself felled it, directly or by ricochet. One that another soldier knocked over is no hit, and neither is one that
was pushed and still stands. Where the causes that the camera leaves open lie on both sides of that line, the shot is
in *doubt*: counted, but neither as a hit nor as a miss. Where nobody stood on the square, or the shot was not read,
there is no rate to add to.

*Any enemy* asks less: that some soldier of the shooter's enemy fell by the shot, dragged ones included, wherever it
stood.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import NormalDist
from types import MappingProxyType

from calibration.aim import Strip
from game.montecassino import (
    BOARD_FILES,
    BOARD_ROWS,
    Cause,
    JudgeError,
    Option,
    Position,
    PositionError,
    Side,
    Square,
    SquareError,
    Verdict,
    counts,
)
from rig.log import Decision, Fall, Fired, LogError, Session, Shot, ShotLog
from rig.stats.hit_view import By
from rig.verdict.judging import ReadShot, last_reading

__all__ = [
    "Losses",
    "Outcome",
    "Rate",
    "ShotFacts",
    "Statistics",
    "Tally",
    "shot_facts",
    "statistics_of",
    "tally",
    "tally_by",
    "wilson",
]

_CONFIDENCE = 0.95
_DISTANCE_BIN_MM = 100
_DWELL_EDGES_S = (0, 1, 2, 5, 10, 15, 20, 30)
_SHOTS_BIN = 10
_NOT_KNOWN = "not known"

_FELLED = frozenset({Cause.DIRECT, Cause.RICOCHET})
_CAUSED = _FELLED | {Cause.DRAGGED}


class Outcome(StrEnum):
    """What became of what the shot was fired at."""

    HIT = "hit"
    MISS = "miss"
    DOUBT = "doubt"
    NOBODY = "nobody"
    """Nobody stood on the square aimed at."""
    UNREAD = "unread"
    """The shot was not read from its recording."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Soldiers that leave, as the shooter counts them."""

    enemy: int = 0
    own: int = 0
    doubts: int = 0
    """Soldiers of either side whose commander would have to decide."""

    def __add__(self, other: Losses) -> Losses:
        return Losses(self.enemy + other.enemy, self.own + other.own, self.doubts + other.doubts)


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of shots with its interval of 95 %."""

    value: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class ShotFacts:
    """What the statistics take from one shot."""

    shot_id: int
    group: Mapping[By, tuple[float, str]]
    """Its group by each view: a number to sort by, and its name."""
    at_target: Outcome
    any_enemy: Outcome
    """Never `NOBODY`."""
    losses: Losses | None
    """By the verdict that stands, decisions of the commanders included; None: there is no verdict."""
    under: Mapping[Option, Losses] | None
    """What the same falls give under each option, with what commanders said; None: they cannot be judged again."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What some shots add up to."""

    name: str
    shots: int
    at_target: Mapping[Outcome, int]
    rate: Rate | None
    """Of hits at the target among hits and misses; None: there are neither."""
    any_enemy: Mapping[Outcome, int]
    any_enemy_rate: Rate | None
    losses: Losses
    """By verdicts that stand."""
    unjudged: int
    """Shots without a verdict; they add no losses."""
    under: Mapping[Option, Losses]
    not_judged_again: int
    """Shots missing from `under`."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a log has to count."""

    facts: tuple[ShotFacts, ...]
    """Of each shot that left the cannon."""
    uncertain: int
    """Shots that may have left; they are counted nowhere else."""
    not_fired: int


def wilson(hits: int, shots: int) -> Rate | None:
    """Return a rate with its interval, or None for no shots.

    The score interval of E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22 (1927) 209. Of the intervals for few trials L. D. Brown, T. T. Cai and
    A. DasGupta ("Interval estimation for a binomial proportion", Statistical Science 16 (2001) 101) recommend this
    one and Jeffreys's; this one asks for no prior, and never shrinks to a point where all shots hit or all miss.
    """
    if shots == 0:
        return None
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    share = hits / shots
    middle = (share + z * z / (2 * shots)) / (1 + z * z / shots)
    half = z * math.sqrt(share * (1 - share) / shots + (z / (2 * shots)) ** 2) / (1 + z * z / shots)
    # At the ends rounding must not lead past them.
    return Rate(
        share, max(middle - half, 0.0) if hits else 0.0, min(middle + half, 1.0) if hits < shots else 1.0
    )


def statistics_of(log: ShotLog) -> Statistics:
    """Read everything that a log has to count."""
    shots = log.shots()
    # Read after the shots: of each of them the session was begun before, even where a rig fires meanwhile.
    sessions = {session.session_id: session for session in log.sessions()}
    numbers: dict[int, int] = {}
    facts = []
    for shot in shots:
        if shot.fired is Fired.YES:
            numbers[shot.session_id] = numbers.get(shot.session_id, 0) + 1
            facts.append(shot_facts(shot, sessions[shot.session_id], numbers[shot.session_id]))
    uncertain = sum(shot.fired is Fired.UNCERTAIN for shot in shots)
    return Statistics(tuple(facts), uncertain, len(shots) - len(facts) - uncertain)


def shot_facts(shot: Shot, session: Session, number: int) -> ShotFacts:
    """Take from a shot what is counted; `number` says which of its session's fired shots it is, from 1."""
    return ShotFacts(
        shot_id=shot.shot_id,
        group=MappingProxyType({by: named(shot, session, number) for by, named in _GROUPS.items()}),
        at_target=_at_target(shot),
        any_enemy=_any_enemy(shot),
        losses=_losses(shot),
        under=_under(shot),
    )


def tally(name: str, facts: Iterable[ShotFacts]) -> Tally:
    """Add shots up."""
    counted = tuple(facts)
    at_target = {outcome: sum(each.at_target is outcome for each in counted) for outcome in Outcome}
    any_enemy = {outcome: sum(each.any_enemy is outcome for each in counted) for outcome in Outcome}
    judged = [each.losses for each in counted if each.losses is not None]
    again = [each.under for each in counted if each.under is not None]
    return Tally(
        name=name,
        shots=len(counted),
        at_target=MappingProxyType(at_target),
        rate=_rate(at_target),
        any_enemy=MappingProxyType(any_enemy),
        any_enemy_rate=_rate(any_enemy),
        losses=sum(judged, Losses()),
        unjudged=len(counted) - len(judged),
        under=MappingProxyType(
            {option: sum((each[option] for each in again), Losses()) for option in Option}
        ),
        not_judged_again=len(counted) - len(again),
    )


def tally_by(by: By, facts: Sequence[ShotFacts]) -> tuple[Tally, ...]:
    """Add shots up group by group, the groups in their own order."""
    groups = sorted({each.group[by] for each in facts})
    return tuple(tally(group[1], (each for each in facts if each.group[by] == group)) for group in groups)


def _rate(outcomes: Mapping[Outcome, int]) -> Rate | None:
    return wilson(outcomes[Outcome.HIT], outcomes[Outcome.HIT] + outcomes[Outcome.MISS])


def _at_target(shot: Shot) -> Outcome:
    if not shot.analyses:
        return Outcome.UNREAD
    fallen = next((fall for fall in shot.analyses[-1].falls if fall.square == shot.planned.target), None)
    if fallen is not None:
        return _within(fallen, _FELLED)
    if shot.planned.position is not None:
        try:
            position = Position.parse(shot.planned.position)
            if Square.parse(shot.planned.target) not in position.soldiers:
                return Outcome.NOBODY
        except (PositionError, SquareError):
            # An old log may hold what today's rules do not read: take it that somebody stood there.
            return Outcome.MISS
    return Outcome.MISS


def _any_enemy(shot: Shot) -> Outcome:
    if not shot.analyses:
        return Outcome.UNREAD
    outcomes = {_within(fall, _CAUSED) for fall in shot.analyses[-1].falls if fall.side != shot.planned.side}
    for outcome in (Outcome.HIT, Outcome.DOUBT):
        if outcome in outcomes:
            return outcome
    return Outcome.MISS


def _within(fall: Fall, causes: frozenset[Cause]) -> Outcome:
    """Say whether a fall has one of some causes, as far as its possible causes tell."""
    answers = {cause in causes for cause in fall.causes}
    if len(answers) > 1:
        return Outcome.DOUBT
    return Outcome.HIT if True in answers else Outcome.MISS


def _losses(shot: Shot) -> Losses | None:
    verdict = shot.verdict
    if verdict is None or not shot.analyses:
        return None
    return _count(shot, verdict.casualties, len(shot.pending))


def _under(shot: Shot) -> Mapping[Option, Losses] | None:
    losses = {}
    try:
        read = last_reading(shot)
        for option in Option:
            verdict = _judge_under(option, shot, read)
            losses[option] = _count(shot, map(str, verdict.casualties), len(verdict.undecided))
    except (LogError, JudgeError, PositionError, SquareError):
        # No position or no analysis was kept, or they do not fit each other: there is nothing to judge.
        return None
    return MappingProxyType(losses)


def _judge_under(option: Option, shot: Shot, read: ReadShot) -> Verdict:
    """Judge a shot as if an option had been agreed, with what commanders said, as far as that decides its doubts."""
    undecided = read.judge(option, {})
    said = {doubt.square: doubt.decision for doubt in shot.doubts if doubt.decision is not None}
    played = Option(shot.planned.option)
    decisions = {
        str(doubt.square): leaves
        for doubt in undecided.doubts
        if str(doubt.square) in said
        and (leaves := _leaves_under(option, played, said[str(doubt.square)], doubt.between)) is not None
    }
    if not decisions:
        return undecided
    try:
        return read.judge(option, decisions)
    except JudgeError:
        # Of several doubts option iii has exactly one leave (C8), and under the option played none or more did.
        return undecided


def _leaves_under(
    option: Option, played: Option, decision: Decision, between: Sequence[Cause]
) -> bool | None:
    """Say what a decision under the option played says under another one; None: not whether the soldier leaves."""
    if option is played:
        return decision.leaves
    if decision.cause is not None:
        causes = [cause for cause in between if cause == decision.cause]
    else:
        causes = [cause for cause in between if counts(cause, played) is decision.leaves]
    answers = {counts(cause, option) for cause in causes}
    return answers.pop() if len(answers) == 1 else None


def _count(shot: Shot, casualties: Iterable[str], doubts: int) -> Losses:
    # A later reading may see fewer falls than the one that the verdict is on.
    sides = {fall.square: fall.side for analysis in shot.analyses for fall in analysis.falls}
    lost = [sides[square] for square in casualties if square in sides]
    own = sum(side == shot.planned.side for side in lost)
    return Losses(len(lost) - own, own, doubts)


def _by_target(shot: Shot, _session: Session, _number: int) -> tuple[float, str]:
    try:
        return float(Square.parse(shot.planned.target).index), shot.planned.target
    except SquareError:
        return math.inf, shot.planned.target


def _by_distance(shot: Shot, session: Session, _number: int) -> tuple[float, str]:
    distance_mm = _distance_mm(shot, session)
    if distance_mm is None:
        return math.inf, _NOT_KNOWN
    first_mm = int(distance_mm // _DISTANCE_BIN_MM) * _DISTANCE_BIN_MM
    return float(first_mm), f"{first_mm} to {first_mm + _DISTANCE_BIN_MM} mm"


def _distance_mm(shot: Shot, session: Session) -> float | None:
    """Return how far the point aimed at lay from the pivot, over the ground, by the settings of the session."""
    square_mm, offset_mm = session.number("board", "square_mm"), session.number("cannon", "strip_offset_mm")
    if shot.aim is None or square_mm is None or offset_mm is None:
        return None
    side = Side(shot.planned.side)
    strip = Strip.of_side(
        side, BOARD_FILES * square_mm / 1000, BOARD_ROWS * square_mm / 1000, offset_mm / 1000
    )
    x_mm, y_mm, _ = shot.aim.target_mm
    right_m, ahead_m = strip.from_board(x_mm / 1000, y_mm / 1000)
    return math.hypot(1000 * right_m - shot.aim.traverse_mm, 1000 * ahead_m)


def _by_option(shot: Shot, _session: Session, _number: int) -> tuple[float, str]:
    return float(len(shot.planned.option)), shot.planned.option


def _by_session(shot: Shot, _session: Session, _number: int) -> tuple[float, str]:
    return float(shot.session_id), str(shot.session_id)


def _by_dwell(shot: Shot, _session: Session, _number: int) -> tuple[float, str]:
    dwell_s = shot.dwell_s
    if dwell_s is None:
        return math.inf, _NOT_KNOWN
    for first_s, last_s in pairwise(_DWELL_EDGES_S):
        if dwell_s < last_s:
            return float(first_s), f"{first_s} to {last_s} s"
    return float(_DWELL_EDGES_S[-1]), f"{_DWELL_EDGES_S[-1]} s and more"


def _by_shot(_shot: Shot, _session: Session, number: int) -> tuple[float, str]:
    first = (number - 1) // _SHOTS_BIN * _SHOTS_BIN + 1
    return float(first), f"{first} to {first + _SHOTS_BIN - 1}"


_GROUPS: Mapping[By, Callable[[Shot, Session, int], tuple[float, str]]] = MappingProxyType(
    {
        By.TARGET: _by_target,
        By.DISTANCE: _by_distance,
        By.OPTION: _by_option,
        By.SESSION: _by_session,
        By.DWELL: _by_dwell,
        By.SHOT: _by_shot,
    }
)

"""Why each soldier fell: touched by the shot before anything else, after something else, or knocked over by another.

Each account of the shot's way (`vision.causes.contacts`) is held against all falls at once. A soldier that the shot
touched just before it began to move fell by the shot, directly where that was the first touch of all, else by
ricochet. One that the shot did not touch was dragged, where another soldier fell or slid against it before
(`vision.causes.drags`). Of those that fell later it also tells how soon, where and which way they did
(`vision.causes.followers`), and whether the shot can have been there (`vision.causes.out_of_reach`). An account that leaves
falls unexplained loses weight; what remains, summed over the accounts, is how likely each cause is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Cause, Square
from vision.causes.drags import Drag, find_drags
from vision.causes.followers import chance_of_ricochet, measures
from vision.causes.grounds import grounds_of, with_others
from vision.causes.out_of_reach import Sight, Whereabouts, find_whereabouts
from vision.causes.seen import FallSeen, Follower, ShotSeen, before_release
from vision.causes.stirring import stirring_cost
from vision.causes.touches import Course
from vision.outcome import Push, Toppling
from vision.shot import ShotTrack
from vision.shot.shot_track import STRANGERS

__all__ = ["POSSIBLE_SHARE", "FallCause", "Knock", "allow_for_standing", "explain"]

FloatArray = NDArray[np.float64]

# How well a cause explains a fall. Where the shot touched the soldier its times tell; these are for the rest, from the likelier to the
# stranger. The first that moved was hardly felled by anything but the shot: directly, or by ricochet where it is known to have
# touched something before.
_UNSEEN_LIKELY = 0.3
_UNLIKELY = 0.01  # of 121 that moved later than others one had been struck before all of them
_FAR_FETCHED = 0.001
_COME_BACK = 0.05  # what has left the board hardly strikes anybody, near as it may have been
# How much likelier a ricochet is where the shot was seen to touch the soldier. Of 184 that others pushed over none seemed touched by
# the shot in time, of 106 ricochets two thirds did.
_STRUCK_SEEN = 3.0
_LEAST_KNOCK = 0.01  # less likely arrows of the graph are left out
_STEP_US = 500.0
POSSIBLE_SHARE = 0.12
"""Causes less likely than this count as excluded. Of 466 filmed shots, each judged by its own option, 4 verdicts are then wrong
without a doubt, and 16 have one, 5 of them rightly; with 0.2 they are 5 and 8, with 0.06 they are 3 and 33, 6 of them rightly."""


@dataclass(frozen=True, slots=True)
class Knock:
    """Somebody fell because of something: one arrow of the graph of who fell onto whom."""

    by: Square | None
    """The soldier that fell or slid against it; ``None`` for the shot."""
    fallen: Square
    """Who fell of it."""
    probability: float
    """How likely it was this; those of one fall add up to one at most."""


@dataclass(frozen=True, slots=True)
class FallCause:
    """The cause of one fall."""

    toppling: Toppling
    cause: Cause
    """The likeliest, if it fell and only one of a shot's falls is direct."""
    confidence: float
    """Its probability."""
    possible: tuple[Cause, ...]
    """Every cause that is not excluded: `cause`, then the likeliest first; more than one is a doubt."""
    probabilities: Mapping[Cause, float]
    knocks: tuple[Knock, ...]
    """What may have felled it, the likeliest first."""
    grounds: str
    """What speaks for the likeliest, in plain words."""
    evidence: str
    """One line in plain words: the grounds, and what else it may have been."""

    @property
    def held(self) -> bool:
        """Whether a guard leaves open that something else felled it, which the fall itself does not show."""
        return Cause.OTHER in self.possible and self.probabilities[Cause.OTHER] < POSSIBLE_SHARE

    @property
    def dragged_by(self) -> Square | None:
        """Who most likely knocked it over, where it was dragged."""
        if self.cause is not Cause.DRAGGED:
            return None
        return next((knock.by for knock in self.knocks if knock.by is not None), None)


def explain(topplings: Sequence[Toppling], pushes: Sequence[Push], shot: ShotSeen) -> tuple[FallCause, ...]:
    """Find the cause of each fall.

    Parameters
    ----------
    topplings, pushes
        Who fell and who was pushed.
    shot
        What was seen of the shot.

    Returns
    -------
    One cause for each toppling, in their order. At most one is direct.
    """
    drags = find_drags(topplings, pushes, shot.standing, frame_us=shot.frame_us)
    movers: tuple[Toppling | Push, ...] = (*topplings, *pushes)
    first_us = min((mover.began_us for mover in movers), default=0)
    seen = [_seen_of(t, movers, drags, shot, first_us) for t in topplings]
    courses = shot.contacts.courses or (Course((), 1.0),)
    totals = {t.soldier.square: dict.fromkeys(Cause, 0.0) for t in topplings}
    everything = 0.0
    for course in courses:
        shares = {}
        weight = course.probability
        for each in seen:
            ways = _ways(each, course, first_us, shot)
            explained = sum(ways.values())
            weight *= explained
            shares[each.toppling.soldier.square] = {cause: way / explained for cause, way in ways.items()}
        everything += weight
        for square, causes in shares.items():
            for cause, share in causes.items():
                totals[square][cause] += weight * share
    likely = [
        {cause: total / everything for cause, total in totals[each.toppling.soldier.square].items()}
        for each in seen
    ]
    direct = _the_direct(likely)
    instead = _struck_instead(likely, direct)
    return tuple(
        _conclude(
            each,
            probabilities,
            drags,
            shot,
            direct=None if direct is None else seen[direct],
            may_be_direct=k == instead,
        )
        for k, (each, probabilities) in enumerate(zip(seen, likely, strict=True))
    )


def allow_for_standing(fall: FallCause, chance: float) -> FallCause:
    """Give a fall that may be none: so likely its cause is `Cause.OTHER`, which counts under no option.

    Parameters
    ----------
    fall
        As if it were sure that the soldier fell.
    chance
        That it stands all the same.
    """
    probabilities = {cause: (1 - chance) * share for cause, share in fall.probabilities.items()}
    evidence = with_others(fall.grounds, fall.possible, probabilities)
    probabilities[Cause.OTHER] += chance
    open_causes = set(fall.possible)
    if chance >= POSSIBLE_SHARE:
        open_causes.add(Cause.OTHER)
        evidence += f"; it may have been pushed and stand ({100 * chance:.0f} %)"
    return replace(
        fall,
        confidence=probabilities[fall.cause],
        possible=_told_first(fall.cause, open_causes, probabilities),
        probabilities=probabilities,
        evidence=evidence,
    )


def _after_another(toppling: Toppling, course: Course) -> bool:
    """Whether the shot touched another soldier before it can have touched this one."""
    for touch in course.touches:
        if touch.square == toppling.soldier.square or touch.time_us > toppling.began_us:
            return False
        if touch.square is not None:
            return True
    return False


def _seen_of(
    toppling: Toppling,
    movers: Sequence[Toppling | Push],
    drags: Sequence[Drag],
    shot: ShotSeen,
    first_us: int,
) -> FallSeen:
    measured = measures(
        toppling,
        movers,
        drags,
        shot.standing,
        shot.track,
        frame_us=shot.frame_us,
        shot_from_mm=shot.shot_from_mm,
    )
    follower = None
    if measured is not None:
        there = find_whereabouts(
            shot.track,
            toppling.soldier,
            toppling.began_us,
            height_mm=shot.standing.height_mm,
            frame_us=shot.frame_us,
            first_us=first_us,
        )
        follower = Follower(chance_of_ricochet(measured), there)
    return FallSeen(toppling, follower)


def _ways(seen: FallSeen, course: Course, first_us: int, shot: ShotSeen) -> dict[Cause, float]:
    """How well each cause explains a fall under one account of the shot's way."""
    toppling, frame_us = seen.toppling, shot.frame_us
    if before_release(toppling, shot.track, frame_us):
        return {Cause.OTHER: 1.0}
    touched = _touched(toppling, course, shot)
    follower = seen.follower
    if follower is None:
        return _ways_of_first(seen, course, touched, shot)
    ways = dict.fromkeys(Cause, 0.0)
    ways[Cause.OTHER] = _FAR_FETCHED
    if touched is None:
        ways[Cause.RICOCHET] = follower.ricochet * _unseen(follower.whereabouts)
        ways[Cause.DRAGGED] = 1 - follower.ricochet
        if toppling.began_us < first_us + frame_us / 2 and not _after_another(toppling, course):
            ways[Cause.DIRECT] = _UNSEEN_LIKELY
        else:
            ways[Cause.DIRECT] = _UNLIKELY * follower.ricochet
        return ways
    first, fit = touched
    # What it touched when others had moved already it did not touch first; when it did is told to half a picture.
    if first == 0 and course.touches[0].time_us <= first_us + frame_us / 2:
        ways[Cause.DIRECT] = max(fit, _UNLIKELY)
    else:
        ways[Cause.RICOCHET] = max(fit, _UNLIKELY) * _STRUCK_SEEN * follower.ricochet
    ways[Cause.DRAGGED] = (1 - follower.ricochet) * max(1 - fit, _UNLIKELY)
    return ways


def _ways_of_first(
    seen: FallSeen, course: Course, touched: tuple[int, float] | None, shot: ShotSeen
) -> dict[Cause, float]:
    """How well each cause explains the fall of the first that moved, the only one in its picture."""
    track = shot.track
    if touched is not None:
        first, fit = touched
        cause = Cause.DIRECT if first == 0 else Cause.RICOCHET
    else:
        fit = _UNSEEN_LIKELY
        before = any(
            t.time_us < seen.toppling.began_us and (t.on_board or t.square is not None)
            for t in course.touches
        )
        cause = Cause.RICOCHET if before else Cause.DIRECT
        if not before:
            fit *= _in_time(seen.toppling, track, shot.frame_us)
    ways = dict.fromkeys(Cause, _UNLIKELY if touched is None else _FAR_FETCHED)
    ways[Cause.OTHER] = _FAR_FETCHED if track.found else _UNLIKELY
    ways[cause] = max(fit, _UNLIKELY)
    return ways


def _in_time(toppling: Toppling, track: ShotTrack, frame_us: float) -> float:
    """How well a soldier stirred when the shot came by, if it flew on as it was seen first."""
    if not track.found or len(track.legs[0].streaks) <= STRANGERS:
        return 1.0
    leg, soldier = track.legs[0], toppling.soldier
    times_us = np.arange(leg.first_us, max(leg.last_us, toppling.began_us) + frame_us, _STEP_US)
    away_mm = np.hypot(*(leg.flight.at(times_us)[:, :2] - [soldier.x_mm, soldier.y_mm]).T)
    nearest_us = times_us[np.argmin(away_mm)]
    return float(np.exp(-stirring_cost(toppling.began_us, np.array([nearest_us]), frame_us)[0]))


def _touched(toppling: Toppling, course: Course, shot: ShotSeen) -> tuple[int, float] | None:
    """Which touch of an account was the first of a soldier, and how well it explains that it fell when it did."""
    for i, touch in enumerate(course.touches):
        if touch.square == toppling.soldier.square:
            late = stirring_cost(toppling.began_us, np.array([touch.time_us]), shot.frame_us)[0]
            return i, float(np.exp(-late))
    return None


def _unseen(whereabouts: Whereabouts) -> float:
    """How likely it is that the shot struck a soldier unseen, where it was seen elsewhere; 1 as for one that was not seen at all."""
    there = _COME_BACK if whereabouts.sight is Sight.LEFT else 1.0
    return there * whereabouts.fit + whereabouts.misled


def _the_direct(likely: Sequence[Mapping[Cause, float]]) -> int | None:
    """Which of the falls is told as direct, by the probabilities of their causes: at most one is, the surest."""
    directs = [k for k, probabilities in enumerate(likely) if _ranked(probabilities)[0] is Cause.DIRECT]
    return max(directs, key=lambda k: likely[k][Cause.DIRECT], default=None)


def _struck_instead(likely: Sequence[Mapping[Cause, float]], direct: int | None) -> int | None:
    """Which of the falls is the direct one if the one that is told as direct is not, where that is in doubt.

    Two doubts are then one question, and a ruling on the one answers the other.
    """
    if direct is None:
        return None
    otherwise = {cause: share for cause, share in likely[direct].items() if cause is not Cause.DIRECT}
    if max(otherwise.values()) < POSSIBLE_SHARE:
        return None
    rest = sum(otherwise.values())
    others = (k for k in range(len(likely)) if k != direct)
    return next((k for k in others if likely[k][Cause.DIRECT] > rest / 2), None)


def _ranked(probabilities: Mapping[Cause, float]) -> list[Cause]:
    return sorted(probabilities, key=lambda cause: -probabilities[cause])


def _told_first(
    cause: Cause, open_causes: Collection[Cause], probabilities: Mapping[Cause, float]
) -> tuple[Cause, ...]:
    """Give the cause that is told, whatever is likelier, and behind it those that are open, the likeliest first."""
    return cause, *(each for each in _ranked(probabilities) if each in open_causes and each is not cause)


def _conclude(
    seen: FallSeen,
    probabilities: Mapping[Cause, float],
    drags: Sequence[Drag],
    shot: ShotSeen,
    *,
    direct: FallSeen | None,
    may_be_direct: bool,
) -> FallCause:
    """Tell a fall's cause; `direct` is the one that is told as direct, and this one may be it instead."""
    ranked = _ranked(probabilities)
    # Where another is told as direct, one that seems so too takes its next likely cause.
    is_second = ranked[0] is Cause.DIRECT and seen is not direct
    cause = ranked[1] if is_second else ranked[0]
    open_causes = {
        c for c in ranked if probabilities[c] >= POSSIBLE_SHARE or (may_be_direct and c is Cause.DIRECT)
    }
    possible = _told_first(cause, open_causes, probabilities)
    toppling = seen.toppling
    square = toppling.soldier.square
    knocks = _knocks(square, probabilities, drags)
    pusher = next((k.by for k in knocks if k.by is not None), None) if cause is Cause.DRAGGED else None
    grounds = grounds_of(seen, cause, pusher, shot)
    if is_second and direct is not None:
        grounds += f"; {direct.toppling.soldier.square} is likelier to have been struck first"
    evidence = with_others(grounds, possible, probabilities)
    return FallCause(
        toppling, cause, probabilities[cause], possible, dict(probabilities), knocks, grounds, evidence
    )


def _knocks(square: Square, probabilities: Mapping[Cause, float], drags: Sequence[Drag]) -> tuple[Knock, ...]:
    """Share out how likely each cause is among the shot and those who may have fallen against it."""
    near = [d for d in drags if d.fallen == square]
    total = sum(d.weight for d in near)
    knocks = [Knock(None, square, probabilities[Cause.DIRECT] + probabilities[Cause.RICOCHET])]
    knocks += [Knock(d.by, square, probabilities[Cause.DRAGGED] * d.weight / total) for d in near]
    return tuple(sorted((k for k in knocks if k.probability >= _LEAST_KNOCK), key=lambda k: -k.probability))

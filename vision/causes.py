"""Why each soldier fell: touched by the shot before anything else, after something else, or knocked over by another.

Each account of the shot's way (`vision.contacts`) is held against all falls at once. A soldier that the shot
touched just before it began to move fell by the shot, directly where that was the first touch of all, else by
ricochet. One that the shot did not touch was dragged, where another soldier fell or slid against it before
(`vision.drags`). Which way it fell and how fast has its word too (`vision.felled`). An account that leaves falls
unexplained loses weight; what remains, summed over the accounts, is how likely each cause is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Cause, Square
from vision.contacts import Course, ShotContacts, Touch, stirring_cost
from vision.drags import Drag, find_drags
from vision.felled import manner
from vision.outcome import Push, Standing, Toppling
from vision.shot_track import ShotTrack

__all__ = ["FallCause", "Knock", "explain"]

FloatArray = NDArray[np.float64]

# How well a fall is explained where nothing that was seen explains it, from likelier to stranger.
_UNSEEN_DRAG = 0.01
_UNSEEN_RICOCHET = 0.01
_LEFT_RICOCHET = 0.002  # the shot was seen to leave the board before
_LOST_RICOCHET = 0.12  # the shot was lost over the board and may have gone on there
_LOST_MS, _LEAVING_MS = 50.0, 80.0  # so long it may go on unseen before it is likely to have left
_BY_ITSELF = 0.003
_SLEEVE = 0.02
# The first that moved, where the shot was not seen to touch it: it can hardly have been anything but the shot,
# before it touched anything else or after, as that was seen or not.
_UNSEEN_LIKELY = 0.3
_UNSEEN_UNLIKELY = 0.02
_SEEN_ON = 0.05  # the shot was seen to fly on elsewhere
# The first push that matters decides: where the shot touched it in time, a neighbour's push seldom came first.
_DRAG_BESIDE_TOUCH = 0.10
_LEAST_KNOCK = 0.01
# A shot this slow has half a chance to topple what it touches: it weighs a tenth of a soldier and must lift its weight.
# Of 70 touches of the twin that felled somebody 2 % were slower than 1.3 m/s, and 5 % than 2.2 m/s. What seems slower
# is mostly the head of one who falls.
_FELLING_MPS = 1.8
_FELLING_SPREAD_MPS = 0.35
_POSSIBLE_SHARE = 0.12
"""Causes less likely than this count as excluded."""


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
    """The likeliest."""
    confidence: float
    """Its probability."""
    possible: tuple[Cause, ...]
    """Every cause that is not excluded, the likeliest first; more than one is a doubt."""
    probabilities: Mapping[Cause, float]
    knocks: tuple[Knock, ...]
    """What may have felled it, the likeliest first."""
    evidence: str
    """One line in plain words."""

    @property
    def dragged_by(self) -> Square | None:
        """Who most likely knocked it over, where it was dragged."""
        if self.cause is not Cause.DRAGGED:
            return None
        return next((knock.by for knock in self.knocks if knock.by is not None), None)


def explain(
    topplings: Sequence[Toppling],
    pushes: Sequence[Push],
    track: ShotTrack,
    contacts: ShotContacts,
    standing: Standing,
    *,
    frame_us: float,
    shot_from_mm: tuple[float, float],
) -> tuple[FallCause, ...]:
    """Find the cause of each fall.

    Parameters
    ----------
    topplings, pushes
        Who fell and who was pushed.
    track, contacts
        The shot's way and what it may have touched.
    standing
        Who stood where before.
    frame_us
        Time between two pictures.
    shot_from_mm
        Where the shot came from (x, y): the muzzle, or a place far behind it.

    Returns
    -------
    One cause for each toppling, in their order. At most one is direct.
    """
    drags = find_drags(topplings, pushes, standing, frame_us=frame_us)
    squares = [t.soldier.square for t in topplings]
    # Sorted, the likeliest of each comes first.
    best_drag = {d.fallen: d for d in reversed(drags)}
    manners = {
        t.soldier.square: manner(
            t,
            (t.soldier.x_mm - shot_from_mm[0], t.soldier.y_mm - shot_from_mm[1]),
            _push_way(best_drag.get(t.soldier.square), standing),
        )
        for t in topplings
    }
    first_us = min([t.began_us for t in topplings] + [p.began_us for p in pushes], default=0)
    courses = contacts.courses or (Course((), 1.0),)
    totals = {s: dict.fromkeys(Cause, 0.0) for s in squares}
    everything = 0.0
    for course in courses:
        shares = {}
        weight = course.probability
        for toppling in topplings:
            drag = best_drag.get(toppling.soldier.square)
            ways = _ways(toppling, course, 0.0 if drag is None else drag.weight, first_us, track, frame_us)
            how = manners[toppling.soldier.square]
            if not _after_another(toppling, course):
                # Off the board the shot flies on as it flew.
                how = {**how, Cause.RICOCHET: how[Cause.DIRECT]}
            ways = {cause: way * how[cause] for cause, way in ways.items()}
            explained = sum(ways.values())
            weight *= explained
            shares[toppling.soldier.square] = {cause: way / explained for cause, way in ways.items()}
        everything += weight
        for square, causes in shares.items():
            for cause, share in causes.items():
                totals[square][cause] += weight * share
    found = []
    for toppling in topplings:
        square = toppling.soldier.square
        probabilities = {cause: total / everything for cause, total in totals[square].items()}
        found.append(_conclude(toppling, probabilities, drags, contacts, track))
    return tuple(_one_direct(found))


def _after_another(toppling: Toppling, course: Course) -> bool:
    """Whether the shot touched another soldier before it can have touched this one."""
    for touch in course.touches:
        if touch.square == toppling.soldier.square or touch.time_us > toppling.began_us:
            return False
        if touch.square is not None:
            return True
    return False


def _push_way(drag: Drag | None, standing: Standing) -> tuple[float, float] | None:
    """Which way the likeliest push went."""
    if drag is None:
        return None
    by, fallen = standing.at(drag.by), standing.at(drag.fallen)
    return None if by is None or fallen is None else (fallen.x_mm - by.x_mm, fallen.y_mm - by.y_mm)


def _ways(
    toppling: Toppling,
    course: Course,
    drag: float,
    first_us: int,
    track: ShotTrack,
    frame_us: float,
) -> dict[Cause, float]:
    """How well each cause explains a fall under one account of the shot's way."""
    release_us, last_us = track.release_us, track.legs[-1].last_us if track.found else first_us
    ways = {
        Cause.DIRECT: 0.0,
        Cause.RICOCHET: _UNSEEN_RICOCHET,
        Cause.DRAGGED: max(drag, _UNSEEN_DRAG),
        Cause.OTHER: _BY_ITSELF,
    }
    if release_us is not None and toppling.began_us < release_us - frame_us:
        return {Cause.OTHER: 1.0}
    touched = [
        (
            i,
            _felling(touch.speed_mps)
            * float(np.exp(-stirring_cost(toppling.began_us, np.array([touch.time_us]), frame_us)[0])),
        )
        for i, touch in enumerate(course.touches)
        if touch.square == toppling.soldier.square
    ]
    if not touched and toppling.began_us < first_us + frame_us / 2:
        before = any(
            touch.time_us < toppling.began_us and (touch.on_board or touch.square is not None)
            for touch in course.touches
        )
        likely, unlikely = (Cause.RICOCHET, Cause.DIRECT) if before else (Cause.DIRECT, Cause.RICOCHET)
        seen_on = before and track.found and toppling.began_us < last_us
        ways |= {likely: _SEEN_ON if seen_on else _UNSEEN_LIKELY, unlikely: _UNSEEN_UNLIKELY}
    if release_us is None:
        # No shot was seen: a chain of falls still is one, but what began it may have been a sleeve.
        ways[Cause.OTHER] = _SLEEVE
    elif not track.lost_over_board and toppling.began_us > last_us:
        ways[Cause.RICOCHET] = min(ways[Cause.RICOCHET], _LEFT_RICOCHET)
    if not touched and (release_us is None or _out_of_sight(course, track, toppling.began_us, frame_us)):
        unseen_ms = (toppling.began_us - max(first_us, last_us)) / 1000.0 - _LOST_MS
        lost = _LOST_RICOCHET * float(np.exp(-max(unseen_ms, 0.0) / _LEAVING_MS))
        ways[Cause.RICOCHET] = max(ways[Cause.RICOCHET], lost)
    if touched:
        # The first touch is the push that decides where it came in time for the fall.
        first, fit = touched[0]
        fit = max(fit, 0.02)
        ways[Cause.DIRECT if first == 0 else Cause.RICOCHET] = fit
        ways[Cause.DRAGGED] = max(drag * (1 - fit), drag * _DRAG_BESIDE_TOUCH, 0.3 * _UNSEEN_DRAG)
    return ways


def _out_of_sight(course: Course, track: ShotTrack, began_us: int, frame_us: float) -> bool:
    """Whether the shot may have gone on unseen over the board when a soldier began to move."""
    last_us = track.legs[-1].last_us
    if began_us < last_us:
        return False
    turned = any(t.square is not None and t.time_us > last_us - frame_us for t in course.touches)
    return track.lost_over_board or turned


def _felling(speed_mps: float) -> float:
    """How likely a shot of that speed has the momentum to fell a soldier."""
    return float(1.0 / (1.0 + np.exp((_FELLING_MPS - speed_mps) / _FELLING_SPREAD_MPS)))


def _conclude(
    toppling: Toppling,
    probabilities: Mapping[Cause, float],
    drags: Sequence[Drag],
    contacts: ShotContacts,
    track: ShotTrack,
) -> FallCause:
    ranked = sorted(probabilities, key=lambda cause: -probabilities[cause])
    cause = ranked[0]
    possible = tuple(c for c in ranked if c is cause or probabilities[c] >= _POSSIBLE_SHARE)
    square = toppling.soldier.square
    knocks = _knocks(square, probabilities, drags)
    pusher = next((k.by for k in knocks if k.by is not None), None) if cause is Cause.DRAGGED else None
    evidence = _evidence(toppling, cause, pusher, contacts, track)
    if len(possible) > 1:
        rest = " or ".join(f"{c} ({100 * probabilities[c]:.0f} %)" for c in possible[1:])
        evidence += f"; it may have been {rest}"
    return FallCause(toppling, cause, probabilities[cause], possible, dict(probabilities), knocks, evidence)


def _knocks(square: Square, probabilities: Mapping[Cause, float], drags: Sequence[Drag]) -> tuple[Knock, ...]:
    """Share out how likely each cause is among the shot and those who may have fallen against it."""
    near = [d for d in drags if d.fallen == square]
    total = sum(d.weight for d in near)
    knocks = [Knock(None, square, probabilities[Cause.DIRECT] + probabilities[Cause.RICOCHET])]
    knocks += [Knock(d.by, square, probabilities[Cause.DRAGGED] * d.weight / total) for d in near]
    return tuple(sorted((k for k in knocks if k.probability >= _LEAST_KNOCK), key=lambda k: -k.probability))


def _evidence(
    toppling: Toppling,
    cause: Cause,
    pusher: Square | None,
    contacts: ShotContacts,
    track: ShotTrack,
) -> str:
    square, began_us = toppling.soldier.square, toppling.began_us
    release_us = track.release_us
    if release_us is None:
        return f"{track.reason}; the fall is judged by the order in which soldiers moved, and who stood near"
    since_ms = (began_us - release_us) / 1000.0
    if cause in (Cause.DIRECT, Cause.RICOCHET):
        for course in contacts.courses:
            for i, touch in enumerate(course.touches):
                if touch.square == square and (i == 0) == (cause is Cause.DIRECT):
                    reached_ms = (touch.time_us - release_us) / 1000.0
                    if i == 0:
                        order = "before touching anything else"
                    else:
                        names = ", ".join(_name(t) for t in course.touches[:i])
                        order = f"after touching {names}"
                    return (
                        f"the shot reached it {reached_ms:.0f} ms after release, {order}; "
                        f"it was seen to move at {since_ms:.0f} ms"
                    )
        what = "was the first to move" if cause is Cause.DIRECT else "moved"
        return f"it {what}, {since_ms:.0f} ms after release; the shot was out of sight by then"
    if cause is Cause.DRAGGED:
        if pusher is None:
            return f"the shot did not reach it; it moved {since_ms:.0f} ms after release, pushed by something unseen"
        return f"the shot did not reach it; {pusher} fell or slid against it, and it moved {since_ms:.0f} ms after release"
    if since_ms < 0:
        return f"it moved {-since_ms:.0f} ms before the shot was released"
    return f"it moved {since_ms:.0f} ms after release, and neither the shot nor another soldier reached it"


def _name(touch: Touch) -> str:
    if touch.square is not None:
        return str(touch.square)
    return "the board" if touch.on_board else "something"


def _one_direct(found: Sequence[FallCause]) -> list[FallCause]:
    """Leave at most one fall direct; the others that seemed so take their next likely cause."""
    directs = [f for f in found if f.cause is Cause.DIRECT]
    if len(directs) <= 1:
        return list(found)
    keep = max(directs, key=lambda f: f.confidence)
    return [f if f is keep or f.cause is not Cause.DIRECT else _next_likely(f) for f in found]


def _next_likely(fall: FallCause) -> FallCause:
    ranked = sorted(
        (c for c in fall.probabilities if c is not Cause.DIRECT), key=lambda c: -fall.probabilities[c]
    )
    return FallCause(
        fall.toppling,
        ranked[0],
        fall.probabilities[ranked[0]],
        (ranked[0], Cause.DIRECT),
        fall.probabilities,
        fall.knocks,
        fall.evidence,
    )

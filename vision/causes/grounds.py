"""What speaks for the cause of a fall, in plain words for the people at the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from game.montecassino import Cause, Square
from vision.causes.out_of_reach import Sight
from vision.causes.seen import FallSeen, ShotSeen, before_release
from vision.causes.touches import Touch

__all__ = ["grounds_of", "with_others"]

_FAR_FIT = 0.05  # of the shot's whereabouts, with less of which it is said not to have reached a soldier
# What touched it so long before it moved can hardly have felled it, and that is said.
_LONG_BEFORE_US = 100_000


def grounds_of(seen: FallSeen, cause: Cause, pusher: Square | None, shot: ShotSeen) -> str:
    """Say what speaks for a cause.

    Parameters
    ----------
    seen
        The fall.
    cause
        What it is told to have fallen by.
    pusher
        Who most likely knocked it over, where another soldier did; ``None`` where nobody is known to.
    shot
        What was seen of the shot.

    Returns
    -------
    A sentence without a full stop, which others may follow.
    """
    track = shot.track
    square, began_us = seen.toppling.soldier.square, seen.toppling.began_us
    release_us = track.release_us
    if release_us is None:
        return f"{track.reason}; the fall is judged by the order in which soldiers moved, and who stood near"
    since_ms = (began_us - release_us) / 1000.0
    when = (
        f"{since_ms:.0f} ms after release"
        if since_ms >= 0
        else "before anything was seen that may have been the shot"
    )
    if cause in (Cause.DIRECT, Cause.RICOCHET):
        what = "was the first to move" if cause is Cause.DIRECT else "moved"
        if since_ms < 0:
            return f"it {what}, {when}"
        for course in shot.contacts.courses:
            for i, touch in enumerate(course.touches):
                if touch.square == square and (i == 0) == (cause is Cause.DIRECT):
                    names = ", ".join(_name(t) for t in course.touches[:i])
                    order = f"after touching {names}" if names else "before touching anything else"
                    reached_ms = max(0.0, (touch.time_us - release_us) / 1000.0)  # at the muzzle itself
                    reached = f"the shot reached it {reached_ms:.0f} ms after release, {order}"
                    # Both are known to within a picture: what was struck did not move before.
                    if 0 < touch.time_us - began_us <= shot.frame_us:
                        return f"the shot reached it {when}, {order}; it was seen to move then"
                    if began_us - touch.time_us > _LONG_BEFORE_US:
                        return f"{reached}, long before it was seen to move at {since_ms:.0f} ms"
                    return f"{reached}; it was seen to move at {since_ms:.0f} ms"
        is_near = seen.follower is not None and seen.follower.whereabouts.sight is Sight.SEEN
        where = "near it" if is_near else "out of sight by"
        return f"it {what}, {when}; the shot was {where} then"
    if cause is Cause.DRAGGED:
        is_far = seen.follower is None or seen.follower.whereabouts.fit < _FAR_FIT
        reached = "the shot did not reach it" if is_far else "the shot was not seen to reach it"
        if pusher is None:
            return f"{reached}; it moved {when}, pushed by something unseen"
        return f"{reached}; {pusher} fell or slid against it, and it moved {when}"
    if before_release(seen.toppling, track, 0.0):
        return f"it moved {-since_ms:.0f} ms before the shot was released"
    return f"it moved {when}, and neither the shot nor another soldier reached it"


def with_others(grounds: str, possible: Sequence[Cause], probabilities: Mapping[Cause, float]) -> str:
    """Add to what speaks for the cause that is told what it may have been else."""
    if len(possible) == 1:
        return grounds
    rest = " or ".join(f"{cause} ({100 * probabilities[cause]:.0f} %)" for cause in possible[1:])
    return f"{grounds}; it may have been {rest}"


def _name(touch: Touch) -> str:
    if touch.square is not None:
        return str(touch.square)
    return "the board" if touch.on_board else "something"

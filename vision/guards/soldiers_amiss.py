"""What is amiss with who stood there and who fell, as the reading itself tells it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from game.montecassino import SOLDIERS_PER_SIDE, Side, Square
from vision.causes import FallCause
from vision.guards.alarms import Alarm, Trouble
from vision.outcome import Push, Standing
from vision.shot import ShotTrack

__all__ = ["exchanged_sides", "late_falls", "missing_soldiers", "too_many_soldiers", "unseen_soldiers"]

_LATE_US = 350_000  # a push takes so long at most to fell somebody after everything else lies still
_FALLING_US = 350_000  # from beginning to move until lying still
_SHOW_THEM = "name the position, or set up figures that show against the board"


def missing_soldiers(
    standing: Standing, expected: Mapping[Square, Side] | None, track: ShotTrack
) -> Alarm | None:
    """Say that soldiers of the told position are gone before a shot that is not seen: it may have felled them."""
    seen = {soldier.square for soldier in standing.soldiers}
    gone = [square for square in sorted(expected or ()) if square not in seen]
    if track.found or not gone:
        return None
    squares = ", ".join(map(str, gone))
    return Alarm(
        Trouble.MISSING,
        f"no shot is seen, and {squares} should hold soldiers before it and are seen empty: did it leave before the pictures "
        "begin, or before fire_us?",
    )


def unseen_soldiers(unseen: Collection[Square], *, position_told: bool, hardly_seen: bool) -> Alarm | None:
    """Say that soldiers were not seen before a shot: somebody left a square that seemed empty, or many are not plain.

    Parameters
    ----------
    unseen
        Squares that something left where nobody was seen to stand.
    position_told
        Whether it is known who stood there, seen or not.
    hardly_seen
        Whether several squares may have been read wrongly.
    """
    if unseen:
        squares = ", ".join(map(str, sorted(unseen)))
        reason = f"something left its place on {squares}, and no soldier was seen to stand there"
    elif hardly_seen and not position_told:
        reason = "the soldiers hardly show against this board, and any of them may have been missed"
    else:
        return None
    return Alarm(Trouble.UNSEEN, f"{reason}: {_SHOW_THEM}")


def too_many_soldiers(standing: Standing, *, position_told: bool) -> Alarm | None:
    """Say that more soldiers are seen of a side than one has, by taught uniforms: some are none, or of the other side."""
    if position_told:
        return None
    for side in Side:
        count = sum(soldier.side is side for soldier in standing.soldiers)
        if count > SOLDIERS_PER_SIDE:
            return Alarm(
                Trouble.UNSEEN,
                f"{count} soldiers are seen of {side}, and a side has {SOLDIERS_PER_SIDE}: {_SHOW_THEM}",
            )
    return None


def exchanged_sides() -> Alarm:
    """Say that the sides may be the wrong way round: whoever leaves the board would be the wrong one."""
    return Alarm(
        Trouble.UNSEEN,
        "which soldiers are A's and which G's hardly shows, where they stand and the way they look: name the position, or teach the "
        "uniforms",
    )


def late_falls(
    falls: Sequence[FallCause], pushes: Sequence[Push], track: ShotTrack
) -> Mapping[Square, Alarm]:
    """Name the soldiers that began to fall when everything else had long come to rest."""
    busy_until_us = float(track.points[-1][0]) if track.points else None
    alarms = {}
    stirs = sorted(
        [(f.toppling.began_us, f.toppling.passed_us, f) for f in falls]
        + [(p.began_us, p.began_us, None) for p in pushes],
        key=lambda stir: stir[:2],
    )
    for began_us, passed_us, fall in stirs:
        if fall is not None and busy_until_us is not None and began_us - busy_until_us > _LATE_US:
            square = fall.toppling.soldier.square
            alarms[square] = Alarm(
                Trouble.FALL,
                f"{square} began to fall {(began_us - busy_until_us) / 1000:.0f} ms after everything else lay still",
            )
            continue
        busy_until_us = max(busy_until_us or 0.0, passed_us, began_us + _FALLING_US)
    return alarms

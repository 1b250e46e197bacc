"""A shot that still flies over the board when the pictures end: whom it strikes nobody sees."""

from __future__ import annotations

from collections.abc import Sequence

from vision.guards.alarms import Alarm, Trouble
from vision.shot import ShotTrack

__all__ = ["flies_on"]


def flies_on(track: ShotTrack, timestamps_us: Sequence[int]) -> Alarm | None:
    """Say that the shot is seen over the board up to the end of a film.

    Parameters
    ----------
    track
        The shot's way.
    timestamps_us
        Of all pictures, two or more.
    """
    # Not every picture shows it; of a film that goes on until all is at rest it is seen last long before the end.
    if not track.lost_over_board or track.points[-1][0] < timestamps_us[-2]:
        return None
    return Alarm(Trouble.UNENDED, "the pictures end while the shot still flies over the board")

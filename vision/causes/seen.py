"""What was seen of a shot and of each fall, against which the causes are held."""

from __future__ import annotations

from dataclasses import dataclass

from vision.causes.out_of_reach import Whereabouts
from vision.causes.touches import ShotContacts
from vision.outcome import Standing, Toppling
from vision.shot import ShotTrack
from vision.shot.shot_track import STRANGERS

__all__ = ["FallSeen", "Follower", "ShotSeen", "before_release"]


@dataclass(frozen=True, slots=True, eq=False)
class ShotSeen:
    """What was seen of a shot, against which its falls are held."""

    track: ShotTrack
    """Its way."""
    contacts: ShotContacts
    """What it may have touched."""
    standing: Standing
    """Who stood where before."""
    frame_us: float
    """Time between two pictures."""
    shot_from_mm: tuple[float, float]
    """Where it came from (x, y): the muzzle, or a place far behind it."""


@dataclass(frozen=True, slots=True)
class Follower:
    """What else was seen of one that fell while others moved."""

    ricochet: float
    """How likely it fell by the shot, not by another soldier, as the falls alone tell."""
    whereabouts: Whereabouts
    """Where the shot was."""


@dataclass(frozen=True, slots=True, eq=False)
class FallSeen:
    """All that was seen of one fall."""

    toppling: Toppling
    follower: Follower | None
    """``None`` for the first that moved, where it was the only one in its picture."""


def before_release(toppling: Toppling, track: ShotTrack, frame_us: float) -> bool:
    """Whether a soldier moved before the shot left the cannon, as far as that is known."""
    if track.release_us is None or len(track.legs[0].streaks) <= STRANGERS:
        return False
    return toppling.began_us < track.release_us - frame_us

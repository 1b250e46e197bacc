"""A first flight of which hardly anything is seen, looked for once more as if its release had not been told.

Either the release was told wrongly, and a shot is plainly seen to leave at another time; or it was told rightly, and the shot is
found better without it all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from vision.shot import ShotTrack
from vision.shot.faint import Stirred, first_of, quiet_pictures

__all__ = ["LEAST_WORTH", "comes_by", "hardly_seen", "left_later_us", "seen_better"]

LEAST_WORTH = 3.0
"""A first flight from the told release for which so much speaks needs no other explanation."""

# Of 645 shots whose release was told rightly 153 are seen worse than plainly. Looked for without it, two of them seem plainly to
# have left at another time, and come by whoever stirs first 370 and 659 mm beside him; of 119 whose release was told 40 ms late
# all who are found come by him within 54 mm.
_PLAIN_WORTH = 1.7
_COMES_BY_MM = 200.0
_LEAST_BETTER = 1.0
_LEAST_OFF_US = 8000.0
_SAME_US = 2500.0  # the release is known so well
# Where both are seen as well, or more of the later legs is seen with it, the one that keeps to the release lies nearer to the shot.
_BETTER = 0.5


def hardly_seen(
    told: ShotTrack, timestamps_us: Sequence[int], fire_us: int, stirred: Sequence[Stirred]
) -> bool:
    """Whether a shot from its told release is seen so badly that it may be better seen without it.

    It is not where every picture shows it until somebody stirs, however few those are.

    Parameters
    ----------
    told, fire_us, stirred
        As for `left_later_us`; somebody stirred.
    timestamps_us
        Of all pictures, at mid-exposure.
    """
    due = len(quiet_pictures(timestamps_us, fire_us, min(each.time_us for each in stirred)))
    return told.worth < min(LEAST_WORTH, max(_PLAIN_WORTH, due - _BETTER))


def comes_by(track: ShotTrack, stirred: Sequence[Stirred]) -> bool:
    """Whether a shot that was seen comes by one of those who stirred first, before he is seen to have."""
    return any(track.nearest_mm(each.foot_mm, each.time_us) <= _COMES_BY_MM for each in first_of(stirred))


def left_later_us(
    told: ShotTrack, untold: ShotTrack, fire_us: int, stirred: Sequence[Stirred]
) -> float | None:
    """Say how much later than it was told a shot left, if it was told wrongly; negative: earlier.

    Parameters
    ----------
    told, untold
        The shot as it is found when it is believed, and when it is not, that it left at `fire_us`.
    fire_us
        When it left, as it was told.
    stirred
        The soldiers who stirred.

    Returns
    -------
    ``None`` where the told release explains what is seen about as well as any other, or what left at another time does not
    come by anybody who stirs first: then it is not the shot.
    """
    released_us = untold.release_us
    if released_us is None or untold.worth < max(_PLAIN_WORTH, told.worth + _LEAST_BETTER):
        return None
    later_us = released_us - fire_us
    return later_us if abs(later_us) >= _LEAST_OFF_US and comes_by(untold, stirred) else None


def seen_better(told: ShotTrack, untold: ShotTrack, fire_us: int) -> bool:
    """Whether a shot that left when it was told is found better without its release; parameters as for `left_later_us`."""
    released_us = untold.release_us
    if released_us is None or abs(released_us - fire_us) > _SAME_US:
        return False
    return untold.worth > told.worth + _BETTER and len(untold.points) >= len(told.points)

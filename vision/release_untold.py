"""A first flight of which hardly anything is seen, looked for once more as if its release had not been told.

Either the release was told wrongly, and a shot is plainly seen to leave at another time; or it was told rightly, and the shot is
better seen by who looks for it otherwise.
"""

from __future__ import annotations

from vision.shot import ShotTrack

__all__ = ["LEAST_WORTH", "left_later_us", "seen_better"]

LEAST_WORTH = 3.0
"""A first flight from the told release for which so much speaks needs no other explanation."""

# Of 122 shots of the twin whose release was told rightly 38 are seen worse than plainly. Looked for without it, those for which
# so much speaks were found to leave at most 1.6 ms off it; one that two pictures show 33 ms.
_PLAIN_WORTH = 2.5
_LEAST_BETTER = 1.0
_LEAST_OFF_US = 8000.0
_SAME_US = 2500.0  # the release is known so well
# Where both are seen as well, or more of the later legs is seen with it, the one that keeps to the release lies nearer to the shot.
_BETTER = 0.5


def left_later_us(told: ShotTrack, untold: ShotTrack, fire_us: int) -> float | None:
    """Say how much later than it was told a shot left, if it was told wrongly; negative: earlier.

    Parameters
    ----------
    told, untold
        The shot as it is found when it is believed, and when it is not, that it left at `fire_us`.
    fire_us
        When it left, as it was told.

    Returns
    -------
    ``None`` where the told release explains what is seen about as well as any other.
    """
    released_us = untold.release_us
    if released_us is None or untold.worth < max(_PLAIN_WORTH, told.worth + _LEAST_BETTER):
        return None
    later_us = released_us - fire_us
    return later_us if abs(later_us) >= _LEAST_OFF_US else None


def seen_better(told: ShotTrack, untold: ShotTrack, fire_us: int) -> bool:
    """Whether a shot that left when it was told is seen better where it is not known that it did; parameters as above."""
    released_us = untold.release_us
    if released_us is None or abs(released_us - fire_us) > _SAME_US:
        return False
    return untold.worth > told.worth + _BETTER and len(untold.points) >= len(told.points)

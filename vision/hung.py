"""A camera that hangs: the same picture comes again and again, to the last bit, and shows a table where nothing happens.

Where a film has no noise, pictures of a table at rest are alike as well. So a camera is only said to hang where no picture
before the release is the same as the one before it; or where a shot was fired, and all pictures are one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.shot.faint import CROSSED_US

__all__ = ["frozen_from", "hung_from", "repeats"]

Image = NDArray[np.uint8]

# A shot crosses the board in this time. Of four films coded so poorly that nothing is left of their noise, none has pictures
# that are the same for longer than 100 ms, and none while the shot flies.
_HUNG_US = 150_000
_FEWEST_PAIRS = 4
_ROW_STEP = 32  # one row in so many is looked at first: noise is everywhere


def hung_from(
    frames: Sequence[Image], timestamps_us: Sequence[int], first_moving: int, *, release_told: bool
) -> int | None:
    """Give the first of the pictures that are all the same while the shot should fly; ``None``: the camera did not hang.

    Parameters
    ----------
    frames, timestamps_us
        The pictures and their times.
    first_moving
        Index of the first picture after the release, or after those that show the table at rest.
    release_told
        Whether it is known when the shot flies; where it is not, it is looked for up to the end.
    """
    if release_told and len(frames) > 1 and all(_same(frames, k) for k in range(1, len(frames))):
        return 0
    if not _has_noise(frames, first_moving):
        return None
    crossed_us = timestamps_us[first_moving - 1] + CROSSED_US if release_told else timestamps_us[-1]
    first = first_moving - 1
    while first < len(frames) and timestamps_us[first] <= crossed_us:
        last = first
        while last + 1 < len(frames) and _same(frames, last + 1):
            last += 1
        if timestamps_us[last] - timestamps_us[first] >= _HUNG_US:
            return first
        first = last + 1
    return None


def frozen_from(frames: Sequence[Image], timestamps_us: Sequence[int], first_moving: int) -> int | None:
    """Give the first of the pictures that are all the same up to the end; ``None``: the camera went on to the end.

    Parameters
    ----------
    frames, timestamps_us, first_moving
        As for `hung_from`.
    """
    first = len(frames) - 1
    while first > 0 and _same(frames, first):
        first -= 1
    long_enough = timestamps_us[-1] - timestamps_us[first] >= _HUNG_US
    return first if long_enough and _has_noise(frames, first_moving) else None


def _has_noise(frames: Sequence[Image], first_moving: int) -> bool:
    """Say whether no picture before the release is the same as the one before it."""
    return first_moving > _FEWEST_PAIRS and not any(_same(frames, k) for k in range(1, first_moving))


def repeats(before: Image, now: Image) -> bool:
    """Say whether a picture is the one before it, to the last bit."""
    return np.array_equal(before[::_ROW_STEP], now[::_ROW_STEP]) and np.array_equal(before, now)


def _same(frames: Sequence[Image], k: int) -> bool:
    """Say whether picture k is the one before it."""
    return repeats(frames[k - 1], frames[k])

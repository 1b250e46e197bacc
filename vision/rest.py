"""Has everything come to rest? Watches pictures as they come, so that a clip can end when nothing moves any more."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vision.change import Watched, shrink, shrink_mask

__all__ = ["REST_US", "RestWatch", "Stillness"]

_LOOK_BACK_US = 100_000  # a slow topple moves its head by several mm in this time
_QUIET_US = 40_000  # soldiers that are still falling seldom seem to pause for longer
_MOVING_MM2 = 60.0  # more than the shot itself, which may roll on without harm

REST_US = 400_000
"""Where nothing has moved for so long all is at rest: one on the point of falling can pause for a tenth of this."""


class Stillness(StrEnum):
    """For how long nothing has moved."""

    MOVING = "moving"
    """Something has just moved."""
    QUIET = "quiet"
    """Nothing has moved for a moment: most likely, but not surely, all is over."""
    REST = "rest"
    """Nothing has moved for so long that all is over."""


class RestWatch:
    """Holds each picture against one a little older, and counts how long nothing differed.

    Parameters
    ----------
    watched
        Mask (height, width) of where motion matters.
    mm_per_px
        Size of a pixel on the board.
    """

    def __init__(self, watched: NDArray[np.bool_], *, mm_per_px: float) -> None:
        self._watched = Watched(shrink_mask(watched))
        self._mm_per_px = mm_per_px
        self._older: list[tuple[int, NDArray[np.uint8]]] = []
        self._moved_us = 0

    def look(self, timestamp_us: int, picture: NDArray[np.uint8]) -> None:
        """Take in the next picture; timestamps rise."""
        now = shrink(picture)
        while len(self._older) > 1 and self._older[1][0] <= timestamp_us - _LOOK_BACK_US:
            self._older.pop(0)
        if not self._older or self._changed_mm2(self._older[0][1], now) > _MOVING_MM2:
            self._moved_us = timestamp_us
        self._older.append((timestamp_us, now))

    def _changed_mm2(self, before: NDArray[np.uint8], now: NDArray[np.uint8]) -> float:
        """Area of the largest patch that differs between shrunken pictures, in mm2 on the board."""
        return self._watched.compare(before, now).area_px * self._mm_per_px**2

    @property
    def stillness(self) -> Stillness:
        """For how long nothing has moved, as the last picture shows it."""
        if not self._older:
            return Stillness.MOVING
        still_us = self._older[-1][0] - self._moved_us
        if still_us >= REST_US:
            return Stillness.REST
        return Stillness.QUIET if still_us >= _QUIET_US else Stillness.MOVING

    @property
    def at_rest(self) -> bool:
        """Whether nothing has moved for long enough."""
        return self.stillness is Stillness.REST

"""Is anything in the way? What must hold in the picture before a shot may be asked for.

The newest pictures are held against a reference taken when the table was last read. A hand, a sleeve, a face or a
fallen soldier is a patch that differs from it; a covered lens or a lamp switched off is a change of the whole picture.
Noise is measured, not assumed: it is the spread of the difference itself, over the whole picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["LaneReading", "read_lane"]

_SHRINK = 4  # averaging 4 x 4 pixels takes noise and compression down fourfold
_DARK = 12.0  # grey level below which nothing can be told from anything else
_LIGHT_CHANGE = 0.25  # a quarter brighter or darker overall: lamps were switched
_NOISE_FACTOR = 8.0
_LEAST_STEP = 10.0  # grey levels; flicker of lamps stays below
_PATCH_MM2 = 150.0  # a fingertip seen from above; the foot of a soldier covers about as much


@dataclass(frozen=True, slots=True)
class LaneReading:
    """Whether the picture says clear, and why not."""

    clear: bool
    """True only where nothing speaks against it."""
    reason: str
    """One sentence; what was found."""


def read_lane(
    reference: NDArray[np.uint8],
    pictures: Sequence[NDArray[np.uint8]],
    *,
    watched: NDArray[np.bool_],
    mm_per_px: float,
) -> LaneReading:
    """Compare the newest pictures with the reference.

    Parameters
    ----------
    reference
        Picture of the table as it was read, (height, width, 3) or (height, width).
    pictures
        The newest pictures, same shape as the reference.
    watched
        Mask (height, width) of where a change matters: board and lane, but not the cannon, which moves to aim.
    mm_per_px
        Size of a pixel on the board.
    """
    if not pictures:
        return LaneReading(False, "there is no picture of the lane")
    before = _small(reference)
    mask = cv2.resize(watched.astype(np.uint8), before.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
    least_px = max(2, round(_PATCH_MM2 / (mm_per_px * _SHRINK) ** 2))
    for picture in pictures:
        if picture.shape != reference.shape:
            return LaneReading(
                False, f"the picture's size changed from {reference.shape[1::-1]} to {picture.shape[1::-1]}"
            )
        now = _small(picture)
        if float(now.mean()) < _DARK:
            return LaneReading(
                False, f"the picture is dark (mean grey level {now.mean():.0f}): lens covered or lights out"
            )
        gain = float(np.median(now[mask] / np.maximum(before[mask], 1.0)))
        if abs(gain - 1.0) > _LIGHT_CHANGE:
            return LaneReading(
                False, f"the light changed by {100 * (gain - 1):+.0f} % since the table was read"
            )
        difference = np.abs(now - gain * before)
        noise = 1.4826 * float(np.median(difference[mask]))
        changed = ((difference > max(_LEAST_STEP, _NOISE_FACTOR * noise)) & mask).astype(np.uint8)
        count, _, stats, centres = cv2.connectedComponentsWithStats(changed, connectivity=8)
        if count > 1:
            largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
            area_px = int(stats[largest, cv2.CC_STAT_AREA])
            if area_px >= least_px:
                area_cm2 = area_px * (mm_per_px * _SHRINK) ** 2 / 100
                u_px, v_px = (centres[largest] + 0.5) * _SHRINK
                return LaneReading(
                    False,
                    f"something of {area_cm2:.1f} cm2 is over the table that was not there (at pixel {u_px:.0f}, {v_px:.0f})",
                )
    return LaneReading(True, "nothing changed on the table since it was read")


def _small(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    size = (max(1, grey.shape[1] // _SHRINK), max(1, grey.shape[0] // _SHRINK))
    return cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.float32)

"""Is anything in the way? What must hold in the picture before a shot may be asked for.

The newest pictures are held against a reference taken when the table was last read. A hand, a sleeve, a face or a
fallen soldier is a patch that differs from it; a covered lens or a lamp switched off is a change of the whole picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.change import Watched, shrink, shrink_mask

__all__ = ["LaneReading", "read_lane"]

_DARK = 12.0  # grey level below which nothing can be told from anything else
_LIGHT_CHANGE = 0.25  # a quarter brighter or darker overall: lamps were switched
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
    before = shrink(reference)
    mask = Watched(shrink_mask(watched))
    for picture in pictures:
        if picture.shape != reference.shape:
            return LaneReading(
                False, f"the picture's size changed from {reference.shape[1::-1]} to {picture.shape[1::-1]}"
            )
        now = shrink(picture)
        brightness = float(now.mean())
        if brightness < _DARK:
            return LaneReading(
                False, f"the picture is dark (mean grey level {brightness:.0f}): lens covered or lights out"
            )
        change = mask.compare(before, now)
        if abs(change.gain - 1.0) > _LIGHT_CHANGE:
            return LaneReading(
                False, f"the light changed by {100 * (change.gain - 1):+.0f} % since the table was read"
            )
        area_mm2 = change.area_px * mm_per_px**2
        if area_mm2 >= _PATCH_MM2:
            u_px, v_px = change.centre_px
            return LaneReading(
                False,
                f"something of {area_mm2 / 100:.1f} cm2 is over the table that was not there when it was read "
                f"(at pixel {u_px:.0f}, {v_px:.0f})",
            )
    return LaneReading(True, "nothing changed on the table since it was read")

"""Where a picture differs from another, apart from noise and a change of the light.

Noise is measured, not assumed: it is the spread of the difference itself, over the whole picture. Pictures are first
averaged over blocks of 4 x 4 pixels, which takes noise and compression down fourfold and costs a sixteenth.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["SHRINK", "Change", "compare", "shrink", "shrink_mask"]

SHRINK = 4
"""Side, in pixels of the picture, of a block that is averaged into one."""

_NOISE_FACTOR = 8.0
_LEAST_STEP = 10.0  # grey levels; what lamps flicker stays below


@dataclass(frozen=True, slots=True)
class Change:
    """The largest patch that differs, and how much brighter the whole became."""

    gain: float
    """Median brightness of the watched part over what it was; 1: the light is the same."""
    area_px: float
    """Area of the largest changed patch, in pixels of the full picture; 0: nothing changed."""
    centre_px: tuple[float, float]
    """Its centre (u, v) in the full picture; (0, 0) where nothing changed."""


def shrink(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the picture in grey, averaged over blocks: (height // 4, width // 4), grey levels 0 to 255."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    size = (max(1, grey.shape[1] // SHRINK), max(1, grey.shape[0] // SHRINK))
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), dtype=np.float32)


def shrink_mask(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the full picture at the size of a shrunken one."""
    size = (max(1, mask.shape[1] // SHRINK), max(1, mask.shape[0] // SHRINK))
    return np.asarray(cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0)


def compare(before: NDArray[np.float32], now: NDArray[np.float32], watched: NDArray[np.bool_]) -> Change:
    """Compare two shrunken pictures where `watched` says so; all three have the same shape."""
    gain = float(np.median(now[watched] / np.maximum(before[watched], 1.0)))
    difference = np.abs(now - gain * before)
    noise = 1.4826 * float(np.median(difference[watched]))
    changed = ((difference > max(_LEAST_STEP, _NOISE_FACTOR * noise)) & watched).astype(np.uint8)
    count, _, stats, centres = cv2.connectedComponentsWithStats(changed, connectivity=8)
    if count == 1:
        return Change(gain, 0.0, (0.0, 0.0))
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    u_px, v_px = (centres[largest] + 0.5) * SHRINK
    return Change(gain, float(stats[largest, cv2.CC_STAT_AREA]) * SHRINK**2, (float(u_px), float(v_px)))

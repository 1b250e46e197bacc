"""Where a picture differs from another, apart from noise and a change of the light.

Noise is measured, not assumed: it is the spread of the difference itself, over the whole watched part. Pictures are
first averaged over blocks of 4 x 4 pixels, which takes noise and compression down fourfold and costs a sixteenth.

This runs on every picture of a live camera, so it keeps to whole grey levels and to what OpenCV does on bytes.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.grey import grey
from vision.quick_median import SIGMA_BY_MAD, quick_median

__all__ = ["SHRINK", "Change", "Watched", "shrink", "shrink_colours", "shrink_mask"]

Image = NDArray[np.uint8]

SHRINK = 4
"""Side, in pixels of the picture, of a block that is averaged into one."""

_LEAST_STEP = 10.0  # grey levels; what lamps flicker stays below
_NOISE_FACTOR = 8.0
_SAMPLES = 4096  # pixels from which light and noise are taken; their medians are as good as those of all


@dataclass(frozen=True, slots=True)
class Change:
    """The largest patch that differs, and how much brighter the whole became."""

    gain: float
    """Median brightness of the watched part over what it was; 1: the light is the same."""
    area_px: float
    """Area of the largest changed patch, in pixels of the full picture; 0: nothing changed."""
    centre_px: tuple[float, float]
    """Its centre (u, v) in the full picture; (0, 0) where nothing changed."""


def shrink(picture: Image) -> Image:
    """Return the picture in grey, averaged over blocks: (height // 4, width // 4), grey levels 0 to 255."""
    return _small(grey(picture))  # grey first: averaging three colours takes longer than joining them


def shrink_colours(picture: Image) -> tuple[Image, ...]:
    """Return what `shrink` does of each of the picture's colours; of a grey picture the one it has."""
    return tuple(np.asarray(colour, dtype=np.uint8) for colour in cv2.split(_small(picture)))


def _small(picture: Image) -> Image:
    height, width = picture.shape[:2]
    half = (max(1, width // 2), max(1, height // 2))
    quarter = (max(1, width // SHRINK), max(1, height // SHRINK))
    # Halved twice: OpenCV averages 2 x 2 pixels far faster than 4 x 4.
    small = cv2.resize(
        cv2.resize(picture, half, interpolation=cv2.INTER_AREA), quarter, interpolation=cv2.INTER_AREA
    )
    return np.asarray(small, dtype=np.uint8)


def shrink_mask(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the full picture at the size of a shrunken one."""
    size = (max(1, mask.shape[1] // SHRINK), max(1, mask.shape[0] // SHRINK))
    return np.asarray(cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0)


class Watched:
    """The part of a picture in which changes matter.

    Parameters
    ----------
    mask
        Of a shrunken picture, (height, width).
    """

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        self._mask: Image = np.where(mask, 255, 0).astype(np.uint8)
        inside = np.flatnonzero(mask)
        self._sample = inside[:: max(1, len(inside) // _SAMPLES)]

    def gain(self, before: Image, now: Image) -> float:
        """Return how many times as bright the watched part of a shrunken picture became."""
        if not len(self._sample):
            return 1.0
        was, has = before.ravel()[self._sample], now.ravel()[self._sample]
        return quick_median(has / np.maximum(was, 1).astype(np.float32))

    def differs(self, before: Image, now: Image, gain: float, *, least_step: float = _LEAST_STEP) -> Image:
        """Return where a shrunken picture differs from one before, 255 or 0, same shape; the light's change undone.

        Where the light's change does not show, as on what is overexposed or what a video leaves as it was, nothing differs.
        """
        difference = cv2.absdiff(cv2.convertScaleAbs(before, alpha=gain), now)
        noise = SIGMA_BY_MAD * quick_median(difference.ravel()[self._sample]) if len(self._sample) else 0.0
        difference = cv2.min(difference, cv2.absdiff(before, now))
        step = max(least_step, _NOISE_FACTOR * noise)
        changed = cv2.threshold(difference, step, 255, cv2.THRESH_BINARY)[1]
        return np.asarray(cv2.bitwise_and(changed, self._mask), dtype=np.uint8)

    def compare(self, before: Image, now: Image) -> Change:
        """Compare two shrunken pictures."""
        gain = self.gain(before, now)
        changed = self.differs(before, now, gain)
        if not cv2.countNonZero(changed):
            return Change(gain, 0.0, (0.0, 0.0))
        _, _, stats, centres = cv2.connectedComponentsWithStats(changed, connectivity=8)
        largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
        u_px, v_px = (centres[largest] + 0.5) * SHRINK
        return Change(gain, float(stats[largest, cv2.CC_STAT_AREA]) * SHRINK**2, (float(u_px), float(v_px)))

"""Holding pictures still: how a picture is shifted and lit against another, and pictures free of what passes by.

The camera and its stand shake after a shot, by a pixel or so, and lamps on mains power flicker. Both are solved from
the pixels on strong edges, by least squares on the linearised brightness, with weights that leave out what moves by
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.grey import grey
from vision.quick_median import SIGMA_BY_MAD, quick_median

__all__ = ["STILL", "Steady", "Sway", "Sways", "typical"]

Image = NDArray[np.uint8]
_EDGE_POINTS = 300
_FEWEST_POINTS = 8
_ROUNDS = 5
_CLOSE_ENOUGH_PX = 0.03
_SMOOTHING_PX = 3
_MOST_OF_A_THIRD = 4  # more take time and tell little


@dataclass(frozen=True, slots=True)
class Sway:
    """How a picture differs from the reference as a whole."""

    du_px: float
    """Its content lies this far to the right."""
    dv_px: float
    """Its content lies this far down."""
    gain: float
    """It is so many times as bright."""


STILL = Sway(0.0, 0.0, 1.0)
"""No difference."""


class Steady:
    """Measures pictures against one reference.

    Parameters
    ----------
    reference
        Shape (height, width) or (height, width, 3).
    """

    def __init__(self, reference: Image) -> None:
        shades = cv2.blur(grey(reference), (_SMOOTHING_PX, _SMOOTHING_PX))
        slope_u = cv2.Sobel(shades, cv2.CV_16S, 1, 0)
        slope_v = cv2.Sobel(shades, cv2.CV_16S, 0, 1)
        steep = cv2.add(cv2.convertScaleAbs(slope_u, alpha=0.125), cv2.convertScaleAbs(slope_v, alpha=0.125))
        steep[:8], steep[-8:], steep[:, :8], steep[:, -8:] = 0, 0, 0, 0
        # The steepest pixel of each tile of a coarse grid, so that one rich corner does not rule.
        tile = 16
        height, width = (s // tile * tile for s in steep.shape)
        tiles = steep[:height, :width].reshape(height // tile, tile, width // tile, tile)
        tiles = tiles.transpose(0, 2, 1, 3).reshape(-1, tile * tile)
        within = np.argmax(tiles, axis=1)
        strength = tiles[np.arange(len(tiles)), within]
        chosen = np.argsort(strength, kind="stable")[::-1][:_EDGE_POINTS]
        chosen = chosen[strength[chosen] > max(2.0, 0.1 * float(strength.max(initial=0)))]
        row, column = np.divmod(chosen, width // tile)
        v, u = row * tile + within[chosen] // tile, column * tile + within[chosen] % tile
        # Only what lies about these points is ever looked at.
        reach = _SMOOTHING_PX // 2
        down, across = (d.reshape(-1) for d in np.mgrid[-reach : reach + 1, -reach : reach + 1])
        self._u, self._v = (
            (at[:, None] + offset).astype(np.float32) for at, offset in ((u, across), (v, down))
        )
        self._pixels = (v * reference.shape[1] + u)[:, None] + (down * reference.shape[1] + across)
        self._level = self._levels(reference, np.zeros(2)) if len(u) else np.zeros(0)
        self._slopes = np.column_stack([slope_u[v, u] / 8, slope_v[v, u] / 8, self._level])

    def _levels(self, picture: Image, moved_px: NDArray[np.float64]) -> NDArray[np.float64]:
        """Brightness about each point of a picture whose content lies `moved_px` right and down."""
        if moved_px.any():
            found = cv2.remap(
                picture,
                self._u + np.float32(moved_px[0]),
                self._v + np.float32(moved_px[1]),
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE,
            )
        else:
            # Pixels just as they are, as remapping would give them, in less than half the time.
            found = np.take(picture.reshape(-1, *picture.shape[2:]), self._pixels, axis=0)
        total = cv2.reduce(grey(np.asarray(found, dtype=np.uint8)), 1, cv2.REDUCE_SUM, dtype=cv2.CV_64F)
        return np.asarray(total[:, 0] / self._u.shape[1])

    def measure(self, picture: Image) -> Sway:
        """Measure shift and light of a picture against the reference."""
        if len(self._u) < _FEWEST_POINTS:
            return STILL
        moved = np.zeros(2)
        gain = 1.0
        bright = np.maximum(self._level, 1.0)
        for _ in range(_ROUNDS):
            here = self._levels(picture, moved)
            # here = gain * level - slopes . step, where step is what is still missing
            off = here - self._level
            weight = np.ones(len(off))
            for _ in range(2):
                weighted = self._slopes * weight[:, None]
                # OpenCV's takes a sixth of numpy's time for so few unknowns, and copes with points that tell too little.
                _, found = cv2.solve(
                    weighted.T @ self._slopes, (weighted.T @ off)[:, None], flags=cv2.DECOMP_SVD
                )
                solved = found[:, 0]
                left = off - self._slopes @ solved
                scale = 3 * SIGMA_BY_MAD * quick_median(np.abs(left)) + 0.5
                weight = 1 / (1 + (left / scale) ** 2)
            moved -= solved[:2]
            # The median, not the fit's own: a shift by part of a pixel softens edges, which looks like less gain.
            without_step = here - self._slopes[:, :2] @ solved[:2]
            gain = quick_median(without_step / bright)
            if float(np.abs(solved[:2]).max()) < _CLOSE_ENOUGH_PX:
                break
        return Sway(float(moved[0]), float(moved[1]), gain)


class Sways:
    """How the pictures of a clip sway, each measured once, when it is first asked for.

    Parameters
    ----------
    reference
        The picture that they are measured against.
    """

    def __init__(self, reference: Image) -> None:
        self.steady = Steady(reference)
        self._measured: dict[int, Sway] = {}

    def of(self, k: int, picture: Image) -> Sway:
        """Say how picture k of the clip, which is given, sways."""
        if k not in self._measured:
            self._measured[k] = self.steady.measure(picture)
        return self._measured[k]


def typical(pictures: Sequence[Image]) -> Image:
    """Median of the means of the first, the middle and the last of some pictures, one of two or one.

    What passes through a third of them is gone, and of the noise there is half as much as in the median of three.
    """
    count = len(pictures)
    if count < 3:
        return pictures[-1]
    thirds = (pictures[k * count // 3 : (k + 1) * count // 3] for k in range(3))
    a, b, c = (_mean(third[:_MOST_OF_A_THIRD]) for third in thirds)
    return np.asarray(cv2.max(cv2.min(a, b), cv2.min(cv2.max(a, b), c)), dtype=np.uint8)


def _mean(pictures: Sequence[Image]) -> Image:
    if len(pictures) == 1:
        return pictures[0]
    total = pictures[0].astype(np.uint16)
    # Widened first: adding bytes to words as they are takes half as long again.
    wide = np.empty_like(total)
    for picture in pictures[1:]:
        np.copyto(wide, picture)
        total += wide
    return np.asarray(cv2.convertScaleAbs(total, alpha=1 / len(pictures)), dtype=np.uint8)

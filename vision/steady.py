"""Holding pictures still: how far a picture is shifted against another, and pictures free of what passes by.

The camera and its stand shake after a shot, by a pixel or so. The shift is solved from the pixels on strong edges, by
least squares on the linearised brightness, with weights that leave out what moves by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration import grey

__all__ = ["Steady", "shifted", "typical"]

Image = NDArray[np.uint8]
_EDGE_POINTS = 6000
_ROUNDS = 4
_SMOOTHING_PX = 1.0


class Steady:
    """Measures shifts against one reference picture.

    Parameters
    ----------
    reference
        Shape (height, width) or (height, width, 3).
    """

    def __init__(self, reference: Image) -> None:
        shades = cv2.GaussianBlur(grey(reference), (0, 0), _SMOOTHING_PX).astype(np.float32)
        slope_u = cv2.Sobel(shades, cv2.CV_32F, 1, 0) / 8
        slope_v = cv2.Sobel(shades, cv2.CV_32F, 0, 1) / 8
        steep = np.hypot(slope_u, slope_v)
        steep[:8], steep[-8:], steep[:, :8], steep[:, -8:] = 0, 0, 0, 0
        # Every so-manieth pixel of a coarse grid's steepest, so that one rich corner does not rule.
        tile = 16
        height, width = (s // tile * tile for s in steep.shape)
        tiles = steep[:height, :width].reshape(height // tile, tile, width // tile, tile)
        tiles = tiles.transpose(0, 2, 1, 3).reshape(-1, tile * tile)
        within = np.argmax(tiles, axis=1)
        strength = tiles[np.arange(len(tiles)), within]
        chosen = np.argsort(strength)[::-1][:_EDGE_POINTS]
        chosen = chosen[strength[chosen] > max(2.0, 0.1 * float(strength.max()))]
        row, column = np.divmod(chosen, width // tile)
        self._v = (row * tile + within[chosen] // tile).astype(np.float32)
        self._u = (column * tile + within[chosen] % tile).astype(np.float32)
        v, u = self._v.astype(np.int64), self._u.astype(np.int64)
        self._level = shades[v, u]
        self._slopes = np.column_stack([slope_u[v, u], slope_v[v, u], self._level, np.ones(len(u))])

    def shift(self, picture: Image) -> tuple[float, float]:
        """(du, dv) px by which the picture's content lies right and down of the reference's."""
        if len(self._u) < 8:
            return 0.0, 0.0
        shades = cv2.GaussianBlur(grey(picture), (0, 0), _SMOOTHING_PX)
        moved = np.zeros(2)
        for _ in range(_ROUNDS):
            here = cv2.remap(
                shades,
                self._u + np.float32(moved[0]),
                self._v + np.float32(moved[1]),
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE,
            ).reshape(-1)
            # here = gain * level + offset - slopes . step, where step is what is still missing
            off = here.astype(np.float64) - self._level
            weight = np.ones(len(off))
            for _ in range(3):
                root = np.sqrt(weight)
                solved = np.linalg.lstsq(self._slopes * root[:, None], off * root, rcond=None)[0]
                left = off - self._slopes @ solved
                scale = 3 * 1.4826 * float(np.median(np.abs(left))) + 0.5
                weight = 1 / (1 + (left / scale) ** 2)
            step = -solved[:2]
            moved += step
            if float(np.abs(step).max()) < 0.01:
                break
        return float(moved[0]), float(moved[1])


def shifted(picture: Image, shift: tuple[float, float]) -> Image:
    """Return the picture with its content moved back by `shift` (du, dv) px; small shifts are left alone."""
    if max(abs(shift[0]), abs(shift[1])) < 0.05:
        return picture
    matrix = np.array([[1, 0, -shift[0]], [0, 1, -shift[1]]])
    size = (picture.shape[1], picture.shape[0])
    return np.asarray(
        cv2.warpAffine(picture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        dtype=np.uint8,
    )


def typical(pictures: Sequence[Image]) -> Image:
    """Median of three pictures, one of two or one: what passes through one of three is gone."""
    if len(pictures) < 3:
        return pictures[-1]
    a, b, c = pictures[0], pictures[len(pictures) // 2], pictures[-1]
    return np.asarray(np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)), dtype=np.uint8)

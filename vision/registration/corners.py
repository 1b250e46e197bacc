"""Corners of the board told by hand, held against the board that is seen: what was told wrongly, if anything.

Lines look alike a square farther on, so corners that lie beside the board may be made good by its lines, a row off. Where
its pattern begins and ends tells.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.scene import Scene

__all__ = ["are_one_along", "turned_over_since"]

FloatArray = NDArray[np.float64]

# Corners that are so many squares from the board's are meant to be them: clicked by hand, or another lens guessed.
_NEAR_SQUARES = 0.35


def are_one_along(told: FloatArray, outline: FloatArray, scene: Scene) -> bool:
    """Say whether told corners are the board's, begun one corner along: its sides are exchanged then.

    Parameters
    ----------
    told
        Pixels of the four corners as they were told, shape (4, 2).
    outline
        Those of the board that is seen, up to half a turn, shape (4, 2).
    scene
        The board.
    """
    return _are_these(np.roll(told, 1, axis=0), outline, scene)


def turned_over_since(
    told: FloatArray, outline: FloatArray, scene: Scene, size_px: tuple[int, int]
) -> str | None:
    """Say how a picture was turned over since its corners were told; ``None`` where it was not.

    Parameters
    ----------
    told, outline, scene
        As for `are_one_along`.
    size_px
        Width and height of the picture.
    """
    right, low = size_px[0] - 1, size_px[1] - 1
    # What is seen in a mirror goes round the other way.
    mirrored = (told * (-1, 1) + (right, 0))[::-1]
    upside_down = (told * (1, -1) + (0, low))[::-1]
    turned = told * (-1, -1) + (right, low)
    for how, seen in (("mirrored", mirrored), ("mirrored", upside_down), ("turned by half", turned)):
        if _are_these(seen, outline, scene):
            return how
    return None


def _are_these(told: FloatArray, outline: FloatArray, scene: Scene) -> bool:
    """Say whether corners are those of the outline, one way round or turned by half."""
    corners_mm = np.array(scene.outline_mm, dtype=np.float32)
    to_board = cv2.getPerspectiveTransform(outline.astype(np.float32), corners_mm)
    places_mm = cv2.perspectiveTransform(told.reshape(-1, 1, 2), to_board).reshape(4, 2)
    off_mm = [np.linalg.norm(places_mm - np.roll(corners_mm, by, axis=0), axis=1).max() for by in (0, 2)]
    return bool(min(off_mm) <= _NEAR_SQUARES * scene.square_mm)

"""Points of the table that nothing but a bump moves: how far, and how, the board lies elsewhere in a picture.

A table or camera that was moved is told by points on the bare board and beside it, followed from one picture into the
other: they all move alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.change import SHRINK, shrink
from vision.free_ground import away_from_soldiers
from vision.grey import grey
from vision.outcome import Standing
from vision.registration import BoardView
from vision.scene import Scene

__all__ = ["BUMP_MM", "Anchors", "Move", "moved_px"]

Image = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

BUMP_MM = 2.0
"""So far the board's corners move by the shaking after a shot, and no farther."""

_REACH_HEIGHTS = 0.8  # of a soldier: its foot, and most that lie
_POINTS = 80
_FEWEST_POINTS = 8
_FEWEST_SHARE = 0.4  # of the points, that must be found again and agree
# So far half of the points at least move in a bump: where the board turns, its corners move twice as far as its middle.
_STIRS_MM = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """How the board lies in a picture, against the one before."""

    matrix: FloatArray
    """Makes of a pixel (u, v, 1) where it was what it is now, shape (2, 3)."""
    moved_mm: float
    """How far the worst corner of the board has moved, in mm on it; infinite where the points are not found again."""

    @property
    def is_bump(self) -> bool:
        """Whether the table or the camera was moved, and is seen still."""
        return BUMP_MM < self.moved_mm < math.inf


_STAYED = np.eye(2, 3)
_LOST = Move(_STAYED, math.inf)


class Anchors:
    """Points of the table that nothing but a bump moves.

    Parameters
    ----------
    reference
        The table, (height, width, 3) or (height, width).
    view, scene, standing
        The camera, the board and who stands on it: soldiers may fall, so points near them do not count.
    """

    def __init__(self, reference: Image, view: BoardView, scene: Scene, standing: Standing) -> None:
        self._view = view
        self._outline_mm = np.column_stack([np.array(scene.outline_mm), np.zeros(4)])
        self._shades = _half(reference)
        free = away_from_soldiers(view, scene, standing, reference.shape, heights=_REACH_HEIGHTS)[::2, ::2]
        free = free[: self._shades.shape[0], : self._shades.shape[1]]
        points = cv2.goodFeaturesToTrack(
            self._shades, _POINTS, 0.05, 6, mask=free.astype(np.uint8), blockSize=3
        )
        self._points = np.zeros((0, 1, 2), np.float32) if points is None else np.asarray(points, np.float32)
        self._shrunken = shrink(reference)
        self._shrunken_points = np.asarray(0.5 * self._points - 0.25, np.float32)
        self._mm_per_block = SHRINK * view.mm_per_px(*scene.centre_mm)

    def move(self, picture: Image) -> Move | None:
        """Say how the board has moved; ``None`` where the table has too few points to tell."""
        if len(self._points) < _FEWEST_POINTS:
            return None
        shades = _half(picture)
        move = self._follow(shades)
        if move is _LOST:
            # Points are known again by their shades, and in other light they have others.
            gain = float(self._shades.mean()) / max(1.0, float(shades.mean()))
            move = self._follow(np.asarray(cv2.convertScaleAbs(shades, alpha=gain), dtype=np.uint8))
        return move

    def _follow(self, shades: Image) -> Move:
        """Follow the points into a picture that `_half` has made; `_LOST` where too few are found again."""
        found, good, _ = cv2.calcOpticalFlowPyrLK(
            self._shades, shades, self._points, None, winSize=(15, 15), maxLevel=3
        )
        seen = good.ravel() == 1
        if int(seen.sum()) < max(_FEWEST_POINTS, _FEWEST_SHARE * len(self._points)):
            return _LOST
        half, agree = cv2.estimateAffinePartial2D(
            self._points[seen], found[seen], ransacReprojThreshold=0.5, maxIters=500
        )
        if half is None or int(agree.sum()) < _FEWEST_SHARE * len(self._points):
            return _LOST
        # The middle of the first pixel of half the picture lies between two of the whole one.
        matrix = np.column_stack([half[:, :2], 2 * half[:, 2] + 0.5 - 0.5 * half[:, :2].sum(axis=1)])
        return Move(matrix, self.apart_mm(matrix, _STAYED))

    def may_have_moved(self, shrunken: Image) -> bool:
        """Say whether a shrunken picture (`vision.change.shrink`) is worth asking `move`, at an eighth of its cost."""
        if len(self._points) < _FEWEST_POINTS:
            return False
        found, good, _ = cv2.calcOpticalFlowPyrLK(
            self._shrunken, shrunken, self._shrunken_points, None, winSize=(9, 9), maxLevel=2
        )
        shift = (found - self._shrunken_points)[good.ravel() == 1, 0]
        if not len(shift):
            return True
        return float(np.median(np.hypot(shift[:, 0], shift[:, 1]))) * self._mm_per_block > _STIRS_MM

    def apart_mm(self, one: FloatArray, other: FloatArray) -> float:
        """How far apart two moves, told by their matrices, put the worst corner of the board, in mm on it."""
        corners_px = self._view.project(self._outline_mm)
        here_mm, there_mm = (self._view.on_plane(moved_px(each, corners_px)) for each in (one, other))
        return float(np.hypot(*(here_mm - there_mm).T).max())


def moved_px(matrix: FloatArray, pixels: FloatArray) -> FloatArray:
    """Where a move, told by its matrix, takes pixels (N, 2)."""
    return np.asarray(pixels @ matrix[:, :2].T + matrix[:, 2])


def _half(picture: Image) -> Image:
    """Return the picture in grey at half its size; a bump is told as well there, at a quarter of the cost."""
    size = (picture.shape[1] // 2, picture.shape[0] // 2)
    return grey(np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8))

"""A table or camera that was bumped during a shot: pictures since then are laid back over the board as it was.

Whatever reads a shot holds its pictures against the one before it. So the board is found again in the last picture, as it
was in the first, and every picture in which it had moved is drawn anew as it would have been seen before: what lies on the
board comes out where it was, and what stands on it but for its height's share of the move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.anchors import BUMP_MM, Anchors, Move, moved_px
from vision.registration import BoardView, NoBoard, register
from vision.scene import Scene

__all__ = ["LaidBack", "lay_back"]

Image = NDArray[np.uint8]
_Ways = tuple[NDArray[np.float32], NDArray[np.float32]]
"""For each pixel the u and the v of another picture, each of shape (height, width)."""

_SETTLED_MM = 1.0  # less is shaking, which is measured anyway
_KEPT_PICTURES = 40  # as many as a shot is mostly seen in
_GRID_PX = 16  # between so few pixels lenses bend nothing that shows


@dataclass(frozen=True, slots=True, eq=False)
class LaidBack:
    """The pictures of a clip in which the table or the camera was moved."""

    frames: Sequence[Image]
    """As they would look had nothing been moved."""
    moved_mm: float
    """How far the worst corner of the board has moved, in mm on it."""
    since_us: int
    """The first picture in which it had."""


def lay_back(
    frames: Sequence[Image],
    timestamps_us: Sequence[int],
    reference: Image,
    view: BoardView,
    scene: Scene,
    anchors: Anchors,
) -> LaidBack | None:
    """Lay pictures back over the board where it was moved while they were taken.

    Parameters
    ----------
    frames, timestamps_us
        The pictures, (height, width) or (height, width, 3) BGR, and their times.
    reference, view, anchors
        The table before, the camera that saw it, and its points.
    scene
        The board.

    Returns
    -------
    ``None`` where nothing was moved, or where another table is seen.
    """
    last = anchors.move(frames[-1])
    if last is None or not last.is_bump:
        return None
    moves = [anchors.move(frame) for frame in frames]
    since = next(k for k, move in enumerate(moves) if move is not None and move.is_bump)
    settled = _ways_back_from_rest(frames[-1], reference, view, scene, anchors, last)
    ways: list[_Ways | Move | None] = [None] * len(frames)
    for k, move in enumerate(moves):
        if move is not None and move.is_bump:
            ways[k] = settled if anchors.apart_mm(move.matrix, last.matrix) < _SETTLED_MM else move
    return LaidBack(_LaidFrames(frames, ways, reference, view), last.moved_mm, timestamps_us[since])


class _LaidFrames(Sequence[Image]):
    """Pictures that are laid back when they are asked for: all at once would take as much memory again."""

    def __init__(
        self,
        frames: Sequence[Image],
        ways: Sequence[_Ways | Move | None],
        reference: Image,
        view: BoardView,
    ) -> None:
        self._frames = frames
        self._ways = ways
        self._reference = reference
        self._view = view
        self._kept: dict[int, Image] = {}

    def __len__(self) -> int:
        return len(self._frames)

    @overload
    def __getitem__(self, k: int) -> Image: ...

    @overload
    def __getitem__(self, k: slice) -> list[Image]: ...

    def __getitem__(self, k: int | slice) -> Image | list[Image]:
        if isinstance(k, slice):
            return [self._laid(i) for i in range(len(self))[k]]
        return self._laid(range(len(self))[k])

    def _laid(self, k: int) -> Image:
        ways = self._ways[k]
        if ways is None:
            return self._frames[k]
        if k not in self._kept:
            if len(self._kept) >= _KEPT_PICTURES:
                del self._kept[next(iter(self._kept))]
            back = _ways_back(self._view, ways) if isinstance(ways, Move) else ways
            self._kept[k] = _drawn(self._frames[k], back, self._reference)
        return self._kept[k]


def _ways_back_from_rest(
    picture: Image, reference: Image, view: BoardView, scene: Scene, anchors: Anchors, move: Move
) -> _Ways:
    """Find the camera again where the board has come to rest; where it is not found, the move of its points has to do."""
    corners_px = scene.corners_px
    if corners_px is not None:
        corners_px = tuple((float(u), float(v)) for u, v in moved_px(move.matrix, np.array(corners_px)))
    again = register(picture, replace(scene, corners_px=corners_px))
    if not isinstance(again, NoBoard):
        ways = _ways_back(view, again)
        left = anchors.move(_drawn(picture, ways, reference))
        if left is not None and left.moved_mm <= BUMP_MM:
            return ways
    return _ways_back(view, move)


def _ways_back(view: BoardView, now: BoardView | Move) -> _Ways:
    """Where now is seen what each pixel of the camera before showed of the board."""
    height, width = view.height_px, view.width_px
    u, v = np.meshgrid(np.arange(0, width + _GRID_PX, _GRID_PX), np.arange(0, height + _GRID_PX, _GRID_PX))
    pixels = np.column_stack([u.ravel(), v.ravel()]).astype(np.float64)
    if isinstance(now, Move):
        seen = moved_px(now.matrix, pixels)
    else:
        ground = view.on_plane(pixels)
        seen = now.project(np.column_stack([ground, np.zeros(len(ground))]))
    coarse = seen.astype(np.float32).reshape(*u.shape, 2)
    # Between the corners of the grid in proportion: `remap` of the grid itself, at every pixel.
    across, down = np.meshgrid(
        np.arange(width, dtype=np.float32) / _GRID_PX, np.arange(height, dtype=np.float32) / _GRID_PX
    )
    fine = np.asarray(cv2.remap(coarse, across, down, cv2.INTER_LINEAR), dtype=np.float32)
    return np.ascontiguousarray(fine[..., 0]), np.ascontiguousarray(fine[..., 1])


def _drawn(picture: Image, ways: _Ways, reference: Image) -> Image:
    """Draw a picture anew; what the camera no longer sees is as it was."""
    return np.asarray(
        cv2.remap(picture, *ways, cv2.INTER_LINEAR, dst=reference.copy(), borderMode=cv2.BORDER_TRANSPARENT),
        dtype=np.uint8,
    )

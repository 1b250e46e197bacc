"""The table read from one picture, to hold later pictures against."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.guards import TableGuard
from vision.lying_there import find_lying_thing
from vision.outcome import Standing
from vision.outside import outside_picture
from vision.registration import BoardView, NoBoard, register
from vision.rest import RestWatch
from vision.scene import Scene
from vision.soldiers import read_board

__all__ = ["TableReading", "read_table"]

_WATCHED_MARGIN_MM = 40.0  # beside the board


@dataclass(frozen=True, slots=True, eq=False)
class TableReading:
    """The table as it stood at one moment."""

    view: BoardView
    standing: Standing
    guard: TableGuard
    """Says what has changed since, in later pictures."""
    watched: NDArray[np.bool_]
    """The part of the picture in which something that moves counts, shape (height, width)."""
    mm_per_px: float
    """Size of a pixel in the middle of the board."""
    outside: str | None
    """What part of the board is outside the picture, in a sentence; None where none is."""

    def rest_watch(self) -> RestWatch:
        """Return a new watch over whether anything moves."""
        return RestWatch(self.watched, mm_per_px=self.mm_per_px)


def read_table(
    picture: NDArray[np.uint8], scene: Scene, *, low_mm: float, high_mm: float
) -> TableReading | NoBoard:
    """Find the board in a picture, and who stands on it.

    Parameters
    ----------
    picture
        Shape (height, width, 3) BGR or (height, width).
    scene
        What is known beforehand.
    low_mm, high_mm
        From where to where along the board, by y, what moves or changes counts.
    """
    view = register(picture, scene)
    if isinstance(view, NoBoard):
        return view
    board = read_board(picture, scene, view)
    watched = _board_and_sides(view, scene, picture.shape, low_mm=low_mm, high_mm=high_mm)
    lying = find_lying_thing(board, view, scene)
    guard = TableGuard(picture, view, scene, board.standing, watched=watched, lying=lying)
    mm_per_px = view.mm_per_px(*scene.centre_mm)
    return TableReading(view, board.standing, guard, watched, mm_per_px, outside_picture(view, scene))


def _board_and_sides(
    view: BoardView, scene: Scene, shape: tuple[int, ...], *, low_mm: float, high_mm: float
) -> NDArray[np.bool_]:
    """Return the mask of the board between two of its rows' y, and of what lies just beside it."""
    left_mm, right_mm = -_WATCHED_MARGIN_MM, scene.width_mm + _WATCHED_MARGIN_MM
    outline = np.array(
        [[left_mm, low_mm, 0], [right_mm, low_mm, 0], [right_mm, high_mm, 0], [left_mm, high_mm, 0]]
    )
    mask = np.zeros(shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.round(view.project(outline)).astype(np.int32), 1)
    return np.asarray(mask > 0)

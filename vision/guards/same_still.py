"""Whether a table that was read is the same still."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.change import Watched, shrink_colours, shrink_mask
from vision.free_ground import corners_of
from vision.registration import BoardView
from vision.scene import Scene
from vision.steady import Steady

__all__ = ["unchanged"]

Image = NDArray[np.uint8]

# Of a table that is the same still: as far as noise and flicker go, and no farther.
_SAME_PX, _SAME_LIGHT = 0.25, 0.05
_SAME_STEP = 4.0  # grey levels, of blocks of pixels
_HEADS_MM = 60.0  # above the board, and taller than any soldier


def unchanged(before: Image, now: Image, view: BoardView, scene: Scene) -> bool:
    """Say whether a table that was read some seconds ago is the same still, to the noise of the pictures.

    Anything at all on the board counts, in any colour: whoever asks reads the table anew in any doubt.

    Parameters
    ----------
    before, now
        Pictures of the table at rest, each what several have in common.
    view, scene
        The camera when it was read, and the board.
    """
    if before.shape != now.shape:
        return False
    sway = Steady(before).measure(now)
    if max(abs(sway.du_px), abs(sway.dv_px)) > _SAME_PX or abs(sway.gain - 1.0) > _SAME_LIGHT:
        return False
    rim = np.array([(x, y, z) for x, y in scene.outline_mm for z in (0.0, _HEADS_MM)])
    board = np.zeros(before.shape[:2], np.uint8)
    cv2.fillConvexPoly(board, cv2.convexHull(corners_of(view.project(rim))), 1)
    watched = Watched(shrink_mask(board > 0))
    return not any(
        cv2.countNonZero(watched.differs(was, has, watched.gain(was, has), least_step=_SAME_STEP))
        for was, has in zip(shrink_colours(before), shrink_colours(now), strict=True)
    )

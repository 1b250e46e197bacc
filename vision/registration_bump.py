"""Was the table or the camera bumped? The board's lines before and after, held against each other.

Nothing is searched for: the lines are where they were, or a little beside, so that a look costs a fraction of placing the
camera anew.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration_fit import Unknowns, fit_camera
from vision.registration_lines import measure_lines
from vision.registration_view import BoardView, grey
from vision.scene import Scene

__all__ = ["shifted_mm"]

Image = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

_FEWEST_LINES = 40
_REACH_SQUARES = (0.45, 0.2, 0.16)
_BELIEVED_SQUARES = (0.15, 0.02, 0.0)


def shifted_mm(view: BoardView, before: Image, after: Image, scene: Scene) -> float | None:
    """Say how far the board moved in the picture.

    Parameters
    ----------
    view
        The camera, as it was placed in `before` or shortly before.
    before, after
        Two pictures, (height, width) or (height, width, 3) BGR.
    scene
        The board.

    Returns
    -------
    The greatest shift of the board's corners, mm on the board: noise is about a tenth of a millimetre, and what is
    farther than half a square is not followed. None where too few lines are seen in either picture, as after a push
    that carried the board away, under a hand, or in the dark.
    """
    views = [_followed(view, grey(picture), scene) for picture in (before, after)]
    if views[0] is None or views[1] is None:
        return None
    outline = np.array(scene.outline_mm)
    pixels = views[1].project(np.column_stack([outline, np.zeros(4)]))
    return float(np.linalg.norm(views[0].on_plane(pixels) - outline, axis=1).max())


def _followed(view: BoardView, shades: Image, scene: Scene) -> BoardView | None:
    """Place the camera by the lines alone, its lens as it was."""
    matrix = view.camera_matrix
    known = replace(
        scene,
        markers=None,
        intrinsics=(float(matrix[0, 0]), float(matrix[1, 1]), float(matrix[0, 2]), float(matrix[1, 2])),
        distortion=tuple(float(term) for term in view.distortion),
    )
    unknowns = Unknowns.of(known, view.width_px, view.height_px)
    turn = np.asarray(cv2.Rodrigues(view.rotation)[0], dtype=np.float64).ravel()
    p = unknowns.start(np.concatenate([turn, view.translation_mm]))
    px_per_square = scene.square_mm / view.mm_per_px(scene.width_mm / 2, scene.length_mm / 2)
    followed = view
    for reach, believed in zip(_REACH_SQUARES, _BELIEVED_SQUARES, strict=True):
        lines = measure_lines(shades, followed, known, reach)
        if len(lines.pixels) < _FEWEST_LINES:
            return None
        believed_lines = lines.at_least(believed * px_per_square)
        followed, p, misfit_px = fit_camera(
            believed_lines, known, unknowns, p, (view.width_px, view.height_px)
        )
    agree = misfit_px < 5 * lines.sigma_px
    return followed if agree.sum() >= max(_FEWEST_LINES, 0.5 * len(agree)) else None

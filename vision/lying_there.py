"""Something large over the board while the table is read: a hand that does not stir, a sleeve, a thing that was put down.

A hand that comes or goes is told by what changes (`vision.guards`). One that lies still from the first picture to the last
changes nothing; but it is no soldier, hides the board, and covers more than everything about soldiers that their figures
do not: rifles, packs, what remains of shadows are thin. An arm that lies exactly along a line of squares, nearly all across
the board, is not told from a band that is printed there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.free_ground import cannon_mm, corners_of
from vision.registration import BoardView
from vision.scene import Scene
from vision.soldiers import Board
from vision.soldiers.lamp import hidden_by_figures

__all__ = ["LyingThing", "find_lying_thing"]

# Of 8 recorded tables and 40 of the twin's the largest patch that no figure explains has 471 mm2; of a hand painted onto
# them with its sleeve 47 leave 2400 and more, the last hid itself by its colour.
_LEAST_MM2 = 1500.0
_THICK_MM = 8.0
_LARGER = 1.15  # than learnt some figures are


@dataclass(frozen=True, slots=True)
class LyingThing:
    """Something on the board that is no soldier."""

    area_mm2: float
    """Of the board, as much as is seen of it beside soldiers."""
    centre_px: tuple[float, float]
    """Where in the picture, (u, v)."""


def find_lying_thing(board: Board, view: BoardView, scene: Scene) -> LyingThing | None:
    """Find the largest thing over the board that cannot be soldiers; ``None`` where there is none.

    Parameters
    ----------
    board
        The table as it was read.
    view, scene
        The camera, and where the cannon stands, which may reach over the board.
    """
    raster, figure = board.raster, board.figure
    feet_mm = np.array([(soldier.x_mm, soldier.y_mm) for soldier in board.standing.soldiers])
    figure = replace(
        figure, height_mm=_LARGER * figure.height_mm, foot_radius_mm=_LARGER * figure.foot_radius_mm
    )
    unexplained = (board.cover > 0) & ~hidden_by_figures(raster, view, figure, feet_mm)
    side_px = max(1, round(_THICK_MM / raster.mm_per_px))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side_px, side_px))
    thick = cv2.morphologyEx(unexplained.astype(np.uint8), cv2.MORPH_OPEN, kernel)
    cannon = raster.to_px(cannon_mm(scene)[:, :2])
    cv2.fillConvexPoly(thick, corners_of(cannon), 0)
    _, _, stats, centres = cv2.connectedComponentsWithStats(thick)
    areas_mm2 = stats[1:, cv2.CC_STAT_AREA] * raster.mm_per_px**2
    if not areas_mm2.size or areas_mm2.max() < _LEAST_MM2:
        return None
    largest = int(areas_mm2.argmax())
    centre_mm = np.append(raster.to_mm(centres[1 + largest]), 0.0)
    u_px, v_px = view.project(centre_mm)[0].tolist()
    return LyingThing(float(areas_mm2[largest]), (u_px, v_px))

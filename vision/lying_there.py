"""Something large over the board while the table is read: a hand that does not stir, a sleeve, a thing that was put down.

A hand that comes or goes is told by what changes (`vision.guards`). One that lies still from the first picture to the last
changes nothing; but it is no soldier, hides the board, and covers more than everything about soldiers that their figures
do not: rifles, packs, what remains of shadows are thin. Through a river or a wood that is painted on the board the print of the
squares shows, which a hand hides. Where many patches are as large it is paint that hides the board. An arm that lies exactly along
a line of squares, nearly all across the board, is not told from a band that is printed there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.free_ground import cannon_mm, corners_of
from vision.over_colours import over_colours
from vision.registration import BoardView
from vision.scene import Scene
from vision.soldiers import Board
from vision.soldiers.figure import hidden_by_figures

__all__ = ["LyingThing", "find_lying_thing"]

FloatImage = NDArray[np.float32]

# Of 8 recorded tables and 40 of the twin's the largest patch that no figure explains has 471 mm2; of a hand painted onto
# them with its sleeve 47 leave 2400 and more, the last hid itself by its colour.
_LEAST_MM2 = 1500.0
# What nothing else than a hand and its sleeve comes near, on any board and on one whose squares are all unlike each other. Of 53
# boards of the twin that were painted all over ten leave 1500 to 8500 mm2, but a fourth of it and more in their third patch as well.
_HAND_AND_SLEEVE, _TIMES_OTHERS, _TIMES_OTHERS_AMONG_LARGE, _TIMES_OTHERS_IN_PAINT = 2, 1.5, 2.0, 4.0
_PAINTED = 0.1  # noise of bare squares, in shares of their brightness: nine of those ten have more, and of 24 other boards three
# Through paint the print of a usual square shows at least so strongly, and explains at least such a part of what is fine there: as
# a correlation, over about a square. Fine is what is smaller than so much of a square; a print fainter than so many grey
# levels tells nothing. Of 331 boards of three renderers, many with roads and rivers, two leave 1500 mm2 and more, and of 519 hands
# painted onto them 458 are told; with 0.5 of it, of 0.2 and finer than an eighth, three times as many boards and two more hands.
_SHOWING, _ALIKE, _FINE_SQUARES, _FAINT = 0.35, 0.12, 1 / 16, 1.0
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
    _, _, stats, _ = cv2.connectedComponentsWithStats(thick)
    if stats[1:, cv2.CC_STAT_AREA].max(initial=0) * raster.mm_per_px**2 < _LEAST_MM2:
        return None  # as on nearly every table; print that shows through would only take off more
    thick[_shows_print(board, thick > 0)] = 0
    thick = cv2.morphologyEx(thick, cv2.MORPH_OPEN, kernel)
    _, _, stats, centres = cv2.connectedComponentsWithStats(thick)
    areas_mm2 = stats[1:, cv2.CC_STAT_AREA] * raster.mm_per_px**2
    others_mm2 = np.sort(areas_mm2)[:-_HAND_AND_SLEEVE].max(initial=0.0)
    painted = np.median(board.surface.noise) > _PAINTED * np.median(board.surface.colour)
    # A third patch that would be told by itself is paint too.
    among_large = _TIMES_OTHERS_AMONG_LARGE if others_mm2 >= _LEAST_MM2 else _TIMES_OTHERS
    least_mm2 = (_TIMES_OTHERS_IN_PAINT if painted else among_large) * others_mm2
    if areas_mm2.max(initial=0.0) < max(_LEAST_MM2, least_mm2):
        return None
    largest = int(areas_mm2.argmax())
    centre_mm = np.append(raster.to_mm(centres[1 + largest]), 0.0)
    u_px, v_px = view.project(centre_mm)[0].tolist()
    return LyingThing(float(areas_mm2[largest]), (u_px, v_px))


def _shows_print(board: Board, patch: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell where in a patch of the raster the print of the squares shows, so that nothing lies over it."""
    raster, surface = board.raster, board.surface
    inside = patch[raster.board].astype(np.float32)
    usual, seen = (
        _fine(of, inside, raster.px_per_square) for of in (surface.colour, board.flat[raster.board])
    )
    size = (raster.px_per_square, raster.px_per_square)
    # How much of the one there is in the other, near each pixel and within the patch.
    both, alone, all_of_it, weight = (
        cv2.blur(each, size)
        for each in (
            over_colours(usual * seen),
            over_colours(usual * usual),
            over_colours(seen * seen),
            inside * np.float32(usual.shape[2]),
        )
    )
    shows = np.zeros(raster.shape, dtype=np.bool_)
    shows[raster.board] = (
        (alone > _FAINT**2 * weight)
        & (both > _SHOWING * alone)
        & (both > _ALIKE * np.sqrt(alone * all_of_it))
    )
    return shows


def _fine(flat: FloatImage, inside: FloatImage, px_per_square: int) -> FloatImage:
    """Give what is fine in a picture of the board, within a patch: the patch's own rim, where paint ends, is not print."""
    spread_px = _FINE_SQUARES * px_per_square
    weight = np.maximum(cv2.GaussianBlur(inside, (0, 0), spread_px), np.float32(1e-3))
    coarse = cv2.GaussianBlur(flat * inside[..., None], (0, 0), spread_px).reshape(flat.shape)
    return np.asarray((flat - coarse / weight[..., None]) * inside[..., None], dtype=np.float32)

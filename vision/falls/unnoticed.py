"""Who was not seen to stand, told by the bare place that he left.

On a board of the figures' own colours a soldier can be missed. When he falls, something changes where nobody was known to stand,
farther from everybody else who moved than one can fall. What has come to lie there, or was thrown there, is
strange to the bare board; what has left is not, unless the board's own print is strange there, before and after.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.falls.differences import Differences
from vision.outcome import Push, Toppling
from vision.soldiers import Board

__all__ = ["find_unnoticed"]

# One that falls and slides stays within so many of its own heights of its foot, its shadow too.
_HEIGHTS = 1.8
# So far around where one came to rest, and where one that was pushed stood and stands, what changes is theirs.
_REST_MM, _PUSHED_MM = 60.0, 60.0
_THICK_MM = 8.0  # edges that shake, and the shot where it lies, are thinner
# Of 228 films, 8 recorded ones among them, in which everybody who fell had been seen to stand, none leaves as much that came to
# look barer, but one of a board that hides its soldiers; the soldiers of two who had not been seen left 240 and 300.
_LEAST_MM2, _MOST_MM2 = 150.0, 2000.0  # what is larger is no soldier
_STRANGER = 0.25  # of the step from bare board to figure


def find_unnoticed(
    differences: Differences, board: Board, topplings: Sequence[Toppling], pushes: Sequence[Push]
) -> tuple[tuple[float, float], ...]:
    """Find what left a bare place where nobody was seen to stand.

    Parameters
    ----------
    differences
        The table after the shot against the table before.
    board
        The table before.
    topplings, pushes
        Who fell and who was pushed, of those who were seen to stand.

    Returns
    -------
    Middle (x, y) of each such place in mm, in no order.
    """
    raster = board.raster
    aside = differences.changed_aside.astype(np.uint8)
    reach_mm = board.standing.foot_radius_mm + _HEIGHTS * board.standing.height_mm

    def pass_over(x_mm: float, y_mm: float, radius_mm: float) -> None:
        column, row = (round(float(raster.to_px(mm))) for mm in (x_mm, y_mm))
        cv2.circle(aside, (column, row), round(radius_mm / raster.mm_per_px), 0, cv2.FILLED)

    for toppling in topplings:
        pass_over(toppling.soldier.x_mm, toppling.soldier.y_mm, reach_mm)
        pass_over(*toppling.rest_mm, _REST_MM)
    for push in pushes:
        pass_over(push.soldier.x_mm, push.soldier.y_mm, _PUSHED_MM)
        pass_over(push.x_mm, push.y_mm, _PUSHED_MM)
    side_px = max(1, round(_THICK_MM / raster.mm_per_px))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side_px, side_px))
    _, labels, stats, centres = cv2.connectedComponentsWithStats(
        cv2.morphologyEx(aside, cv2.MORPH_OPEN, kernel)
    )
    low, high = board.strange_levels

    def looks_left(place: NDArray[np.bool_]) -> bool:
        """Whether it is no stranger to the bare board than before, and not strange."""
        stranger_by = float(differences.stranger_by[place].mean())
        strange = float(board.strange[place].mean()) + stranger_by
        return stranger_by < _STRANGER * (high - low) and strange < (low + high) / 2

    return tuple(
        _middle_mm(raster.to_mm(centres[label]))
        for label in range(1, len(stats))
        if _LEAST_MM2 <= stats[label, cv2.CC_STAT_AREA] * raster.mm_per_px**2 <= _MOST_MM2
        and looks_left(labels == label)
    )


def _middle_mm(point_mm: NDArray[np.float64]) -> tuple[float, float]:
    x_mm, y_mm = point_mm.tolist()
    return x_mm, y_mm

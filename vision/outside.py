"""Squares of the board that the picture does not reach: who stands there cannot be judged."""

from __future__ import annotations

import numpy as np

from game.montecassino import ALL_SQUARES, Square, format_squares
from vision.registration import BoardView
from vision.scene import Scene

__all__ = ["outside_picture", "squares_outside"]

# Of three recorded shots, cut off along each rim, all soldiers are seen while 15 mm of squares of 45 mm are missing, and of two
# a whole line of them is lost from 20 mm on.
_FOOT = 0.2  # of a square, round its middle: so much of it is seen where a soldier in it is
_SAME_MM = 1.0


def outside_picture(view: BoardView, scene: Scene) -> str | None:
    """Say which squares are outside the picture, so far that nobody on them is seen; ``None`` where none are."""
    squares = squares_outside(view, scene)
    if not squares:
        return None
    return (
        f"part of the board is outside the picture, {format_squares(squares)}: who stands there may fall unseen, so let the "
        "camera see all of it"
    )


def squares_outside(view: BoardView, scene: Scene) -> tuple[Square, ...]:
    """Return the squares that are so far outside the picture that nobody on them is seen."""
    foot = _FOOT * scene.square_mm
    around = [(x, y, 0.0) for x in (-foot, foot) for y in (-foot, foot)]
    places = [(*square.centre_mm(scene.square_mm), 0.0) for square in ALL_SQUARES]
    points = (np.array(places)[:, None] + np.array(around)).reshape(-1, 3)
    pixels = view.project(points)
    # A lens folds what is far outside its picture back into it, where it is not.
    folded = np.hypot(*(view.on_plane(pixels) - points[:, :2]).T) > _SAME_MM
    beyond = ((pixels < -0.5) | (pixels > (view.width_px - 0.5, view.height_px - 0.5))).any(axis=1)
    seen = ~(folded | beyond).reshape(-1, len(around)).any(axis=1)
    return tuple(square for square, is_seen in zip(ALL_SQUARES, seen, strict=True) if not is_seen)

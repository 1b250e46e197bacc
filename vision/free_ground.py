"""Where in the picture neither soldiers fall nor the cannon moves."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from vision.outcome import Standing
from vision.registration import BoardView
from vision.scene import Scene

__all__ = ["away_from_soldiers", "cannon_mm", "clear_of_the_cannon", "corners_of"]

FloatArray = NDArray[np.float64]

_CANNON_HALF_MM = 90.0
_CANNON_AHEAD_MM = 45.0  # the barrel's end over the first line, and its recoil
_BEHIND_MM = 600.0


def away_from_soldiers(
    view: BoardView, scene: Scene, standing: Standing, shape: tuple[int, ...], *, heights: float
) -> NDArray[np.bool_]:
    """Mark what neither the cannon nor a soldier covers, not even one that falls.

    Parameters
    ----------
    view, scene, standing
        The camera, the board and who stands on it.
    shape
        The picture's.
    heights
        How far from its foot a soldier may come to lie, in heights of one.

    Returns
    -------
    Shape (height, width).
    """
    free = clear_of_the_cannon(view, scene, shape)
    radius_mm = standing.foot_radius_mm + heights * standing.height_mm
    angles = np.linspace(0.0, 2 * np.pi, 20, endpoint=False)
    circle = radius_mm * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(20)])
    for soldier in standing.soldiers:
        around = circle + np.array([soldier.x_mm, soldier.y_mm, 0.0])
        cv2.fillConvexPoly(free, corners_of(view.project(around)), 0)
    return np.asarray(free > 0)


def clear_of_the_cannon(view: BoardView, scene: Scene, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Mark with 1 what the cannon does not cover, wherever it recoils; parameters and shape as `away_from_soldiers`."""
    free = np.ones(shape[:2], np.uint8)
    cv2.fillConvexPoly(free, corners_of(view.project(cannon_mm(scene))), 0)
    return free


def corners_of(pixels: FloatArray) -> NDArray[np.int32]:
    """Round corners (N, 2) as OpenCV fills polygons."""
    return np.round(np.clip(pixels, -1e5, 1e5)).astype(np.int32)


def cannon_mm(scene: Scene) -> FloatArray:
    """Return the ground that the cannon may cover: behind and before its muzzle, or its whole end where that is unknown."""
    ahead = 1.0 if scene.cannon_side is Side.A else -1.0
    if scene.muzzle_mm is None:
        left_mm, right_mm = -_CANNON_HALF_MM, scene.width_mm + _CANNON_HALF_MM
        front_mm = 0.0 if scene.cannon_side is Side.A else scene.length_mm
    else:
        left_mm, right_mm = scene.muzzle_mm[0] - _CANNON_HALF_MM, scene.muzzle_mm[0] + _CANNON_HALF_MM
        front_mm = scene.muzzle_mm[1]
    near_mm, back_mm = front_mm + ahead * _CANNON_AHEAD_MM, front_mm - ahead * _BEHIND_MM
    return np.array(
        [[left_mm, near_mm, 0], [right_mm, near_mm, 0], [right_mm, back_mm, 0], [left_mm, back_mm, 0]]
    )

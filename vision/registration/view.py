"""A camera that sees the board: from board points to pixels and back.

Pixels are (u, v), u to the right and v down, the centre of the first pixel at (0, 0). Board points are
(x, y, z) in millimetres.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.scene import Scene

__all__ = ["BoardView", "EitherWay", "NoBoard"]

FloatArray = NDArray[np.float64]

_GRID_STEP = 8


@dataclass(frozen=True, slots=True)
class NoBoard:
    """The board could not be found."""

    reason: str
    """One sentence for the person at the table."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardView:
    """A camera that sees the board: from board points to pixels and back."""

    camera_matrix: FloatArray
    """Shape (3, 3), px."""
    distortion: FloatArray
    """Shape (8,), OpenCV's order: k1, k2, p1, p2, k3, k4, k5, k6."""
    rotation: FloatArray
    """``camera_from_board`` rotation, shape (3, 3)."""
    translation_mm: FloatArray
    """Board origin in the camera frame, shape (3,)."""
    width_px: int
    """Picture width."""
    height_px: int
    """Picture height."""
    error_mm: float
    """One standard deviation of the worst corner of the board, on the board: of the distance, not of x or y alone."""
    markers_used: tuple[int, ...] = ()
    """Ids of the markers that the pose stands on; empty where corners were given."""
    moved_mm: Mapping[int, float] = field(default_factory=dict)
    """Markers that were seen and left out, with how far each lies from where it should."""
    lines_used: int = 0
    """How many of the 262 edges between squares the pose stands on."""
    square_error_mm: FloatArray | None = None
    """One standard deviation of the distance at the middle of each square, on the board: shape (18, 8), rows along y,
    files along x; ``None`` for a camera that nobody fitted."""
    camera_mm: FloatArray = field(init=False)
    """The camera's centre in the board frame, shape (3,)."""
    _rotation_vector: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "camera_mm", -self.rotation.T @ self.translation_mm)
        object.__setattr__(self, "_rotation_vector", cv2.Rodrigues(self.rotation)[0].reshape(3))

    def project(self, points_mm: FloatArray) -> FloatArray:
        """Pixels of board points.

        Parameters
        ----------
        points_mm
            Shape (N, 3), board frame.

        Returns
        -------
        Shape (N, 2), (u, v) px.
        """
        points = np.ascontiguousarray(points_mm, dtype=np.float64).reshape(-1, 3)
        if len(points) == 0:
            return np.zeros((0, 2))
        pixels, _ = cv2.projectPoints(
            points, self._rotation_vector, self.translation_mm, self.camera_matrix, self.distortion
        )
        return np.asarray(pixels, dtype=np.float64).reshape(-1, 2)

    def project_grid(self, x_mm: FloatArray, y_mm: FloatArray, z_mm: float = 0.0) -> NDArray[np.float32]:
        """Pixels of a fine grid of board points at one height.

        They change so smoothly that only every eighth is projected; those between lie on straight lines.

        Parameters
        ----------
        x_mm, y_mm
            Where its columns and rows lie, evenly spaced, two or more of each.
        z_mm
            Height above the playing surface.

        Returns
        -------
        Shape (rows, columns, 2), (u, v) px.
        """
        coarse_mm = [
            of[0] + (of[1] - of[0]) * np.arange(0, len(of) + _GRID_STEP, _GRID_STEP) for of in (x_mm, y_mm)
        ]
        x, y = np.meshgrid(*coarse_mm)
        coarse = self.project(np.column_stack([x.ravel(), y.ravel(), np.full(x.size, z_mm)]))
        across, down = np.meshgrid(
            *(np.arange(len(of), dtype=np.float32) / _GRID_STEP for of in (x_mm, y_mm))
        )
        fine = cv2.remap(coarse.astype(np.float32).reshape(*x.shape, 2), across, down, cv2.INTER_LINEAR)
        return np.asarray(fine, dtype=np.float32)

    def on_plane(self, pixels: FloatArray, z_mm: float = 0.0) -> FloatArray:
        """Board points at height `z_mm` that are seen at pixels.

        Parameters
        ----------
        pixels
            Shape (N, 2), (u, v) px.
        z_mm
            Height above the playing surface.

        Returns
        -------
        Shape (N, 2), (x, y) mm.
        """
        directions = self._towards(pixels)
        reach = (z_mm - self.camera_mm[2]) / directions[:, 2:]
        points: FloatArray = self.camera_mm[:2] + reach * directions[:, :2]
        return points

    def turned(self, scene: Scene) -> BoardView:
        """Give the same camera with the board's ends exchanged: (x, y) becomes (width - x, length - y)."""
        errors = self.square_error_mm
        return replace(
            self,
            rotation=self.rotation * (-1.0, -1.0, 1.0),
            translation_mm=self.rotation @ (scene.width_mm, scene.length_mm, 0.0) + self.translation_mm,
            square_error_mm=None if errors is None else errors[::-1, ::-1],
        )

    def _towards(self, pixels: FloatArray) -> FloatArray:
        """Directions through pixels in the board frame, of any length, shape (N, 3)."""
        flat = self.on_unit_plane(pixels)
        directions: FloatArray = flat @ self.rotation[:2] + self.rotation[2]
        return directions

    def on_unit_plane(self, pixels: FloatArray) -> FloatArray:
        """Where lines of sight through pixels (N, 2) cross the plane at distance one before the camera, shape (N, 2)."""
        pixels = np.ascontiguousarray(pixels, dtype=np.float64).reshape(-1, 1, 2)
        if len(pixels) == 0:
            return np.zeros((0, 2))
        flat = cv2.undistortPoints(pixels, self.camera_matrix, self.distortion)
        return np.asarray(flat, dtype=np.float64).reshape(-1, 2)

    def mm_per_px(self, x_mm: float, y_mm: float, z_mm: float = 0.0) -> float:
        """Length on a plane of constant height that one pixel covers there, the mean of both directions."""
        step = 1.0
        points = np.array([[x_mm, y_mm, z_mm], [x_mm + step, y_mm, z_mm], [x_mm, y_mm + step, z_mm]])
        pixels = self.project(points)
        along = pixels[1:] - pixels[0]
        area_px = abs(along[0, 0] * along[1, 1] - along[0, 1] * along[1, 0])
        return float(step / np.sqrt(area_px))


@dataclass(frozen=True, slots=True, eq=False)
class EitherWay(NoBoard):
    """The board was found, but nothing in the picture tells which end is whose."""

    view: BoardView
    """The camera, one way round; the other is `BoardView.turned`."""

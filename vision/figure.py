"""What a standing figure covers of the board, seen from the camera.

A figure is a foot, a flat disc on the board, and a body that narrows upwards. A slice of the body at height z covers
the board as a disc farther from the camera's foot point by the factor ``Z / (Z - z)``, Z being the camera's height.
That is why a soldier near the rim of the board seems to stand beside its square, and why its head is no guide.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.surface import Raster

__all__ = ["Figure"]

FloatArray = NDArray[np.float64]

_SLICE_MM = 2.0
_FOOT_THICKNESS_MM = 2.5
_SUBPIXEL_BITS = 4


@dataclass(frozen=True, slots=True)
class Figure:
    """The size of the figures on a table."""

    height_mm: float
    """From the board to the top of the head."""
    foot_radius_mm: float
    """Radius of the disc that covers as much as the foot."""

    def body_radius_mm(self, z_mm: float) -> float:
        """Radius of the body at a height: shoulders low and wide, head narrow."""
        return 0.17 * self.height_mm * (1 - 0.35 * z_mm / self.height_mm)

    def shadow_of_sight(
        self, camera_mm: FloatArray, x_mm: float, y_mm: float, from_z_mm: float = 0.0
    ) -> FloatArray:
        """Discs on the board that the figure hides from the camera.

        Parameters
        ----------
        camera_mm
            The camera's centre, shape (3,).
        x_mm, y_mm
            Middle of the foot.
        from_z_mm
            Only what is at least this high.

        Returns
        -------
        Shape (N, 3): x, y and radius in mm of each slice.
        """
        z = np.arange(from_z_mm, self.height_mm + 0.1, _SLICE_MM)
        stretch = camera_mm[2] / (camera_mm[2] - z)
        radius = np.where(
            z < _FOOT_THICKNESS_MM, self.foot_radius_mm, [self.body_radius_mm(float(h)) for h in z]
        )
        return np.column_stack(
            [
                camera_mm[0] + (x_mm - camera_mm[0]) * stretch,
                camera_mm[1] + (y_mm - camera_mm[1]) * stretch,
                radius * stretch,
            ]
        )

    @staticmethod
    def draw(
        discs: FloatArray, raster: Raster, corner_px: tuple[int, int], size_px: tuple[int, int]
    ) -> NDArray[np.float32]:
        """Draw discs on a window of the raster: 1 inside, 0 outside, between on the rim.

        Parameters
        ----------
        discs
            Shape (N, 3): x, y, radius in mm.
        raster
            The raster.
        corner_px
            (column, row) of the window's first pixel; it may lie outside of the raster.
        size_px
            (width, height) of the window.
        """
        one = 1 << _SUBPIXEL_BITS
        canvas = np.zeros((size_px[1], size_px[0]), dtype=np.uint8)
        centres = np.round((raster.to_px(discs[:, :2]) - corner_px) * one).astype(int)
        radii = np.round(discs[:, 2] / raster.mm_per_px * one).astype(int)
        for centre, radius in zip(centres.tolist(), radii.tolist(), strict=True):
            cv2.circle(canvas, centre, radius, 255, -1, cv2.LINE_AA, _SUBPIXEL_BITS)
        return np.asarray(canvas, dtype=np.float32) / np.float32(255)

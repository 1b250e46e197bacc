"""What a standing figure covers of the board, seen from the camera.

A figure is a foot, a flat disc on the board, and a body that narrows upwards. A slice of the body at height z covers
the board as a disc farther from the camera's foot point by the factor ``Z / (Z - z)``, Z being the camera's height.
That is why a soldier near the rim of the board seems to stand beside its square, and why its head is no guide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.soldiers.surface import Raster

__all__ = ["Discs", "Figure", "hidden_by_figures"]

FloatArray = NDArray[np.float64]
# A few numbers each, and there are hundreds of figures: arrays of three cost more than they save.
Discs = Sequence[tuple[float, float, float]]
"""x, y and radius in mm of each."""

_FOOT_THICKNESS_MM = 2.5
_SUBPIXEL_BITS = 4
_ROUND = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
# Corners of a disc, so far out that they span as much as the disc.
_CORNERS = np.column_stack([np.cos(_ROUND), np.sin(_ROUND)]) * np.sqrt(
    2 * np.pi / 24 / np.sin(2 * np.pi / 24)
)


@dataclass(frozen=True, slots=True)
class Figure:
    """The size of the figures on a table."""

    height_mm: float
    """From the board to the top of the head."""
    foot_radius_mm: float
    """Radius of the disc that covers as much as the foot."""

    def body_radius_mm(self, z_mm: FloatArray) -> FloatArray:
        """Radius of the body at heights: shoulders low and wide, head narrow."""
        return np.array([self._body_radius_mm(z) for z in z_mm.tolist()])

    def _body_radius_mm(self, z_mm: float) -> float:
        return 0.17 * self.height_mm * (1 - 0.35 * z_mm / self.height_mm)

    def shadow_of_sight(
        self, camera_mm: FloatArray, x_mm: float, y_mm: float, from_z_mm: float = 0.0
    ) -> Discs:
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
        The foot, the lowest slice of the body and its highest; or the last two. What lies between those two is hidden
        as well.
        """
        camera_x_mm, camera_y_mm, camera_z_mm = camera_mm.tolist()
        slices = [
            (z_mm, self._body_radius_mm(z_mm))
            for z_mm in (max(from_z_mm, _FOOT_THICKNESS_MM), self.height_mm)
        ]
        if from_z_mm <= 0:
            slices.insert(0, (0.0, self.foot_radius_mm))
        discs = []
        for z_mm, radius_mm in slices:
            stretch = camera_z_mm / (camera_z_mm - z_mm)
            discs.append(
                (
                    camera_x_mm + (x_mm - camera_x_mm) * stretch,
                    camera_y_mm + (y_mm - camera_y_mm) * stretch,
                    radius_mm * stretch,
                )
            )
        return discs

    @staticmethod
    def box(discs: Discs, raster: Raster, margin_px: int = 0) -> tuple[int, int, int, int]:
        """First column and row of the raster that discs lie in, and those after the last; they may lie outside of it."""
        at_nought, mm_per_px = raster.px_per_square - 0.5, raster.mm_per_px
        left, top = (min([d[k] - d[2] for d in discs]) / mm_per_px + at_nought for k in (0, 1))
        right, bottom = (max([d[k] + d[2] for d in discs]) / mm_per_px + at_nought for k in (0, 1))
        return (
            math.floor(left) - margin_px,
            math.floor(top) - margin_px,
            math.ceil(right) + 1 + margin_px,
            math.ceil(bottom) + 1 + margin_px,
        )

    @classmethod
    def hidden(cls, discs: Discs, raster: Raster) -> tuple[tuple[slice, slice], NDArray[np.bool_]]:
        """Give the window of the raster that discs lie in, and which of its pixels they cover: none where they lie beside it."""
        left, top, right, bottom = cls.box(discs, raster)
        left, top = max(left, 0), max(top, 0)
        right, bottom = min(right, raster.shape[1]), min(bottom, raster.shape[0])
        if left >= right or top >= bottom:
            return np.s_[0:0, 0:0], np.zeros((0, 0), dtype=np.bool_)
        drawn = cls.draw(discs, raster, (left, top), (right - left, bottom - top))
        return np.s_[top:bottom, left:right], drawn > 0.5

    @staticmethod
    def draw(
        discs: Discs, raster: Raster, corner_px: tuple[int, int], size_px: tuple[int, int]
    ) -> NDArray[np.float32]:
        """Draw what a figure hides on a window of the board: 1 inside, 0 outside, between on the rim.

        Parameters
        ----------
        discs
            As from `shadow_of_sight`; one alone is a foot.
        raster
            The raster.
        corner_px
            (column, row) of the window's first pixel; it may lie outside of the raster.
        size_px
            (width, height) of the window.
        """
        one = 1 << _SUBPIXEL_BITS
        canvas = np.zeros((size_px[1], size_px[0]), dtype=np.uint8)
        scale, at_nought = one / raster.mm_per_px, (raster.px_per_square - 0.5) * one
        left, top = corner_px[0] * one - at_nought, corner_px[1] * one - at_nought
        circles = [(x * scale - left, y * scale - top, radius * scale) for x, y, radius in discs]
        if len(discs) != 2:
            u, v, radius = circles[0]
            cv2.circle(canvas, (round(u), round(v)), round(radius), 255, -1, cv2.LINE_AA, _SUBPIXEL_BITS)
        if len(discs) > 1:
            slices = np.array(circles[-2:])[:, None]
            ends = np.rint(_CORNERS * slices[..., 2:] + slices[..., :2])
            body = cv2.convexHull(ends.astype(np.int32).reshape(-1, 2))
            cv2.fillConvexPoly(canvas, body, 255, cv2.LINE_AA, _SUBPIXEL_BITS)
        return canvas.astype(np.float32) / np.float32(255)


def hidden_by_figures(
    raster: Raster, view: BoardView, figure: Figure, feet_mm: FloatArray
) -> NDArray[np.bool_]:
    """Tell where on the raster figures hide the board.

    Parameters
    ----------
    raster, view, figure
        The board's raster, the camera, and the size of the figures.
    feet_mm
        Where soldiers stand, shape (N, 2).

    Returns
    -------
    Shape (rows, columns).
    """
    hidden = np.zeros(raster.shape, dtype=np.bool_)
    for x_mm, y_mm in feet_mm:
        discs = figure.shadow_of_sight(view.camera_mm, float(x_mm), float(y_mm))
        left, top, right, bottom = figure.box(discs, raster, 2)
        left, top = max(left, 0), max(top, 0)
        window = hidden[top:bottom, left:right]
        window |= figure.draw(discs, raster, (left, top), (window.shape[1], window.shape[0])) > 0
    return hidden

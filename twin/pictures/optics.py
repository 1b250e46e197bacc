"""Where the camera hangs and how its lens bends: from the board to pixels and back.

Camera axes are OpenCV's: x to the right of the picture, y down, z along the view. Pixel (0, 0) is the middle of the
upper left pixel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from twin.limits import above, within

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """Where the camera hangs. Upright, it looks straight down with +y of the board to the right of the picture."""

    aim_mm: tuple[float, float] = (180.0, 405.0)
    """The point of the board that the middle of the view falls on."""
    height_mm: float = 1250.0
    """Distance from that point along the view."""
    tilt_rad: float = 0.0
    """Leans the camera about the picture's horizontal axis."""
    pan_rad: float = 0.0
    """Leans the camera about the picture's vertical axis."""
    roll_rad: float = 0.0
    """Turns the camera about its view."""

    def __post_init__(self) -> None:
        above(self, 0, "height_mm")
        within(self, 0, 1_000_000, "height_mm")
        within(self, -100_000, 100_000, "aim_mm")
        within(self, -2 * math.pi, 2 * math.pi, "tilt_rad", "pan_rad", "roll_rad")

    @property
    def camera_from_board(self) -> tuple[Points, Points]:
        """Rotation (3, 3) and translation (3,) in mm: ``camera = rotation @ board + translation``."""
        return _camera_from_board(self)

    @property
    def position_mm(self) -> Points:
        """The camera's place in the board frame."""
        rotation, translation = self.camera_from_board
        return np.asarray(-rotation.T @ translation)


@lru_cache(maxsize=64)
def _camera_from_board(pose: Pose) -> tuple[Points, Points]:
    straight = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    tilt, pan, roll = (
        cv2.Rodrigues(np.array(axis) * angle)[0]
        for axis, angle in (
            ((1.0, 0.0, 0.0), pose.tilt_rad),
            ((0.0, 1.0, 0.0), pose.pan_rad),
            ((0.0, 0.0, 1.0), pose.roll_rad),
        )
    )
    rotation = np.asarray(roll @ pan @ tilt @ straight)
    translation = np.array([0.0, 0.0, pose.height_mm]) - rotation @ np.array([*pose.aim_mm, 0.0])
    rotation.setflags(write=False)
    translation.setflags(write=False)
    return rotation, translation


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """A lens over a sensor of square pixels: OpenCV's pinhole with distortion, where asked for by its rational model."""

    width_px: int = 1280
    """Columns of the sensor."""
    height_px: int = 720
    """Rows of the sensor."""
    focal_px: float = 1560.0
    """Focal length, in pixels of the sensor."""
    centre_px: tuple[float, float] | None = None
    """Principal point; None for the middle of the picture."""
    k1: float = 0.0
    """First radial term of OpenCV's distortion; negative for a barrel."""
    k2: float = 0.0
    """Second radial term."""
    p1: float = 0.0
    """First tangential term."""
    p2: float = 0.0
    """Second tangential term."""
    k3: float = 0.0
    """Third radial term."""
    k4: float = 0.0
    """First radial term below the line."""
    k5: float = 0.0
    """Second of these."""
    k6: float = 0.0
    """Third of these."""

    def __post_init__(self) -> None:
        within(self, 16, 10_000, "width_px", "height_px")
        above(self, 0, "focal_px")
        within(self, -1000, 1000, "k1", "k2", "k3", "k4", "k5", "k6")
        within(self, -1, 1, "p1", "p2")

    @property
    def intrinsics(self) -> tuple[float, float, float, float]:
        """(fx, fy, cx, cy) in px."""
        centre = self.centre_px or ((self.width_px - 1) / 2, (self.height_px - 1) / 2)
        return self.focal_px, self.focal_px, centre[0], centre[1]

    @property
    def matrix(self) -> Points:
        """The (3, 3) camera matrix."""
        fx, fy, cx, cy = self.intrinsics
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])

    @property
    def distortion(self) -> tuple[float, ...]:
        """(k1, k2, p1, p2, k3), of the rational model with k4, k5, k6."""
        terms = (self.k1, self.k2, self.p1, self.p2, self.k3)
        below = (self.k4, self.k5, self.k6)
        return (*terms, *below) if any(below) else terms

    def scaled(self, factor: float) -> Lens:
        """Return the same lens over a picture of fewer or more pixels."""
        centre_px = self.centre_px
        if centre_px is not None:
            centre_px = ((centre_px[0] + 0.5) * factor - 0.5, (centre_px[1] + 0.5) * factor - 0.5)
        return replace(
            self,
            width_px=round(self.width_px * factor),
            height_px=round(self.height_px * factor),
            focal_px=self.focal_px * factor,
            centre_px=centre_px,
        )

    def distort(self, pinhole_px: Points) -> Points:
        """Bend (n, 2) pixels of the same camera without distortion to where the lens puts them."""
        fx, fy, cx, cy = self.intrinsics
        x, y = (pinhole_px[:, 0] - cx) / fx, (pinhole_px[:, 1] - cy) / fy
        r2 = x * x + y * y
        radial = 1 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))
        if any((self.k4, self.k5, self.k6)):
            radial /= 1 + r2 * (self.k4 + r2 * (self.k5 + r2 * self.k6))
        bent_x = x * radial + 2 * self.p1 * x * y + self.p2 * (r2 + 2 * x * x)
        bent_y = y * radial + self.p1 * (r2 + 2 * y * y) + 2 * self.p2 * x * y
        return np.column_stack([bent_x * fx + cx, bent_y * fy + cy])

    def straighten(self, seen_px: Points) -> Points:
        """Undo `distort`."""
        criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-7)
        straight = cv2.undistortPoints(
            seen_px.reshape(-1, 1, 2),
            self.matrix,
            np.array(self.distortion),
            P=self.matrix,
            criteria=criteria,
        )
        return np.asarray(straight, dtype=np.float64).reshape(-1, 2)


def project(pose: Pose, lens: Lens, board_mm: Points) -> Points:
    """Return the pixels (n, 2) of points (n, 3) of the board frame."""
    return lens.distort(project_pinhole(pose, lens, board_mm))


def project_pinhole(pose: Pose, lens: Lens, board_mm: Points) -> Points:
    """Return the pixels (n, 2) that a lens without distortion would show."""
    rotation, translation = pose.camera_from_board
    camera_mm = board_mm @ rotation.T + translation
    fx, fy, cx, cy = lens.intrinsics
    return np.column_stack(
        [camera_mm[:, 0] / camera_mm[:, 2] * fx + cx, camera_mm[:, 1] / camera_mm[:, 2] * fy + cy]
    )


@dataclass(frozen=True, slots=True)
class Rect:
    """Whole pixels, from (left, top) up to but without (right, bottom)."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def around(cls, points_px: Points, margin_px: float) -> Rect:
        """Return the smallest rectangle around points, with a margin."""
        low = np.floor(points_px.min(axis=0) - margin_px).astype(int)
        high = np.ceil(points_px.max(axis=0) + margin_px).astype(int) + 1
        return cls(int(low[0]), int(low[1]), int(high[0]), int(high[1]))

    @property
    def empty(self) -> bool:
        """Whether it holds no pixel."""
        return self.right <= self.left or self.bottom <= self.top

    @property
    def width(self) -> int:
        """Columns."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Rows."""
        return self.bottom - self.top

    @property
    def slices(self) -> tuple[slice, slice]:
        """Row and column slices of an array."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    def grown(self, margin: int) -> Rect:
        """Return it larger by a margin all round."""
        return Rect(self.left - margin, self.top - margin, self.right + margin, self.bottom + margin)

    def seen_from(self, other: Rect) -> Rect:
        """Return it with the upper left pixel of `other` as (0, 0)."""
        return Rect(
            self.left - other.left, self.top - other.top, self.right - other.left, self.bottom - other.top
        )

    def within(self, other: Rect) -> Rect:
        """Return what both share."""
        return Rect(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def joined(self, other: Rect) -> Rect:
        """Return the smallest rectangle around both."""
        return Rect(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def border(self, step_px: float = 16.0) -> Points:
        """Return points along the rim, for bending it through a lens."""
        across = np.linspace(self.left, self.right - 1, max(2, math.ceil(self.width / step_px)))
        down = np.linspace(self.top, self.bottom - 1, max(2, math.ceil(self.height / step_px)))
        return np.vstack(
            [
                np.column_stack([across, np.full_like(across, self.top)]),
                np.column_stack([across, np.full_like(across, self.bottom - 1)]),
                np.column_stack([np.full_like(down, self.left), down]),
                np.column_stack([np.full_like(down, self.right - 1), down]),
            ]
        )


def join_overlapping(rects: list[Rect]) -> list[Rect]:
    """Join rectangles until none of them overlap."""
    joined: list[Rect] = []
    for rect in rects:
        merged = rect
        again = True
        while again:
            again = False
            for other in joined:
                if not merged.within(other).empty:
                    joined.remove(other)
                    merged = merged.joined(other)
                    again = True
                    break
        joined.append(merged)
    return joined

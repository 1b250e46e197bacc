"""Which parts of the picture the calibration board has been seen in, how tilted, and what to show next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.lens.sighting import Sighting

__all__ = ["CELLS", "Coverage", "cover", "cover_roughly"]

FloatArray = NDArray[np.float64]

CELLS = (4, 6)
"""Parts of the picture, down and across, each of which wants to be covered."""
_ENOUGH_VIEWS = 2  # of a part
_ENOUGH_TILT_RAD = np.radians(20.0)
_ENOUGH_TILTED = 2  # views leaning each way
_ENOUGH_PICTURES = 12
_ROUGH_FOCAL_WIDTHS = 1.0
_DOWN = ("upper", "middle", "lower")
_ACROSS = ("left", "middle", "right")


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """What has been seen so far."""

    views: NDArray[np.int64]
    """How many pictures show corners of the board in each part of the picture, shape `CELLS`."""
    tilts_rad: FloatArray
    """How the board leans in each picture, about the picture's horizontal and vertical axis; shape (pictures, 2)."""

    @property
    def share(self) -> float:
        """Part of the picture that is covered, 0 to 1."""
        return float((self.views >= _ENOUGH_VIEWS).mean())

    @property
    def advice(self) -> tuple[str, ...]:
        """What to show next, the most useful first, a clause each; empty where nothing is missing."""
        wanted = []
        bare = self.views < _ENOUGH_VIEWS
        thirds = {
            (down, across): float(bare[_third(CELLS[0], down), _third(CELLS[1], across)].mean())
            for down in range(3)
            for across in range(3)
        }
        missing = sorted((place for place in thirds if thirds[place] > 0.5), key=lambda p: -thirds[p])
        if missing:
            named = ", ".join(_place(*place) for place in missing)
            wanted.append(f"bring the board into these parts of the picture: {named}")
        wanted.extend(self.tilts_wanted)
        pictures = len(self.tilts_rad)
        if pictures < _ENOUGH_PICTURES:
            wanted.append(f"take {_ENOUGH_PICTURES - pictures} more, each from another side")
        return tuple(wanted)

    @property
    def tilts_wanted(self) -> tuple[str, ...]:
        """How the board has not leant yet, a clause each: without that, no focal length is told."""
        wanted = []
        about_horizontal, about_vertical = (np.abs(self.tilts_rad) >= _ENOUGH_TILT_RAD).sum(axis=0)
        if about_horizontal < _ENOUGH_TILTED:
            wanted.append("tilt its upper edge away from the camera, then towards it, by 20 to 45 degrees")
        if about_vertical < _ENOUGH_TILTED:
            wanted.append("turn its left edge away from the camera, then towards it, by 20 to 45 degrees")
        return tuple(wanted)


def cover(sightings: Sequence[Sighting], poses: FloatArray, size_px: tuple[int, int]) -> Coverage:
    """Count what pictures cover.

    Parameters
    ----------
    sightings
        One for each picture.
    poses
        Where the board was held: rotation vector and translation, shape (pictures, 6).
    size_px
        Width and height of the pictures.
    """
    views = np.zeros(CELLS, dtype=np.int64)
    for sighting in sightings:
        share = (sighting.pixels + 0.5) / size_px
        across, down = (np.clip(share[:, k] * CELLS[1 - k], 0, CELLS[1 - k] - 1).astype(int) for k in (0, 1))
        seen = np.zeros(CELLS, dtype=bool)
        seen[down, across] = True
        views += seen
    tilts = np.zeros((len(sightings), 2))
    for k, pose in enumerate(poses):
        normal = cv2.Rodrigues(pose[:3])[0][:, 2]
        normal = normal * np.sign(normal[2])
        tilts[k] = np.arctan2(normal[1], normal[2]), np.arctan2(normal[0], normal[2])
    return Coverage(views, tilts)


def cover_roughly(
    sightings: Sequence[Sighting], corners_mm: FloatArray, size_px: tuple[int, int]
) -> Coverage:
    """Count what pictures cover before any lens is known: a common one is taken, which tilts do not mind much."""
    width, height = size_px
    focal = _ROUGH_FOCAL_WIDTHS * max(size_px)
    matrix = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1.0]])
    flat = np.column_stack([corners_mm, np.zeros(len(corners_mm))])
    poses = np.zeros((len(sightings), 6))
    for k, sighting in enumerate(sightings):
        good, rotation, translation = cv2.solvePnP(flat[sighting.corners], sighting.pixels, matrix, None)
        if good:
            poses[k] = *np.ravel(rotation), *np.ravel(translation)
    return cover(sightings, poses, size_px)


def _third(count: int, which: int) -> slice:
    """Rows or columns of a third of the picture; neighbours share one where the thirds do not come out even."""
    return slice(which * count // 3, -(-(which + 1) * count // 3))


def _place(down: int, across: int) -> str:
    if down == across == 1:
        return "the middle"
    if down == 1:
        return f"the {_ACROSS[across]} edge"
    if across == 1:
        return f"the {_DOWN[down]} edge"
    return f"the {_DOWN[down]} {_ACROSS[across]} corner"

"""Bare board that was never seen bare: what a soldier lays open where something is painted that goes on around its place.

A path or a pond that is painted once is on no other square, so it looks strange; laid open by a soldier who stood on it, it
looks like somebody new. But what shows there goes on all around, where nothing has changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.falls.topple import Place

__all__ = ["find_uncovered"]

FloatImage = NDArray[np.float32]
Mask = NDArray[np.bool_]

# What belongs to a figure, as its base or its rifle, may be seen so far beyond what it is taken to cover.
_OUTSIDE_MM = 3.0
_AROUND_MM = 12.0
# Less of what is around than this is something that lies there, not what the board is painted with.
_LEAST_PAINTED = 0.15
_FEWEST_PX = 6


def find_uncovered(
    flat: FloatImage, places: Sequence[Place], strange: Mask, same: Mask, *, mm_per_px: float, step: float
) -> Mask:
    """Find what of soldiers' old places shows what is painted around them.

    Parameters
    ----------
    flat
        The picture after the shot on the raster, shape (rows, columns, 3): colours tell paint from uniforms, grey does not.
    places
        Everybody's place before.
    strange
        Where on the raster it looks neither like the bare board nor like its shadow, shape (rows, columns).
    same
        Where it looks as before the shot, likewise.
    mm_per_px
        Of the raster.
    step
        Grey levels by which pixels differ for sure.

    Returns
    -------
    Where what looks strange is the bare board, shape (rows, columns).
    """
    uncovered = np.zeros(strange.shape, dtype=np.bool_)
    manned = np.zeros(strange.shape, dtype=np.uint8)
    for place in places:
        manned[place.window] |= place.shape
    painted = strange & same & (_grown(manned, _OUTSIDE_MM / mm_per_px) == 0)
    reach = round(_AROUND_MM / mm_per_px)
    for place in places:
        new = place.shape & ~same[place.window] & strange[place.window]
        if not new.any():
            continue
        around, shape = _widened(place, reach, strange.shape)
        ring = (_grown(shape, reach) > 0) & (manned[around] == 0)
        paint = ring & painted[around]
        if paint.sum() < max(_LEAST_PAINTED * ring.sum(), _FEWEST_PX):
            continue
        off = np.abs(flat[place.window][new][:, None] - flat[around][paint]).max(axis=2).min(axis=1)
        uncovered[place.window][new] = off < step
    return uncovered


def _widened(
    place: Place, by_px: int, size: tuple[int, ...]
) -> tuple[tuple[slice, slice], NDArray[np.uint8]]:
    """Give a window so much wider than a place's, within a raster of a size, and what the place covers of it."""
    rows, columns = place.window
    top, left = max(rows.start - by_px, 0), max(columns.start - by_px, 0)
    around = np.s_[top : min(rows.stop + by_px, size[0]), left : min(columns.stop + by_px, size[1])]
    shape = np.zeros((around[0].stop - top, around[1].stop - left), dtype=np.uint8)
    shape[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left] = place.shape
    return around, shape


def _grown(mask: NDArray[np.uint8], by_px: float) -> NDArray[np.uint8]:
    """Grow a mask by so many pixels every way."""
    side = 2 * round(by_px) + 1
    return np.asarray(
        cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))), dtype=np.uint8
    )

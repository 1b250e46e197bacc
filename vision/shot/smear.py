"""Where exactly a smear lies: the shot's own shape laid over what a picture has and its neighbours have not.

A streak's middle is pulled about by the print of the board below: over a dark circle a dark shot does not show, over a
light one it does. The shot covers what is below it by a share that follows from its size, its speed and the exposure
alone; the picture is ``background + share * (shot - background)``. With the shot's colour known from its plainest
streaks, the share is laid over the picture at every place near the expected one; where the squares left over are
fewest, there it is, and how much fewer they are than without a shot says how sure that is. That finds it too where it
is too faint for a streak.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.over_colours import over_colours
from vision.shot.streaks import neighbours

__all__ = [
    "ALIKE",
    "LEAST_NOISE",
    "Smear",
    "SmearFitter",
    "correlated",
    "covered",
    "covered_about",
    "peak",
    "variances",
]

FloatArray = NDArray[np.float64]

_REACH_PX = 7  # a smear is looked for within so far of where it is expected
_ASIDE_PX = np.array([-0.5, 0.0, 0.5])[:, None]  # so far optics and pixels soften its edges
LEAST_NOISE = 1.0  # grey levels
ALIKE = 2.0
"""Neighbouring pixels of a compressed picture are not told apart: the variance of their noise counts so many times."""
_LEAST_SIGMA_PX = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Smear:
    """The shot in one picture."""

    place_px: FloatArray
    """Its middle (u, v)."""
    sigmas_px: FloatArray
    """Standard deviations of the middle along the smear and across, shape (2,)."""
    gain: float
    """By how many standard deviations squared it explains the picture better than no shot."""
    share: float
    """What part of the shot's colour shows there; 1 for the shot, anything for something else."""
    lit: bool = False
    """Whether the shot is brighter than what is below."""


@dataclass(frozen=True, slots=True, eq=False)
class _LaidOver:
    """The shot laid over a cut of a picture at each place of a window."""

    corner: FloatArray
    """Of the cut, (u, v)."""
    change: FloatArray
    """By which the cut differs from what is there else, (rows, columns, colours)."""
    pull: FloatArray
    """Product of that and of what a shot there would change, over the colours, (rows, columns)."""
    push: FloatArray
    """Square of what a shot there would change."""
    lit: bool
    """Whether that is to be brighter."""
    first_px: FloatArray
    """First place of the window, (u, v) in the cut."""
    pulled: FloatArray
    """The pull under the shot's share, of each place of the window."""
    pushed: FloatArray

    @property
    def taken_off(self) -> FloatArray:
        """By how much the shot at each place of the window makes the squares less."""
        return 2 * self.pulled - self.pushed


class SmearFitter:
    """Lays smears of one size over a clip's pictures.

    Parameters
    ----------
    frames
        All pictures, (height, width) or (height, width, 3) BGR.
    timestamps_us
        Their times.
    diameter_px
        The shot's.
    """

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        timestamps_us: Sequence[int],
        diameter_px: float,
    ) -> None:
        self._frames = frames
        self._times_us = timestamps_us
        self._radius_px = diameter_px / 2
        self._colour: FloatArray | None = None

    def learn(self, plain: Sequence[tuple[int, FloatArray, FloatArray]]) -> None:
        """Learn the shot's colour from plain smears: picture, middle (u, v), and direction times length, in px."""
        shades = []
        for k, place, way in plain:
            cut = self._cut(k, self._box(place, way, 0))
            if cut is not None:
                corner, now, still = cut
                share = covered(now.shape[:2], place - corner, way, self._radius_px)[..., None]
                weight = float((share**2).sum())
                if weight > 0:  # far thinner than a pixel, it lies over the middle of none
                    shades.append((share * (now - still + share * still)).sum(axis=(0, 1)) / weight)
        self._colour = np.median(np.array(shades), axis=0) if shades else None

    def fit(self, k: int, place: FloatArray, way: FloatArray) -> Smear | None:
        """Find the shot near a place of picture k; ``None`` where it cannot be told.

        Parameters
        ----------
        k
            The picture.
        place
            Where it is expected, (u, v).
        way
            Direction of the smear times its length, in px.
        """
        laid_over = self._laid_over(k, place, way)
        if laid_over is None:
            return None
        near = laid_over.taken_off
        row, column = divmod(int(near[1:-1, 1:-1].argmax()), near.shape[1] - 2)
        patch = near[row : row + 3, column : column + 3]
        shift, curve = peak(patch)
        best = np.array([column + 1, row + 1], dtype=np.float64) + laid_over.first_px + shift
        change, pull, push = laid_over.change, laid_over.pull, laid_over.push
        laid = covered(pull.shape, best, way, self._radius_px)
        left_over2 = float(np.vdot(change, change)) - float((laid * (2 * pull - laid * push)).sum())
        noise2 = ALIKE * max(left_over2 / change.size, LEAST_NOISE**2)
        covariance = 2 * noise2 * cv2.invert(curve, flags=cv2.DECOMP_SVD)[1]
        sigmas = np.sqrt(variances(covariance, way) + _LEAST_SIGMA_PX**2)
        shown = float(
            laid_over.pulled[row + 1, column + 1] / max(laid_over.pushed[row + 1, column + 1], 1e-9)
        )
        return Smear(best + laid_over.corner, sigmas, float(patch[1, 1]) / noise2, shown, laid_over.lit)

    def explained(self, k: int, place: FloatArray, way: FloatArray) -> float:
        """Say by how many squared grey levels the shot near a place explains picture k better than no shot; as for `fit`."""
        laid_over = self._laid_over(k, place, way)
        return 0.0 if laid_over is None else max(float(laid_over.taken_off.max()), 0.0)

    def _laid_over(self, k: int, place: FloatArray, way: FloatArray) -> _LaidOver | None:
        """Lay the shot over picture k at every place near one; ``None`` where it cannot be told."""
        if not np.abs(way).max() < max(self._frames[0].shape[:2]):
            return None  # no shot is in the picture for all that way: it would pass right before the lens
        cut = self._cut(k, self._box(place, way, _REACH_PX + 2))
        if cut is None or self._colour is None:
            return None
        corner, now, still = cut
        towards = self._colour - still
        change = now - still
        # What a share at a place takes off the squares: 2 * share * pull - share^2 * push, summed over the smear.
        pull, push = (over_colours(each * towards) for each in (change, towards))
        share = covered_about(way, self._radius_px, rim_px=2)
        column, row = np.floor(place - corner).astype(int).tolist()
        top, left = max(row - _REACH_PX, 0), max(column - _REACH_PX, 0)
        window = np.s_[top : max(row + _REACH_PX + 2, 0), left : max(column + _REACH_PX + 2, 0)]
        pulled, pushed = correlated(pull, share, window), correlated(push, share**2, window)
        if min(pulled.shape) < 3:
            return None
        first_px, lit = np.array([left, top], dtype=np.float64), bool(towards.mean() > 0)
        return _LaidOver(corner, change, pull, push, lit, first_px, pulled, pushed)

    def _box(self, place: FloatArray, way: FloatArray, reach: int) -> tuple[slice, slice]:
        """Rows and columns around a smear, as far as the picture goes."""
        half = np.abs(way) / 2 + self._radius_px + 3 + reach
        height, width = self._frames[0].shape[:2]
        low = np.clip(np.floor(place - half), 0, [width, height]).astype(int)
        high = np.clip(np.ceil(place + half) + 1, 0, [width, height]).astype(int)
        return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))

    def _cut(self, k: int, box: tuple[slice, slice]) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Give the box's corner (u, v), picture k in it and what its neighbours have there, (rows, columns, colours)."""
        before, after = neighbours(self._times_us, k)
        if before is None or after is None or min(each.stop - each.start for each in box) < 4:
            return None
        now, then, next_ = (self._frames[each][box].astype(np.float64) for each in (k, before, after))
        still = (then + next_) / 2
        if now.ndim == 2:
            now, still = now[..., None], still[..., None]
        return np.array([box[1].start, box[0].start], dtype=np.float64), now, still


def covered(shape: tuple[int, int], place: FloatArray, way: FloatArray, radius_px: float) -> FloatArray:
    """Share of the exposure for which a disc covers each pixel of a window.

    Parameters
    ----------
    shape
        Rows and columns of the window.
    place
        Middle of the disc's way, (u, v), from the window's first pixel.
    way
        Direction of its way times its length, in px.
    radius_px
        Of the disc.
    """
    length = max(float(np.hypot(*way)), 1e-6)
    along = way / length
    du, dv = np.arange(shape[1]) - place[0], (np.arange(shape[0]) - place[1])[:, None]
    a, b = np.abs(along[0] * du + along[1] * dv), np.abs(along[0] * dv - along[1] * du)
    # Most of a window lies beside the smear.
    near = (a < length / 2 + radius_px) & (b < radius_px + _ASIDE_PX[-1])
    a, b = a[near], b[near]
    half = np.sqrt(np.maximum(radius_px**2 - (b + _ASIDE_PX) ** 2, 0.0))
    within = np.minimum(a + half, length / 2) - np.maximum(a - half, -length / 2)
    share = np.zeros(shape)
    share[near] = np.minimum(np.maximum(within, 0.0).sum(axis=0) / (length * len(_ASIDE_PX)), 1.0)
    return share


def covered_about(way: FloatArray, radius_px: float, *, rim_px: float) -> FloatArray:
    """Do what `covered` does, of a window with a rim about a disc's way (u, v), whose middle is the window's."""
    rows, columns = (2 * math.ceil(abs(each) / 2 + radius_px + rim_px) + 1 for each in way[::-1])
    return covered((rows, columns), np.array([columns // 2, rows // 2], dtype=np.float64), way, radius_px)


def variances(covariance: FloatArray, way: FloatArray) -> FloatArray:
    """Give the variances of a place along a way (u, v) and across it, shape (2,), by its covariance, shape (2, 2); none below 0."""
    along = way / max(float(np.hypot(*way)), 1e-9)
    across = np.array([-along[1], along[0]])
    return np.array([max(float(each @ covariance @ each), 0.0) for each in (along, across)])


def correlated(
    field: FloatArray, kernel: FloatArray, window: tuple[slice, slice] = np.s_[:, :]
) -> FloatArray:
    """Sum of the field under the kernel, for the kernel's middle at each pixel of a window; nothing beyond the field's rim."""
    down, across = (size // 2 for size in kernel.shape)
    wide = cv2.copyMakeBorder(field, down, down, across, across, cv2.BORDER_CONSTANT, value=0.0)
    (top, bottom, _), (left, right, _) = (
        part.indices(size) for part, size in zip(window, field.shape, strict=True)
    )
    if bottom <= top or right <= left:
        return np.zeros((0, 0))
    needed = wide[top : bottom + 2 * down, left : right + 2 * across].astype(np.float32)
    found = cv2.matchTemplate(needed, kernel.astype(np.float32), cv2.TM_CCORR)
    return np.asarray(found, dtype=np.float64)


def peak(patch: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where a surface through 3 x 3 values is highest, off its middle (u, v), and how sharply it falls, (2, 2)."""
    uu = patch[1, 0] - 2 * patch[1, 1] + patch[1, 2]
    vv = patch[0, 1] - 2 * patch[1, 1] + patch[2, 1]
    uv = (patch[2, 2] - patch[2, 0] - patch[0, 2] + patch[0, 0]) / 4
    slope = np.array([patch[1, 2] - patch[1, 0], patch[2, 1] - patch[0, 1]]) / 2
    curve = -np.array([[uu, uv], [uv, vv]])
    bend = uu * vv - uv * uv
    if uu >= 0 or bend <= 0:
        return np.zeros(2), np.maximum(curve, 0) * np.eye(2)
    shift = np.array([uv * slope[1] - vv * slope[0], uv * slope[0] - uu * slope[1]]) / bend
    return np.minimum(np.maximum(shift, -0.75), 0.75), curve

"""The shot's own shadow where no streak shows it: what all pictures of a flight show together.

Under broad lamps a small shot's shadow takes a tenth of the light, over a printed board, and stands out of no picture by
itself. But the flight and the lamp say where it must lie in every picture, but for one thing: how high the shot flies. So
for each height the darkening is summed over all pictures where the shadow would be; at the right height it adds up. A
shadow is ``(1 - share * depth)`` times what is below it, of one depth along a flight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.over_colours import over_colours
from vision.registration import BoardView
from vision.shot.flight_fit import FlightFit
from vision.shot.smear import (
    ALIKE,
    LEAST_NOISE,
    Smear,
    correlated,
    covered,
    covered_about,
    peak,
    variances,
)
from vision.shot.streaks import SHOT_DIAMETER_MM, SHOT_RADIUS_MM, neighbours
from vision.soldiers.lamp import Lamp
from vision.steady import Sways

__all__ = ["find_faint_shadows"]

FloatArray = NDArray[np.float64]

_SIGMAS = 2.5  # heights that are tried, in what the flight leaves open
_STEP_PX = 0.5  # by which the shadow moves from one of them to the next
_FEWEST_HEIGHTS, _MOST_HEIGHTS = 9, 81
_AROUND_PX = 8
_OWN_PX = 2  # by which the shot hides more than its own smear
_MOVED = 12.0  # grey levels by which the neighbours differ where something else moves
_SOFT_PX = 1.5  # half-shade and pixels soften a shadow's edges
_DEPTH_RANGE = (0.08, 0.7)  # of the light; fainter ones of 50 flights were mostly the board's print
_LEAST_GAIN = 150.0
# Of the best gain; where another height, a shadow's width away, has more, neither is believed.
_PLAIN_SHARE = 0.85
_APART_PX = 5.0
_NEAR_PX = 3  # of where the height puts it, a shadow is measured
_LEAST_OWN_GAIN, _LEAST_OWN_DEPTH = 20.0, 0.4
# Pictures, and their share of all; where fewer show it, what was found is something else.
_FEWEST, _AGREEING = 2, 0.6
_LEAST_SIGMA_PX, _MOST_SIGMA_PX = 1.2, 4.0


@dataclass(frozen=True, slots=True, eq=False)
class _Darkening:
    """What one picture tells of shadows about a flight."""

    picture: int
    corner_px: FloatArray
    pulled: FloatArray
    """What a shadow with its middle at each pixel takes off the squares, for each part of its depth, shape (rows, columns)."""
    pushed: FloatArray
    """What it adds to them, for each part of its depth squared."""
    places_px: FloatArray
    """Where each height puts the shadow's middle, shape (heights, 2)."""
    way_px: FloatArray
    """Direction of its smear times its length."""

    def at_heights(self) -> tuple[FloatArray, FloatArray]:
        """Give `pulled` and `pushed` where each height puts the shadow, each of shape (heights,); nothing beyond the rim."""
        columns, rows = np.rint(self.places_px).astype(int).T
        height, width = self.pulled.shape
        told = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
        columns, rows = np.where(told, columns, 0), np.where(told, rows, 0)
        return np.where(told, self.pulled[rows, columns], 0.0), np.where(
            told, self.pushed[rows, columns], 0.0
        )


def find_faint_shadows(
    fit: FlightFit,
    seen: Mapping[int, FloatArray],
    lamp: Lamp,
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    view: BoardView,
    sways: Sways,
    diameter_px: float,
) -> list[tuple[int, Smear, FloatArray]]:
    """Find the shot's shadow along a flight; nothing where it is not plain at which height it lies.

    Parameters
    ----------
    fit
        The flight.
    seen
        Pictures in which it was seen, but its shadow was not; of each when it began to see it, midway, and when it ceased to,
        shape (3,), us.
    lamp
        What throws it.
    frames, timestamps_us, view, sways
        The clip, the camera, and how it shook.
    diameter_px
        The shot's.

    Returns
    -------
    Picture, shadow and direction times length, (u, v) px, of each that shows.
    """
    if len(seen) < _FEWEST:
        return []
    moments_us = np.array(list(seen.values()))
    last_us = float(moments_us[-1, 1])
    points, rise, sigma_mm = fit.by_height(moments_us.ravel(), last_us)
    height_mm = float(fit.flight.at(last_us)[0, 2])
    mm_per_px = SHOT_DIAMETER_MM / diameter_px
    moves_px = float(np.hypot(*lamp.slope)) / mm_per_px  # for each mm of height
    count = int(np.clip(2 * _SIGMAS * sigma_mm * moves_px / _STEP_PX, _FEWEST_HEIGHTS, _MOST_HEIGHTS))
    higher_mm = np.linspace(-_SIGMAS * sigma_mm, _SIGMAS * sigma_mm, count)
    higher_mm = higher_mm[height_mm + higher_mm >= 0.0]
    if not len(higher_mm):
        return []
    there = points[:, None] + higher_mm[:, None] * rise[:, None]
    there[..., 2] = np.maximum(there[..., 2], SHOT_RADIUS_MM)
    shape = len(seen), 3, len(higher_mm), 2
    thrown_px = view.project(lamp.shadow(there).reshape(-1, 3)).reshape(shape)
    own_px = view.project(there.reshape(-1, 3)).reshape(shape)
    told = []
    for k, thrown, own in zip(seen, thrown_px, own_px, strict=True):
        sway = sways.of(k, frames[k])
        shaken = np.array([sway.du_px, sway.dv_px])
        darkening = _darkening(frames, timestamps_us, k, thrown + shaken, own + shaken, diameter_px)
        if darkening is not None:
            told.append(darkening)
    best = _height(told, higher_mm, moves_px)
    return [] if best is None else _measured(told, *best)


def _darkening(
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    k: int,
    thrown_px: FloatArray,
    own_px: FloatArray,
    diameter_px: float,
) -> _Darkening | None:
    """Look for shadows in one picture; thrown_px, own_px: where they begin, are midway and end, shape (3, heights, 2)."""
    before, after = neighbours(timestamps_us, k)
    if before is None or after is None:
        return None
    middle = len(own_px[1]) // 2
    way, own_way = thrown_px[2, middle] - thrown_px[0, middle], own_px[2, middle] - own_px[0, middle]
    half = np.abs(way) / 2 + diameter_px / 2 + _AROUND_PX
    height, width = frames[k].shape[:2]
    low = np.clip(np.floor(thrown_px[1].min(axis=0) - half), 0, [width, height]).astype(int)
    high = np.clip(np.ceil(thrown_px[1].max(axis=0) + half), 0, [width, height]).astype(int)
    if (high - low <= 2 * _NEAR_PX).any():
        return None
    box = np.s_[low[1] : high[1], low[0] : high[0]]
    now, then, next_ = (np.atleast_3d(frames[each][box]).astype(np.float64) for each in (k, before, after))
    still = (then + next_) / 2
    change = now - still
    shape = change.shape[:2]
    moved = np.abs(over_colours(then - next_)) > _MOVED * change.shape[2]
    hidden = covered(shape, own_px[1, middle] - low, own_way, diameter_px / 2 + _OWN_PX) > 0
    free = ~(moved | hidden)
    if not free.any():
        return None
    spread2 = float(np.median(change[free] ** 2)) / 0.455  # of a Gaussian
    noise2 = ALIKE * max(spread2, LEAST_NOISE**2)
    pull = np.where(free, over_colours(-change * still), 0.0) / noise2
    push = np.where(free, over_colours(still * still), 0.0) / noise2
    share = covered_about(way, diameter_px / 2, rim_px=2 * _SOFT_PX)
    share = np.asarray(cv2.GaussianBlur(share, (0, 0), _SOFT_PX), dtype=np.float64)
    corner = low.astype(np.float64)
    pulled, pushed = correlated(pull, share), correlated(push, share**2)
    return _Darkening(k, corner, pulled, pushed, thrown_px[1] - corner, way)


def _height(told: Sequence[_Darkening], higher_mm: FloatArray, moves_px: float) -> tuple[int, float] | None:
    """Find the height at which the pictures together show a shadow, by its number, and its depth."""
    if not told:
        return None
    pulled, pushed = (
        np.sum(parts, axis=0) for parts in zip(*(each.at_heights() for each in told), strict=True)
    )
    gain = np.maximum(pulled, 0.0) ** 2 / np.maximum(pushed, 1e-9)
    best = int(gain.argmax())
    depth = float(pulled[best] / max(pushed[best], 1e-9))
    others = gain[np.abs(higher_mm - higher_mm[best]) * moves_px > _APART_PX]
    plain = gain[best] >= _LEAST_GAIN and others.max(initial=0.0) <= _PLAIN_SHARE * gain[best]
    return (best, depth) if plain and _DEPTH_RANGE[0] <= depth <= _DEPTH_RANGE[1] else None


def _measured(told: Sequence[_Darkening], best: int, depth: float) -> list[tuple[int, Smear, FloatArray]]:
    """Measure the shadow in each picture near where the height puts it."""
    found = []
    for each in told:
        column, row = np.rint(each.places_px[best]).astype(int).tolist()
        top, left = max(row - _NEAR_PX, 1), max(column - _NEAR_PX, 1)
        if min(row, column) < 0:
            continue
        near = np.s_[top - 1 : row + _NEAR_PX + 2, left - 1 : column + _NEAR_PX + 2]
        gain = np.maximum(each.pulled[near], 0.0) ** 2 / np.maximum(each.pushed[near], 1e-9)
        if min(gain.shape) < 3:
            continue
        row, column = divmod(int(gain[1:-1, 1:-1].argmax()), gain.shape[1] - 2)
        shift, curve = peak(gain[row : row + 3, column : column + 3])
        row, column = top + row, left + column
        own_depth = float(each.pulled[row, column] / max(each.pushed[row, column], 1e-9))
        own_gain = float(gain[row - top + 1, column - left + 1])
        if own_gain < _LEAST_OWN_GAIN or own_depth < _LEAST_OWN_DEPTH * depth:
            continue
        covariance = 2 * cv2.invert(curve, flags=cv2.DECOMP_SVD)[1]
        sigmas = np.clip(np.sqrt(variances(covariance, each.way_px)), _LEAST_SIGMA_PX, _MOST_SIGMA_PX)
        place = np.array([column, row]) + shift + each.corner_px
        found.append((each.picture, Smear(place, sigmas, own_gain, own_depth), each.way_px))
    return found if len(found) >= max(_FEWEST, _AGREEING * len(told)) else []

"""Markers too small to be decoded, read and placed by what their print must look like.

Where a camera says where a marker should lie, about, its whole appearance is known: the squares of its code, turned and
scaled as the camera sees them, blurred by lens and sensor. That picture of it is fitted to the grey levels, by least
squares over where it lies, how it is sheared, how soft it is, and how dark and light ink and paper are. It
counts as read where, of all codes of the dictionary in all four ways round, none resembles the picture as well: so
no bit needs to be told by itself, and chance says so once in some two hundred times, for one marker.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from vision.registration.view import BoardView
from vision.scene import MarkerMap

__all__ = ["PatternSeen", "see_pattern"]

Image = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

_PAPER_MODULES = 0.8  # of the paper around the black border that belongs to the print, at least
_SOFT_PX = 0.8  # blur to start from, standard deviation
_SOFTEST_PX, _SHARPEST_PX = 2.0, 0.3
_ROUNDS = 8
# Blur adds light, and grey levels are light to the power of 1 / 2.2.
_LIGHT = ((np.arange(256) / 255) ** 2.2).astype(np.float32)
_REACH, _LEAST_REACH_PX = 0.33, 4.0  # of a marker's side: so far from where it should be it is looked for
_MOST_PX = 600  # pixels of a large marker that are enough to place it,
_MATCHED_PX = 150  # and to find it
_LEAST_SIGMA_PX = 0.05
# How well shape and softness are known beforehand: as a part of a module's side, and in px.
_SHAPE_SIGMA, _SOFTNESS_SIGMA_PX = 0.1, 0.3
# The farthest that one step moves the place, and the shape as a part of a module's side; a step below the last is the last.
_MOST_STEP_PX, _MOST_SHAPE_STEP, _LEAST_STEP_PX = 0.7, 0.15, 0.005
# A fit that shrinks below this part of its area, or goes farther than so many px or a module, has run off.
_LEAST_AREA, _RUN_OFF_PX = 0.4, 3.0
_LEAST_MODULE_PX = 0.4  # of a smaller square of the code nothing is left, but for a mean grey


@dataclass(frozen=True, slots=True, eq=False)
class PatternSeen:
    """A marker as it was fitted."""

    number: int
    """Its number."""
    pixels: FloatArray
    """Its corners in OpenCV's order, shape (4, 2)."""
    sigma_px: float
    """Standard error of each corner along u and along v, such that the four together say as much as the fit."""
    likeness: float
    """Correlation of the picture with the fitted print, 0 to 1."""
    lead: float
    """By how much the likeness of the next best code, or of this one turned, is less; below 0 it is another one."""


def see_pattern(shades: Image, view: BoardView, sheet: MarkerMap, number: int) -> PatternSeen | None:
    """Fit one marker's print to the picture.

    Parameters
    ----------
    shades
        The picture in grey.
    view
        Where the marker should be, within a third of its side, and how large and how turned.
    sheet
        Which markers lie where.
    number
        Which one.

    Returns
    -------
    The marker; ``None`` where it would reach out of the picture or nothing there is like it at all.
    """
    codes = _codes(sheet.dictionary)
    side = codes.shape[-1]
    code = codes[4 * number]
    half = side / 2
    middle, shape = _local(view, sheet.centres_mm[number], sheet.size_mm / side)
    module_px = float(np.sqrt(abs(np.linalg.det(shape))))
    if not _LEAST_MODULE_PX < module_px < max(shades.shape):
        return None
    step = max(1, int(module_px / 3))
    shifts = step * int(np.ceil(max(_LEAST_REACH_PX, _REACH * side * module_px) / step))
    extent = int(np.ceil((half + _PAPER_MODULES) * np.abs(shape).sum(axis=1).max())) + 1
    origin = np.round(middle).astype(int)
    if (origin < extent + shifts).any() or (origin + extent + shifts >= shades.shape[::-1]).any():
        return None
    reach = np.arange(-extent, extent + 1)
    around = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
    start = middle - origin
    modules = (around - start) @ np.linalg.inv(shape).T
    inside = np.flatnonzero((np.abs(modules) <= half + _PAPER_MODULES).all(axis=1))
    inside = inside[np.linspace(0, len(inside) - 1, min(len(inside), _MOST_PX)).astype(int)]
    around, modules = around[inside], modules[inside]
    softness = _SOFT_PX / module_px
    expected = _print(code, modules, softness)[0]
    steps = np.arange(-shifts, shifts + 1, step)
    moves = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 1, 2)
    few = np.linspace(0, len(around) - 1, min(len(around), _MATCHED_PX)).astype(int)
    u, v = np.moveaxis(origin + around[few] + moves, -1, 0)
    best = moves[int(np.argmax(_correlation(_LIGHT[shades[v, u]], expected[few])))]
    u, v = (origin + around + best).T
    seen = _LIGHT[shades[v, u]].astype(np.float64)
    fitted = _fit(seen, around, code, start, shape, softness)
    if fitted is None:
        return None
    corners = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
    modules = (around - fitted.middle) @ np.linalg.inv(fitted.shape).T
    resembled = _likeness(seen, modules, codes, fitted.softness)
    own = float(resembled[4 * number])
    return PatternSeen(
        number,
        origin + best + fitted.middle + corners @ fitted.shape.T,
        max(fitted.sigma_px, _LEAST_SIGMA_PX),
        own,
        own - float(np.delete(resembled, 4 * number).max()),
    )


def _correlation(seen: NDArray[np.float32], expected: FloatArray) -> NDArray[np.float32]:
    """Correlate what is seen, shape (moves, N), with what is expected, shape (N,); shape (moves,)."""
    apart = (expected - expected.mean()).astype(np.float32)
    spread = np.sqrt(np.maximum((seen**2).sum(axis=1) - seen.sum(axis=1) ** 2 / seen.shape[1], 1e-9))
    return np.asarray(seen @ apart / spread, dtype=np.float32)


@cache
def _codes(dictionary: str) -> FloatArray:
    """Squares of all markers, 1 for paper and 0 for ink, with their black border: four ways round each, (4 N, k, k)."""
    book = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    side = book.markerSize + 2
    codes = [
        np.rot90(cv2.aruco.generateImageMarker(book, number, side, borderBits=1) / 255.0, turn)
        for number in range(len(book.bytesList))
        for turn in range(4)
    ]
    return np.array(codes)


def _local(
    view: BoardView, centre_mm: tuple[float, float], module_mm: float
) -> tuple[FloatArray, FloatArray]:
    """Pixel of a marker's middle, shape (2,), and what a module to its right and one down are in pixels, (2, 2)."""
    x, y = centre_mm
    points = np.array([(x, y, 0.0), (x + module_mm, y, 0.0), (x, y - module_mm, 0.0)])
    middle, right, down = view.project(points)
    return middle, np.column_stack([right - middle, down - middle])


def _print(
    code: FloatArray, modules: FloatArray, softness: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Light of a blurred print at places in modules from its middle, its slope by place, and by softness.

    Parameters
    ----------
    code
        Shape (k, k), rows downward.
    modules
        Shape (N, 2): to the right, downward.
    softness
        Standard deviation of the blur in modules.
    """
    ink = 1.0 - code
    side = len(code)
    bounds = np.arange(side + 1) - side / 2
    parts, slopes, softer = [], [], []
    for place in (modules[:, 0], modules[:, 1]):
        z = (place[:, None] - bounds) / softness
        below = 0.5 * (1 + erf(z / np.sqrt(2)))
        dense = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
        parts.append(below[:, :-1] - below[:, 1:])
        slopes.append((dense[:, :-1] - dense[:, 1:]) / softness)
        lessened = -dense * z / softness
        softer.append(lessened[:, :-1] - lessened[:, 1:])
    across, down = parts
    light = 1.0 - ((down @ ink) * across).sum(axis=1)
    slope = -np.column_stack(
        [((down @ ink) * slopes[0]).sum(axis=1), ((slopes[1] @ ink) * across).sum(axis=1)]
    )
    by_softness = -((softer[1] @ ink) * across + (down @ ink) * softer[0]).sum(axis=1)
    return light, slope, by_softness


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    middle: FloatArray
    shape: FloatArray
    softness: float
    sigma_px: float


def _fit(
    seen: FloatArray,
    around: FloatArray,
    code: FloatArray,
    middle: FloatArray,
    shape: FloatArray,
    softness: float,
) -> _Fitted | None:
    """Fit place, shape and softness of a print, and the light on it, by Gauss's and Newton's steps."""
    scale = float(np.sqrt(abs(np.linalg.det(shape))))
    half = len(code) / 2
    started = middle
    for _ in range(_ROUNDS):
        inverse = np.linalg.inv(shape)
        modules = (around - middle) @ inverse.T
        light, slope, by_softness = _print(code, modules, softness)
        lit = np.column_stack([np.ones(len(light)), light, modules])
        levels = np.linalg.lstsq(lit, seen, rcond=None)[0]
        contrast = float(levels[1])
        if contrast <= 0:
            return None
        by_place = -contrast * slope @ inverse
        matrix = np.column_stack(
            [lit, by_place, by_place[:, :1] * modules, by_place[:, 1:] * modules, contrast * by_softness]
        )
        left = seen - lit @ levels
        # The shape that the camera gives, and the softness, are nearly right: a weak prior keeps poor ones from running off.
        noise = float(np.sqrt(left @ left / max(len(seen) - matrix.shape[1], 1))) + 1e-6
        prior = np.zeros(matrix.shape[1])
        prior[6:10] = 1 / (_SHAPE_SIGMA * scale) ** 2
        prior[10] = 1 / (_SOFTNESS_SIGMA_PX / scale) ** 2
        normal = matrix.T @ matrix / noise**2 + np.diag(prior)
        step = np.linalg.solve(normal, matrix.T @ left / noise**2)
        moved = np.clip(step[4:6], -_MOST_STEP_PX, _MOST_STEP_PX)
        middle = middle + moved
        most = _MOST_SHAPE_STEP * scale
        shape = shape + np.clip(step[6:10], -most, most).reshape(2, 2)
        softness = float(np.clip(softness + step[10], _SHARPEST_PX / scale, _SOFTEST_PX / scale))
        away_px = float(np.abs(middle - started).max())
        if not abs(np.linalg.det(shape)) > _LEAST_AREA * scale**2 or away_px > max(_RUN_OFF_PX, scale):
            return None
        if np.abs(step[4:10]).max() < _LEAST_STEP_PX:
            break
    covariance = np.linalg.pinv(normal, hermitian=True)
    placed = float(np.sqrt(covariance[4:6, 4:6].trace() / 2))
    turned = half * float(np.sqrt(covariance[6:10, 6:10].trace() / 2))
    return _Fitted(middle, shape, softness, max(2 * placed, turned))


def _likeness(seen: FloatArray, modules: FloatArray, codes: FloatArray, softness: float) -> FloatArray:
    """Correlation of what is seen with each code's print at one place, an even slope of light apart; shape (codes,)."""
    side = codes.shape[-1]
    bounds = np.arange(side + 1) - side / 2
    below = 0.5 * (1 + erf((modules[:, :, None] - bounds) / (softness * np.sqrt(2))))
    across, down = (below[:, k, :-1] - below[:, k, 1:] for k in (0, 1))
    basis = (down[:, :, None] * across[:, None, :]).reshape(len(modules), -1)
    prints = basis @ (codes.reshape(len(codes), -1).T - 1)
    # The black border that all codes share says nothing.
    lit = np.linalg.qr(np.column_stack([np.ones(len(modules)), modules]))[0]
    prints = prints - lit @ (lit.T @ prints)
    apart = seen - lit @ (lit.T @ seen)
    norm = np.linalg.norm(prints, axis=0) * np.linalg.norm(apart) + 1e-12
    return np.asarray((apart @ prints) / norm, dtype=np.float64)

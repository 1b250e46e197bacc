"""Where the lamp hangs, from the shadows of the soldiers.

A soldier's shadow on the board begins at its foot and points away from the lamp; the taller what throws it and the
lower the lamp, the farther it reaches. All soldiers together tell the lamp: it is where most of the board between the
figures is darker along the shadows than on either side of them. Once it is known, the shot's own shadow is no stray streak but
a second line of sight: what the camera sees of the shot and what the lamp throws of it meet at one height.

A point at height z over the place p throws its shadow on ``p + s z``, where ``s`` varies slowly over the board,
``s = slope + (p - middle) / height``: the lamp hangs at ``middle - slope * height`` and at ``height``.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.figure import Figure
from vision.registration import BoardView
from vision.surface import Raster, Surface

__all__ = ["Lamp", "find_lamp", "in_shadow"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_MOST_SLOPE = 2.0
_STEP = 0.125
_HEIGHTS_MM = (700.0, 1000.0, 1500.0, 3000.0)
# Where along a figure's height its shadow is looked at: at the foot the figure itself hides it.
_ALONG = np.linspace(0.3, 0.95, 8)
_BEYOND = np.array([1.3, 1.5])  # where no shadow is left
_BEYOND_WEIGHT = 0.5
_DIRECTION_SIGMA = 0.06
_LENGTH_SIGMA = 0.15  # the figures' own height is known to so much
_ASIDE = 0.42  # beside the shadow, as a share of the figure's height
_DEEPEST = 0.7
_LEAST_SEEN = 3  # places of a soldier's shadow that no figure hides
_SMOOTH_MM = 2.5
_SLICE_MM = 3.0
_HALF_SHADE_MM = 2.0
_DARKER_STILL = 0.12  # than the middle of the shadows
_TINTED = 4.0  # spreads of the bare board
_FEWEST_SOLDIERS = 4
_LEAST_DARKER = 0.05  # part of the light
_LEAST_MISSING = 0.08  # of the light, in the middle of a shadow
_LEAST_SIGMAS = 4.0
_LEAST_SLOPE = 0.12  # below, figures hide their own shadows


@dataclass(frozen=True, slots=True, eq=False)
class Lamp:
    """The lamp that throws the clearest shadows."""

    slope: FloatArray
    """How far a shadow over the middle of the board reaches for each unit of height, shape (2,), along x and y."""
    slope_sigma: float
    """Standard deviation of either part of it."""
    height_mm: float
    """How high it hangs; known to a half only, and of little weight."""
    middle_mm: FloatArray
    """The middle of the board, shape (2,)."""
    darkness: float
    """Part of the light that is missing in the middle of a soldier's shadow."""

    def shadow(self, points_mm: FloatArray, slope: FloatArray | None = None) -> FloatArray:
        """Where points (..., 3) above the board throw their shadows on it, shape (..., 3).

        Parameters
        ----------
        points_mm
            Board frame.
        slope
            Instead of its own, of a shape that broadcasts to (..., 2).
        """
        z = points_mm[..., 2:]
        reach = (self.slope if slope is None else slope) + (
            points_mm[..., :2] - self.middle_mm
        ) / self.height_mm
        thrown = np.zeros_like(points_mm)
        thrown[..., :2] = points_mm[..., :2] + reach * z * (1 + z / self.height_mm)
        return thrown


def find_lamp(
    flat: FloatImage,
    surface: Surface,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    feet_mm: FloatArray,
) -> Lamp | None:
    """Find the lamp; ``None`` where the soldiers throw no clear shadows.

    Parameters
    ----------
    flat
        The picture on the raster.
    surface
        The bare board.
    raster, view
        The board's raster and the camera.
    figure
        The size of the figures.
    feet_mm
        Where soldiers stand, shape (N, 2); some of them may be none.
    """
    if len(feet_mm) < _FEWEST_SOLDIERS:
        return None
    height_mm, feet = figure.height_mm, feet_mm
    darkness = _darkness(flat, surface, raster)
    _hide_figures(darkness, raster, view, figure, feet)
    middle = np.array([raster.square_mm * BOARD_FILES / 2, raster.square_mm * BOARD_ROWS / 2])

    def judge(slopes: FloatArray, lamp_mm: float) -> tuple[FloatArray, FloatArray]:
        """Mean difference (n,) and its t value for slopes (n, 2)."""
        own = slopes[:, None, :] + (feet - middle)[None] / lamp_mm  # (n, soldiers, 2)
        along = np.concatenate([_ALONG, _BEYOND])
        reach = own[:, :, None, :] * (along * height_mm)[:, None]  # (n, soldiers, along, 2)
        centre = feet[:, None, :] + reach
        long = np.maximum(np.linalg.norm(own, axis=-1, keepdims=True), 1e-6)
        aside = np.stack([-own[..., 1], own[..., 0]], axis=-1) / long * (_ASIDE * height_mm)
        dark = [
            _sample(darkness, raster.to_px(centre + way * aside[:, :, None, :])) for way in (0.0, 1.0, -1.0)
        ]
        with np.errstate(invalid="ignore"):
            beside = np.fmax(dark[1], dark[2])
            difference = dark[0] - np.where(np.isnan(beside), np.nan, beside)
        beyond = difference[:, :, len(_ALONG) :]
        difference = difference[:, :, : len(_ALONG)]
        seen = np.isfinite(difference)
        counted = seen.sum(axis=2)
        each = np.where(seen, difference, 0.0).sum(axis=2) / np.maximum(counted, 1)
        each = each - _BEYOND_WEIGHT * np.nan_to_num(beyond).clip(min=0.0).mean(axis=2)
        usable = counted >= _LEAST_SEEN
        number = usable.sum(axis=1)
        mean = np.where(usable, each, 0.0).sum(axis=1) / np.maximum(number, 1)
        spread = np.sqrt(
            np.where(usable, (each - mean[:, None]) ** 2, 0.0).sum(axis=1) / np.maximum(number - 1, 1)
        )
        sigmas = mean * np.sqrt(np.maximum(number, 1)) / (spread + 0.02)
        sigmas[number < _FEWEST_SOLDIERS] = 0.0
        return mean, sigmas

    grid = np.arange(-_MOST_SLOPE, _MOST_SLOPE + 1e-9, _STEP)
    slopes = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    slopes = slopes[np.linalg.norm(slopes, axis=1) >= _LEAST_SLOPE]
    # A low lamp's shadows spread out so much that a high one's never fit.
    judged = [(lamp, judge(slopes, lamp)[1]) for lamp in (_HEIGHTS_MM[0], _HEIGHTS_MM[2])]
    lamp_mm, sigmas = max(judged, key=lambda j: float(j[1].max()))
    best = slopes[int(np.argmax(sigmas))]
    fine = np.stack(np.meshgrid(*[np.linspace(-_STEP, _STEP, 9)] * 2), axis=-1).reshape(-1, 2)
    for _ in range(2):
        tried = [(lamp, *judge(best + fine, lamp)) for lamp in _HEIGHTS_MM]
        lamp_mm, mean, sigmas = max(tried, key=lambda t: float(t[2].max()))
        best = best + fine[int(np.argmax(sigmas))]
        fine = fine / 2
    at = int(np.argmax(sigmas))
    if float(mean[at]) < _LEAST_DARKER or float(sigmas[at]) < _LEAST_SIGMAS:
        return None
    sigma = _DIRECTION_SIGMA + _LENGTH_SIGMA * float(np.linalg.norm(best))
    reach = (best + (feet - middle) / lamp_mm)[:, None] * (_ALONG * height_mm)[:, None]
    inside = _sample(darkness, raster.to_px(feet[:, None] + reach))
    missing = float(np.median(inside[np.isfinite(inside)]))
    if missing < _LEAST_MISSING:
        return None
    return Lamp(best, sigma, lamp_mm, middle, missing)


def in_shadow(
    lamp: Lamp,
    flat: FloatImage,
    surface: Surface,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    feet_mm: FloatArray,
) -> NDArray[np.bool_]:
    """Tell where on the raster a soldier's shadow lies and looks like one: as dark, and of the board's colour.

    Where a soldier itself hides the board, its own shadow is not counted.

    Parameters
    ----------
    lamp
        What throws them.
    flat, surface, raster, view, figure, feet_mm
        As for `find_lamp`.
    """
    mask = np.zeros(raster.shape, dtype=np.uint8)
    for foot in feet_mm:
        body = np.array([(foot[0], foot[1], z) for z in np.arange(0.0, figure.height_mm, _SLICE_MM)])
        own = np.zeros_like(mask)
        for point, where in zip(body, lamp.shadow(body), strict=True):
            column, row = (round(float(v)) for v in raster.to_px(where[:2]))
            radius = figure.body_radius_mm(float(point[2])) + _HALF_SHADE_MM
            cv2.circle(own, (column, row), max(1, round(radius / raster.mm_per_px)), 1, -1)
        for x_mm, y_mm, radius_mm in figure.shadow_of_sight(view.camera_mm, float(foot[0]), float(foot[1])):
            column, row = (round(float(v)) for v in raster.to_px(np.array([x_mm, y_mm])))
            cv2.circle(own, (column, row), round(radius_mm / raster.mm_per_px) + 1, 0, -1)
        mask |= own
    dark = _darkness(flat, surface, raster)
    alike = (dark > _LEAST_DARKER) & (dark < lamp.darkness + _DARKER_STILL)
    return np.asarray((mask > 0) & alike & ~_tinted(flat, surface, raster))


def _darkness(flat: FloatImage, surface: Surface, raster: Raster) -> FloatImage:
    """Part of the light that is missing on the raster; nan beyond the rim."""
    here, model = flat[raster.board], surface.colour
    power = np.einsum("ijk,ijk->ij", model, model) + 1.0
    share = np.einsum("ijk,ijk->ij", here, model) / power
    dark = np.full(raster.shape, np.nan, dtype=np.float32)
    size = max(1, round(_SMOOTH_MM / raster.mm_per_px))
    dark[raster.board] = cv2.blur(np.clip(1 - share, -_DEEPEST, _DEEPEST).astype(np.float32), (size, size))
    return dark


def _tinted(flat: FloatImage, surface: Surface, raster: Raster) -> NDArray[np.bool_]:
    """Where the colour is not the board's, however dark; never in a grey picture."""
    tinted = np.zeros(raster.shape, dtype=np.bool_)
    here, model = flat[raster.board], surface.colour
    if here.shape[2] > 1:
        power = np.einsum("ijk,ijk->ij", model, model) + 1.0
        off = here - (np.einsum("ijk,ijk->ij", here, model) / power)[..., None] * model
        tinted[raster.board] = np.sqrt(np.einsum("ijk,ijk->ij", off, off)) > _TINTED * surface.noise
    return tinted


def _hide_figures(
    dark: FloatImage, raster: Raster, view: BoardView, figure: Figure, feet_mm: FloatArray
) -> None:
    """Put nan where figures hide the board."""
    for foot in feet_mm:
        for x_mm, y_mm, radius_mm in figure.shadow_of_sight(view.camera_mm, float(foot[0]), float(foot[1])):
            column, row = (round(float(v)) for v in raster.to_px(np.array([x_mm, y_mm])))
            cv2.circle(dark, (column, row), round(radius_mm / raster.mm_per_px) + 1, float("nan"), -1)


def _sample(picture: NDArray[np.float32], places_px: FloatArray) -> NDArray[np.float32]:
    """Values at places (..., 2), column and row; nan beyond the rim."""
    # With a rim of nan round the picture, whatever lies beyond it falls on the rim.
    rimmed = np.full((picture.shape[0] + 2, picture.shape[1] + 2), np.nan, dtype=np.float32)
    rimmed[1:-1, 1:-1] = picture
    columns = np.clip(np.rint(places_px[..., 0]) + 1, 0, picture.shape[1] + 1).astype(np.int32)
    rows = np.clip(np.rint(places_px[..., 1]) + 1, 0, picture.shape[0] + 1).astype(np.int32)
    found: NDArray[np.float32] = rimmed.ravel().take(rows * np.int32(rimmed.shape[1]) + columns)
    return found

"""What players paint on a board's ground: fields, mud, camouflage, paths, stones and bushes, as flat pictures.

A painted battlefield looks like soldiers in many small places, and hides those that wear its colours.
"""

from __future__ import annotations

import colorsys

import cv2
import numpy as np
from numpy.typing import NDArray

from twin.streams import stream

__all__ = ["painted"]

FloatImage = NDArray[np.float32]

_MOST_DYES = 4
_PATCH_MM = (12.0, 150.0)
"""How far apart patches of one dye are, about."""
_SOFT_MM = (0.3, 12.0)
"""How softly patches run into each other."""
_CONTRAST = (0.08, 0.36)
_HUES = (0.07, 0.4)
"""From brown over olive to green."""
_SPOTS_A_SQUARE_MM = 1 / 900.0
_PLANTED_ONE_BY_ONE = 700


def painted(height_px: int, width_px: int, px_per_mm: float, seed: int) -> FloatImage:
    """Paint a ground: what its colours, blue, green, red, are multiplied by, shape (height, width, 3)."""
    rng = stream(seed, "painting")
    ground = _patches(height_px, width_px, px_per_mm, rng)
    if rng.random() < 0.5:
        _paths(ground, px_per_mm, rng)
    if rng.random() < 0.7:
        _spots(ground, px_per_mm, rng)
    # Paint is no brighter than paper.
    return ground / np.float32(max(1.0, float(np.quantile(ground[::8, ::8], 0.95))))


def _dye(rng: np.random.Generator, strength: float) -> FloatImage:
    """Draw a colour of the open country, as what the ground's is multiplied by."""
    hue = rng.uniform(*_HUES)
    colour = np.array(colorsys.hsv_to_rgb(hue, rng.uniform(0.1, 0.8), 1.0))[::-1]
    dye = (colour / colour.mean()) ** strength * np.exp(rng.normal(0, strength))
    return np.asarray(dye, dtype=np.float32)


def _patches(height_px: int, width_px: int, px_per_mm: float, rng: np.random.Generator) -> FloatImage:
    """Lay dyes over each other, each where slow noise is high."""
    strength = rng.uniform(*_CONTRAST)
    ground = np.broadcast_to(_dye(rng, strength), (height_px, width_px, 3)).astype(np.float32)
    apart_px = px_per_mm * float(np.exp(rng.uniform(*np.log(_PATCH_MM))))
    soft_px = px_per_mm * float(np.exp(rng.uniform(*np.log(_SOFT_MM))))
    for _ in range(int(rng.integers(1, _MOST_DYES + 1))):
        apart_px *= float(rng.uniform(0.6, 1.6))
        noise = _noise(height_px, width_px, apart_px, rng)
        steep = apart_px / (2 * soft_px)
        share = np.clip(0.5 + steep * (noise - rng.uniform(0.0, 0.9)), 0, 1)[..., None]
        ground = ground * (1 - share) + _dye(rng, strength) * share
    fibre = rng.standard_normal((height_px, width_px)).astype(np.float32)
    mottle = _noise(height_px, width_px, px_per_mm * rng.uniform(2.0, 8.0), rng)
    rough = rng.uniform(0.0, 0.05) * fibre + rng.uniform(0.0, 0.12) * mottle
    return np.asarray(ground * np.exp(rough)[..., None], dtype=np.float32)


def _noise(height_px: int, width_px: int, apart_px: float, rng: np.random.Generator) -> FloatImage:
    """Draw smooth noise of variance one, whose hills lie so far apart, stretched a little one way."""
    stretched = float(np.exp(rng.normal(0, 0.3)))
    rows, columns = (
        int(px / max(apart_px * by, 2.0)) + 3
        for px, by in ((height_px, stretched), (width_px, 1 / stretched))
    )
    small = rng.standard_normal((rows, columns)).astype(np.float32)
    return np.asarray(cv2.resize(small, (width_px, height_px), interpolation=cv2.INTER_CUBIC), np.float32)


def _paths(ground: FloatImage, px_per_mm: float, rng: np.random.Generator) -> None:
    """Draw a few winding paths, streams or walls, in place."""
    height, width = ground.shape[:2]
    for _ in range(int(rng.integers(1, 4))):
        along = rng.random() < 0.5
        steps = 12
        on = np.linspace(-0.05, 1.05, steps) * (height if along else width)
        across = (rng.uniform(0.1, 0.9) + np.cumsum(rng.normal(0, 0.06, steps))) * (
            width if along else height
        )
        points = np.column_stack([across, on] if along else [on, across])
        fine = cv2.resize(points.astype(np.float32), (2, 12 * steps), interpolation=cv2.INTER_CUBIC)
        thick = max(1, round(px_per_mm * rng.uniform(2.0, 22.0)))
        mask = np.zeros((height, width), np.uint8)
        cv2.polylines(mask, [np.round(fine).astype(np.int32)], False, 255, thick, cv2.LINE_AA)
        share = cv2.GaussianBlur(mask, (0, 0), px_per_mm * rng.uniform(0.2, 2.0))[..., None] / np.float32(255)
        ground[:] = ground * (1 - share) + _dye(rng, rng.uniform(*_CONTRAST)) * share


def _spots(ground: FloatImage, px_per_mm: float, rng: np.random.Generator) -> None:
    """Strew stones, tufts, bushes or craters of about one size, in place."""
    height, width = ground.shape[:2]
    usual_mm = float(np.exp(rng.uniform(np.log(1.5), np.log(11.0))))
    area_mm2 = height * width / px_per_mm**2
    most = min(area_mm2 * _SPOTS_A_SQUARE_MM * (5.0 / usual_mm), _PLANTED_ONE_BY_ONE)
    dyes = [_dye(rng, 1.6 * rng.uniform(*_CONTRAST)) for _ in range(3)]
    rimmed = rng.random() < 0.4
    for _ in range(int(rng.uniform(0.1, 1.0) * most)):
        middle = (int(rng.integers(width)), int(rng.integers(height)))
        long_px = max(1.0, px_per_mm * usual_mm * float(np.exp(rng.normal(0, 0.35))))
        axes = (round(long_px), max(1, round(long_px * rng.uniform(0.4, 1.0))))
        reach = axes[0] + 3
        left, top = max(middle[0] - reach, 0), max(middle[1] - reach, 0)
        patch = ground[top : middle[1] + reach + 1, left : middle[0] + reach + 1]
        mask = np.zeros(patch.shape[:2], np.uint8)
        at = (middle[0] - left, middle[1] - top)
        turn = float(rng.uniform(0, 180))
        cv2.ellipse(mask, at, axes, turn, 0, 360, 230, -1, cv2.LINE_AA)
        share = mask[..., None] / np.float32(255)
        patch[:] = patch * (1 - share) + dyes[int(rng.integers(len(dyes)))] * share
        if rimmed:
            rim = np.zeros_like(mask)
            cv2.ellipse(rim, at, axes, turn, 0, 360, 255, max(1, axes[1] // 4), cv2.LINE_AA)
            patch *= 1 + (rim[..., None] / np.float32(255)) * np.float32(0.25)

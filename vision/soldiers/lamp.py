"""Where the lamp hangs, from the shadows of the soldiers.

A soldier's shadow on the board begins at its foot and points away from the lamp; the taller what throws it and the
lower the lamp, the farther it reaches. All soldiers together tell the lamp: it is where most of the board between the
figures is darker along the shadows than on either side of them. Once it is known, the shot's own shadow is no stray streak but
a second line of sight: what the camera sees of the shot and what the lamp throws of it meet at one height.

A point at height z over the place p throws its shadow on ``p + s z``, where ``s`` varies slowly over the board,
``s = slope + (p - middle) * nearness``: the lamp hangs at ``1 / nearness`` above ``middle - slope / nearness``.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.registration import BoardView
from vision.soldiers.figure import Figure
from vision.soldiers.surface import Raster, Shades, Surface

__all__ = [
    "Lamp",
    "cast_shadows",
    "find_darkness",
    "find_lamp",
    "find_tinted",
    "in_shadow",
]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

# Slopes that are tried first, near enough to one another that one of them meets the shadows: by length, in so many
# directions each; by few soldiers. Then by all of them in smaller steps: step, and how many each way.
_ROUGH_SLOPES = np.concatenate(
    [
        length * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        for length, turns in (
            (0.12, 6),
            (0.2, 8),
            (0.35, 16),
            (0.5, 24),
            (0.7, 32),
            (0.95, 32),
            (1.25, 40),
            (1.6, 40),
            (2.0, 40),
        )
        for turn in [np.arange(turns) * (2 * np.pi / turns)]
    ]
)
_ROUGH_SOLDIERS = 16
_LIKELY_SLOPES = 32
_FINER = ((0.0625, 2), (0.03125, 1), (0.015625, 1))
_HEIGHTS_MM = (700.0, 1000.0, 1500.0, 3000.0)
# Where along a figure's height its shadow is looked at: at the foot the figure itself hides it.
_ALONG = np.linspace(0.3, 0.95, 8)
_BEYOND = np.array([1.3, 1.5])  # where no shadow is left
_BEYOND_WEIGHT = 0.5
_DIRECTION_SIGMA = 0.06
_LENGTH_SIGMA = 0.15  # the figures' own height is known to so much
# The best of the heights is a rough one, and rather too high: on 154 tables of the twin, whose lamps hang low, they hung nearer by
# 2e-4 and varied by 3e-4; half of that is allowed for. Where it was taken for right, the shot's shadow told it up to 18 mm too
# high or too low far from the middle of the board.
_NEARER_PER_MM, _NEARNESS_SIGMA_PER_MM = 1e-4, 3e-4
_ASIDE = 0.42  # beside the shadow, as a share of the figure's height
_DEEPEST = 0.7
_FEWEST_SEEN = 0.5  # soldiers' whole shadows that no figure hides
# Spread of how dark shadows seem, and how many soldiers it takes to know it better.
_USUAL_SPREAD, _USUAL_SOLDIERS = 0.15, 6.0
_SMOOTH_MM = 2.5
_SLICE_MM = 3.0
_HALF_SHADE_MM = 2.0
_DARKER_STILL = 0.12  # than the middle of the shadows
_TINTED = 4.0  # spreads of the bare board
_FEWEST_SOLDIERS = 4
_LEAST_DARKER = 0.05  # part of the light
_LEAST_MISSING = 0.08  # of the light, in the middle of a shadow
_LEAST_SIGMAS = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Lamp:
    """The lamp that throws the clearest shadows."""

    slope: FloatArray
    """How far a shadow over the middle of the board reaches for each unit of height, shape (2,), along x and y."""
    slope_sigma: float
    """Standard deviation of either part of it."""
    nearness_per_mm: float
    """1 / its height: how much farther a shadow reaches for each unit of height a mm farther on; 0 for the sun."""
    nearness_sigma_per_mm: float
    """Standard deviation of it."""
    middle_mm: FloatArray
    """The middle of the board, shape (2,)."""
    darkness: float
    """Part of the light that is missing in the middle of a soldier's shadow."""

    def shadow(self, points_mm: FloatArray) -> FloatArray:
        """Where points (..., 3) above the board throw their shadows on it, shape (..., 3), board frame."""
        z = points_mm[..., 2:]
        thrown = np.zeros_like(points_mm)
        thrown[..., :2] = points_mm[..., :2] + self.slope_at(points_mm[..., :2]) * z * (
            1 + z * self.nearness_per_mm
        )
        return thrown

    def slope_at(self, places_mm: FloatArray) -> FloatArray:
        """How far a shadow reaches for each unit of height over places (..., 2), shape (..., 2)."""
        slope: FloatArray = self.slope + (places_mm - self.middle_mm) * self.nearness_per_mm
        return slope


def find_lamp(
    darkness: FloatImage,
    hidden: NDArray[np.bool_],
    raster: Raster,
    figure: Figure,
    feet_mm: FloatArray,
) -> Lamp | None:
    """Find the lamp; ``None`` where the soldiers throw no clear shadows.

    Parameters
    ----------
    darkness
        As `find_darkness` gives it.
    hidden
        Where figures hide the board, as `vision.soldiers.figure.hidden_by_figures` gives it.
    raster
        The board's raster.
    figure
        The size of the figures.
    feet_mm
        Where soldiers stand, shape (N, 2), the clearest first; some of them may be none.
    """
    if len(feet_mm) < _FEWEST_SOLDIERS:
        return None
    darkness = np.where(hidden, np.float32(np.nan), darkness)
    shadows = _Shadows(darkness, raster, figure.height_mm, feet_mm)
    starts = _rough_slopes(darkness, raster, figure, feet_mm)
    for step, each_way in _FINER:
        ways = np.linspace(-step * each_way, step * each_way, 2 * each_way + 1)
        around = np.stack(np.meshgrid(ways, ways), axis=-1).reshape(-1, 2)
        slopes = np.concatenate([start + around for start in starts])
        tried = [(lamp_mm, *shadows.judge(slopes, lamp_mm)) for lamp_mm in _HEIGHTS_MM]
        lamp_mm, mean, sigmas = max(tried, key=lambda t: float(t[2].max()))
        at = int(np.argmax(sigmas))
        best = slopes[at]
        starts = [best]
    if float(mean[at]) < _LEAST_DARKER or float(sigmas[at]) < _LEAST_SIGMAS:
        return None
    missing = shadows.missing(best, lamp_mm)
    if missing < _LEAST_MISSING:
        return None
    sigma = _DIRECTION_SIGMA + _LENGTH_SIGMA * float(np.linalg.norm(best))
    nearness_per_mm = 1 / lamp_mm + _NEARER_PER_MM
    return Lamp(best, sigma, nearness_per_mm, _NEARNESS_SIGMA_PER_MM, shadows.middle_mm, missing)


def _rough_slopes(
    darkness: FloatImage, raster: Raster, figure: Figure, feet_mm: FloatArray
) -> list[FloatArray]:
    """Find about where the lamp is by few soldiers: the best slope for a low lamp and for a high one.

    A low lamp's shadows spread out so much that a high one's never fit.
    """
    few = _Shadows(darkness, raster, figure.height_mm, feet_mm[:: -(-len(feet_mm) // _ROUGH_SOLDIERS)])
    all_of_them = _Shadows(darkness, raster, figure.height_mm, feet_mm)
    best = []
    for lamp_mm in (_HEIGHTS_MM[0], _HEIGHTS_MM[2]):
        likely = _ROUGH_SLOPES[np.argsort(few.judge(_ROUGH_SLOPES, lamp_mm)[1])[-_LIKELY_SLOPES:]]
        best.append(likely[int(np.argmax(all_of_them.judge(likely, lamp_mm)[1]))])
    return best


class _Shadows:
    """How dark it is where soldiers would throw their shadows."""

    def __init__(self, darkness: FloatImage, raster: Raster, height_mm: float, feet_mm: FloatArray) -> None:
        self._darkness = darkness
        self._height_px = np.float32(height_mm / raster.mm_per_px)
        self._feet_u, self._feet_v = raster.to_px(feet_mm).astype(np.float32).T
        self.middle_mm = np.array([raster.square_mm * BOARD_FILES / 2, raster.square_mm * BOARD_ROWS / 2])
        self._from_middle_mm = feet_mm - self.middle_mm

    def judge(self, slopes: FloatArray, lamp_mm: float) -> tuple[FloatArray, FloatArray]:
        """Mean difference (n,) between shadows and what lies beside them, and its t value, for slopes (n, 2)."""
        u, v = self._reaching(slopes, lamp_mm)  # each (n, soldiers)
        along = np.concatenate([_ALONG, _BEYOND]).astype(np.float32)[:, None, None] * self._height_px
        centre_u, centre_v = self._feet_u + u * along, self._feet_v + v * along  # each (along, n, soldiers)
        aside = np.float32(_ASIDE) * self._height_px / np.maximum(np.sqrt(u * u + v * v), np.float32(1e-6))
        aside_u, aside_v = -v * aside, u * aside
        inside = self._sample(centre_u, centre_v)
        left = self._sample(centre_u + aside_u, centre_v + aside_v)
        right = self._sample(centre_u - aside_u, centre_v - aside_v)
        difference = inside - np.fmax(left, right)
        seen = np.isfinite(difference)
        difference[~seen] = 0
        counted = seen[: len(_ALONG)].sum(axis=0)
        each = difference[: len(_ALONG)].sum(axis=0, dtype=np.float64) / np.maximum(counted, 1)
        each -= _BEYOND_WEIGHT * difference[len(_ALONG) :].clip(min=0).mean(axis=0)
        # A soldier counts by how much of its shadow is seen; a few that agree by chance prove little.
        weight = counted / len(_ALONG)
        total = np.maximum(weight.sum(axis=1), 1e-6)
        number = total**2 / np.maximum((weight**2).sum(axis=1), 1e-6)
        mean = (weight * each).sum(axis=1) / total
        spread2 = (weight * (each - mean[:, None]) ** 2).sum(axis=1) / total
        usual2 = (number * spread2 + _USUAL_SOLDIERS * _USUAL_SPREAD**2) / (number + _USUAL_SOLDIERS)
        sigmas = mean * np.sqrt(number / usual2)
        sigmas[total < _FEWEST_SEEN] = 0.0
        return mean, sigmas

    def missing(self, slope: FloatArray, lamp_mm: float) -> float:
        """Part of the light that is missing in the middle of the shadows."""
        u, v = self._reaching(slope[None], lamp_mm)
        along = _ALONG.astype(np.float32)[:, None, None] * self._height_px
        inside = self._sample(self._feet_u + u * along, self._feet_v + v * along)
        return float(np.median(inside[np.isfinite(inside)]))

    def _reaching(self, slopes: FloatArray, lamp_mm: float) -> tuple[FloatImage, FloatImage]:
        """How far right and down each soldier's shadow reaches for its height, each of shape (n, soldiers)."""
        own = (slopes[:, None, :] + self._from_middle_mm / lamp_mm).astype(np.float32)
        return own[..., 0], own[..., 1]

    def _sample(self, u_px: FloatImage, v_px: FloatImage) -> FloatImage:
        """Darkness at pixels of the raster, any shape; nan beyond the board and under figures."""
        found = cv2.remap(
            self._darkness,
            u_px.reshape(len(u_px), -1),
            v_px.reshape(len(v_px), -1),
            cv2.INTER_NEAREST,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(float("nan"),) * 4,
        )
        return np.asarray(found, dtype=np.float32).reshape(u_px.shape)


def in_shadow(
    lamp: Lamp,
    darkness: FloatImage,
    tinted: NDArray[np.bool_],
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
    darkness, tinted
        As `find_darkness` and `find_tinted` give them.
    raster, figure, feet_mm
        As for `find_lamp`.
    view
        The camera.
    """
    cast = cast_shadows(lamp, raster, view, figure, feet_mm)
    alike = (darkness > _LEAST_DARKER) & (darkness < lamp.darkness + _DARKER_STILL)
    return np.asarray(cast & alike & ~tinted)


def cast_shadows(
    lamp: Lamp, raster: Raster, view: BoardView, figure: Figure, feet_mm: FloatArray
) -> NDArray[np.bool_]:
    """Tell where on the raster soldiers throw their shadows, but for where they hide their own.

    Parameters
    ----------
    lamp
        What throws them.
    raster, figure, feet_mm
        As for `find_lamp`.
    view
        The camera.
    """
    mask = np.zeros(raster.shape, dtype=np.uint8)
    z_mm = np.arange(0.0, figure.height_mm, _SLICE_MM)
    radii = np.rint((figure.body_radius_mm(z_mm) + _HALF_SHADE_MM) / raster.mm_per_px).astype(int)
    rest = int(radii.max()) + 1
    body_mm = np.empty((len(feet_mm), z_mm.size, 3))
    body_mm[..., :2], body_mm[..., 2] = feet_mm[:, None], z_mm
    places = np.rint(raster.to_px(lamp.shadow(body_mm)[..., :2])).astype(int)
    corners = np.maximum(places.min(axis=1) - rest, 0)
    sizes = np.maximum(np.minimum(places.max(axis=1) + rest + 1, raster.shape[::-1]) - corners, 0)
    within = places - corners[:, None]
    for (x_mm, y_mm), (left, top), (width, height), thrown in zip(
        feet_mm.tolist(), corners.tolist(), sizes.tolist(), within.tolist(), strict=True
    ):
        own = np.zeros((height, width), dtype=np.uint8)
        for place, radius in zip(thrown, radii.tolist(), strict=True):
            cv2.circle(own, place, max(1, radius), 1, -1)
        discs = figure.shadow_of_sight(view.camera_mm, x_mm, y_mm)
        own[figure.draw(discs, raster, (left, top), (width, height)) > 0] = 0
        mask[top : top + height, left : left + width] |= own
    return mask > 0


def find_darkness(shades: Shades, raster: Raster) -> FloatImage:
    """Find the part of the light that is missing on the raster; nan beyond the rim.

    Parameters
    ----------
    shades
        The picture on the raster held against the bare board.
    raster
        The board's raster.
    """
    dark = np.full(raster.shape, np.nan, dtype=np.float32)
    size = max(1, round(_SMOOTH_MM / raster.mm_per_px))
    dark[raster.board] = cv2.blur(np.clip(1 - shades.share, -_DEEPEST, _DEEPEST), (size, size))
    return dark


def find_tinted(shades: Shades, surface: Surface, raster: Raster) -> NDArray[np.bool_]:
    """Tell where the colour is not the board's, however dark; never in a grey picture.

    Parameters
    ----------
    shades, raster
        As for `find_darkness`.
    surface
        The bare board.
    """
    tinted = np.zeros(raster.shape, dtype=np.bool_)
    if surface.colour.shape[2] > 1:
        tinted[raster.board] = shades.tint > _TINTED * surface.tint_noise
    return tinted

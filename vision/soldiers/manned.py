"""Whether somebody stands on a square, by what was learnt from many tables.

A figure laid over a square says how much of it is strange; a patch of light, a print, a shadow are strange as well. What
tells them apart is taken together: how evenly the shape is filled, what is strange beside it, how sharp the edges are,
whether it is darker or brighter or of another colour, whether it throws a shadow or lies in one, whether it looks like
those that are soldiers for sure, whether it fills a round foot and reaches beyond it as who stands does and who lies
does not, how clear soldiers are on this table at all, and how far a square stands out from the bare ones of its field, on
which all of a side may be faint. A number of one digit is printed where others leave a gap; whether the square has one
is said as well. A small network weighs it; `python -m
benchmarks._train_manned` trains it on tables of the twin and says how well it does on tables that it was not trained on.

Where everything on a table is fainter, or busier, than on those it was trained on, all its answers are off together.
So they are shifted by the amount that makes them plainest, as far as so large a shift is likely.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import SOLDIERS_PER_SIDE, Side, Square
from vision.registration import BoardView
from vision.soldiers.figure import Figure
from vision.soldiers.lamp import Lamp
from vision.soldiers.surface import Raster

__all__ = ["Looks", "Network", "features", "plainest", "trained"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_BESIDE_MM = 5.0
_ASIDE = 0.42  # beside a shadow, as a share of the figure's height
_ALONG = np.linspace(0.35, 0.95, 6)  # where along a figure's height its shadow is looked at
_WAYS = 16  # round a foot
_FROM_FOOT_MM = np.arange(2.0, 51.0, 4.0)
_FOOT_CORE = 0.85  # of a foot's radius: what stands covers all of it
_BEYOND_MM = (3.0, 28.0)  # from a foot's rim: where only who lies reaches to all sides
_BLUR_MM = 1.5
_FAINTEST = 0.05
_RANKS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
_SURE = 0.12  # cover of squares that are manned for sure
_LAST_OF_ONE_DIGIT = 9
_LEAST_SPREAD = 0.01  # of bare squares' cover
_FAR_ABOVE = (2.0, 3.0)
_FLOOR = 0.2  # of what logarithms are taken of
_SHARP_FLOOR = 1e-4
_MOST_UNLIKE = -3.0
_SHIFTS = np.arange(-6.0, 6.1, 0.25)
_SHIFT_SIGMA = 2.0
_TOO_MANY = 1e3  # for each: more than any doubt


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """One picture on the raster, in the ways in which a figure can differ from the bare board."""

    raster: Raster
    view: BoardView
    figure: Figure
    strange: FloatImage
    """0 in the margin."""
    levels: tuple[float, float]
    """Strangeness that is usual for the bare board, and for a figure."""
    cover: FloatImage
    """Above 0 where a figure rather than the bare board is seen."""
    dark: FloatImage
    """Part of the light that is missing."""
    sharp: FloatImage
    """By how much that changes with each mm."""
    tint: FloatImage
    """How far colours are from the board's, in its spreads; 0 in a grey picture."""
    lamp: Lamp | None
    cast: NDArray[np.bool_]
    """Where soldiers throw their shadows."""


def features(
    looks: Looks,
    fits: Mapping[Square, tuple[float, float, float]],
    unlike: Mapping[Square, float],
    means: Mapping[Square, float],
) -> FloatArray:
    """Measure what is seen on squares.

    Parameters
    ----------
    looks
        The picture.
    fits
        By square: x and y in mm where a figure fits best, and how much of it is covered there.
    unlike
        As `vision.soldiers.uniforms.unlike_soldiers` gives it.
    means
        How much of a figure is covered where it fits best, on every square of the board.

    Returns
    -------
    Shape (squares, features).
    """
    raster, figure, lamp = looks.raster, looks.figure, looks.lamp
    covers = np.array([cover for _, _, cover in fits.values()])
    middle = float(np.median(covers))
    spread = 1.4826 * float(np.median(np.abs(covers - middle))) + 0.02
    low, high = looks.levels
    beside = max(1, round(_BESIDE_MM / raster.mm_per_px))
    around = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * beside + 1,) * 2)
    here = looks.raster.board
    still = float(np.median(looks.sharp[here][::3, ::3])) + _SHARP_FLOOR
    plain = float(np.median(looks.tint[here][::3, ::3])) + _FLOOR
    table = [
        0.0 if lamp is None else lamp.darkness,
        np.log(high),
        np.log(high / low),
        float((covers > _SURE).mean()),
        float(looks.tint.any()),
    ]
    layers = [
        looks.strange,
        looks.dark,
        looks.sharp,
        looks.tint,
        looks.cover > 0,
        looks.cast,
        np.abs(looks.dark),
    ]
    seen = cv2.merge([np.asarray(layer, dtype=np.float32) for layer in layers])
    feet_mm = np.array([(x_mm, y_mm) for x_mm, y_mm, _ in fits.values()]).reshape(-1, 2)
    out_of_field = _out_of_field(means)
    rows = []
    for (square, (x_mm, y_mm, cover)), thrown, rounds in zip(
        fits.items(), _own_shadows(looks, feet_mm).tolist(), _round_feet(looks, feet_mm), strict=True
    ):
        discs = figure.shadow_of_sight(looks.view.camera_mm, x_mm, y_mm)
        left, top, right, bottom = figure.box(discs, raster, beside + 1)
        left, top = max(left, 0), max(top, 0)
        window = seen[top:bottom, left:right]
        drawn = figure.draw(discs, raster, (left, top), (window.shape[1], window.shape[0])) > 0.5
        within = drawn.astype(np.uint8)
        ring = cv2.subtract(cv2.dilate(within, around), within)
        inside, spreads = cv2.meanStdDev(window, mask=within)
        strange, dark, sharp, tint, filled, shaded, off_light = inside.ravel().tolist()
        strange_by, dark_by, sharp_by, _, _, shaded_by, _ = (
            cv2.meanStdDev(window, mask=ring)[0].ravel().tolist()
        )
        ordered = np.sort(window[..., 0][drawn])
        shares = _FLOOR + ordered[(_RANKS * (len(ordered) - 1)).astype(int)]
        middle_mm = square.centre_mm(raster.square_mm)
        rows.append(
            [
                cover,
                (cover - middle) / spread,
                shaded,
                shaded_by,
                *np.log(shares),
                *np.log(shares[1:4] / (_FLOOR + high)),
                np.log(_FLOOR + strange_by),
                np.log((_FLOOR + strange) / (_FLOOR + strange_by)),
                dark,
                off_light,
                float(spreads[1, 0]),
                dark - dark_by,
                np.log(_SHARP_FLOOR + sharp),
                np.log((_SHARP_FLOOR + sharp) / still),
                np.log((_SHARP_FLOOR + sharp_by) / still),
                np.log(_FLOOR + tint),
                np.log((_FLOOR + tint) / plain),
                float(spreads[3, 0]) / (_FLOOR + tint),
                filled,
                max(unlike[square], _MOST_UNLIKE),
                thrown,
                table[0],
                float(np.hypot(x_mm - middle_mm[0], y_mm - middle_mm[1])) / raster.square_mm,
                *table[1:],
                *rounds,
                *out_of_field[square],
                float(square.number <= _LAST_OF_ONE_DIGIT),
            ]
        )
    return np.array(rows, dtype=np.float64).reshape(len(fits), -1)


def _out_of_field(means: Mapping[Square, float]) -> dict[Square, tuple[float, ...]]:
    """Say how far each square's cover is above that of its field's bare squares, and how many of the field are far above.

    Half of a field is bare at the least. All of it in spreads of the bare ones, which squash what is far: inverse hyperbolic
    sines.
    """
    found: dict[Square, tuple[float, ...]] = {}
    for side in Side:
        squares = [square for square in means if square.field is side]
        covers = np.array([means[square] for square in squares])
        bare = np.sort(covers)[: len(covers) // 2]
        spread = 1.4826 * float(np.median(np.abs(bare - np.median(bare)))) + _LEAST_SPREAD
        above = np.arcsinh((covers - np.median(bare)) / spread)
        shares = [float((above > far).mean()) for far in _FAR_ABOVE] + [float((covers > _SURE).mean())]
        found |= {square: (far, *shares) for square, far in zip(squares, above.tolist(), strict=True)}
    return found


def _own_shadows(looks: Looks, feet_mm: FloatArray) -> FloatArray:
    """How much darker it is where figures on feet (N, 2) throw their own shadows, in what is usual; shape (N,)."""
    lamp, height_mm = looks.lamp, looks.figure.height_mm
    if lamp is None or len(feet_mm) == 0:
        return np.zeros(len(feet_mm))
    reach = lamp.slope + (feet_mm - lamp.middle_mm) / lamp.height_mm
    long = np.maximum(np.linalg.norm(reach, axis=1, keepdims=True), 1e-6)
    aside = np.stack([-reach[:, 1], reach[:, 0]], axis=1) / long * (_ASIDE * height_mm)
    centre = feet_mm[:, None] + reach[:, None] * (_ALONG * height_mm)[:, None]
    inside, one, other = (
        cv2.remap(
            looks.dark,
            looks.raster.to_px(centre + way * aside[:, None]).astype(np.float32),
            None,
            cv2.INTER_LINEAR,
        )
        for way in (0.0, 1.0, -1.0)
    )
    darker: FloatArray = (inside - np.minimum(one, other)).mean(axis=1, dtype=np.float64)
    return darker / max(lamp.darkness, 0.05)


def _round_feet(looks: Looks, feet_mm: FloatArray) -> FloatArray:
    """Measure what is seen round feet (N, 2), which tells who stands from who lies; shape (N, features).

    Who stands covers its round foot to all sides, and beyond it only what is away from the camera. Who lies is slim,
    and reaches beyond to some other side.
    """
    if len(feet_mm) == 0:
        return np.zeros((0, 0))
    raster = looks.raster
    away_mm = feet_mm - looks.view.camera_mm[:2]
    ways = np.arange(_WAYS)
    bearing = np.arctan2(away_mm[:, 1], away_mm[:, 0])[:, None] + 2 * np.pi / _WAYS * ways
    towards = np.stack([np.cos(bearing), np.sin(bearing)], axis=-1)[:, :, None]
    at_px = raster.to_px(feet_mm[:, None, None] + towards * _FROM_FOOT_MM[:, None]).astype(np.float32)
    strange, covered, cast = (
        cv2.remap(
            cv2.GaussianBlur(np.asarray(layer, dtype=np.float32), (0, 0), _BLUR_MM / raster.mm_per_px),
            at_px.reshape(len(feet_mm), -1, 2),
            None,
            cv2.INTER_LINEAR,
        ).reshape(at_px.shape[:3])
        for layer in (looks.strange / looks.levels[1], looks.cover > 0, looks.cast)
    )
    from_rim_mm = _FROM_FOOT_MM - looks.figure.foot_radius_mm
    on_foot = from_rim_mm <= (_FOOT_CORE - 1) * looks.figure.foot_radius_mm
    beyond = (from_rim_mm > _BEYOND_MM[0]) & (from_rim_mm < _BEYOND_MM[1])
    foot = np.sort(_smooth(strange[:, :, on_foot].mean(axis=2)), axis=1)
    body = _smooth(np.minimum(covered, 1 - cast)[:, :, beyond].mean(axis=2))
    turned = np.minimum(ways, _WAYS - ways)
    aside = np.sort(body[:, turned >= 3], axis=1)
    behind = body[:, turned <= 1].mean(axis=1)
    least, less, most = np.log(_FAINTEST + foot[:, [0, 3, -1]]).T
    return np.column_stack(
        [
            least,
            less,
            least - most,
            aside[:, -1],
            aside[:, -4],
            aside.mean(axis=1),
            behind,
            aside[:, -4] - behind,
        ]
    )


def _smooth(round_about: FloatArray) -> FloatArray:
    """Give the mean of each way and its neighbours', shape (N, ways)."""
    return np.asarray(
        (round_about + np.roll(round_about, 1, axis=1) + np.roll(round_about, -1, axis=1)) / 3,
        dtype=np.float64,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """One layer of hidden units, and what they say together."""

    weights: FloatArray
    """Shape (features, units)."""
    offsets: FloatArray
    """Shape (units,)."""
    out: FloatArray
    """Shape (units,)."""
    out_offset: float

    def log_odds(self, measured: FloatArray) -> FloatArray:
        """Log-odds that somebody stands there, for features of shape (N, features): shape (N,)."""
        return np.asarray(np.tanh(measured @ self.weights + self.offsets) @ self.out + self.out_offset)


@cache
def trained() -> Network:
    """Load the network that was trained."""
    kept = json.loads(files("vision.soldiers").joinpath("manned.json").read_text("utf-8"))
    return Network(
        np.array(kept["weights"]), np.array(kept["offsets"]), np.array(kept["out"]), kept["out_offset"]
    )


def plainest(log_odds: FloatArray) -> FloatArray:
    """Shift log-odds (N,) of one table's squares together so that they are plain, as far as that is likely.

    Where it can be helped, no more are manned than there are soldiers in the game.
    """
    shifted = log_odds + _SHIFTS[:, None]
    cost = np.log1p(np.exp(-np.abs(shifted))).sum(axis=1) + 0.5 * (_SHIFTS / _SHIFT_SIGMA) ** 2
    too_many = np.maximum((shifted > 0).sum(axis=1) - 2 * SOLDIERS_PER_SIDE, 0)
    return np.asarray(shifted[int(np.argmin(cost + _TOO_MANY * too_many))])

"""Who stands on which square, and where on it.

A soldier is looked for on every square by laying the shape of a standing figure (`vision.soldiers.figure`) over what is strange
on the board (`vision.soldiers.surface`). The size of the figures is learnt from the clearest ones: it is the one that covers most
of what is strange and least of what is bare. Squares are decided one after another, the clearest first; what one
figure covers cannot speak for its neighbour. Where the position is known it decides the doubtful squares, and the
picture overrules it only where it is plain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import ALL_SQUARES, Side, Square
from vision.outcome import Soldier, Standing
from vision.registration import BoardView
from vision.scene import Scene
from vision.soldiers.figure import Figure
from vision.soldiers.lamp import Lamp, cast_shadows, find_darkness, find_lamp, find_tinted, in_shadow
from vision.soldiers.manned import Looks, features, plainest, trained
from vision.soldiers.surface import Raster, Shades, Surface, learn_surface, strangeness
from vision.soldiers.uniforms import Worn, tell_sides, unlike_soldiers, wear

__all__ = ["Board", "Cover", "measure_squares", "read_board"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]
Image = NDArray[np.uint8]

# Figures of 1:32 to 1:35 are 33 to 50 mm tall on feet of 16 to 34 mm; the sizes tried, coarse to fine enough.
_HEIGHTS_MM = np.arange(28.0, 57.0, 4.0)
_FOOT_RADII_MM = np.arange(7.0, 18.0, 2.0)
_USUAL_HEIGHT_MM = 42.0
_SIZE_ROUNDS = 2
_SIZE_SAMPLE = 14  # clear figures that the size is learnt from
# How far from its square's middle a foot is looked for, as a share of the square.
_REACH = 0.24
# The mean of a figure's cover runs from -0.5 (all bare) to 0.5; beyond these the picture is plain.
_SURELY_BARE = -0.22
_SURELY_MANNED = 0.12
_LIKELY_MANNED = -0.06
_SURELY_NOBODY = -0.38  # covered so little, a square is bare whatever else it looks like
_POSITION_HOLDS = 6.2  # log-odds: of a thousand squares of a position that is told, 998 are as told
_FEWEST_SURE = 8
_LAMP_ROUNDS = 2
_SAME_SLOPE = 0.15  # of a lamp that is found anew once its shadows are known
_NOT_PLAIN = 0.7  # log-odds of about one to two
_MOST_LIGHT = 0.7  # more or less of it than the bare board has counts no more
_FEWEST_CLEAR_LEVELS = 1.6  # strangeness of a figure over that of the bare board, at the least


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """One picture read: the bare board, and who stands on it."""

    raster: Raster
    flat: FloatImage
    """The picture on the raster, margin included."""
    surface: Surface
    """The bare board, without margin."""
    strange: FloatImage
    """What is strange, on the raster: 0 in the margin."""
    strange_levels: tuple[float, float]
    """Strangeness that is usual for the bare board, and for a figure."""
    figure: Figure
    standing: Standing
    lamp: Lamp | None
    """What throws the clearest shadows."""
    covers: Mapping[Square, Cover]
    """How well a figure fits on each square."""
    looks: Looks
    """What tells figures from other strange things."""


@dataclass(frozen=True, slots=True)
class Cover:
    """How well a figure fits at its best place on a square."""

    x_mm: float
    y_mm: float
    mean: float
    """Mean over the figure's shape, -0.5 to 0.5."""
    total_mm2: float
    """Sum over it."""


def read_board(picture: Image, scene: Scene, view: BoardView) -> Board:
    """Read who stands where from one picture of the table at rest.

    Parameters
    ----------
    picture
        Shape (height, width) or (height, width, 3) BGR.
    scene, view
        What is known, and the camera.
    """
    raster = Raster(view, scene)
    flat = raster.lay(picture)
    bare = np.ascontiguousarray(flat[raster.board])
    surface = learn_surface(bare, raster.px_per_square)
    strange = np.zeros(raster.shape, dtype=np.float32)
    shades = surface.shades(bare)
    strange[raster.board] = strangeness(bare, surface, shades)
    quick = _quick_scores(strange, raster, view)
    low, high, clear = _levels(quick, scene.expected)
    cover = np.full(raster.shape, 0.0, dtype=np.float32)
    cover[raster.board] = np.clip((strange[raster.board] - low) / (high - low), 0, 1) - 0.5
    shapes = _Shapes(raster, view)
    figure = _learn_figure(cover, shapes, clear)
    fits = {s: _lay_figure(cover, shapes, figure, s) for s in ALL_SQUARES}
    covers = _decide_order(cover, fits, shapes, figure)
    dark = find_darkness(shades, raster)
    usual = Figure(_likely_height_mm(figure), figure.foot_radius_mm)
    lamp = find_lamp(dark, raster, view, usual, _surest_feet(covers))
    tinted = find_tinted(shades, surface, raster)
    for _ in range(_LAMP_ROUNDS):
        if lamp is None:
            break
        shaded = in_shadow(lamp, dark, tinted, raster, view, figure, _feet(covers)) & (cover > -0.5)
        cover[shaded] = -0.5
        fits = {
            s: _lay_figure(cover, shapes, figure, s) if shaded[shapes.window(figure, s)].any() else fit
            for s, fit in fits.items()
        }
        covers = _decide_order(cover, fits, shapes, figure)
        before, lamp = lamp, find_lamp(dark, raster, view, usual, _surest_feet(covers)) or lamp
        if float(np.abs(lamp.slope - before.slope).max()) < _SAME_SLOPE:
            break
    looks = _looks(
        shades, surface, raster, view, figure, strange, (low, high), cover, dark, lamp, _feet(covers)
    )
    worn = _worn(flat, covers, looks, scene.expected or ())
    log_odds = _log_odds(worn, covers, looks)
    manned, differences = _manned(log_odds, scene.expected)
    feet_mm = {s: (covers[s].x_mm, covers[s].y_mm) for s in manned}
    sides, side_notes = tell_sides(flat, cover, raster, view, figure, feet_mm, worn, scene)
    soldiers = tuple(
        Soldier(s, sides[s], round(covers[s].x_mm, 2), round(covers[s].y_mm, 2)) for s in sorted(manned)
    )
    standing = Standing(
        soldiers, _likely_height_mm(figure), figure.foot_radius_mm, tuple(differences) + side_notes
    )
    return Board(raster, flat, surface, strange, (low, high), figure, standing, lamp, covers, looks)


def _feet(covers: Mapping[Square, Cover]) -> FloatArray:
    """Where somebody seems to stand, shape (N, 2)."""
    found = [(c.x_mm, c.y_mm) for c in covers.values() if c.mean > _LIKELY_MANNED]
    return np.array(found).reshape(-1, 2)


def _surest_feet(covers: Mapping[Square, Cover]) -> FloatArray:
    """Where somebody stands for sure, shape (N, 2): shadows that pass for soldiers throw none."""
    sure = [(c.x_mm, c.y_mm) for c in covers.values() if c.mean > _SURELY_MANNED]
    return np.array(sure) if len(sure) >= _FEWEST_SURE else _feet(covers)


def _likely_height_mm(figure: Figure) -> float:
    """From above a figure's height hardly shows: what was learnt of it is half of what is said."""
    return _USUAL_HEIGHT_MM + 0.5 * (figure.height_mm - _USUAL_HEIGHT_MM)


def _quick_scores(strange: FloatImage, raster: Raster, view: BoardView) -> dict[Square, float]:
    """Strangeness of each square along a slim column, at its best place."""
    radius = max(1, round(7.0 / raster.mm_per_px))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1,) * 2).astype(np.float32)
    smooth = cv2.filter2D(strange, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REPLICATE)
    reach = _REACH * raster.square_mm
    offsets = np.linspace(-reach, reach, 9)
    dx, dy = (o.ravel() for o in np.meshgrid(offsets, offsets))
    centres = np.array([s.centre_mm(raster.square_mm) for s in ALL_SQUARES])
    x = centres[:, :1] + dx
    y = centres[:, 1:] + dy
    camera = view.camera_mm
    column = np.zeros_like(x)
    heights = (0.0, 10.0, 20.0, 28.0)
    for z in heights:
        stretch = camera[2] / (camera[2] - z)
        u = raster.to_px(camera[0] + (x - camera[0]) * stretch).astype(np.float32)
        v = raster.to_px(camera[1] + (y - camera[1]) * stretch).astype(np.float32)
        column += cv2.remap(smooth, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    best = (column / len(heights)).max(axis=1)
    return dict(zip(ALL_SQUARES, best.tolist(), strict=True))


def _levels(
    quick: Mapping[Square, float], expected: Mapping[Square, Side] | None
) -> tuple[float, float, list[Square]]:
    """Usual strangeness of a bare square and of a figure, and the squares where a figure is clear."""
    values = np.array(sorted(quick.values()))
    low = float(np.median(values[: len(values) // 2]))
    top = float(np.median(values[-6:]))
    if expected:
        high = float(np.median([quick[s] for s in expected]))
    else:
        # Half-way between bare and the clearest, then half-way to the middle of those above.
        above = values[values > low + 0.4 * (top - low)]
        high = float(np.median(above))
        high = float(np.median(values[values > low + 0.5 * (high - low)]))
    high = max(high, _FEWEST_CLEAR_LEVELS * low, low + 1.0)
    clear = [s for s, value in quick.items() if value > low + 0.5 * (high - low)]
    if expected:
        clear = [s for s in clear if s in expected] or clear
    clear.sort(key=lambda s: -quick[s])
    return low, high, clear


def _learn_figure(cover: FloatImage, shapes: _Shapes, clear: list[Square]) -> Figure:
    """Learn the size that best covers the clearest figures, one for all."""
    if not clear:
        return Figure(40.0, 11.0)
    sample = clear[:: max(1, len(clear) // _SIZE_SAMPLE)][:_SIZE_SAMPLE]

    @cache
    def total(figure: Figure) -> float:
        return sum(_lay_figure(cover, shapes, figure, s).total_mm2 for s in sample)

    # One dimension at a time: height and foot hardly depend on each other.
    figure = Figure(40.0, 11.0)
    for _ in range(_SIZE_ROUNDS):
        figure = max((Figure(float(h), figure.foot_radius_mm) for h in _HEIGHTS_MM), key=total)
        figure = max((Figure(figure.height_mm, float(r)) for r in _FOOT_RADII_MM), key=total)
    return figure


class _Shapes:
    """How figures that stand in the middle of their squares look to the camera, each drawn once."""

    def __init__(self, raster: Raster, view: BoardView) -> None:
        self.raster = raster
        self.view = view
        self.centres_mm = {square: square.centre_mm(raster.square_mm) for square in ALL_SQUARES}
        self.reach_px = round(_REACH * raster.px_per_square)
        self._drawn: dict[tuple[float, float, Square], tuple[tuple[int, int], FloatImage, float]] = {}

    def of(self, figure: Figure, square: Square) -> tuple[tuple[int, int], FloatImage, float]:
        """First pixel (column, row) of a window of the raster, the figure drawn on it, and how many pixels it has."""
        key = (figure.height_mm, figure.foot_radius_mm, square)
        if key not in self._drawn:
            discs = figure.shadow_of_sight(self.view.camera_mm, *self.centres_mm[square])
            left, top, right, bottom = figure.box(discs, self.raster, 1)
            shape = figure.draw(discs, self.raster, (left, top), (right - left, bottom - top))
            self._drawn[key] = (left, top), shape, max(float(shape.sum()), 1.0)
        return self._drawn[key]

    def window(self, figure: Figure, square: Square) -> tuple[slice, slice]:
        """Rows and columns of the raster that the figure may cover from anywhere on the square."""
        (left, top), shape, _ = self.of(figure, square)
        height, width = shape.shape
        reach = self.reach_px
        return (
            slice(max(0, top - reach), top + height + reach),
            slice(max(0, left - reach), left + width + reach),
        )


def _lay_figure(cover: FloatImage, shapes: _Shapes, figure: Figure, square: Square) -> Cover:
    """Lay a figure over a square at its best place."""
    raster = shapes.raster
    x_mm, y_mm = shapes.centres_mm[square]
    (left, top), shape, area = shapes.of(figure, square)
    height, width = shape.shape
    reach = shapes.reach_px
    window = cover[shapes.window(figure, square)]
    missing = (max(0, reach - top), max(0, reach - left))
    if window.shape != (height + 2 * reach, width + 2 * reach):
        window = cv2.copyMakeBorder(
            window,
            missing[0],
            height + 2 * reach - window.shape[0] - missing[0],
            missing[1],
            width + 2 * reach - window.shape[1] - missing[1],
            cv2.BORDER_CONSTANT,
            value=0.0,
        )
    totals = cv2.matchTemplate(window, shape, cv2.TM_CCORR)
    _, best, _, (column, row) = cv2.minMaxLoc(totals)
    return Cover(
        x_mm + (column - reach) * raster.mm_per_px,
        y_mm + (row - reach) * raster.mm_per_px,
        best / area,
        best * raster.mm_per_px**2,
    )


def _decide_order(
    cover: FloatImage, fits: Mapping[Square, Cover], shapes: _Shapes, figure: Figure
) -> dict[Square, Cover]:
    """Fit a figure on every square, the clearest first; what one covers is taken from the rest.

    Parameters
    ----------
    cover
        Above 0 where a figure rather than the bare board is seen.
    fits
        How it fits on each square with nothing taken.
    shapes, figure
        What it looks like.
    """
    raster, view = shapes.raster, shapes.view
    left = cover.copy()
    open_squares = dict(fits)
    # Covering takes away and never adds, so an old fit is an upper bound: only the best is fitted anew.
    stale: set[Square] = set()
    decided: dict[Square, Cover] = {}
    squares = list(fits)
    totals_mm2 = np.array([fit.total_mm2 for fit in fits.values()])
    while open_squares:
        clearest = int(np.argmax(totals_mm2))
        square = squares[clearest]
        if square in stale:
            stale.discard(square)
            open_squares[square] = _lay_figure(left, shapes, figure, square)
            totals_mm2[clearest] = open_squares[square].total_mm2
            continue
        fit = open_squares.pop(square)
        totals_mm2[clearest] = -np.inf
        decided[square] = fit
        if fit.mean < _SURELY_BARE:
            break
        discs = figure.shadow_of_sight(view.camera_mm, fit.x_mm, fit.y_mm)
        left_px, top_px, right_px, bottom_px = figure.box(discs, raster, 1)
        corner = (max(0, left_px), max(0, top_px))
        window = left[corner[1] : bottom_px, corner[0] : right_px]
        taken = figure.draw(discs, raster, corner, (window.shape[1], window.shape[0]))
        window[(taken > 0.3) & (window > -0.5)] = -0.5
        stale.update(other for other in _around()[square] if other in open_squares)
    for square in stale & open_squares.keys():
        open_squares[square] = _lay_figure(left, shapes, figure, square)
    return decided | open_squares


@cache
def _around() -> Mapping[Square, tuple[Square, ...]]:
    """Give the squares that share a side or a corner with each."""
    places = {square: square.centre_mm(1.0) for square in ALL_SQUARES}
    return {
        square: tuple(
            other
            for other, (other_x, other_y) in places.items()
            if other != square and max(abs(other_x - x), abs(other_y - y)) < 1.5
        )
        for square, (x, y) in places.items()
    }


def _looks(
    shades: Shades,
    surface: Surface,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    strange: FloatImage,
    levels: tuple[float, float],
    cover: FloatImage,
    dark: FloatImage,
    lamp: Lamp | None,
    feet_mm: FloatArray,
) -> Looks:
    """Gather what tells a figure from other strange things."""
    light = np.zeros(raster.shape, dtype=np.float32)
    light[raster.board] = np.clip(shades.share - 1, -_MOST_LIGHT, _MOST_LIGHT)
    across, down = (cv2.Sobel(light, cv2.CV_32F, *way) / 8 for way in ((1, 0), (0, 1)))
    tint = np.zeros_like(light)
    if surface.colour.shape[2] > 1:
        tint[raster.board] = shades.tint / surface.tint_noise
    cast = np.zeros(raster.shape, dtype=np.bool_)
    if lamp is not None:
        cast = cast_shadows(lamp, raster, view, figure, feet_mm)
    sharp = np.asarray(cv2.magnitude(across, down) / raster.mm_per_px, dtype=np.float32)
    return Looks(raster, view, figure, strange, levels, cover, np.nan_to_num(dark), sharp, tint, lamp, cast)


def measure_squares(
    flat: FloatImage, covers: Mapping[Square, Cover], looks: Looks
) -> tuple[list[Square], FloatArray]:
    """Measure what is seen on the squares that are not plainly bare: they, and their features."""
    return _measured(_worn(flat, covers, looks, ()), covers, looks)


def _worn(
    flat: FloatImage, covers: Mapping[Square, Cover], looks: Looks, expected: Collection[Square]
) -> dict[Square, Worn]:
    """See what is worn on the squares that are not plainly bare, or where somebody is expected."""
    feet_mm = {s: (c.x_mm, c.y_mm) for s, c in covers.items() if c.mean > _SURELY_NOBODY or s in expected}
    worn = wear(flat, looks.cover, looks.raster, looks.view, looks.figure, list(feet_mm.values()))
    return dict(zip(feet_mm, worn, strict=True))


def _measured(
    worn: Mapping[Square, Worn], covers: Mapping[Square, Cover], looks: Looks
) -> tuple[list[Square], FloatArray]:
    fits = {s: (covers[s].x_mm, covers[s].y_mm, covers[s].mean) for s in worn}
    sure = {s for s, (_, _, mean) in fits.items() if mean > _SURELY_MANNED}
    means = {s: cover.mean for s, cover in covers.items()}
    return list(fits), features(looks, fits, unlike_soldiers(worn, sure), means)


def _log_odds(
    worn: Mapping[Square, Worn], covers: Mapping[Square, Cover], looks: Looks
) -> dict[Square, float]:
    """Log-odds that somebody stands on a square, by square; plainly bare ones left out."""
    squares, measured = _measured(worn, covers, looks)
    if not squares:
        return {}
    return dict(zip(squares, plainest(trained().log_odds(measured)).tolist(), strict=True))


def _manned(
    log_odds: Mapping[Square, float], expected: Mapping[Square, Side] | None
) -> tuple[list[Square], list[str]]:
    """Say who stands where, and what differs from the position or is not plain."""
    if expected is None:
        unsure = {s: odds for s, odds in log_odds.items() if abs(odds) < _NOT_PLAIN}
        notes = [
            f"{square} is not plain: it is taken for {'manned' if unsure[square] > 0 else 'empty'}"
            for square in sorted(unsure)
        ]
        return [s for s, odds in log_odds.items() if odds > 0], notes
    manned: list[Square] = []
    differences: list[str] = []
    for square in ALL_SQUARES:
        odds = log_odds.get(square, -np.inf)
        if square in expected and odds < -_POSITION_HOLDS:
            differences.append(f"{square} should hold a soldier and is seen empty")
        elif square not in expected and odds > _POSITION_HOLDS:
            differences.append(f"{square} should be empty and a soldier is seen on it")
            manned.append(square)
        elif square in expected:
            manned.append(square)
    return manned, differences

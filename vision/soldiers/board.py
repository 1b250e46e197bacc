"""Who stands on which square, and where on it.

What is strange on the board (`vision.soldiers.surface`) is looked through for feet (`vision.soldiers.feet`), and whether
somebody throws a shadow there has its word (`vision.soldiers.thrown_shadow`). Who stands there then is decided in
`vision.soldiers.manned`. The size of the figures is learnt from the clearest ones: it is the one that covers most of what is
strange and least of what is bare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import ALL_SQUARES, Side, Square
from vision.outcome import Soldier, Standing
from vision.registration import BoardView
from vision.scene import Scene
from vision.soldiers.alike import alike_odds, anybody_open
from vision.soldiers.colours import colours_of, count_colours
from vision.soldiers.feet import Foot, find_feet, lay_out
from vision.soldiers.figure import Discs, Figure, hidden_by_figures
from vision.soldiers.lamp import Lamp, find_darkness, find_lamp, find_tinted, in_shadow
from vision.soldiers.manned import are_hardly_seen, who_stands
from vision.soldiers.plainest import plainest
from vision.soldiers.surface import Raster, Surface, learn_surface, strange_share, strangeness
from vision.soldiers.thrown_shadow import ThrownShadows, shadow_odds
from vision.soldiers.uniforms import tell_sides
from vision.trained_nets import trained_net

__all__ = ["Board", "read_board"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]
Image = NDArray[np.uint8]

# Figures of 1:32 to 1:35 are 33 to 50 mm tall on feet of 16 to 34 mm; the sizes tried, coarse to fine enough.
_HEIGHTS_MM = (28.0, 32.0, 36.0, 40.0, 44.0, 48.0, 52.0, 56.0)
_FOOT_RADII_MM = (7.0, 9.0, 11.0, 13.0, 15.0, 17.0)
_FIRST_SIZE = (3, 2)  # of either
# What is said of the height that was learnt, in mm and as a share of it: a straight line through the true heights of 120 tables of the
# twin, which are then off by 4 mm (standard deviation). What covers most is taller than the figure, for arms, packs and the base
# cover as well; a lamp's shadows, which are as long as figures are high, were taken for shorter than they are by it.
_SAID_MM, _SAID_SHARE = 5.0, 0.8
_SIZE_ROUNDS = 2
_SIZE_SAMPLE = 14  # clear figures that the size is learnt from
# How far from its square's middle a foot is looked for, as a share of the square.
_REACH = 0.24
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
    feet: Mapping[Square, Foot]
    """The likeliest foot on each square."""
    cover: FloatImage
    """Above 0 where a figure rather than the bare board or a shadow is seen, on the raster."""
    by_taught: bool
    """Whether the sides were told by uniforms that were taught."""
    hardly_seen: bool
    """Whether several squares may be read wrongly; a position that is told is believed then."""
    unseen: frozenset[Square]
    """Squares that looked empty, and did hold somebody."""


def read_board(
    picture: Image, scene: Scene, view: BoardView, unseen: frozenset[Square] = frozenset()
) -> Board:
    """Read who stands where from one picture of the table at rest.

    Parameters
    ----------
    picture
        Shape (height, width) or (height, width, 3) BGR.
    scene, view
        What is known, and the camera.
    unseen
        Squares that hold somebody though nobody is seen there.
    """
    raster = Raster(view, scene)
    flat = raster.lay(picture)
    bare = np.ascontiguousarray(flat[raster.board])
    surface = learn_surface(bare, raster.px_per_square)
    shades = surface.shades(bare)
    strange = np.zeros(raster.shape, dtype=np.float32)
    strange[raster.board] = strangeness(bare, surface, shades)
    layers = lay_out(raster, flat, surface, shades, strange[raster.board], view.camera_mm)
    feet = find_feet(layers, raster.square_mm, trained_net("vision.soldiers", "feet.onnx")).likeliest()
    at_first_hardly = are_hardly_seen(_log_odds(feet))
    manned, _ = _manned(feet, scene, unseen, at_first_hardly)
    feet_mm = {square: (feet[square].x_mm, feet[square].y_mm) for square in manned}
    low, high, clear = _levels(_quick_scores(strange, raster, view), manned)
    cover = np.zeros(raster.shape, dtype=np.float32)
    cover[raster.board] = strange_share(strange[raster.board], (low, high)) - 0.5
    learnt_from = [feet_mm[square] for square in clear]
    figure = _learn_figure(cover, raster, view, learnt_from, hardly_seen=at_first_hardly)
    dark = find_darkness(shades, raster)
    usual = Figure(_likely_height_mm(figure), figure.foot_radius_mm)
    standing_mm = np.array([feet_mm[square] for square in clear]).reshape(-1, 2)
    hidden = hidden_by_figures(raster, view, usual, standing_mm)
    lamp = find_lamp(dark, hidden, raster, usual, standing_mm)
    if lamp is not None:
        thrown = ThrownShadows(lamp, dark, raster, usual.height_mm)
        feet = _with_shadows(feet, thrown, hidden)
        tinted = find_tinted(shades, surface, raster)
        cover[in_shadow(lamp, dark, tinted, raster, view, figure, standing_mm) & (cover > -0.5)] = -0.5
    feet = _with_colours(feet, flat, raster, view, usual)
    hardly_seen = are_hardly_seen(_log_odds(feet))
    feet = _with_odds(feet, plainest(_log_odds(feet), _fields(feet)))
    manned, differences = _manned(feet, scene, unseen, hardly_seen)
    stands_on = {square: feet[square] for square in manned}
    sides, side_notes, by_taught = tell_sides(flat, cover, raster, view, figure, stands_on, scene)
    soldiers = tuple(
        Soldier(square, sides[square], round(feet[square].x_mm, 2), round(feet[square].y_mm, 2))
        for square in sorted(manned)
    )
    standing = Standing(
        soldiers, _likely_height_mm(figure), figure.foot_radius_mm, tuple(differences) + side_notes
    )
    return Board(
        raster,
        flat,
        surface,
        strange,
        (low, high),
        figure,
        standing,
        lamp,
        feet,
        cover,
        by_taught,
        hardly_seen,
        unseen,
    )


def _likely_height_mm(figure: Figure) -> float:
    """Give the height of figures that cover as much as one of the height that was learnt."""
    return _SAID_MM + _SAID_SHARE * figure.height_mm


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


def _levels(quick: Mapping[Square, float], manned: Sequence[Square]) -> tuple[float, float, list[Square]]:
    """Usual strangeness of a bare square and of a figure, and the manned squares, the clearest first."""
    values = np.array(sorted(quick.values()))
    low = float(np.median(values[: len(values) // 2]))
    high = float(np.median([quick[square] for square in manned])) if manned else low
    high = max(high, _FEWEST_CLEAR_LEVELS * low, low + 1.0)
    return low, high, sorted(manned, key=lambda square: -quick[square])


def _learn_figure(
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    feet_mm: Sequence[tuple[float, float]],
    *,
    hardly_seen: bool,
) -> Figure:
    """Learn the size that best covers figures on feet, the clearest first; one for all.

    On a board that hides its soldiers as much of it looks like them around their feet: there they are no larger than usual.
    """
    sample = feet_mm[:: max(1, len(feet_mm) // _SIZE_SAMPLE)][:_SIZE_SAMPLE]
    height, foot = _FIRST_SIZE
    if sample:
        covered = np.sum([_covered(cover, raster, view, *foot_mm) for foot_mm in sample], axis=0)
        if hardly_seen:
            covered = covered[: height + 1, : foot + 1]
        # One dimension at a time: height and foot hardly depend on each other.
        for _ in range(_SIZE_ROUNDS):
            height = int(np.argmax(covered[:, foot]))
            foot = int(np.argmax(covered[height]))
    return Figure(_HEIGHTS_MM[height], _FOOT_RADII_MM[foot])


def _covered(cover: FloatImage, raster: Raster, view: BoardView, x_mm: float, y_mm: float) -> FloatImage:
    """Sum up the cover where a figure is drawn: of every height, with every foot.

    The body is the same on every foot, so each is drawn once; a foot counts where the body is not.
    """
    largest = Figure(_HEIGHTS_MM[-1], _FOOT_RADII_MM[-1]).shadow_of_sight(view.camera_mm, x_mm, y_mm)
    left, top, right, bottom = Figure.box(largest, raster, 1)
    left, top = max(left, 0), max(top, 0)
    window = cover[top:bottom, left:right]

    def drawn(parts: Sequence[Discs]) -> FloatImage:
        size_px = window.shape[1], window.shape[0]
        return np.stack([Figure.draw(discs, raster, (left, top), size_px).ravel() for discs in parts])

    figures = [Figure(height_mm, 0.0) for height_mm in _HEIGHTS_MM]
    bodies = drawn([figure.shadow_of_sight(view.camera_mm, x_mm, y_mm)[1:] for figure in figures])
    feet = drawn([[(x_mm, y_mm, radius_mm)] for radius_mm in _FOOT_RADII_MM])
    bodies *= window.ravel()
    return np.asarray(bodies.sum(axis=1)[:, None] + (window.ravel() - bodies) @ feet.T)


def _with_shadows(
    feet: Mapping[Square, Foot], thrown: ThrownShadows, hidden: NDArray[np.bool_]
) -> dict[Square, Foot]:
    """Weigh the shadows that feet's soldiers throw, or do not, with all else that is seen of them."""
    feet_mm = np.array([(foot.x_mm, foot.y_mm) for foot in feet.values()])
    log_odds = _log_odds(feet)
    return _with_odds(feet, log_odds + shadow_odds(log_odds, thrown.contrasts(feet_mm, hidden)))


def _with_colours(
    feet: Mapping[Square, Foot], flat: FloatImage, raster: Raster, view: BoardView, figure: Figure
) -> dict[Square, Foot]:
    """Weigh whether the colours of others are seen where a figure would stand, unless all is plain without."""
    log_odds = _log_odds(feet)
    if not anybody_open(log_odds):
        return dict(feet)
    colours = colours_of(flat)
    shown = [
        figure.hidden(figure.shadow_of_sight(view.camera_mm, foot.x_mm, foot.y_mm), raster)
        for foot in feet.values()
    ]
    shares = count_colours([colours[box][inside] for box, inside in shown])
    return _with_odds(feet, log_odds + alike_odds(log_odds, shares, _fields(feet)))


def _fields(feet: Mapping[Square, Foot]) -> NDArray[np.intp]:
    """On which field each square lies, 0 for A's and 1 for G's."""
    return np.array([int(square.field is Side.G) for square in feet])


def _log_odds(feet: Mapping[Square, Foot]) -> FloatArray:
    return np.array([foot.log_odds for foot in feet.values()])


def _with_odds(feet: Mapping[Square, Foot], log_odds: FloatArray) -> dict[Square, Foot]:
    return {
        square: replace(foot, log_odds=odds)
        for (square, foot), odds in zip(feet.items(), log_odds.tolist(), strict=True)
    }


def _manned(
    feet: Mapping[Square, Foot], scene: Scene, unseen: frozenset[Square], hardly_seen: bool
) -> tuple[list[Square], list[str]]:
    log_odds = {square: foot.log_odds for square, foot in feet.items()}
    return who_stands(log_odds, scene.expected, unseen, hardly_seen=hardly_seen)

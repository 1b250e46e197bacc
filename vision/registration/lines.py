"""The board's own lines, found to a fraction of a pixel where a camera says that they should be.

Whatever a board looks like, two squares that share an edge are parted by a line, or by a change of shade, or by both.
Across the middle part of each inner edge the picture is averaged along the edge to one profile, and in it the line, or
the step, is placed where it explains most. Soldiers, shadows and litter hide some of the 262 edges; the fit
that uses them weighs those by how badly they agree.

Some boards have no lines, but a cross or a dot where they would meet: there each is looked for in the same way, along x and along y.
Others, painted as a landscape, show no more than the four sides of all squares together, and perhaps the line between the halves.

A square farther out there are no such edges: so it is told whether a board begins and ends where a camera says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.registration.fit import LINES, Measured
from vision.registration.view import BoardView
from vision.scene import Scene

__all__ = ["begins_and_ends", "measure_crossings", "measure_frame", "measure_lines"]

Image = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

_ALONG = np.linspace(-0.3, 0.3, 9)  # of a square: between the ends of an edge, where other lines cross
_ALONG_CROSSING = np.linspace(-0.08, 0.08, 9)  # as far as the arms of a small cross go
_STEP_PX = 0.4  # between two samples across
_BLUR_PX = 0.8  # how soft edges are, standard deviation
_WIDE_LINE_PX = 1.8
_WIDE_WINDOW_PX = 4.0
# Of the edges of a checkered board, less those that do not, so many part dark from light as they should.
_BY_TURNS = 0.5
_LEAST_RISE = 1.0  # grey levels; less is no line
_LEAST_SHARE = 0.4  # of what the profile varies by that step and line explain
_LEAST_SIGMA_PX = 0.08
# Where a board begins and ends, of the edges along its border at least so many are found, and across its outermost squares;
# and of those a square farther at most so many for each of these. Rings on the squares are as good as lines to a board
# that is placed a quarter of a square off; its border lies on the table, then.
_LEAST_ALONG = 0.8
_LEAST_WITHIN = 0.7
_MOST_BEYOND = 0.5
_BORDER_REACH_SQUARES = 0.16
_SAWN_SIGMA_SQUARES = 0.006  # how true the sides are to the squares


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Edges between squares."""

    middles: FloatArray
    """In squares, shape (N, 2)."""
    across: FloatArray
    """The direction across each, shape (N, 2)."""
    by_turns: FloatArray | None
    """1 or -1 as a checkered board is dark or light on the far side of each, shape (N,); ``None`` along the border and at crossings."""

    @classmethod
    def of(
        cls,
        upright: list[tuple[float, float]],
        level: list[tuple[float, float]],
        *,
        are_border: bool = False,
    ) -> _Edges:
        """Take the middles of those along y, and of those along x."""
        middles = np.array(upright + level, dtype=np.float64)
        across = np.array([(1.0, 0.0)] * len(upright) + [(0.0, 1.0)] * len(level))
        return cls(middles, across, None if are_border else 1 - 2 * (np.floor(middles).sum(axis=1) % 2))


_INNER_EDGES = _Edges.of(
    [(x, y + 0.5) for x in range(1, BOARD_FILES) for y in range(BOARD_ROWS)],
    [(x + 0.5, y) for y in range(1, BOARD_ROWS) for x in range(BOARD_FILES)],
)

_CROSSINGS = [(float(x), float(y)) for x in range(1, BOARD_FILES) for y in range(1, BOARD_ROWS)]
_AT_CROSSINGS = _Edges(np.array(2 * _CROSSINGS), np.repeat(np.eye(2), len(_CROSSINGS), axis=0), None)


def _border_edges() -> tuple[_Edges, NDArray[np.int_]]:
    """Give the edges that make the border, and which of the four sides each is of."""
    files, rows = range(BOARD_FILES), range(BOARD_ROWS)
    upright = [(float(x), y + 0.5) for x in (0, BOARD_FILES) for y in rows]
    level = [(x + 0.5, float(y)) for y in (0, BOARD_ROWS) for x in files]
    counts = [len(rows)] * 2 + [len(files)] * 2
    return _Edges.of(upright, level, are_border=True), np.repeat(range(4), counts)


def _edges_beside(border: float) -> tuple[_Edges, NDArray[np.int_]]:
    """Give the edges across squares that lie beside the border, as far as told, and which of the four sides each is of."""
    files, rows = range(1, BOARD_FILES), range(1, BOARD_ROWS)
    upright = [(float(x), y) for y in (border, BOARD_ROWS - border) for x in files]
    level = [(x, float(y)) for x in (border, BOARD_FILES - border) for y in rows]
    counts = [len(files)] * 2 + [len(rows)] * 2
    return _Edges.of(upright, level), np.repeat((2, 3, 0, 1), counts)


_BORDER = _border_edges()
_MIDDLE_LINE = _Edges.of([], [(x + 0.5, BOARD_ROWS / 2) for x in range(BOARD_FILES)], are_border=True)
_WITHIN = _edges_beside(0.5)
_BEYOND = _edges_beside(-0.5)


def measure_lines(shades: Image, view: BoardView, scene: Scene, reach_squares: float) -> Measured:
    """Measure the edges between squares.

    Parameters
    ----------
    shades
        The picture in grey.
    view
        Where the edges should be, within `reach_squares`.
    scene
        The board.
    reach_squares
        How far from there they are looked for, in squares.

    Returns
    -------
    One measurement for each edge that was found, across it.
    """
    return _measured(shades, view, scene, reach_squares, _INNER_EDGES)[0]


def measure_crossings(shades: Image, view: BoardView, scene: Scene, reach_squares: float) -> Measured:
    """Measure what marks the inner corners of squares where no lines do, twice each; parameters as for `measure_lines`."""
    return _measured(shades, view, scene, reach_squares, _AT_CROSSINGS, _ALONG_CROSSING)[0]


def measure_frame(shades: Image, view: BoardView, scene: Scene, reach_squares: float) -> Measured:
    """Measure the four sides of all squares together, and the line between the halves; parameters as for `measure_lines`.

    A board that is painted as a landscape shows hardly more.
    """
    sides, middle = (
        _measured(shades, view, scene, reach_squares, edges)[0] for edges in (_BORDER[0], _MIDDLE_LINE)
    )
    px_per_square = scene.square_mm / view.mm_per_px(*scene.centre_mm)
    return sides.joined(middle).at_least(_SAWN_SIGMA_SQUARES * px_per_square)


def begins_and_ends(shades: Image, view: BoardView, scene: Scene) -> bool:
    """Say whether the board has its border where a camera says so, and its lines end there, plainly and on all four sides.

    Parameters
    ----------
    shades
        The picture in grey.
    view
        The camera, placed by the lines.
    scene
        The board.

    Returns
    -------
    ``False`` where not, and where it cannot be told: the border is hidden, or not drawn, or what lies beside looks like lines.
    """

    def found(edges: _Edges, side: NDArray[np.int_]) -> FloatArray:
        """Give the share of the edges that is found, of each side."""
        seen = _measured(shades, view, scene, _BORDER_REACH_SQUARES, edges)[1]
        return np.bincount(side, weights=seen) / np.bincount(side)

    return bool(
        (found(*_BORDER) >= _LEAST_ALONG).all()
        and ((within := found(*_WITHIN)) >= _LEAST_WITHIN).all()
        and (found(*_BEYOND) <= _MOST_BEYOND * within).all()
    )


def _measured(
    shades: Image,
    view: BoardView,
    scene: Scene,
    reach_squares: float,
    edges: _Edges,
    along_squares: FloatArray = _ALONG,
) -> tuple[Measured, NDArray[np.bool_]]:
    """Measure edges, as `measure_lines`, and say which were found, shape (edges,)."""
    square_mm = scene.square_mm
    middles, across = edges.middles * square_mm, edges.across
    step = 0.2 * square_mm
    moved = np.concatenate([middles, middles + step * across, middles + step * across[:, ::-1]])
    at, over, further = np.split(view.project(np.column_stack([moved, np.zeros(len(moved))])), 3)
    by_across, by_along = (over - at) / step, (further - at) / step  # px for each mm
    px_per_mm = np.linalg.norm(by_across, axis=1)
    half_mm = reach_squares * square_mm
    # A common grid for all edges, as fine as the finest needs; a board in the picture reaches nowhere near a quarter of it.
    half_px = min(half_mm * px_per_mm.max(), max(shades.shape) / 4)
    count = 2 * max(8, int(np.ceil(half_px / _STEP_PX))) + 1
    window = count // 4
    places_mm = np.linspace(-half_mm, half_mm, count)
    # Shape (edges, 2, along) and (edges, 2, across): u and v apart, since numpy is slow over pairs.
    start = (at[:, :, None] + by_along[:, :, None] * (along_squares * square_mm)).astype(np.float32)
    reach = (by_across[:, :, None] * places_mm).astype(np.float32)
    ends = start[:, :, [0, 0, -1, -1]] + reach[:, :, [0, -1, 0, -1]]
    limits = np.array([shades.shape[1] - 1, shades.shape[0] - 1])[:, None]
    inside = ((ends >= 0) & (ends < limits)).all(axis=(1, 2))
    u, v = ((start[:, k, :, None] + reach[:, k, None, :]).reshape(-1, count) for k in (0, 1))
    sampled = cv2.remap(shades, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    profiles = sampled.reshape(len(at), len(along_squares), count).mean(axis=1, dtype=np.float32)
    placed = _place(profiles, places_mm, float(np.median(px_per_mm)), window, edges.by_turns)
    found = placed.found & inside
    along = by_across / px_per_mm[:, None]
    pixels = at + placed.offset_mm[:, None] * by_across
    sigma_px = np.maximum(placed.sigma_mm * px_per_mm, _LEAST_SIGMA_PX)
    lines = Measured(
        middles[found],
        middles[found],
        pixels[found],
        along[found],
        sigma_px[found],
        np.full(int(found.sum()), LINES),
        (placed.lean[:, None] * across)[found],
    )
    return lines, found


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Lines in profiles, each of shape (edges,)."""

    offset_mm: FloatArray
    sigma_mm: FloatArray
    lean: FloatArray
    """Height of the step against the line, positive where the far side is darker."""
    found: NDArray[np.bool_]


def _place(
    profiles: NDArray[np.float32],
    places_mm: FloatArray,
    px_per_mm: float,
    window: int,
    by_turns: FloatArray | None,
) -> _Placed:
    """Find the line in each profile.

    A line and a step at one place cannot be told from a line or a step a little beside it, so either lines or steps are
    looked for, whichever are stronger on this board, and how far the other one pulls is left to the fit.

    Parameters
    ----------
    profiles
        Shape (edges, places).
    places_mm
        Shape (places,).
    px_per_mm
        Scale of the picture.
    window
        How many places to each side of a line belong to it.
    by_turns
        As in `_Edges`.
    """
    step_mm = float(places_mm[1] - places_mm[0])
    # One basis serves everywhere: a window of the profile, the line in its middle.
    near_px = np.arange(-window, window + 1) * step_mm * px_per_mm
    lines = np.column_stack([np.exp(-0.5 * (near_px / width) ** 2) for width in (_BLUR_PX, _WIDE_LINE_PX)])
    step = erf(near_px / (_BLUR_PX * np.sqrt(2)))[:, None]

    def found_by(shapes: FloatArray) -> FloatArray:
        across = [cv2.filter2D(profiles, -1, each[None]) for each in _beside_level(shapes).T]
        return np.stack([each[:, window : len(places_mm) - window] for each in across])

    by_line, by_step = found_by(lines), found_by(step)
    line_power, step_power = (by_line**2).sum(axis=0), by_step[0] ** 2
    mean, square = (np.asarray(cv2.blur(each, (len(near_px), 1))) for each in (profiles, profiles**2))
    total = len(near_px) * (square - mean**2)[:, window : len(places_mm) - window]
    varied = np.maximum(total, 1e-9 + 0.01 * total.max(axis=1, keepdims=True))
    shares = [np.median((power / varied).max(axis=1)) for power in (line_power, step_power)]
    # Of little more than its own width, a line's flank looks like a step as well.
    is_wide = window * step_mm * px_per_mm >= _WIDE_WINDOW_PX
    tells = None if is_wide else by_turns
    are_steps = shares[0] < shares[1] if tells is None else _is_checkered(profiles, tells)
    explained = step_power if are_steps else line_power
    best = np.clip(np.argmax(explained, axis=1), 1, explained.shape[1] - 2)
    rows = np.arange(len(profiles))
    before, here, after = (explained[rows, best + k] for k in (-1, 0, 1))
    bend = np.maximum(2 * here - before - after, 1e-9)
    peak = (here >= before) & (here >= after)
    shift = np.clip((after - before) / (2 * bend), -0.6, 0.6)
    # Neighbouring samples are not independent: one in each pixel is.
    left = np.maximum(total[rows, best] - line_power[rows, best] - step_power[rows, best], 1e-9)
    noise2 = left / max(2 * window - 4, 1) / (step_mm * px_per_mm)
    lean = -by_step[0, rows, best] / np.sqrt(np.maximum(line_power[rows, best], 1e-9))
    rise = np.sqrt(here / (2 * window + 1))
    return _Placed(
        places_mm[window + best] + shift * step_mm,
        np.sqrt(2 * noise2 / bend) * step_mm,
        np.clip(lean, -1, 1),
        peak & (rise > _LEAST_RISE) & (here > _LEAST_SHARE * total[rows, best]),
    )


def _is_checkered(profiles: NDArray[np.float32], by_turns: FloatArray) -> bool:
    """Say whether what is dark and light by turns along the lines is as dark and light across them."""
    quarter = profiles.shape[1] // 4
    rise = profiles[:, -quarter:].mean(axis=1) - profiles[:, :quarter].mean(axis=1)
    return bool(abs(np.sign(rise * by_turns).mean()) > _BY_TURNS)


def _beside_level(shapes: FloatArray) -> FloatArray:
    """Make shapes orthogonal to each other and to an even level."""
    return np.asarray(np.linalg.qr(shapes - shapes.mean(axis=0))[0], dtype=np.float64)

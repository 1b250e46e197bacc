"""Which side a soldier is of, by the colour of its uniform.

The two colours are not known beforehand. Where the position is known they are learnt from it, and a soldier that
plainly wears the other side's colour is named. Where it is not, the soldiers are parted into two heaps by colour, lightness
counting less than hue because a face and a helmet in the light differ more than two uniforms do; the heap whose soldiers
stand nearer to the Allies' base is the Allies'. Where one colour is all there is to see, each soldier is taken for one
of the field it stands on.
"""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_ROWS, Side, Square
from vision.figure import Figure
from vision.registration import BoardView
from vision.scene import Scene
from vision.surface import Raster

__all__ = ["tell_sides"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_LIGHTNESS_SHARE = 0.25
# The colour is taken above the foot and inside the rim of the body.
_UPPER_BODY = 0.25
_BODY_CORE = 0.9
_FEWEST_PIXELS = 8  # of the body that are plainly no board; with fewer the whole body is taken
# Distance of two heaps of colours, in spreads within a heap, below which they are one (halves of one heap lie at 2.5 to 5).
_APART = 5.5
_REFINEMENTS = 3
_PLAINLY_OTHER = 3.0  # how much better the other side's colour must fit, in spreads


def tell_sides(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    feet_mm: Mapping[Square, tuple[float, float]],
    scene: Scene,
) -> tuple[dict[Square, Side], tuple[str, ...]]:
    """Tell the side of each soldier.

    Parameters
    ----------
    flat
        The picture on the raster.
    cover
        Above 0 where a figure rather than the bare board is seen, on the raster.
    raster, view, figure
        The board's raster, the camera and the size of the figures.
    feet_mm
        Where the soldiers stand, (x, y) by square.
    scene
        Its expected position, where there is one, names the sides.

    Returns
    -------
    sides, notes
        The side by square, and a sentence for each soldier whose colour is not that of its side.
    """
    squares = sorted(feet_mm)
    if not squares:
        return {}, ()
    colours = np.array([_colour(flat, cover, raster, view, figure, feet_mm[s]) for s in squares])
    by_field = {s: s.field for s in squares}
    if scene.expected is None:
        sides = _by_heaps(squares, colours, feet_mm, scene.length_mm) or by_field
        return sides, ()
    known = np.array([s in scene.expected for s in squares])
    sides = {s: scene.expected.get(s, s.field) for s in squares}
    of_allies = np.array([sides[s] is Side.A for s in squares])
    heaps = {Side.A: colours[known & of_allies], Side.G: colours[known & ~of_allies]}
    if min(len(h) for h in heaps.values()) < 3:
        return sides, ()
    centres = {side: np.median(heap, axis=0) for side, heap in heaps.items()}
    spread = np.concatenate([h - centres[s] for s, h in heaps.items()]).std(axis=0) + 0.5
    notes = []
    for square, colour in zip(squares, colours, strict=True):
        off = {side: float(np.linalg.norm((colour - c) / spread)) for side, c in centres.items()}
        nearer = min(off, key=lambda side: off[side])
        if off[nearer] + _PLAINLY_OTHER < off[nearer.enemy] and _distance(heaps) > _APART:
            if square not in scene.expected:
                sides[square] = nearer
            elif nearer is not sides[square]:
                notes.append(f"{square} should hold a soldier of {sides[square]} and one of {nearer} is seen")
                sides[square] = nearer
        elif square not in scene.expected and off[nearer] < off[nearer.enemy]:
            sides[square] = nearer
    return sides, tuple(notes)


def _colour(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    foot_mm: tuple[float, float],
) -> FloatArray:
    """Median colour of a soldier's upper body: lightness scaled down, and for colour pictures two of hue."""
    discs = figure.shadow_of_sight(view.camera_mm, *foot_mm, from_z_mm=_UPPER_BODY * figure.height_mm)
    discs[:, 2] *= _BODY_CORE
    low = np.floor(raster.to_px((discs[:, :2] - discs[:, 2:]).min(axis=0))).astype(int)
    high = np.ceil(raster.to_px((discs[:, :2] + discs[:, 2:]).max(axis=0))).astype(int) + 1
    low = np.maximum(low, 0)
    box = np.s_[low[1] : high[1], low[0] : high[0]]
    window = np.ascontiguousarray(flat[box])
    inside = figure.draw(discs, raster, (int(low[0]), int(low[1])), (window.shape[1], window.shape[0])) > 0.5
    clear = inside & (cover[box] >= 0)
    if int(clear.sum()) >= _FEWEST_PIXELS:
        inside = clear
    if window.shape[2] == 3:
        window = cv2.cvtColor(window / 255.0, cv2.COLOR_BGR2LAB)
    colour = np.median(window[inside], axis=0).astype(np.float64)
    colour[0] *= _LIGHTNESS_SHARE
    return colour


def _distance(heaps: Mapping[Side, FloatArray]) -> float:
    """Distance of the means of two heaps in spreads within them (Mahalanobis's)."""
    first, second = heaps.values()
    apart = second.mean(axis=0) - first.mean(axis=0)
    within = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
    spread = within.T @ within / len(within) + 0.1 * np.eye(first.shape[1])
    return float(np.sqrt(apart @ np.linalg.solve(spread, apart)))


def _by_heaps(
    squares: list[Square],
    colours: FloatArray,
    feet_mm: Mapping[Square, tuple[float, float]],
    length_mm: float,
) -> dict[Square, Side] | None:
    """Part the soldiers by colour; ``None`` where there is only one colour."""
    if len(squares) < 2:
        return None
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 50, 0.01)
    # Started from the axis of largest spread, so that the same picture always gives the same answer.
    centred = colours - colours.mean(axis=0)
    axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    start = (centred @ axis > np.median(centred @ axis)).astype(np.int32).reshape(-1, 1)
    _, labels, _ = cv2.kmeans(colours.astype(np.float32), 2, start, stop, 1, cv2.KMEANS_USE_INITIAL_LABELS)
    first = labels.ravel() == 0
    # Along which line the heaps lie apart is now known, and how wide they are across it: part them again by that.
    for _ in range(_REFINEMENTS):
        if min(int(first.sum()), int((~first).sum())) < 1:
            return None
        means = [colours[first].mean(axis=0), colours[~first].mean(axis=0)]
        within = np.concatenate([colours[first] - means[0], colours[~first] - means[1]])
        spread = within.T @ within / len(within) + 0.1 * np.eye(colours.shape[1])
        line = np.linalg.solve(spread, means[0] - means[1])
        first = (colours - (means[0] + means[1]) / 2) @ line > 0
    if first.all() or not first.any():
        return None
    if _distance({Side.A: colours[first], Side.G: colours[~first]}) < _APART:
        return None
    y = np.array([feet_mm[s][1] for s in squares]) / length_mm * BOARD_ROWS
    first_is_allied = y[first].mean() < y[~first].mean()
    return {
        s: Side.A if is_first == first_is_allied else Side.G
        for s, is_first in zip(squares, first.tolist(), strict=True)
    }

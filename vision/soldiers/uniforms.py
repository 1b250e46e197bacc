"""Which side a soldier is of, by the colours of its uniform.

The colours are not known beforehand. Where the position is known they are learnt from it, and a soldier that plainly
wears the other side's is named: how often each colour occurs on either side's soldiers is counted, and each soldier
compared with both, itself not counted in (naive Bayes). Where it is not, and nobody taught them, the soldiers are
parted by their looks and by where they stand (`vision.soldiers.parting`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side, Square
from vision.registration import BoardView
from vision.scene import Scene, Uniforms
from vision.soldiers.figure import Discs, Figure
from vision.soldiers.parting import looks_of, part, trained
from vision.soldiers.surface import Raster, middle

__all__ = ["Worn", "learn_looks", "learn_uniforms", "tell_sides", "unlike_soldiers", "wear"]

FloatArray = NDArray[np.float64]
FloatImage = NDArray[np.float32]

_LIGHTNESS_SHARE = 0.25
# The middle colour is taken above the foot and inside the rim of the body.
_UPPER_BODY = 0.25
_BODY_CORE = 0.9
_FEWEST_PIXELS = 8  # of the body that are plainly no board; with fewer the whole body is taken
# Steps of CIE lightness, a and b in which colours are counted.
_BINS = (6.0, 3.0, 3.0)
_RARE = 2e-4  # share that a colour never seen is given
_ROUNDS = 5
# Mean log-likelihood ratio of a soldier's colours below which the heaps are one: equal ones reach 0.1.
_APART = 0.25
_PLAINLY_OTHER = 1.5
_FEWEST_SURE = 6
# Steps of CIE lightness, a and b in which taught colours are kept, and where nought lies among them.
_TAUGHT_STEPS = np.array([8.0, 6.0, 6.0])
_TAUGHT_ORIGIN = np.array([1, 22, 22])
_TAUGHT_SHAPE = (16, 45, 45)
# So many soldiers, and this share of them, on the first lines of both fields: nobody has moved far yet.
_START_LINES, _FEWEST_AT_START, _AT_START = 3, 16, 0.85
# Log-odds beyond which one that stands where the other side is set up is of its own all the same: in 160 tables at the
# start wrong ones reached 17, and the one that did stand there had 26 and more.
_PLAINLY_LOST = 20.0
_RIM_MM = 2.0  # of a figure: there the board mixes in
_FEWEST_IN_CORE = 20
_GREY = 3.0  # grey levels that the colours of a picture without any can be apart


@dataclass(frozen=True, slots=True, eq=False)
class Worn:
    """What one soldier wears."""

    pixels: FloatImage
    """Colours of all of it that is plainly no board, shape (N, colours)."""
    middle: FloatArray
    """Median colour of its upper body, lightness scaled down, shape (colours,)."""


def wear(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    feet_mm: Sequence[tuple[float, float]],
) -> list[Worn]:
    """See what is worn where somebody may stand.

    Parameters
    ----------
    flat, cover, raster, view, figure
        As for `tell_sides`.
    feet_mm
        Where they stand, (x, y).
    """
    colours = _colours(flat)
    worn = []
    for foot_mm in feet_mm:
        body = figure.shadow_of_sight(view.camera_mm, *foot_mm, from_z_mm=_UPPER_BODY * figure.height_mm)
        core = [(x, y, _BODY_CORE * radius) for x, y, radius in body]
        colour = middle(_inside(colours, cover, raster, core)).astype(np.float64)
        colour[0] *= _LIGHTNESS_SHARE
        whole = figure.shadow_of_sight(view.camera_mm, *foot_mm)
        worn.append(Worn(_inside(colours, cover, raster, whole), colour))
    return worn


def tell_sides(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    feet_mm: Mapping[Square, tuple[float, float]],
    worn: Mapping[Square, Worn],
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
    worn
        What they wear.
    scene
        Its expected position, where there is one, names the sides.

    Returns
    -------
    sides, notes
        The side by square, and a sentence for each soldier whose colour is not that of its side.
    """
    squares = sorted(feet_mm)
    by_field = {s: s.field for s in squares}
    taught = scene.uniforms
    if len(squares) < 2 and taught is None:
        return by_field | dict(_named(squares, scene.expected)), ()
    if scene.expected is None:
        if taught is not None:
            return _by_odds(squares, [_taught_ratio(worn[s].pixels, taught) for s in squares]), ()
        looks, grey = learn_looks(flat, cover, raster, view, figure, [feet_mm[s] for s in squares])
        forward = np.array([scene.length_mm / 2 - feet_mm[s][1] for s in squares]) / scene.square_mm
        odds = part(looks, trained(grey=grey), forward, np.array([s.field is Side.A for s in squares]))
        told = _by_odds(squares, odds.tolist())
        if _as_at_the_start(squares):
            plain = np.abs(odds) > _PLAINLY_LOST
            told = by_field | {s: told[s] for s, lost in zip(squares, plain.tolist(), strict=True) if lost}
        return told, ()
    counts = _counts([worn[s].pixels for s in squares])
    sides = by_field | dict(_named(squares, scene.expected))
    ratio = _ratios(counts, np.array([sides[s] is Side.A for s in squares]))
    notes: list[str] = []
    if float(np.median(np.abs(ratio))) >= _APART:
        for square, allied in zip(squares, ratio.tolist(), strict=True):
            seen = Side.A if allied > 0 else Side.G
            if square not in scene.expected:
                sides[square] = seen
            elif seen is not sides[square] and abs(allied) > _PLAINLY_OTHER:
                notes.append(f"{square} should hold a soldier of {sides[square]} and one of {seen} is seen")
                sides[square] = seen
    return sides, tuple(notes)


def _by_odds(squares: Sequence[Square], allied: Sequence[float]) -> dict[Square, Side]:
    return {s: Side.A if odds > 0 else Side.G for s, odds in zip(squares, allied, strict=True)}


def _as_at_the_start(squares: Sequence[Square]) -> bool:
    """Whether soldiers stand as they are set up: nearly all on lines 1 to 3 of their fields."""
    at_home = sum(s.own_line(s.field) <= _START_LINES for s in squares)
    fields = {s.field for s in squares if s.own_line(s.field) <= _START_LINES}
    return len(squares) >= _FEWEST_AT_START and len(fields) == 2 and at_home >= _AT_START * len(squares)


def learn_looks(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    feet_mm: Sequence[tuple[float, float]],
) -> tuple[FloatArray, bool]:
    """Describe soldiers for `vision.soldiers.parting`.

    Parameters
    ----------
    flat, cover, raster, view, figure
        As for `tell_sides`.
    feet_mm
        Where they stand.

    Returns
    -------
    looks, grey
        One row for each soldier, and whether the picture has no colours.
    """
    cores = []
    for foot_mm in feet_mm:
        box, inside = _seen(raster, cover.shape, figure.shadow_of_sight(view.camera_mm, *foot_mm))
        clear = inside & (cover[box] >= 0)
        depth_px = cv2.distanceTransform(np.pad(inside, 1).astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1]
        core = clear & (depth_px * raster.mm_per_px > _RIM_MM)
        chosen = core if int(core.sum()) >= _FEWEST_IN_CORE else clear
        cores.append(flat[box][chosen if int(chosen.sum()) >= _FEWEST_PIXELS else inside])
    grey = all(float(np.ptp(core, axis=1).max()) < _GREY for core in cores)
    return np.array([looks_of(core, grey=grey) for core in cores]), grey


def unlike_soldiers(worn: Mapping[Square, Worn], sure: Collection[Square]) -> dict[Square, float]:
    """Tell how far what is seen on a square is from wearing what soldiers wear; a shadow or a print is far.

    Parameters
    ----------
    worn
        What is seen where something may be a soldier, by square.
    sure
        Those of them that are soldiers for sure.

    Returns
    -------
    For each square 0 where its colours are as those of the sure soldiers, else by how much its mean log-likelihood
    falls short of theirs. All 0 where the sure ones are too few or of one colour: the other side may be missing.
    """
    squares = sorted(worn)
    nothing = dict.fromkeys(squares, 0.0)
    known = np.array([s in sure for s in squares], dtype=np.bool_)
    if int(known.sum()) < _FEWEST_SURE or known.all():
        return nothing
    counts = _counts([worn[s].pixels for s in squares])
    _, ratio = _settle(counts[known], _parted(np.array([worn[s].middle for s in squares if s in sure])))
    if float(np.abs(ratio).mean()) < _APART:
        return nothing
    total, size = counts[known].sum(axis=0), int(known.sum())
    likeness = []
    for own, inside in zip(counts, known.tolist(), strict=True):
        (here,) = np.nonzero(own)
        own_here, total_here = own[here], total[here]
        others = np.maximum(total_here - own_here, 0) / (size - 1) if inside else total_here / size
        likeness.append(float(own_here @ np.log((others + _RARE) / (own_here + _RARE))))
    usual = float(np.percentile(np.array(likeness)[known], 10))
    return {s: min(0.0, like - usual) for s, like in zip(squares, likeness, strict=True)}


def learn_uniforms(
    flat: FloatImage,
    cover: FloatImage,
    raster: Raster,
    view: BoardView,
    figure: Figure,
    soldiers: Mapping[tuple[float, float], Side],
) -> Uniforms | None:
    """Learn what the sides wear; ``None`` where a side is missing or they cannot be told apart.

    Parameters
    ----------
    flat, cover, raster, view, figure
        As for `tell_sides`.
    soldiers
        The side of each by its foot (x, y).
    """
    worn = dict(zip(soldiers, wear(flat, cover, raster, view, figure, list(soldiers)), strict=True))
    shares = {}
    for side in Side:
        own = [_taught_shares(worn[foot].pixels) for foot, of in soldiers.items() if of is side]
        if not own:
            return None
        shares[side] = np.mean(own, axis=0)
    uniforms = Uniforms(
        {
            side: {(int(i), int(j), int(k)): float(share[i, j, k]) for i, j, k in np.argwhere(share > _RARE)}
            for side, share in shares.items()
        }
    )
    towards = [
        _taught_ratio(worn[foot].pixels, uniforms) * (1 if side is Side.A else -1)
        for foot, side in soldiers.items()
    ]
    return uniforms if float(np.median(towards)) >= _APART else None


def _taught_shares(pixels: FloatImage) -> FloatArray:
    """Shares of colours on one soldier, in steps that are the same for every picture."""
    shares = np.zeros(_TAUGHT_SHAPE)
    full = np.zeros((len(pixels), 3))
    full[:, : pixels.shape[1]] = pixels
    steps = np.floor(full / _TAUGHT_STEPS).astype(int) + _TAUGHT_ORIGIN
    np.add.at(shares, tuple(np.clip(steps, 1, np.array(_TAUGHT_SHAPE) - 2).T), 1.0 / len(pixels))
    for axis in range(3):
        shares = 0.5 * shares + 0.25 * (np.roll(shares, 1, axis) + np.roll(shares, -1, axis))
    return shares


def _taught_ratio(pixels: FloatImage, uniforms: Uniforms) -> float:
    """Mean log-likelihood ratio of a soldier's colours, above 0 for the Allies."""
    own = _taught_shares(pixels)
    terms = []
    for side in (Side.A, Side.G):
        known = np.full(_TAUGHT_SHAPE, _RARE)
        for place, share in uniforms.shares[side].items():
            if all(0 <= at < size for at, size in zip(place, _TAUGHT_SHAPE, strict=True)):
                known[place] += share
        terms.append(np.log(known))
    return float((own * (terms[0] - terms[1])).sum())


def _colours(flat: FloatImage) -> FloatImage:
    """CIE lightness, a and b; of a grey picture the lightness."""
    if flat.shape[2] == 3:
        return np.asarray(cv2.cvtColor(flat / 255, cv2.COLOR_BGR2LAB), dtype=np.float32)
    return np.asarray(flat * (100 / 255), dtype=np.float32)


def _named(squares: Sequence[Square], expected: Mapping[Square, Side] | None) -> list[tuple[Square, Side]]:
    return [] if expected is None else [(s, expected[s]) for s in squares if s in expected]


def _inside(colours: FloatImage, cover: FloatImage, raster: Raster, discs: Discs) -> FloatImage:
    """Give the colours of what discs hide that is plainly no board, shape (N, colours)."""
    box, inside = _seen(raster, cover.shape, discs)
    clear = inside & (cover[box] >= 0)
    return np.asarray(colours[box][clear if int(clear.sum()) >= _FEWEST_PIXELS else inside], dtype=np.float32)


def _seen(
    raster: Raster, shape: tuple[int, ...], discs: Discs
) -> tuple[tuple[slice, slice], NDArray[np.bool_]]:
    """Give the window of a raster of a shape that discs lie in, and which of its pixels they cover."""
    left, top, right, bottom = Figure.box(discs, raster)
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, shape[1]), min(bottom, shape[0])
    drawn = Figure.draw(discs, raster, (left, top), (right - left, bottom - top))
    return np.s_[top:bottom, left:right], drawn > 0.5


def _counts(worn: Sequence[FloatImage]) -> FloatArray:
    """Shares of colours on each soldier, shape (soldiers, bins)."""
    everything = np.concatenate(worn)
    steps = np.array(_BINS[: everything.shape[1]])
    lowest = everything.min(axis=0)
    shares = np.zeros((len(worn), *(int(n) + 3 for n in (everything.max(axis=0) - lowest) / steps)))
    for pixels, all_of_it in zip(worn, shares, strict=True):
        bins = ((pixels - lowest) / steps).astype(int)
        # Its own corner of all colours, with a rim.
        first, last = bins.min(axis=0), bins.max(axis=0) + 3
        size = tuple((last - first).tolist())
        count = np.bincount(
            np.ravel_multi_index(tuple((bins - first + 1).T), size), minlength=math.prod(size)
        )
        share = count.reshape(size) / len(pixels)
        # A colour is also its neighbours, a little: light falls differently on the next soldier.
        for axis in range(len(size)):
            beside = share.swapaxes(axis, 0)
            half = 0.5 * beside
            half[1:] += 0.25 * beside[:-1]
            half[:-1] += 0.25 * beside[1:]
            share = half.swapaxes(axis, 0)
        all_of_it[tuple(slice(*ends) for ends in zip(first, last, strict=True))] = share
    found = shares.reshape(len(worn), -1)
    return found[:, found.any(axis=0)]


def _ratios(counts: FloatArray, heap: NDArray[np.bool_]) -> FloatArray:
    """Mean log-likelihood ratio of each soldier's colours, above 0 for the heap; itself not counted in."""
    totals = [counts[heap].sum(axis=0), counts[~heap].sum(axis=0)]
    sizes = [int(heap.sum()), int((~heap).sum())]
    ratios = np.zeros(len(counts))
    for i, everything in enumerate(counts):
        (here,) = np.nonzero(everything)
        own = everything[here]
        terms = []
        for total, size, inside in zip(totals, sizes, (heap[i], not heap[i]), strict=True):
            others = size - 1 if inside else size
            seen = np.maximum(total[here] - own, 0.0) if inside else total[here]
            terms.append(seen / max(others, 1) + _RARE)
        ratios[i] = float(own @ np.log(terms[0] / terms[1]))
    return ratios


def _settle(counts: FloatArray, heap: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], FloatArray]:
    """Let the soldiers go to the heap whose colours they wear until nobody moves."""
    ratios = np.zeros(len(counts))
    for _ in range(_ROUNDS):
        if heap.all() or not heap.any():
            return heap, np.zeros(len(counts))
        ratios = _ratios(counts, heap)
        moved = ratios > 0
        if np.array_equal(moved, heap):
            break
        heap = moved
    return heap, ratios


def _parted(middles: FloatArray) -> NDArray[np.bool_]:
    """Part soldiers into two heaps by their middle colours."""
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 50, 0.01)
    # Started from the axis of largest spread, so that the same picture always gives the same answer.
    centred = middles - middles.mean(axis=0)
    along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    start = (along > np.median(along)).astype(np.int32).reshape(-1, 1)
    if start.all() or not start.any():
        return np.asarray(start.ravel() == 1)
    _, labels, _ = cv2.kmeans(middles.astype(np.float32), 2, start, stop, 1, cv2.KMEANS_USE_INITIAL_LABELS)
    return np.asarray(labels.ravel() == 1)

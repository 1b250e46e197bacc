"""Is it the same figure, still upright, a little aside? A standing figure seen again after a push.

From above a figure that was pushed looks as before, shifted and perhaps turned about its upright; one that fell shows
its side. So the figure as it was is laid over the later picture at every shift and turn and compared by correlation
within its outline. Only pixels that tell it from the bare board take part: on a low-contrast board most would agree
with anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Resemblance", "follow", "resemble", "slide"]

FloatImage = NDArray[np.float32]
Look = Callable[[tuple[slice, slice]], FloatImage]
"""Gives some rows and columns of a picture on the raster."""

_COARSE_TURNS_DEG = np.arange(-180.0, 180.0, 20.0)
_FINE_TURNS_DEG = np.array([-10.0, -5.0, 0.0, 5.0, 10.0])
_REFINED = 2  # coarse turns of which the neighbourhood is searched
# A figure this many pixels around, on a reach of as many, is as telling at half of them.
_ENOUGH_PX = 18
_LEAST_COVERED = 0.35  # of what is looked at: where less is new nobody stands anew
# From one picture to the next a figure turns by so much at the most; less alike than this it is hidden, and waited for.
_NEXT_TURNS_DEG = np.array([-16.0, -8.0, 0.0, 8.0, 16.0])
_SEEN_ALIKE = 0.4
_NOWHERE = -2.0  # instead of a correlation, and less than any


@dataclass(frozen=True, slots=True)
class Resemblance:
    """The best place and turn at which a figure is seen again."""

    correlation: float
    """Of colours within the outline, -1 to 1; or -2: nowhere in reach was enough new, and the place means nothing."""
    covered: float
    """Share of the outline where the later picture shows something new."""
    dx_px: float
    """Shift, in raster pixels to the right."""
    dy_px: float
    """Shift, in raster pixels down."""
    turn_deg: float
    """Turn about the pivot, counter-clockwise on the raster."""


def resemble(
    before: FloatImage,
    after: FloatImage,
    outline: NDArray[np.bool_],
    new: FloatImage,
    *,
    pivot_px: tuple[int, int],
    about_px: tuple[int, int],
    reach_px: int,
) -> Resemblance:
    """Look for a figure of one picture in another.

    Parameters
    ----------
    before, after
        The two pictures on the raster, shape (height, width, colours).
    outline
        The figure's telling pixels in the first picture, shape (height, width).
    new
        How sure it is that the second picture shows something that was not there before, or the figure itself.
    pivot_px
        (column, row) in the first picture about which the figure turns.
    about_px
        Shift (to the right, down) about which it is looked for.
    reach_px
        Largest shift from there.
    """
    figure = _Figure(before, outline, pivot_px)
    half = figure.radius + reach_px + max(map(abs, about_px))
    scene, thing = (_patch(each.__getitem__, outline.shape, pivot_px, half) for each in (after, new))
    search = _Search(figure, scene, thing)
    scale = 2 if min(reach_px, figure.radius) >= _ENOUGH_PX else 1
    coarse = search.at(_COARSE_TURNS_DEG, about_px, reach_px, scale)
    coarse.sort(key=_rank, reverse=True)
    fine: list[Resemblance] = []
    for found in coarse[:_REFINED]:
        near = (round(found.dx_px), round(found.dy_px))
        fine += search.at(found.turn_deg + _FINE_TURNS_DEG, near, scale + 1, 1)
    return max(fine, key=_rank)


def slide(
    before: FloatImage,
    after: FloatImage,
    outline: NDArray[np.bool_],
    *,
    pivot_px: tuple[int, int],
    reach_px: int,
) -> Resemblance:
    """Look for a figure close to where it stood, not turned, whatever else is new there; as `resemble`."""
    figure = _Figure(before, outline, pivot_px)
    search = _Search(figure, _patch(after.__getitem__, outline.shape, pivot_px, figure.radius + reach_px))
    (found,) = search.at(np.zeros(1), (0, 0), reach_px, 1)
    return found


def follow(
    before: FloatImage,
    looks: Iterable[Look],
    outline: NDArray[np.bool_],
    *,
    pivot_px: tuple[int, int],
    reach_px: int,
    step_px: int,
    sure_step: float,
) -> Resemblance:
    """Follow a figure from picture to picture by its looks, upright.

    Parameters
    ----------
    before, outline, pivot_px
        As for `resemble`.
    looks
        Each at one picture, one after the other, of the shape of `before`.
    reach_px
        Farther it is not followed.
    step_px
        How far it moves from one picture to the next, at the most.
    sure_step
        Grey levels by which a pixel differs for sure: where none about it does, it is where it was.

    Returns
    -------
    Where it was seen last; beyond `reach_px`, or off the raster, where it went out of reach.
    """
    figure = _Figure(before, outline, pivot_px)
    half = figure.radius + step_px + 1
    seen = Resemblance(1.0, 1.0, 0.0, 0.0, 0.0)
    last_px, last = (0, 0), None
    for look in looks:
        about_px = (round(seen.dx_px), round(seen.dy_px))
        middle_px = (pivot_px[0] + about_px[0], pivot_px[1] + about_px[1])
        on_raster = 0 <= middle_px[0] < outline.shape[1] and 0 <= middle_px[1] < outline.shape[0]
        if max(map(abs, about_px)) > reach_px or not on_raster:
            break
        scene = _patch(look, outline.shape, middle_px, half)
        if last is not None and last_px == about_px and cv2.norm(scene, last, cv2.NORM_INF) < sure_step:
            continue
        last_px, last = about_px, scene
        search = _Search(figure, scene)
        turns_deg = seen.turn_deg + _NEXT_TURNS_DEG
        found = max(search.at(turns_deg, (0, 0), step_px, 1), key=lambda each: each.correlation)
        if found.correlation > _SEEN_ALIKE:
            seen = replace(found, dx_px=about_px[0] + found.dx_px, dy_px=about_px[1] + found.dy_px)
    return seen


def _rank(found: Resemblance) -> float:
    return found.correlation + found.covered


@dataclass(frozen=True, slots=True, eq=False)
class _Turned:
    """A figure at one turn."""

    mask: FloatImage
    """1 within its outline, shape (pixels,)."""
    area: float
    """How many pixels that are."""
    looks: FloatImage
    """Its colours there less their means, else 0; shape (colours, pixels)."""
    power: float
    """Sum of the squares of `looks`."""


class _Figure:
    """A figure's outline and looks, about its pivot, at every turn."""

    def __init__(self, picture: FloatImage, outline: NDArray[np.bool_], pivot_px: tuple[int, int]) -> None:
        rows, columns = np.nonzero(outline)
        column, row = pivot_px
        self.radius = int(max(np.abs(rows - row).max(), np.abs(columns - column).max())) + 2
        looks = _patch(picture.__getitem__, outline.shape, pivot_px, self.radius)
        # Correlation does not ask where zero lies, and small numbers lose no digits.
        self.middle = looks.mean(axis=(0, 1))
        self._looks = looks - self.middle
        self._shape = _patch(outline.astype(np.float32).__getitem__, outline.shape, pivot_px, self.radius)
        self._turned: dict[tuple[float, int], _Turned] = {}

    def turned(self, turn_deg: float, scale: int) -> _Turned:
        """Give it at a turn, every `scale`-th pixel."""
        if (turn_deg, scale) not in self._turned:
            half = self.radius // scale
            size = (2 * half + 1, 2 * half + 1)
            turn = cv2.getRotationMatrix2D((self.radius, self.radius), turn_deg, 1.0 / scale)
            turn[:, 2] += half - self.radius
            seen = cv2.warpAffine(
                _smooth(self._looks, scale),
                turn,
                size,
                flags=cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE,
            )
            mask = (cv2.warpAffine(self._shape, turn, size) > 0.5).ravel().astype(np.float32)
            looks = np.asarray(seen, dtype=np.float32).reshape(len(mask), -1).T
            area = max(float(mask.sum()), 1.0)
            looks = mask * (looks - (looks @ mask)[:, None] / np.float32(area))
            self._turned[turn_deg, scale] = _Turned(mask, area, looks, float((looks * looks).sum()) + 1e-3)
        return self._turned[turn_deg, scale]


class _Search:
    """Lays a figure over a scene.

    Parameters
    ----------
    figure
        What is looked for.
    scene
        Square, about the figure's pivot, shape (side, side, colours).
    thing
        How sure it is that something is there that may be it, shape (side, side, 1); ``None``: everywhere.
    """

    def __init__(self, figure: _Figure, scene: FloatImage, thing: FloatImage | None = None) -> None:
        self._figure, self._scene, self._thing = figure, scene - figure.middle, thing

    def at(
        self, turns_deg: NDArray[np.float64], about_px: tuple[int, int], reach_px: int, scale: int
    ) -> list[Resemblance]:
        """Find the best place for each of some turns, at shifts up to `reach_px` about a shift.

        At a scale of 2 every second pixel is looked at, after smoothing.
        """
        half = self._figure.radius // scale
        reach = -(-reach_px // scale)
        places = 2 * reach + 1
        turned = [self._figure.turned(float(turn_deg), scale) for turn_deg in turns_deg]
        cover = self._cover(turned, half, reach, scale, about_px)
        off2 = (np.arange(places) - reach) ** 2
        within = np.sqrt(off2[:, None] + off2).ravel() <= reach + 0.5
        some = np.flatnonzero(within & (cover.max(axis=1) >= _LEAST_COVERED))
        match = np.full(cover.shape, _NOWHERE, dtype=np.float32)
        match[some] = _correlations(_shrunk(self._scene, half + reach, scale, about_px), turned, some)
        both = (match + cover).reshape(places, places, -1)
        found = []
        for k, turn_deg in enumerate(turns_deg):
            y, x = divmod(int(np.argmax(both[..., k])), places)
            at = y * places + x
            found.append(
                Resemblance(
                    float(match[at, k]),
                    float(cover[at, k]),
                    scale * (x - reach + _peak(both[y, max(x - 1, 0) : x + 2, k])) + about_px[0],
                    scale * (y - reach + _peak(both[max(y - 1, 0) : y + 2, x, k])) + about_px[1],
                    float(turn_deg),
                )
            )
        return found

    def _cover(
        self, turned: Sequence[_Turned], half: int, reach: int, scale: int, about_px: tuple[int, int]
    ) -> FloatImage:
        """Give the share of the outline that has something new, at each place and turn: shape (places, turns)."""
        if self._thing is None:
            return np.ones(((2 * reach + 1) ** 2, len(turned)), dtype=np.float32)
        thing = _shrunk(self._thing, half + reach, scale, about_px)[..., 0]
        side = 2 * half + 1
        covered = [
            cv2.matchTemplate(thing, each.mask.reshape(side, side), cv2.TM_CCORR).ravel()
            / np.float32(each.area)
            for each in turned
        ]
        return np.stack(covered, axis=1)


def _patch(look: Look, shape: tuple[int, ...], middle_px: tuple[int, int], half: int) -> FloatImage:
    """Give a square of 2 * half + 1 pixels about (column, row) of a picture of that shape; beyond it as at its rim."""
    column, row = middle_px
    top, left, bottom, right = row - half, column - half, row + half + 1, column + half + 1
    cut = look(np.s_[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)])
    beyond = (max(-top, 0), max(bottom - shape[0], 0), max(-left, 0), max(right - shape[1], 0))
    whole = cv2.copyMakeBorder(cut, *beyond, cv2.BORDER_REPLICATE)
    return np.asarray(whole, dtype=np.float32).reshape(2 * half + 1, 2 * half + 1, -1)


def _smooth(image: FloatImage, scale: int) -> FloatImage:
    if scale == 1:
        return image
    return np.asarray(cv2.blur(image, (scale + 1, scale + 1)), dtype=np.float32).reshape(image.shape)


def _shrunk(image: FloatImage, half: int, scale: int, about_px: tuple[int, int]) -> FloatImage:
    """Cut a square of 2 * half + 1 pixels, every `scale`-th, about the middle plus a shift, out of an image."""
    middle = image.shape[0] // 2
    move = np.array([[1 / scale, 0, 0], [0, 1 / scale, 0]], dtype=np.float64)
    move[:, 2] = half - (middle + np.array(about_px)) / scale
    cut = cv2.warpAffine(
        _smooth(image, scale),
        move,
        (2 * half + 1, 2 * half + 1),
        flags=cv2.INTER_NEAREST,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(cut, dtype=np.float32).reshape(2 * half + 1, 2 * half + 1, -1)


def _correlations(scene: FloatImage, turned: Sequence[_Turned], places: NDArray[np.int64]) -> FloatImage:
    """Correlate a scene with a figure at some places and turns, within its outline and all colours together.

    Each colour's mean within the outline is taken off first.

    Parameters
    ----------
    scene
        Shape (side, side, colours).
    turned
        The figure.
    places
        Where to lay its first corner: row times their number along a side, plus column.

    Returns
    -------
    Shape (places, turns), -1 to 1.
    """
    masks = np.stack([each.mask for each in turned])
    area = np.array([each.area for each in turned], dtype=np.float32)
    # Only pixels that some turn covers, and those of all places at once: getting at them is what takes the time.
    pixels = np.flatnonzero(masks.any(axis=0))
    width, side = scene.shape[1], math.isqrt(masks.shape[1])
    corners = _on_raster(places, width - side + 1, width)
    at = corners[:, None] + _on_raster(pixels, side, width)
    masks = masks[:, pixels]
    of_scene = np.einsum("ijk,ijk->ij", scene, scene).ravel()[at] @ masks.T
    both = np.zeros_like(of_scene)
    for k, colour in enumerate(cv2.split(scene)):
        looks = np.stack([each.looks[k, pixels] for each in turned])
        alike, total = np.split(colour.ravel()[at] @ np.concatenate([looks, masks]).T, 2, axis=1)
        both += alike
        of_scene -= total**2 / area
    power = np.array([each.power for each in turned], dtype=np.float32)
    return np.asarray(np.clip(both / np.sqrt(np.maximum(of_scene, 1e-3) * power), -1.0, 1.0))


def _on_raster(places: NDArray[np.int64], across: int, width: int) -> NDArray[np.int64]:
    """Turn places counted along rows of one length into those counted along rows of another."""
    row, column = np.divmod(places, across)
    return np.asarray(row * width + column)


def _peak(three: NDArray[np.float32]) -> float:
    """Offset of a parabola's top through three neighbours from the middle one."""
    if three.size != 3:
        return 0.0
    left, middle, right = three.tolist()
    bend = left - 2 * middle + right
    return min(max(0.5 * (left - right) / bend, -0.5), 0.5) if bend < 0 else 0.0

"""Is it the same figure, still upright, a little aside? A standing figure seen again after a push.

From above a figure that was pushed looks as before, shifted and perhaps turned about its upright; one that fell shows
its side. So the figure as it was is laid over the later picture at every shift and turn and compared by correlation
within its outline. Only pixels that tell it from the bare board take part: on a low-contrast board most would agree
with anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Resemblance", "follow", "resemble", "slide"]

FloatImage = NDArray[np.float32]

_COARSE_TURNS_DEG = np.arange(-180.0, 180.0, 20.0)
_FINE_TURNS_DEG = np.array([-10.0, -5.0, 0.0, 5.0, 10.0])
_REFINED = 2  # coarse turns of which the neighbourhood is searched
# A figure this many pixels around, on a reach of as many, is as telling at half of them.
_ENOUGH_PX = 18
_LEAST_COVERED = 0.35  # of what is looked at: where less is new nobody stands anew
# From one picture to the next a figure turns by so much at the most; less alike than this it is hidden, and waited for.
_NEXT_TURNS_DEG = np.array([-16.0, -8.0, 0.0, 8.0, 16.0])
_SEEN_ALIKE = 0.4


@dataclass(frozen=True, slots=True)
class Resemblance:
    """The best place and turn at which a figure is seen again."""

    correlation: float
    """Of colours within the outline, -1 to 1."""
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
    about_px: tuple[int, int] = (0, 0),
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
    search, radius = _search(before, after, outline, new, pivot_px, reach_px + max(map(abs, about_px)))
    scale = 2 if min(reach_px, radius) >= _ENOUGH_PX else 1
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
    everywhere = np.ones(outline.shape, dtype=np.float32)
    search, _ = _search(before, after, outline, everywhere, pivot_px, reach_px)
    (found,) = search.at(np.zeros(1), (0, 0), reach_px, 1)
    return found


def follow(
    before: FloatImage,
    pictures: Iterable[FloatImage],
    outline: NDArray[np.bool_],
    *,
    pivot_px: tuple[int, int],
    reach_px: int,
    step_px: int,
) -> Resemblance:
    """Follow a figure from picture to picture by its looks, upright.

    Parameters
    ----------
    before, outline, pivot_px
        As for `resemble`.
    pictures
        One after the other, each of the shape of `before`.
    reach_px
        Farther it is not followed.
    step_px
        How far it moves from one picture to the next, at the most.

    Returns
    -------
    Where it was seen last; beyond `reach_px` where it went out of reach.
    """
    everywhere = np.ones(outline.shape, dtype=np.float32)
    seen = Resemblance(1.0, 1.0, 0.0, 0.0, 0.0)
    for picture in pictures:
        about_px = (round(seen.dx_px), round(seen.dy_px))
        if max(map(abs, about_px)) > reach_px:
            break
        search, _ = _search(before, picture, outline, everywhere, pivot_px, reach_px + step_px + 1)
        turns_deg = seen.turn_deg + _NEXT_TURNS_DEG
        found = max(search.at(turns_deg, about_px, step_px, 1), key=lambda each: each.correlation)
        if found.correlation > _SEEN_ALIKE:
            seen = found
    return seen


def _rank(found: Resemblance) -> float:
    return found.correlation + found.covered


class _Search:
    """Lays a figure over a scene, both square and about the same middle, of shape (side, side, colours)."""

    def __init__(self, figure: FloatImage, shape: FloatImage, scene: FloatImage, thing: FloatImage) -> None:
        # Correlation does not ask where zero lies, and small numbers lose no digits.
        middle = scene.mean(axis=(0, 1))
        self._scene, self._figure = scene - middle, figure - middle
        self._shape, self._thing = shape, thing

    def at(
        self, turns_deg: NDArray[np.float64], about_px: tuple[int, int], reach_px: int, scale: int
    ) -> list[Resemblance]:
        """Find the best place for each of some turns, at shifts up to `reach_px` about a shift.

        At a scale of 2 every second pixel is looked at, after smoothing.
        """
        half = self._figure.shape[0] // 2 // scale
        reach = -(-reach_px // scale)
        side, places = 2 * half + 1, 2 * reach + 1
        masks, figures = self._turned(turns_deg, half, scale)
        scene = _shrunk(self._scene, half + reach, scale, about_px)
        thing = _shrunk(self._thing, half + reach, scale, about_px)[..., 0]
        area = np.maximum(masks.sum(axis=1), 1.0)
        cover = np.stack(
            [cv2.matchTemplate(thing, mask.reshape(side, side), cv2.TM_CCORR).ravel() for mask in masks],
            axis=1,
        )
        cover /= area
        off2 = (np.arange(places) - reach) ** 2
        within = np.sqrt(off2[:, None] + off2).ravel() <= reach + 0.5
        some = np.flatnonzero(within & (cover.max(axis=1) >= _LEAST_COVERED))
        match = np.full(cover.shape, -2.0, dtype=np.float32)
        match[some] = _correlations(
            # One after the other: they are large, and each is read but once.
            (_windows(colour, side, some) for colour in cv2.split(scene)),
            _windows(np.einsum("ijk,ijk->ij", scene, scene), side, some),
            [figures[..., k] for k in range(scene.shape[2])],
            masks,
            area,
        )
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

    def _turned(self, turns_deg: NDArray[np.float64], half: int, scale: int) -> tuple[FloatImage, FloatImage]:
        """Give the figure's outline and looks at each turn: shapes (turns, pixels), (turns, pixels, colours)."""
        middle = self._figure.shape[0] // 2
        side = 2 * half + 1
        figure = _smooth(self._figure, scale)
        masks, figures = [], []
        for turn_deg in turns_deg:
            turn = cv2.getRotationMatrix2D((middle, middle), float(turn_deg), 1.0 / scale)
            turn[:, 2] += half - middle
            turned = cv2.warpAffine(
                figure, turn, (side, side), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
            )
            figures.append(turned.reshape(side * side, -1))
            masks.append((cv2.warpAffine(self._shape, turn, (side, side)) > 0.5).ravel())
        return np.asarray(masks, dtype=np.float32), np.asarray(figures, dtype=np.float32)


def _search(
    before: FloatImage,
    after: FloatImage,
    outline: NDArray[np.bool_],
    new: FloatImage,
    pivot_px: tuple[int, int],
    reach_px: int,
) -> tuple[_Search, int]:
    """Prepare a search, and give how many pixels a figure reaches about its pivot."""
    rows, columns = np.nonzero(outline)
    column, row = pivot_px
    radius = int(max(np.abs(rows - row).max(), np.abs(columns - column).max())) + 2
    margin = radius + reach_px

    def patch(image: NDArray[np.float32], half: int) -> FloatImage:
        top, left = row - half, column - half
        cut = image[max(top, 0) : row + half + 1, max(left, 0) : column + half + 1]
        above, beside = max(-top, 0), max(-left, 0)
        below, beyond = 2 * half + 1 - cut.shape[0] - above, 2 * half + 1 - cut.shape[1] - beside
        whole = cv2.copyMakeBorder(cut, above, below, beside, beyond, cv2.BORDER_REPLICATE)
        return np.asarray(whole, dtype=np.float32).reshape(2 * half + 1, 2 * half + 1, -1)

    search = _Search(
        patch(before, radius),
        patch(outline.astype(np.float32), radius),
        patch(after, margin),
        patch(new, margin),
    )
    return search, radius


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


def _windows(image: FloatImage, side: int, places: NDArray[np.int64]) -> FloatImage:
    """Give the pixels of some of an image's squares of a side, row by row: shape (places, side * side)."""
    view = np.lib.stride_tricks.sliding_window_view(image, (side, side))
    down, across = np.divmod(places, view.shape[1])
    return view[down, across].reshape(len(places), side * side)


def _correlations(
    scenes: Iterable[FloatImage],
    power: FloatImage,
    figures: list[FloatImage],
    masks: FloatImage,
    area: FloatImage,
) -> FloatImage:
    """Correlate windows of a scene with figures within masks, all colours together.

    Each colour's mean within the mask is taken off first.

    Parameters
    ----------
    scenes, figures
        One a colour, shapes (places, pixels) and (turns, pixels).
    power
        Sum of the squares of `scenes`, shape (places, pixels).
    masks
        Shape (turns, pixels).
    area
        Their sums.

    Returns
    -------
    Shape (places, turns), -1 to 1.
    """
    both = np.zeros((len(power), len(masks)), dtype=np.float32)
    of_scene = power @ masks.T
    of_figure = np.full(len(masks), 1e-3, dtype=np.float32)
    for scene, figure in zip(scenes, figures, strict=True):
        off = masks * (figure - ((figure * masks).sum(axis=1) / area)[:, None])
        # At once, as it is getting at the scene that takes its time.
        alike, total = np.split(scene @ np.concatenate([off, masks]).T, 2, axis=1)
        both += alike
        of_scene -= total**2 / area
        of_figure += (off * off).sum(axis=1)
    return np.asarray(np.clip(both / np.sqrt(np.maximum(of_scene, 1e-3) * of_figure), -1.0, 1.0))


def _peak(three: NDArray[np.float32]) -> float:
    """Offset of a parabola's top through three neighbours from the middle one."""
    if three.size != 3:
        return 0.0
    left, middle, right = three.tolist()
    bend = left - 2 * middle + right
    return min(max(0.5 * (left - right) / bend, -0.5), 0.5) if bend < 0 else 0.0

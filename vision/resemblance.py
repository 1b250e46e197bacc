"""Is it the same figure, still upright, a little aside? A standing figure seen again after a push.

From above a figure that was pushed looks as before, shifted and perhaps turned about its upright; one that fell shows
its side. So the figure as it was is laid over the later picture at every shift and turn and compared by correlation
within its outline. Only pixels that tell it from the bare board take part: on a low-contrast board most would agree
with anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Resemblance", "resemble"]

FloatImage = NDArray[np.float32]

_COARSE_TURNS_DEG = np.arange(-180.0, 180.0, 15.0)
_FINE_TURNS_DEG = (-10.0, -5.0, 5.0, 10.0)


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
    new: NDArray[np.bool_],
    *,
    pivot_px: tuple[float, float],
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
        Where the second picture shows something that was not there before, or the figure itself.
    pivot_px
        (column, row) in the first picture about which the figure turns.
    reach_px
        Largest shift along a row or a column.
    """
    rows, columns = np.nonzero(outline)
    column, row = round(pivot_px[0]), round(pivot_px[1])
    radius = int(max(np.abs(rows - row).max(), np.abs(columns - column).max())) + 2
    margin = radius + reach_px
    size = (2 * margin + 1, 2 * margin + 1)

    def patch(image: NDArray[np.float32]) -> FloatImage:
        flat = image.reshape(*image.shape[:2], -1)
        cut = [cv2.getRectSubPix(flat[..., k], size, (column, row)) for k in range(flat.shape[2])]
        return np.ascontiguousarray(np.stack(cut, axis=-1), dtype=np.float32)

    inner = np.s_[reach_px : reach_px + 2 * radius + 1, reach_px : reach_px + 2 * radius + 1]
    figure = patch(before)[inner]
    shape = patch(outline.astype(np.float32))[inner][..., 0]
    scene = patch(after)
    thing = patch(new.astype(np.float32))[..., 0]

    def at_turn(turn_deg: float) -> Resemblance:
        turn = cv2.getRotationMatrix2D((radius, radius), turn_deg, 1.0)
        flags = {"flags": cv2.INTER_LINEAR, "borderMode": cv2.BORDER_REPLICATE}
        turned = cv2.warpAffine(figure, turn, (2 * radius + 1,) * 2, **flags).reshape(figure.shape)
        inside = (cv2.warpAffine(shape, turn, (2 * radius + 1,) * 2) > 0.5).astype(np.float32)
        mask = np.ascontiguousarray(np.repeat(inside[..., None], figure.shape[2], axis=2))
        match = cv2.matchTemplate(scene, turned, cv2.TM_CCOEFF_NORMED, mask=mask)
        match = np.nan_to_num(match, nan=-1.0, posinf=-1.0, neginf=-1.0)
        cover = cv2.matchTemplate(thing, inside, cv2.TM_CCORR) / max(float(inside.sum()), 1.0)
        both = match + cover
        _, _, _, (x, y) = cv2.minMaxLoc(both)
        return Resemblance(
            float(match[y, x]),
            float(cover[y, x]),
            x - reach_px + _peak(both[y, max(x - 1, 0) : x + 2]),
            y - reach_px + _peak(both[max(y - 1, 0) : y + 2, x]),
            turn_deg,
        )

    def rank(found: Resemblance) -> float:
        return found.correlation + found.covered

    coarse = {float(t): at_turn(float(t)) for t in _COARSE_TURNS_DEG}
    best_turn = max(coarse, key=lambda t: rank(coarse[t]))
    return max([coarse[best_turn], *(at_turn(best_turn + t) for t in _FINE_TURNS_DEG)], key=rank)


def _peak(three: NDArray[np.float32]) -> float:
    """Offset of a parabola's top through three neighbours from the middle one."""
    if three.size != 3:
        return 0.0
    left, middle, right = (float(v) for v in three.ravel())
    bend = left - 2 * middle + right
    return float(np.clip(0.5 * (left - right) / bend, -0.5, 0.5)) if bend < 0 else 0.0

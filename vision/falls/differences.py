"""What differs on the board after the shot from before it, pixel by pixel of the raster, whoever it may be.

A pixel can look the same as before, or otherwise; and strange to the bare board, or like it. What looks otherwise and like
the bare board was uncovered; what looks otherwise and strange has come there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.falls.topple import Place, largest, smoothed
from vision.falls.uncovered import find_uncovered
from vision.quick_median import SIGMA_BY_MAD
from vision.soldiers import Board
from vision.soldiers.lamp import find_darkness
from vision.soldiers.surface import strange_share, strangeness

__all__ = ["Differences", "find_differences"]

FloatImage = NDArray[np.float32]
Mask = NDArray[np.bool_]

# A pixel differs for sure by so many times the noise, and so many grey levels at least. In a noisy picture means over squares of
# pixels are compared instead, which differ for sure by fewer times their noise.
_NOISE_FACTOR, _LEAST_STEP = 6.0, 12.0
_SMOOTH_PX, _SMOOTH_NOISE_FACTOR = 3, 4.5
_SPARSE = 3  # one pixel in so many, along rows and columns, tells the noise


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """The table after the shot against the table before; every image is of the raster."""

    step: float
    """Grey levels by which a pixel differs for sure."""
    smooth_px: int
    """Side of the squares of raster pixels that are averaged before that is asked; 1 for none."""
    same: Mask
    """What looks as before."""
    changed: FloatImage
    """How sure it is that a pixel looks otherwise, 0 to 1."""
    strange: Mask
    """What is strange to the bare board now, on the board."""
    strange_share: FloatImage
    """How strange it is, from 0 as bare as the board to 1 as strange as the figures; beyond the rim whether it looks otherwise."""
    stranger_by: FloatImage
    """By how much stranger to the bare board each pixel is than before, 0 beyond the rim."""
    shows: Mask
    """Where anybody can be told from the bare board: where a soldier hardly differs from it all looks the same, whether he
    stands there or not."""
    manned: Mask
    """What those who were known to stand there covered."""
    beyond: Mask
    """What lies beyond the rim, where nothing is known of the bare table: whatever differs there may be somebody."""
    darkness: tuple[FloatImage, FloatImage] | None
    """How dark the bare board is for shadows, before and now; ``None`` where no lamp throws any."""

    @property
    def changed_aside(self) -> Mask:
        """What of the board differs where nobody was known to stand."""
        return ~(self.same | self.beyond | self.manned)


def find_differences(board: Board, flat: FloatImage, places: Sequence[Place]) -> Differences:
    """Hold the table after the shot against the table before.

    Parameters
    ----------
    board
        The table before.
    flat
        The picture after, laid on the raster, still and evenly lit.
    places
        Everybody's place before.
    """
    raster = board.raster
    smooth_px, factor = 1, _NOISE_FACTOR
    difference, noise = _difference(board, flat, smooth_px)
    if _NOISE_FACTOR * noise > _LEAST_STEP:
        # In a noisy picture the mean of a few pixels tells what one of them does not.
        smooth_px, factor = _SMOOTH_PX, _SMOOTH_NOISE_FACTOR
        difference, noise = _difference(board, flat, smooth_px)
    step = max(_LEAST_STEP, factor * noise)
    same = difference < step
    bare = np.ascontiguousarray(flat[raster.board])
    shades = board.surface.shades(bare)
    strangest = np.zeros(raster.shape, dtype=np.float32)
    strangest[raster.board] = strangeness(bare, board.surface, shades)
    least_strange = sum(board.strange_levels) / 2
    if flat.shape[2] == 3:
        unlike_shadow = np.zeros(raster.shape, dtype=np.bool_)
        unlike_shadow[raster.board] = (shades.share > 1) | (shades.tint > step)
        uncovered = find_uncovered(
            flat,
            places,
            (strangest > least_strange) & unlike_shadow,
            same,
            mm_per_px=raster.mm_per_px,
            step=step,
        )
        strangest[uncovered] = 0.0
    darkness = None
    if board.lamp is not None:
        then = board.surface.shades(np.ascontiguousarray(board.flat[raster.board]))
        darkness = find_darkness(then, raster), find_darkness(shades, raster)
    apart = smoothed(
        cv2.subtract(board.flat[raster.board], board.surface.colour).reshape(bare.shape), smooth_px
    )
    shows = np.ones(raster.shape, dtype=np.bool_)
    shows[raster.board] = largest(apart) >= step
    manned = np.zeros(raster.shape, dtype=np.bool_)
    for place in places:
        manned[place.window] |= place.shape
    beyond = np.ones(raster.shape, dtype=np.bool_)
    beyond[raster.board] = False
    share = strange_share(strangest, board.strange_levels)
    return Differences(
        step=step,
        smooth_px=smooth_px,
        same=same,
        changed=np.clip(difference / (2 * step), 0, 1).astype(np.float32),
        strange=strangest > least_strange,
        strange_share=np.where(beyond, ~same, share).astype(np.float32),
        stranger_by=strangest - board.strange,
        shows=shows,
        manned=manned,
        beyond=beyond,
        darkness=darkness,
    )


def _difference(board: Board, flat: FloatImage, smooth_px: int) -> tuple[FloatImage, float]:
    """Give what changed most of the colours, and the noise of that on the board."""
    off = smoothed(cv2.subtract(flat, board.flat).reshape(flat.shape), smooth_px)
    difference = largest(off)
    some = difference[board.raster.board][::_SPARSE, ::_SPARSE]
    return difference, SIGMA_BY_MAD * float(np.median(some))

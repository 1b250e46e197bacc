"""What a figure that stands would not explain: the part of somebody lying there that sticks out.

A figure that was pushed covers as much of the board as before, turned about its upright, and throws its shadow the
same way. One that fell lies as long as it was tall. So what the figure showed before is laid where it is seen again,
once turned and once as it was (its shadow does not turn with it), and what is new round about and not under it is left
over. However alike the colours are, a body that lies there leaves much.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.resemblance import Resemblance

__all__ = ["left_over"]

Mask = NDArray[np.bool_]


def left_over(
    new: Mask,
    shown: Mask,
    outline: Mask,
    found: Resemblance,
    *,
    pivot_px: tuple[float, float],
    reach_px: float,
    slack_px: int,
) -> float:
    """Measure how much lies around a figure that cannot be part of it if it stands.

    Parameters
    ----------
    new
        Where the later picture shows something that was not there before, or the figure itself, shape (height, width).
    shown
        Where the first picture shows the figure or its shadow.
    outline
        The figure's telling pixels in the first picture.
    found
        Where and how turned the figure is seen again.
    pivot_px
        (column, row) in the first picture about which the figure turned.
    reach_px
        How far from the pivot a lying figure can stick out.
    slack_px
        By how much a standing figure may reach beyond what it showed: its place and turn are not exact.

    Returns
    -------
    The left over area as a share of the outline's.
    """
    half = round(reach_px + np.hypot(found.dx_px, found.dy_px)) + 1
    side = 2 * half + 1
    column, row = round(pivot_px[0]), round(pivot_px[1])

    def patch(mask: Mask) -> NDArray[np.float32]:
        return np.asarray(
            cv2.getRectSubPix(mask.astype(np.float32), (side, side), (column, row)), dtype=np.float32
        )

    before = patch(shown | outline)
    turned = cv2.getRotationMatrix2D((half, half), found.turn_deg, 1.0)
    straight = np.eye(2, 3)
    ball = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * slack_px + 1,) * 2)
    rows, columns = np.ogrid[:side, :side]
    left = patch(new) > 0.5
    left &= np.hypot(columns - half - found.dx_px, rows - half - found.dy_px) < reach_px
    for place in (turned, straight):
        place[:, 2] += (found.dx_px, found.dy_px)
        left &= cv2.dilate(cv2.warpAffine(before, place, (side, side)), ball) < 0.5
    # Single pixels are noise on edges.
    sure = cv2.morphologyEx(left.astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    return float(sure.sum()) / max(float(outline.sum()), 1.0)

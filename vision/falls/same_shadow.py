"""How much the shadow beside a place looks like the one that a soldier threw where it stood before.

Who slides takes its shadow along as it is. One that lies along its own former shadow, dark and as long, is taken for it by
how dark it is there; but it is no shadow of that shape.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.soldiers import Board
from vision.soldiers.lamp import Lamp, cast_shadows

__all__ = ["ShadowsThen"]

FloatImage = NDArray[np.float32]
Mask = NDArray[np.bool_]

_RIM = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))
_FEWEST_PX = 15
_OFF_PX = (-1, 0, 1)  # by which the place may be off, down and across


class ShadowsThen:
    """The shadows in the picture before, to be held against those in the one after.

    Parameters
    ----------
    board
        The table before.
    lamp
        What throws them.
    view
        The camera.
    then, now
        How dark it was and is, as `vision.soldiers.lamp.find_darkness` gives it.
    """

    def __init__(self, board: Board, lamp: Lamp, view: BoardView, then: FloatImage, now: FloatImage) -> None:
        self._board = board
        self._lamp = lamp
        self._view = view
        self._then = then
        self._now = now

    def likeness(
        self,
        foot_mm: tuple[float, float],
        shift_mm: tuple[float, float],
        hidden_then: Mask,
        hidden_now: Mask,
    ) -> float | None:
        """Correlate the shadow of a soldier that stood with what is seen where it threw it now.

        Parameters
        ----------
        foot_mm
            Where it stood, (x, y).
        shift_mm
            How far from there it stands now, if it does.
        hidden_then, hidden_now
            Where on the raster figures hid the board, its own among them, and where others do now.

        Returns
        -------
        -1 to 1; ``None`` where next to nothing of the shadow can be seen both times.
        """
        raster = self._board.raster
        cast = cast_shadows(self._lamp, raster, self._view, self._board.figure, np.array([foot_mm]))
        seen = cv2.dilate(cast.astype(np.uint8), _RIM) & ~cv2.dilate(hidden_then.astype(np.uint8), _RIM)
        rows, columns = (each.astype(np.float32) for each in np.nonzero(seen & np.isfinite(self._then)))
        if len(rows) < _FEWEST_PX:
            return None
        then = self._then[rows.astype(int), columns.astype(int)]
        across, down = (np.float32(mm / raster.mm_per_px) for mm in shift_mm)
        hidden = cv2.remap(hidden_now.astype(np.uint8), columns + across, rows + down, cv2.INTER_NEAREST)
        best: tuple[float, float] | None = None
        for off_down in _OFF_PX:
            for off_across in _OFF_PX:
                now = cv2.remap(
                    self._now,
                    columns + across + off_across,
                    rows + down + off_down,
                    cv2.INTER_LINEAR,
                    borderMode=cv2.BORDER_CONSTANT,
                    borderValue=(float("nan"),) * 4,
                ).ravel()
                both = (hidden.ravel() == 0) & np.isfinite(now)
                if int(both.sum()) < _FEWEST_PX:
                    continue
                one, other = then[both], now[both]
                off2 = float(((one - other) ** 2).mean())
                if best is None or off2 < best[0]:
                    best = off2, _correlation(one, other)
        return None if best is None else best[1]


def _correlation(one: FloatImage, other: FloatImage) -> float:
    one, other = one - one.mean(), other - other.mean()
    return float((one * other).sum() / np.sqrt(max(float((one * one).sum() * (other * other).sum()), 1e-9)))

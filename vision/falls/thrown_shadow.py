"""How much of a shadow is seen where a soldier would throw it, did he stand there.

One on its feet throws a shadow as long as everybody's, away from the lamp; one that lies throws hardly any. So where no
shadow lies, nobody stands. Where one does, something else may throw it, or be as dark itself.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.soldiers.lamp import Lamp, find_darkness
from vision.soldiers.surface import Raster, Shades

__all__ = ["ThrownShadows"]

FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]

# Where along a figure's height its shadow is looked at: nearer to the foot the figure hides it, or one that lies does.
_ALONG = np.linspace(0.4, 1.0, 13)
_FEWEST_SEEN = 3
_DARKEST, _LIGHTEST = 1.1, -0.3  # darker is something black, lighter something white


class ThrownShadows:
    """Shadows in one picture.

    Parameters
    ----------
    lamp
        What throws them.
    shades
        The picture on the raster held against the bare board.
    raster
        The board's raster.
    height_mm
        How tall the figures are.
    """

    def __init__(self, lamp: Lamp, shades: Shades, raster: Raster, height_mm: float) -> None:
        self._lamp = lamp
        self._raster = raster
        self._darkness = find_darkness(shades, raster)
        self._heights_mm = _ALONG * height_mm

    def share(self, foot_mm: FloatArray, hidden: NDArray[np.bool_]) -> float | None:
        """Say how much of the shadow of one who stood there is seen: 0 for none of it, 1 for all.

        Parameters
        ----------
        foot_mm
            Where his foot would be, (x, y).
        hidden
            Where on the raster others stand and hide the board.

        Returns
        -------
        ``None`` where nearly all of it would lie beside the board or behind others.
        """
        body_mm = np.column_stack([np.tile(foot_mm, (len(_ALONG), 1)), self._heights_mm])
        at_px = self._raster.to_px(self._lamp.shadow(body_mm)[:, :2]).astype(np.float32)
        dark = _sampled(self._darkness, at_px, cv2.INTER_LINEAR)
        dark[_sampled(hidden.astype(np.uint8), at_px, cv2.INTER_NEAREST) > 0] = np.nan
        seen = dark[np.isfinite(dark)]
        if len(seen) < _FEWEST_SEEN:
            return None
        return float(np.clip(seen / self._lamp.darkness, _LIGHTEST, _DARKEST).mean())


def _sampled(layer: NDArray[np.generic], at_px: FloatImage, how: int) -> FloatImage:
    """Give a layer of the raster at (columns, rows), shape (N,); nan or nothing beyond it."""
    nothing = float("nan") if layer.dtype.kind == "f" else 0.0
    found = cv2.remap(
        layer, at_px[:, 0], at_px[:, 1], how, borderMode=cv2.BORDER_CONSTANT, borderValue=(nothing,) * 4
    )
    return np.asarray(found, dtype=np.float32).ravel()

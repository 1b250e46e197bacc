"""How much of a shadow is seen where a soldier would throw it, did he stand there, and what that tells.

One on its feet throws a shadow as long as everybody's, away from the lamp; one that lies throws hardly any, and an empty
place none. So where no shadow lies, nobody stands. Where one does, something else may throw it, or be as dark itself.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.soldiers.lamp import Lamp
from vision.soldiers.surface import Raster

__all__ = ["ThrownShadows", "log_density", "shadow_odds"]

FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]

# Where along a figure's height its shadow is looked at: nearer to the foot the figure hides it, or one that lies does.
_ALONG = np.linspace(0.4, 1.0, 13)
_FEWEST_SEEN = 3
_ASIDE = 0.42  # of the height, beside the shadow: there it is as dark where the board itself is
_DARKEST, _LIGHTEST, _LEAST_CONTRAST = 1.1, -0.3, -0.6  # beyond is something black, or white
# Mean and spread of contrasts where somebody stands and where nobody does, on the twin's tables; so many
# squares of a table it takes to know better.
_STANDING, _EMPTY, _USUAL_SQUARES = (0.85, 0.25), (0.0, 0.20), 6
_PLAINLY = 3.0  # log-odds
_LEAST_SPREAD = 0.12
_LEAST_APART = 0.3
_FREEDOM = 3.0  # of Student's t: other shadows, prints and patches are no rare thing
# What goes wrong in one sample along a shadow goes wrong in all. Of 34,000 squares of 237 tables without a position 46 are
# misread without shadows, 29 with them.
_INDEPENDENT, _MOST_ODDS = 0.7, 4.0


class ThrownShadows:
    """Shadows in one picture.

    Parameters
    ----------
    lamp
        What throws them.
    darkness
        As `vision.soldiers.lamp.find_darkness` gives it.
    raster
        The board's raster.
    height_mm
        How tall the figures are.
    """

    def __init__(self, lamp: Lamp, darkness: FloatImage, raster: Raster, height_mm: float) -> None:
        self._lamp = lamp
        self._raster = raster
        self._darkness = darkness
        self._heights_mm = _ALONG * height_mm

    def shares(self, feet_mm: FloatArray, hidden: NDArray[np.bool_]) -> FloatArray:
        """Say how much of the shadow of one who stood there is seen: 0 for none of it, 1 for all.

        Parameters
        ----------
        feet_mm
            Where feet would be, shape (N, 2).
        hidden
            Where on the raster somebody stands and hides the board.

        Returns
        -------
        Shape (N,); nan where nearly all of it would lie beside the board or behind others.
        """
        return _mean_along(np.clip(self._missing(self._thrown_mm(feet_mm), hidden), _LIGHTEST, _DARKEST))

    def contrasts(self, feet_mm: FloatArray, hidden: NDArray[np.bool_]) -> FloatArray:
        """Say how much darker it is along the shadow than on either side of it, as a share likewise.

        A patch of another colour is no shadow. Among soldiers that lie, what is beside a shadow tells less than nothing.
        """
        thrown_mm = self._thrown_mm(feet_mm)
        ways = thrown_mm[:, -1] - thrown_mm[:, 0]
        across = np.column_stack([-ways[:, 1], ways[:, 0]])
        across *= (_ASIDE * self._heights_mm[-1] / np.maximum(np.hypot(*ways.T), 1e-6))[:, None]
        beside = np.stack([self._missing(thrown_mm + way * across[:, None], hidden) for way in (1, -1)])
        usual = np.nan_to_num(beside).sum(axis=0) / np.maximum(np.isfinite(beside).sum(axis=0), 1)
        return _mean_along(np.clip(self._missing(thrown_mm, hidden) - usual, _LEAST_CONTRAST, _DARKEST))

    def _thrown_mm(self, feet_mm: FloatArray) -> FloatArray:
        """Where the shadows of those who stood there would lie, shape (N, heights, 2)."""
        body_mm = np.empty((len(feet_mm), len(_ALONG), 3))
        body_mm[..., :2], body_mm[..., 2] = feet_mm[:, None], self._heights_mm
        return self._lamp.shadow(body_mm)[..., :2]

    def _missing(self, at_mm: FloatArray, hidden: NDArray[np.bool_]) -> FloatArray:
        """Part of the light that is missing at places (N, heights, 2), against the middle of others' shadows."""
        at_px = self._raster.to_px(at_mm).astype(np.float32)
        missing = _sampled(self._darkness, at_px, cv2.INTER_LINEAR) / self._lamp.darkness
        missing[_sampled(hidden.astype(np.uint8), at_px, cv2.INTER_NEAREST) > 0] = np.nan
        return missing


def _mean_along(shadows: FloatArray) -> FloatArray:
    """Mean of what is seen of each shadow, shape (N, heights); nan where next to nothing is."""
    seen = np.isfinite(shadows).sum(axis=1)
    return np.where(seen >= _FEWEST_SEEN, np.nan_to_num(shadows).sum(axis=1) / np.maximum(seen, 1), np.nan)


def shadow_odds(log_odds: FloatArray, contrasts: FloatArray) -> FloatArray:
    """Say what shadows tell of who stands on a table, by what they look like where that is plain.

    On a mottled board, or in soft light, they tell little; that shows in how they differ among the plain ones.

    Parameters
    ----------
    log_odds
        That somebody stands, of each place, by all else that is seen: shape (N,).
    contrasts
        As `ThrownShadows.contrasts` gives them: shape (N,).

    Returns
    -------
    Log-odds to be added, shape (N,).
    """
    known = np.isfinite(contrasts)
    (standing, with_one), (empty, without) = (
        _usual(contrasts[known & plain], *usual)
        for plain, usual in ((log_odds > _PLAINLY, _STANDING), (log_odds < -_PLAINLY, _EMPTY))
    )
    if standing - empty < _LEAST_APART:
        return np.zeros(len(contrasts))
    told = log_density(contrasts, standing, with_one) - log_density(contrasts, empty, without)
    return np.where(known, np.clip(_INDEPENDENT * told, -_MOST_ODDS, _MOST_ODDS), 0.0)


def _usual(contrasts: FloatArray, mean: float, spread: float) -> tuple[float, float]:
    """Middle and spread of a table's contrasts, held to what is usual where there are few."""
    number = len(contrasts) + _USUAL_SQUARES
    own = float(np.median(contrasts)) if len(contrasts) else 0.0
    middle = (own * len(contrasts) + mean * _USUAL_SQUARES) / number
    off2 = float((np.minimum(np.abs(contrasts - middle), 1.0) ** 2).sum())
    return middle, max(float(np.sqrt((off2 + spread**2 * _USUAL_SQUARES) / number)), _LEAST_SPREAD)


def log_density(values: FloatArray, middle: float, spread: float) -> FloatArray:
    """Logarithm of Student's density, but for what is the same for all."""
    off: FloatArray = (values - middle) / spread
    return np.asarray(-(_FREEDOM + 1) / 2 * np.log1p(off**2 / _FREEDOM) - np.log(spread))


def _sampled(layer: NDArray[np.generic], at_px: FloatImage, how: int) -> FloatArray:
    """Give a layer of the raster at (columns, rows), shape (..., 2); nan or nothing beyond it."""
    nothing = float("nan") if layer.dtype.kind == "f" else 0.0
    found = cv2.remap(
        layer,
        at_px[..., 0],
        at_px[..., 1],
        how,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=(nothing,) * 4,
    )
    return np.asarray(found, dtype=np.float64).reshape(at_px.shape[:-1])

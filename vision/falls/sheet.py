"""What surrounds a soldier's old place laid out afresh, to scale, turned so that figures lean away from the camera to the right.

Whoever looks at it sees every soldier as if he stood in the same place before the same camera, and his colours and light
held against himself as he stood.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.falls.topple import Place
from vision.soldiers import Board

__all__ = ["OwnLook", "Sheet", "sheet_about"]

FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]

_MIDDLE_HEIGHT = 0.45  # of a figure, as the camera sees it
_LEAST_CONTRAST = 12.0  # grey levels
_OWN_COLOURS = (0.03, 0.97)  # quantiles
_OTHER_COLOUR = 20.0  # grey levels beyond them at which a colour counts for a third


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Where each of its pixels lies on the raster."""

    columns: FloatImage
    """Shape (side, side)."""
    rows: FloatImage
    """Likewise."""
    along: tuple[float, float]
    """Unit vector (x, y) on the board that runs along the rows: away from the camera."""
    away: float
    """How far a head is seen from its foot, in heights."""

    def lay(self, layer: FloatImage) -> FloatImage:
        """Lay out something of the raster, one colour after the other: shape (colours, side, side); beyond the raster it is 0."""
        there = cv2.remap(layer, self.columns, self.rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        return np.stack(cv2.split(there))


def sheet_about(place: Place, board: Board, camera_mm: FloatArray, px_mm: float, side: int) -> Sheet:
    """Give a sheet whose middle is that of a soldier as he stood, as the camera sees him.

    Parameters
    ----------
    place, board
        The soldier's, and the table before.
    camera_mm
        The camera's centre, shape (3,).
    px_mm, side
        Of a pixel, and of the sheet in pixels.
    """
    away = place.soldier.foot_mm - camera_mm[:2]
    middle = camera_mm[:2] + away * camera_mm[2] / (camera_mm[2] - _MIDDLE_HEIGHT * board.figure.height_mm)
    away_mm = max(float(np.hypot(*away)), 1e-6)
    x, y = (float(v) for v in away / away_mm)
    steps_mm = (np.arange(side) - (side - 1) / 2) * px_mm
    across, down = np.meshgrid(steps_mm, steps_mm)
    columns = board.raster.to_px(middle[0] + across * x - down * y).astype(np.float32)
    rows = board.raster.to_px(middle[1] + across * y + down * x).astype(np.float32)
    return Sheet(columns, rows, (x, y), away_mm / float(camera_mm[2]))


class OwnLook:
    """How a soldier looked where he stood, which other looks are held against.

    Parameters
    ----------
    place, board
        His, and the table before.
    """

    def __init__(self, place: Place, board: Board) -> None:
        own = board.flat[place.window][place.telling]
        shades = own.mean(axis=1)
        self._middle, self._contrast = float(shades.mean()), max(2 * float(shades.std()), _LEAST_CONTRAST)
        self._least, self._most = np.quantile(own, _OWN_COLOURS, axis=0).astype(np.float32)[..., None, None]

    def brightness(self, colours: FloatImage) -> FloatImage:
        """How bright each pixel is against him, -1 to 1, of shape (colours, rows, columns)."""
        return np.asarray(np.tanh((colours.mean(axis=0) - self._middle) / self._contrast))

    def share(self, colours: FloatImage) -> FloatImage:
        """How much each pixel is of his colours, 0 to 1, likewise."""
        beyond = np.maximum(np.maximum(self._least - colours, colours - self._most).max(axis=0), 0)
        return np.asarray(np.exp(-beyond / _OTHER_COLOUR))

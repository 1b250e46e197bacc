"""Does somebody stand there? A small network that has seen many standing and many lying figures from above.

What surrounds a soldier's old place is laid out afresh, to scale, turned so that figures lean away from the camera to
the right: how little each point can be bare board, and how bright it is against the figure as it stood. A network with
one hidden layer looks at every place in reach through a round window and says how much it looks like a figure on its
feet there. It was trained on the twin (`benchmarks/_train_fates.py`), where the truth is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.falls.topple import Place
from vision.soldiers import Board

__all__ = [
    "PX_MM",
    "REACH_PX",
    "WINDOW_PX",
    "Network",
    "Surroundings",
    "Uprightness",
    "lay_out",
    "network",
    "read_weights",
]

FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]

PX_MM = 2.25
"""Side of a pixel of the lay-out."""
WINDOW_PX = 20
"""Side of the window that the network looks through."""
REACH_PX = 12
"""How far from the old place, along a row or a column, places are looked at."""
_MIDDLE_HEIGHT = 0.45  # of a figure, as the camera sees it
_LEAST_CONTRAST = 12.0  # grey levels
_LEAK = 0.1
_ELBOW_MM = 10.0  # nobody stands so close to another's foot


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What surrounds a soldier's old place."""

    layers: FloatImage
    """How strange, 0 to 1, and how bright, -1 to 1: shape (2, side, side)."""
    along: tuple[float, float]
    """Unit vector (x, y) on the board that runs along the rows: away from the camera."""

    def offset_px(self, by_mm: FloatArray) -> FloatArray:
        """Give (columns, rows) of the lay-out for shifts (x, y) on the board, shape (N, 2)."""
        (x, y), (dx_mm, dy_mm) = self.along, np.asarray(by_mm, dtype=np.float64).reshape(-1, 2).T
        return np.column_stack([dx_mm * x + dy_mm * y, dy_mm * x - dx_mm * y]) / PX_MM

    def offset_mm(self, by_px: tuple[float, float]) -> tuple[float, float]:
        """Give the shift (x, y) on the board for one of (columns, rows) of the lay-out."""
        (x, y), (across, down) = self.along, by_px
        return (across * x - down * y) * PX_MM, (across * y + down * x) * PX_MM


@dataclass(frozen=True, slots=True)
class Uprightness:
    """Where something looks most like a figure on its feet, and how much."""

    odds: float
    """Log odds."""
    moved_mm: tuple[float, float]
    """Where, (x, y) from the old place."""


def lay_out(
    place: Place, board: Board, camera_mm: FloatArray, after: FloatImage, strange: FloatImage
) -> Surroundings:
    """Lay out what surrounds a soldier's old place.

    Parameters
    ----------
    place
        The soldier's.
    board
        The table before.
    camera_mm
        The camera's centre, shape (3,).
    after
        The later picture on the raster, shape (rows, columns, colours).
    strange
        How little each pixel of it can be bare board, 0 to 1, shape (rows, columns).
    """
    away = np.array([place.soldier.x_mm, place.soldier.y_mm]) - camera_mm[:2]
    middle = camera_mm[:2] + away * camera_mm[2] / (camera_mm[2] - _MIDDLE_HEIGHT * board.figure.height_mm)
    x, y = (float(v) for v in away / max(float(np.hypot(*away)), 1e-6))
    side = 2 * REACH_PX + WINDOW_PX
    steps_mm = (np.arange(side) - (side - 1) / 2) * PX_MM
    across, down = np.meshgrid(steps_mm, steps_mm)
    columns = board.raster.to_px(middle[0] + across * x - down * y).astype(np.float32)
    rows = board.raster.to_px(middle[1] + across * y + down * x).astype(np.float32)
    own = board.flat[place.window][place.telling].mean(axis=1)
    contrast = max(2 * float(own.std()), _LEAST_CONTRAST)
    laid, *colours = (
        cv2.remap(layer, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        for layer in (strange, *cv2.split(after))
    )
    bright = np.tanh((np.mean(colours, axis=0) - float(own.mean())) / contrast)
    return Surroundings(np.stack([laid, bright]).astype(np.float32), (x, y))


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Weights of the network: windows to one hidden layer, leaky, to one number."""

    hidden: FloatImage
    """Shape (2 * WINDOW_PX ** 2, units)."""
    hidden_bias: FloatImage
    """Shape (units,)."""
    out: FloatImage
    """Shape (units,)."""
    out_bias: float

    def look(self, windows: FloatImage) -> FloatImage:
        """Say how much each of some windows, shape (N, 2 * WINDOW_PX ** 2), looks like a figure that stands.

        Log odds, shape (N,).
        """
        units = windows @ self.hidden + self.hidden_bias
        return np.asarray(np.maximum(units, _LEAK * units) @ self.out + np.float32(self.out_bias))

    def map(self, surroundings: Surroundings) -> FloatImage:
        """Look at every place in reach: shape (2 * REACH_PX + 1, 2 * REACH_PX + 1), its middle the old place."""
        view = np.lib.stride_tricks.sliding_window_view(
            surroundings.layers, (WINDOW_PX, WINDOW_PX), axis=(1, 2)
        )
        places = 2 * REACH_PX + 1
        windows = np.ascontiguousarray(view.transpose(1, 2, 0, 3, 4)).reshape(places * places, -1)
        return self.look(windows).reshape(places, places)

    def search(self, surroundings: Surroundings, others_mm: Sequence[tuple[float, float]]) -> Uprightness:
        """Look for the likeliest place of a soldier that stands.

        Parameters
        ----------
        surroundings
            What surrounds its old place.
        others_mm
            Where others stand, (x, y) from its old place.
        """
        odds = self.map(surroundings)
        down, across = np.mgrid[-REACH_PX : REACH_PX + 1, -REACH_PX : REACH_PX + 1]
        free = np.hypot(down, across) <= REACH_PX + 0.5
        for u, v in surroundings.offset_px(np.array(others_mm)):
            free &= np.hypot(across - u, down - v) * PX_MM > _ELBOW_MM
        free[REACH_PX, REACH_PX] = True
        row, column = (int(v) for v in np.unravel_index(np.argmax(np.where(free, odds, -np.inf)), odds.shape))
        return Uprightness(
            float(odds[row, column]),
            surroundings.offset_mm((column - REACH_PX, row - REACH_PX)),
        )


@cache
def network() -> Network:
    """Return the network that was trained."""
    weights = read_weights()
    return Network(weights["hidden"], weights["hidden_bias"], weights["out"], float(weights["out_bias"]))


@cache
def read_weights() -> Mapping[str, FloatImage]:
    """Read what was trained: the network's weights, and those of `vision.falls.fate`."""
    with (resources.files("vision.falls") / "upright.npz").open("rb") as file, np.load(file) as kept:
        return {name: kept[name].astype(np.float32) for name in kept.files}

"""Does somebody stand there? Small networks that have seen many standing and many lying figures from above.

What surrounds a soldier's old place is laid out afresh, to scale, turned so that figures lean away from the camera to
the right: how little each point can be bare board, how bright it is against the figure as it stood, whether it changed,
whether it is of the figure's colours, what it was like before, and how obliquely the camera sees it. Two convolutional
networks look at every place in reach through a window and say how much it looks like a figure on its feet there; their mean
counts. They were trained on the twin (`benchmarks/_train_fates.py`), where the truth is known, and are run by OpenCV.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.falls.sheet import OwnLook, sheet_about
from vision.falls.topple import Place
from vision.soldiers import Board
from vision.soldiers.surface import strange_share
from vision.trained_nets import trained_net

__all__ = [
    "CELL_PX",
    "LAYERS",
    "PX_MM",
    "REACH_CELLS",
    "WINDOW_PX",
    "Network",
    "Surroundings",
    "Uprightness",
    "lay_out",
    "likeliest",
    "likely_places",
    "network",
]

FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]

PX_MM = 2.25
"""Side of a pixel of the lay-out."""
CELL_PX = 2
"""Pixels from one place that is looked at to the next."""
WINDOW_PX = 41
"""Side of the window that the network looks through: a figure that lies fits in, whichever way it fell."""
REACH_CELLS = 7
"""How far from the old place places are looked at, 31 mm: of 39 pushed by the twin's shots the farthest but five went 29.

Farther off only those are looked for that are found to stand nowhere near.
"""
LAYERS = 7
"""Ways in which a point is looked at."""
_ELBOW_MM = 10.0  # nobody stands so close to another's foot


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What surrounds a soldier's old place."""

    layers: FloatImage
    """How strange, 0 to 1; how bright, -1 to 1; how much it changed, and how much of the figure's colours it is, 0 to 1;
    how bright and how strange it was; how far a head is seen from its foot, in heights: shape (LAYERS, side, side)."""
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

    @property
    def chance(self) -> float:
        """Probability that somebody stands there."""
        return float(1 / (1 + np.exp(-self.odds)))


def lay_out(
    place: Place,
    board: Board,
    camera_mm: FloatArray,
    after: FloatImage,
    strange: FloatImage,
    changed: FloatImage,
    reach_cells: int = REACH_CELLS,
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
    changed
        How surely it differs from before, likewise.
    reach_cells
        How far places are to be looked at.
    """
    sheet = sheet_about(place, board, camera_mm, PX_MM, 2 * reach_cells * CELL_PX + WINDOW_PX)
    look = OwnLook(place, board)
    now, was = sheet.lay(after), sheet.lay(board.flat)
    layers = [
        sheet.lay(strange)[0],
        look.brightness(now),
        sheet.lay(changed)[0],
        look.share(now),
        look.brightness(was),
        strange_share(sheet.lay(board.strange)[0], board.strange_levels),
        np.full_like(now[0], sheet.away),
    ]
    return Surroundings(np.stack(layers).astype(np.float32), sheet.along)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Networks as one ONNX file: surroundings (N, LAYERS, side, side) to (N, 3, cells, cells).

    Of each cell, the log odds that somebody stands there, and how far from the cell's middle, (columns, rows) in pixels.
    """

    net: cv2.dnn.Net

    def map(self, surroundings: Surroundings) -> FloatImage:
        """Look at every place in reach: shape (3, 2 * reach + 1, 2 * reach + 1) in cells, its middle the old place."""
        self.net.setInput(surroundings.layers[None])
        return np.asarray(self.net.forward()[0], dtype=np.float32)


def likeliest(
    cells: FloatImage,
    surroundings: Surroundings,
    others_mm: Sequence[tuple[float, float]],
    reach_cells: int = REACH_CELLS,
) -> Uprightness:
    """Find the likeliest place of a soldier that stands among those that were looked at.

    Parameters
    ----------
    cells
        As `Network.map` gives them of these surroundings.
    surroundings
        What surrounds its old place.
    others_mm
        Where others stand, (x, y) from its old place.
    reach_cells
        How far from the old place it may stand; no farther than was looked.
    """
    (first,) = likely_places(cells, surroundings, others_mm, reach_cells, most=1)
    return first


def likely_places(
    cells: FloatImage,
    surroundings: Surroundings,
    others_mm: Sequence[tuple[float, float]],
    reach_cells: int,
    most: int,
) -> list[Uprightness]:
    """Find so many places, at the most, and the likeliest first; otherwise as `likeliest`."""
    odds, across, down = cells
    reach = len(odds) // 2
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    across, down = across + columns * CELL_PX, down + rows * CELL_PX
    free = np.hypot(rows, columns) <= reach_cells + 0.5
    others_px = surroundings.offset_px(np.array(others_mm))
    reached_px = float(np.hypot(across, down).max()) + _ELBOW_MM / PX_MM
    for u, v in others_px[np.hypot(*others_px.T) <= reached_px]:
        free &= np.hypot(across - u, down - v) * PX_MM > _ELBOW_MM
    free[reach, reach] = True
    found: list[Uprightness] = []
    while len(found) < most and free.any():
        row, column = (int(v) for v in np.unravel_index(np.argmax(np.where(free, odds, -np.inf)), odds.shape))
        u, v = float(across[row, column]), float(down[row, column])
        found.append(Uprightness(float(odds[row, column]), surroundings.offset_mm((u, v))))
        free &= np.hypot(across - u, down - v) * PX_MM > _ELBOW_MM
        free[row, column] = False
    return found


def network() -> Network:
    """Return what was trained."""
    return Network(trained_net("vision.falls", "upright.onnx"))

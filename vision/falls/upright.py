"""Does somebody stand there? Small networks that have seen many standing and many lying figures from above.

What surrounds a soldier's old place is laid out afresh, to scale, turned so that figures lean away from the camera to
the right: how little each point can be bare board, how bright it is against the figure as it stood, whether it changed,
and whether it is of the figure's colours. A convolutional network looks at every place in reach through a window and
says how much it looks like a figure on its feet there. It was trained on the twin (`benchmarks/_train_fates.py`), where
the truth is known.
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
    "LAYERS",
    "LEAK",
    "PX_MM",
    "REACH_PX",
    "SIDES",
    "STEPS",
    "WINDOW_PX",
    "Network",
    "Step",
    "Surroundings",
    "Uprightness",
    "lay_out",
    "leaky",
    "network",
    "read_weights",
]

FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]

PX_MM = 2.25
"""Side of a pixel of the lay-out."""
WINDOW_PX = 25
"""Side of the window that the network looks through: a figure that lies fits in."""
REACH_PX = 14
"""How far from the old place places are looked at: of 29 pushed by the twin's shots the farthest went 29 mm."""
LAYERS = 4
"""Ways in which a point is looked at."""
SIDES = (5, 3, 9, 1)
"""Side of the square that each step of the network looks at; the last but one looks at all that is left of a window."""
STEPS = (2, 1, 1, 1)
"""How far apart those squares are."""
LEAK = 0.1
"""How much `leaky` lets through of what is below 0."""
_MIDDLE_HEIGHT = 0.45  # of a figure, as the camera sees it
_LEAST_CONTRAST = 12.0  # grey levels
_OWN_COLOURS = (0.03, 0.97)  # quantiles
_OTHER_COLOUR = 20.0  # grey levels beyond them at which a colour counts for a third
_ELBOW_MM = 10.0  # nobody stands so close to another's foot


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What surrounds a soldier's old place."""

    layers: FloatImage
    """How strange, 0 to 1; how bright, -1 to 1; how much it changed, and how much of the figure's colours it is, 0 to 1:
    shape (LAYERS, side, side)."""
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
    place: Place,
    board: Board,
    camera_mm: FloatArray,
    after: FloatImage,
    strange: FloatImage,
    changed: FloatImage,
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
    """
    away = np.array([place.soldier.x_mm, place.soldier.y_mm]) - camera_mm[:2]
    middle = camera_mm[:2] + away * camera_mm[2] / (camera_mm[2] - _MIDDLE_HEIGHT * board.figure.height_mm)
    x, y = (float(v) for v in away / max(float(np.hypot(*away)), 1e-6))
    side = 2 * REACH_PX + WINDOW_PX
    steps_mm = (np.arange(side) - (side - 1) / 2) * PX_MM
    across, down = np.meshgrid(steps_mm, steps_mm)
    columns = board.raster.to_px(middle[0] + across * x - down * y).astype(np.float32)
    rows = board.raster.to_px(middle[1] + across * y + down * x).astype(np.float32)
    own = board.flat[place.window][place.telling]
    shades = own.mean(axis=1)
    contrast = max(2 * float(shades.std()), _LEAST_CONTRAST)
    strange_there, changed_there, *colours = (
        cv2.remap(layer, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        for layer in (strange, changed, *cv2.split(after))
    )
    bright = np.tanh((np.mean(colours, axis=0) - float(shades.mean())) / contrast)
    low, high = np.quantile(own, _OWN_COLOURS, axis=0)
    now = np.stack(colours, axis=-1)
    beyond = np.maximum(np.maximum(low - now, now - high), 0).max(axis=2)
    layers = [strange_there, bright, changed_there, np.exp(-beyond / _OTHER_COLOUR)]
    return Surroundings(np.stack(layers).astype(np.float32), (x, y))


def leaky(units: FloatImage) -> FloatImage:
    """Let through what is above 0, and a little of the rest."""
    return np.asarray(np.maximum(units, np.float32(LEAK) * units))


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step of a network."""

    weights: FloatImage
    """Shape (side, side, layers, units): what each point of a square, row by row, says for each unit."""
    bias: FloatImage
    """Shape (units,)."""


def _slide(step: Step, picture: FloatImage, apart: int) -> FloatImage:
    """Take a step at every square of a picture (height, width, layers) whose points lie so far from one another.

    A row of a square's points at a time: rows are cut out once for all the squares that share them.
    """
    side = len(step.weights)
    reach = (side - 1) * apart
    height, width = picture.shape[0] - reach, picture.shape[1] - reach
    view = np.lib.stride_tricks.sliding_window_view(picture, reach + 1, axis=1)[..., ::apart]
    rows = np.ascontiguousarray(view.transpose(0, 1, 3, 2)).reshape(len(picture), width, -1)
    units = np.zeros((height, width, len(step.bias)), dtype=np.float32) + step.bias
    for k, weights in enumerate(step.weights):
        units += rows[k * apart : k * apart + height] @ weights.reshape(rows.shape[2], -1)
    return units


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Networks of `SIDES` steps each, leaky but for the last; the mean of their answers counts."""

    members: tuple[tuple[Step, ...], ...]

    def map(self, surroundings: Surroundings) -> FloatImage:
        """Look at every place in reach: shape (2 * REACH_PX + 1, 2 * REACH_PX + 1), its middle the old place.

        Log odds, as every window by itself would give them. Windows share most of their squares, so all are gone over at
        once: what the first step leaves out of one window it needs for the next, and later steps find their points
        farther apart.
        """
        picture = np.ascontiguousarray(surroundings.layers.transpose(1, 2, 0))
        answers = [self._answer(member, picture) for member in self.members]
        return np.asarray(np.mean(answers, axis=0), dtype=np.float32)

    @staticmethod
    def _answer(member: tuple[Step, ...], picture: FloatImage) -> FloatImage:
        apart = 1
        units = _slide(member[0], picture, apart)
        for step, each in zip(STEPS, member[1:], strict=False):
            apart *= step
            units = _slide(each, leaky(units), apart)
        return units[..., 0]

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
    """Return the networks that were trained."""
    kept = read_weights()
    members = range(sum(name.endswith("bias_0") for name in kept))
    return Network(
        tuple(
            tuple(Step(kept[f"{k}_weights_{n}"], kept[f"{k}_bias_{n}"]) for n in range(len(SIDES)))
            for k in members
        )
    )


@cache
def read_weights() -> Mapping[str, FloatImage]:
    """Read what was trained: the networks' weights, and those of `vision.falls.fate`."""
    with (resources.files("vision.falls") / "upright.npz").open("rb") as file, np.load(file) as kept:
        return {name: kept[name].astype(np.float32) for name in kept.files}

"""Who stands on which square, where its foot is and which way it faces: a network that has seen many tables.

A patch of light, a print, a shadow and a soldier that lies are strange on a board as well; who stands on its feet is told by
all that is seen about it. So the whole board is laid out at one scale, in several layers: how little each point can be
bare board, how bright it is against it, how sharp, of what other colour, and how obliquely the camera sees it. A small
convolutional network says of every place whether a foot is there, exactly where, and whether who stands on it looks towards
the far end of the board. It was trained on tables of the twin before and after shots (`benchmarks/_train_feet.py`), in
other colours, sizes and lights than they had, and is run by OpenCV.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import ALL_SQUARES, BOARD_FILES, BOARD_ROWS, Square
from vision.over_colours import over_colours
from vision.soldiers.surface import Raster, Shades, Surface, middle

__all__ = ["CELL_PX", "LAYERS", "SQUARE_PX", "Foot", "FootMap", "find_feet", "lay_out"]

FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]

SQUARE_PX = 15
"""Pixels of the lay-out along a square: figures are made to their board's measure."""
CELL_PX = 2
"""Pixels from one place that is looked at to the next."""
LAYERS = 10
"""Ways in which a point is looked at."""
_MOST_STRANGE = 8.0
# What half fills a layer, the rest of which is ever denser: spreads of the bare board, or grey levels.
_CLEAR_TINT, _CLEAR_SHARPNESS, _CLEAR_STEPS, _CLEAR_HUE = 5.0, 6.0, 6.0, 20.0
_LEAST_SHARPNESS = 1e-3
_LEAST_CONTRAST = 3.0  # grey levels
_CONTRAST_RANK = 80.0  # percentile
_FARTHEST_PX = 6.0  # a place tells of no foot farther off
_ELBOW = 13.0 / 45.0  # of a square: two stand no closer
_ON_LINE = 2.0 / 45.0  # of a square: so far from a line a foot may be of either
_NOBODY = -20.0  # log-odds where nothing can be said
_LIKELY = -3.0


@dataclass(frozen=True, slots=True)
class Foot:
    """Where on a square a foot most likely is."""

    x_mm: float
    y_mm: float
    log_odds: float
    """That it is there."""
    forward_odds: float
    """Log-odds that who stands on it looks towards larger y."""


def lay_out(
    raster: Raster,
    flat: FloatImage,
    surface: Surface,
    shades: Shades,
    strange: FloatImage,
    camera_mm: FloatArray,
) -> FloatImage:
    """Lay the whole board out, each square at one scale, with a margin of one square.

    Parameters
    ----------
    raster, flat
        The picture on the raster, margin included.
    surface, shades, strange
        The bare board, the picture held against it and its strangeness, all without the margin.
    camera_mm
        The camera's centre, shape (3,).

    Returns
    -------
    Shape (LAYERS, rows, columns).
    """
    n = SQUARE_PX
    size = ((BOARD_FILES + 2) * n, (BOARD_ROWS + 2) * n)
    within = np.s_[n:-n, n:-n]

    def on_board(layer: FloatImage) -> FloatImage:
        inner = cv2.resize(layer, (size[0] - 2 * n, size[1] - 2 * n), interpolation=cv2.INTER_AREA)
        return np.asarray(inner, dtype=np.float32)

    layers = np.zeros((LAYERS, *size[::-1]), dtype=np.float32)
    strangely, lightly, tint, height, sharply, red, yellow, lean_x, lean_y, steps = layers
    strangely[within] = on_board(strange) / _MOST_STRANGE
    light = np.clip(shades.share - 1, -1, 1)
    lightly[within] = on_board(light)
    if flat.shape[2] > 1:
        tint[within] = np.tanh(on_board(shades.tint / surface.tint_noise) / _CLEAR_TINT)
        # What is brighter than white is white to OpenCV.
        seen, bare = (
            cv2.cvtColor(colours * np.float32(1 / 255), cv2.COLOR_BGR2LAB)
            for colours in (flat[raster.board], surface.colour)
        )
        hue = on_board(np.subtract(seen, bare, out=seen))
        red[within], yellow[within] = np.moveaxis(np.tanh(hue[..., 1:] / _CLEAR_HUE), 2, 0)
    shade = cv2.resize(over_colours(flat) / flat.shape[2], size, interpolation=cv2.INTER_AREA)
    high = shade - cv2.blur(shade, (2 * n + 1, 2 * n + 1), borderType=cv2.BORDER_REPLICATE)
    contrast = max(float(np.percentile(np.abs(high[within]), _CONTRAST_RANK)), _LEAST_CONTRAST)
    height[:] = np.tanh(high / (2 * contrast))
    across, down = (cv2.Sobel(light, cv2.CV_32F, *way, scale=1 / 8) for way in ((1, 0), (0, 1)))
    sharp = on_board(np.asarray(cv2.magnitude(across, down) / raster.mm_per_px, dtype=np.float32))
    usual = float(middle(sharp.ravel())) + _LEAST_SHARPNESS
    sharply[within] = np.tanh(sharp / usual / _CLEAR_SHARPNESS)
    along_mm, up_mm = (
        (np.arange(count) + 0.5) * raster.square_mm / n - raster.square_mm - camera
        for count, camera in zip(size, camera_mm, strict=False)
    )
    lean_x[:], lean_y[:] = np.meshgrid(along_mm / camera_mm[2], up_mm / camera_mm[2])
    over_noise = (shades.share - 1) * shades.level / surface.noise
    steps[within] = np.tanh(on_board(over_noise) / _CLEAR_STEPS)
    return layers


@dataclass(frozen=True, slots=True, eq=False)
class FootMap:
    """What every place of the board, seen on its own, says of the foot next to it: arrays of one shape."""

    x_mm: FloatArray
    y_mm: FloatArray
    log_odds: FloatArray
    """That there is one."""
    forward_odds: FloatArray
    """Log-odds that who stands on it looks towards larger y."""
    square_mm: float

    def likeliest(self) -> dict[Square, Foot]:
        """Give the likeliest foot of every square."""
        told = (self.x_mm >= 0) & (self.x_mm < BOARD_FILES * self.square_mm)
        told &= (self.y_mm >= 0) & (self.y_mm < BOARD_ROWS * self.square_mm)
        places = np.flatnonzero(told & (self.log_odds > _NOBODY))
        # The surest last: it is what stays.
        places = places[np.argsort(self.log_odds.flat[places], kind="stable")]
        where = np.full((BOARD_ROWS, BOARD_FILES), -1)
        row, file = ((mm.flat[places] // self.square_mm).astype(np.intp) for mm in (self.y_mm, self.x_mm))
        where[row, file] = places
        where = self._beside_the_line(places, where)
        feet = {}
        for square in ALL_SQUARES:
            middle_mm = square.centre_mm(self.square_mm)
            place = int(where[int(middle_mm[1] // self.square_mm), int(middle_mm[0] // self.square_mm)])
            feet[square] = Foot(*middle_mm, _NOBODY, 0.0) if place < 0 else self._foot(place)
        log_odds = _elbowed(list(feet.values()), self.square_mm)
        return {
            square: replace(foot, log_odds=odds)
            for (square, foot), odds in zip(feet.items(), log_odds.tolist(), strict=True)
        }

    def _beside_the_line(self, places: NDArray[np.intp], where: NDArray[np.intp]) -> NDArray[np.intp]:
        """Give who stands on a line the square beyond it, where somebody else has the one that he was seen on.

        Parameters
        ----------
        places
            Those that tell of a foot, the surest last.
        where
            Which of them each square (row, file) has; -1 for none.
        """
        own, mm = where.copy(), self.square_mm
        x_mm, y_mm, odds = (of.ravel() for of in (self.x_mm, self.y_mm, self.log_odds))
        has = own[own >= 0]
        off = np.stack([y_mm[places], x_mm[places]]) % mm / mm - 0.5
        on_line = np.abs(off).max(axis=0) >= 0.5 - _ON_LINE
        likely = np.flatnonzero((odds[places] > _LIKELY) & on_line)
        seen = places[likely, None]
        near = np.hypot(x_mm[seen] - x_mm[has], y_mm[seen] - y_mm[has]) < _ELBOW * mm
        near &= odds[has] >= odds[seen]
        for k in likely[~near.any(axis=1)][::-1]:
            axis = int(np.argmax(np.abs(off[:, k])))
            beyond = [int(of[places[k]] // mm) for of in (y_mm, x_mm)]
            beyond[axis] += 1 if off[axis, k] > 0 else -1
            if not all(0 <= at < count for at, count in zip(beyond, own.shape, strict=True)):
                continue
            other = own[beyond[0], beyond[1]]
            if other < 0 or odds[other] < odds[places[k]]:
                own[beyond[0], beyond[1]] = places[k]
        return own

    def _foot(self, place: int) -> Foot:
        x_mm, y_mm, log_odds, forward_odds = (
            float(of.flat[place]) for of in (self.x_mm, self.y_mm, self.log_odds, self.forward_odds)
        )
        return Foot(x_mm, y_mm, log_odds, forward_odds)


def find_feet(layers: FloatImage, square_mm: float, net: cv2.dnn.Net) -> FootMap:
    """Look for feet.

    Parameters
    ----------
    layers
        As `lay_out` gives them.
    square_mm
        Side of a square.
    net
        What was trained: layers (1, LAYERS, rows, columns) to cells (1, 4, rows, columns), the log-odds that a foot is there,
        how far off it is across and down in pixels, and the log-odds that who stands there looks towards larger y.
    """
    net.setInput(layers[None])
    odds, across, down, forward = np.asarray(net.forward()[0], dtype=np.float64)
    n = SQUARE_PX
    rows, columns = np.indices(odds.shape)
    x_mm, y_mm = (
        (places * CELL_PX + off + 0.5 - n) * square_mm / n
        for places, off in ((columns, across), (rows, down))
    )
    odds[np.hypot(across, down) >= _FARTHEST_PX] = _NOBODY
    return FootMap(x_mm, y_mm, odds, forward, square_mm)


def _elbowed(feet: Sequence[Foot], square_mm: float) -> FloatArray:
    """Give the log-odds of feet where two squares can claim the same, on the line between them, and one of them has it."""
    log_odds = np.array([foot.log_odds for foot in feet])
    x_mm, y_mm = np.array([(foot.x_mm, foot.y_mm) for foot in feet]).T
    for k in np.argsort(-log_odds):
        if log_odds[k] > _LIKELY:
            near = np.hypot(x_mm - x_mm[k], y_mm - y_mm[k]) < _ELBOW * square_mm
            near[k] = False
            log_odds[near & (log_odds <= log_odds[k])] = _NOBODY
    return log_odds

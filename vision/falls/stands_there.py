"""Is it he who stands there? A small network that holds a soldier as he stood against what is seen where he may stand now.

`vision.falls.upright` asks of every place in reach whether anybody is on his feet there. Here a few of them are looked at more closely,
at the raster's own scale, and beside the soldier himself: how he looked where he stood, his outline, his shadow. The network was
trained on the twin (`benchmarks/_train_stands_there.py`), where the truth is known, and is run by OpenCV.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.falls.sheet import OwnLook, Sheet, sheet_about
from vision.falls.topple import Place
from vision.soldiers import Board
from vision.soldiers.surface import strange_share
from vision.trained_nets import trained_net

__all__ = ["LAYERS", "SIDE_PX", "Around", "There", "apart", "likeliest_there", "look_around"]

FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
Shift = tuple[float, float]

SIDE_PX = 64
"""Side of what the network looks at: a figure that lies fits in, whichever way it fell."""
LAYERS = 14
"""Ways in which a point is looked at."""
_PX_MM = 1.5
# From the middle of what is laid out to that of what is looked at; beyond the rim there is nothing.
_REACH_PX = 38
_NEARLY_BLACK = 4.0  # grey levels; of less no shadow can be told
# Places nearer to each other are one, and no more than so many are looked at.
_SAME_PLACE_MM, _MOST_PLACES = 3.0, 6


@dataclass(frozen=True, slots=True)
class There:
    """Where it is likeliest that he stands, and how likely."""

    odds: float
    """Log odds."""
    moved_mm: Shift
    """Where, (x, y) from his old place."""


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """What surrounds a soldier's old place, now and as he stood there."""

    sheet: Sheet
    now: FloatImage
    """How strange, how much it changed, of his colours, how bright against him, how much darker than the bare board; what of it he
    covered, and what others did: shape (7, side, side)."""
    then: FloatImage
    """How strange, of his colours, how bright against him, how much darker than the bare board; his outline: shape (5, side, side)."""

    def at(self, moved_mm: Shift, taken: Mask, side_px: int = SIDE_PX) -> FloatImage:
        """Give what is seen where he may have moved to, and where he stood: shape (LAYERS, side_px, side_px).

        Parameters
        ----------
        moved_mm
            Where, (x, y) from his old place.
        taken
            Where on the raster others stand.
        side_px
            Even.
        """
        (x, y), (dx_mm, dy_mm) = self.sheet.along, moved_mm
        across, down = (round(mm / _PX_MM) for mm in (dx_mm * x + dy_mm * y, dy_mm * x - dx_mm * y))
        here = np.concatenate([self.now, self.sheet.lay(taken.astype(np.float32))])
        away = np.full((1, side_px, side_px), self.sheet.away, dtype=np.float32)
        return np.concatenate([_cut(here, across, down, side_px), _cut(self.then, 0, 0, side_px), away])


def _cut(layers: FloatImage, across: int, down: int, side_px: int) -> FloatImage:
    """Cut out a square whose middle lies so far from that of layers; beyond their rim they are 0."""
    first = (layers.shape[1] - side_px) // 2
    margin = max(0, max(abs(across), abs(down)) - first)
    wide = np.pad(layers, ((0, 0), (margin, margin), (margin, margin)))
    top, left = first + margin + down, first + margin + across
    return wide[:, top : top + side_px, left : left + side_px]


def look_around(
    place: Place,
    board: Board,
    camera_mm: FloatArray,
    after: FloatImage,
    strange: FloatImage,
    changed: FloatImage,
    manned: Mask,
) -> Around:
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
    strange, changed
        How little each pixel of it can be bare board, and how surely it differs from before, 0 to 1, shape (rows, columns).
    manned
        Where anybody stood before, likewise.
    """
    raster = board.raster
    sheet, look = sheet_about(place, board, camera_mm, _PX_MM, SIDE_PX + 2 * _REACH_PX), OwnLook(place, board)
    bare, on_board = np.zeros_like(board.flat), np.zeros(raster.shape, dtype=np.float32)
    bare[raster.board], on_board[raster.board] = board.surface.colour, 1.0
    bare_shade, (board_share,) = sheet.lay(bare).mean(axis=0), sheet.lay(on_board)

    def seen(picture: FloatImage, its_strange: FloatImage) -> list[FloatImage]:
        colours = sheet.lay(picture)
        darker = 1 - (colours.mean(axis=0) + _NEARLY_BLACK) / (bare_shade + _NEARLY_BLACK)
        return [
            sheet.lay(its_strange)[0],
            look.share(colours),
            look.brightness(colours),
            np.clip(darker, -1, 1) * board_share,
        ]

    outline = np.zeros(raster.shape, dtype=np.float32)
    outline[place.window] = place.shape
    (his,), (everybodys,) = sheet.lay(outline), sheet.lay(manned.astype(np.float32))
    now = [*seen(after, strange), sheet.lay(changed)[0], his, np.maximum(everybodys - his, 0)]
    then = [*seen(board.flat, strange_share(board.strange, board.strange_levels)), his]
    return Around(sheet, np.stack(now), np.stack(then))


def apart(places_mm: Iterable[Shift]) -> list[Shift]:
    """Give the first few of some places (x, y) that are not the same."""
    kept: list[Shift] = []
    for place_mm in places_mm:
        if all(np.hypot(*np.subtract(place_mm, other)) > _SAME_PLACE_MM for other in kept):
            kept.append(place_mm)
    return kept[:_MOST_PLACES]


def likeliest_there(around: Around, places_mm: Sequence[Shift], taken: Mask) -> There:
    """Find the place where it is likeliest that he stands.

    Parameters
    ----------
    around
        What surrounds his old place.
    places_mm
        Where he may stand, (x, y) from it; one at least.
    taken
        Where on the raster others stand.
    """
    net = trained_net("vision.falls", "stands_there.onnx")
    best = There(-np.inf, places_mm[0])
    for moved_mm in places_mm:
        net.setInput(around.at(moved_mm, taken)[None])
        odds = float(net.forward().ravel()[0])
        if odds > best.odds:
            best = There(odds, moved_mm)
    return best

"""Who fell and who was pushed.

The table at rest after the shot is held against the table before it. A soldier whose place looks the same stands. What is seen of
the others is measured (`vision.falls.table_after`) and weighed up (`vision.falls.fate`), and it is decided about one after the other
(`vision.falls.deciding`): those that stand were pushed, or are half covered; the rest fell. No two can stand in the same place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from vision.falls.deciding import decide
from vision.falls.table_after import TableAfter, place_of
from vision.falls.topple import Watch
from vision.falls.unnoticed import find_unnoticed
from vision.falls.upright import network
from vision.outcome import Push, Toppling
from vision.registration import BoardView
from vision.soldiers import Board
from vision.steady import Sways, typical

__all__ = ["Aftermath", "find_falls"]

Image = NDArray[np.uint8]

# The last pictures, among which nothing but the rolling shot should move.
_LAST_PICTURES = 9


@dataclass(frozen=True, slots=True, eq=False)
class Aftermath:
    """What the table looks like after the shot."""

    topplings: tuple[Toppling, ...]
    """Sorted by when they began."""
    pushes: tuple[Push, ...]
    """Sorted by when they began."""
    doubts: tuple[str, ...]
    """Soldiers whose fate the picture does not show plainly, a sentence each."""
    may_stand: Mapping[Square, float]
    """How likely each that is taken to have fallen stands all the same, by the square that it stood on."""
    may_have_fallen: Mapping[Square, float]
    """How likely each that is taken to have been pushed fell all the same, by the square that it stood on."""
    unnoticed_mm: tuple[tuple[float, float], ...]
    """Where (x, y) on the board something left its place that was not seen to stand there."""


def find_falls(
    frames: Sequence[Image],
    timestamps_us: Sequence[int],
    view: BoardView,
    board: Board,
    sways: Sways,
    first_moving: int,
) -> Aftermath:
    """Find who fell and who was pushed.

    Parameters
    ----------
    frames, timestamps_us
        The pictures, (height, width) or (height, width, 3) BGR, and their times.
    view, board
        The camera, and the table before the shot.
    sways
        How the pictures sway against the one that `board` was read from.
    first_moving
        Index of the first picture in which anything may have moved.
    """
    last = typical(frames[-_LAST_PICTURES:])
    sway = sways.steady.measure(last)
    flat = board.raster.lay(last, shift_px=(sway.du_px, sway.dv_px))
    places = [place_of(soldier, board, view) for soldier in board.standing.soldiers]
    after = TableAfter(board, view, np.asarray(flat / sway.gain, dtype=np.float32), places, network())
    watch = Watch(
        frames,
        timestamps_us,
        board,
        sways,
        step=after.differences.step,
        smooth_px=after.differences.smooth_px,
        first=first_moving,
    )
    fates = decide(after, places, watch)
    pushes = [
        Push(place.soldier, timestamps_us[watch.began(place)], *fate.now_mm)
        for place, fate in fates.items()
        if fate.is_pushed
    ]
    topplings = watch.topplings([place for place, fate in fates.items() if not fate.stands])
    return Aftermath(
        topplings,
        tuple(sorted(pushes, key=lambda p: (p.began_us, p.soldier.square))),
        tuple(fate.note for fate in fates.values() if fate.note),
        {fate.soldier.square: fate.chance for fate in fates.values() if not fate.stands},
        {fate.soldier.square: 1 - fate.chance for fate in fates.values() if fate.is_pushed},
        find_unnoticed(after.differences, board, topplings, pushes),
    )

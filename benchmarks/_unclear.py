"""The soldiers of a table with its truth who do not stand plainly after the shot, as what tells their fates comes by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks._tables import FilmedTable, Foot
from vision.falls.table_after import TableAfter, place_of
from vision.falls.topple import Place
from vision.falls.upright import Network

__all__ = ["LookAfter", "look_after"]


@dataclass(frozen=True, slots=True, eq=False)
class LookAfter:
    """What is seen of a table after the shot, before anything is decided of those who do not stand plainly."""

    after: TableAfter
    plain: list[Place]
    """Those of the soldiers who stand plainly."""
    unclear: list[Place]
    """The others."""
    taken: NDArray[np.bool_]
    """Where on the raster the plain ones stand."""
    feet_mm: list[Foot]
    """The middles of their feet."""


def look_after(table: FilmedTable, network: Network) -> LookAfter:
    """Look at a table after the shot, with what tells who stands from who lies."""
    board, view = table.before.board, table.before.view
    places = [place_of(soldier, board, view) for soldier in board.standing.soldiers]
    after = TableAfter(board, view, table.after, places, network)
    plain = [place for place in places if after.stands_plainly(place)]
    taken = np.zeros(board.raster.shape, dtype=np.bool_)
    for place in plain:
        taken[place.window] |= place.shape
    feet_mm = [(place.soldier.x_mm, place.soldier.y_mm) for place in plain]
    return LookAfter(after, plain, [place for place in places if place not in plain], taken, feet_mm)

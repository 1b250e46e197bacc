"""Whose of two uniforms is whose, where the soldiers' places hardly tell: the shot does.

Soldiers that were parted by their looks are named by where they stand: each side nearer its own base. In the middle of a
battle that can tell next to nothing, and all would be named the wrong way round. A shot is fired at an enemy, so the
first soldier that it fells is one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from game.montecassino import BOARD_ROWS, Side
from vision.outcome import Soldier, Standing

__all__ = ["named_by_the_shot", "of_the_other_side"]

# By so many lines all soldiers together must stand nearer to their own bases than the middle of the board is. Of some 250
# filmed tables three had fewer, and two of these were named the wrong way round; no other was.
_LINES_TELL = 16.0


def named_by_the_shot(
    standing: Standing, struck_first: Collection[Soldier], shooter: Side, square_mm: float
) -> Standing:
    """Name the sides the other way round, where their places hardly tell and the shot would have felled one of its own.

    Parameters
    ----------
    standing
        Who stood where, named by their places.
    struck_first
        Those of them that moved first.
    shooter
        Who fired.
    square_mm
        Side of a square.
    """
    if not struck_first or any(soldier.side is not shooter for soldier in struck_first):
        return standing
    lines = sum(
        (BOARD_ROWS / 2 - s.y_mm / square_mm) * (1 if s.side is Side.A else -1) for s in standing.soldiers
    )
    if lines > _LINES_TELL:
        return standing
    return replace(standing, soldiers=tuple(of_the_other_side(soldier) for soldier in standing.soldiers))


def of_the_other_side(soldier: Soldier) -> Soldier:
    """Give a soldier that wears the other uniform."""
    return replace(soldier, side=soldier.side.enemy)

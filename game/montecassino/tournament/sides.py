"""Who has the Allies in a Swiss pairing."""

from __future__ import annotations

from game.montecassino import Side
from game.montecassino.tournament.contenders import Contender

__all__ = ["seated"]


def seated(first: Contender, second: Contender, board: int) -> tuple[Contender, Contender]:
    """Return who has the Allies, then who has the Germans.

    Who had them less often gets them. Otherwise the two change sides against the last battle in which they had different
    ones. Otherwise the one who stands higher has changed sides, and at the first battle has the Allies on odd boards.

    Parameters
    ----------
    first, second : Contender
        The one who stands higher comes first.
    board : int
        From 1.
    """
    if first.surplus != second.surplus:
        return (first, second) if first.surplus < second.surplus else (second, first)
    for own, other in zip(reversed(first.sides), reversed(second.sides), strict=False):
        if own is not other:
            return (first, second) if own is Side.G else (second, first)
    if first.sides:
        return (first, second) if first.sides[-1] is Side.G else (second, first)
    return (first, second) if board % 2 == 1 else (second, first)

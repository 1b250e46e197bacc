"""How a battle ends (clauses V0 to V5)."""

from dataclasses import dataclass
from enum import StrEnum

from game.montecassino.position import Position
from game.montecassino.squares import BOARD_ROWS, Side


class Winner(StrEnum):
    """Who has won; the names of the sides are those of `Side`."""

    A = "A"
    G = "G"
    DRAW = "draw"


class Reason(StrEnum):
    """Why a battle is over."""

    NO_SOLDIERS = "the enemy has no soldier on the board"
    LAST_LINE = "a soldier stands on own line 18"
    BOTH_WITHOUT_SOLDIERS = "neither side has a soldier on the board"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a battle."""

    winner: Winner
    reason: Reason


def outcome(position: Position) -> Outcome | None:
    """Return how the battle has ended at the start of a turn, or None while it goes on."""
    without = [side for side in Side if not position.squares_of(side)]
    if len(without) == 2:
        return Outcome(Winner.DRAW, Reason.BOTH_WITHOUT_SOLDIERS)
    if without:
        return Outcome(Winner(without[0].enemy), Reason.NO_SOLDIERS)
    # Should both stand there, the side that has just moved came last and would have won by it.
    for side in (position.turn.enemy, position.turn):
        if any(square.own_line(side) == BOARD_ROWS for square in position.squares_of(side)):
            return Outcome(Winner(side), Reason.LAST_LINE)
    return None

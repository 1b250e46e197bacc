"""How a battle ends (clauses V0 to V6)."""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum

from game.montecassino._bits import Frame, forces_of, frame_of
from game.montecassino.position import Position
from game.montecassino.squares import Side


class Winner(StrEnum):
    """Who has won; the names of the sides are those of `Side`."""

    A = "A"
    G = "G"
    DRAW = "draw"


class Reason(StrEnum):
    """Why a battle is over."""

    NO_SOLDIERS = "the enemy has no soldier on the board"
    LAST_LINE = "a soldier stands on own line 18"
    ABANDONED = "the enemy has abandoned the battle"
    IMMOBILISED = "the enemy has no legal step at the start of its turn"
    BOTH_WITHOUT_SOLDIERS = "neither side has a soldier on the board"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a battle."""

    winner: Winner
    reason: Reason


def outcome(position: Position) -> Outcome | None:
    """Return how the battle has ended at the start of a turn, or None while it goes on."""
    mover = position.turn
    frame = frame_of(position)
    own, enemy, _ = forces_of(position)
    if not own and not enemy:
        return Outcome(Winner.DRAW, Reason.BOTH_WITHOUT_SOLDIERS)
    if not own:
        return Outcome(Winner(mover.enemy), Reason.NO_SOLDIERS)
    if not enemy:
        return Outcome(Winner(mover), Reason.NO_SOLDIERS)
    # Should soldiers of both stand there, the side that has just moved came last and would have won by it.
    if enemy & frame.line_1:
        return Outcome(Winner(mover.enemy), Reason.LAST_LINE)
    if own & frame.line_18:
        return Outcome(Winner(mover), Reason.LAST_LINE)
    if _stuck(frame, own, enemy):
        return Outcome(Winner(mover.enemy), Reason.IMMOBILISED)
    return None


def abandon(position: Position) -> Outcome:
    """Return the end of a battle that the side to move abandons (V4).

    Raises
    ------
    ValueError
        If the battle is over already.
    """
    if outcome(position) is not None:
        raise ValueError("the battle is over, nobody can abandon it")
    return Outcome(Winner(position.turn.enemy), Reason.ABANDONED)


def points(winner: Winner | None, retreated: Set[Side]) -> dict[Side, float]:
    """Return each side's points: 1 for a won battle, 1/2 for each retreat of the adversary (R3, V6)."""
    return {side: (winner is Winner(side)) + 0.5 * (side.enemy in retreated) for side in Side}


def immobilised(position: Position) -> bool:
    """Whether the side to move has no legal infantry step (V3)."""
    own, enemy, _ = forces_of(position)
    return _stuck(frame_of(position), own, enemy)


def _stuck(frame: Frame, own: int, enemy: int) -> bool:
    return not any(ends for ends, _, _ in frame.single_steps(own, frame.all & ~own & ~enemy, enemy))

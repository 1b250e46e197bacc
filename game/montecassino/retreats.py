"""Retreat: a side's soldiers go back to its base, once a battle (clauses R1 to R3)."""

from dataclasses import replace

from game.montecassino.outcomes import outcome
from game.montecassino.position import Position
from game.montecassino.squares import BASE_LINES, Side, Square, own_squares


class RetreatError(ValueError):
    """A retreat that the rules do not allow, in one sentence."""


def retreat(position: Position) -> Position:
    """Return the position after the side to move has retreated.

    Raises
    ------
    RetreatError
        If that side has retreated before, or the battle is over.
    """
    side = position.turn
    if side in position.retreated:
        raise RetreatError(f"side {side} has retreated before, and may once a battle")
    if outcome(position) is not None:
        raise RetreatError("the battle is over")
    staying: dict[Square, Side] = {}
    lifted = 0
    for square, owner in position.soldiers.items():
        if owner is side and square.own_line(side) > BASE_LINES:
            lifted += 1
        else:
            staying[square] = owner
    free = [square for square in own_squares(side, position.boards) if square not in staying]
    return replace(
        position,
        turn=side.enemy,
        soldiers=staying | dict.fromkeys(free[:lifted], side),
        retreated=position.retreated | {side},
    )

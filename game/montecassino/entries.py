"""What a side may do with its turn, as the record of a battle holds it, and what it gives (clause N5).

An infantry turn is a `Turn`. The others are here: a shot takes the place of an infantry turn (C1), and so does a
retreat (R1); a battle that is abandoned or adjourned (V4) stays as it stands.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from game.montecassino.casualties import after_shot
from game.montecassino.outcomes import outcome
from game.montecassino.position import Position
from game.montecassino.retreats import RetreatError, retreat
from game.montecassino.squares import Square
from game.montecassino.turns import IllegalTurnError, Turn, apply_turn


@dataclass(frozen=True, slots=True)
class Shot:
    """A shot and the falls that counted, decided doubts among them. `str()` is N5: ``*``, ``*A-62``, ``*A-62,G-50``.

    N5 shows one casualty. Several are parted by commas, as the squares of a position are (N4), but never folded to
    runs, so that the chart has each soldier's own square.

    Parameters
    ----------
    casualties : tuple of Square
        Squares whose soldiers leave, kept sorted; none is a miss.

    Raises
    ------
    ValueError
        If a square stands twice.
    """

    casualties: tuple[Square, ...] = ()

    def __post_init__(self) -> None:
        if twice := [str(square) for square, count in Counter(self.casualties).items() if count > 1]:
            raise ValueError(f"a soldier leaves once, and {', '.join(sorted(twice))} stands twice")
        object.__setattr__(self, "casualties", tuple(sorted(self.casualties)))

    def __str__(self) -> str:
        return "*" + ",".join(map(str, self.casualties))


@dataclass(frozen=True, slots=True)
class Retreat:
    """The side to move retreats (R1)."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True, slots=True)
class Abandon:
    """The side to move abandons the battle, and has lost it (V4)."""

    def __str__(self) -> str:
        return "#"


@dataclass(frozen=True, slots=True)
class Adjourn:
    """The battle is adjourned, to be gone on with later (V4)."""

    def __str__(self) -> str:
        return "||"


Entry = Turn | Shot | Retreat | Abandon | Adjourn
"""One entry of the record of a battle."""


def apply_entry(position: Position, entry: Entry) -> Position:
    """Return the position after what the side to move does; abandoning and adjourning change nothing on the board.

    Looked at are the rules that the position alone decides. What was agreed (zone, cannons) is for `Battle.play`.

    Raises
    ------
    IllegalTurnError
        If the rules do not allow it, with the first clause that it breaks.
    """
    if isinstance(entry, Turn):
        return apply_turn(position, entry)
    if outcome(position) is not None:
        raise IllegalTurnError("V0", "the battle is over")
    if isinstance(entry, Shot):
        return _fire(position, entry)
    if isinstance(entry, Retreat):
        try:
            return retreat(position)
        except RetreatError as error:
            raise IllegalTurnError("R1", str(error)) from error
    return position


def _fire(position: Position, shot: Shot) -> Position:
    side = position.turn
    if position.shots_left[side] == 0:
        raise IllegalTurnError("C3", f"side {side} has no shot left")
    for square in shot.casualties:
        if square not in position.soldiers:
            raise IllegalTurnError("C5", f"nobody stood on {square} before the shot")
    return after_shot(position, shot.casualties)

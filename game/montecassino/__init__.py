"""Montecassino: board, positions, turns and casualties, as pure values and functions."""

from game.montecassino.casualties import (
    Cause,
    Decision,
    Doubt,
    Fall,
    JudgeError,
    Option,
    Verdict,
    judge,
    proposed_zone,
)
from game.montecassino.outcomes import Outcome, Reason, Winner, outcome
from game.montecassino.position import SOLDIERS_PER_SIDE, Position, PositionError
from game.montecassino.squares import (
    ALL_SQUARES,
    BASE_LINES,
    BOARD_FILES,
    BOARD_ROWS,
    Side,
    Square,
    SquareError,
    format_squares,
    parse_squares,
)

__all__ = [
    "ALL_SQUARES",
    "BASE_LINES",
    "BOARD_FILES",
    "BOARD_ROWS",
    "SOLDIERS_PER_SIDE",
    "Cause",
    "Decision",
    "Doubt",
    "Fall",
    "JudgeError",
    "Option",
    "Outcome",
    "Position",
    "PositionError",
    "Reason",
    "Side",
    "Square",
    "SquareError",
    "Verdict",
    "Winner",
    "format_squares",
    "judge",
    "outcome",
    "parse_squares",
    "proposed_zone",
]

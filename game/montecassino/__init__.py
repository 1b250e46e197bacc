"""Montecassino: board, positions, turns and casualties, as pure values and functions."""

from game.montecassino.agreement import Agreement, AgreementError, Cannons, Commanders
from game.montecassino.battle import Battle, BattleError, Played
from game.montecassino.battle_file import BattleFileError, format_battle, parse_battle
from game.montecassino.casualties import (
    Cause,
    Decision,
    Doubt,
    Fall,
    JudgeError,
    Option,
    Verdict,
    counts,
    judge,
    judge_any_shot,
    proposed_zone,
    why_put_back,
)
from game.montecassino.chart import Act, Chart, ChartRow, ChartRowError, Column, UnreadRow
from game.montecassino.chart_battle import ChartPlay, RowFault, chart_of, play_chart
from game.montecassino.chart_text import (
    ChartFault,
    ChartReading,
    format_chart,
    format_chart_csv,
    read_chart,
)
from game.montecassino.chart_words import Language
from game.montecassino.counting import MOST_DEPTH, perft, results
from game.montecassino.entries import Abandon, Adjourn, Entry, Retreat, Shot, apply_entry
from game.montecassino.generation import legal_turns
from game.montecassino.names import LONGEST_NAME, is_seen
from game.montecassino.notation import AmbiguousTurnError, read_entry
from game.montecassino.opponent import choose_turn
from game.montecassino.outcomes import Outcome, Reason, Winner, abandon, immobilised, outcome, points
from game.montecassino.picture import draw_position
from game.montecassino.position import SOLDIERS_PER_SIDE, Position, PositionError
from game.montecassino.retreats import RetreatError, retreat
from game.montecassino.square_lists import format_squares, parse_squares
from game.montecassino.squares import (
    ALL_SQUARES,
    BASE_LINES,
    BOARD_FILES,
    BOARD_ROWS,
    Side,
    Square,
    SquareError,
    all_squares,
    board_fault,
    board_indices,
    own_squares,
)
from game.montecassino.turns import IllegalTurnError, Move, Turn, TurnTextError, apply_turn

__all__ = [
    "ALL_SQUARES",
    "BASE_LINES",
    "BOARD_FILES",
    "BOARD_ROWS",
    "LONGEST_NAME",
    "MOST_DEPTH",
    "SOLDIERS_PER_SIDE",
    "Abandon",
    "Act",
    "Adjourn",
    "Agreement",
    "AgreementError",
    "AmbiguousTurnError",
    "Battle",
    "BattleError",
    "BattleFileError",
    "Cannons",
    "Cause",
    "Chart",
    "ChartFault",
    "ChartPlay",
    "ChartReading",
    "ChartRow",
    "ChartRowError",
    "Column",
    "Commanders",
    "Decision",
    "Doubt",
    "Entry",
    "Fall",
    "IllegalTurnError",
    "JudgeError",
    "Language",
    "Move",
    "Option",
    "Outcome",
    "Played",
    "Position",
    "PositionError",
    "Reason",
    "Retreat",
    "RetreatError",
    "RowFault",
    "Shot",
    "Side",
    "Square",
    "SquareError",
    "Turn",
    "TurnTextError",
    "UnreadRow",
    "Verdict",
    "Winner",
    "abandon",
    "all_squares",
    "apply_entry",
    "apply_turn",
    "board_fault",
    "board_indices",
    "chart_of",
    "choose_turn",
    "counts",
    "draw_position",
    "format_battle",
    "format_chart",
    "format_chart_csv",
    "format_squares",
    "immobilised",
    "is_seen",
    "judge",
    "judge_any_shot",
    "legal_turns",
    "outcome",
    "own_squares",
    "parse_battle",
    "parse_squares",
    "perft",
    "play_chart",
    "points",
    "proposed_zone",
    "read_chart",
    "read_entry",
    "results",
    "retreat",
    "why_put_back",
]

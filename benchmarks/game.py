"""How fast infantry turns are counted, made and checked."""

from __future__ import annotations

import json
import statistics
from functools import partial
from itertools import islice

import chess

from benchmarks._from_tests import UNIT_TESTS, from_tests
from benchmarks._timing import timed
from benchmarks.figure import Figure
from game.montecassino import Position, apply_turn, legal_turns, perft

_TURNS_OF_EACH = 5_000
_CHECKED_OF_EACH = 50
_CHESS_DEPTH = 3
_TIMES = 5

# What was set as the aim: the median of an independent implementation of the rules page, and the time of a check.
_INDEPENDENT_S = 0.08
_CHECK_US = 100.0


def measure() -> list[Figure]:
    """Count, make and check turns of the sample positions."""
    cases = json.loads((UNIT_TESTS / "game/data/positions.json").read_text(encoding="utf-8"))["positions"]
    lines = [case["position"] for case in cases]
    positions = list(map(Position.parse, lines))
    return [*_counting(lines, positions), _making(positions), _checking(positions)]


def _counting(lines: list[str], positions: list[Position]) -> list[Figure]:
    slow_rules = from_tests("game/slow_rules.py")
    counted, slowly_s = timed(lambda: [len(slow_rules.results(line)) for line in lines], 1)
    again, counting_s = timed(lambda: [perft(position, 1) for position in positions], _TIMES)
    assert counted == again, "both count what the rules page says (N6)"
    each_s = [timed(partial(perft, position, 1), _TIMES)[1] for position in positions]
    return [
        Figure(
            f"perft 1 of the {len(positions)} sample positions, positions for CPU time",
            len(positions) / counting_s,
            "1/s",
            "the rules page spelled out plainly (tests/unit/game/slow_rules.py)",
            len(positions) / slowly_s,
        ),
        Figure(
            "perft 1 of a sample position, median for CPU time",
            1 / statistics.median(each_s),
            "1/s",
            f"an independent implementation's median of {_INDEPENDENT_S} s, as it was told",
            1 / _INDEPENDENT_S,
            at_least=1.0,
        ),
    ]


def _making(positions: list[Position]) -> Figure:
    turns, making_s = timed(
        lambda: sum(1 for position in positions for _ in islice(legal_turns(position), _TURNS_OF_EACH)),
        _TIMES,
    )
    nodes, chess_s = timed(lambda: _chess_nodes(chess.Board(), _CHESS_DEPTH), _TIMES)
    return Figure(
        "infantry turns generated for CPU time",
        turns / making_s,
        "1/s",
        f"nodes of python-chess's push and pop, perft {_CHESS_DEPTH} of the start",
        nodes / chess_s,
    )


def _checking(positions: list[Position]) -> Figure:
    checked = [
        (position, turn)
        for position in positions
        for turn in islice(legal_turns(position), 0, _TURNS_OF_EACH, _TURNS_OF_EACH // _CHECKED_OF_EACH)
    ]
    _, checking_s = timed(lambda: [apply_turn(position, turn) for position, turn in checked], _TIMES)
    return Figure(
        "one turn checked and applied, CPU time",
        1e6 * checking_s / len(checked),
        "us",
        "the time allowed for it",
        _CHECK_US,
        at_most=1.0,
    )


def _chess_nodes(board: chess.Board, depth: int) -> int:
    """Count the nodes below a board, each of them pushed and popped."""
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += 1 + (_chess_nodes(board, depth - 1) if depth > 1 else 0)
        board.pop()
    return nodes

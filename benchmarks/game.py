"""How fast infantry turns are counted and made."""

import json
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TypeVar

from benchmarks.figure import Figure
from game.montecassino import Move, Position, Turn, legal_turns, perft, results

_POSITIONS = Path(__file__).parents[1] / "tests" / "unit" / "game" / "data" / "positions.json"
_TURNS_OF_EACH = 2_000
_TIMES = 5

_T = TypeVar("_T")


def measure() -> list[Figure]:
    """Count and make turns of the sample positions."""
    cases = json.loads(_POSITIONS.read_text(encoding="utf-8"))["positions"]
    positions = [Position.parse(case["position"]) for case in cases]
    return [_counting(positions), _making(positions)]


def _counting(positions: list[Position]) -> Figure:
    counted, counting_s = _timed(lambda: sum(perft(position, 1) for position in positions))
    listed, listing_s = _timed(lambda: sum(1 for position in positions for _ in results(position)))
    assert counted == listed, "perft counts what results lists (N6)"
    return Figure(
        f"perft 1 of {len(positions)} positions, positions counted for CPU time",
        counted / counting_s,
        "1/s",
        "listing the same, each as a value",
        listed / listing_s,
    )


def _making(positions: list[Position]) -> Figure:
    turns, making_s = _timed(
        lambda: [turn for position in positions for turn in islice(legal_turns(position), _TURNS_OF_EACH)]
    )
    copies, copying_s = _timed(
        lambda: [
            Turn(tuple(Move(move.squares, move.captures) for move in turn.moves), turn.freed)
            for turn in turns
        ]
    )
    assert copies == turns
    return Figure(
        "infantry turns generated for CPU time",
        len(turns) / making_s,
        "1/s",
        "making the same turns anew, move by move",
        len(copies) / copying_s,
    )


def _timed(act: Callable[[], _T]) -> tuple[_T, float]:
    """Do something a few times; return what it gives, and its least CPU time in s."""
    spent_s = []
    for _ in range(_TIMES):
        begun_s = time.process_time()
        result = act()
        spent_s.append(time.process_time() - begun_s)
    return result, min(spent_s)

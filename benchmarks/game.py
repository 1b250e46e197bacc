"""How fast infantry turns are counted and made."""

import json
import time
from itertools import islice
from pathlib import Path

from benchmarks.figure import Figure
from game.montecassino import Move, Position, Turn, legal_turns, perft, results

_POSITIONS = Path(__file__).parents[1] / "tests" / "unit" / "game" / "data" / "positions.json"
_TURNS_OF_EACH = 2_000


def measure() -> list[Figure]:
    """Count and make turns of the sample positions."""
    cases = json.loads(_POSITIONS.read_text(encoding="utf-8"))["positions"]
    positions = [Position.parse(case["position"]) for case in cases]
    return [_counting(positions), _making(positions)]


def _counting(positions: list[Position]) -> Figure:
    begun_s = time.process_time()
    counted = sum(perft(position, 1) for position in positions)
    perft_s = time.process_time() - begun_s
    begun_s = time.process_time()
    listed = sum(1 for position in positions for _ in results(position))
    listing_s = time.process_time() - begun_s
    assert counted == listed, "perft counts what results lists (N6)"
    return Figure(
        f"perft 1 of {len(positions)} positions, positions counted for CPU time",
        counted / perft_s,
        "1/s",
        "listing the same, each as a value",
        listed / listing_s,
    )


def _making(positions: list[Position]) -> Figure:
    begun_s = time.process_time()
    turns = [turn for position in positions for turn in islice(legal_turns(position), _TURNS_OF_EACH)]
    generating_s = time.process_time() - begun_s
    begun_s = time.process_time()
    copies = [
        Turn(tuple(Move(move.squares, move.captures) for move in turn.moves), turn.freed) for turn in turns
    ]
    copying_s = time.process_time() - begun_s
    assert copies == turns
    return Figure(
        "infantry turns generated for CPU time",
        len(turns) / generating_s,
        "1/s",
        "making the same turns anew, move by move",
        len(copies) / copying_s,
    )

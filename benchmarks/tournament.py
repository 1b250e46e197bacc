"""How fast a round of 256 players is paired, late in a tournament, and how fast its standings are made."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from benchmarks.figure import Figure
from game.montecassino import Side, Winner
from game.montecassino.tournament import (
    Fought,
    Player,
    ResultEntry,
    System,
    Tournament,
    pair,
    rematches_of,
    standings,
)
from rig.tournament.matching import least_cost_matching

_PLAYERS = 256
_ROUNDS = 11  # three more than part 256 players by wins alone: most neighbours have met
_TIMES = 5
_WANTED_S = 1.0

_T = TypeVar("_T")


def measure() -> list[Figure]:
    """Play a tournament, pair its last round, make its standings."""
    tournament = _before_the_last_round()
    paired, pairing_s = _timed(lambda: pair(tournament, least_cost_matching))
    assert not rematches_of(paired, _ROUNDS), "a pairing without rematches exists, and is the one to be found"
    lines, standings_s = _timed(lambda: standings(tournament))
    assert len(lines) == _PLAYERS
    return [
        Figure(
            f"Swiss pairing, {_PLAYERS} players, round {_ROUNDS}, rounds paired for CPU time",
            1 / pairing_s,
            "1/s",
            "wanted: one in a second",
            1 / _WANTED_S,
        ),
        Figure(
            f"standings of {_PLAYERS} players with every tie-break, made for CPU time",
            1 / standings_s,
            "1/s",
            "pairing their next round",
            1 / pairing_s,
        ),
    ]


def _before_the_last_round() -> Tournament:
    draw = random.Random(1)
    tournament = Tournament("benchmark", System.SWISS, _ROUNDS)
    tournament = tournament.with_players(Player(f"player {number}") for number in range(_PLAYERS))
    for _ in range(_ROUNDS - 1):
        tournament = pair(tournament, least_cost_matching)
        for number, pairing in list(tournament.open_pairings()):
            winner = draw.choice([Winner.A, Winner.G])
            retreated = frozenset(side for side in Side if draw.random() < 0.25)
            entry = ResultEntry(Fought(winner, retreated), "benchmark", "2026-05-02T14:30:00Z")
            tournament = tournament.entered(number, pairing.board, entry)
    return tournament


def _timed(act: Callable[[], _T]) -> tuple[_T, float]:
    """Do something a few times; return what it gives, and its least CPU time in s."""
    spent_s = []
    for _ in range(_TIMES):
        begun_s = time.process_time()
        result = act()
        spent_s.append(time.process_time() - begun_s)
    return result, min(spent_s)

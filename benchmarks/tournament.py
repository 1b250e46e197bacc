"""How fast a round of 256 players is paired, late in a tournament, and how fast its standings are made."""

import random

from benchmarks._timing import timed
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


def measure() -> list[Figure]:
    """Play a tournament, pair its last round, make its standings."""
    tournament = _before_the_last_round()
    paired, pairing_s = timed(lambda: pair(tournament, least_cost_matching), _TIMES)
    assert not rematches_of(paired, _ROUNDS), "a pairing without rematches exists, and is the one to be found"
    lines, standings_s = timed(lambda: standings(tournament), _TIMES)
    assert len(lines) == _PLAYERS
    return [
        Figure(
            f"Swiss pairing, {_PLAYERS} players, round {_ROUNDS}, rounds paired for CPU time",
            1 / pairing_s,
            "1/s",
            "wanted: one in a second",
            1 / _WANTED_S,
            at_least=1.0,
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

"""Tournaments to test with: drawn results, late entries, withdrawals, and all pairings of a small field."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from game.montecassino import Side, Winner
from game.montecassino.tournament import (
    Cost,
    Forfeit,
    Fought,
    Matcher,
    Player,
    Result,
    ResultEntry,
    System,
    Tournament,
    pair,
)

AT = "2026-05-02T14:30:00Z"


def begun(count: int, rounds: int = 1, system: System = System.SWISS) -> Tournament:
    """Return a tournament of P1, P2, ... before its first round."""
    players = [Player(f"P{number}") for number in range(1, count + 1)]
    planned = rounds if system is System.SWISS else 0
    return Tournament("test", system, planned).with_players(players)


def entered(tournament: Tournament, round_number: int, board: int, result: Result | str) -> Tournament:
    """Return the tournament with a result, given by hand."""
    found = Fought.parse(result) if isinstance(result, str) else result
    return tournament.entered(round_number, board, ResultEntry(found, "by hand", AT))


def drawn_result(draw: random.Random, *, forfeits: float = 0.0) -> Result:
    """Return any result there is, the usual ones more often."""
    if draw.random() < forfeits:
        return Forfeit(frozenset(draw.choice([(Side.A,), (Side.G,), (Side.A, Side.G)])))
    winner = draw.choices([Winner.A, Winner.G, Winner.DRAW], [10, 10, 1])[0]
    return Fought(winner, frozenset(side for side in Side if draw.random() < 0.3))


def with_drawn_results(tournament: Tournament, draw: random.Random, *, forfeits: float = 0.0) -> Tournament:
    """Return the tournament with a result for each battle that waits for one."""
    for number, pairing in list(tournament.open_pairings()):
        tournament = entered(tournament, number, pairing.board, drawn_result(draw, forfeits=forfeits))
    return tournament


def played(
    count: int, rounds: int, seed: int, matcher: Matcher, *, coming_and_going: bool = False
) -> Iterator[tuple[Tournament, Tournament]]:
    """Play a Swiss tournament; yield before and after each pairing, results drawn by the seed."""
    draw = random.Random(seed)
    tournament = replace(begun(count), rounds_planned=rounds)
    for number in range(rounds):
        if coming_and_going and number:
            tournament = come_and_go(tournament, draw)
        before = tournament
        after = pair(before, matcher)
        yield before, after
        tournament = with_drawn_results(after, draw, forfeits=0.1 if coming_and_going else 0.0)


def come_and_go(tournament: Tournament, draw: random.Random) -> Tournament:
    """Return the tournament with somebody late, gone, or back again, each now and then."""
    if draw.random() < 0.3:
        tournament = tournament.with_players([Player(f"late{len(tournament.players)}")])
    if draw.random() < 0.3 and len(tournament.in_play) > 4:
        tournament = tournament.withdrawn(draw.choice(tournament.in_play).name, AT)
    gone = [player for player in tournament.players if player.withdrawn]
    if gone and draw.random() < 0.3:
        tournament = tournament.with_players([Player(draw.choice(gone).name)])
    return tournament


def all_matchings(vertices: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield every way to put vertices into pairs."""
    if not vertices:
        yield []
        return
    first, *rest = vertices
    for k, second in enumerate(rest):
        for others in all_matchings(rest[:k] + rest[k + 1 :]):
            yield [(first, second), *others]


def brute_force(size: int, costs: Iterable[Cost]) -> list[tuple[int, int]]:
    """Find a perfect matching of least cost by looking at every one."""
    cost = {(i, j): each for i, j, each in costs}
    return min(all_matchings(range(size)), key=lambda matching: sum(cost[pair] for pair in matching))

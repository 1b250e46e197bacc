"""The rounds to come: a Swiss round at a time, a round robin all at once."""

from __future__ import annotations

from dataclasses import replace

from game.montecassino import Side
from game.montecassino.tournament.contenders import contenders
from game.montecassino.tournament.encounters import Kind, encounters
from game.montecassino.tournament.round_robin import round_robin
from game.montecassino.tournament.sides import seated
from game.montecassino.tournament.swiss import Matcher, pair_swiss
from game.montecassino.tournament.table import Pairing, Round, Seat
from game.montecassino.tournament.tournament import System, Tournament, TournamentError

__all__ = ["pair", "rematches_of", "unpair"]

_MOST_NAMED = 10
"""Missing results in one message."""


def pair(tournament: Tournament, matcher: Matcher) -> Tournament:
    """Return the tournament with its next round paired; a round robin with all of them.

    Parameters
    ----------
    tournament : Tournament
        As it stands.
    matcher : Matcher
        What finds a perfect matching of least cost, for a Swiss round.

    Raises
    ------
    TournamentError
        If fewer than two players are in play, the tournament has all its rounds, or, in a Swiss one, results are missing;
        these are named.
    """
    if len(tournament.in_play) < 2:
        raise TournamentError(f"a round needs two players; in play: {len(tournament.in_play)}")
    if tournament.system is not System.SWISS:
        if tournament.rounds:
            raise TournamentError(
                f"all {len(tournament.rounds)} rounds of the round robin are paired already"
            )
        return replace(tournament, rounds=_all_rounds(tournament))
    if missing := [
        f"round {number}, board {pairing.board}, {' against '.join(pairing.names)}"
        for number, pairing in tournament.open_pairings()
    ]:
        named = "; ".join(missing[:_MOST_NAMED])
        more = f"; and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        raise TournamentError(f"the next round waits for results that are not in: {named}{more}")
    if len(tournament.rounds) >= tournament.rounds_planned:
        raise TournamentError(
            f"all rounds that were planned, {tournament.rounds_planned}, are paired already"
        )
    return replace(tournament, rounds=(*tournament.rounds, _swiss_round(tournament, matcher)))


def unpair(tournament: Tournament) -> Tournament:
    """Return the tournament as it was before `pair`: without its last round, or a round robin without all of them.

    Raises
    ------
    TournamentError
        If no round is paired, or a result of those that would go is in: nothing that was entered is ever taken away.
    """
    if not tournament.rounds:
        raise TournamentError("no round is paired; there is nothing to take back")
    kept = tournament.rounds[:-1] if tournament.system is System.SWISS else ()
    for number, each in enumerate(tournament.rounds[len(kept) :], start=len(kept) + 1):
        for pairing in each.pairings:
            if pairing.result is not None:
                raise TournamentError(
                    f"round {number} stays: the result of board {pairing.board}, {' against '.join(pairing.names)}, is in"
                )
    return replace(tournament, rounds=kept)


def rematches_of(tournament: Tournament, round_number: int) -> tuple[tuple[Pairing, tuple[int, ...]], ...]:
    """Return the pairings of a round whose players had fought before, and in which rounds."""
    ways = encounters(tournament)
    found = []
    for pairing in tournament.rounds[round_number - 1].pairings:
        a, g = pairing.names
        before = tuple(
            number
            for number, each in enumerate(ways[a][: round_number - 1], start=1)
            if each.opponent == g and each.kind is Kind.FOUGHT
        )
        if before:
            found.append((pairing, before))
    return tuple(found)


def _swiss_round(tournament: Tournament, matcher: Matcher) -> Round:
    try:
        pairs, bye = pair_swiss(contenders(tournament), matcher)
    except OverflowError as bad:
        raise TournamentError(str(bad)) from bad
    pairings = []
    for board, (first, second) in enumerate(pairs, start=1):
        allies, germans = seated(first, second, board)
        pairings.append(_pairing(tournament, board, allies.player, germans.player))
    return Round(tuple(pairings), None if bye is None else bye.player)


def _all_rounds(tournament: Tournament) -> tuple[Round, ...]:
    names = [player.name for player in tournament.in_play]
    rounds = []
    for meetings in round_robin(len(names), double=tournament.system is System.DOUBLE_ROUND_ROBIN):
        pairings, bye = [], None
        for board, (allies, germans) in enumerate(meetings, start=1):
            if germans is None:
                bye = names[allies]
            else:
                pairings.append(_pairing(tournament, board, names[allies], names[germans]))
        rounds.append(Round(tuple(pairings), bye))
    return tuple(rounds)


def _pairing(tournament: Tournament, board: int, allies: str, germans: str) -> Pairing:
    def seat(name: str, side: Side) -> Seat:
        return Seat(name, tournament.terms.artillery(tournament.player(name), side))

    return Pairing(board, seat(allies, Side.A), seat(germans, Side.G))

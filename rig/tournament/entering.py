"""A result from a battle: which pairing it belongs to, and whether it was fought as the tournament has it."""

from __future__ import annotations

import hashlib

from game.montecassino import Battle, Side, Winner
from game.montecassino.tournament import Fought, Pairing, ResultEntry, Tournament, TournamentError

__all__ = ["BattleNotEntered", "entry_of_battle"]


class BattleNotEntered(Exception):
    """A battle that cannot be entered into this tournament, in one sentence."""

    exit_status = 1


def entry_of_battle(
    tournament: Tournament,
    battle: Battle,
    source: str,
    at: str,
    why: str = "",
    round_number: int | None = None,
) -> tuple[int, int, ResultEntry]:
    """Return the round and the board that a battle belongs to, and its result as an entry.

    Parameters
    ----------
    tournament : Tournament
        As it stands.
    battle : Battle
        With the players' names in its agreement: on each side the one who commands the infantry takes part (S5).
    source : str
        The battle's file, for the entry.
    at : str
        When it is entered, as 2026-05-02T14:30:00Z.
    why : str
        Why it corrects a result that is in; empty where none is.
    round_number : int or None
        In which round it was fought; None: the only one that it can belong to.

    Raises
    ------
    BattleNotEntered
        If the battle is not ended, names nobody who takes part, was not due, can belong to several rounds, or was
        not fought under the tournament's terms and the players' handicap.
    """
    ended = battle.outcome
    if ended is None:
        how = "is adjourned" if battle.adjourned else f"goes on, side {battle.position.turn} to move"
        raise BattleNotEntered(f"{source}: the battle {how}; a result needs its end")
    names = []
    for side in Side:
        said = battle.agreement.players[side].infantry
        if not said:
            raise BattleNotEntered(
                f"{source}: players of {side}: found nobody, expected a name of the tournament"
            )
        try:
            names.append(tournament.player(said).name)
        except TournamentError as unknown:
            raise BattleNotEntered(f"{source}: players of {side}: {unknown}") from None
    number, pairing = _pairing_of(
        tournament, (names[0], names[1]), source, round_number, correcting=bool(why)
    )
    if departures := list(tournament.terms.departures(battle, pairing)):
        raise BattleNotEntered(
            f"{source}: not fought as round {number}, board {pairing.board} has it: {'; '.join(departures)}"
        )
    result = Fought(Winner(ended.winner), frozenset(battle.position.retreated))
    return number, pairing.board, ResultEntry(result, source, at, _fingerprint(battle), why)


def _pairing_of(
    tournament: Tournament,
    names: tuple[str, str],
    source: str,
    round_number: int | None,
    *,
    correcting: bool,
) -> tuple[int, Pairing]:
    """Return the pairing of these two, the Allies' player first, that waits for a result or is to be corrected."""
    meetings = [
        (number, pairing)
        for number, each in enumerate(tournament.rounds, start=1)
        for pairing in each.pairings
        if set(pairing.names) == set(names) and round_number in {None, number}
    ]
    a, g = names
    if not meetings:
        where = "any round" if round_number is None else f"round {round_number}"
        raise BattleNotEntered(f"{source}: {a} and {g} are not paired with each other in {where}")
    due = [each for each in meetings if each[1].names == names]
    if not due:
        number, _ = meetings[-1]
        raise BattleNotEntered(
            f"{source}: in round {number} {g} has the Allies and {a} the Germans, in this battle the other way round"
        )
    fitting = [each for each in due if (each[1].result is None) != correcting]
    if len(fitting) > 1:
        told = "have a result" if correcting else "wait for one"
        numbers = ", ".join(str(number) for number, _ in fitting)
        raise BattleNotEntered(f"{source}: {a} and {g} {told} in rounds {numbers}; say which: --round")
    # Where none fits, the last one says by what it has its result already, or that it has none.
    return (fitting or due)[-1]


def _fingerprint(battle: Battle) -> str:
    """Return what tells a battle from every other one, however its file is laid out."""
    told = [
        *(str(battle.agreement.players[side]) for side in Side),
        str(battle.began),
        str(battle.start),
        *(str(played.entry) for played in battle.history),
    ]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:32]

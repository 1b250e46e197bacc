"""Each player's way through the tournament: one encounter a round, fought or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from game.montecassino import Side, Winner
from game.montecassino.tournament.results import Forfeit
from game.montecassino.tournament.table import Pairing
from game.montecassino.tournament.tournament import System, Tournament

__all__ = ["Encounter", "Kind", "encounters", "points_of"]

_BYE_POINTS = {
    System.SWISS: Fraction(1),
    System.ROUND_ROBIN: Fraction(0),
    System.DOUBLE_ROUND_ROBIN: Fraction(0),
}
"""A Swiss bye gives what a battle won gives: the player would have fought, and must not lose ground for the number being
odd (as in the FIDE Handbook, C.04.1). In a round robin everybody has the bye equally often, and it gives nothing."""


class Kind(StrEnum):
    """What a player's round was."""

    FOUGHT = "fought"
    FORFEIT = "forfeit"
    """Paired, but one of the two or both did not come."""
    BYE = "bye"
    ABSENT = "absent"
    """Not paired: entered late, or withdrawn."""
    OPEN = "open"
    """Paired, and the result is not in."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """One round of one player."""

    kind: Kind
    points: Fraction = Fraction(0)
    """What the player got."""
    opponent: str | None = None
    side: Side | None = None
    """The player's own; None where there is no opponent."""
    won: bool = False
    """Whether the player won a battle that was fought."""
    retreated: bool = False
    """Whether the player retreated in it."""


def encounters(tournament: Tournament) -> Mapping[str, tuple[Encounter, ...]]:
    """Return each player's encounters, one for each round that is paired, in the order of the players."""
    ways: dict[str, list[Encounter]] = {player.name: [] for player in tournament.players}
    for each in tournament.rounds:
        met: dict[str, Encounter] = {}
        for pairing in each.pairings:
            for side in Side:
                met[pairing.seat(side).player] = _of_pairing(pairing, side)
        if each.bye is not None:
            met[each.bye] = Encounter(Kind.BYE, _BYE_POINTS[tournament.system])
        for name, way in ways.items():
            way.append(met.get(name, Encounter(Kind.ABSENT)))
    return {name: tuple(way) for name, way in ways.items()}


def points_of(way: tuple[Encounter, ...]) -> Fraction:
    """Return the sum of a player's points."""
    return sum((each.points for each in way), start=Fraction(0))


def _of_pairing(pairing: Pairing, side: Side) -> Encounter:
    opponent = pairing.seat(side.enemy).player
    result = pairing.result
    if result is None:
        return Encounter(Kind.OPEN, opponent=opponent, side=side)
    points = result.points(side)
    if isinstance(result, Forfeit):
        return Encounter(Kind.FORFEIT, points, opponent, side)
    return Encounter(
        Kind.FOUGHT,
        points,
        opponent,
        side,
        won=result.winner is Winner(side),
        retreated=side in result.retreated,
    )

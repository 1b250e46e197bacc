"""What a Swiss round is paired from: each player's points, opponents, sides, byes and floats so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from game.montecassino import Side
from game.montecassino.tournament.encounters import Encounter, Kind, encounters, points_of
from game.montecassino.tournament.points import HALF
from game.montecassino.tournament.tournament import Tournament

__all__ = ["Contender", "Float", "contenders"]

Float = int
"""1 for a player who met one of more points in the last round, -1 for one who met fewer or had the bye, 0 otherwise."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A player to be paired."""

    player: str
    place: int
    """By points and then by entry, 0 for the first."""
    from_last: int
    """The same from the other end."""
    halves: int
    """Points, in half points."""
    group_place: int
    """Among those of the same points, 0 for the first."""
    group_size: int
    """How many those are, this one included."""
    met: Mapping[str, int]
    """How often each opponent was fought. A forfeit is no battle: the two may be paired again."""
    byes: int
    """Rounds that gave a point without a battle: byes, and forfeits by the opponent."""
    sides: tuple[Side, ...]
    """The side in each battle fought, oldest first."""
    surplus: int
    """How many more battles were fought with the Allies than with the Germans."""
    last_float: Float


def contenders(tournament: Tournament) -> tuple[Contender, ...]:
    """Return those who are in play, the first one first."""
    ways = encounters(tournament)
    halves = {name: int(points_of(way) / HALF) for name, way in ways.items()}
    names = sorted((player.name for player in tournament.in_play), key=lambda name: -halves[name])
    sizes = Counter(halves[name] for name in names)
    seen: Counter[int] = Counter()
    found = []
    for place, name in enumerate(names):
        way, own = ways[name], halves[name]
        sides = tuple(each.side for each in way if each.kind is Kind.FOUGHT and each.side)
        found.append(
            Contender(
                name,
                place,
                len(names) - 1 - place,
                own,
                seen[own],
                sizes[own],
                Counter(each.opponent for each in way if each.kind is Kind.FOUGHT and each.opponent),
                sum(each.points > 0 for each in way if each.kind in {Kind.BYE, Kind.FORFEIT}),
                sides,
                sides.count(Side.A) - sides.count(Side.G),
                _last_float(way, ways),
            )
        )
        seen[own] += 1
    return tuple(found)


def _last_float(way: tuple[Encounter, ...], ways: Mapping[str, tuple[Encounter, ...]]) -> Float:
    if not way or way[-1].kind is Kind.ABSENT:
        return 0
    last = way[-1]
    if last.opponent is None:
        return -1
    before = points_of(way[:-1]), points_of(ways[last.opponent][:-1])
    return _sign(before[1] - before[0])


def _sign(difference: Fraction) -> Float:
    return (difference > 0) - (difference < 0)

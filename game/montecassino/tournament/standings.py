"""The standings: points, then the tie-breaks in their order, then a shared rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from game.montecassino.tournament.encounters import Encounter, Kind
from game.montecassino.tournament.tie_breaks import TIE_BREAKS, Table, TieBreak, direct_encounter
from game.montecassino.tournament.tournament import Tournament

__all__ = ["Standing", "standings"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of the standings."""

    rank: int
    """From 1; those whom nothing parts share it, and the next rank leaves as many out."""
    player: str
    points: Fraction
    direct: tuple[Fraction, ...]
    """The direct encounter among those tied, each time it was asked; empty where it could say nothing."""
    values: Mapping[TieBreak, Fraction]
    """The other tie-breaks."""
    way: tuple[Encounter, ...]
    """The player's encounters, one a round."""

    @property
    def fought(self) -> int:
        """Battles fought."""
        return sum(each.kind is Kind.FOUGHT for each in self.way)


def standings(tournament: Tournament) -> tuple[Standing, ...]:
    """Return everybody's standing, the best first; those of one rank in the order in which they entered.

    It may be asked at any time: results that are not in count for nothing yet.
    """
    table = Table.of(tournament)
    values = {
        name: {tie_break: reckon(table, name) for tie_break, reckon in TIE_BREAKS.items()}
        for name in table.ways
    }
    direct: dict[str, tuple[Fraction, ...]] = dict.fromkeys(table.ways, ())
    groups: list[list[str]] = []
    for tied in _parted(list(table.ways), table.points):
        groups += _by_direct(table, values, tied, direct)
    lines: list[Standing] = []
    for group in groups:
        rank = len(lines) + 1
        lines += [
            Standing(rank, name, table.points[name], direct[name], values[name], table.ways[name])
            for name in group
        ]
    return tuple(lines)


def _by_direct(
    table: Table,
    values: Mapping[str, Mapping[TieBreak, Fraction]],
    tied: list[str],
    direct: dict[str, tuple[Fraction, ...]],
) -> list[list[str]]:
    """Part the tied by their direct encounters, and where that says nothing (more) by the other tie-breaks."""
    if len(tied) == 1:
        return [tied]
    among = direct_encounter(table, tied)
    if among is None:
        return _by_values(values, tied)
    for name in tied:
        direct[name] += (among[name],)
    groups = _parted(tied, among)
    if len(groups) == 1:
        return _by_values(values, tied)
    return [smaller for group in groups for smaller in _by_direct(table, values, group, direct)]


def _by_values(values: Mapping[str, Mapping[TieBreak, Fraction]], tied: list[str]) -> list[list[str]]:
    def key(name: str) -> tuple[Fraction, ...]:
        # Retreats are the only thing of which less is better.
        return tuple(
            -value if tie_break is TieBreak.RETREATS else value for tie_break, value in values[name].items()
        )

    return _parted(tied, {name: key(name) for name in tied})


def _parted(
    names: Sequence[str], values: Mapping[str, Fraction] | Mapping[str, tuple[Fraction, ...]]
) -> list[list[str]]:
    """Part names by a value, the largest first, and keep the order of names of one value."""
    groups: dict[object, list[str]] = {}
    for name in sorted(names, key=values.__getitem__, reverse=True):
        groups.setdefault(values[name], []).append(name)
    return list(groups.values())

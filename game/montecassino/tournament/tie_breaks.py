"""What parts players of equal points, in a stated order.

Articles are those of the FIDE Handbook, C.07, Tie-Break Regulations (2024). Rounds without a battle are treated alike in
all of them:

- In a Swiss tournament a bye, a forfeit either way and a round that the player was not in count, in that player's own
  sums, as met with a dummy opponent who has the player's own points (article 16). For the direct encounter they count for nothing.
- In a round robin a forfeit counts as a battle with the opponent who was due, and a bye for nothing.
- A battle whose result is not in counts for nothing yet.
- Opponents' points are those of the table, byes and forfeits included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from game.montecassino.tournament.encounters import Encounter, Kind, encounters, points_of
from game.montecassino.tournament.tournament import System, Tournament

__all__ = ["TIE_BREAKS", "Table", "TieBreak", "direct_encounter"]


@dataclass(frozen=True, slots=True)
class Table:
    """What tie-breaks are reckoned from."""

    system: System
    ways: Mapping[str, tuple[Encounter, ...]]
    """Each player's encounters."""
    points: Mapping[str, Fraction]
    """Each player's points."""

    @classmethod
    def of(cls, tournament: Tournament) -> Table:
        """Return the table of a tournament as it stands."""
        ways = encounters(tournament)
        return cls(tournament.system, ways, {name: points_of(way) for name, way in ways.items()})

    def met(self, each: Encounter) -> bool:
        """Whether an encounter counts as a battle with the opponent of the table."""
        return each.kind is Kind.FOUGHT or (each.kind is Kind.FORFEIT and self.system is not System.SWISS)

    def opponents_points(self, name: str) -> list[tuple[Fraction, Fraction]]:
        """Return for each round that counts the opponent's points, or the dummy's, and the player's own in that round."""
        counted = []
        for each in self.ways[name]:
            if self.met(each) and each.opponent is not None:
                counted.append((self.points[each.opponent], each.points))
            elif self.system is System.SWISS and each.kind is not Kind.OPEN:
                counted.append((self.points[name], each.points))
        return counted


class TieBreak(StrEnum):
    """The tie-breaks, in the order in which they are asked. The direct encounter is asked first."""

    DIRECT = "direct encounter"
    OPPONENTS = "opponents' points"
    SONNEBORN_BERGER = "Sonneborn-Berger"
    WINS = "battles won"
    RETREATS = "retreats"


def direct_encounter(table: Table, tied: Collection[str]) -> dict[str, Fraction] | None:
    """Return what each of the tied has from battles among them; None unless all have met each other.

    Of two who met more than once the average counts. Where this parts some and leaves others tied, it is asked again
    among those (article 6).
    """
    gained: dict[str, defaultdict[str, list[Fraction]]] = {name: defaultdict(list) for name in tied}
    for name in tied:
        for each in table.ways[name]:
            if table.met(each) and each.opponent in gained:
                gained[name][each.opponent].append(each.points)
    if any(len(met) < len(tied) - 1 for met in gained.values()):
        return None
    return {
        name: sum((Fraction(sum(got), len(got)) for got in met.values()), start=Fraction(0))
        for name, met in gained.items()
    }


def _opponents(table: Table, name: str) -> Fraction:
    """Return the sum of the opponents' points: who met the stronger ones did more (Buchholz, article 8.1)."""
    return sum((points for points, _ in table.opponents_points(name)), start=Fraction(0))


def _sonneborn_berger(table: Table, name: str) -> Fraction:
    """Return the opponents' points, each times what the player gained against that one (article 9.1).

    A battle can give 1½, so an opponent may count one and a half times.
    """
    return sum((points * own for points, own in table.opponents_points(name)), start=Fraction(0))


def _wins(table: Table, name: str) -> Fraction:
    """Return the battles won on the board; a bye or a forfeit is none (article 7.2)."""
    return Fraction(sum(each.won for each in table.ways[name]))


def _retreats(table: Table, name: str) -> Fraction:
    """Return the battles in which the player retreated; fewer is better. FIDE has nothing like it: the halves are ours."""
    return Fraction(sum(each.retreated for each in table.ways[name]))


TIE_BREAKS: Mapping[TieBreak, Callable[[Table, str], Fraction]] = {
    TieBreak.OPPONENTS: _opponents,
    TieBreak.SONNEBORN_BERGER: _sonneborn_berger,
    TieBreak.WINS: _wins,
    TieBreak.RETREATS: _retreats,
}
"""Those that every player has a value of, whoever is tied, in the order in which they are asked."""

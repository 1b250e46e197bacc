"""The table of battles: who meets whom in which round on which board, under what handicap, and how it went."""

from __future__ import annotations

from dataclasses import dataclass

from game.montecassino import Side, Square
from game.montecassino.tournament.results import Result

__all__ = ["Artillery", "Pairing", "Player", "ResultEntry", "Round", "Seat"]


@dataclass(frozen=True, slots=True)
class Artillery:
    """What one player's cannon may do in a battle: the handicap of the booklet (S4, C3, C4)."""

    zone: tuple[Square, ...]
    """Squares on which falls count when this player fires."""
    shots: int
    """The endowment; 0 for a player who fights without the cannon."""


@dataclass(frozen=True, slots=True)
class Player:
    """One who takes part, alone or with a gunner (S5); known by the name."""

    name: str
    zone: tuple[Square, ...] | None = None
    """This player's own zone, as the Allies fire; mirrored where the player has the Germans. None: the tournament's."""
    shots: int | None = None
    """This player's own endowment; None: the tournament's."""
    withdrawn: bool = False
    """Whether the player is left out of the rounds to come."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One side of a pairing."""

    player: str
    artillery: Artillery
    """As it was when the round was paired; a change of the player's handicap is for later rounds."""


@dataclass(frozen=True, slots=True)
class ResultEntry:
    """One writing down of a result. The last one of a pairing counts; the others stay to be read."""

    result: Result
    source: str
    """Where it came from: ``by hand``, ``withdrawn``, or the name of a battle file."""
    at: str
    """When it was entered, as 2026-05-02T14:30:00Z."""
    battle: str = ""
    """Fingerprint of the battle in the file, so that none is entered twice; empty without a file."""
    why: str = ""
    """Why it takes the place of the entry before it; empty for a first entry."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players who meet."""

    board: int
    """From 1 in each round."""
    allies: Seat
    germans: Seat
    entries: tuple[ResultEntry, ...] = ()
    """Oldest first."""

    @property
    def result(self) -> Result | None:
        """The result that counts; None while the battle is to come or goes on."""
        return self.entries[-1].result if self.entries else None

    @property
    def names(self) -> tuple[str, str]:
        """Who has the Allies, who has the Germans."""
        return self.allies.player, self.germans.player

    def seat(self, side: Side) -> Seat:
        """Return a side's seat."""
        return self.allies if side is Side.A else self.germans


@dataclass(frozen=True, slots=True)
class Round:
    """The battles that are fought at one time."""

    pairings: tuple[Pairing, ...]
    """Board 1 first."""
    bye: str | None = None
    """The player without an opponent, where their number is odd."""

    @property
    def open_pairings(self) -> tuple[Pairing, ...]:
        """The pairings whose results are not in."""
        return tuple(pairing for pairing in self.pairings if pairing.result is None)

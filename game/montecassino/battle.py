"""A battle: what was agreed, and everything that was done since (clauses S, M, C, R and V)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from game.montecassino.agreement import Agreement, Cannons
from game.montecassino.entries import Abandon, Adjourn, Entry, Shot, apply_entry
from game.montecassino.outcomes import Outcome, abandon, outcome, points
from game.montecassino.position import Position
from game.montecassino.square_lists import format_squares
from game.montecassino.squares import Side
from game.montecassino.turns import IllegalTurnError


class BattleError(ValueError):
    """A battle that cannot begin as it was agreed.

    Attributes
    ----------
    faults : tuple of str
        Everything that is wrong with its start, a clause each.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__(f"the battle cannot begin so: {'; '.join(self.faults)}")


@dataclass(frozen=True, slots=True)
class Played:
    """One entry of a battle's history."""

    entry: Entry
    after: Position
    """The position that it gave; the one before where the battle was abandoned or adjourned."""

    @property
    def side(self) -> Side:
        """Whose entry it is."""
        return self.after.turn if isinstance(self.entry, Abandon | Adjourn) else self.after.turn.enemy


@dataclass(frozen=True, slots=True)
class Battle:
    """A battle that has come so far. Playing on gives another one, and so does taking back.

    `Battle.begin` begins one; `history` is filled by `play` alone, which is what makes it true.

    Parameters
    ----------
    agreement : Agreement
        What was agreed.
    start : Position
        Who stood where before the first entry.
    history : tuple of Played
        What has been done since, oldest first.
    began : datetime.date, optional
        The day it began, where somebody noted it.
    """

    agreement: Agreement
    start: Position
    history: tuple[Played, ...] = ()
    began: datetime.date | None = None
    # Whether play goes on after the last entry, which adjourned the battle. No part of the record: the next entry
    # tells it.
    _resumed: bool = field(default=False, repr=False, compare=False)

    @classmethod
    def begin(
        cls, agreement: Agreement, start: Position | None = None, began: datetime.date | None = None
    ) -> Self:
        """Begin a battle.

        Parameters
        ----------
        agreement : Agreement
            What was agreed.
        start : Position, optional
            Another position than that of S1: one that was noted down when a battle was adjourned (V4), or one that
            the players have set up.
        began : datetime.date, optional
            Today, where it is to be noted.

        Raises
        ------
        BattleError
            If the start is not of as many boards as agreed, has more shots than the endowment, or is an end.
        """
        if start is None:
            start = agreement.start()
        faults = []
        if start.boards != agreement.boards:
            faults.append(f"the start has boards: {start.boards}, agreed are {agreement.boards}")
        faults += [
            f"the start has shots left of {side}: {start.shots_left[side]}, agreed are {agreement.shots[side]}"
            for side in Side
            if start.shots_left[side] > agreement.shots[side]
        ]
        ended = outcome(start)
        if ended is not None:
            faults.append(f"it is over at the start: {ended.reason}")
        if faults:
            raise BattleError(faults)
        return cls(agreement, start, began=began)

    @property
    def position(self) -> Position:
        """Who stands where now."""
        return self.history[-1].after if self.history else self.start

    @property
    def outcome(self) -> Outcome | None:
        """How the battle has ended, or None while it goes on or is adjourned."""
        if self.history and isinstance(self.history[-1].entry, Abandon):
            return abandon(self.position)
        return outcome(self.position)

    @property
    def points(self) -> dict[Side, float]:
        """What each side has so far, a retreat's half point included at once (R3, V6)."""
        ended = self.outcome
        return points(None if ended is None else ended.winner, self.position.retreated)

    @property
    def adjourned(self) -> bool:
        """Whether it waits to be resumed (V4)."""
        return bool(self.history) and isinstance(self.history[-1].entry, Adjourn) and not self._resumed

    def positions(self) -> Iterator[Position]:
        """Yield the start and the position after each entry: the battle once more."""
        yield self.start
        for played in self.history:
            yield played.after

    def play(self, entry: Entry) -> Self:
        """Return the battle after what the side to move does.

        Raises
        ------
        IllegalTurnError
            If the rules or the agreement do not allow it, with the clause.
        """
        if self.outcome is not None:
            raise IllegalTurnError("V0", "the battle is over")
        if self.adjourned:
            raise IllegalTurnError("V4", "the battle is adjourned, and goes on when it is resumed")
        position = self.position
        if isinstance(entry, Shot) and self.agreement.cannons is Cannons.NONE:
            raise IllegalTurnError("S4", "no cannon is agreed")
        after = apply_entry(position, entry)
        if isinstance(entry, Shot):
            zone = frozenset(self.agreement.zones[position.turn])
            if strays := [str(square) for square in entry.casualties if square not in zone]:
                are = "is" if len(strays) == 1 else "are"
                raise IllegalTurnError(
                    "C5",
                    f"{' and '.join(strays)} {are} outside the zone {format_squares(zone)}, "
                    "where the fallen are put back",
                )
        return replace(self, history=(*self.history, Played(entry, after)), _resumed=False)

    def undo(self) -> Self:
        """Return the battle before its last entry.

        Raises
        ------
        ValueError
            If nothing has been done yet.
        """
        if not self.history:
            raise ValueError("nothing has been done yet that could be taken back")
        # What is taken back may have followed an adjournment, which was resumed for it.
        return replace(self, history=self.history[:-1], _resumed=True)

    def resume(self) -> Self:
        """Return the adjourned battle ready to be gone on with (V4).

        Raises
        ------
        ValueError
            If it is not adjourned.
        """
        if not self.adjourned:
            raise ValueError("the battle is not adjourned")
        return replace(self, _resumed=True)

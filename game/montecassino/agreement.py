"""What the players agree on before the battle, and what stays part of its record (clauses S1 to S5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from game.montecassino.casualties import Option, proposed_zone
from game.montecassino.names import LONGEST_NAME, is_seen
from game.montecassino.position import Position
from game.montecassino.squares import BASE_LINES, MOST_BOARDS, Side, Square, board_indices

USUAL_SHOTS = 20
"""Shots of each side where nothing else is agreed **(our reading)**: the booklet leaves the number to the players."""


MOST_SHOTS = 999_999_999
"""Shots of a side at most: what a position string can hold (N4)."""


class Cannons(StrEnum):
    """The cannons on the table (S4)."""

    NONE = "none"
    """The battle is fought by the infantry alone."""
    SHARED = "shared"
    """One, carried to the platform of the side that fires (C2)."""
    EACH = "each"
    """One for each side."""


class AgreementError(ValueError):
    """An agreement that contradicts the rules or itself.

    Attributes
    ----------
    faults : tuple of str
        Everything that is wrong with it, each beginning with the field's name.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True, slots=True)
class Commanders:
    """Who commands a side (S5).

    Parameters
    ----------
    infantry : str
        Name of who moves the soldiers, and orders the cannon to fire; empty where nobody noted it.
    cannon : str, optional
        Name of who fires; by default the same person.
    """

    infantry: str = ""
    cannon: str = ""

    def __post_init__(self) -> None:
        if not self.cannon:
            object.__setattr__(self, "cannon", self.infantry)

    def __str__(self) -> str:
        if self.cannon == self.infantry:
            return self.infantry
        return f"{self.infantry}, {self.cannon}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was agreed before the battle.

    Mappings may be given in part: what is missing is the usual.

    Parameters
    ----------
    first : Side
        The side that moves first, drawn by lot (S2).
    option : Option
        The casualty option (C7).
    shots : Mapping of Side to int
        The endowment of each side; unequal ones are a handicap. By default 20 each, and none without a cannon.
    cannons : Cannons
        The cannons on the table.
    zones : Mapping of Side to tuple of Square
        The artillery zone of each shooter, sorted; by default what the booklet proposes (C4).
    lines : int
        Lines of soldiers of each side, 1 to 3 (S1).
    boards : int
        1, or 2 joined (S3).
    players : Mapping of Side to Commanders
        Who plays; four players are two commanders a side (S5).

    Raises
    ------
    AgreementError
        With every fault.
    """

    first: Side
    option: Option = Option.II
    shots: Mapping[Side, int] = field(default_factory=dict)
    cannons: Cannons = Cannons.EACH
    zones: Mapping[Side, tuple[Square, ...]] = field(default_factory=dict)
    lines: int = BASE_LINES
    boards: int = 1
    players: Mapping[Side, Commanders] = field(default_factory=dict)

    def __post_init__(self) -> None:
        faults = []
        if not 1 <= self.lines <= BASE_LINES:
            faults.append(f"lines is {self.lines}, expected 1 to {BASE_LINES}")
        if not 1 <= self.boards <= MOST_BOARDS:
            faults.append(f"boards is {self.boards}, expected 1 or {MOST_BOARDS}")
        faults += [
            f"shots of {side} are {self.shots[side]}, expected 0 to {MOST_SHOTS}"
            for side in Side
            if not 0 <= self.shots.get(side, 0) <= MOST_SHOTS
        ]
        if self.cannons is Cannons.NONE:
            faults += [
                f"shots of {side} are {self.shots[side]}, and without a cannon there are none"
                for side in Side
                if self.shots.get(side, 0) > 0
            ]
        if 1 <= self.boards <= MOST_BOARDS:
            faults += [fault for side in Side for fault in self._zone_faults(side)]
        faults += [
            f"players of {side}: {fault}"
            for side, commanders in self.players.items()
            for name in dict.fromkeys((commanders.infantry, commanders.cannon))
            if (fault := _name_fault(name))
        ]
        if faults:
            raise AgreementError(faults)
        # A value must not change under its holder: keep private copies in one fixed order, read-only.
        usual_shots = 0 if self.cannons is Cannons.NONE else USUAL_SHOTS
        shots = {side: self.shots.get(side, usual_shots) for side in Side}
        zones = {
            side: tuple(sorted(set(self.zones[side])))
            if side in self.zones
            else proposed_zone(side, self.boards)
            for side in Side
        }
        players = {side: self.players.get(side, Commanders()) for side in Side}
        for name, mapping in (("shots", shots), ("zones", zones), ("players", players)):
            object.__setattr__(self, name, MappingProxyType(mapping))

    def __hash__(self) -> int:
        mappings = (self.shots, self.zones, self.players)
        values = (value for mapping in mappings for value in mapping.values())
        return hash((self.first, self.option, self.cannons, self.lines, self.boards, *values))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # Read-only mappings do not pickle.
        return Agreement, (
            self.first,
            self.option,
            dict(self.shots),
            self.cannons,
            dict(self.zones),
            self.lines,
            self.boards,
            dict(self.players),
        )

    def start(self) -> Position:
        """Return the position in which the battle begins (S1, S3)."""
        start = Position.start(self.first, 0, self.lines, self.boards)
        return replace(start, shots_left=self.shots)

    def _zone_faults(self, side: Side) -> list[str]:
        zone = self.zones.get(side)
        if zone is None:
            return []
        if not zone:
            return [f"zone of {side} is empty, expected a square at least"]
        on_table = board_indices(self.boards)
        strays = sorted(square for square in set(zone) if square.board not in on_table)
        if not strays:
            return []
        expected = (
            "one board, whose squares name none" if self.boards == 1 else "two boards, A-01.1 to G-72.2"
        )
        return [f"zone of {side} has {strays[0]}, expected squares of {expected}"]


def _name_fault(name: str) -> str | None:
    """Say what keeps a text from being a commander's name; none is noted where it is empty."""
    if not (name.isprintable() and name == name.strip()):
        return f"{name!r} is no name that a line of text can hold"
    if name and not is_seen(name):
        return f"{name!a} is no name that can be seen"
    if len(name) > LONGEST_NAME:
        return f"a name has {len(name)} letters, {name[:20]!r}..., expected {LONGEST_NAME} at most"
    return None

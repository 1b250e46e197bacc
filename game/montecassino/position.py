"""A position of the battle and its one-line string (clauses S3 and N4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from game.montecassino.square_lists import format_squares, mixed_faults, read_squares
from game.montecassino.squares import (
    BASE_LINES,
    BOARD_FILES,
    Side,
    Square,
    board_fault,
    board_indices,
    own_squares,
)

SOLDIERS_PER_SIDE = 24
"""Soldiers of a side on the board and held by the enemy together, at most (N4); on two boards twice as many (S3)."""

_FIELDS = ("turn", "A soldiers", "G soldiers", "prisoners", "shots left", "retreated")
_PAIR = re.compile(r"(\d{1,9})/(\d{1,9})", re.ASCII)
_RETREATED: Mapping[str, frozenset[Side]] = {
    "-": frozenset(),
    "A": frozenset({Side.A}),
    "G": frozenset({Side.G}),
    "AG": frozenset(Side),
}


class PositionError(ValueError):
    """A position that cannot stand.

    Attributes
    ----------
    faults : tuple of str
        Everything that is wrong with it, a clause each.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__(f"not a valid position: {'; '.join(self.faults)}")


@dataclass(frozen=True, slots=True)
class Position:
    """Who stands where, who is held, and what each side has left.

    Parameters
    ----------
    turn : Side
        The side to move.
    soldiers : Mapping of Square to Side
        Every soldier on the board.
    held : Mapping of Side to int
        How many prisoners each side holds; those held by A are Germans.
    shots_left : Mapping of Side to int
        Shots left of each side's endowment (C3).
    retreated : Set of Side
        The sides that have used their retreat (R1).
    boards : int
        1, or 2 where two boards are joined (S3).

    Raises
    ------
    PositionError
        If a count is negative, a side has more men than N4 allows, or a soldier stands on no square of the boards.
    ValueError
        If there are neither one nor two boards.
    """

    turn: Side
    soldiers: Mapping[Square, Side]
    held: Mapping[Side, int]
    shots_left: Mapping[Side, int]
    retreated: Set[Side] = frozenset()
    boards: int = 1

    def __post_init__(self) -> None:
        # A value must not change under its holder: keep private copies in one fixed order, read-only.
        soldiers = dict(sorted(self.soldiers.items(), key=lambda item: item[0].index))
        object.__setattr__(self, "soldiers", MappingProxyType(soldiers))
        for name in ("held", "shots_left"):
            counts = getattr(self, name)
            in_order = {Side.A: counts.get(Side.A, -1), Side.G: counts.get(Side.G, -1)}
            object.__setattr__(self, name, MappingProxyType(in_order))
        object.__setattr__(self, "retreated", frozenset(self.retreated))
        faults = _count_faults(self.held, self.shots_left) or _crowd_faults(soldiers, self.held, self.boards)
        if not {square.board for square in soldiers}.issubset(board_indices(self.boards)):
            strays = (board_fault(square, self.boards) for square in soldiers)
            faults.append(next(filter(None, strays)))
        if faults:
            raise PositionError(faults)

    def __hash__(self) -> int:
        return hash(
            (
                self.turn,
                *self.soldiers.items(),
                *self.held.values(),
                *self.shots_left.values(),
                self.retreated,
            )
        )

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # Read-only mappings do not pickle. The string does not always tell the number of boards.
        return type(self), (
            self.turn,
            dict(self.soldiers),
            dict(self.held),
            dict(self.shots_left),
            self.retreated,
            self.boards,
        )

    def squares_of(self, side: Side) -> tuple[Square, ...]:
        """Return the squares on which that side's soldiers stand, sorted."""
        return tuple(square for square, owner in self.soldiers.items() if owner is side)

    def __str__(self) -> str:
        soldiers = (format_squares(self.squares_of(side)) for side in Side)
        held = "/".join(str(self.held[side]) for side in Side)
        shots_left = "/".join(str(self.shots_left[side]) for side in Side)
        retreated = "".join(side for side in Side if side in self.retreated) or "-"
        return " ".join((self.turn, *soldiers, held, shots_left, retreated))

    @classmethod
    def start(cls, first: Side, shots: int, lines: int = BASE_LINES, boards: int = 1) -> Self:
        """Return the start of a battle (S1 to S4).

        Parameters
        ----------
        first : Side
            The side that moves first, drawn by lot.
        shots : int
            Shots of each side.
        lines : int
            Lines of soldiers on each side, 1 to 3.
        boards : int
            1, or 2 joined.
        """
        if not 1 <= lines <= BASE_LINES:
            raise ValueError(f"lines is {lines}, expected 1 to {BASE_LINES}")
        most = lines * boards * BOARD_FILES
        soldiers = {square: side for side in Side for square in own_squares(side, boards)[:most]}
        return cls(first, soldiers, dict.fromkeys(Side, 0), dict.fromkeys(Side, shots), boards=boards)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a position string (N4).

        Squares with a board behind a dot tell that two are joined. Where nobody stands, more men held than one board
        has tell it too; otherwise a line without a soldier is one of one board.

        Raises
        ------
        PositionError
            With every fault of the string.
        """
        fields = text.split(" ")
        if len(fields) != len(_FIELDS):
            raise PositionError(
                [
                    f"{len(fields)} field{'' if len(fields) == 1 else 's'} parted by one blank, expected "
                    f"{len(_FIELDS)}: {', '.join(_FIELDS)}"
                ]
            )
        faults: list[str] = []
        turn = Side.A
        if fields[0] in {"A", "G"}:
            turn = Side(fields[0])
        else:
            faults.append(f"turn is {fields[0]!r}, expected A or G")
        soldiers: dict[Square, Side] = {}
        for side, field in zip(Side, fields[1:3], strict=True):
            in_list: list[str] = []
            squares = read_squares(field, in_list)
            faults.extend(f"soldiers of {side}: {fault}" for fault in in_list)
            faults.extend(
                f"{square} stands twice, for A and for G" for square in sorted(squares & soldiers.keys())
            )
            soldiers.update(dict.fromkeys(squares, side))
        faults.extend(mixed_faults(soldiers.keys()))
        held = _parse_pair("prisoners", fields[3], faults)
        shots_left = _parse_pair("shots left", fields[4], faults)
        if fields[5] not in _RETREATED:
            faults.append(f"retreated is {fields[5]!r}, expected -, A, G or AG")
        joined = any(square.board for square in soldiers)
        boards = 2 if joined or (not soldiers and max(held.values()) > SOLDIERS_PER_SIDE) else 1
        if faults:
            # The count is worth naming beside the other faults as far as it can be told.
            raise PositionError([*faults, *_crowd_faults(soldiers, held, boards)])
        return cls(turn, soldiers, held, shots_left, _RETREATED[fields[5]], boards)


def _parse_pair(what: str, text: str, faults: list[str]) -> dict[Side, int]:
    """Read ``<A>/<G>``; what is wrong is added to `faults`, and reads as 0/0."""
    match = _PAIR.fullmatch(text)
    if match is None:
        faults.append(f"{what} is {text!r}, expected two numbers such as 0/0")
        return dict.fromkeys(Side, 0)
    return {Side.A: int(match[1]), Side.G: int(match[2])}


def _count_faults(held: Mapping[Side, int], shots_left: Mapping[Side, int]) -> list[str]:
    """Name each count that is missing or negative."""
    if min(*held.values(), *shots_left.values()) >= 0:
        return []
    return [
        f"{what} of side {side} is {count}, expected 0 or more"
        for what, counts in (("held", held), ("shots_left", shots_left))
        for side, count in counts.items()
        if count < 0
    ]


def _crowd_faults(soldiers: Mapping[Square, Side], held: Mapping[Side, int], boards: int) -> list[str]:
    """Name each side whose soldiers and men held come to more than it has (N4)."""
    faults = []
    most = boards * SOLDIERS_PER_SIDE
    standing_a = list(soldiers.values()).count(Side.A)
    for side, standing in ((Side.A, standing_a), (Side.G, len(soldiers) - standing_a)):
        captive = held[side.enemy]
        if standing + captive > most:
            faults.append(
                f"side {side} has {standing} soldiers and {captive} men held, together more than {most}"
            )
    return faults

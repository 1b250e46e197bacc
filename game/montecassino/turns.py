"""An infantry turn: its text, whether it is legal and what it gives (clauses M, P, S3 and N5)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

from game.montecassino.outcomes import outcome
from game.montecassino.position import Position
from game.montecassino.squares import (
    BASE_LINES,
    BASE_SQUARES,
    BOARD_ROWS,
    FIELD_SQUARES,
    Side,
    Square,
    SquareError,
    board_fault,
    own_squares,
)

MOST_STEPS = 3
"""Steps of a turn, all soldiers together (M1)."""

MOST_FREED = 2
"""Comrades that one arrival frees at most (P2)."""

FREEING_LINE = 16
"""Own line on which an arrival may free comrades: the enemy's third (P2)."""

_STEP = re.compile("[>x]")
_FREED = re.compile(r"[1-9]\d{0,2}", re.ASCII)


class TurnTextError(ValueError):
    """A text that is no turn, in one sentence."""


class IllegalTurnError(ValueError):
    """A turn that the rules do not allow here.

    Attributes
    ----------
    clause : str
        The clause that forbids it, such as "M4".
    why : str
        The reason, a sentence without its full stop.
    """

    def __init__(self, clause: str, why: str) -> None:
        self.clause = clause
        self.why = why
        super().__init__(f"{why} ({clause})")


@dataclass(frozen=True, slots=True)
class Move:
    """The steps of one soldier in a turn.

    Parameters
    ----------
    squares : tuple of Square
        Where it starts, and every square that it steps on: two at least.
    captures : bool
        Whether the last step takes a prisoner.
    """

    squares: tuple[Square, ...]
    captures: bool = False

    def __post_init__(self) -> None:
        if len(self.squares) < 2:
            raise ValueError("a move needs the square it starts from and one step at least")

    @property
    def steps(self) -> int:
        """How many steps the soldier takes."""
        return len(self.squares) - 1

    def __str__(self) -> str:
        last = "x" if self.captures else ">"
        return ">".join(map(str, self.squares[:-1])) + last + str(self.squares[-1])


@dataclass(frozen=True, slots=True)
class Turn:
    """An infantry turn: moves in order, and how many comrades the last of them frees. `str()` is N5."""

    moves: tuple[Move, ...]
    freed: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an infantry turn (N5), such as ``A-29>A-37>A-45xA-52`` or ``G-32>G-24+2``.

        What is read is a turn that somebody could mean: ``+3`` is one, and `apply_turn` says which clause forbids it.

        Raises
        ------
        TurnTextError
            If the text is no infantry turn.
        IllegalTurnError
            If a soldier goes on after taking a prisoner, which no position allows (M6).
        """
        body, plus, freed = text.partition("+")
        if plus and not _FREED.fullmatch(freed):
            raise TurnTextError(f"{text!r} does not end as a turn: expected +1 or +2 after the plus sign")
        return cls(tuple(map(_parse_move, body.split(";"))), int(freed or 0))

    def __str__(self) -> str:
        return ";".join(map(str, self.moves)) + (f"+{self.freed}" if self.freed else "")


def apply_turn(position: Position, turn: Turn) -> Position:
    """Return the position after an infantry turn of the side to move.

    Raises
    ------
    IllegalTurnError
        If the turn is not legal, with the first clause that it breaks.
    """
    if outcome(position) is not None:
        raise IllegalTurnError("V0", "the battle is over")
    if not turn.moves:
        raise IllegalTurnError("M1", "at least one step is due")
    steps = sum(move.steps for move in turn.moves)
    if steps > MOST_STEPS:
        raise IllegalTurnError("M1", f"the turn takes {steps} steps, and {MOST_STEPS} is the most")

    side = position.turn
    soldiers = dict(position.soldiers)
    moved: set[Square] = set()
    captured = 0
    won = False
    for move in turn.moves:
        if won:
            raise IllegalTurnError("V0", f"the step before {move} has won, and nobody else moves")
        for square in move.squares:
            if stray := board_fault(square, position.boards):
                raise IllegalTurnError("S3", stray)
        _walk(soldiers, side, move, moved)
        moved.add(move.squares[-1])
        captured += move.captures
        won = side.enemy not in soldiers.values() or move.squares[-1].own_line(side) == BOARD_ROWS
    if turn.freed:
        if won:
            raise IllegalTurnError("V0", "the last step has won, and nobody is freed")
        _free(soldiers, position, turn)
    return replace(
        position,
        turn=side.enemy,
        soldiers=soldiers,
        held={side: position.held[side] + captured, side.enemy: position.held[side.enemy] - turn.freed},
    )


def _parse_move(text: str) -> Move:
    names = _STEP.split(text)
    if len(names) < 2:
        raise TurnTextError(f"{text!r} is not a move: expected squares parted by > or x, such as A-29>A-37")
    try:
        squares = tuple(map(Square.parse, names))
    except SquareError as error:
        raise TurnTextError(f"{text!r} is not a move: {error}") from error
    steps = _STEP.findall(text)
    if "x" in steps[:-1]:
        raise IllegalTurnError("M6", f"taking a prisoner ends a soldier's move, and {text} goes on")
    return Move(squares, captures=steps[-1] == "x")


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a soldier, as its own side sees it."""

    here: Square
    there: Square
    side: Side

    @property
    def forward(self) -> int:
        """Lines that it goes ahead."""
        return self.there.own_line(self.side) - self.here.own_line(self.side)

    @property
    def sideways(self) -> int:
        """Files that it goes to the right."""
        return self.there.own_file(self.side) - self.here.own_file(self.side)

    def __str__(self) -> str:
        return f"{self.here} to {self.there}"


def _walk(soldiers: dict[Square, Side], side: Side, move: Move, moved: Collection[Square]) -> None:
    """Take one soldier through its steps, changing `soldiers`."""
    start = move.squares[0]
    if start in moved:
        raise IllegalTurnError("M2", f"the soldier on {start} has moved in this turn already")
    if soldiers.get(start) is not side:
        raise IllegalTurnError("M1", f"there is no soldier of side {side} on {start}")
    start_line = start.own_line(side)
    if move.steps > 1 and (start_line < BASE_LINES or start_line >= FREEING_LINE):
        raise IllegalTurnError("M7", f"a soldier that starts on own line {start_line} takes one step")
    lateral = False
    for number, (here, there) in enumerate(pairwise(move.squares), 1):
        if number > 1 and here.own_line(side) == FREEING_LINE:
            raise IllegalTurnError("M7", f"the move ends on {here}, on own line {FREEING_LINE}")
        step = _Step(here, there, side)
        _check_way(step, takes=move.captures and number == move.steps)
        _check_end(step, soldiers.get(there), lateral=lateral)
        if step.forward == -1:
            _check_back(step, alone=move.steps == 1)
        lateral = lateral or step.forward == 0
    del soldiers[start]
    soldiers[move.squares[-1]] = side


def _check_way(step: _Step, *, takes: bool) -> None:
    """Refuse a step that nobody takes, whoever stands where (M5, M6, M8)."""
    if max(abs(step.forward), abs(step.sideways)) != 1:
        raise IllegalTurnError("M8", f"{step} is not one step, and nobody jumps")
    if step.forward == -1 and step.sideways != 0:
        raise IllegalTurnError("M5", f"{step} goes back diagonally, and back is straight back")
    diagonal = step.sideways != 0 and step.forward == 1
    if takes and not diagonal:
        raise IllegalTurnError("M6", f"{step} takes nobody: prisoners are taken diagonally forward")
    if diagonal and not takes:
        raise IllegalTurnError("M6", f"{step} is diagonal, which is for taking a prisoner as the last step")


def _check_end(step: _Step, occupant: Side | None, *, lateral: bool) -> None:
    """Refuse a step for who stands where it ends, or for a step sideways that its soldier has taken before (M3 to M6, M8)."""
    if occupant is step.side:
        raise IllegalTurnError("M8", f"an own soldier stands on {step.there}")
    if step.forward == 1 and step.sideways != 0:
        if occupant is None:
            raise IllegalTurnError("M6", f"there is no enemy to take on {step.there}")
        if lateral:
            raise IllegalTurnError("M6", "the soldier has stepped sideways in this turn and takes nobody")
    elif occupant is not None:
        clause = {1: "M3", 0: "M4", -1: "M5"}[step.forward]
        raise IllegalTurnError(clause, f"{step} needs an empty square, and an enemy stands there")
    if step.forward == 0 and lateral:
        raise IllegalTurnError("M4", f"{step} is the soldier's second step sideways")


def _check_back(step: _Step, *, alone: bool) -> None:
    """Refuse a step back that is not its soldier's only one, or not in the squares for it (M5)."""
    if not alone:
        raise IllegalTurnError("M5", f"{step} goes back, which is the only step of its soldier in a turn")
    if not all(
        square.field is step.side and square.number > BASE_SQUARES for square in (step.here, step.there)
    ):
        raise IllegalTurnError(
            "M5", f"{step} goes back outside squares {BASE_SQUARES + 1} to {FIELD_SQUARES} of the own field"
        )


def _free(soldiers: dict[Square, Side], position: Position, turn: Turn) -> None:
    """Bring the liberator and the freed home, changing `soldiers` (P2 to P4)."""
    side = position.turn
    before, there = turn.moves[-1].squares[-2:]
    arrives = there.own_line(side) == FREEING_LINE and before.own_line(side) == FREEING_LINE - 1
    if not arrives:
        raise IllegalTurnError(
            "P2", f"{before} to {there} is no arrival on own line {FREEING_LINE}, where comrades are freed"
        )
    if not 1 <= turn.freed <= MOST_FREED:
        raise IllegalTurnError("P2", f"{turn.freed} are freed, and one or two may be")
    comrades = position.held[side.enemy]
    if turn.freed > comrades:
        raise IllegalTurnError("P2", f"{turn.freed} are freed, and the enemy holds {comrades}")
    for square, owner in soldiers.items():
        if (
            owner is side.enemy
            and square.own_line(side) == FREEING_LINE + 1
            and abs(square.own_file(side) - there.own_file(side)) == 1
        ):
            raise IllegalTurnError("P2", f"{there} is defended from {square}")
    base = own_squares(side, position.boards)[: position.boards * BASE_SQUARES]
    room = [square for square in base if square not in soldiers]
    if len(room) < turn.freed + 1:
        raise IllegalTurnError(
            "P4",
            f"the base has {len(room)} free squares, too few for the liberator and the {turn.freed} freed",
        )
    del soldiers[there]
    soldiers.update(dict.fromkeys(room[: turn.freed + 1], side))

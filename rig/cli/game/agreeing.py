"""What `rig game play` takes as agreed from the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from random import Random
from typing import TypeVar

import typer

from game.montecassino import (
    BOARD_FILES,
    Agreement,
    Cannons,
    Commanders,
    Option,
    Position,
    Side,
    Square,
    SquareError,
    format_squares,
    parse_squares,
)

__all__ = ["LOT", "agreed_on", "word_of"]

LOT = "lot"
"""Given as the side that moves first: it is drawn (S2)."""

_SHOTS = re.compile(r"(\d{1,9})(?:/(\d{1,9}))?", re.ASCII)

_WordT = TypeVar("_WordT", bound=StrEnum)


def agreed_on(
    *,
    first: str,
    option: str,
    shots: str | None,
    cannons: str,
    zone_a: str | None,
    zone_g: str | None,
    lines: int,
    boards: int | None,
    allies: str | None,
    germans: str | None,
    start: Position | None,
    lot: Random,
) -> Agreement:
    """Return the agreement of a new battle, which begins in `start` if that is given.

    Raises
    ------
    typer.BadParameter
        If an option cannot be read, or the start says something else.
    AgreementError
        If they contradict each other or the rules, with every fault.
    """
    said = None if first == LOT else word_of(first, Side, "--first", also=(LOT,))
    if start is None:
        begins = said or lot.choice(list(Side))
    else:
        begins = start.turn
        _refuse_other_start(start, said, lines)
    zones = {
        side: _zone(text, side) for side, text in ((Side.A, zone_a), (Side.G, zone_g)) if text is not None
    }
    agreed_cannons = word_of(cannons, Cannons, "--cannons")
    if zones and agreed_cannons is Cannons.NONE:
        side = next(iter(zones))
        raise typer.BadParameter(
            f"found {format_squares(zones[side])}, and without a cannon there is none",
            param_hint=f"--zone-{side.lower()}",
        )
    players = {
        side: _commanders(text, name)
        for side, text, name in ((Side.A, allies, "--allies"), (Side.G, germans, "--germans"))
        if text is not None
    }
    endowment: Mapping[Side, int] = {}
    if shots is not None:
        endowment = _shots(shots)
    if start is not None:
        # What is not said, the start says.
        boards = start.boards if boards is None else boards
        endowment = endowment or start.shots_left
    return Agreement(
        begins,
        word_of(option, Option, "--option"),
        endowment,
        agreed_cannons,
        zones,
        lines,
        1 if boards is None else boards,
        players,
    )


def word_of(text: str, words: type[_WordT], name: str, also: tuple[str, ...] = ()) -> _WordT:
    """Return the word that an option gives, in whatever case, or say which there are."""
    for word in words:
        if text.lower() == word.lower():
            return word
    *others, last = [*map(str, words), *also]
    raise typer.BadParameter(f"found {text!r}, expected {', '.join(others)} or {last}", param_hint=name)


def _refuse_other_start(start: Position, first: Side | None, lines: int) -> None:
    """Refuse what is said of the start where the position says something else."""
    if first not in {None, start.turn}:
        raise typer.BadParameter(
            f"found {first}, expected {start.turn}, whose turn it is in the position", param_hint="--first"
        )
    for side in Side:
        men = len(start.squares_of(side)) + start.held[side.enemy]
        if men > lines * BOARD_FILES * start.boards:
            raise typer.BadParameter(
                f"found {lines}, expected as many as the {men} soldiers of {side} in the position need",
                param_hint="--lines",
            )


def _shots(text: str) -> dict[Side, int]:
    match = _SHOTS.fullmatch(text)
    if match is None:
        raise typer.BadParameter(
            f"found {text!r}, expected a number, or two as 20/10 for the Allies and the Germans, of nine digits at most",
            param_hint="--shots",
        )
    return {Side.A: int(match[1]), Side.G: int(match[2] or match[1])}


def _zone(text: str, side: Side) -> tuple[Square, ...]:
    try:
        return parse_squares(text)
    except SquareError as error:
        raise typer.BadParameter(str(error), param_hint=f"--zone-{side.lower()}") from error


def _commanders(text: str, name: str) -> Commanders:
    infantry, *cannon = map(str.strip, text.split(","))
    if len(cannon) > 1 or (cannon and not infantry):
        raise typer.BadParameter(
            f"found {text!r}, expected a name, or two parted by a comma: infantry, cannon", param_hint=name
        )
    return Commanders(infantry, *cannon)

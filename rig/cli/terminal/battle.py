"""Agreement, positions and end of a battle, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from rich.console import Console

from game.montecassino import (
    Agreement,
    Battle,
    Cannons,
    Outcome,
    Side,
    Turn,
    Winner,
    format_squares,
)
from game.montecassino.tournament import format_points
from rig.cli.terminal.board import SIDE_NAMES, board_lines, state_lines
from rig.cli.terminal.sentences import in_rows
from rig.counted import counted

__all__ = ["agreement_lines", "ending_lines", "say", "show_battle"]

_CANNONS = {
    Cannons.NONE: "no cannon",
    Cannons.SHARED: "one cannon for both",
    Cannons.EACH: "a cannon each",
}


def agreement_lines(agreement: Agreement) -> Iterator[str]:
    """Yield what was agreed."""
    lines = counted(agreement.lines, "line")
    boards = "two boards joined" if agreement.boards == 2 else "one board"
    yield f"Agreed: {boards}, {lines} of soldiers, {_CANNONS[agreement.cannons]}, the {SIDE_NAMES[agreement.first]} first"
    if agreement.cannons is not Cannons.NONE:
        yield f"  casualties by option {agreement.option}"
        for side in Side:
            zone = format_squares(agreement.zones[side])
            yield f"  {SIDE_NAMES[side]} ({side}): {counted(agreement.shots[side], 'shot')} at {zone}"
    for side, players in agreement.players.items():
        if players.infantry or players.cannon:
            cannon = f", {players.cannon} at the cannon" if players.cannon != players.infantry else ""
            yield f"  {SIDE_NAMES[side]} ({side}): {players.infantry}{cannon}"


def ending_lines(battle: Battle) -> Iterator[str]:
    """Yield how a battle has ended and its points; nothing while it goes on."""
    ended = battle.outcome
    if ended is not None:
        yield _outcome(ended)
        points = (
            f"{SIDE_NAMES[side]} {format_points(Fraction(count))}" for side, count in battle.points.items()
        )
        yield f"Points: {', '.join(points)}"


def say(console: Console, words: str, *, style: str | None = None) -> None:
    """Print words as they are, whatever they contain, beside what else the console shows; broken between words alone."""
    console.print(in_rows(words, console.file), markup=False, emoji=False, soft_wrap=True, style=style)


def show_battle(console: Console, battle: Battle) -> None:
    """Print the board and what it does not show; how the battle has ended is for `ending_lines` to say."""
    last = battle.history[-1].entry if battle.history else None
    for line in board_lines(battle.position, last=last if isinstance(last, Turn) else None):
        console.print(line, soft_wrap=True)
    *counts, state = state_lines(battle.position)
    for words in counts if battle.outcome else [*counts, state]:
        say(console, words)


def _outcome(ended: Outcome) -> str:
    if ended.winner is Winner.DRAW:
        return f"The battle is drawn: {ended.reason}"
    return f"The battle is over, won by the {SIDE_NAMES[Side(ended.winner)]}: {ended.reason}"

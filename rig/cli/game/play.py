"""`rig game play` and `rig game replay`: a battle at the terminal, and one that was played."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError
from rig.cli.game.group import game_group
from rig.files.one_line import on_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from game.montecassino import Battle, Side

__all__ = ["play", "replay"]

_AGREED = (
    "position",
    "first",
    "option",
    "shots",
    "cannons",
    "zone_a",
    "zone_g",
    "lines",
    "boards",
    "allies",
    "germans",
)
_AGREEMENT = "The agreement, of a new battle"


@game_group.command()
def play(
    context: typer.Context,
    battle: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="keep the battle in this file after every turn, or go on with the one in it"
        ),
    ] = None,
    against: Annotated[
        str, typer.Option(help="who commands the other side: a person or the computer")
    ] = "person",
    side: Annotated[
        str, typer.Option(help="against the computer: your side, A (Allies) or G (Germans)")
    ] = "A",
    seed: Annotated[
        int | None,
        typer.Option(help="draw the lot and the computer's whims from this number, to repeat them"),
    ] = None,
    first: Annotated[
        str, typer.Option(help="who moves first: A, G or lot", rich_help_panel=_AGREEMENT)
    ] = "lot",
    lines: Annotated[
        int, typer.Option(help="lines of soldiers on each side, 1 to 3", rich_help_panel=_AGREEMENT)
    ] = 3,
    boards: Annotated[
        int | None, typer.Option(help="1, or 2 joined; 1 where nothing is said", rich_help_panel=_AGREEMENT)
    ] = None,
    cannons: Annotated[
        str, typer.Option(help="cannons on the table: none, shared or each", rich_help_panel=_AGREEMENT)
    ] = "each",
    shots: Annotated[
        str | None,
        typer.Option(
            help="of each side, or as 20/10 of A and of G; 20 where nothing is said",
            rich_help_panel=_AGREEMENT,
        ),
    ] = None,
    option: Annotated[
        str, typer.Option(help="the casualty option: i, ii or iii", rich_help_panel=_AGREEMENT)
    ] = "ii",
    zone_a: Annotated[
        str | None,
        typer.Option(
            help="where falls count when A fires; G25-G72 where nothing is said", rich_help_panel=_AGREEMENT
        ),
    ] = None,
    zone_g: Annotated[
        str | None,
        typer.Option(
            help="where falls count when G fires; A25-A72 where nothing is said", rich_help_panel=_AGREEMENT
        ),
    ] = None,
    allies: Annotated[
        str | None,
        typer.Option(
            help="who plays A; two names parted by a comma: infantry, cannon", rich_help_panel=_AGREEMENT
        ),
    ] = None,
    germans: Annotated[
        str | None, typer.Option(help="who plays G, in the same way", rich_help_panel=_AGREEMENT)
    ] = None,
    position: Annotated[
        str | None,
        typer.Option(help="begin in this position, as one that was noted down", rich_help_panel=_AGREEMENT),
    ] = None,
) -> None:
    """Play a battle at this terminal: two people, or one against the computer. Lines may come from a pipe as well."""
    from datetime import date
    from random import Random

    from rich.console import Console

    from game.montecassino import Battle, Position, Side
    from rig.battle.file import write_battle
    from rig.battle.lock import hold_battle
    from rig.cli.game.agreeing import agreed_on
    from rig.cli.game.playing import Playing
    from rig.cli.terminal.battle import agreement_lines, say

    _take_any_bytes()
    rng = Random(seed)
    computer = _computers_side(context, against, side)
    agreed = [name for name in _AGREED if _given(context, name)]
    if battle is not None and not battle.exists() and not agreed:
        _refuse_mistyped(battle)
    if battle is not None:
        context.with_resource(hold_battle(battle, "rig game play"))
    is_new = battle is None or not battle.exists()
    if battle is not None and not is_new:
        begun = _go_on(battle, agreed)
    else:
        start = None if position is None else Position.parse(position)
        if computer is Side.A:
            allies = allies or "computer"
        if computer is Side.G:
            germans = germans or "computer"
        agreement = agreed_on(
            first=first,
            option=option,
            shots=shots,
            cannons=cannons,
            zone_a=zone_a,
            zone_g=zone_g,
            lines=lines,
            boards=boards,
            allies=allies,
            germans=germans,
            start=start,
            lot=rng,
        )
        begun = Battle.begin(agreement, start, date.today())
        if battle is not None:
            write_battle(battle, begun)
    console = Console(highlight=False)
    if is_new:
        where = "not kept: that takes --battle FILE" if battle is None else f"kept in {on_one_line(battle)}"
        say(console, f"A new battle, {where}")
    for words in agreement_lines(begun.agreement):
        say(console, words)
    playing = Playing(
        begun,
        file=battle,
        computer=computer,
        rng=rng,
        console=console,
        ask=lambda words: _ask(console, words),
    )
    try:
        playing.run()
    finally:
        # Told on Ctrl-C too.
        kept = playing.leave()
    if not kept:
        raise typer.Exit(1)


@game_group.command()
def replay(
    battle: Annotated[Path, typer.Argument(metavar="FILE", help="a battle file")],
    after: Annotated[
        int | None, typer.Option(min=0, help="show the board after so many entries, not the last")
    ] = None,
    step: Annotated[
        bool, typer.Option("--step", help="show the board after every entry; Enter goes on")
    ] = False,
) -> None:
    """Tell a battle that was played: what was agreed, every entry, the board, the end."""
    from dataclasses import replace

    from rich.console import Console

    from rig.battle.file import read_battle
    from rig.cli.terminal.battle import agreement_lines, ending_lines, say, show_battle

    told = read_battle(battle)
    played = len(told.history)
    if after is not None and after > played:
        entries = "1 entry" if played == 1 else f"{played} entries"
        raise typer.BadParameter(f"found {after}, and the battle has {entries}", param_hint="--after")
    console = Console(highlight=False)

    def show(number: int) -> None:
        show_battle(console, replace(told, history=told.history[:number]))

    for words in agreement_lines(told.agreement):
        say(console, words)
    last = played if after is None else after
    if step:
        show(0)
    for number, entry in enumerate(told.history[:last], 1):
        if step and _ask(console, "Enter for the next: ") is None:
            return
        say(console, f"{number:4} {entry.side}  {entry.entry}")
        if step:
            show(number)
    if not step:
        show(last)
    if last == played:
        for words in ending_lines(told):
            say(console, words)


def _take_any_bytes() -> None:
    """Have what is no text read as an entry that is none; a stream that was read from keeps its own way."""
    with suppress(io.UnsupportedOperation):
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")


def _computers_side(context: typer.Context, against: str, side: str) -> Side | None:
    from game.montecassino import Side
    from rig.cli.game.agreeing import word_of

    if against == "computer":
        return word_of(side, Side, "--side").enemy
    if against != "person":
        raise typer.BadParameter(f"found {against!r}, expected person or computer", param_hint="--against")
    if _given(context, "side"):
        raise typer.BadParameter(
            "two people share the terminal; it goes with --against computer", param_hint="--side"
        )
    return None


def _go_on(battle: Path, agreed: Sequence[str]) -> Battle:
    """Read the battle of a file; nothing may be agreed anew."""
    from rig.battle.file import read_battle

    if agreed:
        raise RefusedError(
            f"{battle} holds a battle that is agreed already; leave out --{agreed[0].replace('_', '-')}, "
            "or name another file"
        )
    begun = read_battle(battle)
    return begun.resume() if begun.adjourned else begun


def _refuse_mistyped(battle: Path) -> None:
    """Refuse to begin a battle under a name that is nearly that of one which is there, unless something is agreed on."""
    from rig.battle.names import battle_named_like

    near = battle_named_like(battle)
    if near is not None:
        raise RefusedError(
            f"there is no {battle} yet, and {near} holds a battle: name that to go on with it; "
            "to begin a new one, say what is agreed as well, as --first lot"
        )


def _ask(console: Console, words: str) -> str | None:
    """Return the line that is typed, or None at the end of the input."""
    from rig.cli.terminal.battle import say

    if sys.stdin.isatty():
        import readline  # noqa: F401 - lets the line be edited

        try:
            return input(words)
        except EOFError:
            console.print()
            return None
        except KeyboardInterrupt:
            console.print()
            raise
    line = sys.stdin.readline()
    if not line:
        return None
    # Out of a pipe: what is shown reads like what would have stood on the screen.
    say(console, f"{words}{line.rstrip()}")
    return line


def _given(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"

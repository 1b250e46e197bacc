"""`rig game`: the rules at the terminal, and for other programs."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.application import RefusedError
from rig.cli.arguments.options import check_squares
from rig.cli.arguments.outputs import check_svg
from rig.cli.game.group import game_group
from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line
from rig.files.whole_file import write_whole

__all__ = ["ask", "check", "moves", "perft", "show"]

PositionArgument = Annotated[
    str,
    typer.Argument(metavar="POSITION", help="in one line and in quotes, as 'A A01-A24 G01-G24 0/0 20/20 -'"),
]


@game_group.command()
def show(
    position: PositionArgument,
    zone: Annotated[
        str,
        typer.Option(
            metavar="SQUARES", callback=check_squares, help="also mark the agreed artillery zone, as G25-G72"
        ),
    ] = "-",
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=check_svg, help="also draw it into this file")
    ] = None,
) -> None:
    """Show a position: the board, what each side has left, and who is to move or has won."""
    from rich.console import Console

    from game.montecassino import Position, board_fault, draw_position, parse_squares
    from rig.cli.terminal.board import board_lines, headline, state_lines

    shown = Position.parse(position)
    squares = parse_squares(zone)
    if strays := [fault for square in squares if (fault := board_fault(square, shown.boards))]:
        raise typer.BadParameter(strays[0], param_hint="--zone")
    console = Console(highlight=False)
    for line in board_lines(shown, zone=squares):
        console.print(line, soft_wrap=True)
    for said in state_lines(shown):
        typer.echo(said)
    if svg is not None:
        drawing = draw_position(shown.soldiers, zone=squares, title=headline(shown), boards=shown.boards)
        write_whole(svg, drawing + "\n")
        echo(f"wrote {on_one_line(svg)}")


@game_group.command()
def moves(
    position: PositionArgument,
    limit: Annotated[int | None, typer.Option(min=1, help="stop after so many; none: all of them")] = None,
) -> None:
    """List the legal infantry turns, one a line, as they are found."""
    from game.montecassino import Position, legal_turns, outcome
    from rig.cli.terminal.board import state_in_words

    asked = Position.parse(position)
    for turn in islice(legal_turns(asked), limit):
        typer.echo(str(turn))
    if outcome(asked) is not None:
        echo(f"rig: {state_in_words(asked)}", err=True)


@game_group.command()
def check(
    position: PositionArgument,
    turn: Annotated[
        str | None, typer.Argument(help="an infantry turn to check in it, as 'A-17>A-25;A-18>A-26'")
    ] = None,
) -> None:
    """Say everything that is wrong with a position, or whether a turn is legal in it."""
    from game.montecassino import IllegalTurnError, Position, PositionError, Turn, apply_turn

    try:
        checked = Position.parse(position)
    except PositionError as error:
        for fault in error.faults:
            echo(f"position: {fault}", err=True)
        raise typer.Exit(2) from None
    if turn is None:
        echo("position: nothing wrong")
        return
    try:
        after = apply_turn(checked, Turn.parse(turn))
    except IllegalTurnError as error:
        raise RefusedError(f"not legal by {error.clause}: {error.why}") from None
    echo("legal; then:")
    typer.echo(str(after))


@game_group.command()
def perft(
    position: PositionArgument,
    depth: Annotated[int, typer.Argument(min=1, max=100, help="infantry turns")],  # as MOST_DEPTH
) -> None:
    """Count the positions that so many infantry turns can lead to; two turns that give the same count once."""
    from game.montecassino import Position
    from game.montecassino import perft as count

    echo(str(count(Position.parse(position), depth)))


@game_group.command()
def ask() -> None:
    """Answer other programs: JSON lines on standard input, one line of JSON for each."""
    from rig.rules_service import answer_line

    for line in sys.stdin.buffer:
        print(answer_line(line), flush=True)

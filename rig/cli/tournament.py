"""`rig tournament`: who plays whom, the results, the standings."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import check_squares
from rig.cli.arguments.outputs import check_html
from rig.cli.terminal.sentences import echo
from rig.counted import counted
from rig.files.one_line import on_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from game.montecassino import Square
    from game.montecassino.tournament import Pairing, Result, Tournament

__all__ = ["add", "enter", "new", "page", "pair", "show", "standings", "unpair", "withdraw"]

_tournament = typer.Typer(
    name="tournament", help="Run a tournament: pair, enter results, see who leads.", no_args_is_help=True
)
app.add_typer(_tournament, rich_help_panel="The rules")

TournamentFile = Annotated[Path, typer.Argument(metavar="FILE", help="the tournament's file")]


class SystemWord(StrEnum):
    """Who meets whom; the words of `game.montecassino.tournament.System`."""

    SWISS = "swiss"
    ROUND_ROBIN = "round-robin"
    DOUBLE_ROUND_ROBIN = "double-round-robin"


class CannonsWord(StrEnum):
    """The cannons on each table; the words of `game.montecassino.Cannons`."""

    NONE = "none"
    SHARED = "shared"
    EACH = "each"


class OptionWord(StrEnum):
    """The casualty option; the words of `game.montecassino.Option`."""

    I = "i"  # noqa: E741 - the booklet's own name
    II = "ii"
    III = "iii"


class SideWord(StrEnum):
    """A side; the words of `game.montecassino.Side`."""

    A = "A"
    G = "G"


@_tournament.command()
def new(
    file: TournamentFile,
    name: Annotated[str, typer.Option(help="its title; the file's name by default")] = "",
    system: Annotated[SystemWord, typer.Option(help="who meets whom")] = SystemWord.SWISS,
    rounds: Annotated[int | None, typer.Option(min=1, max=1000, help="of a Swiss tournament")] = None,
    option: Annotated[OptionWord, typer.Option(help="casualty option")] = OptionWord.II,
    cannons: Annotated[CannonsWord, typer.Option(help="cannons on each table")] = CannonsWord.EACH,
    shots: Annotated[
        int | None, typer.Option(min=0, max=1000, help="of each player; 20 by default, 0 without a cannon")
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(
            callback=check_squares, help="as the Allies fire, as G25-G72; the booklet's proposal by default"
        ),
    ] = None,
    lines: Annotated[int, typer.Option(min=1, max=3, help="of soldiers, on each side")] = 3,
    boards: Annotated[int, typer.Option(min=1, max=2, help="2: two boards joined")] = 1,
) -> None:
    """Begin a tournament: its system, and what holds in every battle."""
    from game.montecassino import Cannons, Option
    from game.montecassino.agreement import USUAL_SHOTS
    from game.montecassino.tournament import System, Terms, Tournament
    from rig.tournament.file import create_tournament
    from rig.tournament.words import SYSTEM_NAMES, terms_told

    if (rounds is None) == (system is SystemWord.SWISS):
        raise typer.BadParameter(
            "a Swiss tournament needs the number of its rounds"
            if rounds is None
            else "a round robin has as many rounds as its players need; leave it out",
            param_hint="--rounds",
        )
    if shots is None:
        shots = 0 if cannons is CannonsWord.NONE else USUAL_SHOTS
    terms = Terms(Option(option), Cannons(cannons), shots, _zone(zone), lines, boards)
    begun = Tournament(" ".join(name.split()) or file.stem, System(system), rounds or 0, terms)
    create_tournament(file, begun)
    planned = f", {counted(rounds, 'round')}" if rounds else ""
    echo(f"{begun.name}: {SYSTEM_NAMES[begun.system]}{planned}")
    echo(f"every battle: {terms_told(begun)}")


@_tournament.command()
def add(
    file: TournamentFile,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="the strongest first, if that is known")],
    shots: Annotated[int | None, typer.Option(min=0, max=1000, help="handicap: their own shots")] = None,
    zone: Annotated[
        str | None,
        typer.Option(callback=check_squares, help="handicap: their own zone, as the Allies fire, as G25-G48"),
    ] = None,
) -> None:
    """Enter players, or take back one who had withdrawn; new ones of a round robin before it is paired."""
    from game.montecassino.tournament import Player
    from rig.tournament.file import change_tournament

    players = [Player(name, _zone(zone), shots) for name in names]
    _, after = change_tournament(file, lambda before: before.with_players(players))
    echo(_in_play(after))


@_tournament.command()
def withdraw(
    file: TournamentFile,
    name: Annotated[str, typer.Argument(help="who goes")],
) -> None:
    """Leave a player out of the rounds to come."""
    from rig.tournament.file import change_tournament

    before, after = change_tournament(file, lambda before: before.withdrawn(name, _now()))
    player = before.player(name).name
    given_up = sum(1 for _ in before.open_pairings()) - sum(1 for _ in after.open_pairings())
    if not before.rounds:
        echo(f"{player} is off the list; {_in_play(after)}")
    elif given_up:
        forfeits = (
            "1 battle that was to come is a forfeit"
            if given_up == 1
            else f"{given_up} battles that were to come are forfeits"
        )
        echo(f"{player} has withdrawn; {forfeits}")
    else:
        echo(f"{player} has withdrawn; {_in_play(after)}")
        for number, pairing in after.open_pairings():
            if player in pairing.names:
                echo(f"round {number}, board {pairing.board} still wants a result, or --absent")


@_tournament.command()
def pair(file: TournamentFile) -> None:
    """Pair the next round; of a round robin, all rounds."""
    from game.montecassino.tournament import System, rematches_of
    from game.montecassino.tournament import pair as paired
    from rig.tournament.file import change_tournament
    from rig.tournament.matching import least_cost_matching

    before, after = change_tournament(file, lambda before: paired(before, least_cost_matching))
    for number in range(len(before.rounds) + 1, len(after.rounds) + 1):
        _print_round(after, number)
        if after.system is not System.SWISS:
            continue
        for pairing, rounds in rematches_of(after, number):
            a, g = pairing.names
            met = ", ".join(map(str, rounds))
            echo(
                f"{a} and {g} meet again, as in round {met}: no pairing of this round does without a rematch"
            )


@_tournament.command()
def unpair(file: TournamentFile) -> None:
    """Take the last round back, as long as no result of it is in; of a round robin, all rounds."""
    from game.montecassino.tournament import unpair as unpaired
    from rig.tournament.file import change_tournament

    before, after = change_tournament(file, unpaired)
    first, last = len(after.rounds) + 1, len(before.rounds)
    echo(f"round {last} is taken back" if first == last else f"rounds {first} to {last} are taken back")


@_tournament.command()
def enter(
    file: TournamentFile,
    battles: Annotated[
        list[Path] | None,
        typer.Argument(metavar="BATTLE", help="battle files; none: by hand, with --board"),
    ] = None,
    board: Annotated[int | None, typer.Option(min=1, help="by hand: whose result it is")] = None,
    round_number: Annotated[
        int | None,
        typer.Option("--round", min=1, help="in which round; by default the one that waits"),
    ] = None,
    result: Annotated[
        str | None, typer.Option(help="by hand: the Allies' points first, as 1-0, 1½-½ or 0.5-1")
    ] = None,
    absent: Annotated[
        list[SideWord] | None, typer.Option(help="by hand: who did not come; twice for both")
    ] = None,
    correct: Annotated[
        str, typer.Option(metavar="WHY", help="the result that is in was wrong; it stays on record")
    ] = "",
) -> None:
    """Enter results, from battle files or by hand."""
    from game.montecassino.tournament import ResultEntry
    from rig.battle.file import read_battle
    from rig.tournament.entering import entry_of_battle
    from rig.tournament.file import change_tournament

    why = " ".join(correct.split())
    entered: list[tuple[int, int]] = []
    if battles and (board is not None or result is not None or absent):
        raise typer.BadParameter("battle files say the board and the result themselves", param_hint="BATTLE")

    def with_results(tournament: Tournament) -> Tournament:
        for path in battles or ():
            number, at_board, entry = entry_of_battle(
                tournament, read_battle(path), path.name, _now(), why, round_number
            )
            tournament = tournament.entered(number, at_board, entry)
            entered.append((number, at_board))
        if not battles:
            if board is None:
                raise typer.BadParameter("expected a battle file, or --board with --result or --absent")
            number = round_number or _round_waiting(tournament, board, correcting=bool(why))
            by_hand = ResultEntry(_result(result, absent), "by hand", _now(), why=why)
            tournament = tournament.entered(number, board, by_hand)
            entered.append((number, board))
        return tournament

    _, after = change_tournament(file, with_results)
    for number, at_board in entered:
        pairing = after.pairing(number, at_board)
        a, g = pairing.names
        echo(f"round {number}, board {at_board}: {a} (A) - {g} (G)  {pairing.result}")
    waiting = sum(1 for _ in after.open_pairings())
    echo(f"{waiting} result{'' if waiting == 1 else 's'} to come" if waiting else "all results are in")


@_tournament.command()
def standings(file: TournamentFile) -> None:
    """Show the standings with every tie-break."""
    from game.montecassino.tournament import format_points
    from game.montecassino.tournament import standings as ranked
    from rig.cli.terminal.tables import print_uncut
    from rig.tournament.file import read_tournament
    from rig.tournament.words import TIE_BREAKS_EXPLAINED, tell_tie_break

    tournament = read_tournament(file)
    table = _table(
        ("rank", True),
        ("player", False),
        ("points", True),
        *((column, True) for _, column, _ in TIE_BREAKS_EXPLAINED),
        ("fought", True),
    )
    gone = {player.name for player in tournament.players if player.withdrawn}
    for line in ranked(tournament):
        table.add_row(
            str(line.rank),
            line.player + (" (withdrawn)" if line.player in gone else ""),
            format_points(line.points),
            *(tell_tie_break(line, tie_break) for tie_break, _, _ in TIE_BREAKS_EXPLAINED),
            str(line.fought),
        )
    print_uncut([table])
    waiting = sum(1 for _ in tournament.open_pairings())
    if waiting:
        echo(f"{waiting} result{'' if waiting == 1 else 's'} to come")


@_tournament.command()
def show(
    file: TournamentFile,
    round_number: Annotated[
        int | None, typer.Option("--round", min=1, help="one round; none: all of them")
    ] = None,
) -> None:
    """Show the table of battles: rounds, boards, sides, handicaps, results."""
    from rig.tournament.file import read_tournament
    from rig.tournament.words import SYSTEM_NAMES, corrections_told, handicaps_told, terms_told

    tournament = read_tournament(file)
    if round_number is not None:
        tournament.pairing(round_number, 1)
        _print_round(tournament, round_number)
        return
    echo(
        f"{tournament.name}: {SYSTEM_NAMES[tournament.system]}, {counted(len(tournament.players), 'player')}"
    )
    echo(f"every battle: {terms_told(tournament)}")
    for told in handicaps_told(tournament):
        echo(f"handicap: {told}")
    for number in range(1, len(tournament.rounds) + 1):
        _print_round(tournament, number)
    for told in corrections_told(tournament):
        echo(f"corrected: {told}")


@_tournament.command()
def page(
    file: TournamentFile,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PAGE", callback=check_html, help="the HTML file; beside the tournament's by default"
        ),
    ] = None,
) -> None:
    """Write the standings page: standings, cross table, rounds, in one HTML file that also prints."""
    from rig.files.not_written import NotWrittenError
    from rig.tournament.file import read_tournament
    from rig.tournament.page import is_other, write_page

    tournament = read_tournament(file)
    target = out or file.with_suffix(".html")
    if target.exists() and target.samefile(file):
        raise typer.BadParameter(f"found {target}, which is the tournament itself", param_hint="--out")
    if out is None and is_other(target):
        raise RefusedError(
            f"{target} is there already, and no page of a tournament; name another one with --out"
        )
    try:
        write_page(target, tournament)
    except NotWrittenError as bad:
        raise RefusedError(f"{bad}; name another place with --out") from bad
    echo(f"wrote {on_one_line(target)}")


def _in_play(tournament: Tournament) -> str:
    count = len(tournament.in_play)
    return f"{counted(count, 'player')} {'is' if count == 1 else 'are'} in play"


def _zone(text: str | None) -> tuple[Square, ...] | None:
    from game.montecassino import parse_squares

    return None if text is None else parse_squares(text)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _result(score: str | None, absent: Sequence[SideWord] | None) -> Result:
    from game.montecassino import Side
    from game.montecassino.tournament import Forfeit, Fought

    if score is not None and not absent:
        return Fought.parse(score)
    if score is None and absent:
        return Forfeit(frozenset(map(Side, absent)))
    raise typer.BadParameter("expected one of them for the board", param_hint="--result, --absent")


def _round_waiting(tournament: Tournament, board: int, *, correcting: bool) -> int:
    """Return the one round in which a board waits for its result; for a correction, the last that has one."""
    numbers = [
        number
        for number, each in enumerate(tournament.rounds, start=1)
        if board <= len(each.pairings) and (each.pairings[board - 1].result is None) != correcting
    ]
    if correcting and numbers:
        return numbers[-1]
    if len(numbers) > 1:
        raise RefusedError(
            f"board {board} waits for its result in rounds {', '.join(map(str, numbers))}; say which: --round"
        )
    # Where nothing waits, entering says what is there instead.
    return numbers[0] if numbers else max(len(tournament.rounds), 1)


def _print_round(tournament: Tournament, number: int) -> None:
    from game.montecassino.tournament import System
    from rig.cli.terminal.tables import print_uncut

    each = tournament.rounds[number - 1]
    handicaps = [_handicap(tournament, pairing) for pairing in each.pairings]
    headings = [("board", True), ("Allies", False), ("Germans", False), ("result", False)]
    table = _table(*headings, *([("handicap", False)] if any(handicaps) else []))
    for pairing, handicap in zip(each.pairings, handicaps, strict=True):
        result = "" if pairing.result is None else str(pairing.result)
        table.add_row(str(pairing.board), *pairing.names, result, *([handicap] * any(handicaps)))
    if each.bye is not None:
        table.add_row("", each.bye, "bye", "1" if tournament.system is System.SWISS else "")
    echo(f"Round {number}")
    print_uncut([table])


def _handicap(tournament: Tournament, pairing: Pairing) -> str:
    """Say what either side's cannon has of its own; empty where both have what the tournament gives."""
    from game.montecassino import Side, format_squares
    from game.montecassino.tournament import Player

    told = []
    for side in Side:
        own, usual = pairing.seat(side).artillery, tournament.terms.artillery(Player(""), side)
        if own.shots != usual.shots:
            told.append(f"{side} {counted(own.shots, 'shot')}")
        if own.zone != usual.zone:
            told.append(f"{side} zone {format_squares(own.zone)}")
    return ", ".join(told)


def _table(*headings: tuple[str, bool]) -> Table:
    """Return an empty table; a heading goes with whether its column stands to the right."""
    from rig.cli.terminal.tables import plain_table

    table = plain_table()
    for heading, right in headings:
        table.add_column(heading, justify="right" if right else "left", no_wrap=True)
    return table

"""`rig run`: a programme of shots, one after another."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    CameraOption,
    PortOption,
    SettingsFile,
    settings_of_this_table,
)
from rig.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from game.montecassino import Position, Side, Square, Verdict
    from rig.match import ShotRead
    from rig.plan import Programme
    from rig.programme_run import Tally
    from rig.settings import Settings

__all__ = ["run"]


@app.command(rich_help_panel="Shoot")
def run(
    plan: Annotated[
        Path, typer.Argument(help="the programme, a TOML file; docs/run.md says how to write it")
    ],
    port: PortOption = None,
    camera: CameraOption = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Fire a whole programme, for as long as nothing is wrong; run again, it goes on where it stopped."""
    from rich.console import Console

    from game.montecassino import Side
    from rig.calibrating.spring import spring_now
    from rig.cli.arguments.orders import with_hardware, zone_of
    from rig.cli.terminal.battle import say
    from rig.cli.terminal.tables import print_uncut
    from rig.log import open_log, tell
    from rig.plan import check_against, read_plan
    from rig.programme_run import ProgrammeRun, check_reach, settings_for

    console = Console(highlight=False, markup=False)
    programme = read_plan(plan)
    agreed = with_hardware(settings_of_this_table(settings), port=port, camera=camera)
    check_against(programme, agreed, str(plan))
    check_reach(programme, agreed, str(plan))
    chosen = settings_for(programme, agreed)
    zones = {side: zone_of(chosen, side) for side in Side}
    with open_log(Path(chosen.log.path)) as log:
        for shot in log.interrupted:
            say(console, f"shot {shot.shot_id} at {shot.planned.target}: {tell(shot)}")
        # Nothing is opened for a programme that is through, or that cannot go on.
        so_far = ProgrammeRun(programme, chosen, zones, log)
        due = so_far.due()
        start = so_far.position_before(due[0]) if due else None
        if len(due) < len(so_far.planned):
            fired, shots = len(so_far.planned) - len(due), counted(len(so_far.planned), "shot")
            say(console, f"{fired} of {shots} {'was' if fired == 1 else 'were'} fired before")
        spring = None if start is None else spring_now(chosen, log)
        if spring is not None:
            say(console, spring.in_words())
        try:
            if start is not None:
                _shoot(console, chosen, programme, zones, start)
        finally:
            if so_far.spent():
                print_uncut([_table(programme.name, so_far.tallies())])
            if not so_far.due():
                count = len(so_far.planned)
                fired_all = (
                    f"All {count} shots of {programme.name} are"
                    if count > 1
                    else f"The shot of {programme.name} is"
                )
                say(console, f"{fired_all} fired.")


def _shoot(
    console: Console,
    settings: Settings,
    programme: Programme,
    zones: Mapping[Side, tuple[Square, ...]],
    start: Position,
) -> None:
    """Fire what is due, one shot after another."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from rig.cli.opening.rig import open_rig
    from rig.cli.terminal.answers import wait_for_enter
    from rig.cli.terminal.battle import say
    from rig.hands import PromptedHands
    from rig.plan import time_left_s
    from rig.programme_run import ProgrammeRun

    with Progress(
        TextColumn("{task.description:<44}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[verdict]}", style="dim"),
        console=console,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("opening the rig", total=len(programme.shots()), left="", verdict="")
        number_of = headline = ""

        def show(words: str) -> None:
            bar.update(task, description=f"{headline}{words}")

        def tell(read: ShotRead) -> None:
            say(console, f"{number_of}{headline}{_verdict(read.analysis.verdict)}")

        def ask(words: str) -> None:
            bar.stop()
            try:
                wait_for_enter(words)
            except typer.Abort:  # Ctrl-C ends a question as it ends a shot
                raise KeyboardInterrupt from None
            bar.start()

        hands = PromptedHands(
            lambda words: say(console, words), ask, waits_for_set_up=programme.pauses.putting_back == "ask"
        )
        with open_rig(settings, start, hands, progress=show) as rig:
            run = ProgrammeRun(programme, settings, zones, rig.log)
            due = run.due()
            bar.update(task, completed=len(run.planned) - len(due))
            took_s: list[float] = []
            for number, shot in enumerate(due, 1):
                headline = f"{shot.side} at {shot.target}, option {shot.option}: "
                began_s = time.monotonic()
                number_of = f"shot {shot.index + 1} of {len(run.planned)}, "
                done = run.fire(shot, rig.match, tell)
                show("putting the table in order")
                run.set_up(shot, done, rig.hands, rig.cannon.wait)
                took_s.append(time.monotonic() - began_s)
                left_s = time_left_s(took_s, len(due) - number)
                bar.update(task, advance=1, left=_time_left(left_s), verdict=_verdict(done.verdict))


def _verdict(verdict: Verdict) -> str:
    """Say in a line what a shot did."""
    from game.montecassino import format_squares

    said = [
        f"{word} {format_squares(squares)}"
        for word, squares in (
            ("leave", verdict.casualties),
            ("put back", verdict.put_back),
            ("doubtful", verdict.undecided),
        )
        if squares
    ]
    return ", ".join(said) or "nobody fell"


def _time_left(left_s: float | None) -> str:
    if left_s is None:
        return ""
    if left_s < 90:
        return f"{left_s:.0f} s left"
    return f"{left_s / 60:.0f} min left" if left_s < 90 * 60 else f"{left_s / 3600:.1f} h left"


def _table(name: str, tallies: Sequence[Tally]) -> Table:
    from game.montecassino import Side
    from rig.cli.terminal.tables import plain_table

    table = plain_table(f"{name}: what came of it")
    for heading in ("from", "target", "option"):
        table.add_column(heading)
    for heading in ("shots", "hits", "A lost", "G lost", "doubts", "not judged"):
        table.add_column(heading, justify="right")
    for tally in tallies:
        counts = (
            tally.shots,
            tally.hits,
            tally.casualties[Side.A],
            tally.casualties[Side.G],
            tally.doubts,
            tally.not_judged,
        )
        table.add_row(tally.side, str(tally.target), tally.option, *map(str, counts))
    return table

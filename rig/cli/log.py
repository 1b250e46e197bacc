"""`rig log` and `rig decide`: what was shot, and what a commander says of a doubt."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    SettingsFile,
    check_side,
    hand_down,
    open_log_to_read,
    refuse_before_a_command,
    settings_or_defaults,
)
from rig.cli.terminal.sentences import echo
from rig.counted import counted
from rig.files.one_line import on_one_line
from rig.files.ready_folder import ready_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rig.log import Shot

__all__ = ["decide", "export", "list_sessions", "list_shots", "show"]

_log = typer.Typer(name="log", help="Show what was shot, or export it.", invoke_without_command=True)
app.add_typer(_log, rich_help_panel="Look back")


class Format(StrEnum):
    """What a table is exported as."""

    CSV = "csv"
    PARQUET = "parquet"


class Word(StrEnum):
    """What a commander says of a soldier in doubt."""

    LEAVES = "leaves"
    STAYS = "stays"


@_log.callback()
def list_shots(
    context: typer.Context,
    last: Annotated[int, typer.Option(min=1, help="how many shots, counted from the newest")] = 20,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Show what was shot, or export it."""
    refuse_before_a_command(context, except_for={"settings"})
    hand_down(context, settings)
    if context.invoked_subcommand is not None:
        return
    from rig.cli.terminal.tables import plain_table, print_folded

    with open_log_to_read(settings) as log:
        count = sum(log.shots_by_session().values())
        listed = log.last_shots(min(last, count))
    if not listed:
        echo("nothing was shot yet")
        return
    table = plain_table()
    for heading in ("shot", "when", "from", "at", "opt", "m/s"):
        table.add_column(heading, justify="right" if heading in {"shot", "m/s"} else "left", no_wrap=True)
    table.add_column("what became of it", overflow="fold")
    when = _in_short([shot.history[0].at_utc_us for shot in listed])
    for shot in listed:
        table.add_row(*_row(shot, when))
    print_folded(table)
    if count > last:
        everything = settings_or_defaults(settings).command("log", f"--last {count}")
        echo(f"{_left_out(count - last, 'shot')}; {everything} shows all")


def _left_out(count: int, what: str) -> str:
    return f"{counted(count, f'earlier {what}')} {'is' if count == 1 else 'are'} not shown"


def _in_short(times_utc_us: Iterable[int]) -> Callable[[int], str]:
    """Return how to tell times in a table: to the minute, and without the year where all of them are of this one."""
    from rig.log import tell_time

    years = {tell_time(time_utc_us)[:4] for time_utc_us in times_utc_us}
    begin = len("2026-") if years == {f"{date.today():%Y}"} else 0
    return lambda time_utc_us: tell_time(time_utc_us)[begin:-3]


def _row(shot: Shot, when: Callable[[int], str]) -> Iterable[str]:
    from rig.log import tell, tell_verdict

    planned, gate, verdict = shot.planned, shot.muzzle_gate, shot.verdict
    told = tell(shot)
    if verdict is not None:
        told += f"; {tell_verdict(verdict)}"
    return (
        str(shot.shot_id),
        when(shot.history[0].at_utc_us),
        planned.side,
        planned.target,
        planned.option,
        f"{gate.muzzle_speed_mps:.2f}" if gate is not None and gate.muzzle_speed_mps is not None else "",
        told,
    )


@_log.command()
def show(
    shot: Annotated[int, typer.Argument(help="number of the shot, as `rig log` shows it")],
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Show all that is known of one shot."""
    from rig.cli.terminal.shot_in_full import in_full

    with open_log_to_read(settings) as log:
        found = log.shot(shot)
        session = log.session(found.session_id)
    for line in in_full(found, session):
        echo(line)


@_log.command("sessions")
def list_sessions(
    last: Annotated[int, typer.Option(min=1, help="how many sessions, counted from the newest")] = 20,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Show when the rig was in use: each session, with which firmware, port and camera, and how it ended."""
    from rich.text import Text

    from rig.cli.terminal.tables import plain_table, print_folded

    with open_log_to_read(settings) as log:
        sessions = log.sessions()
        shots = log.shots_by_session()
    table = plain_table()
    for heading in ("session", "began", "shots"):
        table.add_column(heading, justify="left" if heading == "began" else "right", no_wrap=True)
    for heading in ("with", "how it ended"):
        table.add_column(heading, overflow="fold")
    listed = sessions[-last:]
    when = _in_short([session.started_utc_us for session in listed])
    for session in listed:
        ended = "not ended: open, or its process was killed"
        if session.ended_utc_us is not None:
            ended = f"{when(session.ended_utc_us)}, {session.end_cause}"
        table.add_row(
            str(session.session_id),
            when(session.started_utc_us),
            str(shots.get(session.session_id, 0)),
            Text(f"firmware {session.firmware_version} at {session.port}, camera {session.camera}"),
            Text(ended),
        )
    print_folded(table)
    if len(sessions) > last:
        everything = settings_or_defaults(settings).command("log", f"sessions --last {len(sessions)}")
        echo(f"{_left_out(len(sessions) - last, 'session')}; {everything} shows all")


@_log.command()
def export(
    folder: Annotated[Path, typer.Argument(help="the folder to write shots and falls into")],
    formats: Annotated[
        list[Format] | None,
        typer.Option("--format", "-f", case_sensitive=False, help="csv or parquet; may be given twice"),
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Write one table of shots and one of falls, as CSV and Parquet."""
    from rig.log.export import export as write

    with open_log_to_read(settings) as log:
        ready_folder(folder)
        for path, rows in write(log, folder, [each.value for each in dict.fromkeys(formats or Format)]):
            echo(f"{on_one_line(path)}: {counted(rows, 'row')}")


@app.command(rich_help_panel="Look back")
def decide(
    shot: Annotated[int | None, typer.Argument(help="number of the shot; none: list what is pending")] = None,
    square: Annotated[str | None, typer.Argument(help="the soldier in doubt, as G-41")] = None,
    word: Annotated[
        Word | None, typer.Argument(case_sensitive=False, help="whether it leaves for good or stays")
    ] = None,
    side: Annotated[
        str | None,
        typer.Option(
            callback=check_side, help="the side that speaks, A or G; none: the side whose word is due"
        ),
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Say whether a soldier in doubt leaves or stays; alone, list what waits for a decision."""
    with open_log_to_read(settings, look_only=shot is None) as log:
        if shot is None:
            _list_pending(log.shots_in_doubt())
            return
        if square is None or word is None:
            raise typer.BadParameter(
                "give a shot, a square and leaves or stays, as: rig decide 12 G-41 stays"
            )
        from rig.cli.terminal.shot_in_full import doubt_in_words
        from rig.log import tell_verdict
        from rig.verdict.judging import decide as decide_doubt

        doubts = decide_doubt(log, shot, square, leaves=word is Word.LEAVES, decided_by=side)
        for doubt in doubts:
            echo(f"shot {shot}: {doubt_in_words(doubt, log.shot(shot))}")
        verdict = log.shot(shot).verdict
    if verdict is not None and not verdict.doubts:
        echo(f"shot {shot} is judged: {tell_verdict(verdict)}")


def _list_pending(shots: Iterable[Shot]) -> None:
    from rig.cli.terminal.shot_in_full import doubt_in_words

    pending = [(shot, doubt) for shot in shots for doubt in shot.pending]
    for shot, doubt in pending:
        echo(f"shot {shot.shot_id}: {doubt_in_words(doubt, shot)}")
    if not pending:
        echo("nothing waits for a decision")

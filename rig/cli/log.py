"""`rig log` and `rig decide`: what was shot, and what a commander says of a doubt."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from collections.abc import Callable, Iterable, Mapping

    from rig.log import Analysis, DecidedDoubt, MuzzleGate, Session, Shot

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
    with open_log_to_read(settings) as log:
        found = log.shot(shot)
        session = log.session(found.session_id)
    for line in _in_full(found, session):
        echo(line)


def _in_full(shot: Shot, session: Session) -> Iterable[str]:
    from rig.log import tell, tell_time
    from rig.verdict.docket import why_held
    from rig.verdict.how_sure import how_sure
    from rig.verdict.judging import why_back
    from rig.verdict.kept_readings import kept_readings
    from rig.verdict.told_together import parted, told_together
    from rig.verdict.unseen_shot import of_the_shot, of_this_fall

    planned, aim, gate, verdict = shot.planned, shot.aim, shot.muzzle_gate, shot.verdict
    yield f"shot {shot.shot_id}, {planned.side} at {planned.target}: {tell(shot)}"
    yield f"  agreed      option {planned.option}, zone {planned.zone}"
    if planned.position is not None:
        yield f"  before      {planned.position}"
    if planned.plan is not None:
        yield f"  programme   {planned.plan}, shot {(planned.plan_index or 0) + 1}"
    yield (
        f"  session     {session.session_id}, rig {session.software_version}, firmware {session.firmware_version},"
        f" wire {session.wire_version}, port {session.port}, camera {session.camera}"
    )
    if session.transcript_path is not None:
        yield f"  transcript  {on_one_line(session.transcript_path)}"
    start_us = shot.history[0].clock_us
    for entry in shot.history:
        after = ""
        if entry.clock_us is not None and start_us is not None:
            after = f"{(entry.clock_us - start_us) / 1e6:+.3f} s"
        line = f"  {entry.stage:<12}{tell_time(entry.at_utc_us)}  {after:>10}  {entry.cause}"
        yield line.rstrip()
    if aim is not None:
        by = f", by the calibration {aim.calibration}" if aim.calibration else ""
        yield (
            f"  aim         traverse {aim.traverse_mm:.1f} mm, azimuth {degrees(aim.azimuth_rad):+.2f} deg,"
            f" elevation {degrees(aim.elevation_rad):+.2f} deg, for {aim.expected_muzzle_speed_mps:.2f} m/s{by}"
        )
    if gate is not None:
        yield f"  gate        {_gate(gate)}"
    if shot.recording_path is not None:
        yield f"  recording   {on_one_line(shot.recording_path)}"
        for kept in kept_readings(Path(shot.recording_path)):
            yield f"  read again  {kept.path.name}, rig {kept.software_version}: {_read_again(kept.result)}"
    for number, analysis in enumerate(shot.analyses, start=1):
        yield f"  analysis {number}, rig {analysis.software_version}"
        held = why_held(analysis)
        for sentence in told_together(map(parted, held)):
            yield f"    the ruling is held: {sentence}"
        notes = analysis.raw.get("notes")
        for sentence in told_together(map(parted, notes if isinstance(notes, list) else [])):
            yield f"    note: {sentence}"
        evidence = [of_this_fall(fall.evidence) for fall in analysis.falls]
        if unseen := next((reason for reason, _ in evidence if reason), ""):
            yield f"    the shot was not seen: {of_the_shot(unseen)}"
        for fall, (_, own) in zip(analysis.falls, evidence, strict=True):
            causes = " or ".join(fall.causes)
            # It leaves out what held the ruling: no number says how likely that was.
            sure = "" if held else f", {how_sure(fall.confidence)} sure"
            yield f"    {_what_it_did(fall.square, analysis)}: {causes}{sure}{f' ({own})' if own else ''}"
        for moved in analysis.moved:
            yield f"    {moved.square} was pushed to {moved.x_mm:.0f}, {moved.y_mm:.0f} mm"
    if verdict is not None:
        yield f"  leave       {' '.join(verdict.casualties) or '-'}"
        yield f"  put back    {'' if verdict.put_back else '-'}".rstrip()
        for square in verdict.put_back:
            yield f"    {square}: {why_back(shot, square)}"
        for doubt in shot.doubts:
            when = "" if doubt.decision is None else f", {tell_time(doubt.decision.at_utc_us)}"
            yield f"  doubt       {_in_words(doubt, shot)}{when}"
        if verdict.after is not None:
            yield f"  after       {verdict.after}"
        if verdict.winner is not None:
            yield f"  winner      {verdict.winner}"


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
        from rig.log import tell_verdict
        from rig.verdict.judging import decide as decide_doubt

        doubts = decide_doubt(log, shot, square, leaves=word is Word.LEAVES, decided_by=side)
        for doubt in doubts:
            echo(f"shot {shot}: {_in_words(doubt, log.shot(shot))}")
        verdict = log.shot(shot).verdict
    if verdict is not None and not verdict.doubts:
        echo(f"shot {shot} is judged: {tell_verdict(verdict)}")


def _list_pending(shots: Iterable[Shot]) -> None:
    pending = [(shot, doubt) for shot in shots for doubt in shot.pending]
    for shot, doubt in pending:
        echo(f"shot {shot.shot_id}: {_in_words(doubt, shot)}")
    if not pending:
        echo("nothing waits for a decision")


def _in_words(doubt: DecidedDoubt, shot: Shot) -> str:
    from rig.log import tell_decision

    analysis = shot.analyses[-1] if shot.analyses else None
    doubtful = f"{_what_it_did(doubt.square, analysis)}, {' or '.join(doubt.between)}"
    decision = doubt.decision
    if decision is None:
        return f"{doubtful}: the commander of {doubt.commander} decides"
    return f"{doubtful}: {'ruled ' if decision.cause else ''}{tell_decision(decision)}"


def _what_it_did(square: str, analysis: Analysis | None) -> str:
    """Say that a soldier fell; of one that the analysis also tells as pushed, for it seems to stand, that it may have."""
    moved = None if analysis is None else analysis.raw.get("moved")
    stands = isinstance(moved, list) and any(each["square"] == square for each in moved)
    return f"{square} {'may have fallen' if stands else 'fell'}"


def _read_again(result: Mapping[str, Any]) -> str:
    falls = " ".join(f"{fall['square']} {fall['cause']}" for fall in result.get("falls", ()))
    return falls or "nobody fell"


def _gate(gate: MuzzleGate) -> str:
    if gate.muzzle_speed_mps is None:
        said = "saw the shot; its speed is not known"
    else:
        said = f"{gate.muzzle_speed_mps:.3f} m/s ({gate.spacing_mm:g} mm in {gate.first_to_second_us:g} us)"
    if gate.release_to_first_us is not None:
        said += f", {gate.release_to_first_us:g} us after the release"
    return said

"""`rig docket`: the doubts that wait for a commander, what there is to see of each, and the ruling."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    SettingsFile,
    check_name,
    check_side,
    hand_down,
    open_log_to_read,
    settings_or_defaults,
)
from rig.cli.arguments.outputs import check_png
from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line
from rig.files.ready_folder import folder_to_fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.settings import Settings
    from rig.verdict.docket import Answer, Case

__all__ = ["list_open", "rule", "show"]

_docket = typer.Typer(name="docket", help="The doubts that wait for a ruling.", invoke_without_command=True)
app.add_typer(_docket, rich_help_panel="Look back")

Number = Annotated[int, typer.Argument(help="number of the doubt, as `rig docket` shows it")]


@_docket.callback()
def list_open(context: typer.Context, settings: SettingsFile = SETTINGS_FILE) -> None:
    """List the doubts that wait for a ruling, with the likely answers and what each would do."""
    hand_down(context, settings)
    if context.invoked_subcommand is not None:
        return
    from rig.cli.terminal.tables import plain_table, print_folded
    from rig.verdict.docket import open_cases

    with open_log_to_read(settings) as log:
        cases = tuple(open_cases(log))
    if not cases:
        echo("nothing waits for a ruling")
        return
    table = plain_table()
    for heading in ("doubt", "shot", "soldier", "rules"):
        table.add_column(heading, justify="right" if heading in {"doubt", "shot"} else "left", no_wrap=True)
    table.add_column("likely answers", overflow="fold")
    for each in cases:
        answers = "; ".join(_answer(answer) for answer in each.answers)
        table.add_row(
            str(each.doubt.number), str(each.shot.shot_id), each.doubt.square, each.doubt.commander, answers
        )
    print_folded(table)


@_docket.command()
def show(
    number: Number,
    picture: Annotated[
        Path | None,
        typer.Option(
            callback=check_png,
            help="where to write the pictures; without it, into the shot's recording, under analysis",
        ),
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Show one doubt: the evidence, the likely answers, and pictures of the soldier before, while it moves, and after."""
    from game.montecassino import Square
    from rig.recording import read_recording
    from rig.shot_identity import refuse_other_shot, shot_identity
    from rig.verdict.docket import case
    from rig.verdict.docket_picture import write_crops

    with open_log_to_read(settings) as log:
        found = case(log, number)
        due = shot_identity(log.session(found.shot.session_id), found.shot.shot_id)
    for line in _in_full(found, settings_or_defaults(settings)):
        echo(line)
    if found.shot.recording_path is None:
        echo("  pictures   none: the shot was not recorded")
        return
    folder = Path(found.shot.recording_path)
    refuse_other_shot(folder, read_recording(folder), due)
    path = picture or folder / "analysis" / f"doubt-{number}-{found.doubt.square}.png"
    own = picture is None and folder.is_dir()
    title = f"shot {found.shot.shot_id}, {found.doubt.square}: {' or '.join(map(_likely, found.answers))}"
    with folder_to_fill(path.parent) if own else nullcontext():
        write_crops(path, folder, Square.parse(found.doubt.square), title=title)
    echo(f"  pictures   {on_one_line(path)}")


@_docket.command()
def rule(
    number: Number,
    cause: Annotated[str, typer.Argument(help="why it fell: direct, ricochet, dragged or other")],
    side: Annotated[
        str, typer.Option(callback=check_side, help="the side that rules, A or G: that of the soldier")
    ],
    by: Annotated[str, typer.Option(metavar="NAME", callback=check_name, help="who speaks for that side")],
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Rule on a doubt: the cause, signed with side, name and time. A ruling once given stands."""
    from rig.log import tell_decision, tell_verdict
    from rig.verdict import docket

    with open_log_to_read(settings, look_only=False) as log:
        ruled = docket.rule(log, number, cause.lower(), side=side, name=by)
        shot = log.shot(ruled.shot.shot_id)
    for doubt in shot.doubts:
        if doubt.decision is not None:
            echo(f"doubt {doubt.number}, {doubt.square}: {tell_decision(doubt.decision)}")
    if ruled.direct and ruled.doubt.decision is not None and ruled.doubt.decision.cause == "direct":
        echo(f"{_one_is_direct(ruled)}, and the ruling stands")
    if shot.pending:
        left = ", ".join(
            f"{doubt.number} ({doubt.square}, {doubt.commander} rules)" for doubt in shot.pending
        )
        echo(f"shot {shot.shot_id} still waits for a ruling on {left}")
    elif shot.verdict is not None:
        echo(f"shot {shot.shot_id} is judged: {tell_verdict(shot.verdict)}")


def _likely(answer: Answer) -> str:
    return answer.cause if answer.probability is None else f"{answer.cause} {answer.probability:.0%}"


def _answer(answer: Answer) -> str:
    return f"{_likely(answer)}: {'leaves' if answer.leaves else 'put back'}"


def _one_is_direct(case: Case) -> str:
    return (
        f"a shot has one direct fall at most, and {' and '.join(case.direct)}; "
        f"whether {case.doubt.square} leaves its commander says all the same"
    )


def _in_full(case: Case, settings: Settings) -> Iterator[str]:
    from rig.log import tell_decision, tell_time
    from rig.verdict.told_together import parted, told_together

    doubt, shot = case.doubt, case.shot
    yield f"doubt {doubt.number}: shot {shot.shot_id}, the soldier on {doubt.square}"
    yield f"  agreed     option {shot.planned.option}, zone {shot.planned.zone}"
    if case.unseen:
        yield f"  not seen   {case.unseen}"
    if case.evidence:
        yield f"  evidence   {case.evidence}"
    for sentence in told_together(map(parted, case.held)):
        yield f"  held       {sentence}"
    for answer in case.answers:
        yield f"  if so      {_answer(answer)}"
    if case.direct and any(answer.cause == "direct" for answer in case.answers):
        yield f"  rule       {_one_is_direct(case)}"
    if case.one_leaves:
        yield "  rule       exactly one of this shot's doubts leaves: naming it says that the others stay"
    if doubt.decision is None:
        rule = settings.command("docket", f"rule {doubt.number} CAUSE --side {doubt.commander} --by NAME")
        yield f"  rules      the commander of {doubt.commander}: {rule}"
        return
    yield f"  ruled      {tell_decision(doubt.decision)}, {tell_time(doubt.decision.at_utc_us)}"

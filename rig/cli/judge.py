"""`rig judge`: the verdict of a shot that was recorded, and never judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import app
from rig.cli.arguments.options import SETTINGS_FILE, SettingsFile, open_log_to_read, settings_or_defaults
from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line

if TYPE_CHECKING:
    from rig.log import ShotLog

__all__ = ["judge"]


@app.command(rich_help_panel="Look back")
def judge(
    shot: Annotated[
        int | None, typer.Argument(help="number of the shot; none: list those that were never judged")
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Read a shot from its recording and judge it, where the rig was ended before it could; alone, list such shots."""
    with open_log_to_read(settings, look_only=shot is None) as log:
        if shot is None:
            _list(log)
            return
        from rig.verdict.late_judging import judge_recorded

        judged, analysis = judge_recorded(log, shot)
    if analysis is None:
        echo(f"shot {shot} was judged; its recording is in the log now: {on_one_line(judged.recording_path)}")
        return
    for line in analysis.in_words():
        echo(line)
    if judged.pending:
        from rig.match import how_to_decide

        echo(
            f"Until the commanders have spoken nobody is moved; say it with: {how_to_decide(shot, settings_or_defaults(settings))}"
        )
    if judged.planned.plan is None:
        enter = settings_or_defaults(settings).command("game enter", f"FILE {shot}")
        echo(f"If it was fired in a battle, it goes in with: {enter}")


def _list(log: ShotLog) -> None:
    from rig.log import tell
    from rig.verdict.late_judging import not_judged

    waiting = list(not_judged(log))
    for shot in waiting:
        echo(f"shot {shot.shot_id}, {shot.planned.side} at {shot.planned.target}: {tell(shot)}")
    if not waiting:
        echo("every shot that was fired is judged")

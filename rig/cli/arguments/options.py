"""Options that several commands share, and the settings they lead to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from rig.cli.terminal.sentences import echo

if TYPE_CHECKING:
    from collections.abc import Collection

    from rig.log import ShotLog
    from rig.settings import Settings

__all__ = [
    "SETTINGS_FILE",
    "CameraOption",
    "CasualtyOption",
    "JsonOption",
    "PortOption",
    "SettingsFile",
    "SideOption",
    "check_name",
    "check_side",
    "check_squares",
    "check_transcript",
    "hand_down",
    "open_log_to_read",
    "refuse_before_a_command",
    "settings_of_this_table",
    "settings_or_defaults",
]

SETTINGS_FILE = Path("rig.toml")
"""Where settings are looked for."""

PortOption = Annotated[
    str | None, typer.Option("--port", help="serial port or URL, in place of the settings'")
]
CameraOption = Annotated[
    str | None, typer.Option("--camera", help="camera number, file or URL, in place of the settings'")
]
SideOption = Annotated[
    str | None, typer.Option("--side", help="who fires, A or G; by default the side to move")
]
CasualtyOption = Annotated[
    str | None, typer.Option("--option", help="casualty option i, ii or iii; the settings' by default")
]
JsonOption = Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else")]
SettingsFile = Annotated[
    Path,
    typer.Option(
        "--settings",
        "-s",
        help="the settings file",
        show_default=True,
        readable=False,  # one that must not be read is told by its reader: mostly nobody gave the option
    ),
]


def hand_down(context: typer.Context, settings: Path) -> None:
    """Let a group's settings file hold for each of its commands that is not given another one behind its own name."""
    assert isinstance(context.command, TyperGroup)
    context.default_map = {name: {"settings": settings} for name in context.command.commands}


def refuse_before_a_command(context: typer.Context, *, except_for: Collection[str] = ()) -> None:
    """Tell an option that a group has for itself alone where one of its commands is named behind it."""
    command = context.invoked_subcommand
    if command is None:
        return
    assert isinstance(context.command, TyperGroup)
    of_command = {name for each in context.command.commands[command].params for name in each.opts}
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name not in except_for and source is not None and source.name == "COMMANDLINE":
            name = option.opts[0]
            hint = f"; {command} has one of its own, behind its name" if name in of_command else ""
            raise typer.BadParameter(f"it does nothing before {command}{hint}", param_hint=name)


def settings_or_defaults(path: Path) -> Settings:
    """Read the settings; where nobody has written `rig.toml` yet, the defaults stand.

    A file that was named and is not there is an error all the same.
    """
    from rig.settings import Settings, read_settings

    if path == SETTINGS_FILE and not os.path.lexists(path):  # who made a link that leads nowhere is told
        return Settings()
    return read_settings(path)


def settings_of_this_table(path: Path) -> Settings:
    """Read the settings as `settings_or_defaults` does; where the defaults stand, that is said.

    In the wrong folder a simulated shot would pass for a real one, and another table's markers for this one's.
    """
    if path == SETTINGS_FILE and not os.path.lexists(path):
        echo(
            f"rig: there is no {SETTINGS_FILE} here: default settings hold, which mean a simulated table; rig init writes them",
            err=True,
        )
    return settings_or_defaults(path)


def check_name(name: str) -> str:
    """Take a name that can be written down, in one line; meant as a callback of an option."""
    from game.montecassino import LONGEST_NAME, is_seen
    from rig.files.one_line import on_one_line

    if not is_seen(name) or on_one_line(name) != name:
        raise typer.BadParameter(f"found {name!a}, expected a name that can be printed in one line")
    if len(name) > LONGEST_NAME:
        raise typer.BadParameter(
            f"found a name of {len(name)} letters, {name[:20]!r}..., expected {LONGEST_NAME} at most"
        )
    return name


def check_side(text: str | None) -> str | None:
    """Take a side by its letter, small or large; meant as a callback of an option."""
    from game.montecassino import Side

    if text is None:
        return None
    if text.upper() not in set(Side):
        raise typer.BadParameter(f"found {text!a}, expected A or G")
    return text.upper()


def check_squares(text: str | None) -> str | None:
    """Take squares as the rules write them; meant as a callback of an option."""
    from game.montecassino import SquareError, parse_squares

    if text is not None:
        try:
            parse_squares(text)
        except SquareError as error:
            raise typer.BadParameter(str(error)) from None
    return text


def check_transcript(path: Path | None) -> Path | None:
    """Take the name of a transcript that is there; meant as a callback of an argument."""
    if path is not None and (path.is_dir() or not path.exists()):
        found = "a folder" if path.is_dir() else "nothing"
        raise typer.BadParameter(
            f"{path}: found {found}, expected a transcript, as each session leaves one under [log] transcripts"
        )
    return path


def open_log_to_read(settings_file: Path, *, look_only: bool = True) -> ShotLog:
    """Open the log that the settings name, and say on standard error what a dead process left unfinished.

    `look_only` is as `rig.log.open_log` takes it; false for whoever adds to the log what was not fired just now.
    """
    from rig.log import open_log, tell

    settings = settings_or_defaults(settings_file)
    log = open_log(Path(settings.log.path), create=False, look_only=look_only)
    for shot in log.interrupted:
        judge = f"; {settings.command('judge', str(shot.shot_id))} reads it"
        judge = judge if shot.tells_who_fell and not shot.verdicts else ""
        echo(f"rig: shot {shot.shot_id} at {shot.planned.target}: {tell(shot)}{judge}", err=True)
    return log

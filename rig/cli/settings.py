"""`rig init` and `rig check`: the settings file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rig.cli._app import RefusedError, app
from rig.cli._options import SETTINGS_FILE, SettingsFile

__all__ = ["check", "init"]


@app.command(rich_help_panel="Set up")
def init(
    path: Annotated[Path, typer.Argument(help="the file to write")] = SETTINGS_FILE,
) -> None:
    """Write a commented settings file with every value at its default."""
    from rig.settings import Settings
    from rig.settings_text import settings_text

    text = settings_text(Settings())
    try:
        # Made only if it is not there: settings that someone has worked on are never written over.
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise RefusedError(f"{path} is there already; move it away first, or name another file") from None
    typer.echo(f"wrote {path}; change what differs on your table, then: rig check")


@app.command(rich_help_panel="Set up")
def check(settings: SettingsFile = SETTINGS_FILE) -> None:
    """Say everything that is wrong with the settings file, at once."""
    from rig.settings import SettingsError, read_settings

    try:
        read_settings(settings)
    except SettingsError as error:
        for fault in error.faults:
            typer.echo(f"{error.name}: {fault}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{settings}: nothing wrong")

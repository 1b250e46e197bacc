"""`rig init` and `rig check`: the settings file."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import SETTINGS_FILE, SettingsFile
from rig.cli.terminal.sentences import echo
from rig.files.not_written import NotWrittenError
from rig.files.one_line import on_one_line
from rig.files.whole_file import write_whole

if TYPE_CHECKING:
    from rig.files.checked_file import Fault
    from rig.settings import Settings

__all__ = ["check", "init"]


@app.command(rich_help_panel="Set up")
def init(
    path: Annotated[Path, typer.Argument(help="the file to write")] = SETTINGS_FILE,
) -> None:
    """Write a commented settings file with every value at its default."""
    from rig.cli.opening.twin_table import twin_text
    from rig.settings import Settings, parse_settings
    from rig.settings_text import settings_text

    text = settings_text(Settings(), twin=twin_text())
    try:
        # Made only if it is not there: settings that someone has worked on are never written over.
        path.open("x").close()
    except FileExistsError:
        raise RefusedError(f"{path} is there already; move it away first, or name another file") from None
    except OSError as bad:
        raise NotWrittenError(bad.errno, bad.strerror, str(path)) from bad
    try:
        write_whole(path, text)
    except BaseException:
        path.unlink()
        raise
    check = parse_settings(text, str(path)).command("check")
    echo(f"wrote {on_one_line(path)}; change what differs on your table, then: {check}")


@app.command(rich_help_panel="Set up")
def check(settings: SettingsFile = SETTINGS_FILE) -> None:
    """Say everything that is wrong with the settings file, at once."""
    from rig.settings import SettingsError, read_settings

    faults: list[Fault] = []
    sound: Settings | None = None
    try:
        sound = read_settings(settings)
    except SettingsError as error:
        faults += error.faults
    faults += _calibration_faults(settings)
    faults += _twin_faults(settings, sound)
    for fault in faults:
        echo(f"{on_one_line(settings)}: {fault}", err=True)
    if faults:
        raise typer.Exit(2)
    echo(f"{on_one_line(settings)}: nothing wrong")


def _table(path: Path, name: str) -> dict[str, Any]:
    """Return a table of the file by itself, to be looked at also where something else in the file is wrong."""
    from rig.files.bounded_file import read_text

    try:
        table = tomllib.loads(read_text(path, encoding="utf-8-sig")).get(name)
    except (OSError, ValueError):
        # No file, or no TOML: that has been said.
        return {}
    return table if isinstance(table, dict) else {}


def _calibration_faults(path: Path) -> list[Fault]:
    """Check the calibration that the cannon is to aim by: without it no shot is fired."""
    name = _table(path, "cannon").get("calibration")
    if not isinstance(name, str) or not name or "\0" in name:
        # There is none, or it has been said what is wrong with its name.
        return []
    from rig.calibrating.calibration_file import CalibrationFileError, read_calibration

    try:
        read_calibration(path.parent / name)
    except CalibrationFileError as error:
        return [replace(fault, key=f"cannon.calibration: {name}: {fault.key}") for fault in error.faults]
    return []


def _twin_faults(path: Path, sound: Settings | None) -> list[Fault]:
    """Check [twin], which only the twin can; with the rest of the file, where that is sound."""
    table = _table(path, "twin")
    if not table:
        return []
    from rig.cli.opening.twin_table import twin_faults

    return twin_faults(table, sound)

"""`rig analyse`: what a recording shows, in words or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rig.cli._app import app


@app.command(rich_help_panel="Look")
def analyse(
    folder: Annotated[Path, typer.Argument(help="a shot's recording: a folder with recording.json")],
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else")] = False,
) -> None:
    """Read a recorded shot: who stood where, who fell and why, who leaves."""
    from rig.analyse import analyse_folder

    analysis = analyse_folder(folder)
    if as_json:
        print(json.dumps(analysis.as_json()))
        return
    for line in analysis.in_words():
        print(line)

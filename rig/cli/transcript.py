"""`rig transcript`: the bytes of a session, told in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rig.cli.application import app
from rig.cli.arguments.options import check_transcript
from rig.cli.terminal.sentences import echo


@app.command(rich_help_panel="Look")
def transcript(
    file: Annotated[Path, typer.Argument(callback=check_transcript, help="a transcript that a session left")],
) -> None:
    """Print a session between controller and cannon in words: time, who, what, values with units."""
    from rig.link.transcript import read_transcript, tell

    for line in tell(read_transcript(file)):
        echo(line)

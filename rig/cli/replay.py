"""`rig replay`: a recorded shot as an annotated film in slow motion, and as a sheet of its key pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.files.not_written import NotWrittenError
from rig.files.one_line import on_one_line
from rig.files.ready_folder import folder_to_fill

__all__ = ["replay"]


@app.command(rich_help_panel="Look")
def replay(
    folder: Annotated[Path, typer.Argument(help="a shot's recording: a folder with recording.json")],
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="write them there; without it, into the recording, under analysis"
        ),
    ] = None,
) -> None:
    """Write a slow-motion film that shows what was seen of a shot and why it was judged so, and its key pictures."""
    from rig.recording import read_recording
    from rig.replay.film import write_film
    from rig.replay.place import place_in
    from rig.replay.sheet import write_sheet
    from rig.verdict.analyse import analyse_folder
    from rig.verdict.analysis_store import place_of

    recording = read_recording(folder)
    if into is None:
        # Beside the reading that it shows: a newer rig's replay does not take an older one's place.
        reading = place_of(folder, recording)
        film, sheet = reading.with_suffix(".mp4"), reading.with_suffix(".png")
    else:
        film, sheet = place_in(into, folder, recording)
    try:
        with folder_to_fill(film.parent):
            analysis = analyse_folder(folder)
            for path, write in ((film, write_film), (sheet, write_sheet)):
                write(path, analysis, folder)
                typer.echo(on_one_line(path))
    except NotWrittenError as bad:
        # A recording may be kept from changes, as on a stick that is read-only.
        if into is not None:
            raise
        raise RefusedError(f"{bad}; name another folder with --into") from bad

"""`rig vision`: what the eye is taught."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.application import app
from rig.cli.terminal.sentences import echo

__all__ = ["teach"]

vision = typer.Typer(no_args_is_help=True, help="Teach the eye.")
app.add_typer(vision, name="vision", rich_help_panel="Look")

_PICTURES = 5


@vision.callback()
def _vision() -> None:
    # Its mere presence makes `rig vision` a group, even while it has a single command.
    pass


@vision.command()
def teach(
    folder: Annotated[
        Path, typer.Argument(help="a recording that begins with the set-up, or tells its position")
    ],
    out: Annotated[
        Path | None, typer.Option(help="the file to write; uniforms.json beside the recording by default")
    ] = None,
) -> None:
    """Learn the uniforms' colours from a recording's first pictures, for recordings that tell no position.

    The sides are those of its position, or else of the start, each on its own lines 1 to 3.

    `rig analyse` finds the file in a recording's folder or beside it.
    """
    from rig.files.one_line import on_one_line
    from rig.recording import RecordingError, read_frames, read_recording
    from rig.uniforms_file import NAME, beside, write_uniforms
    from vision.soldiers.teaching import NotTaught, teach_uniforms
    from vision.steady import typical

    recording = read_recording(folder)
    fire_us = recording.scene.fire_us
    before = sum(fire_us is None or t <= fire_us for t in recording.timestamps_us)
    pictures = read_frames(folder, recording)
    frames = list(islice(pictures, max(1, min(_PICTURES, before))))
    for _ in pictures:
        pass  # to the end: a film that has not a picture for each time may be another shot's, who stood there too
    try:
        uniforms = teach_uniforms(typical(frames), recording.scene)
    except NotTaught as bad:
        raise RecordingError(folder / recording.clip, str(bad)) from bad
    path = beside(folder) / NAME if out is None else out
    replaced = ", in place of those taught before" if path.exists() else ""
    write_uniforms(path, uniforms)
    echo(f"the uniforms are in {on_one_line(path)}{replaced}")

"""`rig clips`: shots of the twin with their truth, as many as wanted, to test an eye on."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from rig.cli.application import app
from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line
from rig.files.ready_folder import folder_to_fill

__all__ = ["clips"]


@app.command(rich_help_panel="Look")
def clips(
    folder: Annotated[Path, typer.Argument(help="where the recordings go, one folder a shot")],
    count: Annotated[int, typer.Option(min=1, help="how many")] = 20,
    seed: Annotated[
        int, typer.Option(min=0, help="number of the first; the same number is the same shot")
    ] = 1,
) -> None:
    """Film shots of the twin with their truth, each at another table, in other light, by another camera.

    A shot that is there already is left alone, so that a run that was ended can be taken up again.
    """
    from rig.files.file_lock import LockTaken, hold_lock_beside

    there = 0
    with folder_to_fill(folder):
        for number in range(seed, seed + count):
            place = folder / f"clip-{number:05d}"
            try:
                with hold_lock_beside(place, "rig clips", wait=False):
                    there += not _filmed(place, number)
            except LockTaken as taken:
                echo(f"{on_one_line(place)}: {taken.holder or 'another rig clips,'} films it")
    if there == count:
        asked_for = "the one asked for is" if count == 1 else f"all {count} asked for are"
        echo(f"{on_one_line(folder)}: {asked_for} there already")


def _filmed(place: Path, number: int) -> bool:
    """Film a shot into its folder; says whether it was not there already."""
    from rig.files.whole_file import write_whole
    from rig.recording import KEYS_NAME, write_recording
    from twin.clips import film

    if (place / KEYS_NAME).exists():
        return False
    with folder_to_fill(place):
        clip = film(number)
        beside = {"truth": clip.truth.as_json(), "look": clip.look}
        try:
            for name, told in beside.items():
                write_whole(place / f"{name}.json", json.dumps(told) + "\n")
            write_recording(place, clip.keys, clip.frames)
        except BaseException:
            # A truth without its pictures is half a clip, and takes the room that was wanting.
            for name in beside:
                with suppress(OSError):
                    (place / f"{name}.json").unlink()
            raise
    echo(f"{on_one_line(place)}: {len(clip.frames)} pictures, {len(clip.truth.falls)} fell")
    return True

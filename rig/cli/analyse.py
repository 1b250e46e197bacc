"""`rig analyse`: what recordings show, in words or as JSON; one of them, or thousands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import app
from rig.cli.terminal.sentences import echo
from rig.files.ready_folder import ready_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["analyse"]

_UNREADABLE = 2  # exit status, as for a single recording that cannot be read, or kept


@app.command(rich_help_panel="Look")
def analyse(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER",
            readable=False,  # one that must not be read is told like every bad one, and the rest is read
            help="a shot's recording: a folder with recording.json; several, or a folder of such folders, are read in parallel",
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="print one JSON object and nothing else; of several, one a line")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="how many to read at a time; by default, one for each core"),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="keep the reading in the recording's folder, beside older ones")
    ] = False,
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="keep readings there, where the recordings must not be written to"
        ),
    ] = None,
) -> None:
    """Read recorded shots: who stood where, who fell and why, who leaves.

    Readings of several are kept in each recording's folder; what the same code has read before is not read again.
    """
    from rig.files.one_line import on_one_line
    from rig.verdict.analyse_many import find_recordings

    found, left_out = find_recordings(folders)
    for folder in left_out:
        echo(f"rig: {on_one_line(folder)} has a film and no recording.json: left out", err=True)
    if len(found) == 1 and found[0] in folders and not keep and into is None:
        _one(found[0], as_json=as_json)
    else:
        _many(found, as_json=as_json, jobs=jobs, into=into)


def _one(folder: Path, *, as_json: bool) -> None:
    import cv2

    from rig.verdict.analyse import analyse_folder

    # One picture is too little to share out: OpenCV's threads would take a sixth more of the processor, and no less time.
    cv2.setNumThreads(1)
    analysis = analyse_folder(folder)
    if as_json:
        print(json.dumps(analysis.as_json()))
        return
    for line in analysis.in_words():
        echo(line)


def _many(folders: Sequence[Path], *, as_json: bool, jobs: int | None, into: Path | None) -> None:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from rig.cli.terminal.progress import progress_on
    from rig.verdict.analyse_many import Outcome, Tally, analyse_many, usual_jobs

    # What is read goes to standard output; progress and complaints do not.
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    tally = Tally()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    if into is not None:
        ready_folder(into)  # before hours of reading that could not be kept
    with progress_on(console, *columns) as progress:
        task = progress.add_task("reading", total=len(folders))
        for read in analyse_many(folders, jobs=min(jobs or usual_jobs(), len(folders)), into=into):
            tally.add(read)
            if read.why:
                console.print(f"rig: {read.why}", markup=False)
            if as_json and read.result is not None:
                print(json.dumps({"folder": str(read.folder), **read.result}), flush=True)
            elif not as_json and (line := read.in_a_line()) is not None:
                echo(line)
            progress.advance(task)
    for line in tally.in_words():
        echo(line, err=as_json)
    if tally.outcomes[Outcome.UNKEPT] and into is None:
        echo("rig: --into FOLDER keeps readings in another folder", err=True)
    if tally.outcomes[Outcome.BAD] or tally.outcomes[Outcome.UNKEPT]:
        raise typer.Exit(_UNREADABLE)

"""`rig monitor`: what controller and cannon say to each other, in words, while they say it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import SETTINGS_FILE, SettingsFile, check_transcript, settings_or_defaults
from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line

if TYPE_CHECKING:
    from rig.link.transcript import Entry
    from rig.settings import Settings

__all__ = ["monitor"]

_PAUSE_S = 0.1
_LISTEN_US = 100_000


@app.command(rich_help_panel="Look")
def monitor(
    file: Annotated[
        Path | None,
        typer.Argument(
            callback=check_transcript,
            help="the transcript to follow; by default the newest of the settings' folder",
        ),
    ] = None,
    port: Annotated[
        str | None,
        typer.Option(help="listen to the cannon at this serial port or URL, which no other program uses"),
    ] = None,
    quiet_s: Annotated[
        float | None,
        typer.Option(
            "--quiet", min=0, metavar="SECONDS", help="end where nothing came for so long; else at Ctrl-C"
        ),
    ] = None,
    heartbeats: Annotated[bool, typer.Option("--heartbeats", help="tell the heartbeats too")] = False,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Follow a running session in words, or listen to a cannon; nothing moves."""
    from rig.link.transcript import tell

    if file is not None and port is not None:
        raise typer.BadParameter("a file or a port, not both", param_hint="--port")
    chosen = settings_or_defaults(settings)
    entries = (
        _at_port(chosen, port, quiet_s) if port is not None else _in_file(file or _newest(chosen), quiet_s)
    )
    for line in tell(entries, heartbeats=heartbeats):
        echo(line)


def _newest(settings: Settings) -> Path:
    folder = Path(settings.log.transcripts)
    written = {path: path.stat().st_mtime for path in sorted(folder.glob("*.transcript"))}
    if not written:
        raise RefusedError(
            f"there is no transcript in {folder} yet; a session leaves one, or listen with --port PORT"
        )
    # Not by their names, which any clock or hand may have given. And what was written after now was written before the
    # clock was set back.
    now_s = time.time()
    return max(written, key=lambda path: (written[path] <= now_s, written[path]))


def _in_file(path: Path, quiet_s: float | None) -> Iterator[Entry]:
    from rig.link.transcript import follow_transcript

    echo(f"following {on_one_line(path)}", err=True)
    heard_s = time.monotonic()

    def pause() -> bool:
        if quiet_s is not None and time.monotonic() - heard_s >= quiet_s:
            return False
        time.sleep(_PAUSE_S)
        return True

    for entry in follow_transcript(path, pause):
        heard_s = time.monotonic()
        yield entry


def _at_port(settings: Settings, url: str, quiet_s: float | None) -> Iterator[Entry]:
    """Say hello to the cannon and keep the line alive, so that it tells what happens; give all that passes."""
    from game.montecassino import Position
    from rig.cli.opening.line import make_folders, on_port, open_line
    from rig.link.history import read_history
    from rig.link.messages import ReadStatus
    from rig.link.transcript import follow_transcript

    make_folders(settings, "transcripts")
    with open_line(on_port(settings, url), Position.parse(settings.game.position)) as line:
        events_us = line.clock.now_us()

        def pause() -> bool:
            nonlocal events_us
            if line.link.wait(_LISTEN_US):
                events_us = line.clock.now_us()
            return quiet_s is None or line.clock.now_us() - events_us < quiet_s * 1e6

        line.link.identify()
        line.link.ask(ReadStatus())
        read_history(line.link)  # told as all that passes is
        yield from follow_transcript(line.transcript_path, pause)

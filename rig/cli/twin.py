"""`rig twin`: a twin in real time, reached by a serial port and a camera's URL as real hardware is."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import SETTINGS_FILE, SettingsFile, settings_or_defaults
from rig.cli.terminal.sentences import echo

if TYPE_CHECKING:
    from twin.realtime import Address

__all__ = ["twin"]


@app.command(rich_help_panel="Start here")
def twin(
    camera_port: Annotated[
        int, typer.Option(min=0, max=65_535, help="TCP port for the pictures; 0: any free one")
    ] = 0,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Serve the twin in real time until Ctrl-C, for a rig in another terminal that takes it for real hardware."""
    from game.montecassino import Position
    from rig.cli.opening.twin_table import twin_settings
    from twin.realtime import serve
    from twin.stream import StreamError

    chosen = settings_or_defaults(settings)
    position = Position.parse(chosen.game.position)

    def tell_how(address: Address) -> None:
        shoot = chosen.command("shoot", f"G-49 --port {address.serial_path} --camera {address.camera_url}")
        echo(f"in another terminal: {shoot}")

    try:
        serve(
            twin_settings(chosen, position),
            stop=threading.Event(),
            say=typer.echo,
            ready=tell_how,
            http_port=camera_port,
        )
    except StreamError as error:
        if camera_port == 0:
            raise
        raise RefusedError(
            f"{error}; name another with --camera-port, or leave it out for any free one"
        ) from error
    except KeyboardInterrupt:
        echo("ended")

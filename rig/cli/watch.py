"""`rig watch`: the live picture with board, squares and soldiers drawn over it, and what speaks against a shot."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import SETTINGS_FILE, SettingsFile, settings_of_this_table
from rig.cli.arguments.outputs import check_photo
from rig.cli.terminal.sentences import echo
from rig.files.whole_file import write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from game.montecassino import Position
    from rig.camera import Camera, Frame
    from rig.settings import Settings
    from rig.watching import TableWatch

    Show = Callable[[NDArray[np.uint8]], bool]
    """Shows a picture, and says whether to go on."""

__all__ = ["watch"]

_SHOWN_S = 0.08  # a dozen pictures a second are shown; every picture is looked at
_PASS_S = 0.02
_SAVE_WITHIN_S = 5.0
_WINDOW = "rig watch (q ends)"


@app.command(rich_help_panel="Look")
def watch(
    camera: Annotated[
        str | None,
        typer.Option(help="camera number, file or URL, in place of the settings'"),
    ] = None,
    position: Annotated[
        str | None, typer.Option(help="who should stand where; what differs is told. Without it: read")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=check_photo,
            help="write one picture with everything drawn over it, and end",
        ),
    ] = None,
    page: Annotated[
        bool, typer.Option("--page", help="show it on a page for the browser, though there is a screen")
    ] = False,
    page_port: Annotated[
        int, typer.Option(min=0, max=65535, help="TCP port for that page; 0: any free one")
    ] = 0,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for", min=0, metavar="SECONDS", help="end so long after the first picture; else at Ctrl-C"
        ),
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Show the table live: board, squares, soldiers, and whether a shot would be refused; nothing moves."""
    from game.montecassino import Position
    from rig.cli.opening.line import through_camera
    from rig.eye import fewest_fps_of, scene_of
    from rig.watching import TableWatch

    if save is not None and (page or page_port):
        raise typer.BadParameter(
            f"{save} is one picture, and then it ends: give --save, or --page and its --page-port"
        )
    chosen = through_camera(settings_of_this_table(settings), camera)
    given = None if position is None else Position.parse(position)
    standing = Position.parse(chosen.game.position) if given is None else given
    with ExitStack() as stack:
        source, pass_time = stack.enter_context(_source(chosen, standing))
        scene = scene_of(
            chosen, side=standing.turn, fps=source.fps, expected=None if given is None else given.soldiers
        )
        table = TableWatch(scene, fewest_fps=fewest_fps_of(chosen))
        show = _saving(save, table) if save is not None else stack.enter_context(_showing(page, page_port))
        shown_to_the_end = _watch(table, source, pass_time, show, seconds)
    if save is not None and not shown_to_the_end:
        raise RefusedError(
            f"{save} is not written: the table was not read within the {seconds:g} s of --for; give it longer"
        )


def _watch(
    table: TableWatch, source: Camera, pass_time: Callable[[], None], show: Show, seconds: float | None
) -> bool:
    """Look at every picture, show some, and tell on the terminal whenever something else is the matter.

    It ends `seconds` after the first picture, if they are given, and is then False; or, True, as `show` says.

    Raises
    ------
    CameraGone, CameraStalled
        Where no pictures come any more.
    """
    from rig.camera.silence import Silence

    ends_s = math.inf
    shown_s = 0.0
    silence = Silence(source)
    newest: Frame | None = None
    told: object = None
    while time.monotonic() < ends_s:
        pass_time()
        if frames := source.poll():
            if newest is None and seconds is not None:
                ends_s = time.monotonic() + seconds
            for newest in frames:
                table.look(newest.timestamp_us, newest.image)
            if (now := (table.clear, table.trouble, table.too_slow)) != told:
                told = now
                echo(table.state if table.clear else f"not clear: {table.state}")
            silence.broken()
        else:
            silence.lasts()
        # Also while none comes: a window hears its keys only when it is shown something.
        if newest is not None and time.monotonic() - shown_s >= _SHOWN_S:
            shown_s = time.monotonic()
            if not show(table.draw(newest.image)):
                return True
    return False


@contextmanager
def _source(settings: Settings, position: Position) -> Iterator[tuple[Camera, Callable[[], None]]]:
    """Open the camera, and give what lets time pass for it."""
    from rig.cli.opening.rig import real_camera
    from rig.link.serial_port import WallClock
    from rig.settings import TWIN

    if settings.camera.source == TWIN:
        from rig.cli.opening.twin import TwinCamera
        from rig.cli.opening.twin_table import twin_settings
        from twin import Twin

        with Twin(twin_settings(settings, position)) as twin:

            def run() -> None:
                begun_s = time.monotonic()
                twin.run_for(round(_PASS_S * 1e6))
                time.sleep(max(0.0, _PASS_S - (time.monotonic() - begun_s)))

            yield TwinCamera(twin), run
        return
    camera = real_camera(settings, WallClock())
    try:
        yield camera, lambda: time.sleep(_PASS_S)
    finally:
        camera.close()


def _saving(path: Path, table: TableWatch) -> Show:
    """Write the first picture in which the table was read, or what there is after a few seconds."""
    import cv2

    begun_s = time.monotonic()

    def show(picture: NDArray[np.uint8]) -> bool:
        if table.standing is None and time.monotonic() - begun_s < _SAVE_WITHIN_S:
            return True
        write_whole(path, cv2.imencode(path.suffix.lower(), picture)[1].tobytes())
        typer.echo(str(path))
        return False

    return show


@contextmanager
def _showing(page: bool, port: int) -> Iterator[Show]:
    """Show pictures in a window where there is a screen, else on a page for the browser."""
    if not page and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        # Of the window's own worries, such as fonts that it does not need, the terminal shows none.
        os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")
        if _window_opens():
            yield _window()
            return
        echo("no window can be opened on this screen, so the table is shown on a page:")
    from twin.stream import MjpegServer

    server = MjpegServer(port=port)
    echo(f"open {server.page_url} in a browser; Ctrl-C ends")

    def publish(picture: NDArray[np.uint8]) -> bool:
        server.publish(picture)
        return True

    try:
        yield publish
    finally:
        server.close()


def _window_opens() -> bool:
    """Try it in a process of its own: where the screen is out of reach, OpenCV's window ends the whole program."""
    tried = subprocess.run(
        [sys.executable, "-P", "-c", "import cv2; cv2.namedWindow('rig'); cv2.waitKey(1)"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


def _window() -> Show:
    """Open a plain window, without the tools for editing pictures that it would have."""
    import cv2

    cv2.namedWindow(_WINDOW, cv2.WINDOW_AUTOSIZE | cv2.WINDOW_GUI_NORMAL)

    def show(picture: NDArray[np.uint8]) -> bool:
        cv2.imshow(_WINDOW, picture)
        pressed = cv2.waitKey(1)
        return pressed not in {ord("q"), 27} and cv2.getWindowProperty(_WINDOW, cv2.WND_PROP_VISIBLE) >= 1

    return show

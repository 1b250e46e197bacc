"""A twin on wall time, for `rig twin`: a serial port and a camera stream that the controller takes for real ones.

The chip's thread is the caller's; pictures are drawn on another, so that a large picture does not hold the line up.
Opening the serial port resets the board, as it does on an Uno. An attendant is always there: without one nobody would
turn the key or load. Where the machine does not keep up, the twin's time goes slower, and that is said.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace

from twin.chip import ResetCause
from twin.pictures.camera import CameraGoneError, Frame
from twin.pty_line import PtyLine
from twin.settings import TwinSettings
from twin.stream import MjpegServer, plan_stream
from twin.twin import Twin

_STEP_US = 2000
_SLIP_US = 100_000
"""So far behind the wall clock the lost time is given up."""
_PICTURES_WAITING = 32
_WARM_UP_S = 20.0
_BOOT_US = 200_000
"""The board has been on for so long when the port appears."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a served twin is reached."""

    serial_path: str
    """To open as a serial port."""
    camera_url: str
    """To open with OpenCV or a browser."""


class _Painting(threading.Thread):
    """Draws frames and hands them to the server; too many waiting, and the oldest are dropped as by a camera.

    Once the camera is unplugged it draws what waits, and then ends the stream, as a camera's driver does.
    """

    def __init__(self, server: MjpegServer) -> None:
        super().__init__(name="twin pictures", daemon=True)
        self._server = server
        self._frames: deque[Frame] = deque(maxlen=_PICTURES_WAITING)
        self._some = threading.Event()
        self._first_drawn = threading.Event()
        self._ending = False
        self.unplugged = False

    def add(self, frames: list[Frame]) -> None:
        self._frames.extend(frames)
        self._some.set()

    def run(self) -> None:
        while not self._ending:
            self._some.wait()
            self._some.clear()
            while self._frames and not self._ending:
                self._server.publish(self._frames.popleft().image)
                self._first_drawn.set()
            if self.unplugged:
                self._server.close()
                return

    def warm_up(self, frames: list[Frame]) -> None:
        """Draw a first picture, which takes far longer than the next, and wait for it; where none has come yet, do not."""
        if frames:
            self.add(frames[-1:])
            self._first_drawn.wait(_WARM_UP_S)

    def unplug(self) -> None:
        """Let no more frames come."""
        self.unplugged = True
        self._some.set()

    def end(self) -> None:
        self._ending = True
        self._some.set()
        self.join()


def serve(
    settings: TwinSettings,
    *,
    stop: threading.Event,
    say: Callable[[str], None],
    ready: Callable[[Address], None] | None = None,
    http_port: int = 0,
) -> None:
    """Serve a twin in real time until `stop` is set.

    Parameters
    ----------
    settings
        The twin. Its camera's size and rate are lowered to what this machine holds.
    stop
        Ends it.
    say
        Is told, in sentences, where the twin is, what picture it gives, and when it falls behind.
    ready
        Is called once, when both ends can be opened.
    http_port
        Where on this computer to serve the pictures; 0 is any free one.

    Raises
    ------
    twin.chip.ChipMissing
        Where the firmware or the chip's library has not been built.
    twin.stream.StreamError
        Where the address for the pictures is taken.
    twin.pty_line.NoPty
        Where the machine has no pseudo-terminal to give.
    """
    plan = plan_stream(settings.camera, settings.table)
    attendant = replace(settings.attendant, present=True)
    with (
        Twin(replace(settings, camera=plan.camera, attendant=attendant)) as twin,
        closing(MjpegServer(port=http_port)) as server,
        closing(PtyLine()) as line,
    ):
        twin.run_for(_BOOT_US)
        painting = _Painting(server)
        painting.start()
        try:
            painting.warm_up(_frames_of(twin, painting, say))
            say(f"camera: {server.url} gives {plan}")
            say(f"serial port: {line.path} (opening it resets the board)")
            if ready is not None:
                ready(Address(line.path, server.url))
            _run(twin, line, painting, stop, say)
        finally:
            painting.end()


def _run(
    twin: Twin, line: PtyLine, painting: _Painting, stop: threading.Event, say: Callable[[str], None]
) -> None:
    began_s = time.monotonic()
    begin_us = twin.now_us
    while not stop.is_set():
        data, opened = line.read()
        if opened:
            twin.chip.clear_line()
            twin.chip.reset(ResetCause.EXTERNAL)
        if data:
            twin.port.write(data)
        behind_us = begin_us + round((time.monotonic() - began_s) * 1e6) - twin.now_us
        if behind_us > _SLIP_US:
            say(f"this machine is {behind_us / 1000:.0f} ms behind; the twin's time goes slower")
            begin_us -= behind_us
        elif behind_us < _STEP_US:
            stop.wait((_STEP_US - behind_us) / 1e6)
            continue
        twin.run_for(_STEP_US)
        line.write(twin.from_chip())
        painting.add(_frames_of(twin, painting, say))


def _frames_of(twin: Twin, painting: _Painting, say: Callable[[str], None]) -> list[Frame]:
    """Return the frames since the last call; none once the camera is unplugged, which is said as it happens.

    An unplugged camera is no end of the cannon: what the controller does then is what one wants to see.
    """
    if painting.unplugged:
        return []
    try:
        return twin.camera.poll()
    except CameraGoneError:
        say("the camera is unplugged: no more pictures come")
        painting.unplug()
        return []

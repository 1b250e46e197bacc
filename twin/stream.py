"""The camera's pictures over HTTP, as motion JPEG that OpenCV and browsers open.

The caller drives time and hands over each picture; the server runs on a thread of its own. `plan_stream` says what
size and rate this machine holds in real time, by trying.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import cv2
import numpy as np
import uvicorn
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.routing import Route

from twin.pictures.camera import Camera, CameraSettings
from twin.settings import starting_position
from twin.table import Table, TableSettings

PATH = "/camera.mjpg"
_BOUNDARY = "picture"
_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Montecassino rig: the table</title>
<style>
  html, body {{ margin: 0; height: 100%; background: #1e2126; color: #ebebeb; font: 18px sans-serif }}
  img {{ display: block; width: 100%; height: 100%; object-fit: contain }}
  p {{ padding: 2em }}
</style>
<img src="{PATH}" alt="the table as the camera sees it"
  onerror="document.body.innerHTML = '&lt;p&gt;No more pictures: the program that showed them has ended.&lt;/p&gt;'">
</html>
"""
_WAITING = 240
"""A client this many pictures behind loses the oldest."""
_JPEG_QUALITY = 85
_WIDTHS_PX = (1280, 960, 640)
_ENOUGH_FPS = 60.0
"""A larger picture is preferred while it comes at least this often."""
_SHARE = 0.5
"""The part of one core that pictures may take; the rest is the chip's and the physics'."""


class StreamError(OSError):
    """The stream cannot be served."""


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What this machine holds in real time."""

    camera: CameraSettings
    """The wanted camera at that size and rate."""
    cost_ms: float
    """Time that one picture with movement takes, JPEG included."""

    def __str__(self) -> str:
        lens = self.camera.lens
        return (
            f"{lens.width_px} x {lens.height_px} at {self.camera.fps:g} pictures a second "
            f"({self.cost_ms:.0f} ms a picture on this machine)"
        )


def plan_stream(wanted: CameraSettings, table: TableSettings) -> StreamPlan:
    """Measure pictures of a shot, and return the size and rate that can be held.

    Parameters
    ----------
    wanted : CameraSettings
        The camera at its best; rate and size are only ever lowered, and the size of a calibrated lens never.
    table : TableSettings
        What it looks at.
    """
    own_px = wanted.lens.width_px
    smaller_px = [width_px for width_px in _WIDTHS_PX if width_px < own_px]
    if wanted.lens.centre_px is not None:
        smaller_px = []  # a lens that was calibrated is known for pictures of that size alone
    for width_px in (own_px, *smaller_px):
        camera = replace(wanted, lens=wanted.lens.scaled(width_px / own_px))
        cost_ms = _picture_ms(camera, table)
        fps = min(wanted.fps, _SHARE * 1000.0 / cost_ms)
        plan = StreamPlan(replace(camera, fps=_round_rate(fps)), cost_ms)
        if fps >= min(wanted.fps, _ENOUGH_FPS):
            break
    return plan


def _round_rate(fps: float) -> float:
    for usual in (120.0, 100.0, 60.0, 50.0, 30.0, 25.0, 15.0, 10.0, 5.0, 2.0):
        if fps >= usual:
            return usual
    return 1.0  # no camera is slower


def _picture_ms(settings: CameraSettings, table_settings: TableSettings) -> float:
    """Return the median time of a picture in which a shot flies past soldiers."""
    table = Table(table_settings, starting_position())
    # What keeps pictures from coming makes none of them cheaper.
    faults = replace(
        settings.faults,
        drop_probability=0.0,
        late_us=0,
        waver_us=0,
        stall_at_us=None,
        gone_at_us=None,
        cap_on_at_us=None,
    )
    camera = Camera(replace(settings, fps=200.0, faults=faults), table)
    middle_mm = 4.5 * table_settings.square_mm
    try:
        table.launch((middle_mm, -30.0, 45.0), 0.0, -0.04, 9.0, 0)
        camera.advance(150_000 + settings.exposure_us)
        frames = camera.poll()
        _ = frames[0].image
        taken_ms = []
        for frame in frames[-12:]:
            began = time.perf_counter()
            _jpeg(frame.image)
            taken_ms.append((time.perf_counter() - began) * 1e3)
    finally:
        camera.close()
    return float(np.median(taken_ms))


def _jpeg(image: NDArray[np.uint8]) -> bytes:
    _, packed = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return packed.tobytes()


def _bound(host: str, port: int) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # also where the last server has just ended
    try:
        bound.bind((host, port))
        bound.listen()
    except OSError as error:
        bound.close()
        raise StreamError(f"cannot serve pictures at {host}:{port}: {error.strerror}") from error
    return bound


class MjpegServer:
    """Serves pictures to any number of clients.

    Parameters
    ----------
    host : str
        Address to listen at.
    port : int
        0 for any free one.

    Raises
    ------
    StreamError
        If the address is taken, or not to be had for another reason, or the server does not start.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._clients: set[asyncio.Queue[bytes | None]] = set()
        self._latest: bytes | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        app = Starlette(routes=[Route("/", self._show), Route(PATH, self._respond)])
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        # Bound here: uvicorn would end the thread without a word of what is wrong with the address.
        self._socket = _bound(host, port)
        address = self._socket.getsockname()
        self._thread = threading.Thread(target=self._serve, name="camera stream", daemon=True)
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
            if not self._thread.is_alive():
                self._socket.close()
                raise StreamError(
                    f"cannot serve pictures at {address[0]}:{address[1]}: the server did not start"
                )
        self.page_url = f"http://{address[0]}:{address[1]}/"
        """A page with the pictures, for a browser."""
        self.url = f"{self.page_url.rstrip('/')}{PATH}"
        """The pictures alone: what to give to OpenCV."""

    def _serve(self) -> None:
        async def run() -> None:
            self._loop = asyncio.get_running_loop()
            await self._server.serve([self._socket])

        asyncio.run(run())

    def publish(self, image: NDArray[np.uint8]) -> None:
        """Send a picture to everybody who watches; it stays to be shown to who comes later."""
        packed = _jpeg(image)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._spread, packed)

    def _spread(self, packed: bytes) -> None:
        self._latest = packed
        for client in self._clients:
            if client.full():
                client.get_nowait()
            client.put_nowait(packed)

    async def _show(self, _: Request) -> HTMLResponse:
        return HTMLResponse(_PAGE)

    async def _respond(self, _: Request) -> StreamingResponse:
        return StreamingResponse(
            self._pictures(), media_type=f"multipart/x-mixed-replace; boundary={_BOUNDARY}"
        )

    async def _pictures(self) -> AsyncIterator[bytes]:
        client: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING)
        if self._latest is not None:
            client.put_nowait(self._latest)
        self._clients.add(client)
        try:
            while (packed := await client.get()) is not None:
                head = f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(packed)}\r\n\r\n"
                yield head.encode() + packed + b"\r\n"
        finally:
            self._clients.discard(client)

    def close(self) -> None:
        """Let the clients go and stop serving."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._dismiss)
        self._server.should_exit = True
        self._thread.join()

    def _dismiss(self) -> None:
        for client in self._clients:
            if client.full():
                client.get_nowait()
            client.put_nowait(None)

"""The real firmware core, built for the PC, at a serial port of this computer."""

from __future__ import annotations

import os
import pty
import select
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from table_top import TableTop


@contextmanager
def served(table: TableTop, *, speed: int | None = None) -> Iterator[str]:
    """Give the name of a port at whose other end a table stands; at another line speed (a `termios.B...`) it hears noise."""
    controller, device = pty.openpty()
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            if select.select([controller], [], [], 0.005)[0]:
                data = os.read(controller, 256)
                heard = speed is None or termios.tcgetattr(controller)[4] == speed
                table.write(data if heard else bytes(byte ^ 0x5A for byte in data))
            if sent := table.read(5_000):
                os.write(controller, sent)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield os.ttyname(device)
    finally:
        ended.set()
        thread.join()
        os.close(controller)
        os.close(device)

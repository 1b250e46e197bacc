"""The boot loader of an Arduino Uno at the far end of a serial port: what real avrdude talks to when nobody has an Uno.

It speaks the part of STK500 version 1 (Atmel application note AVR061) that Uno boot loaders do, and keeps the chip's
flash memory. It hears only its own baud rate, as a chip does, and forgets a command whose rest does not come: a chip
would be reset by its watchdog, and by whoever opens the port next.
"""

from __future__ import annotations

import os
import select
import termios
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

SPEEDS = {57_600: termios.B57600, 115_200: termios.B115200}
IN_SYNC, OK, END = b"\x14", b"\x10", 0x20
# Bytes that follow the command, without the END.
PARAMETERS = {
    ord("0"): 0,
    ord("1"): 0,
    ord("A"): 1,
    ord("B"): 20,
    ord("E"): 5,
    ord("P"): 0,
    ord("Q"): 0,
    ord("U"): 2,
    ord("V"): 4,
    ord("u"): 0,
    ord("t"): 3,
}
PROGRAM_PAGE = ord("d")
PATIENCE_S = 0.5


class BootLoader:
    """Answers as long as it is held open; `flash` is what was written."""

    def __init__(self, baud: int, signature: bytes = b"\x1e\x95\x0f") -> None:
        self.flash = bytearray(b"\xff" * 32_768)
        self._speed = SPEEDS[baud]
        self._signature = signature
        self._address = 0
        self._near, far = os.openpty()
        tty.setraw(far)
        self._far = far
        self.path = os.ttyname(far)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _next(self, within_s: float) -> int | None:
        """Return the next byte at its own speed; None: none came."""
        until_s = time.monotonic() + within_s
        while not self._stop.is_set() and time.monotonic() < until_s:
            if select.select([self._near], [], [], 0.05)[0]:
                byte = os.read(self._near, 1)
                if termios.tcgetattr(self._far)[5] == self._speed:
                    return byte[0]
        return None

    def _take(self, count: int) -> bytes | None:
        taken = bytearray()
        for _ in range(count):
            byte = self._next(PATIENCE_S)
            if byte is None:
                return None
            taken.append(byte)
        return bytes(taken)

    def _run(self) -> None:
        while not self._stop.is_set():
            command = self._next(PATIENCE_S)
            if command is None:
                continue
            parameters = self._parameters(
                command
            )  # of noise, and of the remains of something, there are none
            if parameters is not None and self._next(PATIENCE_S) == END:
                os.write(self._near, IN_SYNC + self._do(command, parameters) + OK)

    def _parameters(self, command: int) -> bytes | None:
        if command == PROGRAM_PAGE:
            header = self._take(3)
            page = None if header is None else self._take(int.from_bytes(header[:2], "big"))
            return None if header is None or page is None else header + page
        return self._take(PARAMETERS[command]) if command in PARAMETERS else None

    def _do(self, command: int, parameters: bytes) -> bytes:
        match chr(command):
            case "1":
                return b"AVR ISP"
            case "A":
                return b"\x04"
            case "V":
                return b"\x00"
            case "u":
                return self._signature
            case "U":
                self._address = 2 * int.from_bytes(parameters, "little")
            case "d":
                page = parameters[3:]
                self.flash[self._address : self._address + len(page)] = page
            case "t":
                return bytes(self.flash[self._address :][: int.from_bytes(parameters[:2], "big")])
        return b""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        os.close(self._near)
        os.close(self._far)


@contextmanager
def boot_loader(baud: int, signature: bytes = b"\x1e\x95\x0f") -> Iterator[BootLoader]:
    """Have a boot loader wait at `path` for as long as the block lasts."""
    loader = BootLoader(baud, signature)
    loader.start()
    try:
        yield loader
    finally:
        loader.stop()

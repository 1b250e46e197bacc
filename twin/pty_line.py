"""A serial port that is none: a pseudo-terminal whose far end any serial program can open."""

from __future__ import annotations

import errno
import os
import tty
from contextlib import suppress

_READ_BYTES = 256


class NoPty(OSError):
    """A machine that gives no pseudo-terminal."""


class PtyLine:
    """The near end of a pseudo-terminal.

    Attributes
    ----------
    path : str
        What to open at the far end.

    Raises
    ------
    NoPty
        Where the machine has none to give.
    """

    def __init__(self) -> None:
        try:
            self._near, far = os.openpty()
        except OSError as error:
            raise NoPty(
                f"no pseudo-terminal can be opened here ({error.strerror}); is /dev/pts mounted?"
            ) from error
        tty.setraw(far)
        self.path = os.ttyname(far)
        os.close(far)  # so that the kernel tells when somebody else opens it
        os.set_blocking(self._near, False)
        self._open = False
        self._waiting = b""

    def read(self) -> tuple[bytes, bool]:
        """Return what came since the last call, and whether somebody has opened the port in the meantime."""
        try:
            data = os.read(self._near, _READ_BYTES)
        except BlockingIOError:
            data = b""
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            self._open = False
            self._waiting = b""
            return b"", False
        opened = not self._open
        self._open = True
        return data, opened

    def write(self, data: bytes) -> None:
        """Send; what nobody listens to is lost, as on a real line."""
        if not self._open:
            return
        self._waiting += data
        with suppress(BlockingIOError):
            self._waiting = self._waiting[os.write(self._near, self._waiting) :]

    def close(self) -> None:
        """Take the port away. Closing twice is allowed."""
        if self._near >= 0:
            os.close(self._near)
            self._near = -1

"""A real line to the cannon: any URL that pyserial opens, on the computer's own clock."""

import errno
import time
from pathlib import Path

import serial
from serial.tools import list_ports

from rig.link.errors import PortBusy, PortError, PortForbidden, PortGone, PortMissing

__all__ = ["SerialPort", "WallClock"]

# How long one blocking read lasts at most. pyserial's timeout stays at this and longer waits are made of several,
# since changing it on an open rfc2217:// port negotiates the whole line anew.
_SLICE_US = 10_000
_VANISHED = "it has vanished (unplugged, or the program at its other end has gone)"


class WallClock:
    """The computer's monotonic clock."""

    def now_us(self) -> int:
        """Return the time, from an arbitrary zero."""
        return time.monotonic_ns() // 1000


class SerialPort:
    """A serial device or anything else that pyserial knows as one.

    Parameters
    ----------
    url
        `/dev/ttyUSB0`, `COM3`, `socket://host:port`, `rfc2217://host:port`, `loop://`.
    baud
        Bits a second; lines that are no serial line take no notice of it.

    Raises
    ------
    PortMissing, PortBusy, PortForbidden, PortError
        Where it does not open; the text says what is missing.
    """

    def __init__(self, url: str, *, baud: int) -> None:
        self.url = url
        try:
            self._serial = serial.serial_for_url(url, baudrate=baud, timeout=_SLICE_US / 1e6, exclusive=True)
        # What a mistake in a URL raises, pyserial leaves to chance: KeyError, re.error.
        except Exception as error:
            raise _why_not_open(url, error) from error

    def read(self, timeout_us: int) -> bytes:
        """Return what has come, as soon as there is a byte, or b"" after `timeout_us` (to the next 10 ms)."""
        deadline_ns = time.monotonic_ns() + timeout_us * 1000
        try:
            data: bytes = self._serial.read(1)
            while not data and time.monotonic_ns() < deadline_ns:
                data = self._serial.read(1)
            if data:
                # socket:// says only whether there is more, not how much.
                while (waiting := self._serial.in_waiting) and len(data) < 4096:
                    data += self._serial.read(waiting)
        except OSError as error:
            raise PortGone(self.url, _VANISHED) from error
        return data

    def write(self, data: bytes) -> None:
        """Send all of `data`."""
        try:
            self._serial.write(data)
        except OSError as error:
            raise PortGone(self.url, _VANISHED) from error

    def close(self) -> None:
        """Let the line go."""
        self._serial.close()


def _cause(error: BaseException) -> OSError | None:
    """Return the system's error behind one of pyserial's, whose network ports keep it only as context."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, OSError) and isinstance(found.errno, int):
            return found
        found = found.__context__
    return None


def _why_not_open(url: str, error: Exception) -> PortError:
    cause = _cause(error)
    number = cause.errno if cause is not None else None
    if "://" in url and cause is not None:
        why = f" ({cause.strerror})" if cause.strerror else ""
        return PortMissing(url, f"nobody answers there{why}; is the program at its other end running?")
    if number == errno.ENOENT:
        there = ", ".join(sorted(port.device for port in list_ports.comports())) or "none at all"
        return PortMissing(url, f"there is no such port; the ports of this computer: {there}")
    if number in {errno.EACCES, errno.EPERM}:
        return PortForbidden(url, f"you may not open it{_group_hint(url)}")
    if number in {errno.EBUSY, errno.EAGAIN, errno.EWOULDBLOCK}:
        return PortBusy(url, "another program is using it")
    if number in {errno.ENXIO, errno.ENODEV, errno.EIO}:
        return PortMissing(url, "the name is there but no device behind it")
    return PortError(
        url,
        f"it cannot be opened as a serial port ({str(error).rstrip('.')}); "
        "expected a device such as /dev/ttyUSB0 or COM3, socket://host:port or rfc2217://host:port",
    )


def _group_hint(path: str) -> str:
    """Return which group may open the device, and how to join it."""
    try:
        import grp  # noqa: PLC0415  (there is none on Windows, where no group guards a port)

        group = grp.getgrgid(Path(path).stat().st_gid).gr_name
    except (ImportError, OSError, KeyError):
        return ""
    return f"; the group {group} may: sudo usermod -aG {group} $USER, then log in again"

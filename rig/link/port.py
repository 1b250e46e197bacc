"""What the link stands on: something that carries bytes, and something that tells the time."""

from typing import Protocol

__all__ = ["Clock", "Port"]


class Clock(Protocol):
    """Time that only goes forward. A twin's clock runs with its simulated chip."""

    def now_us(self) -> int:
        """Return the time, from an arbitrary zero."""


class Port(Protocol):
    """A line of bytes to the cannon and back. All waiting in `rig` happens in `read`."""

    def read(self, timeout_us: int) -> bytes:
        """Return what has come, as soon as there is a byte, or b"" after `timeout_us` of the clock's time.

        Raises
        ------
        PortError
            Where the line is gone.
        """

    def write(self, data: bytes) -> None:
        """Send all of `data`.

        Raises
        ------
        PortError
            Where the line is gone.
        """

    def close(self) -> None:
        """Let the line go. Closing twice is allowed."""

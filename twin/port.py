"""The twin as `rig.link` sees it: a port and a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twin.twin import Twin


class TwinClock:
    """The twin's time, which stands still while nobody reads from its port."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin

    def now_us(self) -> int:
        """Return microseconds since power-on."""
        return self._twin.now_us


class TwinPort:
    """The serial line to the twin's chip; reading lets the twin's time pass."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin

    def read(self, timeout_us: int) -> bytes:
        """Return what has come, as soon as there is a byte, or b"" after `timeout_us` of the twin's time."""
        twin = self._twin
        end_cycle = twin.chip.cycle + twin.cycles_in(timeout_us)
        while True:
            data = twin.from_chip()
            if data or twin.chip.cycle >= end_cycle:
                return data
            twin.advance(end_cycle, stop_at_sent_byte=True)

    def write(self, data: bytes) -> None:
        """Send all of `data`; the chip gets it at the line's rate while time passes."""
        self._twin.to_chip(data)

    def close(self) -> None:
        """Let the line go. The twin goes on; close it by `Twin.close`."""

"""The cannon's clock set against the controller's, from round trips.

A round trip that left at `sent_us` and was back at `received_us` with the cannon's time `device_us` in it says that
the cannon's clock stood at `device_us` at some moment between the two. The best guess is the middle of what remains
once the time that the bytes themselves took is allowed for; the bound is the whole of the interval. Away from that
moment the bound grows with what the two clocks may drift apart.
"""

from collections import deque
from dataclasses import dataclass

__all__ = ["ClockMap", "HostTime"]

_WRAP_US = 1 << 32
# An Arduino Uno's ceramic resonator may be 0.5 % off (Murata CSTCE16M0V53, initial tolerance), a computer's crystal
# hardly counts beside that.
_DRIFT = 0.005
_KEPT = 32


@dataclass(frozen=True, slots=True)
class HostTime:
    """A moment of the cannon's clock on the controller's."""

    us: int
    """The best guess."""
    bound_us: int
    """It is wrong by this much at the most."""


@dataclass(frozen=True, slots=True)
class _RoundTrip:
    device_us: int
    guess_us: int
    bound_us: int


class ClockMap:
    """Keeps the last round trips and reads the cannon's times with the best of them."""

    def __init__(self) -> None:
        self._trips: deque[_RoundTrip] = deque(maxlen=_KEPT)

    def add(
        self, device_us: int, *, sent_us: int, received_us: int, request_us: int = 0, answer_us: int = 0
    ) -> None:
        """Take in a round trip; `request_us` and `answer_us` are what the bytes need at the line's speed."""
        earliest = min(sent_us + request_us, received_us)
        latest = max(received_us - answer_us, sent_us)
        guess = (earliest + latest) // 2
        bound = max(guess - sent_us, received_us - guess)
        self._trips.append(_RoundTrip(device_us, guess, bound))

    def clear(self) -> None:
        """Forget everything: the chip restarted, and its clock with it."""
        self._trips.clear()

    def to_host(self, device_us: int) -> HostTime | None:
        """Return a moment of the cannon's 32-bit clock on the controller's clock; None before any round trip.

        The moment is taken to lie within 35 minutes of the last round trip, half the time in which that clock turns.
        """
        best: HostTime | None = None
        for trip in self._trips:
            since_us = (device_us - trip.device_us + _WRAP_US // 2) % _WRAP_US - _WRAP_US // 2
            bound = trip.bound_us + round(abs(since_us) * _DRIFT)
            if best is None or bound <= best.bound_us:
                best = HostTime(trip.guess_us + since_us, bound)
        return best

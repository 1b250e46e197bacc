"""The cannon's clock set against the controller's, from round trips.

A round trip that left at `sent_us` and was back at `received_us` with the cannon's time `device_us` in it says that
the cannon's clock stood at `device_us` at some moment between the two. The best guess is the middle of what remains
once the time that the bytes themselves took is allowed for; the bound is the whole of the interval. Away from that
moment the bound grows with what the two clocks may drift apart, which round trips that lie farther apart tell better and better.
"""

from collections import deque
from dataclasses import dataclass

__all__ = ["ClockMap", "ClockRate", "HostTime"]

_WRAP_US = 1 << 32
# An Arduino Uno's ceramic resonator may be 0.5 % off (Murata CSTCE16M0V53, initial tolerance), a computer's crystal
# hardly counts beside that.
_DRIFT = 0.005
_KEPT = 32
# One round trip in a second is kept for two minutes: a resonator's rate changes with its warmth, by less in that time than
# the bytes' way hides.
_SELDOM_US, _SELDOM_KEPT = 1_000_000, 120
_TOLD = 1e-3  # so sure the rate must be to be believed


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


@dataclass(frozen=True, slots=True)
class ClockRate:
    """How fast the cannon's clock goes."""

    rate: float
    """Microseconds of the controller's clock in one of the cannon's."""
    bound: float
    """It is wrong by this much at the most."""


class ClockMap:
    """Keeps the last round trips and reads the cannon's times with the best of them."""

    def __init__(self) -> None:
        self._trips: deque[_RoundTrip] = deque(maxlen=_KEPT)
        self._seldom: deque[_RoundTrip] = deque(maxlen=_SELDOM_KEPT)

    def add(
        self, device_us: int, *, sent_us: int, received_us: int, request_us: int = 0, answer_us: int = 0
    ) -> None:
        """Take in a round trip; `request_us` and `answer_us` are what the bytes need at the line's speed."""
        earliest = min(sent_us + request_us, received_us)
        latest = max(received_us - answer_us, sent_us)
        guess = (earliest + latest) // 2
        bound = max(guess - sent_us, received_us - guess)
        trip = _RoundTrip(device_us, guess, bound)
        self._trips.append(trip)
        if not self._seldom or _since_us(device_us, self._seldom[-1].device_us) >= _SELDOM_US:
            self._seldom.append(trip)

    def clear(self) -> None:
        """Forget everything: the chip restarted, and its clock with it."""
        self._trips.clear()
        self._seldom.clear()

    def rate(self) -> ClockRate:
        """Return how fast the cannon's clock goes: as the controller's, to its resonator's tolerance, until round trips tell it better."""
        told = ClockRate(1.0, _DRIFT)
        for first in self._seldom:
            for last in self._trips:
                apart_us = _since_us(last.device_us, first.device_us)
                if apart_us >= _SELDOM_US:
                    bound = (first.bound_us + last.bound_us) / apart_us
                    if bound < min(told.bound, _TOLD):
                        told = ClockRate((last.guess_us - first.guess_us) / apart_us, bound)
        return told

    def to_host(self, device_us: int) -> HostTime | None:
        """Return a moment of the cannon's 32-bit clock on the controller's clock; None before any round trip.

        The moment is taken to lie within 35 minutes of the last round trip, half the time in which that clock turns.
        """
        best: HostTime | None = None
        clock = self.rate()
        for trip in self._trips:
            since_us = _since_us(device_us, trip.device_us)
            bound = trip.bound_us + round(abs(since_us) * clock.bound)
            if best is None or bound <= best.bound_us:
                best = HostTime(trip.guess_us + round(since_us * clock.rate), bound)
        return best


def _since_us(device_us: int, earlier_us: int) -> int:
    """Give how long after another a moment of the cannon's clock is; negative where it is before it."""
    return (device_us - earlier_us + _WRAP_US // 2) % _WRAP_US - _WRAP_US // 2

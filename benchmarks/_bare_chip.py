"""The firmware's binary on the simulated chip, brought into a situation once and let go from there at every cycle.

What is measured to the cycle includes what silicon takes: the instruction under way is finished, the entry of an
interrupt takes 4 cycles, 8 from sleep (`twin.chip` adds them to libsimavr, which takes none), the jump in the table of
vectors 3. Not included: the chip takes a pin into its clock up to 1.5 cycles late, and its receiver votes on a stop bit
until 1.5 of the bit's eight samples after the middle, from which is counted here; both are less than 2 us.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator

from benchmarks.figure import Figure
from rig.link.wire import Setting, State
from twin.bare import QUICK, US, BareCannon
from twin.chip import CHIP_HZ, Chip, EventKind, Pin

__all__ = ["BAUDS", "byte_cycles", "cannon_in", "every_phase", "figures", "first_edge", "situations"]

BAUDS = (115_200, 250_000)
"""The firmware is built for one of them; for the other the chip's rate register is set as soon as it has started."""

_PERIOD_US = 20_000  # of the servos, whose interrupts are much of what can be in the way


def byte_cycles(baud: int) -> int:
    """Return how long a byte takes on the line, rounded up."""
    return -(-10 * CHIP_HZ // baud)


def figures(
    name: str, cycles: list[int], peer: str, peer_us: float, *, at_most: float | None = None
) -> list[Figure]:
    """Return worst, median and spread of times, in microseconds, beside a peer; `at_most` is promised of the worst."""
    values = sorted(cycles)
    found = {
        f"worst of {len(values):,}": values[-1],
        "median": statistics.median(values),
        "5 to 95 %": values[len(values) * 95 // 100] - values[len(values) * 5 // 100],
    }
    return [
        Figure(
            f"{name}: {what}",
            value / US,
            "us",
            peer,
            peer_us,
            at_most=at_most if what.startswith("worst") else None,
        )
        for what, value in found.items()
    ]


def cannon_in(state: State, baud: int) -> BareCannon:
    """Return a cannon in a state; in cocked it has a shot in its muzzle and every axis at rest."""
    cannon = BareCannon(baud=baud)
    cannon.identify()
    cannon.configure({**QUICK, Setting.TRIGGER_HOLD_MS: 100, Setting.SHOT_TIMEOUT_MS: 2_000})
    cannon.bring_to(state)
    if state is State.COCKED:
        cannon.seat(True)
        cannon.run_beating(1_500_000)
    return cannon


def situations(cannon: BareCannon, count: int, draw: random.Random) -> Iterator[None]:
    """Have the cannon at any moment of its period, again and again from the same beginning."""
    begin = cannon.keep()
    for _ in range(count):
        cannon.go_back(begin)
        cannon.run_us(draw.randrange(_PERIOD_US))
        yield


def every_phase(chip: Chip, cycles: int) -> Iterator[int]:
    """Yield each cycle of a stretch from now on, every time from the same present."""
    present = chip.keep()
    begin = chip.cycle
    for phase in range(cycles):
        chip.go_back(present)
        chip.events()
        yield begin + phase
    chip.go_back(present)


def first_edge(chip: Chip, pin: Pin, level: bool) -> tuple[int | None, int | None]:
    """Return the cycles at which a pin went to a level and at which the chip heard the byte before that."""
    heard = None
    for event in chip.events():
        if event.kind is EventKind.RECEIVED:
            heard = event.cycle
        elif event.kind is EventKind.PIN and event.pin == pin and bool(event.value) == level:
            return event.cycle, heard
    return None, heard

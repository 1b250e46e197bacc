"""How wide the servos' pulses are while 10,000 commands come over a line without a gap; to the cycle."""

import random

from benchmarks._bare_chip import BAUDS, byte_cycles, cannon_in
from benchmarks.figure import Figure
from rig.link import messages as m
from rig.link.wire import Axis, State
from twin.bare import SERVOS, US

__all__ = ["measure"]

_COMMANDS = 10_000
_LIMIT_US = 0.25
_LATCH_US = 50.0  # 5 degrees of a servo with 10 us a degree; it has three positions and no aim
_AT_ONCE_BYTES = 2_000


def measure() -> list[Figure]:
    """All five axes stand, away from their homes."""
    return [figure for baud in BAUDS for figure in _widths(baud)]


def _widths(baud: int) -> list[Figure]:
    draw = random.Random(baud)
    cannon = cannon_in(State.READY, baud)
    for axis, pulse_ticks in ((Axis.TRAVERSE, 2_345), (Axis.AZIMUTH, 3_210), (Axis.ELEVATION, 2_789)):
        cannon.ask(m.Move(axis, pulse_ticks))
    cannon.run_beating(2_000_000)
    cannon.log.clear()
    answered = 0
    while answered < _COMMANDS:
        line = cannon.traffic(draw, _AT_ONCE_BYTES)
        cannon.chip.send(line)
        cannon.run_to(cannon.chip.cycle + (len(line) - 2) * byte_cycles(baud))
        answered += sum(isinstance(frame.message, m.Answer) for frame in cannon.frames)
        cannon.frames.clear()
    found = []
    for axis, pin in SERVOS.items():
        widths = sorted(cannon.pulse_widths(pin))
        limit_us = _LATCH_US if axis is Axis.LATCH else _LIMIT_US
        name = f"{axis.name.lower()} pulse, {baud:,} baud: peak to peak of {len(widths):,}"
        found.append(Figure(name, (widths[-1] - widths[0]) / US, "us", "limit", limit_us, at_most=1.0))
    cannon.close()
    return found

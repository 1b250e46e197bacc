"""How soon the trigger follows the last byte of a fire command, a stop byte, the emergency stop's pin; to the cycle.

The line is busy without a gap, with commands that are answered, copies and damaged frames, and so are the answers. In
each of many situations, at any moment of the servos' period, the byte or edge comes at every cycle of a stretch as long
as a byte. `_bare_chip` says what is counted.
"""

import random

from benchmarks._bare_chip import BAUDS, byte_cycles, cannon_in, every_phase, figures, first_edge, situations
from benchmarks.figure import Figure
from rig.link import messages as m
from rig.link import wire
from rig.link.codec import STOP_BYTES
from rig.link.wire import State
from twin.bare import BareCannon
from twin.chip import Pin

__all__ = ["measure"]

_FIRES = 40_000
_STOPS = 10_000
_FIRE_LIMIT_US = 10.0
_STOP_LIMIT_US = 20.0
_ENOUGH = 480  # cycles; no figure here is as long


def measure() -> list[Figure]:
    """Fire and stop."""
    found: list[Figure] = []
    for baud in BAUDS:
        at = f"{baud:,} baud"
        found += figures(
            f"fire command's last stop bit to trigger, {at}",
            _fires(baud),
            "limit",
            _FIRE_LIMIT_US,
            at_most=1.0,
        )
        found += figures(
            f"stop byte's stop bit to trigger off, {at}",
            _stop_bytes(baud),
            "limit",
            _STOP_LIMIT_US,
            at_most=1.0,
        )
        for hung in (False, True):
            what = f"emergency stop's pin to trigger off, {at}" + (", main loop hung" if hung else "")
            found += figures(what, _stop_pins(baud, hung=hung), "limit", _STOP_LIMIT_US, at_most=1.0)
    return found


def _last_byte(cannon: BareCannon, last: bytes, baud: int, level: bool) -> list[int]:
    """Send a byte at every cycle of a byte's time behind a busy line; return the cycles from its stop bit to the trigger."""
    chip, byte = cannon.chip, byte_cycles(baud)
    while chip.line_pending:
        chip.run_for_us(10)
    found = []
    for begin in every_phase(chip, byte):
        chip.send(last, at_cycle=begin + byte)
        chip.run_to(begin + 2 * byte + _ENOUGH)
        pulled, heard = first_edge(chip, Pin.TRIGGER, level)
        if pulled is None or heard is None:
            raise RuntimeError("the trigger did not follow")
        found.append(pulled - heard)
    return found


def _fires(baud: int) -> list[int]:
    draw = random.Random(baud)
    cannon = cannon_in(State.COCKED, baud)
    found: list[int] = []
    for _ in situations(cannon, -(-_FIRES // byte_cycles(baud)), draw):
        token = cannon.ask(m.Arm()).token
        cannon.run_us(draw.randrange(2_000))
        line = cannon.traffic(draw, draw.randrange(20, 90)) + cannon.request(m.Fire(token))
        cannon.chip.send(line[:-1])
        found += _last_byte(cannon, bytes([wire.FLAG]), baud, True)
    cannon.close()
    return found


def _stop_bytes(baud: int) -> list[int]:
    draw = random.Random(baud)
    cannon = cannon_in(State.FIRING, baud)
    found: list[int] = []
    for _ in situations(cannon, -(-_STOPS // byte_cycles(baud)), draw):
        cannon.chip.send(cannon.traffic(draw, draw.randrange(20, 90)))
        found += _last_byte(cannon, STOP_BYTES, baud, False)
    cannon.close()
    return found


def _stop_pins(baud: int, *, hung: bool) -> list[int]:
    draw = random.Random(baud)
    cannon = cannon_in(State.FIRING, baud)
    found: list[int] = []
    for _ in situations(cannon, -(-_STOPS // byte_cycles(baud)), draw):
        if hung:
            cannon.run_until_asleep()
            cannon.chip.hang()
        cannon.chip.send(cannon.traffic(draw, 120))
        cannon.run_us(draw.randrange(500, 1_500))
        for at in every_phase(cannon.chip, byte_cycles(baud)):
            cannon.chip.drive(Pin.EMERGENCY_STOP, True, at_cycle=at)
            cannon.chip.run_to(at + _ENOUGH)
            dropped, _ = first_edge(cannon.chip, Pin.TRIGGER, False)
            if dropped is None:
                raise RuntimeError("the trigger did not follow")
            found.append(dropped - at)
    cannon.close()
    return found

"""The firmware's size; what a command takes from its first byte to its answer's last, and how many bytes that is."""

import random
import statistics
import subprocess

from benchmarks._bare_chip import BAUDS, byte_cycles, cannon_in, figures
from benchmarks.figure import Figure
from rig.link import messages as m
from rig.link import wire
from rig.link.wire import Command, State
from twin.bare import US, BareCannon
from twin.chip import FIRMWARE_PATH, EventKind

__all__ = ["measure"]

_FLASH_BUDGET_BYTES = 12 * 1024
_RAM_BUDGET_BYTES = 1024
# Length, sequence, two of a CRC and one that ends it (Klipper, docs/Protocol.md, message blocks).
_KLIPPER_BYTES = 5.0

_COMMANDS = 10_000
_BEHIND_BYTES = 10  # that keep the line busy while the answer is on its way


def measure() -> list[Figure]:
    """Read the program's sections; have commands answered."""
    found = []
    overhead: list[int] = []
    deepest = 0
    for baud in BAUDS:
        cannon = cannon_in(State.READY, baud)
        cycles, floor = _round_trips(cannon, baud, overhead)
        found += figures(
            f"command to answer as the host sees it, {baud:,} baud", cycles, "their bytes alone", floor
        )
        deepest = max(deepest, cannon.chip.deepest_stack_bytes())
        cannon.close()
    return [
        *_sizes(deepest),
        Figure(
            "bytes a message beside its payload: worst",
            max(overhead),
            "bytes",
            "Klipper's block",
            _KLIPPER_BYTES,
        ),
        Figure(
            f"bytes a message beside its payload: mean of {len(overhead):,}",
            statistics.mean(overhead),
            "bytes",
            "Klipper's block",
            _KLIPPER_BYTES,
        ),
        *found,
    ]


def _sizes(stack_bytes: int) -> list[Figure]:
    table = subprocess.run(
        ["avr-size", str(FIRMWARE_PATH)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    text, data, bss = map(int, table[1].split()[:3])
    return [
        Figure("firmware, flash", text + data, "bytes", "budget", _FLASH_BUDGET_BYTES, at_most=1.0),
        Figure(
            "firmware, RAM with the deepest stack seen",
            data + bss + stack_bytes,
            "bytes",
            "budget",
            _RAM_BUDGET_BYTES,
            at_most=1.0,
        ),
    ]


def _round_trips(cannon: BareCannon, baud: int, overhead: list[int]) -> tuple[list[int], float]:
    """Have heartbeats answered, at any phase; return their cycles, and the microseconds that the bytes take."""
    draw = random.Random(baud)
    chip, byte = cannon.chip, byte_cycles(baud)
    heartbeat, alive = (
        wire.COMMAND_LAYOUTS[Command.HEARTBEAT].payload,
        wire.COMMAND_LAYOUTS[Command.HEARTBEAT].answer,
    )
    cycles, bytes_seen = [], []
    for _ in range(_COMMANDS):
        request = cannon.request(m.Heartbeat(cannon.seen))
        begin = chip.cycle + draw.randrange(2 * byte)
        chip.send(
            request + bytes(draw.randrange(0x20, 0x70) for _ in range(_BEHIND_BYTES)) + b"~", at_cycle=begin
        )
        answer: list[int] = []
        ended = 0
        while not answer or answer[-1] != wire.FLAG:
            chip.run_to(chip.cycle + 40 * byte, stop_at_sent_byte=True)
            for event in chip.events():
                if event.kind is EventKind.SENT:
                    answer.append(event.value)
                    ended = event.cycle
        cycles.append(ended - begin)
        bytes_seen.append(len(request) + len(answer))
        overhead += [len(request) - heartbeat.size, len(answer) - alive.size]
        while chip.line_pending:
            chip.run_for_us(10)
        chip.run_to(chip.cycle + byte)
    return cycles, statistics.median(bytes_seen) * byte / US

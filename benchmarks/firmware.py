"""The firmware's size, and how soon after the fire command the trigger pin rises, on the simulated chip."""

import random
import statistics
import subprocess
import time
from dataclasses import replace

from benchmarks._gunner import Gunner
from benchmarks.figure import Figure
from twin import TwinSettings
from twin.camera import CameraSettings
from twin.chip import CHIP_HZ, FIRMWARE_PATH

_FLASH_BUDGET_BYTES = 12 * 1024
_RAM_BUDGET_BYTES = 1024
_FIRE_LIMIT_CYCLES = CHIP_HZ // 100_000  # 10 us

_SHOTS = 200
_ENOUGH_CPU_S = 30.0
_SERVO_FRAME_US = 20_000


def measure() -> list[Figure]:
    """Read the program's sections; fire."""
    return [*_sizes(), *_fire_cycles()]


def _sizes() -> list[Figure]:
    table = subprocess.run(
        ["avr-size", str(FIRMWARE_PATH)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    text, data, bss = map(int, table[1].split()[:3])
    return [
        Figure("firmware, flash", text + data, "bytes", "budget", _FLASH_BUDGET_BYTES),
        Figure("firmware, RAM without the stack", data + bss, "bytes", "budget", _RAM_BUDGET_BYTES),
    ]


def _fire_cycles() -> list[Figure]:
    """Fire at every phase of the servos' frame, whose interrupts are what could hold the trigger up."""
    gunner = Gunner(TwinSettings(soldiers={}, camera=replace(CameraSettings(), fps=1.0)))
    phases = random.Random(1)
    begun_s = time.process_time()
    cycles: list[int] = []
    while len(cycles) < _SHOTS and time.process_time() - begun_s < _ENOUGH_CPU_S:
        cycles.append(gunner.shoot(wait_us=phases.randrange(_SERVO_FRAME_US)))
        gunner.settle()
    gunner.twin.close()
    what = f"fire command's last byte to trigger pin, {{}} of {len(cycles)}"
    return [
        Figure(what.format("worst"), max(cycles), "cycles", "limit, 10 us", _FIRE_LIMIT_CYCLES),
        Figure(
            what.format("median"), statistics.median(cycles), "cycles", "limit, 10 us", _FIRE_LIMIT_CYCLES
        ),
    ]

"""The twin's speed, and how steady the servo pulses are that its chip makes."""

import time
from dataclasses import replace

from benchmarks._gunner import Gunner
from benchmarks.figure import Figure
from twin import TwinSettings
from twin.camera import CameraSettings
from twin.chip import CHIP_HZ, Pin

_IDLE_US = 5_000_000
_SERVO_LIMIT_US = 0.25


def _simulated_per_cpu(gunner: Gunner, what: str) -> Figure:
    begun_s, begun_us = time.process_time(), gunner.twin.now_us
    if what == "a shot":
        gunner.shoot()
        gunner.settle()
    else:
        gunner.idle(_IDLE_US)
    simulated_s = (gunner.twin.now_us - begun_us) / 1e6
    return Figure(
        f"twin, {what}: simulated time for CPU time",
        simulated_s / (time.process_time() - begun_s),
        "s/s",
        "real time",
        1.0,
    )


def measure() -> list[Figure]:
    """Fire shots on the twin."""
    full = Gunner(TwinSettings())
    figures = [_simulated_per_cpu(full, "a shot"), _simulated_per_cpu(full, "idle")]
    full.twin.close()

    bench = Gunner(TwinSettings(soldiers={}, camera=replace(CameraSettings(), fps=1.0)))
    bench.shoot()
    bench.settle()
    for pin, name in ((Pin.AZIMUTH_SERVO, "azimuth"), (Pin.ELEVATION_SERVO, "elevation")):
        widths = bench.pulse_widths(pin)
        spread_us = (max(widths) - min(widths)) * 1e6 / CHIP_HZ
        figures.append(
            Figure(
                f"{name} pulse width, peak to peak of {len(widths)}",
                spread_us,
                "us",
                "promised at worst",
                _SERVO_LIMIT_US,
            )
        )
    bench.twin.close()
    return figures

"""The twin's speed, and what the simulated chip shows of the firmware to the cycle."""

import statistics
import time
from dataclasses import replace
from itertools import pairwise

from benchmarks.figure import Figure
from rig.link import messages as m
from rig.link import wire
from rig.link.link import Link
from twin import Twin, TwinSettings
from twin.camera import CameraSettings
from twin.chip import CHIP_HZ, ChipEvent, EventKind, Pin

_SHOTS = 20
_IDLE_US = 5_000_000
_FIRE_LIMIT_US = 10.0
_SERVO_LIMIT_US = 0.25


class _Gunner:
    """Fires the twin's cannon again and again over a link, and keeps what the chip's pins do."""

    def __init__(self, settings: TwinSettings) -> None:
        self.twin = Twin(settings)
        self.log: list[ChipEvent] = []
        self.twin.watch(self.log.append)
        self._link = Link(self.twin.port, self.twin.clock, session=1)
        self._link.identify()

    def _until(self, state: wire.State) -> None:
        while self._link.ask(m.ReadStatus()).state is not state:
            self._link.wait(50_000)

    def idle(self, duration_us: int) -> None:
        end_us = self.twin.now_us + duration_us
        while self.twin.now_us < end_us:
            self._link.wait(end_us - self.twin.now_us)

    def shoot(self) -> int:
        """Fire once and return the cycles from the command's last byte to the trigger."""
        self.twin.hands.turn_key(True)
        self.twin.hands.lane(True)
        self.idle(100_000)
        self._link.ask(m.Home())
        self._until(wire.State.READY)
        self._link.ask(m.Cock())
        self._until(wire.State.COCKED)
        self.twin.hands.load()
        self.idle(150_000)
        token = self._link.ask(m.Arm())
        self.log.clear()
        self._link.ask(m.Fire(token.token))
        trigger = next(
            event for event in self.log if event.kind is EventKind.PIN and event.pin == Pin.TRIGGER
        )
        heard = [event.cycle for event in self.log if event.kind is EventKind.RECEIVED]
        self._until(wire.State.SAFE)
        return trigger.cycle - max(cycle for cycle in heard if cycle <= trigger.cycle)

    def settle(self) -> None:
        while not self.twin.table.at_rest:
            self.idle(50_000)

    def pulse_widths(self, pin: Pin) -> list[int]:
        """Return the widths of a second of pulses, in cycles."""
        self.log.clear()
        self.idle(1_000_000)
        edges = [event for event in self.log if event.kind is EventKind.PIN and event.pin == pin]
        return [fall.cycle - rise.cycle for rise, fall in pairwise(edges) if rise.value and not fall.value]


def _simulated_per_cpu(gunner: _Gunner, what: str) -> Figure:
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
    full = _Gunner(TwinSettings())
    figures = [_simulated_per_cpu(full, "a shot"), _simulated_per_cpu(full, "idle")]
    full.twin.close()

    settings = TwinSettings(soldiers={}, camera=replace(CameraSettings(), fps=1.0))
    bench = _Gunner(settings)
    cycles = []
    for _ in range(_SHOTS):
        cycles.append(bench.shoot())
        bench.settle()
    us = [count * 1e6 / CHIP_HZ for count in cycles]
    figures += [
        Figure(
            f"fire command's last byte to trigger, worst of {_SHOTS}",
            max(us),
            "us",
            "promised at worst",
            _FIRE_LIMIT_US,
        ),
        Figure(
            f"fire command's last byte to trigger, median of {_SHOTS}",
            statistics.median(us),
            "us",
            "promised at worst",
            _FIRE_LIMIT_US,
        ),
    ]
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

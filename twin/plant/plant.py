"""Everything the chip's pins are wired to, stepped together with the chip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from twin.chip import CHIP_HZ, Chip, ChipEvent, EventKind, Pin
from twin.limits import at_least
from twin.plant.contact import Contact, ContactSettings
from twin.plant.gate import Gate, GateSettings
from twin.plant.lever import Lever, LeverSettings
from twin.plant.loader import Loader, LoaderSettings
from twin.plant.mount import Aim, MountSettings, aim_of_pulses
from twin.plant.servo import Servo, ServoSettings
from twin.spring import SpringSettings, muzzle_speed_mps
from twin.streams import stream

STEP_CYCLES = CHIP_HZ // 1000
"""The plant moves in steps of 1 ms by the chip's own clock; edges that the chip or the plant makes in between keep their own cycle."""

_LEAST_MPS = 0.1
"""A shot that the lever gives less than this does not get out of its seat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantSettings:
    """The cannon's mechanics and wiring."""

    mount: MountSettings = field(default_factory=MountSettings)
    traverse: ServoSettings = field(default_factory=lambda: ServoSettings(backlash_us=0.3))
    azimuth: ServoSettings = field(default_factory=ServoSettings)
    elevation: ServoSettings = field(default_factory=ServoSettings)
    draw: ServoSettings = field(default_factory=lambda: ServoSettings(start_us=1000.0))
    latch: ServoSettings = field(default_factory=lambda: ServoSettings(start_us=1000.0))
    lever: LeverSettings = field(default_factory=LeverSettings)
    spring: SpringSettings = field(default_factory=SpringSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    loader: LoaderSettings = field(default_factory=LoaderSettings)
    emergency_stop: ContactSettings = field(default_factory=ContactSettings)
    """Closed while all is well."""
    arming_key: ContactSettings = field(default_factory=ContactSettings)
    """Closed while on."""
    lane_clear: ContactSettings = field(default_factory=ContactSettings)
    """Closed while somebody says that the lane is clear."""
    lever_drawn: ContactSettings = field(default_factory=ContactSettings)
    """Closed while the lever is at the breech."""
    lever_latched: ContactSettings = field(default_factory=ContactSettings)
    """Closed while the latch holds the lever."""
    shots_fired_before: int = 0
    """With this spring; it fades with every shot."""

    def __post_init__(self) -> None:
        at_least(self, 0, "shots_fired_before")


@dataclass(frozen=True, slots=True)
class Firing:
    """A shot on its way out of the barrel."""

    exit_cycle: int
    """When its centre passes the muzzle."""
    speed_mps: float
    aim: Aim
    """Where the barrel really pointed when the lever struck."""


class Plant:
    """The cannon without its chip.

    Parameters
    ----------
    settings
        Mechanics and wiring.
    chip
        Whose pins they are.
    seed
        Draws bounces and the scatter of the speed.
    """

    def __init__(self, settings: PlantSettings, chip: Chip, *, seed: int) -> None:
        self.settings = settings
        self._chip = chip
        self._hz = hz = chip.settings.hz
        self.traverse = Servo(settings.traverse, chip_hz=hz)
        self.azimuth = Servo(settings.azimuth, chip_hz=hz)
        self.elevation = Servo(settings.elevation, chip_hz=hz)
        self.draw = Servo(settings.draw, chip_hz=hz)
        self.latch = Servo(settings.latch, chip_hz=hz)
        self.lever = Lever(settings.lever, settings.spring, self.draw, self.latch, chip_hz=hz)
        self.loader = Loader(settings.loader, chip_hz=hz)
        self.gate = Gate(settings.gate, self._drive, chip_hz=hz)

        def contact(pin: Pin, of: ContactSettings, *, closed: bool) -> Contact:
            return Contact(of, pin, self._drive, stream(seed, "bounce", pin), closed=closed, chip_hz=hz)

        self.emergency_stop = contact(Pin.EMERGENCY_STOP, settings.emergency_stop, closed=True)
        self.arming_key = contact(Pin.ARMING_KEY, settings.arming_key, closed=False)
        self.lane_clear = contact(Pin.LANE_CLEAR, settings.lane_clear, closed=False)
        self.lever_drawn = contact(Pin.LEVER_DRAWN, settings.lever_drawn, closed=False)
        self.lever_latched = contact(Pin.LEVER_LATCHED, settings.lever_latched, closed=False)
        self._scatter = stream(seed, "muzzle speed")
        self.shots = settings.shots_fired_before
        self._servos: dict[int, Servo] = {
            Pin.TRAVERSE_SERVO: self.traverse,
            Pin.AZIMUTH_SERVO: self.azimuth,
            Pin.ELEVATION_SERVO: self.elevation,
            Pin.DRAW_SERVO: self.draw,
            Pin.LATCH_SERVO: self.latch,
        }

    @property
    def aim(self) -> Aim:
        """Where the barrel points."""
        return aim_of_pulses(
            self.settings.mount,
            traverse_us=self.traverse.output_us,
            azimuth_us=self.azimuth.output_us,
            elevation_us=self.elevation.output_us,
        )

    def step(self, cycle: int, events: Iterable[ChipEvent]) -> Firing | None:
        """Let a step's time pass, in which the chip made `events`, and return a shot that was fired."""
        for event in events:
            if event.kind is EventKind.PIN:
                self._edge(event)
        duration_s = STEP_CYCLES / self._hz
        for servo in (self.traverse, self.azimuth, self.elevation):
            servo.step(cycle, duration_s)
        released = self.lever.step(cycle, duration_s)
        self.lever_drawn.set(self.lever.at_breech, cycle)
        self.lever_latched.set(self.lever.held, cycle)
        shots = self.loader.step(cycle)
        if shots:
            self.gate.seat(cycle, shots)
        if released is None:
            return None
        number = self.shots
        self.shots += 1
        if not released.struck_shot or not self.gate.seated:
            return None
        speed_mps = muzzle_speed_mps(
            self.settings.spring, dwell_s=released.dwell_s, shot_number=number, rng=self._scatter
        )
        if speed_mps < _LEAST_MPS:
            return None
        return Firing(self.gate.fire(released.cycle, speed_mps), speed_mps, self.aim)

    def _edge(self, event: ChipEvent) -> None:
        high = bool(event.value)
        servo = self._servos.get(event.pin)
        if servo is not None:
            servo.edge(event.cycle, high=high)
        elif event.pin == Pin.TRIGGER:
            self.lever.solenoid_edge(event.cycle, high=high)
        elif event.pin == Pin.LOADER:
            self.loader.edge(event.cycle, high=high)

    def _drive(self, pin: int, level: bool | None, cycle: int) -> None:
        self._chip.drive(pin, level, at_cycle=cycle)

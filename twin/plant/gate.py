"""The muzzle gate: two light barriers at the muzzle, the outer one in front of it.

A seated shot sits just inside the mouth and blocks the inner one: once it has left that, its centre is in the plane of the
mouth. The times of a shot's edges follow from its true speed, to the cycle.
"""

from __future__ import annotations

from dataclasses import dataclass

from twin.chip import CHIP_HZ, Pin
from twin.limits import at_least
from twin.plant.contact import Drive

_HAND_PASSES_US = 60_000
"""A hand that loads blocks the outer barrier for so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """The light barriers."""

    spacing_mm: float = 20.0
    """Between the two barriers."""
    shot_diameter_mm: float = 6.0
    """Of the shot that passes them."""
    first_stuck: bool | None = None
    """The inner barrier always says blocked (True) or clear (False)."""
    second_stuck: bool | None = None
    """The outer barrier always says blocked (True) or clear (False)."""

    def __post_init__(self) -> None:
        at_least(self, 0.1, "shot_diameter_mm")
        at_least(self, self.shot_diameter_mm, "spacing_mm")


class Gate:
    """Both barriers, and the shots that sit between them."""

    def __init__(self, settings: GateSettings, drive: Drive, *, chip_hz: float = CHIP_HZ) -> None:
        self.settings = settings
        self._hz = chip_hz
        self._drive = drive
        self._fingers_until_cycle = 0
        self.seated = 0
        """Shots in the muzzle; a second one sits in front of the first and blocks the outer barrier."""
        self._show(0)

    def seat(self, cycle: int, shots: int = 1) -> None:
        """Put shots into the muzzle."""
        self.seated += shots
        self._first(self.seated > 0, cycle)
        self._second(self.seated > 1, cycle)

    def seat_by_hand(self, cycle: int) -> None:
        """Put a shot in with two fingers: the outer barrier sees them first."""
        self._second(True, cycle)
        self._fingers_until_cycle = cycle + round(_HAND_PASSES_US * self._hz / 1e6)
        self.seat(self._fingers_until_cycle)

    def empty(self, cycle: int) -> None:
        """Take out whatever is in."""
        self.seated = 0
        self._show(max(cycle, self._fingers_until_cycle))

    def fire(self, strike_cycle: int, speed_mps: float) -> int:
        """Let the seated shots fly.

        Parameters
        ----------
        strike_cycle
            When they begin to move; from then on they have their full speed.
        speed_mps
            That speed.

        Returns
        -------
        int
            The cycle at which the first shot's centre passes the plane of the mouth.
        """

        def after(travel_mm: float) -> int:
            return strike_cycle + round(travel_mm / 1e3 / speed_mps * self._hz)

        radius_mm = self.settings.shot_diameter_mm / 2
        spacing_mm = self.settings.spacing_mm
        double = self.seated > 1
        self.seated = 0
        self._first(False, after(radius_mm))
        if not double:
            self._second(True, after(spacing_mm - radius_mm))
        self._second(False, after(spacing_mm + radius_mm))
        return after(radius_mm)

    def _show(self, cycle: int) -> None:
        self._first(self.seated > 0, cycle)
        self._second(self.seated > 1, cycle)

    def _first(self, blocked: bool, cycle: int) -> None:
        stuck = self.settings.first_stuck
        self._drive(Pin.GATE_FIRST, blocked if stuck is None else stuck, cycle)

    def _second(self, blocked: bool, cycle: int) -> None:
        stuck = self.settings.second_stuck
        self._drive(Pin.GATE_SECOND, blocked if stuck is None else stuck, cycle)

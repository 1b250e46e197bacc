"""A hobby servo: it reads the width of its pulses and goes there, as well as it can."""

from __future__ import annotations

from dataclasses import dataclass

from twin.chip import CHIP_HZ
from twin.limits import at_least, within

SHORTEST_PULSE_US = 400.0
LONGEST_PULSE_US = 2600.0
"""Pulses outside this range are no command to a servo."""

NOMINAL_ENDS_US = (1000.0, 2000.0)
"""What stands for the two ends of a servo's way in every position here, whatever pulses really bring it there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoSettings:
    """What kind of servo, and what is wrong with it. Positions are in microseconds of pulse, from 1000 to 2000 us for its way."""

    ends_us: tuple[float, float] = NOMINAL_ENDS_US
    """The pulses that bring it to the two ends of its way; the second is the shorter one where it turns the other way."""
    slew_us_per_s: float = 5000.0
    """Speed without load; 60 degrees in 0.13 s."""
    dead_band_us: float = 1.0
    """A smaller change of pulse does not make it move."""
    backlash_us: float = 0.5
    """Play of the gears: the output may stand anywhere in this range about the motor's position."""
    offset_us: float = 0.0
    """The output stands this much further than the pulse says."""
    gain_error: float = 0.0
    """The output moves (1 + this) times as far from the centre as the pulse says."""
    limp_after_us: int = 60_000
    """Without a pulse for so long the motor lets go."""
    holds_without_pulses: bool = False
    """A digital servo that keeps its last command instead."""
    start_us: float = 1500.0
    """Where somebody left it before power came on."""
    stuck: bool = False
    """The gears are jammed."""

    def __post_init__(self) -> None:
        at_least(self, 0, "slew_us_per_s", "dead_band_us", "backlash_us", "limp_after_us")
        within(self, -1, 1, "gain_error")
        within(self, SHORTEST_PULSE_US, LONGEST_PULSE_US, "start_us")
        if self.ends_us[0] == self.ends_us[1]:
            raise ValueError(f"ends_us are both {self.ends_us[0]:g}, expected two pulses")


class Servo:
    """One servo."""

    def __init__(self, settings: ServoSettings, *, chip_hz: float = CHIP_HZ) -> None:
        self.settings = settings
        self._hz = chip_hz
        self._motor_us = settings.start_us
        self._output_us = settings.start_us
        self._rise_cycle: int | None = None
        self._command_us: float | None = None
        self._command_cycle = 0
        self._moving = False

    @property
    def output_us(self) -> float:
        """Where the output stands, as the width of the pulse that nominally brings it there."""
        settings = self.settings
        centre_us = 1500.0
        return centre_us + (self._output_us - centre_us) * (1.0 + settings.gain_error) + settings.offset_us

    @property
    def command_us(self) -> float | None:
        """Where its pulses ask it to go; None while it is limp."""
        return self._command_us

    def edge(self, cycle: int, *, high: bool) -> None:
        """Take an edge of the pulse."""
        if high:
            self._rise_cycle = cycle
        elif self._rise_cycle is not None:
            width_us = (cycle - self._rise_cycle) * 1e6 / self._hz
            self._rise_cycle = None
            if SHORTEST_PULSE_US <= width_us <= LONGEST_PULSE_US:
                self._command_us = self._nominal_us(width_us)
                self._command_cycle = cycle

    def _nominal_us(self, width_us: float) -> float:
        """Give the position that a pulse asks for."""
        (low_us, high_us), (first_us, last_us) = self.settings.ends_us, NOMINAL_ENDS_US
        return first_us + (width_us - low_us) * ((last_us - first_us) / (high_us - low_us))

    def step(
        self,
        cycle: int,
        duration_s: float,
        *,
        up_factor: float = 1.0,
        push_us_per_s: float = 0.0,
        stop_us: float | None = None,
    ) -> None:
        """Let time pass.

        Parameters
        ----------
        cycle
            The time at the end of the step.
        duration_s
            Its length.
        up_factor
            What the load leaves of the speed towards longer pulses; 0 stalls.
        push_us_per_s
            How fast the load turns the output while the motor lets go; negative towards shorter pulses.
        stop_us
            Something is in the way there: it does not get beyond.
        """
        settings = self.settings
        if self._command_us is not None and not settings.holds_without_pulses:
            silent_us = (cycle - self._command_cycle) * 1e6 / self._hz
            if silent_us > settings.limp_after_us:
                self._command_us = None
        if settings.stuck:
            return
        if self._command_us is None:
            self._motor_us += push_us_per_s * duration_s
        else:
            error_us = self._command_us - self._motor_us
            if abs(error_us) > settings.dead_band_us:
                self._moving = True
            if self._moving:
                reach_us = settings.slew_us_per_s * duration_s * (up_factor if error_us > 0 else 1.0)
                self._moving = abs(error_us) > reach_us
                self._motor_us += max(-reach_us, min(reach_us, error_us))
        if stop_us is not None:
            self._motor_us = min(self._motor_us, stop_us)
        half_us = settings.backlash_us / 2
        self._output_us = min(max(self._output_us, self._motor_us - half_us), self._motor_us + half_us)

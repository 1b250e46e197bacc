"""Servos: from what an axis should do to the width of the servo's pulse, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace

_ROUNDING_US = 1e-6


class ServoRangeError(ValueError):
    """A position that the servo's pulse limits do not allow.

    Attributes
    ----------
    pulse_us, minimum_us, maximum_us : float
        The pulse that the position asks for, and what is allowed.
    """

    def __init__(self, pulse_us: float, minimum_us: float, maximum_us: float) -> None:
        self.pulse_us = pulse_us
        self.minimum_us = minimum_us
        self.maximum_us = maximum_us
        super().__init__(
            f"the position needs a pulse of {pulse_us:.1f} us, "
            f"allowed are {minimum_us:g} to {maximum_us:g} us"
        )


@dataclass(frozen=True, slots=True)
class ServoMap:
    """The straight line between an axis and its servo's pulse.

    Parameters
    ----------
    centre_us : float
        Pulse at position 0.
    gain_us_per_unit : float
        Pulse for each unit of the axis (rad, or m for the traverse); negative where the servo is mounted the
        other way round.
    minimum_us, maximum_us : float
        Pulses that the servo may be given.
    """

    centre_us: float
    gain_us_per_unit: float
    minimum_us: float
    maximum_us: float

    def __post_init__(self) -> None:
        if self.gain_us_per_unit == 0:
            raise ValueError("gain_us_per_unit is 0: the servo would not move its axis")
        if not self.minimum_us < self.maximum_us:
            raise ValueError(f"pulses run from {self.minimum_us} to {self.maximum_us} us, lower one first")

    @property
    def limits(self) -> tuple[float, float]:
        """Lowest and highest position of the axis, in its unit."""
        ends = (self.position(self.minimum_us), self.position(self.maximum_us))
        return min(ends), max(ends)

    def pulse_us(self, position: float) -> float:
        """Return the pulse for a position.

        Raises
        ------
        ServoRangeError
            If the pulse limits do not allow it.
        """
        pulse_us = self.centre_us + self.gain_us_per_unit * position
        allowed_us = min(max(pulse_us, self.minimum_us), self.maximum_us)
        # A position of `limits` itself may come back a rounding error outside.
        if abs(pulse_us - allowed_us) > _ROUNDING_US:
            raise ServoRangeError(pulse_us, self.minimum_us, self.maximum_us)
        return allowed_us

    def position(self, pulse_us: float) -> float:
        """Return the position that a pulse stands for."""
        return (pulse_us - self.centre_us) / self.gain_us_per_unit

    def corrected(self, *, at: float, offset: float, gain: float) -> ServoMap:
        """Return the map of an axis that goes elsewhere than it was told.

        Told to go to p, it goes to ``at + offset + gain (p - at)``; the corrected map's positions are where it really goes.
        """
        slope_us = self.gain_us_per_unit / gain
        return replace(
            self,
            centre_us=self.centre_us + self.gain_us_per_unit * at - slope_us * (at + offset),
            gain_us_per_unit=slope_us,
        )

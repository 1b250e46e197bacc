"""What a fit can learn about a cannon, and what is assumed of it before."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

__all__ = ["ASSUMED", "Assumption", "Parameter"]


class Parameter(StrEnum):
    """One unknown of the cannon. A fit that cannot tell two apart keeps the one named first here."""

    SPEED = "speed_mps"
    """Muzzle speed of the first shot of a fresh spring, fired as soon as it is cocked; the mean over shots."""
    DRAG = "drag_per_m"
    """k of the equation of motion (`calibration.flight`)."""
    PLACE_RIGHT = "place_right_m"
    """How far to the shooter's right of where the settings put it the cannon stands."""
    PLACE_AHEAD = "place_ahead_m"
    """How far ahead."""
    YAW = "yaw_rad"
    """By how much the whole cannon, strip and all, is turned to the shooter's right."""
    ELEVATION_OFFSET = "elevation_offset_rad"
    """The barrel points so much higher than it was set."""
    ELEVATION_GAIN = "elevation_gain"
    """The elevation's way from the servo's centre, over the way that was set."""
    ELEVATION_BACKLASH = "elevation_backlash_rad"
    """Play of the elevation: the barrel stays behind by half of it."""
    AZIMUTH_OFFSET = "azimuth_offset_rad"
    """The barrel points so much further to the right than it was set."""
    AZIMUTH_GAIN = "azimuth_gain"
    """The azimuth's way from its centre, over the way that was set."""
    AZIMUTH_BACKLASH = "azimuth_backlash_rad"
    """Play of the azimuth."""
    FADE_PER_SHOT = "fade_per_shot"
    """Share of the speed that is lost with every shot."""
    FADE_COCKED = "fade_cocked_per_s"
    """Share of the speed that is lost for each second that the cannon stands cocked."""

    @property
    def in_words(self) -> str:
        """What the person at the table calls it."""
        return _WORDS[self]


_WORDS: Mapping[Parameter, str] = MappingProxyType(
    {
        Parameter.SPEED: "muzzle speed",
        Parameter.DRAG: "drag",
        Parameter.PLACE_RIGHT: "the cannon's place left and right",
        Parameter.PLACE_AHEAD: "the cannon's place ahead",
        Parameter.YAW: "the cannon's yaw",
        Parameter.ELEVATION_OFFSET: "the elevation's offset",
        Parameter.ELEVATION_GAIN: "the elevation's gain",
        Parameter.ELEVATION_BACKLASH: "the elevation's backlash",
        Parameter.AZIMUTH_OFFSET: "the azimuth's offset",
        Parameter.AZIMUTH_GAIN: "the azimuth's gain",
        Parameter.AZIMUTH_BACKLASH: "the azimuth's backlash",
        Parameter.FADE_PER_SHOT: "the spring's fading from shot to shot",
        Parameter.FADE_COCKED: "the spring's fading while cocked",
    }
)


@dataclass(frozen=True, slots=True)
class Assumption:
    """What is taken of a parameter where no shot says better.

    Parameters
    ----------
    value : float
    sd : float
        How far off it may be, as a standard deviation.
    """

    value: float
    sd: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and 0 < self.sd < math.inf):
            raise ValueError(f"expected a value and a standard deviation above 0, found {self}")


ASSUMED: Mapping[Parameter, Assumption] = MappingProxyType(
    {
        Parameter.SPEED: Assumption(9.6, 3.0),
        Parameter.DRAG: Assumption(0.0678, 0.010),
        Parameter.PLACE_RIGHT: Assumption(0.0, 0.010),
        Parameter.PLACE_AHEAD: Assumption(0.0, 0.010),
        Parameter.YAW: Assumption(0.0, math.radians(2)),
        Parameter.ELEVATION_OFFSET: Assumption(0.0, math.radians(2)),
        Parameter.ELEVATION_GAIN: Assumption(1.0, 0.05),
        Parameter.ELEVATION_BACKLASH: Assumption(0.0, math.radians(1)),
        Parameter.AZIMUTH_OFFSET: Assumption(0.0, math.radians(2)),
        Parameter.AZIMUTH_GAIN: Assumption(1.0, 0.05),
        Parameter.AZIMUTH_BACKLASH: Assumption(0.0, math.radians(1)),
        Parameter.FADE_PER_SHOT: Assumption(0.0, 5e-4),
        Parameter.FADE_COCKED: Assumption(0.0, 3e-4),
    }
)
"""What a builder with a ruler and a square can be trusted with; the drag is that of a smooth 6 mm sphere of 120 mg.

How fast a spring wears no ruler tells: whoever asks for that is to learn it from some dozens of shots, so it may be as much as a
tenth of the speed in a hundred of them. Were it taken for less, shots would be pulled to a fading that they contradict.
"""

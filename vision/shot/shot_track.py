"""What is known of the shot's way: its flights, one after each thing it touched, and where it was seen on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

__all__ = ["MISFIT_WORTH", "STRANGERS", "Leg", "ShotTrack"]

MISFIT_WORTH = 0.1
"""Pictures that each squared standard deviation of a flight's sights takes off what speaks for it."""

STRANGERS = 2
"""So many sights can be strangers to each other, or of the shot after it struck: where the time of release was not told, 7 of
15 such flights did not begin at the cannon; of 33 of more sights all did."""

# Clock, lens and the lit side of the shot are off by so much of the speed, whatever the sights say; and so few sights by the second.
_SPEED_SHARE, _FEW_SHARE = 0.007, 0.2
_LOOK_US = 2000.0


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """A part of the shot's way on which it touched nothing."""

    fit: FlightFit
    streaks: tuple[Streak, ...]
    """Where it, or else its shadow, was seen on this leg, one a picture, in time order."""
    shadows: tuple[Streak, ...] = ()
    """Where its shadow was seen."""
    bounced: float = 0.0
    """How likely its sights make it that the shot bounced off the board: where that is likelier than not, the leg ends there."""

    @property
    def ends_at_board(self) -> bool:
        """Whether it ends where the shot likely bounced off the board."""
        return self.bounced > 0.5

    @property
    def flight(self) -> Flight:
        """The flight of this leg."""
        return self.fit.flight

    @property
    def first_us(self) -> int:
        """Time of the first picture that shows it."""
        return self.streaks[0].timestamp_us

    @property
    def last_us(self) -> int:
        """Time of the last picture that shows it."""
        return self.streaks[-1].timestamp_us


@dataclass(frozen=True, slots=True, eq=False)
class ShotTrack:
    """The shot's way as far as it was seen."""

    legs: tuple[Leg, ...]
    """Flights in time order; empty where no shot was found."""
    reason: str
    """Why there is no track, or why it ends where it does; one sentence."""
    exposure_us: float | None = None
    """Exposure, given or as the streaks' lengths tell it."""
    lost_over_board: bool = False
    """Whether the shot was still over the board where it was seen last."""
    pace: float = 1.0
    """Its speed as a share of what it seems, in the time of the pictures' middle rows, in which its flights are told: not 1 where a
    rolling shutter takes the rows over which it flies one after the other."""

    @property
    def found(self) -> bool:
        """Whether a shot was seen at all."""
        return bool(self.legs)

    @property
    def worth(self) -> float:
        """How many pictures speak for its first flight, less what they lie off it."""
        return len(self.legs[0].streaks) - MISFIT_WORTH * self.legs[0].fit.misfit if self.legs else 0.0

    @property
    def release_us(self) -> float | None:
        """When the shot left the muzzle."""
        return self.legs[0].flight.start_us if self.legs else None

    @property
    def speed_mps(self) -> tuple[float, float] | None:
        """Speed at the muzzle and its standard deviation."""
        if not self.legs:
            return None
        speed, sigma = (self.pace * value for value in self.legs[0].fit.speed_mps)
        few = len(self.legs[0].streaks) <= STRANGERS
        return speed, float(np.hypot(sigma, (_FEW_SHARE if few else _SPEED_SHARE) * speed))

    def nearest_mm(self, foot_mm: tuple[float, float], until_us: float) -> float:
        """How near over the board it came to a place (x, y) by then; infinitely far where it had not left."""
        ends_us = [*(leg.flight.start_us for leg in self.legs[1:]), np.inf]
        nearest_mm = np.inf
        for leg, end_us in zip(self.legs, ends_us, strict=False):
            flown_us = np.arange(leg.flight.start_us, min(end_us, until_us), _LOOK_US)
            away_mm = leg.flight.at(flown_us)[:, :2] - foot_mm
            nearest_mm = min(nearest_mm, float(np.hypot(*away_mm.T).min(initial=np.inf)))
        return nearest_mm

    @property
    def points(self) -> tuple[tuple[int, float, float, float], ...]:
        """Where it was seen: time in us, then x, y, z of the centre in mm (z from the flight's model)."""
        found = []
        for leg in self.legs:
            for streak in leg.streaks:
                x, y, z = leg.flight.at(float(streak.timestamp_us))[0]
                found.append((streak.timestamp_us, float(x), float(y), float(z)))
        return tuple(found)

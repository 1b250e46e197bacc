"""What really happened in one shot, as the physics saw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from game.montecassino import Cause, Side, Square


@dataclass(frozen=True, slots=True)
class Standing:
    """A soldier on its feet, and the middle of its base in the board frame."""

    side: Side
    square: Square
    """Where it stood before the shot, wherever it was pushed to."""
    x_mm: float
    y_mm: float

    def as_json(self) -> dict[str, Any]:
        """Return it as the recording format writes it."""
        return {
            "side": str(self.side),
            "square": str(self.square),
            "x_mm": round(self.x_mm, 2),
            "y_mm": round(self.y_mm, 2),
        }


@dataclass(frozen=True, slots=True)
class TrueFall:
    """A soldier that lay at more than 45 degrees in the end."""

    side: Side
    square: Square
    cause: Cause
    at_us: int
    """When it passed 45 degrees."""

    def as_json(self) -> dict[str, Any]:
        """Return it as the recording format writes it."""
        return {
            "side": str(self.side),
            "square": str(self.square),
            "cause": str(self.cause),
            "t_us": self.at_us,
        }


@dataclass(frozen=True, slots=True)
class ShotTruth:
    """One shot: who stood, who fell and why, and the way of the shot; times on the table's clock."""

    launched_us: int
    muzzle_mm: tuple[float, float, float]
    speed_mps: float
    azimuth_rad: float
    elevation_rad: float
    before: tuple[Standing, ...]
    falls: tuple[TrueFall, ...]
    moved: tuple[Standing, ...]
    """Still standing, but pushed more than 5 mm; where they stand now."""
    pellet: tuple[tuple[int, float, float, float], ...]
    """The shot's centre about once a millisecond: t_us, x_mm, y_mm, z_mm; left out while it rests."""
    contacts: tuple[tuple[int, str], ...]
    """What the shot touched, in time order: a square, ``board`` or ``edge``."""
    first_contact_mm: tuple[float, float, float] | None
    """The shot's centre when it first touched anything."""
    unclear: tuple[Square, ...] = ()
    """Whose fate people would argue about: left leaning, pushed by just about 5 mm, or felled by two at once."""

    def as_json(self) -> Mapping[str, Any]:
        """Return the content of ``truth.json`` of the recording format."""
        return {
            "before": [standing.as_json() for standing in self.before],
            "falls": [fall.as_json() for fall in self.falls],
            "moved": [standing.as_json() for standing in self.moved],
            "pellet": [[at_us, round(x, 2), round(y, 2), round(z, 2)] for at_us, x, y, z in self.pellet],
            "contacts": [{"t_us": at_us, "what": what} for at_us, what in self.contacts],
            "first_contact_mm": (
                None
                if self.first_contact_mm is None
                else [round(value, 2) for value in self.first_contact_mm]
            ),
        }

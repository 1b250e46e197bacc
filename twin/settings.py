"""Everything that can be set about a twin, its misbehaviours included. By default nothing misbehaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from game.montecassino import Side, Square, parse_squares
from twin.attendant import AttendantSettings
from twin.chip import ChipSettings, ResetCause
from twin.limits import at_least
from twin.line import LineSettings
from twin.pictures.camera import CameraSettings
from twin.plant import PlantSettings
from twin.table import TableSettings


@dataclass(frozen=True, slots=True)
class ResetIncident:
    """A reset that comes from outside."""

    at_us: int
    """On the twin's clock."""
    cause: ResetCause
    """What resets it."""

    def __post_init__(self) -> None:
        at_least(self, 0, "at_us")


def starting_position() -> dict[Square, Side]:
    """Return 24 soldiers a side on squares 1 to 24 (S1)."""
    return {square: square.field for square in parse_squares("A01-A24,G01-G24")}


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinSettings:
    """A whole twin."""

    seed: int = 1
    """Draws everything that is left to chance; 0 or more."""
    soldiers: Mapping[Square, Side] = field(default_factory=starting_position)
    side: Side = Side.A
    """Behind whose first line the cannon stands at the beginning."""
    chip: ChipSettings = field(default_factory=ChipSettings)
    plant: PlantSettings = field(default_factory=PlantSettings)
    line: LineSettings = field(default_factory=LineSettings)
    table: TableSettings = field(default_factory=TableSettings)
    camera: CameraSettings = field(default_factory=CameraSettings)
    attendant: AttendantSettings = field(default_factory=AttendantSettings)
    resets: tuple[ResetIncident, ...] = ()
    """In order of time."""

    def __post_init__(self) -> None:
        at_least(self, 0, "seed")
        times_us = [reset.at_us for reset in self.resets]
        if times_us != sorted(times_us):
            raise ValueError("resets are not in order of time")

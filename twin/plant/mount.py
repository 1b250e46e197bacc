"""How the cannon is mounted: what a servo's pulse does to it, and where that puts the muzzle on the board.

These are the nominal maps that the controller's settings start from; what a real servo makes of them is in
`servo.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from game.montecassino import BOARD_FILES, BOARD_ROWS, Side
from twin.limits import within
from twin.pictures.scene import CannonPose

CENTRE_US = 1500.0
SPAN_US = 1000.0
"""From one end of a servo's travel to the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MountSettings:
    """Gearing and dimensions of the mount."""

    traverse_centre_mm: float = 180.0
    """Where the pivot stands along the strip at 1500 us, from its left end as the owner sees it."""
    traverse_span_mm: float = 300.0
    """From 1000 us to 2000 us; a longer pulse is further to the owner's right."""
    azimuth_span_rad: float = math.radians(60.0)
    """From 1000 us to 2000 us, half to the left and half to the right; a longer pulse is further to the right."""
    elevation_centre_rad: float = math.radians(15.0)
    """Elevation at 1500 us."""
    elevation_span_rad: float = math.radians(60.0)
    """From 1000 us to 2000 us; a longer pulse is higher."""
    strip_offset_mm: float = 45.0
    """From the edge of the first line back to the pivot."""
    pivot_height_mm: float = 50.0
    """Height of the pivot above the board; the muzzle is there when the barrel is level."""
    barrel_length_mm: float = 60.0
    """From the pivot to the muzzle."""

    def __post_init__(self) -> None:
        within(self, -math.pi, math.pi, "azimuth_span_rad", "elevation_centre_rad", "elevation_span_rad")
        within(self, 0, 1000, "strip_offset_mm", "pivot_height_mm", "barrel_length_mm")
        within(self, -1000, 1000, "traverse_centre_mm", "traverse_span_mm")


@dataclass(frozen=True, slots=True)
class Aim:
    """Where the mount points, as its owner sees it."""

    traverse_mm: float
    azimuth_rad: float
    elevation_rad: float


def aim_of_pulses(
    settings: MountSettings, *, traverse_us: float, azimuth_us: float, elevation_us: float
) -> Aim:
    """Return where the servos' positions, given as pulse widths, point the cannon."""
    return Aim(
        settings.traverse_centre_mm + settings.traverse_span_mm * (traverse_us - CENTRE_US) / SPAN_US,
        settings.azimuth_span_rad * (azimuth_us - CENTRE_US) / SPAN_US,
        settings.elevation_centre_rad + settings.elevation_span_rad * (elevation_us - CENTRE_US) / SPAN_US,
    )


def pose_of_aim(settings: MountSettings, aim: Aim, side: Side, *, square_mm: float) -> CannonPose:
    """Return the barrel in the board frame, for the cannon behind a side's first line."""
    forward_mm = settings.barrel_length_mm * math.cos(aim.elevation_rad)
    right_mm = aim.traverse_mm + forward_mm * math.sin(aim.azimuth_rad)
    away_mm = forward_mm * math.cos(aim.azimuth_rad) - settings.strip_offset_mm
    up_mm = settings.pivot_height_mm + settings.barrel_length_mm * math.sin(aim.elevation_rad)
    if side is Side.A:
        return CannonPose(side, (right_mm, away_mm, up_mm), aim.azimuth_rad, aim.elevation_rad)
    return CannonPose(
        side,
        (BOARD_FILES * square_mm - right_mm, BOARD_ROWS * square_mm - away_mm, up_mm),
        aim.azimuth_rad + math.pi,
        aim.elevation_rad,
    )

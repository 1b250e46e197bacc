"""Aim: from a target point on the board to traverse, azimuth and elevation of a cannon.

Frames. Targets and muzzles are points of the board frame in metres: origin at the outer left corner of A-1 as
the Allies see it, x to their right, y towards the Germans, z up from the playing surface. The axes of the
cannon are the shooter's: traverse along the strip from the board's edge on the shooter's left, azimuth 0
straight ahead and positive to the shooter's right, elevation positive upwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from scipy.optimize import brentq, minimize_scalar

from calibration.flight import DEEPEST_M, FlightState, at_distance, at_height, launch

BODY_HEIGHT_SHARE = 0.57
"""Where on a soldier to aim, as a share of its height: the middle of the torso.

The torso is the widest part and reaches from about 0.36 to 0.77 of the height, so this leaves the same room
above and below; and it lies over the centre of mass, which a figure on a weighted base has below half its
height, so a hit topples it rather than pushing it along.
"""

_CLOSE_M = 1e-8
_SLOPE_DIFFERENCE = 1e-6
_MOST_CORRECTIONS = 50


@dataclass(frozen=True, slots=True)
class Limits:
    """What an axis can reach, both ends included, in the axis's unit."""

    lowest: float
    highest: float

    def __post_init__(self) -> None:
        if not self.lowest <= self.highest:
            raise ValueError(f"limits run from {self.lowest} to {self.highest}, expected the lower one first")

    def __contains__(self, value: float) -> bool:
        return self.lowest <= value <= self.highest

    def nearest(self, value: float) -> float:
        """Return the reachable value nearest to `value`."""
        return min(max(value, self.lowest), self.highest)


@dataclass(frozen=True, slots=True)
class Strip:
    """The line along which a cannon's pivot moves, and which way the shooter looks.

    Parameters
    ----------
    left_x_m : float
        Board x of the board's edge on the shooter's left: traverse 0.
    y_m : float
        Board y of the strip.
    forward : int
        1 where the shooter looks towards +y, -1 where towards -y.
    """

    left_x_m: float
    y_m: float
    forward: int

    def __post_init__(self) -> None:
        if self.forward not in {1, -1}:
            raise ValueError(f"forward is {self.forward}, expected 1 or -1")

    @classmethod
    def of_side(cls, side: str, board_width_m: float, board_length_m: float, offset_m: float) -> Strip:
        """Return the strip of side "A" or "G", whose pivot stands `offset_m` behind its own first line."""
        if side == "A":
            return cls(0.0, -offset_m, 1)
        if side == "G":
            return cls(board_width_m, board_length_m + offset_m, -1)
        raise ValueError(f"side is {side!r}, expected A or G")

    def from_board(self, x_m: float, y_m: float) -> tuple[float, float]:
        """Return how far right of traverse 0 and how far ahead of the strip a board point lies, in m."""
        return (x_m - self.left_x_m) * self.forward, (y_m - self.y_m) * self.forward

    def to_board(self, right_m: float, ahead_m: float) -> tuple[float, float]:
        """Return the board (x, y) of a point given as the shooter sees it, in m."""
        return self.left_x_m + right_m * self.forward, self.y_m + ahead_m * self.forward


@dataclass(frozen=True, slots=True)
class Cannon:
    """A cannon on its strip.

    Parameters
    ----------
    strip : Strip
    muzzle_speed_mps : float
    drag_per_m : float
        Of the shot it fires, `Projectile.drag_per_m`.
    pivot_height_m : float
        Height over the playing surface of the point about which the barrel turns, in azimuth and in
        elevation; the height of the muzzle when the barrel is level.
    barrel_m : float
        From the pivot to the muzzle.
    traverse_m, azimuth_rad, elevation_rad : Limits
        What the axes can reach.
    """

    strip: Strip
    muzzle_speed_mps: float
    drag_per_m: float
    pivot_height_m: float
    barrel_m: float
    traverse_m: Limits
    azimuth_rad: Limits
    elevation_rad: Limits

    def muzzle_m(
        self, traverse_m: float, azimuth_rad: float, elevation_rad: float
    ) -> tuple[float, float, float]:
        """Return the muzzle in the board frame, in m."""
        level_m = self.barrel_m * math.cos(elevation_rad)
        x_m, y_m = self.strip.to_board(
            traverse_m + level_m * math.sin(azimuth_rad), level_m * math.cos(azimuth_rad)
        )
        return x_m, y_m, self.pivot_height_m + self.barrel_m * math.sin(elevation_rad)

    def fire(self, elevation_rad: float) -> FlightState:
        """Return the shot at the muzzle, in its plane of fire: x from the pivot, z over the board."""
        return launch(
            self.muzzle_speed_mps,
            elevation_rad,
            x_m=self.barrel_m * math.cos(elevation_rad),
            z_m=self.pivot_height_m + self.barrel_m * math.sin(elevation_rad),
        )


@dataclass(frozen=True, slots=True)
class Aim:
    """How to point a cannon at a target, and how the shot arrives there.

    Parameters
    ----------
    traverse_m, azimuth_rad, elevation_rad : float
        The axes.
    muzzle_m : tuple of float
        (x, y, z) of the muzzle in the board frame.
    time_of_flight_s, impact_speed_mps : float
        From the muzzle to the target, and there.
    impact_angle_rad : float
        Of the path over the horizontal at the target; negative where it comes down.
    """

    traverse_m: float
    azimuth_rad: float
    elevation_rad: float
    muzzle_m: tuple[float, float, float]
    time_of_flight_s: float
    impact_speed_mps: float
    impact_angle_rad: float


class Arc(StrEnum):
    """Which of the two paths to a target."""

    DIRECT = "direct"
    """The flatter one."""
    LOBBED = "lobbed"
    """The steeper one: over whoever stands in between, and longer in the air."""


class NoAimReason(StrEnum):
    """Why a target cannot be aimed at."""

    TOO_NEAR = "too near"
    OUT_OF_REACH = "out of reach"
    AZIMUTH = "outside the azimuth limits"
    ELEVATION = "outside the elevation limits"


@dataclass(frozen=True, slots=True)
class NoAim:
    """A target that the cannon cannot hit; `str()` says so in a sentence.

    Parameters
    ----------
    reason : NoAimReason
    needed : float
        What the target asks for: a distance in m for `OUT_OF_REACH`, how far ahead of the strip it lies in m for
        `TOO_NEAR`, below 0 where it lies behind it; else an angle in rad.
    lowest, highest : float
        What the cannon can do, in the same unit; of distances `highest` is the smaller one where no shot comes down
        at the target's height beyond the muzzle.
    """

    reason: NoAimReason
    needed: float
    lowest: float
    highest: float

    def __str__(self) -> str:
        if self.reason in {NoAimReason.TOO_NEAR, NoAimReason.OUT_OF_REACH}:
            where = "from" if self.reason is NoAimReason.OUT_OF_REACH else "ahead of"
            cannon = (
                f"the cannon, which shoots at {self.lowest:.3f} m to {self.highest:.3f} m"
                if self.highest >= self.lowest
                else "the cannon, from which no shot comes down at that height"
            )
            return (
                f"the target is {self.reason}: it lies {abs(self.needed):.3f} m "
                f"{'behind' if self.needed < 0 else where} {cannon}"
            )
        where = " from the near end of its strip" if self.reason is NoAimReason.AZIMUTH else ""
        needed, lowest, highest = (math.degrees(angle) for angle in (self.needed, self.lowest, self.highest))
        return (
            f"the target is {self.reason}: it needs {needed:.1f} degrees{where}, "
            f"and the cannon turns from {lowest:.1f} to {highest:.1f} degrees"
        )


def body_point_m(x_m: float, y_m: float, soldier_height_m: float) -> tuple[float, float, float]:
    """Return the point to aim at on a soldier that stands at (x, y) of the board frame, in m."""
    return x_m, y_m, BODY_HEIGHT_SHARE * soldier_height_m


def solve(cannon: Cannon, target_m: tuple[float, float, float], arc: Arc = Arc.DIRECT) -> Aim | NoAim:
    """Point a cannon at a target.

    The cannon stands opposite the target, at azimuth 0, where its strip allows; otherwise as near to that as
    it can, and turns the rest. The direct elevation is found by Newton's method from the line of sight: the height
    at which a shot passes the target's distance is a concave function of the elevation's tangent, so the steps climb
    to the direct path and cannot run past it to the lobbed one. The lobbed elevation lies between the one that shoots
    farthest and the upright, and between them the distance only falls.

    Parameters
    ----------
    cannon : Cannon
    target_m : tuple of float
        (x, y, z) in the board frame.
    arc : Arc
        Which of the two paths.

    Returns
    -------
    Aim or NoAim
        The shot of an `Aim` passes within 0.1 um of the target.
    """
    x_m, y_m, z_m = target_m
    right_m, ahead_m = cannon.strip.from_board(x_m, y_m)
    traverse_m = cannon.traverse_m.nearest(right_m)
    azimuth_rad = math.atan2(right_m - traverse_m, ahead_m)
    distance_m = math.hypot(right_m - traverse_m, ahead_m)
    if ahead_m <= cannon.barrel_m:
        return NoAim(NoAimReason.TOO_NEAR, ahead_m, cannon.barrel_m, _reach_m(cannon, z_m))
    if azimuth_rad not in cannon.azimuth_rad:
        return NoAim(NoAimReason.AZIMUTH, azimuth_rad, cannon.azimuth_rad.lowest, cannon.azimuth_rad.highest)
    find = _direct_elevation_rad if arc is Arc.DIRECT else _lobbed_elevation_rad
    elevation_rad = find(cannon, distance_m, z_m)
    if elevation_rad is None:
        return NoAim(NoAimReason.OUT_OF_REACH, distance_m, cannon.barrel_m, _reach_m(cannon, z_m))
    if elevation_rad not in cannon.elevation_rad:
        return NoAim(
            NoAimReason.ELEVATION, elevation_rad, cannon.elevation_rad.lowest, cannon.elevation_rad.highest
        )
    impact = at_distance(cannon.fire(elevation_rad), cannon.drag_per_m, distance_m, DEEPEST_M)
    assert impact is not None, "the elevation was found by reaching this distance"
    return Aim(
        traverse_m=traverse_m,
        azimuth_rad=azimuth_rad,
        elevation_rad=elevation_rad,
        muzzle_m=cannon.muzzle_m(traverse_m, azimuth_rad, elevation_rad),
        time_of_flight_s=impact.time_s,
        impact_speed_mps=impact.speed_mps,
        impact_angle_rad=impact.angle_rad,
    )


def _direct_elevation_rad(cannon: Cannon, distance_m: float, z_m: float) -> float | None:
    """Return the flatter elevation whose path passes the height `z_m` at a distance, or None if none does."""

    def excess_m(slope: float) -> float:
        passing = at_distance(cannon.fire(math.atan(slope)), cannon.drag_per_m, distance_m, DEEPEST_M)
        return -math.inf if passing is None else passing.z_m - z_m

    slope = (z_m - cannon.pivot_height_m) / distance_m
    for _ in range(_MOST_CORRECTIONS):
        error_m = excess_m(slope)
        if abs(error_m) < _CLOSE_M:
            return math.atan(slope)
        gain_m = (excess_m(slope + _SLOPE_DIFFERENCE) - error_m) / _SLOPE_DIFFERENCE
        if not gain_m > 0:
            return None
        slope -= error_m / gain_m
    return None


def _lobbed_elevation_rad(cannon: Cannon, distance_m: float, z_m: float) -> float | None:
    """Return the steeper elevation whose path comes down through the height `z_m` at a distance, or None."""

    def beyond_m(elevation_rad: float) -> float:
        landing = at_height(cannon.fire(elevation_rad), cannon.drag_per_m, z_m)
        return -distance_m if landing is None else landing.x_m - distance_m

    farthest_rad = math.pi / 4
    if beyond_m(farthest_rad) < 0:
        best = minimize_scalar(
            lambda elevation_rad: -beyond_m(elevation_rad), bounds=(0.0, math.pi / 2), method="bounded"
        )
        farthest_rad = float(best.x)
        if beyond_m(farthest_rad) < 0:
            return None
    return float(brentq(beyond_m, farthest_rad, math.pi / 2, xtol=1e-12))


def _reach_m(cannon: Cannon, z_m: float) -> float:
    """Return the farthest distance from the pivot at which a shot comes down through a height; 0 where none does."""

    def shortfall_m(elevation_rad: float) -> float:
        landing = at_height(cannon.fire(elevation_rad), cannon.drag_per_m, z_m)
        return 0.0 if landing is None else -landing.x_m

    limits = cannon.elevation_rad
    best = minimize_scalar(
        shortfall_m, bounds=(limits.lowest, limits.highest), method="bounded", options={"xatol": 1e-4}
    )
    return max(0.0, -float(best.fun))

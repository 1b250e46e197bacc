"""How far shots of one aim lie apart where they pass the target, to first order."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from calibration.aim import Aim, Cannon
from calibration.flight import DEEPEST_M, at_distance
from calibration.scatter import Scatter

__all__ = ["ELLIPSE_95", "Precision", "precision_at"]

ELLIPSE_95 = math.sqrt(-2.0 * math.log(0.05))
"""Semi-axes of the ellipse that holds 95 % of a normal scatter in two dimensions, over its standard deviations."""

_SPEED_STEP = 1e-4
_ANGLE_STEP_RAD = 1e-5


@dataclass(frozen=True, slots=True)
class Precision:
    """The scatter in the upright plane through the target, square to the line of fire.

    Parameters
    ----------
    across_m, upright_m : float
        Standard deviations sideways and in height; they do not depend on one another.
    rise_m_per_speed, rise_m_per_rad : float
        How much higher the shot passes for the whole of its speed more, and for 1 rad more elevation.
    """

    across_m: float
    upright_m: float
    rise_m_per_speed: float
    rise_m_per_rad: float

    @property
    def ellipse_95_m(self) -> tuple[float, float]:
        """Semi-axes, sideways and upright, of the ellipse through which 95 % of the shots pass."""
        return ELLIPSE_95 * self.across_m, ELLIPSE_95 * self.upright_m


def precision_at(cannon: Cannon, aim: Aim, target_m: tuple[float, float], scatter: Scatter) -> Precision:
    """Return the scatter of an aim where its shots pass the target.

    Parameters
    ----------
    cannon : Cannon
    aim : Aim
        As `calibration.aim.solve` found it for that target.
    target_m : tuple of float
        (x, y) aimed at, board frame.
    scatter : Scatter
        How the shots of one aim differ; where the soldiers stand is not counted.
    """
    right_m, ahead_m = cannon.strip.from_board(*target_m)
    distance_m = math.hypot(right_m - aim.traverse_m, ahead_m)

    def height_m(speed_factor: float, elevation_rad: float) -> float:
        faster = replace(cannon, muzzle_speed_mps=cannon.muzzle_speed_mps * speed_factor)
        passing = at_distance(faster.fire(elevation_rad), cannon.drag_per_m, distance_m, DEEPEST_M)
        assert passing is not None, "the aim reaches its target, and neighbours of it do"
        return passing.z_m

    per_speed = (
        height_m(1 + _SPEED_STEP, aim.elevation_rad) - height_m(1 - _SPEED_STEP, aim.elevation_rad)
    ) / (2 * _SPEED_STEP)
    per_rad = (
        height_m(1, aim.elevation_rad + _ANGLE_STEP_RAD) - height_m(1, aim.elevation_rad - _ANGLE_STEP_RAD)
    ) / (2 * _ANGLE_STEP_RAD)
    upright_m = math.hypot(per_speed * scatter.speed_share, per_rad * scatter.elevation_rad)
    across_m = math.hypot(distance_m * scatter.azimuth_rad, scatter.traverse_m * math.cos(aim.azimuth_rad))
    return Precision(across_m, upright_m, per_speed, per_rad)

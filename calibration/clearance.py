"""Who stands in the way of an aim, and by how much the shot clears the others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.aim import Aim, Cannon
from calibration.figure import Figure
from calibration.flight import DEEPEST_M, at_distance

__all__ = ["Clearance", "clearances"]


@dataclass(frozen=True, slots=True)
class Clearance:
    """A soldier that the shot passes over on its way, or strikes.

    Parameters
    ----------
    soldier : int
        Its place in the list that was asked about.
    distance_m : float
        From the pivot to beside its axis, along the line of fire.
    offset_m : float
        Of the line of fire to the right of its axis.
    over_m : float
        From the top of the soldier, where the shot passes it, to the underside of the shot; negative where the shot
        strikes it.
    """

    soldier: int
    distance_m: float
    offset_m: float
    over_m: float

    @property
    def struck(self) -> bool:
        """Whether the shot strikes it."""
        return self.over_m < 0


def clearances(
    cannon: Cannon, aim: Aim, target_m: tuple[float, float], soldiers_m: ArrayLike, figure: Figure
) -> list[Clearance]:
    """Return whom the mean shot passes over or strikes before it comes to the target, nearest to the cannon first.

    Soldiers so far beside the line of fire that they cannot be touched are left out, and so is whoever stands at the
    target itself.

    Parameters
    ----------
    cannon : Cannon
    aim : Aim
    target_m : tuple of float
        (x, y) aimed at, board frame.
    soldiers_m : (n, 2) array_like
        Where they stand, board frame.
    figure : Figure
    """
    sine, cosine = math.sin(aim.azimuth_rad), math.cos(aim.azimuth_rad)
    start = cannon.fire(aim.elevation_rad)

    def along(x_m: float, y_m: float) -> tuple[float, float]:
        right_m, ahead_m = cannon.strip.from_board(x_m, y_m)
        beside_m = right_m - aim.traverse_m
        return beside_m * sine + ahead_m * cosine, ahead_m * sine - beside_m * cosine

    target_distance_m, _ = along(*target_m)
    found = []
    soldiers: NDArray[np.float64] = np.asarray(soldiers_m, dtype=float).reshape(-1, 2)
    for index, (x_m, y_m) in enumerate(soldiers.tolist()):
        distance_m, offset_m = along(x_m, y_m)
        before_target = start.x_m <= distance_m < target_distance_m - figure.reach_m
        if not before_target or abs(offset_m) >= figure.reach_m:
            continue
        cap_m = float(figure.cap_m(offset_m))
        # Its far side is nearer to a shot that comes down, its near side to one that rises.
        half_m = math.sqrt(max(figure.body_reach_m**2 - offset_m**2, 0.0))
        places = [(0.0, cap_m)]
        if half_m > 0:
            places += [(-half_m, figure.body_top_m), (half_m, figure.body_top_m)]
        over_m = math.inf
        for shift_m, top_m in places:
            passing = at_distance(start, cannon.drag_per_m, max(distance_m + shift_m, start.x_m), DEEPEST_M)
            if passing is not None:
                over_m = min(over_m, passing.z_m - top_m)
        found.append(Clearance(index, distance_m, offset_m, over_m))
    return sorted(found, key=lambda each: each.distance_m)

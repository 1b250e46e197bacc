"""One aim, explained: the solution, its scatter at the target, who stands in the way, and why not the other path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from calibration.aim import Arc
from calibration.clearance import Clearance, clearances
from calibration.figure import Figure
from calibration.precision import Precision, precision_at
from calibration.scatter import Scatter
from calibration.strikes import TouchBins, first_touches
from game.montecassino import Side, Square
from rig import settings
from rig.aim.pointing import AimedShot, TargetOutOfReach, aim_at, cannon_of

__all__ = ["ExplainedAim", "explain_aim"]

_SHOTS = 20_000
_SEED = 1


@dataclass(frozen=True, slots=True)
class ExplainedAim:
    """All there is to say of one aim."""

    target: Square
    side: Side
    arc: Arc
    aimed: AimedShot
    precision: Precision
    scatter: Scatter
    on_the_way: tuple[tuple[Square, Clearance], ...]
    """Soldiers that the mean shot passes over or strikes before the target, nearest first."""
    chance: float
    """That a shot touches whoever stands on the target before it touches anything else."""
    chances: Mapping[Square, float]
    """The same for the others, likeliest first."""
    occupied: bool
    """Whether somebody stands on the target; if not, the chance is for one who would."""
    other_arc: str
    """Why not the other path."""

    @property
    def in_the_way(self) -> Square | None:
        """The first soldier that the mean shot strikes before it comes to the target."""
        return next((square for square, clearance in self.on_the_way if clearance.struck), None)

    def in_words(self) -> Iterator[str]:
        """Say it in a few lines."""
        found, precision = self.aimed.aim, self.precision
        x_mm, y_mm, z_mm = self.aimed.target_mm
        yield f"{self.side} at {self.target}, {self.arc} path, at x {x_mm:.1f}, y {y_mm:.1f}, z {z_mm:.1f} mm"
        yield (f"  traverse   {1000 * found.traverse_m:8.1f} mm    pulse {self.aimed.traverse_us:7.1f} us")
        yield (
            f"  azimuth    {math.degrees(found.azimuth_rad):+8.2f} deg   pulse {self.aimed.azimuth_us:7.1f} us"
        )
        yield (
            f"  elevation  {math.degrees(found.elevation_rad):+8.2f} deg   pulse {self.aimed.elevation_us:7.1f} us"
        )
        yield (
            f"  arrives after {1000 * found.time_of_flight_s:.0f} ms at {found.impact_speed_mps:.2f} m/s, "
            f"{math.degrees(found.impact_angle_rad):+.1f} deg to the board"
        )
        across_m, upright_m = precision.ellipse_95_m
        yield (
            f"  95 % of the shots pass within {1000 * across_m:.1f} mm sideways and {1000 * upright_m:.1f} mm in height"
            f" (speed {100 * self.scatter.speed_share:.2g} %, azimuth {1000 * self.scatter.azimuth_rad:g} mrad,"
            f" elevation {1000 * self.scatter.elevation_rad:g} mrad)"
        )
        yield (
            f"  1 % more speed passes {10 * precision.rise_m_per_speed:.1f} mm higher, 1 deg more elevation"
            f" {1000 * math.radians(1) * precision.rise_m_per_rad:.1f} mm"
        )
        who = self.target if self.occupied else f"whoever would stand on {self.target}"
        yield f"  touches {who} first with a chance of {100 * self.chance:.0f} %"
        yield from self._way_in_words()
        yield f"  the other path: {self.other_arc}"

    def _way_in_words(self) -> Iterator[str]:
        blocking = self.in_the_way
        if blocking is not None:
            yield f"  {blocking} is the first in the way"
        for square, clearance in self.on_the_way:
            over_mm = 1000 * clearance.over_m
            says = (
                f"strikes it, {-over_mm:.1f} mm too low to clear it"
                if clearance.struck
                else f"clears it by {over_mm:.1f} mm"
            )
            chance = self.chances.get(square, 0.0)
            yield f"  passes {square}: {says}; touches it first with a chance of {100 * chance:.0f} %"
        if not self.on_the_way:
            yield "  nobody stands on the way"


def explain_aim(
    target: Square,
    side: Side,
    cannon: settings.Cannon,
    board: settings.Board,
    soldiers: Mapping[Square, Side],
    *,
    scatter: Scatter,
    arc: Arc = Arc.DIRECT,
    foot_mm: tuple[float, float] | None = None,
    shots_before: int | None = None,
) -> ExplainedAim:
    """Aim at a square, and say all about it.

    Parameters
    ----------
    target
        The square.
    side
        Who fires.
    cannon, board
        The settings.
    soldiers
        Who stands where, in the middle of the squares.
    scatter
        How the shots of one aim differ.
    arc
        The flatter path or the steeper one.
    foot_mm
        Where on the square its soldier stands, board frame; in the middle by default.
    shots_before
        As for `rig.aim.pointing.cannon_of`.

    Raises
    ------
    rig.aim.pointing.TargetOutOfReach
        Where the cannon cannot be pointed there.
    """
    aimed = aim_at(target, side, cannon, board, arc=arc, foot_mm=foot_mm, shots_before=shots_before)
    solved = cannon_of(side, cannon, board, shots_before=shots_before)
    figure = Figure(board.soldier_height_mm / 1000)
    target_m = (aimed.target_mm[0] / 1000, aimed.target_mm[1] / 1000)
    others = [square for square in soldiers if square != target]
    feet_mm = [aimed.target_mm[:2], *(square.centre_mm(board.square_mm) for square in others)]
    feet_m = np.array(feet_mm) / 1000
    touches = first_touches(
        solved,
        elevations_rad=[aimed.aim.elevation_rad],
        traverses_m=[aimed.aim.traverse_m],
        azimuths_rad=[aimed.aim.azimuth_rad],
        soldiers_m=feet_m,
        figure=figure,
        bins=TouchBins((), ()),
        draws=scatter.draw(_SHOTS, len(feet_m), np.random.default_rng(_SEED)),
    )
    chance, *chances = touches.chance()[0, 0, :, 0].tolist()
    by_square = sorted(zip(others, chances, strict=True), key=lambda pair: -pair[1])
    on_the_way = clearances(solved, aimed.aim, target_m, feet_m[1:], figure)
    return ExplainedAim(
        target=target,
        side=side,
        arc=arc,
        aimed=aimed,
        precision=precision_at(solved, aimed.aim, target_m, scatter),
        scatter=scatter,
        on_the_way=tuple((others[each.soldier], each) for each in on_the_way),
        chance=chance,
        chances={square: value for square, value in by_square if value > 0},
        occupied=target in soldiers,
        other_arc=_other(target, side, cannon, board, arc, foot_mm, shots_before),
    )


def _other(
    target: Square,
    side: Side,
    cannon: settings.Cannon,
    board: settings.Board,
    arc: Arc,
    foot_mm: tuple[float, float] | None,
    shots_before: int | None,
) -> str:
    """Say what speaks against the other path."""
    other = Arc.LOBBED if arc is Arc.DIRECT else Arc.DIRECT
    try:
        found = aim_at(target, side, cannon, board, arc=other, foot_mm=foot_mm, shots_before=shots_before)
    except TargetOutOfReach as refused:
        return f"{other}, no: {refused.reason}"
    elevation_deg = math.degrees(found.aim.elevation_rad)
    ask = "--lobbed" if other is Arc.LOBBED else "without --lobbed"
    return (
        f"{other}, at {elevation_deg:+.2f} deg, {1000 * found.aim.time_of_flight_s:.0f} ms in the air ({ask})"
    )

"""Which aim is worth most under the rules: the chance that each soldier leaves, and what either side loses.

Where scattered shots strike is `calibration.strikes`, who falls then is `calibration.falls`; what counts is what the
judge says (`game.montecassino.judge`), asked once for each soldier and each way to fall. Expected losses are sums of
chances, so they are exact for that model, however the falls of one shot hang together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration import aim
from calibration.falls import FallTable
from calibration.figure import Figure
from calibration.scatter import Draws, Scatter
from calibration.strikes import Touches, first_touches
from game.montecassino import (
    BOARD_FILES,
    BOARD_ROWS,
    Cause,
    Fall,
    Option,
    Position,
    Square,
    judge,
)
from rig import settings
from rig.aim.fall_table import fall_table
from rig.aim.pointing import cannon_of

__all__ = ["AimChooser", "BoardMap", "RankedAim", "ShotValues"]

CAUSES = (Cause.DIRECT, Cause.RICOCHET, Cause.DRAGGED)
"""The ways to fall, in the order of the last axis of `FallTable.chances`."""

_COARSE_SHOTS = 300
_FINE_SHOTS = 1_000
_SURE_SHOTS = 10_000
_GRID_RAD = np.radians(1.0)
_FINE_STEPS = np.linspace(-0.6, 0.6, 5)
_FINE_SIDESTEPS = np.linspace(-0.4, 0.4, 3)
_SPARE = 3
"""So many aims more than wanted are refined: one may overtake another."""
_CELLS_A_SQUARE = 3
"""Odd, so that a soldier in the middle of its square stands in the middle of a cell."""


@dataclass(frozen=True, slots=True, eq=False)
class ShotValues:
    """Expected losses for a grid of aims, each array (elevations, directions)."""

    enemy: NDArray[np.float64]
    """Casualties of the shooter's enemy."""
    own: NDArray[np.float64]
    """Casualties of the shooter's own side."""
    net: NDArray[np.float64]
    """Enemy casualties, less own ones times their weight."""
    net_error: NDArray[np.float64]
    """Standard error of `net`, from the finite number of simulated shots."""


@dataclass(frozen=True, slots=True)
class RankedAim:
    """One aim and what it is worth."""

    traverse_m: float
    azimuth_rad: float
    elevation_rad: float
    enemy: float
    own: float
    net: float
    net_error: float
    touched: Mapping[Square, float]
    """Chance that the shot touches this soldier before any other, directly or off the board; likeliest first."""
    leaves: Mapping[Square, float]
    """Chance that this soldier leaves as a casualty; likeliest first."""

    @property
    def main_target(self) -> Square | None:
        """Who is touched first most often; None where nobody is."""
        return next(iter(self.touched), None)


@dataclass(frozen=True, slots=True, eq=False)
class BoardMap:
    """The worth of aiming at the body of a soldier at each place of the board, with the cannon opposite to it."""

    x_mm: NDArray[np.float64]
    y_mm: NDArray[np.float64]
    """Middles of the cells, board frame."""
    net: NDArray[np.float64]
    """(y, x); nan where the cannon cannot be pointed."""


@dataclass(frozen=True, slots=True)
class AimChooser:
    """Weighs aims for the side to move.

    Parameters
    ----------
    position
        Who stands where; who is to move fires.
    zone, option
        As agreed (C4, C7).
    cannon, board
        The settings.
    scatter
        How the shots of one aim differ.
    own_weight
        How many enemy casualties one of one's own is worth.
    feet_mm
        Where soldiers really stand, as the camera saw them; the middle of its square for the others.
    table
        Who falls when somebody is touched.
    shots_before
        As for `rig.aim.pointing.cannon_of`.
    seed
        Draws the scattered shots: the same for all aims.

    Raises
    ------
    game.montecassino.JudgeError
        Where the side to move has no shot left.
    ValueError
        For a position on two boards joined, or a weight below 0.
    """

    position: Position
    zone: Collection[Square]
    option: Option
    cannon: settings.Cannon
    board: settings.Board
    scatter: Scatter = field(default_factory=Scatter)
    own_weight: float = 1.0
    feet_mm: Mapping[Square, tuple[float, float]] = field(default_factory=dict)
    table: FallTable = field(default_factory=fall_table)
    shots_before: int | None = None
    seed: int = 1
    _aimed: aim.Cannon = field(init=False, repr=False)
    _squares: tuple[Square, ...] = field(init=False, repr=False)
    _soldiers_m: NDArray[np.float64] = field(init=False, repr=False)
    _leaving: NDArray[np.float64] = field(init=False, repr=False)
    """(soldiers, h, o, 2, soldiers): chance that the last leaves, given the touch."""

    def __post_init__(self) -> None:
        if self.position.boards != 1:
            raise ValueError("aims are weighed on one board: a strip is as long as one board is wide")
        if not self.own_weight >= 0:
            raise ValueError(f"own_weight is {self.own_weight}, expected 0 or more")
        shooter = self.position.turn
        squares = tuple(self.position.soldiers)
        feet_mm = [self.feet_mm.get(square, square.centre_mm(self.board.square_mm)) for square in squares]
        places = [(square.own_line(shooter), square.own_file(shooter)) for square in squares]
        counts = counted(self.position, self.zone, self.option)
        fall = self.table.chances(np.array(places, dtype=np.intp).reshape(-1, 2))
        set_once: dict[str, Any] = {
            "_aimed": cannon_of(shooter, self.cannon, self.board, shots_before=self.shots_before),
            "_squares": squares,
            "_soldiers_m": np.array(feet_mm, dtype=float).reshape(-1, 2) / 1000,
            "_leaving": (fall * counts).sum(axis=-1),
        }
        for name, value in set_once.items():
            object.__setattr__(self, name, value)

    @property
    def figure(self) -> Figure:
        """A soldier and the shot, as the settings have them."""
        return Figure(self.board.soldier_height_mm / 1000)

    def draws(self, shots: int, stream: int = 0) -> Draws:
        """Draw scattered shots; another stream gives others."""
        return self.scatter.draw(shots, len(self._squares), np.random.default_rng([self.seed, stream]))

    def touches(
        self, elevations_rad: ArrayLike, traverses_m: ArrayLike, azimuths_rad: ArrayLike, draws: Draws
    ) -> Touches:
        """Return what each shot touches first, at each elevation in each direction."""
        return first_touches(
            self._aimed,
            elevations_rad=elevations_rad,
            traverses_m=traverses_m,
            azimuths_rad=azimuths_rad,
            soldiers_m=self._soldiers_m,
            figure=self.figure,
            bins=self.table.bins,
            draws=draws,
        )

    def values(self, touches: Touches) -> ShotValues:
        """Return the expected losses."""
        shooter = self.position.turn
        enemy = np.array([side is not shooter for side in self.position.soldiers.values()], dtype=float)
        enemy_worth, own_worth = self._leaving @ enemy, self._leaving @ (1.0 - enemy)
        net_worth = enemy_worth - self.own_weight * own_worth
        shots = touches.code.shape[2]
        return ShotValues(
            touches.mean(enemy_worth),
            touches.mean(own_worth),
            touches.mean(net_worth),
            touches.deviation(net_worth) / np.sqrt(shots),
        )

    def grid_rad(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return every whole degree of elevation and of azimuth that the cannon can be pointed at, in rad."""
        return _whole_steps(self._aimed.elevation_rad), _whole_steps(self._aimed.azimuth_rad)

    def best(self, count: int) -> list[RankedAim]:
        """Return the aims worth most, each with another soldier as its likeliest first touch, best first.

        The whole grid of whole degrees is tried with the cannon opposite each file; then the neighbourhood of the best
        in finer steps; those found are weighed anew with more shots, others than they were chosen by.
        """
        coarse = self._coarse()
        ranked: dict[Square | None, RankedAim] = {}
        sure = self.draws(_SURE_SHOTS, stream=2)
        for traverse_m, azimuth_rad, elevation_rad in coarse[: count + _SPARE]:
            found = self._refined(traverse_m, azimuth_rad, elevation_rad)
            aim_found = self._ranked(*found, sure)
            better = ranked.get(aim_found.main_target)
            if aim_found.net > 0 and (better is None or aim_found.net > better.net):
                ranked[aim_found.main_target] = aim_found
        return sorted(ranked.values(), key=lambda each: -each.net)[:count]

    def weigh(self, traverse_m: float, azimuth_rad: float, elevation_rad: float) -> RankedAim:
        """Return what one aim is worth."""
        return self._ranked(traverse_m, azimuth_rad, elevation_rad, self.draws(_SURE_SHOTS, stream=2))

    def board_map(self) -> BoardMap:
        """Return the worth of aiming at each place of the board by the direct path."""
        cell_mm = self.board.square_mm / _CELLS_A_SQUARE
        x_mm = (np.arange(BOARD_FILES * _CELLS_A_SQUARE, dtype=np.float64) + 0.5) * cell_mm
        y_mm = (np.arange(BOARD_ROWS * _CELLS_A_SQUARE, dtype=np.float64) + 0.5) * cell_mm
        net = np.full((len(y_mm), len(x_mm)), np.nan)
        draws = self.draws(_FINE_SHOTS)
        # Straight ahead, a row of the board asks for one elevation in every column.
        together: dict[float, dict[float, list[tuple[int, int]]]] = {}
        for row, y in enumerate(y_mm):
            for column, x in enumerate(x_mm):
                target_m = aim.body_point_m(x / 1000, y / 1000, self.board.soldier_height_mm / 1000)
                found = aim.solve(self._aimed, target_m)
                if isinstance(found, aim.NoAim):
                    continue
                if found.azimuth_rad == 0:
                    rows = together.setdefault(round(found.elevation_rad, 9), {})
                    rows.setdefault(found.traverse_m, []).append((row, column))
                else:
                    touches = self.touches(
                        [found.elevation_rad], [found.traverse_m], [found.azimuth_rad], draws
                    )
                    net[row, column] = self.values(touches).net[0, 0]
        elevations = sorted(together)
        traverses = sorted({traverse for rows in together.values() for traverse in rows})
        if elevations:
            touches = self.touches(elevations, traverses, np.zeros(len(traverses)), draws)
            worth = self.values(touches).net
            for e, elevation in enumerate(elevations):
                for d, traverse in enumerate(traverses):
                    for row, column in together[elevation].get(traverse, []):
                        net[row, column] = worth[e, d]
        return BoardMap(x_mm, y_mm, net)

    def _coarse(self) -> list[tuple[float, float, float]]:
        """Return the aims of the whole grid that are worth most, one for each soldier they touch first, best first."""
        elevations, azimuths = self.grid_rad()
        strip = self._aimed.strip
        square_m = self.board.square_mm / 1000
        files = [strip.from_board((file + 0.5) * square_m, strip.y_m)[0] for file in range(BOARD_FILES)]
        traverses = sorted({self._aimed.traverse_m.nearest(right_m) for right_m in files})
        draws = self.draws(_COARSE_SHOTS)
        best: dict[int, tuple[float, tuple[float, float, float]]] = {}
        for traverse_m in traverses:
            touches = self.touches(elevations, np.full(len(azimuths), traverse_m), azimuths, draws)
            if not touches.soldiers:
                return []
            net = self.values(touches).net
            chance = touches.chance().sum(axis=3)
            likeliest = np.where(chance.max(axis=2) > 0, chance.argmax(axis=2), -1)
            for soldier in np.unique(likeliest[net > 0]):
                masked = np.where(likeliest == soldier, net, -np.inf)
                e, d = np.unravel_index(int(masked.argmax()), net.shape)
                worth = float(net[e, d])
                if soldier >= 0 and worth > best.get(int(soldier), (0.0,))[0]:
                    best[int(soldier)] = (worth, (traverse_m, float(azimuths[d]), float(elevations[e])))
        return [where for _, where in sorted(best.values(), reverse=True)]

    def _refined(
        self, traverse_m: float, azimuth_rad: float, elevation_rad: float
    ) -> tuple[float, float, float]:
        """Return the best aim of the neighbourhood, in finer steps."""
        limits = self._aimed
        square_m = self.board.square_mm / 1000
        elevations = _inside(elevation_rad + _FINE_STEPS * _GRID_RAD, limits.elevation_rad)
        traverses, azimuths = np.meshgrid(
            _inside(traverse_m + _FINE_SIDESTEPS * square_m, limits.traverse_m),
            _inside(azimuth_rad + _FINE_STEPS * _GRID_RAD, limits.azimuth_rad),
        )
        touches = self.touches(
            elevations, traverses.ravel(), azimuths.ravel(), self.draws(_FINE_SHOTS, stream=1)
        )
        net = self.values(touches).net
        e, d = np.unravel_index(int(net.argmax()), net.shape)
        return float(traverses.flat[d]), float(azimuths.flat[d]), float(elevations[e])

    def _ranked(self, traverse_m: float, azimuth_rad: float, elevation_rad: float, draws: Draws) -> RankedAim:
        touches = self.touches([elevation_rad], [traverse_m], [azimuth_rad], draws)
        values = self.values(touches)
        touched = touches.chance()[0, 0].sum(axis=1)
        leaves = [float(touches.mean(self._leaving[..., each])[0, 0]) for each in range(len(self._squares))]
        return RankedAim(
            traverse_m=traverse_m,
            azimuth_rad=azimuth_rad,
            elevation_rad=elevation_rad,
            enemy=float(values.enemy[0, 0]),
            own=float(values.own[0, 0]),
            net=float(values.net[0, 0]),
            net_error=float(values.net_error[0, 0]),
            touched=self._sorted(touched.tolist()),
            leaves=self._sorted(leaves),
        )

    def _sorted(self, chances: list[float]) -> dict[Square, float]:
        """Return the chances above 0 by square, the largest first."""
        pairs = [
            (square, chance) for square, chance in zip(self._squares, chances, strict=True) if chance > 0
        ]
        return dict(sorted(pairs, key=lambda pair: -pair[1]))


def counted(position: Position, zone: Collection[Square], option: Option) -> NDArray[np.float64]:
    """Return for each soldier whether it would leave if it fell directly, by ricochet, or dragged: (n, 3), 0 or 1."""
    leaves = np.zeros((len(position.soldiers), len(CAUSES)))
    for row, (square, side) in enumerate(position.soldiers.items()):
        for column, cause in enumerate(CAUSES):
            verdict = judge(position, zone, option, [Fall(square, side, (cause,))])
            leaves[row, column] = square in verdict.casualties
    return leaves


def _whole_steps(limits: aim.Limits) -> NDArray[np.float64]:
    """Return every whole degree within limits; their middle where there is none."""
    first, last = np.ceil(limits.lowest / _GRID_RAD - 1e-9), np.floor(limits.highest / _GRID_RAD + 1e-9)
    steps = np.arange(first, last + 1) * _GRID_RAD
    return steps if len(steps) else np.array([(limits.lowest + limits.highest) / 2])


def _inside(values: NDArray[np.float64], limits: aim.Limits) -> NDArray[np.float64]:
    kept: NDArray[np.float64] = np.unique(np.clip(values, limits.lowest, limits.highest))
    return kept

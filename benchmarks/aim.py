"""How fast aims are solved and weighed by the rules."""

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from benchmarks.figure import Figure
from calibration.aim import Aim, Arc, Cannon, Limits, body_point_m, solve
from calibration.flight import STANDARD_GRAVITY_MPS2, at_distance
from game.montecassino import ALL_SQUARES, Option, Position, Side
from rig.aim_by_rules import AimChooser
from rig.aiming import cannon_of
from rig.settings import Settings

_POSITION = "A A01-A24 G01-G24 0/0 20/20 -"
_SHOTS = 1_000
_SINGLE_SHOTS = 5_000
_PEER_TARGETS = 4
_TIMES = 5


def measure() -> list[Figure]:
    """Solve every square both ways; weigh the whole grid of whole degrees."""
    return [*_solutions(), _grid()]


def _solutions() -> list[Figure]:
    settings = Settings()
    cannon = cannon_of(Side.A, settings.cannon, settings.board)
    # A mount that can be pointed at everything, so that every square is solved both ways.
    cannon = replace(cannon, elevation_rad=Limits(-1.0, math.pi / 2))
    targets = []
    for square in ALL_SQUARES:
        x_mm, y_mm = square.centre_mm(settings.board.square_mm)
        targets.append(body_point_m(x_mm / 1000, y_mm / 1000, settings.board.soldier_height_mm / 1000))
    figures = []
    for arc in Arc:
        spent_ms = []
        for _ in range(_TIMES):
            begun_s = time.perf_counter()
            found = [solve(cannon, target_m, arc) for target_m in targets]
            spent_ms.append(1000 * (time.perf_counter() - begun_s) / len(targets))
            assert all(isinstance(each, Aim) for each in found)
        figures.append(
            Figure(
                f"one aim solution, {arc} path",
                min(spent_ms),
                "ms",
                "scipy's brentq over its solve_ivp, from a near bracket",
                _scipys_ms(cannon, targets[:: len(targets) // _PEER_TARGETS], arc),
            )
        )
    return figures


def _scipys_ms(cannon: Cannon, targets: list[tuple[float, float, float]], arc: Arc) -> float:
    """Return how long scipy takes for one elevation, given one within a hundredth of a degree or so."""
    spent_s = 0.0
    for target_m in targets:
        found = solve(cannon, target_m, arc)
        assert isinstance(found, Aim)
        right_m, ahead_m = cannon.strip.from_board(*target_m[:2])
        distance_m = math.hypot(right_m - found.traverse_m, ahead_m)
        begun_s = time.perf_counter()
        elevation_rad = brentq(
            lambda elevation_rad, distance_m=distance_m, z_m=target_m[2]: (
                _scipys_height_m(cannon, elevation_rad, distance_m) - z_m
            ),
            found.elevation_rad - 2e-4,
            found.elevation_rad + 2e-4,
            xtol=1e-10,
        )
        spent_s += time.perf_counter() - begun_s
        assert abs(elevation_rad - found.elevation_rad) < 1e-6
    return 1000 * spent_s / len(targets)


def _scipys_height_m(cannon: Cannon, elevation_rad: float, distance_m: float) -> float:
    start = cannon.fire(elevation_rad)

    def motion(_x_m: float, state: NDArray[np.float64]) -> list[float]:
        _, vx, vz = state
        drag = cannon.drag_per_m * math.hypot(vx, vz)
        return [vz / vx, -drag, (-STANDARD_GRAVITY_MPS2 - drag * vz) / vx]

    flown = solve_ivp(
        motion, (start.x_m, distance_m), [start.z_m, start.vx_mps, start.vz_mps], rtol=1e-9, atol=1e-10
    )
    return float(flown.y[0, -1])


def _grid() -> Figure:
    settings = Settings()
    chooser = AimChooser(Position.parse(_POSITION), ALL_SQUARES, Option.I, settings.cannon, settings.board)
    elevations, azimuths = chooser.grid_rad()
    cannon = cannon_of(Side.A, settings.cannon, settings.board)
    traverses_m = np.full(len(azimuths), sum((cannon.traverse_m.lowest, cannon.traverse_m.highest)) / 2)
    spent_s = []
    for _ in range(_TIMES):
        begun_s = time.perf_counter()
        draws = chooser.draws(_SHOTS)
        values = chooser.values(chooser.touches(elevations, traverses_m, azimuths, draws))
        spent_s.append(time.perf_counter() - begun_s)
    assert values.net.shape == (len(elevations), len(azimuths))
    shots = values.net.size * _SHOTS
    # The floor: to fly each shot of the grid by itself to one distance, before any soldier is looked at.
    begun_s = time.perf_counter()
    for number in range(_SINGLE_SHOTS):
        at_distance(cannon.fire(1e-5 * number), cannon.drag_per_m, 0.7, -1.0)
    single_s = (time.perf_counter() - begun_s) / _SINGLE_SHOTS * shots
    return Figure(
        f"aim by the rules: {values.net.size} aims of whole degrees, {_SHOTS} shots each, 48 soldiers",
        min(spent_s),
        "s",
        "flying each of these shots by itself",
        single_s,
    )

"""How fast aims are solved and weighed by the rules."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from benchmarks._timing import timed
from benchmarks.figure import Figure
from calibration.aim import Aim, Arc, Cannon, Limits, NoAim, body_point_m, solve
from calibration.flight import STANDARD_GRAVITY_MPS2
from calibration.impact import Plane, impacts
from game.montecassino import ALL_SQUARES, Option, Position, Side
from rig.aim.by_rules import AimChooser, ShotValues
from rig.aim.pointing import cannon_of
from rig.settings import Settings

_POSITION = "A A01-A24 G01-G24 0/0 20/20 -"
_SHOTS = 1_000
_EVERY = 11  # square is timed, so that files and lines take turns
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
        assert all(isinstance(each, Aim) for each in _solved(cannon, targets, arc))
        some = targets[::_EVERY]
        _, spent_s = timed(partial(_solved, cannon, some, arc), _TIMES)
        figures.append(
            Figure(
                f"one aim solution, {arc} path, CPU",
                1000 * spent_s / len(some),
                "ms",
                "scipy's brentq over its solve_ivp, from a near bracket",
                _scipys_ms(cannon, some, arc),
            )
        )
    return figures


def _solved(cannon: Cannon, targets: list[tuple[float, float, float]], arc: Arc) -> list[Aim | NoAim]:
    return [solve(cannon, target_m, arc) for target_m in targets]


def _scipys_ms(cannon: Cannon, targets: list[tuple[float, float, float]], arc: Arc) -> float:
    """Return how long scipy takes for one elevation, given one within a hundredth of a degree or so."""
    problems = []
    for target_m in targets:
        found = solve(cannon, target_m, arc)
        assert isinstance(found, Aim)
        right_m, ahead_m = cannon.strip.from_board(*target_m[:2])
        problems.append((found.elevation_rad, math.hypot(right_m - found.traverse_m, ahead_m), target_m[2]))
    elevations_rad, spent_s = timed(
        lambda: [_scipys_elevation_rad(cannon, *problem) for problem in problems], _TIMES
    )
    off_rad = [theirs - ours for theirs, (ours, _, _) in zip(elevations_rad, problems, strict=True)]
    assert max(map(abs, off_rad)) < 1e-7, "ours ends within 1e-8 m of the target, theirs with as small a step"
    return 1000 * spent_s / len(targets)


def _scipys_elevation_rad(cannon: Cannon, near_rad: float, distance_m: float, height_m: float) -> float:
    """Return the elevation at which the shot is so high at a distance."""
    found: float = brentq(
        lambda elevation_rad: _scipys_height_m(cannon, elevation_rad, distance_m) - height_m,
        near_rad - 2e-4,
        near_rad + 2e-4,
        xtol=1e-8,
    )
    return found


def _scipys_height_m(cannon: Cannon, elevation_rad: float, distance_m: float) -> float:
    start = cannon.fire(elevation_rad)

    def motion(_x_m: float, state: NDArray[np.float64]) -> list[float]:
        _, vx, vz = state
        drag = cannon.drag_per_m * math.hypot(vx, vz)
        return [vz / vx, -drag, (-STANDARD_GRAVITY_MPS2 - drag * vz) / vx]

    flown = solve_ivp(
        motion,
        (start.x_m, distance_m),
        [start.z_m, start.vx_mps, start.vz_mps],
        method="DOP853",  # of scipy's the quickest where much is asked of it
        rtol=1e-9,
        atol=1e-10,
    )
    return float(flown.y[0, -1])


def _grid() -> Figure:
    settings = Settings()
    chooser = AimChooser(Position.parse(_POSITION), ALL_SQUARES, Option.I, settings.cannon, settings.board)
    elevations, azimuths = chooser.grid_rad()
    cannon = cannon_of(Side.A, settings.cannon, settings.board)
    traverses_m = np.full(len(azimuths), sum((cannon.traverse_m.lowest, cannon.traverse_m.highest)) / 2)

    def weigh() -> ShotValues:
        return chooser.values(chooser.touches(elevations, traverses_m, azimuths, chooser.draws(_SHOTS)))

    values, spent_s = timed(weigh, _TIMES)
    assert values.net.shape == (len(elevations), len(azimuths))
    # The peer flies as many shots as quickly as we can, and looks at no soldier; that aims of one elevation have their
    # flight in common is what it does not know.
    speeds_mps = np.random.default_rng(1).normal(cannon.muzzle_speed_mps, 0.01, (len(elevations), _SHOTS))

    def fly() -> None:
        for _ in azimuths:
            impacts(
                speeds_mps,
                elevations[:, None],
                muzzle_m=(0.0, 0.0, 0.05),
                drag_per_m=cannon.drag_per_m,
                plane=Plane.level(-1.0),
            )

    return Figure(
        f"aim by the rules: {values.net.size} aims of whole degrees, {_SHOTS} shots each, 48 soldiers, CPU",
        spent_s,
        "s",
        "flying as many shots to the ground, in batches, and no more",
        timed(fly, _TIMES)[1],
    )

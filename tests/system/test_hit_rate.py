"""The hit rate on the twin is the one predicted (issue: truth).

The twin's physics shares no code with `calibration`. Its soldiers are figures with legs, arms and a rifle, set down
by a hand that slips and turns; the prediction knows a stack of cylinders and a standard deviation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from calibration.aim import Aim, Arc, Cannon, Limits, body_point_m, solve
from calibration.figure import Figure
from calibration.flight import Projectile
from calibration.scatter import Scatter
from calibration.strikes import TouchBins, first_touches
from game.montecassino import Side, Square
from rig.aim.pointing import cannon_of
from rig.settings import Settings
from twin.physics import ShotSettings
from twin.table import Table, TableSettings

SETTINGS = Settings()
HEIGHT_M = SETTINGS.board.soldier_height_mm / 1000
PLACEMENT_M = TableSettings().placement_sd_mm / 1000
ONE_PER_CENT = Scatter(0.01, 0.0, 0.0, 0.0, PLACEMENT_M)
TARGET = Square.parse("G-36")
"""Its middle lies 60 cm from the muzzle of a level barrel, to a centimetre."""


@dataclass(frozen=True, slots=True)
class Case:
    """Who stands where, and how one shoots at `TARGET`."""

    scatter: Scatter = ONE_PER_CENT
    arc: Arc = Arc.DIRECT
    speed_mps: float = 9.6
    aim_beside_m: float = 0.0
    """To the right and to the left in turn: a figure is not the same on both sides, the prediction is."""
    aim_above_m: float = 0.0
    others: tuple[str, ...] = ()
    flight_s: float = 0.13


CASES = {
    "at the body": Case(),
    "at the edge of the body": Case(aim_beside_m=0.0075),
    "at the top of the helmet": Case(aim_above_m=0.0205),
    "with play in both axes": Case(scatter=replace(ONE_PER_CENT, azimuth_rad=0.012, elevation_rad=0.012)),
    "behind a comrade": Case(
        scatter=replace(ONE_PER_CENT, azimuth_rad=0.008), aim_beside_m=0.004, others=("G-44", "G-60")
    ),
    "lobbed, slowly": Case(arc=Arc.LOBBED, speed_mps=3.2, flight_s=0.72),
}


def cannon_for(case: Case) -> Cannon:
    """Give the cannon as calibration would know the twin's: its speed, and its drag."""
    shot = ShotSettings()
    projectile = Projectile(shot.diameter_mm / 1e3, shot.mass_g / 1e3, shot.drag_coefficient)
    return replace(
        cannon_of(Side.A, SETTINGS.cannon, SETTINGS.board),
        muzzle_speed_mps=case.speed_mps,
        drag_per_m=projectile.drag_per_m(shot.air_density_kgpm3),
        elevation_rad=Limits(-0.3, 1.56),
    )


def aim_of(case: Case, side: int = 1) -> tuple[Cannon, Aim]:
    cannon = cannon_for(case)
    x_mm, y_mm = TARGET.centre_mm(SETTINGS.board.square_mm)
    x_m, y_m, z_m = body_point_m(x_mm / 1000, y_mm / 1000, HEIGHT_M)
    aim = solve(cannon, (x_m + side * case.aim_beside_m, y_m, z_m + case.aim_above_m), case.arc)
    assert isinstance(aim, Aim)
    return cannon, aim


def predicted(case: Case) -> float:
    """Give the chance that a shot touches the target before anything else."""
    cannon, aim = aim_of(case)
    squares = [TARGET, *map(Square.parse, case.others)]
    feet = np.array([square.centre_mm(SETTINGS.board.square_mm) for square in squares]) / 1000
    touches = first_touches(
        cannon,
        elevations_rad=[aim.elevation_rad],
        traverses_m=[aim.traverse_m],
        azimuths_rad=[aim.azimuth_rad],
        soldiers_m=feet,
        figure=Figure(HEIGHT_M),
        bins=TouchBins((), ()),
        draws=case.scatter.draw(20_000, len(squares), np.random.default_rng(5)),
    )
    return float(touches.chance()[0, 0, 0, 0])


def hits_on_the_twin(case: Case, shots: int) -> int:
    """Fire so often, each time at soldiers set down anew, and count who was touched first."""
    aims = aim_of(case), aim_of(case, -1)
    squares = {TARGET: Side.G} | {Square.parse(other): Side.A for other in case.others}
    hits = 0
    for number in range(shots):
        cannon, aim = aims[number % 2]
        rng = np.random.default_rng([0, number])
        azimuth_rad = aim.azimuth_rad + case.scatter.azimuth_rad * rng.standard_normal()
        elevation_rad = aim.elevation_rad + case.scatter.elevation_rad * rng.standard_normal()
        muzzle_m = cannon.muzzle_m(aim.traverse_m, azimuth_rad, elevation_rad)
        x_mm, y_mm, z_mm = (1000 * value for value in muzzle_m)
        table = Table(TableSettings(), squares, seed=int(rng.integers(1 << 30)))
        speed_mps = case.speed_mps * (1 + case.scatter.speed_share * rng.standard_normal())
        table.launch((x_mm, y_mm, z_mm), azimuth_rad, elevation_rad, speed_mps, 0)
        while not table.at_rest and table.now_us < case.flight_s * 1e6:
            table.advance(table.now_us + 10_000)
        table.stop()
        touched = table.truth().contacts
        hits += bool(touched) and touched[0][1] == str(TARGET)
    return hits


def test_the_target_stands_60_cm_from_the_muzzle():
    _, aim = aim_of(CASES["at the body"])
    x_mm, y_mm = TARGET.centre_mm(SETTINGS.board.square_mm)
    assert math.dist(aim.muzzle_m[:2], (x_mm / 1000, y_mm / 1000)) == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize("name", CASES)
def test_the_hit_rate_on_the_twin_is_the_predicted_one(name):
    """The predicted rate lies in the 99.9 % interval of the rate seen."""
    case = CASES[name]
    shots = 24 if case.arc is Arc.DIRECT else 12
    hits = hits_on_the_twin(case, shots)
    interval = stats.binomtest(hits, shots).proportion_ci(0.999, method="exact")
    assert interval.low <= predicted(case) <= interval.high

"""A spring that has worn since it was calibrated: the shots of the twin go where they are aimed all the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fading_spring import fading
from logged_shots import AIM, GATE, PLAN, START
from small_twin import SMALL_TWIN

from calibration.flight import Projectile
from game.montecassino import Option, Position, Side, Square
from rig.calibrating.calibration_file import calibration_of, write_calibration
from rig.cli.arguments.orders import zone_of
from rig.cli.opening.rig import OpenRig, open_rig
from rig.hands import PromptedHands
from rig.log import Stage, open_log
from rig.match import Order, ShotDone
from rig.settings import Port, Settings, read_settings
from twin.physics import ShotSettings
from twin.spring import SpringSettings, muzzle_speed_mps

POSITION = Position.parse("A A01-A03 G01-G03 0/0 20/20 -")
TARGET = Square.parse("G-06")
"""Nobody stands there or before it, so that the shot flies past; in the last line, where the speed tells most."""
REAL = "/dev/ttyACM0"
NEAR_MM = 1.5


def worn_cannon(folder: Path, *, fade: float, fired: int, usual: int, shots_fired: int) -> Settings:
    """A twin whose spring loses `fade` of its speed with a shot and has `fired` so many, and a calibration that knows the fade."""
    shot = ShotSettings()
    fresh_mps = muzzle_speed_mps(
        SpringSettings(speed_scatter=0.0), dwell_s=0.5, shot_number=0, rng=np.random.default_rng(0)
    )
    projectile = Projectile(shot.diameter_mm / 1e3, shot.mass_g / 1e3, shot.drag_coefficient)
    drag_per_m = projectile.drag_per_m(shot.air_density_kgpm3)
    found = fading(fade, fade / 100, usual=usual, speed_mps=fresh_mps, drag_per_m=drag_per_m)
    write_calibration(folder / "calibration.json", found, [], shots_fired=shots_fired)
    (folder / "rig.toml").write_text(
        SMALL_TWIN.format(seed=5)
        + f"plant.spring.fade_per_shot = {2 * fade}\n"  # of the force: the speed goes with its root
        + "plant.spring.speed_scatter = 0.0\n"
        + f"plant.shots_fired_before = {fired}\n"
        + '[cannon]\ncalibration = "calibration.json"\n'
    )
    return read_settings(folder / "rig.toml")


def log_an_evening(settings: Settings, shots: int) -> None:
    """Log shots of a real cannon, aimed by the calibration."""
    calibrated = calibration_of(settings.cannon)
    assert calibrated is not None
    with open_log(Path(settings.log.path)) as log:
        session_id = log.start_session(replace(START, port=REAL))
        for _ in range(shots):
            shot_id = log.begin_shot(session_id, PLAN)
            log.aimed(shot_id, replace(AIM, calibration=calibrated.identity))
            for stage in (Stage.COCKED, Stage.LOADED, Stage.ARMED, Stage.ASKED, Stage.FIRED):
                log.reached(shot_id, stage)
            log.seen(shot_id, GATE)
        log.end_session(session_id, "finished")


@contextmanager
def rig_of(settings: Settings) -> Iterator[OpenRig]:
    with open_rig(settings, POSITION, PromptedHands(print, print), progress=lambda words: None) as rig:
        yield rig


def shoot(rig: OpenRig) -> tuple[ShotDone, float]:
    """Fire at the target, and say by how many mm the shot passed above the point that was aimed at."""
    done = rig.match.shoot(Order(TARGET, POSITION, zone_of(rig.settings, Side.A), Option.I))
    assert rig.twin is not None
    _, x_mm, y_mm, z_mm = np.array(rig.twin.table.truth().pellet).T
    there = int(np.argmax(y_mm > done.aimed.target_mm[1])) + 1
    right_mm, height_mm = (
        np.interp(done.aimed.target_mm[1], y_mm[:there], along_mm[:there]) for along_mm in (x_mm, z_mm)
    )
    assert right_mm == pytest.approx(done.aimed.target_mm[0], abs=3)
    return done, float(height_mm) - done.aimed.target_mm[2]


def test_many_shots_after_its_calibration_a_cannon_hits_where_it_is_aimed(tmp_path: Path) -> None:
    """24 shots were fired for the calibration, and 40 since, which the log has: 8 % of the speed since the middle one of the 24."""
    settings = worn_cannon(tmp_path, fade=1.5e-3, fired=64, usual=12, shots_fired=24)
    log_an_evening(settings, 40)
    with rig_of(settings) as rig:
        rig.match.settings = settings.model_copy(update={"port": Port(url=REAL)})
        done, above_mm = shoot(rig)
        aim = rig.log.shot(done.shot_id).aim
    assert above_mm == pytest.approx(0, abs=NEAR_MM)
    assert aim is not None
    assert done.fired.muzzle_speed_mps == pytest.approx(aim.expected_muzzle_speed_mps, rel=0.01)


def test_on_one_twin_every_shot_of_a_fading_spring_hits_where_it_is_aimed(tmp_path: Path) -> None:
    """Its spring is new as the session begins, and loses 3 % of the speed with every shot."""
    settings = worn_cannon(tmp_path, fade=0.03, fired=0, usual=0, shots_fired=24)
    with rig_of(settings) as rig:
        for _ in range(3):
            _, above_mm = shoot(rig)
            assert above_mm == pytest.approx(0, abs=NEAR_MM)
            rig.hands.set_up((), ())

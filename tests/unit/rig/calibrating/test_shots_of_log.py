"""Shots of the log for a calibration: as they were set when they were fired, whatever the settings say since."""

from __future__ import annotations

from dataclasses import replace

from logged_shots import AIM, GATE, PLAN, START

from rig.calibrating.shots_of_log import shots_of_log
from rig.log import ShotLog, Stage, open_log_in_memory
from rig.settings import Settings
from rig.verdict.late_judging import logged_settings

NOW = Settings()
MOUNTED_OTHERWISE = NOW.model_copy(
    update={
        "cannon": NOW.cannon.model_copy(
            update={
                name: axis.model_copy(update={"us_per_rad": -axis.us_per_rad})
                for name, axis in (("elevation", NOW.cannon.elevation), ("azimuth", NOW.cannon.azimuth))
            }
        )
    }
)
"""The same cannon before its servos were turned round: its pulses rise to an aim from the other side."""


def fire(log: ShotLog, told: dict[str, object]) -> None:
    session_id = log.start_session(replace(START, settings=told))
    shot_id = log.begin_shot(session_id, replace(PLAN, plan=None, plan_index=None))
    log.aimed(shot_id, replace(AIM, calibration=""))
    for stage in (Stage.COCKED, Stage.LOADED, Stage.ARMED, Stage.ASKED, Stage.FIRED):
        log.reached(shot_id, stage)
    log.seen(shot_id, GATE)
    log.end_session(session_id, "finished")


def test_an_axis_came_to_its_aim_from_where_the_settings_had_it_when_the_shot_was_fired() -> None:
    with open_log_in_memory() as log:
        fire(log, logged_settings(MOUNTED_OTHERWISE))
        fire(log, logged_settings(NOW))
        fire(log, {"cannon": {"muzzle_speed_mps": 9.6}})  # nothing is told of the axes
        shots = shots_of_log(log, NOW, None, None).shots
    assert [(shot.elevation_approach, shot.azimuth_approach) for shot in shots] == [(-1, -1), (1, 1), (1, 1)]

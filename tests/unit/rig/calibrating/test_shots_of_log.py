"""Shots of the log for a calibration: as they were set when they were fired, whatever the settings say since."""

from __future__ import annotations

from dataclasses import replace

import pytest
from logged_shots import AIM, ANALYSIS, GATE, PLAN, START

from rig.calibrating.shots_file import ShotsFileError
from rig.calibrating.shots_of_log import shots_of_log
from rig.log import ShotLog, Stage, open_log_in_memory
from rig.settings import Elevation, Settings
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


def fire(
    log: ShotLog, told: dict[str, object], *, side: str = "A", first_contact_mm: list[float] | None = None
) -> None:
    session_id = log.start_session(replace(START, settings=told))
    shot_id = log.begin_shot(session_id, replace(PLAN, side=side, plan=None, plan_index=None))
    log.aimed(shot_id, replace(AIM, calibration=""))
    for stage in (Stage.COCKED, Stage.LOADED, Stage.ARMED, Stage.ASKED, Stage.FIRED):
        log.reached(shot_id, stage)
    log.seen(shot_id, GATE)
    if first_contact_mm is not None:
        log.recorded(shot_id, "recordings/x")
        log.analysed(
            shot_id, replace(ANALYSIS, raw={"first_contact_mm": first_contact_mm}, falls=(), moved=())
        )
    log.end_session(session_id, "finished")


def test_an_axis_came_to_its_aim_from_where_the_settings_had_it_when_the_shot_was_fired() -> None:
    with open_log_in_memory() as log:
        fire(log, logged_settings(MOUNTED_OTHERWISE))
        fire(log, logged_settings(NOW))
        fire(log, {"cannon": {"muzzle_speed_mps": 9.6}})  # nothing is told of the axes
        shots = shots_of_log(log, NOW, None, None).shots
    assert [(shot.elevation_approach, shot.azimuth_approach) for shot in shots] == [(-1, -1), (1, 1), (1, 1)]


def changed(table: str, **keys: object) -> Settings:
    return NOW.model_copy(update={table: getattr(NOW, table).model_copy(update=keys)})


def test_where_a_shot_fell_is_told_by_the_table_that_it_was_fired_on() -> None:
    with open_log_in_memory() as log:
        for then in (changed("board", square_mm=50.0), changed("cannon", strip_offset_mm=80.0), NOW):
            fire(log, logged_settings(then), side="G", first_contact_mm=[100.0, 500.0])
        fire(log, {}, side="G", first_contact_mm=[100.0, 500.0])  # nothing is told of the table
        shots = shots_of_log(log, NOW, None, None).shots
    assert [shot.fell_m for shot in shots] == [
        pytest.approx((0.3, 0.445)),
        pytest.approx((0.26, 0.39)),
        pytest.approx((0.26, 0.355)),
        pytest.approx((0.26, 0.355)),
    ]


@pytest.mark.parametrize(
    ("then", "found", "expected"),
    [
        ({"muzzle_height_mm": 80.0}, "muzzle_height_mm 80", "muzzle_height_mm 50"),
        (
            {"muzzle_height_mm": 80.0, "barrel_length_mm": 55.0},
            "muzzle_height_mm 80 and barrel_length_mm 55",
            "muzzle_height_mm 50 and barrel_length_mm 60",
        ),
        (
            {"elevation": Elevation(centre_rad=0.3)},
            "elevation.centre_rad 0.3",
            "elevation.centre_rad 0.2618",
        ),
    ],
)
def test_shots_fired_when_the_cannon_was_mounted_otherwise_are_not_fitted_as_if_it_had_not_been(
    then: dict[str, object], found: str, expected: str
) -> None:
    told = (
        f"found fired with {found}, expected {expected}, as [cannon] says now (a calibration is of one mount; "
        "where it was only measured better since, name them)"
    )
    with open_log_in_memory() as log:
        for settings in (*[changed("cannon", **then)] * 2, NOW):
            fire(log, logged_settings(settings))
        every = shots_of_log(log, NOW, None, None)
        assert [shot.name for shot in every.shots] == ["shot 3"]
        assert list(map(str, every.left_out)) == [f"shots 1-2: {told}"]
        named = shots_of_log(log, NOW, {2, 3}, None)
        assert [shot.name for shot in named.shots] == ["shot 2", "shot 3"]
        assert named.left_out == ()


def test_where_every_shot_was_fired_with_another_mount_it_is_said_why_there_are_none() -> None:
    with open_log_in_memory() as log:
        fire(log, logged_settings(changed("cannon", muzzle_height_mm=80.0)))
        with pytest.raises(ShotsFileError, match="shot 1: found fired with muzzle_height_mm 80"):
            shots_of_log(log, NOW, None, None)

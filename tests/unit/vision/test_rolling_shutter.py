"""Rows that are taken one after the other: when each is, and what that makes of a shot's release and speed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest

from game.montecassino import Side
from vision.rolling_shutter import as_seen, in_own_time, later_us
from vision.scene import Scene
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

READOUT_US = 8000
FIRE_US = 1_000_000
# The board lies along the picture's height: the Allies' end at the top, or at the bottom.
CAMERAS = {
    turn: painted.view(width_px=540, height_px=960, roll_rad=turn * math.pi / 2, tilt_rad=0.02)
    for turn in (1, -1)
}


def scene(turn: int, **known: object) -> Scene:
    return painted.scene(CAMERAS[turn], readout_us=READOUT_US, fire_us=FIRE_US, **known)


@pytest.mark.parametrize("turn", [1, -1])
def test_the_middle_row_is_on_time_and_the_last_one_later_than_the_first_by_the_readout(turn: int) -> None:
    view = CAMERAS[turn]
    rows_px = np.array([-0.5, (view.height_px - 1) / 2, view.height_px - 0.5])
    points_mm = view.on_plane(np.column_stack([np.full(3, 270.0), rows_px]))
    late_us = [later_us(scene(turn), view, (x_mm, y_mm, 0.0)) for x_mm, y_mm in points_mm.tolist()]
    assert late_us == pytest.approx([-READOUT_US / 2, 0.0, READOUT_US / 2], abs=1e-3)
    assert later_us(replace(scene(turn), readout_us=0), view, (0.0, 0.0, 0.0)) == 0


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("side", list(Side))
def test_a_release_is_seen_when_the_row_of_the_muzzle_is_taken_or_of_the_end_of_the_side_that_fires(
    turn: int, side: Side
) -> None:
    end_mm = 0.0 if side is Side.A else 810.0
    for muzzle_mm in (None, (100.0, 0.1 * (405.0 - end_mm) + end_mm, 50.0)):
        told = scene(turn, cannon_side=side, muzzle_mm=muzzle_mm)
        late_us = later_us(told, CAMERAS[turn], muzzle_mm or (180.0, end_mm, 0.0))
        assert abs(late_us) > READOUT_US / 4
        assert as_seen(told, CAMERAS[turn]) == replace(told, fire_us=round(FIRE_US - late_us))
    untold = replace(scene(turn), fire_us=None)
    assert as_seen(untold, CAMERAS[turn]) == untold


def seen_flying(turn: int, true_mps: float, z_mm: float) -> ShotTrack:
    """A level shot along the board as pictures show it, each row of them in its own time."""

    def y_mm(time_us: float) -> float:
        """Where it is seen in a picture whose middle row is taken then: where it is when that row is taken."""
        y_mm = 400.0
        for _ in range(50):
            own_us = time_us + later_us(scene(turn), CAMERAS[turn], (180.0, y_mm, z_mm))
            y_mm = 200.0 + true_mps * own_us / 1000
        return y_mm

    seen_mps = y_mm(20_500) - y_mm(19_500)
    flight = Flight(20_000.0, np.array([180.0, y_mm(20_000), z_mm]), np.array([0.0, seen_mps, 0.0]), 0.0)
    streak = Streak(2, 20_000, 0.0, 0.0, 8.0, 8.0, (0.0, 1.0), 40.0)
    return ShotTrack((Leg(FlightFit(flight, np.eye(8), 1.0, np.zeros(1)), (streak,)),), "")


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("true_mps", [5.0, -8.0])
@pytest.mark.parametrize("z_mm", [3.0, 80.0])
def test_a_shot_has_its_own_speed_whichever_way_it_flies_over_the_rows(
    turn: int, true_mps: float, z_mm: float
) -> None:
    track = seen_flying(turn, true_mps, z_mm)
    seen_mps = track.legs[0].flight.velocity_mps[1]
    assert abs(seen_mps / true_mps - 1) > 0.03
    paced = in_own_time(track, scene(turn), CAMERAS[turn])
    assert paced.pace * seen_mps == pytest.approx(true_mps, rel=5e-3)
    assert paced.legs == track.legs


def test_where_no_shot_is_seen_or_all_rows_are_taken_at_once_nothing_changes() -> None:
    track, none = seen_flying(1, 5.0, 3.0), ShotTrack((), "no streak")
    at_once = replace(scene(1), readout_us=0)
    assert in_own_time(track, at_once, CAMERAS[1]) is track
    assert in_own_time(none, scene(1), CAMERAS[1]) is none
    assert as_seen(at_once, CAMERAS[1]) == at_once

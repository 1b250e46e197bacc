"""A muzzle that is told too high is told; a high one, or one far over the board, only where no shot is seen to come from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest

from game.montecassino import Side
from vision.muzzle import muzzle_too_high, unseen_from_odd
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

CAMERA = painted.view(height_mm=1250.0)
SCENE = painted.scene(CAMERA)
UNSEEN = ShotTrack((), "no streak moves like a shot")
SEEN = ShotTrack(
    (
        Leg(
            FlightFit(Flight(0.0, np.zeros(3), np.array([0.0, 9.0, 0.0])), np.eye(8), 0.0, np.zeros(1)),
            (Streak(1, 8333, 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0),),
        ),
    ),
    "the shot left the board",
)


@pytest.mark.parametrize(
    ("z_mm", "too_high"), [(None, False), (-50.0, False), (48.0, False), (620.0, False), (630.0, True)]
)
def test_no_muzzle_is_higher_than_half_as_high_as_the_camera(z_mm: float | None, too_high: bool) -> None:
    told = replace(SCENE, muzzle_mm=None if z_mm is None else (180.0, -20.0, z_mm))
    assert (muzzle_too_high(told, CAMERA) is not None) is too_high


@pytest.mark.parametrize(
    ("z_mm", "track", "noted"),
    [
        (None, UNSEEN, False),
        (134.0, UNSEEN, False),
        (136.0, UNSEEN, True),
        (136.0, SEEN, False),
    ],
)
def test_a_muzzle_three_squares_high_is_noted_where_no_shot_is_seen(
    z_mm: float | None, track: ShotTrack, noted: bool
) -> None:
    told = replace(SCENE, muzzle_mm=None if z_mm is None else (180.0, -20.0, z_mm))
    assert bool(unseen_from_odd(told, track)) is noted


@pytest.mark.parametrize(
    ("side", "y_mm", "track", "noted"),
    [
        (Side.A, 15.0, UNSEEN, False),
        (Side.A, 91.0, UNSEEN, True),
        (Side.A, 91.0, SEEN, False),
        (Side.G, 795.0, UNSEEN, False),
        (Side.G, 600.0, UNSEEN, True),
    ],
)
def test_a_muzzle_two_squares_over_the_board_is_noted_where_no_shot_is_seen(
    side: Side, y_mm: float, track: ShotTrack, noted: bool
) -> None:
    told = replace(SCENE, cannon_side=side, muzzle_mm=(180.0, y_mm, 48.0))
    assert bool(unseen_from_odd(told, track)) is noted

"""Who was the first to move, and how well that goes with when the shot can have touched him."""

import numpy as np
import pytest

from game.montecassino import Square
from vision.causes.stirring import earliest, first_to_stir, stirring_cost
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

FRAME_US = 8333.0
RELEASE_US = 1_000_000
A, B, C = (Square.parse(name) for name in ("A-01", "A-02", "A-03"))
UNSEEN = ShotTrack((), "no streak")


def seen(sights: int) -> ShotTrack:
    flight = Flight(RELEASE_US, np.array([180.0, -40.0, 50.0]), np.array([0.0, 8.0, 0.0]))
    streaks = tuple(
        Streak(k, RELEASE_US + 8333 * k, 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0) for k in range(sights)
    )
    return ShotTrack((Leg(FlightFit(flight, np.eye(8), 1.0, np.zeros(sights)), streaks),), "")


def test_the_first_are_all_of_one_picture_and_nobody_of_the_next() -> None:
    assert earliest({A: 1_050_000, B: 1_050_000, C: 1_058_333}, FRAME_US) == {A, B}
    assert earliest({}, FRAME_US) == set()


def test_who_moved_before_the_release_is_not_the_first_that_the_shot_can_have_struck() -> None:
    """Two sights may be strangers', and tell no release."""
    stirred_us = {A: RELEASE_US - 30_000, B: RELEASE_US + 50_000}
    assert first_to_stir(seen(3), stirred_us, FRAME_US) == {B}
    assert first_to_stir(seen(2), stirred_us, FRAME_US) == {A}
    assert first_to_stir(UNSEEN, stirred_us, FRAME_US) == set()


@pytest.mark.parametrize(
    ("late_ms", "is_free"), [(-8, False), (-3, True), (0, True), (10, True), (16, False)]
)
def test_who_is_struck_is_seen_to_move_within_a_picture_or_so(late_ms: int, is_free: bool) -> None:
    (cost,) = stirring_cost(RELEASE_US + 1000 * late_ms, np.array([float(RELEASE_US)]), FRAME_US)
    assert (cost == 0) == is_free
    assert cost >= 0

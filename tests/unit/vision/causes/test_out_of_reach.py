"""Whether the shot can have been at a soldier when that one began to move (C7)."""

import numpy as np
import pytest

from game.montecassino import Side, Square
from vision.causes.out_of_reach import Sight, Whereabouts, find_whereabouts
from vision.outcome import Soldier
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

FRAME_US = 8333.0
HEIGHT_MM = 42.0


def leg(
    start_ms: float,
    at_mm: tuple[float, float, float],
    way: tuple[float, float, float],
    lasts_ms: float,
    *,
    sights: int = 2,
) -> Leg:
    flight = Flight(1000 * start_ms, np.array(at_mm), np.array(way))
    streaks = tuple(
        Streak(k, round(1000 * (start_ms + ms)), 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0)
        for k, ms in enumerate(np.linspace(0.0, lasts_ms, sights))
    )
    return Leg(FlightFit(flight, np.eye(8), 1.0, np.zeros(sights)), streaks)


# 8 m/s along +y from the muzzle, seen for 40 ms: at the end it is at y = 280.
OUT = leg(0.0, (180.0, -40.0, 20.0), (0.0, 8.0, 0.2), 40.0)


def whereabouts(
    legs: tuple[Leg, ...],
    at_mm: tuple[float, float],
    began_ms: float,
    *,
    lost: bool = False,
    first_ms: float = 30.0,
) -> Whereabouts:
    soldier = Soldier(Square.parse("G-69"), Side.G, *at_mm)
    return find_whereabouts(
        ShotTrack(legs, "", 1000.0, lost),
        soldier,
        round(1000 * began_ms),
        height_mm=HEIGHT_MM,
        frame_us=FRAME_US,
        first_us=round(1000 * first_ms),
    )


def test_a_shot_that_was_not_seen_may_have_been_anywhere() -> None:
    assert whereabouts((), (180.0, 300.0), 60) == Whereabouts(Sight.LOST, 1.0)


def test_what_is_seen_only_after_soldiers_moved_does_not_tell_where_the_shot_was_before() -> None:
    late = leg(90.0, (10.0, 10.0, 20.0), (0.0, 2.0, 0.0), 30.0)
    assert whereabouts((late,), (300.0, 300.0), 40).sight is Sight.LOST


@pytest.mark.parametrize(("x_mm", "near"), [(190.0, True), (260.0, False)])
def test_in_sight_it_is_where_it_is_seen(x_mm: float, near: bool) -> None:
    there = whereabouts((OUT,), (x_mm, 150.0), 26)
    assert there.sight is Sight.SEEN
    assert (there.fit > 0.9) is near
    assert (there.fit < 0.05) is not near


@pytest.mark.parametrize(("z_mm", "near"), [(20.0, True), (50.0, True), (100.0, False)])
def test_in_sight_over_a_head_it_touches_nobody(z_mm: float, near: bool) -> None:
    over = leg(0.0, (180.0, -40.0, z_mm), (0.0, 8.0, 0.15), 40.0)
    there = whereabouts((over,), (180.0, 150.0), 26)
    assert there.sight is Sight.SEEN
    assert (there.fit > 0.9) is near
    assert (there.fit < 0.01) is not near


@pytest.mark.parametrize(("y_mm", "near"), [(330.0, True), (420.0, False)])
def test_lost_from_sight_it_went_no_farther_than_its_speed_allows(y_mm: float, near: bool) -> None:
    there = whereabouts((OUT,), (180.0, y_mm), 47, lost=True)
    assert there.sight is Sight.LOST
    assert (there.fit > 0.9) is near
    assert (there.fit < 0.05) is not near


def test_from_high_above_the_board_it_does_not_come_down_at_once() -> None:
    up = leg(0.0, (180.0, -40.0, 20.0), (0.0, 8.0, 6.0), 40.0)
    assert whereabouts((up,), (180.0, 300.0), 60, lost=True).fit < 0.01
    assert whereabouts((OUT,), (180.0, 300.0), 60, lost=True).fit > 0.9
    # Unless it struck somebody after it was seen last.
    assert whereabouts((up,), (180.0, 300.0), 60, lost=True, first_ms=45).fit > 0.9


def test_between_two_sights_it_must_also_get_to_the_second() -> None:
    # Seen again 20 ms later, 40 mm back and flying back at 3 m/s: it can have turned near y = 300.
    back = leg(60.0, (180.0, 240.0, 20.0), (0.0, -3.0, 0.0), 20.0)
    near, far = (whereabouts((OUT, back), (180.0, y_mm), 50) for y_mm in (300.0, 380.0))
    assert near.sight is far.sight is Sight.SEEN
    assert near.fit > 0.9
    assert far.fit < 0.05


def test_a_shot_that_left_the_board_is_told_apart() -> None:
    assert whereabouts((OUT,), (180.0, 300.0), 60).sight is Sight.LEFT


def test_what_begins_slowly_where_somebody_was_struck_is_less_surely_the_shot_than_what_flies_on() -> None:
    out = leg(0.0, (180.0, -40.0, 20.0), (0.0, 8.0, 0.2), 40.0, sights=6)
    slow, fast = (
        whereabouts(
            (out, leg(50.0, (180.0, 300.0, 20.0), (0.5, mps, 0.0), 60.0, sights=8)), (300.0, 300.0), 90
        )
        for mps in (0.5, 5.0)
    )
    assert slow.sight is fast.sight is Sight.SEEN
    assert slow.misled > 3 * fast.misled


def test_a_flight_of_two_sights_is_less_surely_the_shots() -> None:
    few, many = (
        whereabouts(
            (leg(0.0, (180.0, -40.0, 20.0), (0.0, 8.0, 0.2), 40.0, sights=sights),), (300.0, 150.0), 26
        )
        for sights in (2, 6)
    )
    assert few.misled > 3 * many.misled


def test_out_of_sight_between_two_flights_the_less_sure_of_them_says_how_surely_they_are_the_shots() -> None:
    out = leg(0.0, (180.0, -40.0, 20.0), (0.0, 8.0, 0.2), 40.0, sights=6)
    few, many = (
        whereabouts(
            (out, leg(70.0, (180.0, 300.0, 20.0), (4.0, 3.0, 0.0), 30.0, sights=sights)), (180.0, 400.0), 55
        )
        for sights in (2, 6)
    )
    assert few.misled > 3 * many.misled

"""What a track says of the shot, and which pictures are looked at for it."""

from __future__ import annotations

import numpy as np
import pytest

from vision.shot import Leg, ShotTrack
from vision.shot.faint import CROSSED_US, quiet_pictures
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak, neighbours

START_US = 20_000.0


def track(sights: int, *, misfit: float = 0.0, sigma_mps: float = 0.05) -> ShotTrack:
    """A shot of 10 m/s that was seen so often."""
    flight = Flight(START_US, np.array([180.0, -40.0, 50.0]), np.array([0.0, 10.0, 0.0]))
    covariance = np.diag([0.0] * 4 + [sigma_mps**2] * 3 + [0.0])
    streaks = tuple(
        Streak(k, 30_000 + 10_000 * k, 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0) for k in range(sights)
    )
    return ShotTrack((Leg(FlightFit(flight, covariance, misfit, np.zeros(sights)), streaks),), "")


def test_a_shot_that_is_not_seen_has_no_speed_and_speaks_for_nothing() -> None:
    nothing = ShotTrack((), "no streak moves like a shot")
    assert not nothing.found
    assert (nothing.speed_mps, nothing.release_us, nothing.points, nothing.worth) == (None, None, (), 0.0)


def test_pictures_speak_for_a_flight_less_what_they_lie_off_it() -> None:
    assert track(5).worth == 5.0
    assert track(5, misfit=10.0).worth == 4.0


@pytest.mark.parametrize(("sights", "sigma_mps"), [(1, 2.0), (2, 2.0), (3, 0.08), (8, 0.08)])
def test_a_speed_that_two_pictures_tell_is_known_to_a_fifth(sights: int, sigma_mps: float) -> None:
    """What clock, lens and the lit side of the shot are off by stays of the others, whatever the sights say."""
    speed, sigma = track(sights).speed_mps or (0.0, 0.0)
    assert speed == pytest.approx(10.0)
    assert sigma == pytest.approx(sigma_mps, abs=0.01)


def test_points_are_where_the_flight_is_at_its_pictures_times() -> None:
    told = track(3)
    assert [point[0] for point in told.points] == [30_000, 40_000, 50_000]
    flight = told.legs[0].flight
    assert [point[1:] for point in told.points] == [tuple(flight.at(t)[0]) for t in (30e3, 40e3, 50e3)]
    assert (told.release_us, told.legs[0].first_us, told.legs[0].last_us) == (START_US, 30_000, 50_000)


@pytest.mark.parametrize(
    ("foot_mm", "until_ms", "nearest_mm"),
    [
        pytest.param((200.0, 160.0), 60, 20.0, id="20 mm beside its way"),
        pytest.param((180.0, 360.0), 40, 200.0, id="on its way, and not reached by then"),
        pytest.param((180.0, -140.0), 60, 100.0, id="behind the muzzle"),
        pytest.param((200.0, 160.0), 20, np.inf, id="before it left"),
    ],
)
def test_how_near_a_shot_comes_to_a_place_is_told_by_its_way_until_then(
    foot_mm: tuple[float, float], until_ms: int, nearest_mm: float
) -> None:
    """A shot of 10 m/s is looked at every 20 mm."""
    assert track(3).nearest_mm(foot_mm, 1000.0 * until_ms) == pytest.approx(nearest_mm, abs=21.0)
    assert ShotTrack((), "no streak moves like a shot").nearest_mm(foot_mm, 1000.0 * until_ms) == np.inf


def test_a_shot_that_turned_comes_by_no_place_that_only_its_first_flight_leads_to() -> None:
    first = track(3).legs[0]
    back = Flight(40_000.0, np.array([180.0, 160.0, 50.0]), np.array([0.0, -5.0, 0.0]))
    turned = ShotTrack((first, Leg(FlightFit(back, np.eye(8), 0.0, np.zeros(1)), first.streaks[2:])), "")
    assert turned.nearest_mm((180.0, 360.0), 60_000.0) == pytest.approx(200.0, abs=21.0)
    assert turned.nearest_mm((180.0, 60.0), 60_000.0) == pytest.approx(0.0, abs=21.0)


@pytest.mark.parametrize(
    ("fire_us", "stirred_us", "quiet"),
    [
        (95_000, 150_000, range(10, 15)),
        (100_000, 150_000, range(11, 15)),
        (95_000, 151_000, range(10, 16)),
        (None, 250_000, range(9, 25)),
        (None, 50_000, range(1, 5)),
        (95_000, 90_000, range(10, 10)),
        (95_000, 900_000, range(10, 30)),
        (900_000, 950_000, range(30, 30)),
    ],
)
def test_after_the_release_and_before_anybody_stirs_only_the_shot_moves(
    fire_us: int | None, stirred_us: float, quiet: range
) -> None:
    """Where the release is not told, from when the slowest shot would have left."""
    assert 160_000 < CROSSED_US <= 170_000
    assert quiet_pictures(range(0, 300_000, 10_000), fire_us, stirred_us) == quiet


@pytest.mark.parametrize(
    ("each_us", "k", "expected"),
    [
        (8333, 3, (2, 4)),
        (5000, 3, (1, 5)),
        (16_667, 3, (2, 4)),
        (8333, 0, (None, 1)),
        (8333, 9, (8, None)),
        (5000, 1, (None, 3)),
        (5000, 8, (6, None)),
    ],
)
def test_a_picture_is_compared_with_those_in_which_the_shot_is_elsewhere(
    each_us: int, k: int, expected: tuple[int | None, int | None]
) -> None:
    assert neighbours([each_us * j for j in range(10)], k) == expected

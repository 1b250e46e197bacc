"""Where a blow sends the soldier that is struck, and where the shot goes on (C7)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.montecassino import Side, Square
from vision.causes.blow import Blow, find_blow
from vision.outcome import Soldier
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

FOOT_RADIUS_MM = 10.0
BEGAN_US = 50_000
FOOT_MM = np.array([180.0, 380.0])


def track(start_mm: tuple[float, float], way: tuple[float, float], *, known_mm: float = 0.1) -> ShotTrack:
    """A shot that was seen for the first 40 ms."""
    flight = Flight(0.0, np.array([*start_mm, 20.0]), np.array([*way, 0.2]))
    streaks = tuple(Streak(k, 10_000 * k, 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0) for k in range(1, 5))
    covariance = np.diag([1.0, *3 * [known_mm**2], *3 * [1e-8], 1e-16])
    return ShotTrack((Leg(FlightFit(flight, covariance, 1.0, np.zeros(4)), streaks),), "")


def blow(seen: ShotTrack, foot_mm: tuple[float, float] = (180.0, 380.0)) -> Blow:
    return find_blow(seen, Soldier(Square.parse("G-69"), Side.G, *foot_mm), BEGAN_US, FOOT_RADIUS_MM)


def passing(aside_mm: float, *, known_mm: float = 0.1) -> Blow:
    """A shot along +y that flies by so far to the left of the foot's middle."""
    return blow(track((180.0 - aside_mm, -40.0), (0.0, 8.4), known_mm=known_mm))


def test_one_that_is_struck_in_the_middle_goes_straight_on_and_the_shot_keeps_nothing() -> None:
    met = passing(0.0)
    assert met.pushed == pytest.approx([0.0, 1.0], abs=0.01)
    assert met.kept == pytest.approx([0.0, 0.0], abs=0.01)


@given(st.floats(1.0, 12.0))
def test_one_that_is_struck_on_its_left_goes_to_the_right_and_the_shot_to_the_left(aside_mm: float) -> None:
    met = passing(aside_mm)
    assert met.pushed[0] > 0
    assert met.kept[0] < 0
    assert met.kept[1] > 0
    assert met.pushed @ met.kept == pytest.approx(0.0, abs=1e-9)
    mirrored = passing(-aside_mm)
    assert mirrored.pushed == pytest.approx(met.pushed * [-1, 1], abs=1e-6)
    assert mirrored.kept == pytest.approx(met.kept * [-1, 1], abs=1e-6)


@given(st.floats(0.0, 2 * np.pi), st.floats(-12.0, 12.0))
def test_the_board_may_lie_any_way_round(turn_rad: float, aside_mm: float) -> None:
    turn = np.array([[np.cos(turn_rad), -np.sin(turn_rad)], [np.sin(turn_rad), np.cos(turn_rad)]])
    start, way, foot = (turn @ np.array(v) for v in ((180.0 - aside_mm, -40.0), (0.0, 8.4), FOOT_MM))
    turned = blow(track(tuple(start), tuple(way)), tuple(foot))
    assert turned.pushed == pytest.approx(turn @ passing(aside_mm).pushed, abs=1e-6)
    assert turned.kept == pytest.approx(turn @ passing(aside_mm).kept, abs=1e-6)


def test_the_less_is_known_of_where_the_shot_flew_the_less_is_said() -> None:
    met = [passing(6.0, known_mm=mm) for mm in (0.1, 2.0, 4.0, 9.0)]
    for ways in ([m.pushed for m in met], [m.kept for m in met]):
        said = [float(np.hypot(*way)) for way in ways]
        exactly, half, little, nothing = (each / said[0] for each in said)
        assert exactly > half > little > nothing == 0.0
        assert half == pytest.approx(0.5, abs=0.05)
    assert np.hypot(*met[0].pushed) > 0.95


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(ShotTrack((), "not seen"), id="a shot that was not seen"),
        pytest.param(track((120.0, -40.0), (0.0, 8.4)), id="a way that leads past"),
    ],
)
def test_of_a_blow_that_was_not_seen_nothing_is_said(seen: ShotTrack) -> None:
    assert not blow(seen).pushed.any()
    assert not blow(seen).kept.any()


def test_what_was_seen_only_after_he_moved_says_nothing() -> None:
    late = Soldier(Square.parse("G-69"), Side.G, 180.0, 380.0)
    assert not find_blow(track((180.0, -40.0), (0.0, 8.4)), late, 0, FOOT_RADIUS_MM).pushed.any()

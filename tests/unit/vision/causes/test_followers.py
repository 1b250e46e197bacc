"""Whether the shot or another soldier felled one that fell later, told from the falls alone (C7)."""

from dataclasses import replace

import numpy as np
import pytest

from game.montecassino import Side, Square
from vision.causes.drags import find_drags
from vision.causes.followers import chance_of_ricochet, measures
from vision.outcome import Push, Soldier, Standing, Toppling
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

FRAME_US = 8333.0
FIRST, AHEAD, ASIDE = (Square.parse(s) for s in ("G-69", "G-61", "G-70"))
# The cannon stands at the bottom; the shot flies along +y.
PLACES = {FIRST: (180.0, 382.0), AHEAD: (180.0, 427.0), ASIDE: (135.0, 392.0)}
STANDING = Standing(tuple(Soldier(s, Side.G, *PLACES[s]) for s in sorted(PLACES)), 42.0, 10.0)
UNSEEN = ShotTrack((), "not seen")


def soldier(square: Square) -> Soldier:
    found = STANDING.at(square)
    assert found is not None
    return found


def fall(square: Square, began_ms: float, heading: tuple[float, float]) -> Toppling:
    began_us, (x_mm, y_mm) = round(1000 * began_ms), PLACES[square]
    rest_mm = (x_mm + 21 * heading[0], y_mm + 21 * heading[1])
    return Toppling(soldier(square), began_us, began_us + 50_000, heading, rest_mm)


def chance(fallen: Toppling, *others: Toppling | Push, track: ShotTrack = UNSEEN) -> float | None:
    movers = (fallen, *others)
    falls = [m for m in movers if isinstance(m, Toppling)]
    drags = find_drags(falls, [m for m in movers if isinstance(m, Push)], STANDING, frame_us=FRAME_US)
    measured = measures(
        fallen, movers, drags, STANDING, track, frame_us=FRAME_US, shot_from_mm=(180.0, -40.0)
    )
    return None if measured is None else chance_of_ricochet(measured)


def test_of_the_first_that_moved_nothing_is_said() -> None:
    first = fall(FIRST, 50, (0.0, 1.0))
    assert chance(first) is None
    assert chance(first, fall(AHEAD, 90, (0.0, 1.0))) is None


def test_one_that_another_fell_onto_was_most_likely_dragged() -> None:
    by_fall = chance(fall(AHEAD, 100, (0.0, 1.0)), fall(FIRST, 50, (0.0, 1.0)))
    by_slide = chance(
        fall(AHEAD, 100, (0.0, 1.0)), Push(soldier(FIRST), 50_000, PLACES[FIRST][0], PLACES[FIRST][1] + 9)
    )
    assert by_fall is not None
    assert by_fall < 0.2
    assert by_slide is not None
    assert by_slide < 0.2


def test_one_aside_that_moved_at_once_was_most_likely_struck() -> None:
    aside = chance(fall(ASIDE, 58, (-1.0, 0.2)), fall(FIRST, 50, (0.0, 1.0)))
    assert aside is not None
    assert aside > 0.9


def test_one_that_nobody_came_near_was_more_likely_struck() -> None:
    # It stands 170 mm ahead of the first, which fell that way and came to rest at its own length, or slid on.
    far = replace(fall(AHEAD, 110, (0.0, 1.0)), soldier=Soldier(AHEAD, Side.G, 190.0, 552.0))
    first = fall(FIRST, 50, (0.0, 1.0))
    short, slid = (
        chance(far, replace(first, rest_mm=rest_mm)) for rest_mm in ((180.0, 410.0), (180.0, 490.0))
    )
    assert short is not None
    assert slid is not None
    assert short > 2 * slid


def seen_along(x_mm: float) -> ShotTrack:
    """A shot that flew along +y and was seen for the first 40 ms."""
    flight = Flight(0.0, np.array([x_mm, -40.0, 20.0]), np.array([0.0, 8.4, 0.2]))
    streaks = tuple(Streak(k, 10_000 * k, 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0) for k in range(1, 5))
    covariance = np.diag([1.0, 0.1, 0.1, 0.1, 1e-8, 1e-8, 1e-8, 1e-16])
    return ShotTrack((Leg(FlightFit(flight, covariance, 1.0, np.zeros(4)), streaks),), "")


@pytest.mark.parametrize("shot_x_mm", [174.0, 186.0])
def test_the_shot_went_to_the_side_on_which_it_struck_the_first_and_that_one_to_the_other(
    shot_x_mm: float,
) -> None:
    track = seen_along(shot_x_mm)
    first = fall(FIRST, 50, (0.0, 1.0))
    left, right = (
        chance(
            replace(fall(ASIDE, 75, (0.0, 1.0)), soldier=Soldier(ASIDE, Side.G, x_mm, 412.0)),
            first,
            track=track,
        )
        for x_mm in (145.0, 215.0)
    )
    assert left is not None
    assert right is not None
    struck, pushed = (left, right) if shot_x_mm < PLACES[FIRST][0] else (right, left)
    assert struck > pushed + 0.3


def test_where_somebody_who_moved_stood_nearer_the_blow_to_the_first_does_not_tell() -> None:
    """He may have sent shot or soldier another way."""
    between = replace(fall(ASIDE, 60, (0.0, 1.0)), soldier=Soldier(ASIDE, Side.G, 150.0, 400.0))
    beyond = replace(fall(AHEAD, 75, (0.0, 1.0)), soldier=Soldier(AHEAD, Side.G, 145.0, 412.0))
    first = fall(FIRST, 50, (0.0, 1.0))
    left, right = (chance(beyond, first, between, track=seen_along(x_mm)) for x_mm in (174.0, 186.0))
    assert left == pytest.approx(right)


@pytest.mark.parametrize("turn_rad", [0.7, 2.1, np.pi])
def test_the_board_may_lie_any_way_round(turn_rad: float) -> None:
    turn = np.array([[np.cos(turn_rad), -np.sin(turn_rad)], [np.sin(turn_rad), np.cos(turn_rad)]])

    def turned(toppling: Toppling) -> Toppling:
        x_mm, y_mm = turn @ PLACES[toppling.soldier.square]
        rest_x_mm, rest_y_mm = turn @ toppling.rest_mm
        heading = turn @ toppling.heading
        return Toppling(
            Soldier(toppling.soldier.square, Side.G, float(x_mm), float(y_mm)),
            toppling.began_us,
            toppling.passed_us,
            (float(heading[0]), float(heading[1])),
            (float(rest_x_mm), float(rest_y_mm)),
        )

    falls = [fall(FIRST, 50, (0.0, 1.0)), fall(ASIDE, 66, (-0.8, 0.6))]
    around = [turned(f) for f in falls]
    muzzle = turn @ (180.0, -40.0)
    straight, other = (
        measures(
            each[1],
            each,
            find_drags(each, [], STANDING, frame_us=FRAME_US),
            STANDING,
            UNSEEN,
            frame_us=FRAME_US,
            shot_from_mm=source,
        )
        for each, source in ((falls, (180.0, -40.0)), (around, (float(muzzle[0]), float(muzzle[1]))))
    )
    assert straight is not None
    assert other == pytest.approx(straight, abs=1e-9)

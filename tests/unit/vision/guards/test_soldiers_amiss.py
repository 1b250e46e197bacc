"""Who falls late, is gone before a shot or was not seen is named, and holds the ruling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from guarded_table import PLACED, STANDING, shot

from game.montecassino import Cause, Side, Square
from vision.causes import FallCause
from vision.guards import Trouble, late_falls, missing_soldiers, too_many_soldiers, unseen_soldiers
from vision.outcome import Push, Soldier, Standing, Toppling
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak


def test_a_fall_long_after_everything_lay_still_is_late() -> None:
    reading = shot()
    assert reading.alarms == ()
    (first,) = reading.falls
    soldier = replace(first.toppling.soldier, square=Square.parse("G-01"))

    def later(by_us: int) -> object:
        toppling = replace(
            first.toppling,
            soldier=soldier,
            began_us=first.toppling.began_us + by_us,
            passed_us=first.toppling.passed_us + by_us,
        )
        return late_falls((first, replace(first, toppling=toppling)), (), reading.track)

    assert later(200_000) == {}
    late = later(1_500_000)
    assert isinstance(late, dict)
    assert set(late) == {soldier.square}
    assert late[soldier.square].trouble is Trouble.FALL


def fall_of(square: str, began_ms: float, passed_ms: float | None = None) -> FallCause:
    soldier = Soldier(Square.parse(square), Side.A, 0.0, 0.0)
    passed_us = 1000 * (began_ms + 80 if passed_ms is None else passed_ms)
    toppling = Toppling(soldier, round(1000 * began_ms), round(passed_us), (0.0, 1.0), (0.0, 21.0))
    return FallCause(toppling, Cause.DRAGGED, 1.0, (Cause.DRAGGED,), {Cause.DRAGGED: 1.0}, (), "", "")


NOT_SEEN = ShotTrack((), "no shot was seen")
FLIGHT = Flight(0, np.array([180.0, -40.0, 50.0]), np.array([0.0, 8.0, 0.0]))
STREAK = Streak(12, 100_000, 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0)
SEEN = ShotTrack((Leg(FlightFit(FLIGHT, np.eye(8), 1.0, np.zeros(1)), (STREAK,)),), "it left the board")


@pytest.mark.parametrize(
    ("falls", "late"),
    [
        pytest.param([("A-01", 0), ("A-02", 700)], [], id="as long as falling and a push last"),
        pytest.param([("A-01", 0), ("A-02", 701)], ["A-02"], id="longer"),
        pytest.param([("A-01", 0, 600), ("A-02", 950)], [], id="after one that fell slowly"),
        pytest.param([("A-01", 0, 600), ("A-02", 951)], ["A-02"], id="longer after one that fell slowly"),
        pytest.param([("A-03", 1400), ("A-02", 700), ("A-01", 0)], [], id="each after the one before"),
        pytest.param([("A-01", 0), ("A-02", 800), ("A-03", 900)], ["A-02", "A-03"], id="after a late one"),
    ],
)
def test_a_fall_is_late_after_all_that_was_no_late_one_itself(
    falls: list[tuple[str, float]], late: list[str]
) -> None:
    assert [str(s) for s in late_falls([fall_of(*each) for each in falls], (), NOT_SEEN)] == late


@pytest.mark.parametrize(("began_ms", "late"), [(450, False), (451, True)])
def test_a_fall_is_late_after_the_shot_was_seen_last(began_ms: float, late: bool) -> None:
    found = late_falls([fall_of("A-01", began_ms)], (), SEEN)
    assert [alarm.reason for alarm in found.values()] == (
        ["A-01 began to fall 351 ms after everything else lay still"] if late else []
    )


def test_who_is_gone_before_a_shot_matters_only_where_the_shot_is_not_seen() -> None:
    gone = Square.parse("A-01")
    expected = {square: figure.side for square, figure in PLACED.items()}
    assert missing_soldiers(STANDING, expected, NOT_SEEN) is None
    assert missing_soldiers(STANDING, None, NOT_SEEN) is None
    alarm = missing_soldiers(STANDING, {**expected, gone: Side.A}, NOT_SEEN)
    assert alarm is not None
    assert alarm.trouble is Trouble.MISSING
    assert "and A-01 should hold soldiers" in alarm.reason
    assert missing_soldiers(STANDING, {**expected, gone: Side.A}, SEEN) is None


@pytest.mark.parametrize("position_told", [False, True])
def test_whoever_left_his_place_unseen_is_named(position_told: bool) -> None:
    gone = {Square.parse("G-02"), Square.parse("A-01")}
    alarm = unseen_soldiers(gone, position_told=position_told, hardly_seen=False)
    assert alarm is not None
    assert alarm.trouble is Trouble.UNSEEN
    assert "left its place on A-01, G-02, and" in alarm.reason
    assert unseen_soldiers((), position_told=position_told, hardly_seen=False) is None


def test_where_nobody_is_seen_plainly_the_position_must_be_told() -> None:
    assert unseen_soldiers((), position_told=True, hardly_seen=True) is None
    alarm = unseen_soldiers((), position_told=False, hardly_seen=True)
    assert alarm is not None
    assert "any of them may have been missed: name the position" in alarm.reason


@pytest.mark.parametrize("side", [Side.A, Side.G])
def test_more_soldiers_of_a_side_than_it_has_hold_the_ruling_where_no_position_is_told(side: Side) -> None:
    """S1 gives each side 24: one more is a mark that was taken for a soldier, or one of the other side."""
    squares = [Square(field, number) for field in Side for number in range(1, 26)]

    def standing(count: int) -> Standing:
        of_it = [Soldier(square, side, 0.0, 0.0) for square in squares[:count]]
        others = [Soldier(square, side.enemy, 0.0, 0.0) for square in squares[25 : 25 + 24]]
        return Standing((*of_it, *others), 42.0, 11.0)

    assert too_many_soldiers(standing(24), position_told=False) is None
    assert too_many_soldiers(standing(25), position_told=True) is None
    alarm = too_many_soldiers(standing(25), position_told=False)
    assert alarm is not None
    assert alarm.trouble is Trouble.UNSEEN
    assert f"25 soldiers are seen of {side}, and a side has 24: name the position" in alarm.reason


def test_a_soldier_that_was_pushed_and_stands_keeps_the_table_busy_too() -> None:
    falls = [fall_of("A-01", 0), fall_of("A-02", 1300)]
    assert set(late_falls(falls, (), NOT_SEEN)) == {Square.parse("A-02")}
    push = Push(Soldier(Square.parse("A-03"), Side.A, 0.0, 0.0), 650_000, 8.0, 0.0)
    assert late_falls(falls, (push,), NOT_SEEN) == {}

"""What each explanation of a turn costs: every term, by itself."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pytest

from game.montecassino import Side, Square
from vision.causes.turn import Account, Turn
from vision.outcome import Soldier, Standing
from vision.shot import Leg
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

FRAME_US = 8333.0
NEAR, FAR, ASIDE = (Square.parse(name) for name in ("G-69", "G-61", "G-70"))
Place = tuple[float, float]


def leg(
    start_ms: float,
    start_mm: Sequence[float],
    velocity_mps: Sequence[float],
    seen_ms: Sequence[float],
    misfit: float = 1.0,
) -> Leg:
    flight = Flight(1000 * start_ms, np.array(start_mm, float), np.array(velocity_mps, float))
    covariance = np.diag([1.0, 0.5, 0.5, 4.0, 2.5e-3, 2.5e-3, 0.01, 1e-14])
    streaks = tuple(
        Streak(k, round(1000 * ms), 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0) for k, ms in enumerate(seen_ms)
    )
    return Leg(FlightFit(flight, covariance, misfit, np.zeros(len(streaks))), streaks)


def ahead(z_mm: float = 35.0, misfit: float = 1.0) -> Leg:
    """Along x = 180 at 8 m/s; seen until y = 333, and at y = 360 after 50 ms."""
    return leg(0.0, (180.0, -40.0, z_mm), (0.0, 8.0, 0.0), (5.0, 13.3, 21.7, 30.0, 38.3, 46.7), misfit)


# It goes on to the right from (180, 360), and is seen again at x = 200.
SIDEWAYS = leg(50.0, (180.0, 360.0, 24.0), (4.0, -1.0, 0.5), (55.0, 63.3, 71.7))


def turn(
    before: Leg, after: Leg | None, there: Mapping[Square, Place], stirred: Iterable[Square] = ()
) -> Turn:
    soldiers = tuple(Soldier(square, Side.G, *there[square]) for square in sorted(there))
    stirred_us = dict.fromkeys(stirred, 55_000)
    return Turn(before, after, Standing(soldiers, 42.0, 10.0), stirred_us, FRAME_US, from_cannon=False)


def cost(accounts: Iterable[Account], *squares: Square | None, on_board: bool = False) -> float:
    """Cost of having touched just these, in this order."""
    return min(
        account.cost
        for account in accounts
        if tuple(touch.square for touch in account.touches) == squares
        and on_board == any(touch.on_board for touch in account.touches)
    )


def test_who_did_not_stir_is_hardly_said_to_have_been_touched() -> None:
    there = {NEAR: (176.0, 369.0)}
    stirred, unmoved = (cost(turn(ahead(), SIDEWAYS, there, who).accounts(), NEAR) for who in ([NEAR], []))
    assert unmoved == pytest.approx(stirred + 4.0, abs=0.3)


@pytest.mark.parametrize(("z_mm", "is_free"), [(35.0, False), (90.0, True)], ids=["low", "over the head"])
def test_a_shot_does_not_fly_through_anybody_to_the_one_behind_him(z_mm: float, is_free: bool) -> None:
    both = {NEAR: (180.0, 360.0), FAR: (176.0, 405.0)}
    through, alone = (
        cost(turn(ahead(z_mm), None, there, [FAR]).open_end(over_board=True), FAR)
        for there in (both, {FAR: both[FAR]})
    )
    assert (through - alone < 0.1) is is_free
    assert (through - alone > 3.0) is not is_free


@pytest.mark.parametrize(
    "in_the_way", [(180.0, 344.0), (197.0, 356.0)], ids=["before the first", "after the second"]
)
def test_of_two_touches_none_is_told_through_a_third_soldier(in_the_way: Place) -> None:
    struck = {NEAR: (174.0, 366.0), ASIDE: (183.0, 369.0)}
    through, free = (
        cost(turn(ahead(), SIDEWAYS, there, struck).accounts(), NEAR, ASIDE)
        for there in (struck | {FAR: in_the_way}, struck)
    )
    assert through > free + 2.0


@pytest.mark.parametrize("in_the_way", [(180.0, 344.0), (197.0, 356.0)], ids=["before it", "after it"])
def test_one_touch_is_not_told_through_another_soldier(in_the_way: Place) -> None:
    struck = {NEAR: (176.0, 369.0)}
    through, free = (
        cost(turn(ahead(), SIDEWAYS, there, struck).accounts(), NEAR)
        for there in (struck | {FAR: in_the_way}, struck)
    )
    assert through > free + 2.0


def test_the_board_takes_some_speed_and_hardly_turns_a_shot() -> None:
    low = leg(0.0, (180.0, -40.0, 18.0), (0.0, 8.0, -0.1), (5.0, 13.3, 21.7, 30.0, 38.3))

    def bounced(x_mps: float, y_mps: float) -> float:
        onward = leg(46.0, (180.0, 325.0, 3.0), (x_mps, y_mps, 0.5), (46.7, 55.0, 63.3))
        return cost(turn(low, onward, {}).accounts(), None, on_board=True)

    usual = bounced(0.0, 7.7)
    turned, faster, slower = (bounced(*way) for way in ((2.6, 7.3), (0.0, 9.0), (0.0, 6.0)))
    assert min(turned, faster, slower) > usual + 3.0


@pytest.mark.parametrize("seen_ms", [(46.7, 55.0, 63.3), (63.3, 71.7)], ids=["too early", "too late"])
def test_what_was_touched_is_told_though_the_flights_were_parted_a_picture_off(
    seen_ms: tuple[float, ...],
) -> None:
    """The flights meet at 50 ms: the later one begins with a sight of the earlier one, or lacks its own first, which that ends with."""
    until = (5.0, 13.3, 21.7, 30.0, 38.3) + (() if 46.7 in seen_ms else (46.7, 55.0))
    before = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, 0.0), until)
    after = leg(50.0, (180.0, 360.0, 24.0), (4.0, -1.0, 0.5), seen_ms)
    accounts = turn(before, after, {NEAR: (180.0, 369.0)}, [NEAR]).accounts()
    likeliest = min(accounts, key=lambda account: account.cost)
    (touch,) = likeliest.touches
    assert touch.square == NEAR
    assert touch.time_us == pytest.approx(50_000, abs=1000)


def test_where_sights_contradict_each_other_two_flights_are_sooner_taken_for_one() -> None:
    """A bounce may have been read into them."""
    onward = leg(50.0, (180.0, 360.0, 24.0), (1.5, 6.0, 0.5), (55.0, 63.3, 71.7))
    sound, contradictory = (cost(turn(ahead(misfit=of), onward, {}).accounts()) for of in (1.0, 60.0))
    assert contradictory < 0.6 * sound


def test_one_at_the_edge_who_did_not_stir_was_not_touched_by_a_shot_that_left() -> None:
    there = {NEAR: (180.0, 380.0), FAR: (190.0, 400.0)}
    left = turn(ahead(), None, there, [FAR])
    touched = [account.touches for account in left.open_end(over_board=False)]
    assert [[touch.square for touch in touches] for touches in touched] == [[], [FAR]]
    lost = [account.touches for account in left.open_end(over_board=True)]
    assert [[touch.square for touch in touches] for touches in lost] == [[], [None], [FAR], [NEAR]]


@pytest.mark.parametrize("then_ms", [54.0, 90.0], ids=["faster than it came", "hardly moving"])
def test_between_two_soldiers_a_shot_has_some_of_its_speed_left_and_not_all(then_ms: float) -> None:
    """From the first, struck after 50 ms, it is 45 mm to the second."""
    there = {NEAR: (174.0, 366.0), ASIDE: (233.0, 366.0)}

    def both(ms: float) -> float:
        after = leg(ms, (225.0, 362.0, 24.0), (-1.0, -3.0, 0.5), (ms + 2.0, ms + 10.0, ms + 18.0))
        return cost(turn(ahead(), after, there).accounts(), NEAR, ASIDE)

    assert both(then_ms) > both(58.0) + 2.0


def test_from_the_board_a_shot_comes_with_any_share_of_its_speed_but_with_no_more() -> None:
    low = leg(0.0, (180.0, -40.0, 12.0), (0.0, 8.0, 0.0), (5.0, 13.3, 21.7, 30.0, 38.3, 46.7))

    def both(ms: float) -> float:
        after = leg(ms, (225.0, 372.0, 20.0), (-1.0, -3.0, 0.5), (ms + 2.0, ms + 10.0, ms + 18.0))
        return cost(turn(low, after, {ASIDE: (233.0, 376.0)}).accounts(), None, ASIDE, on_board=True)

    slow, as_it_came, faster = (both(ms) for ms in (70.0, 53.5, 49.0))
    assert slow == pytest.approx(as_it_came, abs=0.5)
    assert faster > as_it_came + 2.0

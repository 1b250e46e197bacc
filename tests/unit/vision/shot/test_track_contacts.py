"""What the shot touched, from hand-made flights."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest

from game.montecassino import Side, Square
from vision.causes import ShotContacts, find_contacts
from vision.causes.bounced_before import perhaps_bounced
from vision.causes.touches import Course, Touch
from vision.causes.unseen_touches import unseen_touches
from vision.outcome import Soldier, Standing
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

FRAME_US = 8333.0
MUZZLE_MM = (180.0, -40.0)
RELEASE_US = 1_000_000.0
NEAR, FAR, ASIDE = Square.parse("G-69"), Square.parse("G-61"), Square.parse("G-70")


def leg(
    start_ms: float,
    start_mm: Sequence[float],
    velocity: Sequence[float],
    seen_ms: Sequence[float],
    bounced: float = 0.0,
) -> Leg:
    flight = Flight(RELEASE_US + 1000 * start_ms, np.array(start_mm, float), np.array(velocity, float))
    covariance = np.diag([1.0, 0.5, 0.5, 4.0, 2.5e-3, 2.5e-3, 0.01, 1e-14])
    streaks = tuple(
        Streak(k, round(RELEASE_US + 1000 * ms), 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0)
        for k, ms in enumerate(seen_ms)
    )
    return Leg(FlightFit(flight, covariance, 1.0, np.zeros(len(streaks))), streaks, bounced=bounced)


def track(*legs: Leg, lost: bool = False) -> ShotTrack:
    return ShotTrack(legs, "the shot left the board", 1000.0, lost)


def standing(*places: tuple[Square, float, float]) -> Standing:
    return Standing(tuple(Soldier(s, Side.G, x, y) for s, x, y in sorted(places)), 42.0, 10.0)


def contacts_of(seen: ShotTrack, there: Standing, stirred_us: Mapping[Square, int]) -> ShotContacts:
    return find_contacts(seen, there, stirred_us, frame_us=FRAME_US, shot_from_mm=MUZZLE_MM)


def chance(contacts: ShotContacts, *squares: Square | None) -> float:
    """Probability that the shot touched just these, in this order."""
    return sum(c.probability for c in contacts.courses if tuple(t.square for t in c.touches) == squares)


# Ahead along x = 180 at 8 m/s and 25 mm high; at 50 ms it is at y = 360.
AHEAD = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, 0.0), (5.0, 13.3, 21.7, 30.0, 38.3, 46.7))
SIDEWAYS = leg(50.0, (180.0, 360.0, 24.0), (4.0, -1.0, 0.5), (55.0, 63.3, 71.7))


def test_one_turn_beside_one_soldier_is_one_touch() -> None:
    contacts = contacts_of(
        track(AHEAD, SIDEWAYS), standing((NEAR, 176.0, 369.0), (FAR, 176.0, 460.0)), {NEAR: 1_055_000}
    )
    assert chance(contacts, NEAR) > 0.9
    first = contacts.first
    assert first is not None
    assert first.square == NEAR
    assert first.time_us == pytest.approx(RELEASE_US + 50_000, abs=1000)
    assert np.hypot(first.point_mm[0] - 180.0, first.point_mm[1] - 360.0) < 4.0


def test_where_a_shot_was_lost_at_a_soldier_it_touched_the_trunk_and_not_the_reach_of_an_arm() -> None:
    contacts = contacts_of(track(AHEAD, lost=True), standing((NEAR, 181.0, 362.0)), {NEAR: 1_055_000})
    assert contacts.first is not None
    assert contacts.first.square == NEAR
    # Half the first touches of figures of this size were 5.8 to 9 mm from the middle of the foot.
    assert 362.0 - contacts.first.point_mm[1] == pytest.approx(7.4, abs=1.6)


def test_turn_far_from_all_soldiers_is_something_unknown() -> None:
    contacts = contacts_of(track(AHEAD, SIDEWAYS), standing((FAR, 100.0, 500.0)), {})
    assert contacts.first is not None
    assert contacts.first.square is None
    assert not contacts.first.on_board


def test_flights_that_do_not_meet_had_two_touches_in_order() -> None:
    # Off the first at (180, 360) at 48 ms, off the second 35 mm aside at 53 ms, back towards the cannon.
    before = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.4, 0.0), (5.0, 13.3, 21.7, 30.0, 38.3, 46.7))
    after = leg(53.0, (215.0, 362.0, 24.0), (-1.0, -3.0, 0.5), (55.0, 63.3, 71.7))
    there = standing((NEAR, 172.0, 366.0), (ASIDE, 225.0, 366.0))
    contacts = contacts_of(track(before, after), there, {NEAR: 1_055_000, ASIDE: 1_055_000})
    assert chance(contacts, NEAR, ASIDE) > 0.8
    assert contacts.first is not None
    assert contacts.first.square == NEAR


def test_low_flight_that_goes_on_straight_but_slower_touched_the_board() -> None:
    before = leg(0.0, (180.0, -40.0, 18.0), (0.0, 8.0, -0.1), (5.0, 13.3, 21.7, 30.0, 38.3))
    after = leg(46.0, (180.0, 325.0, 3.0), (0.0, 6.6, 0.5), (46.7, 55.0, 63.3))
    contacts = contacts_of(track(before, after), standing((FAR, 300.0, 460.0)), {})
    assert contacts.first is not None
    assert contacts.first.on_board
    assert contacts.first.square is None
    assert chance(contacts, None) > 0.9


def test_one_flight_seen_in_two_parts_touched_nothing() -> None:
    middle = AHEAD.flight.at(RELEASE_US + 50_000.0)[0]
    onward = leg(50.0, middle, AHEAD.flight.velocity_at(RELEASE_US + 50_000.0), (55.0, 63.3, 71.7))
    contacts = contacts_of(track(AHEAD, onward), standing((FAR, 300.0, 460.0)), {})
    assert chance(contacts) > 0.9
    assert contacts.first is None


def test_soldier_that_moved_at_the_time_is_preferred_to_one_that_did_not() -> None:
    there = standing((NEAR, 171.0, 362.0), (ASIDE, 189.0, 362.0))
    for moved in (NEAR, ASIDE):
        contacts = contacts_of(track(AHEAD, SIDEWAYS), there, {moved: 1_055_000})
        assert contacts.first is not None
        assert contacts.first.square == moved


def test_nobody_who_moved_is_flown_past_to_strike_the_one_behind_him() -> None:
    there = standing((NEAR, 186.0, 362.0), (FAR, 184.0, 396.0))
    struck_far = leg(54.5, (181.0, 384.0, 24.0), (-3.0, -1.0, 0.5), (55.0, 63.3, 71.7))
    both = contacts_of(track(AHEAD, struck_far), there, {NEAR: 1_055_000, FAR: 1_055_000})
    assert both.first is not None
    assert both.first.square == NEAR
    one = contacts_of(track(AHEAD, struck_far), there, {FAR: 1_055_000})
    assert one.first is not None
    assert one.first.square == FAR


def test_of_two_in_line_who_moved_a_lost_shot_struck_the_nearer_first() -> None:
    contacts = contacts_of(
        track(AHEAD, lost=True),
        standing((NEAR, 186.0, 362.0), (FAR, 182.0, 396.0)),
        {NEAR: 1_055_000, FAR: 1_055_000},
    )
    firsts = [course.touches[0].square for course in contacts.courses if course.touches]
    assert firsts[0] == NEAR
    assert sum(c.probability for c in contacts.courses if c.touches and c.touches[0].square == FAR) < 0.2


def test_between_two_soldiers_a_shot_keeps_as_much_of_its_speed_as_shots_do() -> None:
    # Not seen for 33 ms: it may have come to the second, 43 mm on, at any time in these.
    lain = leg(52.0, (225.0, 362.0, 24.0), (0.02, -0.05, 0.0), (80.0, 88.3))
    contacts = contacts_of(
        track(AHEAD, lain),
        standing((NEAR, 174.0, 366.0), (ASIDE, 235.0, 366.0)),
        {NEAR: 1_055_000, ASIDE: 1_072_000},
    )
    struck = contacts.courses[0].touches
    assert [touch.square for touch in struck] == [NEAR, ASIDE]
    apart_mm = np.hypot(*np.subtract(struck[1].point_mm, struck[0].point_mm)[:2])
    assert 3.0 < 1000.0 * apart_mm / (struck[1].time_us - struck[0].time_us) < 6.0


def test_shot_over_a_head_does_not_touch_it() -> None:
    high = leg(0.0, (180.0, -40.0, 75.0), (0.0, 8.0, 0.3), (5.0, 13.3, 21.7, 30.0, 38.3, 46.7))
    there = standing((Square.parse("A-28"), 180.0, 160.0))
    contacts = contacts_of(track(high), there, {Square.parse("A-28"): 1_300_000})
    assert contacts.first is None


def test_first_to_move_beside_the_way_was_touched_in_passing() -> None:
    there = standing((NEAR, 188.0, 200.0), (FAR, 188.0, 460.0))
    contacts = contacts_of(track(AHEAD), there, {NEAR: 1_038_000, FAR: 1_200_000})
    assert contacts.first is not None
    assert contacts.first.square == NEAR


def test_what_lies_ahead_of_a_lost_shot_may_have_been_touched() -> None:
    there = standing((NEAR, 182.0, 400.0))
    lost = contacts_of(track(AHEAD, lost=True), there, {NEAR: 1_058_000})
    assert lost.first is not None
    assert lost.first.square == NEAR


def test_no_track_no_contacts() -> None:
    contacts = contacts_of(ShotTrack((), "no streak"), standing((NEAR, 0.0, 0.0)), {})
    assert contacts.courses == ()
    assert contacts.first is None


def test_of_two_that_fell_at_once_the_one_before_the_other_was_likelier_struck_first() -> None:
    """Nothing is seen of the shot; it seldom turns back."""
    there = standing((NEAR, 180.0, 200.0), (FAR, 200.0, 245.0))
    contacts = contacts_of(ShotTrack((), "no streak"), there, {NEAR: 1_055_000, FAR: 1_055_000})
    assert chance(contacts, NEAR) > 2 * chance(contacts, FAR)
    assert contacts.first is not None
    assert contacts.first.square == NEAR


def test_accounts_are_ranked_and_add_up_to_one() -> None:
    there = standing((NEAR, 171.0, 362.0), (ASIDE, 195.0, 370.0), (FAR, 178.0, 405.0))
    contacts = contacts_of(track(AHEAD, SIDEWAYS, lost=True), there, {NEAR: 1_055_000, ASIDE: 1_055_000})
    shares = [course.probability for course in contacts.courses]
    assert sum(shares) == pytest.approx(1.0, abs=0.02)
    assert all(a >= b for a, b in pairwise(shares))
    for course in contacts.courses:
        times = [touch.time_us for touch in course.touches]
        assert times == sorted(times)


@pytest.mark.parametrize("rise_mps", [0.0, -0.85])
def test_whether_it_bounced_before_the_first_soldier_is_told_by_how_high_it_came(rise_mps: float) -> None:
    # Level it comes to the soldier at half its height; falling it would be 15 mm below the board there.
    first = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, rise_mps), (5.0, 13.3, 21.7, 30.0))
    there = standing((NEAR, 180.0, 372.0))
    contacts = contacts_of(track(first, SIDEWAYS), there, {NEAR: 1_055_000})
    assert contacts.first is not None
    assert contacts.first.on_board == (rise_mps < 0)


@pytest.mark.parametrize("seen_ms", [49.8, 50.0, 50.3])
def test_a_bounce_is_not_ruled_out_by_a_picture_of_the_very_moment_in_which_the_soldier_is_struck(
    seen_ms: float,
) -> None:
    """A turn lies within half a millisecond of a picture on either side: it says nothing of the way there."""
    first = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, -0.85), (5.0, 13.3, 21.7, 30.0))
    turned = leg(50.0, (180.0, 360.0, 24.0), (4.0, -1.0, 0.5), (seen_ms, seen_ms + 8.3, seen_ms + 16.7))
    contacts = contacts_of(track(first, turned), standing((NEAR, 180.0, 372.0)), {NEAR: 1_055_000})
    assert chance(contacts, None, NEAR) > 0.5


@pytest.mark.parametrize(
    ("height_mm", "rise_mps"), [(50.0, -0.7), (25.0, -0.3), (8.0, 0.0)], ids=["4 mm", "-1 mm", "-4 mm"]
)
def test_a_shot_from_the_cannon_that_comes_to_a_soldiers_foot_struck_it_and_not_the_board_before(
    height_mm: float, rise_mps: float
) -> None:
    """So high above the board, within its error, it seems to be at the soldier; it was aimed there."""
    first = leg(0.0, (180.0, -40.0, height_mm), (0.0, 8.0, rise_mps), (5.0, 13.3, 21.7, 30.0, 38.3, 46.7))
    contacts = contacts_of(track(first, SIDEWAYS), standing((NEAR, 180.0, 372.0)), {NEAR: 1_055_000})
    assert contacts.first is not None
    assert contacts.first.square == NEAR
    assert chance(contacts, None, NEAR) < 0.35


def test_a_bounce_that_is_not_seen_is_told_where_the_flight_meets_the_board() -> None:
    first = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, -0.85), (5.0, 13.3, 21.7, 30.0))
    contacts = contacts_of(track(first, SIDEWAYS), standing((NEAR, 180.0, 372.0)), {NEAR: 1_055_000})
    assert contacts.first is not None
    assert contacts.first.on_board
    # It sinks to its own radius 32 ms after the release.
    assert contacts.first.time_us == pytest.approx(RELEASE_US + 32_000, abs=1500)
    assert contacts.first.point_mm == pytest.approx((180.0, 214.5, 3.0), abs=10.0)


@pytest.mark.parametrize("bounced", [0.6, 0.95])
def test_a_flight_that_was_cut_at_the_board_bounced_as_likely_as_its_sights_say(bounced: float) -> None:
    """C7: direct or ricochet stands on that alone."""
    before = leg(0.0, (180.0, -40.0, 18.0), (0.0, 8.0, -0.5), (0.5, 3.0, 8.0, 13.0, 18.0, 20.5), bounced)
    after = leg(25.0, (180.0, 160.0, 3.0), (0.0, 7.6, 0.6), (44.0,))
    turned = leg(51.5, (180.0, 360.0, 15.0), (4.0, -1.0, 0.5), (55.0, 63.3, 71.7))
    contacts = contacts_of(track(before, after, turned), standing((NEAR, 180.0, 372.0)), {NEAR: 1_055_000})
    assert chance(contacts, None, NEAR) == pytest.approx(bounced, abs=0.03)
    assert chance(contacts, NEAR) == pytest.approx(1 - bounced, abs=0.03)


@pytest.mark.parametrize("bounced", [0.95, 1.0])
def test_a_flight_that_surely_bounced_beside_a_soldier_who_stood_still_is_told_as_one(bounced: float) -> None:
    """So plain a bounce that its likelihood rounds to one."""
    down = leg(0.0, (180.0, -40.0, 32.0), (0.0, 8.0, -0.35), (5.0, 13.3, 21.7, 30.0, 38.3, 46.7), bounced)
    on = leg(50.0, (180.0, 360.0, 4.0), (0.0, 7.6, 0.4), (53.0, 61.3, 69.7))
    contacts = contacts_of(track(down, on), standing((NEAR, 200.0, 372.0)), {})
    assert contacts.first is not None
    assert contacts.first.on_board
    assert sum(course.probability for course in contacts.courses) == pytest.approx(1.0, abs=0.01)


def test_what_the_sights_say_of_a_bounce_is_weighed_where_the_flight_was_not_cut() -> None:
    shares = []
    for bounced in (0.0, 0.3):
        first = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, 0.0), (5.0, 13.3, 21.7, 30.0, 38.3, 46.7), bounced)
        contacts = contacts_of(track(first, SIDEWAYS), standing((NEAR, 180.0, 372.0)), {NEAR: 1_055_000})
        shares.append(chance(contacts, None, NEAR))
    never, perhaps = shares
    assert never < 0.05
    assert perhaps == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize(("bounced", "share"), [(0.0, 1.0), (0.6, 0.6)], ids=["seen", "cut in two there"])
def test_a_bounce_that_was_seen_happened_whatever_was_followed_afterwards(
    bounced: float, share: float
) -> None:
    """What goes on from 60 mm aside is not the shot, which was seen to bounce long before and struck the first that moved."""
    before = leg(0.0, (180.0, -40.0, 18.0), (0.0, 8.0, -0.5), (0.5, 3.0, 8.0, 13.0, 18.0, 20.5), bounced)
    after = leg(25.0, (180.0, 160.0, 3.0), (0.0, 7.6, 0.6), (28.0, 36.0, 44.0))
    stranger = leg(51.5, (250.0, 360.0, 35.0), (-1.0, 6.0, 0.5), (52.0, 60.3, 68.7))
    contacts = contacts_of(track(before, after, stranger), standing((NEAR, 180.0, 372.0)), {NEAR: 1_055_000})
    assert chance(contacts, NEAR) == pytest.approx(1 - share, abs=0.05)


def test_between_two_soldiers_a_shot_may_touch_the_board() -> None:
    # From NEAR it sinks: to FAR it would come 8 mm below the board.
    between = leg(50.0, (180.0, 360.0, 20.0), (1.0, 5.5, -0.6), (55.0, 63.3, 71.7))
    end = leg(87.0, (217.0, 560.0, 8.0), (-2.0, 1.0, 0.5), (88.3, 96.7, 105.0))
    contacts = contacts_of(
        track(AHEAD, between, end),
        standing((NEAR, 176.0, 370.0), (FAR, 222.0, 568.0)),
        {NEAR: 1_055_000, FAR: 1_088_000},
    )
    assert min(chance(contacts, NEAR, None, FAR), chance(contacts, NEAR, FAR)) > 0.1


def test_a_bounce_that_was_seen_before_the_first_soldier_is_believed_where_the_flight_is_known_to_be_low() -> (
    None
):
    # From y = 160 on it rises again, and comes to the soldier at y = 372 some 25 ms later.
    bounced = leg(25.0, (180.0, 160.0, 3.0), (0.0, 7.6, 0.6), (28.0, 36.0, 44.0))
    turned = leg(51.5, (180.0, 360.0, 15.0), (4.0, -1.0, 0.5), (55.0, 63.3, 71.7))
    shares = []
    for height_mm, rise_mps in ((18.0, -0.5), (35.0, 0.0)):
        before = leg(0.0, (180.0, -40.0, height_mm), (0.0, 8.0, rise_mps), (0.5, 3.0, 8.0, 13.0, 18.0, 20.5))
        contacts = contacts_of(
            track(before, bounced, turned), standing((NEAR, 180.0, 372.0)), {NEAR: 1_055_000}
        )
        shares.append(chance(contacts, None, NEAR))
    low, high = shares
    assert low > 0.9
    assert high < 0.1


def test_a_bounce_that_is_seen_in_between_is_the_likelier_the_less_the_first_flight_would_have_met_the_soldier() -> (
    None
):
    bounced = leg(25.0, (180.0, 160.0, 3.0), (0.0, 7.6, 0.6), (28.0, 36.0, 44.0))
    touches = (
        Touch(None, True, RELEASE_US + 25_000, (180.0, 160.0, 3.0)),
        Touch(NEAR, False, RELEASE_US + 51_500, (180.0, 364.0, 20.0)),
    )
    below, over = (
        perhaps_bounced(
            track(leg(0.0, (180.0, -40.0, height_mm), (0.0, 8.0, rise_mps), (0.5, 3.0, 8.0, 13.0)), bounced),
            1.0,
            touches,
            42.0,
            1_055_000,
        )
        for height_mm, rise_mps in ((18.0, -0.5), (35.0, 0.0))
    )
    assert [told for _, told in below] == [told for _, told in over] == [touches]
    assert below[0][0] > 5 * over[0][0]
    assert over[0][0] < 0.1, "so seldom is a soldier missed that the flight would have met"


def test_how_badly_the_way_fits_after_the_first_soldier_moved_does_not_tell_that_it_was_not_the_shots() -> (
    None
):
    strange = leg(92.0, (60.0, 250.0, 45.0), (-2.0, -3.0, 0.5), (96.7, 105.0, 113.3))
    sideways = leg(50.0, (180.0, 360.0, 24.0), (4.0, -1.0, 0.5), (55.0, 63.3, 71.7, 80.0, 88.3))
    contacts = contacts_of(track(AHEAD, sideways, strange), standing((NEAR, 176.0, 369.0)), {NEAR: 1_055_000})
    assert chance(contacts, NEAR, None) > 0.9


def test_what_led_to_the_first_soldier_that_moved_was_the_shot_whatever_it_did_afterwards() -> None:
    """It goes on 30 mm higher than it came, and strikes another."""
    onward = leg(50.0, (180.0, 360.0, 60.0), (4.0, -1.0, 0.2), (55.0, 63.3, 71.7, 80.0))
    end = leg(85.0, (320.0, 325.0, 60.0), (-1.0, 3.0, 0.2), (88.3, 96.7, 105.0))
    contacts = contacts_of(
        track(AHEAD, onward, end),
        standing((NEAR, 176.0, 369.0), (ASIDE, 327.0, 321.0)),
        {NEAR: 1_055_000, ASIDE: 1_088_000},
    )
    assert chance(contacts, NEAR, ASIDE) > 0.8


def test_two_sights_of_something_that_landed_do_not_show_that_it_was_the_shot() -> None:
    before = leg(0.0, (180.0, -40.0, 18.0), (0.0, 8.0, -0.5), (13.0, 20.5))
    after = leg(25.0, (180.0, 160.0, 3.0), (0.0, 7.6, 0.6), (28.0, 36.0, 44.0))
    stranger = leg(51.5, (250.0, 360.0, 35.0), (-1.0, 6.0, 0.5), (52.0, 60.3, 68.7))
    contacts = contacts_of(track(before, after, stranger), standing((NEAR, 180.0, 372.0)), {NEAR: 1_055_000})
    assert chance(contacts, NEAR) > 0.2


def test_a_bounce_is_not_ruled_out_by_where_the_shot_flew_after_the_soldier() -> None:
    # It would come to the soldier 9 mm below the board, and is seen to touch another after it.
    first = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, -0.7), (5.0, 13.3, 21.7, 30.0, 38.3))
    back = leg(62.0, (230.0, 368.0, 15.0), (-1.0, -3.0, 0.5), (63.3, 71.7, 80.0))
    there = standing((NEAR, 180.0, 372.0), (ASIDE, 240.0, 372.0))
    contacts = contacts_of(track(first, back), there, {NEAR: 1_055_000, ASIDE: 1_063_000})
    assert contacts.first is not None
    assert contacts.first.on_board
    assert contacts.first.point_mm[1] < 360.0


def test_one_at_the_edge_who_stirs_was_touched_by_a_shot_that_then_left_the_board() -> None:
    at_edge = Square.parse("G-04")
    out = leg(0.0, (180.0, 400.0, 35.0), (0.0, 8.0, 0.0), (5.0, 13.3, 21.7, 30.0, 38.3))
    there = standing((at_edge, 184.0, 790.0))
    for stirred, touched in (({at_edge: 1_055_000}, True), ({}, False)):
        contacts = contacts_of(track(out), there, stirred)
        assert (contacts.first is not None) == touched


def test_a_way_that_does_not_fit_was_not_the_shots() -> None:
    # What goes on from a place 60 mm aside and 40 mm up in the air met nobody there: the first that moved was struck.
    onward = leg(38.0, (240.0, 262.0, 45.0), (0.0, 7.0, 0.5), (38.3, 46.7, 55.0))
    there = standing((NEAR, 180.0, 372.0), (ASIDE, 250.0, 330.0))
    contacts = contacts_of(
        track(leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, 0.0), (5.0, 13.3, 21.7, 30.0)), onward),
        there,
        {NEAR: 1_052_000},
    )
    assert contacts.first is not None
    assert contacts.first.square == NEAR


@pytest.mark.parametrize("aside_mm", [0.0, 60.0])
def test_who_moves_first_but_lies_off_the_way_was_met_after_something_had_turned_the_shot(
    aside_mm: float,
) -> None:
    # Lost over the board at y = 334; had nothing turned it, it would be at y = 574 when that soldier moves.
    there = standing((FAR, 180.0 + aside_mm, 574.0))
    contacts = contacts_of(track(AHEAD, lost=True), there, {FAR: 1_080_000})
    direct, turned = chance(contacts, FAR), chance(contacts, None, FAR)
    assert direct + turned > 0.9
    assert turned > 0.9 if aside_mm else direct > 0.9


def test_what_is_seen_after_the_first_soldier_moved_does_not_tell_whether_the_way_led_to_him() -> None:
    onward = leg(58.0, (300.0, 300.0, 24.0), (3.0, -2.0, 0.5), (60.0, 68.3, 76.7))
    courses = unseen_touches(
        track(AHEAD, onward),
        standing((NEAR, 180.0, 390.0)),
        {NEAR: 1_055_000},
        FRAME_US,
        MUZZLE_MM,
        believed=True,
    )
    assert chance(ShotContacts(courses), NEAR) > 0.9
    elsewhere = unseen_touches(
        track(AHEAD, onward),
        standing((NEAR, 240.0, 390.0)),
        {NEAR: 1_055_000},
        FRAME_US,
        MUZZLE_MM,
        believed=True,
    )
    assert chance(ShotContacts(elsewhere), None, NEAR) > 0.9


def test_a_way_of_few_sights_may_be_none_and_speaks_for_no_turn() -> None:
    strange = leg(0.0, (180.0, -40.0, 35.0), (0.0, 8.0, 0.0), (38.3, 46.7))
    contacts = contacts_of(track(strange, lost=True), standing((FAR, 240.0, 574.0)), {FAR: 1_080_000})
    assert chance(contacts, FAR) > chance(contacts, None, FAR)


def test_the_first_contact_is_no_later_than_when_the_first_soldier_moved() -> None:
    """Of a way that was read wrongly it may be likelier that it met nothing until it left the board."""
    edge = Touch(None, False, 1_060_000.0, (-70.0, 500.0, 30.0))
    struck = Touch(NEAR, False, 1_036_000.0, (120.0, 240.0, 22.0))
    accounts = (Course((edge,), 0.55), Course((struck,), 0.45))
    assert ShotContacts(accounts, 1_040_000.0).first == struck
    assert ShotContacts(accounts).first == edge
    grazed = Touch(FAR, False, 1_060_000.0, (80.0, 330.0, 30.0))
    accounts = (Course((grazed,), 0.7), Course((struck,), 0.3))
    assert ShotContacts(accounts, 1_040_000.0).first == struck, "nobody else had moved him by then"
    assert ShotContacts(accounts, 1_056_000.0).first == grazed, "he seemed to move a little early"
    contacts = contacts_of(track(AHEAD), standing((NEAR, 180.0, 372.0)), {NEAR: 1_052_000})
    assert contacts.stirred_us == 1_052_000

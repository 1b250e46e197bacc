"""Why soldiers fell (C7), on hand-made accounts of the shot's way."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from game.montecassino import Cause, Side, Square
from vision.causes import FallCause, ShotSeen, allow_for_standing, explain, find_perhaps_fallen
from vision.causes.drags import find_drags
from vision.causes.fall_cause import POSSIBLE_SHARE
from vision.causes.grounds import grounds_of
from vision.causes.out_of_reach import Sight, Whereabouts
from vision.causes.seen import FallSeen, Follower
from vision.causes.touches import Course, ShotContacts, Touch
from vision.outcome import Push, Soldier, Standing, Toppling
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight
from vision.shot.flight_fit import FlightFit
from vision.shot.streaks import Streak

FRAME_US = 8333.0
RELEASE_US = 1_000_000
A, B, C, D = (Square.parse(s) for s in ("G-69", "G-61", "G-53", "A-05"))
PLACES = {A: (180.0, 382.0), B: (180.0, 427.0), C: (180.0, 472.0), D: (300.0, 20.0)}
STANDING = Standing(tuple(Soldier(s, Side.G, *PLACES[s]) for s in sorted(PLACES)), 42.0, 10.0)


def shot_track(*, lost: bool = False, sights: int = 1) -> ShotTrack:
    flight = Flight(RELEASE_US, np.array([180.0, -40.0, 50.0]), np.array([0.0, 8.0, 0.0]))
    times_us = RELEASE_US + 45_000 - 8_333 * np.arange(sights)[::-1]
    streaks = tuple(Streak(k, int(t), 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0) for k, t in enumerate(times_us))
    fit = FlightFit(flight, np.eye(8), 1.0, np.zeros(sights))
    return ShotTrack((Leg(fit, streaks),), "the shot left the board", 1000.0, lost)


def touch(square: Square | None, at_ms: float, *, on_board: bool = False) -> Touch:
    return Touch(square, on_board, RELEASE_US + 1000 * at_ms, (0.0, 0.0, 20.0))


def topple(square: Square, began_ms: float, heading: tuple[float, float] = (0.0, 1.0)) -> Toppling:
    soldier = STANDING.at(square)
    assert soldier is not None
    began_us = RELEASE_US + round(1000 * began_ms)
    rest_mm = (soldier.x_mm + 21 * heading[0], soldier.y_mm + 21 * heading[1])
    return Toppling(soldier, began_us, began_us + 80_000, heading, rest_mm)


def push(square: Square, began_ms: float) -> Push:
    soldier = STANDING.at(square)
    assert soldier is not None
    return Push(soldier, RELEASE_US + round(1000 * began_ms), soldier.x_mm, soldier.y_mm + 8)


def seen(track: ShotTrack, *courses: Course) -> ShotSeen:
    return ShotSeen(track, ShotContacts(courses), STANDING, FRAME_US, (180.0, -40.0))


def causes(
    falls: Sequence[Toppling], *courses: Course, pushes: Sequence[Push] = (), track: ShotTrack | None = None
) -> dict[Square, FallCause]:
    found = explain(falls, pushes, seen(track or shot_track(), *courses))
    return {fall.toppling.soldier.square: fall for fall in found}


def test_c7_touched_first_of_all_is_direct() -> None:
    fall = causes([topple(A, 52)], Course((touch(A, 48),), 1.0))[A]
    assert fall.cause is Cause.DIRECT
    assert fall.confidence > 0.9
    assert fall.possible == (Cause.DIRECT,)
    assert "48 ms after release, before touching anything else" in fall.evidence


@pytest.mark.parametrize("before", [touch(None, 40, on_board=True), touch(B, 40)], ids=["board", "soldier"])
def test_c7_touched_after_anything_else_is_ricochet(before: Touch) -> None:
    fall = causes([topple(A, 52)], Course((before, touch(A, 48)), 1.0))[A]
    assert fall.cause is Cause.RICOCHET
    assert fall.confidence > 0.9
    assert ("the board" if before.on_board else str(B)) in fall.evidence


@pytest.mark.parametrize(
    ("before", "cause"), [(touch(None, 40, on_board=True), Cause.RICOCHET), (touch(None, 40), Cause.DIRECT)]
)
def test_c7_struck_out_of_sight_is_ricochet_only_after_what_is_known_to_have_been_touched(
    before: Touch, cause: Cause
) -> None:
    assert causes([topple(A, 52)], Course((before,), 1.0))[A].possible == (cause,)


def test_c7_knocked_over_by_another_soldier_is_dragged() -> None:
    falls = causes([topple(A, 52), topple(B, 110)], Course((touch(A, 48),), 1.0))
    assert falls[A].cause is Cause.DIRECT
    assert falls[B].cause is Cause.DRAGGED
    assert falls[B].dragged_by == A
    assert str(A) in falls[B].evidence


def test_a_row_of_soldiers_falls_like_dominoes() -> None:
    falls = causes([topple(A, 52), topple(B, 110), topple(C, 180)], Course((touch(A, 48),), 1.0))
    assert [falls[s].cause for s in (A, B, C)] == [Cause.DIRECT, Cause.DRAGGED, Cause.DRAGGED]
    assert falls[C].dragged_by == B
    # The graph of who fell onto whom: an arrow from the shot, then from each to the next.
    likeliest = [falls[s].knocks[0] for s in (A, B, C)]
    assert [(k.by, k.fallen) for k in likeliest] == [(None, A), (A, B), (B, C)]
    for square in (A, B, C):
        assert sum(k.probability for k in falls[square].knocks) <= 1.0 + 1e-9


def test_c7_direct_before_dragged_where_both_touched_it() -> None:
    # B falls onto A, but the shot had touched A first.
    falls = causes(
        [topple(A, 52), topple(B, 53, heading=(0.0, -1.0))], Course((touch(A, 48), touch(B, 49)), 1.0)
    )
    assert falls[A].cause is Cause.DIRECT


def test_c7_ricochet_before_dragged_where_the_shot_came_in_time() -> None:
    falls = causes([topple(A, 52), topple(B, 80)], Course((touch(A, 48), touch(B, 76)), 1.0))
    assert falls[B].cause is Cause.RICOCHET


def test_shot_that_comes_long_after_a_fall_began_did_not_cause_it() -> None:
    falls = causes([topple(A, 52), topple(B, 110)], Course((touch(A, 48), touch(B, 190)), 1.0))
    assert falls[B].cause is Cause.DRAGGED


def test_c7_fall_before_the_release_is_other() -> None:
    fall = causes([topple(D, -60)], Course((touch(A, 48),), 1.0), track=shot_track(sights=4))[D]
    assert fall.cause is Cause.OTHER
    assert "before the shot was released" in fall.evidence


def test_something_else_may_always_have_felled_him_and_hardly_where_the_shot_was_seen() -> None:
    seen_shot = causes([topple(A, 52)], Course((touch(A, 48),), 1.0))[A]
    unseen = causes([topple(A, 52)], track=ShotTrack((), "no streak"))[A]
    assert 0.0 < 3 * seen_shot.probabilities[Cause.OTHER] < unseen.probabilities[Cause.OTHER] < 0.1
    dragged = causes([topple(A, 52), topple(B, 90)], Course((touch(A, 48),), 1.0))[B]
    assert 0.0 < dragged.probabilities[Cause.OTHER] < 0.01


def test_two_sights_of_something_do_not_tell_when_the_shot_was_released() -> None:
    fall = causes([topple(A, -60)], track=shot_track(sights=2))[A]
    assert fall.cause is Cause.DIRECT
    assert "before anything was seen that may have been the shot" in fall.evidence


def test_pushed_soldier_may_have_knocked_another_over() -> None:
    falls = causes([topple(B, 90)], Course((touch(A, 48),), 1.0), pushes=[push(A, 52)])
    assert falls[B].cause is Cause.DRAGGED
    assert falls[B].dragged_by == A


def test_c8_two_equal_accounts_are_a_doubt_with_both_causes() -> None:
    falls = causes(
        [topple(A, 52), topple(B, 53)],
        Course((touch(A, 48), touch(B, 49)), 0.5),
        Course((touch(B, 48), touch(A, 49)), 0.5),
    )
    for square in (A, B):
        assert set(falls[square].possible) == {Cause.DIRECT, Cause.RICOCHET}
        assert falls[square].confidence < 0.7
        assert "may have been" in falls[square].evidence


def test_c8_who_was_struck_first_is_one_question_for_both_of_whom_it_is_one() -> None:
    """A ruling that the one fell by ricochet would else leave nobody who fell directly."""
    falls = causes(
        [topple(A, 52), topple(B, 53)],
        Course((touch(A, 48), touch(B, 49)), 0.86),
        Course((touch(B, 48), touch(A, 49)), 0.10),
        Course((touch(None, 46, on_board=True), touch(A, 48), touch(B, 49)), 0.04),
    )
    assert falls[A].possible == (Cause.DIRECT, Cause.RICOCHET)
    assert falls[B].probabilities[Cause.DIRECT] < POSSIBLE_SHARE
    assert falls[B].possible == (Cause.RICOCHET, Cause.DIRECT)


def test_of_two_that_seem_direct_the_second_is_told_by_what_speaks_for_its_own_cause() -> None:
    # Both moved in one picture, and the shot was seen near neither.
    falls = causes([topple(A, 52), topple(D, 52)], Course((), 0.9), Course((touch(A, 48),), 0.1))
    second, first = sorted(falls.values(), key=lambda fall: fall.cause is Cause.DIRECT)
    assert max(second.probabilities, key=lambda cause: second.probabilities[cause]) is Cause.DIRECT
    assert first.cause is Cause.DIRECT
    assert first.probabilities[Cause.DIRECT] > second.probabilities[Cause.DIRECT]
    assert second.cause is Cause.RICOCHET
    assert "before touching anything else" in first.evidence
    assert "before touching anything else" not in second.evidence
    assert f"{first.toppling.soldier.square} is likelier to have been struck first" in second.evidence
    assert "may have been direct" in second.evidence
    assert "may have been ricochet" not in second.evidence


def test_a_touch_is_not_told_after_the_motion_that_it_caused() -> None:
    """The picture in which the soldier had moved may be a few milliseconds older than where the track puts the touch."""
    fall = causes([topple(A, 52)], Course((touch(A, 54),), 1.0))[A]
    assert fall.cause is Cause.DIRECT
    assert "the shot reached it 52 ms after release" in fall.evidence
    assert "54 ms" not in fall.evidence


def test_a_touch_at_the_muzzle_is_told_at_the_release_and_not_before_it() -> None:
    """A track is good to a millisecond or two: whom the shot strikes at once is not struck before it left."""
    evidence = causes([topple(A, 2)], Course((touch(A, -2),), 1.0))[A].evidence
    assert "the shot reached it 0 ms after release" in evidence


def test_a_touch_long_before_a_fall_is_said_to_be_so() -> None:
    falls = causes([topple(D, 52), topple(A, 700)], Course((touch(D, 48), touch(A, 60)), 1.0))
    assert "long before it was seen to move at 700 ms" in falls[A].evidence


def test_an_account_that_leaves_a_fall_unexplained_loses_weight() -> None:
    # D stands alone: only the shot can have felled it.
    falls = causes(
        [topple(A, 52), topple(D, 82)],
        Course((touch(A, 48),), 0.8),
        Course((touch(A, 48), touch(D, 78)), 0.2),
    )
    assert falls[D].cause is Cause.RICOCHET
    assert falls[D].confidence > 0.8


def test_first_to_move_is_direct_though_the_contact_was_not_seen() -> None:
    fall = causes([topple(A, 52)], Course((), 1.0))[A]
    assert fall.cause is Cause.DIRECT
    assert fall.confidence < causes([topple(A, 52)], Course((touch(A, 48),), 1.0))[A].confidence
    assert "out of sight" in fall.evidence


def test_without_a_track_the_order_of_motion_is_all_there_is() -> None:
    none = ShotTrack((), "no streak moves like a shot from A's cannon")
    falls = causes([topple(A, 52), topple(B, 110)], track=none)
    assert falls[A].cause is Cause.DIRECT
    assert falls[B].cause is Cause.DRAGGED
    assert falls[A].confidence < 0.95  # 39 of 39 films
    assert "no streak" in falls[A].evidence


def beyond(sights: int) -> ShotTrack:
    """The shot flies on over the board, 300 mm beyond B, 120 ms after the release."""
    leg = shot_track(sights=sights - 1).legs[0]
    later = Streak(sights, RELEASE_US + 120_000, 0.0, 0.0, 8.0, 8.0, (1.0, 0.0), 40.0)
    return ShotTrack((Leg(leg.fit, (*leg.streaks, later)),), "", 1000.0)


def test_shot_that_was_seen_elsewhere_did_not_fell_it() -> None:
    falls = [topple(A, 52), topple(B, 100, heading=(0.8, -0.6))]
    unseen, seen = (
        causes(falls, Course((touch(A, 48),), 1.0), track=track)[B]
        for track in (ShotTrack((), "no streak"), beyond(sights=5))
    )
    assert seen.probabilities[Cause.RICOCHET] < 0.2 * unseen.probabilities[Cause.RICOCHET]
    assert seen.cause is Cause.DRAGGED
    assert "the shot did not reach it" in seen.evidence


def test_what_two_sights_show_elsewhere_need_not_be_the_shot() -> None:
    # Nobody falls towards D, which began to move too soon after A for any push.
    falls = [topple(A, 52), topple(D, 62)]
    few, many = (
        causes(falls, Course((touch(A, 48),), 1.0), track=beyond(sights=sights))[D].probabilities
        for sights in (2, 5)
    )
    few_odds, many_odds = (share[Cause.RICOCHET] / share[Cause.DRAGGED] for share in (few, many))
    assert few_odds > 4 * many_odds


def test_c7_what_the_shot_touched_when_another_had_moved_it_did_not_touch_first() -> None:
    # The shot was not seen to touch A, which moved before it came to D.
    falls = causes([topple(A, 52), topple(D, 82)], Course((touch(D, 78),), 1.0))
    assert falls[A].cause is Cause.DIRECT
    assert falls[D].cause is Cause.RICOCHET
    assert falls[D].probabilities[Cause.DIRECT] < 0.05


def test_two_that_moved_in_one_picture_do_not_tell_which_was_touched_first() -> None:
    # The track says that the shot came to A 1 ms after the picture in which A and D had moved.
    falls = causes([topple(A, 52), topple(D, 52)], Course((touch(A, 53),), 1.0))
    assert falls[A].cause is Cause.DIRECT


def test_c7_who_moved_in_the_same_picture_was_not_struck_first_where_another_was_touched() -> None:
    falls = causes([topple(A, 52), topple(D, 52)], Course((touch(A, 48),), 1.0))
    assert falls[D].cause is Cause.RICOCHET
    assert falls[D].probabilities[Cause.DIRECT] < 0.1


def test_who_stirs_long_after_the_shot_has_flown_by_was_hardly_struck_first() -> None:
    soon, late = (
        causes([topple(A, began_ms)], Course((), 1.0), track=shot_track(sights=5))[A].probabilities
        for began_ms in (60, 190)
    )
    assert soon[Cause.DIRECT] > 0.8
    assert late[Cause.DIRECT] < 0.5


@pytest.mark.parametrize("heading", [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0)])
def test_nobody_dragged_the_first_that_moved_however_it_fell(heading: tuple[float, float]) -> None:
    fall = causes([topple(A, 52, heading=heading)], Course((touch(A, 48),), 1.0))[A]
    assert fall.probabilities[Cause.DRAGGED] < 0.02


def test_no_falls_no_causes() -> None:
    assert causes([], Course((touch(A, 48),), 1.0)) == {}


def test_drag_graph_follows_the_direction_of_the_fall() -> None:
    ahead = find_drags([topple(A, 52), topple(B, 110)], [], STANDING, frame_us=FRAME_US)
    assert [(d.by, d.fallen) for d in ahead] == [(A, B)]
    back = find_drags([topple(A, 52, heading=(0.0, -1.0)), topple(B, 110)], [], STANDING, frame_us=FRAME_US)
    assert max((d.weight for d in back), default=0.0) < 0.2


def test_two_that_moved_in_one_picture_may_have_pushed_each_other() -> None:
    drags = find_drags([topple(A, 52), topple(B, 52, heading=(0.0, -1.0))], [], STANDING, frame_us=FRAME_US)
    assert {(d.by, d.fallen) for d in drags} == {(B, A), (A, B)}


def test_who_fell_reaches_as_far_as_his_head_and_not_his_middle() -> None:
    # Two feet's radii, 20 mm, and his 42 mm: his head comes to who stands 60 mm ahead.
    ahead = replace(topple(C, 82), soldier=Soldier(C, Side.G, 180.0, 442.0))
    (drag,) = find_drags([topple(A, 52), ahead], [], STANDING, frame_us=FRAME_US)
    assert (drag.by, drag.fallen) == (A, C)
    assert drag.weight > 0.9


def test_who_slid_on_reaches_farther_than_he_is_tall_but_not_at_once() -> None:
    slid = replace(topple(A, 52), rest_mm=(180.0, 445.0))
    for later_ms, reached in ((4, False), (30, True)):
        drags = find_drags([slid, topple(C, 52 + later_ms)], [], STANDING, frame_us=FRAME_US)
        assert [(d.by, d.fallen) for d in drags] == ([(A, C)] if reached else [])


def test_nobody_is_dragged_a_second_after_the_one_that_reached_it() -> None:
    soon, late = (
        find_drags([topple(A, 52), topple(B, 52 + later_ms)], [], STANDING, frame_us=FRAME_US)
        for later_ms in (250, 1000)
    )
    assert [(d.by, d.fallen) for d in soon] == [(A, B)]
    assert late == ()


def test_nobody_is_dragged_by_one_that_moved_later() -> None:
    drags = find_drags([topple(A, 110), topple(B, 52, heading=(1.0, 0.0))], [], STANDING, frame_us=FRAME_US)
    assert (A, B) not in [(d.by, d.fallen) for d in drags]


moments = st.floats(20.0, 200.0)


@st.composite
def _shots(draw: st.DrawFn) -> tuple[list[Toppling], list[Course]]:
    squares = draw(st.lists(st.sampled_from(sorted(PLACES)), min_size=1, max_size=4, unique=True))
    falls = [
        topple(s, draw(moments), draw(st.sampled_from([(0.0, 1.0), (0.0, -1.0), (0.0, 0.0)])))
        for s in squares
    ]
    courses = []
    for _ in range(draw(st.integers(1, 4))):
        order = draw(st.lists(st.sampled_from([*sorted(PLACES), None]), max_size=4))
        times = sorted(draw(st.lists(moments, min_size=len(order), max_size=len(order))))
        courses.append(
            Course(
                tuple(touch(s, t, on_board=s is None) for s, t in zip(order, times, strict=True)),
                draw(st.floats(0.05, 1.0)),
            )
        )
    total = sum(c.probability for c in courses)
    return falls, [Course(c.touches, c.probability / total) for c in courses]


@settings(max_examples=60, deadline=None)
@given(_shots(), st.booleans())
def test_c7_at_most_one_fall_is_direct_and_probabilities_are_such(
    shot: tuple[list[Toppling], list[Course]], lost: bool
) -> None:
    falls, courses = shot
    found = causes(falls, *courses, track=shot_track(lost=lost))
    assert len(found) == len(falls)
    assert sum(f.cause is Cause.DIRECT for f in found.values()) <= 1
    for fall in found.values():
        assert sum(fall.probabilities.values()) == pytest.approx(1.0)
        assert fall.possible[0] is fall.cause
        assert fall.confidence == fall.probabilities[fall.cause]
        assert 0.0 <= fall.confidence <= 1.0
        assert len(set(fall.possible)) == len(fall.possible)
        assert "\n" not in fall.evidence
        assert fall.evidence
        # What is told speaks for the cause that is told, and names the others beside it.
        assert {c for c, share in fall.probabilities.items() if share >= 0.12} <= set(fall.possible)
        told, _, others = fall.evidence.partition("; it may have been ")
        assert f"{fall.cause} (" not in others
        assert all(f"{cause} (" in others for cause in fall.possible[1:])
        assert (fall.cause is Cause.DIRECT) or "before touching anything else" not in told
        assert ("fell or slid against it" in told) <= (fall.cause is Cause.DRAGGED)


@given(st.floats(0.0, 0.5))
def test_c7_one_that_may_stand_is_a_doubt_and_nobody_is_surer_of_it_than_that_it_fell(chance: float) -> None:
    sure = causes([topple(A, 52)], Course((touch(A, 48),), 1.0))[A]
    fall = allow_for_standing(sure, chance)
    assert fall.cause is sure.cause
    assert fall.confidence == pytest.approx((1 - chance) * sure.confidence)
    assert sum(fall.probabilities.values()) == pytest.approx(1.0)
    assert (Cause.OTHER in fall.possible) == (chance >= POSSIBLE_SHARE)
    assert fall.evidence.startswith(sure.evidence)
    assert ("stand" in fall.evidence) == (chance >= POSSIBLE_SHARE)


@pytest.mark.parametrize(
    ("chance", "behind"),
    [
        (0.05, (Cause.RICOCHET, Cause.DRAGGED)),
        (0.15, (Cause.RICOCHET, Cause.DRAGGED, Cause.OTHER)),
        (0.2, (Cause.RICOCHET, Cause.OTHER, Cause.DRAGGED)),
        (0.45, (Cause.OTHER, Cause.RICOCHET, Cause.DRAGGED)),
    ],
)
def test_that_one_stands_has_its_place_among_the_causes_behind_that_of_its_fall(
    chance: float, behind: tuple[Cause, ...]
) -> None:
    sure = causes([topple(A, 52)], Course((touch(A, 48),), 1.0))[A]
    fell = replace(
        sure,
        possible=(Cause.DIRECT, Cause.RICOCHET, Cause.DRAGGED),
        probabilities={Cause.DIRECT: 0.5, Cause.RICOCHET: 0.3, Cause.DRAGGED: 0.2, Cause.OTHER: 0.0},
    )
    assert allow_for_standing(fell, chance).possible == (Cause.DIRECT, *behind)


def test_a_fall_is_held_only_by_what_it_does_not_show_itself() -> None:
    sure = causes([topple(A, 52)], Course((touch(A, 48),), 1.0))[A]
    assert not sure.held
    assert replace(sure, possible=(*sure.possible, Cause.OTHER)).held, "as a guard leaves it"
    assert not allow_for_standing(sure, 0.3).held


def test_one_that_may_have_fallen_by_itself_and_may_stand_has_each_cause_once() -> None:
    alone = causes([topple(A, -60)], track=shot_track(sights=4))[A]
    assert alone.cause is Cause.OTHER
    assert allow_for_standing(alone, 0.3).possible == alone.possible


@pytest.mark.parametrize(
    ("sight", "said"), [(Sight.SEEN, "near it"), (Sight.LOST, "out of sight"), (Sight.LEFT, "out of sight")]
)
def test_where_no_touch_is_told_it_is_said_whether_the_shot_was_seen_near(sight: Sight, said: str) -> None:
    later = FallSeen(topple(B, 110), Follower(0.9, Whereabouts(sight, 1.0)))
    grounds = grounds_of(later, Cause.RICOCHET, None, seen(shot_track(), Course((touch(A, 48),), 1.0)))
    assert f"the shot was {said}" in grounds


def perhaps_fallen(chances: Mapping[Square, float]) -> tuple[FallCause, ...]:
    """Ask about B, which seems to have been pushed, by A that was struck and fell against it."""
    shot = seen(shot_track(), Course((touch(A, 48),), 1.0))
    return find_perhaps_fallen(chances, [topple(A, 52)], [push(B, 110)], shot)


@pytest.mark.parametrize("chance", [0.15, 0.3, 0.49])
def test_c8_one_that_may_have_fallen_is_a_doubt_between_standing_and_its_cause(chance: float) -> None:
    (fall,) = perhaps_fallen({B: chance})
    assert fall.toppling.soldier.square == B
    assert fall.cause is Cause.OTHER
    assert fall.possible == (Cause.OTHER, Cause.DRAGGED)
    assert fall.confidence == fall.probabilities[Cause.OTHER] == pytest.approx(1 - chance, abs=0.02)
    assert sum(fall.probabilities.values()) == pytest.approx(1.0)
    assert sum(knock.probability for knock in fall.knocks) <= chance + 1e-9
    assert f"{100 * chance:.0f} %" in fall.evidence
    assert str(A) in fall.evidence


@pytest.mark.parametrize("chances", [{B: 0.02}, {}], ids=["surely stands", "nothing said"])
def test_one_that_surely_stands_is_no_doubt(chances: Mapping[Square, float]) -> None:
    assert perhaps_fallen(chances) == ()


def test_one_that_may_have_fallen_is_asked_about_though_none_of_several_causes_is_likely_by_itself() -> None:
    # A fell to the side, and began to 10 ms before B moved: shot and soldier may as well have come to B.
    shot = seen(shot_track(), Course((touch(A, 48),), 1.0))
    (fall,) = find_perhaps_fallen({B: 0.15}, [topple(A, 52, heading=(1.0, 0.0))], [push(B, 62)], shot)
    shares = {cause: share for cause, share in fall.probabilities.items() if cause is not Cause.OTHER}
    assert max(shares.values()) < POSSIBLE_SHARE
    assert fall.possible == (Cause.OTHER, max(shares, key=lambda cause: shares[cause]))

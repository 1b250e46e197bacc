"""What must not happen round a shot is noticed, told from a shot and from each other, and holds the ruling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Figure, Table

from game.montecassino import Cause, Side, Square
from vision.anchors import Move
from vision.causes import FallCause
from vision.guards import (
    Alarm,
    ClipGuard,
    TableGuard,
    Trouble,
    late_falls,
    missing_soldiers,
    unchanged,
    unseen_soldiers,
)
from vision.outcome import Push, Soldier, Standing, Toppling
from vision.reading import ShotReading, read_shot
from vision.shot import Leg, ShotTrack
from vision.shot.flight import Flight, FlightFit
from vision.shot.streaks import Streak

Image = NDArray[np.uint8]

FRAME_US = 8333
FIRE = 8
CAMERA = painted.view(width_px=800, height_px=450, focal_px=980)
SCENE = painted.scene(CAMERA, fire_us=FIRE * FRAME_US + 1000, muzzle_mm=(180.0, -20.0, 45.0))
PLACED = painted.standing(CROWD)
STANDING = Standing(tuple(Soldier(s, f.side, f.x_mm, f.y_mm) for s, f in sorted(PLACED.items())), 42.0, 11.0)
TABLE = Table(CAMERA, tuple(PLACED.values()))
TWO = (Square.parse("A-12"), Square.parse("G-12"))
ALL = np.ones((450, 800), np.bool_)
SKIN, SLEEVE = (120, 150, 200), (90, 60, 50)


def clip(change: Callable[[int, Image], Image] = lambda k, picture: picture, count: int = 40) -> list[Image]:
    return [change(k, picture) for k, picture in enumerate(undisturbed()[:count])]


@cache
def undisturbed() -> tuple[Image, ...]:
    return tuple(TABLE.paint(seed=k) for k in range(40))


def times(count: int) -> list[int]:
    return [FRAME_US * k for k in range(count)]


def alarms(frames: list[Image]) -> tuple[Alarm, ...]:
    guard = ClipGuard(CAMERA, SCENE, STANDING, TABLE.paint(seed=99))
    return guard.alarms(frames, times(len(frames)), FIRE)


def arm(picture: Image, reach_px: int, row: int = 225) -> Image:
    """An arm from the right edge of the picture."""
    with_arm = picture.copy()
    cv2.rectangle(with_arm, (800 - reach_px, row - 28), (800, row + 28), SLEEVE, -1)
    cv2.ellipse(with_arm, (800 - reach_px, row), (34, 24), 0, 0, 360, SKIN, -1)
    return with_arm


def bump(picture: Image, right_px: float, turn_rad: float = 0.0, down_px: float = 0.0) -> Image:
    move = cv2.getRotationMatrix2D((400, 225), math.degrees(turn_rad), 1.0)
    move[:, 2] += right_px, down_px
    return np.asarray(cv2.warpAffine(picture, move, (800, 450), borderMode=cv2.BORDER_REPLICATE), np.uint8)


def test_an_undisturbed_clip_raises_no_alarm() -> None:
    assert alarms(clip()) == ()


def test_falling_soldiers_their_shaking_camera_and_flickering_lamps_raise_no_alarm() -> None:
    still = [f for s, f in PLACED.items() if s not in TWO]
    falling = [PLACED[s] for s in TWO]
    frames = []
    for k in range(40):
        lean = min(max(k - FIRE - 2, 0) / 14, 1.0) * math.pi / 2
        moving = tuple(replace(f, lean_rad=lean, heading_rad=1.2) for f in falling)
        table = replace(TABLE, figures=tuple(still), moving=moving, light=1.0 + 0.08 * math.sin(k))
        swing = 2.0 * math.exp(-max(k - FIRE, 0) / 12) if k >= FIRE else 0.0
        frames.append(table.paint(shift_px=(swing * math.sin(k), 0.6 * swing * math.cos(k)), seed=k))
    assert alarms(frames) == ()


@pytest.mark.parametrize("begins", [FIRE, 30])
def test_an_arm_over_the_table_is_a_hand_with_time_and_place(begins: int) -> None:
    (found,) = alarms(clip(lambda k, p: arm(p, 30 * (k - begins)) if k > begins else p))
    assert found.trouble is Trouble.HAND
    assert "ms after the release" in found.reason
    assert found.centre_px is not None
    assert found.centre_px[0] > 400


def test_the_shadow_of_somebody_who_leans_over_counts_as_well() -> None:
    def shadow(k: int, picture: Image) -> Image:
        dark = picture.copy()
        if k > FIRE + 6:
            dark[:, 560:] = (0.6 * dark[:, 560:]).astype(np.uint8)
        return dark

    assert [alarm.trouble for alarm in alarms(clip(shadow))] == [Trouble.HAND]


@pytest.mark.parametrize(("right_px", "turn_rad"), [(-4.0, 0.0), (12.0, -0.01)])
def test_a_bumped_table_or_camera_is_told_with_how_far(right_px: float, turn_rad: float) -> None:
    (found,) = alarms(clip(lambda k, p: bump(p, right_px, turn_rad) if k > FIRE + 8 else p))
    assert found.trouble is Trouble.BUMP
    told_mm = float(found.reason.split(" by ")[1].split(" mm")[0])
    corners = np.array([[*point, 0.0] for point in SCENE.outline_mm])
    corners_px = CAMERA.project(corners)
    move = cv2.getRotationMatrix2D((400, 225), math.degrees(turn_rad), 1.0)
    moved_px = corners_px @ move[:, :2].T + move[:, 2] + [right_px, 0.0]
    true_mm = float(np.linalg.norm(CAMERA.on_plane(moved_px) - CAMERA.on_plane(corners_px), axis=1).max())
    assert told_mm == pytest.approx(true_mm, abs=0.5)


@pytest.mark.parametrize("far_px", [5.0, 10.0])
@pytest.mark.parametrize("begins", [2, FIRE + 3])
def test_a_bump_that_springs_back_is_told_with_when(far_px: float, begins: int) -> None:
    def wobble(k: int, picture: Image) -> Image:
        since_s = (k - begins) * FRAME_US / 1e6
        if since_s <= 0:
            return picture
        return bump(picture, far_px * math.exp(-since_s / 0.1) * math.sin(2 * math.pi * 6 * since_s))

    (found,) = alarms(clip(wobble))
    assert found.trouble is Trouble.BUMP
    assert "sprang back" in found.reason
    assert f"ms {'after' if begins > FIRE else 'before'} the release" in found.reason


def test_a_wobble_within_what_a_shot_shakes_raises_no_alarm() -> None:
    def tremble(k: int, picture: Image) -> Image:
        since = max(0, k - FIRE)
        return bump(picture, 1.4 * math.exp(-since / 8) * math.sin(0.3 * since))

    assert alarms(clip(tremble)) == ()


def moved_by_mm(right_px: float) -> float:
    corners_px = CAMERA.project(np.array([[*point, 0.0] for point in SCENE.outline_mm]))
    moved = CAMERA.on_plane(corners_px + np.array([right_px, 0.0])) - CAMERA.on_plane(corners_px)
    return float(np.linalg.norm(moved, axis=1).max())


def test_what_is_off_its_place_for_less_than_a_shot_shakes_is_no_bump() -> None:
    """Three pictures running last 17 ms, four 25 ms."""
    assert alarms(clip(lambda k, p: bump(p, 10.0) if 15 <= k <= 17 else p)) == ()
    (found,) = alarms(clip(lambda k, p: bump(p, 10.0 if k == 15 else 5.0) if 15 <= k <= 18 else p))
    assert found.trouble is Trouble.BUMP
    told_mm = float(found.reason.split(" by ")[1].split(" mm")[0])
    assert told_mm == pytest.approx(moved_by_mm(10.0), abs=0.5), "the farthest is told, not the first seen"


@pytest.mark.parametrize(
    ("top", "high", "wide", "told"),
    [(40, 36, 36, False), (0, 36, 36, True), (40, 44, 60, True)],
    ids=["21 cm2 on the table", "21 cm2 from the edge", "43 cm2 on the table"],
)
def test_a_thing_on_the_table_is_a_hand_from_its_edge_or_where_it_is_larger(
    top: int, high: int, wide: int, told: bool
) -> None:
    """A soldier that was thrown far lies there with its shadow, and an arm comes from outside."""

    def put(k: int, picture: Image) -> Image:
        with_it = picture.copy()
        if k > FIRE + 6:
            with_it[top : top + high, 300 : 300 + wide] = SLEEVE
        return with_it

    assert [alarm.trouble for alarm in alarms(clip(put))] == ([Trouble.HAND] if told else [])


def test_a_strip_beside_the_board_that_shakes_with_the_camera_is_no_hand() -> None:
    """All along its edge the picture changes, which is as much as an arm covers."""

    def strip(k: int, picture: Image) -> Image:
        with_it = picture.copy()
        with_it[423:] = 250
        return bump(with_it, 0.0, down_px=1.3) if FIRE < k < 30 else with_it

    guard = ClipGuard(CAMERA, SCENE, STANDING, strip(0, TABLE.paint(seed=99)))
    assert guard.alarms(clip(strip), times(40), FIRE) == ()


def test_a_stick_no_wider_than_a_finger_is_told_as_an_arm_is() -> None:
    def point(k: int, picture: Image) -> Image:
        with_it = picture.copy()
        if k > FIRE + 6:
            with_it[219:231, 480:] = SLEEVE
        return with_it

    assert [alarm.trouble for alarm in alarms(clip(point))] == [Trouble.HAND]


def test_a_lamp_that_goes_out_is_other_light() -> None:
    (found,) = alarms(clip(lambda k, p: (0.6 * p).astype(np.uint8) if k > FIRE + 5 else p))
    assert found.trouble is Trouble.LIGHT
    assert "-40 %" in found.reason


@pytest.mark.parametrize("level", [4, 200], ids=["a cap", "a sheet of paper"])
def test_a_covered_lens_is_told_though_it_is_free_again_at_the_end(level: int) -> None:
    def cover(k: int, picture: Image) -> Image:
        return np.full_like(picture, level) if FIRE + 4 < k < 30 else picture

    assert [alarm.trouble for alarm in alarms(clip(cover))] == [Trouble.COVERED]


def test_a_single_odd_picture_is_no_alarm() -> None:
    assert alarms(clip(lambda k, p: np.full_like(p, 240) if k == FIRE + 7 else p)) == ()


def spot(picture: Image, size_px: int) -> Image:
    """Something of 1.6 mm2 for each of its pixels."""
    with_it = picture.copy()
    with_it[40 : 40 + size_px, 304 : 304 + size_px] = SLEEVE
    return with_it


@pytest.mark.parametrize(
    ("size_px", "until", "told"),
    [
        (4, 3, None),
        (8, 3, "something on the board still moved 58 ms before the release"),
        (8, 6, "something on the board still moved 25 ms before the release"),
    ],
    ids=["a little", "long before", "just before"],
)
def test_what_moves_before_the_release_is_told_with_when_it_moved_last(
    size_px: int, until: int, told: str | None
) -> None:
    found = alarms(clip(lambda k, p: spot(p, size_px) if k < until else p))
    assert [alarm.trouble for alarm in found] == ([] if told is None else [Trouble.BEGUN])
    assert told is None or found[0].reason.startswith(told)


@pytest.mark.parametrize(("size_px", "told"), [(8, False), (16, True)])
def test_where_no_release_is_told_the_shot_itself_may_move_at_the_beginning(size_px: int, told: bool) -> None:
    guard = ClipGuard(CAMERA, replace(SCENE, fire_us=None), STANDING, TABLE.paint(seed=99))
    found = guard.alarms(clip(lambda k, p: spot(p, size_px) if k < 3 else p), times(40), FIRE)
    assert [alarm.trouble for alarm in found] == ([Trouble.BEGUN] if told else [])
    assert not told or "moves already when the pictures begin" in found[0].reason


@pytest.mark.parametrize(("size_px", "since", "told"), [(8, 37, False), (16, 37, True), (16, 30, False)])
def test_pictures_that_end_while_something_moves_are_told(size_px: int, since: int, told: bool) -> None:
    """A shot that rolls on does no harm, nor what has come to rest 50 ms before the end."""
    found = alarms(clip(lambda k, p: spot(p, size_px) if k >= since else p))
    assert [alarm.trouble for alarm in found] == ([Trouble.UNENDED] if told else [])


@pytest.mark.parametrize("begins", [12, 16])
def test_a_hand_that_is_seen_in_two_looks_is_told_with_when_it_came(begins: int) -> None:
    """Every fourth picture is looked at, and of those between two quiet ones every other is left out."""
    (found,) = alarms(clip(lambda k, p: arm(p, 260) if begins <= k <= begins + 4 else p))
    assert found.trouble is Trouble.HAND
    since_ms = (
        (begins - (FIRE - 1)) * FRAME_US / 1000
    )  # the last picture before the release is where it counts from
    assert found.reason.startswith(f"{since_ms:.0f} ms after the release something of ")


ODD: dict[str, dict[int, Callable[[Image], Image]]] = {
    "two flashes with a quiet look between": {16: lambda p: p * 0 + 240, 24: lambda p: p * 0 + 240},
    "two looks at different things": {16: lambda p: p * 0 + 240, 20: lambda p: arm(p, 260)},
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_not_seen_twice_running_is_no_alarm(what: str) -> None:
    odd = ODD[what]
    assert alarms(clip(lambda k, p: odd[k](p) if k in odd else p)) == ()


def test_what_is_seen_in_the_last_picture_alone_is_told() -> None:
    (found,) = alarms(clip(lambda k, p: arm(p, 260) if k == 39 else p))
    assert found.trouble is Trouble.HAND


def test_a_last_picture_in_which_the_table_is_not_found_again_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = ClipGuard(CAMERA, SCENE, STANDING, TABLE.paint(seed=99))
    monkeypatch.setattr(guard.anchors, "move", lambda picture: Move(np.eye(2, 3), math.inf))
    (found,) = guard.alarms(clip(), times(40), FIRE)
    assert found.trouble is Trouble.BUMP
    assert "another table" in found.reason


# Before a shot.


@cache
def guard() -> TableGuard:
    return TableGuard(TABLE.paint(seed=99), CAMERA, SCENE, STANDING, watched=ALL)


def check(*pictures: Image) -> Alarm | None:
    return guard().check(pictures)


def test_before_a_shot_an_unchanged_table_is_clear() -> None:
    assert check(*clip(count=3)) is None


def test_before_a_shot_a_hand_is_told() -> None:
    found = check(arm(TABLE.paint(), 300))
    assert found is not None
    assert found.trouble is Trouble.HAND


@pytest.mark.parametrize("before", [0, 2])
def test_before_a_shot_a_bump_is_told_from_a_hand(before: int) -> None:
    found = check(*clip(count=before), bump(TABLE.paint(), 5.0))
    assert found is not None
    assert found.trouble is Trouble.BUMP


@pytest.mark.parametrize("fate", ["fell", "taken"])
def test_before_a_shot_a_soldier_that_fell_or_was_taken_is_named(fate: str) -> None:
    square = Square.parse("A-12")
    others = tuple(f for s, f in PLACED.items() if s != square)
    lying: tuple[Figure, ...] = (replace(PLACED[square], lean_rad=math.pi / 2, heading_rad=1.2),)
    found = check(replace(TABLE, figures=others, moving=lying if fate == "fell" else ()).paint())
    assert found is not None
    assert found.trouble is Trouble.FALL
    assert "A-12" in found.reason


def test_before_a_shot_dark_pictures_other_light_and_other_sizes_are_told() -> None:
    for picture, trouble in (
        (np.zeros((450, 800, 3), np.uint8), Trouble.COVERED),
        (np.full((450, 800, 3), 180, np.uint8), Trouble.COVERED),
        ((0.5 * TABLE.paint()).astype(np.uint8), Trouble.LIGHT),
        (np.zeros((225, 400, 3), np.uint8), Trouble.COVERED),
    ):
        found = check(picture)
        assert found is not None
        assert found.trouble is trouble
    dark = check(np.zeros((450, 800, 3), np.uint8))
    assert dark is not None
    assert dark.reason == "the picture is dark (mean grey level 0): lens covered or lights out"
    assert guard().check([]) is not None


# What follows from an alarm.


def shot(
    edit: Callable[[int, Image], Image] = lambda k, p: p, *, falls_at: int = FIRE + 4, count: int = 40
) -> ShotReading:
    """Nobody shoots; A-12 falls by itself."""
    square = Square.parse("A-12")
    table = replace(TABLE, figures=tuple(f for s, f in PLACED.items() if s != square))
    frames = []
    for k in range(count):
        lean = min(max(k - falls_at, 0) / 14, 1.0) * math.pi / 2
        moving = replace(PLACED[square], lean_rad=lean, heading_rad=1.2)
        frames.append(edit(k, replace(table, moving=(moving,)).paint(seed=k)))
    reading = read_shot(frames, times(count), SCENE)
    assert isinstance(reading, ShotReading), reading
    return reading


def test_a_hand_during_the_shot_leaves_every_fall_in_doubt() -> None:
    reading = shot(lambda k, p: arm(p, 200, row=60) if FIRE + 3 < k < FIRE + 15 else p)
    assert [alarm.trouble for alarm in reading.alarms] == [Trouble.HAND]
    assert reading.falls
    assert all(Cause.OTHER in fall.possible for fall in reading.falls)


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


def test_before_a_shot_another_table_is_told_though_nothing_is_watched() -> None:
    blind = TableGuard(TABLE.paint(seed=99), CAMERA, SCENE, STANDING, watched=~ALL)
    assert blind.check([TABLE.paint()]) is None
    found = blind.check([np.ascontiguousarray(TABLE.paint()[:, ::-1])])
    assert found is not None
    assert (found.trouble, found.reason) == (
        Trouble.BUMP,
        "the picture shows another table than when it was read",
    )


def fall_of(square: str, began_ms: float, passed_ms: float | None = None) -> FallCause:
    soldier = Soldier(Square.parse(square), Side.A, 0.0, 0.0)
    passed_us = 1000 * (began_ms + 80 if passed_ms is None else passed_ms)
    toppling = Toppling(soldier, round(1000 * began_ms), round(passed_us), (0.0, 1.0), None)
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
    assert bool(late_falls([fall_of("A-01", began_ms)], (), SEEN)) is late


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


def test_a_soldier_that_was_pushed_and_stands_keeps_the_table_busy_too() -> None:
    falls = [fall_of("A-01", 0), fall_of("A-02", 1300)]
    assert set(late_falls(falls, (), NOT_SEEN)) == {Square.parse("A-02")}
    push = Push(Soldier(Square.parse("A-03"), Side.A, 0.0, 0.0), 650_000, 8.0, 0.0)
    assert late_falls(falls, (push,), NOT_SEEN) == {}


def test_before_a_shot_what_moves_outside_the_watched_part_does_not_matter() -> None:
    watched = ALL.copy()
    watched[:, 550:] = False
    blind = TableGuard(TABLE.paint(seed=99), CAMERA, SCENE, STANDING, watched=watched)
    assert blind.check([arm(TABLE.paint(), 200)]) is None


@pytest.mark.parametrize("seen", [0, 1, 13, 30])
def test_pictures_that_were_looked_at_as_they_came_raise_the_same_alarms(seen: int) -> None:
    frames = clip(lambda k, picture: arm(picture, 260) if 12 < k < 30 else picture)
    guard = ClipGuard(CAMERA, SCENE, STANDING, TABLE.paint(seed=99))
    if seen:
        guard.look_ahead(frames[:seen], times(seen))
    found = guard.alarms(frames, times(len(frames)), FIRE)
    assert found == alarms(frames)
    assert [alarm.trouble for alarm in found] == [Trouble.HAND]


SINCE: dict[str, tuple[Callable[[int, Image], Image], bool]] = {
    "nothing": (lambda k, picture: picture, False),
    "flicker": (lambda k, picture: cv2.convertScaleAbs(picture, alpha=1 + 0.06 * (-1) ** k), False),
    "an arm": (lambda k, picture: arm(picture, 260) if k > 10 else picture, True),
    "a lamp": (lambda k, picture: cv2.convertScaleAbs(picture, alpha=0.6) if k > 10 else picture, True),
    "the cap": (lambda k, picture: np.zeros_like(picture) if k > 10 else picture, True),
    "a bump": (lambda k, picture: np.roll(picture, 6, axis=1) if k > 10 else picture, True),
}


@pytest.mark.parametrize("happens", SINCE)
def test_a_table_that_became_quiet_is_watched_on(happens: str) -> None:
    """What was read then holds only as long as nothing more has happened."""
    change, stirred = SINCE[happens]
    frames = clip(change, 24)
    reference = TABLE.paint(seed=99)
    guard = ClipGuard(CAMERA, SCENE, STANDING, reference)
    assert guard.stirred_since(frames, times(24), known=()) is stirred


def test_a_soldier_that_is_gone_since_is_seen_and_what_is_known_counts_no_more() -> None:
    without = replace(TABLE, figures=tuple(f for s, f in PLACED.items() if s != TWO[0]))
    frames = [*clip(count=12), *(without.paint(seed=k) for k in range(12))]
    reference = TABLE.paint(seed=99)
    assert ClipGuard(CAMERA, SCENE, STANDING, reference).stirred_since(frames, times(24), known=())
    dark = [cv2.convertScaleAbs(picture, alpha=0.6) for picture in clip(count=24)]
    guard = ClipGuard(CAMERA, SCENE, STANDING, reference)
    assert not guard.stirred_since(dark, times(24), known={Trouble.LIGHT})


SECOND = PLACED[TWO[1]]
NUDGED: dict[str, Callable[[Table], Table]] = {
    "a soldier pushed by 1.5 mm": lambda table: _with(table, replace(SECOND, x_mm=SECOND.x_mm + 1.5)),
    "a soldier turned about": lambda table: _with(table, replace(SECOND, facing_rad=SECOND.facing_rad + 1.5)),
    "a soldier of the other side": lambda table: _with(table, replace(SECOND, side=Side.A)),
    "a soldier taken": lambda table: _with(table, None),
    "a lamp dimmed by a tenth": lambda table: replace(table, light=0.9),
}


def _with(table: Table, second: Figure | None) -> Table:
    others = tuple(f for s, f in PLACED.items() if s != TWO[1])
    return replace(table, figures=others if second is None else (*others, second))


@pytest.mark.parametrize("noise", [0.5, 1.5, 4.0])
def test_a_table_where_nothing_happened_is_the_same_still(noise: float) -> None:
    table = replace(TABLE, noise=noise)
    assert unchanged(table.paint(seed=1), table.paint(seed=2), CAMERA, SCENE)
    assert unchanged(table.paint(seed=1), replace(table, light=1.02).paint((0.1, 0.1), seed=2), CAMERA, SCENE)


@pytest.mark.parametrize("what", NUDGED)
def test_whatever_happened_to_a_table_it_is_not_the_same(what: str) -> None:
    assert not unchanged(TABLE.paint(seed=1), NUDGED[what](TABLE).paint(seed=2), CAMERA, SCENE)


LAST = Figure(Side.G, 200.0, 806.0, facing_rad=1.2)
"""Over the board's end: from above its rifle and its head are seen beside the board."""


def without_helmet(picture: Image) -> Image:
    ((u, v),) = CAMERA.project(np.array([[LAST.x_mm, LAST.y_mm, 40.0]]))
    return np.asarray(cv2.circle(picture, (round(u), round(v)), 4, (150, 190, 220), -1), np.uint8)


ABOVE: dict[str, Callable[[], Image]] = {
    "it turned its rifle": lambda: _with(TABLE, replace(LAST, facing_rad=1.9)).paint(seed=2),
    "it lost its helmet": lambda: without_helmet(_with(TABLE, LAST).paint(seed=2)),
}


@pytest.mark.parametrize("what", ABOVE)
def test_a_soldier_at_the_boards_end_is_seen_up_to_its_head(what: str) -> None:
    before = _with(TABLE, LAST)
    assert unchanged(before.paint(seed=1), before.paint(seed=2), CAMERA, SCENE)
    assert not unchanged(before.paint(seed=1), ABOVE[what](), CAMERA, SCENE)


def test_a_die_that_rolled_beside_the_board_leaves_the_table_the_same() -> None:
    def die(x_mm: float, seed: int) -> Image:
        picture = TABLE.paint(seed=seed)
        ((u, v),) = CAMERA.project(np.array([[x_mm, 855.0, 0.0]]))
        return np.asarray(cv2.circle(picture, (round(u), round(v)), 5, (50, 50, 200), -1), np.uint8)

    assert unchanged(die(180.0, 1), die(210.0, 2), CAMERA, SCENE)


@pytest.mark.parametrize("colour", range(3), ids=["blue", "green", "red"])
def test_what_differs_in_one_colour_alone_is_seen(colour: int) -> None:
    now = TABLE.paint(seed=2)
    assert unchanged(TABLE.paint(seed=1), now, CAMERA, SCENE)
    spot = now[210:240, 390:420, colour]
    spot[:] = np.where(spot > 127, spot - 30, spot + 30)
    assert not unchanged(TABLE.paint(seed=1), now, CAMERA, SCENE)


def test_a_table_that_was_shifted_by_half_a_pixel_or_covered_or_of_another_size_is_not_the_same() -> None:
    before = TABLE.paint(seed=1)
    assert not unchanged(before, TABLE.paint((0.5, 0.0), seed=2), CAMERA, SCENE)
    assert not unchanged(before, arm(TABLE.paint(seed=2), 260), CAMERA, SCENE)
    assert not unchanged(before, before[::2, ::2], CAMERA, SCENE)

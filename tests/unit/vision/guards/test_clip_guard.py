"""What must not happen round a shot is noticed, told from a shot and from each other, and holds the ruling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest
from guarded_table import (
    CAMERA,
    FIRE,
    FRAME_US,
    PLACED,
    SCENE,
    SLEEVE,
    STANDING,
    TABLE,
    TWO,
    Image,
    arm,
    bump,
    clip,
    shot,
    times,
    undisturbed,
)

from game.montecassino import Cause
from vision.anchors import Move
from vision.guards import Alarm, ClipGuard, Trouble


def alarms(frames: list[Image]) -> tuple[Alarm, ...]:
    guard = ClipGuard(CAMERA, SCENE, STANDING, TABLE.paint(seed=99))
    return guard.alarms(frames, times(len(frames)), FIRE)


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
    for farthest in (15, 18):
        off_px = {k: 10.0 if k == farthest else 5.0 for k in range(15, 19)}
        (found,) = alarms([bump(p, off_px[k]) if k in off_px else p for k, p in enumerate(clip())])
        assert found.trouble is Trouble.BUMP
        told_mm = float(found.reason.split(" by ")[1].split(" mm")[0])
        assert told_mm == pytest.approx(moved_by_mm(10.0), abs=0.5), "the farthest is told"


@pytest.mark.parametrize(
    ("top", "left", "high", "wide", "told"),
    [
        (40, 300, 36, 36, False),
        (0, 300, 36, 36, True),
        (414, 300, 36, 36, True),
        (40, 0, 36, 36, True),
        (40, 764, 36, 36, True),
        (40, 300, 44, 60, True),
    ],
    ids=[
        "21 cm2 on the table",
        "21 cm2 from above",
        "21 cm2 from below",
        "21 cm2 from the left",
        "21 cm2 from the right",
        "43 cm2 on the table",
    ],
)
def test_a_thing_on_the_table_is_a_hand_from_an_edge_or_where_it_is_larger(
    top: int, left: int, high: int, wide: int, told: bool
) -> None:
    """A soldier that was thrown far lies there with its shadow, and an arm comes from outside."""

    def put(k: int, picture: Image) -> Image:
        with_it = picture.copy()
        if k > FIRE + 6:
            with_it[top : top + high, left : left + wide] = SLEEVE
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


@pytest.mark.parametrize(("light", "told"), [(0.6, "-40 %"), (1.35, "+3")])
def test_a_lamp_that_goes_out_or_on_is_other_light(light: float, told: str) -> None:
    def lit(k: int, picture: Image) -> Image:
        return cv2.convertScaleAbs(picture, alpha=light) if k > FIRE + 5 else picture

    (found,) = alarms(clip(lit))
    assert found.trouble is Trouble.LIGHT
    assert told in found.reason


def test_light_that_dims_by_less_than_a_quarter_is_no_other_table() -> None:
    assert alarms(clip(lambda k, p: (0.78 * p).astype(np.uint8) if k > FIRE + 5 else p)) == ()


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


def test_pictures_that_are_the_same_from_one_on_in_which_something_moved_are_told() -> None:
    """Where the camera hung nobody knows how it ended, though nothing moves in the pictures that it repeats."""
    hung = spot(undisturbed()[20], 16)
    (found,) = alarms(clip(lambda k, p: hung if k >= 20 else spot(p, 16) if k >= 17 else p))
    assert found.trouble is Trouble.UNENDED
    assert found.reason.startswith("the same picture is repeated from picture 21 on, while something")


@pytest.mark.parametrize("moves", [range(4), range(37, 40)], ids=["before the release", "at the end"])
@pytest.mark.parametrize(("at_mm", "told"), [((180.0, -20.0), False), ((330.0, -20.0), True)])
def test_the_cannon_may_move_before_the_release_and_at_the_end_and_nothing_beside_it(
    moves: range, at_mm: tuple[float, float], told: bool
) -> None:
    u, v = np.round(CAMERA.project(np.array([[*at_mm, 0.0]]))[0]).astype(int)

    def stir(k: int, picture: Image) -> Image:
        with_it = picture.copy()
        if k in moves:
            with_it[v - 8 : v + 8, u - 8 : u + 8] = SLEEVE
        return with_it

    assert bool(alarms(clip(stir))) is told


@pytest.mark.parametrize("begins", [12, 16])
def test_a_hand_that_is_seen_in_two_looks_is_told_with_when_it_came(begins: int) -> None:
    """Every fourth picture is looked at, and of those between two quiet ones every other is left out."""
    (found,) = alarms(clip(lambda k, p: arm(p, 260) if begins <= k <= begins + 4 else p))
    assert found.trouble is Trouble.HAND
    since_ms = (
        (begins - (FIRE - 1)) * FRAME_US / 1000
    )  # the last picture before the release is where it counts from
    assert found.reason.startswith(f"{since_ms:.0f} ms after the release something of ")


def test_of_a_hand_that_comes_twice_the_first_time_is_told() -> None:
    (found,) = alarms(clip(lambda k, p: arm(p, 260) if 12 <= k <= 17 or 27 <= k <= 33 else p))
    since_ms = (12 - (FIRE - 1)) * FRAME_US / 1000
    assert found.reason.startswith(f"{since_ms:.0f} ms after the release something of ")


@pytest.mark.parametrize(("large_row", "small_row"), [(90, 360), (360, 90)])
def test_of_two_hands_the_larger_is_told_with_its_place(large_row: int, small_row: int) -> None:
    (found,) = alarms(clip(lambda k, p: arm(arm(p, 300, large_row), 120, small_row) if k > FIRE else p))
    assert found.centre_px is not None
    assert found.centre_px[1] == pytest.approx(large_row, abs=20.0)


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


def test_a_hand_during_the_shot_leaves_every_fall_in_doubt() -> None:
    reading = shot(lambda k, p: arm(p, 200, row=60) if FIRE + 3 < k < FIRE + 15 else p)
    assert [alarm.trouble for alarm in reading.alarms] == [Trouble.HAND]
    assert reading.falls
    assert all(Cause.OTHER in fall.possible for fall in reading.falls)


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


def test_what_happens_beside_what_is_known_already_is_seen_though_it_is_over() -> None:
    def arm_in_the_dark(k: int, picture: Image) -> Image:
        return cv2.convertScaleAbs(arm(picture, 260) if 8 < k < 18 else picture, alpha=0.85)

    guard = ClipGuard(CAMERA, SCENE, STANDING, TABLE.paint(seed=99))
    assert guard.stirred_since(clip(arm_in_the_dark, 24), times(24), known={Trouble.LIGHT})

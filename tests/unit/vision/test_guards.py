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
from vision.guards import Alarm, ClipGuard, TableGuard, Trouble, late_falls, unchanged
from vision.outcome import Soldier, Standing
from vision.reading import ShotReading, read_shot

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


def bump(picture: Image, right_px: float, turn_rad: float = 0.0) -> Image:
    move = cv2.getRotationMatrix2D((400, 225), math.degrees(turn_rad), 1.0)
    move[0, 2] += right_px
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


def test_before_a_shot_a_bump_is_told_from_a_hand() -> None:
    found = check(bump(TABLE.paint(), 5.0))
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


def test_a_table_that_was_shifted_by_half_a_pixel_or_covered_or_of_another_size_is_not_the_same() -> None:
    before = TABLE.paint(seed=1)
    assert not unchanged(before, TABLE.paint((0.5, 0.0), seed=2), CAMERA, SCENE)
    assert not unchanged(before, arm(TABLE.paint(seed=2), 260), CAMERA, SCENE)
    assert not unchanged(before, before[::2, ::2], CAMERA, SCENE)

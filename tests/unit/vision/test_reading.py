"""A whole shot from its pictures, and what is said where there is none to read."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Table

from game.montecassino import Cause, Side, Square
from vision.guards import Alarm, Trouble
from vision.lookout import Lookout
from vision.reading import ShotReading, read_shot, still_holds
from vision.registration import BoardView
from vision.table_before import NoReading, TableBefore, read_before

FRAME_US = 8333
FIRE = 8
CAMERA = painted.view(width_px=800, height_px=450, focal_px=980)
SCENE = painted.scene(CAMERA, fire_us=FIRE * FRAME_US + 1000)
TABLE = Table(CAMERA, tuple(painted.standing(CROWD).values()))
HIT = Square.parse("A-12")
MUZZLE_MM = (160.0, -40.0, 50.0)
FLYING = replace(SCENE, muzzle_mm=MUZZLE_MM, exposure_us=1000)


@lru_cache(maxsize=3)
def clip(
    frames: int = 34, begins: int = FIRE + 4, noise: float = TABLE.noise
) -> tuple[NDArray[np.uint8], ...]:
    """Nobody shoots; A-12 falls by itself, as from a bumped table."""
    placed = painted.standing(CROWD)
    table = Table(CAMERA, tuple(f for s, f in placed.items() if s != HIT))
    pictures = []
    for k in range(frames):
        lean = min(max(k - begins, 0) / 14, 1.0) * math.pi / 2
        moving = replace(placed[HIT], lean_rad=lean, heading_rad=4.0)
        pictures.append(replace(table, moving=(moving,), noise=noise).paint(seed=k))
    return tuple(pictures)


def times(count: int) -> list[int]:
    return [FRAME_US * k for k in range(count)]


def test_a_fall_is_reported_in_colour_and_in_grey() -> None:
    pictures = clip()
    reading = read_shot(pictures, times(len(pictures)), SCENE)
    assert isinstance(reading, ShotReading), reading
    assert {s.square: s.side for s in reading.standing.soldiers} == CROWD
    assert [f.toppling.soldier.square for f in reading.falls] == [HIT]
    assert set(reading.falls[0].possible) <= set(Cause)
    assert reading.pushes == ()
    grey = read_shot(
        [p[..., 1].copy() for p in pictures], times(len(pictures)), replace(SCENE, expected=CROWD)
    )
    assert isinstance(grey, ShotReading), grey
    assert [f.toppling.soldier.square for f in grey.falls] == [HIT]


def test_the_release_need_not_be_known() -> None:
    pictures = clip()
    reading = read_shot(pictures, times(len(pictures)), replace(SCENE, fire_us=None))
    assert isinstance(reading, ShotReading), reading
    assert [f.toppling.soldier.square for f in reading.falls] == [HIT]


def test_what_differs_from_the_expected_position_is_noted() -> None:
    pictures = clip(28)
    expected = {s: side for s, side in CROWD.items() if s != Square.parse("G-08")}
    reading = read_shot(pictures, times(28), replace(SCENE, expected=expected))
    assert isinstance(reading, ShotReading), reading
    assert any("G-08" in note for note in reading.notes)


def alarms_of(pictures: Sequence[NDArray[np.uint8]], **known: object) -> tuple[Alarm, ...]:
    reading = read_shot(pictures, times(len(pictures)), replace(SCENE, expected=CROWD, **known))  # type: ignore[arg-type]
    assert isinstance(reading, ShotReading), reading
    if reading.alarms:
        assert all(Cause.OTHER in fall.possible for fall in reading.falls)
    return reading.alarms


def held_by(pictures: Sequence[NDArray[np.uint8]], **known: object) -> list[Trouble]:
    return [alarm.trouble for alarm in alarms_of(pictures, **known)]


def test_a_fall_of_which_the_release_and_the_beginning_are_seen_holds_nothing() -> None:
    assert held_by(clip(44)) == []
    assert held_by(clip(40), fire_us=None) == []


@pytest.mark.parametrize("late", [8, 12, 18])
def test_what_moves_before_the_release_that_was_told_holds_the_ruling(late: int) -> None:
    assert held_by(clip(44), fire_us=(FIRE + late) * FRAME_US)[0] is Trouble.BEGUN


@pytest.mark.parametrize("cut", [FIRE, FIRE + 6, FIRE + 12])
def test_a_clip_that_begins_while_somebody_falls_holds_the_ruling(cut: int) -> None:
    assert held_by(clip(40)[cut:], fire_us=None)[0] is Trouble.BEGUN


def shot_that_meets_nobody(frames: int) -> list[NDArray[np.uint8]]:
    """A ball that flies along the board from the muzzle."""
    table = Table(CAMERA, tuple(painted.standing(CROWD).values()))
    pictures = []
    for k in range(frames):
        picture = table.paint(seed=k)
        flown_ms = (k * FRAME_US - FLYING.fire_us) / 1000 + np.linspace(-0.5, 0.5, 12)  # type: ignore[operator]
        x_mm, y_mm, z_mm = MUZZLE_MM
        for ms in flown_ms[flown_ms > 0]:
            place_mm = [[x_mm, y_mm + 5.0 * ms, z_mm + 0.6 * ms - 0.0049 * ms**2]]
            at_px = tuple(int(16 * value) for value in CAMERA.project(np.array(place_mm))[0])
            cv2.circle(picture, at_px, 22, (235, 240, 240), -1, cv2.LINE_AA, shift=4)
        pictures.append(picture)
    return pictures


@pytest.mark.parametrize("told", [True, False])
def test_a_film_that_ends_while_the_shot_still_flies_over_the_board_holds_the_ruling(told: bool) -> None:
    known = {"muzzle_mm": MUZZLE_MM, "exposure_us": 1000, "fire_us": FLYING.fire_us if told else None}
    (unended,) = alarms_of(shot_that_meets_nobody(FIRE + 15), **known)
    assert unended.trouble is Trouble.UNENDED
    assert unended.reason == "the pictures end while the shot still flies over the board"
    assert alarms_of(shot_that_meets_nobody(FIRE + 50), **known) == ()


def test_what_was_read_while_the_shot_still_flew_is_read_again() -> None:
    pictures = shot_that_meets_nobody(FIRE + 50)
    early = FIRE + 16
    before = read_before(pictures[:FIRE], times(FIRE), FLYING)
    assert isinstance(before, TableBefore), before
    lookout = Lookout(before, FLYING)
    for count, holds in ((early, False), (FIRE + 40, True)):
        reading = read_shot(pictures[:count], times(count), FLYING, before, lookout)
        assert isinstance(reading, ShotReading), reading
        assert (
            still_holds(reading, lookout, pictures[count - 1 :], times(len(pictures))[count - 1 :]) is holds
        )


def test_who_is_gone_already_before_a_shot_that_is_not_seen_holds_the_ruling() -> None:
    placed = painted.standing(CROWD)
    table = Table(CAMERA, tuple(figure for square, figure in placed.items() if square != HIT))
    pictures = [table.paint(seed=k) for k in range(30)]
    for fire_us in (None, SCENE.fire_us):
        assert held_by(pictures, fire_us=fire_us) == [Trouble.MISSING]
    reading = read_shot(pictures, times(30), SCENE)
    assert isinstance(reading, ShotReading), reading
    assert reading.alarms == ()


# Both armies have come to the middle, and each stands as often on its own field as on the other.
CROSSED = {
    Square.parse(name): side
    for side, names in {
        Side.A: ("A-49", "A-59", "A-70", "G-51", "G-57", "G-68"),
        Side.G: ("A-51", "A-57", "A-68", "G-49", "G-59", "G-70"),
    }.items()
    for name in names
}


def test_where_it_hardly_shows_which_army_is_whose_nobody_rules() -> None:
    """Verdicts are not silently wrong: all who leave would be the wrong ones (docs/accuracy.md)."""
    table = Table(CAMERA, tuple(painted.standing(CROSSED).values()))
    pictures = [table.paint(seed=k) for k in range(30)]
    untold = read_shot(pictures, times(30), SCENE)
    assert isinstance(untold, ShotReading), untold
    (alarm,) = untold.alarms
    assert alarm.trouble is Trouble.UNSEEN
    assert "which soldiers are A's and which G's hardly shows" in alarm.reason
    told = read_shot(pictures, times(30), replace(SCENE, expected=CROSSED))
    assert isinstance(told, ShotReading), told
    assert told.alarms == ()


def beyond_the_left(strip_mm: float) -> tuple[BoardView, list[NDArray[np.uint8]]]:
    """A camera whose picture ends so far within the Allies' end of the board, and what it sees of a table at rest."""
    edge_px = float(CAMERA.project(np.zeros((1, 3)))[0, 0])
    aside_mm = strip_mm + edge_px * CAMERA.mm_per_px(0.0, 0.0)
    view = replace(CAMERA, translation_mm=CAMERA.translation_mm - (aside_mm, 0.0, 0.0))
    return view, [Table(view, TABLE.figures).paint(seed=k) for k in range(30)]


@pytest.mark.parametrize("told", [False, True], ids=["no position", "a position"])
@pytest.mark.parametrize(
    ("strip_mm", "squares"), [(0, None), (8, None), (40, "A01-A08"), (400, "A01-A72")], ids=str
)
def test_a_board_that_is_partly_outside_the_picture_holds_the_ruling(
    strip_mm: float, squares: str | None, told: bool
) -> None:
    """Who stands there may have fallen; a strip in which nobody stands does no harm."""
    view, pictures = beyond_the_left(strip_mm)
    seen = {square: side for square, side in CROWD.items() if square.centre_mm(45.0)[1] > strip_mm}
    scene = painted.scene(view, fire_us=SCENE.fire_us, expected=seen if told else None)
    reading = read_shot(pictures, times(30), scene)
    assert isinstance(reading, ShotReading), reading
    assert [alarm.trouble for alarm in reading.alarms] == ([] if squares is None else [Trouble.OUTSIDE])
    for alarm in reading.alarms:
        assert alarm.reason.startswith(f"part of the board is outside the picture, {squares}: ")


@pytest.mark.parametrize(
    ("frames", "fire_us", "said"),
    [
        (4, None, "4 pictures"),
        (12, 11 * FRAME_US, "it ends"),
        (30, -20_000, "begins 20 ms after"),
    ],
)
def test_a_clip_that_is_too_short_is_told(frames: int, fire_us: int | None, said: str) -> None:
    picture = Table(CAMERA).paint()
    reading = read_shot([picture] * frames, times(frames), replace(SCENE, fire_us=fire_us))
    assert isinstance(reading, NoReading)
    assert said in reading.reason


@pytest.mark.parametrize("fire_us", [SCENE.fire_us, None])
@pytest.mark.parametrize("hangs", [FIRE, FIRE + 4])
def test_a_camera_that_hangs_from_the_release_on_is_told(fire_us: int | None, hangs: int) -> None:
    pictures = clip(40)
    frozen = [*pictures[:hangs], *[pictures[hangs]] * (40 - hangs)]
    reading = read_shot(frozen, times(40), replace(SCENE, fire_us=fire_us))
    assert isinstance(reading, NoReading)
    assert f"repeated from picture {hangs + 1} on" in reading.reason


def test_a_camera_that_hung_all_along_is_told() -> None:
    """Without noise too: a shot was fired, and nothing of it is in any picture."""
    reading = read_shot([clip(40)[0]] * 40, times(40), SCENE)
    assert isinstance(reading, NoReading)
    assert "repeated from picture 1 on" in reading.reason


@pytest.mark.parametrize("fire_us", [SCENE.fire_us, None])
def test_a_camera_that_hangs_while_somebody_falls_holds_the_ruling(fire_us: int | None) -> None:
    begins = FIRE + 24  # the shot has crossed the board by then
    pictures = clip(begins + 24, begins)
    assert held_by(pictures, fire_us=fire_us) == []
    halfway, over = ([*pictures[: begins + hangs], *[pictures[begins + hangs]] * 20] for hangs in (7, 21))
    (unended,) = alarms_of(halfway, fire_us=fire_us)
    assert unended.trouble is Trouble.UNENDED
    assert f"repeated from picture {begins + 8} on" in unended.reason
    assert held_by(over, fire_us=fire_us) == []
    without_noise = clip(begins + 24, begins, noise=0.0)
    assert held_by(without_noise, fire_us=fire_us) == []


@pytest.mark.parametrize("fire_us", [SCENE.fire_us, None])
def test_pictures_without_noise_and_pictures_that_come_twice_are_no_camera_that_hangs(
    fire_us: int | None,
) -> None:
    scene = replace(SCENE, fire_us=fire_us)
    noisy = clip(40)
    without_noise = clip(40, noise=0.0)
    for pictures in (
        without_noise,
        [noisy[k - k % 3] for k in range(40)],
        [*noisy[:14], *[noisy[14]] * 12, *noisy[26:]],
    ):
        assert isinstance(read_shot(pictures, times(40), scene), ShotReading)


def test_a_covered_lens_is_told_at_either_end() -> None:
    picture, black = Table(CAMERA).paint(), np.zeros((450, 800, 3), dtype=np.uint8)
    for pictures, said in (([black] * 30, "black"), ([picture] * 15 + [black] * 15, "goes black")):
        reading = read_shot(pictures, times(30), SCENE)
        assert isinstance(reading, NoReading)
        assert said in reading.reason


@pytest.mark.parametrize("whitens", [FIRE + 1, FIRE + 20])
@pytest.mark.parametrize("darkest", [250, 255])
def test_a_camera_that_is_blinded_at_the_end_is_told(whitens: int, darkest: int) -> None:
    """Where all is white nobody is seen to stand, and everybody would seem to have fallen."""
    rng = np.random.default_rng(1)
    pictures = [
        picture if k < whitens else rng.integers(darkest, 256, picture.shape, dtype=np.uint8)
        for k, picture in enumerate(clip())
    ]
    reading = read_shot(pictures, times(len(pictures)), SCENE)
    assert isinstance(reading, NoReading)
    assert "goes white" in reading.reason


def test_a_camera_that_is_blinded_for_a_while_holds_the_ruling() -> None:
    pictures = [np.full_like(p, 252) if 14 <= k < 22 else p for k, p in enumerate(clip(44))]
    (alarm,) = alarms_of(pictures)
    assert alarm.trouble is Trouble.COVERED
    assert "the camera blinded" in alarm.reason


@pytest.mark.parametrize("since", [0, FIRE + 6])
def test_an_over_exposed_board_on_which_soldiers_still_show_is_read(since: int) -> None:
    pictures = [
        p if k < since else np.clip(4.0 * p.astype(float), 0, 255).astype(np.uint8)
        for k, p in enumerate(clip(44))
    ]
    reading = read_shot(pictures, times(len(pictures)), replace(SCENE, expected=CROWD))
    assert isinstance(reading, ShotReading), reading
    assert [f.toppling.soldier.square for f in reading.falls] == [HIT]


def test_pictures_without_board_are_told() -> None:
    reading = read_shot([Table(CAMERA, markers=None).paint()] * 30, times(30), SCENE)
    assert isinstance(reading, NoReading)
    assert "markers" in reading.reason


@pytest.mark.parametrize("z_mm", [700.0, 1240.0, 1260.0])
def test_a_muzzle_as_high_as_the_camera_is_told(z_mm: float) -> None:
    pictures = clip()
    reading = read_shot(pictures, times(len(pictures)), replace(SCENE, muzzle_mm=(180.0, -20.0, z_mm)))
    assert isinstance(reading, NoReading)
    assert f"the muzzle would be {z_mm:.0f} mm above the board" in reading.reason


@pytest.mark.parametrize(("z_mm", "noted"), [(48.0, False), (431.0, True)])
def test_a_high_muzzle_from_which_no_shot_is_seen_is_noted(z_mm: float, noted: bool) -> None:
    pictures = clip()
    reading = read_shot(pictures, times(len(pictures)), replace(SCENE, muzzle_mm=(180.0, -20.0, z_mm)))
    assert isinstance(reading, ShotReading), reading
    assert any("431 mm above the board: is its z right?" in note for note in reading.notes) == noted


def test_as_many_times_as_pictures() -> None:
    with pytest.raises(ValueError, match="3 frames and 2 timestamps"):
        read_shot([Table(CAMERA).paint()] * 3, [0, 1], SCENE)

"""A hand or a thing that lies over the board from the first picture on is told; soldiers and small things are none."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Table

from game.montecassino import Side
from vision.guards import ClipGuard, TableGuard, Trouble
from vision.lying_there import LyingThing, find_lying_thing
from vision.reading import ShotReading, read_shot
from vision.soldiers import read_board

Image = NDArray[np.uint8]

CAMERA = painted.view()
SCENE = painted.scene(CAMERA)
TABLE = Table(CAMERA, tuple(painted.standing(CROWD).values()))
SKIN, SLEEVE = (120, 150, 205), (90, 60, 50)
FRAME_US = 8333


def px(x_mm: float, y_mm: float, z_mm: float = 30.0) -> tuple[int, int]:
    u, v = CAMERA.project(np.array([[x_mm, y_mm, z_mm]]))[0]
    return round(u), round(v)


def with_arm(picture: Image, tip_mm: tuple[float, float]) -> Image:
    """A hand with its wrist and sleeve, from beside the board to where its finger tips are."""
    seen = picture.copy()
    x_mm, y_mm = tip_mm
    px_per_mm = 1 / CAMERA.mm_per_px(180.0, 405.0, 30.0)
    cv2.line(seen, px(x_mm + 90, y_mm), px(x_mm + 500, y_mm + 110), SLEEVE, round(80 * px_per_mm))
    middle = px(x_mm + 45, y_mm)
    cv2.ellipse(seen, middle, (round(38 * px_per_mm), round(50 * px_per_mm)), 0, 0, 360, SKIN, -1)
    return seen


def found(picture: Image, *, told: bool = False, side: Side = Side.A) -> LyingThing | None:
    expected = CROWD if told else None
    scene = replace(SCENE, expected=expected, cannon_side=side)
    return find_lying_thing(read_board(picture, scene, CAMERA), CAMERA, scene)


@pytest.mark.parametrize("told", [True, False])
def test_soldiers_alone_are_nothing_that_lies_there(told: bool) -> None:
    assert found(TABLE.paint(), told=told) is None


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("tip_mm", [(60.0, 250.0), (200.0, 560.0), (290.0, 405.0)])
def test_a_hand_that_does_not_stir_is_told_with_where_it_is(tip_mm: tuple[float, float], told: bool) -> None:
    thing = found(with_arm(TABLE.paint(), tip_mm), told=told)
    assert thing is not None
    assert thing.area_mm2 > 2000.0
    ((x_mm, y_mm),) = CAMERA.on_plane(np.array([thing.centre_px]))
    assert x_mm > tip_mm[0] - 25.0
    assert -30.0 < y_mm - tip_mm[1] < 80.0


def with_river(picture: Image) -> Image:
    """A river of blue paint, 25 mm wide, through which the print shows."""
    band = np.zeros(picture.shape[:2], dtype=np.uint8)
    bends = [px(x_mm, y_mm, 0.0) for x_mm, y_mm in ((0, 330), (120, 370), (250, 300), (360, 350))]
    cv2.polylines(band, [np.array(bends)], False, 1, round(25 / CAMERA.mm_per_px(180.0, 405.0)))
    water = picture * np.array([1.1, 0.8, 0.5])
    return np.where(band[..., None] > 0, water, picture).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("told", [True, False])
def test_a_river_that_is_painted_on_the_board_is_nothing_that_lies_there(told: bool) -> None:
    assert found(with_river(TABLE.paint()), told=told) is None


def with_road(bare: Image) -> Image:
    """A road 22 mm wide with sharp rims right across the board, over which the squares are printed half as strongly."""
    band = np.zeros(bare.shape[:2], dtype=np.uint8)
    bends = [px(x_mm, y_mm, 0.0) for x_mm, y_mm in ((20, -20), (90, 240), (60, 450), (200, 640), (330, 830))]
    cv2.polylines(band, [np.array(bends)], False, 1, round(22 / CAMERA.mm_per_px(180.0, 405.0)))
    print_of_it = bare - cv2.GaussianBlur(bare, (0, 0), 4.0).astype(np.float64)
    road = np.array([110.0, 130.0, 140.0]) + 0.5 * print_of_it
    return np.where(band[..., None] > 0, road, bare).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("told", [True, False])
def test_a_road_across_the_board_through_which_the_lines_of_the_squares_show_is_nothing_that_lies_there(
    told: bool,
) -> None:
    picture, bare = TABLE.paint(), Table(CAMERA, ()).paint()
    stands_there = (picture != bare).any(axis=-1, keepdims=True)
    assert found(np.where(stands_there, picture, with_road(bare)), told=told) is None


def with_woods(picture: Image) -> Image:
    """Woods of dark paint that hides the print, four of them 45 to 60 mm wide."""
    seen = picture.copy()
    px_per_mm = 1 / CAMERA.mm_per_px(180.0, 405.0)
    woods_mm = ((70.0, 330.0, 60.0), (210.0, 400.0, 57.0), (110.0, 450.0, 47.0), (290.0, 470.0, 46.0))
    for x_mm, y_mm, wide_mm in woods_mm:
        half_px = round(wide_mm / 2 * px_per_mm)
        cv2.ellipse(seen, px(x_mm, y_mm, 0.0), (half_px, half_px), 0, 0, 360, (45, 60, 50), -1)
    return seen


def test_woods_of_paint_that_hides_the_board_are_nothing_that_lies_there_and_a_hand_beside_them_is() -> None:
    woods = with_woods(TABLE.paint())
    assert found(woods) is None
    assert found(with_arm(woods, (60.0, 250.0))) is not None


def test_a_hand_over_a_painted_river_is_told() -> None:
    thing = found(with_arm(with_river(TABLE.paint()), (100.0, 300.0)))
    assert thing is not None
    assert thing.area_mm2 > 2000.0


def test_a_hand_is_told_in_a_grey_picture_too() -> None:
    grey = cv2.cvtColor(with_arm(TABLE.paint(), (100.0, 405.0)), cv2.COLOR_BGR2GRAY)
    assert found(np.asarray(grey, dtype=np.uint8)) is not None


def test_a_pencil_and_a_die_on_the_board_are_too_small_to_matter() -> None:
    picture = TABLE.paint()
    cv2.line(picture, px(150, 380, 4), px(300, 430, 4), (40, 190, 230), 7)
    cv2.rectangle(picture, px(60, 400, 8), px(74, 414, 8), (50, 50, 200), -1)
    assert found(picture) is None


def test_the_barrel_over_its_own_first_line_is_the_cannon() -> None:
    picture = TABLE.paint()
    cv2.rectangle(picture, px(140, -80), px(230, 45), (30, 30, 30), -1)
    assert found(picture, side=Side.A) is None
    assert found(picture, side=Side.G) is not None


def test_a_hand_that_lies_there_all_the_while_holds_the_ruling() -> None:
    frames = [with_arm(TABLE.paint(seed=k), (60.0, 405.0)) for k in range(30)]
    reading = read_shot(frames, [FRAME_US * k for k in range(30)], replace(SCENE, fire_us=5 * FRAME_US))
    assert isinstance(reading, ShotReading), reading
    (alarm,) = reading.alarms
    assert alarm.trouble is Trouble.HAND
    assert "lies over the board that is no soldier" in alarm.reason


def test_the_guards_tell_what_lay_there_when_the_table_was_read() -> None:
    picture = TABLE.paint()
    standing = read_board(picture, SCENE, CAMERA).standing
    thing = LyingThing(4200.0, (300.0, 200.0))
    everywhere = np.ones(picture.shape[:2], np.bool_)
    before = TableGuard(picture, CAMERA, SCENE, standing, watched=everywhere, lying=thing).check([picture])
    during = ClipGuard(CAMERA, SCENE, standing, picture, thing).alarms(
        [picture] * 12, range(0, 120_000, 10_000), 3
    )
    assert before is not None
    for alarm in (before, *during):
        assert alarm.trouble is Trouble.HAND
        assert "42 cm2" in alarm.reason
    assert len(during) == 1

"""Who fell, who was pushed, and how: clips of a painted table."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Figure, Table

from game.montecassino import Square
from vision.falls import Aftermath, find_falls
from vision.outcome import Push
from vision.registration import BoardView, register
from vision.soldiers import read_board
from vision.steady import Sways

FRAME_US = 8333
FRAMES = 50
BEGINS = 12
TAKES = 20  # pictures from upright to lying
HIT = Square.parse("A-28")
CAMERA = painted.view(tilt_rad=0.03)
Action = Callable[[int, Figure], Figure]


def toppling(heading_rad: float) -> Action:
    def act(k: int, figure: Figure) -> Figure:
        progress = min(max(k - BEGINS + 1, 0) / TAKES, 1.0)
        return replace(figure, lean_rad=progress**1.5 * math.pi / 2, heading_rad=heading_rad)

    return act


def pushed(dx_mm: float, dy_mm: float) -> Action:
    def act(k: int, figure: Figure) -> Figure:
        progress = min(max(k - BEGINS + 1, 0) / 4, 1.0)
        return replace(figure, x_mm=figure.x_mm + progress * dx_mm, y_mm=figure.y_mm + progress * dy_mm)

    return act


def at_once(dx_mm: float, dy_mm: float) -> Action:
    """From one picture to the next."""

    def act(k: int, figure: Figure) -> Figure:
        return figure if k < BEGINS else replace(figure, x_mm=figure.x_mm + dx_mm, y_mm=figure.y_mm + dy_mm)

    return act


def turned(turn_rad: float, action: Action) -> Action:
    def act(k: int, figure: Figure) -> Figure:
        progress = min(max(k - BEGINS + 1, 0) / 4, 1.0)
        return replace(action(k, figure), facing_rad=figure.facing_rad + progress * turn_rad)

    return act


def watch(
    actions: dict[Square, Action],
    *,
    shake_px: float = 0.0,
    flicker: float = 0.0,
    noise: float = 1.5,
    camera: BoardView = CAMERA,
    misread_mm: tuple[float, float] = (0.0, 0.0),
    passing: Mapping[int, tuple[float, float, float]] | None = None,
) -> Aftermath:
    """Watch some soldiers act; `passing` says in which pictures the shot is in front of what place."""
    placed = painted.standing(CROWD)
    table = Table(camera, tuple(f for s, f in placed.items() if s not in actions), noise=noise)
    frames: list[NDArray[np.uint8]] = []
    times = [FRAME_US * k for k in range(FRAMES)]
    for k in range(FRAMES):
        moving = tuple(act(k, placed[square]) for square, act in actions.items())
        swing = shake_px * math.exp(-max(k - BEGINS, 0) / 12) * math.sin(2.1 * k) if k >= BEGINS else 0.0
        light = 1 + flicker * math.sin(1.3 * k)
        now = replace(table, moving=moving, light=light)
        frames.append(now.paint(shift_px=(swing, -0.6 * swing), seed=k))
        if passing is not None and k in passing:
            (column, row), *_ = camera.project(np.array([passing[k]]))
            cv2.circle(frames[-1], (round(column), round(row)), 4, (40, 140, 250), -1, cv2.LINE_AA)
    scene = painted.scene(camera, expected=CROWD)
    seen = register(frames[5], scene)
    assert isinstance(seen, BoardView)
    board = read_board(frames[5], scene, seen)
    soldiers = tuple(
        replace(each, x_mm=each.x_mm + misread_mm[0], y_mm=each.y_mm + misread_mm[1])
        for each in board.standing.soldiers
    )
    board = replace(board, standing=replace(board.standing, soldiers=soldiers))
    return find_falls(frames, times, seen, board, Sways(frames[5]), BEGINS - 2)


def fallen(aftermath: Aftermath) -> Sequence[Square]:
    squares = [t.soldier.square for t in aftermath.topplings]
    assert {square: chance < 0.5 for square, chance in aftermath.may_stand.items()} == dict.fromkeys(
        squares, True
    )
    return squares


def test_where_nothing_happens_nobody_falls() -> None:
    aftermath = watch({}, shake_px=1.5, flicker=0.04, noise=3.0)
    assert (aftermath.topplings, aftermath.pushes, aftermath.doubts) == ((), (), ())


@pytest.mark.parametrize("heading_rad", [0.3, 1.6, 2.9, 4.4])
def test_a_topple_is_seen_with_its_heading_and_its_times(heading_rad: float) -> None:
    aftermath = watch({HIT: toppling(heading_rad)}, shake_px=0.8, flicker=0.03)
    assert fallen(aftermath) == [HIT]
    assert aftermath.pushes == ()
    (toppled,) = aftermath.topplings
    # The first picture of the motion, or the next: the lean begins slowly.
    assert 0 <= toppled.began_us - BEGINS * FRAME_US <= 5 * FRAME_US
    passes_us = (BEGINS + TAKES * 0.5 ** (1 / 1.5)) * FRAME_US
    assert toppled.passed_us == pytest.approx(passes_us, abs=6 * FRAME_US)
    along = np.dot(toppled.heading, (math.cos(heading_rad), math.sin(heading_rad)))
    assert along > math.cos(math.radians(35))
    middle = np.array([toppled.soldier.x_mm, toppled.soldier.y_mm])
    gone = np.array(toppled.rest_mm) - middle
    assert 15 < np.hypot(*gone) < 50


def test_which_way_one_fell_is_told_by_how_he_began_and_not_by_where_he_slid_afterwards() -> None:
    heading_rad, slides_mm = 0.3, 28.0
    falls = toppling(heading_rad)
    along, across = (
        np.array([math.cos(heading_rad + turn), math.sin(heading_rad + turn)]) for turn in (0, math.pi / 2)
    )

    def act(k: int, figure: Figure) -> Figure:
        slid = min(max(k - BEGINS - TAKES + 3, 0) / 8, 1.0) * slides_mm * across
        return replace(falls(k, figure), x_mm=figure.x_mm + slid[0], y_mm=figure.y_mm + slid[1])

    (toppled,) = watch({HIT: act}).topplings
    assert np.dot(toppled.heading, along) > math.cos(math.radians(25))
    assert np.dot(np.subtract(toppled.rest_mm, toppled.soldier.foot_mm), across) == pytest.approx(
        slides_mm, abs=6
    )


def test_of_two_who_fall_onto_each_other_each_keeps_his_own_place() -> None:
    one, other = (Square.parse(name) for name in ("A-03", "A-12"))
    first, second = watch({one: toppling(0.76), other: toppling(0.76 + math.pi)}).topplings
    assert {first.soldier.square, second.soldier.square} == {one, other}
    assert np.hypot(*np.subtract(first.rest_mm, second.rest_mm)) > 15


def test_the_shot_that_passes_before_a_soldier_does_not_move_it() -> None:
    falls, later = toppling(0.3), 6
    x_mm, y_mm = HIT.centre_mm(painted.SQUARE_MM)
    # Up to where it plainly moves; each time in front of another part of it.
    steps = range(later - 4, later + 4)
    passing = {BEGINS + k: (x_mm + (8.0, -8.0)[k % 2], y_mm + 5.0, 20.0) for k in steps}
    aftermath = watch({HIT: lambda k, figure: falls(k - later, figure)}, passing=passing)
    (toppled,) = aftermath.topplings
    assert 0 <= toppled.began_us - (BEGINS + later) * FRAME_US <= 5 * FRAME_US


@pytest.mark.parametrize("turn_rad", [0.0, 0.4, 0.8, 1.2])
def test_whichever_way_it_falls_it_has_fallen(turn_rad: float) -> None:
    """Figures unlike the twin's, from which was learnt who stands; they are small in the picture."""
    fell = [Square.parse(square) for square in ("A-12", "G-62", "G-12", "A-60")]
    headings = [turn_rad + k * math.pi / 2 for k in range(len(fell))]
    aftermath = watch(
        {square: toppling(way) for square, way in zip(fell, headings, strict=True)},
        camera=painted.view(width_px=800, height_px=450, focal_px=980),
    )
    assert set(fallen(aftermath)) == set(fell)
    assert aftermath.pushes == ()


def test_two_that_fall_together_are_told_apart() -> None:
    other = Square.parse("A-20")
    aftermath = watch({HIT: toppling(math.pi), other: toppling(-math.pi / 2)})
    assert set(fallen(aftermath)) == {HIT, other}
    headings = {t.soldier.square: t.heading for t in aftermath.topplings}
    assert headings[HIT][0] < -0.7
    assert headings[other][1] < -0.7


@pytest.mark.parametrize(
    ("dx_mm", "dy_mm"), [(6.0, 0.0), (-4.0, -4.5), (8.0, 0.0), (-5.0, 7.0), (2.0, -12.0)]
)
def test_one_that_is_pushed_and_stands_has_not_fallen(dx_mm: float, dy_mm: float) -> None:
    aftermath = watch({HIT: pushed(dx_mm, dy_mm)}, shake_px=0.5)
    assert fallen(aftermath) == []
    (push,) = aftermath.pushes
    assert push.soldier.square == HIT
    assert push.x_mm - push.soldier.x_mm == pytest.approx(dx_mm, abs=2)
    assert push.y_mm - push.soldier.y_mm == pytest.approx(dy_mm, abs=2)
    assert 0 <= push.began_us - BEGINS * FRAME_US <= 2 * FRAME_US


@pytest.mark.parametrize(
    ("dx_mm", "dy_mm", "turn_rad"),
    [
        (7.0, 2.0, 0.9),
        (-13.0, 0.0, -2.4),
        (9.0, -17.0, math.pi),
        (-12.0, 20.0, 1.6),
        (27.0, 3.0, -1.2),
        (44.0, 12.0, 1.1),
        (-30.0, 38.0, -2.0),
    ],
)
def test_one_that_is_pushed_far_and_turned_has_not_fallen(
    dx_mm: float, dy_mm: float, turn_rad: float
) -> None:
    aftermath = watch({HIT: turned(turn_rad, pushed(dx_mm, dy_mm))}, shake_px=0.5)
    assert fallen(aftermath) == []
    (push,) = aftermath.pushes
    assert push.soldier.square == HIT
    assert push.x_mm - push.soldier.x_mm == pytest.approx(dx_mm, abs=2.5)
    assert push.y_mm - push.soldier.y_mm == pytest.approx(dy_mm, abs=2.5)


@pytest.mark.parametrize("turn_rad", [-1.2, 2.8])
def test_one_that_turns_on_the_spot_stands(turn_rad: float) -> None:
    aftermath = watch({HIT: turned(turn_rad, pushed(1.0, -1.0))})
    assert (aftermath.topplings, aftermath.pushes) == ((), ())


@pytest.mark.parametrize("push_mm", [(-6.0, 9.0), (30.0, -38.0)])
@pytest.mark.parametrize("heading_rad", [0.0, 2.2, 4.4])
def test_one_that_is_pushed_and_lies_has_fallen(heading_rad: float, push_mm: tuple[float, float]) -> None:
    def act(k: int, figure: Figure) -> Figure:
        return pushed(*push_mm)(k, toppling(heading_rad)(k, figure))

    aftermath = watch({HIT: turned(1.5, act)})
    assert (fallen(aftermath), aftermath.pushes) == ([HIT], ())


def test_a_nudge_below_five_millimetres_is_no_push() -> None:
    aftermath = watch({HIT: pushed(2.0, 2.0)})
    assert (aftermath.topplings, aftermath.pushes) == ((), ())


def test_one_that_another_falls_across_still_stands() -> None:
    # A-20 stands right behind A-28 and falls against it.
    aftermath = watch({Square.parse("A-20"): toppling(math.pi / 2)})
    assert fallen(aftermath) == [Square.parse("A-20")]
    assert aftermath.pushes == ()


@pytest.fixture(scope="module")
def true_push() -> Push:
    (push,) = watch({HIT: pushed(10.0, -8.0)}).pushes
    return push


@pytest.mark.parametrize("misread_mm", [(5.0, -5.0), (-6.0, -3.0), (0.0, 7.0)])
def test_one_that_was_misread_by_some_millimetres_was_not_pushed_by_them(
    misread_mm: tuple[float, float],
    true_push: Push,
) -> None:
    """The place of a foot is read a little wrong now and then; a figure that falls across its owner must not bring that up."""
    aftermath = watch({Square.parse("A-20"): toppling(math.pi / 2)}, misread_mm=misread_mm)
    assert aftermath.pushes == ()
    (shifted,) = watch({HIT: pushed(10.0, -8.0)}, misread_mm=misread_mm).pushes
    off_mm = shifted.x_mm - true_push.x_mm - misread_mm[0], shifted.y_mm - true_push.y_mm - misread_mm[1]
    assert np.hypot(*off_mm) < 2.5


def test_one_that_is_gone_has_fallen() -> None:
    def gone(k: int, figure: Figure) -> Figure:
        return figure if k < BEGINS else replace(figure, x_mm=-4000.0)

    assert fallen(watch({HIT: gone})) == [HIT]


def test_one_figure_is_not_taken_for_two_soldiers() -> None:
    """A-28 is gone, and A-20 was pushed so near that it could be A-28 pushed back."""

    def gone(k: int, figure: Figure) -> Figure:
        return figure if k < BEGINS else replace(figure, x_mm=-4000.0)

    other = Square.parse("A-20")
    aftermath = watch({HIT: gone, other: pushed(0.0, 19.0)})
    assert fallen(aftermath) == [HIT]
    assert [push.soldier.square for push in aftermath.pushes] == [other]


def test_who_stands_between_two_places_is_the_less_sure_the_nearer_he_is_to_the_others() -> None:
    """A-28 is gone and A-20 stands towards its place, or the other way about: what speaks for one speaks against the other.

    From one picture to the next, so that nobody is followed there.
    """
    other = Square.parse("A-20")
    chances = []
    for far_mm in (19.0, 26.0):
        aftermath = watch({HIT: at_once(-4000.0, 0.0), other: at_once(0.0, far_mm)})
        assert fallen(aftermath) == [HIT]
        assert aftermath.may_stand[HIT] == pytest.approx(aftermath.may_have_fallen[other], rel=0.01)
        chances.append(aftermath.may_stand[HIT])
    assert chances[1] > 2 * chances[0]


def test_of_two_who_may_stand_in_one_place_it_is_the_one_who_was_followed_there() -> None:
    """By the last picture either may be: A-28, who is gone, stood nearer to it."""
    other, far_mm = Square.parse("A-20"), 26.0
    unseen = watch({HIT: at_once(-4000.0, 0.0), other: at_once(0.0, far_mm)})
    followed = watch({HIT: at_once(-4000.0, 0.0), other: pushed(0.0, far_mm)})
    assert fallen(followed) == fallen(unseen) == [HIT]
    assert followed.may_have_fallen[other] < unseen.may_have_fallen[other] / 5

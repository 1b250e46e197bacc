"""A table or camera that was bumped: pictures since then are laid back over the board as it was."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Table

from vision.anchors import Anchors
from vision.bump import LaidBack, lay_back
from vision.outcome import Soldier, Standing
from vision.registration import BoardView, register

Image = NDArray[np.uint8]

CAMERA = painted.view(width_px=800, height_px=450, focal_px=880, tilt_rad=0.12)
SCENE = painted.scene(CAMERA)
PLACED = painted.standing(CROWD)
STANDING = Standing(tuple(Soldier(s, f.side, f.x_mm, f.y_mm) for s, f in sorted(PLACED.items())), 42.0, 11.0)
TABLE = Table(CAMERA, tuple(PLACED.values()))
REFERENCE = TABLE.paint(seed=99)
BUMPED_FROM = 5
TIMES_US = [8333 * k for k in range(10)]


def elsewhere(dx_mm: float, dy_mm: float, turn_rad: float) -> BoardView:
    """The same camera over a table that was pushed and turned about the board's middle."""
    turn = np.array(
        [
            [math.cos(turn_rad), -math.sin(turn_rad), 0.0],
            [math.sin(turn_rad), math.cos(turn_rad), 0.0],
            [0.0, 0.0, 1.0],
        ]
    )
    middle = np.array([*SCENE.centre_mm, 0.0])
    shift = middle - turn @ middle + [dx_mm, dy_mm, 0.0]
    return replace(
        CAMERA,
        rotation=CAMERA.rotation @ turn,
        translation_mm=CAMERA.rotation @ shift + CAMERA.translation_mm,
    )


def laid_back(frames: list[Image], **known: object) -> LaidBack | None:
    scene = replace(SCENE, **known)  # type: ignore[arg-type]
    return lay_back(frames, TIMES_US, REFERENCE, CAMERA, scene, Anchors(REFERENCE, CAMERA, scene, STANDING))


def pictures(after: BoardView) -> list[Image]:
    moved = Table(after, tuple(PLACED.values()))
    return [(TABLE if k < BUMPED_FROM else moved).paint(seed=k) for k in range(len(TIMES_US))]


@pytest.mark.parametrize(
    ("dx_mm", "dy_mm", "turn_rad"),
    [(4.0, 0.0, 0.0), (-12.0, 20.0, 0.02), (0.0, 0.0, -0.03), (20.0, -40.0, -0.08)],
)
@pytest.mark.parametrize("markers", [True, False], ids=["markers", "corners"])
def test_what_lies_on_the_board_comes_out_where_it_was(
    dx_mm: float, dy_mm: float, turn_rad: float, markers: bool
) -> None:
    after = elsewhere(dx_mm, dy_mm, turn_rad)
    corners_px = CAMERA.project(np.column_stack([np.array(SCENE.outline_mm), np.zeros(4)]))
    told = {} if markers else {"markers": None, "corners_px": tuple(map(tuple, corners_px.tolist()))}
    frames = pictures(after)
    laid = laid_back(frames, **told)
    assert laid is not None
    assert laid.since_us == TIMES_US[BUMPED_FROM]
    outline = np.column_stack([np.array(SCENE.outline_mm), np.zeros(4)])
    true_mm = CAMERA.on_plane(after.project(outline)) - CAMERA.on_plane(CAMERA.project(outline))
    assert laid.moved_mm == pytest.approx(float(np.hypot(*true_mm.T).max()), abs=0.6)
    assert all(a is b for a, b in zip(laid.frames[:BUMPED_FROM], frames[:BUMPED_FROM], strict=True))
    again = register(laid.frames[-1], replace(SCENE, **told))  # type: ignore[arg-type]
    assert isinstance(again, BoardView), again
    left_mm = again.on_plane(CAMERA.project(outline)) - outline[:, :2]
    assert np.hypot(*left_mm.T).max() < 0.6


def test_part_of_the_pictures_is_laid_back_as_all_are() -> None:
    laid = laid_back(pictures(elsewhere(-12.0, 20.0, 0.02)))
    assert laid is not None
    one_by_one = [laid.frames[k] for k in range(len(TIMES_US))]
    assert len(laid.frames) == len(one_by_one)
    for part in (slice(3, 7), slice(None), slice(-2, None)):
        assert np.array_equal(laid.frames[part], one_by_one[part])
    assert np.array_equal(laid.frames[-1], one_by_one[-1])
    with pytest.raises(IndexError):
        laid.frames[len(TIMES_US)]


def test_pictures_in_which_it_moves_still_are_laid_back_each_by_its_own_way() -> None:
    half, rest = (
        Table(elsewhere(*way), tuple(PLACED.values())) for way in ((6.0, 10.0, 0.0), (12.0, 20.0, 0.02))
    )
    frames = [
        (TABLE if k < BUMPED_FROM else half if k < BUMPED_FROM + 2 else rest).paint(seed=k)
        for k in range(len(TIMES_US))
    ]
    laid = laid_back(frames)
    assert laid is not None
    anchors = Anchors(REFERENCE, CAMERA, SCENE, STANDING)
    left = [anchors.move(frame) for frame in laid.frames]
    assert [move is not None and move.moved_mm < 0.6 for move in left] == [True] * len(TIMES_US)


def test_what_the_camera_no_longer_sees_is_as_it_was() -> None:
    laid = laid_back(pictures(elsewhere(0.0, 40.0, 0.0)))
    assert laid is not None
    as_it_was = (laid.frames[-1] == REFERENCE).all(axis=2)
    edges = [as_it_was[:, :5], as_it_was[:, -5:], as_it_was[:5], as_it_was[-5:]]
    assert max(edge.mean() for edge in edges) > 0.9, "but for noise nothing else is the same to the last bit"


def test_pictures_in_which_nothing_was_moved_are_left_alone() -> None:
    assert laid_back(pictures(CAMERA)) is None


def test_another_table_is_not_laid_over_the_board() -> None:
    strange = np.random.default_rng(1).integers(0, 255, REFERENCE.shape, dtype=np.uint8)
    assert laid_back([*pictures(CAMERA)[:-1], strange]) is None

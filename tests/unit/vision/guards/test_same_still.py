"""A table that was read is taken for the same only where nothing at all has happened to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest
from guarded_table import CAMERA, PLACED, SCENE, TABLE, TWO, Image, arm
from painted_table import Figure, Table

from game.montecassino import Side
from vision.guards import unchanged

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


def test_what_differs_by_no_more_than_lamps_flicker_is_seen() -> None:
    now = TABLE.paint(seed=2)
    now[210:240, 390:420] += 7
    assert not unchanged(TABLE.paint(seed=1), now, CAMERA, SCENE)


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
    assert not unchanged(before, TABLE.paint((0.0, 0.5), seed=2), CAMERA, SCENE)
    assert not unchanged(before, arm(TABLE.paint(seed=2), 260), CAMERA, SCENE)
    assert not unchanged(before, before[::2, ::2], CAMERA, SCENE)

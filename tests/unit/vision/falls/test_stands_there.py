"""The closer look at where a soldier may stand: painted tables, on which he was pushed, or fell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest
from hypothesis import given
from hypothesis import strategies as st
from painted_table import CROWD, Table

from game.montecassino import Square
from vision.falls.sheet import sheet_about
from vision.falls.stands_there import LAYERS, SIDE_PX, Around, apart, likeliest_there
from vision.falls.table_after import TableAfter, place_of
from vision.falls.upright import network
from vision.soldiers import read_board

SOLDIER = Square.parse("A-28")
CAMERA = painted.view(tilt_rad=0.03)
PUSHED_MM = (3.0, -16.0)


def after(**changes: float) -> tuple[Around, TableAfter]:
    """What surrounds the soldier's old place once he is otherwise than he was."""
    placed = painted.standing(CROWD)
    then = Table(CAMERA, tuple(placed.values()))
    other = replace(placed[SOLDIER], **changes)
    now = Table(CAMERA, tuple(other if square == SOLDIER else f for square, f in placed.items()))
    board = read_board(then.paint(), painted.scene(CAMERA, expected=CROWD), CAMERA)
    places = [place_of(soldier, board, CAMERA) for soldier in board.standing.soldiers]
    table = TableAfter(board, CAMERA, board.raster.lay(now.paint(seed=1)), places, network())
    return table.around(next(place for place in places if place.soldier.square == SOLDIER)), table


def pushed() -> tuple[Around, TableAfter]:
    """He stands where he was pushed to."""
    placed = painted.standing(CROWD)[SOLDIER]
    return after(x_mm=placed.x_mm + PUSHED_MM[0], y_mm=placed.y_mm + PUSHED_MM[1])


def test_who_was_pushed_is_found_where_he_stands_and_not_where_he_stood() -> None:
    around, table = pushed()
    nobody = np.zeros(table.shape, dtype=np.bool_)
    found = likeliest_there(around, [(0.0, 0.0), PUSHED_MM, (-18.0, 4.0)], nobody)
    assert found.moved_mm == PUSHED_MM
    assert found.odds > 0
    assert likeliest_there(around, [(0.0, 0.0)], nobody).odds < 0


def test_who_lies_stands_nowhere() -> None:
    around, table = after(lean_rad=np.pi / 2)
    places_mm = [(x, y) for x in (-12.0, 0.0, 12.0) for y in (-12.0, 0.0, 12.0)]
    assert likeliest_there(around, places_mm, np.zeros(table.shape, dtype=np.bool_)).odds < 0


def test_what_is_seen_where_he_went_is_what_was_seen_where_he_stood() -> None:
    """The middles of both are his, so that like lies upon like."""
    around, table = pushed()
    seen = around.at(PUSHED_MM, np.zeros(table.shape, dtype=np.bool_))
    assert seen.shape == (LAYERS, SIDE_PX, SIDE_PX)
    strange_now, strange_then, outline = seen[0], seen[8], seen[12] > 0.5
    assert strange_now[outline].mean() > 0.7
    assert strange_then[outline].mean() > 0.7
    aside = around.at((0.0, 0.0), np.zeros(table.shape, dtype=np.bool_))
    assert aside[0][outline].mean() < strange_now[outline].mean() - 0.3


def test_where_others_stand_is_shown() -> None:
    around, table = pushed()
    taken = np.zeros(table.shape, dtype=np.bool_)
    assert not around.at((0.0, 0.0), taken)[7].any()
    taken[:] = True
    assert around.at((0.0, 0.0), taken)[7].all()


@given(st.floats(-300, 300), st.floats(-300, 300), st.sampled_from([SIDE_PX, SIDE_PX + 12]))
def test_however_far_off_a_place_is_it_can_be_looked_at(x_mm: float, y_mm: float, side_px: int) -> None:
    seen = AROUND.at((x_mm, y_mm), np.zeros(TABLE.shape, dtype=np.bool_), side_px)
    assert seen.shape == (LAYERS, side_px, side_px)
    if np.hypot(x_mm, y_mm) > 250:
        assert not seen[:8].any(), "there is nothing to be seen"
    assert np.array_equal(seen[8:13], AROUND.at((0.0, 0.0), np.zeros(TABLE.shape, np.bool_), side_px)[8:13])


AROUND, TABLE = pushed()


@given(st.lists(st.tuples(st.floats(-40, 40), st.floats(-40, 40)), min_size=1, max_size=12))
def test_of_places_that_are_the_same_the_first_is_kept(places_mm: list[tuple[float, float]]) -> None:
    kept = apart(places_mm)
    assert kept[0] == places_mm[0]
    assert len(kept) <= 6
    for k, one in enumerate(kept):
        assert all(np.hypot(*np.subtract(one, other)) > 3.0 for other in kept[:k])


@pytest.mark.parametrize("roll_rad", [0.0, 0.4])
def test_figures_lean_away_from_the_camera_to_the_right(roll_rad: float) -> None:
    """What lies farther from the camera lies farther right, wherever he stands and however the camera is turned."""
    view = painted.view(tilt_rad=0.05, roll_rad=roll_rad)
    board = read_board(
        Table(view, tuple(painted.standing(CROWD).values())).paint(),
        painted.scene(view, expected=CROWD),
        view,
    )
    far = [s for s in board.standing.soldiers if np.hypot(*(s.foot_mm - view.camera_mm[:2])) > 60.0]
    assert far
    for soldier in far:
        place = place_of(soldier, board, view)
        sheet = sheet_about(place, board, view.camera_mm, 1.5, 21)
        x, y = board.raster.to_mm(np.column_stack([sheet.columns.ravel(), sheet.rows.ravel()])).T
        away = np.hypot(x - view.camera_mm[0], y - view.camera_mm[1]).reshape(21, 21)
        assert (np.diff(away[10]) > 0).all()

"""Who stands where where it is not plain: patches, sides that look like the board, a table unlike all others."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import painted_table as painted
import pytest
from hypothesis import given
from hypothesis import strategies as st
from painted_table import CROWD, Table

from game.montecassino import SOLDIERS_PER_SIDE, Side, Square
from rig.recording import read_frames, write_recording
from twin.clips import photograph
from vision.reading import TableBefore, read_before
from vision.soldiers import read_board
from vision.soldiers.figure import Figure
from vision.soldiers.manned import plainest
from vision.soldiers.surface import Raster
from vision.soldiers.uniforms import tell_sides, wear

_BESIDE_PX = 3


@given(st.lists(st.floats(-12, 12), min_size=1, max_size=144))
def test_no_table_is_made_to_hold_more_soldiers_than_the_game_has(log_odds: list[float]) -> None:
    seen = np.array(log_odds)
    most = max(2 * SOLDIERS_PER_SIDE, int((seen > 6).sum()))
    assert int((plainest(seen) > 0).sum()) <= most


def test_what_is_plain_stays_as_it_is() -> None:
    seen = np.array([-9.0, -7.0, -8.0, 6.0, 9.0])
    assert (plainest(seen) == seen).all()


def test_a_table_where_all_is_fainter_is_read_by_what_parts_its_squares() -> None:
    faint = np.concatenate([np.full(20, -7.0), np.full(6, -0.5), np.full(6, 2.0)])
    assert (plainest(faint) > 0).tolist() == [False] * 20 + [True] * 12


@pytest.mark.parametrize("light", [1.12, 0.8])
def test_a_patch_of_other_light_is_no_soldier(light: float) -> None:
    camera = painted.view()
    picture = Table(camera, tuple(painted.standing(CROWD).values())).paint()
    patches = np.zeros(picture.shape[:2], np.float32)
    for name in ("A-40", "G-44"):
        x_mm, y_mm = Square.parse(name).centre_mm(painted.SQUARE_MM)
        ((u, v),) = camera.project(np.array([[x_mm, y_mm, 0.0]]))
        cv2.circle(patches, (round(u), round(v)), 20, 1.0, -1)
    patches = cv2.GaussianBlur(patches, (0, 0), 12)[..., None]
    patched = np.clip(picture * (1 + (light - 1) * patches), 0, 255).astype(np.uint8)
    read = read_board(patched, painted.scene(camera), camera).standing
    assert {s.square: s.side for s in read.soldiers} == CROWD


def test_who_stands_where_the_others_are_set_up_is_told_by_its_uniform() -> None:
    """At the start a field says whose soldiers are on it (S1), but not of one that plainly wears the other uniform."""
    start = {Square(side, n): side for side in Side for n in range(1, 17)}
    start[Square.parse("G-09")] = Side.A
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(start).values()))
    read = read_board(table.paint(), painted.scene(camera), camera).standing
    assert {s.square: s.side for s in read.soldiers} == start


@pytest.mark.parametrize("field", list(Side))
def test_a_side_that_hardly_shows_is_seen_beside_one_that_is_plain(
    field: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One side wears its own field's colour, and beside the other it looks like next to nothing."""
    start = {Square(side, n): side for side in Side for n in range(1, 25)}
    paper = (205, 222, 214) if field is Side.A else (200, 214, 228)
    monkeypatch.setitem(painted.UNIFORMS, field, tuple(0.78 * colour for colour in paper))
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(start).values()))
    read = read_board(table.paint(), painted.scene(camera), camera).standing
    assert {s.square for s in read.soldiers} == set(start)


def test_the_bare_board_is_learnt_where_most_squares_of_a_field_are_manned() -> None:
    """The median of such a field is a soldier; the bare squares are those that look most like one another."""
    crowded = {Square(Side.A, n): Side.A for n in range(1, 73) if n % 3 or n > 60}
    crowded = dict(list(crowded.items())[:44])
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(crowded).values()), checkered=True)
    read = read_board(table.paint(), painted.scene(camera), camera).standing
    assert {s.square for s in read.soldiers} == set(crowded)


def test_sides_are_not_the_fields_colours_that_show_beside_the_soldiers() -> None:
    """Where figures are smaller than they are taken for, the fields' own colours part them as well, but wrongly."""
    camera = painted.view()
    scene = painted.scene(camera)
    raster = Raster(camera, scene)
    flat = np.full((*raster.shape, 3), (90.0, 130.0, 100.0), np.float32)
    middle = round(float(raster.to_px(scene.length_mm / 2)))
    flat[middle:] = (90.0, 100.0, 150.0)
    cover = np.full(raster.shape, -0.5, np.float32)
    figure = Figure(42.0, 14.0)
    sides = {
        Square(field, number): side
        for field, side, numbers in (
            (Side.A, Side.A, (3, 12, 20, 37, 45, 54)),
            (Side.A, Side.G, (27, 50, 57, 60, 70)),
            (Side.G, Side.G, (3, 12, 20, 37, 45, 54)),
            (Side.G, Side.A, (27, 50, 57, 60, 70)),
        )
        for number in numbers
    }
    feet = {square: square.centre_mm(scene.square_mm) for square in sides}
    for square, (x_mm, y_mm) in feet.items():
        body = figure.shadow_of_sight(camera.camera_mm, x_mm, y_mm, from_z_mm=5.0)
        drawn = figure.draw(body, raster, (0, 0), raster.shape[::-1]) > 0.5
        beside = cv2.dilate(drawn.astype(np.uint8), np.ones((_BESIDE_PX,) * 2)) > 0
        cover[beside] = 0.5
        flat[drawn] = (30.0, 110.0, 140.0) if sides[square] is Side.A else (150.0, 120.0, 90.0)
    worn = dict(zip(feet, wear(flat, cover, raster, camera, figure, list(feet.values())), strict=True))
    told, notes = tell_sides(flat, cover, raster, camera, figure, feet, worn, scene)
    assert told == sides
    assert notes == ()


@pytest.mark.parametrize("seed", [8, 11])
def test_who_lies_on_the_board_does_not_stand(seed: int, tmp_path: Path) -> None:
    """Two plain tables of the twin on which shots were fired before; neither was trained on."""
    still = photograph(seed)
    recording = write_recording(tmp_path, still.keys, still.frames)
    scene = replace(recording.scene, expected=None)
    read = read_before(list(read_frames(tmp_path, recording)), recording.timestamps_us, scene)
    assert isinstance(read, TableBefore)
    assert still.lying
    assert {s.square for s in read.board.standing.soldiers} == {s.square for s in still.standing}

"""What is measured of a soldier that does not stand where it did: clips of a painted table."""

from dataclasses import replace

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import CROWD, Table

from game.montecassino import Square
from vision.falls.fate import chance_of_standing
from vision.falls.table_after import TableAfter, place_of
from vision.falls.topple import Place
from vision.falls.upright import network
from vision.soldiers import Board, read_board

PUSHED, BESIDE = Square.parse("A-28"), Square.parse("A-20")
CAMERA = painted.view(tilt_rad=0.03)


def test_how_long_one_is_does_not_count_another_who_stands_beside_it_in_other_light() -> None:
    """Whose shadow lay on his neighbour uncovers him when he is pushed against him: all of that one then looks new."""
    placed = painted.standing(CROWD)
    before = Table(CAMERA, tuple(placed.values()))
    slid = replace(placed[PUSHED], y_mm=placed[PUSHED].y_mm - 22.0)
    after = Table(CAMERA, tuple(slid if square == PUSHED else f for square, f in placed.items()))
    picture = before.paint()
    board = read_board(picture, painted.scene(CAMERA, expected=CROWD), CAMERA)
    places = {soldier.square: place_of(soldier, board, CAMERA) for soldier in board.standing.soldiers}
    flat = board.raster.lay(after.paint(seed=1))
    window, shape = places[BESIDE].window, places[BESIDE].shape
    flat[window][shape] = np.minimum(flat[window][shape] * np.float32(1.15), 255)
    table = TableAfter(board, CAMERA, flat, list(places.values()), network())
    taken = np.zeros(table.shape, dtype=np.bool_)
    nobody = table.evidence(places[PUSHED], taken, [])
    taken[window] |= cv2.dilate(shape.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    beside = table.evidence(places[PUSHED], taken, [])
    assert nobody.area > 1.4
    assert nobody.spread > 1.5
    assert 0.5 < beside.area < 1.1
    assert 0.8 < beside.spread < 1.2


def test_a_path_that_goes_on_around_his_place_is_not_somebody_who_stands_there_when_he_has_left_it() -> None:
    """A path is on no other square, so it looks as strange as a figure; what shows there was never seen before he left."""
    placed = painted.standing(CROWD)
    before = Table(CAMERA, tuple(placed.values()), path=True)
    after = Table(CAMERA, tuple(figure for square, figure in placed.items() if square != PUSHED), path=True)
    board = read_board(before.paint(), painted.scene(CAMERA, expected=CROWD), CAMERA)
    places = [place_of(soldier, board, CAMERA) for soldier in board.standing.soldiers]
    table = TableAfter(board, CAMERA, board.raster.lay(after.paint(seed=1)), places, network())
    place = next(each for each in places if each.soldier.square == PUSHED)
    evidence = table.evidence(place, np.zeros(table.shape, dtype=np.bool_), [])
    assert evidence.bare > 0.8
    assert chance_of_standing(evidence) < 0.01


def test_of_a_soldier_in_the_colours_of_the_board_what_shows_at_all_tells_whether_he_is_gone() -> None:
    """Dark grey on slate: where he and the board are alike nothing changes when he falls, which is no sign that he stands."""
    placed = painted.standing(CROWD)
    before = Table(CAMERA, tuple(placed.values()))
    after = Table(CAMERA, tuple(figure for square, figure in placed.items() if square != PUSHED))
    board = read_board(before.paint(), painted.scene(CAMERA, expected=CROWD), CAMERA)
    bare = board.raster.lay(after.paint(seed=1))
    places = [place_of(soldier, board, CAMERA) for soldier in board.standing.soldiers]
    place = next(each for each in places if each.soldier.square == PUSHED)
    alike = board.flat.copy()
    alike[place.window][place.shape] = bare[place.window][place.shape] - 4
    helmet = np.cumsum(place.shape, axis=0) <= place.shape.sum(axis=0) * 0.3
    alike[place.window][place.shape & helmet] -= 40
    table = TableAfter(replace(board, flat=alike), CAMERA, bare, places, network())
    evidence = table.evidence(place, np.zeros(table.shape, dtype=np.bool_), [])
    assert evidence.same < 0.1
    assert evidence.bare > 0.9
    assert chance_of_standing(evidence) < 0.05


PLACED = painted.standing(CROWD)
BEFORE = Table(CAMERA, tuple(PLACED.values()))


@pytest.fixture(scope="module")
def board() -> Board:
    return read_board(BEFORE.paint(), painted.scene(CAMERA, expected=CROWD), CAMERA)


def after(board: Board, flat: NDArray[np.float32]) -> tuple[TableAfter, Place]:
    """The table after, and where `PUSHED` stood."""
    places = [place_of(soldier, board, CAMERA) for soldier in board.standing.soldiers]
    place = next(each for each in places if each.soldier.square == PUSHED)
    return TableAfter(board, CAMERA, flat, places, network()), place


def in_soft_folds(flat: NDArray[np.float32], place: Place, by_mm: float, board: Board) -> NDArray[np.float32]:
    """One dressed in soft folds of light and dark stands there, so far beside his place."""
    rows, columns = (slice(each.start - 8, each.stop + 8) for each in place.window)
    y, x = np.mgrid[rows, columns] * board.raster.mm_per_px
    flat = flat.copy()
    folds = np.cos(2 * np.pi * (x - by_mm) / 50) + np.cos(2 * np.pi * (y - by_mm) / 50)
    flat[rows, columns] = (60 + 25 * folds).astype(np.float32)[..., None]
    return flat


@pytest.mark.parametrize(("by_mm", "stands"), [(0.0, True), (1.5, True), (3.5, False), (-3.5, False)])
def test_who_has_slipped_by_more_than_places_are_read_to_does_not_plainly_stand_where_he_stood(
    board: Board, by_mm: float, stands: bool
) -> None:
    """Much of him looks the same all the same; so far along and as far across."""
    _, place = after(board, board.flat)
    before = replace(board, flat=in_soft_folds(board.flat, place, 0.0, board))
    table, place = after(before, in_soft_folds(board.flat, place, by_mm, board))
    assert table.stands_plainly(place) is stands


@pytest.mark.parametrize("is_covered", [False, True])
def test_of_whom_half_looks_like_something_else_it_is_not_plain_that_he_stands(
    board: Board, is_covered: bool
) -> None:
    """It is no board that is seen there, and not he."""
    flat = board.raster.lay(BEFORE.paint(seed=1))
    table, place = after(board, flat)
    if is_covered:
        half = np.cumsum(place.telling, axis=0) <= 0.42 * place.telling.sum(axis=0)
        window = flat[place.window]
        window[place.telling & half] = 255 - window[place.telling & half]
        table, place = after(board, flat)
    assert table.stands_plainly(place) is not is_covered

"""Which markers are found, and what is gathered of them."""

from dataclasses import replace

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import MARKERS, Table

from vision.grey import grey
from vision.registration import NoBoard
from vision.registration.marks import Marks, find_faint_markers, find_markers, read_prints
from vision.scene import MarkerMap

Image = NDArray[np.uint8]

DICTIONARY = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)


def with_markers(size_px: tuple[int, int], places: list[tuple[int, int, int, int]]) -> Image:
    """A sheet (width, height) with markers: number, left, top and side."""
    sheet = np.full((size_px[1], size_px[0]), 235, np.uint8)
    for number, left, top, side in places:
        sheet[top : top + side, left : left + side] = cv2.aruco.generateImageMarker(DICTIONARY, number, side)
    return np.asarray(cv2.GaussianBlur(sheet, (0, 0), 0.8), dtype=np.uint8)


def found_in(picture: Image, numbers: list[int]) -> Marks:
    sheet = replace(MARKERS, centres_mm={number: (60.0 * number, 0.0) for number in numbers})
    found = find_markers(picture, sheet)
    assert isinstance(found, Marks)
    return found


@pytest.mark.parametrize("number", [-1, 50, 1000])
def test_a_number_that_the_dictionary_does_not_have_is_told(number: int) -> None:
    found = find_markers(
        np.zeros((50, 50), np.uint8), MarkerMap("DICT_4X4_50", 36.0, {0: (0.0, 0.0), number: (9.0, 0.0)})
    )
    assert isinstance(found, NoBoard)
    assert "markers 0 to 49" in found.reason
    assert f"no marker {number}" in found.reason


@pytest.mark.parametrize("dictionary", ["DICT_9X9_7", "CharucoBoard", "DetectorParameters"])
def test_what_is_no_dictionary_is_told_whatever_else_it_may_be(dictionary: str) -> None:
    found = find_markers(np.zeros((50, 50), np.uint8), MarkerMap(dictionary, 36.0, {0: (0.0, 0.0)}))
    assert isinstance(found, NoBoard)
    assert dictionary in found.reason


def test_in_a_large_picture_corners_are_where_they_are() -> None:
    """It is looked through half as large, and closely only about what is seen there: at its edges too, and side by side."""
    places = [(0, 12, 9, 40), (1, 70, 11, 44), (2, 1220, 650, 48), (3, 640, 300, 60)]
    found = found_in(with_markers((1280, 710), places), [0, 1, 2, 3])
    assert found.numbers == (0, 1, 2, 3)
    for number, left, top, side in places:
        ends = (
            np.array([(left, top), (left + side, top), (left + side, top + side), (left, top + side)]) - 0.5
        )
        assert found.pixels[found.group == number] == pytest.approx(ends, abs=0.35)


def test_in_a_small_picture_they_are_as_well() -> None:
    places = [(0, 12, 9, 36), (1, 70, 80, 48), (2, 200, 120, 60)]
    found = found_in(with_markers((320, 200), places), [0, 1, 2])
    assert found.numbers == (0, 1, 2)
    for number, left, top, side in places:
        ends = (
            np.array([(left, top), (left + side, top), (left + side, top + side), (left, top + side)]) - 0.5
        )
        assert found.pixels[found.group == number] == pytest.approx(ends, abs=0.35)


def test_the_smallest_marker_says_how_small_they_are() -> None:
    square = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
    marks = Marks.of_corners(
        MARKERS, [(2, 30 * square, 0.1), (0, 12 * square + 50, 0.4), (1, 40 * square, 0.2)]
    )
    assert marks.smallest_px == pytest.approx(12.0)
    assert marks.numbers == (0, 1, 2)
    assert {int(n): float(s) for n, s in zip(marks.group, marks.sigma_px, strict=True)} == {
        2: 0.1,
        0: 0.4,
        1: 0.2,
    }


def test_the_corners_of_a_marker_lie_about_its_middle_its_top_towards_the_far_end() -> None:
    marks = Marks.of_corners(MARKERS, [(1, np.zeros((4, 2)), 0.1)])
    x, y = MARKERS.centres_mm[1]
    half = MARKERS.size_mm / 2
    assert marks.board_mm.tolist() == [
        [x - half, y + half],
        [x + half, y + half],
        [x + half, y - half],
        [x - half, y - half],
    ]


@pytest.mark.parametrize(("others", "told"), [(2, True), (1, False)])
def test_one_that_is_there_twice_is_left_out_where_two_others_are_left(others: int, told: bool) -> None:
    places = [(0, 20, 20, 40), (0, 20, 120, 40), *[(n, 100 * n, 60, 40) for n in range(1, 1 + others)]]
    sheet = replace(MARKERS, centres_mm={n: (60.0 * n, 0.0) for n in range(3)})
    found = find_markers(with_markers((320, 200), places), sheet)
    if told:
        assert isinstance(found, Marks)
        assert found.numbers == (1, 2)
        assert found.twice == 0
    else:
        assert isinstance(found, NoBoard)
        assert "marker 0 is in the picture 2 times" in found.reason


def test_of_two_that_are_there_twice_no_board_is_made() -> None:
    places = [(n, 20 + 70 * n, 20 + 100 * row, 40) for n in (0, 1) for row in (0, 1)]
    sheet = replace(MARKERS, centres_mm={n: (60.0 * n, 0.0) for n in range(4)})
    found = find_markers(with_markers((400, 260), [*places, (2, 200, 20, 40), (3, 300, 20, 40)]), sheet)
    assert isinstance(found, NoBoard)
    assert "are there two boards?" in found.reason


def test_prints_are_read_where_they_are_and_all_of_them_together_are_surer() -> None:
    camera = painted.view(width_px=640, height_px=400, focal_px=417.0)
    picture = grey(cv2.GaussianBlur(Table(camera).paint(), (0, 0), 0.8))
    read = read_prints(picture, MARKERS, camera)
    assert read is not None
    assert read.numbers == (0, 1, 2, 3)
    alone = [
        read_prints(picture, replace(MARKERS, centres_mm={n: at}), camera)
        for n, at in MARKERS.centres_mm.items()
    ]
    assert read.lead == pytest.approx(sum(each.lead for each in alone if each is not None))


def test_prints_that_look_like_other_markers_are_not_read() -> None:
    """However well they fit as well: of these every second one lies where another should."""
    camera = painted.view(width_px=640, height_px=400, focal_px=417.0)
    shown = replace(MARKERS, centres_mm={n: MARKERS.centres_mm[n if n % 2 else 2 - n] for n in range(4)})
    picture = grey(cv2.GaussianBlur(Table(camera, markers=shown).paint(), (0, 0), 0.8))
    read = read_prints(picture, MARKERS, camera)
    assert read is not None
    assert read.numbers == (1, 3)


def test_a_code_with_a_wrong_bit_is_a_guess_and_no_marker_that_is_seen() -> None:
    picture = with_markers((160, 120), [(0, 40, 30, 48)])
    picture[38:46, 48:56] = 255 - picture[38:46, 48:56]
    sheet = replace(MARKERS, centres_mm={0: (0.0, 0.0)})
    assert find_markers(picture, sheet) is None
    guessed = find_faint_markers(picture, sheet)
    assert isinstance(guessed, Marks)
    assert guessed.numbers == (0,)


def test_a_table_without_markers_has_no_prints() -> None:
    camera = painted.view(width_px=640, height_px=400, focal_px=417.0)
    picture = grey(cv2.GaussianBlur(Table(camera, markers=None).paint(), (0, 0), 0.8))
    assert read_prints(picture, MARKERS, camera) is None


def test_a_faint_marker_is_found_about_where_it_lies_and_is_told_to_be_rough() -> None:
    picture = with_markers((160, 120), [(0, 30, 40, 15), (1, 100, 60, 15)])
    dim = np.asarray(cv2.GaussianBlur(picture, (0, 0), 1.1) // 4 + 40, dtype=np.uint8)
    sheet = replace(MARKERS, centres_mm={0: (0.0, 0.0), 1: (60.0, 0.0)})
    found = find_faint_markers(dim, sheet)
    assert isinstance(found, Marks)
    for number, left, top in ((0, 30, 40), (1, 100, 60)):
        middle = found.pixels[found.group == number].mean(axis=0)
        assert middle == pytest.approx([left + 7.0, top + 7.0], abs=1.0)
    precise = found_in(with_markers((160, 120), [(0, 20, 20, 40)]), [0])
    assert found.sigma_px.min() > precise.sigma_px.max()

"""A picture laid on the board's plane: what lies where on the board lies there on it."""

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray

from vision.soldiers.surface import Raster

CAMERA = painted.view(tilt_rad=0.12, roll_rad=0.2, distortion=(-0.1, 0.02, 0.0, 0.0, 0.0))
RASTER = Raster(CAMERA, painted.scene(CAMERA))
PLACES_MM = np.array([(20.0, 30.0), (180.0, 405.0), (340.0, 790.0), (60.0, 600.0)])


def dotted(shift_px: tuple[float, float] = (0.0, 0.0)) -> NDArray[np.uint8]:
    """A picture with a soft dot on each place."""
    picture = np.zeros((CAMERA.height_px, CAMERA.width_px), np.float32)
    rows, columns = np.indices(picture.shape)
    for u, v in CAMERA.project(np.column_stack([PLACES_MM, np.zeros(len(PLACES_MM))])) + np.array(shift_px):
        picture += 250 * np.exp(-((columns - u) ** 2 + (rows - v) ** 2) / 8)
    return np.clip(picture, 0, 255).astype(np.uint8)


def dots_mm(flat: NDArray[np.float32]) -> NDArray[np.float64]:
    """Where on the board each dot is."""
    found = []
    for place in PLACES_MM:
        column, row = np.rint(RASTER.to_px(place)).astype(int)
        around = np.s_[row - 6 : row + 7, column - 6 : column + 7]
        weight = flat[around][..., 0]
        rows, columns = np.mgrid[around]
        found.append([RASTER.to_mm(float((of * weight).sum() / weight.sum())) for of in (columns, rows)])
    return np.array(found)


def test_what_lies_on_a_place_is_laid_on_it() -> None:
    assert dots_mm(RASTER.lay(dotted())) == pytest.approx(PLACES_MM, abs=0.3)


def test_a_picture_that_was_shifted_is_laid_where_it_belongs() -> None:
    """The camera swayed: its content lies right and down of where it was."""
    shift_px = (2.5, -1.5)
    assert dots_mm(RASTER.lay(dotted(shift_px), shift_px=shift_px)) == pytest.approx(PLACES_MM, abs=0.3)


def test_a_window_is_that_part_of_the_whole() -> None:
    window = np.s_[70:140, 30:200]
    assert (RASTER.lay(dotted(), window) == RASTER.lay(dotted())[window]).all()


def test_a_grey_picture_has_one_colour_and_another_three() -> None:
    picture = dotted()
    grey, coloured = RASTER.lay(picture), RASTER.lay(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR))
    assert grey.shape == (*RASTER.shape, 1)
    assert coloured.shape == (*RASTER.shape, 3)


def test_places_on_the_board_and_on_the_raster_are_one_another() -> None:
    assert RASTER.to_mm(RASTER.to_px(PLACES_MM)) == pytest.approx(PLACES_MM)
    rows, columns = RASTER.board
    assert RASTER.to_mm(np.array([columns.start, rows.start]) - 0.5) == pytest.approx([0.0, 0.0])
    assert RASTER.to_mm(np.array([columns.stop, rows.stop]) - 0.5) == pytest.approx([360.0, 810.0])


@pytest.mark.parametrize(
    ("focal_px", "height_mm"), [(200.0, 2500.0), (4000.0, 1000.0)], ids=["coarse", "fine"]
)
def test_however_fine_the_picture_is_squares_are_fine_enough_and_not_too_fine(
    focal_px: float, height_mm: float
) -> None:
    """Enough to see a figure in, and no more than takes its time for nothing."""
    camera = painted.view(focal_px=focal_px, height_mm=height_mm)
    raster = Raster(camera, painted.scene(camera))
    assert 12 <= raster.px_per_square <= 40
    assert raster.mm_per_px * raster.px_per_square == pytest.approx(painted.SQUARE_MM)

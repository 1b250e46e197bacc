"""The colours that figures show, and how often each occurs."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.soldiers.colours import colours_of, count_colours

GREEN = np.array([60.0, -20.0, 25.0])


def worn(*colour: float, pixels: int = 30) -> NDArray[np.float32]:
    """What a figure of one colour shows."""
    return np.tile(np.float32(colour), (pixels, 1))


def overlap(shares: NDArray[np.float64]) -> float:
    """What part of two figures is of the same colours."""
    return float(np.minimum(*shares).sum())


def test_red_and_blue_are_told_as_opencv_orders_them_and_white_is_light() -> None:
    blue, red, white = colours_of(np.float32([[(255, 0, 0), (0, 0, 255), (255, 255, 255)]]))[0]
    assert red[1] > 50
    assert blue[2] < -50
    assert white == pytest.approx([100, 0, 0], abs=0.5)


def test_a_grey_picture_has_lightness_alone_from_black_to_white() -> None:
    grey = colours_of(np.float32([[[0], [255]]]))
    assert grey.shape == (1, 2, 1)
    assert grey.ravel() == pytest.approx([0, 100])


@pytest.mark.parametrize("pixels", [1, 7, 400])
def test_a_figure_counts_the_same_however_large_it_looks(pixels: int) -> None:
    shares = count_colours([worn(*GREEN, pixels=pixels), worn(20, 0, 0)])
    assert shares.sum(axis=1) == pytest.approx([1, 1])
    assert shares.max(axis=1)[0] == pytest.approx(shares.max(axis=1)[1])


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("axis", [0, 1, 2], ids=["lightness", "a", "b"])
def test_nearly_the_same_colour_is_partly_the_same_and_another_is_not(axis: int, way: float) -> None:
    """A figure's light differs a little from the next one's: a neighbouring colour counts in part, either way."""
    beside, other = GREEN.copy(), GREEN.copy()
    beside[axis] += way * 4.0
    other[axis] += way * 30.0
    assert overlap(count_colours([worn(*GREEN), worn(*GREEN)])) == pytest.approx(1.0)
    assert overlap(count_colours([worn(*GREEN), worn(*beside)])) > 0.3
    assert overlap(count_colours([worn(*GREEN), worn(*other)])) == 0.0


def test_a_colour_that_nobody_shows_is_left_out() -> None:
    shares = count_colours([worn(5, 0, 0), worn(95, 60, -60)])
    assert (shares.sum(axis=0) > 0).all()


def test_a_figure_of_two_colours_shows_each_by_its_part() -> None:
    two = np.concatenate([worn(*GREEN, pixels=30), worn(20, 40, 0, pixels=10)])
    shares = count_colours([two, worn(*GREEN), worn(20, 40, 0)])
    assert overlap(shares[[0, 1]]) == pytest.approx(0.75)
    assert overlap(shares[[0, 2]]) == pytest.approx(0.25)

"""What is shown to the network that looks for feet: it was trained on these layers, so what each says must stay what it is."""

import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.soldiers.feet import LAYERS, SQUARE_PX, lay_out
from vision.soldiers.surface import Raster, learn_surface, strangeness

CAMERA = painted.view()
RASTER = Raster(CAMERA, painted.scene(CAMERA))
PAPER = np.array([150.0, 160.0, 150.0], np.float32)
SHADOW, RED, BLUE, BRIGHT = (2, 3), (5, 2), (9, 5), (13, 3)  # square (row, file)


def laid_out(picture: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    bare = np.ascontiguousarray(picture[RASTER.board])
    surface = learn_surface(bare, RASTER.px_per_square)
    shades = surface.shades(bare)
    strange = strangeness(bare, surface, shades)
    layers = lay_out(RASTER, picture, surface, shades, strange, CAMERA.camera_mm)
    assert layers.shape == (LAYERS, (BOARD_ROWS + 2) * SQUARE_PX, (BOARD_FILES + 2) * SQUARE_PX)
    names = ["strange", "light", "tint", "height", "sharp", "red", "yellow", "lean_x", "lean_y", "steps"]
    return dict(zip(names, layers, strict=True))


def grainy(grain: float, colours: int = 3) -> NDArray[np.float32]:
    """A bare board with the picture's grain."""
    noise = np.random.default_rng(6).normal(0, grain, (*RASTER.shape, colours))
    return (PAPER[:colours] + noise).astype(np.float32)


def middle_of(square: tuple[int, int], px_per_square: int) -> tuple[slice, slice]:
    """The inner half of a square, on what has a margin of one square."""
    row, column = ((at + 1) * px_per_square for at in square)
    quarter = px_per_square // 4
    return np.s_[row + quarter : row + 3 * quarter, column + quarter : column + 3 * quarter]


@pytest.fixture(scope="module")
def layers() -> dict[str, NDArray[np.float32]]:
    picture = grainy(1.0)
    for square, by in ((SHADOW, 0.6), (BRIGHT, 1.4)):
        picture[middle_of(square, RASTER.px_per_square)] *= np.float32(by)
    picture[middle_of(RED, RASTER.px_per_square)] = (110.0, 120.0, 190.0)
    picture[middle_of(BLUE, RASTER.px_per_square)] = (210.0, 140.0, 130.0)
    return laid_out(picture)


def within(layer: NDArray[np.float32], square: tuple[int, int]) -> float:
    return float(np.median(layer[middle_of(square, SQUARE_PX)]))


EMPTY = (7, 1)


def test_what_is_there_is_stranger_than_the_bare_board(layers: dict[str, NDArray[np.float32]]) -> None:
    for square in (RED, BLUE, BRIGHT):
        assert within(layers["strange"], square) > 3 * within(layers["strange"], EMPTY)


def test_what_is_darker_is_told_from_what_is_brighter(layers: dict[str, NDArray[np.float32]]) -> None:
    assert within(layers["light"], SHADOW) == pytest.approx(-0.4, abs=0.05)
    assert within(layers["light"], BRIGHT) == pytest.approx(0.4, abs=0.05)
    for name in ("steps", "height"):
        assert within(layers[name], SHADOW) < -0.5 < 0.5 < within(layers[name], BRIGHT)


def test_another_colour_is_told_from_another_light(layers: dict[str, NDArray[np.float32]]) -> None:
    for square in (RED, BLUE):
        assert within(layers["tint"], square) > 0.8
    for square in (SHADOW, BRIGHT, EMPTY):
        assert within(layers["tint"], square) < 0.3


def test_which_colour_it_is_is_told(layers: dict[str, NDArray[np.float32]]) -> None:
    assert within(layers["red"], RED) > 0.5
    assert within(layers["yellow"], BLUE) < -0.5
    assert abs(within(layers["red"], EMPTY)) < 0.1
    assert abs(within(layers["yellow"], EMPTY)) < 0.1
    assert within(layers["yellow"], RED) > within(layers["yellow"], BLUE) + 0.5


def test_a_rim_is_sharp_and_what_lies_within_it_is_not(layers: dict[str, NDArray[np.float32]]) -> None:
    row, column = middle_of(BRIGHT, SQUARE_PX)
    rim = layers["sharp"][row.start - 1 : row.start + 1, column]
    assert np.median(rim) > 2 * within(layers["sharp"], EMPTY)
    assert np.median(rim) > 2 * within(layers["sharp"], BRIGHT)


def test_which_way_figures_lean_in_the_picture_is_told(layers: dict[str, NDArray[np.float32]]) -> None:
    """Away from the camera, more the farther off: nought below it."""
    for name, axis in (("lean_x", 1), ("lean_y", 0)):
        along = layers[name].mean(axis=1 - axis)
        assert (np.diff(along) > 0).all()
        assert along[0] < 0 < along[-1]
        places_mm = (np.arange(len(along)) + 0.5) / SQUARE_PX * RASTER.square_mm - RASTER.square_mm
        assert np.interp(0.0, along, places_mm) == pytest.approx(CAMERA.camera_mm[1 - axis], abs=2.0)


def test_a_grey_picture_tells_of_no_colour() -> None:
    picture = grainy(1.0, colours=1)
    picture[middle_of(BRIGHT, RASTER.px_per_square)] = 220.0
    layers = laid_out(picture)
    assert all(not layers[name].any() for name in ("tint", "red", "yellow"))
    assert within(layers["light"], BRIGHT) > 0.3


def test_the_grain_of_an_empty_board_is_not_blown_up_to_look_like_soldiers() -> None:
    assert np.abs(laid_out(grainy(1.0))["height"]).max() < 0.5

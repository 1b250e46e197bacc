"""The search for a figure on its feet."""

from collections.abc import Sequence

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision.falls.upright import (
    CELL_PX,
    LAYERS,
    PX_MM,
    REACH_CELLS,
    WINDOW_PX,
    Network,
    Surroundings,
    Uprightness,
    likeliest,
    network,
)

SIDE = 2 * REACH_CELLS * CELL_PX + WINDOW_PX
ALONG = (0.6, 0.8)


class BrightSpotFinder(Network):
    """Says how bright the middle of each cell is, and that who stands there stands a pixel farther along the rows."""

    def __init__(self) -> None:
        super().__init__(cv2.dnn.Net())

    def map(self, surroundings: Surroundings) -> NDArray[np.float32]:
        half = WINDOW_PX // 2
        bright = surroundings.layers[1, half:-half:CELL_PX, half:-half:CELL_PX] - 0.5
        return np.stack([bright, np.ones_like(bright), np.zeros_like(bright)])


def brightest(surroundings: Surroundings, others_mm: Sequence[tuple[float, float]] = ()) -> Uprightness:
    return likeliest(BrightSpotFinder().map(surroundings), surroundings, others_mm)


def with_spots(*spots: tuple[int, int, float]) -> Surroundings:
    """Spots (column, row, brightness) in the cell so many cells from the old place."""
    layers = np.zeros((LAYERS, SIDE, SIDE), dtype=np.float32)
    for column, row, brightness in spots:
        layers[1, SIDE // 2 + row * CELL_PX, SIDE // 2 + column * CELL_PX] = brightness
    return Surroundings(layers, ALONG)


def test_the_likeliest_place_is_told_in_millimetres_on_the_board() -> None:
    found = brightest(with_spots((4, -3, 1.0), (0, 0, 0.2)))
    assert found.odds == pytest.approx(0.5)
    across, down = (4 * CELL_PX + 1) * PX_MM, -3 * CELL_PX * PX_MM
    assert found.moved_mm == pytest.approx(
        (across * ALONG[0] - down * ALONG[1], across * ALONG[1] + down * ALONG[0])
    )


def test_nobody_stands_where_another_stands() -> None:
    surroundings = with_spots((4, -3, 1.0), (-6, 2, 0.7))
    others = [surroundings.offset_mm((4 * CELL_PX, -3 * CELL_PX))]
    found = brightest(surroundings, others)
    assert found.moved_mm == pytest.approx(surroundings.offset_mm((-6 * CELL_PX + 1, 2 * CELL_PX)))


def test_in_the_midst_of_others_he_can_stand_nowhere_but_in_his_own_place() -> None:
    surroundings = with_spots((4, -3, 1.0))
    steps_mm = np.arange(-48.0, 49.0, 8.0)
    found = brightest(surroundings, [(dx_mm, dy_mm) for dx_mm in steps_mm for dy_mm in steps_mm])
    assert found.moved_mm == pytest.approx(surroundings.offset_mm((1, 0)))


@pytest.mark.parametrize("shift", [(3.0, -11.0), (0.0, 0.0), (-20.0, 4.0)])
def test_places_on_the_board_and_in_the_lay_out_belong_together(shift: tuple[float, float]) -> None:
    surroundings = with_spots()
    (there,) = surroundings.offset_px(np.array([shift]))
    assert surroundings.offset_mm((float(there[0]), float(there[1]))) == pytest.approx(shift)


def test_the_trained_network_fits_the_lay_out() -> None:
    assert network().map(with_spots()).shape == (3, 2 * REACH_CELLS + 1, 2 * REACH_CELLS + 1)


def test_what_is_said_of_a_cell_depends_on_its_window_alone() -> None:
    """So it does not matter where in its surroundings somebody stands: `CELL_PX` and `WINDOW_PX` are the network's."""
    layers = np.random.default_rng(5).normal(size=(LAYERS, SIDE, SIDE)).astype(np.float32)
    told = network().map(Surroundings(layers, ALONG))
    for row, column in ((0, 0), (3, 8), (11, 2), (2 * REACH_CELLS, 2 * REACH_CELLS)):
        top, left = row * CELL_PX, column * CELL_PX
        window = np.ascontiguousarray(layers[:, top : top + WINDOW_PX, left : left + WINDOW_PX])
        alone = network().map(Surroundings(window, ALONG))
        assert alone[:, 0, 0] == pytest.approx(told[:, row, column], rel=1e-3, abs=1e-3)


def test_who_looked_far_has_looked_near_too() -> None:
    """So that each soldier's surroundings are asked about once, near and far together."""
    draw = np.random.default_rng(5)
    far = draw.random((LAYERS, SIDE + 4 * CELL_PX, SIDE + 4 * CELL_PX), dtype=np.float32)
    near = Surroundings(
        np.ascontiguousarray(far[:, 2 * CELL_PX : -2 * CELL_PX, 2 * CELL_PX : -2 * CELL_PX]), ALONG
    )
    around = Surroundings(far, ALONG)
    seen = likeliest(network().map(near), near, [])
    again = likeliest(network().map(around), around, [])
    assert again.odds == pytest.approx(seen.odds, abs=1e-3)
    assert again.moved_mm == pytest.approx(seen.moved_mm, abs=1e-2)

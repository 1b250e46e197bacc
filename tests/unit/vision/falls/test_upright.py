"""Who stands and who lies: the search for a figure on its feet, and how the evidence is weighed."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision.falls.fate import Evidence, chance_of_standing, measures, shift_mm
from vision.falls.resemblance import Resemblance
from vision.falls.upright import (
    CELL_PX,
    LAYERS,
    PX_MM,
    REACH_CELLS,
    WINDOW_PX,
    Network,
    Surroundings,
    Uprightness,
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


def with_spots(*spots: tuple[int, int, float]) -> Surroundings:
    """Spots (column, row, brightness) in the cell so many cells from the old place."""
    layers = np.zeros((LAYERS, SIDE, SIDE), dtype=np.float32)
    for column, row, brightness in spots:
        layers[1, SIDE // 2 + row * CELL_PX, SIDE // 2 + column * CELL_PX] = brightness
    return Surroundings(layers, ALONG)


def test_the_likeliest_place_is_told_in_millimetres_on_the_board() -> None:
    found = BrightSpotFinder().search(with_spots((4, -3, 1.0), (0, 0, 0.2)), [])
    assert found.odds == pytest.approx(0.5)
    across, down = (4 * CELL_PX + 1) * PX_MM, -3 * CELL_PX * PX_MM
    assert found.moved_mm == pytest.approx(
        (across * ALONG[0] - down * ALONG[1], across * ALONG[1] + down * ALONG[0])
    )


def test_nobody_stands_where_another_stands() -> None:
    surroundings = with_spots((4, -3, 1.0), (-6, 2, 0.7))
    others = [surroundings.offset_mm((4 * CELL_PX, -3 * CELL_PX))]
    found = BrightSpotFinder().search(surroundings, others)
    assert found.moved_mm == pytest.approx(surroundings.offset_mm((-6 * CELL_PX + 1, 2 * CELL_PX)))


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


STANDS = Evidence(
    same=0.2,
    bare=0.3,
    found=Resemblance(0.95, 0.95, 2.0, 3.0, 5.0),
    moved_mm=(6.0, 4.0),
    at_home=0.3,
    spread=1.0,
    crowd=0,
    upright=Uprightness(5.0, (6.0, 5.0)),
)
LIES = replace(
    STANDS,
    bare=0.8,
    found=Resemblance(0.4, 0.7, 20.0, 5.0, 120.0),
    moved_mm=(23.0, 6.0),
    at_home=-0.1,
    spread=2.2,
    upright=Uprightness(-4.0, (9.0, 20.0)),
)


def test_plain_evidence_gives_plain_chances() -> None:
    assert chance_of_standing(STANDS) > 0.95
    assert chance_of_standing(LIES) < 0.05


@pytest.mark.parametrize("odds", [-2.0, 0.0, 2.0])
def test_the_more_upright_it_looks_the_likelier_it_stands(odds: float) -> None:
    less = replace(LIES, upright=replace(LIES.upright, odds=odds))
    more = replace(LIES, upright=replace(LIES.upright, odds=odds + 1.0))
    assert chance_of_standing(more) > chance_of_standing(less)


def test_one_as_long_as_before_likelier_stands_than_one_that_is_longer() -> None:
    unclear = replace(
        STANDS, found=replace(STANDS.found, correlation=0.5), upright=Uprightness(0.0, (9.0, 20.0))
    )
    chances = [chance_of_standing(replace(unclear, spread=spread)) for spread in (1.0, 1.3, 1.6, 2.2)]
    assert chances == sorted(chances, reverse=True)
    hidden = replace(unclear, found=replace(unclear.found, covered=0.5))
    assert chance_of_standing(replace(hidden, spread=1.3)) < chances[1], (
        "too little of it is seen to say how long it is"
    )


def test_where_nothing_is_like_it_the_upright_place_is_how_far_it_went() -> None:
    alike, unlike = (
        replace(STANDS, moved_mm=(30.0, 0.0), found=replace(STANDS.found, correlation=c))
        for c in (0.61, 0.59)
    )
    near, far = (replace(unlike, upright=Uprightness(1.0, (mm, 0.0))) for mm in (4.0, 40.0))
    assert chance_of_standing(near) > chance_of_standing(far)
    assert measures(near)[3] == pytest.approx(0.4)
    assert measures(alike)[3] == pytest.approx(3.0)


def test_of_two_places_that_agree_the_mean_counts_and_of_two_that_do_not_the_upright_one() -> None:
    assert shift_mm(STANDS) == pytest.approx((6.0, 4.4))
    seen = Uprightness(3.0, (-9.0, 0.0))
    assert shift_mm(replace(STANDS, upright=seen)) == pytest.approx((-9.0, 0.0))


def test_seen_whole_in_one_place_by_likeness_and_by_the_network_it_stands_there_however_far_it_went() -> None:
    """As a figure of a kind that the network does not know, whose shadow is taken for a part of it (spread)."""
    far = replace(
        STANDS,
        same=0.01,
        found=replace(STANDS.found, correlation=0.92),
        moved_mm=(32.0, 17.0),
        spread=2.1,
        crowd=1,
        upright=Uprightness(0.3, (31.0, 16.5)),
    )
    elsewhere = replace(far, upright=replace(far.upright, moved_mm=(20.0, 0.0)))
    unlike = replace(far, found=replace(far.found, correlation=0.7))
    assert chance_of_standing(far) > 0.5
    assert chance_of_standing(elsewhere) < 0.2
    assert chance_of_standing(unlike) < 0.2

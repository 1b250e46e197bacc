"""Who stands and who lies: the search for a figure on its feet, and how the evidence is weighed."""

from dataclasses import replace

import numpy as np
import pytest

from vision.falls.fate import Evidence, chance_of_standing, has_left, shift_mm
from vision.falls.resemblance import Resemblance
from vision.falls.upright import (
    LAYERS,
    PX_MM,
    REACH_PX,
    SIDES,
    STEPS,
    WINDOW_PX,
    Network,
    Step,
    Surroundings,
    Uprightness,
    leaky,
    network,
)

SIDE = 2 * REACH_PX + WINDOW_PX
MIDDLE_PX = WINDOW_PX // 2
ALONG = (0.6, 0.8)


def bright_spot_finder() -> Network:
    """A network that says how bright the middle of the second layer is."""
    steps = []
    layers, middle_layer, bias = LAYERS, 1, 0.0
    for k, side in enumerate(SIDES):
        weights = np.zeros((side, side, layers, 1), dtype=np.float32)
        weights[side // 2, side // 2, middle_layer] = 1.0
        if k == len(SIDES) - 1:
            bias = -0.5
        steps.append(Step(weights, np.full(1, bias, dtype=np.float32)))
        layers, middle_layer = 1, 0
    return Network((tuple(steps),))


def with_spots(*spots: tuple[int, int, float]) -> Surroundings:
    """Spots (column, row, brightness) at so many pixels from the old place."""
    layers = np.zeros((LAYERS, SIDE, SIDE), dtype=np.float32)
    for column, row, brightness in spots:
        layers[1, MIDDLE_PX + REACH_PX + row, MIDDLE_PX + REACH_PX + column] = brightness
    return Surroundings(layers, ALONG)


def test_the_likeliest_place_is_told_in_millimetres_on_the_board() -> None:
    found = bright_spot_finder().search(with_spots((4, -3, 1.0), (0, 0, 0.2)), [])
    assert found.odds == pytest.approx(0.5)
    across, down = 4 * PX_MM, -3 * PX_MM
    assert found.moved_mm == pytest.approx(
        (across * ALONG[0] - down * ALONG[1], across * ALONG[1] + down * ALONG[0])
    )


def test_nobody_stands_where_another_stands() -> None:
    surroundings = with_spots((4, -3, 1.0), (-6, 2, 0.7))
    others = [surroundings.offset_mm((4, -3))]
    found = bright_spot_finder().search(surroundings, others)
    assert found.moved_mm == pytest.approx(surroundings.offset_mm((-6, 2)))


@pytest.mark.parametrize("shift", [(3.0, -11.0), (0.0, 0.0), (-20.0, 4.0)])
def test_places_on_the_board_and_in_the_lay_out_belong_together(shift: tuple[float, float]) -> None:
    surroundings = with_spots()
    (there,) = surroundings.offset_px(np.array([shift]))
    assert surroundings.offset_mm((float(there[0]), float(there[1]))) == pytest.approx(shift)


def test_the_trained_network_fits_the_lay_out() -> None:
    assert network().map(with_spots()).shape == (2 * REACH_PX + 1, 2 * REACH_PX + 1)


def test_all_windows_at_once_are_answered_as_each_by_itself() -> None:
    """What `Network.map` promises, at places of both parities."""
    rng = np.random.default_rng(5)
    layers = rng.normal(size=(LAYERS, SIDE, SIDE)).astype(np.float32)
    (member, *_) = network().members
    odds = Network((member,)).map(Surroundings(layers, ALONG))
    for row, column in ((0, 0), (3, 8), (17, 2), (2 * REACH_PX, 2 * REACH_PX)):
        units = layers[:, row : row + WINDOW_PX, column : column + WINDOW_PX].transpose(1, 2, 0)
        for k, (side, step, each) in enumerate(zip(SIDES, STEPS, member, strict=True)):
            seen = units if k == 0 else leaky(units)
            cut = np.lib.stride_tricks.sliding_window_view(seen, (side, side), axis=(0, 1))[::step, ::step]
            units = np.einsum("rclyx,yxlu->rcu", cut, each.weights) + each.bias
        assert units.shape == (1, 1, 1)
        assert odds[row, column] == pytest.approx(float(units.item()), rel=1e-3, abs=1e-3)


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


def test_of_two_places_that_agree_likeness_counts_for_more_and_of_two_that_do_not_one_is_believed() -> None:
    assert shift_mm(STANDS) == pytest.approx((6.0, 4.2))
    seen = Uprightness(3.0, (-9.0, 0.0))
    assert shift_mm(replace(STANDS, upright=seen)) == pytest.approx((-9.0, 0.0))
    assert shift_mm(replace(STANDS, upright=replace(seen, odds=-3.0))) == pytest.approx((6.0, 4.0))


def test_one_that_left_no_bare_board_stands_where_it_stood() -> None:
    assert shift_mm(replace(STANDS, bare=0.01)) == (0.0, 0.0)
    assert shift_mm(replace(STANDS, bare=0.2, at_home=0.9)) == (0.0, 0.0)


def test_one_that_looks_as_before_was_not_pushed_whatever_a_shadow_seems_to_bare() -> None:
    assert shift_mm(replace(STANDS, bare=0.4, same=0.6, at_home=0.8)) == (0.0, 0.0)


def test_one_of_whom_nothing_is_left_at_home_was_pushed_though_another_lies_there() -> None:
    hidden = replace(STANDS, bare=0.01, at_home=-0.3)
    assert has_left(hidden)
    assert shift_mm(hidden) != (0.0, 0.0)
    assert not has_left(replace(STANDS, at_home=0.4))


def test_one_most_of_whom_is_as_it_was_has_not_left_whatever_shadow_falls_on_the_rest() -> None:
    shaded = replace(STANDS, same=0.65, bare=0.02, at_home=-0.1)
    assert not has_left(shaded)
    assert shift_mm(shaded) == (0.0, 0.0)

"""How a picture sways against another, and what several have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest
from painted_table import CROWD, Table

from vision.quick_median import quick_median
from vision.steady import STILL, Steady, Sways, typical

CAMERA = painted.view(tilt_rad=0.03)
TABLE = Table(CAMERA, tuple(painted.standing(CROWD).values()))
REFERENCE = TABLE.paint(seed=1)


@pytest.mark.parametrize("shift_px", [(0.0, 0.0), (0.7, -0.4), (-3.0, 2.2)])
@pytest.mark.parametrize("light", [1.0, 0.93])
def test_how_far_a_picture_is_shaken_and_how_bright_it_is_are_measured(
    shift_px: tuple[float, float], light: float
) -> None:
    picture = replace(TABLE, light=light).paint(shift_px=shift_px, seed=2)
    sway = Steady(REFERENCE).measure(picture)
    assert (sway.du_px, sway.dv_px) == pytest.approx(shift_px, abs=0.15)
    assert sway.gain == pytest.approx(light, abs=0.02)


@pytest.mark.parametrize("size", [(200, 300), (9, 16)], ids=["large", "smaller than a tile"])
def test_a_picture_without_edges_has_no_sway(size: tuple[int, int]) -> None:
    flat = np.full(size, 90, dtype=np.uint8)
    assert Steady(flat).measure(flat) == STILL


def test_each_picture_of_a_clip_is_measured_once() -> None:
    sways = Sways(REFERENCE)
    first = sways.of(3, TABLE.paint(shift_px=(1.0, 0.0), seed=3))
    assert sways.of(3, REFERENCE) is first


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
def test_what_passes_through_a_third_of_some_pictures_is_gone(count: int) -> None:
    pictures = [np.full((4, 4), 100 + k % 2, np.uint8) for k in range(count)]
    if count > 2:
        for passed in range(count // 3):
            pictures[passed][1, 1] = 255
    common = typical(pictures)
    assert common.dtype == np.uint8
    assert common.max() <= 101
    if count < 3:
        assert common is pictures[-1]


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9])
def test_a_quick_median_is_the_median(count: int) -> None:
    for values in (
        np.random.default_rng(count).integers(0, 255, count).astype(np.uint8),
        np.random.default_rng(count).normal(0.0, 1.0, count),
    ):
        assert quick_median(values) == np.median(values)

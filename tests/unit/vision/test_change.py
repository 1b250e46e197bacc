"""Where a picture differs from another: not by noise, nor by the light as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.change import Watched, shrink, shrink_mask

Image = NDArray[np.uint8]
ALL = np.ones((120, 200), np.bool_)


def table(noise: float = 2.0, light: float = 1.0, seed: int = 0) -> Image:
    rng = np.random.default_rng(seed)
    shades = np.linspace(60.0, 180.0, 200) * light + rng.normal(0.0, noise, (120, 200))
    return np.clip(shades, 0, 255).astype(np.uint8)


def watched(mask: NDArray[np.bool_] = ALL) -> Watched:
    return Watched(shrink_mask(mask))


@pytest.mark.parametrize("light", [0.7, 1.0, 1.3])
def test_other_light_is_a_gain_and_no_change(light: float) -> None:
    change = watched().compare(shrink(table()), shrink(table(light=light, seed=1)))
    assert change.gain == pytest.approx(light, abs=0.02)
    assert change.area_px == 0.0


@pytest.mark.parametrize("light", [0.92, 1.08])
def test_what_is_overexposed_or_left_as_it_was_by_a_video_does_not_change_with_the_light(
    light: float,
) -> None:
    """A lamp that flickers changes neither; each was taken for something that moved before the release."""
    was, has = table(), table(light=light, seed=1)
    was[20:60, 100:140] = has[20:60, 100:140] = 255
    has[80:100, 100:140] = was[80:100, 100:140]
    assert watched().compare(shrink(was), shrink(has)).area_px == 0.0


@pytest.mark.parametrize("light", [1.0, 1.1])
@pytest.mark.parametrize("noise", [0.0, 4.0, 20.0])
def test_noise_is_no_change(noise: float, light: float) -> None:
    assert watched().compare(shrink(table(noise)), shrink(table(noise, light, seed=1))).area_px == 0.0


@pytest.mark.parametrize("light", [0.8, 1.0])
def test_the_largest_patch_is_told_with_its_area_and_place_in_the_picture(light: float) -> None:
    now = table(light=light, seed=1)
    now[8:16, 20:28] = 0
    now[40:60, 80:120] = 0
    now[100:108, 160:168] = 0
    change = watched().compare(shrink(table()), shrink(now))
    assert change.area_px == 20 * 40
    assert change.centre_px == pytest.approx((100.0, 50.0), abs=0.6)


def test_what_is_not_watched_does_not_matter() -> None:
    now = table(seed=1)
    now[:, :100] = 0
    right = ALL.copy()
    right[:, :100] = False
    change = watched(right).compare(shrink(table()), shrink(now))
    assert (change.area_px, change.gain) == (0.0, pytest.approx(1.0, abs=0.02))
    nothing = watched(~ALL).compare(shrink(table()), shrink(now))
    assert (nothing.area_px, nothing.gain) == (0.0, 1.0)

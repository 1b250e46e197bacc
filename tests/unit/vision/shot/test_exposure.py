"""How long pictures were exposed, where nobody tells: issue 5, point 4."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vision.flight_pictures import MUZZLE_MM, camera, film, fly, scene
from vision.shot.exposure import SHORTEST_US, likeliest_exposure_us
from vision.shot.track import find_track

PICTURE_US = 8333.0
exposures = st.floats(SHORTEST_US, PICTURE_US)


@given(true_us=exposures, about_us=st.floats(1.0, 1e5), width=st.floats(0.5, 3.0))
def test_what_explains_most_is_found_from_any_guess(true_us: float, about_us: float, width: float) -> None:
    def explained(exposure_us: float) -> float:
        assert SHORTEST_US <= exposure_us <= PICTURE_US
        return 1000.0 / (1.0 + (math.log(exposure_us / true_us) / width) ** 2)

    found_us = likeliest_exposure_us(explained, about_us, PICTURE_US)
    assert SHORTEST_US <= found_us <= PICTURE_US
    inside = 2 * SHORTEST_US < true_us < PICTURE_US / 2
    assert found_us == pytest.approx(true_us, rel=0.06 if inside else 0.45)


def test_guess_stays_where_nothing_speaks_for_another() -> None:
    assert likeliest_exposure_us(lambda _: 0.0, 1500.0, PICTURE_US) == 1500.0


@pytest.mark.parametrize("exposure_us", [600, 1000, 2000, 4000])
def test_exposure_is_read_off_the_smears(exposure_us: int) -> None:
    view = camera()
    clip = film(fly(MUZZLE_MM, (0.6, 9.5, -0.1)), view, exposure_us=exposure_us, length_ms=170.0)
    track = find_track(clip.frames, clip.timestamps_us, scene(exposure_us=None), view)
    assert track.exposure_us == pytest.approx(exposure_us, rel=0.15)

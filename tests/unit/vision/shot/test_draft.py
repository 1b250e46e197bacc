"""What a flight that is being put together tells of the sights that it was fitted to."""

from dataclasses import replace

import numpy as np
import pytest
from flight_pictures import FIRE_US, MUZZLE_MM, SLOPE, camera, film, fly, scene

from vision.shot.draft import DraftFitter, misses_px
from vision.shot.flight_fit import FlightPrior
from vision.shot.sights import SightFinder
from vision.soldiers.lamp import Lamp

VIEW = camera()
LAMP = Lamp(SLOPE, 0.05, 0.0, 1e-4, np.array([180.0, 405.0]), 0.5)
EXPOSURE_US = 3000


def test_a_lone_smear_misses_its_flight_at_each_end_and_its_shadow_once() -> None:
    """Fitted by both ends it has two misses; each belongs to the smear, and none is taken for another sight's."""
    clip = film(fly(MUZZLE_MM, (0.4, 9.0, 0.0)), VIEW, exposure_us=EXPOSURE_US, length_ms=150.0)
    finder = SightFinder(clip.frames, clip.timestamps_us, scene(exposure_us=EXPOSURE_US), VIEW)
    k = next(k for k, at_us in enumerate(clip.timestamps_us) if at_us > FIRE_US + 20_000)
    own = max(finder.sights(k), key=lambda s: s.streak.lit * s.strength)
    shadow = replace(max(finder.sights(k), key=lambda s: (1 - s.streak.lit) * s.strength), is_shadow=True)
    later = max(finder.sights(k + 1), key=lambda s: s.streak.lit * s.strength)
    fitter = DraftFitter(finder, VIEW, LAMP)
    prior = FlightPrior.of(
        start_us=FIRE_US,
        start_sigma_us=3000.0,
        start_mm=np.array(MUZZLE_MM),
        start_sigma_mm=np.full(3, 2.0),
        velocity_mps=np.array([0.4, 8.0, 0.0]),
        velocity_sigma_mps=np.array([4.0, 4.0, 2.0]),
    )

    alone = fitter.fit(prior, [own, shadow])
    of_shot, of_shadow = misses_px(alone, [own, shadow])
    assert [sight for sight, _ in of_shot] == [own, own]
    assert [off_px for _, off_px in of_shot] == pytest.approx(alone.residuals_px)
    assert [sight for sight, _ in of_shadow] == [shadow]

    of_shot, of_shadow = misses_px(fitter.fit(prior, [shadow, own, later]), [shadow, own, later])
    assert [sight for sight, _ in of_shot] == [own, later]
    assert [sight for sight, _ in of_shadow] == [shadow]


@pytest.mark.parametrize("shot", [(235, 240, 240), (90, 200, 250)], ids=["white", "orange"])
def test_a_shot_that_the_lamp_lights_from_one_side_is_not_seen_nearer_to_the_lamp(
    shot: tuple[int, int, int],
) -> None:
    path = fly(MUZZLE_MM, (0.4, 9.0, 0.0))
    clip = film(
        path,
        VIEW,
        exposure_us=EXPOSURE_US,
        length_ms=150.0,
        shot=shot,
        shadow=LAMP.darkness,
        lit_from_one_side=True,
    )
    finder = SightFinder(clip.frames, clip.timestamps_us, scene(exposure_us=EXPOSURE_US), VIEW)
    aside_mm: dict[bool, list[float]] = {True: [], False: []}
    for k, at_us in enumerate(clip.timestamps_us):
        true_mm = path((at_us - FIRE_US) / 1000)
        if not FIRE_US + 10_000 < at_us < FIRE_US + 80_000 or true_mm is None or not finder.sights(k):
            continue
        own = max(finder.sights(k), key=lambda s: s.streak.lit * s.strength)
        true_px, across_px = VIEW.project(np.array([true_mm, true_mm + np.array([1.0, 0.0, 0.0])]))
        for lamp in (None, LAMP):
            off_px = DraftFitter(finder, VIEW, lamp).seen([own]).pixels[0] - true_px
            across = across_px - true_px  # across its way, along which the stamp says where it is
            aside_mm[lamp is not None].append(float(off_px @ across) / float(across @ across))
    assert len(aside_mm[True]) >= 5
    seems_mm, told_mm = (float(np.mean(aside_mm[with_lamp])) for with_lamp in (False, True))
    assert seems_mm < -0.3
    assert abs(told_mm) < 0.6 * abs(seems_mm)


def test_a_dark_shot_is_where_it_is_seen() -> None:
    clip = film(
        fly(MUZZLE_MM, (0.4, 9.0, 0.0)), VIEW, exposure_us=EXPOSURE_US, length_ms=150.0, shot=(15, 15, 15)
    )
    finder = SightFinder(clip.frames, clip.timestamps_us, scene(exposure_us=EXPOSURE_US), VIEW)
    k = next(k for k, at_us in enumerate(clip.timestamps_us) if at_us > FIRE_US + 20_000)
    own = max(finder.sights(k), key=lambda s: s.strength)
    assert own.streak.lit < 0.5
    assert np.array_equal(
        DraftFitter(finder, VIEW, LAMP).seen([own]).pixels, DraftFitter(finder, VIEW, None).seen([own]).pixels
    )

"""What a flight that is being put together tells of the sights that it was fitted to."""

from dataclasses import replace

import numpy as np
import pytest
from flight_pictures import FIRE_US, MUZZLE_MM, camera, film, fly, scene

from vision.shot.draft import DraftFitter, misses_px
from vision.shot.flight_fit import FlightPrior
from vision.shot.sights import SightFinder
from vision.soldiers.lamp import Lamp

VIEW = camera()
LAMP = Lamp(np.array([0.5, -0.25]), 0.05, 0.0, 1e-4, np.array([180.0, 405.0]), 0.5)
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

"""A shot that hardly stands out of the board, on pictures drawn from a known path."""

from dataclasses import replace

import numpy as np
import pytest
from flight_pictures import FIRE_US, MUZZLE_MM, camera, film, fly, scene

from vision.scene import Scene
from vision.shot import find_track
from vision.shot.faint import Stirred, faint_flights, quiet_pictures
from vision.shot.sights import SightFinder
from vision.steady import Sways

VIEW = camera()
PATH = fly(MUZZLE_MM, (0.6, 9.5, -0.1), [(60.0, (3.0, -4.0, 1.0))])
PALE = (110, 136, 156)  # the board is (95, 120, 140)
STRIKES_US = FIRE_US + 60_000
_there = PATH(60.0)
assert _there is not None
CLIP = film(PATH, VIEW, exposure_us=2500, shot=PALE, shadow=0.0, length_ms=170.0)
STRUCK = (Stirred((float(_there[0]) + 3.0, float(_there[1]) + 9.0), STRIKES_US + 5_000.0),)


@pytest.mark.parametrize(
    "known",
    [
        scene(exposure_us=2500),
        scene(exposure_us=None),
        scene(exposure_us=2500, fire_us=None),
        scene(exposure_us=2500, muzzle_mm=None),
    ],
    ids=["all", "no exposure", "no release time", "no muzzle"],
)
def test_shot_too_faint_for_streaks_is_found_on_its_way_to_whom_it_struck(known: Scene) -> None:
    track = find_track(CLIP.frames, CLIP.timestamps_us, known, VIEW, stirred=STRUCK)
    seen = [point for point in track.points if point[0] < STRIKES_US]
    assert len(seen) >= 4
    for time_us, x, y, _ in seen:
        truth = PATH((time_us - FIRE_US) / 1000)
        assert truth is not None
        assert np.hypot(x - truth[0], y - truth[1]) < 6.0


def test_exposure_of_a_faint_shot_is_read_off_what_it_covers() -> None:
    clip = film(PATH, VIEW, exposure_us=4000, shot=PALE, shadow=0.0, length_ms=170.0)
    track = find_track(clip.frames, clip.timestamps_us, scene(exposure_us=None), VIEW, stirred=STRUCK)
    assert track.exposure_us == pytest.approx(4000, rel=0.15)


def test_nothing_is_found_where_the_board_is_not_in_the_pictures() -> None:
    elsewhere = replace(VIEW, translation_mm=VIEW.translation_mm + np.array([0.0, 3000.0, 0.0]))
    finder = SightFinder(CLIP.frames, CLIP.timestamps_us, scene(), VIEW, None)
    pictures = quiet_pictures(CLIP.timestamps_us, FIRE_US, STRIKES_US)
    known = (scene(), elsewhere, finder, 8333.0, Sways(CLIP.frames[0]))
    assert faint_flights(CLIP.frames, pictures, STRUCK, *known) == []


def test_nothing_is_found_where_no_shot_flew() -> None:
    clip = film(None, VIEW, length_ms=170.0)
    assert not find_track(clip.frames, clip.timestamps_us, scene(), VIEW, stirred=STRUCK).found


def test_shot_that_shows_plainly_is_followed_the_same_whomever_it_struck() -> None:
    clip = film(PATH, VIEW, length_ms=170.0)
    told = find_track(clip.frames, clip.timestamps_us, scene(), VIEW, stirred=STRUCK)
    assert told.found
    untold = find_track(clip.frames, clip.timestamps_us, scene(), VIEW)
    assert [point[0] for point in told.points] == [point[0] for point in untold.points]
    off_mm = np.abs(np.array(told.points) - np.array(untold.points))[:, 1:3]
    assert off_mm.max() < 0.5  # across the board; who was struck tells a little of how high it was

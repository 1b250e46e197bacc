"""From which end the shot comes, on pictures drawn from a known path."""

from dataclasses import replace

import numpy as np
import pytest
from flight_pictures import camera, film, fly, scene

from vision.ends import comes_from_the_other_end, ends_by_shot
from vision.shot import find_track
from vision.shot.streaks import StreakFinder
from vision.steady import Sways

VIEW = camera()
CORNERS_PX = ((100.0, 100.0), (860.0, 100.0), (860.0, 440.0), (100.0, 440.0))


def test_a_shot_from_the_other_end_is_noticed_live_as_well_as_afterwards() -> None:
    """Live the pictures have been looked at before, no farther out than the told side's cannon demands."""
    whole = fly((150.0, 890.0, 50.0), (0.3, -10.0, 0.2))
    clip = film(lambda since_ms: whole(since_ms) if since_ms <= 14.0 else None, VIEW, fps=200.0)
    told = replace(scene(fps=200.0, muzzle_mm=None), corners_px=CORNERS_PX)
    sways = Sways(clip.frames[0])
    looked = StreakFinder(clip.frames, clip.timestamps_us, told, VIEW)
    track = find_track(clip.frames, clip.timestamps_us, told, VIEW, sways=sways)
    for streaks in (None, looked):
        assert comes_from_the_other_end(
            track, clip.frames, clip.timestamps_us, told, VIEW, None, streaks, (), sways
        )
    untold = replace(told, corners_px=None)
    assert not comes_from_the_other_end(
        track, clip.frames, clip.timestamps_us, untold, VIEW, None, looked, (), sways
    ), "which end is whose is told by the shot itself then"


def test_of_two_ways_round_the_one_in_which_a_shot_leaves_its_cannon_is_taken() -> None:
    told = scene(muzzle_mm=None)
    clip = film(fly((150.0, -40.0, 50.0), (0.3, 10.0, 0.2)), VIEW, length_ms=120.0)
    found = ends_by_shot(clip.frames, clip.timestamps_us, told, VIEW.turned(told), clip.frames[0])
    assert found is not None
    assert found.translation_mm == pytest.approx(VIEW.translation_mm)
    assert np.allclose(found.rotation, VIEW.rotation)


def test_where_no_shot_is_seen_neither_end_is_told() -> None:
    clip = film(None, VIEW, length_ms=120.0)
    assert ends_by_shot(clip.frames, clip.timestamps_us, scene(), VIEW, clip.frames[0]) is None


def test_a_shot_from_the_end_of_the_side_that_fires_does_not_come_from_the_other() -> None:
    clip = film(fly((150.0, -40.0, 50.0), (0.3, 10.0, 0.2)), VIEW, length_ms=120.0)
    told = replace(scene(muzzle_mm=None), corners_px=CORNERS_PX)
    sways = Sways(clip.frames[0])
    seen = (clip.frames, clip.timestamps_us, told, VIEW)
    track = find_track(*seen, sways=sways)
    assert track.found
    assert not comes_from_the_other_end(track, *seen, None, None, (), sways)

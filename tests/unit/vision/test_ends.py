"""From which end the shot comes, on pictures drawn from a known path."""

from dataclasses import replace

from flight_pictures import camera, film, fly, scene

from vision.ends import comes_from_the_other_end
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

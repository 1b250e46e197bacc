"""A shadow too soft for a streak still tells how high the shot flies: issue 5, points 4 and 5."""

import numpy as np
import pytest
from flight_pictures import FIRE_US, MUZZLE_MM, Film, camera, film, fly, scene

from vision.shot import ShotTrack, find_track
from vision.soldiers.lamp import Lamp

VIEW = camera()
LAMP = Lamp(np.array([0.5, -0.25]), 0.06, 0.0, 0.0, np.array([180.0, 405.0]), 0.2)
VELOCITY = (0.4, 8.0, -0.2)
TURN = (48.0, (-2.0, 2.0, 1.5))
SOFT = 0.15


def track_of(clip: Film, *, lamp: Lamp | None = LAMP) -> ShotTrack:
    return find_track(clip.frames, clip.timestamps_us, scene(), VIEW, lamp)


def height_at(track: ShotTrack, since_ms: float) -> tuple[float, float]:
    """Height of the first flight and its standard deviation, mm."""
    leg, at_us = track.legs[0], FIRE_US + 1000.0 * since_ms
    return float(leg.flight.at(at_us)[0, 2]), float(np.sqrt(leg.fit.spread_at(at_us)[0, 2, 2]))


@pytest.mark.parametrize("rise_mps", [-0.5, 0.1])
@pytest.mark.parametrize("grey", [False, True], ids=["in colour", "in grey"])
def test_a_soft_shadow_tells_the_height(rise_mps: float, grey: bool) -> None:
    path = fly(MUZZLE_MM, (*VELOCITY[:2], rise_mps), [TURN])
    clip = film(path, VIEW, shadow=SOFT, grey=grey)
    truth = path(46.0)
    assert truth is not None
    alone, alone_mm = height_at(track_of(clip, lamp=None), 46.0)
    shaded = track_of(clip)
    told, told_mm = height_at(shaded, 46.0)
    assert len(shaded.legs[0].shadows) >= 3
    assert told_mm < 0.6 * alone_mm
    assert abs(told - truth[2]) < min(3 * told_mm, 5.0)
    assert abs(told - truth[2]) <= abs(alone - truth[2]) + 1.0


def test_where_no_shadow_falls_none_is_found() -> None:
    clip = film(fly(MUZZLE_MM, VELOCITY, [TURN]), VIEW, shadow=0.0)
    assert track_of(clip).legs[0].shadows == ()


def test_a_bounce_just_before_a_soldier_shows_by_the_shadow() -> None:
    """Seen from above, one picture after the bounce looks like free flight; the shadow says that the board was there."""
    steep = (0.4, 7.0, -1.0)
    falling = fly(MUZZLE_MM, steep)
    landed_ms = next(
        ms for ms in np.arange(30.0, 60.0, 0.25) if (there := falling(ms)) is not None and there[2] <= 3.0
    )
    turns = [(landed_ms, (0.35, 6.3, 0.8)), (landed_ms + 5.0, (-2.0, 1.5, 0.5))]
    told, told_mm = height_at(track_of(film(fly(MUZZLE_MM, steep, turns), VIEW, shadow=SOFT)), landed_ms)
    assert abs(told - 3.0) < 3.0
    assert told_mm < 3.0

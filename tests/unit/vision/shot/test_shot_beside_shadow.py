"""A shot that shows less than its shadow: issue 5, point 4, its own shadow is not it."""

import numpy as np
import pytest
from flight_pictures import FIRE_US, MUZZLE_MM, Film, camera, film, fly, scene

from vision.scene import Scene
from vision.shot import ShotTrack, find_track
from vision.shot.faint import Stirred
from vision.soldiers.lamp import Lamp

VIEW = camera()
LAMP = Lamp(np.array([0.5, -0.25]), 0.06, 0.0, 0.0, np.array([180.0, 405.0]), 0.45)
STRIKES_MS = 60.0
PATH = fly(MUZZLE_MM, (0.6, 9.5, -0.1), [(STRIKES_MS, (3.0, -4.0, 1.0))])
_there = PATH(STRIKES_MS)
assert _there is not None
STRUCK = (Stirred((float(_there[0]) + 3.0, float(_there[1]) + 9.0), FIRE_US + 1000.0 * STRIKES_MS + 5_000.0),)
# The board is (95, 120, 140). What is as bright as it shows where it covers the board's lines.
AS_THE_BOARD, PALE, DIM, BLACK = (95, 120, 140), (100, 127, 147), (80, 100, 117), (15, 15, 15)


def drawn(shot: tuple[int, int, int], *, grey: bool = False, shadow: float = 0.45) -> Film:
    return film(PATH, VIEW, exposure_us=1500, shot=shot, grey=grey, shadow=shadow, length_ms=170.0)


def tracked(clip: Film, known: Scene) -> ShotTrack:
    return find_track(clip.frames, clip.timestamps_us, known, VIEW, LAMP, stirred=STRUCK)


def off_before_striking(track: ShotTrack) -> tuple[np.ndarray, np.ndarray]:
    """How far the first flight is off the path where it was seen, (N, 3) mm, and what it says of that, as standard deviations."""
    leg = track.legs[0]
    times_us = [float(s.timestamp_us) for s in leg.streaks if s.timestamp_us < FIRE_US + 1000.0 * STRIKES_MS]
    assert len(times_us) >= 4
    true_mm = np.array([PATH((time_us - FIRE_US) / 1000.0) for time_us in times_us])
    off_mm = leg.flight.at(np.array(times_us)) - true_mm
    variances = np.diagonal(leg.fit.spread_at(np.array(times_us)), axis1=1, axis2=2)
    return off_mm, np.sqrt(variances)


@pytest.mark.parametrize("shot", [AS_THE_BOARD, PALE, DIM])
@pytest.mark.parametrize(
    "known",
    [
        scene(exposure_us=1500),
        scene(exposure_us=1500, muzzle_mm=None),
        scene(exposure_us=1500, muzzle_mm=None, fire_us=None),
        scene(exposure_us=None, muzzle_mm=None),
    ],
    ids=["all told", "no muzzle", "no muzzle, no release time", "no muzzle, no exposure"],
)
def test_the_shot_is_found_beside_its_shadow(shot: tuple[int, int, int], known: Scene) -> None:
    """Nothing but the shot beside it tells whose a shadow is that comes from where a cannon may stand."""
    track = tracked(drawn(shot), known)
    off_mm, _ = off_before_striking(track)
    assert len(track.legs[0].shadows) >= 5
    # The shadow is up to 28 mm beside it.
    assert np.hypot(off_mm[:, 0], off_mm[:, 1]).max() < 6.0
    assert np.abs(off_mm[:, 2]).max() < 8.0


def test_where_nothing_but_the_shadow_shows_the_muzzle_tells_it() -> None:
    """Then the shot is where that shadow has it, as far as a shadow tells."""
    both, shot_alone = drawn(AS_THE_BOARD), drawn(AS_THE_BOARD, shadow=0.0)
    board = film(None, VIEW, length_ms=170.0)
    shadow_alone = [
        np.clip(a.astype(int) - b + c, 0, 255).astype(np.uint8)
        for a, b, c in zip(both.frames, shot_alone.frames, board.frames, strict=True)
    ]
    track = tracked(Film(shadow_alone, both.timestamps_us), scene(exposure_us=1500))
    off_mm, sd_mm = off_before_striking(track)
    assert (np.abs(off_mm) < 3.0 * sd_mm).all()


@pytest.mark.parametrize("known", [scene(), scene(muzzle_mm=None)], ids=["muzzle told", "no muzzle"])
@pytest.mark.parametrize("grey", [False, True], ids=["in colour", "in grey"])
def test_a_dark_shot_that_throws_no_shadow_is_none(known: Scene, grey: bool) -> None:
    off_mm, _ = off_before_striking(tracked(drawn(BLACK, grey=grey, shadow=0.0), known))
    assert np.hypot(off_mm[:, 0], off_mm[:, 1]).max() < 4.0

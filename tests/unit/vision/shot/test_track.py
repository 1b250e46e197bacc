"""The shot's track, on pictures drawn from a known path."""

import cv2
import numpy as np
import pytest
from flight_pictures import FIRE_US, MUZZLE_MM, Film, camera, film, fly, scene

from vision.scene import Scene
from vision.shot import ShotTrack, find_track
from vision.shot.streaks import StreakFinder

VIEW = camera()
# Over four lines, then sideways and up off something at 40 ms: about (166, 332, 38).
VELOCITY = (0.4, 9.5, -0.1)
TURN = (40.0, (-3.0, 2.0, 1.5))
PATH = fly(MUZZLE_MM, VELOCITY, [TURN])


@pytest.fixture(scope="module")
def clip() -> Film:
    """The shot on this path, as most tests look at it; nothing is drawn into it."""
    return film(PATH, VIEW)


def farthest_mm(track: ShotTrack) -> float:
    """How far the track is from the path at most, in the board plane."""
    off = []
    for time_us, x, y, _ in track.points:
        truth = PATH((time_us - FIRE_US) / 1000)
        assert truth is not None
        off.append(np.hypot(x - truth[0], y - truth[1]))
    return float(max(off))


@pytest.mark.parametrize(
    ("fps", "exposure_us", "shot", "grey"),
    [
        (60.0, 1000, (235, 240, 240), False),
        (120.0, 500, (15, 15, 15), False),
        (120.0, 1500, (30, 120, 240), False),
        (200.0, 1000, (40, 200, 230), True),
    ],
    ids=["white at 60", "black at 120", "orange at 120", "yellow in grey at 200"],
)
def test_shot_is_followed_through_a_contact_at_any_rate_and_colour(
    fps: float, exposure_us: int, shot: tuple[int, int, int], grey: bool
) -> None:
    clip = film(PATH, VIEW, fps=fps, exposure_us=exposure_us, shot=shot, grey=grey)
    track = find_track(clip.frames, clip.timestamps_us, scene(fps=fps, exposure_us=exposure_us), VIEW)
    assert len(track.legs) >= 2
    assert track.legs[0].last_us <= FIRE_US + 41_000
    assert farthest_mm(track) < 6.0
    assert track.speed_mps is not None
    speed, sigma = track.speed_mps
    true_speed = float(np.linalg.norm(VELOCITY))
    assert abs(speed - true_speed) < max(4 * sigma, 0.02 * true_speed)


def test_pictures_looked_at_as_they_come_give_the_same_track(clip: Film) -> None:
    told = scene()
    streaks = StreakFinder(clip.frames[:8], clip.timestamps_us[:8], told, VIEW)
    for count in range(8, len(clip.frames), 3):
        streaks.go_on(clip.frames[:count], clip.timestamps_us[:count])
        streaks.look_ahead(FIRE_US, FIRE_US + 60_000)
    ahead = find_track(clip.frames, clip.timestamps_us, told, VIEW, streaks=streaks)
    assert ahead.found
    assert ahead.points == find_track(clip.frames, clip.timestamps_us, told, VIEW).points


def test_speed_error_bar_is_stated_and_small(clip: Film) -> None:
    track = find_track(clip.frames, clip.timestamps_us, scene(), VIEW)
    assert track.speed_mps is not None
    assert 0.0 < track.speed_mps[1] < 0.3


@pytest.mark.parametrize(
    "known",
    [
        scene(fire_us=None),
        scene(muzzle_mm=None),
        scene(exposure_us=None),
        scene(fire_us=None, muzzle_mm=None, exposure_us=None),
    ],
    ids=["no release time", "no muzzle", "no exposure", "nothing"],
)
def test_what_is_not_told_is_found(clip: Film, known: Scene) -> None:
    track = find_track(clip.frames, clip.timestamps_us, known, VIEW)
    assert len(track.legs) >= 2
    assert farthest_mm(track) < 8.0
    assert track.release_us is not None
    assert abs(track.release_us - FIRE_US) < (1500 if known.muzzle_mm else 6000)


def test_its_own_shadow_is_not_the_shot() -> None:
    clip = film(PATH, VIEW, shot=(60, 90, 110))  # fainter than its shadow
    track = find_track(clip.frames, clip.timestamps_us, scene(), VIEW)
    assert track.found
    assert farthest_mm(track) < 6.0


def test_a_falling_soldier_is_not_the_shot() -> None:
    clip = film(None, VIEW, topple_at_ms=0.0)
    track = find_track(clip.frames, clip.timestamps_us, scene(), VIEW)
    assert not track.found
    assert "no streak" in track.reason


def test_falling_soldier_beside_the_way_does_not_lead_astray() -> None:
    clip = film(PATH, VIEW, topple_at_ms=40.0)
    track = find_track(clip.frames, clip.timestamps_us, scene(), VIEW)
    assert farthest_mm(track) < 6.0


def test_bounce_off_the_board_cuts_the_flight() -> None:
    path = fly((*MUZZLE_MM[:2], 30.0), (0.3, 8.0, -0.45), [(41.4, (0.27, 6.6, 0.6))])
    clip = film(path, VIEW)
    known = scene(muzzle_mm=(*MUZZLE_MM[:2], 30.0))
    track = find_track(clip.frames, clip.timestamps_us, known, VIEW)
    assert len(track.legs) == 2
    assert FIRE_US + 30_000 < track.legs[0].last_us < FIRE_US + 50_000
    assert abs(float(track.legs[1].flight.start_mm[2]) - 3.0) < 3.0


def test_a_shot_that_grazes_the_board_first_of_all_is_cut_where_it_did() -> None:
    """It loses so little that one flight nearly leads through all its sights."""
    muzzle_mm, landed_ms = (*MUZZLE_MM[:2], 18.0), 32.75
    path = fly(muzzle_mm, (0.3, 8.0, -0.3), [(landed_ms, (0.29, 7.6, 0.35))])
    touched = path(landed_ms)
    assert touched is not None
    assert touched[2] == pytest.approx(3.0, abs=0.1), "it lies on the board there, as large as it is"
    clip = film(path, VIEW, fps=200.0, length_ms=180.0)
    track = find_track(clip.frames, clip.timestamps_us, scene(fps=200.0, muzzle_mm=muzzle_mm), VIEW)
    assert len(track.legs) == 2
    before, after = track.legs
    assert before.last_us < FIRE_US + 1000 * landed_ms < after.first_us
    assert np.hypot(*(after.flight.start_mm - touched)[:2]) < 20.0
    assert after.flight.start_mm[2] == pytest.approx(3.0, abs=1.0)


def test_a_bounce_after_which_one_picture_shows_the_shot_before_it_is_turned_cuts_the_flight() -> None:
    """C7: what it strikes then is a ricochet. It was the last picture before it struck a soldier."""
    muzzle_mm, landed_ms, struck_ms = (*MUZZLE_MM[:2], 29.4), 38.4, 48.0
    bounced = (landed_ms, (0.28, 7.5, 0.6))
    path = fly(muzzle_mm, (0.3, 8.0, -0.5), [bounced, (struck_ms, (4.0, -1.5, 1.0))])
    clip = film(path, VIEW)
    since = [t for t in clip.timestamps_us if FIRE_US + 1000 * landed_ms < t < FIRE_US + 1000 * struck_ms]
    assert len(since) == 1
    track = find_track(clip.frames, clip.timestamps_us, scene(muzzle_mm=muzzle_mm), VIEW)
    assert track.legs[0].ends_at_board
    assert track.legs[0].last_us < since[0] == track.legs[1].first_us


def test_a_flight_that_touches_nothing_is_not_cut() -> None:
    muzzle_mm = (*MUZZLE_MM[:2], 45.0)
    clip = film(fly(muzzle_mm, (0.4, 11.0, 0.1)), VIEW, length_ms=180.0)
    track = find_track(clip.frames, clip.timestamps_us, scene(muzzle_mm=muzzle_mm), VIEW)
    assert len(track.legs) == 1
    assert track.legs[0].bounced < 0.2
    assert len(track.legs[0].streaks) >= 6


def test_shot_the_colour_of_the_board_is_found_where_its_flight_leads() -> None:
    """A stretch of the board on which the shot hardly shows does not end its flight."""
    clip = film(PATH, VIEW, shadow=0.0)
    plain = film(None, VIEW, seed=1)
    hidden = (12, 13)
    for k in hidden:
        mixed = 0.3 * clip.frames[k].astype(float) + 0.7 * plain.frames[k]
        clip.frames[k] = np.round(mixed).astype(np.uint8)
    track = find_track(clip.frames, clip.timestamps_us, scene(), VIEW)
    assert track.legs[0].last_us > clip.timestamps_us[hidden[-1]]
    assert farthest_mm(track) < 6.0


def test_shaking_camera_does_not_shake_the_track(clip: Film) -> None:
    shaken = [
        np.asarray(
            cv2.warpAffine(
                frame,
                np.array([[1.0, 0.0, np.sin(2.1 * k)], [0.0, 1.0, np.cos(1.3 * k)]]),
                (frame.shape[1], frame.shape[0]),
                borderMode=cv2.BORDER_REPLICATE,
            ),
            dtype=np.uint8,
        )
        if clip.timestamps_us[k] > FIRE_US
        else frame
        for k, frame in enumerate(clip.frames)
    ]
    track = find_track(shaken, clip.timestamps_us, scene(), VIEW)
    assert farthest_mm(track) < 3.0


def test_speed_of_two_sights_is_stated_as_hardly_known(clip: Film) -> None:
    last = next(k for k, t in enumerate(clip.timestamps_us) if t > FIRE_US + 13_000)
    frames = clip.frames[:last] + [clip.frames[0]] * 12
    track = find_track(frames, clip.timestamps_us[: len(frames)], scene(), VIEW)
    assert track.speed_mps is not None
    assert len(track.legs[0].streaks) <= 2
    assert track.speed_mps[1] > 0.1 * track.speed_mps[0]


def test_empty_table_gives_no_track_and_a_reason() -> None:
    clip = film(None, VIEW, length_ms=200.0)
    track = find_track(clip.frames, clip.timestamps_us, scene(fire_us=None), VIEW)
    assert not track.found
    assert track.points == ()
    assert track.speed_mps is None
    assert track.release_us is None
    assert "A's cannon" in track.reason


def test_too_few_pictures_give_a_reason() -> None:
    clip = film(None, VIEW, length_ms=17.0)
    track = find_track(clip.frames[:2], clip.timestamps_us[:2], scene(), VIEW)
    assert not track.found
    assert "three pictures" in track.reason


def test_dropped_pictures_do_not_lose_the_shot(clip: Film) -> None:
    kept = [k for k in range(len(clip.frames)) if k not in (11, 13)]
    track = find_track([clip.frames[k] for k in kept], [clip.timestamps_us[k] for k in kept], scene(), VIEW)
    assert len(track.legs) >= 2
    assert farthest_mm(track) < 6.0

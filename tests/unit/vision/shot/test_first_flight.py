"""Where the first flight ends: whoever stirs was struck, and what moves after that is another flight or no shot at all."""

import math

import cv2
import numpy as np
import pytest
from flight_pictures import FIRE_US, MUZZLE_MM, camera, film, fly, scene
from numpy.typing import NDArray

from vision.shot import Leg, find_track
from vision.shot.faint import Stirred

VIEW = camera()


@pytest.mark.parametrize("seed", range(3))
def test_what_is_seen_after_the_first_was_struck_does_not_bend_the_flight_to_him(seed: int) -> None:
    """One picture shows the shot before it strikes; with the next, beyond the turn, it would make a flight as well.

    What that one picture tells is told by noise too: the flight is held against that of a shot that vanishes as it strikes.
    """
    path = fly(MUZZLE_MM, (0.6, 9.5, -0.1), [(15.0, (3.0, 6.0, 1.0))])
    struck = path(15.0)
    assert struck is not None
    stirred = Stirred((float(struck[0]) - 9.0, float(struck[1]) + 5.0), FIRE_US + 20_000)

    def legs(seen_to_ms: float, who: list[Stirred]) -> tuple[Leg, ...]:
        clip = film(lambda ms: path(ms) if ms < seen_to_ms else None, VIEW, length_ms=170.0, seed=seed)
        dropped = next(k for k, t in enumerate(clip.timestamps_us) if t > FIRE_US + 8_000)
        del clip.frames[dropped], clip.timestamps_us[dropped]
        return find_track(clip.frames, clip.timestamps_us, scene(), VIEW, stirred=who).legs

    def strikes_mm(leg: Leg) -> NDArray[np.float64]:
        return leg.flight.at(FIRE_US + 15_000.0)[0]

    first, after = legs(math.inf, [stirred])
    assert first.last_us < stirred.time_us <= after.first_us
    (vanished,) = legs(15.0, [stirred])
    assert strikes_mm(first) == pytest.approx(strikes_mm(vanished), abs=0.1)
    bent, *_ = legs(math.inf, [])
    assert np.hypot(*(strikes_mm(bent) - strikes_mm(vanished))[:2]) > 10.0


def test_what_moves_only_after_the_first_was_struck_is_not_the_shot() -> None:
    """Two streaks after somebody stirred lie as if a later shot had come from the muzzle: they are strangers."""
    late = fly(MUZZLE_MM, (0.6, 9.5, -0.1))
    clip = film(lambda ms: late(ms - 60.0) if ms < 80.0 else None, VIEW, shadow=0.0, length_ms=170.0)
    known = scene(fire_us=None)
    struck = [Stirred((160.0, 100.0), FIRE_US + 40_000)]
    assert find_track(clip.frames, clip.timestamps_us, known, VIEW).found
    assert not find_track(clip.frames, clip.timestamps_us, known, VIEW, stirred=struck).found


@pytest.mark.parametrize("exposure_us", [2000, None])
def test_a_shot_seen_only_at_the_muzzle_before_it_strikes_is_not_led_astray_by_who_it_struck(
    exposure_us: int | None,
) -> None:
    """At 60 pictures a second one shows the shot leave, and the next who was struck: a part of him is no second sight.

    Where no exposure is told the smear at the muzzle tells the way, and hardly the speed.
    """
    left_ms, struck_ms = 3.0, 9.0
    path = fly(MUZZLE_MM, (4.0, 10.0, -0.5), [(struck_ms, (-5.0, 3.5, 1.5))])
    clip = film(lambda ms: path(ms - left_ms), VIEW, fps=60.0, exposure_us=2000, shadow=0.0, length_ms=200.0)
    struck, fire_us = path(struck_ms), FIRE_US + round(1000 * left_ms)
    assert struck is not None
    stirred = next(k for k, t in enumerate(clip.timestamps_us) if t > fire_us + 1000 * struck_ms)
    foot_mm = (float(struck[0]) + 3.0, float(struck[1]) + 9.0)
    u, v = (int(c) for c in VIEW.project(np.array([[foot_mm[0] + 18.0, foot_mm[1], 25.0]]))[0])
    cv2.circle(clip.frames[stirred], (u, v), 3, (115, 140, 160), -1)
    who = [Stirred(foot_mm, clip.timestamps_us[stirred])]
    known = scene(fps=60.0, fire_us=fire_us, exposure_us=exposure_us)
    track = find_track(clip.frames, clip.timestamps_us, known, VIEW, stirred=who)
    first, after = track.legs[:2]
    assert len(first.streaks) == 1 and len(after.streaks) >= 3
    points = first.flight.at(fire_us + np.arange(0.0, 20_000.0, 250.0))
    assert np.hypot(*(points - struck)[:, :2].T).min() < 4.0
    speed_mps, sigma_mps = first.fit.speed_mps
    assert abs(speed_mps - 10.8) < 3.0 * sigma_mps
    assert (sigma_mps > 0.25 * speed_mps) == (exposure_us is None)


def test_a_shot_that_shows_plainly_is_followed_though_somebody_moved_before_it() -> None:
    path = fly(MUZZLE_MM, (0.6, 9.5, -0.1))
    clip = film(path, VIEW, length_ms=170.0)
    moved = [Stirred((160.0, 100.0), FIRE_US - 40_000)]
    track = find_track(clip.frames, clip.timestamps_us, scene(fire_us=None), VIEW, stirred=moved)
    assert len(track.points) >= 6


@pytest.mark.parametrize("seed", range(3))
def test_from_high_above_who_was_struck_tells_how_high_the_shot_came(seed: int) -> None:
    """From there height hardly shows; but a shot that strikes somebody flies neither over his head nor below the board."""
    view = camera(height_mm=2400.0)
    path = fly((190.0, -40.0, 50.0), (0.02, 6.0, -0.3), [(60.0, (1.0, 3.0, 0.5))])
    clip = film(path, view, shadow=0.0, length_ms=150.0, seed=seed)
    struck = path(60.0)
    assert struck is not None
    stirred = Stirred((float(struck[0]) - 3.0, float(struck[1]) + 6.0), FIRE_US + 62_000)
    elsewhere = Stirred((stirred.foot_mm[0] + 90.0, stirred.foot_mm[1]), stirred.time_us)

    def height_mm(who: list[Stirred]) -> float:
        track = find_track(clip.frames, clip.timestamps_us, scene(muzzle_mm=None), view, stirred=who)
        return float(track.legs[0].flight.at(FIRE_US + 60_000.0)[0, 2])

    off_mm = abs(height_mm([]) - struck[2])
    assert abs(height_mm([stirred]) - struck[2]) < 0.5 * off_mm
    assert abs(abs(height_mm([elsewhere]) - struck[2]) - off_mm) < 0.1


def test_a_shot_that_struck_two_at_once_is_followed_on_from_the_second() -> None:
    """Struck 45 mm aside within 5 ms, it is seen in three pictures more, far from where the flight before ended."""
    bent = fly(MUZZLE_MM, (0.6, 9.5, -0.1), [(30.0, (-9.0, -1.0, 0.5)), (35.0, (1.0, 3.0, 0.3))])
    clip = film(
        lambda ms: bent(ms) if ms < 30.0 or 35.0 < ms < 55.0 else None, VIEW, shadow=0.0, length_ms=170.0
    )
    one, other = bent(30.0), bent(35.0)
    assert one is not None and other is not None
    stirs_us = next(t for t in clip.timestamps_us if t > FIRE_US + 35_000)
    first = Stirred((float(one[0]), float(one[1]) + 8.0), stirs_us)
    second = Stirred((float(other[0]) - 8.0, float(other[1])), stirs_us)
    alone = find_track(clip.frames, clip.timestamps_us, scene(), VIEW, stirred=[first])
    assert len(alone.legs) == 1
    both = find_track(clip.frames, clip.timestamps_us, scene(), VIEW, stirred=[first, second])
    assert len(both.legs) == 2
    for time_us in (both.legs[1].first_us, both.legs[1].last_us):
        there = bent((time_us - FIRE_US) / 1000.0)
        assert there is not None
        assert np.hypot(*(both.legs[1].flight.at(float(time_us))[0] - there)[:2]) < 5.0

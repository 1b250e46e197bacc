"""What is seen in each picture, and when: on pictures drawn from a known path."""

from flight_pictures import FIRE_US, MUZZLE_MM, camera, film, fly, scene

from vision.shot.sights import SightFinder

VIEW = camera()
EXPOSURE_US = 4000


def test_the_picture_of_the_release_shows_the_shot_late_in_its_exposure_whatever_was_asked_before() -> None:
    clip = film(fly(MUZZLE_MM, (0.4, 9.5, -0.1)), VIEW, fps=200.0, exposure_us=EXPOSURE_US, length_ms=140.0)
    released = min(range(len(clip.frames)), key=lambda k: abs(clip.timestamps_us[k] - FIRE_US))
    assert abs(clip.timestamps_us[released] - FIRE_US) < EXPOSURE_US / 2
    told = SightFinder(clip.frames, clip.timestamps_us, scene(fps=200.0, exposure_us=EXPOSURE_US), VIEW)
    learnt = SightFinder(clip.frames, clip.timestamps_us, scene(fps=200.0, exposure_us=None), VIEW)
    before = learnt.sights(released)
    assert before
    assert [sight.time_ms for sight in before] == [clip.timestamps_us[released] / 1000.0] * len(before)
    learnt.expose(EXPOSURE_US)
    for one, other in zip(told.sights(released), learnt.sights(released), strict=True):
        assert one.time_ms == other.time_ms > before[0].time_ms
        assert told.open_ms(one) == learnt.open_ms(other) == learnt.open_ms_of(released)

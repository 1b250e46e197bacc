"""Whether a film's times can be right, and whether it is long enough."""

from __future__ import annotations

import pytest

from vision.film_times import fewest_fps, first_moving_of, other_rate, too_short, wavering, wrong_times
from vision.rest import REST_US


def times(count: int, each_us: int) -> list[int]:
    return [each_us * k for k in range(count)]


@pytest.mark.parametrize(("gap_us", "told"), [(499_000, False), (500_000, True)])
def test_pictures_that_are_missing_are_told_with_where(gap_us: int, told: bool) -> None:
    rest = times(10, 8333)
    said = wrong_times([*rest, *(rest[-1] + gap_us + at_us for at_us in times(10, 8333))], 120.0)
    assert said == (
        "picture 11 was taken 0.5 s after the one before: pictures are missing, or timestamps_us are wrong"
        if told
        else None
    )


@pytest.mark.parametrize(
    ("each_us", "is_wrong", "is_noted"),
    [
        (2_500, True, True),
        (3_500, False, True),
        (6_500, False, True),
        (7_000, False, False),
        (10_000, False, False),
        (14_500, False, False),
        (15_500, False, True),
        (29_000, False, True),
        (31_000, True, True),
    ],
)
def test_times_three_times_as_fast_or_slow_as_the_camera_are_wrong_and_nearer_ones_are_noted(
    each_us: int, is_wrong: bool, is_noted: bool
) -> None:
    at_us = times(20, each_us)
    rates = (
        f"the pictures are {each_us / 1000:.4g} ms apart, and a camera of 100 a second takes one each 10 ms"
    )
    assert wrong_times(at_us, 100.0) == (
        f"{rates}: timestamps_us or camera.fps are wrong" if is_wrong else None
    )
    assert other_rate(at_us, 100.0) == ((rates,) if is_noted else ())


def test_of_no_picture_and_of_one_no_time_is_wrong() -> None:
    for count in (0, 1):
        assert wrong_times(times(count, 10_000), 100.0) is None
        assert other_rate(times(count, 10_000), 100.0) == ()
        assert "at least 6 are needed" in str(too_short(times(count, 10_000), None))


@pytest.mark.parametrize(
    ("count", "fire_us", "said"),
    [
        (1, None, "the clip is too short: 1 picture, and at least 6 are needed"),
        (5, None, "the clip is too short: 5 pictures, and at least 6 are needed"),
        (6, None, None),
        (30, 0, None),
        (
            30,
            -1_000,
            "the clip begins 1 ms after the trigger's release; it must begin before it",
        ),
        (30, 190_000, None),
        (
            30,
            191_000,
            "the clip is too short: it ends 99 ms after the trigger's release, and 100 ms after it are needed at least",
        ),
        (
            30,
            300_000,
            "the clip is too short: it ends 10 ms before the trigger's release, and 100 ms after it are needed at least",
        ),
    ],
)
def test_what_a_clip_lacks_is_told(count: int, fire_us: int | None, said: str | None) -> None:
    assert too_short(times(count, 10_000), fire_us) == said


@pytest.mark.parametrize(
    ("before_us", "after_us", "fewest"),
    [
        (300_000, 2_000_000, 8.571),
        (50_000, 2_000_000, 40.0),
        (1_000_000, 500_000, 4.286),
        (9_000_000, 500_000, 4),
    ],
)
def test_so_many_pictures_a_second_are_enough_for_a_clip_in_which_nothing_moves(
    before_us: int, after_us: int, fewest: float
) -> None:
    assert fewest_fps(before_us, after_us) == pytest.approx(fewest, abs=0.001)
    each_us = int(1e6 / fewest)
    for fire_us in range(before_us, before_us + each_us, 1000):
        # All is at rest 0.4 s after the first picture in which the shot may have been seen.
        end_us = min(fire_us + after_us, fire_us - fire_us % each_us + each_us + REST_US + each_us - 1)
        clip = [t for t in range(0, end_us + 1, each_us) if t >= fire_us - before_us]
        assert too_short(clip, fire_us) is None
        assert wrong_times(clip, fewest) is None


@pytest.mark.parametrize(("fire_us", "first"), [(45_000, 5), (50_000, 6), (None, 7), (-1, 1)])
def test_until_the_release_or_for_60_ms_where_none_is_told_the_table_is_at_rest(
    fire_us: int | None, first: int
) -> None:
    """A picture of the very moment still shows it at rest, and so does the first of all."""
    assert first_moving_of(range(0, 200_000, 10_000), fire_us) == first


def test_it_is_told_by_how_much_times_were_made_even() -> None:
    taken_us = times(10, 8333)
    assert wavering(taken_us, taken_us) == ()
    said = wavering([us + (-1) ** k * 700 for k, us in enumerate(taken_us)], taken_us)
    assert said == (
        "timestamps_us waver by 0.7 ms; each picture was taken for one of the camera's own even pace",
    )

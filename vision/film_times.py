"""The times of a film's pictures: where the shot begins in it, whether they can be right, and whether it is long enough to be read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median, pstdev

from vision.rest import REST_US

__all__ = ["apart_us", "fewest_fps", "first_moving_of", "other_rate", "too_short", "wavering", "wrong_times"]

_FEWEST_FRAMES = 6
_LEAST_AFTER_FIRE_US = 100_000  # a shot needs as much to cross the board; nobody falls faster
_LONGEST_GAP_US = 500_000
_WRONG_RATE = 3.0  # times as fast or as slow as the camera is said to film
_OTHER_RATE = 1.5
_STILL_US = 60_000  # a clip whose release is not told shows the table at rest for so long at least


def apart_us(timestamps_us: Sequence[int]) -> float:
    """Give the usual time from one picture to the next, of two pictures or more."""
    return median(b - a for a, b in pairwise(timestamps_us))


def first_moving_of(timestamps_us: Sequence[int], fire_us: int | None) -> int:
    """Give the index of the first picture after the release; where that is not told, of the first that need not show the table at rest.

    It is 1 at least: the first picture always counts as one of the table at rest.
    """
    if fire_us is not None:
        return max(1, sum(1 for t in timestamps_us if t <= fire_us))
    return max(1, sum(1 for t in timestamps_us if t <= timestamps_us[0] + _STILL_US))


def wrong_times(timestamps_us: Sequence[int], fps: float) -> str | None:
    """Say why the pictures' times cannot be true; ``None`` where they can.

    Parameters
    ----------
    timestamps_us
        Of each picture, rising.
    fps
        Pictures a second, as the camera is said to film.
    """
    for k, (before_us, at_us) in enumerate(pairwise(timestamps_us), start=2):
        if at_us - before_us >= _LONGEST_GAP_US:
            return (
                f"picture {k} was taken {(at_us - before_us) / 1e6:.1f} s after the one before: "
                "pictures are missing, or timestamps_us are wrong"
            )
    times = _times_as_slow(timestamps_us, fps)
    if 1 / _WRONG_RATE <= times <= _WRONG_RATE:
        return None
    return f"{_rates(timestamps_us, fps)}: timestamps_us or camera.fps are wrong"


def other_rate(timestamps_us: Sequence[int], fps: float) -> tuple[str, ...]:
    """Say that the pictures come faster or slower than the camera is said to film; nothing where they hardly do.

    Parameters
    ----------
    timestamps_us, fps
        As for `wrong_times`.
    """
    if 1 / _OTHER_RATE <= _times_as_slow(timestamps_us, fps) <= _OTHER_RATE:
        return ()
    return (_rates(timestamps_us, fps),)


def wavering(came_us: Sequence[int], taken_us: Sequence[int]) -> tuple[str, ...]:
    """Say by how much the times at which pictures came waver about those at which they were taken; nothing where they are the same."""
    if all(came == taken for came, taken in zip(came_us, taken_us, strict=True)):
        return ()
    spread_ms = pstdev(came - taken for came, taken in zip(came_us, taken_us, strict=True)) / 1000
    return (
        f"timestamps_us waver by {spread_ms:.1f} ms; each picture was taken for one of the camera's own even pace",
    )


def too_short(timestamps_us: Sequence[int], fire_us: int | None) -> str | None:
    """Say what a clip lacks before or after the release, or that it has too few pictures; ``None`` where it is whole.

    Parameters
    ----------
    timestamps_us
        Of each picture, rising.
    fire_us
        The release; ``None`` where it is not told.
    """
    count = len(timestamps_us)
    if count < _FEWEST_FRAMES:
        pictures = f"{count} picture{'' if count == 1 else 's'}"
        return f"the clip is too short: {pictures}, and at least {_FEWEST_FRAMES} are needed"
    if fire_us is None:
        return None
    before_ms, after_ms = (fire_us - timestamps_us[0]) / 1000, (timestamps_us[-1] - fire_us) / 1000
    if before_ms < 0:
        return f"the clip begins {-before_ms:.0f} ms after the trigger's release; it must begin before it"
    if after_ms < _LEAST_AFTER_FIRE_US / 1000:
        return (
            f"the clip is too short: it ends {abs(after_ms):.0f} ms {'after' if after_ms >= 0 else 'before'} the trigger's "
            f"release, and {_LEAST_AFTER_FIRE_US // 1000} ms after it are needed at least"
        )
    return None


def fewest_fps(before_us: int, after_us: int) -> float:
    """Give how many pictures a second it takes for a clip to be read that ends once all is at rest.

    Parameters
    ----------
    before_us
        How much of it lies before the release.
    after_us
        How much lies after it at the most; where nothing moves it ends sooner.
    """
    # Where one picture is missing, the next comes after twice the time.
    gap_us = min((before_us + min(after_us, REST_US)) / _FEWEST_FRAMES, before_us / 2, _LONGEST_GAP_US / 2)
    return 1e6 / gap_us


def _times_as_slow(timestamps_us: Sequence[int], fps: float) -> float:
    return apart_us(timestamps_us) * fps / 1e6 if len(timestamps_us) > 1 else 1.0


def _rates(timestamps_us: Sequence[int], fps: float) -> str:
    apart_ms = apart_us(timestamps_us) / 1000
    return f"the pictures are {apart_ms:.4g} ms apart, and a camera of {fps:g} a second takes one each {1000 / fps:.4g} ms"

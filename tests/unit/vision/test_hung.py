"""A camera that hangs is told by pictures that are the same to the last bit, where pictures have noise."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.hung import frozen_from, hung_from

STEP_US = 10_000
RELEASED = 6  # the first picture after the release


def film(*, hangs: range = range(0), count: int = 60, noise: bool = True) -> list[NDArray[np.uint8]]:
    """Pictures with noise in one row alone, of which those that hang repeat the first of them."""
    frames = []
    for k in range(count):
        picture = np.zeros((40, 8), np.uint8)
        picture[5] = np.random.default_rng(hangs.start if k in hangs else k).integers(0, 255, 8)
        frames.append(picture if noise else np.zeros_like(picture))
    return frames


def times(frames: list[NDArray[np.uint8]]) -> list[int]:
    return [STEP_US * k for k in range(len(frames))]


@pytest.mark.parametrize(
    ("hangs", "told", "untold"),
    [
        (range(0), None, None),
        (range(5, 21), 5, 5),
        (range(8, 24), 8, 8),
        (range(8, 23), None, None),
        (range(22, 40), 22, 22),
        (range(23, 40), None, 23),
        (range(45, 60), None, None),
    ],
    ids=[
        "never",
        "from the last picture before the release on",
        "150 ms",
        "140 ms",
        "while the shot may fly",
        "once the shot has crossed the board",
        "140 ms at the end",
    ],
)
def test_a_camera_hangs_that_repeats_a_picture_for_150_ms_while_the_shot_may_fly(
    hangs: range, told: int | None, untold: int | None
) -> None:
    frames = film(hangs=hangs)
    assert hung_from(frames, times(frames), RELEASED, release_told=True) == told
    assert hung_from(frames, times(frames), RELEASED, release_told=False) == untold


@pytest.mark.parametrize(
    ("hangs", "frozen"), [(range(0), None), (range(44, 60), 44), (range(45, 60), None), (range(30, 59), None)]
)
def test_a_camera_is_frozen_that_repeats_one_picture_for_150_ms_up_to_the_end(
    hangs: range, frozen: int | None
) -> None:
    frames = film(hangs=hangs)
    assert frozen_from(frames, times(frames), RELEASED) == frozen


@pytest.mark.parametrize(
    ("frames", "released"),
    [
        (film(noise=False), RELEASED),
        (film(hangs=range(30, 60)), 4),
        ([*film(count=2), *film()[1:]], RELEASED),
    ],
    ids=["no noise", "too few pictures before the release", "one that comes twice before the release"],
)
def test_where_pictures_may_be_the_same_without_a_fault_no_camera_hangs(
    frames: list[NDArray[np.uint8]], released: int
) -> None:
    assert hung_from(frames, times(frames), released, release_told=False) is None
    assert frozen_from(frames, times(frames), released) is None

"""A clip may end when nothing has moved for long enough; noise and a shaken light are no motion."""

import cv2
import numpy as np
import pytest

from vision.rest import RestWatch, Stillness

ALL = np.ones((480, 640), bool)


def table(seed: int, brightness: float = 1.0) -> np.ndarray:
    """A textured table, 1 mm a pixel, with fresh noise."""
    texture = cv2.resize(np.random.default_rng(0).uniform(60, 180, (30, 40)).astype(np.float32), (640, 480))
    noise = np.random.default_rng(seed).normal(0, 5, (480, 640))
    return np.clip(texture * brightness + noise, 0, 255).astype(np.uint8)


STILL = table(0)


def test_rest_comes_only_after_the_last_motion():
    watch = RestWatch(ALL, mm_per_px=1.0)
    at_rest_us = None
    for k in range(240):
        picture = table(k)
        x = 100 + min(k, 100) * 3
        cv2.circle(picture, (x, 240), 12, 255, -1)
        watch.look(k * 8333, picture)
        if watch.at_rest:
            at_rest_us = k * 8333
            break
    assert at_rest_us is not None
    last_motion_us = 100 * 8333
    assert last_motion_us + 400_000 <= at_rest_us <= last_motion_us + 600_000


@pytest.mark.parametrize(
    ("still_us", "stillness"),
    [
        (0, Stillness.MOVING),
        (30_000, Stillness.MOVING),
        (40_000, Stillness.QUIET),
        (390_000, Stillness.QUIET),
        (400_000, Stillness.REST),
    ],
)
def test_a_table_is_quiet_after_40_ms_and_at_rest_after_400(still_us: int, stillness: Stillness) -> None:
    """However long the camera's clock has run."""
    watch = RestWatch(ALL, mm_per_px=1.0)
    assert watch.stillness is Stillness.MOVING
    for at_us in range(0, still_us + 1, 10_000):
        watch.look(7_000_000 + at_us, STILL)
    assert watch.stillness is stillness
    assert watch.at_rest is (stillness is Stillness.REST)


def look_at_a_square(watch: RestWatch, side_px: int, step_px: float) -> None:
    """Look at a square as it goes to the right, each 20 ms by a step, over a plain table."""
    for k in range(30):
        picture = np.full((480, 640), 150, np.uint8)
        picture[200 : 200 + side_px, 100 : 100 + side_px] = 30
        moved = np.array([[1.0, 0.0, step_px * k], [0.0, 1.0, 0.0]])
        picture = cv2.warpAffine(picture, moved, (640, 480), borderMode=cv2.BORDER_REPLICATE)
        watch.look(20_000 * k, np.asarray(picture, np.uint8))


@pytest.mark.parametrize(("step_px", "is_seen"), [(0.2, True), (0.0, False)])
def test_what_moves_so_slowly_that_no_picture_differs_from_the_one_before_moves(
    step_px: float, is_seen: bool
) -> None:
    watch = RestWatch(ALL, mm_per_px=1.0)
    look_at_a_square(watch, 40, step_px)
    assert (watch.stillness is Stillness.MOVING) is is_seen


@pytest.mark.parametrize(("mm_per_px", "is_seen"), [(0.95, False), (1.0, True)])
def test_what_is_no_larger_than_the_shot_may_move_on(mm_per_px: float, is_seen: bool) -> None:
    """Of 64 pixels: 58 mm2 of the table, or 64."""
    watch = RestWatch(ALL, mm_per_px=mm_per_px)
    look_at_a_square(watch, 8, 8.0)
    assert (watch.stillness is Stillness.MOVING) is is_seen

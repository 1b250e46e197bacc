"""A clip may end when nothing has moved for long enough; noise and a shaken light are no motion."""

import cv2
import numpy as np

from vision.rest import RestWatch

ALL = np.ones((480, 640), bool)


def table(seed: int, brightness: float = 1.0) -> np.ndarray:
    """A textured table, 1 mm a pixel, with fresh noise."""
    texture = cv2.resize(np.random.default_rng(0).uniform(60, 180, (30, 40)).astype(np.float32), (640, 480))
    noise = np.random.default_rng(seed).normal(0, 5, (480, 640))
    return np.clip(texture * brightness + noise, 0, 255).astype(np.uint8)


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

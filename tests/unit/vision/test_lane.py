"""A shot is asked for only over a table that looks as it did when it was read."""

import cv2
import numpy as np
import pytest

from vision.lane import read_lane
from vision.rest import RestWatch

ALL = np.ones((480, 640), bool)


def table(seed: int, brightness: float = 1.0) -> np.ndarray:
    """A textured table, 1 mm a pixel, with fresh noise."""
    texture = cv2.resize(np.random.default_rng(0).uniform(60, 180, (30, 40)).astype(np.float32), (640, 480))
    noise = np.random.default_rng(seed).normal(0, 5, (480, 640))
    return np.clip(texture * brightness + noise, 0, 255).astype(np.uint8)


def look(*pictures: np.ndarray, watched: np.ndarray = ALL):
    return read_lane(table(0), pictures, watched=watched, mm_per_px=1.0)


def test_unchanged_table_is_clear_through_noise():
    assert look(table(1), table(2), table(3)).clear


def test_slight_change_of_light_is_no_obstacle():
    assert look(table(1, brightness=0.9)).clear


def test_hand_over_the_table_is_told_with_its_place():
    picture = table(1)
    cv2.ellipse(picture, (400, 200), (60, 25), 30, 0, 360, 190, -1)
    reading = look(table(2), picture)
    assert not reading.clear
    assert "over the table" in reading.reason
    u, v = (int(word.strip("(),")) for word in reading.reason.split("pixel ")[1].split(", "))
    assert abs(u - 400) < 40
    assert abs(v - 200) < 40


def test_what_moves_outside_the_watched_part_does_not_matter():
    picture = table(1)
    cv2.rectangle(picture, (0, 0), (100, 480), 250, -1)
    watched = ALL.copy()
    watched[:, :120] = False
    assert look(picture, watched=watched).clear


@pytest.mark.parametrize(
    ("picture", "reason"),
    [
        (np.zeros((480, 640), np.uint8), "dark"),
        (table(1, brightness=0.5), "light changed by -"),
        (np.zeros((240, 320), np.uint8), "size changed"),
    ],
    ids=["lens cap", "lamp out", "other resolution"],
)
def test_picture_that_cannot_be_compared_is_not_clear(picture, reason):
    reading = look(picture)
    assert not reading.clear
    assert reason in reading.reason


def test_no_picture_is_not_clear():
    assert not look().clear


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

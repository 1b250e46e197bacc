"""Markers too small to be decoded, each held against its print where it should lie."""

import math
from dataclasses import replace

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import MARKERS, Table

from vision.grey import grey
from vision.registration import BoardView
from vision.registration.pattern import PatternSeen, see_pattern

Image = NDArray[np.uint8]

HALF_MM = MARKERS.size_mm / 2


def small_camera(**how: float) -> BoardView:
    """A camera that shows markers 12 px wide, modules of 2."""
    return painted.view(width_px=640, height_px=400, focal_px=417.0, **how)


def seen_by(
    camera: BoardView,
    *,
    blur_px: float = 0.8,
    noise: float = 1.5,
    seed: int = 0,
    lit: NDArray[np.float64] | float = 1.0,
) -> Image:
    """See the table as a sensor does: light is blurred, and grey levels are no measure of it."""
    light = (grey(Table(camera, noise=0.0).paint()).astype(np.float32) / 255) ** 2.2
    light = np.asarray(light * lit, dtype=np.float32)
    soft = np.asarray(255 * cv2.GaussianBlur(light, (0, 0), blur_px) ** (1 / 2.2), dtype=np.float32)
    soft += np.random.default_rng(seed).normal(0, noise, soft.shape).astype(np.float32)
    return np.clip(soft, 0, 255).astype(np.uint8)


def corners_px(camera: BoardView, number: int) -> NDArray[np.float64]:
    """Where a marker's corners are, in OpenCV's order: its top edge lies towards +y."""
    x, y = MARKERS.centres_mm[number]
    ways = ((-1, 1), (1, 1), (1, -1), (-1, -1))
    return camera.project(np.array([(x + a * HALF_MM, y + b * HALF_MM, 0.0) for a, b in ways]))


def look(picture: Image, camera: BoardView, number: int) -> PatternSeen:
    found = see_pattern(picture, camera, MARKERS, number)
    assert found is not None
    return found


@pytest.mark.parametrize("blur_px", [0.3, 0.8])
@pytest.mark.parametrize("roll_rad", [0.0, 1.2, math.pi, -1.9])
def test_a_small_marker_is_read_and_placed_however_it_is_turned_and_however_soft(
    roll_rad: float, blur_px: float
) -> None:
    camera = small_camera(roll_rad=roll_rad, tilt_rad=0.1)
    picture = seen_by(camera, blur_px=blur_px)
    for number in MARKERS.centres_mm:
        found = look(picture, camera, number)
        assert np.abs(found.pixels - corners_px(camera, number)).max() < 0.6
        assert found.likeness > 0.85
        assert found.lead > 0.02


def test_a_marker_eight_pixels_wide_is_placed_still() -> None:
    camera = painted.view(width_px=640, height_px=400, focal_px=280.0, tilt_rad=0.1)
    picture = seen_by(camera, blur_px=0.5)
    for number in MARKERS.centres_mm:
        assert np.abs(look(picture, camera, number).pixels - corners_px(camera, number)).max() < 0.6


@pytest.mark.parametrize("off_mm", [(10.0, 0.0), (-10.0, 0.0), (0.0, 10.0), (7.0, -7.0)])
def test_a_marker_is_looked_for_beside_where_the_camera_says_that_it_lies(
    off_mm: tuple[float, float],
) -> None:
    """Within a third of its side."""
    camera = small_camera(tilt_rad=0.05)
    guess = replace(camera, translation_mm=camera.translation_mm + camera.rotation @ np.array([*off_mm, 0.0]))
    picture = seen_by(camera)
    for number in MARKERS.centres_mm:
        assert np.abs(look(picture, guess, number).pixels - corners_px(camera, number)).max() < 0.6


def test_corners_are_as_far_off_as_is_said() -> None:
    camera = small_camera(tilt_rad=0.1, roll_rad=0.4)
    off = []
    for seed in range(12):
        picture = seen_by(camera, noise=8.0, seed=seed)
        for number in MARKERS.centres_mm:
            found = look(picture, camera, number)
            off.append((found.pixels - corners_px(camera, number)) / found.sigma_px)
    assert 0.6 < float(np.sqrt(np.mean(np.square(off)))) < 1.5


def test_another_marker_or_the_same_one_turned_is_told_from_the_one_that_should_lie_there() -> None:
    camera = small_camera()
    exchanged = replace(MARKERS, centres_mm={i: MARKERS.centres_mm[3 - i] for i in MARKERS.centres_mm})
    picture = seen_by(camera)
    for number in MARKERS.centres_mm:
        other = see_pattern(picture, camera, exchanged, number)
        assert other is None or other.lead < 0
    half_turn = camera.turned(painted.scene(camera))
    opposite = replace(
        MARKERS, centres_mm={i: (360.0 - x, 810.0 - y) for i, (x, y) in MARKERS.centres_mm.items()}
    )
    for number in MARKERS.centres_mm:
        turned = see_pattern(picture, half_turn, opposite, number)
        assert turned is None or turned.lead < 0


def test_a_light_that_falls_unevenly_does_not_make_another_marker_of_it() -> None:
    """At one side of it there is three times as much as at the other."""
    camera = small_camera(tilt_rad=0.1)
    for number in MARKERS.centres_mm:
        corners = corners_px(camera, number)
        off = (np.arange(camera.width_px) - corners[:, 0].mean()) / np.ptp(corners[:, 0])
        found = look(seen_by(camera, lit=np.clip(0.6 + 0.6 * off, 0.1, 1.0)), camera, number)
        assert found.lead > 0.02
        assert np.abs(found.pixels - corners).max() < 0.8


def test_light_ink_on_dark_paper_is_no_marker() -> None:
    camera = small_camera()
    picture = np.asarray(255 - seen_by(camera), dtype=np.uint8)
    for number in MARKERS.centres_mm:
        found = see_pattern(picture, camera, MARKERS, number)
        assert found is None or found.lead < 0


@pytest.mark.parametrize("shift_px", [(-310.0, 0.0), (310.0, 0.0), (0.0, -195.0), (0.0, 195.0)], ids=str)
def test_what_would_reach_out_of_the_picture_is_not_looked_for(shift_px: tuple[float, float]) -> None:
    """Markers that lie at an edge, whole or in part, and beyond it."""
    camera = small_camera()
    picture = np.random.default_rng(3).integers(0, 255, (400, 640)).astype(np.uint8)
    (u, v) = corners_px(camera, 0).mean(axis=0)
    for more_px in (0.0, 8.0, 40.0):
        middle = np.array([319.5, 199.5]) + np.array(shift_px) + more_px * np.sign(shift_px)
        matrix = camera.camera_matrix.copy()
        matrix[:2, 2] += middle - (u, v)
        there = replace(camera, camera_matrix=matrix)
        assert see_pattern(picture, there, MARKERS, 0) is None


def test_a_marker_of_which_nothing_is_left_but_grey_is_not_looked_for() -> None:
    far = painted.view(width_px=640, height_px=400, focal_px=50.0)
    picture = np.random.default_rng(3).integers(0, 255, (400, 640)).astype(np.uint8)
    assert see_pattern(picture, far, MARKERS, 0) is None


def test_where_there_is_no_marker_none_is_found_far_away_or_of_another_size() -> None:
    """Whatever is found in a picture of nothing, it is where it was looked for and about as large."""
    camera = small_camera()
    expected = corners_px(camera, 0)
    side_px = float(np.linalg.norm(expected[1] - expected[0]))
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        noise = cv2.GaussianBlur(rng.normal(0, 1, (400, 640)).astype(np.float32), (0, 0), rng.uniform(0.5, 4))
        picture = np.clip(128 + 90 * noise / noise.std(), 0, 255).astype(np.uint8)
        each = see_pattern(picture, camera, MARKERS, 0)
        if each is not None:
            found.append(each.pixels)
    off_px = [np.abs(pixels.mean(axis=0) - expected.mean(axis=0)).max() for pixels in found]
    areas_px = [cv2.contourArea(pixels.astype(np.float32)) for pixels in found]
    assert len(found) > 10
    assert max(off_px) < side_px
    assert min(areas_px) > side_px**2 / 3

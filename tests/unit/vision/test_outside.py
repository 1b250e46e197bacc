"""Squares that are outside the picture are named; a strip of a few mm at a rim is no matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest
from painted_table import SQUARE_MM

from vision.outside import outside_picture
from vision.registration import BoardView

CAMERA = painted.view()
SCENE = painted.scene(CAMERA)
FOLDING = (-0.35, 0.0, 0.0, 0.0, 0.0)


def beyond(strip_mm: float, at: str, camera: BoardView = CAMERA) -> BoardView:
    """The same camera, shifted until its picture ends so far within an end or a side of the board."""
    corners = camera.project(np.array([(x, y, 0.0) for x, y in SCENE.outline_mm]))
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    per_mm = 1 / camera.mm_per_px(*SCENE.centre_mm)
    off = {
        "A's end": (left + 0.5 + strip_mm * per_mm, 0.0),
        "G's end": (right + 0.5 - camera.width_px - strip_mm * per_mm, 0.0),
        "top": (0.0, top + 0.5 + strip_mm * per_mm),
        "bottom": (0.0, bottom + 0.5 - camera.height_px - strip_mm * per_mm),
    }[at]
    moved_mm = np.array([*off, 0.0]) / per_mm
    return replace(camera, translation_mm=camera.translation_mm - moved_mm)


@pytest.mark.parametrize("at", ["A's end", "G's end", "top", "bottom"])
def test_a_strip_in_which_nobody_stands_may_be_outside(at: str) -> None:
    assert outside_picture(beyond(0.29 * SQUARE_MM, at), SCENE) is None
    assert outside_picture(beyond(0.31 * SQUARE_MM, at), SCENE) is not None


@pytest.mark.parametrize(
    ("at", "strip_mm", "squares"),
    [
        ("A's end", 45.0, "A01-A08"),
        ("G's end", 405.0, "G01-G72"),
        ("top", 40.0, "A01,A09,A17,A25,A33,A41,A49,A57,A65,G08,G16,G24,G32,G40,G48,G56,G64,G72"),
    ],
)
def test_squares_that_are_outside_are_named(at: str, strip_mm: float, squares: str) -> None:
    told = outside_picture(beyond(strip_mm, at), SCENE)
    assert told is not None
    assert told.startswith(
        f"part of the board is outside the picture, {squares}: who stands there may fall unseen"
    )


def test_what_a_lens_folds_back_into_its_picture_is_outside() -> None:
    """Such a lens sees 0.97 of its focal length from its middle at most, and gives what is beyond it within its picture."""
    camera = replace(painted.view(focal_px=500.0, height_mm=330.0), distortion=np.array(FOLDING))
    far = camera.project(np.array([[180.0, 0.0, 0.0]]))[0]
    assert 0 <= far[0] < camera.width_px
    told = outside_picture(camera, SCENE)
    assert told is not None
    assert "A01-A" in told

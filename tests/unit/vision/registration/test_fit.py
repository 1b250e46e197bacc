"""The camera's stated errors are those that it has: fitted again and again to corners that noise moves."""

from __future__ import annotations

import numpy as np
import painted_table as painted
import pytest
from painted_table import MARKERS, SQUARE_MM

from vision.registration.fit import Measured, Unknowns, first_pose, fit_camera
from vision.registration.marks import Marks

CAMERA = painted.view(tilt_rad=0.3, roll_rad=0.7, focal_px=900)
SIZE_PX = (CAMERA.width_px, CAMERA.height_px)
SAID_PX = 0.5
_ROWS, _FILES = np.mgrid[0:18, 0:8]
MIDDLES_MM = np.column_stack([_FILES.ravel() + 0.5, _ROWS.ravel() + 0.5, np.zeros(144)]) * (
    SQUARE_MM,
    SQUARE_MM,
    1,
)
RIM_MM = np.array([(x_mm, y_mm, 0.0) for x_mm, y_mm in painted.scene(CAMERA).outline_mm])


@pytest.mark.parametrize(
    ("shown", "noise_px", "knows_lens", "share"),
    [
        ((0, 1, 2, 3), 0.5, True, (0.75, 1.15)),
        ((0, 1), 0.5, True, (0.6, 1.1)),
        ((2, 3), 0.5, True, (0.6, 1.1)),
        ((0, 3), 0.5, True, (0.5, 1.1)),
        ((0, 1, 2, 3), 1.5, True, (0.75, 1.3)),
        ((0, 1, 2, 3), 0.5, False, (0.5, 1.1)),
    ],
    ids=["all markers", "at one end", "at the other", "across", "more noise than said", "unknown lens"],
)
def test_squares_and_corners_are_as_far_off_as_is_said(
    shown: tuple[int, ...], noise_px: float, knows_lens: bool, share: tuple[float, float]
) -> None:
    """Markers at one end leave the other end open by up to twenty times as much."""
    scene = painted.scene(CAMERA)
    if not knows_lens:
        scene = painted.scene(CAMERA, intrinsics=None, distortion=None)
    unknowns = Unknowns.of(scene, *SIZE_PX)
    marks = Marks.of_corners(MARKERS, [(number, np.zeros((4, 2)), SAID_PX) for number in shown])
    true_px = CAMERA.project(np.column_stack([marks.board_mm, np.zeros(len(marks.board_mm))]))
    rng = np.random.default_rng(1)
    off_mm, said_mm = [], []
    for _ in range(100):
        seen_px = true_px + rng.normal(0.0, noise_px, true_px.shape)
        measured = Measured.of_points(marks.board_mm, marks.middle_mm, seen_px, marks.group, marks.sigma_px)
        pose = first_pose(marks.board_mm, seen_px, unknowns)
        assert pose is not None
        view, *_ = fit_camera(measured, scene, unknowns, unknowns.start(pose), SIZE_PX)
        assert view.square_error_mm is not None
        places_mm = np.concatenate([MIDDLES_MM, RIM_MM])
        off_mm.append(np.linalg.norm(view.on_plane(CAMERA.project(places_mm)) - places_mm[:, :2], axis=1))
        said_mm.append([*view.square_error_mm.ravel(), view.error_mm])
    deviation_mm = np.sqrt((np.array(off_mm) ** 2).mean(axis=0))
    deviation_mm = np.append(deviation_mm[:144], deviation_mm[144:].max())
    ratio = deviation_mm / np.median(said_mm, axis=0)
    assert share[0] < ratio.min() <= ratio.max() < share[1]


def test_a_distortion_that_is_told_is_kept_though_the_focal_length_is_not() -> None:
    """Nothing that is taken for a usual lens is added to it."""
    told = (-0.2, 0.05, 0.001, 0.0, 0.0)
    unknowns = Unknowns.of(painted.scene(CAMERA, intrinsics=None, distortion=told), *SIZE_PX)
    camera, distortion = unknowns.lens(unknowns.start(np.zeros(6)))
    assert distortion.tolist() == [*told, 0.0, 0.0, 0.0]
    assert camera[0, 2] == (CAMERA.width_px - 1) / 2
    assert set(unknowns.free) < set(
        Unknowns.of(painted.scene(CAMERA, intrinsics=None, distortion=None), *SIZE_PX).free
    )

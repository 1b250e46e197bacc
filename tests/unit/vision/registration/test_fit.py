"""The camera's stated errors are those that it has: fitted again and again to corners that noise moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import MARKERS, SQUARE_MM

from vision.registration import BoardView
from vision.registration.fit import LINES, Measured, Unknowns, first_pose, fit_camera
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


CORNERS = Marks.of_corners(MARKERS, [(number, np.zeros((4, 2)), SAID_PX) for number in MARKERS.centres_mm])
_INNER = [(x, y + 0.5, 1.0, 0.0) for x in range(1, 8) for y in range(18)]
_INNER += [(x + 0.5, y, 0.0, 1.0) for y in range(1, 18) for x in range(8)]
EDGES_MM = np.array(_INNER)[:, :2] * SQUARE_MM
ACROSS = np.array(_INNER)[:, 2:]


def seen_by(camera: BoardView, board_mm: NDArray[np.float64]) -> NDArray[np.float64]:
    return camera.project(np.column_stack([board_mm, np.zeros(len(board_mm))]))


def corners(camera: BoardView = CAMERA, *, smaller: float = 0.0) -> Measured:
    """All markers, so much smaller than they are."""
    seems_mm = CORNERS.middle_mm + (1 - smaller) * (CORNERS.board_mm - CORNERS.middle_mm)
    return Measured.of_points(
        CORNERS.board_mm, CORNERS.middle_mm, seen_by(camera, seems_mm), CORNERS.group, CORNERS.sigma_px
    )


def lines(
    camera: BoardView = CAMERA, *, beside_mm: tuple[float, float] = (0.0, 0.0), leans_mm: float = 0.0
) -> Measured:
    """All lines, so far beside where they should be, and on G's field so far towards the dark square."""
    lean = ACROSS * (1 - 2 * (np.floor(EDGES_MM / SQUARE_MM).sum(axis=1) % 2))[:, None]
    at_mm = EDGES_MM + beside_mm + leans_mm * lean * (EDGES_MM[:, 1:] > 9 * SQUARE_MM)
    along = seen_by(camera, EDGES_MM + ACROSS) - seen_by(camera, EDGES_MM)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    count = len(EDGES_MM)
    return Measured(
        EDGES_MM, EDGES_MM, seen_by(camera, at_mm), along, np.full(count, 0.1), np.full(count, LINES), lean
    )


def fitted(
    measured: Measured, camera: BoardView = CAMERA, **known: object
) -> tuple[BoardView, NDArray[np.float64]]:
    """The camera, and how far each measurement is from where it puts it, px."""
    scene = painted.scene(camera, **known)
    size_px = (camera.width_px, camera.height_px)
    unknowns = Unknowns.of(scene, *size_px)
    points = measured.where(measured.group != LINES)
    pose = first_pose(points.board_mm[::2], points.pixels[::2], unknowns)
    assert pose is not None
    view, _, misfit_px = fit_camera(measured, scene, unknowns, unknowns.start(pose), size_px)
    return view, misfit_px


def worst_mm(measured: Measured, camera: BoardView = CAMERA, **known: object) -> float:
    """How far off the fitted camera puts the board's corners, at the worst."""
    view, _ = fitted(measured, camera, **known)
    return float(np.linalg.norm(view.on_plane(camera.project(RIM_MM)) - RIM_MM[:, :2], axis=1).max())


def test_markers_into_whose_black_the_paper_bleeds_place_the_board_as_well() -> None:
    assert worst_mm(corners(smaller=0.04)) < 0.05


def test_markers_say_where_the_board_is_and_not_its_lines_as_a_whole() -> None:
    """No print is laid quite true."""
    print_mm = (0.4, -0.3)
    assert worst_mm(corners().joined(lines(beside_mm=print_mm))) < 0.5 * np.hypot(*print_mm)


def test_without_markers_the_lines_are_the_board() -> None:
    far_off = corners().at_least(20.0)
    far_off = replace(far_off, pixels=far_off.pixels + 6.0)
    assert worst_mm(far_off.joined(lines()), markers=None) < 0.1
    alone, beside_markers = (
        fitted(far_off.joined(lines()), markers=markers)[0].error_mm for markers in (None, MARKERS)
    )
    assert 2 * alone < beside_markers, "which would say more of where it is"


def test_lines_that_lie_towards_the_dark_squares_on_one_field_place_the_board_as_well() -> None:
    leaning = corners().at_least(5.0).joined(lines(leans_mm=1.5))
    assert worst_mm(leaning) < 0.1
    assert fitted(leaning)[1].max() < 0.1, "and none of them is a line that does not fit"


def test_however_well_all_agrees_no_camera_is_said_to_be_known_better_than_it_can_be() -> None:
    """Few corners agree by chance, and some of what is off is common to all of them."""
    assert fitted(corners())[0].error_mm > 0.3
    exactly = replace(corners(), sigma_px=np.full(len(CORNERS.board_mm) * 2, 1e-3))
    assert fitted(exactly)[0].error_mm > 0.03 * CAMERA.mm_per_px(180.0, 405.0)


def test_one_corner_far_off_hardly_moves_the_camera() -> None:
    measured = corners()
    pixels = measured.pixels.copy()
    pixels[:2] += 30.0
    assert worst_mm(replace(measured, pixels=pixels)) < 0.15


@pytest.mark.parametrize("focal_px", [750.0, 900.0, 1500.0])
def test_a_lens_of_which_nothing_is_told_is_found_where_the_camera_looks_aslant(focal_px: float) -> None:
    camera = painted.view(
        tilt_rad=0.3,
        roll_rad=0.7,
        focal_px=focal_px,
        height_mm=1.2 * focal_px,
        distortion=(-0.08, 0.02, 0, 0, 0),
    )
    camera = replace(
        camera, camera_matrix=np.add(camera.camera_matrix, [[0, 0, 4.0], [0, 0, -3.0], [0, 0, 0]])
    )
    measured = corners(camera).at_least(0.02).joined(lines(camera))
    assert worst_mm(measured, camera, intrinsics=None, distortion=None) < 0.05


def test_of_points_and_lines_only_the_lines_are_held_to_share_their_errors() -> None:
    both = corners().joined(lines())
    shared = both.shared(3.0)
    assert np.array_equal(shared.sigma_px[both.group == LINES], 3.0 * both.sigma_px[both.group == LINES])
    assert np.array_equal(shared.sigma_px[both.group != LINES], both.sigma_px[both.group != LINES])
    assert both.at_least(0.3).sigma_px.min() == 0.3
    assert both.at_least(0.3).sigma_px.max() == SAID_PX

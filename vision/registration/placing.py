"""A camera placed by marks, corners of markers or of the board, and then by the board's own lines.

Marks place it roughly, and those that do not agree with the others are dropped. Then the lines are looked for where that camera has
them, nearer and nearer: there are many of them, all over the board, and they are the board, where markers lie beside it as well as
somebody laid them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.registration.fit import LINES, Measured, Unknowns, first_pose, fit_camera, off_of
from vision.registration.lines import measure_crossings, measure_frame, measure_lines
from vision.registration.marks import CORNER_SIGMA_PX
from vision.registration.view import BoardView, NoBoard
from vision.scene import Scene

__all__ = ["Rough", "place_by_lines", "place_by_marks", "place_on_corners"]

FloatArray = NDArray[np.float64]
Image = NDArray[np.uint8]
Rough = tuple[BoardView, FloatArray, Measured]
"""The camera, the fit's unknowns, and the marks that they stand on."""

# A marker is believed where its corners agree with the others' pose to this many pixels.
_MARKER_TOLERANCE_PX = 4.0
# A hand does not click a corner better than this.
_CLICKED_SIGMA_PX = 2.0
# Markers are laid and measured by hand; how well, the lines tell: between so many squares.
_LAID_SQUARES = (0.001, 0.02)
_LAID_AT_FIRST_SQUARES = 0.01  # before any line has told
_LAID_WEIGHT = 1.0  # of the larger, where no lines tell: as much as of half a marker that is seen
_SHAPE_SIGMA_PX = 0.2  # how true a marker's corners are to each other
_TURNED_SIGMA_RAD = 0.03  # a marker of 30 mm lies half a millimetre off at its corners, then
# A marker's four corners are off together, so that they count as one.
_AS_ONE = 2.0
# Fewer edges between squares than these do not say where a board is.
_FEWEST_LINES = 40
# And of the 60 along the sides and the middle line: where the sides are those of a margin around the squares, or of one side, fewer
# agree, as 43 did of a board whose one margin is 8 mm wide.
_FEWEST_OF_FRAME = 48
# Edges are first looked for within so many squares, and believed to so many; then nearer. Where too few of them agree
# in the end, the start was far off: it is gone over again in smaller steps.
_PASSES = ((0.35, 0.1), (0.2, 0.02), (0.16, 0.0))
_SMALL_PASSES = (
    (0.45, 0.3),
    (0.45, 0.15),
    (0.35, 0.08),
    (0.25, 0.04),
    (0.2, 0.02),
    (0.16, 0.01),
    (0.16, 0.0),
)
_MOST_AGREE = 0.6
# A camera that is known to so many squares needs no wide look.
_NEAR_SQUARES = 0.02
# An edge farther from the fit than this is something else: a soldier, a shadow.
_LINE_TOLERANCE_SIGMA = 5.0
# Nor is it a line, however badly it is seen: grain and numbers lie anywhere within reach.
_LINE_TOLERANCE_SQUARES = 0.05
# The edges along one line share its print and its light, so that they say less together than each by itself: 262 edges
# lie on 24 lines.
_SHARED_BY_LINES = 3.0
# A start that makes as many agree was not far off.
_NEARLY_ALL_LINES = 236


def place_by_marks(shades: Image, scene: Scene, marks: Measured) -> Rough | NoBoard:
    """Place the camera by markers or the board's corners, as far as they agree.

    Parameters
    ----------
    shades
        The picture in grey.
    scene
        The board, and the lens where it is known.
    marks
        Corners of markers, or the board's own.
    """
    size_px = (shades.shape[1], shades.shape[0])
    unknowns = Unknowns.of(scene, *size_px)
    while True:
        fitted = _fit_marks(marks, scene, unknowns, size_px)
        if fitted is None:
            return NoBoard(
                "the markers or corners cannot be those of a board: do they lie on one line, and are their places, "
                "their size and the lens given rightly?"
            )
        view, p, misfit_px = fitted
        groups = sorted(set(marks.group.tolist()))
        worst = {g: float(np.median(misfit_px[marks.group == g])) for g in groups}
        if groups == [-1] and misfit_px.max() > _px_per_square(view, scene):
            # The fit gives up a corner or two that do not agree with the others, however far they are.
            worst[-1] = np.inf
        if max(worst.values()) <= _MARKER_TOLERANCE_PX:
            break
        if len(groups) < 4:
            if groups == [-1]:
                return NoBoard(
                    "the four given corners are not those of a board of "
                    f"{scene.width_mm:g} by {scene.length_mm:g} mm seen from above"
                )
            return NoBoard(
                f"the markers {', '.join(map(str, groups))} do not lie where they should: "
                f"off by up to {max(worst.values()):.0f} px"
            )
        # One marker that was moved bends the pose for all: drop the one whose absence helps most.
        marks = min(
            (marks.where(marks.group != g) for g in groups),
            key=lambda rest: _typical_misfit_px(rest, scene, unknowns, size_px),
        )
    if view.camera_mm[2] <= 0:
        return NoBoard("the markers or corners are mirrored: the camera would have to lie below the board")
    return view, p, marks


def place_by_lines(shades: Image, scene: Scene, view: BoardView, p: FloatArray, marks: Measured) -> BoardView:
    """Place the camera by the board's lines, by what marks their crossings, or by its four sides; else by the marks alone.

    Parameters
    ----------
    shades, scene
        As for `place_by_marks`.
    view, p, marks
        What that gave: where to begin.
    """
    for measure, fewest in (
        (measure_lines, _FEWEST_LINES),
        (measure_crossings, _FEWEST_LINES),
        (measure_frame, _FEWEST_OF_FRAME),
    ):
        placed = _placed_by(measure, fewest, shades, scene, view, p, marks)
        if placed is not None:
            return placed
    return _by_marks_alone(scene, view, p, marks)


def _placed_by(
    measure: Callable[[Image, BoardView, Scene, float], Measured],
    fewest: int,
    shades: Image,
    scene: Scene,
    view: BoardView,
    p: FloatArray,
    marks: Measured,
) -> BoardView | None:
    """Place the camera by what is measured of the board's pattern; ``None`` where too little of it agrees."""
    size_px = (view.width_px, view.height_px)
    unknowns = Unknowns.of(scene, *size_px)
    px_per_square = _px_per_square(view, scene)
    laid_px = _CLICKED_SIGMA_PX if scene.markers is None else _LAID_AT_FIRST_SQUARES * px_per_square
    believed_marks = marks.at_least(float(np.hypot(laid_px, CORNER_SIGMA_PX)))
    is_near = view.error_mm < _NEAR_SQUARES * scene.square_mm
    best, most = None, 0
    for passes in (_PASSES[is_near:], _SMALL_PASSES):
        refined, q = view, p
        for reach, believed in passes:
            lines = measure(shades, refined, scene, reach)
            lines = lines.where(_known_to_mm(refined, scene, lines.board_mm) < 0.5 * reach * scene.square_mm)
            if len(lines.pixels) < _FEWEST_LINES:
                return None
            measured = believed_marks.joined(lines.at_least(believed * px_per_square))
            refined, q, misfit_px = fit_camera(measured, scene, unknowns, q, size_px)
            most_px = np.minimum(
                _LINE_TOLERANCE_SIGMA * measured.sigma_px, _LINE_TOLERANCE_SQUARES * px_per_square
            )
            keep = (measured.group != LINES) | (misfit_px < most_px)
            if scene.markers is not None:
                laid_px = _laid_px(measured, unknowns, q, px_per_square)
                believed_marks = marks.at_least(float(np.hypot(laid_px, CORNER_SIGMA_PX)))
        kept = measured.where(keep)
        agree = int((kept.group == LINES).sum())
        if agree >= max(fewest, _MOST_AGREE * len(lines.pixels), most + 1):
            best, most = (kept, q), agree
            if scene.markers is not None or agree >= _NEARLY_ALL_LINES:
                break
    if best is None:
        return None
    return fit_camera(best[0].shared(_SHARED_BY_LINES), scene, unknowns, best[1], size_px)[0]


def place_on_corners(shades: Image, scene: Scene, corners_px: FloatArray) -> BoardView | NoBoard:
    """Place the camera by the board's corners and its lines, and by no marker.

    Parameters
    ----------
    shades, scene
        As for `place_by_marks`.
    corners_px
        Pixels in the order of `Scene.corners_px`, shape (4, 2).
    """
    bare = replace(scene, markers=None)
    outline_mm = np.array(scene.outline_mm)
    marks = Measured.of_points(
        outline_mm, outline_mm, corners_px, np.full(4, -1), np.full(4, _CLICKED_SIGMA_PX)
    )
    rough = place_by_marks(shades, bare, marks)
    return rough if isinstance(rough, NoBoard) else place_by_lines(shades, bare, *rough)


def _px_per_square(view: BoardView, scene: Scene) -> float:
    """Side of a square in the middle of the board, in px."""
    return scene.square_mm / view.mm_per_px(*scene.centre_mm)


def _fit_marks(
    marks: Measured, scene: Scene, unknowns: Unknowns, size_px: tuple[int, int]
) -> tuple[BoardView, FloatArray, FloatArray] | None:
    """Fit a camera to marks; ``None`` where no camera with that lens sees them like that."""
    pose = first_pose(marks.board_mm[::2], marks.pixels[::2], unknowns)
    if pose is None:
        return None
    start = unknowns.start(pose)
    # A lens that is told quite wrongly puts a mark nowhere.
    if not np.isfinite(off_of(marks, unknowns, start)).all():
        return None
    return fit_camera(marks, scene, unknowns, start, size_px)


def _typical_misfit_px(marks: Measured, scene: Scene, unknowns: Unknowns, size_px: tuple[int, int]) -> float:
    fitted = _fit_marks(marks, scene, unknowns, size_px)
    return np.inf if fitted is None else float(np.median(fitted[2]))


def _by_marks_alone(scene: Scene, view: BoardView, p: FloatArray, marks: Measured) -> BoardView:
    """Say how well markers place the camera that were laid by hand and that no line makes good."""
    if scene.markers is None:
        return view
    unknowns = Unknowns.of(scene, view.width_px, view.height_px)
    px_per_square = _px_per_square(view, scene)
    off_px = _off_by_marker_px(marks, unknowns, p)
    # What is left over of how they lie once the pose, of six unknowns, has followed them. From few markers that is little
    # to go by: together with how well people lay them.
    freedom = max(off_px.size - 6, 0)
    squares = (off_px**2).sum() + _LAID_WEIGHT * (_LAID_SQUARES[1] * px_per_square) ** 2
    laid_px = float(np.sqrt(squares / (freedom + _LAID_WEIGHT)))
    groups = sorted(set(marks.group.tolist()))
    loose = unknowns.laid_by_hand(groups, laid_px / px_per_square * scene.square_mm, _TURNED_SIGMA_RAD)
    start = np.concatenate([p, loose.mean[len(p) :]])
    return fit_camera(marks.at_least(_SHAPE_SIGMA_PX), scene, loose, start, (view.width_px, view.height_px))[
        0
    ]


def _known_to_mm(view: BoardView, scene: Scene, board_mm: FloatArray) -> FloatArray:
    """Give the stated error of the squares that points of the board, shape (N, 2), lie in; shape (N,)."""
    assert view.square_error_mm is not None, "the camera was fitted"
    file, row = np.minimum(board_mm // scene.square_mm, (BOARD_FILES - 1, BOARD_ROWS - 1)).astype(int).T
    return np.asarray(view.square_error_mm[row, file], dtype=np.float64)


def _laid_px(measured: Measured, unknowns: Unknowns, p: FloatArray, px_per_square: float) -> float:
    """Say how far markers lie from where they should, as a standard error for each of their corners."""
    means = _off_by_marker_px(measured, unknowns, p)
    freedom = max(means.size - 2, 1)
    typical_px = float(np.sqrt((means**2).sum() / freedom))
    low, high = (each * px_per_square for each in _LAID_SQUARES)
    return _AS_ONE * float(np.clip(typical_px, low, high))


def _off_by_marker_px(measured: Measured, unknowns: Unknowns, p: FloatArray) -> FloatArray:
    """How far each marker lies from where it should, (u, v), shape (markers, 2)."""
    off_px = off_of(measured, unknowns, p)
    groups = sorted({int(g) for g in measured.group if g >= 0})
    return np.array([off_px[measured.group == g].reshape(-1, 2).mean(axis=0) for g in groups])

"""The camera's pose, and what is unknown of its lens, by least squares from points and lines of the board.

Every measurement says how far, along one direction in the picture, a point of the board is from where it should be: a
marker's corner says it along u and along v, a line of the board only across itself. The unknowns are rotation vector
and translation in mm, and what is held by a prior:

- where the lens was never calibrated, the logarithm of the focal length's factor, the principal point, k1 and k2. A
  camera that looks almost straight down cannot tell a longer lens from a higher stand; points on the board are as good
  either way, only the parallax of raised points depends on it;
- with markers, how much smaller they look than they are, for bright paper bleeds into black; and where no lines make them good,
  by how much each lies beside where it should and is turned, for they were laid by hand;
- by how much the board's lines as a whole lie beside where its frame says: no print is cut and laid quite true, and
  markers, where there are some, say where the frame is;
- on the field of either side, how far a line that parts a dark square from a light one seems to lie towards the dark
  one, for its own darkness.

Steps are Gauss's and Newton's with Levenberg's damping; measurements that do not fit count for less (Cauchy's weights).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.registration.view import BoardView
from vision.scene import Scene

__all__ = ["LINES", "Measured", "Unknowns", "first_pose", "fit_camera", "off_of"]

FloatArray = NDArray[np.float64]

LINES = -2
"""The group of measurements that are lines of the board."""

# Weak prior of an unknown focal length: about 1.2 picture widths, within a factor 1.6 for two in three lenses.
_PRIOR_FOCAL_WIDTHS = 1.2
_PRIOR_FOCAL_LOG_SIGMA = 0.5
# The lens's axis meets the picture within so many widths of its middle.
_PRIOR_CENTRE_WIDTHS = 0.01
# And of an unknown lens's first distortion terms: barrel rather than cushion.
_PRIOR_K1 = -0.05
_PRIOR_K1_SIGMA = 0.1
_PRIOR_K2_SIGMA = 0.05
# How far the lines may lie beside where markers say; where there are none, the lines are the board, but for how well they are ruled.
_PRINT_SIGMA_SQUARES, _RULED_SIGMA_SQUARES = 0.005, 0.001
# How far a line may seem to lie towards its dark side.
_LEAN_SIGMA_SQUARES = 0.02
# Bright paper bleeds into a black marker by part of a pixel, so that it looks a few per cent smaller than it is.
_BLEED_SIGMA = 0.03
_POSE = 6
_BLEED, _FOCAL, _CENTRE_U, _CENTRE_V, _K1, _K2, _PRINT_X, _PRINT_Y, _LEAN_A, _LEAN_G = range(_POSE, 16)
_ALL = 16
_LAID = 3  # x, y and turn of each marker
_ROUNDS = 25
_CAUCHY = 3.0  # a measurement so many standard errors off counts half
_DONE = 1e-6
# What the measurements share and no fit can show, such as light across a line.
_SHARED_PX = 0.04


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Points of the board plane with where they are seen, each along one direction."""

    board_mm: FloatArray
    """Shape (N, 2)."""
    middle_mm: FloatArray
    """Middle of each point's marker, shape (N, 2): its corners close in on it where bright paper bleeds; of a line the
    point itself."""
    pixels: FloatArray
    """Shape (N, 2)."""
    along: FloatArray
    """Direction of unit length along which the measurement counts, shape (N, 2)."""
    sigma_px: FloatArray
    """Standard error, shape (N,)."""
    group: NDArray[np.int64]
    """Marker's number; -1 for corners of the board, `LINES` for its lines."""
    lean: FloatArray
    """(x, y) towards the darker side, as long as the line's step is high against its own darkness; shape (N, 2)."""

    @staticmethod
    def of_points(
        board_mm: FloatArray,
        middle_mm: FloatArray,
        pixels: FloatArray,
        group: NDArray[np.int64],
        sigma_px: FloatArray,
    ) -> Measured:
        """Measure points along u and along v."""
        count = len(board_mm)
        along = np.tile(np.eye(2), (count, 1))
        return Measured(
            np.repeat(board_mm, 2, axis=0),
            np.repeat(middle_mm, 2, axis=0),
            np.repeat(pixels, 2, axis=0),
            along,
            np.repeat(sigma_px, 2),
            np.repeat(group, 2),
            np.zeros((2 * count, 2)),
        )

    def joined(self, other: Measured) -> Measured:
        """Return these and others."""
        pairs = zip(self._arrays, other._arrays, strict=True)
        return Measured(*(np.concatenate(pair) for pair in pairs))

    def where(self, keep: NDArray[np.bool_]) -> Measured:
        """Return some of these."""
        return Measured(*(each[keep] for each in self._arrays))

    def at_least(self, sigma_px: float) -> Measured:
        """Return them with no standard error smaller than that."""
        return replace(self, sigma_px=np.maximum(self.sigma_px, sigma_px))

    def shared(self, factor: float) -> Measured:
        """Return them with so many times the standard error for lines."""
        return replace(self, sigma_px=np.where(self.group == LINES, factor, 1.0) * self.sigma_px)

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self.board_mm,
            self.middle_mm,
            self.pixels,
            self.along,
            self.sigma_px,
            self.group,
            self.lean,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Unknowns:
    """What is known beforehand of the fit's unknowns, and how well."""

    camera: FloatArray
    """The lens's matrix as it was told or guessed, shape (3, 3)."""
    distortion: FloatArray
    """Its distortion as it was told, in OpenCV's order, shape (8,)."""
    mean: FloatArray
    """Prior means: rotation vector, translation in mm, bleed, logarithm of the focal length's factor, shift of the principal point
    in px, k1 and k2 beyond what was told, print's x and y in mm, lean on A's and on G's field in mm; shape (16 + 3 for each of
    `laid`,)."""
    sigma: FloatArray
    """Their standard deviations: 0 for what is known, infinite for the pose."""
    middle_mm: float
    """The y at which the two fields meet."""
    laid: tuple[int, ...] = ()
    """Numbers of the markers that may lie beside where they should: x and y in mm and a turn in radians of each follow the others
    in the fit's vector."""

    @staticmethod
    def of(scene: Scene, width_px: int, height_px: int) -> Unknowns:
        """Gather them from what a scene says."""
        distortion = np.zeros(8)
        mean, sigma = np.zeros(_ALL), np.zeros(_ALL)
        sigma[:_POSE] = np.inf
        sigma[[_LEAN_A, _LEAN_G]] = _LEAN_SIGMA_SQUARES * scene.square_mm
        if scene.distortion is not None:
            distortion[: len(scene.distortion)] = scene.distortion
        if scene.intrinsics is not None:
            fx, fy, cx, cy = scene.intrinsics
        else:
            widest_px = max(width_px, height_px)
            fx = fy = _PRIOR_FOCAL_WIDTHS * widest_px
            cx, cy = (width_px - 1) / 2, (height_px - 1) / 2
            sigma[_FOCAL] = _PRIOR_FOCAL_LOG_SIGMA
            sigma[[_CENTRE_U, _CENTRE_V]] = _PRIOR_CENTRE_WIDTHS * widest_px
            if scene.distortion is None:
                mean[_K1] = _PRIOR_K1
                sigma[[_K1, _K2]] = _PRIOR_K1_SIGMA, _PRIOR_K2_SIGMA
        if scene.markers is not None:
            sigma[_BLEED] = _BLEED_SIGMA
        print_squares = _RULED_SIGMA_SQUARES if scene.markers is None else _PRINT_SIGMA_SQUARES
        sigma[[_PRINT_X, _PRINT_Y]] = print_squares * scene.square_mm
        return Unknowns(
            np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1.0]]), distortion, mean, sigma, scene.length_mm / 2
        )

    def laid_by_hand(self, numbers: Sequence[int], sigma_mm: float, sigma_rad: float) -> Unknowns:
        """Return them with markers that lie beside where they should, and turned, by as much."""
        count = len(numbers)
        return replace(
            self,
            mean=np.concatenate([self.mean, np.zeros(_LAID * count)]),
            sigma=np.concatenate([self.sigma, np.tile([sigma_mm, sigma_mm, sigma_rad], count)]),
            laid=tuple(numbers),
        )

    @property
    def free(self) -> NDArray[np.int64]:
        """Which unknowns are fitted, as indices of the fit's vector."""
        return np.flatnonzero(self.sigma > 0)

    def lens(self, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Camera matrix and distortion for the fit's unknowns."""
        camera, distortion = self.camera.copy(), self.distortion.copy()
        camera[[0, 1], [0, 1]] *= np.exp(p[_FOCAL])
        camera[:2, 2] += p[[_CENTRE_U, _CENTRE_V]]
        distortion[:2] += p[[_K1, _K2]]
        return camera, distortion

    def start(self, pose: FloatArray) -> FloatArray:
        """Return the vector to start from at a pose, shape (6,)."""
        return np.concatenate([pose, self.mean[_POSE:]])


def first_pose(board_mm: FloatArray, pixels: FloatArray, unknowns: Unknowns) -> FloatArray | None:
    """Closed-form pose of a plane, for the fit to start from: the better one of its two solutions.

    Parameters
    ----------
    board_mm
        Shape (N, 2), four points or more.
    pixels
        Shape (N, 2).
    unknowns
        The lens.

    Returns
    -------
    Rotation vector and translation in mm, shape (6,); ``None`` where no camera sees a plane like that.
    """
    flat = np.column_stack([board_mm, np.zeros(len(board_mm))])
    camera, distortion = unknowns.lens(unknowns.start(np.zeros(_POSE)))
    seen = np.ascontiguousarray(pixels)
    try:
        count, rotations, translations, _ = cv2.solvePnPGeneric(
            flat, seen, camera, distortion, flags=cv2.SOLVEPNP_IPPE
        )
        if not count:
            return None
        rotation, translation = rotations[0], translations[0]
        if not np.linalg.norm(rotation) < 2 * np.pi:
            # At half a turn exactly, OpenCV's closed form gives a rotation vector out of all bounds.
            _, rotation, translation = cv2.solvePnP(flat, seen, camera, distortion, flags=cv2.SOLVEPNP_SQPNP)
    except cv2.error:
        return None
    pose = np.concatenate([np.ravel(rotation), np.ravel(translation)])
    return pose if np.isfinite(pose).all() else None


def fit_camera(
    measured: Measured, scene: Scene, unknowns: Unknowns, start: FloatArray, size_px: tuple[int, int]
) -> tuple[BoardView, FloatArray, FloatArray]:
    """Fit the camera.

    Parameters
    ----------
    measured
        What was seen.
    scene
        The board.
    unknowns
        The lens.
    start
        The vector to start from, as the fit returns it.
    size_px
        Width and height of the picture.

    Returns
    -------
    view, p, misfit_px
        The camera; the unknowns; how far each measurement is from where the fit puts it, shape (N,).
    """
    free = unknowns.free
    mean, weight_of_prior = unknowns.mean[free], 1 / unknowns.sigma[free] ** 2
    diagonal = np.diag_indices(len(free))

    def cost_of(p: FloatArray, off: FloatArray) -> float:
        robust = _CAUCHY**2 * np.log1p((off / _CAUCHY) ** 2).sum()
        return float(robust + (weight_of_prior * (p[free] - mean) ** 2).sum())

    p = start.copy()
    off, slopes = _linearised(measured, unknowns, p)
    cost, damping = cost_of(p, off), 1e-4
    for _ in range(_ROUNDS):
        matrix, right = _normal(off, slopes[:, free], weight_of_prior, p[free] - mean)
        matrix[diagonal] *= 1 + damping
        moved = p.copy()
        moved[free] += np.linalg.solve(matrix, right)
        tried_off, tried_slopes = _linearised(measured, unknowns, moved)
        tried = cost_of(moved, tried_off)
        if not tried < cost:
            if damping > 1e6:
                break
            damping *= 10
            continue
        done = cost - tried < _DONE * cost
        p, off, slopes, cost, damping = moved, tried_off, tried_slopes, tried, max(damping / 10, 1e-9)
        if done:
            break
    matrix, _ = _normal(off, slopes[:, free], weight_of_prior, p[free] - mean)
    # Where the measurements scatter more than they should, so does the camera. How markers lie follows the measurements hardly more
    # than it is known beforehand.
    weights = 1 / (1 + (off / _CAUCHY) ** 2)
    freedom = max(float(weights.sum()) - (len(free) - _LAID * len(unknowns.laid)), 1.0)
    scatter = max(1.0, float(np.sqrt((weights * off**2).sum() / freedom)))
    inverse = np.linalg.pinv(matrix, hermitian=True)
    covariance = np.asarray(inverse * scatter**2, dtype=np.float64)
    view = _view(p, measured, scene, unknowns, covariance, size_px)
    return view, p, np.abs(off) * measured.sigma_px


def off_of(measured: Measured, unknowns: Unknowns, p: FloatArray) -> FloatArray:
    """Give seen less computed of each measurement, px, shape (N,)."""
    return _linearised(measured, unknowns, p)[0] * measured.sigma_px


def _linearised(measured: Measured, unknowns: Unknowns, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Seen less computed in standard errors, shape (N,), and the computed one's slopes, shape (N, unknowns)."""
    arm = measured.board_mm - measured.middle_mm
    printed = (measured.group == LINES)[:, None]
    on_g = measured.board_mm[:, 1] > unknowns.middle_mm
    lean = np.where(on_g, p[_LEAN_G], p[_LEAN_A])[:, None] * measured.lean
    board = measured.middle_mm + arm * (1 + p[_BLEED]) + printed * p[[_PRINT_X, _PRINT_Y]] + lean
    turned = np.column_stack([-arm[:, 1], arm[:, 0]])  # by a small angle
    for n, (x_mm, y_mm, turn_rad) in zip(unknowns.laid, p[_ALL:].reshape(-1, _LAID), strict=True):
        is_it = (measured.group == n)[:, None]
        board = board + is_it * (np.array([x_mm, y_mm]) + turn_rad * turned)
    along = measured.along / measured.sigma_px[:, None]
    pixels, slopes, by_point = _projected(board, unknowns, p, along)
    slopes[:, _BLEED] = (by_point * arm).sum(axis=1)
    slopes[:, _PRINT_X : _PRINT_Y + 1] = by_point * printed
    by_lean = (by_point * measured.lean).sum(axis=1)
    slopes[:, _LEAN_A], slopes[:, _LEAN_G] = by_lean * ~on_g, by_lean * on_g
    by_turn = (by_point * turned).sum(axis=1)
    for k, n in enumerate(unknowns.laid):
        is_it = measured.group == n
        first = _ALL + _LAID * k
        slopes[:, first : first + 2], slopes[:, first + 2] = by_point * is_it[:, None], by_turn * is_it
    return ((measured.pixels - pixels) * along).sum(axis=1), slopes


def _projected(
    board_mm: FloatArray, unknowns: Unknowns, p: FloatArray, along: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pixels of board points, shape (N, 2), and how far they go along a direction each.

    That is their slopes by the unknowns of camera and lens, shape (N, unknowns), and by a place on the board, (N, 2).
    """
    camera, distortion = unknowns.lens(p)
    points = np.column_stack([board_mm, np.zeros(len(board_mm))])
    pixels, raw = cv2.projectPoints(points, p[:3], p[3:6], camera, distortion)
    raw = np.asarray(raw).reshape(len(points), 2, -1)
    # OpenCV's columns: rotation, translation, fx, fy, cx, cy, k1, k2 and so on.
    raw = raw[:, 0] * along[:, :1] + raw[:, 1] * along[:, 1:]
    slopes = np.zeros((len(points), len(p)))
    slopes[:, :_POSE] = raw[:, :_POSE]
    slopes[:, _FOCAL] = raw[:, 6] * camera[0, 0] + raw[:, 7] * camera[1, 1]
    slopes[:, _CENTRE_U : _K2 + 1] = raw[:, 8:12]
    # A point moved on the board by d moves before the camera by R d, as a translation would.
    by_point = raw[:, 3:6] @ np.asarray(cv2.Rodrigues(p[:3])[0])[:, :2]
    return np.asarray(pixels, dtype=np.float64).reshape(-1, 2), slopes, by_point


def _normal(
    off: FloatArray, slopes: FloatArray, weight_of_prior: FloatArray, from_mean: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Matrix and right side of the normal equations of a step."""
    weighted = slopes / (1 + (off / _CAUCHY) ** 2)[:, None]
    return weighted.T @ slopes + np.diag(weight_of_prior), weighted.T @ off - weight_of_prior * from_mean


def _view(
    p: FloatArray,
    measured: Measured,
    scene: Scene,
    unknowns: Unknowns,
    covariance: FloatArray,
    size_px: tuple[int, int],
) -> BoardView:
    """Build the camera, with its errors on the board."""
    camera, distortion = unknowns.lens(p)
    rotation = np.asarray(cv2.Rodrigues(p[:3])[0])
    rows, files = np.mgrid[0:BOARD_ROWS, 0:BOARD_FILES]
    middles = np.column_stack([files.ravel() + 0.5, rows.ravel() + 0.5]) * scene.square_mm
    errors = _errors_mm(np.vstack([middles, np.array(scene.outline_mm)]), unknowns, p, covariance)
    return BoardView(
        camera_matrix=camera,
        distortion=distortion,
        rotation=rotation,
        translation_mm=p[3:6].copy(),
        width_px=size_px[0],
        height_px=size_px[1],
        error_mm=float(errors[-4:].max()),
        markers_used=tuple(sorted({int(g) for g in measured.group if g >= 0})),
        lines_used=int((measured.group == LINES).sum()),
        square_error_mm=errors[:-4].reshape(BOARD_ROWS, BOARD_FILES),
    )


def _errors_mm(board_mm: FloatArray, unknowns: Unknowns, p: FloatArray, covariance: FloatArray) -> FloatArray:
    """Give the standard deviation of the distance by which a pixel's board point is off, at board points; shape (N,)."""
    count = len(board_mm)
    both = np.repeat(np.eye(2), count, axis=0)
    _, slopes, by_point = _projected(np.tile(board_mm, (2, 1)), unknowns, p, both)
    by_point = by_point.reshape(2, count, 2)
    area = np.abs(by_point[0, :, 0] * by_point[1, :, 1] - by_point[0, :, 1] * by_point[1, :, 0])
    errors_mm = np.full(count, np.inf)
    told = np.isfinite(area) & (area > 0)
    # A pixel stays where it is: what the unknowns move it by, the board point must move it back.
    by_u, by_v = slopes.reshape(2, count, -1)[:, told][:, :, unknowns.free]
    (x_u, y_u), (x_v, y_v) = by_point[:, told].transpose(0, 2, 1)[..., None]
    shift = np.concatenate([y_v * by_u - y_u * by_v, x_u * by_v - x_v * by_u])
    variance = ((shift @ covariance) * shift).sum(axis=1).reshape(2, -1).sum(axis=0) / area[told] ** 2
    errors_mm[told] = np.sqrt(variance + _SHARED_PX**2 / area[told])
    return errors_mm

"""Where the camera stands in the board frame.

The corners of the markers on the table (or the board's four corners, told by hand) are points of the plane
z = 0 whose pixels are known. A pin-hole camera with OpenCV's distortion is fitted to them by least squares: the
pose, and the focal length too where the lens was never calibrated (principal point then at the picture's
centre). A camera that looks almost straight down cannot tell a longer lens from a higher stand, so an unknown
focal length is held by a weak prior around the usual lenses; points on the board are as good either way, only the
parallax of raised points depends on it.

Pixels are (u, v), u to the right and v down, the centre of the first pixel at (0, 0). Board points are
(x, y, z) in millimetres.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from vision.scene import MarkerMap, Scene

__all__ = ["BoardView", "NoBoard", "grey", "register"]

FloatArray = NDArray[np.float64]

# A marker is believed where its corners agree with the others' pose to this many pixels.
_MARKER_TOLERANCE_PX = 4.0
# Corners are found to about this; the fit's own residuals of few points can be smaller by luck.
_CORNER_SIGMA_PX = 0.1
# Weak prior of an unknown focal length: about 1.2 picture widths, within a factor 1.6 for two in three lenses.
_PRIOR_FOCAL_WIDTHS = 1.2
_PRIOR_FOCAL_LOG_SIGMA = 0.5
# And of an unknown lens's first distortion coefficient: barrel rather than cushion.
_PRIOR_K1 = -0.05
_PRIOR_K1_SIGMA = 0.08
# Bright paper bleeds into a black marker by part of a pixel, so that it looks a few per cent smaller than it is.
_BLEED = 6
_BLEED_SIGMA = 0.03
_SURE = 1e-9
# A picture whose brightest hundredth stays below this shows nothing at all.
_BLACK_LEVEL = 12


@dataclass(frozen=True, slots=True)
class NoBoard:
    """The board could not be found."""

    reason: str
    """One sentence for the person at the table."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardView:
    """A camera that sees the board: from board points to pixels and back."""

    camera_matrix: FloatArray
    """Shape (3, 3), px."""
    distortion: FloatArray
    """Shape (8,), OpenCV's order: k1, k2, p1, p2, k3, k4, k5, k6."""
    rotation: FloatArray
    """``camera_from_board`` rotation, shape (3, 3)."""
    translation_mm: FloatArray
    """Board origin in the camera frame, shape (3,)."""
    width_px: int
    """Picture width."""
    height_px: int
    """Picture height."""
    error_mm: float
    """One standard deviation of the worst corner of the board, on the board."""
    markers_used: tuple[int, ...] = ()
    """Ids of the markers that the pose stands on; empty where corners were given."""
    focal_estimated: bool = False
    """Whether the focal length was estimated together with the pose."""
    camera_mm: FloatArray = field(init=False)
    """The camera's centre in the board frame, shape (3,)."""
    _rotation_vector: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "camera_mm", -self.rotation.T @ self.translation_mm)
        object.__setattr__(self, "_rotation_vector", cv2.Rodrigues(self.rotation)[0].reshape(3))

    def project(self, points_mm: FloatArray) -> FloatArray:
        """Pixels of board points.

        Parameters
        ----------
        points_mm
            Shape (N, 3), board frame.

        Returns
        -------
        Shape (N, 2), (u, v) px.
        """
        points = np.ascontiguousarray(points_mm, dtype=np.float64).reshape(-1, 3)
        if len(points) == 0:
            return np.zeros((0, 2))
        pixels, _ = cv2.projectPoints(
            points, self._rotation_vector, self.translation_mm, self.camera_matrix, self.distortion
        )
        return np.asarray(pixels, dtype=np.float64).reshape(-1, 2)

    def ray(self, pixels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lines of sight through pixels.

        Parameters
        ----------
        pixels
            Shape (N, 2), (u, v) px.

        Returns
        -------
        origins, directions
            Each of shape (N, 3) in the board frame; origins in mm, directions of length one.
        """
        directions = self._towards(pixels)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return np.tile(self.camera_mm, (len(directions), 1)), directions

    def on_plane(self, pixels: FloatArray, z_mm: float = 0.0) -> FloatArray:
        """Board points at height `z_mm` that are seen at pixels.

        Parameters
        ----------
        pixels
            Shape (N, 2), (u, v) px.
        z_mm
            Height above the playing surface.

        Returns
        -------
        Shape (N, 2), (x, y) mm.
        """
        directions = self._towards(pixels)
        reach = (z_mm - self.camera_mm[2]) / directions[:, 2:]
        points: FloatArray = self.camera_mm[:2] + reach * directions[:, :2]
        return points

    def _towards(self, pixels: FloatArray) -> FloatArray:
        """Directions through pixels in the board frame, of any length, shape (N, 3)."""
        pixels = np.ascontiguousarray(pixels, dtype=np.float64).reshape(-1, 1, 2)
        in_camera = np.ones((len(pixels), 3))
        if len(pixels):
            in_camera[:, :2] = cv2.undistortPoints(pixels, self.camera_matrix, self.distortion).reshape(-1, 2)
        directions: FloatArray = in_camera @ self.rotation
        return directions

    def mm_per_px(self, x_mm: float, y_mm: float, z_mm: float = 0.0) -> float:
        """Length on a plane of constant height that one pixel covers there, the mean of both directions."""
        step = 1.0
        points = np.array([[x_mm, y_mm, z_mm], [x_mm + step, y_mm, z_mm], [x_mm, y_mm + step, z_mm]])
        pixels = self.project(points)
        along = pixels[1:] - pixels[0]
        area_px = abs(along[0, 0] * along[1, 1] - along[0, 1] * along[1, 0])
        return float(step / np.sqrt(area_px))


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """Points of the board plane with their pixels, in groups that stand or fall together."""

    board_mm: FloatArray
    """Shape (N, 2)."""
    middle_mm: FloatArray
    """Middle of each point's group, shape (N, 2): a marker's corners close in on it where bright paper bleeds."""
    pixels: FloatArray
    """Shape (N, 2)."""
    group: NDArray[np.int64]
    """Marker id, or -1 for corners of the board itself."""

    def without(self, group: int) -> _Marks:
        keep = self.group != group
        return _Marks(self.board_mm[keep], self.middle_mm[keep], self.pixels[keep], self.group[keep])


def grey(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Give the picture in grey, shape (height, width), whatever it came in (grey or BGR)."""
    if image.ndim == 2:
        return image
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def register(image: NDArray[np.uint8], scene: Scene) -> BoardView | NoBoard:
    """Find the camera's pose in the board frame from one picture.

    Parameters
    ----------
    image
        Shape (height, width) or (height, width, 3) BGR.
    scene
        What is known; markers are looked for where it names them, else its four corners are used.
    """
    shades = grey(image)
    if float(np.percentile(shades[::4, ::4], 99)) < _BLACK_LEVEL:
        return NoBoard("the picture is black: is the lens covered or the lamp off?")
    if scene.markers is not None:
        marks = _find_markers(shades, scene.markers)
        if isinstance(marks, NoBoard):
            return marks
    elif scene.corners_px is not None:
        outline = np.array(scene.outline_mm)
        marks = _Marks(outline, outline, np.array(scene.corners_px, dtype=np.float64), np.full(4, -1))
    else:
        return NoBoard("neither markers nor the board's corners are given, so the board cannot be placed")
    return _fit(marks, scene, shades.shape[1], shades.shape[0])


def _find_markers(shades: NDArray[np.uint8], sheet: MarkerMap) -> _Marks | NoBoard:
    dictionary_id = getattr(cv2.aruco, sheet.dictionary, None)
    if dictionary_id is None or not sheet.dictionary.startswith("DICT_"):
        return NoBoard(f"no ArUco dictionary is called {sheet.dictionary}")
    known = _detect(shades, dictionary_id, sheet, 1)
    if {i for i, _ in known} != set(sheet.centres_mm):
        # Small markers are found in a picture twice as large; those found already keep their corners.
        had = {i for i, _ in known}
        known += [(i, c) for i, c in _detect(shades, dictionary_id, sheet, 2) if i not in had]
    seen = sorted(i for i, _ in known)
    twice = sorted({i for i in seen if seen.count(i) > 1})
    if twice:
        return NoBoard(
            f"marker {twice[0]} is in the picture {seen.count(twice[0])} times: are there two boards?"
        )
    wanted = ", ".join(str(i) for i in sorted(sheet.centres_mm))
    if not seen:
        return NoBoard(f"no board in the picture: none of the markers {wanted} of {sheet.dictionary} is seen")
    if len(seen) == 1:
        return NoBoard(
            f"only marker {seen[0]} of the markers {wanted} is seen; two are needed to place the board"
        )
    half = sheet.size_mm / 2
    # OpenCV's order: top left, top right, bottom right, bottom left; the top edge lies towards +y.
    square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
    centres = np.array([sheet.centres_mm[i] for i, _ in known])
    return _Marks(
        np.concatenate([square + centre for centre in centres]),
        np.repeat(centres, 4, axis=0),
        np.concatenate([corners for _, corners in known]),
        np.repeat([i for i, _ in known], 4),
    )


def _detect(
    shades: NDArray[np.uint8], dictionary_id: int, sheet: MarkerMap, scale: int
) -> list[tuple[int, FloatArray]]:
    """Find the sheet's markers in the picture enlarged by `scale`: ids with corners of shape (4, 2)."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.cornerRefinementWinSize = 4
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(dictionary_id), parameters)
    larger = shades
    if scale > 1:
        larger = np.asarray(cv2.resize(shades, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC))
    found, ids, _ = detector.detectMarkers(larger)
    numbers = [] if ids is None else [int(i) for i in np.ravel(ids)]
    return [
        (i, (np.asarray(c, dtype=np.float64).reshape(4, 2) + 0.5) / scale - 0.5)
        for i, c in zip(numbers, found, strict=True)
        if i in sheet.centres_mm
    ]


def _fit(marks: _Marks, scene: Scene, width_px: int, height_px: int) -> BoardView | NoBoard:
    while True:
        view, misfit_px = _fit_once(marks, scene, width_px, height_px)
        groups = sorted(set(marks.group.tolist()))
        worst = {g: float(np.median(misfit_px[marks.group == g])) for g in groups}
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
            (marks.without(g) for g in groups),
            key=lambda rest: float(np.median(_fit_once(rest, scene, width_px, height_px)[1])),
        )
    if view.camera_mm[2] <= 0:
        return NoBoard("the markers or corners are mirrored: the camera would have to lie below the board")
    return view


def _fit_once(marks: _Marks, scene: Scene, width_px: int, height_px: int) -> tuple[BoardView, FloatArray]:
    """Fit the pose to the marks; also give each mark's distance in px from where the pose puts it."""
    given = _Given.of(scene, width_px, height_px)

    def residuals(p: FloatArray) -> FloatArray:
        lens = given.lens(p)
        board = marks.middle_mm + (marks.board_mm - marks.middle_mm) * (1 + p[_BLEED])
        points = np.column_stack([board, np.zeros(len(board))])
        pixels, _ = cv2.projectPoints(points, p[:3], p[3:6], *lens)
        misfit = (np.asarray(pixels).reshape(-1, 2) - marks.pixels).ravel() / _CORNER_SIGMA_PX
        return np.concatenate([misfit, (p[6:] - given.mean) / given.sigma])

    flat = np.column_stack([marks.board_mm, np.zeros(len(marks.board_mm))])
    start = np.concatenate([np.zeros(6), given.mean])
    start[:3], start[3:6] = _first_pose(flat, marks.pixels, *given.lens(start))
    scale = np.concatenate([np.ones(3), np.full(3, np.linalg.norm(start[3:6])), given.sigma])
    solution = least_squares(residuals, start, x_scale=scale, method="trf", loss="soft_l1", f_scale=5.0)
    p = solution.x
    misfit_px = np.linalg.norm((residuals(p)[: marks.pixels.size] * _CORNER_SIGMA_PX).reshape(-1, 2), axis=1)

    def view_of(q: FloatArray, error_mm: float) -> BoardView:
        camera, distortion = given.lens(q)
        return BoardView(
            camera_matrix=camera,
            distortion=distortion,
            rotation=np.asarray(cv2.Rodrigues(q[:3])[0]),
            translation_mm=q[3:6].copy(),
            width_px=width_px,
            height_px=height_px,
            error_mm=error_mm,
            markers_used=tuple(sorted({int(g) for g in marks.group if g >= 0})),
            focal_estimated=scene.intrinsics is None,
        )

    # Spread of the parameters from the fit's own normal equations, carried to the corners of the board.
    freedom = max(marks.pixels.size - 6, 1)
    sigma = max(1.0, float(np.sqrt(np.sum((misfit_px / _CORNER_SIGMA_PX) ** 2) / freedom)))
    free = np.flatnonzero(np.concatenate([np.ones(6), given.sigma]) > _SURE)
    step = scale[free] * 1e-6
    slopes = solution.jac[:, free] * step
    covariance = np.linalg.pinv(slopes.T @ slopes, hermitian=True) * sigma**2
    view = view_of(p, 0.0)
    outline = np.array(scene.outline_mm)
    pixels = view.project(np.column_stack([outline, np.zeros(4)]))
    shifts = []
    for i, by in zip(free, step, strict=True):
        q = p.copy()
        q[i] += by
        shifts.append(view_of(q, 0.0).on_plane(pixels) - outline)
    spread = np.array(shifts).reshape(len(free), 8)
    variance = np.einsum("ik,ij,jk->k", spread, covariance, spread).reshape(4, 2).sum(axis=1)
    return view_of(p, float(np.sqrt(variance.max()))), misfit_px


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    """What is known of the lens, and priors of what the fit finds beside the pose.

    The fit's unknowns are rotation vector, translation in mm, then bleed, log of the focal length's factor, k1.
    """

    camera: FloatArray
    distortion: FloatArray
    mean: FloatArray
    """Of the last three unknowns."""
    sigma: FloatArray

    @staticmethod
    def of(scene: Scene, width_px: int, height_px: int) -> _Given:
        distortion = np.zeros(8)
        lens_sigma, focal_sigma = _SURE, _SURE
        lens_mean = 0.0
        if scene.distortion is not None:
            distortion[: len(scene.distortion)] = scene.distortion
        if scene.intrinsics is not None:
            fx, fy, cx, cy = scene.intrinsics
        else:
            fx = fy = _PRIOR_FOCAL_WIDTHS * max(width_px, height_px)
            cx, cy = (width_px - 1) / 2, (height_px - 1) / 2
            focal_sigma = _PRIOR_FOCAL_LOG_SIGMA
            if scene.distortion is None:
                lens_mean, lens_sigma = _PRIOR_K1, _PRIOR_K1_SIGMA
        camera = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1.0]])
        bleed_sigma = _BLEED_SIGMA if scene.markers is not None else _SURE
        return _Given(
            camera,
            distortion,
            np.array([0.0, 0.0, lens_mean]),
            np.array([bleed_sigma, focal_sigma, lens_sigma]),
        )

    def lens(self, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Camera matrix and distortion for the fit's unknowns."""
        camera, distortion = self.camera.copy(), self.distortion.copy()
        camera[0, 0] *= np.exp(p[7])
        camera[1, 1] *= np.exp(p[7])
        distortion[0] += p[8]
        return camera, distortion


def _first_pose(
    board: FloatArray, pixels: FloatArray, camera: FloatArray, distortion: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Closed-form pose of a plane (the better of its two solutions), for the fit to start from."""
    count, rotations, translations, _ = cv2.solvePnPGeneric(
        board, pixels, camera, distortion, flags=cv2.SOLVEPNP_IPPE
    )
    if not count:
        raise ValueError("the board's marks all lie on one line, so the camera cannot be placed")
    return np.asarray(rotations[0]).reshape(3), np.asarray(translations[0]).reshape(3)

"""A lens and the places of its calibration board fitted together to all that the pictures show.

Unknown are the lens, the board's place before each picture, and, where it is asked for, how the board itself differs
from a perfect print on a perfect plane: paper stretches and cardboard bends, by a per cent of a square and more, and a
lens fitted to a board taken for perfect takes the blame (Strobl and Hirzinger, "More accurate pinhole camera
calibration with imperfect planar target", ICCV workshops 2011). Each corner is then held near its printed place by a
weak prior, which also settles what no picture can tell: the board's frame and its size.

The sum of squares is brought to its least by Levenberg's and Marquardt's steps. A picture's place touches only its own
corners, so it is eliminated before the rest is solved (the Schur complement), and a step takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.lens.sighting import Sighting
from vision.lens.target import Target

__all__ = ["Adjusted", "Bend", "Lens", "adjust", "error_of"]

FloatArray = NDArray[np.float64]

_CORNER_SIGMA_PX = 0.2
_BOARD_SIGMA = 0.02  # of a square: how far a corner may be from its printed place
_ROUNDS = 25
_ENOUGH = 1e-5  # relative gain of a step
_POSE = 6
_LEAST_SHARE = 1e-12  # of what an unknown would be known by if all others were known


class Bend(Enum):
    """Which terms of OpenCV's distortion are fitted; the value is their places in its order."""

    RADIAL = (0, 1)
    """k1, k2."""
    BROWN = (0, 1, 2, 3, 4)
    """k1, k2, p1, p2, k3."""
    RATIONAL = (0, 1, 2, 3, 5, 6)
    """k1, k2, p1, p2 and the divisor's k4, k5: for wide angles. With k3 and k6 as well, terms above and below the line
    say the same, and where no board was seen the quotient runs wild."""


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """A calibrated lens."""

    intrinsics_px: tuple[float, float, float, float]
    """``fx, fy, cx, cy``."""
    distortion: tuple[float, ...]
    """``k1, k2, p1, p2, k3`` in OpenCV's order, or these and ``k4, k5, k6``."""

    @property
    def matrix(self) -> FloatArray:
        """Camera matrix, shape (3, 3)."""
        fx, fy, cx, cy = self.intrinsics_px
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])


@dataclass(frozen=True, slots=True, eq=False)
class Adjusted:
    """What fits the pictures best."""

    lens: Lens
    board_mm: FloatArray
    """Where the board's corners are, shape (N, 3)."""
    poses: FloatArray
    """Rotation vector and translation in mm of the board before each picture, shape (pictures, 6)."""
    residuals_px: tuple[FloatArray, ...]
    """Seen less computed, for each picture, shape (corners, 2)."""
    sigma_px: tuple[float, float, float, float]
    """Standard errors of ``fx, fy, cx, cy``."""


def adjust(
    sightings: Sequence[Sighting],
    target: Target,
    size_px: tuple[int, int],
    bend: Bend,
    *,
    bent_board: bool,
    start: Adjusted | None = None,
) -> Adjusted:
    """Fit a lens.

    Parameters
    ----------
    sightings
        One for each picture.
    target
        The board.
    size_px
        Width and height of the pictures.
    bend
        Which terms of the distortion to fit; the others are zero.
    bent_board
        Whether the board's corners are fitted too.
    start
        A fit to more pictures, among them these in the same order, to start from; its poses must be these pictures'.

    Raises
    ------
    ValueError
        Where the pictures do not determine a lens.
    """
    system = _System(sightings, target, bend, bent_board=bent_board)
    state = _first_guess(sightings, system.printed, size_px) if start is None else _State.of(start)
    if not bent_board:
        state = _State(state.lens, system.printed, state.poses)
    state = state.limited(bend)
    cost, normal = system.linearise(state)
    damping = 1e-4
    for _ in range(_ROUNDS):
        step = normal.solve(damping)
        tried = state.moved(step, bend)
        tried_cost = system.cost(tried)
        if not tried_cost < cost:
            if damping > 1e4:
                break
            damping *= 10
            continue
        done = cost - tried_cost < _ENOUGH * cost
        state, damping = tried, max(damping / 10, 1e-9)
        cost, normal = system.linearise(state)
        if done:
            break
    residuals = tuple(system.residuals(state, k) for k in range(len(sightings)))
    freedom = max(2 * sum(len(s.corners) for s in sightings) - normal.unknowns, 1)
    scale = np.sqrt(sum(float((r**2).sum()) for r in residuals) / freedom) / _CORNER_SIGMA_PX
    sigma = normal.lens_sigma() * scale
    return Adjusted(
        state.as_lens(bend),
        state.board,
        state.poses,
        residuals,
        (float(sigma[0]), float(sigma[1]), float(sigma[2]), float(sigma[3])),
    )


def error_of(sighting: Sighting, lens: Lens, board_mm: FloatArray) -> FloatArray:
    """Give by how much a picture's corners are off under a lens, with nothing fitted but where the board was held.

    Parameters
    ----------
    sighting
        The corners seen.
    lens
        The lens.
    board_mm
        Shape (N, 3).

    Returns
    -------
    Seen less computed, shape (corners, 2), px.
    """
    points = np.ascontiguousarray(board_mm[sighting.corners])
    distortion = np.array(lens.distortion)
    good, rotation, translation = cv2.solvePnP(
        points, sighting.pixels, lens.matrix, distortion, flags=cv2.SOLVEPNP_ITERATIVE
    )
    if not good:
        raise ValueError("the corners seen lie on one line")
    rotation, translation = cv2.solvePnPRefineLM(
        points, sighting.pixels, lens.matrix, distortion, rotation, translation
    )
    computed, _ = cv2.projectPoints(points, rotation, translation, lens.matrix, distortion)
    return sighting.pixels - np.asarray(computed, dtype=np.float64).reshape(-1, 2)


def _first_guess(sightings: Sequence[Sighting], printed_mm: FloatArray, size_px: tuple[int, int]) -> _State:
    """OpenCV's calibration with few terms, for the fit to start from; the board as it was printed, shape (N, 3)."""
    try:
        _, matrix, distortion, rotations, translations = cv2.calibrateCamera(
            [printed_mm[s.corners].astype(np.float32) for s in sightings],
            [s.pixels.astype(np.float32) for s in sightings],
            size_px,
            None,
            None,
            flags=cv2.CALIB_ZERO_TANGENT_DIST | cv2.CALIB_FIX_K3,
        )
    except cv2.error as bad:
        raise ValueError("the pictures do not determine a lens") from bad
    lens = np.zeros(12)
    lens[:4] = matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]
    lens[4:9] = np.ravel(distortion)[:5]
    if not np.isfinite(lens).all() or lens[:2].min() < 1:
        raise ValueError("the pictures do not determine a lens")
    poses = np.column_stack([np.array(rotations).reshape(-1, 3), np.array(translations).reshape(-1, 3)])
    return _State(lens, printed_mm, poses)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """The unknowns."""

    lens: FloatArray
    """fx, fy, cx, cy and eight terms of distortion, shape (12,)."""
    board: FloatArray
    """Shape (N, 3)."""
    poses: FloatArray
    """Shape (pictures, 6)."""

    @staticmethod
    def of(start: Adjusted) -> _State:
        lens = np.zeros(12)
        lens[:4] = start.lens.intrinsics_px
        lens[4 : 4 + len(start.lens.distortion)] = start.lens.distortion
        return _State(lens, start.board_mm.copy(), start.poses.copy())

    def limited(self, bend: Bend) -> _State:
        """Return it without the terms of distortion that are not fitted."""
        lens = np.zeros_like(self.lens)
        kept = _places(bend)
        lens[kept] = self.lens[kept]
        return _State(lens, self.board, self.poses)

    def moved(self, step: _Step, bend: Bend) -> _State:
        lens = self.lens.copy()
        lens[_places(bend)] += step.lens
        board = self.board + step.board if len(step.board) else self.board
        return _State(lens, board, self.poses + step.poses)

    def as_lens(self, bend: Bend) -> Lens:
        fx, fy, cx, cy, *terms = (float(v) for v in self.lens)
        return Lens((fx, fy, cx, cy), tuple(terms[: 8 if bend is Bend.RATIONAL else 5]))


def _places(bend: Bend) -> NDArray[np.int64]:
    """Where in a state's lens the fitted unknowns are."""
    return np.array([0, 1, 2, 3, *(4 + term for term in bend.value)])


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    lens: FloatArray
    board: FloatArray
    """Shape (N, 3); of none where the board is taken as printed."""
    poses: FloatArray


class _System:
    """The equations of all corners seen, each divided by its standard error."""

    def __init__(
        self, sightings: Sequence[Sighting], target: Target, bend: Bend, *, bent_board: bool
    ) -> None:
        self._sightings = sightings
        self.printed = np.column_stack([target.corners_mm, np.zeros(len(target.corners_mm))])
        self._lens = _places(bend)
        self._bent = bent_board
        self._prior = 1 / (_BOARD_SIGMA * target.square_mm)

    def residuals(self, state: _State, k: int) -> FloatArray:
        """Seen less computed of one picture, px."""
        sighting = self._sightings[k]
        computed, _ = self._project(state, k)
        return sighting.pixels - computed

    def cost(self, state: _State) -> float:
        total = sum(float((self.residuals(state, k) ** 2).sum()) for k in range(len(self._sightings)))
        cost = total / _CORNER_SIGMA_PX**2
        if self._bent:
            cost += float((((state.board - self.printed) * self._prior) ** 2).sum())
        return cost if np.isfinite(cost) else np.inf

    def linearise(self, state: _State) -> tuple[float, _Normal]:
        """Return the cost, and the normal equations of a step."""
        corners, terms = len(self.printed), len(self._lens)
        shared = terms + (3 * corners if self._bent else 0)
        matrix, right = np.zeros((shared, shared)), np.zeros(shared)
        blocks = []
        for k, sighting in enumerate(self._sightings):
            computed, slopes = self._project(state, k)
            off = (sighting.pixels - computed).ravel() / _CORNER_SIGMA_PX
            slopes = slopes / _CORNER_SIGMA_PX
            by_pose, by_lens = slopes[:, :_POSE], slopes[:, _POSE + self._lens]
            own = np.zeros((len(off), shared))
            own[:, :terms] = by_lens
            if self._bent:
                # To move a corner on the board by d moves it before the camera by R d.
                rotation = cv2.Rodrigues(state.poses[k, :3])[0]
                by_point = slopes[:, 3:6] @ rotation
                rows = np.arange(len(off))
                places = terms + 3 * np.repeat(sighting.corners, 2)
                for axis in range(3):
                    own[rows, places + axis] = by_point[:, axis]
            matrix += own.T @ own
            right += own.T @ off
            blocks.append((by_pose.T @ by_pose, own.T @ by_pose, by_pose.T @ off))
        if self._bent:
            place = np.arange(terms, shared)
            matrix[place, place] += self._prior**2
            right[place] -= self._prior**2 * (state.board - self.printed).ravel()
        return self.cost(state), _Normal(matrix, right, blocks, terms)

    def _project(self, state: _State, k: int) -> tuple[FloatArray, FloatArray]:
        """Pixels of one picture, and their slopes by pose and lens: shape (2 * corners, 6 + 12)."""
        fx, fy, cx, cy = state.lens[:4]
        pixels, slopes = cv2.projectPoints(
            np.ascontiguousarray(state.board[self._sightings[k].corners]),
            state.poses[k, :3],
            state.poses[k, 3:],
            np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1.0]]),
            state.lens[4:],
        )
        return np.asarray(pixels).reshape(-1, 2), np.asarray(slopes)


class _Normal:
    """Normal equations, the poses eliminated."""

    def __init__(
        self,
        matrix: FloatArray,
        right: FloatArray,
        blocks: Sequence[tuple[FloatArray, FloatArray, FloatArray]],
        terms: int,
    ) -> None:
        self._matrix, self._right, self._blocks = matrix, right, blocks
        self._terms = terms
        self.unknowns = terms + _POSE * len(blocks)

    def solve(self, damping: float) -> _Step:
        matrix = self._matrix + damping * np.diag(np.diag(self._matrix))
        right = self._right.copy()
        inverses = []
        for pose, mixed, off in self._blocks:
            inverse = np.linalg.inv(pose + damping * np.diag(np.diag(pose)))
            inverses.append(inverse)
            matrix -= mixed @ inverse @ mixed.T
            right -= mixed @ (inverse @ off)
        shared: FloatArray = np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=np.float64)
        poses = np.array(
            [
                inverse @ (off - mixed.T @ shared)
                for inverse, (_, mixed, off) in zip(inverses, self._blocks, strict=True)
            ]
        )
        return _Step(shared[: self._terms], shared[self._terms :].reshape(-1, 3), poses)

    def lens_sigma(self) -> FloatArray:
        """Give the standard errors of the lens, shape (terms,); very large ones where nothing determines it."""
        matrix = self._matrix.copy()
        for pose, mixed, _ in self._blocks:
            matrix -= mixed @ np.linalg.pinv(pose, hermitian=True) @ mixed.T
        # What pictures leave open has a share of nought but for rounding, which must not pass for knowledge.
        alone = np.sqrt(np.diag(self._matrix))
        shares, ways = np.linalg.eigh(matrix / np.outer(alone, alone))
        variance = (ways**2 / np.maximum(shares, _LEAST_SHARE)).sum(axis=1) / alone**2
        return np.asarray(np.sqrt(variance[: self._terms]), dtype=np.float64)

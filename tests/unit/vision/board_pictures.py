"""Pictures of a calibration board before a lens that is known exactly."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.lens import Charuco, Chessboard, Lens, Target

SIZE_PX = (480, 360)
LENS = Lens((430.0, 432.0, 243.0, 176.0), (-0.22, 0.06, 0.0006, -0.0004, 0.0))
_PX_PER_SQUARE = 40
_RIM = 1  # squares of white around the board


def poses(count: int, target: Target, seed: int = 3) -> Iterator[NDArray[np.float64]]:
    """Yield ways to hold the board before the camera: rotation vector and translation, all of it in the picture."""
    rng = np.random.default_rng(seed)
    middle = np.append(target.corners_mm.mean(axis=0), 0.0)
    flat = np.column_stack([target.corners_mm, np.zeros(len(target.corners_mm))])
    given = 0
    while given < count:
        turn = rng.uniform(-0.6, 0.6, 3) * (1, 1, 0.5)
        rotation = cv2.Rodrigues(turn)[0]
        place = rng.uniform((-5, -4, 9), (5, 4, 16)) * target.square_mm
        pose = np.concatenate([turn, place - rotation @ middle])
        seen, _ = cv2.projectPoints(flat, pose[:3], pose[3:], LENS.matrix, np.array(LENS.distortion))
        seen = seen.reshape(-1, 2)
        if (seen > 25).all() and (seen < np.array(SIZE_PX) - 26).all():
            given += 1
            yield pose


def photograph(
    target: Target, pose: NDArray[np.float64], *, blur_px: float = 0.7, noise: float = 2.0, seed: int = 0
) -> NDArray[np.uint8]:
    """Photograph a board, in grey."""
    print_ = _printed(target)
    v, u = np.mgrid[0 : SIZE_PX[1], 0 : SIZE_PX[0]].astype(np.float64)
    pixels = np.column_stack([u.ravel(), v.ravel()]).reshape(-1, 1, 2)
    rays = cv2.undistortPoints(pixels, LENS.matrix, np.array(LENS.distortion)).reshape(-1, 2)
    rotation = cv2.Rodrigues(pose[:3])[0]
    towards = np.column_stack([rays, np.ones(len(rays))]) @ rotation
    eye = -rotation.T @ pose[3:]
    board = eye[:2] - eye[2] / towards[:, 2:] * towards[:, :2]
    # The first inner corner is one square inside the board.
    print_px = (board / target.square_mm + 1 + _RIM) * _PX_PER_SQUARE - 0.5
    at = print_px.reshape(SIZE_PX[1], SIZE_PX[0], 2).astype(np.float32)
    shown = cv2.remap(print_, at, None, cv2.INTER_AREA, borderValue=90).astype(np.float32)
    shown = cv2.GaussianBlur(shown, (0, 0), blur_px)
    grain = np.random.default_rng(seed).normal(0, noise, shown.shape)
    return np.clip(30 + 0.8 * shown + grain, 0, 255).astype(np.uint8)


def _printed(target: Target) -> NDArray[np.uint8]:
    rim = _RIM * _PX_PER_SQUARE
    if isinstance(target, Charuco):
        size = (target.columns * _PX_PER_SQUARE, target.rows * _PX_PER_SQUARE)
        drawn = target.board().generateImage(size, marginSize=0, borderBits=1)
    else:
        assert isinstance(target, Chessboard)
        rows, columns = np.mgrid[0 : target.rows + 1, 0 : target.columns + 1]
        drawn = np.kron((rows + columns) % 2 * 255, np.ones((_PX_PER_SQUARE, _PX_PER_SQUARE))).astype(
            np.uint8
        )
    smooth = cv2.copyMakeBorder(drawn, rim, rim, rim, rim, cv2.BORDER_CONSTANT, value=255)
    return np.asarray(cv2.GaussianBlur(smooth, (0, 0), 1.5), dtype=np.uint8)

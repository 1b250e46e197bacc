"""What is held before the camera to calibrate its lens: a chessboard, or a ChArUco board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["PRINTED_SHAPE", "Charuco", "Chessboard", "Target", "printed_charuco"]

FloatArray = NDArray[np.float64]

PRINTED_SHAPE = (9, 6)
"""Squares across and down of the ChArUco board that is printed."""
_PRINTED_DICTIONARY = "DICT_5X5_100"
# No marker on the table has such a number, whatever its dictionary: DICT_5X5_50 is the first half of this one.
_PRINTED_FIRST_MARKER = 50
_PRINTED_MARKER_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Chessboard:
    """Black and white squares. It must be seen whole, for one of its corners looks like another."""

    columns: int
    """Inner corners across, where four squares meet."""
    rows: int
    """Inner corners down."""
    square_mm: float = 1.0
    """Side of a square; the lens does not depend on it, only distances do."""

    @property
    def corners_mm(self) -> FloatArray:
        """Where the inner corners are on the board, row by row: shape (rows * columns, 2)."""
        return _grid(self.columns, self.rows, self.square_mm)

    @property
    def shape(self) -> tuple[int, int]:
        """Inner corners down and across."""
        return self.rows, self.columns

    def __str__(self) -> str:
        return f"chessboard of {self.columns} x {self.rows} inner corners"


@dataclass(frozen=True, slots=True)
class Charuco:
    """A chessboard with an ArUco marker in every white square, so that part of it will do."""

    columns: int
    """Squares across."""
    rows: int
    """Squares down."""
    square_mm: float
    """Side of a square."""
    marker_mm: float
    """Side of a marker's black square."""
    dictionary: str
    """OpenCV's name of the markers' dictionary."""
    first_marker: int = 0
    """Number of the first marker; the others follow row by row."""

    @property
    def corners_mm(self) -> FloatArray:
        """Where the inner corners are on the board, row by row: shape (N, 2)."""
        return _grid(self.columns - 1, self.rows - 1, self.square_mm)

    @property
    def shape(self) -> tuple[int, int]:
        """Inner corners down and across."""
        return self.rows - 1, self.columns - 1

    @property
    def markers(self) -> range:
        """Numbers of its markers."""
        return range(self.first_marker, self.first_marker + self.columns * self.rows // 2)

    def board(self) -> Any:
        """Return it as OpenCV has it."""
        dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, self.dictionary))
        return cv2.aruco.CharucoBoard(
            (self.columns, self.rows), self.square_mm, self.marker_mm, dictionary, np.array(self.markers)
        )

    def __str__(self) -> str:
        return f"ChArUco board of {self.columns} x {self.rows} squares"


Target = Chessboard | Charuco


def printed_charuco(square_mm: float = 1.0) -> Charuco:
    """Return the ChArUco board that the rig prints, with squares of a size."""
    columns, rows = PRINTED_SHAPE
    return Charuco(
        columns,
        rows,
        square_mm,
        _PRINTED_MARKER_SHARE * square_mm,
        _PRINTED_DICTIONARY,
        first_marker=_PRINTED_FIRST_MARKER,
    )


def _grid(columns: int, rows: int, step_mm: float) -> FloatArray:
    down, across = np.mgrid[0:rows, 0:columns]
    return np.column_stack([across.ravel(), down.ravel()]) * step_mm

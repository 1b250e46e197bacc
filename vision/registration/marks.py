"""The ArUco markers on the table, found in a picture."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration.view import NoBoard
from vision.scene import MarkerMap

__all__ = ["Marks", "find_markers"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Corners of markers with their pixels."""

    board_mm: FloatArray
    """Shape (N, 2)."""
    middle_mm: FloatArray
    """Middle of each corner's marker, shape (N, 2)."""
    pixels: FloatArray
    """Shape (N, 2)."""
    group: NDArray[np.int64]
    """Marker's number."""


def find_markers(shades: NDArray[np.uint8], sheet: MarkerMap) -> Marks | NoBoard:
    """Find the markers of the table.

    Parameters
    ----------
    shades
        The picture in grey.
    sheet
        Which markers lie where.
    """
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
    half = sheet.size_mm / 2
    # OpenCV's order: top left, top right, bottom right, bottom left; the top edge lies towards +y.
    square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
    centres = np.array([sheet.centres_mm[i] for i, _ in known])
    return Marks(
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

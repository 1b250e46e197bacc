"""The ArUco markers on the table, found in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration.fit import Measured
from vision.registration.pattern import see_pattern
from vision.registration.view import BoardView, NoBoard
from vision.scene import MarkerMap

__all__ = ["CORNER_SIGMA_PX", "Marks", "find_faint_markers", "find_markers", "read_prints"]

FloatArray = NDArray[np.float64]

# Corners are found to about this; the fit's own residuals of few points can be smaller by luck.
CORNER_SIGMA_PX = 0.1
_FAINT_SIGMA_PX = 1.0
# Of 102 of the twin's tables, each made 480 to 640 px wide, darker and noisier in four ways, 2 of 408 cannot be read; enlarged and
# sharpened less (3 and 1.5) it is 8. Those that are read are placed as well.
_FAINT_SCALE = 4
_SHARPENED = 4.0
# In a picture as large as this, half of it shows most markers: a third of the time finds them.
_LARGE_PX = 900
# So much around a marker has a say in where its corners are found: half of that would not do for all.
_AROUND_PX, _AROUND_SIDES = 24.0, 0.6
# How like its print a marker must look, and by how much more than like any other code or this one turned.
_LIKE, _LEAD = 0.8, 0.01


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
    sigma_px: FloatArray
    """Standard error along u and along v, shape (N,)."""
    lead: float = 0.0
    """Of markers held against their print: by how much more they look like it than like any other, all together."""
    twice: int | None = None
    """A marker that is not among these, since it is in the picture twice."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Which markers these are."""
        return tuple(sorted({int(each) for each in self.group}))

    @property
    def smallest_px(self) -> float:
        """Side of the smallest marker."""
        quads = self.pixels.reshape(-1, 4, 2)
        return float(np.linalg.norm(quads - np.roll(quads, 1, axis=1), axis=2).mean(axis=1).min())

    @property
    def measured(self) -> Measured:
        """What a fit takes of them."""
        return Measured.of_points(self.board_mm, self.middle_mm, self.pixels, self.group, self.sigma_px)

    @staticmethod
    def of_corners(
        sheet: MarkerMap, corners: Sequence[tuple[int, FloatArray, float]], lead: float = 0.0
    ) -> Marks:
        """Gather markers: number, pixels of the corners in OpenCV's order, shape (4, 2), and their standard error."""
        half = sheet.size_mm / 2
        # OpenCV's order: top left, top right, bottom right, bottom left; the top edge lies towards +y.
        square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
        centres = np.array([sheet.centres_mm[number] for number, _, _ in corners])
        return Marks(
            np.concatenate([square + centre for centre in centres]),
            np.repeat(centres, 4, axis=0),
            np.concatenate([pixels for _, pixels, _ in corners]),
            np.repeat([number for number, _, _ in corners], 4),
            np.repeat([sigma_px for _, _, sigma_px in corners], 4),
            lead,
        )


def find_markers(shades: NDArray[np.uint8], sheet: MarkerMap) -> Marks | NoBoard | None:
    """Find the markers of the table.

    Parameters
    ----------
    shades
        The picture in grey.
    sheet
        Which markers lie where.

    Returns
    -------
    The markers; why there can be none; or ``None`` where none is seen.
    """
    if not (sheet.dictionary.startswith("DICT_") and hasattr(cv2.aruco, sheet.dictionary)):
        return NoBoard(f"no ArUco dictionary is called {sheet.dictionary}")
    has = len(cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, sheet.dictionary)).bytesList)
    for number in sheet.centres_mm:
        if not 0 <= number < has:
            return NoBoard(f"{sheet.dictionary} has markers 0 to {has - 1}, and no marker {number}")
    known = _detect_large(shades, sheet) or _detect(shades, sheet, 1)
    if {i for i, _ in known} != set(sheet.centres_mm):
        # Small markers are found in a picture twice as large; those found already keep their corners.
        had = {i for i, _ in known}
        known += [(i, c) for i, c in _detect(shades, sheet, 2) if i not in had]
    return _once_each(sheet, known, CORNER_SIGMA_PX)


def find_faint_markers(shades: NDArray[np.uint8], sheet: MarkerMap) -> Marks | NoBoard | None:
    """Find markers that `find_markers` does not read, by guesses that have to be checked.

    The picture is enlarged and sharpened, and a code with a wrong bit is taken for the nearest one.

    Returns
    -------
    The markers, whose corners may be off by pixels; why there can be none; or ``None`` where there are none.
    """
    larger = np.asarray(
        cv2.resize(shades, None, fx=_FAINT_SCALE, fy=_FAINT_SCALE, interpolation=cv2.INTER_CUBIC)
    )
    soft = cv2.GaussianBlur(larger, (0, 0), _FAINT_SCALE)
    sharp = np.asarray(cv2.addWeighted(larger, 1 + _SHARPENED, soft, -_SHARPENED, 0), dtype=np.uint8)
    parameters = cv2.aruco.DetectorParameters()
    parameters.errorCorrectionRate = 1.0
    parameters.perspectiveRemoveIgnoredMarginPerCell = 0.33
    parameters.perspectiveRemovePixelPerCell = 8
    known = _detected(sharp, sheet, parameters, _FAINT_SCALE)
    return _once_each(sheet, known, _FAINT_SIGMA_PX)


def _once_each(
    sheet: MarkerMap, known: Sequence[tuple[int, FloatArray]], sigma_px: float
) -> Marks | NoBoard | None:
    """Gather markers of which there is but one each; one that is there twice is left out, if two others are left."""
    seen = [i for i, _ in known]
    twice = sorted({i for i in seen if seen.count(i) > 1})
    once = [(i, corners, sigma_px) for i, corners in known if i not in twice]
    if len(twice) > 1 or (twice and len(once) < 2):
        return NoBoard(
            f"marker {twice[0]} is in the picture {seen.count(twice[0])} times: are there two boards?"
        )
    return replace(Marks.of_corners(sheet, once), twice=twice[0] if twice else None) if once else None


def read_prints(shades: NDArray[np.uint8], sheet: MarkerMap, view: BoardView) -> Marks | None:
    """Read the markers where a camera says that they lie, by what their print must look like.

    Returns
    -------
    Those that look like their own print, and less like any other; ``None`` where there are none.
    """
    seen = [see_pattern(shades, view, sheet, number) for number in sorted(sheet.centres_mm)]
    read = [each for each in seen if each is not None and each.likeness > _LIKE and each.lead > _LEAD]
    if not read:
        return None
    corners = [(each.number, each.pixels, each.sigma_px) for each in read]
    return Marks.of_corners(sheet, corners, sum(each.lead for each in read))


def _detect_large(shades: NDArray[np.uint8], sheet: MarkerMap) -> list[tuple[int, FloatArray]]:
    """Find the sheet's markers as `_detect` does, but look closely only at where a smaller picture shows them.

    Nothing is returned where not all of them are found like that, each once.
    """
    if max(shades.shape) < _LARGE_PX:
        return []
    parameters = cv2.aruco.DetectorParameters()
    parameters.adaptiveThreshWinSizeMin = parameters.adaptiveThreshWinSizeMax
    parameters.perspectiveRemoveIgnoredMarginPerCell = 0.33
    parameters.perspectiveRemovePixelPerCell = 8
    smaller = np.asarray(cv2.resize(shades, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
    seen = _detected(smaller, sheet, parameters, 0.5)
    if sorted(i for i, _ in seen) != sorted(sheet.centres_mm):
        return []
    known = []
    for number, corners in seen:
        around_px = _AROUND_PX + _AROUND_SIDES * np.ptp(corners, axis=0).max()
        origin = np.maximum(corners.min(axis=0) - around_px, 0).astype(int)
        end = (corners.max(axis=0) + around_px).astype(int)
        part = shades[origin[1] : end[1], origin[0] : end[0]]
        there = _detect(part, sheet, 1, max(shades.shape))
        known += [(i, in_part + origin) for i, in_part in there if i == number]
    return known if len(known) == len(seen) else []


def _detect(
    shades: NDArray[np.uint8], sheet: MarkerMap, scale: int, longest_px: int | None = None
) -> list[tuple[int, FloatArray]]:
    """Find the sheet's markers in the picture enlarged by `scale`: ids with corners of shape (4, 2).

    Of a part of a picture, `longest_px` is the longer side of the whole, which says how small a marker may be.
    """
    parameters = cv2.aruco.DetectorParameters()
    if longest_px is not None:
        parameters.minMarkerPerimeterRate *= longest_px / max(shades.shape)
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.cornerRefinementWinSize = 4
    larger = shades
    if scale > 1:
        larger = np.asarray(cv2.resize(shades, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC))
    return _detected(larger, sheet, parameters, scale)


def _detected(
    larger: NDArray[np.uint8], sheet: MarkerMap, parameters: cv2.aruco.DetectorParameters, scale: float
) -> list[tuple[int, FloatArray]]:
    """Find the sheet's markers in a picture enlarged by `scale`: ids with corners in the picture itself, shape (4, 2)."""
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, sheet.dictionary))
    found, ids, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(larger)
    numbers = [] if ids is None else [int(i) for i in np.ravel(ids)]
    return [
        (i, (np.asarray(c, dtype=np.float64).reshape(4, 2) + 0.5) / scale - 0.5)
        for i, c in zip(numbers, found, strict=True)
        if i in sheet.centres_mm
    ]

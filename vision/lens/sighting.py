"""Finding the calibration board in a picture, to a fraction of a pixel, or saying why it will not do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.lens.target import Charuco, Chessboard, Target, printed_charuco

__all__ = ["Flaw", "Sighting", "Unusable", "recognise", "sight"]

Image = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

_FEWEST_CORNERS = 8  # a pose needs four; fewer than eight say hardly anything about the lens
# Of the four corners that a pose needs no three may lie on a line: those on one row or column count as two of them. A row of
# the printed board has eight, and one picture that shows no more makes OpenCV give up on all the others too.
_FEWEST_BESIDE_LINE = 2
_SMALLEST_CHESSBOARD = (4, 3)
_FEWEST_MARKERS = 6  # of a ChArUco board, before it is believed to be one
# Larger pictures are searched in a smaller copy; corners are refined in the picture itself.
_SEARCHED_PX = 1600
_LEAST_SEARCHED_PX = 32  # either side of that; OpenCV's finders give up on less, and no board has room in it
# The window in which a corner is refined, as a part of the way to its nearest neighbour: it must not see the next.
_WINDOW_SHARE = 0.15
_LEAST_WINDOW_PX, _MOST_WINDOW_PX = 2, 11
# An edge that takes more pixels than this from black to white is blurred: the corner's place is then a guess.
_MOST_BLUR_WIDTHS = 0.004  # of the picture
_MOST_BLUR_PX = 4.0  # in a small picture
# How wide an edge is tells the grey levels across the middle of it: so far to either side, as parts of its length, but in the
# white around a marker only so much of the way to it.
_EDGE_MIDDLE = (0.35, 0.65)
_EDGE_ROOM, _ROOM_TO_MARKER = 0.3, 0.8
_LEAST_RISE = 16  # grey levels from black to white; an edge that rises by less does not tell
_MIDDLE_OF_RISE = 0.8  # from a tenth of the way to nine tenths


class Flaw(StrEnum):
    """Why a picture is of no use."""

    NO_BOARD = "no board"
    MIRRORED = "in a mirror"
    WRONG_BOARD = "another board"
    FEW_CORNERS = "too little of the board"
    BLURRED = "blurred"
    OTHER_SIZE = "another resolution"
    REPEATED = "repeated"
    MISFIT = "does not fit"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Unusable:
    """A picture that cannot be used."""

    flaw: Flaw
    reason: str
    """For the person at the table, to be read after the picture's name and a colon."""


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """The board's inner corners as one picture shows them."""

    corners: NDArray[np.int64]
    """Which corners, as indices into the target's `corners_mm`; shape (N,)."""
    pixels: FloatArray
    """Where they are, (u, v); shape (N, 2)."""
    blur_px: float
    """How many pixels an edge takes from black to white, between a tenth and nine tenths of the way."""


def recognise(pictures: Iterable[Image]) -> Target | None:
    """Say which board is in the pictures: the printed ChArUco board, or a chessboard of the size most often seen.

    Parameters
    ----------
    pictures
        Grey, shape (height, width). They are looked at one by one.

    Returns
    -------
    The board, a square taken as long as 1 mm, or None where no picture shows one.
    """
    charuco = printed_charuco()
    sizes: Counter[tuple[int, int]] = Counter()
    for picture in pictures:
        if _is_too_small(picture):
            continue
        searched, _ = _shrunk(picture)
        # Also in a mirror, or a part of it would be taken for a chessboard; what is amiss is told of each picture.
        if any(_shows_markers(each, charuco) for each in (searched, _mirrored(searched))):
            return charuco
        size = _largest_chessboard(searched)
        if size is not None:
            sizes[size] += 1
    if not sizes:
        return None
    # Where two sizes were seen equally often, the larger: the smaller may be a part of it.
    columns, rows = max(sizes, key=lambda size: (sizes[size], size[0] * size[1]))
    return Chessboard(columns, rows)


def sight(picture: Image, target: Target) -> Sighting | Unusable:
    """Find the board's corners.

    Parameters
    ----------
    picture
        Grey, shape (height, width).
    target
        The board that is looked for.
    """
    if _is_too_small(picture):
        height, width = picture.shape
        return Unusable(Flaw.NO_BOARD, f"is {width} x {height} px, too small or too narrow to show a board")
    searched, share = _shrunk(picture)
    found = _chessboard(searched, target) if isinstance(target, Chessboard) else _charuco(searched, target)
    if isinstance(found, Unusable):
        return found
    corners, rough = found
    pixels = _refined(picture, corners, (rough + 0.5) / share - 0.5, target.shape)
    blur_px = _blur_px(picture, corners, pixels, target)
    most_px = max(_MOST_BLUR_PX, _MOST_BLUR_WIDTHS * picture.shape[1])
    if blur_px > most_px:
        return Unusable(
            Flaw.BLURRED, f"blurred: an edge is {blur_px:.1f} px wide, expected at most {most_px:.1f}"
        )
    return Sighting(corners, pixels, blur_px)


def _is_too_small(picture: Image) -> bool:
    return bool(min(picture.shape) * _share(picture) < _LEAST_SEARCHED_PX)


def _share(picture: Image) -> float:
    """As how large a part of its size a picture is searched."""
    return float(min(1.0, _SEARCHED_PX / max(picture.shape)))


def _shrunk(picture: Image) -> tuple[Image, float]:
    """Return the picture no larger than is searched, and its size as a part of the picture's."""
    share = _share(picture)
    if share == 1.0:
        return picture, share
    small = cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8), share


def _mirrored(picture: Image) -> Image:
    return np.ascontiguousarray(picture[:, ::-1])


def _shows_markers(picture: Image, target: Charuco) -> bool:
    """Whether so many of a board's markers are seen that it is believed to be there."""
    detector = cv2.aruco.ArucoDetector(target.board().getDictionary())
    _, ids, _ = detector.detectMarkers(picture)
    return ids is not None and len({int(i) for i in np.ravel(ids)} & set(target.markers)) >= _FEWEST_MARKERS


def _largest_chessboard(picture: Image) -> tuple[int, int] | None:
    """Inner corners across and down of the largest chessboard seen, the longer side first."""
    for how in (cv2.CALIB_CB_LARGER | cv2.CALIB_CB_NORMALIZE_IMAGE, cv2.CALIB_CB_LARGER):
        good, _, meta = cv2.findChessboardCornersSBWithMeta(picture, _SMALLEST_CHESSBOARD, how)
        if good:
            down, across = meta.shape[:2]
            return max(down, across), min(down, across)
    return None


def _chessboard(picture: Image, target: Chessboard) -> tuple[NDArray[np.int64], FloatArray] | Unusable:
    size = (target.columns, target.rows)
    # The sector-based finder copes better with light and perspective, the older one with pictures that are cut close.
    good, rough = cv2.findChessboardCornersSB(picture, size)
    if not good:
        good, rough = cv2.findChessboardCorners(picture, size)
    if good:
        return np.arange(len(rough)), np.asarray(rough, dtype=np.float64).reshape(-1, 2)
    other = _largest_chessboard(picture)
    if other is None:
        return Unusable(Flaw.NO_BOARD, f"no {target} is seen whole")
    return Unusable(
        Flaw.WRONG_BOARD,
        f"{other[0]} x {other[1]} inner corners are seen, expected {target.columns} x {target.rows}: "
        "is part of the board outside the picture, or is it another one?",
    )


def _charuco(picture: Image, target: Charuco) -> tuple[NDArray[np.int64], FloatArray] | Unusable:
    found, ids, _, markers = cv2.aruco.CharucoDetector(target.board()).detectBoard(picture)
    count = 0 if ids is None else len(ids)
    if count >= _FEWEST_CORNERS:
        corners = np.ravel(ids).astype(np.int64)
        on_line = max(int(np.bincount(places).max()) for places in np.divmod(corners, target.shape[1]))
        if count - on_line < _FEWEST_BESIDE_LINE:
            return Unusable(
                Flaw.FEW_CORNERS,
                f"{on_line} of the {count} corners seen lie on one line of the board, "
                f"expected {_FEWEST_BESIDE_LINE} or more beside it",
            )
        return corners, np.asarray(found, dtype=np.float64).reshape(-1, 2)
    if markers is None or len(markers) == 0:
        if _shows_markers(_mirrored(picture), target):
            return Unusable(
                Flaw.MIRRORED, f"the {target} is seen in a mirror: switch the camera's mirroring off"
            )
        return Unusable(Flaw.NO_BOARD, f"no {target} is seen")
    whole = len(target.corners_mm)
    return Unusable(
        Flaw.FEW_CORNERS,
        f"{count} of the board's {whole} corners are seen, expected {_FEWEST_CORNERS} or more",
    )


def _refined(
    picture: Image, corners: NDArray[np.int64], rough: FloatArray, shape: tuple[int, int]
) -> FloatArray:
    """Refine each corner in a window that is as wide as its neighbours leave room for."""
    apart_px = _apart_px(corners, rough, shape)
    windows = np.clip(np.round(_WINDOW_SHARE * apart_px), _LEAST_WINDOW_PX, _MOST_WINDOW_PX).astype(int)
    pixels = rough.astype(np.float32).reshape(-1, 1, 2).copy()
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-3)
    for window in np.unique(windows):
        alike = windows == window
        pixels[alike] = cv2.cornerSubPix(
            picture, np.ascontiguousarray(pixels[alike]), (int(window), int(window)), (-1, -1), criteria
        )
    return np.asarray(pixels, dtype=np.float64).reshape(-1, 2)


def _apart_px(corners: NDArray[np.int64], pixels: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Distance of each corner from its nearest neighbour on the board's grid, shape (N,)."""
    apart = np.full(len(corners), np.inf)
    for first, second in _neighbours(corners, shape):
        length = np.linalg.norm(pixels[second] - pixels[first], axis=1)
        np.minimum.at(apart, first, length)
        np.minimum.at(apart, second, length)
    nearest = float(apart[np.isfinite(apart)].min(initial=_MOST_WINDOW_PX / _WINDOW_SHARE))
    return np.where(np.isfinite(apart), apart, nearest)


def _neighbours(
    corners: NDArray[np.int64], shape: tuple[int, int]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
    """Pairs of corners that are seen and lie side by side: across, then down; as indices into `corners`."""
    place = np.full(shape[0] * shape[1], -1)
    place[corners] = np.arange(len(corners))
    grid = place.reshape(shape)
    pairs = []
    for first, second in ((grid[:, :-1], grid[:, 1:]), (grid[:-1], grid[1:])):
        both = (first >= 0) & (second >= 0)
        pairs.append((first[both], second[both]))
    return pairs[0], pairs[1]


def _blur_px(picture: Image, corners: NDArray[np.int64], pixels: FloatArray, target: Target) -> float:
    """Typical width of the edges between neighbouring corners, px."""
    room = _EDGE_ROOM
    if isinstance(target, Charuco):
        # Not as far as the marker inside the white square.
        room = min(room, _ROOM_TO_MARKER * (1 - target.marker_mm / target.square_mm) / 2)
    widths = []
    steps = np.linspace(-1.0, 1.0, 41)
    shares = np.linspace(*_EDGE_MIDDLE, 7)
    for first, second in _neighbours(corners, target.shape):
        if len(first) == 0:
            continue
        start, along = pixels[first], pixels[second] - pixels[first]
        across = np.column_stack([-along[:, 1], along[:, 0]]) * room
        points = (
            start[:, None, None]
            + shares[None, :, None, None] * along[:, None, None]
            + steps[None, None, :, None] * across[:, None, None]
        ).astype(np.float32)
        shades = cv2.remap(
            picture,
            points[..., 0].reshape(len(first), -1),
            points[..., 1].reshape(len(first), -1),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        profile = shades.reshape(len(first), len(shares), len(steps)).astype(np.float64).mean(axis=1)
        # A ramp: from end to end it rises by so much, and at its steepest by so much a pixel.
        rise = np.abs(profile[:, -4:].mean(axis=1) - profile[:, :4].mean(axis=1))
        step_px = np.linalg.norm(across, axis=1) * (steps[1] - steps[0])
        steepest = np.abs(profile[:, 2:] - profile[:, :-2]).max(axis=1) / (2 * step_px)
        clear = rise > _LEAST_RISE
        widths.append(_MIDDLE_OF_RISE * rise[clear] / np.maximum(steepest[clear], 1e-6))
    every = np.concatenate(widths) if widths else np.zeros(0)
    return float(np.median(every)) if len(every) else 0.0

"""What is known about a shot's pictures before anyone looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS, Side, Square

__all__ = ["MarkerMap", "Scene", "Uniforms"]

_FAR_MM = 10_000.0


@dataclass(frozen=True, slots=True)
class MarkerMap:
    """The ArUco markers that lie on the table, level with the playing surface."""

    dictionary: str
    """OpenCV's name of the dictionary without its prefix, such as ``"DICT_4X4_50"``."""
    size_mm: float
    """Side of a marker's black square."""
    centres_mm: Mapping[int, tuple[float, float]]
    """Marker id to the (x, y) of its centre in the board frame; its top edge points towards +y."""


@dataclass(frozen=True, slots=True)
class Uniforms:
    """What the two sides wear, as it was taught from a picture in which the sides were known."""

    shares: Mapping[Side, Mapping[tuple[int, int, int], float]]
    """By side: what part of a soldier has each colour, in steps of CIE lightness, a and b."""
    kept_in: str = ""
    """Name of the file that they are kept in, for notes; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The camera, the board and the cannon as they are known beforehand.

    Lengths are millimetres in the board frame (clause B3), times microseconds on the camera's clock. What is
    agreed between the players, zone and casualty option, is no concern of the eye and stands elsewhere.
    """

    square_mm: float
    """Side of one square."""
    cannon_side: Side
    """Who fires."""
    fps: float
    """Nominal frame rate."""
    markers: MarkerMap | None = None
    """Markers on the table, or ``None`` where there are none."""
    corners_px: tuple[tuple[float, float], ...] | None = None
    """The board's four outer corners in the first picture, A-1's first, then along +x, then round."""
    intrinsics: tuple[float, float, float, float] | None = None
    """``fx, fy, cx, cy`` in px; ``None`` where the lens was never calibrated."""
    distortion: tuple[float, ...] | None = None
    """``k1, k2, p1, p2, k3`` in OpenCV's order, or these and ``k4, k5, k6``; ``None`` where unknown or nil."""
    muzzle_mm: tuple[float, float, float] | None = None
    """The muzzle at the moment of fire, or ``None`` where it is not known."""
    expected: Mapping[Square, Side] | None = None
    """Who should stand where before the shot; ``None`` where the position is to be read."""
    exposure_us: int | None = None
    """Exposure of one picture."""
    readout_us: int = 0
    """By how much later than its first row a picture's last one is taken, with a rolling shutter; 0: all at once."""
    fire_us: int | None = None
    """When the shot left the muzzle; ``None`` where it is to be found."""
    uniforms: Uniforms | None = None
    """What the sides wear, used where it fits; ``None`` where that is to be learnt from the picture."""

    @property
    def width_mm(self) -> float:
        """Extent of the board along x."""
        return BOARD_FILES * self.square_mm

    @property
    def length_mm(self) -> float:
        """Extent of the board along y."""
        return BOARD_ROWS * self.square_mm

    @property
    def centre_mm(self) -> tuple[float, float]:
        """The board's centre (x, y)."""
        return self.width_mm / 2, self.length_mm / 2

    @property
    def outline_mm(self) -> tuple[tuple[float, float], ...]:
        """The board's four outer corners (x, y), in the order of `corners_px`."""
        return (
            (0.0, 0.0),
            (self.width_mm, 0.0),
            (self.width_mm, self.length_mm),
            (0.0, self.length_mm),
        )

    def covers(self, point_mm: NDArray[np.float64], margin_mm: float = 0.0) -> bool:
        """Whether a place (x, y) is on the board, or not farther beside it than a margin."""
        x, y = point_mm
        return bool(
            -margin_mm <= x <= self.width_mm + margin_mm and -margin_mm <= y <= self.length_mm + margin_mm
        )

    @property
    def shot_from_mm(self) -> tuple[float, float]:
        """Where the shot comes from (x, y): the muzzle, or where that is not known a place far behind the cannon."""
        if self.muzzle_mm is not None:
            return self.muzzle_mm[:2]
        far_mm = -_FAR_MM if self.cannon_side is Side.A else self.length_mm + _FAR_MM
        return self.width_mm / 2, far_mm

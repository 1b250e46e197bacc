"""A table painted with a few strokes, for tests of the eye: a board, markers, soldiers upright or leaning, a camera.

Everything is drawn by projecting it with the camera under test's own model, so where things are is known exactly.
It looks like no real table; what is tested is that the eye finds what is there, not how pretty it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side, Square
from vision.registration import BoardView
from vision.scene import MarkerMap, Scene

Image = NDArray[np.uint8]

SQUARE_MM = 45.0
MARKERS = MarkerMap("DICT_4X4_50", 36.0, {0: (-30, 30), 1: (390, 25), 2: (-28, 780), 3: (388, 784)})
UNIFORMS = {Side.A: (40, 95, 120), Side.G: (105, 90, 60)}
_TEXTURE_PX_PER_MM = 2.0
_MARGIN_MM = 90.0


def view(
    *,
    width_px: int = 960,
    height_px: int = 540,
    focal_px: float = 1180.0,
    height_mm: float = 1250.0,
    roll_rad: float = 0.0,
    tilt_rad: float = 0.0,
    distortion: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0),
) -> BoardView:
    """A camera above the middle of the board; upright, +y of the board is to the right."""
    down = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    lean = cv2.Rodrigues(np.array([tilt_rad, 0.6 * tilt_rad, 0.0]))[0]
    roll = cv2.Rodrigues(np.array([0.0, 0.0, roll_rad]))[0]
    rotation = roll @ lean @ down
    return BoardView(
        camera_matrix=np.array(
            [[focal_px, 0, (width_px - 1) / 2], [0, focal_px, (height_px - 1) / 2], [0, 0, 1.0]]
        ),
        distortion=np.array(distortion, dtype=np.float64),
        rotation=rotation,
        translation_mm=np.array([0, 0, height_mm]) - rotation @ np.array([180.0, 405.0, 0.0]),
        width_px=width_px,
        height_px=height_px,
        error_mm=0.0,
    )


def scene(camera: BoardView, **known: object) -> Scene:
    """What is known of a painted table; keyword arguments replace fields."""
    matrix = camera.camera_matrix
    whole = Scene(
        square_mm=SQUARE_MM,
        cannon_side=Side.A,
        fps=120.0,
        markers=MARKERS,
        intrinsics=(matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]),
        distortion=tuple(camera.distortion),
    )
    return replace(whole, **known)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Figure:
    """One soldier."""

    side: Side
    x_mm: float
    y_mm: float
    lean_rad: float = 0.0
    """0 upright, pi/2 lying."""
    heading_rad: float = 0.0
    """Which way it leans: 0 towards +x, pi/2 towards +y."""
    facing_rad: float = 0.0
    """Which way its rifle points."""


@dataclass(frozen=True)
class Table:
    """What there is to see."""

    camera: BoardView
    figures: tuple[Figure, ...] = ()
    moving: tuple[Figure, ...] = ()
    """More soldiers, drawn over the others: those that change from picture to picture."""
    checkered: bool = False
    crossed: bool = False
    """A red cross of 10 mm on every third square."""
    path: bool = False
    """A path aslant across the field of side A."""
    markers: MarkerMap | None = MARKERS
    height_mm: float = 42.0
    foot_mm: float = 11.0
    light: float = 1.0
    clutter: bool = False
    """A pencil and a die beside the board."""
    noise: float = 1.5
    seed: int = 1
    _drawn: dict[object, Image] = field(default_factory=dict, compare=False)

    def paint(self, shift_px: tuple[float, float] = (0.0, 0.0), seed: int = 0) -> Image:
        """One picture; `shift_px` is how far the camera's shake moves its content."""
        if self.figures not in self._drawn:
            still = self._bare().copy()
            for figure in self.figures:
                self._paint_figure(still, figure)
            self._drawn[self.figures] = still
        picture = self._drawn[self.figures].copy()
        for figure in self.moving:
            self._paint_figure(picture, figure)
        if shift_px != (0.0, 0.0):
            matrix = np.array([[1, 0, shift_px[0]], [0, 1, shift_px[1]]])
            size = (picture.shape[1], picture.shape[0])
            picture = cv2.warpAffine(picture, matrix, size, borderMode=cv2.BORDER_REPLICATE)
        lit = picture.astype(np.float32)
        if self.light != 1.0:
            lit *= np.float32(self.light)
        # numpy takes three times as long to add one value to each of three channels.
        grain = np.float32(self.noise) * _grain((self.seed, seed), picture.shape[:2])
        lit += cv2.merge((grain, grain, grain))
        return np.clip(lit, 0, 255, out=lit).astype(np.uint8)

    def _bare(self) -> Image:
        if "bare" not in self._drawn:
            texture = self._texture()
            height, width = self.camera.height_px, self.camera.width_px
            v, u = np.mgrid[0:height:4, 0:width:4].astype(np.float64)
            points = self.camera.on_plane(np.column_stack([u.ravel(), v.ravel()]))
            coarse = (
                ((points + _MARGIN_MM) * _TEXTURE_PX_PER_MM - 0.5).reshape(*u.shape, 2).astype(np.float32)
            )
            rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
            fine = cv2.remap(coarse, columns / 4, rows / 4, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            self._drawn["bare"] = cv2.remap(
                texture, fine[..., 0], fine[..., 1], cv2.INTER_AREA, borderValue=(70, 90, 110)
            )
        return self._drawn["bare"]

    def _texture(self) -> Image:
        px = _TEXTURE_PX_PER_MM
        size = [round((length + 2 * _MARGIN_MM) * px) for length in (18 * SQUARE_MM, 8 * SQUARE_MM)]
        texture = np.full((*size, 3), (70, 90, 110), dtype=np.uint8)

        def at(x_mm: float, y_mm: float) -> tuple[int, int]:
            return round((x_mm + _MARGIN_MM) * px), round((y_mm + _MARGIN_MM) * px)

        for row in range(18):
            for file in range(8):
                paper = (205, 222, 214) if row < 9 else (200, 214, 228)
                if self.checkered and (row + file) % 2:
                    paper = tuple(0.72 * c for c in paper)
                low, high = (
                    at(file * SQUARE_MM, row * SQUARE_MM),
                    at((file + 1) * SQUARE_MM, (row + 1) * SQUARE_MM),
                )
                cv2.rectangle(texture, low, high, paper, -1)
                cv2.rectangle(texture, low, high, (90, 90, 90), 2)
                middle = at((file + 0.5) * SQUARE_MM, (row + 0.5) * SQUARE_MM)
                cv2.circle(texture, middle, round(9 * px), (150, 155, 155), 2)
                if self.crossed and (row + file) % 3 == 0:
                    cv2.drawMarker(
                        texture, middle, (40, 40, 160), cv2.MARKER_CROSS, round(10 * px), round(1 * px)
                    )
        if self.path:
            ends = at(0, 1.0 * SQUARE_MM), at(8 * SQUARE_MM, 6.7 * SQUARE_MM)
            cv2.line(texture, *ends, (170, 120, 130), round(26 * px))
        if self.clutter:
            cv2.line(texture, at(-70, 300), at(-40, 460), (40, 190, 230), round(7 * px))
            cv2.rectangle(texture, at(385, 500), at(397, 512), (50, 50, 200), -1)
        if self.markers is not None:
            dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, self.markers.dictionary))
            half = self.markers.size_mm / 2
            for number, (x_mm, y_mm) in self.markers.centres_mm.items():
                corner, end = at(x_mm - half, y_mm - half), at(x_mm + half, y_mm + half)
                quiet = round(6 * px)
                cv2.rectangle(
                    texture,
                    (corner[0] - quiet, corner[1] - quiet),
                    (end[0] + quiet, end[1] + quiet),
                    (245, 245, 245),
                    -1,
                )
                side = end[0] - corner[0]
                marker = cv2.aruco.generateImageMarker(dictionary, number, side)
                # The texture's rows run along +y, so it is the picture seen from below: turn the marker over.
                texture[corner[1] : corner[1] + side, corner[0] : corner[0] + side] = marker[::-1, :, None]
        return cv2.GaussianBlur(texture, (0, 0), 1.2)

    def _paint_figure(self, picture: Image, figure: Figure) -> None:
        colour = UNIFORMS[figure.side]
        axis = np.array(
            [
                math.sin(figure.lean_rad) * math.cos(figure.heading_rad),
                math.sin(figure.lean_rad) * math.sin(figure.heading_rad),
                math.cos(figure.lean_rad),
            ]
        )
        # It turns about the edge of its foot on the side to which it leans.
        outward = np.array([math.cos(figure.heading_rad), math.sin(figure.heading_rad), 0.0])
        upright = np.array([0.0, 0.0, 1.0])
        edge = np.array([figure.x_mm, figure.y_mm, 0.0])
        middle = edge.copy()
        if figure.lean_rad > 0:
            edge = edge + self.foot_mm * outward
            across = outward * math.cos(figure.lean_rad) - upright * math.sin(figure.lean_rad)
            middle = edge - self.foot_mm * across
        places, radii_mm, colours = [], [], []
        for z_mm in np.arange(0.0, self.height_mm, 1.5):
            share = z_mm / self.height_mm
            radius_mm = self.foot_mm if z_mm < 2.5 else 0.16 * self.height_mm * (1 - 0.35 * share)
            if figure.lean_rad > 0.5 and z_mm < 2.5:
                radius_mm = 0.6 * self.foot_mm
            shade = 0.75 + 0.5 * share + (0.25 if share > 0.8 else 0.0)
            places.append(middle + z_mm * axis)
            radii_mm.append(radius_mm)
            colours.append(tuple(shade * c for c in colour))
        self._discs(picture, np.array(places), np.array(radii_mm), colours)
        hands = middle + 0.6 * self.height_mm * axis
        ahead = np.array([math.cos(figure.facing_rad), math.sin(figure.facing_rad), 0.0])
        line = self.camera.project(np.array([hands, hands + 14 * ahead]))
        ends = [tuple(int(c) for c in np.round(p * 16)) for p in line]
        cv2.line(picture, ends[0], ends[1], (35, 35, 40), 2, cv2.LINE_AA, 4)

    def _discs(
        self,
        picture: Image,
        points_mm: NDArray[np.float64],
        radii_mm: NDArray[np.float64],
        colours: Sequence[tuple[float, ...]],
    ) -> None:
        sides = radii_mm[:, None, None] * np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
        around = self.camera.project((points_mm[:, None] + sides).reshape(-1, 3)).reshape(-1, 3, 2)
        radii_px = np.linalg.norm(around[:, 1:] - around[:, :1], axis=2).mean(axis=1)
        for centre, radius_px, colour in zip(np.round(around[:, 0] * 16), radii_px, colours, strict=True):
            cv2.circle(
                picture, centre.astype(int).tolist(), round(radius_px * 16), colour, -1, cv2.LINE_AA, 4
            )


@lru_cache(maxsize=96)
def _grain(seed: tuple[int, int], shape: tuple[int, int]) -> NDArray[np.float32]:
    """Noise of unit variance; most tests paint the same hundred pictures' worth of it."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def standing(
    soldiers: Mapping[Square, Side], *, spread_mm: float = 3.0, seed: int = 5
) -> dict[Square, Figure]:
    """Soldiers set down by a hand that misses the squares' middles by up to `spread_mm`."""
    draw = np.random.default_rng(seed)
    placed = {}
    for square, side in sorted(soldiers.items()):
        x_mm, y_mm = square.centre_mm(SQUARE_MM)
        dx, dy = draw.uniform(-spread_mm, spread_mm, 2)
        placed[square] = Figure(side, x_mm + dx, y_mm + dy, facing_rad=draw.uniform(0, 2 * math.pi))
    return placed


def squares(text: str) -> dict[Square, Side]:
    """``"A A-01 A-02 G G-01"``: who stands where."""
    found: dict[Square, Side] = {}
    side = Side.A
    for word in text.split():
        if word in set(Side):
            side = Side(word)
        else:
            found[Square.parse(word)] = side
    return found


CROWD = squares(
    "A A-03 A-05 A-07 A-12 A-20 A-26 A-28 A-31 A-52 A-60 A-67 G-58 G-62"
    " G A-62 A-69 G-02 G-08 G-12 G-19 G-25 G-32 G-33 G-60 G-66 G-70"
)
"""A position in the middle of a battle."""

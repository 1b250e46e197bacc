"""Drawing on a camera's picture, enlarged or cut out: rings, arrows, ways and words, smooth at any size.

A `Drawing` holds the picture and the way from board to its pixels; everything is placed in millimetres on the board.
Sizes are for a picture 720 px high and grow with it.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import BOARD_FILES, BOARD_ROWS
from vision.registration import BoardView

__all__ = [
    "DIM",
    "GROUND",
    "WORDS",
    "Colour",
    "Drawing",
    "Image",
    "fitting",
    "text_width_px",
    "told_time",
    "wrapped",
    "write",
]

Image = NDArray[np.uint8]
"""Shape (height, width, 3) in BGR order, or (height, width) in grey."""

Colour = tuple[int, int, int]
"""Blue, green, red."""

GROUND: Colour = (38, 33, 30)
"""What is around and between the pictures."""
WORDS: Colour = (235, 235, 235)
DIM: Colour = (165, 160, 155)
"""Words that are of less account."""

_FRACTION_BITS = 4  # OpenCV draws to a sixteenth of a pixel
_SHADE: Colour = (18, 18, 18)
_REGULAR, _BOLD = 430, 700
_PLATE_SHARE = 0.72
_STEP_PX = 11.0
_LEAST_LETTERS_PX = 13  # below that words run together
_LEAST_UNIT = 0.7  # and lines are all edge


class Drawing:
    """A picture to draw on.

    Parameters
    ----------
    picture
        (height, width, 3) BGR or (height, width).
    view
        How the camera sees the board in that picture.
    size_px
        Width and height that the part is enlarged or shrunk to.
    part_px
        Left, top, width, height of the part of the picture that is shown; None: all of it.
    """

    def __init__(
        self,
        picture: Image,
        view: BoardView,
        *,
        size_px: tuple[int, int],
        part_px: tuple[int, int, int, int] | None = None,
    ) -> None:
        height, width = picture.shape[:2]
        left, top, wide, high = part_px or (0, 0, width, height)
        part = picture[top : top + high, left : left + wide]
        shrunk = size_px[0] < wide
        scaled = cv2.resize(part, size_px, interpolation=cv2.INTER_AREA if shrunk else cv2.INTER_CUBIC)
        self.canvas: Image = np.asarray(
            cv2.cvtColor(scaled, cv2.COLOR_GRAY2BGR) if scaled.ndim == 2 else scaled, dtype=np.uint8
        )
        self._view = view
        self._left_top = np.array([left, top], dtype=np.float64)
        self._scale = np.array([size_px[0] / wide, size_px[1] / high])
        self.unit = max(_LEAST_UNIT, size_px[1] / 720)
        """Length of what is one pixel in a picture 720 px high."""
        self.written: list[tuple[int, int, int, int]] = []
        """Left, top, right, bottom of each plate with words."""
        self._taken: list[tuple[int, int, int, int]] = []

    def place(self, points_mm: Sequence[tuple[float, float, float]]) -> NDArray[np.float64]:
        """Return where board points are on the canvas, shape (N, 2), (u, v) px."""
        pixels = self._view.project(np.asarray(points_mm, dtype=np.float64).reshape(-1, 3))
        placed: NDArray[np.float64] = (pixels + 0.5 - self._left_top) * self._scale - 0.5
        return placed

    def line(
        self,
        points_mm: Sequence[tuple[float, float, float]],
        colour: Colour,
        width: float = 2.0,
        *,
        closed: bool = False,
    ) -> None:
        """Draw a line through board points, with a dark edge so that it shows on any ground."""
        if len(points_mm) < 2:
            return
        points = _fine(self.place(points_mm)).reshape(-1, 1, 2)
        for shade, wide in ((_SHADE, width + 2), (colour, width)):
            cv2.polylines(
                self.canvas,
                [points],
                closed,
                shade,
                max(1, round(wide * self.unit)),
                cv2.LINE_AA,
                _FRACTION_BITS,
            )

    def faint(
        self, segments_mm: Sequence[Sequence[tuple[float, float, float]]], colour: Colour, share: float
    ) -> None:
        """Draw thin lines that let the picture through."""
        layer = self.canvas.copy()
        for segment in segments_mm:
            points = _fine(self.place(segment)).reshape(-1, 1, 2)
            cv2.polylines(layer, [points], False, colour, 1, cv2.LINE_AA, _FRACTION_BITS)
        cv2.addWeighted(layer, share, self.canvas, 1 - share, 0, dst=self.canvas)

    def squares(self, square_mm: float, colour: Colour, share: float) -> None:
        """Draw the lines between the board's squares, thin and with the picture showing through."""
        width_mm, length_mm = BOARD_FILES * square_mm, BOARD_ROWS * square_mm
        # Several points on each line: the lens bends it.
        steps = [float(step) for step in np.linspace(0.0, 1.0, 9)]
        across = [[(s * width_mm, k * square_mm, 0.0) for s in steps] for k in range(BOARD_ROWS + 1)]
        along = [[(k * square_mm, s * length_mm, 0.0) for s in steps] for k in range(BOARD_FILES + 1)]
        self.faint(across + along, colour, share)

    def ring(
        self,
        centre_mm: tuple[float, float],
        radius_mm: float,
        colour: Colour,
        width: float = 2.5,
        *,
        dashed: bool = False,
    ) -> None:
        """Draw a circle that lies on the board."""
        angles = np.linspace(0, 2 * np.pi, 49)
        circle = [
            (centre_mm[0] + radius_mm * float(np.cos(a)), centre_mm[1] + radius_mm * float(np.sin(a)), 0.0)
            for a in angles
        ]
        pieces = [circle[k : k + 4] for k in range(0, 48, 6)] if dashed else [circle]
        for piece in pieces:
            self.line(piece, colour, width)
        self._take(circle)

    def dot(self, point_mm: tuple[float, float, float], colour: Colour, radius: float = 3.5) -> None:
        """Draw a filled spot of a size that does not hang on the distance."""
        (at,) = _fine(self.place([point_mm]))
        for shade, wide in ((_SHADE, radius + 1.2), (colour, radius)):
            cv2.circle(
                self.canvas,
                (int(at[0]), int(at[1])),
                round(wide * self.unit * 2**_FRACTION_BITS),
                shade,
                -1,
                cv2.LINE_AA,
                _FRACTION_BITS,
            )
        self._take([point_mm])

    def cross(self, point_mm: tuple[float, float, float], colour: Colour) -> None:
        """Draw an oblique cross of a size that does not hang on the distance."""
        u, v = np.round(self.place([point_mm])[0]).astype(int)
        for shade, wide in ((_SHADE, 4.0), (colour, 2.0)):
            cv2.drawMarker(
                self.canvas,
                (int(u), int(v)),
                shade,
                cv2.MARKER_TILTED_CROSS,
                round(16 * self.unit),
                max(1, round(wide * self.unit)),
                cv2.LINE_AA,
            )

    def arrow(
        self, start_mm: tuple[float, float], end_mm: tuple[float, float], colour: Colour, *, gap_mm: float
    ) -> None:
        """Draw an arrow on the board that leaves `gap_mm` free at both ends."""
        start, end = np.array(start_mm), np.array(end_mm)
        length = float(np.hypot(*(end - start)))
        if length <= 2.2 * gap_mm:
            gap_mm = 0.25 * length
        ahead = (end - start) / max(length, 1e-6)
        a, b = start + gap_mm * ahead, end - gap_mm * ahead
        aside = np.array([-ahead[1], ahead[0]])
        head_mm = min(9.0, 0.5 * float(np.hypot(*(b - a))))
        wings = (b - head_mm * ahead + 0.5 * head_mm * aside, b - head_mm * ahead - 0.5 * head_mm * aside)
        self.line([(*a, 0.0), (*b, 0.0)], colour, 2.5)
        self.line([(*wings[0], 0.0), (*b, 0.0), (*wings[1], 0.0)], colour, 2.5)

    def label(self, at_mm: tuple[float, float], radius_mm: float, words: str, colour: Colour) -> None:
        """Write on a plate beside a place, where it covers neither a ring nor other words."""
        size = max(_LEAST_LETTERS_PX, round(14 * self.unit))
        wide, high = text_width_px(words, size, bold=True) + 10, size + 10
        circle = self.place([(at_mm[0] + radius_mm, at_mm[1], 0.0), (at_mm[0], at_mm[1], 0.0)])
        u, v = circle[1]
        radius = float(np.hypot(*(circle[0] - circle[1]))) + 4
        for far in np.arange(radius, radius + 14 * _STEP_PX, _STEP_PX):
            for left, top in (
                (u + far, v - high / 2),
                (u - far - wide, v - high / 2),
                (u + 0.7 * far, v + 0.7 * far),
                (u + 0.7 * far, v - 0.7 * far - high),
                (u - 0.7 * far - wide, v + 0.7 * far),
                (u - 0.7 * far - wide, v - 0.7 * far - high),
                (u - wide / 2, v + far),
                (u - wide / 2, v - far - high),
            ):
                box = (round(left), round(top), round(left) + wide, round(top) + high)
                if self._is_free(box):
                    self._plate(box)
                    write(self.canvas, words, (box[0] + 5, box[1] + 5), size, colour, bold=True)
                    self.written.append(box)
                    return

    def tag(self, at_mm: tuple[float, float], half_mm: float, words: str, colour: Colour) -> None:
        """Write small at the lower edge of a square, as the picture has it, for squares that all have a name."""
        x, y = at_mm
        edges = self.place(
            [(x - half_mm, y, 0), (x + half_mm, y, 0), (x, y - half_mm, 0), (x, y + half_mm, 0)]
        )
        u, v = edges[int(np.argmax(edges[:, 1]))]
        size = max(_LEAST_LETTERS_PX - 1, round(12 * self.unit))
        left, top = round(u - text_width_px(words, size, bold=True) / 2), round(v - 0.8 * size)
        for du, dv in ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1), (-1, 1), (1, -1)):
            write(self.canvas, words, (left + du, top + dv), size, _SHADE, bold=True)
        write(self.canvas, words, (left, top), size, colour, bold=True)

    def _is_free(self, box: tuple[int, int, int, int]) -> bool:
        height, width = self.canvas.shape[:2]
        left, top, right, bottom = box
        inside = left >= 2 and top >= 2 and right <= width - 2 and bottom <= height - 2
        return inside and not any(
            left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
            for other in (*self._taken, *self.written)
        )

    def _plate(self, box: tuple[int, int, int, int]) -> None:
        left, top, right, bottom = box
        below = self.canvas[top:bottom, left:right]
        cv2.addWeighted(np.full_like(below, _SHADE), _PLATE_SHARE, below, 1 - _PLATE_SHARE, 0, dst=below)

    def _take(self, points_mm: Sequence[tuple[float, float, float]]) -> None:
        placed = self.place(points_mm)
        low, high = np.floor(placed.min(axis=0)).astype(int), np.ceil(placed.max(axis=0)).astype(int)
        self._taken.append((int(low[0]) - 3, int(low[1]) - 3, int(high[0]) + 3, int(high[1]) + 3))


def told_time(since_us: float) -> str:
    """Say how long before or after the release something was."""
    since_ms = since_us / 1000
    return "0 ms" if round(since_ms) == 0 else f"{since_ms:+.0f} ms".replace("-", "−")


def write(
    canvas: Image,
    words: str,
    at_px: tuple[int, int],
    size_px: int,
    colour: Colour,
    *,
    bold: bool = False,
) -> None:
    """Write a line; `at_px` is the upper left corner of its letters."""
    baseline = (at_px[0], at_px[1] + round(0.82 * size_px))
    cv2.putText(canvas, words, baseline, colour, _face(), size_px, _BOLD if bold else _REGULAR)


def text_width_px(words: str, size_px: int, *, bold: bool = False) -> int:
    """Return how wide a line will be."""
    box = cv2.getTextSize((10_000, 100), words, (0, 0), _face(), size_px, _BOLD if bold else _REGULAR)
    return int(box[2])


def fitting(words: str, size_px: int, width_px: int, *, bold: bool = False) -> str:
    """Return a line, or as much of its beginning as is no wider than `width_px`, with an ellipsis."""
    if text_width_px(words, size_px, bold=bold) <= width_px:
        return words
    kept = bisect.bisect_right(
        range(1, len(words)), width_px, key=lambda n: text_width_px(f"{words[:n]}…", size_px, bold=bold)
    )
    return f"{words[:kept].rstrip(' ,')}…"


def wrapped(
    words: str, size_px: int, width_px: int, *, bold: bool = False, most_lines: int | None = None
) -> list[str]:
    """Return the lines of a sentence that is not to be wider than `width_px`; what no line is left for ends in an ellipsis."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or text_width_px(longer, size_px, bold=bold) <= width_px:
            lines[-1] = longer
        elif len(lines) != most_lines:
            lines.append(word)
        else:
            lines[-1] = _cut(lines[-1], size_px, width_px, bold=bold)
            break
    return lines


def _cut(line: str, size_px: int, width_px: int, *, bold: bool) -> str:
    """End a line in an ellipsis, after a word."""
    kept = line.split()
    while len(kept) > 1 and text_width_px(f"{' '.join(kept)} …", size_px, bold=bold) > width_px:
        kept.pop()
    return f"{' '.join(kept).rstrip(',;:')} …"


@cache
def _face() -> cv2.FontFace:
    return cv2.FontFace("sans")


def _fine(points_px: NDArray[np.float64]) -> NDArray[np.int32]:
    fine: NDArray[np.int32] = np.round(np.clip(points_px, -1e5, 1e5) * 2**_FRACTION_BITS).astype(np.int32)
    return fine

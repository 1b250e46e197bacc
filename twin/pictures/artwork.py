"""Printed surfaces: the board in several looks, the table top, the markers.

Pictures are in the board frame seen from above with +y up and +x right, in blue, green, red order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import ALL_SQUARES, BOARD_FILES, BOARD_ROWS, Side
from twin.limits import at_least, within
from twin.pictures.painting import painted
from twin.streams import stream

Picture = NDArray[np.uint8]

PIXELS_PER_MM = 3.0
"""Resolution of the board's print."""

TABLE_MM = 2200.0
"""Side of the piece of table top that is drawn."""

_TABLE_PX = 1400
_CLOTH_PX, _BLOTCH_PX = 64, 9.0

MARKER_QUIET = 1.25
"""A marker's white card is this much larger than the marker."""


class BoardLook(StrEnum):
    """How the board is made."""

    PRINTED = "printed"
    """Cream and pale green paper, a numbered circle in every square."""
    PLAIN = "plain"
    """Two fields in one colour each, and lines."""
    CHECKERED = "checkered"
    WOOD = "wood"
    """A varnished plank with burnt-in circles."""
    BAIZE = "baize"
    """Green cloth with chalk lines."""


class TableLook(StrEnum):
    """What the board lies on."""

    WALNUT = "walnut"
    OAK = "oak"
    GREY = "grey"
    WHITE = "white"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """How a board or table differs from the usual one of its look. Colours are red, green, blue, 0 to 1."""

    dye_a: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """The ground of the Allies' field is multiplied by this."""
    dye_g: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """The ground of the Germans' field."""
    dye_table: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """The table beside the board."""
    ink: tuple[float, float, float] | None = None
    """Lines and numbers; None for those of the look."""
    line_mm: float = 0.7
    """Width of the lines."""
    grain: float = 1.0
    """Scales stains and fibre of the board."""
    litter: int = 0
    """How many things that are none of the game's lie beside the board."""
    litter_seed: int = 0
    """Draws what they are and where they lie."""
    painting_seed: int | None = None
    """Draws what is painted on the ground; None: nothing is."""

    def __post_init__(self) -> None:
        within(self, 0, 10, "dye_a", "dye_g", "dye_table")
        within(self, 0, 1, "ink")
        within(self, 0, 50, "line_mm")
        within(self, 0, 10, "grain")
        within(self, 0, 100, "litter")
        at_least(self, 0, "litter_seed", "painting_seed")


USUAL = Finish()
"""A board as its look says, and nothing beside it."""

# Colours are blue, green, red.
_INK = {
    BoardLook.PRINTED: (92, 88, 84),
    BoardLook.PLAIN: (60, 62, 60),
    BoardLook.CHECKERED: (52, 56, 58),
    BoardLook.WOOD: (34, 48, 72),
    BoardLook.BAIZE: (190, 205, 205),
}
_FIELDS = {
    BoardLook.PRINTED: ((216, 231, 239), (203, 231, 222)),
    BoardLook.PLAIN: ((142, 176, 190), (150, 168, 148)),
    BoardLook.CHECKERED: ((128, 176, 212), (132, 184, 158)),
    BoardLook.WOOD: ((84, 136, 190), (84, 136, 190)),
    BoardLook.BAIZE: ((62, 104, 44), (62, 104, 44)),
}
_SUBPIXEL_BITS = 4
_STRIP = (44, 92, 34)
_MIDDLE = (44, 40, 176)
_WOODS = {
    TableLook.WALNUT: ((44, 66, 98), (70, 100, 140)),
    TableLook.OAK: ((98, 138, 172), (122, 164, 196)),
}
_FLATS = {TableLook.GREY: (176, 170, 164), TableLook.WHITE: (222, 226, 226)}


def board(look: BoardLook, *, square_mm: float, strip_mm: float, finish: Finish = USUAL) -> Picture:
    """Draw the playing surface with its strips, +y up, at `PIXELS_PER_MM`."""
    cell = square_mm * PIXELS_PER_MM
    strip = round(strip_mm * PIXELS_PER_MM)
    width, height = round(BOARD_FILES * cell), round(BOARD_ROWS * cell)
    play = np.empty((height, width, 3), np.float32)
    play[height // 2 :] = _FIELDS[look][0]
    play[: height // 2] = _FIELDS[look][1]
    if look is BoardLook.CHECKERED:
        rows, columns = ((np.arange(length) // cell).astype(int) for length in (height, width))
        dark = (rows[:, None] + columns) % 2 == 1
        play[dark] *= 0.76
    if look is BoardLook.WOOD:
        play = _wood(height, width, ((66, 112, 164), (98, 152, 206)), grain_px=14.0, seed=3)
    play[height // 2 :] *= np.array(finish.dye_a[::-1], np.float32)
    play[: height // 2] *= np.array(finish.dye_g[::-1], np.float32)
    if finish.painting_seed is not None:
        play *= painted(height, width, PIXELS_PER_MM, finish.painting_seed)
    play += finish.grain * _mottle(play.shape[:2], look)[..., None]
    drawn = np.clip(play, 0, 255).astype(np.uint8)

    ink = _INK[look] if finish.ink is None else _bgr(finish.ink)
    line_px = max(1, round(finish.line_mm * PIXELS_PER_MM))
    for line in range(BOARD_FILES + 1):
        at = min(line * cell, width - 1)
        _line(drawn, (at, 0), (at, height), ink, line_px)
    for line in range(BOARD_ROWS + 1):
        at = min(line * cell, height - 1)
        _line(drawn, (0, at), (width, at), ink, line_px)
    _number(drawn, look, square_mm, ink)
    _line(drawn, (0, height / 2), (width, height / 2), _MIDDLE, round(1.6 * PIXELS_PER_MM))
    if not strip:
        return drawn
    felt = np.empty((strip, width, 3), np.float32)
    felt[:] = _STRIP
    felt += stream(11, "felt").normal(0.0, 5.0, felt.shape[:2]).astype(np.float32)[..., None]
    green = np.clip(felt, 0, 255).astype(np.uint8)
    return np.vstack([green, drawn, green])


def ground(look: BoardLook, finish: Finish = USUAL) -> tuple[tuple[float, float, float], ...]:
    """Return the usual colour of the Allies' field and of the Germans', red, green, blue from 0 to 1."""
    return tuple(
        (
            min(field[2] / 255 * dye[0], 1.0),
            min(field[1] / 255 * dye[1], 1.0),
            min(field[0] / 255 * dye[2], 1.0),
        )
        for field, dye in zip(_FIELDS[look], (finish.dye_a, finish.dye_g), strict=True)
    )


def _line(
    drawn: Picture,
    start: tuple[float, float],
    end: tuple[float, float],
    ink: tuple[int, ...],
    width_px: int,
) -> None:
    """Draw a line between places on the print; the first pixel's middle lies half a pixel from its rim."""
    ends = [tuple(round((v - 0.5) * (1 << _SUBPIXEL_BITS)) for v in place) for place in (start, end)]
    cv2.line(drawn, ends[0], ends[1], ink, width_px, cv2.LINE_AA, _SUBPIXEL_BITS)


def table(look: TableLook, *, finish: Finish = USUAL) -> Picture:
    """Draw a square piece of table top, the board's middle in its middle."""
    size = _TABLE_PX
    if look in _WOODS:
        top = _wood(size, size, _WOODS[look], grain_px=26.0, seed=7)
    else:
        top = np.empty((size, size, 3), np.float32)
        top[:] = _FLATS[look]
        top += stream(13, "table").normal(0.0, 1.5, (size, size)).astype(np.float32)[..., None]
    top *= np.array(finish.dye_table[::-1], np.float32)
    drawn = np.clip(top, 0, 255).astype(np.uint8)
    _litter(drawn, finish)
    return drawn


def _litter(drawn: Picture, finish: Finish) -> None:
    """Lay pencils, papers and coins beside the board, as flat pictures."""
    rng = stream(finish.litter_seed, "litter")
    per_mm = _TABLE_PX / TABLE_MM
    for _ in range(finish.litter):
        beside = float(rng.choice([-1.0, 1.0]))
        middle = np.array([beside * rng.uniform(265.0, 340.0), rng.uniform(-390.0, 390.0)])
        place = (drawn.shape[1] / 2 + middle * per_mm).round().astype(int)
        colour = tuple(int(value) for value in rng.integers(10, 245, 3))
        length_mm, width_mm = ((150.0, 7.0), (60.0, 35.0), (16.0, 16.0))[int(rng.integers(3))]
        turned = cv2.boxPoints(
            (
                (float(place[0]), float(place[1])),
                (length_mm * per_mm, width_mm * per_mm),
                float(rng.normal(90.0, 12.0)),
            )
        )
        cv2.fillConvexPoly(drawn, np.round(16 * turned).astype(np.int32), colour, cv2.LINE_AA, 4)


def _bgr(colour: tuple[float, float, float]) -> tuple[int, int, int]:
    """Blue, green, red levels of a colour told as red, green, blue from 0 to 1."""
    red, green, blue = (round(255 * part) for part in colour)
    return blue, green, red


def markers_in(dictionary: str) -> int:
    """Return how many markers a dictionary has.

    Raises
    ------
    ValueError
        If OpenCV has no dictionary of that name.
    """
    return int(_modules(dictionary).bytesList.shape[0])


@cache
def _modules(dictionary: str) -> cv2.aruco.Dictionary:
    number = getattr(cv2.aruco, dictionary, None) if dictionary.startswith("DICT_") else None
    if number is None:
        raise ValueError(f"marker_dictionary is {dictionary}, expected one of OpenCV's, such as DICT_4X4_50")
    return cv2.aruco.getPredefinedDictionary(number)


def marker(dictionary: str, number: int) -> Picture:
    """Draw a marker on its white card, its top edge up."""
    modules = _modules(dictionary)
    inner = 240
    border = round(inner * (MARKER_QUIET - 1) / 2)
    black = cv2.aruco.generateImageMarker(modules, number, inner)
    card = cv2.copyMakeBorder(black, border, border, border, border, cv2.BORDER_CONSTANT, value=255)
    return np.asarray(cv2.cvtColor(np.clip(card, 18, 238), cv2.COLOR_GRAY2BGR), dtype=np.uint8)


def _number(drawn: Picture, look: BoardLook, square_mm: float, ink: tuple[int, int, int]) -> None:
    """Print the number of every square, to be read by the owner of the field."""
    font = cv2.FontFace("sans")
    cell = square_mm * PIXELS_PER_MM
    half = round(cell / 2)
    circled = look in (BoardLook.PRINTED, BoardLook.WOOD, BoardLook.BAIZE)
    size = round(cell * (0.23 if circled else 0.17))
    middle = (half, half) if circled else (round(0.24 * cell), round(0.20 * cell))
    for square in ALL_SQUARES:
        x_mm, y_mm = square.centre_mm(square_mm)
        column, row = round(x_mm * PIXELS_PER_MM), round(drawn.shape[0] - y_mm * PIXELS_PER_MM)
        stamp = _centred_text(str(square.number), middle, (2 * half, 2 * half), font, size)
        if circled:
            cv2.circle(stamp, middle, round(0.27 * cell), 255, 2, cv2.LINE_AA)
        if square.field is Side.G:
            stamp = np.ascontiguousarray(stamp[::-1, ::-1])
        # Half a square is rounded, and may reach a pixel over the edge of the print.
        top, left = max(row - half, 0), max(column - half, 0)
        patch = drawn[top : row + half, left : column + half]
        stamp = stamp[top - (row - half) :, left - (column - half) :]
        cover = stamp[: patch.shape[0], : patch.shape[1], None].astype(np.float32) / 255.0 * 0.9
        patch[:] = (patch * (1 - cover) + np.array(ink, np.float32) * cover).astype(np.uint8)


def camouflage(darker: float) -> Picture:
    """Draw blotches that are so much darker than the white round them, as a part of it."""
    noise = stream(11, "camouflage").standard_normal((_CLOTH_PX, _CLOTH_PX)).astype(np.float32)
    blotches = cv2.GaussianBlur(noise, (0, 0), _BLOTCH_PX) > 0
    shade = np.where(blotches, 1.0 - darker, 1.0)[..., None] * np.full(3, 255.0)
    return np.asarray(shade.astype(np.uint8))


def _centred_text(
    text: str, middle: tuple[int, int], shape: tuple[int, int], font: cv2.FontFace, size: int
) -> Picture:
    """Return white text on black, the middle of its ink at `middle` (column, row)."""
    wide = np.zeros((4 * size, 6 * size, 3), np.uint8)
    cv2.putText(wide, text, (size, 2 * size), (255, 255, 255), font, size, 500)
    rows, columns = np.nonzero(wide[:, :, 0])
    ink = wide[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1, 0]
    stamp = np.zeros(shape, np.uint8)
    top, left = middle[1] - ink.shape[0] // 2, middle[0] - ink.shape[1] // 2
    stamp[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
    return stamp


def _mottle(shape: tuple[int, ...], look: BoardLook) -> NDArray[np.float32]:
    """Return the unevenness of paper or cloth: slow stains and fine fibre."""
    rng = stream(5, "mottle")
    height, width = shape[:2]
    coarse = rng.standard_normal((height // 60 + 2, width // 60 + 2)).astype(np.float32)
    slow = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    fine = rng.standard_normal((height, width)).astype(np.float32)
    strength = {BoardLook.PRINTED: (2.0, 1.5), BoardLook.BAIZE: (3.0, 7.0)}.get(look, (4.0, 2.5))
    return np.asarray(slow * strength[0] + fine * strength[1], dtype=np.float32)


def _wood(
    height: int, width: int, colours: tuple[tuple[int, ...], tuple[int, ...]], *, grain_px: float, seed: int
) -> NDArray[np.float32]:
    """Grow grain along the rows' direction: distorted rings between two colours."""
    rng = stream(seed, "grain")

    def noise(rows: int, columns: int) -> NDArray[np.float32]:
        small = rng.standard_normal((rows, columns)).astype(np.float32)
        return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)

    across = np.arange(width, dtype=np.float32)[None, :]
    bend = noise(5, 6) * 1.2 + noise(9, 26) * 0.55
    rings = 0.5 + 0.5 * np.sin(2 * math.pi * across / grain_px / 3.0 + bend * 3.2)
    fibre = noise(max(4, height // 50), width) * 0.16
    share = np.clip(0.15 + 0.7 * rings**1.6 + fibre, 0.0, 1.0)[..., None]
    dark, light = (np.array(colour, np.float32) for colour in colours)
    return np.asarray(dark + (light - dark) * share, dtype=np.float32)

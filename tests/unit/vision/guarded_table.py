"""A table with soldiers for the guards to watch, and what may happen to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import painted_table as painted
from numpy.typing import NDArray
from painted_table import CROWD, Table

from game.montecassino import Square
from vision.outcome import Soldier, Standing
from vision.reading import ShotReading, read_shot

Image = NDArray[np.uint8]

FRAME_US = 8333
FIRE = 8
CAMERA = painted.view(width_px=800, height_px=450, focal_px=980)
SCENE = painted.scene(CAMERA, fire_us=FIRE * FRAME_US + 1000, muzzle_mm=(180.0, -20.0, 45.0))
PLACED = painted.standing(CROWD)
STANDING = Standing(tuple(Soldier(s, f.side, f.x_mm, f.y_mm) for s, f in sorted(PLACED.items())), 42.0, 11.0)
TABLE = Table(CAMERA, tuple(PLACED.values()))
TWO = (Square.parse("A-12"), Square.parse("G-12"))
ALL = np.ones((450, 800), np.bool_)
SKIN, SLEEVE = (120, 150, 200), (90, 60, 50)


def clip(change: Callable[[int, Image], Image] = lambda k, picture: picture, count: int = 40) -> list[Image]:
    return [change(k, picture) for k, picture in enumerate(undisturbed()[:count])]


@cache
def undisturbed() -> tuple[Image, ...]:
    return tuple(TABLE.paint(seed=k) for k in range(40))


def times(count: int) -> list[int]:
    return [FRAME_US * k for k in range(count)]


def arm(picture: Image, reach_px: int, row: int = 225) -> Image:
    """An arm from the right edge of the picture."""
    with_arm = picture.copy()
    cv2.rectangle(with_arm, (800 - reach_px, row - 28), (800, row + 28), SLEEVE, -1)
    cv2.ellipse(with_arm, (800 - reach_px, row), (34, 24), 0, 0, 360, SKIN, -1)
    return with_arm


def bump(picture: Image, right_px: float, turn_rad: float = 0.0, down_px: float = 0.0) -> Image:
    move = cv2.getRotationMatrix2D((400, 225), math.degrees(turn_rad), 1.0)
    move[:, 2] += right_px, down_px
    return np.asarray(cv2.warpAffine(picture, move, (800, 450), borderMode=cv2.BORDER_REPLICATE), np.uint8)


def shot(
    edit: Callable[[int, Image], Image] = lambda k, p: p, *, falls_at: int = FIRE + 4, count: int = 40
) -> ShotReading:
    """Nobody shoots; A-12 falls by itself."""
    square = Square.parse("A-12")
    table = replace(TABLE, figures=tuple(f for s, f in PLACED.items() if s != square))
    frames = []
    for k in range(count):
        lean = min(max(k - falls_at, 0) / 14, 1.0) * math.pi / 2
        moving = replace(PLACED[square], lean_rad=lean, heading_rad=1.2)
        frames.append(edit(k, replace(table, moving=(moving,)).paint(seed=k)))
    reading = read_shot(frames, times(count), SCENE)
    assert isinstance(reading, ShotReading), reading
    return reading

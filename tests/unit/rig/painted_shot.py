"""A recording painted with a few strokes: A-12 falls by itself on a table with soldiers; and what may go wrong with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import painted_table as painted
from numpy.typing import NDArray
from painted_table import CROWD, MARKERS, SQUARE_MM, Table

from game.montecassino import Cause, Square
from rig.recording import write_recording
from rig.verdict.analyse import Analysis
from vision.outcome import Push

Image = NDArray[np.uint8]

FRAME_US = 8333
FRAMES = 34
FIRE = 8
FALLS = Square.parse("A-12")
CAMERA = painted.view(width_px=800, height_px=450, focal_px=980)
FIRE_US = FIRE * FRAME_US + 1000
TIMES_US = tuple(FRAME_US * k for k in range(FRAMES))


@cache
def pictures(fall_begins: int = FIRE + 4) -> tuple[Image, ...]:
    """The clip; A-12 begins to fall in that picture."""
    placed = painted.standing(CROWD)
    table = Table(CAMERA, tuple(f for s, f in placed.items() if s != FALLS))
    made = []
    for k in range(FRAMES):
        lean = min(max(k - fall_begins, 0) / 14, 1.0) * math.pi / 2
        moving = replace(placed[FALLS], lean_rad=lean, heading_rad=1.2)
        made.append(replace(table, moving=(moving,)).paint(seed=k))
    return tuple(made)


def keys(**changed: Any) -> dict[str, Any]:
    """recording.json of it; keyword arguments replace keys."""
    matrix = CAMERA.camera_matrix
    return {
        "camera": {
            "width": CAMERA.width_px,
            "height": CAMERA.height_px,
            "fps": 120.0,
            "exposure_us": None,
            "intrinsics": [matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]],
            "distortion": None,
        },
        "fire_us": FIRE_US,
        "board": {
            "square_mm": SQUARE_MM,
            "markers": {
                "dictionary": MARKERS.dictionary,
                "size_mm": MARKERS.size_mm,
                "centres_mm": {str(number): list(at) for number, at in MARKERS.centres_mm.items()},
            },
            "corners_px": None,
        },
        "cannon": {"side": "G", "muzzle_mm": None},
        "position": None,
        "zone": "A01-A72",
        "option": "i",
        **changed,
    }


def record(
    folder: Path, edit: Callable[[int, Image], Image] = lambda k, picture: picture, **changed: Any
) -> Path:
    """Write the recording, each picture edited, and give its folder."""
    frames = [(t, edit(k, picture)) for k, (t, picture) in enumerate(zip(TIMES_US, pictures(), strict=True))]
    write_recording(folder, keys(**changed), frames)
    return folder


def perhaps_fallen(analysis: Analysis) -> Analysis:
    """Give a reading of it by which A-12 was pushed and seems to stand, but may have fallen, directly hit."""
    (fell,) = analysis.reading.falls
    soldier = fell.toppling.soldier
    perhaps = replace(
        fell,
        cause=Cause.OTHER,
        confidence=0.7,
        possible=(Cause.OTHER, Cause.DIRECT),
        probabilities={Cause.OTHER: 0.7, Cause.DIRECT: 0.3, Cause.RICOCHET: 0.0, Cause.DRAGGED: 0.0},
        evidence="it may have fallen (30 %)",
    )
    pushed = Push(soldier, fell.toppling.began_us, soldier.x_mm + 8.0, soldier.y_mm)
    reading = replace(analysis.reading, falls=(), pushes=(pushed,), perhaps_fallen=(perhaps,))
    return replace(analysis, reading=reading)

"""A small recording of a bright bar that moves: quick to write, and sound until a test makes it otherwise."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rig.recording import write_recording

WIDTH, HEIGHT = 96, 64
TIMES_US = [1_000_000, 1_008_333, 1_016_667, 1_033_334, 1_041_660]
KEYS: dict[str, Any] = {
    "camera": {
        "width": WIDTH,
        "height": HEIGHT,
        "fps": 120.0,
        "exposure_us": 1000,
        "intrinsics": [900.0, 900.0, 47.5, 31.5],
        "distortion": [-0.1, 0.02, 0.0, 0.0, 0.0],
    },
    "fire_us": 1_010_000,
    "board": {
        "square_mm": 45.0,
        "markers": {
            "dictionary": "DICT_4X4_50",
            "size_mm": 36.0,
            "centres_mm": {"0": [-30.0, 25.0], "12": [390.0, 780.0]},
        },
        "corners_px": None,
    },
    "cannon": {"side": "G", "muzzle_mm": [180.0, 860.0, 50.0]},
    "position": "G A01-A04,A06 G01-G08,A62 1/2 15/14 A",
    "zone": "A25-A72",
    "option": "iii",
}


def pictures(count: int = len(TIMES_US), *, grey: bool = False) -> list[NDArray[np.uint8]]:
    """Pictures with a bright bar that moves on by 8 px from one to the next."""
    made = []
    for k in range(count):
        picture = np.full((HEIGHT, WIDTH, 3), (60, 90, 120), dtype=np.uint8)
        picture[:, 8 * k : 8 * k + 8] = 230
        made.append(picture[..., 1].copy() if grey else picture)
    return made


def write(folder: Path, keys: dict[str, Any] = KEYS, *, grey: bool = False) -> None:
    write_recording(folder, keys, list(zip(TIMES_US, pictures(grey=grey), strict=True)))

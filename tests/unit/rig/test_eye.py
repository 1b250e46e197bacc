"""The eye at the live table knows what the rig was taught, and waits for no picture that cannot come."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_table import MARKERS, Table

from game.montecassino import Side
from rig.camera import Frame, FrameRing, TooManyFrames
from rig.eye import Eye
from rig.settings import Settings
from rig.uniforms_file import NAME, write_uniforms
from vision.soldiers.teaching import teach_uniforms

CAMERA = painted.view()
START = painted.squares(
    "A " + " ".join(f"A-{n:02d}" for n in range(1, 25)) + " G " + " ".join(f"G-{n:02d}" for n in range(1, 25))
)
# The heap nearer to a base is taken for that side's by whoever was not taught.
SWAPPED = {square: side.enemy for square, side in START.items() if square.number % 3}


@dataclass
class Picture:
    index: int
    timestamp_us: int
    image: NDArray[np.uint8]


@dataclass
class Still:
    """A camera that shows one picture, and its time."""

    image: NDArray[np.uint8]
    name: str = "still"
    width_px: int = CAMERA.width_px
    height_px: int = CAMERA.height_px
    fps: float = 100.0
    time_us: int = 0
    waiting: list[Frame] = field(default_factory=list)

    def now_us(self) -> int:
        return self.time_us

    def wait(self, time_us: int) -> None:
        self.time_us += time_us
        self.waiting.append(Picture(0, self.time_us, self.image))

    def poll(self) -> list[Frame]:
        frames, self.waiting = self.waiting, []
        return frames

    def close(self) -> None:
        pass


def seen_at(folder: Path) -> dict[object, Side]:
    """Who stands where, as the eye reads it with the recordings in a folder."""
    matrix = CAMERA.camera_matrix
    settings = Settings.model_validate(
        {
            "camera": {
                "width_px": CAMERA.width_px,
                "height_px": CAMERA.height_px,
                "intrinsics_px": (matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]),
            },
            "board": {
                "marker_dictionary": MARKERS.dictionary,
                "marker_size_mm": MARKERS.size_mm,
                "marker_centres_mm": {str(n): tuple(map(float, at)) for n, at in MARKERS.centres_mm.items()},
            },
            "log": {"recordings": str(folder)},
        }
    )
    camera = Still(Table(CAMERA, tuple(painted.standing(SWAPPED).values())).paint())
    ring = FrameRing(camera, keep_us=500_000, hold_us=500_000, stall_us=500_000)
    standing = Eye(ring, camera, camera.wait, settings).read(Side.A, None).standing
    return {soldier.square: soldier.side for soldier in standing.soldiers}


def test_the_table_is_read_with_the_uniforms_taught_beside_the_recordings(tmp_path: Path) -> None:
    assert seen_at(tmp_path) != SWAPPED
    whole = Table(CAMERA, tuple(painted.standing(START).values())).paint()
    write_uniforms(tmp_path / NAME, teach_uniforms(whole, painted.scene(CAMERA)))
    assert seen_at(tmp_path) == SWAPPED


def test_whoever_waits_for_pictures_that_the_ring_has_no_room_for_is_told() -> None:
    camera = Still(np.zeros((CAMERA.height_px, CAMERA.width_px, 3), np.uint8))
    ring = FrameRing(camera, keep_us=50_000, hold_us=100_000, stall_us=500_000)
    eye = Eye(ring, camera, camera.wait, Settings())
    ring.hold(0)
    with pytest.raises(TooManyFrames):
        eye.until_seen(1_000_000)
    with pytest.raises(TooManyFrames):
        eye.pictures()

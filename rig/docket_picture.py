"""What a commander looks at before ruling on a doubt: the soldier before, while it falls, and after, close up."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from rig.recording import RecordingError, read_frames, read_recording
from rig.replay_drawing import Colour, Sheet, text_width_px, write
from vision.registration import NoBoard, register

__all__ = ["write_crops"]

Image = NDArray[np.uint8]

_SIDE_PX = 400
_GAP_PX = 12
_CAPTION_PX = 34
_REACH_SQUARES = 3.2  # from side to side of a crop
_BEFORE_US = 40_000
_FALLING_US = (-60_000, 0, 80_000)  # about when it leans by 45 degrees
_RING_MM = 16.0
_RING: Colour = (255, 120, 235)
_GROUND: Colour = (38, 33, 30)
_WORDS: Colour = (235, 235, 235)
_DIM: Colour = (165, 160, 155)


def write_crops(path: Path, folder: Path, square: Square, *, t_us: int | None, title: str) -> None:
    """Write a strip of pictures of one square, from before the shot until after it.

    Parameters
    ----------
    path
        The PNG file to write.
    folder
        The shot's recording.
    square
        Where the soldier stood.
    t_us
        When it leaned by 45 degrees, on the recording's clock; None: unknown, and only before and after are shown.
    title
        Written above.

    Raises
    ------
    RecordingError
        Where the recording cannot be read, or shows no board.
    OSError
        Where the file cannot be written.
    """
    recording = read_recording(folder)
    times_us = recording.timestamps_us
    fire_us = recording.keys.fire_us
    before = 0 if fire_us is None else _nearest(times_us, fire_us - _BEFORE_US)
    wanted = {before: "before", len(times_us) - 1: "after"}
    if t_us is not None:
        for step_us in _FALLING_US:
            wanted.setdefault(_nearest(times_us, t_us + step_us), "falling")
    pictures = {k: p for k, p in enumerate(read_frames(folder, recording)) if k in wanted}
    scene = recording.scene
    view = register(pictures[before], scene)
    if isinstance(view, NoBoard):
        raise RecordingError(folder / recording.clip, view.reason)
    x_mm, y_mm = square.centre_mm(scene.square_mm)
    width_px = len(wanted) * (_SIDE_PX + _GAP_PX) + _GAP_PX
    strip = np.full((_CAPTION_PX + 26 + _SIDE_PX + _GAP_PX, width_px, 3), _GROUND, np.uint8)
    write(strip, title, (_GAP_PX, 10), 18, _WORDS, bold=True)
    u, v = view.project(np.array([[x_mm, y_mm, 0.0]]))[0]
    side_px = round(_REACH_SQUARES * scene.square_mm / view.mm_per_px(x_mm, y_mm))
    side_px = min(side_px, view.width_px, view.height_px)
    part_px = (
        int(np.clip(u - side_px / 2, 0, view.width_px - side_px)),
        int(np.clip(v - side_px / 2, 0, view.height_px - side_px)),
        side_px,
        side_px,
    )
    for column, k in enumerate(sorted(wanted)):
        left = _GAP_PX + column * (_SIDE_PX + _GAP_PX)
        sheet = Sheet(pictures[k], view, size_px=(_SIDE_PX, _SIDE_PX), part_px=part_px)
        sheet.ring((x_mm, y_mm), _RING_MM, _RING, 1.5, dashed=True)
        top = _CAPTION_PX + 26
        strip[top : top + _SIDE_PX, left : left + _SIDE_PX] = sheet.canvas
        write(strip, wanted[k], (left, _CAPTION_PX + 4), 15, _WORDS)
        clock = f"{(times_us[k] - (fire_us or times_us[0])) / 1000:+.0f} ms".replace("-", "−")
        write(strip, clock, (left + _SIDE_PX - text_width_px(clock, 14), _CAPTION_PX + 5), 14, _DIM)
    path.write_bytes(cv2.imencode(".png", strip)[1].tobytes())


def _nearest(times_us: tuple[int, ...], time_us: float) -> int:
    return min(range(len(times_us)), key=lambda k: abs(times_us[k] - time_us))

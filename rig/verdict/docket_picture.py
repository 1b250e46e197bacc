"""What a commander looks at before ruling on a doubt: the soldier before, while it moves, and after, close up.

When it moves the pictures themselves tell: from the last in which its place looks as it did before until the first in
which it looks as it does at the end. When it leaned by 45 degrees would not do: one that was only pushed never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from rig.drawing.table_drawing import (
    DIM,
    GROUND,
    WORDS,
    Colour,
    Drawing,
    Image,
    text_width_px,
    told_time,
    write,
)
from rig.files.whole_file import write_whole
from rig.recording import RecordingError, read_all_frames, read_recording
from vision.registration import NoBoard, register

__all__ = ["write_crops"]

_SIDE_PX = 400
_GAP_PX = 12
_CAPTION_PX = 34
_REACH_SQUARES = 3.2  # from side to side of a crop
_BEFORE_US = 40_000
_MOVING = 3  # pictures of it
# Of how much its place changes for good, above what noise does; a neighbour's shadow changes less.
_STILL_SHARE = 0.25
_BLOCKS = 12  # along each side of its place, of which each is one shade: so it is hardly grainy
_RING_MM = 16.0
_RING: Colour = (255, 120, 235)


def write_crops(path: Path, folder: Path, square: Square, *, title: str) -> None:
    """Write a strip of pictures of one square, from before the shot until after it.

    Parameters
    ----------
    path
        The PNG file to write.
    folder
        The shot's recording.
    square
        Where the soldier stood.
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
    times_us = recording.taken_us
    fire_us = recording.keys.fire_us
    before = 0 if fire_us is None else _nearest(times_us, fire_us - _BEFORE_US)
    begin_us = times_us[0] if fire_us is None else fire_us
    pictures = read_all_frames(folder, recording)
    scene = recording.scene
    view = register(pictures[before], scene)
    if isinstance(view, NoBoard):
        raise RecordingError(folder / recording.clip, view.reason)
    x_mm, y_mm = square.centre_mm(scene.square_mm)
    u, v = view.project(np.array([[x_mm, y_mm, 0.0]]))[0]
    side_px = round(_REACH_SQUARES * scene.square_mm / view.mm_per_px(x_mm, y_mm))
    side_px = min(side_px, view.width_px, view.height_px)
    part_px = (
        int(np.clip(u - side_px / 2, 0, view.width_px - side_px)),
        int(np.clip(v - side_px / 2, 0, view.height_px - side_px)),
        side_px,
        side_px,
    )
    place_px = (
        int(np.clip(u, 0, view.width_px - 1)),
        int(np.clip(v, 0, view.height_px - 1)),
        round(side_px / _REACH_SQUARES / 2),
    )
    wanted = _told(pictures, before, place_px)
    width_px = len(wanted) * (_SIDE_PX + _GAP_PX) + _GAP_PX
    strip = np.full((_CAPTION_PX + 26 + _SIDE_PX + _GAP_PX, width_px, 3), GROUND, np.uint8)
    write(strip, title, (_GAP_PX, 10), 18, WORDS, bold=True)
    for column, k in enumerate(sorted(wanted)):
        left = _GAP_PX + column * (_SIDE_PX + _GAP_PX)
        drawing = Drawing(pictures[k], view, size_px=(_SIDE_PX, _SIDE_PX), part_px=part_px)
        drawing.ring((x_mm, y_mm), _RING_MM, _RING, 1.5, dashed=True)
        top = _CAPTION_PX + 26
        strip[top : top + _SIDE_PX, left : left + _SIDE_PX] = drawing.canvas
        write(strip, wanted[k], (left, _CAPTION_PX + 4), 15, WORDS)
        clock = told_time(times_us[k] - begin_us)
        write(strip, clock, (left + _SIDE_PX - text_width_px(clock, 14), _CAPTION_PX + 5), 14, DIM)
    write_whole(path, cv2.imencode(".png", strip)[1].tobytes())


def _told(pictures: Sequence[Image], before: int, place_px: tuple[int, int, int]) -> dict[int, str]:
    """Choose the pictures, and say what each is."""
    began, rests = _moving(pictures, before, place_px)
    wanted = {before: "before", len(pictures) - 1: "after"}
    wanted.setdefault(began, "begins to move")
    # One that seems to move for a moment only is shown for so many pictures all the same.
    ends = min(max(rests, began + _MOVING), len(pictures) - 1)
    for k in np.linspace(began, ends, _MOVING + 1)[1:-1]:
        wanted.setdefault(round(k), "moving")
    return wanted


def _moving(pictures: Sequence[Image], before: int, place_px: tuple[int, int, int]) -> tuple[int, int]:
    """Find the first picture in which a place has changed, and the first from which on it stays as it is at the end.

    Parameters
    ----------
    pictures
        All of the clip.
    before
        Which of them shows the place before the shot.
    place_px
        Its middle and half its side: u, v, px.
    """
    u, v, half = place_px
    place = np.s_[max(0, v - half) : v + half, max(0, u - half) : u + half]
    parts = [
        cv2.resize(picture[place], (_BLOCKS, _BLOCKS), interpolation=cv2.INTER_AREA).astype(np.float32)
        for picture in pictures
    ]
    last = len(parts) - 1
    noise = _differ(parts[before], parts[min(before + 1, last)])
    still = noise + _STILL_SHARE * (_differ(parts[before], parts[last]) - noise)
    began = rests = last
    while began > before + 1 and _differ(parts[before], parts[began - 1]) > still:
        began -= 1
    while rests > began and _differ(parts[rests - 1], parts[last]) <= still:
        rests -= 1
    return began, rests


def _differ(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(np.abs(a - b).mean())


def _nearest(times_us: tuple[int, ...], time_us: float) -> int:
    return min(range(len(times_us)), key=lambda k: abs(times_us[k] - time_us))

"""The room that a shot takes on a disk, and a disk that has less."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rig.recording.encoding import encode
from rig.recording.errors import RecordingError

__all__ = ["BESIDE_BYTES", "picture_bytes", "refuse_full_disk", "shot_bytes"]

BESIDE_BYTES = 2_000_000
"""Room that a shot takes on the disk beside its clip: its sheet, its row in the log and its part of the transcript."""
# A picture of 720p takes 8 to 65 KB, as grainy as the camera is; a noise of 4 grey levels makes it 120, of 8 230.
_MOST_BYTES_PER_PX = 65_000 / (1280 * 720)


def picture_bytes(frames: Sequence[tuple[int, NDArray[np.uint8]]], fps: float) -> int:
    """Return the room that each of such pictures takes in a clip.

    Told by a few it is rather too much: the first takes the most.

    Parameters
    ----------
    frames, fps
        As `write_recording` takes them; one at least.
    """
    clip = io.BytesIO()
    encode(clip, frames, fps)
    return clip.getbuffer().nbytes // len(frames)


def shot_bytes(*, width_px: int, height_px: int, fps: float, clip_s: float, of_each_picture: int = 0) -> int:
    """Return the room that a shot takes on the disk of its recording at the most, with what lies beside its clip.

    Parameters
    ----------
    width_px, height_px, fps, clip_s
        Of the camera, and of the clip.
    of_each_picture
        Bytes, as `picture_bytes` tells them: a grainy camera's take more than is otherwise reckoned with.

    Examples
    --------
    >>> round(shot_bytes(width_px=1280, height_px=720, fps=120, clip_s=2.3) / 1e6)
    20
    """
    each = max(of_each_picture, _MOST_BYTES_PER_PX * width_px * height_px)
    return BESIDE_BYTES + round(each * fps * clip_s)


def refuse_full_disk(folder: Path, needed_bytes: int) -> None:
    """Raise RecordingError where the disk of a folder, made or not yet, has less room than a shot takes there."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    free = shutil.disk_usage(there).free
    if free < needed_bytes:
        raise RecordingError(
            folder,
            f"its disk has {free / 1e6:.1f} MB left, and a shot takes up to {needed_bytes / 1e6:.0f} MB; make room",
        )

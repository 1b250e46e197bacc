"""A recording written: the clip first, recording.json last, so that a folder with one is whole."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from rig.files.checked_file import validate
from rig.files.whole_file import to_disk, write_whole
from rig.recording.digest import digest
from rig.recording.encoding import encode
from rig.recording.errors import RecordingError
from rig.recording.folder import KEYS_NAME, Recording, refuse_recorded
from rig.recording.keys import FORMAT, Keys
from vision.hung import repeats

__all__ = ["recording_of", "write_recording"]

_CLIP_NAME = "clip.mkv"


def recording_of(folder: Path, keys: Mapping[str, Any], timestamps_us: Sequence[int]) -> Recording:
    """Return the recording that `write_recording` would write into a folder; nothing is written."""
    whole = _whole_keys(keys, timestamps_us)
    return Recording(validate(Keys, whole, str(folder / KEYS_NAME), RecordingError))


def write_recording(
    folder: Path, keys: Mapping[str, Any], frames: Sequence[tuple[int, NDArray[np.uint8]]]
) -> Recording:
    """Write a recording: the clip first, recording.json last, so that a folder with one is whole. On return it is on the disk.

    Parameters
    ----------
    folder
        Made where it is not there; must not hold a recording yet.
    keys
        recording.json without `format`, `clip`, `timestamps_us` and `repeated_us`.
    frames
        Time in us and picture (height, width, 3) BGR or (height, width), oldest first.

    Raises
    ------
    RecordingError
        Where the folder holds a recording, keys or pictures are not as they must be, or the disk does not take them:
        nothing of it is left there then, nor where Ctrl-C ends the writing.
    """
    refuse_recorded(folder)
    path = folder / KEYS_NAME
    whole = _whole_keys(keys, [timestamp_us for timestamp_us, _ in frames])
    repeated_us = [now_us for (_, before), (now_us, now) in pairwise(frames) if repeats(before, now)]
    if repeated_us:
        whole["repeated_us"] = repeated_us
    checked = validate(Keys, whole, str(path), RecordingError)
    for index, (_, picture) in enumerate(frames):
        if picture.shape[:2] != (checked.camera.height, checked.camera.width):
            raise RecordingError(
                folder,
                f"picture {index + 1} is {picture.shape[1]} x {picture.shape[0]} px, "
                f"expected {checked.camera.width} x {checked.camera.height} px as camera says",
            )
    clip = folder / _CLIP_NAME
    made = [each for each in (folder.absolute(), *folder.absolute().parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        encode(clip, frames, checked.camera.fps)
        to_disk(clip)
        whole["clip_sha256"] = digest(clip)
        write_whole(path, json.dumps(whole, indent=1) + "\n")
    except BaseException as bad:
        with suppress(OSError):
            clip.unlink()  # half a clip is none, and takes the room that was wanting
        if isinstance(bad, OSError | av.error.FFmpegError):
            raise RecordingError(folder, f"cannot be written: {bad.strerror}") from bad
        raise
    with suppress(OSError):  # not every file system knows how, and the recording is whole
        for each in made:
            to_disk(each.parent)
    return Recording(checked.model_copy(update={"clip_sha256": whole["clip_sha256"]}))


def _whole_keys(keys: Mapping[str, Any], timestamps_us: Sequence[int]) -> dict[str, Any]:
    return {"format": FORMAT, **keys, "clip": _CLIP_NAME, "timestamps_us": list(timestamps_us)}

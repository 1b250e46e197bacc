"""The pictures of a recording, decoded from any video that OpenCV opens, or from a folder of PNG pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rig.counted import counted
from rig.files.checked_file import Fault
from rig.film.capture import open_capture
from rig.film.deep_pictures import bits_of, in_eight_bits
from rig.film.faults import fault_of_film
from rig.film.free_memory import free_memory_bytes
from rig.film.quiet_decoders import quiet_decoders
from rig.recording.digest import digest
from rig.recording.errors import RecordingError, held, kind_of
from rig.recording.folder import KEYS_NAME, Recording

__all__ = ["read_all_frames", "read_frames"]

_FRAMES_FOLDER = "frames"
_NO_COLOUR = 3  # grey levels between the colours


def read_frames(folder: Path, recording: Recording) -> Iterator[NDArray[np.uint8]]:
    """Decode the clip, picture by picture: (height, width, 3) BGR, or (height, width) where its first has no colours.

    A picture that the camera gave twice comes twice, to the last bit, though the film has it a little otherwise.

    Raises
    ------
    RecordingError
        Where the clip is missing or damaged, has another size than `camera` says, or more or fewer pictures than
        `timestamps_us`; after the last picture, where it is not the one that was recorded, or a decoder tells a fault of it.
    """
    path = folder / recording.clip
    due = len(recording.timestamps_us)
    size = (recording.keys.camera.width, recording.keys.camera.height)
    repeated_us = frozenset(recording.keys.repeated_us)
    last: NDArray[np.uint8] | None = None
    count, grey = 0, False
    for picture in _pictures(path):
        if not count:
            grey = picture.ndim == 2 or _is_grey(picture)
        elif picture.ndim == 2 and not grey:
            raise RecordingError(
                path,
                f"picture {count + 1} is grey, expected coloured ones as picture 1 is: are all of one film?",
            )
        found = (picture.shape[1], picture.shape[0])
        if found != size:
            raise RecordingError(
                path,
                f"picture {count + 1} is {found[0]} x {found[1]} px, expected {size[0]} x {size[1]} px as camera says",
            )
        count += 1
        if count > due:
            raise RecordingError(path, f"more than {due} pictures, expected one for each of timestamps_us")
        if last is None or recording.timestamps_us[count - 1] not in repeated_us:
            last = np.ascontiguousarray(picture[..., 1]) if grey and picture.ndim == 3 else picture
        yield last
    if count < due:
        raise RecordingError(
            path,
            f"the clip ends after {counted(count, 'picture')}, expected {due}, one for each of timestamps_us",
        )
    _refuse_faulty_film(folder, recording)


def _refuse_faulty_film(folder: Path, recording: Recording) -> None:
    """Raise RecordingError where the clip is not the one that was recorded, or a decoder tells a fault of it."""
    path = folder / recording.clip
    if not path.is_file():
        return
    # A decoder mends what is wrong inside a picture as well as it can, and OpenCV says nothing.
    recorded = recording.keys.clip_sha256
    if recorded is None:
        if (fault := fault_of_film(path)) is not None:
            raise RecordingError(path, fault)
    elif digest(path) != recorded:
        raise RecordingError(
            path,
            f"not the clip that was recorded: its SHA-256 begins {digest(path)[:12]}, expected {recorded[:12]} as "
            f"clip_sha256 of {KEYS_NAME} says; it was damaged, or somebody changed it",
        )


def read_all_frames(folder: Path, recording: Recording) -> list[NDArray[np.uint8]]:
    """Decode the whole clip into memory, as `read_frames`.

    Raises
    ------
    RecordingError
        As for `read_frames`, and where its pictures take more memory than is free.
    """
    frames: list[NDArray[np.uint8]] = []
    for picture in read_frames(folder, recording):
        if not frames:
            _refuse_full_memory(folder / recording.clip, len(recording.timestamps_us), picture)
        frames.append(picture)
    return frames


def _refuse_full_memory(path: Path, count: int, picture: NDArray[np.uint8]) -> None:
    needed, free = count * picture.nbytes, free_memory_bytes()
    if free is not None and needed > free:
        raise RecordingError(
            path,
            f"its {count} pictures take {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free: "
            "cut the film, and timestamps_us, to a second before the shot until nothing moves any more",
        )


def _is_grey(picture: NDArray[np.uint8]) -> bool:
    """Whether a decoded picture is one of a grey camera: decoders leave a few levels between the colours of such."""
    blue, green, red = cv2.split(picture)
    return max(float(cv2.absdiff(green, other).max()) for other in (blue, red)) <= _NO_COLOUR


def _pictures(path: Path) -> Iterator[NDArray[np.uint8]]:
    if any("\ud800" <= sign <= "\udfff" for sign in str(path)):
        # So Python keeps the bytes of a name that are no UTF-8, and OpenCV crashes on them.
        found = f"{str(path)!a}, which is not UTF-8"
        raise RecordingError(
            path, [Fault("its name", found, "one that is; give file or folder another name")]
        )
    return _stills(path) if path.name == _FRAMES_FOLDER and path.is_dir() else _film(path)


def _stills(folder: Path) -> Iterator[NDArray[np.uint8]]:
    """Decode a folder of PNG pictures, named by their numbers from 0 on."""
    files = sorted(folder.glob("*.png"))
    if not files:
        raise RecordingError(
            folder,
            [Fault("the folder", f"no PNG picture, {held(folder)}", "000000.png, 000001.png, ...")],
        )
    for file in files:
        if not re.fullmatch(r"[0-9]{6,}\.png", file.name):
            raise RecordingError(
                file, "is none of the pictures 000000.png, 000001.png, ...: take it out of the folder"
            )
    bits: int | None = None
    for index, file in enumerate(files):
        if file.name != f"{index:06d}.png":
            raise RecordingError(file, f"found in the place of {index:06d}.png, which is missing")
        picture = _still(file)
        if picture.dtype != np.uint8 and bits is None:
            bits = bits_of(map(_still, files[index:]))
        yield in_eight_bits(picture, bits or 8)


def _film(path: Path) -> Iterator[NDArray[np.uint8]]:
    """Decode a video."""
    if not path.is_file():
        raise RecordingError(
            path, [Fault("the clip", kind_of(path), "a video, or a folder `frames` of PNG pictures")]
        )
    try:
        path.open("rb").close()
    except OSError as bad:
        raise RecordingError(
            path, [Fault("the clip", str(bad.strerror), "a video that can be read")]
        ) from bad
    capture = open_capture(str(path))
    try:
        if not capture.isOpened():
            raise RecordingError(str(path), [Fault("the clip", "no video", "a video that OpenCV opens")])
        while True:
            good, picture = capture.read()
            if not good:
                return
            yield np.asarray(picture, dtype=np.uint8)
    finally:
        capture.release()


def _still(file: Path) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read one of the pictures of a folder: (height, width, 3) BGR, or (height, width) where it is stored grey."""
    if not file.is_file():  # to read a pipe would wait for whoever writes into it
        raise RecordingError(file, [Fault("the file", kind_of(file), "a PNG picture")])
    with quiet_decoders():
        picture = cv2.imread(str(file), cv2.IMREAD_ANYCOLOR | cv2.IMREAD_ANYDEPTH)
    if picture is None:
        raise RecordingError(str(file), [Fault("the file", "no picture", "a PNG picture")])
    if picture.dtype == np.uint16:
        return np.asarray(picture, dtype=np.uint16)
    return np.asarray(picture, dtype=np.uint8)

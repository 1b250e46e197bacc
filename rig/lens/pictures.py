"""A folder of photographs of a calibration board, looked at one by one."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rig.counted import counted
from rig.files.one_line import on_one_line
from rig.film.deep_pictures import bits_of, in_eight_bits
from rig.film.quiet_decoders import quiet_decoders
from vision.lens import Flaw, Sighting, Target, Unusable, printed_charuco, recognise, sight

__all__ = [
    "ENDINGS",
    "LensPictures",
    "LensPicturesError",
    "look_at_pictures",
    "passed_over",
    "pictures_in",
    "read_picture",
]

Image = NDArray[np.uint8]

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp")
"""What a photograph's name ends in."""

_OTHERS = (
    ".heic",
    ".heif",
    ".avif",
    ".dng",
    ".cr2",
    ".cr3",
    ".nef",
    ".arw",
)  # photographs too, of kinds not read
_LOOKED_AT_FIRST = 8  # pictures by which the board is recognised
_MOST_NAMED = 4  # endings of other files
_NONE_READABLE = "no file in it is a picture that can be read"
# The sensor's own picture, not turned by what the camera believes is up: a lens does not turn with it.
_AS_TAKEN = cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION | cv2.IMREAD_ANYDEPTH


class LensPicturesError(Exception):
    """The folder holds nothing that a lens could be calibrated from; its text says what is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class LensPictures:
    """What the photographs show."""

    target: Target
    size_px: tuple[int, int]
    """Width and height of most of them."""
    seen: dict[str, Sighting | Unusable]
    """By file name, in order."""


def pictures_in(folder: Path) -> list[Path]:
    """Give the photographs of a folder, by name.

    Raises
    ------
    LensPicturesError
        Where there is no such folder, or none in it.
    """
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise LensPicturesError(f"{on_one_line(folder)}: found {found}, expected a folder of photographs")
    held = list(folder.iterdir())
    files = sorted(file for file in held if file.suffix.lower() in ENDINGS)
    if not files:
        others = ", ".join(sorted({file.suffix for file in held} - {""})[:_MOST_NAMED])
        found = f"files that end in {others}" if others else "no photograph"
        raise LensPicturesError(
            f"{on_one_line(folder)}: found {found}, expected files that end in {', '.join(ENDINGS)}"
        )
    return files


def passed_over(folder: Path) -> str:
    """Tell the photographs of a folder that `pictures_in` leaves out, as a telephone's .HEIC; "" where there are none."""
    others = [file.suffix for file in folder.iterdir() if file.suffix.lower() in _OTHERS]
    if not others:
        return ""
    count = counted(len(others), "photograph")
    verb = "ends" if len(others) == 1 else "end"
    return f"{count} in it {verb} in {', '.join(sorted(set(others)))} and cannot be read: save as .jpg what should count"


def look_at_pictures(
    files: Sequence[Path], told: Target | None, *, progress: Callable[[str], None] = lambda name: None
) -> LensPictures:
    """Find the board in every photograph.

    Parameters
    ----------
    files
        The photographs.
    told
        The board; None to recognise it.
    progress
        Told each file's name before it is looked at.

    Raises
    ------
    LensPicturesError
        Where no board is recognised, no file is a picture, or as many are of one size as of another.
    """
    target = told
    if target is None:
        looked_at: list[str] = []
        target = recognise(itertools.islice(_readable(files, looked_at), _LOOKED_AT_FIRST))
        if not looked_at:
            raise LensPicturesError(f"{on_one_line(files[0].parent)}: {_NONE_READABLE}")
    if target is None:
        raise LensPicturesError(
            f"{on_one_line(files[0].parent)}: no board is seen in {', '.join(map(on_one_line, looked_at))}: "
            f"neither a chessboard seen whole nor the printed {printed_charuco()}; "
            "name the board if it is another one: --chessboard or --charuco"
        )
    seen: dict[str, Sighting | Unusable] = {}
    sizes: dict[str, tuple[int, int]] = {}
    for file in files:
        progress(file.name)
        picture = read_picture(file)
        if picture is None:
            seen[file.name] = Unusable(Flaw.UNREADABLE, "it is no picture that can be read")
            continue
        sizes[file.name] = (picture.shape[1], picture.shape[0])
        seen[file.name] = sight(picture, target)
    if not sizes:
        raise LensPicturesError(f"{on_one_line(files[0].parent)}: {_NONE_READABLE}")
    size_px = _usual(files[0].parent, sizes, seen)
    for name, size in sizes.items():
        if size != size_px:
            seen[name] = Unusable(
                Flaw.OTHER_SIZE,
                f"it is {size[0]} x {size[1]} px where most are {size_px[0]} x {size_px[1]} px: "
                "a lens is calibrated for one size",
            )
    return LensPictures(target, size_px, seen)


def _readable(files: Sequence[Path], names: list[str]) -> Iterator[Image]:
    """Give those files that are pictures, and put their names into a list."""
    for file in files:
        picture = read_picture(file)
        if picture is not None:
            names.append(file.name)
            yield picture


def read_picture(file: Path) -> Image | None:
    """Read a photograph in grey, as the sensor saw it; None where it is no picture."""
    if not file.is_file():  # a pipe or a device may have no end
        return None
    try:
        data = np.frombuffer(file.read_bytes(), dtype=np.uint8)
    except OSError:
        return None
    if len(data) == 0:
        return None
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    try:
        with quiet_decoders():
            picture = cv2.imdecode(data, _AS_TAKEN)
    except cv2.error:
        return None
    if picture is None or picture.dtype not in (np.uint8, np.uint16):
        return None
    return in_eight_bits(picture, bits_of([picture]))


def _usual(
    folder: Path, sizes: dict[str, tuple[int, int]], seen: dict[str, Sighting | Unusable]
) -> tuple[int, int]:
    """Return the size of most pictures with a board; of most pictures where no board is seen."""
    with_board = [sizes[name] for name, each in seen.items() if isinstance(each, Sighting)]
    counts = Counter(with_board or sizes.values())
    most = max(counts.values())
    usual = sorted(size for size, count in counts.items() if count == most)
    if len(usual) > 1:
        told = " and ".join(f"{most} of {width} x {height} px" for width, height in usual)
        raise LensPicturesError(
            f"{on_one_line(folder)}: found {told}, expected most photographs of one size: a lens is calibrated for one; "
            "keep those of the size that the camera films in"
        )
    return usual[0]

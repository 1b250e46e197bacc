"""The markers on the table, as settings and recordings write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from rig.files.checked_file import Fault
from rig.files.validation_words import shortened, written_key

__all__ = ["MARKERS_OF", "MarkerSizeMm", "PlaceMm", "marker_conflicts"]

MARKERS_OF = {
    **{f"DICT_{size}X{size}_{count}": count for size in (4, 5, 6, 7) for count in (50, 100, 250, 1000)},
    "DICT_ARUCO_ORIGINAL": 1024,
    "DICT_ARUCO_MIP_36h12": 250,
    "DICT_APRILTAG_16h5": 30,
    "DICT_APRILTAG_25h9": 35,
    "DICT_APRILTAG_36h10": 2320,
    "DICT_APRILTAG_36h11": 587,
}
"""How many markers each of OpenCV's dictionaries has, numbered from 0 on; told here, so that settings need no OpenCV."""

_MOST_DIGITS = 4  # no dictionary has more than 2320 markers

PlaceMm = Annotated[float, Field(ge=-5_000, le=5_000)]
"""A place on the table along x or y, in the board frame."""

MarkerSizeMm = Annotated[float, Field(ge=5, le=500)]
"""Side of a marker's black square; smaller, and no camera that sees the board could read it."""


def marker_conflicts(
    key: str,
    centres_mm: Mapping[str, tuple[float, float]],
    *,
    size: str,
    size_mm: float,
    dictionary_key: str,
    dictionary: str,
) -> Iterator[Fault]:
    """Ask for numbered markers that the dictionary has, each number once, none on another.

    Parameters
    ----------
    key
        What the centres are called.
    centres_mm
        By its number: where the centre of each marker is.
    size
        What the markers' size is called.
    size_mm
        Side of a marker's black square.
    dictionary_key
        What the markers' dictionary is called.
    dictionary
        OpenCV's name of it.
    """
    known = MARKERS_OF[dictionary]
    sound: dict[str, tuple[float, float]] = {}
    for name, centre_mm in centres_mm.items():
        if not (name.isascii() and name.isdigit() and len(name) <= _MOST_DIGITS):
            yield Fault(
                f"{key}.{written_key(name)}", f"the name {shortened(repr(name))}", "a marker's number, as 0"
            )
            continue
        if int(name) >= known:
            yield Fault(
                f"{key}.{name}",
                f"marker {int(name)}",
                f"a number that it has: {dictionary} has markers 0 to {known - 1}",
                also=(dictionary_key,),
            )
            continue
        for other, other_mm in sound.items():
            if int(other) == int(name):
                yield Fault(f"{key}.{name}", f"marker {other} a second time", "each marker once")
                continue
            apart_mm = max(abs(a - b) for a, b in zip(centre_mm, other_mm, strict=True))
            if apart_mm < size_mm:
                yield Fault(
                    f"{key}.{name}",
                    f"a marker {apart_mm:g} mm from marker {other}",
                    f"markers that lie side by side, at least {size_mm:g} mm apart",
                    also=(size,),
                )
                break
        sound[name] = centre_mm

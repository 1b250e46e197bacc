"""Photographs of the calibration board taken from the live camera, each from another side, while somebody moves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from rig.files.whole_file import write_whole
from rig.lens.pictures import pictures_in, read_picture
from vision.lens import Coverage, Sighting, Target, cover_roughly, recognise, sight

__all__ = ["LiveViews", "Taken"]

Image = NDArray[np.uint8]

_STILL_PX = 2.0  # a board that is held moves less between two looks
_OTHER_SHARE = 0.04  # of the picture's width: farther from every earlier view is another view
_MOST_VIEWS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """A view that was kept."""

    path: Path
    count: int
    coverage: Coverage


@dataclass
class LiveViews:
    """Looks at pictures and keeps those that show the board held still, and held in another way than before.

    Parameters
    ----------
    folder
        Where the views go; those that are there already count.
    told
        The board; None to recognise it.
    """

    folder: Path
    told: Target | None
    _target: Target | None = field(init=False)
    _views: list[Sighting] = field(init=False, default_factory=list)
    _last: Sighting | None = field(init=False, default=None)
    _number: int = field(init=False, default=0)
    _size_px: tuple[int, int] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._target = self.told
        self.folder.mkdir(parents=True, exist_ok=True)
        if any(self.folder.iterdir()):
            for file in pictures_in(self.folder):
                picture = read_picture(file)
                if picture is not None and isinstance(found := self._found(picture), Sighting):
                    self._views.append(found)

    @property
    def count(self) -> int:
        """How many views there are."""
        return len(self._views)

    @property
    def coverage(self) -> Coverage | None:
        """What they cover; None before the first."""
        if self._target is None or self._size_px is None or not self._views:
            return None
        return cover_roughly(self._views, self._target.corners_mm, self._size_px)

    @property
    def enough(self) -> bool:
        """Whether nothing is missing any more, or nobody should take more."""
        coverage = self.coverage
        return self.count >= _MOST_VIEWS or (coverage is not None and not coverage.advice)

    def look(self, image: Image) -> Taken | str:
        """Look at a picture.

        Parameters
        ----------
        image
            Shape (height, width) or (height, width, 3) BGR.

        Returns
        -------
        The view that was kept, or why none was: a few words.
        """
        grey = image if image.ndim == 2 else np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)
        found = self._found(grey)
        if isinstance(found, str):
            self._last = None
            return found
        before, self._last = self._last, found
        if before is None or _apart_px(found, before) > _STILL_PX:
            return "hold the board still"
        least_px = _OTHER_SHARE * grey.shape[1]
        if any(_apart_px(found, view) < least_px for view in self._views):
            return "seen like this already: move or tilt the board"
        self._views.append(found)
        path = self._free_name()
        good, packed = cv2.imencode(".png", grey)
        assert good, "a grey picture can be packed"
        write_whole(path, packed.tobytes())
        coverage = self.coverage
        assert coverage is not None, "there is a view now"
        return Taken(path, self.count, coverage)

    def _found(self, grey: Image) -> Sighting | str:
        if self._target is None:
            self._target = recognise([grey])
            if self._target is None:
                return "no board is seen"
        self._size_px = (grey.shape[1], grey.shape[0])
        found = sight(grey, self._target)
        return found if isinstance(found, Sighting) else found.reason

    def _free_name(self) -> Path:
        while True:
            self._number += 1
            path = self.folder / f"view-{self._number:03d}.png"
            if not path.exists():
                return path


def _apart_px(one: Sighting, other: Sighting) -> float:
    """How far the corners that both show are apart, typically; infinite where they share too few."""
    shared, at_one, at_other = np.intersect1d(one.corners, other.corners, return_indices=True)
    if len(shared) < 4:
        return float("inf")
    return float(np.median(np.linalg.norm(one.pixels[at_one] - other.pixels[at_other], axis=1)))

"""Who falls when the shot touches a soldier: chances by where it is touched and where the others stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.strikes import TouchBins

__all__ = ["PRIOR_SHOTS", "FallTable"]

PRIOR_SHOTS = 100
"""How much the chance of a place over all touches weighs beside the counts of one class of touches."""


@dataclass(frozen=True, slots=True, eq=False)
class FallTable:
    """Chances that soldiers fall, learned from shots at random crowds.

    Places are relative to the soldier that is touched first, in squares as the shooter sees them: lines further away,
    files to the right. Nobody outside `lines` and `files` falls.

    Parameters
    ----------
    bins : TouchBins
        The (h, o) classes of a touch: height, sideways offset.
    lines, files : tuple of int
        The places, rising by one.
    fell : (h, o) array
        Chance that the soldier touched falls.
    dragged, ricochet : (h, o, lines, files) array
        Chance that whoever stands at a place is knocked over by another soldier, and by the shot as it flies on.

    Raises
    ------
    ValueError
        Where a shape does not fit or a number is no chance.
    """

    bins: TouchBins
    lines: tuple[int, ...]
    files: tuple[int, ...]
    fell: NDArray[np.float64]
    dragged: NDArray[np.float64]
    ricochet: NDArray[np.float64]

    def __post_init__(self) -> None:
        places = (*self.bins.shape, len(self.lines), len(self.files))
        for name, shape in (("fell", self.bins.shape), ("dragged", places), ("ricochet", places)):
            values = getattr(self, name)
            if values.shape != shape:
                raise ValueError(f"{name} has the shape {values.shape}, expected {shape}")
            if not ((values >= 0) & (values <= 1)).all():
                raise ValueError(f"{name} holds a number that is no chance, from 0 to 1")
        for name, numbers in (("lines", self.lines), ("files", self.files)):
            if list(numbers) != list(range(numbers[0], numbers[0] + len(numbers))):
                raise ValueError(f"{name} are {numbers}, expected whole numbers rising by one")

    @classmethod
    def from_counts(
        cls,
        bins: TouchBins,
        lines: tuple[int, ...],
        files: tuple[int, ...],
        *,
        touched: ArrayLike,
        fell: ArrayLike,
        neighbours: ArrayLike,
        dragged: ArrayLike,
        ricochet: ArrayLike,
    ) -> FallTable:
        """Turn counts into chances.

        What happened to a neighbour is rare and its counts are small. So each of its chances is pulled towards that of
        the same place over all classes of touches, as if that had been seen `PRIOR_SHOTS` more times; otherwise the
        search for the best aim would find the luckiest counts. A place that nobody ever stood on has no chance.

        Parameters
        ----------
        bins, lines, files
            As for the class.
        touched, fell : (h, o) array_like
            How often a soldier was touched first so, and how often it fell.
        neighbours, dragged, ricochet : (h, o, lines, files) array_like
            How often somebody stood at a place then, and how often that one was knocked over by another soldier, and by the
            shot as it flew on.
        """
        stood = np.asarray(neighbours, dtype=float)

        def pulled(counts: ArrayLike) -> NDArray[np.float64]:
            fallen = np.asarray(counts, dtype=float)
            everywhere = fallen.sum(axis=(0, 1)) / np.maximum(stood.sum(axis=(0, 1)), 1.0)
            chances: NDArray[np.float64] = (fallen + PRIOR_SHOTS * everywhere) / (stood + PRIOR_SHOTS)
            return chances

        seen = np.maximum(np.asarray(touched, dtype=float), 1.0)
        return cls(
            bins, lines, files, np.asarray(fell, dtype=float) / seen, pulled(dragged), pulled(ricochet)
        )

    def chances(self, places: ArrayLike) -> NDArray[np.float64]:
        """Return the chance of each way to fall for each soldier, given who was touched first and how.

        Parameters
        ----------
        places : (n, 2) array_like of int
            Line and file of each soldier, as the shooter counts them.

        Returns
        -------
        (n, h, o, 2, n, 3) array
            Axes: the soldier touched first, its height and offset class, whether the shot came off the board; then who
            falls, and why: direct, ricochet, dragged. The three exclude each other.
        """
        squares = np.asarray(places, dtype=np.intp).reshape(-1, 2)
        count = len(squares)
        heights, offsets = self.bins.shape
        chances = np.zeros((count, heights, offsets, 2, count, 3))
        for touched in range(count):
            chances[touched, :, :, 0, touched, 0] = self.fell
            chances[touched, :, :, 1, touched, 1] = self.fell
            rows = squares[:, 0] - squares[touched, 0] - self.lines[0]
            columns = squares[:, 1] - squares[touched, 1] - self.files[0]
            near = (rows >= 0) & (rows < len(self.lines)) & (columns >= 0) & (columns < len(self.files))
            near[touched] = False
            for other in np.flatnonzero(near):
                place = (rows[other], columns[other])
                chances[touched, :, :, :, other, 1] = self.ricochet[:, :, *place][:, :, None]
                chances[touched, :, :, :, other, 2] = self.dragged[:, :, *place][:, :, None]
        return chances

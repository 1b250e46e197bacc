"""Who fell and who was pushed, and when.

The table at rest after the shot is held against the table before it. A soldier whose place looks the same stands.
Where the bare board shows instead, it has left its place: if the same figure is seen upright a little aside
(`vision.resemblance`) it was pushed, else it fell. Where neither itself nor the board is seen, somebody lies over it.

When it began to move, and which way it went, is read from the pictures between: its place is watched from its last
quiet picture on, and what is new and no board near it is followed by its middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.outcome import Push, Soldier, Toppling
from vision.registration import BoardView
from vision.resemblance import resemble
from vision.soldiers import Board
from vision.steady import Steady, Sway, typical
from vision.surface import strangeness

__all__ = ["LEAST_PUSH_MM", "Aftermath", "find_falls"]

Image = NDArray[np.uint8]
FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST_PUSH_MM = 5.0
"""A soldier that moved less than this still stands where it stood (format page: "pushed more than 5 mm")."""

# The last pictures, among which nothing but the rolling shot should move.
_LAST_PICTURES = 9
_NOISE_FACTOR = 6.0
_LEAST_STEP = 12.0  # grey levels
# Shares of a figure's telling pixels.
_STANDS_SAME = 0.5
_STANDS_BARE = 0.2
_COVERED_BARE = 0.25
_COVERED_SAME = 0.25
# A figure is seen again where the colours correlate this well; figures lying on their side reached 0.68.
_SEEN_AGAIN = 0.72
_SEEN_COVERED = 0.5
_FREE_PUSH_MM = 10.0  # farther pushes are rarer: each mm beyond asks for a better likeness
_PUSH_PENALTY = 0.004
_REACH_SQUARES = 0.6
_FEWEST_TELLING = 0.25  # share of the figure; with fewer the whole figure is looked at
# Watching the place of a soldier.
_QUIET_SHARE = 0.06
_LEFT_SHARE = 0.4
_WATCH_SQUARES = 1.6
_GATE_MM = 30.0
_HEADING_MM = 8.0
# The middle of a toppling figure has come this far, in heights, when it passes 45 degrees.
_MIDDLE_AT_45 = 0.36


@dataclass(frozen=True, slots=True, eq=False)
class Aftermath:
    """What the table looks like after the shot."""

    topplings: tuple[Toppling, ...]
    """Sorted by when they began."""
    pushes: tuple[Push, ...]
    """Sorted by when they began."""
    doubts: tuple[str, ...]
    """Soldiers whose fate the picture does not show plainly, a sentence each."""


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A soldier's place on the raster."""

    soldier: Soldier
    telling: Mask
    """Pixels of the figure that tell it from the bare board, on the whole raster."""


def find_falls(
    frames: Sequence[Image],
    timestamps_us: Sequence[int],
    view: BoardView,
    board: Board,
    reference: Image,
    first_moving: int,
) -> Aftermath:
    """Find who fell and who was pushed.

    Parameters
    ----------
    frames, timestamps_us
        The pictures, (height, width) or (height, width, 3) BGR, and their times.
    view, board
        The camera, and the table before the shot.
    reference
        The picture that `board` was read from.
    first_moving
        Index of the first picture in which anything may have moved.
    """
    steady = Steady(reference)
    last = typical(frames[-_LAST_PICTURES:])
    flat = board.raster.lay(steady.measure(last).undo(last))
    change = _Change(board, flat)
    topplings: list[Toppling] = []
    pushes: list[Push] = []
    doubts: list[str] = []
    watch = _Watch(frames, timestamps_us, board, steady, change.step, first_moving)
    for soldier in board.standing.soldiers:
        place = _place(soldier, board, view)
        fate = change.fate(place)
        if fate.note:
            doubts.append(fate.note)
        if fate.stands and fate.moved_mm is None:
            continue
        if fate.stands and fate.moved_mm is not None:
            pushes.append(Push(soldier, watch.began_us(place), *fate.moved_mm))
        else:
            topplings.append(watch.toppling(place))
    return Aftermath(
        tuple(sorted(topplings, key=lambda t: (t.began_us, t.soldier.square))),
        tuple(sorted(pushes, key=lambda p: (p.began_us, p.soldier.square))),
        tuple(doubts),
    )


def _place(soldier: Soldier, board: Board, view: BoardView) -> _Place:
    discs = board.figure.shadow_of_sight(view.camera_mm, soldier.x_mm, soldier.y_mm)
    height, width = board.raster.shape
    shape = board.figure.draw(discs, board.raster, (0, 0), (width, height)) > 0.5
    telling = shape & (board.strange > sum(board.strange_levels) / 2)
    if telling.sum() < _FEWEST_TELLING * shape.sum():
        telling = shape
    return _Place(soldier, telling)


@dataclass(frozen=True, slots=True)
class _Fate:
    stands: bool
    moved_mm: tuple[float, float] | None = None
    """Where its foot is now, if it was pushed."""
    note: str = ""


class _Change:
    """The table after the shot against the table before."""

    def __init__(self, board: Board, flat: FloatImage) -> None:
        raster = board.raster
        self._board = board
        self._flat = flat
        difference = np.abs(flat - board.flat).max(axis=2)
        noise = 1.4826 * float(np.median(difference[raster.board]))
        self.step = max(_LEAST_STEP, _NOISE_FACTOR * noise)
        self._same = difference < self.step
        strange = np.zeros(raster.shape, dtype=np.float32)
        strange[raster.board] = strangeness(np.ascontiguousarray(flat[raster.board]), board.surface)
        self._strange = strange > sum(board.strange_levels) / 2

    def fate(self, place: _Place) -> _Fate:
        telling = place.telling
        same = float(self._same[telling].mean())
        bare = float((~self._same & ~self._strange)[telling].mean())
        if same >= _STANDS_SAME and bare < _STANDS_BARE:
            return _Fate(True)
        raster = self._board.raster
        soldier = place.soldier
        foot = (float(raster.to_px(soldier.x_mm)), float(raster.to_px(soldier.y_mm)))
        found = resemble(
            self._board.flat,
            self._flat,
            telling,
            self._strange,
            foot_px=foot,
            reach_px=round(_REACH_SQUARES * raster.px_per_square),
        )
        dx_mm, dy_mm = found.dx_px * raster.mm_per_px, found.dy_px * raster.mm_per_px
        moved = float(np.hypot(dx_mm, dy_mm))
        asked = _SEEN_AGAIN + _PUSH_PENALTY * max(0.0, moved - _FREE_PUSH_MM)
        if found.correlation >= asked and found.covered >= _SEEN_COVERED:
            if moved <= LEAST_PUSH_MM:
                return _Fate(True)
            return _Fate(True, (round(soldier.x_mm + dx_mm, 2), round(soldier.y_mm + dy_mm, 2)))
        if bare < _COVERED_BARE and same >= _COVERED_SAME:
            return _Fate(
                True, note=f"{soldier.square} is half covered by somebody who fell and taken to stand"
            )
        return _Fate(False)


class _Watch:
    """Watches the places of soldiers from picture to picture."""

    def __init__(
        self,
        frames: Sequence[Image],
        timestamps_us: Sequence[int],
        board: Board,
        steady: Steady,
        step: float,
        first: int,
    ) -> None:
        self._frames = frames
        self._timestamps_us = timestamps_us
        self._board = board
        self._steady = steady
        self._step = step
        self._first = max(0, min(first, len(frames) - 1))
        self._sways: dict[int, Sway] = {}

    def _window(self, k: int, window: tuple[slice, slice]) -> FloatImage:
        """Lay a window of one picture on the raster, still and evenly lit."""
        if k not in self._sways:
            self._sways[k] = self._steady.measure(self._frames[k])
        sway = self._sways[k]
        flat = self._board.raster.lay(self._frames[k], window, (sway.du_px, sway.dv_px))
        return np.asarray((flat - sway.offset) / sway.gain, dtype=np.float32)

    def _began(self, place: _Place) -> int:
        """Index of the first picture in which the soldier has moved."""
        window = _bounds(place.telling)
        inside = place.telling[window]
        before = self._board.flat[window]
        share: list[float] = []
        for k in range(self._first, len(self._frames)):
            changed = np.abs(self._window(k, window) - before).max(axis=2) > self._step
            share.append(float(changed[inside].mean()))
        # It has left for good where it never comes back; before that, the last quiet picture.
        left = len(share) - 1
        while left > 0 and share[left - 1] > _LEFT_SHARE * min(1.0, share[-1] / 0.5):
            left -= 1
        while left > 0 and share[left - 1] > _QUIET_SHARE:
            left -= 1
        return self._first + left

    def began_us(self, place: _Place) -> int:
        return self._timestamps_us[self._began(place)]

    def toppling(self, place: _Place) -> Toppling:
        """Follow a soldier that fell."""
        raster = self._board.raster
        soldier = place.soldier
        began = self._began(place)
        reach = round(_WATCH_SQUARES * raster.px_per_square)
        column, row = round(float(raster.to_px(soldier.x_mm))), round(float(raster.to_px(soldier.y_mm)))
        window = np.s_[
            max(0, row - reach) : min(raster.shape[0], row + reach + 1),
            max(0, column - reach) : min(raster.shape[1], column + reach + 1),
        ]
        before = self._board.flat[window]
        rows, columns = np.nonzero(place.telling)
        start = np.array([raster.to_mm(columns).mean(), raster.to_mm(rows).mean()])
        bare = self._bare(window)
        y_mm, x_mm = np.meshgrid(
            raster.to_mm(np.arange(window[0].start, window[0].stop)),
            raster.to_mm(np.arange(window[1].start, window[1].stop)),
            indexing="ij",
        )
        mine = place.telling[window]
        middle = start.copy()
        ways: list[FloatArray] = []
        for k in range(began, len(self._frames)):
            now = self._window(k, window)
            changed = np.abs(now - before).max(axis=2) > self._step
            thing = np.abs(now - bare).max(axis=2) > 2 * self._step
            # What has not changed at its own place is still the soldier.
            body = (changed & thing) | (mine & ~changed)
            near = body & (np.hypot(x_mm - middle[0], y_mm - middle[1]) < _GATE_MM)
            if near.sum() >= 0.2 * mine.sum():
                middle = np.array([x_mm[near].mean(), y_mm[near].mean()])
            ways.append(middle - start)
        far = np.array([np.hypot(*w) for w in ways])
        height = self._board.figure.height_mm
        passed = (
            int(np.argmax(far > _MIDDLE_AT_45 * height))
            if (far > _MIDDLE_AT_45 * height).any()
            else len(far) - 1
        )
        out = np.flatnonzero(far > _HEADING_MM)
        heading = ways[out[0]] / far[out[0]] if len(out) else np.zeros(2)
        rest = start + ways[-1]
        return Toppling(
            soldier,
            self._timestamps_us[began],
            self._timestamps_us[began + passed],
            (round(float(heading[0]), 4), round(float(heading[1]), 4)),
            (round(float(rest[0]), 2), round(float(rest[1]), 2)),
        )

    def _bare(self, window: tuple[slice, slice]) -> FloatImage:
        """Give the bare board; past its edge, what was there before."""
        n = self._board.raster.px_per_square
        whole = self._board.flat[window].copy()
        top, left = max(window[0].start, n), max(window[1].start, n)
        surface = self._board.surface.colour
        part = surface[top - n : max(0, window[0].stop - n), left - n : max(0, window[1].stop - n)]
        at = (top - window[0].start, left - window[1].start)
        whole[at[0] : at[0] + part.shape[0], at[1] : at[1] + part.shape[1]] = part
        return whole


def _bounds(mask: Mask) -> tuple[slice, slice]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]

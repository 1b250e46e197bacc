"""Who fell and who was pushed.

The table at rest after the shot is held against the table before it. A soldier whose place looks the same stands.
Where the bare board shows instead, it has left its place: if the same figure is seen a little aside, perhaps turned
(`vision.resemblance`), and little is left over that a standing figure would not explain (`vision.leftover`), it was
pushed, else it fell. Where neither itself nor the board is seen, somebody lies over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.leftover import left_over
from vision.outcome import Push, Soldier, Toppling
from vision.registration import BoardView
from vision.resemblance import Resemblance, resemble
from vision.soldiers import Board
from vision.steady import Steady, typical
from vision.surface import strangeness
from vision.topple import Place, Watch, largest, smoothed

__all__ = ["LEAST_PUSH_MM", "Aftermath", "find_falls"]

Image = NDArray[np.uint8]
FloatImage = NDArray[np.float32]

LEAST_PUSH_MM = 5.0
"""A soldier that moved less than this still stands where it stood (format page: "pushed more than 5 mm")."""

# The last pictures, among which nothing but the rolling shot should move.
_LAST_PICTURES = 9
_NOISE_FACTOR = 6.0
_LEAST_STEP = 12.0  # grey levels
_SMOOTH_PX = 3
_SPARSE = 3  # every so-manieth pixel along rows and columns tells the noise
_SMOOTH_NOISE_FACTOR = 4.5
# Shares of a figure's telling pixels.
_STANDS_SAME = 0.5
_STANDS_BARE = 0.2
_COVERED_BARE = 0.25
_COVERED_SAME = 0.25
# A figure is seen again where the colours correlate this well; figures lying on their side reached 0.68.
_SEEN_AGAIN = 0.72
_SEEN_COVERED = 0.4  # by what is new: where it overlaps its old place some looks as before
# Far pushes are rare, and part of a body that lies there looks like a figure: they ask for a better likeness.
_PUSH_PENALTY = 0.015  # for each mm beyond the least
# Where little is left over no body lies there, and less likeness will do: of bodies that lay in full sight those that
# left least, 0 to 0.5 of a figure's size, correlated by 0.53 to 0.79, the more alike the more they left.
_SEEN_ALONE = 0.63
_LEFT_PENALTY = 0.5  # for each figure's size that is left over
_CLOSE_CALL = 0.05
# What lies alone and is so large and so long, against the figure upright, is the figure upright.
_COMPACT_SIZE = (0.8, 1.25)  # of fallen ones 0.2 to 0.6, and 1.5 to 3.4
_COMPACT_SPREAD = 1.25
_FEWEST_COMPACT_PX = 40
_SCRAP = 0.12
_FAR_PUSH_SQUARES = 0.4  # those that fell came to lie 0.5 to 0.9 away
_LYING_HEIGHTS = 1.25  # a lying figure and its slide reach so far from its foot
_SLACK_MM = 2.0
_SHADOW_HEIGHTS = 0.9  # what is strange so near to a foot is its figure or its shadow
_REACH_SQUARES = 0.6
_FEWEST_TELLING = 0.25  # share of the figure; with fewer the whole figure is looked at


@dataclass(frozen=True, slots=True, eq=False)
class Aftermath:
    """What the table looks like after the shot."""

    topplings: tuple[Toppling, ...]
    """Sorted by when they began."""
    pushes: tuple[Push, ...]
    """Sorted by when they began."""
    doubts: tuple[str, ...]
    """Soldiers whose fate the picture does not show plainly, a sentence each."""


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
    sway = steady.measure(last)
    flat = board.raster.lay(last, shift_px=(sway.du_px, sway.dv_px))
    change = _Change(board, np.asarray(flat / sway.gain, dtype=np.float32))
    fallen: list[Place] = []
    pushed: list[tuple[Place, tuple[float, float]]] = []
    doubts: list[str] = []
    for soldier in board.standing.soldiers:
        place = _place(soldier, board, view)
        fate = change.fate(place)
        if fate.note:
            doubts.append(fate.note)
        if not fate.stands:
            fallen.append(place)
        elif fate.moved_mm is not None:
            pushed.append((place, fate.moved_mm))
    watch = Watch(
        frames,
        timestamps_us,
        board,
        steady,
        step=change.step,
        smooth_px=change.smooth_px,
        first=first_moving,
    )
    pushes = [Push(place.soldier, timestamps_us[watch.began(place)], *moved) for place, moved in pushed]
    return Aftermath(
        watch.topplings(fallen),
        tuple(sorted(pushes, key=lambda p: (p.began_us, p.soldier.square))),
        tuple(doubts),
    )


def _place(soldier: Soldier, board: Board, view: BoardView) -> Place:
    raster = board.raster
    discs = board.figure.shadow_of_sight(view.camera_mm, soldier.x_mm, soldier.y_mm)
    low = np.floor(raster.to_px((discs[:, :2] - discs[:, 2:]).min(axis=0))).astype(int)
    high = np.ceil(raster.to_px((discs[:, :2] + discs[:, 2:]).max(axis=0))).astype(int) + 1
    left, top = (int(v) for v in np.maximum(low, 0))
    right, bottom = (int(v) for v in np.minimum(high, [raster.shape[1], raster.shape[0]]))
    window = np.s_[top:bottom, left:right]
    shape = board.figure.draw(discs, raster, (left, top), (right - left, bottom - top)) > 0.5
    telling = shape & (board.strange[window] > sum(board.strange_levels) / 2)
    if telling.sum() < _FEWEST_TELLING * shape.sum():
        telling = shape
    return Place(soldier, window, shape, telling)


def _pivot_px(place: Place) -> tuple[float, float]:
    """Raster point (column, row) about which a figure turns as the camera sees it: half-way up, not its foot."""
    rows, columns = np.nonzero(place.shape)
    return float(columns.mean() + place.window[1].start), float(rows.mean() + place.window[0].start)


def _spread(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """Longest standard deviation of a patch, in pixels."""
    return float(np.sqrt(np.linalg.eigvalsh(np.cov(np.stack([rows, columns])))[-1] + 1 / 12))


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
        self.smooth_px = 1
        difference, noise = self._difference(flat)
        if _NOISE_FACTOR * noise > _LEAST_STEP:
            # In a noisy picture the mean of a few pixels tells what one of them does not.
            self.smooth_px = _SMOOTH_PX
            difference, noise = self._difference(flat)
        factor = _NOISE_FACTOR if self.smooth_px == 1 else _SMOOTH_NOISE_FACTOR
        self.step = max(_LEAST_STEP, factor * noise)
        self._same = difference < self.step
        strange = np.zeros(raster.shape, dtype=np.float32)
        strange[raster.board] = strangeness(np.ascontiguousarray(flat[raster.board]), board.surface)
        self._strange = strange > sum(board.strange_levels) / 2
        self._strange_before = board.strange > sum(board.strange_levels) / 2
        # Beyond the rim nothing is known of the bare table: whatever differs there may be somebody.
        self._beyond = np.ones(raster.shape, dtype=np.bool_)
        self._beyond[raster.board] = False

    def _difference(self, flat: FloatImage) -> tuple[FloatImage, float]:
        """Give what changed most of the colours, and the noise of that on the board."""
        off = smoothed(cv2.subtract(flat, self._board.flat).reshape(flat.shape), self.smooth_px)
        difference = largest(off)
        some = difference[self._board.raster.board][::_SPARSE, ::_SPARSE]
        return difference, 1.4826 * float(np.median(some))

    def fate(self, place: Place) -> _Fate:
        is_same = self._same[place.window][place.telling]
        is_strange = self._strange[place.window][place.telling]
        same, bare = float(is_same.mean()), float((~is_same & ~is_strange).mean())
        if same >= _STANDS_SAME and bare < _STANDS_BARE:
            return _Fate(True)
        raster = self._board.raster
        soldier = place.soldier
        telling = np.zeros(raster.shape, dtype=np.bool_)
        telling[place.window] = place.telling
        found = resemble(
            self._board.flat,
            self._flat,
            telling,
            self._strange & (~self._same | telling),
            pivot_px=_pivot_px(place),
            reach_px=round(_REACH_SQUARES * raster.px_per_square),
        )
        dx_mm, dy_mm = found.dx_px * raster.mm_per_px, found.dy_px * raster.mm_per_px
        moved = float(np.hypot(dx_mm, dy_mm))
        asked = _SEEN_AGAIN + _PUSH_PENALTY * max(0.0, moved - LEAST_PUSH_MM)
        seen = found.covered >= _SEEN_COVERED
        if seen and found.correlation > _SEEN_ALONE - _CLOSE_CALL:
            left = self._left_over(place, telling, found)
            asked = min(asked, _SEEN_ALONE + _LEFT_PENALTY * left)
        is_close = seen and abs(found.correlation - asked) < _CLOSE_CALL
        if seen and found.correlation >= asked:
            note = (
                f"{soldier.square} is hard to tell from one that fell and taken to stand" if is_close else ""
            )
            if moved <= LEAST_PUSH_MM:
                return _Fate(True, note=note)
            place_mm = (round(soldier.x_mm + dx_mm, 2), round(soldier.y_mm + dy_mm, 2))
            return _Fate(True, place_mm, note)
        if bare < _COVERED_BARE and same >= _COVERED_SAME:
            return _Fate(
                True, note=f"{soldier.square} is half covered by somebody who fell and taken to stand"
            )
        aside_mm = self._compact_aside_mm(place)
        if aside_mm is not None:
            note = f"{soldier.square} is hard to tell from one that fell and taken to stand"
            return _Fate(
                True, (round(soldier.x_mm + aside_mm[0], 2), round(soldier.y_mm + aside_mm[1], 2)), note
            )
        note = f"{soldier.square} is hard to tell from one that was pushed and taken to have fallen"
        return _Fate(False, note=note if is_close else "")

    def _compact_aside_mm(self, place: Place) -> tuple[float, float] | None:
        """Tell how far a soldier was pushed, where something new lies alone, as large and compact as it was upright.

        Turned, in other light, a figure need not look like itself; but one that fell lies as long as it was tall.
        """
        raster = self._board.raster
        telling = np.zeros(raster.shape, dtype=np.bool_)
        telling[place.window] = place.telling
        new = (self._strange & (~self._same | telling)).astype(np.uint8)
        reach = round(_REACH_SQUARES * raster.px_per_square)
        column, row = (round(v) for v in _pivot_px(place))
        top, left = max(row - 2 * reach, 0), max(column - 2 * reach, 0)
        count, labels, stats, centres = cv2.connectedComponentsWithStats(
            new[top : row + 2 * reach + 1, left : column + 2 * reach + 1], connectivity=8
        )
        usual_px, usual_spread = int(place.telling.sum()), _spread(*np.nonzero(place.telling))
        if usual_px < _FEWEST_COMPACT_PX:
            return None
        near = [
            k
            for k in range(1, count)
            if stats[k, cv2.CC_STAT_AREA] > _SCRAP * usual_px
            and np.hypot(centres[k][0] + left - column, centres[k][1] + top - row) < 1.5 * reach
        ]
        if len(near) != 1:
            return None
        rows, columns = np.nonzero(labels == near[0])
        size, spread = len(rows) / usual_px, _spread(rows, columns) / usual_spread
        own_rows, own_columns = np.nonzero(place.telling)
        dx_px = columns.mean() + left - own_columns.mean() - place.window[1].start
        dy_px = rows.mean() + top - own_rows.mean() - place.window[0].start
        moved_mm = float(np.hypot(dx_px, dy_px)) * raster.mm_per_px
        is_figure = _COMPACT_SIZE[0] < size < _COMPACT_SIZE[1] and spread < _COMPACT_SPREAD
        if not is_figure or not LEAST_PUSH_MM < moved_mm < _FAR_PUSH_SQUARES * raster.square_mm:
            return None
        return float(dx_px) * raster.mm_per_px, float(dy_px) * raster.mm_per_px

    def _left_over(self, place: Place, telling: NDArray[np.bool_], found: Resemblance) -> float:
        """Share of the figure's size that lies around it and that it would not show if it stood."""
        raster, figure, soldier = self._board.raster, self._board.figure, place.soldier
        home = np.zeros(raster.shape, dtype=np.bool_)
        home[place.window] = place.shape
        vacated = home & self._beyond
        new = (self._strange | (self._beyond & ~vacated)) & (~self._same | telling)
        return left_over(
            new,
            home | (self._strange_before & self._nearest(soldier)),
            telling,
            found,
            pivot_px=_pivot_px(place),
            reach_px=_LYING_HEIGHTS * figure.height_mm / raster.mm_per_px,
            slack_px=max(1, round(_SLACK_MM / raster.mm_per_px)),
        )

    def _nearest(self, soldier: Soldier) -> NDArray[np.bool_]:
        """Pixels close to a soldier's foot and nearer to it than to anybody else's: its own, and its shadow."""
        raster, height_mm = self._board.raster, self._board.figure.height_mm
        reach = _SHADOW_HEIGHTS * height_mm
        column, row = (round(float(v)) for v in raster.to_px(np.array([soldier.x_mm, soldier.y_mm])))
        half = round(reach / raster.mm_per_px) + 1
        window = np.s_[max(row - half, 0) : row + half + 1, max(column - half, 0) : column + half + 1]
        nearest = np.zeros(raster.shape, dtype=np.bool_)
        x_mm = raster.to_mm(np.arange(raster.shape[1])[window[1]])[None, :]
        y_mm = raster.to_mm(np.arange(raster.shape[0])[window[0]])[:, None]
        own = np.hypot(x_mm - soldier.x_mm, y_mm - soldier.y_mm)
        near = own < reach
        for other in self._board.standing.soldiers:
            apart = np.hypot(other.x_mm - soldier.x_mm, other.y_mm - soldier.y_mm)
            if 0 < apart < 2 * reach:
                near &= own < np.hypot(x_mm - other.x_mm, y_mm - other.y_mm)
        nearest[window] = near
        return nearest

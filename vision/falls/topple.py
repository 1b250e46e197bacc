"""How soldiers fell: when each began to move, when it passed 45 degrees, which way it went and where it lies.

The place of a soldier is watched from its last quiet picture on. What is new there and no bare board is its body; it is
followed by its middle. All who fall are followed at once, and a pixel belongs to the body that it is nearest to, so that
one who is knocked over is not taken for the one who knocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.outcome import Soldier, Toppling
from vision.soldiers import Board
from vision.steady import Sways

__all__ = ["Place", "Watch", "largest", "smoothed"]

Image = NDArray[np.uint8]
FloatImage = NDArray[np.float32]
FloatArray = NDArray[np.float64]
Window = tuple[slice, slice]

_QUIET_SHARE = 0.04  # of a soldier's telling pixels that may differ in two pictures though it has not moved
_STILL_PICTURES = 3  # before the first that may have moved
_QUIET_FACTOR = 1.6
_SHAKEN_PX = 0.15  # a picture that lies no farther beside the one before the shot shows nothing of it
_LEFT_SHARE = 0.4  # differ for good once it has left
# Where a soldier left its place is found by looking back in long steps, then in short ones.
_LONG_STEP_US = 100_000
_SHORT_STEP = 4  # pictures
_FOLLOW_US = 400_000  # a toppling takes 150 to 300 ms from the first motion to the ground
_LOOK_US = 12_000  # so it need not be looked at more often, ...
_SELDOM = 3  # ... and once it has passed 45 degrees only at one look in so many, ...
_LIES_MM = 0.4  # ... until it moves less than that between two
_GATE_MM = 30.0  # farther from its middle nothing belongs to a body of 33 to 50 mm
_FEWEST_SHARE = 0.2  # of its own size; with less in sight its middle is left where it was
_HEADING_MM = 8.0
# The middle of a toppling figure has come this far, in heights, when it passes 45 degrees.
_MIDDLE_AT_45 = 0.36


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A soldier's place on the raster."""

    soldier: Soldier
    window: Window
    """Rows and columns that hold its figure."""
    shape: NDArray[np.bool_]
    """Pixels of the window that it covers."""
    telling: NDArray[np.bool_]
    """Pixels of the window where the figure can be told from the bare board."""


@dataclass(slots=True, eq=False)
class _Body:
    """A soldier that is being followed."""

    place: Place
    began: int
    start: FloatArray
    middle: FloatArray
    size_px: int
    way: list[tuple[int, FloatArray]] = field(default_factory=list)
    """Picture, and how far its middle is from where it stood."""
    passed: bool = False
    """Whether it leans by more than 45 degrees."""
    lies: bool = False


class Watch:
    """Watches places from picture to picture.

    Parameters
    ----------
    frames, timestamps_us
        The pictures and their times.
    board
        The table before the shot.
    sways
        How the pictures sway against the one that `board` was read from.
    step
        Grey levels by which a pixel differs for sure.
    smooth_px
        Side of the squares of raster pixels that are averaged before that is asked; 1 for none.
    first
        Index of the first picture in which anything may have moved.
    """

    def __init__(
        self,
        frames: Sequence[Image],
        timestamps_us: Sequence[int],
        board: Board,
        sways: Sways,
        *,
        step: float,
        smooth_px: int,
        first: int,
    ) -> None:
        self._frames = frames
        self._timestamps_us = timestamps_us
        self._board = board
        self._sways = sways
        self._step = step
        self._smooth_px = smooth_px
        self._before = smoothed(board.flat, smooth_px)
        self._first = max(0, min(first, len(frames) - 1))
        frame_us = max((timestamps_us[-1] - timestamps_us[0]) / max(len(frames) - 1, 1), 1.0)
        self._strides = (max(_SHORT_STEP, round(_LONG_STEP_US / frame_us)), _SHORT_STEP)
        self._look = max(1, round(_LOOK_US / frame_us))
        bare = board.flat.copy()
        bare[board.raster.board] = board.surface.colour
        self._bare = smoothed(bare, smooth_px)

    def began(self, place: Place) -> int:
        """Index of the first picture in which a soldier has moved, one that has left its place at the end."""
        before = self._before[place.window]
        known: dict[int, NDArray[np.bool_]] = {}
        k = last = len(self._frames) - 1

        def changed(k: int) -> NDArray[np.bool_]:
            if k not in known:
                known[k] = (largest(self._lay(k, place.window) - before) > self._step)[place.telling]
            return known[k]

        def share(k: int) -> float:
            # What flickers, and the shot and its shadow passing by, are gone from there by the next picture.
            return float((changed(k) & changed(min(k + 1, last))).mean())

        def shaken(k: int) -> float:
            # Where the shot has shaken the camera edges differ though he has not moved: about as much as they just did.
            if not self._is_shaken(k):
                return 0.0
            earlier = [float(changed(j).mean()) for j in range(self._first, k) if self._is_shaken(j)]
            return _QUIET_FACTOR * float(np.median(earlier)) if earlier else 0.0

        left = min(_LEFT_SHARE, 0.8 * share(last))
        for stride in self._strides:
            while k > self._first and share(max(k - stride, self._first)) > left:
                k = max(k - stride, self._first)
        # Where much of it flickers before anything moves, more is asked.
        still = [share(j) for j in range(max(self._first - 1 - _STILL_PICTURES, 0), self._first - 1)]
        quiet = min(max(_QUIET_SHARE, _QUIET_FACTOR * max(still, default=0.0)), left)
        while k > self._first and (now := share(k - 1)) > quiet and now > min(shaken(k - 1), left):
            k -= 1
        return k

    def _is_shaken(self, k: int) -> bool:
        """Whether picture k lies plainly beside the one before the shot."""
        sway = self._sways.of(k, self._frames[k])
        return math.hypot(sway.du_px, sway.dv_px) > _SHAKEN_PX

    def since_it_moved(self, place: Place) -> Iterator[Callable[[Window], FloatImage]]:
        """Give looks at the raster as it was seen from a soldier's first motion on, ever more seldom."""
        began, last = self.began(place), len(self._frames) - 1
        k = began
        while k < last:
            yield partial(self._lay, k)
            moving = self._timestamps_us[k] < self._timestamps_us[began] + _FOLLOW_US
            k += self._look if moving else _SELDOM * self._look
        yield partial(self._lay, last)

    def topplings(self, places: Sequence[Place]) -> tuple[Toppling, ...]:
        """Follow the soldiers that fell; sorted by when they began."""
        raster = self._board.raster
        bodies: list[_Body] = []
        for place in places:
            rows, columns = np.nonzero(place.telling)
            start = np.array(
                [
                    raster.to_mm(columns + place.window[1].start).mean(),
                    raster.to_mm(rows + place.window[0].start).mean(),
                ]
            )
            bodies.append(_Body(place, self.began(place), start, start.copy(), len(rows)))
        bodies.sort(key=lambda b: (b.began, b.place.soldier.square))
        if bodies:
            last = len(self._frames) - 1
            for look, k in enumerate(range(bodies[0].began, last, self._look)):
                self._follow(k, bodies, [b for b in bodies if self._is_due(b, k, look)])
            self._follow(last, bodies, bodies)
        return tuple(self._toppling(body) for body in bodies)

    def _lay(self, k: int, window: Window) -> FloatImage:
        """Lay a window of one picture on the raster, still and evenly lit."""
        sway = self._sways.of(k, self._frames[k])
        flat = self._board.raster.lay(self._frames[k], window, (sway.du_px, sway.dv_px))
        return smoothed(np.asarray(flat / sway.gain, dtype=np.float32), self._smooth_px)

    def _is_due(self, body: _Body, k: int, look: int) -> bool:
        """Whether a body is to be looked for in picture k."""
        if (
            k < body.began
            or body.lies
            or self._timestamps_us[k] > self._timestamps_us[body.began] + _FOLLOW_US
        ):
            return False
        return not body.passed or look % _SELDOM == 0

    def _follow(self, k: int, bodies: Sequence[_Body], due: Sequence[_Body]) -> None:
        """Move the middles of those that are due on to picture k."""
        raster = self._board.raster
        reach = round(_GATE_MM / raster.mm_per_px) + 1
        middles = {id(body): body.middle for body in bodies if body.began <= k}
        for body in due:
            own = middles[id(body)]
            column, row = (round(float(v)) for v in raster.to_px(own))
            window = np.s_[
                max(0, row - reach) : max(0, min(raster.shape[0], row + reach + 1)),
                max(0, column - reach) : max(0, min(raster.shape[1], column + reach + 1)),
            ]
            y_mm = raster.to_mm(np.arange(window[0].start, window[0].stop))[:, None]
            x_mm = raster.to_mm(np.arange(window[1].start, window[1].stop))[None, :]
            if y_mm.size and x_mm.size:
                now = self._lay(k, window)
                # Twice the step from the bare board: its print and grain are no body.
                thing = largest(now - self._bare[window]) > 2 * self._step
                changed = largest(now - self._before[window]) > self._step
                mine = thing & (changed | self._at_home(body, window))
                away = (x_mm - own[0]) ** 2 + (y_mm - own[1]) ** 2
                mine &= away < _GATE_MM**2
                for which, other in middles.items():
                    # One farther off than twice the gate has no pixel within the gate that it is nearer to.
                    if which != id(body) and np.hypot(*(other - own)) < 2 * _GATE_MM:
                        mine &= away <= (x_mm - other[0]) ** 2 + (y_mm - other[1]) ** 2
                rows, columns = np.nonzero(mine)
                if len(rows) >= _FEWEST_SHARE * body.size_px:
                    body.middle = np.array([x_mm[0, columns].mean(), y_mm[rows, 0].mean()])
            body.way.append((k, body.middle - body.start))
            body.lies = body.passed and float(np.hypot(*(body.middle - own))) < _LIES_MM
            gone_mm = float(np.hypot(*(body.middle - body.start)))
            body.passed = body.passed or gone_mm > _MIDDLE_AT_45 * self._board.figure.height_mm

    @staticmethod
    def _at_home(body: _Body, window: Window) -> NDArray[np.bool_]:
        """Pixels of a window where the body stood before: unchanged there, it is still itself."""
        mask = np.zeros((window[0].stop - window[0].start, window[1].stop - window[1].start), dtype=np.bool_)
        home, telling = body.place.window, body.place.telling
        top, bottom = max(window[0].start, home[0].start), min(window[0].stop, home[0].stop)
        left, right = max(window[1].start, home[1].start), min(window[1].stop, home[1].stop)
        if top < bottom and left < right:
            mask[
                top - window[0].start : bottom - window[0].start,
                left - window[1].start : right - window[1].start,
            ] = telling[
                top - home[0].start : bottom - home[0].start, left - home[1].start : right - home[1].start
            ]
        return mask

    def _toppling(self, body: _Body) -> Toppling:
        way = np.array([gone for _, gone in body.way])
        far = np.hypot(way[:, 0], way[:, 1])
        over = np.flatnonzero(far > _MIDDLE_AT_45 * self._board.figure.height_mm)
        passed, _ = body.way[int(over[0]) if len(over) else -1]
        out = np.flatnonzero(far > _HEADING_MM)
        heading = way[out[0]] / far[out[0]] if len(out) else np.zeros(2)
        rest = body.start + way[-1]
        return Toppling(
            body.place.soldier,
            self._timestamps_us[body.began],
            self._timestamps_us[passed],
            (round(float(heading[0]), 4), round(float(heading[1]), 4)),
            (round(float(rest[0]), 2), round(float(rest[1]), 2)),
        )


def largest(difference: FloatImage) -> FloatImage:
    """Give the largest absolute value of any colour at each pixel, shape (rows, columns)."""
    colours = cv2.split(np.abs(difference))
    found = colours[0]
    for colour in colours[1:]:
        found = cv2.max(found, colour)
    return np.asarray(found, dtype=np.float32)


def smoothed(picture: FloatImage, side_px: int) -> FloatImage:
    """Average (rows, columns, colours) over squares of pixels; a side of 1 leaves it as it is."""
    if side_px == 1:
        return picture
    blurred = cv2.blur(picture, (side_px, side_px))
    return np.asarray(blurred, dtype=np.float32).reshape(picture.shape)

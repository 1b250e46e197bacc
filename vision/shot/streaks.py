"""Small things that are in a picture and neither in the one before nor in the one after: the shot in flight.

A shot of 6 mm crosses many times its own size between two pictures, so where it is seen the picture differs from
both its neighbours. What only moves a little (a falling soldier) or stays (a fallen one) differs from one of them
at most, but for its edges. Differences are taken colour by colour before they are joined, so that an orange
shot on a green baize of the same grey is seen as well. The table shakes after a shot: edges of the still picture are
held against each difference, and as much of them as explains it is taken off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from vision.grey import grey
from vision.registration import BoardView
from vision.scene import Scene

__all__ = [
    "PLANE_MM",
    "SHOT_DIAMETER_MM",
    "SHOT_RADIUS_MM",
    "Streak",
    "StreakFinder",
    "Streaks",
    "neighbours",
]

FloatArray = NDArray[np.float64]

SHOT_DIAMETER_MM = 6.0
SHOT_RADIUS_MM = SHOT_DIAMETER_MM / 2
PLANE_MM = 40.0
"""Height above the board of the comparison plane: that of a usual flight."""

# Pictures are compared with those at least this far in time: at 120 a second the next ones, at 200 the next but one.
_SPACING_US = 8000
# Margins around the board within which a shot is looked for: past its edge, and behind the cannon's end.
_MARGIN_MM = 45.0
_CANNON_MARGIN_MM = 75.0
# The air above the board in which it is looked for. Their outline is drawn at half that height: margins this wide leave room for
# a shot below it or above, so it need not be the comparison plane's, which is that of most flights.
_AIR_MM = 60.0
_LEAST_STEP = 9.0  # grey levels; below, compression alone makes patches
_NOISE_FACTOR = 5.0
# A blob is a streak where it is about as wide as the shot and not longer than the fastest shot smears.
_WIDTH_RANGE = (0.40, 1.9)
_LENGTH_MM = 45.0
_AREA_RANGE = (0.25, 9.0)  # in areas of the shot's disc
_MIXED = (0.15, 0.85)  # shares of brighter pixels between which the shot and its shadow may have run together
_CLOSING = np.ones((3, 3), dtype=np.uint8)
_SUMS = ("pixels that changed", "change", "u", "v", "u u", "u v", "v v")  # the last ones of the change
_COUNT, _TOTAL = 0, 1
_STRONG_EDGE = 24
_KEPT_DIFFERENCES = 3  # of pictures from those next but one, which at 200 a second are compared
_SPARSE = 5  # one pixel in so many, along either side, tells noise and shaking


@dataclass(frozen=True, slots=True)
class Streak:
    """A short smear in one picture that may be the shot."""

    frame: int
    """Index of the picture."""
    timestamp_us: int
    """Its time, at mid-exposure."""
    u_px: float
    """Centre of the smear, to the right."""
    v_px: float
    """Centre of the smear, downwards."""
    length_px: float
    """Length that the motion adds to the shot's own size; 0 for a round one."""
    width_px: float
    """Full width across the smear."""
    axis: tuple[float, float]
    """Unit vector (u, v) along the smear; its sign means nothing."""
    contrast: float
    """Mean grey levels by which it differs from its background, colours joined."""
    lit: float = 0.0
    """What share of it is brighter than its background; of a shadow, none."""


@dataclass(frozen=True, slots=True, eq=False)
class Streaks:
    """The streaks of one picture side by side: what `Streak` tells of each, strongest first."""

    frame: int
    timestamp_us: int
    places_px: FloatArray
    """Shape (N, 2)."""
    lengths_px: FloatArray
    """Shape (N,), as the others."""
    widths_px: FloatArray
    axes: FloatArray
    """Shape (N, 2)."""
    contrasts: FloatArray
    lit: FloatArray

    def __len__(self) -> int:
        return len(self.lit)

    def __getitem__(self, i: int) -> Streak:
        u_px, v_px = self.places_px[i].tolist()
        across, down = self.axes[i].tolist()
        return Streak(
            self.frame,
            self.timestamp_us,
            u_px,
            v_px,
            float(self.lengths_px[i]),
            float(self.widths_px[i]),
            (across, down),
            float(self.contrasts[i]),
            float(self.lit[i]),
        )


class StreakFinder:
    """Finds the streaks of a clip's pictures, each when it is first asked for.

    Parameters
    ----------
    frames
        All pictures, (height, width) or (height, width, 3) BGR.
    timestamps_us
        Their times at mid-exposure.
    scene, view
        The board and the camera.
    """

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        timestamps_us: Sequence[int],
        scene: Scene,
        view: BoardView,
    ) -> None:
        self._frames = frames
        self._times = timestamps_us
        self._window = _window(scene, view)
        rows, columns = self._window
        self._corner = (float(columns.start), float(rows.start))
        self._mm_per_px = view.mm_per_px(*scene.centre_mm, PLANE_MM)
        self._diameter_px = SHOT_DIAMETER_MM / self._mm_per_px
        self._inside = _inside(scene, view, self._window)
        self._edges = _edges(frames[0][rows, columns])
        few_edges = np.ascontiguousarray(self._edges[::_SPARSE, ::_SPARSE]).ravel()
        self._on_edge = np.flatnonzero(few_edges > _STRONG_EDGE)
        self._few_edges = few_edges[self._on_edge]
        self._found: dict[int, Streaks] = {}
        self._differences: dict[tuple[int, int], NDArray[np.uint8]] = {}
        self._threshold = _LEAST_STEP

    def go_on(self, frames: Sequence[NDArray[np.uint8]], timestamps_us: Sequence[int]) -> None:
        """Take in all pictures so far, where more have come since; those that it had are the first of them."""
        self._frames, self._times = frames, timestamps_us

    def look_ahead(self, begin_us: int, end_us: int) -> None:
        """Find already what will be asked for: the streaks of pictures of a time, as far as their neighbours have come."""
        for k, at_us in enumerate(self._times):
            if begin_us < at_us <= end_us and neighbours(self._times, k)[1] is not None:
                self.streaks(k)

    def streaks(self, k: int) -> Streaks:
        """Everything in picture k that may be the shot."""
        if k not in self._found:
            self._found[k] = self._look(k)
        return self._found[k]

    def _look(self, k: int) -> Streaks:
        before, after = neighbours(self._times, k)
        if before is None or after is None:
            return self._measured(k, np.zeros((0, len(_SUMS) + 1)))
        flat = self._flat(before, k, after)
        strong = cv2.bitwise_and(cv2.threshold(flat, self._threshold, 1, cv2.THRESH_BINARY)[1], self._inside)
        disc_px = np.pi / 4 * self._diameter_px**2
        least_px = _AREA_RANGE[0] * disc_px
        longest_px = _LENGTH_MM / self._mm_per_px + 2 * self._diameter_px
        patches = _patches(strong, (least_px, _AREA_RANGE[1] * disc_px), longest_px)
        if not patches.count:
            return self._measured(k, np.zeros((0, len(_SUMS) + 1)))
        now, then = (self._frames[each][self._window] for each in (k, before))
        parts = _parts(_sums(patches, flat, now, then))
        return self._measured(k, parts[parts[:, _COUNT] >= least_px])

    def _flat(self, before: int, k: int, after: int) -> NDArray[np.uint8]:
        """Give what picture k has that neither neighbour has, less what shaking explains; sets the threshold."""
        change = self._change(before, k, after)
        few = np.ascontiguousarray(change[::_SPARSE, ::_SPARSE]).ravel()
        # How far the table shook: the share of the edges that explains the change, from the pixels on strong edges.
        shake = float(np.median(few[self._on_edge] / self._few_edges)) if len(self._on_edge) else 0.0
        levels = cv2.calcHist([few], [0], None, [256], [0, 256]).ravel()
        quiet = levels[: int(np.searchsorted(np.cumsum(levels), 0.95 * len(few))) + 1]
        noise = float(quiet @ np.arange(len(quiet))) / float(quiet.sum())
        self._threshold = max(_LEAST_STEP, _NOISE_FACTOR * noise)
        flat = cv2.blur(change, (3, 3))
        if shake > 0.02:
            flat = cv2.subtract(flat, cv2.convertScaleAbs(self._edges, alpha=min(1.5 * shake, 1.0)))
        return np.asarray(flat, dtype=np.uint8)

    def _change(self, before: int, k: int, after: int) -> NDArray[np.uint8]:
        """Give by how much picture k differs from both neighbours."""
        both = cv2.min(self._difference(before, k), self._difference(k, after))
        return grey(np.asarray(both, dtype=np.uint8))

    def _difference(self, j: int, k: int) -> NDArray[np.uint8]:
        """Give by how much two pictures differ; the last few are kept, for each picture is compared with two."""
        if (j, k) not in self._differences:
            if len(self._differences) >= _KEPT_DIFFERENCES:
                del self._differences[next(iter(self._differences))]
            one, other = self._frames[j][self._window], self._frames[k][self._window]
            self._differences[j, k] = np.asarray(cv2.absdiff(one, other), dtype=np.uint8)
        return self._differences[j, k]

    def _measured(self, k: int, parts: FloatArray) -> Streaks:
        """Centre, extent and strength of each blob from the moments of its change; those as wide as the shot."""
        count, total, *first, uu, uv, vv, lit = parts.T
        u, v = (each / total for each in first)
        along_u, along_v, cross = uu / total - u * u, vv / total - v * v, uv / total - u * v
        mean, half = (along_u + along_v) / 2 + 1 / 12, np.hypot((along_u - along_v) / 2, cross)
        angle = np.arctan2(2 * cross, along_u - along_v) / 2
        # A disc of diameter d has the variance d^2/16 along any axis, a bar of length l has l^2/12.
        widths_px = 4 * np.sqrt(np.maximum(mean - half, 0.0))
        contrast = total / count
        wide = (widths_px >= _WIDTH_RANGE[0] * self._diameter_px) & (
            widths_px <= _WIDTH_RANGE[1] * self._diameter_px + 1
        )
        order = np.flatnonzero(wide)
        order = order[np.argsort(-contrast[order], kind="stable")]
        return Streaks(
            k,
            self._times[k],
            np.stack([u, v], axis=1)[order] + self._corner,
            np.sqrt(24 * half[order]),
            widths_px[order],
            np.stack([np.cos(angle), np.sin(angle)], axis=1)[order],
            contrast[order],
            lit[order],
        )


def _window(scene: Scene, view: BoardView) -> tuple[slice, slice]:
    """Rows and columns of the picture that hold the board, its margins and the air above them."""
    low, high = _extent(scene)
    corners = np.array(
        [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (0.0, _AIR_MM)]
    )
    pixels = view.project(corners)
    u0, v0 = np.floor(np.clip(pixels.min(axis=0), 0, None)).astype(int)
    u1, v1 = np.ceil(np.minimum(pixels.max(axis=0), [view.width_px, view.height_px])).astype(int)
    return slice(int(v0), max(int(v1), int(v0) + 1)), slice(int(u0), max(int(u1), int(u0) + 1))


def _extent(scene: Scene) -> tuple[tuple[float, float], tuple[float, float]]:
    at_start = _CANNON_MARGIN_MM if scene.cannon_side is Side.A else _MARGIN_MM
    at_end = _CANNON_MARGIN_MM if scene.cannon_side is Side.G else _MARGIN_MM
    return (-_MARGIN_MM, -at_start), (scene.width_mm + _MARGIN_MM, scene.length_mm + at_end)


def _inside(scene: Scene, view: BoardView, window: tuple[slice, slice]) -> NDArray[np.uint8]:
    """1 where the board with its margins is, seen amid the air above it; shape of the window."""
    rows, columns = window
    low, high = _extent(scene)
    ring = np.array([(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])])
    pixels = view.project(np.column_stack([ring, np.full(4, _AIR_MM / 2)])) - [columns.start, rows.start]
    mask = np.zeros((rows.stop - rows.start, columns.stop - columns.start), dtype=np.uint8)
    cv2.fillConvexPoly(mask, np.round(pixels).astype(np.int32), 1)
    return mask


def _edges(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Grey levels that a shift of the picture by one pixel changes, at most."""
    kernel = np.ones((3, 3), dtype=np.uint8)
    return np.asarray(cv2.morphologyEx(grey(picture), cv2.MORPH_GRADIENT, kernel), dtype=np.uint8)


def neighbours(timestamps_us: Sequence[int], k: int) -> tuple[int | None, int | None]:
    """Give the pictures before and after picture k with which it is compared, where there are any."""
    now = timestamps_us[k]
    before = next((j for j in range(k - 1, -1, -1) if now - timestamps_us[j] >= 0.97 * _SPACING_US), None)
    after = next(
        (j for j in range(k + 1, len(timestamps_us)) if timestamps_us[j] - now >= 0.97 * _SPACING_US), None
    )
    return before, after


@dataclass(frozen=True, slots=True, eq=False)
class _Patches:
    """The pixels of several patches of a picture."""

    rows: NDArray[np.intp]
    """Shape (P,), as the others."""
    columns: NDArray[np.intp]
    numbers: NDArray[np.intp]
    """Which patch each pixel is of, from 0 on."""
    count: int
    """Of the patches."""


def _patches(mask: NDArray[np.uint8], range_px: tuple[float, float], longest_px: float) -> _Patches:
    """Each patch of a mask, its small gaps closed, that has a number of pixels in a range and is not longer than the longest."""
    # Only the part that has any: most pictures show little.
    left, top, wide, high = cv2.boundingRect(mask)
    left, top = max(left - 2, 0), max(top - 2, 0)
    part = mask[top : top + high + 4, left : left + wide + 4]
    closed = cv2.morphologyEx(part, cv2.MORPH_CLOSE, _CLOSING)
    outlines, _ = cv2.findContours(closed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for outline in outlines:
        across, down, width, height = cv2.boundingRect(outline)
        if width * height < range_px[0] or max(width, height) > longest_px:
            continue
        patch = np.zeros((height, width), np.uint8)
        cv2.drawContours(patch, [outline], 0, 1, cv2.FILLED, offset=(-across, -down))
        patch &= closed[down : down + height, across : across + width]
        if range_px[0] <= cv2.countNonZero(patch) <= range_px[1]:
            places = cv2.findNonZero(patch).reshape(-1, 2)
            found.append(places + np.array([left + across, top + down]))
    if not found:
        nowhere = np.zeros(0, np.intp)
        return _Patches(nowhere, nowhere, nowhere, 0)
    columns, rows = np.concatenate(found).T.astype(np.intp)
    numbers = np.repeat(np.arange(len(found)), [len(each) for each in found])
    return _Patches(rows, columns, numbers, len(found))


def _sums(
    patches: _Patches, flat: NDArray[np.uint8], now: NDArray[np.uint8], then: NDArray[np.uint8]
) -> FloatArray:
    """Sum over each patch's change: its darker pixels, its unchanged and its brighter ones, as `_SUMS`, shape (N, 3, 7)."""
    u, v = patches.columns.astype(np.float64), patches.rows.astype(np.float64)
    weight = flat[patches.rows, patches.columns].astype(np.float64)
    rise = now[patches.rows, patches.columns].astype(np.int16) - then[patches.rows, patches.columns]
    if rise.ndim == 2:
        rise = rise.sum(axis=1)
    places = 3 * patches.numbers + np.sign(rise) + 1
    wu, wv = weight * u, weight * v
    summed = (weight > 0, weight, wu, wv, wu * u, wu * v, wv * v)
    sums = [np.bincount(places, each, 3 * patches.count) for each in summed]
    return np.stack(sums, axis=1, dtype=np.float64).reshape(patches.count, 3, len(_SUMS))


def _parts(sums: FloatArray) -> FloatArray:
    """Add up each patch; where it is both bright and dark, the shot beside its shadow, either part too; last, how bright."""
    dark, _, bright = sums.swapaxes(0, 1)
    whole = sums.sum(axis=1)
    share = bright[:, _TOTAL] / np.maximum(bright[:, _TOTAL] + dark[:, _TOTAL], 1.0)
    mixed = (share > _MIXED[0]) & (share < _MIXED[1])
    parts = ((whole, share), (bright[mixed], np.ones(mixed.sum())), (dark[mixed], np.zeros(mixed.sum())))
    return np.concatenate([np.column_stack(each) for each in parts])

"""Small things that are in a picture and neither in the one before nor in the one after: the shot in flight.

A shot of 6 mm crosses many times its own size between two pictures, so where it is seen the picture differs from
both its neighbours. What only moves a little (a falling soldier) or stays (a fallen one) differs from one of them
at most, but for its edges. Differences are taken colour by colour before they are joined, so that an orange
shot on a green baize of the same grey is seen as well. The table shakes after a shot: edges of the still picture are
held against each difference, and as much of them as explains it is taken off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.registration import BoardView
from vision.scene import Scene

__all__ = ["SHOT_DIAMETER_MM", "Streak", "StreakFinder"]

SHOT_DIAMETER_MM = 6.0

# Pictures are compared with those at least this far in time: at 120 a second the next ones, at 200 the next but one.
_SPACING_US = 8000
# Margins around the board within which a shot is looked for: past its edge, and behind the cannon's end.
_MARGIN_MM = 45.0
_CANNON_MARGIN_MM = 75.0
_LEAST_STEP = 9.0  # grey levels; below, compression alone makes patches
_NOISE_FACTOR = 5.0
# A blob is a streak where it is about as wide as the shot and not longer than the fastest shot smears.
_WIDTH_RANGE = (0.40, 1.9)
_LENGTH_MM = 45.0
_BLOCK = 8  # side in px of the blocks on which patches are looked for first
_AREA_RANGE = (0.25, 9.0)  # in areas of the shot's disc
_CLOSING = np.ones((3, 3), dtype=np.uint8)


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
        self._mm_per_px = view.mm_per_px(scene.width_mm / 2, scene.length_mm / 2, 40.0)
        self._inside = _inside(scene, view, self._window)
        self._edges = _edges(frames[0][rows, columns])
        self._on_edge = self._edges[::5, ::5] > 24
        self._found: dict[int, tuple[Streak, ...]] = {}
        self._steps: dict[tuple[int, int], NDArray[np.uint8]] = {}

    def streaks(self, k: int) -> tuple[Streak, ...]:
        """Everything in picture k that may be the shot, strongest first."""
        if k not in self._found:
            self._found[k] = self._look(k)
        return self._found[k]

    def _look(self, k: int) -> tuple[Streak, ...]:
        before, after = _neighbours(self._times, k)
        if before is None or after is None:
            return ()
        both = np.minimum(self._step(before, k), self._step(k, after))
        for pair in [p for p in self._steps if p[1] <= k]:
            del self._steps[pair]
        change = (
            both if both.ndim == 2 else np.asarray(cv2.cvtColor(both, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
        )
        return self._blobs(change, k)

    def _step(self, a: int, b: int) -> NDArray[np.uint8]:
        if (a, b) not in self._steps:
            rows, columns = self._window
            self._steps[a, b] = np.asarray(
                cv2.absdiff(self._frames[a][rows, columns], self._frames[b][rows, columns]), dtype=np.uint8
            )
        return self._steps[a, b]

    def _blobs(self, change: NDArray[np.uint8], k: int) -> tuple[Streak, ...]:
        diameter_px = SHOT_DIAMETER_MM / self._mm_per_px
        # How far the table shook: the share of the edges that explains the change, from the pixels on strong edges.
        few, few_edges = change[::5, ::5], self._edges[::5, ::5]
        on_edge = self._on_edge
        shake = float(np.median(few[on_edge] / few_edges[on_edge])) if np.any(on_edge) else 0.0
        noise = float(np.mean(few[few <= np.percentile(few, 95)]))
        flat = cv2.blur(change, (3, 3))
        if shake > 0.02:
            flat = cv2.subtract(flat, cv2.convertScaleAbs(self._edges, alpha=min(1.5 * shake, 1.0)))
        threshold = max(_LEAST_STEP, _NOISE_FACTOR * noise)
        strong = cv2.bitwise_and(cv2.threshold(flat, threshold, 1, cv2.THRESH_BINARY)[1], self._inside)
        strong = np.asarray(cv2.morphologyEx(strong, cv2.MORPH_CLOSE, _CLOSING), dtype=np.uint8)
        disc_px = np.pi / 4 * diameter_px**2
        longest_px = _LENGTH_MM / self._mm_per_px + 2 * diameter_px
        streaks: list[Streak] = []
        for left, top, member in _components(strong):
            height, width = member.shape
            area = int(np.count_nonzero(member))
            too_large = area > _AREA_RANGE[1] * disc_px or max(width, height) > longest_px
            if too_large or area < _AREA_RANGE[0] * disc_px:
                continue
            box = np.s_[top : top + height, left : left + width]
            weight = np.where(member, flat[box], 0).astype(np.float64)
            for part in (weight, *self._halves(weight, k, left, top)):
                if np.count_nonzero(part) < _AREA_RANGE[0] * disc_px:
                    continue
                streak = self._measure(part, k, left, top)
                if _WIDTH_RANGE[0] * diameter_px <= streak.width_px <= _WIDTH_RANGE[1] * diameter_px + 1:
                    streaks.append(streak)
        return tuple(sorted(streaks, key=lambda s: -s.contrast))

    def _halves(
        self, weight: NDArray[np.float64], k: int, left: int, top: int
    ) -> tuple[NDArray[np.float64], ...]:
        """Bright and dark part of a blob that has both: the shot beside its own shadow."""
        before, _ = _neighbours(self._times, k)
        if before is None:
            return ()
        height, width = weight.shape
        rows, columns = self._window
        box = np.s_[
            rows.start + top : rows.start + top + height, columns.start + left : columns.start + left + width
        ]
        now, then = self._frames[k][box].astype(np.int16), self._frames[before][box].astype(np.int16)
        rise = now - then if now.ndim == 2 else (now - then).sum(axis=2)
        bright, dark = np.where(rise > 0, weight, 0.0), np.where(rise < 0, weight, 0.0)
        share = float(bright.sum() / max(bright.sum() + dark.sum(), 1e-9))
        return (bright, dark) if 0.15 < share < 0.85 else ()

    def _measure(self, weight: NDArray[np.float64], k: int, left: int, top: int) -> Streak:
        """Centre, extent and strength of a blob from the moments of its change."""
        total = float(weight.sum())
        v, u = np.mgrid[0 : weight.shape[0], 0 : weight.shape[1]]
        u_mean, v_mean = float((weight * u).sum() / total), float((weight * v).sum() / total)
        du, dv = u - u_mean, v - v_mean
        cross = (weight * du * dv).sum()
        spread = np.array([[(weight * du * du).sum(), cross], [cross, (weight * dv * dv).sum()]]) / total
        variances, axes = np.linalg.eigh(spread + np.eye(2) / 12)
        # A disc of diameter d has the variance d^2/16 along any axis, a bar of length l has l^2/12.
        return Streak(
            frame=k,
            timestamp_us=self._times[k],
            u_px=u_mean + left + self._corner[0],
            v_px=v_mean + top + self._corner[1],
            length_px=float(np.sqrt(12 * max(variances[1] - variances[0], 0.0))),
            width_px=4 * float(np.sqrt(variances[0])),
            axis=(float(axes[0, 1]), float(axes[1, 1])),
            contrast=total / int(np.count_nonzero(weight)),
        )


def _window(scene: Scene, view: BoardView) -> tuple[slice, slice]:
    """Rows and columns of the picture that hold the board, its margins and the air above them."""
    low, high = _extent(scene)
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (0.0, 60.0)])
    pixels = view.project(corners)
    u0, v0 = np.floor(np.clip(pixels.min(axis=0), 0, None)).astype(int)
    u1, v1 = np.ceil(np.minimum(pixels.max(axis=0), [view.width_px, view.height_px])).astype(int)
    return slice(int(v0), max(int(v1), int(v0) + 1)), slice(int(u0), max(int(u1), int(u0) + 1))


def _extent(scene: Scene) -> tuple[tuple[float, float], tuple[float, float]]:
    at_start = _CANNON_MARGIN_MM if scene.cannon_side == "A" else _MARGIN_MM
    at_end = _CANNON_MARGIN_MM if scene.cannon_side == "G" else _MARGIN_MM
    return (-_MARGIN_MM, -at_start), (scene.width_mm + _MARGIN_MM, scene.length_mm + at_end)


def _inside(scene: Scene, view: BoardView, window: tuple[slice, slice]) -> NDArray[np.uint8]:
    """1 where the board with its margins is, seen at the height of the flight; shape of the window."""
    rows, columns = window
    low, high = _extent(scene)
    ring = np.array([(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])])
    pixels = view.project(np.column_stack([ring, np.full(4, 30.0)])) - [columns.start, rows.start]
    mask = np.zeros((rows.stop - rows.start, columns.stop - columns.start), dtype=np.uint8)
    cv2.fillConvexPoly(mask, np.round(pixels).astype(np.int32), 1)
    return mask


def _edges(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Grey levels that a shift of the picture by one pixel changes, at most."""
    shades = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    kernel = np.ones((3, 3), dtype=np.uint8)
    return np.asarray(cv2.morphologyEx(shades, cv2.MORPH_GRADIENT, kernel), dtype=np.uint8)


def _neighbours(timestamps_us: Sequence[int], k: int) -> tuple[int | None, int | None]:
    now = timestamps_us[k]
    before = next((j for j in range(k - 1, -1, -1) if now - timestamps_us[j] >= 0.97 * _SPACING_US), None)
    after = next(
        (j for j in range(k + 1, len(timestamps_us)) if timestamps_us[j] - now >= 0.97 * _SPACING_US), None
    )
    return before, after


def _components(mask: NDArray[np.uint8]) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
    """Left, top and members of each patch of a mask that is empty almost everywhere.

    Patches are looked for on blocks first, then one by one, which costs a tenth of labelling every pixel.
    """
    rows, columns = mask.shape
    blocks = cv2.resize(255 * mask, (-(-columns // _BLOCK), -(-rows // _BLOCK)), interpolation=cv2.INTER_AREA)
    scale_y, scale_x = rows / blocks.shape[0], columns / blocks.shape[1]
    count, _, coarse, _ = cv2.connectedComponentsWithStats((blocks > 0).astype(np.uint8), connectivity=8)
    given: set[tuple[int, int, int]] = set()
    for left, top, width, height, _ in coarse[1:count]:
        # One pixel more on each side, since blocks need not end where pixels do.
        u0, v0 = max(int(left * scale_x) - 1, 0), max(int(top * scale_y) - 1, 0)
        u1, v1 = int((left + width) * scale_x) + 2, int((top + height) * scale_y) + 2
        found, labels, stats, _ = cv2.connectedComponentsWithStats(mask[v0:v1, u0:u1], connectivity=8)
        for label in range(1, found):
            x, y, w, h, area = (int(number) for number in stats[label])
            # Boxes of neighbouring blocks overlap, and a patch may lie in two.
            if (u0 + x, v0 + y, area) not in given:
                given.add((u0 + x, v0 + y, area))
                yield u0 + x, v0 + y, labels[y : y + h, x : x + w] == label

"""The first flight of a shot too faint for streaks: what all pictures show together along one way.

Until the first soldier stirs nothing on the table moves but the shot. A smear that hardly stands out of one picture
stands out of the sum over all of them, taken where a flight from the muzzle would put the shot in each. Who stirs first
was struck by the shot, so every flight is tried that leads from the cannon to that soldier at that time, and those are
given along which most has changed. Changes are looked up on a map of the comparison plane, one for each picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from vision.over_colours import over_colours
from vision.registration import BoardView
from vision.scene import Scene
from vision.shot.flight import DRAG_PER_MM, GRAVITY_MM_PER_MS2, Flight
from vision.shot.sights import SightFinder
from vision.shot.streaks import PLANE_MM
from vision.steady import Sway, Sways, typical

__all__ = ["CROSSED_US", "USUAL_MUZZLE_Z_MM", "Stirred", "faint_flights", "first_of", "quiet_pictures"]

FloatArray = NDArray[np.float64]

CROSSED_US = 170_000
"""The slowest shot that fells anybody has crossed the board by then."""
USUAL_MUZZLE_Z_MM = 48.0
"""How high a muzzle is taken to be that is not told: about as high as a soldier."""

_STILL_PICTURES = 12
_CELL_MM = 2.5
_MARGIN_MM = 75.0
_AROUND_PX = 16  # of the part of a picture that is looked at: shaking moves it by no more
_SOFTENED = 3  # cells: as wide as the shot
_PLAIN = 3.0  # times the noise; what stands out more than that speaks no louder
_EDGE_SHARE = 0.1  # of a pixel that a steadied picture may still be off
_SLOWEST_MPS, _FASTEST_MPS, _FASTER = 3.0, 16.0, 1.02
_RISES_MPS = (-0.9, -0.3, 0.3)
_RELEASES_MS = (-2.5, 0.0, 2.5)
# A soldier is seen to stir in the picture after the blow, or a little before it, when the shot is in front of it.
_EARLY_MS, _LATE_MS, _ARRIVAL_STEP_MS = 4.0, 4.0, 4.0
_ASIDE_MM = np.arange(-28.0, 29.0, 4.0)  # of its foot, that a shot may pass and strike it
# A muzzle that is not told is tried all along the first line, so far behind it. `vision.shot.from_cannon` has it 5 mm farther
# back: that is less than 2 ms of the slowest flight, and releases are tried 2.5 ms apart.
_BEHIND_MM, _FILE_STEP_MM = 40.0, 9.0
# Flights of the grid, each so far from the others where it was seen last or half way there.
_TRIED, _APART_MM = 4, 15.0
# About each of the best of the grid it is looked between its points.
_TURNS_RAD = np.arange(-0.012, 0.013, 0.004)
_PACES = np.arange(0.96, 1.041, 0.02)
_NEARER_RISES_MPS = (-0.6, -0.3, 0.0, 0.3, 0.6)
_NEARER_RELEASES_MS = (-1.2, 0.0, 1.2)


@dataclass(frozen=True, slots=True)
class Stirred:
    """A soldier who began to move."""

    foot_mm: tuple[float, float]
    """Where he stood."""
    time_us: float
    """Time of the first picture that shows him move."""


def first_of(stirred: Sequence[Stirred]) -> list[Stirred]:
    """Those who stirred first: nobody but the shot was there to push them."""
    first_us = min((each.time_us for each in stirred), default=0.0)
    return [each for each in stirred if each.time_us == first_us]


def quiet_pictures(timestamps_us: Sequence[int], fire_us: int | None, stirred_us: float) -> range:
    """Give the pictures after the release, as far as it is known, and before anybody stirs."""
    begin_us = stirred_us - CROSSED_US if fire_us is None else fire_us
    begin = next((k for k, t in enumerate(timestamps_us) if t > begin_us), len(timestamps_us))
    end = next((k for k, t in enumerate(timestamps_us) if t >= stirred_us), len(timestamps_us))
    return range(max(begin, 1), max(end, begin, 1))


def faint_flights(
    frames: Sequence[NDArray[np.uint8]],
    pictures: range,
    struck: Sequence[Stirred],
    scene: Scene,
    view: BoardView,
    finder: SightFinder,
    frame_us: float,
    sways: Sways,
) -> list[Flight]:
    """Give the flights from the cannon along which most has changed, the likeliest first: between the grid's points, then on them.

    Parameters
    ----------
    frames, scene, view
        As for `vision.shot.track.find_track`.
    pictures
        Those between the release and the first that shows a soldier stir.
    struck
        Whom the shot may have flown to.
    finder
        Knows when the exposures saw the shot.
    frame_us
        Time between two pictures.
    sways
        How the pictures sway against one in which all was at rest.
    """
    fired = [_fired(scene, each, frame_us / 1000.0) for each in struck]
    shots = _Shots(*(np.concatenate(parts) for parts in zip(*fired, strict=True)))
    if not len(pictures) or not len(shots.starts_ms):
        return []
    changes = _Changes(frames, pictures, scene, view, sways)
    if not changes.any_seen:
        return []
    times_ms = np.array([finder.middle_ms(k) for k in pictures])
    told = changes.along(shots, times_ms)
    # Where the shot was seen last, and half way there.
    far = shots.at((times_ms[-1], (times_ms[-1] + shots.starts_ms) / 2))
    places = np.stack([np.column_stack([x, y]) for x, y, _ in far], axis=1)
    chosen: list[Flight] = []
    between: list[Flight] = []
    while len(chosen) < _TRIED and np.isfinite(told).any():
        best = int(told.argmax())
        chosen.append(shots.flight(best))
        near = shots.near(best)
        between.append(near.flight(int(changes.along(near, times_ms).argmax())))
        told[np.hypot(*np.moveaxis(places - places[best], 2, 0)).max(axis=1) < _APART_MM] = -np.inf
    return [*between, *chosen]


class _Shots(NamedTuple):
    """Shots that the cannon may have fired."""

    starts_ms: FloatArray
    """When they left, shape (N,)."""
    starts_mm: FloatArray
    """From where, shape (N, 3), board frame."""
    velocities: FloatArray
    """How fast, m/s or mm a ms, shape (N, 3)."""

    def at(
        self, times_ms: Iterable[FloatArray | float]
    ) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Where they are at each of some times: x, y and z, shape (N,)."""
        x_mm, y_mm, z_mm = np.ascontiguousarray(self.starts_mm.T)
        vx, vy, vz = np.ascontiguousarray(self.velocities.T)
        braking = DRAG_PER_MM * np.hypot(vx, vy)
        for time_ms in times_ms:
            flown_ms = np.maximum(time_ms - self.starts_ms, 0.0)
            along = np.log1p(braking * flown_ms) / braking
            yield (
                x_mm + vx * along,
                y_mm + vy * along,
                z_mm + vz * flown_ms - GRAVITY_MM_PER_MS2 / 2 * flown_ms**2,
            )

    def flight(self, k: int) -> Flight:
        """One of them."""
        return Flight(1000.0 * float(self.starts_ms[k]), self.starts_mm[k], self.velocities[k])

    def near(self, k: int) -> _Shots:
        """Shots a little aside of one of them, faster, slower, steeper, earlier, later."""
        grids = np.meshgrid(_TURNS_RAD, _PACES, _NEARER_RISES_MPS, _NEARER_RELEASES_MS, indexing="ij")
        turn, pace, rise, later = (grid.ravel() for grid in grids)
        vx, vy, vz = self.velocities[k]
        velocities = np.column_stack([pace * (vx - turn * vy), pace * (vy + turn * vx), vz + rise])
        return _Shots(self.starts_ms[k] + later, np.tile(self.starts_mm[k], (len(turn), 1)), velocities)


def _fired(scene: Scene, struck: Stirred, frame_ms: float) -> _Shots:
    """Give the shots that come to a soldier about when he stirs."""
    foot, stirred_ms = np.array(struck.foot_mm), struck.time_us / 1000.0
    if scene.muzzle_mm is not None:
        muzzles = np.array([scene.muzzle_mm])
    else:
        y = -_BEHIND_MM if scene.cannon_side is Side.A else scene.length_mm + _BEHIND_MM
        files = np.arange(0.0, scene.width_mm + 1, _FILE_STEP_MM)
        muzzles = np.array([(x, y, USUAL_MUZZLE_Z_MM) for x in files])
    speeds = _SLOWEST_MPS * _FASTER ** np.arange(np.log(_FASTEST_MPS / _SLOWEST_MPS) / np.log(_FASTER))
    rises = _RISES_MPS if scene.muzzle_mm is not None else _RISES_MPS[1:2]
    first_ms, last_ms = stirred_ms - frame_ms - _EARLY_MS, stirred_ms + _LATE_MS
    if scene.fire_us is not None:
        when = scene.fire_us / 1000.0 + np.array(_RELEASES_MS)
    else:
        when = np.arange(first_ms, last_ms, _ARRIVAL_STEP_MS)
    grids = np.meshgrid(np.arange(len(muzzles)), _ASIDE_MM, speeds, rises, when, indexing="ij")
    muzzle, aside, speed, rise, time_ms = (grid.ravel() for grid in grids)
    starts_mm = muzzles[muzzle]
    way = foot - starts_mm[:, :2]
    far = np.hypot(way[:, 0], way[:, 1])
    way = way / far[:, None]
    way = way * far[:, None] + np.column_stack([-way[:, 1], way[:, 0]]) * aside[:, None]
    flown_ms = np.expm1(DRAG_PER_MM * far) / (DRAG_PER_MM * speed)
    velocities = np.column_stack([way / np.hypot(way[:, 0], way[:, 1])[:, None] * speed[:, None], rise])
    if scene.fire_us is None:
        return _Shots(time_ms - flown_ms, starts_mm, velocities)
    there = (time_ms + flown_ms >= first_ms) & (time_ms + flown_ms <= last_ms)
    return _Shots(time_ms[there], starts_mm[there], velocities[there])


class _Changes:
    """How much each picture differs from the table at rest and from its neighbours, over the comparison plane."""

    def __init__(
        self,
        frames: Sequence[NDArray[np.uint8]],
        pictures: range,
        scene: Scene,
        view: BoardView,
        sways: Sways,
    ) -> None:
        self._camera_mm = view.camera_mm
        xs = np.arange(-_MARGIN_MM, scene.width_mm + _MARGIN_MM, _CELL_MM)
        ys = np.arange(-_MARGIN_MM, scene.length_mm + _MARGIN_MM, _CELL_MM)
        places = view.project_grid(xs, ys, PLANE_MM)
        # Only the part of a picture that the grid lies in, and what shaking may bring there, is ever looked at.
        first_px = np.maximum(np.floor(places.min(axis=(0, 1))).astype(int) - _AROUND_PX, 0)
        last_px = np.maximum(np.ceil(places.max(axis=(0, 1))).astype(int) + _AROUND_PX, first_px + 1)
        self._part = np.s_[first_px[1] : last_px[1], first_px[0] : last_px[0]]
        self._map = places - first_px.astype(np.float32)
        height, width = frames[0].shape[:2]
        u, v = places.transpose(2, 0, 1)
        self._inside = (u > 2) & (v > 2) & (u < width - 3) & (v < height - 3)
        self.any_seen = bool(self._inside.any())
        """Whether anything of the plane is in the pictures; where not, nothing can be asked of them."""
        if not self.any_seen:
            return
        # As many pixels as a cell covers.
        blur = max(1, round(_CELL_MM / view.mm_per_px(*scene.centre_mm, PLANE_MM)))
        self._blur = (blur, blur)
        first = pictures.start
        still = typical(frames[max(0, first - _STILL_PICTURES) : first])
        rest = self._seen(still, sways.steady.measure(still))
        shades = rest if rest.ndim == 2 else rest.sum(axis=2)
        edges = cv2.morphologyEx(shades, cv2.MORPH_GRADIENT, np.ones((3, 3), dtype=np.uint8))
        end = min(pictures.stop + 1, len(frames))
        seen = [self._seen(frames[k], sways.of(k, frames[k])) for k in range(first - 1, end)]
        self._told = []
        for i in range(1, len(pictures) + 1):
            others = [rest, seen[i - 1], *seen[i + 1 : i + 2]]
            change = reduce(cv2.min, (self._change(seen[i], other) for other in others))
            change = cv2.blur(change, (_SOFTENED, _SOFTENED))
            noise = 1.0 + 2.0 * float(np.median(change[self._inside])) + _EDGE_SHARE * edges
            told = np.minimum(change / noise, _PLAIN)
            told[~self._inside] = 0.0
            told -= float(told[self._inside].mean()) * self._inside
            self._told.append(told.ravel())

    def _seen(self, picture: NDArray[np.uint8], sway: Sway) -> NDArray[np.float32]:
        """Lay a picture on the plane: grey levels or colours, (rows, columns) or (rows, columns, 3)."""
        moved = self._map + np.array([sway.du_px, sway.dv_px], dtype=np.float32)
        soft = cv2.blur(picture[self._part], self._blur)
        found = cv2.remap(soft, moved, None, cv2.INTER_LINEAR)
        return np.asarray(found / np.float32(sway.gain), dtype=np.float32)

    @staticmethod
    def _change(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
        apart = cv2.absdiff(one, other)
        return np.asarray(apart if apart.ndim == 2 else over_colours(apart), dtype=np.float32)

    def along(self, shots: _Shots, times_ms: FloatArray) -> FloatArray:
        """How much all pictures together tell of each of some shots, shape (N,)."""
        told = np.zeros(len(shots.starts_ms))
        for i, (time_ms, points_mm) in enumerate(zip(times_ms, shots.at(times_ms), strict=True)):
            told += np.where(time_ms > shots.starts_ms, self.at(i, *points_mm), 0.0)
        return told

    def at(self, i: int, x_mm: FloatArray, y_mm: FloatArray, z_mm: FloatArray) -> NDArray[np.float32]:
        """How much picture i tells at points, where they are seen on the plane; all of shape (N,)."""
        rise = (z_mm - PLANE_MM) / (self._camera_mm[2] - z_mm)
        x = x_mm + (x_mm - self._camera_mm[0]) * rise
        y = y_mm + (y_mm - self._camera_mm[1]) * rise
        rows, columns = self._map.shape[:2]
        column = ((x + _MARGIN_MM) / _CELL_MM + 0.5).astype(np.intp)
        row = ((y + _MARGIN_MM) / _CELL_MM + 0.5).astype(np.intp)
        on = (column >= 0) & (row >= 0) & (column < columns) & (row < rows)
        return np.where(on, self._told[i].take(row * columns + column, mode="clip"), 0.0)

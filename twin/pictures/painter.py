"""Pictures of snapshots, without noise.

The table at rest is drawn once in full and kept. A snapshot in which things move is that picture with only those
rectangles drawn anew that hold something that has moved, where it was or where it is, with its shadow. So the
picture of a snapshot follows from the snapshot alone, whatever was drawn before.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from twin import soldier
from twin.pictures.look import Lamp, LookSettings, casting_lamps, left_in_shadow
from twin.pictures.offscreen import Offscreen
from twin.pictures.optics import Lens, Pose, Rect, join_overlapping, project_pinhole
from twin.pictures.scene import Arrangement, CannonPose, Snapshot
from twin.pictures.sensor import Developed, Sensor
from twin.pictures.stage import Stage, cannon_points_m, hand_points_m
from twin.pictures.streak import Streak
from twin.table import TableSettings

_KEPT = 2
"""Pictures at rest that are kept."""


_SHADOW_MARGIN_MM = 4.0
_SEEN_M = 5e-5
"""What has moved less than this, and turned less than `_SEEN_QUAT`, looks the same."""
_SEEN_QUAT = 1e-3
_KEPT_DRAWINGS = 12
"""Drawings of small parts that are kept: what has fallen lies still long before everything does."""

_SHADED_BELOW_MM = 1.2
"""What is no higher than this above the playing surface carries shadows."""
_USUAL_HEIGHT_MM = 22.0
"""What casts a shadow is about this far above it; with the lamp's size it makes the soft edge."""

_Drawing = tuple[NDArray[np.uint8], NDArray[np.float32]]
_DrawKey = tuple[Rect, tuple[object, ...], bytes, bytes]


@dataclass(frozen=True, slots=True)
class Patch:
    """A part of the sensor that differs from the picture at rest."""

    at: Rect
    developed: Developed


@dataclass(frozen=True, slots=True)
class _Rest:
    arrangement: Arrangement
    plate: NDArray[np.uint8]
    """The pinhole picture: blue, green, red as a screen shows it."""
    depth_mm: NDArray[np.float32]
    developed: Developed


class Painter:
    """Paints snapshots as one camera in one pose sees them.

    Parameters
    ----------
    offscreen : Offscreen
        Draws.
    sensor : Sensor
        Develops.
    pose, lens : Pose, Lens
        The camera.
    look, table : LookSettings, TableSettings
        What it sees.
    blur_px : float
        Sharpness of the lens: standard deviation of its blur.
    gamma : float
        Between what a screen shows and linear light.
    """

    def __init__(
        self,
        offscreen: Offscreen,
        sensor: Sensor,
        *,
        pose: Pose,
        lens: Lens,
        look: LookSettings,
        table: TableSettings,
        blur_px: float,
        gamma: float,
    ) -> None:
        self._offscreen = offscreen
        self._sensor = sensor
        self._pose = pose
        self._lens = lens
        self._look = look
        self._table = table
        self._blur_px = blur_px
        self._gamma = gamma
        self._linear = ((np.arange(256) / 255.0) ** gamma).astype(np.float32)
        self._frame = Rect(0, 0, lens.width_px, lens.height_px)
        self._bends = any(lens.distortion)
        self._margin_px = margin_px(blur_px)
        self._plate_rect = plate_rect(lens, blur_px)
        self._map = self._straight_map() if self._bends else None
        self._ground_mm, self._ground_depth_mm = self._ground_under_plate()
        self._shadow_scale = self._finest_shadow()
        self._kept: list[_Rest] = []
        self._drawn: OrderedDict[_DrawKey, _Drawing] = OrderedDict()

    def paint(self, snapshot: Snapshot, only: Rect | None = None) -> tuple[Developed, Sequence[Patch]]:
        """Return the picture at rest, and what differs from it, all or what reaches into a part of the sensor."""
        rest = self._rest(snapshot.still)
        streak = self._streak(snapshot)
        moved = [] if snapshot.now is snapshot.still else self._moved_rects(snapshot)
        wanted = self._frame if only is None else only
        moved = [rect for rect in moved if not self._seen_on_sensor(rect).within(wanted).empty]
        if not moved and streak is None:
            return rest.developed, ()
        plate, depth_mm = rest.plate, rest.depth_mm
        if moved:
            plate, depth_mm = plate.copy(), depth_mm.copy()
            for rect in moved:
                part = self._on_plate(rect).slices
                plate[part], depth_mm[part] = self._draw(rect, snapshot.now)
        rects = list(moved)
        if streak is not None:
            touched = streak.rects(self._pose, self._lens, self._look)
            rects += [rect for rect in (each.within(self._plate_rect) for each in touched) if not rect.empty]
        patches = []
        for rect in join_overlapping(rects):
            at = self._seen_on_sensor(rect)
            if at.within(wanted).empty:
                continue
            needed = self._needed_for(at)
            light = cv2.LUT(plate[self._on_plate(needed).slices], self._linear)
            if streak is not None:
                above_mm = depth_mm[self._on_plate(needed).slices]
                streak.paint(light, needed, self._pose, self._lens, self._look, above_mm)
            patches.append(Patch(at, self._sensor.develop(self._through_lens(light, needed, at), at)))
        return rest.developed, patches

    # --- what moved

    def _moved_rects(self, snapshot: Snapshot) -> list[Rect]:
        before, now = snapshot.still, snapshot.now
        shift = np.abs(before.poses - now.poses)
        moved = np.flatnonzero(
            (shift[:, :3].max(axis=1, initial=0.0) > _SEEN_M)
            | (shift[:, 3:].max(axis=1, initial=0.0) > _SEEN_QUAT)
        )
        rects = [
            old.joined(new)
            for old, new in zip(
                self._soldier_rects(before, moved), self._soldier_rects(now, moved), strict=True
            )
        ]
        if before.cannon != now.cannon:
            rects += [
                self._cannon_rect(cannon) for cannon in (before.cannon, now.cannon) if cannon is not None
            ]
        for hand_mm in (before.hand_mm, now.hand_mm):
            if hand_mm is not None:
                rects += self._rects(hand_points_m(hand_mm)[None] * 1e3)
        shown = [rect.within(self._plate_rect) for rect in rects]
        return join_overlapping([rect for rect in shown if not rect.empty])

    def _soldier_rects(
        self, arrangement: Arrangement, chosen: NDArray[np.intp] | slice = slice(None)
    ) -> list[Rect]:
        """Return the pinhole pixels of each chosen soldier with its shadow."""
        return self._rects(self._soldier_corners_mm(arrangement.poses[chosen]))

    def _soldier_corners_mm(self, poses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return corners (n, 8, 3) of a cube around each soldier."""
        half_mm = self._table.bodies.soldier_height_mm / 2
        w, x, y, z = poses[:, 3:].T
        upright = np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        middle = poses[:, :3] * 1e3 + upright * half_mm
        reach_mm = half_mm * np.hypot(1.0, 2 * soldier.REACH) * 0.85
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
        return np.asarray(middle[:, None, :] + reach_mm * signs)

    def _cannon_rect(self, cannon: CannonPose) -> Rect:
        """Return the pinhole pixels of the cannon with its shadow."""
        return self._rects(cannon_points_m(cannon)[None] * 1e3)[0]

    def _rects(self, points_mm: NDArray[np.float64]) -> list[Rect]:
        """Return the pinhole pixels around each of n bodies, given as points (n, k, 3), and their shadows."""
        if not len(points_mm):
            return []
        floor_mm = -self._table.bodies.board_thickness_mm
        seen = [points_mm]
        for lamp in self._look.lamps:
            if lamp.casts_shadow:
                source = np.array(lamp.position_mm)
                reach = (source[2] - floor_mm) / np.maximum(source[2] - points_mm[..., 2:], 1.0)
                seen.append(source + (points_mm - source) * reach)
        every = np.concatenate(seen, axis=1)
        pixels = project_pinhole(self._pose, self._lens, every.reshape(-1, 3)).reshape(len(every), -1, 2)
        low = np.floor(pixels.min(axis=1) - 2.0).astype(int).tolist()
        high = (np.ceil(pixels.max(axis=1) + 2.0).astype(int) + 1).tolist()
        return [Rect(*start, *stop) for start, stop in zip(low, high, strict=True)]

    # --- drawing

    def _rest(self, arrangement: Arrangement) -> _Rest:
        for rest in self._kept:
            if rest.arrangement is arrangement:
                return rest
        plate, depth_mm = self._draw(self._plate_rect, arrangement)
        light = self._through_lens(cv2.LUT(plate, self._linear), self._plate_rect, self._frame)
        rest = _Rest(arrangement, plate, depth_mm, self._sensor.develop(light, self._frame))
        self._kept = [rest, *self._kept][:_KEPT]
        return rest

    def _draw(self, rect: Rect, arrangement: Arrangement) -> _Drawing:
        """Return pinhole pixels, blue, green, red as a screen shows them, and their depth."""
        shown = np.array(
            [not other.within(rect).empty for other in self._soldier_rects(arrangement)], dtype=bool
        )
        who = (arrangement.sides, arrangement.stances, arrangement.cannon, arrangement.hand_mm)
        key = (rect, who, arrangement.poses[shown].tobytes(), shown.tobytes())
        drawing = self._drawn.get(key)
        if drawing is None:
            drawing = self._draw_anew(rect, lambda stage: stage.arrange(arrangement, shown))
            self._drawn[key] = drawing
            if len(self._drawn) > _KEPT_DRAWINGS:
                self._drawn.popitem(last=False)
        return drawing

    def _draw_anew(self, rect: Rect, arrange: Callable[[Stage], None]) -> _Drawing:
        picture, depth_mm = self._offscreen.draw(rect, self._pose, self._lens, arrange)
        part = self._on_plate(rect).slices
        ground_mm = self._ground_mm[part]
        on_ground = (depth_mm > self._ground_depth_mm[part] - _SHADED_BELOW_MM).astype(np.float32)
        light = np.ascontiguousarray(picture[:, :, ::-1])
        for lamp in casting_lamps(self._look):
            dark = self._shade(lamp, ground_mm) * on_ground
            left = left_in_shadow(self._look, lamp, 1.0)
            light = (light * (1.0 - dark[..., None] * (1.0 - left)) + 0.5).astype(np.uint8)
        return light, depth_mm

    def _shade(self, lamp: Lamp, ground_mm: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return how much of a lamp's light each pixel's ground misses, 0 to 1, as the stage was last drawn."""
        scale = self._shadow_scale
        # Blurred, they reach in from just outside.
        part = Rect.around(_rim(ground_mm)[:, ::-1], _SHADOW_MARGIN_MM)
        hidden = self._offscreen.shadow(lamp.position_mm, part, scale)
        soft_px = max(0.6, scale * lamp.radius_mm * _USUAL_HEIGHT_MM / lamp.position_mm[2])
        soft = cv2.GaussianBlur(hidden.astype(np.float32), (0, 0), soft_px)
        places = ((ground_mm - (part.top, part.left)) * scale - 0.5).astype(np.float32)
        return np.asarray(cv2.remap(soft, places[..., 1], places[..., 0], cv2.INTER_LINEAR), dtype=np.float32)

    def _finest_shadow(self) -> float:
        """Return the resolution of shadows, in px per mm: half again the picture's, if all of it can be drawn so."""
        all_of_it = Rect.around(_rim(self._ground_mm)[:, ::-1], _SHADOW_MARGIN_MM)
        width_px, height_px = self._offscreen.picture_px
        return min(
            1.5 * self._lens.focal_px / self._pose.height_mm,
            (width_px - 1) / all_of_it.width,
            (height_px - 1) / all_of_it.height,
        )

    def _ground_under_plate(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return where each pixel of the plate looks on the playing surface, (h, w, 2) in mm, and how far away."""
        rect = self._plate_rect
        rotation, _ = self._pose.camera_from_board
        fx, fy, cx, cy = self._lens.intrinsics
        right = (np.arange(rect.left, rect.right) - cx) / fx
        down = (np.arange(rect.top, rect.bottom) - cy) / fy
        position_mm = self._pose.position_mm
        # Rows of the rotation are the camera's axes in the board frame.
        ray = rotation[2] + right[None, :, None] * rotation[0] + down[:, None, None] * rotation[1]
        depth_mm = -position_mm[2] / ray[..., 2]
        return position_mm[:2] + depth_mm[..., None] * ray[..., :2], depth_mm

    def _streak(self, snapshot: Snapshot) -> Streak | None:
        if snapshot.shot_m is None:
            return None
        radius_mm = self._table.shot.diameter_mm / 2
        return Streak(snapshot.shot_m * 1e3, snapshot.shot_share, radius_mm, self._gamma)

    # --- the lens

    def _on_plate(self, rect: Rect) -> Rect:
        return rect.seen_from(self._plate_rect)

    def _straight_map(self) -> NDArray[np.float32]:
        """Return, for every pixel of the sensor, where it looks on the pinhole picture, (h, w, 2)."""
        # The bend is smooth: computed on a grid, it is interpolated to a thousandth of a pixel.
        step = 8
        columns = np.arange(-step, self._frame.right + 2 * step, step, dtype=np.float64)
        rows = np.arange(-step, self._frame.bottom + 2 * step, step, dtype=np.float64)
        grid = np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
        looks = self._lens.straighten(grid).reshape(len(rows), len(columns), 2).astype(np.float32)
        x = (np.arange(self._frame.right, dtype=np.float32) + step) / step
        y = (np.arange(self._frame.bottom, dtype=np.float32) + step) / step
        at_x, at_y = (np.ascontiguousarray(part) for part in np.meshgrid(x, y))
        # Linear interpolation by hand, in full precision: OpenCV's remap rounds places to 1/32.
        x0, y0 = at_x.astype(np.intp), at_y.astype(np.intp)
        share_x, share_y = (at_x - x0)[..., None], (at_y - y0)[..., None]
        upper = looks[y0, x0] * (1 - share_x) + looks[y0, x0 + 1] * share_x
        lower = looks[y0 + 1, x0] * (1 - share_x) + looks[y0 + 1, x0 + 1] * share_x
        return np.asarray(upper * (1 - share_y) + lower * share_y, dtype=np.float32)

    def _seen_on_sensor(self, rect: Rect) -> Rect:
        """Return the pixels of the sensor that pinhole pixels can touch."""
        touched = rect.grown(self._margin_px)
        if self._map is not None:
            touched = Rect.around(self._lens.distort(touched.border()), 1.0)
        return touched.within(self._frame)

    def _needed_for(self, at: Rect) -> Rect:
        """Return the pinhole pixels that a part of the sensor is made from."""
        if self._map is None:
            return at.grown(self._margin_px)
        return Rect.around(_rim(self._map[at.slices]), self._margin_px).within(self._plate_rect)

    def _through_lens(self, light: NDArray[np.float32], rect: Rect, at: Rect) -> NDArray[np.float32]:
        """Blur and bend linear light on pinhole pixels `rect` to the pixels `at` of the sensor."""
        if self._blur_px > 0.0:
            light = np.asarray(cv2.GaussianBlur(light, (0, 0), self._blur_px), dtype=np.float32)
        if self._map is None:
            return np.ascontiguousarray(light[at.seen_from(rect).slices])
        looks = self._map[at.slices]
        bent = cv2.remap(
            light,
            looks[..., 0] - np.float32(rect.left),
            looks[..., 1] - np.float32(rect.top),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        return np.asarray(bent, dtype=np.float32)


def _rim(places: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the outermost of places (h, w, 2), (n, 2): a picture is laid on them without folds, so all lie within."""
    sides = (places[0], places[-1], places[:, 0], places[:, -1])
    return np.concatenate(sides).astype(np.float64)


def margin_px(blur_px: float) -> int:
    """Return how far interpolation and the lens's blur reach."""
    return 2 + math.ceil(4.0 * blur_px)


def plate_rect(lens: Lens, blur_px: float) -> Rect:
    """Return the pinhole pixels that a lens needs to fill its sensor."""
    frame = Rect(0, 0, lens.width_px, lens.height_px)
    if not any(lens.distortion):
        return frame.grown(margin_px(blur_px))
    return Rect.around(lens.straighten(frame.border()), 2.0 + 2 * margin_px(blur_px))

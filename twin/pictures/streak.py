"""The shot in a picture: a small lit ball, smeared over the exposure, with its shadow, hidden by what stands above.

It is drawn into linear light, so that a fast shot is as faint as its short stay over each pixel makes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twin.pictures.look import Lamp, LookSettings, casting_lamps, left_in_shadow
from twin.pictures.optics import Lens, Points, Pose, Rect, project_pinhole

Light = NDArray[np.float32]

_ON_THE_GROUND_MM = 4.0
"""Surfaces no higher than this carry the shot's shadow."""


@dataclass(frozen=True, slots=True)
class Streak:
    """The shot over one exposure, ready to be drawn."""

    centres_mm: Points
    """(k, 3), board frame."""
    share: float
    """The part of the exposure over which it is there."""
    radius_mm: float
    gamma: float

    def rects(self, pose: Pose, lens: Lens, look: LookSettings) -> list[Rect]:
        """Return the pinhole pixels that the ball touches, and those of its shadow by each lamp."""
        shadows = [self._shadow_rect(pose, lens, lamp) for lamp in casting_lamps(look)]
        return [self._ball_rect(pose, lens), *shadows]

    def _ball_rect(self, pose: Pose, lens: Lens) -> Rect:
        return self._rect(pose, lens, self.centres_mm, 2.0 * self.radius_mm)

    def _shadow_rect(self, pose: Pose, lens: Lens, lamp: Lamp) -> Rect:
        reach_mm = self.radius_mm + lamp.radius_mm * self._height_mm() / lamp.position_mm[2]
        return self._rect(pose, lens, self._shadow_mm(lamp), 1.2 * reach_mm)

    def _rect(self, pose: Pose, lens: Lens, centres_mm: Points, reach_mm: float) -> Rect:
        return Rect.around(
            project_pinhole(pose, lens, centres_mm), reach_mm * lens.focal_px / pose.height_mm + 2.0
        )

    def _height_mm(self) -> float:
        return max(float(self.centres_mm[:, 2].max()), 0.0)

    def _shadow_mm(self, lamp: Lamp) -> Points:
        """Return where the middle of its shadow falls on the playing surface."""
        source = np.array(lamp.position_mm)
        reach = source[2] / np.maximum(source[2] - self.centres_mm[:, 2], 1.0)
        return np.asarray(source + (self.centres_mm - source) * reach[:, None])

    def paint(
        self,
        light: Light,
        at: Rect,
        pose: Pose,
        lens: Lens,
        look: LookSettings,
        depth_mm: NDArray[np.float32],
    ) -> None:
        """Draw into linear light.

        Parameters
        ----------
        light : (h, w, 3) array
            Blue, green, red; written to.
        at : Rect
            The pinhole pixels that `light` covers.
        pose, lens : Pose, Lens
            The camera.
        look : LookSettings
            Colour of the shot, and the lamps.
        depth_mm : (h, w) array
            Distance of what stands there, along the view.
        """
        for lamp in casting_lamps(look):
            part = self._shadow_rect(pose, lens, lamp).within(at)
            if not part.empty:
                here = part.seen_from(at).slices
                self._paint_shadow(light[here], part, pose, lens, look, lamp, depth_mm[here])
        part = self._ball_rect(pose, lens).within(at)
        if not part.empty:
            here = part.seen_from(at).slices
            self._paint_ball(light[here], part, pose, lens, look, depth_mm[here])

    def _paint_shadow(
        self,
        light: Light,
        at: Rect,
        pose: Pose,
        lens: Lens,
        look: LookSettings,
        lamp: Lamp,
        depth_mm: NDArray[np.float32],
    ) -> None:
        rows, columns = np.mgrid[at.top : at.bottom, at.left : at.right].astype(np.float32)
        rotation, translation = pose.camera_from_board
        shadow_mm = self._shadow_mm(lamp)
        places = project_pinhole(pose, lens, shadow_mm)
        shade = np.zeros(rows.shape, np.float32)
        for place, ground_mm, centre_mm in zip(places, shadow_mm, self.centres_mm, strict=True):
            along_mm = float(rotation[2] @ ground_mm + translation[2])
            scale = lens.focal_px / along_mm
            soft_px = 1.0 + scale * 2 * lamp.radius_mm * max(centre_mm[2], 0.0) / lamp.position_mm[2]
            away = np.hypot(columns - place[0], rows - place[1])
            cover = np.clip((self.radius_mm * scale + soft_px / 2 - away) / soft_px, 0.0, 1.0)
            # A soft edge wider than the ball never gets quite dark.
            cover *= min(1.0, (2 * self.radius_mm * scale / soft_px) ** 2)
            shade += cover * (depth_mm > along_mm - _ON_THE_GROUND_MM)
        shade *= self.share / len(self.centres_mm)
        light *= 1.0 - shade[..., None] * (1.0 - left_in_shadow(look, lamp, self.gamma))

    def _paint_ball(
        self,
        light: Light,
        at: Rect,
        pose: Pose,
        lens: Lens,
        look: LookSettings,
        depth_mm: NDArray[np.float32],
    ) -> None:
        rows, columns = np.mgrid[at.top : at.bottom, at.left : at.right].astype(np.float32)
        rotation, translation = pose.camera_from_board
        fx, fy, cx, cy = lens.intrinsics
        ball = np.zeros(light.shape, np.float32)
        covered = np.zeros(rows.shape, np.float32)
        for centre_mm in self.centres_mm:
            x_mm, y_mm, along_mm = rotation @ centre_mm + translation
            radius_px = self.radius_mm * fx / along_mm
            right = (columns - (x_mm / along_mm * fx + cx)) / radius_px
            down = (rows - (y_mm / along_mm * fy + cy)) / radius_px
            away = np.hypot(right, down)
            cover = np.clip((1.0 - away) * radius_px + 0.5, 0.0, 1.0)
            cover *= depth_mm > along_mm - self.radius_mm
            towards = np.sqrt(np.clip(1.0 - away**2, 0.0, 1.0))
            ball += cover[..., None] * _lit_ball(look, rotation, centre_mm, right, down, towards, self.gamma)
            covered += cover
        weight = self.share / len(self.centres_mm)
        light *= 1.0 - weight * covered[..., None]
        light += weight * ball


def _lit_ball(
    look: LookSettings,
    rotation: Points,
    centre_mm: Points,
    right: Light,
    down: Light,
    towards: Light,
    gamma: float,
) -> Light:
    """Return the colour (h, w, 3) of the ball's face in linear light: blue, green, red."""
    shown = np.full((*right.shape, 3), look.ambient, np.float32)
    for lamp in look.lamps:
        to_lamp = np.array(lamp.position_mm) - centre_mm
        to_lamp = rotation @ (to_lamp / np.linalg.norm(to_lamp))
        facing = np.clip(right * to_lamp[0] + down * to_lamp[1] - towards * to_lamp[2], 0.0, 1.0)
        shown += facing[..., None] * np.array(lamp.colour[::-1], np.float32)
    shown *= np.array(look.shot[::-1], np.float32)
    return np.asarray(np.clip(shown, 0.0, 1.0) ** gamma, dtype=np.float32)

"""Everything there is to see, as a model for drawing only: nothing here collides or has weight."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from twin import soldier
from twin.pictures.look import Colour, LookSettings, placed_markers
from twin.pictures.scene import Arrangement, CannonPose
from twin.pictures.stage_model import stage_xml, varied_parts
from twin.soldier import Cloth
from twin.streams import stream
from twin.table import TableSettings

__all__ = [
    "LookSettings",
    "Stage",
    "cannon_points_m",
    "hand_point_m",
    "hand_points_m",
    "placed_markers",
]


@dataclass(slots=True)
class _Slot:
    """The geometries that show one soldier in any stance."""

    mocap: int
    body_geoms: list[int] = field(default_factory=list)
    body_cloth: list[Cloth] = field(default_factory=list)
    stance_geoms: list[list[int]] = field(default_factory=list)
    stance_cloth: list[list[Cloth]] = field(default_factory=list)


class Stage:
    """The model for drawing, with room for a number of soldiers.

    Parameters
    ----------
    look, table : LookSettings, TableSettings
        How it looks and how large it is.
    slots : int
        The most soldiers that it can show.
    picture_px : (width, height)
        The largest picture that will be drawn of it.
    """

    def __init__(
        self, look: LookSettings, table: TableSettings, *, slots: int, picture_px: tuple[int, int]
    ) -> None:
        assets: dict[str, bytes] = {}
        xml = stage_xml(look, table, slots, picture_px, assets)
        self.model: Any = mujoco.MjModel.from_xml_string(xml, assets)
        self.data: Any = mujoco.MjData(self.model)
        self._look = look
        self._build = table.bodies.build
        self._slots = [self._find_slot(index) for index in range(slots)]
        self._cannon = [int(self.model.body(name).mocapid[0]) for name in ("cannon", "barrel")]
        self._cannon_geoms = [
            geom
            for geom in range(self.model.ngeom)
            if self.model.body(self.model.geom_bodyid[geom]).name in ("cannon", "barrel")
        ]
        self._hand = int(self.model.body("hand").mocapid[0])
        self._hand_geoms = [
            geom
            for geom in range(self.model.ngeom)
            if self.model.body(self.model.geom_bodyid[geom]).name == "hand"
        ]
        self._cannon_colours = self.model.geom_rgba[self._cannon_geoms].copy()
        self._palettes = {
            Side.A: _palette(look.uniform_a, look),
            Side.G: _palette(look.uniform_g, look),
        }
        self._dyes = _dyes(look.dye_spread, slots)

    @property
    def slots(self) -> int:
        """The most soldiers that it can show."""
        return len(self._slots)

    def arrange(self, arrangement: Arrangement, shown: NDArray[np.bool_]) -> None:
        """Put soldiers and cannon where they stand; `shown` (n,) says which soldiers to show.

        Raises
        ------
        ValueError
            If there are more soldiers than it has room for.
        """
        if len(arrangement.sides) > len(self._slots):
            raise ValueError(
                f"the camera was made for up to {len(self._slots)} soldiers, and {len(arrangement.sides)} stand there"
            )
        rgba = self.model.geom_rgba
        for index, slot in enumerate(self._slots):
            visible = index < len(arrangement.sides) and bool(shown[index])
            if not visible:
                rgba[slot.body_geoms, 3] = 0.0
                for geoms in slot.stance_geoms:
                    rgba[geoms, 3] = 0.0
                continue
            pose = arrangement.poses[index]
            self.data.mocap_pos[slot.mocap] = pose[:3]
            self.data.mocap_quat[slot.mocap] = pose[3:]
            palette = {
                cloth: np.minimum(colour * self._dyes[index], 1.0)
                for cloth, colour in self._palettes[arrangement.sides[index]].items()
            }
            rgba[slot.body_geoms] = [palette[cloth] for cloth in slot.body_cloth]
            for stance, (geoms, cloths) in enumerate(zip(slot.stance_geoms, slot.stance_cloth, strict=True)):
                if stance != arrangement.stances[index]:
                    rgba[geoms, 3] = 0.0
                elif geoms:  # where all stances of a box are the same, no part is one stance's own
                    rgba[geoms] = [palette[cloth] for cloth in cloths]
        self._pose_cannon(arrangement.cannon)
        self._pose_hand(arrangement.hand_mm)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def _pose_cannon(self, cannon: CannonPose | None) -> None:
        rgba = self.model.geom_rgba
        rgba[self._cannon_geoms] = self._cannon_colours
        if cannon is None:
            rgba[self._cannon_geoms, 3] = 0.0
            return
        muzzle_m = np.array(cannon.muzzle_mm) / 1e3
        turn = np.array([math.cos(cannon.azimuth_rad / 2), 0.0, 0.0, -math.sin(cannon.azimuth_rad / 2)])
        lift = np.array([math.cos(cannon.elevation_rad / 2), math.sin(cannon.elevation_rad / 2), 0.0, 0.0])
        aimed = np.zeros(4)
        mujoco.mju_mulQuat(aimed, turn, lift)
        for mocap, quat in zip(self._cannon, (turn, aimed), strict=True):
            self.data.mocap_pos[mocap] = muzzle_m
            self.data.mocap_quat[mocap] = quat

    def _pose_hand(self, hand_mm: tuple[float, float] | None) -> None:
        self.model.geom_rgba[self._hand_geoms, 3] = 0.0 if hand_mm is None else 1.0
        if hand_mm is not None:
            self.data.mocap_pos[self._hand] = hand_point_m(hand_mm)

    def _find_slot(self, index: int) -> _Slot:
        body = self.model.body(f"soldier-{index}")
        slot = _Slot(int(body.mocapid[0]))
        common = {part.name for part in soldier.parts(0, self._build)} - varied_parts(self._build)
        for part in soldier.parts(0, self._build):
            if part.name in common:
                slot.body_geoms.append(self.model.geom(f"soldier-{index}-{part.name}").id)
                slot.body_cloth.append(part.cloth)
        for stance in range(soldier.STANCES):
            own = [part for part in soldier.parts(stance, self._build) if part.name not in common]
            slot.stance_geoms.append(
                [self.model.geom(f"soldier-{index}-{part.name}-{stance}").id for part in own]
            )
            slot.stance_cloth.append([part.cloth for part in own])
        return slot


def cannon_points_m(cannon: CannonPose) -> NDArray[np.float64]:
    """Return points (n, 3) that the cannon lies between, board frame."""
    muzzle_m = np.array(cannon.muzzle_mm) / 1e3
    sine, cosine = math.sin(cannon.azimuth_rad), math.cos(cannon.azimuth_rad)
    return np.array(
        [
            muzzle_m
            + np.array([cosine * across + sine * along, -sine * across + cosine * along, -muzzle_m[2] + up])
            for across in (-0.035, 0.035)
            for along in (-0.16, 0.012)
            for up in (0.0, muzzle_m[2] + 0.02)
        ]
    )


def hand_point_m(hand_mm: tuple[float, float]) -> NDArray[np.float64]:
    """Return where the fingertips of an arm over the board are, board frame."""
    return np.array([hand_mm[0] / 1e3, hand_mm[1] / 1e3, 0.07])


def hand_points_m(hand_mm: tuple[float, float]) -> NDArray[np.float64]:
    """Return points (n, 3) that an arm over the board lies between, board frame."""
    tips = hand_point_m(hand_mm)
    return np.array(
        [tips + np.array([x, y, z]) for x in (-0.75, 0.01) for y in (-0.06, 0.06) for z in (-0.06, 0.09)]
    )


def _dyes(spread: float, soldiers: int) -> NDArray[np.float64]:
    """Return what each soldier's colours are multiplied by, (n, 4): no two dips into the pot are the same."""
    rng = stream(17, "dye")
    brightness, tint = rng.normal(0.0, spread, (soldiers, 1)), rng.normal(0.0, 0.5 * spread, (soldiers, 3))
    return np.hstack([np.clip(1.0 + brightness + tint, 0.5, 1.5), np.ones((soldiers, 1))])


def _palette(uniform: Colour, look: LookSettings) -> Mapping[Cloth, NDArray[np.float64]]:
    painted = look.painted
    hue, saturation, value = colorsys.rgb_to_hsv(*uniform)

    def shade(saturation_by: float, value_by: float) -> Colour:
        return colorsys.hsv_to_rgb(hue, min(1.0, saturation * saturation_by), min(1.0, value * value_by))

    colours: dict[Cloth, Colour] = {
        Cloth.UNIFORM: uniform,
        Cloth.TROUSERS: shade(1.0, look.trousers),
        Cloth.HELMET: shade(1.05, look.helmet),
        Cloth.SKIN: (0.80, 0.60, 0.47) if painted else uniform,
        Cloth.BOOTS: (0.14, 0.11, 0.09) if painted else shade(1.0, 0.9),
        Cloth.PACK: shade(0.85, 1.22),
        Cloth.RIFLE: (0.23, 0.15, 0.09) if painted else shade(1.0, 0.85),
        Cloth.BASE: look.base if painted and look.base is not None else shade(1.1, 0.66),
    }
    return {cloth: np.array([*colour, 1.0]) for cloth, colour in colours.items()}

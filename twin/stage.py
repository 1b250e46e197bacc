"""Everything there is to see, as a model for drawing only: nothing here collides or has weight."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side, Square
from twin import artwork, soldier
from twin.scene import Arrangement, CannonPose
from twin.soldier import Cloth
from twin.streams import stream
from twin.table import TableSettings

GROUND_GROUP = 1
"""Group of the geometries that shadows fall on."""

Colour = tuple[float, float, float]
"""Red, green, blue as a screen shows them, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """A lamp over the table."""

    position_mm: tuple[float, float, float]
    """Where it hangs, board frame."""
    colour: Colour
    """With its brightness."""
    casts_shadow: bool = True
    """Whether it casts shadows."""
    radius_mm: float = 45.0
    """Half the lamp's size: how soft its shadows are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """An ArUco marker on the table, level with the playing surface, its top edge towards +y."""

    number: int
    centre_mm: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookSettings:
    """How everything looks."""

    board: artwork.BoardLook = artwork.BoardLook.PRINTED
    """How the board is made."""
    table: artwork.TableLook = artwork.TableLook.WALNUT
    """What the board lies on."""
    finish: artwork.Finish = artwork.USUAL
    """How board and table differ from the usual ones of their looks."""
    uniform_a: Colour = (0.47, 0.42, 0.22)
    """The Allies: olive drab."""
    uniform_g: Colour = (0.37, 0.43, 0.43)
    """The Germans: field grey."""
    painted: bool = True
    """False for figures moulded in one colour."""
    base: Colour | None = None
    """Of painted figures: what their bases are painted with; None for a dark shade of the uniform."""
    trousers: float = 1.0
    """How bright trousers are, as a part of the uniform."""
    helmet: float = 0.78
    """How bright what they wear on their heads is, as a part of the uniform."""
    camouflage: float = 0.0
    """How much darker the blotches on uniforms and helmets are than the rest; 0 for cloth of one colour."""
    dye_spread: float = 0.0
    """How much soldiers of one side differ in colour: standard deviation of brightness, as a part of it."""
    shot: Colour = (0.98, 0.48, 0.06)
    """Orange, as shots of this weight are mostly sold: they have to be found again."""
    lamps: tuple[Lamp, ...] = (
        Lamp(position_mm=(-330.0, 120.0, 1350.0), colour=(0.66, 0.63, 0.57)),
        Lamp(position_mm=(900.0, 900.0, 1500.0), colour=(0.17, 0.19, 0.21), casts_shadow=False),
    )
    """The lamps; one that is far and large casts no shadow to speak of."""
    ambient: float = 0.32
    """Light from everywhere."""
    marker_dictionary: str = "DICT_4X4_50"
    """OpenCV's name of the markers' dictionary."""
    marker_size_mm: float = 34.0
    """Side of a marker's black square."""
    markers: tuple[Marker, ...] | None = None
    """None for four at the corners; empty for a table without markers."""
    banners: tuple[Square, ...] = ()
    """The artillery zone, marked by a banner at each of its four corners; empty for none."""


def placed_markers(look: LookSettings, table: TableSettings) -> tuple[Marker, ...]:
    """Return the markers that lie on the table."""
    if look.markers is not None:
        return look.markers
    width_mm, length_mm = table.width_mm, table.length_mm
    beside_mm = 0.5 * artwork.MARKER_QUIET * look.marker_size_mm + 8.0
    return tuple(
        Marker(number=number, centre_mm=centre_mm)
        for number, centre_mm in enumerate(
            (
                (-beside_mm, 24.0),
                (width_mm + beside_mm, 24.0),
                (-beside_mm, length_mm - 24.0),
                (width_mm + beside_mm, length_mm - 24.0),
            )
        )
    )


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
        xml = _xml(look, table, slots, picture_px, assets)
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
                if stance == arrangement.stances[index]:
                    rgba[geoms] = [palette[cloth] for cloth in cloths]
                else:
                    rgba[geoms, 3] = 0.0
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
        common = {part.name for part in soldier.parts(0, self._build)} - _varied(self._build)
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


def _varied(build: soldier.Build) -> set[str]:
    """Names of the parts that differ from stance to stance."""
    stances = (soldier.parts(stance, build) for stance in range(soldier.STANCES))
    return {same[0].name for same in zip(*stances, strict=True) if len(set(same)) > 1}


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


def _png(picture: NDArray[np.uint8]) -> bytes:
    # It is unpacked at once: to look for the filter that packs best takes longer than all the rest.
    quickly = [cv2.IMWRITE_PNG_COMPRESSION, 0, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE]
    _, packed = cv2.imencode(".png", picture, quickly)
    return packed.tobytes()


@lru_cache(maxsize=8)
def _board_png(look: artwork.BoardLook, square_mm: float, strip_mm: float, finish: artwork.Finish) -> bytes:
    return _png(artwork.board(look, square_mm=square_mm, strip_mm=strip_mm, finish=finish))


@lru_cache(maxsize=4)
def _table_png(look: artwork.TableLook, finish: artwork.Finish) -> bytes:
    return _png(artwork.table(look, finish=finish))


def _quad(name: str, x0_m: float, y0_m: float, x1_m: float, y1_m: float, z_m: float) -> str:
    """Return a flat rectangle as a mesh whose texture lies with +y up."""
    return (
        f'<mesh name="{name}" inertia="shell" vertex="{x0_m} {y0_m} {z_m} {x1_m} {y0_m} {z_m} '
        f'{x1_m} {y1_m} {z_m} {x0_m} {y1_m} {z_m}" texcoord="0 1 1 1 1 0 0 0" face="0 1 2 0 2 3"/>'
    )


def _textured(name: str, file: str) -> str:
    return (
        f'<texture name="{name}" type="2d" file="{file}"/>'
        f'<material name="{name}" texture="{name}" texuniform="false" specular="0.05" shininess="0.1"/>'
    )


_CAMOUFLAGED = (Cloth.UNIFORM, Cloth.TROUSERS, Cloth.HELMET)


def _cloth_xml(look: LookSettings, assets: dict[str, bytes]) -> str:
    """Return what uniforms are made of; their colour is that of each geometry, which a pattern darkens."""
    pattern = ""
    if look.camouflage > 0.0:
        assets["cloth.png"] = _png(artwork.camouflage(look.camouflage))
        # Uniform: limb and trunk have as many blotches, of their size.
        pattern = 'texture="cloth" texuniform="true"'
    texture = '<texture name="cloth" type="cube" file="cloth.png"/>' if pattern else ""
    return f'{texture}<material name="cloth" {pattern} specular="0.25" shininess="0.25"/>'


def _soldier_xml(index: int, height_m: float, build: soldier.Build) -> str:
    varied = _varied(build)

    def look(part: soldier.Part) -> str:
        return f'material="{"cloth" if part.cloth in _CAMOUFLAGED else "plastic"}" rgba="1 1 1 0"'

    geoms = [
        soldier.geom_xml(part, name=f"soldier-{index}-{part.name}", height_m=height_m, attributes=look(part))
        for part in soldier.parts(0, build)
        if part.name not in varied
    ]
    geoms += [
        soldier.geom_xml(
            part, name=f"soldier-{index}-{part.name}-{stance}", height_m=height_m, attributes=look(part)
        )
        for stance in range(soldier.STANCES)
        for part in soldier.parts(stance, build)
        if part.name in varied
    ]
    return f'<body name="soldier-{index}" mocap="true">{"".join(geoms)}</body>'


_CANNON = """
<body name="cannon" mocap="true">
<geom type="box" size="0.003 0.062 0.009" pos="-0.0135 -0.085 -0.020" euler="-0.14 0 0" rgba="0.35 0.20 0.10 1"/>
<geom type="box" size="0.003 0.062 0.009" pos="0.0135 -0.085 -0.020" euler="-0.14 0 0" rgba="0.35 0.20 0.10 1"/>
<geom type="box" size="0.012 0.004 0.006" pos="0 -0.125 -0.030" rgba="0.30 0.17 0.08 1"/>
<geom type="cylinder" size="0.017 0.0025" pos="-0.021 -0.045 -0.026" euler="0 1.5708 0" rgba="0.24 0.14 0.07 1"/>
<geom type="cylinder" size="0.017 0.0025" pos="0.021 -0.045 -0.026" euler="0 1.5708 0" rgba="0.24 0.14 0.07 1"/>
<geom type="cylinder" size="0.004 0.024" pos="0 -0.045 -0.026" euler="0 1.5708 0" rgba="0.20 0.19 0.18 1"/>
</body>
<body name="barrel" mocap="true">
<geom type="cylinder" size="0.0072 0.040" pos="0 -0.043 0" euler="1.5708 0 0" rgba="0.72 0.55 0.22 1"/>
<geom type="cylinder" size="0.0090 0.0025" pos="0 -0.004 0" euler="1.5708 0 0" rgba="0.78 0.60 0.25 1"/>
<geom type="cylinder" size="0.0088 0.016" pos="0 -0.078 0" euler="1.5708 0 0" rgba="0.66 0.50 0.20 1"/>
<geom type="sphere" size="0.005" pos="0 -0.098 0" rgba="0.72 0.55 0.22 1"/>
<geom type="cylinder" size="0.0031 0.0006" pos="0 -0.0012 0" euler="1.5708 0 0" rgba="0.05 0.05 0.05 1"/>
</body>"""

_HAND = """
<body name="hand" mocap="true">
<geom type="capsule" size="0.0075" fromto="-0.008 0 0 -0.075 0.004 0.014" rgba="0.82 0.62 0.50 1"/>
<geom type="capsule" size="0.0075" fromto="-0.012 0.019 0 -0.075 0.018 0.014" rgba="0.82 0.62 0.50 1"/>
<geom type="capsule" size="0.0072" fromto="-0.016 -0.019 0 -0.075 -0.014 0.014" rgba="0.82 0.62 0.50 1"/>
<geom type="capsule" size="0.0065" fromto="-0.030 -0.036 0 -0.078 -0.026 0.014" rgba="0.82 0.62 0.50 1"/>
<geom type="capsule" size="0.0085" fromto="-0.052 0.048 0 -0.100 0.026 0.012" rgba="0.82 0.62 0.50 1"/>
<geom type="ellipsoid" size="0.052 0.040 0.016" pos="-0.105 0 0.016" rgba="0.82 0.62 0.50 1"/>
<geom type="capsule" size="0.027" fromto="-0.150 0 0.022 -0.260 0 0.040" rgba="0.80 0.60 0.48 1"/>
<geom type="capsule" size="0.040" fromto="-0.250 0 0.040 -0.700 0 0.080" rgba="0.22 0.26 0.40 1"/>
</body>"""


def _banners_xml(zone: tuple[Square, ...], square_mm: float) -> str:
    if not zone:
        return ""
    centres = np.array([square.centre_mm(square_mm) for square in zone]) / 1e3
    half_m = square_mm / 2e3
    low, high = centres.min(axis=0) - half_m, centres.max(axis=0) + half_m
    geoms = []
    for x_m, outwards in ((low[0] - 0.004, -1), (high[0] + 0.004, 1)):
        for y_m in (low[1], high[1]):
            geoms.append(
                f'<geom type="cylinder" size="0.0011 0.026" pos="{x_m} {y_m} 0.026" rgba="0.8 0.78 0.7 1"/>'
                f'<geom type="cylinder" size="0.006 0.001" pos="{x_m} {y_m} 0.001" rgba="0.25 0.2 0.15 1"/>'
                f'<geom type="box" size="0.0085 0.0006 0.006" pos="{x_m + outwards * 0.0085} {y_m} 0.045"'
                ' euler="0.5 0 0" rgba="0.78 0.12 0.10 1"/>'
            )
    return "".join(geoms)


def _xml(
    look: LookSettings,
    table: TableSettings,
    slots: int,
    picture_px: tuple[int, int],
    assets: dict[str, bytes],
) -> str:
    height_m = table.bodies.soldier_height_mm / 1e3
    thick_m = table.bodies.board_thickness_mm / 1e3
    surface = table.surface
    middle_x, middle_y = (surface.x0_m + surface.x1_m) / 2, (surface.y0_m + surface.y1_m) / 2

    assets["board.png"] = _board_png(look.board, table.square_mm, table.strip_mm, look.finish)
    assets["table.png"] = _table_png(look.table, look.finish)
    half_m = artwork.TABLE_MM / 2e3
    meshes = [
        soldier.base_mesh(height_m, table.bodies.build),
        _quad("board", surface.x0_m, surface.y0_m, surface.x1_m, surface.y1_m, 0.0),
        _quad("table", middle_x - half_m, middle_y - half_m, middle_x + half_m, middle_y + half_m, -thick_m),
    ]
    materials = [_textured("board", "board.png"), _textured("table", "table.png")]
    things = [
        f'<geom group="{GROUND_GROUP}" type="mesh" mesh="table" material="table"/>',
        f'<geom group="{GROUND_GROUP}" type="mesh" mesh="board" material="board"/>',
        f'<geom group="{GROUND_GROUP}" type="box" size="{(surface.x1_m - surface.x0_m) / 2} {(surface.y1_m - surface.y0_m) / 2} '
        f'{thick_m / 2}" pos="{middle_x} {middle_y} {-thick_m / 2 - 0.0002}" rgba="0.45 0.40 0.33 1"/>',
    ]
    card_m = look.marker_size_mm * artwork.MARKER_QUIET / 2e3
    for marker in placed_markers(look, table):
        name = f"marker-{marker.number}"
        x_m, y_m = marker.centre_mm[0] / 1e3, marker.centre_mm[1] / 1e3
        assets[f"{name}.png"] = _png(artwork.marker(look.marker_dictionary, marker.number))
        meshes.append(_quad(name, x_m - card_m, y_m - card_m, x_m + card_m, y_m + card_m, 0.0))
        materials.append(_textured(name, f"{name}.png"))
        things.append(f'<geom group="{GROUND_GROUP}" type="mesh" mesh="{name}" material="{name}"/>')
        things.append(
            f'<geom group="{GROUND_GROUP}" type="box" size="{card_m} {card_m} {thick_m / 2}" '
            f'pos="{x_m} {y_m} {-thick_m / 2 - 0.0002}" rgba="0.85 0.85 0.82 1"/>'
        )
    lamps = "".join(_lamp_xml(lamp, middle_x, middle_y) for lamp in look.lamps)
    soldiers = "\n".join(_soldier_xml(index, height_m, table.bodies.build) for index in range(slots))
    return f"""<mujoco model="stage">
<compiler angle="radian"/>
<statistic extent="1" center="{middle_x} {middle_y} 0" meansize="0.01"/>
<visual>
<global offwidth="{picture_px[0]}" offheight="{picture_px[1]}"/>
<quality shadowsize="0" offsamples="4" numslices="14" numstacks="8" numquads="1"/>
<headlight active="0"/>
<map znear="0.3" zfar="4"/>
</visual>
<default><geom contype="0" conaffinity="0"/></default>
<asset>{"".join(meshes)}{"".join(materials)}
<material name="plastic" specular="0.25" shininess="0.25"/>
{_cloth_xml(look, assets)}</asset>
<worldbody>
<light name="everywhere" type="directional" dir="0 0 -1" ambient="{look.ambient} {look.ambient} {look.ambient}"
 diffuse="0 0 0" specular="0 0 0" castshadow="false"/>
{lamps}
{"".join(things)}
{_banners_xml(look.banners, table.square_mm)}
{_CANNON}
{_HAND}
{soldiers}
</worldbody></mujoco>"""


def _lamp_xml(lamp: Lamp, middle_x: float, middle_y: float) -> str:
    x_m, y_m, z_m = (value / 1e3 for value in lamp.position_mm)
    colour = " ".join(f"{value}" for value in lamp.colour)
    gleam = " ".join(f"{0.4 * value}" for value in lamp.colour)
    return (
        f'<light type="spot" pos="{x_m} {y_m} {z_m}" dir="{middle_x - x_m} {middle_y - y_m} {-z_m}" '
        f'diffuse="{colour}" specular="{gleam}" cutoff="80" exponent="1" attenuation="1 0 0" '
        f'castshadow="false"/>'
    )


def casting_lamps(look: LookSettings) -> list[Lamp]:
    """Return the lamps that cast shadows."""
    return [lamp for lamp in look.lamps if lamp.casts_shadow]


def left_in_shadow(look: LookSettings, lamp: Lamp, gamma: float) -> NDArray[np.float32]:
    """Return the part of the light on flat ground that stays without one lamp: linear, (blue, green, red)."""
    others = look.ambient + sum(
        (_on_ground(other) for other in look.lamps if other is not lamp), start=np.zeros(3)
    )
    return np.asarray((others / (others + _on_ground(lamp))) ** gamma, dtype=np.float32)


def _on_ground(lamp: Lamp) -> NDArray[np.float64]:
    """Return a lamp's light on the middle of a usual board, (blue, green, red)."""
    x_mm, y_mm, z_mm = lamp.position_mm
    slant = z_mm / math.sqrt((x_mm - 180.0) ** 2 + (y_mm - 405.0) ** 2 + z_mm**2)
    return slant * np.array(lamp.colour[::-1])

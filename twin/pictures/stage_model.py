"""The stage as text: every thing there is to see, as MuJoCo reads it, and the pictures on their surfaces."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from twin import soldier
from twin.pictures import artwork
from twin.pictures.look import Lamp, LookSettings, placed_markers
from twin.soldier import Cloth
from twin.table import TableSettings

__all__ = ["GROUND_GROUP", "stage_xml", "varied_parts"]

GROUND_GROUP = 1
"""Group of the geometries that shadows fall on."""


def stage_xml(
    look: LookSettings,
    table: TableSettings,
    slots: int,
    picture_px: tuple[int, int],
    assets: dict[str, bytes],
) -> str:
    """Return the stage as MuJoCo's XML; the pictures on board, table, markers and cloth are put into `assets`.

    Parameters
    ----------
    look, table
        How it looks and how large it is.
    slots
        The most soldiers that it can show.
    picture_px
        Width and height of the largest picture that will be drawn of it.
    assets
        Gets the files that the XML names.
    """
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


def varied_parts(build: soldier.Build) -> set[str]:
    """Return the names of the parts that differ from stance to stance."""
    stances = (soldier.parts(stance, build) for stance in range(soldier.STANCES))
    return {same[0].name for same in zip(*stances, strict=True) if len(set(same)) > 1}


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
    varied = varied_parts(build)

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


def _lamp_xml(lamp: Lamp, middle_x: float, middle_y: float) -> str:
    x_m, y_m, z_m = (value / 1e3 for value in lamp.position_mm)
    colour = " ".join(f"{value}" for value in lamp.colour)
    gleam = " ".join(f"{0.4 * value}" for value in lamp.colour)
    return (
        f'<light type="spot" pos="{x_m} {y_m} {z_m}" dir="{middle_x - x_m} {middle_y - y_m} {-z_m}" '
        f'diffuse="{colour}" specular="{gleam}" cutoff="80" exponent="1" attenuation="1 0 0" '
        f'castshadow="false"/>'
    )

"""The shape of a soldier: simple solids that collide, and a few more that are only seen.

A soldier stands on the origin of its own frame and looks along +y; lengths here are parts of its height, from the
table to the top of the helmet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from twin.limits import within

STANCES = 4
"""How many stances a box of figures has; they differ in arms and rifle."""

REACH = 0.45
"""No part of a standing soldier is farther than this from its axis."""

MOST_LEAN = 0.035
"""With more a rifle at aim would reach out farther."""


class Cloth(StrEnum):
    """What a part is made of, for its colour."""

    UNIFORM = "uniform"
    TROUSERS = "trousers"
    HELMET = "helmet"
    SKIN = "skin"
    BOOTS = "boots"
    PACK = "pack"
    RIFLE = "rifle"
    BASE = "base"


class Headgear(StrEnum):
    """What soldiers wear on their heads."""

    BRIMMED = "brimmed"
    """A helmet with a broad brim."""
    HELMET = "helmet"
    """A helmet without one."""
    CAP = "cap"
    PEAKED = "peaked"
    """A cap with a peak."""
    BERET = "beret"


@dataclass(frozen=True, slots=True)
class Build:
    """How the figures of a box are made; lengths are parts of their height."""

    base_half_long: float = 0.27
    """Half of the base's longer axis, across the shoulders."""
    base_half_short: float = 0.20
    """Half of the base's shorter axis, in the direction of sight."""
    base_squareness: float = 0.0
    """0 for an oval base, 1 for a rectangle."""
    stoutness: float = 1.0
    """Scales how thick legs, trunk and arms are."""
    headgear: Headgear = Headgear.BRIMMED
    packed: bool = True
    """Whether they carry packs."""
    base_height: float = 0.045
    coated: bool = False
    """Whether they wear long coats."""
    lean: float = 0.0
    """How far they lean forward, at the top; `MOST_LEAN` at the most."""
    stances: tuple[int, int, int, int] = (0, 1, 2, 3)
    """Which of all stances, 0 to `ALL_STANCES` - 1, they have."""

    def __post_init__(self) -> None:
        within(self, 0.01, REACH, "base_half_long", "base_half_short")
        within(self, 0, 1, "base_squareness")
        within(self, 0.1, 3, "stoutness")
        within(self, 0.005, 0.3, "base_height")
        within(self, -0.5, MOST_LEAN, "lean")
        for stance in self.stances:
            if not 0 <= stance < ALL_STANCES:
                raise ValueError(f"stances has {stance}, expected numbers from 0 to {ALL_STANCES - 1}")


@dataclass(frozen=True, slots=True)
class Part:
    """One solid of a soldier, in parts of its height."""

    name: str
    cloth: Cloth
    geom: str
    """MuJoCo's geometry type: capsule, ellipsoid, box or mesh (the base)."""
    size: tuple[float, ...]
    """Radius of a capsule, half axes of the others; empty for the base."""
    place: tuple[float, ...]
    """Centre (x, y, z), or both ends of a capsule."""
    mass_share: float = 0.0
    """Its share of the soldier's mass; 0 for a part that is only seen."""

    @property
    def collides(self) -> bool:
        """Whether the shot and other soldiers can touch it."""
        return self.mass_share > 0.0


_KNEES = 0.25

_BODY = (
    Part("base", Cloth.BASE, "mesh", (), (0.0, 0.0, 0.0), 0.26),
    Part("leg-left", Cloth.TROUSERS, "capsule", (0.062,), (-0.10, 0.02, 0.11, -0.055, 0.0, 0.42), 0.12),
    Part("leg-right", Cloth.TROUSERS, "capsule", (0.062,), (0.10, -0.03, 0.11, 0.055, 0.0, 0.42), 0.12),
    Part("torso", Cloth.UNIFORM, "capsule", (0.108,), (0.0, -0.01, 0.47, 0.0, 0.005, 0.66), 0.29),
    Part("helmet", Cloth.HELMET, "ellipsoid", (0.100, 0.115, 0.085), (0.0, 0.015, 0.915), 0.11),
    Part("boot-left", Cloth.BOOTS, "ellipsoid", (0.05, 0.10, 0.045), (-0.105, 0.045, 0.075)),
    Part("boot-right", Cloth.BOOTS, "ellipsoid", (0.05, 0.10, 0.045), (0.105, -0.005, 0.075)),
    Part("face", Cloth.SKIN, "ellipsoid", (0.072, 0.085, 0.09), (0.0, 0.035, 0.83)),
    Part("brim", Cloth.HELMET, "ellipsoid", (0.122, 0.142, 0.028), (0.0, 0.022, 0.885)),
    Part("peak", Cloth.HELMET, "ellipsoid", (0.06, 0.06, 0.012), (0.0, 0.10, 0.915)),
    Part("coat", Cloth.UNIFORM, "capsule", (0.115,), (0.0, 0.0, 0.27, 0.0, 0.0, 0.48)),
    Part("pack", Cloth.PACK, "box", (0.085, 0.05, 0.105), (0.0, -0.135, 0.585)),
    Part("roll", Cloth.PACK, "capsule", (0.036,), (-0.085, -0.135, 0.715, 0.085, -0.135, 0.715)),
)

# Left arm, right arm and rifle of each stance: advancing, aiming, rifle at the port, rifle low, then marching with it over
# the shoulder, charging, pointing the way with a pistol in the other hand, ordering arms, rifle slung, and at the ready
# across the body.
_ARMS: tuple[tuple[tuple[float, ...], ...], ...] = (
    (
        (-0.13, 0.0, 0.66, -0.12, 0.16, 0.55),
        (0.13, 0.0, 0.66, 0.06, 0.11, 0.50),
        (0.12, -0.04, 0.47, -0.16, 0.33, 0.60),
    ),
    (
        (-0.13, 0.0, 0.68, 0.03, 0.21, 0.72),
        (0.13, 0.0, 0.68, 0.13, 0.11, 0.70),
        (0.09, 0.03, 0.76, 0.05, 0.42, 0.77),
    ),
    (
        (-0.13, 0.0, 0.66, -0.11, 0.13, 0.62),
        (0.13, 0.0, 0.66, 0.10, 0.12, 0.48),
        (0.15, 0.10, 0.42, -0.17, 0.16, 0.80),
    ),
    (
        (-0.13, 0.0, 0.66, -0.20, 0.09, 0.48),
        (0.13, 0.0, 0.66, 0.17, 0.10, 0.47),
        (0.17, -0.06, 0.45, 0.13, 0.36, 0.42),
    ),
    (
        (-0.13, 0.0, 0.66, -0.17, 0.04, 0.43),
        (0.13, 0.0, 0.66, 0.13, 0.13, 0.58),
        (0.12, 0.14, 0.56, 0.13, -0.21, 0.92),
    ),
    (
        (-0.13, 0.0, 0.66, 0.02, 0.24, 0.57),
        (0.13, 0.0, 0.66, 0.15, 0.01, 0.52),
        (0.13, -0.15, 0.50, 0.02, 0.42, 0.62),
    ),
    (
        (-0.13, 0.0, 0.68, -0.22, 0.18, 0.86),
        (0.13, 0.0, 0.66, 0.17, 0.05, 0.43),
        (0.17, 0.05, 0.41, 0.18, 0.17, 0.41),
    ),
    (
        (-0.13, 0.0, 0.66, -0.17, 0.02, 0.43),
        (0.13, 0.0, 0.66, 0.18, 0.06, 0.49),
        (0.19, 0.07, 0.09, 0.18, 0.05, 0.74),
    ),
    (
        (-0.13, 0.0, 0.66, -0.16, 0.06, 0.44),
        (0.13, 0.0, 0.66, 0.12, 0.10, 0.64),
        (-0.08, -0.12, 0.30, 0.14, -0.13, 0.92),
    ),
    (
        (-0.13, 0.0, 0.66, -0.09, 0.14, 0.56),
        (0.13, 0.0, 0.66, 0.13, 0.14, 0.67),
        (-0.19, 0.13, 0.50, 0.24, 0.16, 0.76),
    ),
)

ALL_STANCES = len(_ARMS)
"""How many stances there are to choose from."""

USUAL = Build()
"""The figures of the demo."""


def parts(stance: int, build: Build = USUAL) -> Iterator[Part]:
    """Go through the parts of a soldier in a stance 0 to `STANCES` - 1."""
    left, right, rifle = _ARMS[build.stances[stance]]
    yield from (_built(part, build) for part in _BODY if part.name not in _left_out(build))
    yield _built(Part("arm-left", Cloth.UNIFORM, "capsule", (0.045,), left), build)
    yield _built(Part("arm-right", Cloth.UNIFORM, "capsule", (0.045,), right), build)
    yield _built(Part("hand-left", Cloth.SKIN, "ellipsoid", (0.042, 0.042, 0.042), left[3:]), build)
    yield _built(Part("rifle", Cloth.RIFLE, "capsule", (0.024,), rifle, 0.10), build)


def _left_out(build: Build) -> set[str]:
    """Names of the parts that figures of a build lack."""
    lacking = {
        "brim": build.headgear is not Headgear.BRIMMED,
        "peak": build.headgear is not Headgear.PEAKED,
        "pack": not build.packed,
        "roll": not build.packed,
        "coat": not build.coated,
    }
    return {name for name, is_lacking in lacking.items() if is_lacking}


# Half axes and centre of what other headgear than a helmet is; the head's top stays where it is.
_HEADS = {
    Headgear.CAP: ((0.085, 0.10, 0.055), (0.0, 0.02, 0.945)),
    Headgear.PEAKED: ((0.095, 0.10, 0.035), (0.0, 0.02, 0.965)),
    Headgear.BERET: ((0.10, 0.095, 0.035), (0.025, 0.01, 0.965)),
}


def _built(part: Part, build: Build) -> Part:
    """Give a part as figures of a build have it."""
    if part.name == "base":
        return replace(part, place=(0.0, 0.0, build.base_height / 2))
    if part.name == "helmet" and build.headgear in _HEADS:
        size, place = _HEADS[build.headgear]
        part = replace(part, size=size, place=place)
    elif part.geom == "capsule" and part.cloth in (Cloth.UNIFORM, Cloth.TROUSERS):
        part = replace(part, size=(build.stoutness * part.size[0],))
    return replace(part, place=_leaning(part.place, build.lean))


def _leaning(place: tuple[float, ...], lean: float) -> tuple[float, ...]:
    """Bend a figure forward above its knees."""
    points = zip(place[::3], place[1::3], place[2::3], strict=True)
    return tuple(
        value for x, y, z in points for value in (x, y + lean * max(z - _KNEES, 0.0) / (1.0 - _KNEES), z)
    )


def base_mesh(height_m: float, build: Build = USUAL) -> str:
    """Return the base as a MuJoCo mesh asset named ``base``: a superellipse, that is anything from an oval to a rectangle."""
    corners = 20
    power = 1.0 / (1.0 + 3.0 * build.base_squareness)

    def along(half: float, turned: float) -> float:
        return half * height_m * math.copysign(abs(turned) ** power, turned)

    vertices = [
        f"{along(grow * build.base_half_long, math.cos(turn)):.6f} "
        f"{along(grow * build.base_half_short, math.sin(turn)):.6f} {z * height_m:.6f}"
        for z, grow in ((-build.base_height / 2, 1.0), (build.base_height / 2, 0.94))
        for turn in (2 * math.pi * k / corners for k in range(corners))
    ]
    return f'<mesh name="base" vertex="{" ".join(vertices)}"/>'


def geom_xml(part: Part, *, name: str, height_m: float, attributes: str) -> str:
    """Return one part as a MuJoCo geometry, at the size of a soldier of `height_m`."""
    place = " ".join(f"{value * height_m:.6f}" for value in part.place)
    where = f'fromto="{place}"' if len(part.place) == 6 else f'pos="{place}"'
    size = " ".join(f"{value * height_m:.6f}" for value in part.size)
    shape = f'type="{part.geom}" ' + (f'size="{size}"' if part.size else 'mesh="base"')
    return f'<geom name="{name}" {shape} {where} {attributes}/>'

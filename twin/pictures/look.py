"""How everything on the twin's table looks, and the lamps that light it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from twin.limits import within
from twin.pictures import artwork
from twin.table import TableSettings

__all__ = [
    "Colour",
    "Lamp",
    "LookSettings",
    "Marker",
    "casting_lamps",
    "left_in_shadow",
    "placed_markers",
]

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

    def __post_init__(self) -> None:
        within(self, 0, 10, "colour")
        within(self, 0, 10_000, "radius_mm")
        within(self, -100_000, 100_000, "position_mm")
        if not self.position_mm[2] > 0:
            raise ValueError(f"position_mm has {self.position_mm[2]:g} for its height, expected more than 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """An ArUco marker on the table, level with the playing surface, its top edge towards +y."""

    number: int
    centre_mm: tuple[float, float]

    def __post_init__(self) -> None:
        within(self, -10_000, 10_000, "centre_mm")


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

    def __post_init__(self) -> None:
        within(self, 1, 500, "marker_size_mm")
        within(self, 0, 10, "trousers", "helmet", "ambient")
        within(self, 0, 1, "dye_spread")
        within(self, 0, 1, "uniform_a", "uniform_g", "base", "shot", "camouflage")
        count = artwork.markers_in(self.marker_dictionary)
        seen: set[int] = set()
        for marker in self.markers or ():
            if marker.number in seen:
                raise ValueError(f"markers has number {marker.number} twice, expected each once")
            seen.add(marker.number)
            if not 0 <= marker.number < count:
                raise ValueError(
                    f"marker number {marker.number}, expected 0 to {count - 1} of {self.marker_dictionary}"
                )


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

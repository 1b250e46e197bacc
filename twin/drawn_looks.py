"""Tables, lights and cameras of any look, drawn at random: what a clip is filmed of and with."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from twin.physics import BodySettings, ShotSettings
from twin.pictures.artwork import BoardLook, Finish, TableLook, ground
from twin.pictures.camera import CameraFaults, CameraSettings
from twin.pictures.look import Colour, Lamp, LookSettings, placed_markers
from twin.pictures.optics import Lens, Pose, project_pinhole
from twin.pictures.sensor import SensorSettings
from twin.soldier import ALL_STANCES, MOST_LEAN, STANCES, USUAL, Build, Headgear
from twin.streams import stream
from twin.table import TableSettings

__all__ = [
    "draw_camera",
    "draw_table",
    "dressed_otherwise",
    "of_another_make",
    "of_another_size",
    "on_board_of_another_thickness",
    "on_painted_ground",
    "on_smooth_board",
    "packed_for_a_cable",
    "sewn_otherwise",
]

_USUAL_SQUARE_MM = TableSettings().square_mm
_OTHER_SQUARES_MM = (25.0, 60.0)
"""Of tables of another size: from figures of 1:72 up to 1:32, which the shot hardly fells any more."""
_JPEG_QUALITIES = (60, 95)
_SMOOTH_FRICTIONS = (0.12, 0.45)
_THICKNESSES_MM = (2.0, 20.0)
"""Of boards, from cardboard to a shelf."""
_GREY_SHARE = 0.15
_OTHER_HEIGHTS_MM = (20.0, 56.0)
"""How tall figures of another make are: of the scale of 1:87 up to 1:32."""
_BLOTCHED_SHARE = 0.35
"""Of tables with such figures, on how many they wear blotched uniforms."""
_CAMOUFLAGED_SHARE = 0.3
"""Of the stills, those on which one side wears the colour of a field."""
_BASE_SHARES = (0.35, 0.35, 0.3)
"""Of various looks, those with bases green as grass, of any colour, and as the uniform is."""
_SHOTS: tuple[Colour, ...] = ((0.97, 0.96, 0.92), (0.95, 0.85, 0.2), (0.95, 0.45, 0.1), (0.07, 0.07, 0.08))
_SIZES_PX = ((1280, 720), (960, 600), (640, 400))
_SIZE_SHARES = (0.6, 0.2, 0.2)
_STEEPEST_TILT_RAD = math.radians(15.0)


def draw_table(rng: np.random.Generator) -> TableSettings:
    """Draw figures, board and shot as physics has them."""
    height_mm = float(rng.uniform(33.0, 50.0))
    return TableSettings(
        strip_mm=float(rng.choice([0.0, 65.0])),
        placement_sd_mm=float(rng.uniform(0.8, 2.6)),
        facing_sd_rad=float(rng.uniform(0.1, 0.5)),
        bodies=BodySettings(
            soldier_height_mm=height_mm,
            soldier_mass_g=float((height_mm / 42.0) ** 3 * rng.uniform(1.3, 2.8)),
            soldier_friction=float(rng.uniform(0.35, 0.55)),
            board_friction=float(rng.uniform(0.4, 0.6)),
        ),
        shot=ShotSettings(mass_g=float(rng.uniform(0.12, 0.25)), restitution=float(rng.uniform(0.5, 0.75))),
    )


def of_another_make(seed: int, settings: TableSettings, share: float) -> TableSettings:
    """Take a share of the tables' figures out of another box."""
    rng = stream(seed, "figures")
    if rng.random() >= share:
        return settings
    half_long = float(rng.uniform(0.19, 0.32))
    build = Build(
        base_half_long=half_long,
        base_half_short=half_long if rng.random() < 0.5 else float(rng.uniform(0.18, half_long)),
        base_squareness=float(rng.choice([0.0, 0.0, 0.3, 1.0])),
        stoutness=float(rng.uniform(0.75, 1.25)),
        headgear=list(Headgear)[int(rng.integers(len(Headgear)))],
        packed=bool(rng.random() < 0.5),
    )
    usual, height_mm = settings.bodies, float(rng.uniform(*_OTHER_HEIGHTS_MM))
    first, second, third, fourth = (int(each) for each in rng.choice(ALL_STANCES, STANCES, replace=False))
    build = replace(
        build,
        base_height=float(rng.uniform(0.025, 0.09)),
        coated=bool(rng.random() < 0.3),
        lean=min(float(rng.normal(0, 0.04)), MOST_LEAN),
        stances=(first, second, third, fourth),
    )
    bodies = replace(
        usual,
        build=build,
        soldier_height_mm=height_mm,
        soldier_mass_g=usual.soldier_mass_g * (height_mm / usual.soldier_height_mm) ** 3,
    )
    return replace(settings, bodies=bodies)


def of_another_size(seed: int, settings: TableSettings, share: float) -> TableSettings:
    """Make a share of the tables smaller or larger, board and figures in proportion; the shot stays as it is."""
    rng = stream(seed, "scale")
    if rng.random() >= share:
        return settings
    square_mm = float(np.exp(rng.uniform(*np.log(_OTHER_SQUARES_MM))))
    size = square_mm / settings.square_mm
    bodies = replace(
        settings.bodies,
        soldier_height_mm=settings.bodies.soldier_height_mm * size,
        soldier_mass_g=settings.bodies.soldier_mass_g * size**3,
    )
    return replace(
        settings,
        square_mm=square_mm,
        strip_mm=settings.strip_mm * size,
        placement_sd_mm=settings.placement_sd_mm * size,
        bodies=bodies,
    )


def on_board_of_another_thickness(seed: int, settings: TableSettings, share: float) -> TableSettings:
    """Lay a share of the boards otherwise high above the table than the demo's: who falls over the rim lies lower, or hangs."""
    rng = stream(seed, "thickness")
    if rng.random() >= share:
        return settings
    thickness_mm = float(np.exp(rng.uniform(*np.log(_THICKNESSES_MM))))
    return replace(settings, bodies=replace(settings.bodies, board_thickness_mm=thickness_mm))


def on_smooth_board(seed: int, settings: TableSettings) -> TableSettings:
    """Let soldiers slide more easily than the usual ones, so that who is fallen against is pushed oftener than felled."""
    friction = float(stream(seed, "smoothness").uniform(*_SMOOTH_FRICTIONS))
    bodies = replace(settings.bodies, soldier_friction=friction, board_friction=friction)
    return replace(settings, bodies=bodies)


def sewn_otherwise(seed: int, settings: CameraSettings, build: Build) -> CameraSettings:
    """Dress the figures of another box otherwise than the demo's."""
    if build == USUAL:
        return settings
    rng = stream(seed, "sewing")
    look = replace(
        settings.look,
        trousers=float(rng.uniform(0.6, 1.3)),
        helmet=float(rng.uniform(0.6, 1.15)),
        camouflage=float(rng.uniform(0.2, 0.6)) if rng.random() < _BLOTCHED_SHARE else 0.0,
    )
    return replace(settings, look=look)


def _colour(hue: float, saturation: float, value: float) -> Colour:
    red, green, blue = colorsys.hsv_to_rgb(
        hue % 1.0, min(max(saturation, 0.0), 1.0), min(max(value, 0.0), 1.0)
    )
    return red, green, blue


def _uniforms(rng: np.random.Generator, monochrome: bool) -> tuple[Colour, Colour]:
    """Draw two uniforms that a person can still tell apart."""
    while True:
        kind = int(rng.integers(5))
        if kind == 0:  # olive against field grey
            pair = (
                _colour(rng.uniform(0.1, 0.22), rng.uniform(0.35, 0.6), rng.uniform(0.3, 0.6)),
                _colour(rng.uniform(0.35, 0.6), rng.uniform(0.05, 0.25), rng.uniform(0.28, 0.55)),
            )
        elif kind == 1:  # one hue
            hue, value = rng.uniform(), rng.uniform(0.25, 0.6)
            pair = (
                _colour(hue, rng.uniform(0.1, 0.6), value),
                _colour(
                    hue + rng.normal(0, 0.04),
                    rng.uniform(0.1, 0.6),
                    float(np.clip(value + rng.normal(0, 0.2), 0.15, 0.8)),
                ),
            )
        elif kind == 2:  # greys
            pair = (
                _colour(rng.uniform(), 0.06, rng.uniform(0.15, 0.75)),
                _colour(rng.uniform(), 0.06, rng.uniform(0.15, 0.75)),
            )
        elif kind == 3:  # dark
            pair = (
                _colour(rng.uniform(), rng.uniform(0.2, 0.7), rng.uniform(0.12, 0.3)),
                _colour(rng.uniform(), rng.uniform(0.2, 0.7), rng.uniform(0.12, 0.3)),
            )
        else:
            pair = (
                _colour(rng.uniform(), rng.uniform(0.2, 0.8), rng.uniform(0.25, 0.8)),
                _colour(rng.uniform(), rng.uniform(0.2, 0.8), rng.uniform(0.25, 0.8)),
            )
        first, second = np.array(pair[0]), np.array(pair[1])
        weights = np.array([0.299, 0.587, 0.114])
        apart = (
            abs(float(weights @ (first - second))) if monochrome else float(np.linalg.norm(first - second))
        )
        if apart > (0.14 if monochrome else 0.12):
            return pair


def dressed_otherwise(rng: np.random.Generator, look: LookSettings) -> LookSettings:
    """Draw what makes soldiers hard to see, or to tell apart."""
    dye_spread = float(rng.uniform(0.0, 0.1))
    grass = _colour(rng.normal(0.36, 0.03), rng.normal(0.5, 0.12), rng.normal(0.35, 0.08))
    any_colour = _colour(rng.uniform(), rng.uniform(0.05, 0.8), rng.uniform(0.1, 0.9))
    base = (grass, any_colour, None)[int(rng.choice(3, p=_BASE_SHARES))]
    uniforms = [look.uniform_a, look.uniform_g]
    if rng.random() < _CAMOUFLAGED_SHARE:
        field = ground(look.board, look.finish)[int(rng.integers(2))]
        hue, saturation, value = colorsys.rgb_to_hsv(*field)
        uniforms[int(rng.integers(2))] = _colour(
            hue + rng.normal(0, 0.015), saturation * rng.uniform(0.75, 1.3), value * rng.uniform(0.6, 1.1)
        )
    return replace(look, uniform_a=uniforms[0], uniform_g=uniforms[1], base=base, dye_spread=dye_spread)


def _draw_look(rng: np.random.Generator, monochrome: bool, table: TableSettings) -> LookSettings:
    def dye(spread: float) -> Colour:
        middle = rng.uniform(0.55, 1.1)
        red, green, blue = (float(np.clip(middle + rng.normal(0, spread), 0.25, 1.2)) for _ in range(3))
        return red, green, blue

    dye_a = dye(0.12) if rng.random() < 0.7 else (1.0, 1.0, 1.0)
    dye_g = dye_a if rng.random() < 0.6 else dye(0.12)
    dark_ink = rng.random() < 0.75
    finish = Finish(
        dye_a=dye_a,
        dye_g=dye_g,
        dye_table=dye(0.08),
        ink=None
        if rng.random() < 0.5
        else _colour(
            rng.uniform(), rng.uniform(0, 0.5), rng.uniform(0.1, 0.3) if dark_ink else rng.uniform(0.7, 0.95)
        ),
        line_mm=float(rng.uniform(0.4, 1.8)),
        grain=float(rng.uniform(0.3, 2.2)),
        litter=int(rng.integers(5)),
        litter_seed=int(rng.integers(1 << 31)),
    )
    bearing, far_mm = rng.uniform(-math.pi, math.pi), rng.uniform(100.0, 1300.0)
    warmth = rng.uniform(-0.16, 0.16)
    bright = rng.uniform(0.42, 0.7)
    size, middle_mm = table.square_mm / _USUAL_SQUARE_MM, (table.width_mm / 2, table.length_mm / 2)
    key = Lamp(
        position_mm=(
            middle_mm[0] + size * far_mm * math.cos(bearing),
            middle_mm[1] + size * far_mm * math.sin(bearing),
            size * rng.uniform(700.0, 1600.0),
        ),
        colour=(bright * (1 + warmth), bright, bright * (1 - 1.3 * warmth)),
        radius_mm=float(rng.uniform(8.0, 140.0)),
    )
    fill = Lamp(
        position_mm=(
            middle_mm[0] + size * rng.normal(0, 700.0),
            middle_mm[1] + size * rng.normal(0, 700.0),
            size * rng.uniform(1100.0, 1800.0),
        ),
        colour=(0.18, 0.19, 0.2),
        casts_shadow=bool(rng.random() < 0.3),
        radius_mm=float(rng.uniform(40.0, 140.0)),
    )
    uniform_a, uniform_g = _uniforms(rng, monochrome)
    return LookSettings(
        board=list(BoardLook)[int(rng.integers(len(BoardLook)))],
        table=list(TableLook)[int(rng.integers(len(TableLook)))],
        finish=finish,
        uniform_a=uniform_a,
        uniform_g=uniform_g,
        painted=bool(rng.random() < 0.5),
        shot=_SHOTS[int(rng.integers(len(_SHOTS)))],
        lamps=(key, fill),
        ambient=float(rng.uniform(0.2, 0.45)),
        marker_size_mm=float(rng.choice([30.0, 34.0, 40.0])),
        markers=() if rng.random() < 0.12 else None,
    )


def on_painted_ground(seed: int, settings: CameraSettings, share: float) -> CameraSettings:
    """Paint the ground of a share of the boards."""
    rng = stream(seed, "painted")
    if rng.random() >= share:
        return settings
    finish = replace(settings.look.finish, painting_seed=int(rng.integers(1 << 31)))
    return replace(settings, look=replace(settings.look, finish=finish))


def packed_for_a_cable(seed: int, settings: CameraSettings, share: float) -> CameraSettings:
    """Let a share of the cameras pack their pictures as JPEG."""
    rng = stream(seed, "pictures over a cable")
    if rng.random() >= share:
        return settings
    return replace(settings, jpeg_quality=int(rng.integers(*_JPEG_QUALITIES)))


def draw_camera(
    rng: np.random.Generator, table: TableSettings, *, monochrome_share: float = _GREY_SHARE
) -> tuple[CameraSettings, Mapping[str, bool]]:
    """Draw a camera, all that it is shown, and what of it is told beforehand."""
    fps = float(rng.choice([60.0, 120.0, 120.0, 120.0, 200.0]))
    width_px, height_px = _SIZES_PX[int(rng.choice(len(_SIZES_PX), p=_SIZE_SHARES))]
    monochrome = bool(rng.random() < monochrome_share)
    look = _draw_look(rng, monochrome, table)
    tilted = rng.random() < 0.3
    lean, way = (
        (rng.uniform(math.radians(4.0), _STEEPEST_TILT_RAD) if tilted else abs(rng.normal(0, 0.04))),
        rng.uniform(-math.pi, math.pi),
    )
    turned = rng.random()
    roll_rad = float(rng.normal(0, 0.03)) + (math.pi if rng.random() < 0.3 else 0.0)
    if turned < 0.12:
        roll_rad += float(rng.normal(0, math.radians(12.0)))
    elif turned < 0.18:
        roll_rad = float(rng.uniform(-math.pi, math.pi))
    pose = Pose(
        aim_mm=(
            table.width_mm / 2 + float(rng.normal(0, 6.0)),
            table.length_mm / 2 + float(rng.normal(0, 10.0)),
        ),
        height_mm=float(rng.uniform(950.0, 1600.0)) * (table.square_mm / _USUAL_SQUARE_MM),
        tilt_rad=float(lean * math.cos(way)),
        pan_rad=float(lean * math.sin(way)),
        roll_rad=roll_rad,
    )
    bent = rng.random() < 0.6
    lens = Lens(
        width_px=width_px,
        height_px=height_px,
        focal_px=_fitting_focal_px(pose, look, table, width_px, height_px) * float(rng.uniform(0.94, 1.0)),
        centre_px=(
            (width_px - 1) / 2 + float(rng.normal(0, 4.0)),
            (height_px - 1) / 2 + float(rng.normal(0, 4.0)),
        )
        if bent
        else None,
        k1=float(rng.uniform(-0.2, 0.0)) if bent else 0.0,
        k2=float(rng.uniform(0.0, 0.05)) if bent else 0.0,
    )
    exposure_us = int(min(rng.choice([400, 700, 1000, 1500, 2000, 3000]), 0.6e6 / fps))
    settings = CameraSettings(
        fps=fps,
        exposure_us=exposure_us,
        pose=pose,
        lens=lens,
        blur_px=float(rng.uniform(0.4, 0.9)),
        monochrome=monochrome,
        sensor=SensorSettings(
            gamma=float(rng.uniform(1.8, 2.4)),
            brightness=float(rng.uniform(0.85, 1.7)),
            noise=float(rng.uniform(0.5, 2.0)),
            vignetting=float(rng.uniform(0.05, 0.4)),
        ),
        look=look,
        faults=CameraFaults(
            shake_px=float(rng.choice([0.0, 0.0, 0.5, 1.5])),
            flicker=float(rng.choice([0.0, 0.02, 0.05])),
            drop_probability=float(rng.choice([0.0, 0.0, 0.02])),
        ),
    )
    return settings, {
        "position": bool(rng.random() < 0.5),
        "lens": bool(rng.random() < 0.8),
        "exposure": bool(rng.random() < 0.6),
        "muzzle": bool(rng.random() < 0.8),
        "release": bool(rng.random() < 0.8),
    }


def _fitting_focal_px(
    pose: Pose, look: LookSettings, table: TableSettings, width_px: int, height_px: int
) -> float:
    """Return the longest focal length with the board and its markers in the picture."""
    end_mm = max(table.strip_mm, 12.0)
    corners = [(x, y) for x in (-12.0, table.width_mm + 12.0) for y in (-end_mm, table.length_mm + end_mm)]
    half_mm = 0.65 * look.marker_size_mm
    corners += [
        (marker.centre_mm[0] + dx, marker.centre_mm[1] + dy)
        for marker in placed_markers(look, table)
        for dx in (-half_mm, half_mm)
        for dy in (-half_mm, half_mm)
    ]
    points = np.array([(x, y, 0.0) for x, y in corners])
    unit = Lens(width_px=width_px, height_px=height_px, focal_px=1.0, centre_px=(0.0, 0.0))
    reach = np.abs(project_pinhole(pose, unit, points)).max(axis=0)
    return float(min((width_px / 2 - 8.0) / reach[0], (height_px / 2 - 8.0) / reach[1]))

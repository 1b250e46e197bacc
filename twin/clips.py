"""Labelled shots without end: a table, its light, its camera and a shot, all drawn from one number.

What a clip shows is drawn far beyond the looks that the demo has: boards of any colour, line and grain, some painted,
light from any side, long and soft shadows, figures of many makes, uniforms of one hue or of grey, colour and grey cameras
of any pose up to 15 degrees of tilt, three frame rates, shots of four colours. What is told about it varies as much: with
and without position, lens, markers, muzzle and time of release. Shots whose outcome people would argue about are drawn
again.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from game.montecassino import (
    ALL_SQUARES,
    BOARD_FILES,
    BOARD_ROWS,
    Position,
    Side,
    Square,
)
from twin.artwork import BoardLook, Finish, TableLook, ground
from twin.camera import Camera, CameraFaults, CameraSettings, Frame
from twin.optics import Lens, Pose, project, project_pinhole
from twin.physics import FALLEN_RAD, BodySettings, PhysicsError, ShotSettings
from twin.scene import CannonPose
from twin.sensor import SensorSettings
from twin.soldier import ALL_STANCES, MOST_LEAN, STANCES, USUAL, Build, Headgear
from twin.stage import Colour, Lamp, LookSettings, placed_markers
from twin.streams import stream
from twin.table import MOVED_MM, Table, TableSettings
from twin.truth import ShotTruth, Standing

__all__ = ["Clip", "Disorder", "Still", "film", "film_disorder", "photograph"]

_SQUARE_MM = 45.0
_WIDTH_MM, _LENGTH_MM = BOARD_FILES * _SQUARE_MM, BOARD_ROWS * _SQUARE_MM
_GRAVITY_MPS2 = 9.81
_STEP_US = 10_000
_STILL_MM = 0.02
_QUIET_US = 80_000
"""How long a clip goes on after the last soldier came to rest."""
_SHORTEST_US, _LONGEST_US = 350_000, 1_000_000
_TRIES = 60
_FEW_PICTURES = 3
_PUSH_SHARES = (0.2, 0.5, 0.3)
"""Of those that hands push: a nudge, aside, and off to another square."""
_POINT_BLANK_SHARE = 0.7
"""Of the shots at a table that is brought into disorder, those fired from close by at one soldier so that it falls against
another: of those that real shots push, many are leant on afterwards by who pushed them."""
_SMOOTH_FRICTIONS = (0.12, 0.45)
_NEIGHBOURS = (0.5, 1.4)
"""How far from each other two such stand, in heights."""
_POINT_BLANK_MM = (20.0, 45.0)
_TURNED_SHARE = 0.4
"""Of those that hands push, those that look any way afterwards: who is struck at the rim of its base spins."""
_GREY_SHARE = 0.15
_GREY_DISORDERS = 0.35
_PAINTED_CLIPS, _PAINTED_STILLS, _PAINTED_DISORDERS = 0.15, 0.5, 0.4
"""On how many boards the ground is painted."""
_OTHER_CLIPS, _OTHER_STILLS, _OTHER_DISORDERS = 0.2, 0.6, 0.6
"""On how many tables the figures are of another make than the demo's."""
_OTHER_HEIGHTS_MM = (20.0, 56.0)
"""How tall those are: of the scale of 1:87 up to 1:32."""
_BLOTCHED_SHARE = 0.35
"""Of those, on how many they wear blotched uniforms."""
_LITTERED_SHARE = 0.4
"""Of the stills, those on which shots were fired before."""
_MOST_SHOTS = 3
_CAMOUFLAGED_SHARE = 0.3
"""Of the stills, those on which one side wears the colour of a field."""
_BASE_SHARES = (0.35, 0.35, 0.3)
"""Of various looks, those with bases green as grass, of any colour, and as the uniform is."""
_FIELD_BASE_SHARE = 0.4
"""Of the stills, those on which bases have the colour of a field."""
_LEANING_RAD = math.radians(25.0)
"""So near to half-way nobody can say whether a soldier stands."""
_NOBODY_FELL_SHARE = 0.08
_ONE_FELL_SHARE = 0.2
_SHOTS: tuple[Colour, ...] = ((0.97, 0.96, 0.92), (0.95, 0.85, 0.2), (0.95, 0.45, 0.1), (0.07, 0.07, 0.08))
_SIZES_PX = ((1280, 720), (960, 600), (640, 400))
_SIZE_SHARES = (0.6, 0.2, 0.2)
_STEEPEST_TILT_RAD = math.radians(15.0)


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """One filmed shot."""

    keys: Mapping[str, Any]
    """recording.json but for the format, the clip's name and the times of the pictures."""
    frames: tuple[tuple[int, NDArray[np.uint8]], ...]
    """Time in us and picture, oldest first."""
    truth: ShotTruth
    """What happened; times on the same clock."""
    look: Mapping[str, Any]
    """What was drawn, for whoever wants to know where an eye fails."""


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """A few pictures of a table at rest, without any shot."""

    keys: Mapping[str, Any]
    """As a clip's; of the position, only who stands is told."""
    frames: tuple[tuple[int, NDArray[np.uint8]], ...]
    """Time in us and picture, oldest first."""
    standing: tuple[Standing, ...]
    """Who stands, and where it stands now."""
    lying: tuple[Square, ...]
    """The squares of those that lie on the table or beside it."""


@dataclass(frozen=True, slots=True, eq=False)
class Disorder:
    """A few pictures of a table, and a few of the same table in disorder."""

    keys: Mapping[str, Any]
    """As a clip's."""
    frames: tuple[tuple[int, NDArray[np.uint8]], ...]
    """Time in us and picture, oldest first: three of the table before, three of it after."""
    before: tuple[Standing, ...]
    after: tuple[Standing, ...]
    """Who still stands, and where."""

    def as_json(self) -> Mapping[str, Any]:
        """Return what ``truth.json`` of a recording tells: who stood, who fell, and who stands elsewhere."""
        stood = {each.square: each for each in self.before}
        standing = {each.square for each in self.after}
        return {
            "before": [each.as_json() for each in self.before],
            "falls": [
                {"side": str(each.side), "square": str(each.square)}
                for each in self.before
                if each.square not in standing
            ],
            "moved": [
                each.as_json()
                for each in self.after
                if math.hypot(each.x_mm - stood[each.square].x_mm, each.y_mm - stood[each.square].y_mm)
                > MOVED_MM
            ],
        }


def film(seed: int) -> Clip:
    """Film the shot of a seed; the same whenever asked.

    Raises
    ------
    RuntimeError
        If no clear shot was found in many tries, which no seed is known for.
    """
    rng = stream(seed, "clip")
    table_settings = _of_another_make(seed, _draw_table(rng), _OTHER_CLIPS)
    camera_settings, knowledge = _draw_camera(rng, table_settings)
    camera_settings = _on_painted_ground(seed, camera_settings, _PAINTED_CLIPS)
    camera_settings = _sewn_otherwise(seed, camera_settings, table_settings.bodies.build)
    for attempt in range(_TRIES):
        shot = _shoot(stream(seed, "shot of a clip", attempt), table_settings, camera_settings, seed, attempt)
        if shot is not None:
            return _told(shot, camera_settings, knowledge, rng)
    raise RuntimeError(f"no clear shot in {_TRIES} tries for seed {seed}")


def film_disorder(seed: int) -> Disorder:
    """Film a table at the start and after a few shots and hands have brought it into disorder.

    Such pictures tell who stands and who lies apart far more often than single shots, which fell two or three and seldom
    push anybody. Half of the tables look as various as stills do, and more of the cameras are grey than of those of clips.

    Raises
    ------
    RuntimeError
        If no table was found in many tries on which it is clear who stands, which no seed is known for.
    """
    rng = stream(seed, "disorder")
    table_settings = _on_smooth_board(seed, _of_another_make(seed, _draw_table(rng), _OTHER_DISORDERS))
    camera_settings, knowledge = _draw_camera(rng, table_settings, monochrome_share=_GREY_DISORDERS)
    if rng.random() < 0.5:
        camera_settings = replace(camera_settings, look=_dressed_otherwise(rng, camera_settings.look))
    camera_settings = _on_painted_ground(seed, camera_settings, _PAINTED_DISORDERS)
    camera_settings = _sewn_otherwise(seed, camera_settings, table_settings.bodies.build)
    for attempt in range(_TRIES):
        disorder = _bring_about(
            stream(seed, "shots of a disorder", attempt), table_settings, camera_settings, knowledge, seed
        )
        if disorder is not None:
            return disorder
    raise RuntimeError(f"no clear table in {_TRIES} tries for seed {seed}")


def photograph(seed: int) -> Still:
    """Picture a table at rest, without a shot: more various than clips are, at a fraction of their cost.

    Soldiers stand farther off their squares' middles, those of a side are not all of one dye, bases are painted, and
    uniforms or bases are of a field's colour now and then. On some, shots were fired before: soldiers lie about, and some that stand were pushed off their squares.

    Raises
    ------
    RuntimeError
        If no table was found in many tries on which it is clear who stands, which no seed is known for.
    """
    rng = stream(seed, "still")
    variety = stream(seed, "variety of stills")
    table_settings = replace(_draw_table(rng), placement_sd_mm=float(variety.uniform(0.8, 4.2)))
    table_settings = _of_another_make(seed, table_settings, _OTHER_STILLS)
    camera_settings, knowledge = _draw_camera(rng, table_settings)
    look = _dressed_otherwise(variety, camera_settings.look)
    if variety.random() < _FIELD_BASE_SHARE:
        look = replace(look, base=ground(look.board, look.finish)[int(variety.integers(2))])
    camera_settings = replace(camera_settings, look=look, faults=CameraFaults())
    camera_settings = _on_painted_ground(seed, camera_settings, _PAINTED_STILLS)
    camera_settings = _sewn_otherwise(seed, camera_settings, table_settings.bodies.build)
    shots = int(rng.integers(1, _MOST_SHOTS + 1)) if rng.random() < _LITTERED_SHARE else 0
    for attempt in range(_TRIES):
        arranged = _arrange(stream(seed, "table of a still", attempt), table_settings, shots, seed)
        if arranged is None:
            continue
        table, cannon = arranged
        camera = Camera(camera_settings, table, seed=seed)
        camera.advance(table.now_us + round((_FEW_PICTURES - 0.5) * 1e6 / camera_settings.fps))
        standing = table.standing()
        soldiers = {each.square: each.side for each in standing}
        keys = _keys(camera, camera_settings, knowledge, rng, cannon, soldiers, None)
        frames = tuple((frame.timestamp_us, frame.image) for frame in camera.poll())
        camera.close()
        return Still(keys, frames, standing, tuple(s for s in table.soldiers if s not in soldiers))
    raise RuntimeError(f"no clear table in {_TRIES} tries for seed {seed}")


# --- what is drawn


def _draw_table(rng: np.random.Generator) -> TableSettings:
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


def _of_another_make(seed: int, settings: TableSettings, share: float) -> TableSettings:
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


def _on_smooth_board(seed: int, settings: TableSettings) -> TableSettings:
    """Let soldiers slide more easily than the usual ones, so that who is fallen against is pushed oftener than felled."""
    friction = float(stream(seed, "smoothness").uniform(*_SMOOTH_FRICTIONS))
    bodies = replace(settings.bodies, soldier_friction=friction, board_friction=friction)
    return replace(settings, bodies=bodies)


def _sewn_otherwise(seed: int, settings: CameraSettings, build: Build) -> CameraSettings:
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


def _dressed_otherwise(rng: np.random.Generator, look: LookSettings) -> LookSettings:
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


def _draw_look(rng: np.random.Generator, monochrome: bool) -> LookSettings:
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
    key = Lamp(
        position_mm=(
            180.0 + far_mm * math.cos(bearing),
            405.0 + far_mm * math.sin(bearing),
            rng.uniform(700.0, 1600.0),
        ),
        colour=(bright * (1 + warmth), bright, bright * (1 - 1.3 * warmth)),
        radius_mm=float(rng.uniform(8.0, 140.0)),
    )
    fill = Lamp(
        position_mm=(180.0 + rng.normal(0, 700.0), 405.0 + rng.normal(0, 700.0), rng.uniform(1100.0, 1800.0)),
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


def _on_painted_ground(seed: int, settings: CameraSettings, share: float) -> CameraSettings:
    """Paint the ground of a share of the boards."""
    rng = stream(seed, "painted")
    if rng.random() >= share:
        return settings
    finish = replace(settings.look.finish, painting_seed=int(rng.integers(1 << 31)))
    return replace(settings, look=replace(settings.look, finish=finish))


def _draw_camera(
    rng: np.random.Generator, table: TableSettings, *, monochrome_share: float = _GREY_SHARE
) -> tuple[CameraSettings, Mapping[str, bool]]:
    fps = float(rng.choice([60.0, 120.0, 120.0, 120.0, 200.0]))
    width_px, height_px = _SIZES_PX[int(rng.choice(len(_SIZES_PX), p=_SIZE_SHARES))]
    monochrome = bool(rng.random() < monochrome_share)
    look = _draw_look(rng, monochrome)
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
        aim_mm=(_WIDTH_MM / 2 + float(rng.normal(0, 6.0)), _LENGTH_MM / 2 + float(rng.normal(0, 10.0))),
        height_mm=float(rng.uniform(950.0, 1600.0)),
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
    corners = [(x, y) for x in (-12.0, _WIDTH_MM + 12.0) for y in (-end_mm, _LENGTH_MM + end_mm)]
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


def _draw_soldiers(rng: np.random.Generator) -> dict[Square, Side]:
    """Draw a position: as at the start, in knots, or scattered; either side nearer its own base on the whole."""
    kind = rng.random()
    soldiers: dict[Square, Side] = {}
    for side in Side:
        if kind < 0.25:
            for number in range(1, 25):
                if rng.random() < 0.92:
                    soldiers[Square(side, number)] = side
            continue
        forward = rng.uniform(1.0, 8.0)
        middle = forward if side is Side.A else BOARD_ROWS - forward
        spread = 2.0 if kind < 0.65 else 4.0
        rows = np.array([square.centre_mm(_SQUARE_MM)[1] / _SQUARE_MM for square in ALL_SQUARES])
        weights = np.exp(-0.5 * ((rows - middle) / spread) ** 2) + 0.015
        count = int(rng.integers(4, 25))
        for index in rng.choice(len(ALL_SQUARES), size=count, replace=False, p=weights / weights.sum()):
            soldiers.setdefault(ALL_SQUARES[index], side)
    return soldiers


# --- what happens


@dataclass(frozen=True, slots=True, eq=False)
class _Shot:
    camera: Camera
    frames: list[Frame]
    truth: ShotTruth
    soldiers: dict[Square, Side]
    side: Side
    fire_us: int
    attempt: int


def _shoot(
    rng: np.random.Generator, table_settings: TableSettings, settings: CameraSettings, seed: int, attempt: int
) -> _Shot | None:
    """Fire once; None where the outcome is unclear, takes too long or is not worth a clip."""
    side = Side.A if rng.random() < 0.5 else Side.G
    soldiers = _draw_soldiers(rng)
    muzzle_mm, azimuth_rad, elevation_rad, speed_mps = _draw_aim(rng, table_settings, soldiers, side)
    fire_us = int(rng.integers(68_000, 90_000))
    fewest_falls = 2 - (rng.random() < _ONE_FELL_SHARE) - (rng.random() < _NOBODY_FELL_SHARE)
    if abs(azimuth_rad if side is Side.A else math.pi - abs(azimuth_rad)) > math.radians(50.0):
        return None
    table = Table(table_settings, soldiers, seed=seed)
    table.place_cannon(CannonPose(side, muzzle_mm, azimuth_rad, elevation_rad))
    camera = Camera(settings, table, seed=seed)
    camera.advance(fire_us)
    worthwhile_us = fire_us + _SHORTEST_US if fewest_falls else _LONGEST_US
    table.launch(muzzle_mm, azimuth_rad, elevation_rad, speed_mps, fire_us)
    moved_us = fire_us
    poses = table.arrangement()[1].poses
    try:
        while not table.at_rest and table.now_us < fire_us + _LONGEST_US + _QUIET_US:
            camera.advance(table.now_us + _STEP_US)
            now = table.arrangement()[1].poses
            if np.abs(now - poses).max() * 1e3 > _STILL_MM:
                moved_us, poses = table.now_us, now
            if moved_us == fire_us and table.now_us > worthwhile_us:
                return None
        end_us = max(fire_us + _SHORTEST_US, moved_us + _QUIET_US)
        while table.at_rest and table.now_us < end_us:
            camera.advance(table.now_us + _STEP_US)
        frames = [frame for frame in camera.poll() if frame.timestamp_us <= end_us]
        table.settle()
    except PhysicsError:
        return None
    truth = table.truth()
    late = moved_us > fire_us + _LONGEST_US or any(fall.at_us > moved_us for fall in truth.falls)
    if late or truth.unclear or len(truth.falls) < fewest_falls:
        camera.close()
        return None
    return _Shot(camera, frames, truth, soldiers, side, fire_us, attempt)


def _bring_about(
    rng: np.random.Generator,
    table_settings: TableSettings,
    settings: CameraSettings,
    knowledge: Mapping[str, bool],
    seed: int,
) -> Disorder | None:
    """Fire from both sides and push soldiers about; None where it is unclear who stands, or nobody fell."""
    soldiers = _draw_soldiers(rng)
    table = Table(table_settings, soldiers, seed=seed)
    camera = Camera(settings, table, seed=seed)
    few_us = round((_FEW_PICTURES + 0.5) * 1e6 / settings.fps)
    camera.advance(few_us)
    before = table.standing()
    for _ in range(int(rng.integers(1, _MOST_SHOTS + 2))):
        side = Side.A if rng.random() < 0.5 else Side.G
        aim = _draw_aim(rng, table_settings, soldiers, side)
        table.place_cannon(CannonPose(side, *aim[:3]))
        if rng.random() < _POINT_BLANK_SHARE:
            aim = _draw_point_blank(rng, table) or aim
        table.launch(*aim, table.now_us)
        try:
            while not table.at_rest:
                camera.advance(table.now_us + _STEP_US)
        except PhysicsError:
            camera.close()
            return None
    standing = {each.square for each in table.standing()}
    if len(standing) == len(before) or _somebody_leans(table):
        camera.close()
        return None
    _push_about(rng, table, [each for each in before if each.square not in standing])
    camera.advance(table.now_us + few_us)
    pictures = camera.poll()
    cannon = CannonPose(Side.A, (_WIDTH_MM / 2, -45.0, 50.0), 0.0, 0.0)
    keys = _keys(camera, settings, knowledge, rng, cannon, soldiers, None)
    frames = [
        (each.timestamp_us, each.image) for each in (*pictures[:_FEW_PICTURES], *pictures[-_FEW_PICTURES:])
    ]
    camera.close()
    return Disorder(keys, tuple(frames), before, table.standing())


def _arrange(
    rng: np.random.Generator, table_settings: TableSettings, shots: int, seed: int
) -> tuple[Table, CannonPose] | None:
    """Set up a table and fire so many shots at it; None where it is unclear who stands."""
    side = Side.A if rng.random() < 0.5 else Side.G
    soldiers = _draw_soldiers(rng)
    table = Table(table_settings, soldiers, seed=seed)
    muzzle_mm, azimuth_rad, elevation_rad, speed_mps = _draw_aim(rng, table_settings, soldiers, side)
    for _ in range(shots):
        table.launch(muzzle_mm, azimuth_rad, elevation_rad, speed_mps, table.now_us)
        try:
            table.settle()
        except PhysicsError:
            return None
        muzzle_mm, azimuth_rad, elevation_rad, speed_mps = _draw_aim(rng, table_settings, soldiers, side)
    cannon = CannonPose(side, muzzle_mm, azimuth_rad, elevation_rad)
    table.place_cannon(cannon)
    return None if _somebody_leans(table) else (table, cannon)


def _somebody_leans(table: Table) -> bool:
    """Whether of anybody it is unclear whether it stands or lies."""
    _, x, y, _ = table.arrangement()[1].poses[:, 3:].T
    lean_rad = np.arccos(np.clip(1 - 2 * (x**2 + y**2), -1.0, 1.0))
    return bool((np.abs(lean_rad - FALLEN_RAD) < _LEANING_RAD).any())


def _push_about(rng: np.random.Generator, table: Table, fallen: Sequence[Standing]) -> None:
    """Push some of those that stand, most of them near where one of the fallen stood."""
    lying = np.array([(each.x_mm, each.y_mm) for each in fallen])
    still = table.standing()
    away_mm = np.array([np.hypot(*(lying - (each.x_mm, each.y_mm)).T).min() for each in still])
    weight = np.exp(-away_mm / 50.0) + 0.01
    count = min(int(rng.integers(1, 6)), len(still))
    for index in rng.choice(len(still), size=count, replace=False, p=weight / weight.sum()):
        each = still[index]
        far_mm = rng.choice(
            [rng.uniform(0.0, 3.4), min(6.6 + rng.exponential(7.0), 30.0), rng.uniform(30.0, 90.0)],
            p=_PUSH_SHARES,
        )
        for way in rng.uniform(-math.pi, math.pi, 20):
            dx_mm, dy_mm = far_mm * math.cos(way), far_mm * math.sin(way)
            to_mm = (each.x_mm + dx_mm, each.y_mm + dy_mm)
            on_board = 0.0 < to_mm[0] < _WIDTH_MM and 0.0 < to_mm[1] < _LENGTH_MM
            if on_board and _is_free(table, each, to_mm):
                is_spun = rng.random() < _TURNED_SHARE
                turn_rad = rng.uniform(-math.pi, math.pi) if is_spun else rng.normal(0, 0.9)
                table.push(each.square, (dx_mm, dy_mm), turn_rad)
                break


def _is_free(table: Table, each: Standing, at_mm: tuple[float, float]) -> bool:
    """Whether a soldier could stand there: nobody's line from foot to head is in the way."""
    height_mm = table.settings.bodies.soldier_height_mm
    for pose in table.arrangement()[1].poses:
        foot_mm = pose[:2] * 1e3
        if np.hypot(*(foot_mm - (each.x_mm, each.y_mm))) < 1.0:
            continue
        w, x, y, z = pose[3:]
        along_mm = height_mm * 2 * np.array([x * z + w * y, y * z - w * x])
        off_mm = np.array(at_mm) - foot_mm
        share = np.clip(off_mm @ along_mm / max(float(along_mm @ along_mm), 1e-6), 0.0, 1.0)
        is_standing = np.hypot(*along_mm) < height_mm / 2
        if np.hypot(*(off_mm - share * along_mm)) < (0.5 if is_standing else 0.26) * height_mm:
            return False
    return True


def _draw_aim(
    rng: np.random.Generator, table: TableSettings, soldiers: Mapping[Square, Side], side: Side
) -> tuple[tuple[float, float, float], float, float, float]:
    """Draw muzzle, azimuth, elevation and speed of a shot at somebody, often the nearer ones' heads or feet."""
    beyond_mm = rng.uniform(30.0, 60.0)
    muzzle_mm = (
        float(rng.uniform(40.0, _WIDTH_MM - 40.0)),
        float(-beyond_mm if side is Side.A else _LENGTH_MM + beyond_mm),
        float(rng.uniform(40.0, 62.0)),
    )
    targets = sorted(square for square, who in soldiers.items() if who is not side) or sorted(soldiers)
    x_mm, y_mm = targets[int(rng.integers(len(targets)))].centre_mm(_SQUARE_MM)
    away_mm = math.hypot(x_mm - muzzle_mm[0], y_mm - muzzle_mm[1])
    speed_mps = float(rng.uniform(4.0, 7.0) if rng.random() < 0.25 else rng.uniform(7.0, 13.0))
    time_s = away_mm / 1e3 / speed_mps
    at_mm = float(rng.uniform(4.0, table.bodies.soldier_height_mm * 0.95))
    rise_m = (at_mm - muzzle_mm[2]) / 1e3 + 0.5 * _GRAVITY_MPS2 * time_s**2
    azimuth_rad = math.atan2(x_mm - muzzle_mm[0] + rng.normal(0, 8.0), y_mm - muzzle_mm[1])
    return muzzle_mm, azimuth_rad, math.atan2(rise_m, away_mm / 1e3), speed_mps


def _draw_point_blank(
    rng: np.random.Generator, table: Table
) -> tuple[tuple[float, float, float], float, float, float] | None:
    """Draw muzzle, azimuth, elevation and speed of a shot that throws somebody against another; None: there is no such pair."""
    height_mm = table.settings.bodies.soldier_height_mm
    feet_mm = np.array([(each.x_mm, each.y_mm) for each in table.standing()]).reshape(-1, 2)
    apart = np.hypot(*(feet_mm[:, None] - feet_mm[None]).transpose(2, 0, 1)) / height_mm
    pairs = np.argwhere((apart > _NEIGHBOURS[0]) & (apart < _NEIGHBOURS[1]))
    for struck, other in rng.permutation(pairs):
        way_mm = feet_mm[other] - feet_mm[struck]
        azimuth_rad = math.atan2(way_mm[0], way_mm[1]) + float(rng.normal(0, 0.25))
        along = np.array([math.sin(azimuth_rad), math.cos(azimuth_rad)])
        from_mm = feet_mm[struck] - (0.4 * height_mm + rng.uniform(*_POINT_BLANK_MM)) * along
        if np.delete(np.hypot(*(feet_mm - from_mm).T), struck).min() > 0.5 * height_mm:
            muzzle_mm = (float(from_mm[0]), float(from_mm[1]), float(rng.uniform(0.6, 0.95)) * height_mm)
            return muzzle_mm, azimuth_rad, 0.0, float(rng.uniform(4.0, 13.0))
    return None


# --- what is told about it


def _told(
    shot: _Shot, settings: CameraSettings, knowledge: Mapping[str, bool], rng: np.random.Generator
) -> Clip:
    camera, lens = shot.camera, settings.lens
    cannon = CannonPose(shot.side, shot.truth.muzzle_mm, shot.truth.azimuth_rad, shot.truth.elevation_rad)
    keys = _keys(camera, settings, knowledge, rng, cannon, shot.soldiers, shot.fire_us)
    frames = tuple((frame.timestamp_us, frame.image) for frame in shot.frames)
    camera.close()
    look, faults = settings.look, settings.faults
    return Clip(
        keys,
        frames,
        shot.truth,
        {
            "board": str(look.board),
            "table": str(look.table),
            "uniforms": [look.uniform_a, look.uniform_g],
            "painted": look.painted,
            "ground_painted": look.finish.painting_seed is not None,
            "shot": look.shot,
            "lamp_mm": look.lamps[0].position_mm,
            "lamp_radius_mm": look.lamps[0].radius_mm,
            "monochrome": settings.monochrome,
            "fps": settings.fps,
            "size": [lens.width_px, lens.height_px],
            "tilt_deg": math.degrees(math.hypot(settings.pose.tilt_rad, settings.pose.pan_rad)),
            "roll_deg": math.degrees(settings.pose.roll_rad),
            "shake_px": faults.shake_px,
            "drops": faults.drop_probability,
            "speed_mps": shot.truth.speed_mps,
            "attempt": shot.attempt,
        },
    )


def _keys(
    camera: Camera,
    settings: CameraSettings,
    knowledge: Mapping[str, bool],
    rng: np.random.Generator,
    cannon: CannonPose,
    soldiers: dict[Square, Side],
    fire_us: int | None,
) -> dict[str, Any]:
    lens = settings.lens
    corners = None
    if camera.markers is None:
        outline = np.array(
            [(0.0, 0.0, 0.0), (_WIDTH_MM, 0.0, 0.0), (_WIDTH_MM, _LENGTH_MM, 0.0), (0.0, _LENGTH_MM, 0.0)]
        )
        seen = project(settings.pose, lens, outline) + rng.normal(0, 0.3, (4, 2))
        corners = [[round(float(value), 1) for value in pixel] for pixel in seen]
    position = Position(
        turn=cannon.side,
        soldiers=soldiers,
        held=dict.fromkeys(Side, 0),
        shots_left=dict.fromkeys(Side, 5),
        retreated=frozenset(),
    )
    return {
        "camera": {
            "width": lens.width_px,
            "height": lens.height_px,
            "fps": settings.fps,
            "exposure_us": settings.exposure_us if knowledge["exposure"] else None,
            "intrinsics": camera.intrinsics if knowledge["lens"] else None,
            "distortion": camera.distortion if knowledge["lens"] else None,
        },
        "fire_us": fire_us if knowledge["release"] else None,
        "board": {"square_mm": _SQUARE_MM, "markers": camera.markers, "corners_px": corners},
        "cannon": {
            "side": str(cannon.side),
            "muzzle_mm": list(cannon.muzzle_mm) if knowledge["muzzle"] else None,
        },
        "position": str(position) if knowledge["position"] else None,
        "zone": str(rng.choice(["A01-A72,G01-G72", f"{cannon.side.enemy}25-{cannon.side.enemy}72"])),
        "option": str(rng.choice(["i", "ii", "iii"])),
    }

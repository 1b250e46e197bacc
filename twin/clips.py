"""Labelled shots without end: a table, its light, its camera and a shot, all drawn from one number.

What a clip shows is drawn far beyond the looks that the demo has: boards of any colour, line, grain and thickness, some
painted, some half as large or a third larger, light from any side, long and soft shadows, figures of many makes, uniforms
of one hue or of grey, colour and grey cameras of any pose up to 15 degrees of tilt, some of which pack their pictures,
three frame rates, shots of four colours. What is told about it varies as much: with and without position, lens, markers,
muzzle and time of release. Shots whose outcome people would argue about are drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from game.montecassino import (
    Position,
    Side,
    Square,
)
from twin.drawn_looks import (
    draw_camera,
    draw_table,
    dressed_otherwise,
    of_another_make,
    of_another_size,
    on_board_of_another_thickness,
    on_painted_ground,
    on_smooth_board,
    packed_for_a_cable,
    sewn_otherwise,
)
from twin.drawn_play import draw_aim, draw_point_blank, draw_soldiers, push_about, somebody_leans
from twin.physics import PhysicsError
from twin.pictures.artwork import ground
from twin.pictures.camera import Camera, CameraFaults, CameraSettings, Frame
from twin.pictures.optics import project
from twin.pictures.scene import CannonPose
from twin.streams import stream
from twin.table import MOVED_MM, Table, TableSettings
from twin.truth import ShotTruth, Standing

__all__ = ["Clip", "Disorder", "Still", "film", "film_disorder", "photograph"]

_STEP_US = 10_000
_STILL_MM = 0.02
_QUIET_US = 80_000
"""How long a clip goes on after the last soldier came to rest."""
_SHORTEST_US, _LONGEST_US = 350_000, 1_000_000
_TRIES = 200
_FEW_PICTURES = 3
_POINT_BLANK_SHARE = 0.7
"""Of the shots at a table that is brought into disorder, those fired from close by at one soldier so that it falls against
another: of those that real shots push, many are leant on afterwards by who pushed them."""
_GREY_DISORDERS = 0.35
_PAINTED_CLIPS, _PAINTED_STILLS, _PAINTED_DISORDERS = 0.15, 0.5, 0.4
"""On how many boards the ground is painted."""
_OTHER_CLIPS, _OTHER_STILLS, _OTHER_DISORDERS = 0.2, 0.6, 0.6
"""On how many tables the figures are of another make than the demo's."""
_OTHER_SIZES = 0.2
"""Of the clips, those of a smaller or larger table."""
_PACKED = 0.3
"""Of the clips, those whose pictures came over a cable."""
_OTHER_BOARDS = 0.5
"""On how many tables the board is thinner or thicker than the demo's."""
_LITTERED_SHARE = 0.4
"""Of the stills, those on which shots were fired before."""
_MOST_SHOTS = 3
_FIELD_BASE_SHARE = 0.4
"""Of the stills, those on which bases have the colour of a field."""
_NOBODY_FELL_SHARE = 0.08
_ONE_FELL_SHARE = 0.2


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
    table_settings = of_another_make(seed, draw_table(rng), _OTHER_CLIPS)
    table_settings = of_another_size(seed, table_settings, _OTHER_SIZES)
    table_settings = on_board_of_another_thickness(seed, table_settings, _OTHER_BOARDS)
    camera_settings, knowledge = draw_camera(rng, table_settings)
    camera_settings = packed_for_a_cable(seed, camera_settings, _PACKED)
    camera_settings = on_painted_ground(seed, camera_settings, _PAINTED_CLIPS)
    camera_settings = sewn_otherwise(seed, camera_settings, table_settings.bodies.build)
    for attempt in range(_TRIES):
        shot = _shoot(stream(seed, "shot of a clip", attempt), table_settings, camera_settings, seed, attempt)
        if shot is not None:
            return _told(shot, table_settings, camera_settings, knowledge, rng)
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
    table_settings = on_smooth_board(seed, of_another_make(seed, draw_table(rng), _OTHER_DISORDERS))
    table_settings = on_board_of_another_thickness(seed, table_settings, _OTHER_BOARDS)
    camera_settings, knowledge = draw_camera(rng, table_settings, monochrome_share=_GREY_DISORDERS)
    if rng.random() < 0.5:
        camera_settings = replace(camera_settings, look=dressed_otherwise(rng, camera_settings.look))
    camera_settings = on_painted_ground(seed, camera_settings, _PAINTED_DISORDERS)
    camera_settings = sewn_otherwise(seed, camera_settings, table_settings.bodies.build)
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
    uniforms or bases are of a field's colour now and then. On some, shots were fired before: soldiers lie about, and some
    that stand were pushed off their squares.

    Raises
    ------
    RuntimeError
        If no table was found in many tries on which it is clear who stands, which no seed is known for.
    """
    rng = stream(seed, "still")
    variety = stream(seed, "variety of stills")
    table_settings = replace(draw_table(rng), placement_sd_mm=float(variety.uniform(0.8, 4.2)))
    table_settings = of_another_make(seed, table_settings, _OTHER_STILLS)
    table_settings = on_board_of_another_thickness(seed, table_settings, _OTHER_BOARDS)
    camera_settings, knowledge = draw_camera(rng, table_settings)
    look = dressed_otherwise(variety, camera_settings.look)
    if variety.random() < _FIELD_BASE_SHARE:
        look = replace(look, base=ground(look.board, look.finish)[int(variety.integers(2))])
    camera_settings = replace(camera_settings, look=look, faults=CameraFaults())
    camera_settings = on_painted_ground(seed, camera_settings, _PAINTED_STILLS)
    camera_settings = sewn_otherwise(seed, camera_settings, table_settings.bodies.build)
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
        keys = _keys(camera, table_settings, camera_settings, knowledge, rng, cannon, soldiers, None)
        frames = tuple((frame.timestamp_us, frame.image) for frame in camera.poll())
        camera.close()
        return Still(keys, frames, standing, tuple(s for s in table.soldiers if s not in soldiers))
    raise RuntimeError(f"no clear table in {_TRIES} tries for seed {seed}")


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
    soldiers = draw_soldiers(rng)
    muzzle_mm, azimuth_rad, elevation_rad, speed_mps = draw_aim(rng, table_settings, soldiers, side)
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
                camera.close()
                return None
        end_us = max(fire_us + _SHORTEST_US, moved_us + _QUIET_US)
        while table.at_rest and table.now_us < end_us:
            camera.advance(table.now_us + _STEP_US)
        frames = [frame for frame in camera.poll() if frame.timestamp_us <= end_us]
        table.settle()
    except PhysicsError:
        camera.close()
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
    soldiers = draw_soldiers(rng)
    table = Table(table_settings, soldiers, seed=seed)
    camera = Camera(settings, table, seed=seed)
    few_us = round((_FEW_PICTURES + 0.5) * 1e6 / settings.fps)
    camera.advance(few_us)
    before = table.standing()
    for _ in range(int(rng.integers(1, _MOST_SHOTS + 2))):
        side = Side.A if rng.random() < 0.5 else Side.G
        aim = draw_aim(rng, table_settings, soldiers, side)
        table.place_cannon(CannonPose(side, *aim[:3]))
        if rng.random() < _POINT_BLANK_SHARE:
            aim = draw_point_blank(rng, table) or aim
        table.launch(*aim, table.now_us)
        try:
            while not table.at_rest:
                camera.advance(table.now_us + _STEP_US)
        except PhysicsError:
            camera.close()
            return None
    standing = {each.square for each in table.standing()}
    if len(standing) == len(before) or somebody_leans(table):
        camera.close()
        return None
    push_about(rng, table, [each for each in before if each.square not in standing])
    camera.advance(table.now_us + few_us)
    pictures = camera.poll()
    cannon = CannonPose(Side.A, (table_settings.width_mm / 2, -45.0, 50.0), 0.0, 0.0)
    keys = _keys(camera, table_settings, settings, knowledge, rng, cannon, soldiers, None)
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
    soldiers = draw_soldiers(rng)
    table = Table(table_settings, soldiers, seed=seed)
    muzzle_mm, azimuth_rad, elevation_rad, speed_mps = draw_aim(rng, table_settings, soldiers, side)
    for _ in range(shots):
        table.launch(muzzle_mm, azimuth_rad, elevation_rad, speed_mps, table.now_us)
        try:
            table.settle()
        except PhysicsError:
            return None
        muzzle_mm, azimuth_rad, elevation_rad, speed_mps = draw_aim(rng, table_settings, soldiers, side)
    cannon = CannonPose(side, muzzle_mm, azimuth_rad, elevation_rad)
    table.place_cannon(cannon)
    return None if somebody_leans(table) else (table, cannon)


def _told(
    shot: _Shot,
    table: TableSettings,
    settings: CameraSettings,
    knowledge: Mapping[str, bool],
    rng: np.random.Generator,
) -> Clip:
    camera, lens = shot.camera, settings.lens
    cannon = CannonPose(shot.side, shot.truth.muzzle_mm, shot.truth.azimuth_rad, shot.truth.elevation_rad)
    keys = _keys(camera, table, settings, knowledge, rng, cannon, shot.soldiers, shot.fire_us)
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
            "jpeg_quality": settings.jpeg_quality,
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
    table: TableSettings,
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
            [
                (0.0, 0.0, 0.0),
                (table.width_mm, 0.0, 0.0),
                (table.width_mm, table.length_mm, 0.0),
                (0.0, table.length_mm, 0.0),
            ]
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
        "board": {"square_mm": table.square_mm, "markers": camera.markers, "corners_px": corners},
        "cannon": {
            "side": str(cannon.side),
            "muzzle_mm": list(cannon.muzzle_mm) if knowledge["muzzle"] else None,
        },
        "position": str(position) if knowledge["position"] else None,
        "zone": str(rng.choice(["A01-A72,G01-G72", f"{cannon.side.enemy}25-{cannon.side.enemy}72"])),
        "option": str(rng.choice(["i", "ii", "iii"])),
    }

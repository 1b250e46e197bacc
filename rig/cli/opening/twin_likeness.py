"""A twin in the likeness of the table that `rig.toml` describes: the same board, camera, markers, cannon and servos.

What is said of a real table is then rehearsed on the twin as it stands, and `port.url` and `camera.source` are all that
lies between the two. What only shots can tell, how fast and how true the cannon shoots, is the twin's own.
"""

from __future__ import annotations

import math
from dataclasses import replace

from game.montecassino import Position
from rig.settings import Azimuth, Board, Camera, Cannon, Elevation, Settings, Traverse
from twin import TwinSettings
from twin.physics import BodySettings
from twin.pictures.camera import CameraFaults, CameraSettings
from twin.pictures.look import LookSettings, Marker
from twin.pictures.optics import Lens, Pose
from twin.plant import PlantSettings
from twin.plant.gate import GateSettings
from twin.plant.loader import LoaderSettings
from twin.plant.mount import MountSettings
from twin.plant.servo import NOMINAL_ENDS_US
from twin.table import TableSettings

__all__ = ["likeness"]

# The twin's own camera sees its own table: so much to either side of the middle along the board, ends and strips with it ...
_ALONG_MM = 470.0
# ... and across it, up to markers that lie farther out than its own.
_ACROSS_MM = 264.0


def likeness(settings: Settings, position: Position) -> TwinSettings:
    """Give the twin of a table, set up with a position.

    Its camera is as late as the delay that is taken off: what was learnt of a real camera then holds for it too.
    """
    board = settings.board
    bodies = BodySettings()
    grown = board.soldier_height_mm / bodies.soldier_height_mm
    table = TableSettings(
        square_mm=board.square_mm,
        # A figure of another height is as much wider and deeper.
        bodies=replace(
            bodies, soldier_height_mm=board.soldier_height_mm, soldier_mass_g=bodies.soldier_mass_g * grown**3
        ),
    )
    return TwinSettings(
        soldiers=position.soldiers,
        side=position.turn,
        table=table,
        camera=_camera(settings.camera, board, table),
        plant=_plant(settings.cannon),
    )


def _camera(camera: Camera, board: Board, table: TableSettings) -> CameraSettings:
    own = CameraSettings()
    lens = _lens(camera, own.lens)
    return replace(
        own,
        fps=camera.fps,
        exposure_us=camera.exposure_us or own.exposure_us,
        readout_us=camera.readout_us,
        lens=lens,
        pose=_pose(lens, board, table),
        look=_look(board),
        faults=CameraFaults(late_us=camera.delay_us),
    )


def _lens(camera: Camera, own: Lens) -> Lens:
    """Give the lens that was calibrated; where none was, one that sees as wide an angle as the twin's own."""
    fitting = replace(own, width_px=camera.width_px, height_px=camera.height_px)
    if camera.intrinsics_px is None:
        longer = max(camera.width_px, camera.height_px) / own.width_px
        return replace(fitting, focal_px=own.focal_px * longer)
    fx_px, fy_px, cx_px, cy_px = camera.intrinsics_px
    k1, k2, p1, p2, k3, k4, k5, k6 = (*(camera.distortion or ()), *(0.0,) * 8)[:8]
    return replace(
        fitting,
        focal_px=(fx_px + fy_px) / 2,
        centre_px=(cx_px, cy_px),
        k1=k1,
        k2=k2,
        p1=p1,
        p2=p2,
        k3=k3,
        k4=k4,
        k5=k5,
        k6=k6,
    )


def _pose(lens: Lens, board: Board, table: TableSettings) -> Pose:
    """Hang the camera over the middle, so high that board, strips and markers are in the picture, its long side along the board."""
    own, usual = Pose(), Lens()
    middle_mm = (table.width_mm / 2, table.length_mm / 2)
    half_mm = board.marker_size_mm / 2
    markers_mm = board.marker_centres_mm.values()
    across_mm = max(middle_mm[0], *(abs(x_mm - middle_mm[0]) + half_mm for x_mm, _ in markers_mm))
    along_mm = max(
        middle_mm[1] + table.strip_mm, *(abs(y_mm - middle_mm[1]) + half_mm for _, y_mm in markers_mm)
    )
    short_px, long_px = sorted((lens.width_px, lens.height_px))
    farther = max(
        along_mm / _ALONG_MM * usual.width_px / long_px, across_mm / _ACROSS_MM * usual.height_px / short_px
    )
    return replace(
        own,
        aim_mm=middle_mm,
        height_mm=own.height_mm * farther * lens.focal_px / usual.focal_px,
        roll_rad=math.pi / 2 if lens.height_px > lens.width_px else 0.0,
    )


def _look(board: Board) -> LookSettings:
    if board == Board():
        return LookSettings()
    markers = tuple(
        Marker(number=int(name), centre_mm=centre_mm) for name, centre_mm in board.marker_centres_mm.items()
    )
    return LookSettings(
        marker_dictionary=board.marker_dictionary, marker_size_mm=board.marker_size_mm, markers=markers
    )


def _plant(cannon: Cannon) -> PlantSettings:
    own = PlantSettings()
    draw, latch = cannon.draw, cannon.latch
    return replace(
        own,
        mount=MountSettings(
            strip_offset_mm=cannon.strip_offset_mm,
            pivot_height_mm=cannon.muzzle_height_mm,
            barrel_length_mm=cannon.barrel_length_mm,
        ),
        traverse=replace(own.traverse, ends_us=_ends_us(cannon.traverse)),
        azimuth=replace(own.azimuth, ends_us=_ends_us(cannon.azimuth)),
        elevation=replace(own.elevation, ends_us=_ends_us(cannon.elevation)),
        draw=replace(own.draw, ends_us=(float(draw.rest_us), float(draw.breech_us))),
        latch=replace(own.latch, ends_us=(float(latch.free_us), float(latch.lubricate_us))),
        gate=GateSettings(spacing_mm=cannon.gate_spacing_mm),
        loader=LoaderSettings(fitted=cannon.loader),
    )


def _ends_us(axis: Traverse | Azimuth | Elevation) -> tuple[float, float]:
    """Give the pulses that bring an axis to where the twin's mount has its two ends.

    The settings that nobody changed describe that mount, so that an axis stands at its end where these would put it.
    """
    own = type(axis)()
    steeper, ahead_us = _slope(axis) / _slope(own), _slope(axis) * (_centre(axis) - _centre(own))
    low_us, high_us = (
        axis.centre_us + steeper * (end_us - own.centre_us) - ahead_us for end_us in NOMINAL_ENDS_US
    )
    return low_us, high_us


def _slope(axis: Traverse | Azimuth | Elevation) -> float:
    return axis.us_per_mm if isinstance(axis, Traverse) else axis.us_per_rad


def _centre(axis: Traverse | Azimuth | Elevation) -> float:
    return axis.centre_mm if isinstance(axis, Traverse) else axis.at_centre_rad()

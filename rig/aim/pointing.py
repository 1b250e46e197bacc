"""From a square to servo pulses: the settings' cannon, handed to calibration."""

from dataclasses import dataclass, replace
from typing import assert_never

from calibration.aim import Aim, Arc, Cannon, Limits, NoAim, Strip, body_point_m, solve
from calibration.fit import Parameter
from calibration.flight import Projectile
from calibration.servo import ServoMap
from game.montecassino import BOARD_FILES, BOARD_ROWS, Side, Square
from rig import settings
from rig.calibrating.calibration_file import calibration_of

__all__ = ["AimedShot", "TargetOutOfReach", "aim_at", "cannon_of", "pulses_us"]


class TargetOutOfReach(Exception):
    """The cannon cannot be pointed at the target."""

    def __init__(self, target: Square, reason: NoAim) -> None:
        self.target = target
        self.reason = reason
        super().__init__(f"{target} cannot be aimed at: {reason}")


@dataclass(frozen=True, slots=True)
class AimedShot:
    """Where to point the cannon, and the pulses that point it there."""

    target_mm: tuple[float, float, float]
    """Point aimed at, board frame."""
    aim: Aim
    traverse_us: float
    azimuth_us: float
    elevation_us: float

    @property
    def muzzle_mm(self) -> tuple[float, float, float]:
        """The muzzle when the axes are there, board frame."""
        x_m, y_m, z_m = self.aim.muzzle_m
        return 1000 * x_m, 1000 * y_m, 1000 * z_m


def aim_at(
    target: Square,
    side: Side,
    cannon: settings.Cannon,
    board: settings.Board,
    *,
    foot_mm: tuple[float, float] | None = None,
    arc: Arc = Arc.DIRECT,
    shots_before: int | None = None,
) -> AimedShot:
    """Aim the cannon of a side at the body of a soldier on a square.

    Parameters
    ----------
    target
        The square.
    side
        Who fires.
    cannon, board
        The settings.
    foot_mm
        Where on the square the soldier really stands, as the camera saw it; its centre by default.
    arc
        The flatter path or the steeper one.
    shots_before
        As for `cannon_of`.

    Raises
    ------
    TargetOutOfReach
        Where the cannon cannot reach it; the reason says by how much.
    """
    x_mm, y_mm = foot_mm or target.centre_mm(board.square_mm)
    target_m = body_point_m(x_mm / 1000, y_mm / 1000, board.soldier_height_mm / 1000)
    solution = solve(cannon_of(side, cannon, board, shots_before=shots_before), target_m, arc)
    match solution:
        case NoAim():
            raise TargetOutOfReach(target, solution)
        case Aim():
            traverse_us, azimuth_us, elevation_us = pulses_us(
                cannon, solution.traverse_m, solution.azimuth_rad, solution.elevation_rad
            )
            return AimedShot(
                target_mm=(1000 * target_m[0], 1000 * target_m[1], 1000 * target_m[2]),
                aim=solution,
                traverse_us=traverse_us,
                azimuth_us=azimuth_us,
                elevation_us=elevation_us,
            )
        case _:
            assert_never(solution)


def pulses_us(
    cannon: settings.Cannon, traverse_m: float, azimuth_rad: float, elevation_rad: float
) -> tuple[float, float, float]:
    """Return the pulses that point the cannon's axes there: traverse, azimuth, elevation.

    Raises
    ------
    calibration.servo.ServoRangeError
        Where an axis cannot go there.
    """
    traverse, azimuth, elevation = _servos(cannon)
    return traverse.pulse_us(traverse_m), azimuth.pulse_us(azimuth_rad), elevation.pulse_us(elevation_rad)


def _servos(cannon: settings.Cannon) -> tuple[ServoMap, ServoMap, ServoMap]:
    """Return the maps of traverse (m), azimuth and elevation (rad). A map's 0 need not lie within its limits."""
    traverse, azimuth, elevation = cannon.traverse, cannon.azimuth, cannon.elevation
    maps = (
        ServoMap(
            centre_us=traverse.centre_us - traverse.us_per_mm * traverse.centre_mm,
            gain_us_per_unit=1000 * traverse.us_per_mm,
            minimum_us=traverse.min_us,
            maximum_us=traverse.max_us,
        ),
        ServoMap(azimuth.centre_us, azimuth.us_per_rad, azimuth.min_us, azimuth.max_us),
        ServoMap(
            centre_us=elevation.centre_us - elevation.us_per_rad * elevation.centre_rad,
            gain_us_per_unit=elevation.us_per_rad,
            minimum_us=elevation.min_us,
            maximum_us=elevation.max_us,
        ),
    )
    calibrated = calibration_of(cannon)
    if calibrated is None:
        return maps
    known = calibrated.calibration
    return (
        maps[0],
        # A cannon that stands turned points past where its azimuth says by so much.
        maps[1].corrected(
            at=known.mount.azimuth_centre_rad,
            offset=known.approached_offset_rad(Parameter.AZIMUTH_OFFSET, azimuth.approach)
            + known.value(Parameter.YAW),
            gain=known.value(Parameter.AZIMUTH_GAIN),
        ),
        maps[2].corrected(
            at=known.mount.elevation_centre_rad,
            offset=known.approached_offset_rad(Parameter.ELEVATION_OFFSET, elevation.approach),
            gain=known.value(Parameter.ELEVATION_GAIN),
        ),
    )


def cannon_of(
    side: Side, cannon: settings.Cannon, board: settings.Board, *, shots_before: int | None = None
) -> Cannon:
    """Return the cannon of a side as calibration knows one.

    Parameters
    ----------
    side
        Who fires.
    cannon, board
        The settings.
    shots_before
        How worn the spring is to be taken for, `rig.calibrating.spring.Spring.shots_before`; by default, as usual in the shots
        of the calibration.
    """
    servos = _servos(cannon)
    square_m = board.square_mm / 1000
    muzzle_speed_mps, drag_per_m = cannon.muzzle_speed_mps, Projectile().drag_per_m()
    right_m = ahead_m = 0.0
    calibrated = calibration_of(cannon)
    if calibrated is not None:
        known = calibrated.calibration
        # Aim reckons with standard gravity: at this speed the shot flies the path that it flies here.
        muzzle_speed_mps = known.muzzle_speed_mps(shots_before=shots_before) * known.mount.path_speed_share
        drag_per_m = known.value(Parameter.DRAG)
        right_m, ahead_m = known.value(Parameter.PLACE_RIGHT), known.value(Parameter.PLACE_AHEAD)
    strip = Strip.of_side(side, BOARD_FILES * square_m, BOARD_ROWS * square_m, cannon.strip_offset_mm / 1000)
    left_x_m, y_m = strip.to_board(right_m, ahead_m)
    return Cannon(
        strip=replace(strip, left_x_m=left_x_m, y_m=y_m),
        muzzle_speed_mps=muzzle_speed_mps,
        drag_per_m=drag_per_m,
        pivot_height_m=cannon.muzzle_height_mm / 1000,
        barrel_m=cannon.barrel_length_mm / 1000,
        traverse_m=Limits(*servos[0].limits),
        azimuth_rad=Limits(*servos[1].limits),
        elevation_rad=Limits(*servos[2].limits),
    )

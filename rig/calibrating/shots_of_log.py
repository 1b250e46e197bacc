"""Shots of a cannon as the log has them: how many, their speeds by the muzzle gate, and where on the board they fell.

A log may hold shots of more than one cannon: each side's own, and the twin's. They are told apart by what the settings say of the
cannon: the sides that it fires for, and whether it is the twin.

The settings may have changed since a shot was fired. Where it fell, and from which side an axis came to its aim, is told by the
settings of its own session. A fit has one mount for all its shots, the one of now: shots that were fired with another are taken where
they are named, as where it was only measured better since, and left out where all are asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from calibration.aim import Strip
from calibration.fit import MeasuredShot
from game.montecassino import BOARD_FILES, BOARD_ROWS
from rig.calibrating.calibration_file import CalibrationFile
from rig.calibrating.shots_file import SHOT_RADIUS_M, ShotsFileError
from rig.files.checked_file import Fault
from rig.log import Session, Shot, ShotLog
from rig.settings import TWIN, Azimuth, Cannon, Elevation, Settings

__all__ = ["LoggedShots", "of_another_cannon", "shots_of_log"]


@dataclass(frozen=True, slots=True)
class LoggedShots:
    """Shots of the log for a calibration."""

    shots: tuple[MeasuredShot, ...]
    fired: int
    """How many shots the spring had fired after the last one in the log, counted as their `shots_before` are."""
    left_out: tuple[Fault, ...] = ()
    """What else could have been taken, were the cannon mounted now as it was then."""


def of_another_cannon(port: str, side: str, settings: Settings) -> tuple[str, str] | None:
    """Say of a shot what was found and what expected where another cannon fired it than the settings describe; else None.

    Parameters
    ----------
    port
        Of the session that it was fired in.
    side
        That fired it.
    settings
        All of `rig.toml`.
    """
    sides = settings.cannon.sides
    if (port == TWIN) != (settings.port.url == TWIN):
        return f"fired at {port}", f"a shot at {settings.port.url}, as [port] url says"
    if side not in sides:
        return f"fired by {side}", f"a shot by {' or '.join(sides)}, as [cannon] sides says"
    return None


def shots_of_log(
    log: ShotLog, settings: Settings, wanted: Collection[int] | None, known: CalibrationFile | None
) -> LoggedShots:
    """Return the logged shots of this cannon whose speed the muzzle gate timed, as they were set.

    Parameters
    ----------
    log : ShotLog
        Of this table.
    settings : Settings
        All of `rig.toml`: which cannon it is, and where it stands.
    wanted : collection of int, optional
        Numbers of those to take; all of this cannon by default.
    known : CalibrationFile, optional
        By which the rig aims now.

    Raises
    ------
    ShotsFileError
        A wanted shot is not there, was not timed, was fired by another cannon or aimed by another calibration; where all are wanted,
        every one of them was fired when the cannon was mounted otherwise.
    LogError
        Where the log cannot be read.
    """
    shots = log.shots()
    # Read after the shots: of each of them the session was begun before.
    sessions = {session.session_id: session for session in log.sessions()}
    faults = _not_there(wanted or (), [shot.shot_id for shot in shots])
    fired = last_session_id = 0
    taken: list[MeasuredShot] = []
    otherwise: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for shot in shots:
        session = sessions[shot.session_id]
        named = wanted is not None and shot.shot_id in wanted
        of_another = of_another_cannon(session.port, shot.planned.side, settings)
        if of_another is not None:
            faults += [Fault(f"shot {shot.shot_id}", *of_another)] if named else []
            continue
        if session.port == TWIN and session.session_id != last_session_id:
            fired = 0  # its spring is new with every session
        last_session_id = session.session_id
        shots_before, fired = fired, fired + (shot.muzzle_gate is not None)
        if wanted is not None and not named:
            continue
        if (tells_nothing := _tells_nothing(shot, known)) is not None:
            faults += [tells_nothing] if named else []
            continue
        mounted_otherwise = _mounted_otherwise(session, settings.cannon)
        if mounted_otherwise is not None and not named:
            otherwise[mounted_otherwise].append(shot.shot_id)
            continue
        taken.append(_measured(shot, session, shots_before, settings, known))
    of_other_mounts = [
        Fault(
            f"shot{'' if len(numbers) == 1 else 's'} {_in_runs(numbers)}",
            found,
            expected,
            hint="a calibration is of one mount; where it was only measured better since, name them",
        )
        for (found, expected), numbers in otherwise.items()
    ]
    if not taken:
        faults += of_other_mounts
    if faults:
        raise ShotsFileError("the log", faults)
    return LoggedShots(tuple(taken), fired, tuple(of_other_mounts))


def _not_there(wanted: Collection[int], has: Sequence[int]) -> list[Fault]:
    """Say which of the wanted shots the log does not have, in one fault, or none."""
    missing = sorted(set(wanted).difference(has))
    if not missing:
        return []
    one = len(missing) == 1
    return [
        Fault(
            f"shot{'' if one else 's'} {_in_runs(missing)}",
            "nothing",
            f"{'a shot' if one else 'shots'} of the log, which has {_in_runs(has) or 'none'}",
        )
    ]


def _tells_nothing(shot: Shot, known: CalibrationFile | None) -> Fault | None:
    """Say why a shot of this cannon tells a fit nothing: not timed, or aimed by a calibration that is not known; else None."""
    if shot.aim is None or shot.muzzle_gate is None or shot.muzzle_gate.muzzle_speed_mps is None:
        return Fault(f"shot {shot.shot_id}", "no speed by the muzzle gate", "a shot that was timed")
    by = shot.aim.calibration
    if by and (known is None or by != known.identity):
        return Fault(
            f"shot {shot.shot_id}",
            f"aimed by the calibration {by}",
            "shots aimed without one, or by the one that the settings name",
        )
    return None


def _measured(
    shot: Shot, session: Session, shots_before: int, settings: Settings, known: CalibrationFile | None
) -> MeasuredShot:
    """Give a timed shot as it was set: where a calibration had aimed it, by what that took the cannon to do."""
    aim, gate, cannon = shot.aim, shot.muzzle_gate, settings.cannon
    assert aim is not None and gate is not None
    elevation_rad, azimuth_rad = aim.elevation_rad, aim.azimuth_rad
    elevation_approach = _approach(session, "elevation", cannon.elevation)
    azimuth_approach = _approach(session, "azimuth", cannon.azimuth)
    if known is not None and aim.calibration:
        elevation_rad = known.calibration.set_elevation_rad(elevation_rad, elevation_approach)
        azimuth_rad = known.calibration.set_azimuth_rad(azimuth_rad, azimuth_approach)
    return MeasuredShot(
        name=f"shot {shot.shot_id}",
        elevation_rad=elevation_rad,
        azimuth_rad=azimuth_rad,
        traverse_m=aim.traverse_mm / 1000,
        elevation_approach=elevation_approach,
        azimuth_approach=azimuth_approach,
        shots_before=shots_before,
        dwell_s=shot.dwell_s or 0.0,
        fall_height_m=SHOT_RADIUS_M,
        gate_speed_mps=gate.muzzle_speed_mps,
        fell_m=_fell_m(shot, session, settings),
    )


def _mounted_otherwise(session: Session, cannon: Cannon) -> tuple[str, str] | None:
    """Say what was found and what expected where a session had another mount than the settings have now; else None."""
    now = {
        ("muzzle_height_mm",): cannon.muzzle_height_mm,
        ("barrel_length_mm",): cannon.barrel_length_mm,
        ("elevation", "centre_rad"): cannon.elevation.centre_rad,
    }
    then = {keys: session.number("cannon", *keys) for keys in now}
    other = [keys for keys, value in then.items() if value is not None and value != now[keys]]
    if not other:
        return None
    was, due = (
        " and ".join(f"{'.'.join(keys)} {values[keys]:g}" for keys in other) for values in (then, now)
    )
    return f"fired with {was}", f"{due}, as [cannon] says now"


def _approach(session: Session, name: str, now: Azimuth | Elevation) -> int:
    """Tell from which side an axis came to its aims in a session; where its log does not tell, as the settings have it now."""
    us_per_rad = session.number("cannon", name, "us_per_rad")
    return now.model_copy(update={"us_per_rad": us_per_rad}).approach if us_per_rad else now.approach


def _in_runs(numbers: Sequence[int]) -> str:
    """Write rising numbers as they are typed.

    >>> _in_runs([1, 2, 3, 5, 8, 9])
    '1-3,5,8-9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def _fell_m(shot: Shot, session: Session, now: Settings) -> tuple[float, float] | None:
    """Return where a shot that touched no soldier first met the board, as its shooter saw it.

    Where the log of its session does not tell of the table, it is taken to be as it is now.
    """
    if not shot.analyses:
        return None
    last = shot.analyses[-1]
    where_mm = last.raw.get("first_contact_mm")
    # What it met first may be a soldier, and is for certain only where none fell and none was pushed.
    if last.falls or last.moved or not isinstance(where_mm, list) or len(where_mm) != 2:
        return None
    square_mm, offset_mm = session.number("board", "square_mm"), session.number("cannon", "strip_offset_mm")
    square_m = (now.board.square_mm if square_mm is None else square_mm) / 1000
    offset_m = (now.cannon.strip_offset_mm if offset_mm is None else offset_mm) / 1000
    strip = Strip.of_side(shot.planned.side, BOARD_FILES * square_m, BOARD_ROWS * square_m, offset_m)
    return strip.from_board(float(where_mm[0]) / 1000, float(where_mm[1]) / 1000)

"""Shots for a calibration, as the log has them: their speeds by the muzzle gate, and where on the board they fell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from calibration.aim import Strip
from calibration.fit import MeasuredShot
from rig.calibrating.calibration_file import CalibrationFile
from rig.calibrating.shots_file import SHOT_RADIUS_M, ShotsFileError
from rig.files.checked_file import Fault
from rig.log import Shot

__all__ = ["shots_of_log", "shots_seen"]


def shots_seen(shots: Iterable[Shot]) -> int:
    """Count the shots that the muzzle gate saw leave: so often the spring ran, as far as that is certain."""
    return sum(shot.muzzle_gate is not None for shot in shots)


def shots_of_log(
    shots: Sequence[Shot],
    wanted: Collection[int] | None,
    known: CalibrationFile | None,
    strips: Mapping[str, Strip],
    *,
    elevation_approach: int,
    azimuth_approach: int,
) -> Iterator[MeasuredShot]:
    """Yield the logged shots whose speed the muzzle gate timed, as they were set.

    Parameters
    ----------
    shots : sequence of Shot
        All of the log, oldest first.
    wanted : collection of int, optional
        Numbers of those to take; all by default.
    known : CalibrationFile, optional
        By which the rig aims now.
    strips : mapping of str to Strip
        Where the settings put the cannon of each side, "A" and "G".
    elevation_approach, azimuth_approach : int
        From which side the settings' axes come to an aim, as in `MeasuredShot`.

    Raises
    ------
    ShotsFileError
        A wanted shot is not there, was not timed, or was aimed by another calibration.
    """
    faults: list[Fault] = []
    found = {shot.shot_id for shot in shots}
    for number in sorted(set(wanted or ()) - found):
        faults.append(Fault(f"shot {number}", "nothing", "a shot of the log"))
    before = 0
    taken: list[MeasuredShot] = []
    for shot in shots:
        gate, aim = shot.muzzle_gate, shot.aim
        count, before = before, before + (gate is not None)
        if wanted is not None and shot.shot_id not in wanted:
            continue
        speed_mps = None if gate is None else gate.muzzle_speed_mps
        if aim is None or speed_mps is None:
            if wanted is not None:
                faults.append(
                    Fault(f"shot {shot.shot_id}", "no speed by the muzzle gate", "a shot that was timed")
                )
            continue
        if aim.calibration and (known is None or aim.calibration != known.identity):
            if wanted is not None:
                faults.append(
                    Fault(
                        f"shot {shot.shot_id}",
                        f"aimed by the calibration {aim.calibration}",
                        "shots aimed without one, or by the one that the settings name",
                    )
                )
            continue
        by = known.calibration if known is not None and aim.calibration else None
        elevation_rad, azimuth_rad = aim.elevation_rad, aim.azimuth_rad
        if by is not None:
            elevation_rad = by.set_elevation_rad(elevation_rad, elevation_approach)
            azimuth_rad = by.set_azimuth_rad(azimuth_rad, azimuth_approach)
        taken.append(
            MeasuredShot(
                name=f"shot {shot.shot_id}",
                elevation_rad=elevation_rad,
                azimuth_rad=azimuth_rad,
                traverse_m=aim.traverse_mm / 1000,
                elevation_approach=elevation_approach,
                azimuth_approach=azimuth_approach,
                shots_before=count,
                dwell_s=shot.dwell_s or 0.0,
                fall_height_m=SHOT_RADIUS_M,
                gate_speed_mps=speed_mps,
                fell_m=_fell_m(shot, strips),
            )
        )
    if faults:
        raise ShotsFileError("the log", faults)
    yield from taken


def _fell_m(shot: Shot, strips: Mapping[str, Strip]) -> tuple[float, float] | None:
    """Return where a shot that touched no soldier first met the board, as its shooter sees it."""
    if not shot.analyses:
        return None
    last = shot.analyses[-1]
    where_mm = last.raw.get("first_contact_mm")
    # What it met first may be a soldier, and is for certain only where none fell and none was pushed.
    if last.falls or last.moved or not isinstance(where_mm, list) or len(where_mm) != 2:
        return None
    return strips[shot.planned.side].from_board(float(where_mm[0]) / 1000, float(where_mm[1]) / 1000)

"""What `rig calibrate` takes as measured: ranges typed in, a file, shots of the log; what cannot be meant is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import typer
from numpy.typing import NDArray

from calibration.fit import ASSUMED, Assumption, MeasuredShot, Mount, Parameter
from calibration.fit.units import METRES, doubt_about_units
from calibration.hodograph import cross
from rig.calibrating.calibration_file import CalibrationFile
from rig.calibrating.shots_file import ShotsFile, read_shots, shots_of_tape
from rig.calibrating.shots_of_log import shots_of_log
from rig.cli.application import RefusedError
from rig.cli.arguments.options import open_log_to_read
from rig.files.checked_file import Fault
from rig.files.length_unit import LengthUnit
from rig.settings import Settings

__all__ = [
    "are_in_radians",
    "assumed_by",
    "expected_ranges_m",
    "measured_shots",
    "mount_by",
    "refuse_odd_elevation",
    "refuse_odd_floor",
    "refuse_other_units",
]

_MOST_SHOTS = 100_000  # more than any log has
_NEAR = 1.5
"""Ranges as near as this to the expected ones, by their ratio, were shot as is supposed."""
_FAR_OFF = 3.0
"""Ranges that are more, or less, than the expected ones by this factor were not."""
# Of shot numbers, with more digits than any log counts to.
_RUN = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)


def measured_shots(
    settings: Settings,
    settings_file: Path,
    known: CalibrationFile | None,
    *,
    tape: str | None,
    csv: Path | None,
    shots: str | None,
    elevation_deg: float | None,
    unit: LengthUnit | None,
    floor_mm: float,
    skip_bad_rows: bool,
) -> Iterator[ShotsFile]:
    """Yield the shots of every source named.

    Parameters
    ----------
    settings, settings_file
        The settings, and where they stand: they name the log.
    known
        The calibration that the rig aims by now.
    tape, csv, shots, elevation_deg, unit, floor_mm, skip_bad_rows
        As `rig calibrate range` was given them.
    """
    if tape is None and csv is None and shots is None:
        raise typer.BadParameter("give what was measured: --tape, --csv or --shots")
    refuse_odd_floor(floor_mm)
    if elevation_deg is not None:
        refuse_odd_elevation(elevation_deg)
    elevation_rad = None if elevation_deg is None else math.radians(elevation_deg)
    logged: tuple[MeasuredShot, ...] = ()
    seen = 0
    left_out: tuple[Fault, ...] = ()
    if shots is not None:
        wanted = _numbers(shots)
        with open_log_to_read(settings_file) as log:
            found = shots_of_log(log, settings, wanted, known)
        logged, seen, left_out = found.shots, found.fired, found.left_out
    if tape is not None:
        if not logged and elevation_rad is None:
            raise typer.BadParameter(
                "say at which elevation the ranges were shot: --elevation, or --shots of the log"
            )
        if logged and elevation_rad is not None:
            raise typer.BadParameter("--elevation is known from the log's shots; give only one of both")
        taped = shots_of_tape(
            tape,
            unit or LengthUnit.CM,
            elevation_rad=elevation_rad,
            floor_m=floor_mm / 1000,
            fired=logged,
            logged=seen,
        )
        yield replace(taped, skipped=left_out)
    elif logged:
        yield ShotsFile(f"shots {shots} of the log", logged, unit or LengthUnit.CM, seen, left_out)
    elif shots is not None and csv is None:
        raise RefusedError("the log has no shot of this cannon that the muzzle gate timed")
    if csv is not None:
        yield read_shots(
            csv,
            unit=unit,
            elevation_rad=elevation_rad,
            floor_m=floor_mm / 1000,
            skip_bad_rows=skip_bad_rows,
        )


def refuse_other_units(file: ShotsFile, mount: Mount, assumed: Mapping[Parameter, Assumption]) -> None:
    """Ask back where ranges look as if they were meant in another unit."""
    taped = [shot for shot in file.shots if shot.range_m is not None]
    if not taped:
        return
    expected_m = expected_ranges_m(taped, mount, assumed)
    if np.isnan(expected_m).any():
        odd = taped[int(np.flatnonzero(np.isnan(expected_m))[0])]
        raise RefusedError(
            f"{file.name}: {odd.name}: a shot fired at {math.degrees(odd.elevation_rad):.1f} degrees never comes "
            f"down to {1000 * odd.fall_height_m:g} mm over the board"
        )
    written = [(shot.range_m or 0.0) / METRES[file.unit] for shot in taped]
    doubt = doubt_about_units(written, file.unit, expected_m.tolist(), [shot.name for shot in taped])
    if doubt is not None and are_in_radians(taped, mount, assumed):
        highest = max((math.degrees(shot.elevation_rad) for shot in taped), key=abs)
        raise RefusedError(
            f"{file.name}: found elevations up to {highest:.3g} degrees with ranges near {median(written):.4g} "
            f"{file.unit}: are the elevations in radians? they are given in degrees"
        )
    if doubt is not None:
        raise RefusedError(f"{file.name}: {doubt}")


def are_in_radians(
    taped: Sequence[MeasuredShot], mount: Mount, assumed: Mapping[Parameter, Assumption]
) -> bool:
    """Tell whether the ranges are about what they should be if the elevations had been written in radians, and only then."""
    meant_rad = [math.degrees(shot.elevation_rad) for shot in taped]
    if max(map(abs, meant_rad)) > math.pi / 2:
        return False
    turned = [replace(shot, elevation_rad=meant) for shot, meant in zip(taped, meant_rad, strict=True)]
    as_written, as_meant = (
        float(np.median([shot.range_m or 0.0 for shot in taped] / expected_ranges_m(shots, mount, assumed)))
        for shots in (taped, turned)
    )
    return 1 / _NEAR < as_meant < _NEAR and not 1 / _FAR_OFF < as_written < _FAR_OFF


def expected_ranges_m(
    shots: Sequence[MeasuredShot], mount: Mount, assumed: Mapping[Parameter, Assumption]
) -> NDArray[np.float64]:
    """Return about how far each shot should go by what is assumed; NaN where it never comes down where it was measured."""
    angles = np.array([shot.elevation_rad for shot in shots])
    heights = np.array([shot.fall_height_m for shot in shots])
    expected_m = cross(
        assumed[Parameter.SPEED].value,
        angles,
        assumed[Parameter.DRAG].value,
        offset_m=heights - mount.pivot_height_m - mount.barrel_m * np.sin(angles),
    ).x_m
    return np.where(expected_m > 0.01, expected_m, np.nan)


def mount_by(settings: Settings, known: CalibrationFile | None) -> Mount:
    """Return what of the cannon is trusted: the settings' figures, and the gravity that was said before."""
    cannon = settings.cannon
    said = Mount() if known is None else known.calibration.mount
    return Mount(
        gravity_mps2=said.gravity_mps2,
        pivot_height_m=cannon.muzzle_height_mm / 1000,
        barrel_m=cannon.barrel_length_mm / 1000,
        elevation_centre_rad=cannon.elevation.centre_rad,
    )


def assumed_by(settings: Settings, known: CalibrationFile | None) -> Mapping[Parameter, Assumption]:
    """Return what is taken before any shot: the settings', or what the calibration that they name says."""
    speed_mps = settings.cannon.muzzle_speed_mps
    assumed = {**ASSUMED, Parameter.SPEED: Assumption(speed_mps, 0.3 * speed_mps)}
    if known is not None:
        for parameter in Parameter:
            assumed[parameter] = Assumption(known.calibration.value(parameter), assumed[parameter].sd)
    return assumed


def refuse_odd_floor(floor_mm: float) -> None:
    """Refuse a floor that no table stands on."""
    if not -5_000 <= floor_mm <= 5_000:
        raise typer.BadParameter(f"the floor is {floor_mm:g} mm over the board; expected -5000 to 5000")


def refuse_odd_elevation(degrees: float) -> None:
    """Refuse an elevation past the vertical."""
    if not -90 < degrees < 90:
        raise typer.BadParameter(
            f"an elevation is {degrees:g}, expected more than -90 and less than 90 degrees"
        )


def _numbers(text: str) -> set[int] | None:
    """Read shot numbers, as 5-16,18; None for all."""
    if text.strip().lower() == "all":
        return None
    numbers: set[int] = set()
    for part in text.split(","):
        match = _RUN.fullmatch(part.strip())
        if match is None:
            raise typer.BadParameter(
                f"found {part.strip()!r}, expected numbers as 5-16 or 5,7,9, or all", param_hint="--shots"
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise typer.BadParameter(
                f"found {part.strip()!r}, expected the lower number first", param_hint="--shots"
            )
        if last - first >= _MOST_SHOTS:
            raise typer.BadParameter(
                f"found {part.strip()!r}, expected {_MOST_SHOTS} shots at most", param_hint="--shots"
            )
        numbers |= set(range(first, last + 1))
    return numbers

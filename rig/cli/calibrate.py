"""`rig calibrate`: learn how the cannon really shoots from what was measured, and which shots to fire next."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    CameraOption,
    PortOption,
    SettingsFile,
    settings_of_this_table,
    settings_or_defaults,
)
from rig.cli.arguments.outputs import check_json
from rig.cli.terminal.sentences import echo
from rig.counted import counted
from rig.files.length_unit import LengthUnit
from rig.files.one_line import as_typed, on_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from calibration.fit import MeasuredShot, Parameter
    from game.montecassino import Side
    from rig.calibrating.shot_rows import ShotRows
    from rig.cannon import Change
    from rig.range_firing import RangeShot
    from rig.settings import Settings

__all__ = ["calibrate_group", "fire", "plan", "shots_range", "show"]

calibrate_group = typer.Typer(
    name="calibrate",
    help="Learn muzzle speed, drag and mount from measured shots; plan the next ones.",
    no_args_is_help=True,
)
app.add_typer(calibrate_group, rich_help_panel="Calibrate")


_FARTHEST_CM = 10_000  # no spring shoots farther
# More or less than expected by this factor a range is in another unit, or a slip of the finger.
_FAR_OFF = math.log(3)


class Learn(StrEnum):
    """What else to learn besides the muzzle speed."""

    DRAG = "drag"
    PLACE = "place"
    YAW = "yaw"
    ELEVATION_OFFSET = "elevation-offset"
    ELEVATION_GAIN = "elevation-gain"
    ELEVATION_BACKLASH = "elevation-backlash"
    AZIMUTH_OFFSET = "azimuth-offset"
    AZIMUTH_GAIN = "azimuth-gain"
    AZIMUTH_BACKLASH = "azimuth-backlash"
    FADE_PER_SHOT = "fade-per-shot"
    FADE_COCKED = "fade-cocked"


LearnOption = Annotated[
    list[Learn] | None,
    typer.Option("--learn", help="besides the muzzle speed; give it again for more. Without it: drag"),
]
ElevationOption = Annotated[
    float | None, typer.Option("--elevation", help="degrees, where all shots were fired at the same")
]


@calibrate_group.command("range")
def shots_range(
    tape: Annotated[
        str | None, typer.Option(help="ranges from the muzzle, in the order fired, as 648,655,651")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="a row for each shot: elevation_deg, range_cm, gate_mps ..."),
    ] = None,
    shots: Annotated[
        str | None,
        typer.Option(
            help="shots of the log, as 5-16 or 5,7,9, or all: their speeds, elevations and places of fall"
        ),
    ] = None,
    elevation: ElevationOption = None,
    unit: Annotated[LengthUnit | None, typer.Option(help="of the ranges; cm by default")] = None,
    floor_mm: Annotated[
        float, typer.Option("--floor-mm", help="how high the floor that was measured on lies over the board")
    ] = 0.0,
    gravity: Annotated[
        float | None,
        typer.Option(
            min=9.7,
            max=9.9,
            help="acceleration of free fall at your place, m/s2; 9.80665, or as in the settings' calibration",
        ),
    ] = None,
    learn: LearnOption = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="leave out rows of the file that cannot be used")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="FILE", callback=check_json, help="where the calibration goes")
    ] = Path("calibration.json"),
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Fit muzzle speed, drag and what else was asked to measured shots, and write the calibration."""
    from calibration.fit import NoFit, fit
    from rig.calibrating.calibration_file import Input, calibration_of, write_calibration
    from rig.calibrating.calibration_report import calibration_in_words, range_in_words
    from rig.cli.arguments.measured_shots import assumed_by, measured_shots, mount_by, refuse_other_units

    chosen = _settings_to_learn_by(settings)
    known = calibration_of(chosen.cannon)
    files = list(
        measured_shots(
            chosen,
            settings,
            known,
            tape=tape,
            csv=csv,
            shots=shots,
            elevation_deg=elevation,
            unit=unit,
            floor_mm=floor_mm,
            skip_bad_rows=skip_bad_rows,
        )
    )
    measured = [shot for file in files for shot in file.shots]
    mount = mount_by(chosen, known)
    if gravity is not None:
        mount = replace(mount, gravity_mps2=gravity)
    assumed = assumed_by(chosen, known)
    for file in files:
        refuse_other_units(file, mount, assumed)
        for fault in file.skipped:
            echo(f"rig: {on_one_line(file.name)}: left out: {fault}", err=True)
    found = fit(
        measured,
        mount,
        free=_parameters(learn),
        assumed=assumed,
        known=None if known is None else known.calibration,
    )
    if isinstance(found, NoFit):
        raise RefusedError(str(found))
    replaced = ", in place of the one made before" if out.exists() else ""
    write_calibration(
        out,
        found,
        [Input(source=file.name, shots=len(file.shots)) for file in files],
        # Each source counts from a shot of its own on.
        shots_fired=files[0].fired if len(files) == 1 else None,
    )
    for line in calibration_in_words(found):
        echo(line)
    elevation_rad = _highest_taped_rad(measured)
    if elevation_rad is not None:
        echo(range_in_words(found, elevation_rad))
    echo(
        f"wrote {on_one_line(out)}{replaced}; to aim by it, set in {on_one_line(settings)}, under [cannon]: "
        f"calibration = {_as_named_in(settings, out)}"
    )


@calibrate_group.command()
def fire(
    elevation: Annotated[float, typer.Option(help="degrees, as the settings' servo map has them")],
    count: Annotated[int, typer.Option("--shots", min=1, max=100, help="how many")] = 1,
    csv: Annotated[Path, typer.Option(metavar="FILE", help="where a row for each shot is added")] = Path(
        "shots.csv"
    ),
    port: PortOption = None,
    camera: CameraOption = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Fire shots at an elevation, straight ahead, and ask for each range; the muzzle gate's speed is noted besides."""
    from game.montecassino import Position
    from rig.calibrating.shot_rows import ShotRows
    from rig.calibrating.shots_file import ShotsFileError
    from rig.cli.arguments.measured_shots import refuse_odd_elevation
    from rig.cli.arguments.orders import with_hardware
    from rig.cli.opening.rig import open_rig
    from rig.cli.terminal.answers import wait_for_enter
    from rig.hands import PromptedHands
    from rig.range_firing import RangeGun

    refuse_odd_elevation(elevation)
    chosen = with_hardware(settings_of_this_table(settings), port=port, camera=camera)
    expected_cm = _expected_range_cm(elevation, chosen)
    side = chosen.cannon.sides[0]
    _refuse_unreachable(elevation, side, chosen)
    rows = ShotRows.open(csv)
    hands = PromptedHands(typer.echo, wait_for_enter)
    notes: list[Callable[[Change], None]] = []

    def note(change: Change) -> None:
        for each in notes:
            each(change)

    # Nobody stands on the board for this.
    empty = Position.parse(f"{side} - - 0/0 0/0 -")
    with open_rig(chosen, empty, hands, progress=typer.echo, on_change=note) as rig:
        gun = RangeGun(
            chosen, cannon=rig.cannon, eye=rig.eye, hands=rig.hands, side=side, progress=typer.echo
        )
        notes.append(gun.note)
        try:
            for number in range(1, count + 1):
                try:
                    shot = gun.fire(math.radians(elevation), lambda: rows.begin(elevation))
                except BaseException:
                    if rows.is_begun and rig.cannon.fired is not False:
                        # What went wrong is told next: nothing here may hide it.
                        with suppress(OSError, ShotsFileError):
                            _note_whether_it_left(f"shot {number} of {count}", gun.seen_to_leave(), rows)
                    raise
                rows.left(shot.muzzle_speed_mps, shot.dwell_s)
                echo(f"shot {number} of {count} {_left_in_words(shot)}")
                rows.taped(_asked_range_cm(expected_cm))
                rig.hands.set_up((), ())
        finally:
            # What went wrong comes first: a file that cannot be used has been told, or will be by who reads it.
            with suppress(ShotsFileError):
                if rig.cannon.fired is False:
                    rows.strike()
                for still_open in rows.open_ranges():
                    echo(f"rig: {on_one_line(csv)}: {still_open}", err=True)
    echo(
        f"{on_one_line(csv)}: {counted(rows.count, 'shot')}; fit them with: rig calibrate range --csv {as_typed(csv)}"
    )


def _as_named_in(settings: Path, file: Path) -> str:
    """Return a file's name as the settings write it: they mean names beside them, wherever a command is run."""
    import tomlkit

    named = file if file.is_absolute() else os.path.relpath(file, settings.parent)
    return tomlkit.item(str(named)).as_string()


def _refuse_unreachable(degrees: float, side: Side, settings: Settings) -> None:
    """Refuse an elevation to which the servo does not turn, by the settings' own map, before anything is opened."""
    from rig.aim.pointing import cannon_of

    own_map = settings.cannon.model_copy(update={"calibration": None})
    limits = cannon_of(side, own_map, settings.board).elevation_rad
    if not limits.lowest <= math.radians(degrees) <= limits.highest:
        low, high = math.degrees(limits.lowest), math.degrees(limits.highest)
        raise typer.BadParameter(
            f"found {degrees:g} degrees, expected {low:.4g} to {high:.4g}: so far [cannon.elevation] lets the barrel turn",
            param_hint="'--elevation'",
        )


def _left_in_words(shot: RangeShot) -> str:
    speed = "untimed" if shot.muzzle_speed_mps is None else f"at {shot.muzzle_speed_mps:.3f} m/s"
    return f"left {speed}, cocked for {shot.dwell_s:.1f} s"


def _note_whether_it_left(name: str, known: RangeShot | None, rows: ShotRows) -> None:
    """Say of a shot that went wrong as it was fired whether it left, and keep what was measured of it."""
    told = (
        "may have been fired, and nothing was seen to leave: treat the cannon as loaded until you have looked"
    )
    if known is not None:
        told = _left_in_words(known)
    echo(f"rig: {name} {told}", err=True)
    if known is not None:
        rows.left(known.muzzle_speed_mps, known.dwell_s)


def _expected_range_cm(degrees: float, settings: Settings) -> float:
    """Return about how far a shot goes on the board's level by the settings' figures; NaN where it never comes down there."""
    from calibration.fit import MeasuredShot
    from rig.calibrating.shots_file import SHOT_RADIUS_M
    from rig.cli.arguments.measured_shots import assumed_by, expected_ranges_m, mount_by

    shot = MeasuredShot(
        name="", elevation_rad=math.radians(degrees), fall_height_m=SHOT_RADIUS_M, range_m=1.0
    )
    return 100 * float(expected_ranges_m([shot], mount_by(settings, None), assumed_by(settings, None))[0])


def _asked_range_cm(expected_cm: float) -> float | None:
    """Ask for the range until it is a number; nothing means that it was not measured.

    One that is far from what is expected (NaN: nothing is) is believed when it is typed again: a shot may fall short.
    """
    from rig.cli.terminal.answers import asked
    from rig.files.csv_table import to_typed_number

    doubted_cm = None
    while True:
        said = asked("range in cm (Enter: not measured)").strip()
        if not said:
            return None
        range_cm = to_typed_number(said)
        if range_cm is None or not 0 < range_cm < _FARTHEST_CM:
            decimals = "; behind a comma stand one or two decimals, no thousands" if "," in said else ""
            echo(f"found {said!r}, expected a number of cm above 0 and below {_FARTHEST_CM:g}{decimals}")
        elif range_cm != doubted_cm and abs(math.log(range_cm / expected_cm)) > _FAR_OFF:
            echo(f"found {range_cm:g} cm, expected about {expected_cm:.0f} cm; if it is right, type it again")
            doubted_cm = range_cm
        else:
            return range_cm


@calibrate_group.command()
def show(
    calibration: Annotated[Path, typer.Argument(metavar="FILE", help="what `rig calibrate range` wrote")],
    elevation: Annotated[
        list[float] | None,
        typer.Option("--elevation", help="degrees; say how far it shoots; may be given again"),
    ] = None,
) -> None:
    """Say what a calibration holds, and how far the cannon shoots by it."""
    from rig.calibrating.calibration_file import read_calibration
    from rig.calibrating.calibration_report import calibration_in_words, range_in_words
    from rig.cli.arguments.measured_shots import refuse_odd_elevation

    for degrees in elevation or []:
        refuse_odd_elevation(degrees)
    file = read_calibration(calibration)
    came = ", ".join(f"{on_one_line(each.source)} ({each.shots})" for each in file.inputs)
    echo(f"made {file.made_utc} from {counted(file.calibration.shots, 'shot')}: {came}")
    for line in calibration_in_words(file.calibration):
        echo(line)
    for degrees in elevation or []:
        echo(range_in_words(file.calibration, math.radians(degrees)))


@calibrate_group.command()
def plan(
    count: Annotated[int, typer.Option("--shots", min=1, max=200, help="how many you will fire")] = 12,
    learn: LearnOption = None,
    for_range: Annotated[
        bool,
        typer.Option(
            "--for-range", help="choose for the range at --elevation alone, not for all to be learnt"
        ),
    ] = False,
    elevation: Annotated[float, typer.Option(help="degrees, of the range that is to be predicted")] = 41.6,
    no_gate: Annotated[
        bool, typer.Option("--no-gate", help="the muzzle gate will not time the shots")
    ] = False,
    calibration: Annotated[Path | None, typer.Option(metavar="FILE", help="what is known already")] = None,
    floor_mm: Annotated[float, typer.Option("--floor-mm", help="as for range")] = 0.0,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Say at which elevations to fire so that the most is learnt."""
    from calibration.fit import MeasuredShot, Parameter
    from calibration.fit.design import plan as choose
    from rig.aim.pointing import cannon_of
    from rig.calibrating.calibration_file import calibration_of, read_calibration
    from rig.calibrating.calibration_report import plan_in_words
    from rig.calibrating.shots_file import SHOT_RADIUS_M
    from rig.cli.arguments.measured_shots import assumed_by, mount_by, refuse_odd_elevation, refuse_odd_floor

    chosen = _settings_to_learn_by(settings)
    refuse_odd_elevation(elevation)
    refuse_odd_floor(floor_mm)
    named = calibration_of(chosen.cannon)
    known = named if calibration is None else read_calibration(calibration)
    limits = cannon_of(chosen.cannon.sides[0], chosen.cannon, chosen.board).elevation_rad
    mount, assumed = mount_by(chosen, named), assumed_by(chosen, named)
    speed_mps = assumed[Parameter.SPEED].value

    def candidate(degrees: float) -> MeasuredShot:
        return MeasuredShot(
            name=f"{degrees:g} degrees",
            elevation_rad=math.radians(degrees),
            elevation_approach=chosen.cannon.elevation.approach,
            fall_height_m=floor_mm / 1000 + SHOT_RADIUS_M,
            gate_speed_mps=None if no_gate else speed_mps,
            range_m=1.0,
        )

    step = 5
    # Past the vertical a barrel shoots backwards, however far its servo turns it.
    low, high = max(math.degrees(limits.lowest), -89.0), min(math.degrees(limits.highest), 89.0)
    grid = [float(each) for each in range(math.ceil(low / step) * step, math.floor(high) + 1, step)]
    if low <= elevation <= high:
        grid.append(elevation)
    proposed = choose(
        [candidate(degrees) for degrees in sorted(set(grid))],
        count,
        mount,
        reference=candidate(elevation),
        known=None if known is None else known.calibration,
        learn=_parameters(learn),
        for_range=for_range,
        assumed=assumed,
    )
    for line in plan_in_words(proposed, elevation):
        echo(line)


def _settings_to_learn_by(file: Path) -> Settings:
    """Read the settings; a calibration that they name and that is yet to be made is told, and struck."""
    settings = settings_or_defaults(file)
    named = settings.cannon.calibration
    if named is None or Path(named).exists():
        return settings
    echo(
        f"rig: {on_one_line(file)} names {on_one_line(named)}, which is not there: nothing is taken from it",
        err=True,
    )
    return settings.model_copy(update={"cannon": settings.cannon.model_copy(update={"calibration": None})})


def _parameters(learn: Sequence[Learn] | None) -> list[Parameter]:
    from calibration.fit import Parameter

    found = {Parameter.SPEED}
    for each in learn or [Learn.DRAG]:
        if each is Learn.PLACE:
            found |= {Parameter.PLACE_RIGHT, Parameter.PLACE_AHEAD}
        else:
            found.add(Parameter[each.name])
    return [parameter for parameter in Parameter if parameter in found]


def _highest_taped_rad(measured: Sequence[MeasuredShot]) -> float | None:
    """Return the highest elevation at which a range was taped: it is the one that people ask about."""
    taped = [shot.elevation_rad for shot in measured if shot.range_m is not None]
    return max(taped) if taped else None

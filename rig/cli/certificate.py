"""`rig certificate`: whether this cannon reaches about 650 cm."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import SETTINGS_FILE, SettingsFile, check_name, settings_or_defaults
from rig.cli.arguments.outputs import check_html, check_pdf
from rig.cli.terminal.sentences import echo
from rig.files.length_unit import LengthUnit
from rig.files.one_line import on_one_line

if TYPE_CHECKING:
    from rig.calibrating.range_file import MeasuredRanges
    from rig.settings import Settings

__all__ = ["certificate"]


@app.command(rich_help_panel="Look back")
def certificate(
    file: Annotated[
        Path | None,
        typer.Argument(help="CSV with a column range_cm; shot and dwell_s may stand beside it"),
    ] = None,
    tape: Annotated[
        str | None, typer.Option(metavar="CM,CM,...", help="the ranges themselves, as 648,655,651")
    ] = None,
    unit: Annotated[
        LengthUnit | None, typer.Option(help="what the ranges are in, where no header says; cm by default")
    ] = None,
    promised: Annotated[
        float, typer.Option(metavar="CM", min=1, max=6000, help="the mean range promised")
    ] = 650.0,
    margin: Annotated[
        float, typer.Option(metavar="PERCENT", min=0.1, max=50, help="how far the mean may lie off")
    ] = 5.0,
    risk: Annotated[
        float, typer.Option(metavar="PERCENT", min=0.01, max=25, help="of a wrong verdict, either way")
    ] = 5.0,
    certainty: Annotated[
        float,
        typer.Option(metavar="PERCENT", min=1, max=99.9, help="wanted, for the number of shots needed"),
    ] = 90.0,
    cannon: Annotated[
        str, typer.Option(callback=check_name, help="which cannon it is, for the heading")
    ] = "Montecassino cannon",
    elevation: Annotated[
        float | None,
        typer.Option(metavar="DEGREES", min=-90, max=90, help="of the barrel, where the file does not say"),
    ] = None,
    pdf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=check_pdf, help="write the certificate as a PDF page"),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=check_html, help="write it as an HTML file")
    ] = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="leave out rows that cannot be used, and say which")
    ] = False,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Say from measured ranges whether the cannon reaches about 650 cm, or how many shots it takes to say."""
    from calibration.range_spec import RangeSpec
    from rig.calibrating.certificate import certify
    from rig.calibrating.range_file import RangeFileError
    from rig.files.checked_file import Fault

    measured = _measured(file, tape, unit, skip_bad_rows)
    for fault in measured.skipped:
        echo(f"rig: {on_one_line(measured.name)}: left out: {fault}", err=True)
    stated = measured.elevation_deg
    if elevation is not None:
        if stated not in {None, elevation}:
            fault = Fault("elevation_deg", f"{stated:g}", f"{elevation:g}, as --elevation says")
            raise RangeFileError(measured.name, [fault])
        stated = elevation
    chosen = settings_or_defaults(settings)
    if stated is not None:
        _refuse_radians(measured, stated, chosen)
    muzzle_mm = chosen.cannon.muzzle_height_mm
    certified = certify(
        measured,
        RangeSpec(promised / 100, margin / 100, risk / 100),
        certainty=certainty / 100,
        cannon=cannon,
        set_up=(
            ("elevation", "not stated" if stated is None else f"{stated:g}°"),
            ("height of a level muzzle", f"{muzzle_mm / 10:g} cm"),
        ),
        issued=date.today(),
    )
    echo(certified.headline)
    for name, value in certified.figures:
        echo(f"  {name:<35}{value}")
    for sentence in certified.sentences:
        echo(sentence)
    if pdf is not None:
        from rig.drawing.drawn_text import not_drawable
        from rig.report.certificate import write_certificate_pdf

        write_certificate_pdf(certified, pdf)
        echo(f"wrote {on_one_line(pdf)}", err=True)
        if unknown := not_drawable(cannon):
            echo(
                f"rig: {on_one_line(pdf)}: its font has not {unknown} of the cannon's name; --html shows all signs",
                err=True,
            )
    if html is not None:
        from rig.report.certificate import write_certificate_html

        write_certificate_html(certified, html)
        echo(f"wrote {on_one_line(html)}", err=True)


def _refuse_radians(measured: MeasuredRanges, elevation_deg: float, settings: Settings) -> None:
    """Ask back where the cannon would shoot so far at as many radians, and at as many degrees by no means."""
    from calibration.fit import MeasuredShot
    from rig.cli.arguments.measured_shots import are_in_radians, assumed_by, mount_by

    shots = [
        MeasuredShot(name="", elevation_rad=math.radians(elevation_deg), range_m=range_m)
        for range_m in measured.ranges_m
    ]
    if are_in_radians(shots, mount_by(settings, None), assumed_by(settings, None)):
        usual_cm = 100 * median(measured.ranges_m)
        raise RefusedError(
            f"{measured.name}: found an elevation of {elevation_deg:g} degrees with ranges near {usual_cm:.4g} cm: "
            "is it in radians? it is given in degrees"
        )


def _measured(
    file: Path | None, tape: str | None, unit: LengthUnit | None, skip_bad_rows: bool
) -> MeasuredRanges:
    from rig.calibrating.range_file import read_ranges, read_tape

    if file is not None and tape is None:
        return read_ranges(file, unit=unit, skip_bad_rows=skip_bad_rows)
    if tape is not None and file is None:
        return read_tape(tape, unit=unit)
    raise typer.BadParameter("give the ranges either as a CSV file or by --tape")

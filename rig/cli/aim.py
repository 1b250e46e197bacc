"""`rig aim`: how to point the cannon, at what, and why."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rig.cli.application import app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    CasualtyOption,
    SettingsFile,
    SideOption,
    check_squares,
    settings_of_this_table,
)
from rig.cli.arguments.outputs import check_csv, check_pdf, check_picture
from rig.cli.terminal.figure_file import write_figure
from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line
from rig.files.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from calibration.scatter import Scatter
    from game.montecassino import Position, Side, Square
    from rig.aim.by_rules import RankedAim
    from rig.aim.firing_table import TableRow
    from rig.calibrating.spring import Spring
    from rig.settings import Settings

__all__ = ["best", "reach", "square", "table"]

_NUMBER = r"(-?\d{1,6}(?:\.\d{1,6})?)"
_POINT = re.compile(rf"{_NUMBER}, ?{_NUMBER}", re.ASCII)


class _AimGroup(TyperGroup):
    """`rig aim G-49` is `rig aim square G-49`: what is no command of the group, nor a misspelt one, is a target."""

    @property
    def by_default(self) -> Any:
        """The command that stands for all other words."""
        return self.commands["square"]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_command = bool(args) and bool(difflib.get_close_matches(args[0], self.commands, cutoff=0.7))
        if args and not is_command and args[0] not in {"-h", "--help"}:
            args = ["square", *args]
        return super().parse_args(ctx, args)


_aim = typer.Typer(
    name="aim",
    cls=_AimGroup,
    help="Say how to point the cannon: at a square (rig aim G-49), at all of them, or where it is worth most.",
    no_args_is_help=True,
)
app.add_typer(_aim, rich_help_panel="Shoot")

PositionOption = Annotated[
    str | None,
    typer.Option(
        help="who stands where, as the rules write it. Without it: after the last shot of the log, or as in the settings."
    ),
]
SpeedScatter = Annotated[
    float | None,
    typer.Option(metavar="PERCENT", min=0, max=50, help="standard deviation of the speed; as calibrated"),
]
AngleScatter = Annotated[
    float | None,
    typer.Option(metavar="MRAD", min=0, max=500, help="standard deviation of azimuth and elevation; 5"),
]
Lobbed = Annotated[bool, typer.Option("--lobbed", help="by the steeper path")]


@_aim.command()
def square(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="a square, as G-49, or a point x,y of the board in mm, as 337.5,520"
        ),
    ],
    lobbed: Lobbed = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="also scatter, clearance, who is in the way, why not otherwise")
    ] = False,
    side: SideOption = None,
    position: PositionOption = None,
    speed_scatter: SpeedScatter = None,
    angle_scatter: AngleScatter = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Say how to point the cannon at a square, or at a soldier that stands on a point of the board."""
    from calibration.aim import Arc
    from rig.aim.explained import explain_aim
    from rig.calibrating.spring import spring_by_log

    chosen = settings_of_this_table(settings)
    stands = _position(chosen, position, side)
    aimed_at, foot_mm = _on_the_table(target, chosen.board.square_mm)
    spring = spring_by_log(chosen)
    said = explain_aim(
        aimed_at,
        stands.turn,
        chosen.cannon,
        chosen.board,
        stands.soldiers,
        scatter=_scatter(chosen, spring, speed_scatter, angle_scatter),
        arc=Arc.LOBBED if lobbed else Arc.DIRECT,
        foot_mm=foot_mm,
        shots_before=_shots_before(spring),
    )
    lines = list(said.in_words())
    for line in lines if explain else lines[:4]:
        echo(line)
    if spring is not None:
        echo(f"  {spring.in_words()}")
    if not explain and said.in_the_way is not None:
        echo(f"  {said.in_the_way} is the first in the way")


@_aim.command()
def table(
    lobbed: Lobbed = False,
    side: SideOption = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=check_csv, help="write it as CSV")
    ] = None,
    pdf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=check_pdf, help="write it as PDF, for the table"),
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Print the firing table: how to point the cannon at every square, or why it cannot be."""
    from calibration.aim import Arc
    from game.montecassino import Position
    from rig.aim.firing_table import as_csv, firing_table
    from rig.calibrating.spring import spring_by_log
    from rig.cli.arguments.orders import side_with_cannon

    chosen = settings_of_this_table(settings)
    fires = side_with_cannon(chosen, Position.parse(chosen.game.position).turn, side)
    arc = Arc.LOBBED if lobbed else Arc.DIRECT
    spring = spring_by_log(chosen)
    shots_before = _shots_before(spring)
    rows = list(firing_table(fires, chosen.cannon, chosen.board, arc, shots_before=shots_before))
    if csv is not None:
        write_whole(csv, as_csv(rows))
        echo(f"wrote {on_one_line(csv)}", err=True)
    if pdf is not None:
        from rig.report.firing_table import write_firing_table

        write_firing_table(
            pdf, rows, f"Firing table of side {fires}, {arc} path", _note(chosen, fires, shots_before)
        )
        echo(f"wrote {on_one_line(pdf)}", err=True)
    if csv is None and pdf is None:
        for line in _table_lines(rows):
            echo(line)
    _tell_spring(spring)


@_aim.command()
def reach(
    side: SideOption = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=check_picture, help="draw the board: .png, .svg or .pdf"),
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Say which squares the cannon reaches, by the direct and by the lobbed path."""
    from calibration.aim import Arc
    from game.montecassino import Position
    from rig.aim.firing_table import firing_table
    from rig.calibrating.spring import spring_by_log
    from rig.cli.arguments.orders import side_with_cannon

    chosen = settings_of_this_table(settings)
    fires = side_with_cannon(chosen, Position.parse(chosen.game.position).turn, side)
    spring = spring_by_log(chosen)
    direct, lobbed = (
        list(firing_table(fires, chosen.cannon, chosen.board, arc, shots_before=_shots_before(spring)))
        for arc in Arc
    )
    for name, rows in (("direct", direct), ("lobbed", lobbed)):
        reached = sum(row.aimed is not None for row in rows)
        echo(f"{name}: {reached} of {len(rows)} squares")
        for reason, squares in _missed(rows).items():
            echo(f"  {reason}: {squares}")
    _tell_spring(spring)
    if plot is not None:
        from rig.aim.board_plots import draw_reach

        write_figure(
            draw_reach(
                direct, lobbed, chosen.board.square_mm, f"What side {fires} reaches, and its elevations"
            ),
            plot,
        )


@_aim.command()
def best(
    position: Annotated[
        str | None,
        typer.Argument(
            help="who stands where, in one line. Without it: after the last shot of the log, or as in the settings."
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(
            callback=check_squares, help="the squares that count, as G25-G72; the settings' by default"
        ),
    ] = None,
    option: CasualtyOption = None,
    own_weight: Annotated[
        float, typer.Option(min=0, max=100, help="how many enemies one of one's own is worth")
    ] = 1.0,
    count: Annotated[int, typer.Option(min=1, max=24, help="how many aims")] = 5,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", callback=check_picture, help="draw the map of worths: .png, .svg or .pdf"
        ),
    ] = None,
    side: SideOption = None,
    speed_scatter: SpeedScatter = None,
    angle_scatter: AngleScatter = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Rank the aims by what they are worth under the rules: enemies expected to leave, less one's own."""
    from game.montecassino import parse_squares
    from rig.aim.by_rules import AimChooser
    from rig.aim.fall_table import fall_table_origin
    from rig.calibrating.spring import spring_by_log
    from rig.cli.arguments.orders import option_of, zone_of

    chosen = settings_of_this_table(settings)
    stands = _position(chosen, position, side)
    squares = zone_of(chosen, stands.turn) if zone is None else parse_squares(zone)
    agreed = option_of(chosen, option)
    spring = spring_by_log(chosen)
    chooser = AimChooser(
        stands,
        squares,
        agreed,
        chosen.cannon,
        chosen.board,
        scatter=_scatter(chosen, spring, speed_scatter, angle_scatter),
        own_weight=own_weight,
        shots_before=_shots_before(spring),
    )
    ranked = chooser.best(count)
    if not ranked:
        echo(f"No aim of side {stands.turn} is worth a shot: nobody can be hit whose fall would count.")
    for number, each in enumerate(ranked, start=1):
        for line in _ranked_lines(number, each):
            echo(line)
    echo(f"Who falls when somebody is touched: {fall_table_origin()}.", err=True)
    _tell_spring(spring)
    if plot is not None:
        from rig.aim.board_plots import draw_aim_map

        title = f"Side {stands.turn}, option {agreed}: worth of aiming at each place"
        write_figure(
            draw_aim_map(
                chooser.board_map(), stands.soldiers, squares, ranked, chosen.board.square_mm, title
            ),
            plot,
        )


def _position(chosen: Settings, text: str | None, side: str | None) -> Position:
    """Return who stands where, as given or as `rig shoot` would begin, with the side that fires to move."""
    from dataclasses import replace

    from game.montecassino import Position
    from rig.cli.arguments.orders import FROM_CAMERA, side_with_cannon, start_of
    from rig.files.checked_file import Fault
    from rig.settings import SettingsError

    if text == FROM_CAMERA:
        found = Fault("--position", "'camera'", "a position in one line: no camera is opened here")
        raise SettingsError("the command line", [found])
    position = start_of(chosen, None, side).position if text is None else Position.parse(text)
    if position.boards != 1:
        found = Fault("the position", "one of two boards joined", "a position on one board, as the table has")
        raise SettingsError("the command line", [found])
    return replace(position, turn=side_with_cannon(chosen, position.turn, side))


def _on_the_table(text: str, square_mm: float) -> tuple[Square, tuple[float, float] | None]:
    """Return the square that was named and None, or the one under the point that was named, and the point."""
    from game.montecassino import BOARD_FILES, BOARD_ROWS, Square, board_fault
    from rig.files.checked_file import Fault
    from rig.settings import SettingsError

    point = _POINT.fullmatch(text)
    if point is None:
        target = Square.parse(text)
        fault = board_fault(target, 1)
        if fault:
            raise SettingsError("the command line", [Fault("TARGET", text, "a square of one board", fault)])
        return target, None
    x_mm, y_mm = float(point[1]), float(point[2])
    under = Square.at_mm(x_mm, y_mm, square_mm)
    if under is None:
        board = (
            f"a point of the board, x from 0 to below {BOARD_FILES * square_mm:g} mm, "
            f"y from 0 to below {BOARD_ROWS * square_mm:g} mm"
        )
        raise SettingsError("the command line", [Fault("TARGET", text, board)])
    return under, (x_mm, y_mm)


def _shots_before(spring: Spring | None) -> int | None:
    return None if spring is None else spring.shots_before


def _tell_spring(spring: Spring | None) -> None:
    """Say beside what was asked for by how worn a spring it is reckoned."""
    if spring is not None:
        echo(f"rig: {spring.in_words()}", err=True)


def _scatter(
    chosen: Settings, spring: Spring | None, speed_percent: float | None, angle_mrad: float | None
) -> Scatter:
    """Return the scatter: as given, else as calibrated, with what is not known of a fading spring, else as usual."""
    import math
    from dataclasses import replace

    from calibration.scatter import Scatter
    from rig.calibrating.calibration_file import calibration_of

    scatter = Scatter()
    calibrated = calibration_of(chosen.cannon)
    if calibrated is not None:
        unsure_share = 0.0 if spring is None else spring.unsure_share
        scatter = replace(scatter, speed_share=math.hypot(calibrated.calibration.scatter, unsure_share))
    if speed_percent is not None:
        scatter = replace(scatter, speed_share=speed_percent / 100)
    if angle_mrad is not None:
        scatter = replace(scatter, azimuth_rad=angle_mrad / 1000, elevation_rad=angle_mrad / 1000)
    return scatter


def _note(chosen: Settings, side: Side, shots_before: int | None) -> str:
    from rig.aim.pointing import cannon_of

    cannon = cannon_of(side, chosen.cannon, chosen.board, shots_before=shots_before)
    return (
        f"At the body of a soldier of {chosen.board.soldier_height_mm:g} mm in the middle of the square; muzzle speed "
        f"{cannon.muzzle_speed_mps:.2f} m/s, barrel of {1000 * cannon.barrel_m:g} mm whose pivot is "
        f"{1000 * cannon.pivot_height_m:g} mm high. Azimuth is positive to the shooter's right, traverse counts from its left."
    )


def _table_lines(rows: list[TableRow]) -> Iterator[str]:
    heads = ("square", "dist mm", "trav mm", "azim deg", "elev deg", "trav us", "azim us", "elev us", "ms")
    yield f"{heads[0]:<8}" + "".join(f"{head:>10}" for head in heads[1:])
    for row in rows:
        cells = row.cells
        if row.aimed is None:
            yield f"{cells[0]:<8}  {row.no_aim}"
        else:
            yield f"{cells[0]:<8}" + "".join(f"{cell:>10}" for cell in cells[1:9])


def _missed(rows: list[TableRow]) -> dict[str, str]:
    """Return the squares out of reach by the reason, in short."""
    from game.montecassino import format_squares

    by_reason: dict[str, list[Any]] = {}
    for row in rows:
        if row.aimed is None:
            by_reason.setdefault(row.no_aim.partition(":")[0].removeprefix("the target is "), []).append(
                row.square
            )
    return {reason: format_squares(squares) for reason, squares in by_reason.items()}


def _ranked_lines(number: int, each: RankedAim) -> Iterator[str]:
    from math import degrees

    yield (
        f"{number}. worth {each.net:.2f} ± {1.96 * each.net_error:.2f}: enemy {each.enemy:.2f}, own {each.own:.2f}; "
        f"traverse {1000 * each.traverse_m:.1f} mm, azimuth {degrees(each.azimuth_rad):+.2f} deg, "
        f"elevation {degrees(each.elevation_rad):+.2f} deg"
    )
    for name, chances in (("touches first", each.touched), ("leaves", each.leaves)):
        shown = [f"{square} {100 * chance:.0f} %" for square, chance in chances.items() if chance >= 0.005]
        yield f"   {name}: {', '.join(shown[:8]) or 'nobody'}"

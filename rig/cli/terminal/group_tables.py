"""A group's report for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import ConsoleRenderable
from rich.table import Table
from rich.text import Text

from calibration.dispersion import LEVELS, Estimate, GroupReport, Method, Shots, Spread
from rig.cli.terminal.tables import plain_table
from rig.counted import counted
from rig.files.length_unit import LengthUnit
from rig.files.one_line import on_one_line
from rig.stats.group_report import FileReport

if TYPE_CHECKING:
    from calibration.dispersion.compare import Comparison

__all__ = ["comparison_tables", "group_tables"]

_METHODS = {
    Method.RAYLEIGH: "Rayleigh (round)",
    Method.CORRELATED_NORMAL: "correlated normal",
    Method.GRUBBS_PATNAIK: "Grubbs-Patnaik",
    Method.GRUBBS_PEARSON: "Grubbs-Pearson",
    Method.GRUBBS_LIU: "Grubbs-Liu",
}
_UNLIKELY = 0.05


def group_tables(report: FileReport) -> Iterator[ConsoleRenderable]:
    """Yield everything that can be said of a group, to be printed below one another."""
    shots, spread = report.group.shots, report.group.spread
    x, y = shots.centre
    count = counted(len(shots), "shot")
    yield Text(f"{on_one_line(report.file.name)}: {count}, lengths in {report.unit}", style="bold")
    yield Text(f"centre at ({x:.4g}, {y:.4g}), {shots.offset:.4g} from the point of aim")
    if spread is None:
        return
    yield _figures(report, spread)
    yield _circles(spread)
    if report.chances:
        yield _chances(report)
    yield from map(Text, _remarks(report, report.group, spread))


def comparison_tables(
    names: Sequence[str], groups: Sequence[Shots], unit: LengthUnit | None, comparison: Comparison
) -> Iterator[ConsoleRenderable]:
    """Yield what groups have in common, to be printed below one another."""
    said = "the files' unit" if unit is None else unit.value
    table = _table(f"Lengths in {said}", "", "shots", "centre x", "centre y", "sigma", "95 % interval")
    for name, shots, sigma in zip(names, groups, comparison.sigmas, strict=True):
        x, y = shots.centre
        table.add_row(
            on_one_line(name), str(len(shots)), f"{x:.4g}", f"{y:.4g}", f"{sigma.value:.4g}", _span(sigma)
        )
    yield table
    yield from map(Text, _differences(comparison))


def _differences(comparison: Comparison) -> Iterator[str]:
    if comparison.same_centre_p is None:
        yield "centres: not said, all shots lie on lines of one direction or are too few"
    else:
        yield f"centres: {_alike(comparison.same_centre_p)} (Wilks, p = {comparison.same_centre_p:.2g})"
    test = "Bartlett"
    if comparison.sigma_ratio is not None:
        test = "F ratio"
        yield f"sigmas: the second is {comparison.sigma_ratio.value:.3g} times the first ({_span(comparison.sigma_ratio)})"
    yield f"sigmas: {_alike(comparison.same_sigma_p)} ({test}, p = {comparison.same_sigma_p:.2g})"
    if comparison.same_radii_p is None:
        yield "distances from the centres: not said, they are all alike"
    else:
        yield (
            f"distances from the centres: {_alike(comparison.same_radii_p)}"
            f" (Kruskal-Wallis, p = {comparison.same_radii_p:.2g})"
        )


def _alike(probability: float) -> str:
    return "they differ" if probability < _UNLIKELY else "no difference to be seen"


def _table(title: str, *headings: str) -> Table:
    table = plain_table(title)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
    return table


def _figures(report: FileReport, spread: Spread) -> Table:
    headings = ["", "value", "95 % interval"]
    if report.bootstrapped:
        headings.append("by bootstrap")
    table = _table("Spread", *headings)

    def add(name: str, value: float, estimate: Estimate | None = None, key: str = "") -> None:
        cells = [name, f"{value:.4g}", "" if estimate is None else _span(estimate)]
        if report.bootstrapped:
            found = report.bootstrapped.get(key)
            cells.append("" if found is None else _span(found))
        table.add_row(*cells)

    for axis, each in zip("xy", spread.centre, strict=True):
        add(f"centre {axis}", each.value, each)
    add("centre from the point of aim", report.group.shots.offset, key="offset")
    add("sigma (round group)", spread.sigma.value, spread.sigma, "sigma")
    ratio = spread.cep[Method.RAYLEIGH][0.5] / spread.sigma.value
    add("CEP, half of the shots", ratio * spread.sigma.value, spread.sigma.times(ratio), "cep")
    add("mean radius", spread.mean_radius, key="mean_radius")
    for statistic, name, value in (
        ("extreme_spread", "extreme spread", spread.extreme_spread),
        ("figure_of_merit", "figure of merit", spread.box.figure_of_merit),
        ("diagonal", "diagonal", spread.box.diagonal),
    ):
        add(name, value)
        for found, estimate in spread.sigma_from.items():
            if found == statistic:
                add("  sigma by it", estimate.value, estimate)
    add("smallest circle, radius", spread.min_circle.radius)
    unit = report.file.unit
    add(
        "box of least area, area" if unit is None else f"box of least area, square {unit}",
        spread.min_box.area,
    )
    add("95 % ellipse, longer half", spread.ellipse.semi_major)
    add("95 % ellipse, shorter half", spread.ellipse.semi_minor)
    return table


def _circles(spread: Spread) -> Table:
    shares = [f"{100 * level:g} %" for level in LEVELS]
    table = _table("Radius that holds a share of the shots", "", *shares, *shares)
    table.columns[len(shares)].style = table.columns[0].style
    table.add_row("about", *["the centre", "", ""], *["the aim", "", ""])
    for method, name in _METHODS.items():
        radii = [spread.cep[method][level] for level in LEVELS]
        offset_radii = [spread.cep_offset[method][level] for level in LEVELS]
        table.add_row(name, *(f"{radius:.4g}" for radius in [*radii, *offset_radii]))
    return table


def _chances(report: FileReport) -> Table:
    table = _table(
        "Chance to hit a disc about",
        "radius",
        "the aim",
        "the centre",
        "if round",
        "95 % interval",
        "next shot",
    )
    for chance in report.chances:
        sure = chance.round_about_centre
        table.add_row(
            f"{chance.radius:g}",
            f"{chance.about_aim[Method.CORRELATED_NORMAL]:.1%}",
            f"{chance.about_centre[Method.CORRELATED_NORMAL]:.1%}",
            f"{sure.value:.1%}",
            f"{sure.lowest:.1%} to {sure.highest:.1%}",
            f"{chance.next_shot:.1%}",
        )
    return table


def _remarks(report: FileReport, group: GroupReport, spread: Spread) -> Iterator[str]:
    if spread.hotelling_p is not None:
        off = spread.hotelling_p < _UNLIKELY
        said = "it lies off the point of aim: set the sights" if off else "it may well be the point of aim"
        yield f"centre: {said} (Hotelling, p = {spread.hotelling_p:.2g})"
    if spread.roundness_p is not None:
        oval = spread.roundness_p < _UNLIKELY
        said = (
            "longer than wide: prefer the correlated normal"
            if oval
            else "it may well be round: Rayleigh will do"
        )
        yield f"shape: {said} (Mauchly, p = {spread.roundness_p:.2g})"
    for line in report.wild_lines:
        yield f"line {line}: too far out for a shot of this group; it is counted all the same"
    for reason in group.reasons:
        yield f"not said: {reason}"


def _span(estimate: Estimate) -> str:
    return f"{estimate.lowest:.4g} to {estimate.highest:.4g}"

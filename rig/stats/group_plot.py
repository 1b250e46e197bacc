"""A picture of a group: the shots, where they were meant to go, and what their report says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Ellipse, Rectangle
from numpy.typing import NDArray

from calibration.dispersion import Box, Method, Spread
from rig.counted import counted
from rig.drawing.drawn_text import drawable
from rig.files.one_line import on_one_line
from rig.stats.group_report import FileReport

__all__ = ["draw_group"]

_CENTRE, _WILD, _ROUND, _OVAL, _AROUND = "#1b4f8f", "#b3261e", "#1b4f8f", "#b06d00", "#5f6b6b"
_ROOM = 1.08
_LONGEST_NAME = 36


def draw_group(report: FileReport) -> Figure:
    """Draw a group, both axes to the same scale."""
    figure = Figure(figsize=(9.0, 6.4), layout="constrained")
    axes = figure.add_subplot()
    shots, spread, unit = report.group.shots, report.group.spread, report.unit
    short = "" if report.file.unit is None else f" {report.file.unit}"
    wild = np.zeros(len(shots), dtype=bool)
    if spread is not None:
        wild[list(spread.outliers)] = True
        _draw_spread(axes, shots.centre, spread, short)
    axes.plot(0, 0, "+", color="black", markersize=18, markeredgewidth=1.5, label="point of aim", zorder=4)
    axes.plot(*shots.points[~wild].T, "o", color="black", markersize=4.5, alpha=0.75, label="shot", zorder=3)
    if wild.any():
        axes.plot(*shots.points[wild].T, "X", color=_WILD, markersize=8, label="wild shot", zorder=3)
    axes.plot(*shots.centre, "x", color=_CENTRE, markersize=10, markeredgewidth=2, label="centre", zorder=4)
    # The name of a file may hold signs that begin mathematics elsewhere.
    axes.set_title(drawable(_title(report, short)), parse_math=False)
    axes.set(
        xlabel=f"to the right of the point of aim ({unit})",
        ylabel=f"above, or beyond, the point of aim ({unit})",
        aspect="equal",
    )
    axes.grid(alpha=0.25)
    axes.margins(0.06)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    # Axes of one scale change their ticks once they are laid out; only the second layout has room for these.
    figure.draw_without_rendering()
    return figure


def _title(report: FileReport, unit: str) -> str:
    shots, spread = report.group.shots, report.group.spread
    name = on_one_line(Path(report.file.name).name)
    shown = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
    said = f"{shown}: {counted(len(shots), 'shot')}"
    if spread is None:
        return said
    sigma = spread.sigma
    return f"{said}, sigma {sigma.value:.3g}{unit} (95 %: {sigma.lowest:.3g} to {sigma.highest:.3g})"


def _draw_spread(axes: Axes, centre: NDArray[np.float64], spread: Spread, unit: str) -> None:
    for (level, radius), style in zip(
        spread.cep[Method.CORRELATED_NORMAL].items(), ("-", "--", ":"), strict=True
    ):
        axes.add_patch(
            Circle(
                (centre[0], centre[1]),
                radius,
                fill=False,
                color=_ROUND,
                linestyle=style,
                linewidth=1.4,
                label=f"{100 * level:g} % of shots: radius {radius:.3g}{unit}",
            )
        )
    ellipse = spread.ellipse
    axes.add_patch(
        Ellipse(
            (centre[0], centre[1]),
            2 * ellipse.semi_major,
            2 * ellipse.semi_minor,
            angle=math.degrees(ellipse.angle_rad),
            fill=False,
            color=_OVAL,
            linewidth=1.4,
            label="95 % ellipse",
        )
    )
    circle = spread.min_circle
    axes.add_patch(
        Circle(
            (circle.x, circle.y),
            circle.radius,
            fill=False,
            color=_AROUND,
            linewidth=1,
            label=f"smallest circle: radius {circle.radius:.3g}{unit}",
        )
    )
    axes.add_patch(_rectangle(spread.min_box))
    # Patches with aspect "equal" do not all widen the view by themselves.
    reach = _ROOM * max(ellipse.semi_major, *spread.cep[Method.CORRELATED_NORMAL].values())
    axes.update_datalim([centre - reach, centre + reach])


def _rectangle(box: Box) -> Rectangle:
    return Rectangle(
        (box.x - box.width / 2, box.y - box.height / 2),
        box.width,
        box.height,
        angle=math.degrees(box.angle_rad),
        rotation_point="center",
        fill=False,
        color=_AROUND,
        linestyle="-.",
        linewidth=1,
        label="box of least area",
    )

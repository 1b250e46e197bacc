"""Pictures of the board for aiming: which squares the cannon reaches, and what aiming at each place is worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from game.montecassino import BOARD_FILES, BOARD_ROWS, Side, Square
from rig.aim.by_rules import BoardMap, RankedAim
from rig.aim.firing_table import TableRow

__all__ = ["draw_aim_map", "draw_reach"]

_BOTH, _DIRECT, _LOBBED, _NONE = "#7fb98f", "#9cc3e6", "#f0c27b", "#d9d4cc"
_REACH = {
    (True, True): (_BOTH, "direct and lobbed"),
    (True, False): (_DIRECT, "direct only"),
    (False, True): (_LOBBED, "lobbed only"),
    (False, False): (_NONE, "neither"),
}
_SIDES = {Side.A: "#1e5b33", Side.G: "#4a4a4a"}


def draw_reach(
    direct: Iterable[TableRow], lobbed: Iterable[TableRow], square_mm: float, title: str
) -> Figure:
    """Draw the board: which squares the direct and the lobbed path reach, and the elevations in degrees."""
    figure, axes = _board(square_mm, title)
    used = set()
    for flat, steep in zip(direct, lobbed, strict=True):
        reached = (flat.aimed is not None, steep.aimed is not None)
        used.add(reached)
        x_mm, y_mm = flat.square.centre_mm(square_mm)
        axes.add_patch(
            Rectangle(
                (x_mm - square_mm / 2, y_mm - square_mm / 2),
                square_mm,
                square_mm,
                facecolor=_REACH[reached][0],
                edgecolor="white",
            )
        )
        angles = [
            f"{round(math.degrees(row.aimed.aim.elevation_rad), 1) + 0.0:.1f}°"
            for row in (flat, steep)
            if row.aimed is not None
        ]
        text = "\n".join([str(flat.square), *angles])
        axes.text(x_mm, y_mm, text, ha="center", va="center", fontsize=5.5, linespacing=1.2)
    handles = [Patch(facecolor=colour, label=label) for key, (colour, label) in _REACH.items() if key in used]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return figure


def draw_aim_map(
    board: BoardMap,
    soldiers: Mapping[Square, Side],
    zone: Iterable[Square],
    ranked: Sequence[RankedAim],
    square_mm: float,
    title: str,
) -> Figure:
    """Draw what aiming at each place of the board is worth; the zone is framed, the best aims are numbered."""
    figure, axes = _board(square_mm, title)
    half_mm = (board.x_mm[1] - board.x_mm[0]) / 2
    most = max(0.1, float(np.nanmax(np.abs(board.net), initial=0.0)))
    image = axes.imshow(
        board.net,
        origin="lower",
        extent=(
            board.x_mm[0] - half_mm,
            board.x_mm[-1] + half_mm,
            board.y_mm[0] - half_mm,
            board.y_mm[-1] + half_mm,
        ),
        cmap="RdYlGn",
        norm=TwoSlopeNorm(0.0, -most, most),
        interpolation="nearest",
    )
    axes.set_facecolor(_NONE)
    for square in zone:
        x_mm, y_mm = square.centre_mm(square_mm)
        axes.add_patch(
            Rectangle(
                (x_mm - square_mm / 2, y_mm - square_mm / 2),
                square_mm,
                square_mm,
                fill=False,
                edgecolor="#1b4f8f",
                linewidth=0.7,
            )
        )
    for square, side in soldiers.items():
        x_mm, y_mm = square.centre_mm(square_mm)
        axes.text(
            x_mm,
            y_mm,
            side.value,
            ha="center",
            va="center",
            fontsize=6.5,
            color="white",
            bbox={"boxstyle": "circle,pad=0.18", "facecolor": _SIDES[side], "edgecolor": "white"},
        )
    for number, each in enumerate(ranked, start=1):
        if each.main_target is None:
            continue
        x_mm, y_mm = each.main_target.centre_mm(square_mm)
        axes.annotate(
            str(number),
            (x_mm, y_mm),
            xytext=(9, 5),
            textcoords="offset points",
            fontsize=9,
            weight="bold",
            color="#7a1fa2",
        )
    bar = figure.colorbar(image, ax=axes, shrink=0.6)
    bar.set_label("expected enemy casualties less own ones", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    said = "letters: soldiers; blue: zone; numbers: whom the best aims touch first; grey: no aim"
    figure.supxlabel(said, fontsize=7)
    return figure


def _board(square_mm: float, title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(5.6, 9.2), layout="constrained")
    axes = figure.add_subplot()
    width_mm, length_mm = BOARD_FILES * square_mm, BOARD_ROWS * square_mm
    axes.set(xlim=(0, width_mm), ylim=(0, length_mm), aspect="equal")
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("x (mm), to the right as the Allies see it", fontsize=8)
    axes.set_ylabel("y (mm), from the Allies to the Germans", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.axhline(length_mm / 2, color="black", linewidth=0.6)
    return figure, axes

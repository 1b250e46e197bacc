"""A picture of a lens calibration: where the board was seen, and by how much its corners are off."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rig.drawing.drawn_text import drawable
from vision.lens import Calibrated

__all__ = ["draw_calibration"]

_CORNER, _ARROW, _FITTED, _LEFT_OUT, _BARE = "#1b4f8f", "#b3261e", "#1b4f8f", "#b06d00", "#b3261e"
_ARROW_SHARE = 0.04  # of the picture's width, as long as the largest usual residual is drawn
_LONGEST_NAME = 18


def draw_calibration(found: Calibrated) -> Figure:
    """Draw a calibration."""
    figure = Figure(figsize=(11.0, 8.0), layout="constrained")
    across, scatter, bars = figure.subplot_mosaic(
        [["across", "across"], ["scatter", "bars"]],
        height_ratios=(3, 2),
        width_ratios=(1, 2),
    ).values()
    figure.suptitle(
        f"Lens from {len(found.pictures)} photographs of a {found.target}: "
        f"error {found.fitted_px:.2f} px fitted, {found.left_out_px:.2f} px left out"
    )
    _draw_across(across, found)
    _draw_scatter(scatter, found)
    _draw_bars(bars, found)
    return figure


def _draw_across(axes: Axes, found: Calibrated) -> None:
    """Draw all corners over the picture, with how far they are off, and how often each part was seen."""
    width, height = found.size_px
    pixels = np.concatenate([s.pixels for s in found.sightings])
    residuals = np.concatenate(found.fit.residuals_px)
    usual_px = float(np.percentile(np.linalg.norm(residuals, axis=1), 95))
    stretch = _ARROW_SHARE * width / max(usual_px, 1e-6)
    views = found.coverage.views
    down, across = views.shape
    for row in range(down):
        for column in range(across):
            axes.text(
                (column + 0.04) * width / across,
                (row + 0.06) * height / down,
                f"{views[row, column]}",
                color="black" if views[row, column] >= 2 else _BARE,
                fontsize=8,
                va="top",
                zorder=5,
                bbox={"boxstyle": "square,pad=0.1", "color": "white", "alpha": 0.8},
            )
    axes.plot(*pixels.T, ".", color=_CORNER, markersize=2, label="corner")
    axes.quiver(
        *pixels.T,
        *(stretch * residuals).T,
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.0012,
        color=_ARROW,
        label=f"seen less computed, {stretch:.0f} times as long",
    )
    axes.set(
        title="where the board was seen; the numbers count photographs",
        xlabel="u (px)",
        ylabel="v (px)",
        xlim=(0, width),
        ylim=(height, 0),
        aspect="equal",
        xticks=np.linspace(0, width, across + 1),
        yticks=np.linspace(0, height, down + 1),
    )
    axes.grid(alpha=0.4)
    # Below, as a wide picture leaves no room beside it.
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, frameon=False)


def _draw_scatter(axes: Axes, found: Calibrated) -> None:
    residuals = np.concatenate(found.fit.residuals_px)
    reach = 1.1 * float(np.abs(residuals).max())
    axes.plot(*residuals.T, ".", color=_CORNER, markersize=2, alpha=0.6)
    axes.set(
        title="each corner: seen less computed",
        xlabel="to the right (px)",
        ylabel="down (px)",
        xlim=(-reach, reach),
        ylim=(reach, -reach),
        aspect="equal",
    )
    axes.grid(alpha=0.3)


def _draw_bars(axes: Axes, found: Calibrated) -> None:
    names = [
        each.name if len(each.name) <= _LONGEST_NAME else f"...{each.name[3 - _LONGEST_NAME :]}"
        for each in found.pictures
    ]
    place = np.arange(len(names))
    axes.bar(
        place - 0.2, [p.fitted_px for p in found.pictures], 0.4, color=_FITTED, label="with it in the fit"
    )
    axes.bar(
        place + 0.2,
        [p.left_out_px for p in found.pictures],
        0.4,
        color=_LEFT_OUT,
        label="left out of the fit",
    )
    axes.set(title="error of each photograph", ylabel="root mean square (px)", xticks=place)
    # The names of files may hold signs that begin mathematics elsewhere.
    axes.set_xticklabels(map(drawable, names), rotation=90, fontsize=7, parse_math=False)
    axes.legend(frameon=False)
    axes.margins(x=0.01, y=0.25)

"""A picture of hit statistics: how often shots hit, and whom they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from game.montecassino import Option
from rig.stats.hit_statistics import Outcome, Rate, Tally
from rig.stats.hit_view import By

__all__ = ["draw_hits"]

_HIT, _ANY = "#1b4f8f", "#8a8f98"
_OPTIONS = {Option.I: "#1b4f8f", Option.II: "#5b8cc4", Option.III: "#a9c4e2"}
_EDGE = "#404040"
_BEYOND = {"own": ("own", "#b3261e", ""), "doubts": ("in doubt", "white", "////")}
_TITLES = {
    By.TARGET: "target",
    By.DISTANCE: "distance from the pivot",
    By.OPTION: "agreed option",
    By.SESSION: "session",
    By.DWELL: "time cocked",
    By.SHOT: "shot of the session",
}
_BAR = 0.26


def draw_hits(views: Mapping[By, Sequence[Tally]]) -> Figure:
    """Draw a row for each view, none of them empty: rates on the left, losses on the right."""
    heights = [1.6 + 0.55 * len(found) for found in views.values()]
    figure = Figure(figsize=(11.0, sum(heights) + 0.7), layout="constrained")
    rows = figure.subplots(len(views), 2, squeeze=False, gridspec_kw={"height_ratios": heights})
    for (left, right), (by, found) in zip(rows, views.items(), strict=True):
        _draw_rates(left, by, found)
        _draw_losses(right, found)
    rows[0][0].set_title("Hit rate, with its 95 % interval")
    rows[0][1].set_title("Who leaves, had each option been agreed")
    left_handles, left_labels = rows[0][0].get_legend_handles_labels()
    losses = [Patch(color=colour, label=f"enemy, option {option}") for option, colour in _OPTIONS.items()]
    losses += [
        Patch(facecolor=colour, edgecolor=_EDGE, hatch=hatch, label=label)
        for label, colour, hatch in _BEYOND.values()
    ]
    figure.legend(left_handles, left_labels, loc="outside lower left", ncols=2, frameon=False)
    figure.legend(handles=losses, loc="outside lower right", ncols=5, frameon=False)
    return figure


def _draw_rates(axes: Axes, by: By, found: Sequence[Tally]) -> None:
    places = np.arange(len(found))
    for rates, shift, colour, label in (
        ([each.rate for each in found], -0.12, _HIT, "soldier aimed at"),
        ([each.any_enemy_rate for each in found], 0.12, _ANY, "any enemy"),
    ):
        known = [(place, rate) for place, rate in zip(places, rates, strict=True) if rate is not None]
        axes.errorbar(
            [100 * rate.value for _, rate in known],
            [place + shift for place, _ in known],
            xerr=np.array([_whiskers(rate) for _, rate in known]).reshape(-1, 2).T,
            fmt="o",
            color=colour,
            capsize=3,
            label=label,
        )
    names = [
        f"{each.name}\n{each.at_target[Outcome.HIT]} of "
        f"{each.at_target[Outcome.HIT] + each.at_target[Outcome.MISS]}"
        for each in found
    ]
    axes.set_yticks(places, names)
    axes.set(xlim=(-2, 102), ylim=(len(found) - 0.5, -0.5), xlabel="hits (% of shots)", ylabel=_TITLES[by])
    axes.grid(axis="x", alpha=0.3)


def _whiskers(rate: Rate) -> tuple[float, float]:
    return 100 * (rate.value - rate.lowest), 100 * (rate.highest - rate.value)


def _draw_losses(axes: Axes, found: Sequence[Tally]) -> None:
    places = np.arange(len(found))
    ends = np.zeros((len(_OPTIONS), len(found)))
    rows = [places + (number - 1) * _BAR for number in range(len(_OPTIONS))]
    for number, (option, colour) in enumerate(_OPTIONS.items()):
        ends[number] = [each.under[option].enemy for each in found]
        axes.barh(rows[number], ends[number], _BAR, color=colour)
    for name, (_, colour, hatch) in _BEYOND.items():
        for number, option in enumerate(_OPTIONS):
            more = np.array([getattr(each.under[option], name) for each in found])
            some = more > 0  # a bar of no width would still show its edge
            axes.barh(
                rows[number][some],
                more[some],
                _BAR,
                left=ends[number][some],
                facecolor=colour,
                edgecolor=_EDGE,
                hatch=hatch,
            )
            ends[number] += more
    axes.set_yticks(places, [each.name for each in found])
    axes.set(ylim=(len(found) - 0.5, -0.5), xlabel="soldiers")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(0, 1.04 * max(1.0, ends.max()))
    axes.grid(axis="x", alpha=0.3)

"""The certificate of range: one A4 page as PDF, and the same as one HTML file."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from calibration.range_spec import FEWEST_SHOTS, Drift, SpecVerdict, shots_needed, tost_power
from rig.calibrating.certificate import Certificate
from rig.drawing.drawn_text import drawable
from rig.files.html_page import html_page
from rig.files.whole_file import write_whole

__all__ = ["certificate_page", "write_certificate_html", "write_certificate_pdf"]

_COLOURS = {
    SpecVerdict.MEETS: "#1e6b3a",
    SpecVerdict.DOES_NOT_MEET: "#a02020",
    SpecVerdict.NOT_ENOUGH_SHOTS: "#8a5a00",
}
_SHOT, _BAND, _SOFT = "#1b4f8f", "#d9e8d9", "#5f6b6b"
_A4_IN = (8.27, 11.69)
_LEFT, _RIGHT = 0.09, 0.93
_LINE = 0.0128
"""Height of a line of 8.5 pt, as a part of the page's."""
_LETTERS = 106
"""So many letters of 8.5 pt go into a line."""
_GAP = 0.006
"""Between paragraphs."""
_FOOT = 0.046
"""Above the line of versions."""


def write_certificate_pdf(certificate: Certificate, path: Path) -> None:
    """Write the page; without the hour, so that the same certificate gives the same file."""
    page = io.BytesIO()
    certificate_page(certificate).savefig(page, format="pdf", metadata={"CreationDate": None})
    write_whole(path, page.getvalue())


def write_certificate_html(certificate: Certificate, path: Path) -> None:
    """Write one file with everything in it."""
    values = {
        "certificate": certificate,
        "colour": _COLOURS[certificate.finding.verdict],
        "plots": Markup(_plots_svg(certificate)),
    }
    write_whole(path, html_page("rig.report", "certificate.html.j2", values))


def certificate_page(certificate: Certificate) -> Figure:
    """Draw the whole page."""
    page = Figure(figsize=_A4_IN)
    page.text(_LEFT, 0.945, "Certificate of range", fontsize=20, weight="bold", va="center")
    said = f"{certificate.cannon}, {certificate.issued:%d %B %Y}"
    # People name their cannons with any sign, "$" too, which begins mathematics elsewhere.
    page.text(
        _LEFT,
        0.918,
        drawable(textwrap.shorten(said, 90)),
        fontsize=10,
        color=_SOFT,
        va="center",
        parse_math=False,
    )
    colour = _COLOURS[certificate.finding.verdict]
    page.text(
        0.5,
        0.876,
        certificate.headline,
        fontsize=11.5,
        weight="bold",
        color="white",
        ha="center",
        va="center",
        bbox={"boxstyle": "square,pad=0.7", "facecolor": colour, "edgecolor": colour},
    )
    y = 0.833
    for name, value in (*certificate.set_up, *certificate.figures):
        page.text(_LEFT, y, name, fontsize=8.5, color=_SOFT, va="center")
        page.text(0.345, y, value, fontsize=8.5, va="center")
        y -= 0.0158
    top = max(y - 0.055, 0.40)
    _draw_interval(page.add_axes((0.68, 0.69, _RIGHT - 0.68, 0.125)), certificate)
    _draw_shots(page.add_axes((_LEFT + 0.02, top - 0.185, 0.40, 0.2)), certificate)
    _draw_power(page.add_axes((0.58, top - 0.185, _RIGHT - 0.58, 0.2)), certificate)
    y = top - 0.232
    for sentence in certificate.sentences:
        y = _paragraph(page, y, _wrapped(sentence))
    method = _wrapped(certificate.method)
    rests_on = tuple(_inputs(certificate))
    # The inputs get the lines that are left between all else; the HTML page has the whole of them.
    room = int((y - _FOOT - _height(method) - 2 * _GAP * len(rests_on)) / _LINE)
    for number, inputs in enumerate(rests_on):
        lines = _wrapped(inputs, most=max(1, room // (len(rests_on) - number)))
        room -= len(lines)
        y = _paragraph(page, y - _GAP, lines, colour=_SOFT)
    _paragraph(page, y, method, colour=_SOFT)
    page.text(_LEFT, 0.035, certificate.versions, fontsize=7, color=_SOFT)
    return page


def _inputs(certificate: Certificate) -> Iterator[str]:
    """Say what it rests on, a line each."""
    measured = certificate.measured
    ranges = ", ".join(f"{100 * length_m:.1f}" for length_m in measured.ranges_m)
    yield f"Ranges, in cm and in order of firing: {ranges}"
    if measured.dwell_s is not None:
        yield f"Cocked before each, in s: {', '.join(f'{dwell_s:g}' for dwell_s in measured.dwell_s)}"


def _wrapped(text: str, *, most: int | None = None) -> list[str]:
    """Break a text into lines; what goes beyond so many is left out, and shows it."""
    return textwrap.wrap(text, _LETTERS, max_lines=most, placeholder=" ...")


def _paragraph(page: Figure, y: float, lines: list[str], *, colour: str = "black") -> float:
    """Set a paragraph; return where the next one begins."""
    page.text(_LEFT, y, "\n".join(lines), fontsize=8.5, color=colour, va="top", linespacing=1.25)
    return y - _height(lines)


def _height(lines: list[str]) -> float:
    """Return the height of a paragraph and the gap below it, as a part of the page's."""
    return _LINE * len(lines) + _GAP


def _plots_svg(certificate: Certificate) -> str:
    figure = Figure(figsize=(9.4, 5.6), layout="constrained")
    axes = figure.subplot_mosaic("AA;BC", height_ratios=(1, 2))
    _draw_interval(axes["A"], certificate)
    _draw_shots(axes["B"], certificate)
    _draw_power(axes["C"], certificate)
    drawing = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "certificate", "svg.fonttype": "path"}):
        figure.savefig(drawing, format="svg", metadata={"Date": None})
    text = drawing.getvalue()
    return text[text.index("<svg") :]


def _draw_interval(axes: Axes, certificate: Certificate) -> None:
    """Draw the interval of the mean beside what was agreed."""
    found, spec = certificate.finding, certificate.finding.spec
    low, high = 100 * (spec.range_m - spec.margin_m), 100 * (spec.range_m + spec.margin_m)
    axes.axvspan(low, high, color=_BAND, label="agreed")
    axes.axvline(100 * spec.range_m, color=_SOFT, linewidth=1)
    for row, (mean_m, interval_m) in enumerate(
        ((found.mean_m, found.equivalence_interval_m), (found.trimmed_mean_m, found.trimmed_interval_m))
    ):
        if interval_m is not None:
            ends = [100 * bound for bound in interval_m]
            colour = _COLOURS[found.verdict] if row == 0 else _SOFT
            axes.plot(ends, [-row, -row], color=colour, linewidth=3, solid_capstyle="butt")
        axes.plot(100 * mean_m, -row, "|", color="black", markersize=11)
    middle, reach = 100 * spec.range_m, 100 * spec.margin_m
    farthest = max(
        abs(100 * bound - middle)
        for bound in (*found.equivalence_interval_m, *(found.trimmed_interval_m or (found.trimmed_mean_m,)))
    )
    half = max(1.5 * reach, 1.1 * farthest)
    axes.set(
        xlim=(middle - half, middle + half),
        ylim=(-1.7, 0.7),
        yticks=(0, -1),
        yticklabels=("mean", "without\nextremes"),
        xlabel="range (cm); green: agreed",
    )
    _small(axes)


def _draw_shots(axes: Axes, certificate: Certificate) -> None:
    """Draw the ranges in the order of firing."""
    measured, found = certificate.measured, certificate.finding
    spec = found.spec
    numbers, ranges = np.array(measured.shot_numbers), 100 * np.array(measured.ranges_m)
    axes.axhspan(100 * (spec.range_m - spec.margin_m), 100 * (spec.range_m + spec.margin_m), color=_BAND)
    axes.axhline(100 * found.mean_m, color=_SHOT, linewidth=1)
    axes.plot(numbers, ranges, "o", color=_SHOT, markersize=4)
    if found.wild_shot is not None:
        axes.plot(numbers[found.wild_shot], ranges[found.wild_shot], "X", color="#b3261e", markersize=8)
    drift = found.with_shot_number
    if isinstance(drift, Drift) and drift.shown:
        ends = np.array([numbers.min(), numbers.max()])
        axes.plot(
            ends, 100 * (found.mean_m + drift.per_unit_m * (ends - numbers.mean())), "--", color="#b06d00"
        )
    axes.set(title="each shot, and the mean", xlabel="shot", ylabel="range (cm)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(y=0.15)
    _small(axes)


def _draw_power(axes: Axes, certificate: Certificate) -> None:
    """Draw how sure a number of shots makes the verdict "meets"."""
    found, spec = certificate.finding, certificate.finding.spec
    needed = found.shots_for(certificate.certainty) or shots_needed(
        0.0, found.sd_m, margin_m=spec.margin_m, certainty=certificate.certainty, alpha=spec.alpha
    )
    most = round(max(2.2 * found.shots, 1.6 * (needed or 0), 12))
    shots = np.unique(np.linspace(FEWEST_SHOTS, most, 60).astype(int))
    for off_m, style, label in (
        (found.mean_m - spec.range_m, "-", "a cannon with this mean"),
        (0.0, "--", f"one with just {100 * spec.range_m:g} cm"),
    ):
        chance = [
            tost_power(off_m, spec.margin_m, found.sd_m / math.sqrt(count), count - 1, spec.alpha)
            for count in shots.tolist()
        ]
        axes.plot(shots, 100 * np.array(chance), style, color=_SHOT, label=label)
    axes.axhline(
        100 * certificate.certainty,
        color=_SOFT,
        linewidth=0.8,
        linestyle=":",
        label=f"{100 * certificate.certainty:g} %",
    )
    axes.axvline(found.shots, color=_SOFT, linewidth=0.8, label=f"{found.shots} fired")
    axes.set(
        title='chance of the verdict "meets"',
        xlabel="shots",
        ylabel="chance (%)",
        ylim=(0, 103),
        xlim=(0, most),
    )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(fontsize=7, frameon=False, loc="best")
    _small(axes)


def _small(axes: Axes) -> None:
    axes.tick_params(labelsize=7.5)
    axes.title.set_fontsize(9)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(8)
    axes.grid(alpha=0.25)

"""The firing table on paper, to lie beside the cannon."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from fpdf import FPDF

from rig.aim.firing_table import TableRow
from rig.files.whole_file import write_whole

__all__ = ["write_firing_table"]

_MARGIN_MM = 15.0
_ROW_MM = 5.0
_HEADS = (
    ("square", 16.0),
    ("distance\nmm", 20.0),
    ("traverse\nmm", 20.0),
    ("azimuth\ndeg", 19.0),
    ("elevation\ndeg", 20.0),
    ("traverse\nus", 19.0),
    ("azimuth\nus", 19.0),
    ("elevation\nus", 20.0),
    ("1 % speed\nmm higher", 22.0),
)
_CELLS = (0, 1, 2, 3, 4, 5, 6, 7, 10)
_UNDATED = datetime(2000, 1, 1, tzinfo=UTC)


def write_firing_table(path: Path, rows: Sequence[TableRow], title: str, note: str) -> None:
    """Write the table as PDF, a line of the board after the other; the same table gives the same file.

    Parameters
    ----------
    path
        The file to write.
    rows
        As `rig.aim.firing_table.firing_table` yields them.
    title, note
        Stand at the head; the note says which settings it holds for.
    """
    pdf = _Sheet(title, note)
    pdf.set_creation_date(_UNDATED)
    pdf.set_auto_page_break(True, margin=_MARGIN_MM)
    pdf.set_margins(_MARGIN_MM, _MARGIN_MM)
    pdf.add_page()
    pdf.set_font("helvetica", size=9)
    for index, row in enumerate(rows):
        line_begins = index % 8 == 0
        pdf.set_fill_color(240 if (index // 8) % 2 else 255)
        border = "T" if line_begins else ""
        cells = row.cells
        if row.aimed is None:
            pdf.cell(_HEADS[0][1], _ROW_MM, cells[0], border=border, fill=True)
            rest_mm = sum(width_mm for _, width_mm in _HEADS[1:])
            pdf.set_font(size=6.5)
            pdf.cell(rest_mm, _ROW_MM, _fitting(pdf, row.no_aim, rest_mm), border=border, fill=True)
            pdf.set_font(size=9)
        else:
            for place, (_, width_mm) in zip(_CELLS, _HEADS, strict=True):
                align = "L" if place == 0 else "R"
                pdf.cell(width_mm, _ROW_MM, cells[place], border=border, align=align, fill=True)
        pdf.ln()
    write_whole(path, bytes(pdf.output()))


class _Sheet(FPDF):
    """A4 pages with the title, the heads of the columns, and a number."""

    def __init__(self, title: str, note: str) -> None:
        super().__init__(format="A4")
        self._title = title
        self._note = note

    def header(self) -> None:
        """Draw the head of a page."""
        self.set_font("helvetica", "B", 14)
        self.cell(0, 8, self._title, new_x="LMARGIN", new_y="NEXT")
        self.set_font("helvetica", "", 8)
        self.multi_cell(0, 4, self._note, new_x="LMARGIN", new_y="NEXT")
        self.ln(2)
        top_mm = self.get_y()
        left_mm = self.get_x()
        for name, width_mm in _HEADS:
            self.set_xy(left_mm, top_mm)
            self.multi_cell(width_mm, 4, name, align="L" if name == "square" else "R")
            left_mm += width_mm
        self.set_xy(self.l_margin, top_mm + 9)
        self.set_font("helvetica", "", 9)

    def footer(self) -> None:
        """Draw the number of the page."""
        self.set_y(-12)
        self.set_font("helvetica", "", 7)
        self.cell(0, 4, f"{self.page_no()}", align="C")


def _fitting(pdf: FPDF, text: str, width_mm: float) -> str:
    """Cut a text to a width."""
    kept = text
    while kept and pdf.get_string_width(kept) > width_mm - 3:
        kept = kept[:-2]
    return kept if kept == text else f"{kept}..."

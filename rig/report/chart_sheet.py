"""The combat chart on paper: an A4 sheet like the booklet's, filled in, or empty to write on.

The sheet has a title with the players and what was agreed, the booklet's two lines of heads on every page, a ruled row for
each row of the chart and empty ones down to the foot of the last page, and there the result and the points.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from fpdf import FPDF
from fpdf.fonts import TTFFont

from game.montecassino import Battle, Chart, Column, Language, Side, Winner
from game.montecassino.chart_text import title_values
from game.montecassino.chart_words import WORDS, TitleLine
from game.montecassino.tournament import format_points
from rig.drawing.drawn_text import FONT_FOLDER, drawable

__all__ = ["draw_chart"]

_PAGE_WIDTH_MM, _PAGE_HEIGHT_MM = 210.0, 297.0
_MARGIN_MM = 15.0
_WIDTH_MM = _PAGE_WIDTH_MM - 2 * _MARGIN_MM
_COLUMN_WIDTHS_MM = {
    Column.NUMBER: 12.0,
    Column.INFANTRY: 12.0,
    Column.ARTILLERY: 12.0,
    Column.START: 21.0,
    Column.END: 21.0,
    Column.CAPTURE: 20.0,
    Column.FREEING: 20.0,
    Column.LOSSES: 34.0,
    Column.ENEMIES: 28.0,
}
_HEAD_MM = 6.0  # one of the two lines of heads
_ROW_MM = 6.4  # as high as a hand writes
_LINE_MM = 4.2  # of a cell or title with several lines
_PADDING_MM = 1.1  # above and below these
_TITLE_LINE_MM = 6.4
_LABEL_MM = 37.0
_GUTTER_MM = 4.0  # between the two halves of the title
_RESULT_MM = 22.0  # kept free for it above the foot of the last page
_HEADS_MM = 2 * _HEAD_MM
_LATER_TOP_MM = _MARGIN_MM + 13.0  # where the table begins on further pages
_FOOT_MM = _PAGE_HEIGHT_MM - _MARGIN_MM - 6.0  # where it ends, above the page's number

# Lines of a value of the title, where it may be long, and of a cell: together they leave room for a row on the page.
_FEW_LINES, _MOST_LINES = 4, 16
_LONG = frozenset({TitleLine.ZONE_A, TitleLine.ZONE_G, TitleLine.START})
_MOST_SIGNS = 2000

_TEXT_PT, _HEAD_PT, _LABEL_PT, _TITLE_PT = 9.5, 8.5, 7.5, 17.0
_GREY = 90

_TITLE_ROWS = (
    (TitleLine.BEGAN, TitleLine.FIRST),
    (TitleLine.PLAYER_A, TitleLine.PLAYER_G),
    (TitleLine.CANNON_A, TitleLine.CANNON_G),
    (TitleLine.ZONE_A, TitleLine.ZONE_G),
    (TitleLine.SHOTS_A, TitleLine.SHOTS_G),
    (TitleLine.OPTION, TitleLine.CANNONS),
    (TitleLine.LINES, TitleLine.BOARDS),
    (TitleLine.START,),
)

# Matplotlib brings it, and it has the letters of every name in Latin, Greek and Cyrillic script.
_FONT = "DejaVu"


def draw_chart(chart: Chart, language: Language, battle: Battle | None = None) -> bytes:
    """Return the chart as a PDF, the same bytes for the same chart.

    Parameters
    ----------
    chart : Chart
        What to print; without rows, a sheet to write on.
    language : Language
        Of heads and labels.
    battle : Battle, optional
        The battle that the chart notes, for the result and the points. Both stay open for a pen where it is not given
        or not over.
    """
    sheet = _Sheet(chart, language, battle)
    return sheet.drawn()


@dataclass(frozen=True, slots=True)
class _Row:
    """One ruled row: the lines of text of each cell, under one column each or all across."""

    cells: tuple[tuple[str, ...], ...]

    @property
    def height_mm(self) -> float:
        lines = max(map(len, self.cells), default=1)
        return max(_ROW_MM, lines * _LINE_MM + 2 * _PADDING_MM)


_EMPTY_ROW = _Row(((),) * len(Column))


class _Sheet:
    """Draws one chart."""

    def __init__(self, chart: Chart, language: Language, battle: Battle | None) -> None:
        self._chart = chart
        self._words = WORDS[language]
        self._battle = battle
        self._pdf = FPDF(format="A4")
        self._pdf.set_auto_page_break(False)
        self._pdf.c_margin = 0.8
        self._pdf.add_font(_FONT, "", FONT_FOLDER / "DejaVuSans.ttf")
        self._pdf.add_font(_FONT, "B", FONT_FOLDER / "DejaVuSans-Bold.ttf")
        self._fonts = [font for font in self._pdf.fonts.values() if isinstance(font, TTFFont)]
        self._pdf.set_title(f"Montecassino, {self._words.chart}")
        self._pdf.set_lang(language)
        # A sheet printed twice is the same file: it says when the battle began, not when it was printed.
        day = chart.began or datetime.date(1970, 1, 1)
        self._pdf.set_creation_date(datetime.datetime.combine(day, datetime.time(), datetime.UTC))
        self._pdf.set_line_width(0.2)

    def drawn(self) -> bytes:
        self._pdf.add_page()
        top_mm = self._title()
        pages = list(_paginated([self._row(row.cells) for row in self._chart.rows], top_mm))
        for number, page in enumerate(pages, 1):
            if number > 1:
                self._pdf.add_page()
                top_mm = self._short_title()
            y_mm = self._heads(top_mm)
            for row in page:
                y_mm = self._draw_row(row, y_mm)
            if number == len(pages):
                self._result()
            self._footer(number, len(pages))
        try:
            return bytes(self._pdf.output())
        finally:
            for font in self._fonts:
                font.ttfont.close()  # which the library leaves open

    # The title

    def _title(self) -> float:
        """Draw the title, and return where it ends."""
        words, values = self._words, title_values(self._chart)
        y_mm = self._names_of_the_sheet()
        # A line for the gunner is for sheets to fill in, and for battles that have one.
        empty = self._chart.agreement is None
        for lines in _TITLE_ROWS:
            if lines == (TitleLine.START,) and TitleLine.START not in values:
                continue
            if lines[0] is TitleLine.CANNON_A and not empty and not values.keys() & set(lines):
                continue
            y_mm += max(
                self._labelled(
                    words.title[line],
                    values.get(line, ""),
                    y_mm,
                    place,
                    len(lines),
                    _MOST_LINES if line in _LONG else _FEW_LINES,
                )
                for place, line in enumerate(lines)
            )
        return y_mm + 3.0

    def _names_of_the_sheet(self) -> float:
        self._font(_TITLE_PT, "B")
        self._write("Montecassino", _MARGIN_MM, _MARGIN_MM, _WIDTH_MM, 8.0, "L")
        self._font(_TITLE_PT - 4)
        self._write(self._words.chart, _MARGIN_MM, _MARGIN_MM, _WIDTH_MM, 8.0, "R")
        return _MARGIN_MM + 10.0

    def _labelled(
        self, label: str, value: str, y_mm: float, place: int = 0, places: int = 1, most: int = _FEW_LINES
    ) -> float:
        """Draw a label and a value on a line, at one of so many places side by side, and return their height."""
        width_mm = _WIDTH_MM / places
        x_mm = _MARGIN_MM + place * width_mm
        if place < places - 1:
            width_mm -= _GUTTER_MM
        self._font(_LABEL_PT)
        self._pdf.set_text_color(_GREY)
        self._write(label, x_mm, y_mm + 0.6, _LABEL_MM, _TITLE_LINE_MM, "L")
        self._pdf.set_text_color(0)
        self._font(_TEXT_PT)
        value_x_mm, value_mm = x_mm + _LABEL_MM, width_mm - _LABEL_MM
        lines = self._lines(value, value_mm, most)
        for number, line in enumerate(lines):
            self._write(line, value_x_mm, y_mm + number * _LINE_MM, value_mm, _TITLE_LINE_MM, "L")
        height_mm = _TITLE_LINE_MM + (max(len(lines), 1) - 1) * _LINE_MM
        base_mm = y_mm + height_mm - 0.6
        self._pdf.set_draw_color(_GREY)
        self._pdf.line(value_x_mm, base_mm, value_x_mm + value_mm, base_mm)
        self._pdf.set_draw_color(0)
        return height_mm

    def _short_title(self) -> float:
        """Draw the title of a further page, and return where it ends."""
        y_mm = self._names_of_the_sheet()
        agreement = self._chart.agreement
        if agreement is not None:
            names = " \u2013 ".join(filter(None, (str(agreement.players[side]) for side in Side)))
            began = "" if self._chart.began is None else self._chart.began.isoformat()
            self._font(_LABEL_PT)
            for line in self._lines(", ".join(filter(None, (began, names))), _WIDTH_MM, most=1):
                self._write(line, _MARGIN_MM, y_mm - 3.0, _WIDTH_MM, _LINE_MM, "L")
        return _LATER_TOP_MM

    # The table

    def _heads(self, y_mm: float) -> float:
        """Draw the two lines of heads, and return where they end."""
        self._font(_HEAD_PT, "B")
        heads, widths = self._words.heads, _COLUMN_WIDTHS_MM
        groups = (
            (self._words.movements, (Column.NUMBER, Column.INFANTRY, Column.ARTILLERY)),
            ("", (Column.START,)),
            ("", (Column.END,)),
            (self._words.prisoner, (Column.CAPTURE, Column.FREEING)),
            ("", (Column.LOSSES,)),
            ("", (Column.ENEMIES,)),
        )
        x_mm = _MARGIN_MM
        for group, columns in groups:
            if group:
                width_mm = sum(widths[column] for column in columns)
                self._cell([group], x_mm, y_mm, width_mm, _HEAD_MM)
            for column in columns:
                top_mm, height_mm = (y_mm + _HEAD_MM, _HEAD_MM) if group else (y_mm, 2 * _HEAD_MM)
                self._cell(
                    self._lines(heads[column], widths[column]), x_mm, top_mm, widths[column], height_mm
                )
                x_mm += widths[column]
        return y_mm + _HEADS_MM

    def _row(self, cells: Sequence[str]) -> _Row:
        self._font(_TEXT_PT)
        if len(cells) == len(Column):
            widths_mm = list(_COLUMN_WIDTHS_MM.values())
        else:
            # A line of the chart that could not be read, all across.
            cells, widths_mm = (" | ".join(cells),), [_WIDTH_MM]
        return _Row(tuple(self._lines(cell, width) for cell, width in zip(cells, widths_mm, strict=True)))

    def _draw_row(self, row: _Row, y_mm: float) -> float:
        self._font(_TEXT_PT)
        x_mm = _MARGIN_MM
        widths_mm = _COLUMN_WIDTHS_MM.values() if len(row.cells) == len(Column) else [_WIDTH_MM]
        for lines, width_mm in zip(row.cells, widths_mm, strict=True):
            self._cell(lines, x_mm, y_mm, width_mm, row.height_mm)
            x_mm += width_mm
        return y_mm + row.height_mm

    # The foot

    def _result(self) -> None:
        """Draw result and points at the foot of the last page, open where there are none yet."""
        words = self._words
        said = points_a = points_g = ""
        ended = None if self._battle is None else self._battle.outcome
        if self._battle is not None and ended is not None:
            said = words.draw if ended.winner is Winner.DRAW else words.wins[Side(ended.winner)]
            said += f": {words.reasons[ended.reason]}"
            points = self._battle.points
            points_a, points_g = (format_points(Fraction(points[side])) for side in Side)
        y_mm = _FOOT_MM - _RESULT_MM + 5.0
        y_mm += self._labelled(words.result, said, y_mm)
        for place, (line, points_said) in enumerate(
            ((TitleLine.PLAYER_A, points_a), (TitleLine.PLAYER_G, points_g))
        ):
            self._labelled(f"{words.points}, {words.title[line]}", points_said, y_mm, place, 2)

    def _footer(self, page: int, pages: int) -> None:
        self._font(_LABEL_PT)
        y_mm = _FOOT_MM + 3.0
        meanings = [*self._words.fields.items(), *self._words.signs.items()]
        key = "; ".join(f"{sign}: {meaning}" for sign, meaning in meanings)
        self._write(key, _MARGIN_MM, y_mm, _WIDTH_MM, _LINE_MM, "L")
        self._write(
            self._words.page.format(page=page, pages=pages), _MARGIN_MM, y_mm, _WIDTH_MM, _LINE_MM, "R"
        )

    # Strokes of the pen

    def _font(self, size_pt: float, style: Literal["", "B"] = "") -> None:
        self._pdf.set_font(_FONT, style, size_pt)

    def _cell(
        self, lines: Sequence[str], x_mm: float, y_mm: float, width_mm: float, height_mm: float
    ) -> None:
        """Draw a ruled cell with its lines in the middle."""
        self._pdf.rect(x_mm, y_mm, width_mm, height_mm)
        first_mm = y_mm + (height_mm - len(lines) * _LINE_MM) / 2
        for place, line in enumerate(lines):
            self._write(line, x_mm, first_mm + place * _LINE_MM, width_mm, _LINE_MM, "C")

    def _write(
        self,
        text: str,
        x_mm: float,
        y_mm: float,
        width_mm: float,
        height_mm: float,
        align: Literal["L", "C", "R"],
    ) -> None:
        self._pdf.set_xy(x_mm, y_mm)
        self._pdf.cell(width_mm, height_mm, text, align=align)

    def _lines(self, text: str, width_mm: float, most: int = _MOST_LINES) -> tuple[str, ...]:
        """Break a text into lines of a width in the font in use.

        Signs that the font does not have are shown as one that stands for all; what is longer than anything that belongs
        on a sheet is cut short, and shows it.
        """
        known = drawable(text[:_MOST_SIGNS])
        if self._fits(known, width_mm) and len(text) <= _MOST_SIGNS:
            return (known,) if known else ()
        broken = self._pdf.multi_cell(width_mm, _LINE_MM, known, dry_run=True, output="LINES")
        lines = [line.rstrip() for line in cast("list[str]", broken)]
        if len(lines) <= most and len(text) <= _MOST_SIGNS:
            return tuple(lines)
        last = lines[most - 1]
        while not self._fits(f"{last}\u2026", width_mm):
            last = last[:-1]
        return (*lines[: most - 1], f"{last}\u2026")

    def _fits(self, text: str, width_mm: float) -> bool:
        return bool(self._pdf.get_string_width(text) <= width_mm - 2 * self._pdf.c_margin)


def _paginated(rows: Sequence[_Row], first_top_mm: float) -> Iterator[list[_Row]]:
    """Yield the rows of each page, the last one filled with empty rows down to the result."""
    page: list[_Row] = []
    free_mm = _FOOT_MM - first_top_mm - _HEADS_MM
    for row in rows:
        if row.height_mm > free_mm and page:
            yield page
            page, free_mm = [], _FOOT_MM - _LATER_TOP_MM - _HEADS_MM
        page.append(row)
        free_mm -= row.height_mm
    if free_mm < _RESULT_MM:
        yield page
        page, free_mm = [], _FOOT_MM - _LATER_TOP_MM - _HEADS_MM
    yield page + [_EMPTY_ROW] * int((free_mm - _RESULT_MM) / _ROW_MM)

"""Sheets to print at true size: the table's markers to be cut out, and the ChArUco board to calibrate a lens with.

Every sheet has a ruler along its foot and its left edge, for printers like to scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np
from fpdf import FPDF
from PIL import Image

from rig.drawing.paper import SIZES_MM, Paper
from rig.files.bounded_file import read_bytes
from vision.lens import Charuco, printed_charuco
from vision.lens.target import PRINTED_SHAPE

__all__ = ["SheetError", "board_square_mm", "draw_sheets", "is_other"]

_TITLE = "Markers and calibration board, at true size"
_MARGIN_MM = 10.0  # which most printers leave white
_RULER_MM = 12.0  # room for a ruler
_HEAD_MM = 12.0
_RULER_LENGTH_MM = 100
_CARD = 1.5  # a marker's white card is so many times as large as the marker at least
_LABEL_MM = 3.2  # room for a line on its rim, outside of the white that the marker needs, ...
_CUT_MM = 0.5  # ... of which so much stays free for the scissors
_GAP_MM = 6.0
_PX_PER_MODULE = 24
_PX_PER_SQUARE = 280  # so that each module of the board's markers is a whole number of them
_UNDATED = datetime(2000, 1, 1, tzinfo=UTC)
_TITLE_PT, _TEXT_PT, _LABEL_PT, _SMALL_PT = 12.0, 9.0, 8.0, 6.0
_PT_PER_MM = 72 / 25.4
_GREY, _BLACK = 140, 0


class SheetError(Exception):
    """What was asked for does not go on the paper."""


def board_square_mm(paper: Paper) -> int:
    """Return the side of a square of the ChArUco board on a paper: the largest whole number that fits."""
    short_mm, long_mm = SIZES_MM[paper]
    across, down = PRINTED_SHAPE
    room_mm = long_mm - 2 * _MARGIN_MM - _RULER_MM, short_mm - 2 * _MARGIN_MM - _RULER_MM - _HEAD_MM
    return int(min(room_mm[0] / across, room_mm[1] / down))


def is_other(path: Path) -> bool:
    """Whether a file is there that holds no such sheets."""
    return path.is_file() and f"/Title ({_TITLE})".encode() not in read_bytes(path)


def draw_sheets(
    centres_mm: Mapping[str, tuple[float, float]], size_mm: float, dictionary: str, paper: Paper
) -> bytes:
    """Return the sheets as a PDF, the same bytes for the same table.

    Parameters
    ----------
    centres_mm
        The table's markers: where each one's centre belongs in the board frame, by its number.
    size_mm
        Side of a marker's black square.
    dictionary
        OpenCV's name of their dictionary.
    paper
        What is printed on.

    Raises
    ------
    SheetError
        Where a marker is larger than the paper, or has a number that its dictionary does not have.
    """
    markers = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    known = len(markers.bytesList)
    for name in centres_mm:
        if int(name) >= known:
            raise SheetError(f"{dictionary} has markers 0 to {known - 1}, and no marker {name}")
    sheets = _Sheets(paper)
    sheets.markers(centres_mm, size_mm, markers)
    sheets.board(printed_charuco(float(board_square_mm(paper))))
    return bytes(sheets.pdf.output())


def _room_mm(paper: Paper) -> tuple[float, float]:
    """Return how wide and how high the cards of a page may be in all, beside its rulers and below its head."""
    width_mm, height_mm = SIZES_MM[paper]
    return width_mm - 2 * _MARGIN_MM - _RULER_MM, height_mm - 2 * _MARGIN_MM - _RULER_MM - _HEAD_MM


class _Sheets:
    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self.pdf = FPDF(format=paper.value)
        self.pdf.set_auto_page_break(False)
        self.pdf.set_creation_date(_UNDATED)
        self.pdf.set_title(_TITLE)
        self.pdf.set_lang("en")

    def markers(
        self, centres_mm: Mapping[str, tuple[float, float]], size_mm: float, dictionary: cv2.aruco.Dictionary
    ) -> None:
        """Draw the cards, as many on a page as there is room for."""
        left_mm, top_mm = _MARGIN_MM + _RULER_MM, _MARGIN_MM + _HEAD_MM
        room_mm = _room_mm(self._paper)
        card_mm = _card_mm(size_mm, dictionary)
        across, down = (int((room + _GAP_MM) / (card_mm + _GAP_MM)) for room in room_mm)
        if across < 1 or down < 1:
            larger = "--paper a3 or " if card_mm <= min(_room_mm(Paper.A3)) else ""
            raise SheetError(
                f"a marker of {size_mm:g} mm with its white rim takes {card_mm:g} mm, and {self._paper.upper()} "
                f"has room for {min(room_mm):g} mm; choose {larger}smaller markers"
            )
        for place, (name, centre_mm) in enumerate(centres_mm.items()):
            on_page = place % (across * down)
            if on_page == 0:
                self._page(
                    f"Markers of the table: {size_mm:g} mm, to be cut out along the dashed lines", "portrait"
                )
            x_mm = left_mm + (on_page % across) * (card_mm + _GAP_MM)
            y_mm = top_mm + (on_page // across) * (card_mm + _GAP_MM)
            self._card(name, centre_mm, size_mm, dictionary, x_mm, y_mm)

    def board(self, board: Charuco) -> None:
        """Draw the ChArUco board on a page of its own."""
        self._page(
            f"Board to calibrate a lens: {board.columns} x {board.rows} squares of {board.square_mm:g} mm. "
            "Glue it on something flat and stiff.",
            "landscape",
        )
        drawn = board.board().generateImage(
            (board.columns * _PX_PER_SQUARE, board.rows * _PX_PER_SQUARE), marginSize=0, borderBits=1
        )
        self._picture(
            np.asarray(drawn, dtype=np.uint8),
            _MARGIN_MM + _RULER_MM,
            _MARGIN_MM + _HEAD_MM,
            board.columns * board.square_mm,
            board.rows * board.square_mm,
        )

    def _card(
        self,
        name: str,
        centre_mm: tuple[float, float],
        size_mm: float,
        dictionary: cv2.aruco.Dictionary,
        x_mm: float,
        y_mm: float,
    ) -> None:
        pdf, card_mm = self.pdf, _card_mm(size_mm, dictionary)
        rim_mm = (card_mm - size_mm) / 2
        modules = _modules(dictionary)
        drawn = cv2.aruco.generateImageMarker(dictionary, int(name), modules * _PX_PER_MODULE)
        self._picture(np.asarray(drawn, dtype=np.uint8), x_mm + rim_mm, y_mm + rim_mm, size_mm, size_mm)
        pdf.set_draw_color(_GREY)
        pdf.set_line_width(0.15)
        pdf.set_dash_pattern(dash=2, gap=1.5)
        pdf.rect(x_mm, y_mm, card_mm, card_mm)
        pdf.set_dash_pattern()
        # In the outer part of the rim, so that the marker keeps a module's width of white around it.
        line_mm = rim_mm - size_mm / modules - _CUT_MM
        self._label("this edge towards the Germans", x_mm, y_mm + _CUT_MM, card_mm, line_mm)
        place = f"marker {name}: centre x {centre_mm[0]:g}, y {centre_mm[1]:g} mm"
        self._label(place, x_mm, y_mm + card_mm - _CUT_MM - line_mm, card_mm, line_mm)

    def _label(self, text: str, x_mm: float, y_mm: float, width_mm: float, height_mm: float) -> None:
        """Write as large as there is room for."""
        pdf = self.pdf
        pdf.set_font("helvetica", size=_LABEL_PT)
        room_mm = width_mm - 2 * pdf.c_margin
        fitting_pt = min(height_mm * _PT_PER_MM, _LABEL_PT * room_mm / pdf.get_string_width(text))
        pdf.set_font_size(min(_LABEL_PT, fitting_pt))
        self._write(text, x_mm, y_mm, width_mm, height_mm)

    def _page(self, title: str, orientation: str) -> None:
        pdf = self.pdf
        pdf.add_page(orientation=orientation)
        width_mm, height_mm = sorted(SIZES_MM[self._paper], reverse=orientation == "landscape")
        pdf.set_font("helvetica", "B", _TITLE_PT)
        pdf.set_xy(_MARGIN_MM, _MARGIN_MM - 2)
        pdf.cell(width_mm - 2 * _MARGIN_MM, 6, title)
        pdf.set_font("helvetica", size=_TEXT_PT)
        pdf.set_xy(_MARGIN_MM, _MARGIN_MM + 4)
        pdf.cell(
            width_mm - 2 * _MARGIN_MM,
            4,
            f"Print at 100 %, not fitted to the page. Both rulers must measure {_RULER_LENGTH_MM} mm.",
        )
        self._ruler(_MARGIN_MM + _RULER_MM, height_mm - _MARGIN_MM, upright=False)
        self._ruler(_MARGIN_MM, height_mm - _MARGIN_MM - _RULER_MM, upright=True)

    def _ruler(self, x_mm: float, y_mm: float, *, upright: bool) -> None:
        """Draw a ruler from a point to the right, or up; its numbers stand on the inner side."""
        pdf = self.pdf
        pdf.set_draw_color(_BLACK)
        pdf.set_line_width(0.2)
        pdf.set_font("helvetica", size=_SMALL_PT)

        def at(along_mm: float, across_mm: float) -> tuple[float, float]:
            return (x_mm + across_mm, y_mm - along_mm) if upright else (x_mm + along_mm, y_mm - across_mm)

        pdf.line(*at(0, 0), *at(_RULER_LENGTH_MM, 0))
        for mark in range(_RULER_LENGTH_MM + 1):
            length_mm = 4.0 if mark % 10 == 0 else 3.0 if mark % 5 == 0 else 2.0
            pdf.line(*at(mark, 0), *at(mark, length_mm))
            if mark % 10 == 0:
                u_mm, v_mm = at(mark, 6.0)
                self._write(f"{mark}", u_mm - 4, v_mm - 1.2, 8, 2.4)
        u_mm, v_mm = at(_RULER_LENGTH_MM + 6, 1.5)
        self._write("mm", u_mm - 4, v_mm - 1.2, 8, 2.4)

    def _picture(
        self, drawn: np.typing.NDArray[np.uint8], x_mm: float, y_mm: float, width_mm: float, height_mm: float
    ) -> None:
        self.pdf.image(Image.fromarray(drawn), x=x_mm, y=y_mm, w=width_mm, h=height_mm)

    def _write(self, text: str, x_mm: float, y_mm: float, width_mm: float, height_mm: float) -> None:
        self.pdf.set_xy(x_mm, y_mm)
        self.pdf.cell(width_mm, height_mm, text, align="C")


def _modules(dictionary: cv2.aruco.Dictionary) -> int:
    """Return how many small squares a marker has along a side, its black border included."""
    return dictionary.markerSize + 2


def _card_mm(size_mm: float, dictionary: cv2.aruco.Dictionary) -> float:
    """Return the side of a marker's white card; a small marker's is larger than usual, so that its label can be read."""
    return max(_CARD * size_mm, size_mm + 2 * (size_mm / _modules(dictionary) + _LABEL_MM))

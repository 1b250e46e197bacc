"""A position as a picture: board, numbers, soldiers, zone with its banners, the last turn, and what a shot did to whom."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import hypot
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

from game.montecassino.squares import (
    BOARD_FILES,
    BOARD_ROWS,
    FIELD_LINES,
    Side,
    Square,
    all_squares,
    board_indices,
)
from game.montecassino.turns import Turn

__all__ = ["draw_position"]

# All lengths are in the picture's own units.
_CELL = 40.0
_MARGIN = 26.0
_STRIP = 22.0  # the green strip where the cannon stands
_TITLE_SIZE = 14.0
_TITLE_STEP = 18.0
_LEGEND_SIZE = 13.0
_LEGEND_STEP = 22.0
_SYMBOL = 25.0  # room for a legend's symbol before its words
_SOLDIER = 11.0  # radius
_RING = 15.0
_NARROWEST = 0.56  # the length of a sign, as a part of its size

_FIELD = {Side.A: ("#eae1cf", "#e0d5be"), Side.G: ("#dfe7c8", "#d2dcb6")}
_UNIFORM = {Side.A: "#4c6b2f", Side.G: "#6f6f78"}
_ZONE = 'fill="#e2a93b" fill-opacity="0.22"'  # the squares are seen through it, in the legend too
_CASUALTY = "#c4161c"
_PUT_BACK = "#1f5fa8"
_DOUBT = "#b0007a"
_TARGET = "#d1500b"
_TURN = "#14324f"
_PRISONER = "#e8590c"
_MIDDLE = "#7a2d1d"

_Point = tuple[float, float]


def draw_position(
    soldiers: Mapping[Square, Side],
    *,
    zone: Collection[Square] = (),
    last: Turn | None = None,
    casualties: Collection[Square] = (),
    put_back: Collection[Square] = (),
    doubts: Collection[Square] = (),
    target: Square | None = None,
    title: str = "",
    boards: int | None = None,
) -> str:
    """Draw a position as SVG, as the Allies see it: A-1 at the lower left, the Germans at the top.

    Below the board stands what the marks mean that are used.

    Parameters
    ----------
    soldiers
        Who stands where.
    zone
        The agreed artillery zone; its four outer corners get banners (C4).
    last
        The infantry turn that led here: an arrow for each soldier's way, numbered where there are several.
    casualties, put_back, doubts
        Squares marked with a red cross, a blue ring, and a question mark.
    target
        The square aimed at.
    title
        Read out by a screen reader, and shown above the board, in several lines where it is long.
    boards
        1, or 2 where two are joined (S3); by default as many as the soldiers' squares and the zone tell.
    """
    if boards is None:
        boards = 2 if any(square.board for square in (*soldiers, *zone)) else 1
    told = "".join(sign if sign.isprintable() else " " for sign in title)
    width = boards * BOARD_FILES * _CELL + 2 * _MARGIN
    title_lines = _lines_of(told, _TITLE_SIZE, width - _MARGIN)
    sheet = _Sheet(boards, width, top=_MARGIN + _STRIP + _TITLE_STEP * max(0, len(title_lines) - 1))
    marks = _legend_entries(zone, last, casualties, put_back, doubts, target)
    legend, legend_height = _legend(sheet, marks)
    height = sheet.bottom + _STRIP + _MARGIN + legend_height
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" font-family="sans-serif">',
            f"<title>{escape(told)}</title>",
            f'<rect width="{width:g}" height="{height:g}" fill="#7b5b3a"/>',
            *_title(sheet, title_lines),
            *_ground(sheet),
            *_zone(sheet, zone),
            *_numbers(sheet),
            *(() if last is None else _last_turn(sheet, last)),
            *_soldiers(sheet, soldiers),
            *(() if last is None else _prisoners(sheet, last)),
            *(_cross(sheet.centre(square)) for square in casualties),
            *(_ring(sheet.centre(square), _PUT_BACK) for square in put_back),
            *(_question_mark(sheet.centre(square)) for square in doubts),
            *(() if target is None else (_sight(sheet.centre(target)),)),
            *legend,
            "</svg>",
        )
    )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Where things stand on the picture."""

    boards: int
    width: float
    top: float
    """The upper edge of the board, which is the Germans' end."""

    @property
    def bottom(self) -> float:
        return self.top + BOARD_ROWS * _CELL

    def centre(self, square: Square) -> _Point:
        x, y = square.centre_mm(1.0)
        return _MARGIN + x * _CELL, self.bottom - y * _CELL

    def corner(self, square: Square) -> _Point:
        x, y = self.centre(square)
        return x - _CELL / 2, y - _CELL / 2


def _text(
    at: _Point, size: float, words: object, *, fill: str = "#fff", anchor: str = "middle", bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{at[0]:g}" y="{at[1]:g}" font-size="{size:g}"{weight} fill="{fill}" text-anchor="{anchor}">'
        f"{escape(str(words))}</text>"
    )


def _length_of(words: str, size: float) -> float:
    """Return about how long words are, rather too long than too short; fonts differ."""
    wide = sum(east_asian_width(sign) in "WF" for sign in words)
    capital = sum(sign.isupper() for sign in words)
    return size * (_NARROWEST * len(words) + 0.18 * capital + 0.5 * wide)


def _lines_of(words: str, size: float, length: float) -> list[str]:
    """Break words into lines that are no longer than a length."""
    signs = int(length / (_NARROWEST * size))
    while True:
        lines = textwrap.wrap(words, signs, break_on_hyphens=False)
        if signs == 1 or all(_length_of(line, size) <= length for line in lines):
            return lines
        signs -= 1


def _title(sheet: _Sheet, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield _text((sheet.width / 2, 17 + number * _TITLE_STEP), _TITLE_SIZE, line)


def _ground(sheet: _Sheet) -> Iterator[str]:
    """Yield the strips and squares, and the lines where fields and boards meet."""
    across = sheet.width - 2 * _MARGIN
    for y in (sheet.top - _STRIP, sheet.bottom):
        yield f'<rect x="{_MARGIN:g}" y="{y:g}" width="{across:g}" height="{_STRIP:g}" fill="#4f7a3a"/>'
    for square in all_squares(sheet.boards):
        x, y = sheet.corner(square)
        fill = _FIELD[square.field][(square.number + (square.number - 1) // BOARD_FILES) % 2]
        yield f'<rect x="{x:g}" y="{y:g}" width="{_CELL:g}" height="{_CELL:g}" fill="{fill}" stroke="#8d8468" stroke-width="0.6"/>'
    middle = sheet.top + FIELD_LINES * _CELL
    yield f'<path d="M{_MARGIN:g} {middle:g}h{across:g}" stroke="{_MIDDLE}" stroke-width="2"/>'
    if sheet.boards == 1:
        return
    board_width = BOARD_FILES * _CELL
    seam = _MARGIN + board_width
    yield f'<path d="M{seam:g} {sheet.top - _STRIP:g}V{sheet.bottom + _STRIP:g}" stroke="#3d2b1a" stroke-width="2.5"/>'
    for board in board_indices(sheet.boards):
        x = _MARGIN + (board - 0.5) * board_width
        for y in (sheet.top - 7, sheet.bottom + 15):
            yield _text((x, y), 11, f"board {board}", fill="#dfe8d4")


def _numbers(sheet: _Sheet) -> Iterator[str]:
    for square in all_squares(sheet.boards):
        x, y = sheet.corner(square)
        yield _text((x + 3, y + 10), 8, square.number, fill="#6d664f", anchor="start")


def _zone(sheet: _Sheet, zone: Collection[Square]) -> Iterator[str]:
    """Yield the tint of the zone, and a banner at each of its outer corners."""
    corners = [sheet.corner(square) for square in sorted(set(zone))]
    for x, y in corners:
        yield f'<rect x="{x:g}" y="{y:g}" width="{_CELL:g}" height="{_CELL:g}" {_ZONE}/>'
    if not corners:
        return
    left, right = min(x for x, _ in corners), max(x for x, _ in corners) + _CELL
    high, low = min(y for _, y in corners), max(y for _, y in corners) + _CELL
    for x, outward in ((left, -1), (right, 1)):
        for y in (high, low):
            pole_x = x + outward * 5
            yield (
                f'<path d="M{pole_x:g} {y + 9:g}v-20" stroke="#222" stroke-width="1.6"/>'
                f'<path d="M{pole_x:g} {y - 11:g}l{outward * 13:g} 4.5l{-outward * 13:g} 4.5z" fill="{_CASUALTY}"/>'
            )


def _soldiers(sheet: _Sheet, soldiers: Mapping[Square, Side]) -> Iterator[str]:
    for square, side in sorted(soldiers.items()):
        x, y = sheet.centre(square)
        yield f'<circle cx="{x:g}" cy="{y:g}" r="{_SOLDIER:g}" fill="{_UNIFORM[side]}" stroke="#222" stroke-width="1"/>'
        yield _text((x, y + 4), 11, side)


def _last_turn(sheet: _Sheet, turn: Turn) -> Iterator[str]:
    """Yield the ways of the last turn, under the soldiers that stand on them now."""
    for number, move in enumerate(turn.moves, 1):
        way = [sheet.centre(square) for square in move.squares]
        gap = (_RING if move.captures else _SOLDIER) + 2
        yield _arrow(way, str(number) if len(turn.moves) > 1 else "", gap)


def _prisoners(sheet: _Sheet, turn: Turn) -> Iterator[str]:
    """Yield where prisoners were taken in the last turn, and how many were freed."""
    for move in turn.moves:
        if move.captures:
            yield _ring(sheet.centre(move.squares[-1]), _PRISONER)
    if turn.freed:
        yield _freed(sheet.centre(turn.moves[-1].squares[-1]), f"+{turn.freed}")


def _arrow(way: list[_Point], number: str, gap: float = _SOLDIER + 2) -> str:
    """Draw a way that ends a gap short of the middle of its last square, where the soldier stands."""
    (from_x, from_y), (to_x, to_y) = way[-2:]
    length = hypot(to_x - from_x, to_y - from_y)
    ahead_x, ahead_y = (to_x - from_x) / length, (to_y - from_y) / length
    tip_x, tip_y = to_x - gap * ahead_x, to_y - gap * ahead_y
    base_x, base_y = tip_x - 9 * ahead_x, tip_y - 9 * ahead_y
    along = "L".join(f"{x:g} {y:g}" for x, y in (*way[:-1], (base_x, base_y)))
    start_x, start_y = way[0]
    return (
        f'<g class="way"><path d="M{along}" stroke="{_TURN}" stroke-width="3" stroke-linejoin="round" fill="none"/>'
        f'<path d="M{tip_x:g} {tip_y:g}L{base_x - 5 * ahead_y:g} {base_y + 5 * ahead_x:g}'
        f'L{base_x + 5 * ahead_y:g} {base_y - 5 * ahead_x:g}z" fill="{_TURN}"/>'
        f'<circle cx="{start_x:g}" cy="{start_y:g}" r="{7 if number else 4}" fill="#fff" stroke="{_TURN}" stroke-width="2"/>'
        + (_text((start_x, start_y + 3.5), 10, number, fill=_TURN, bold=True) if number else "")
        + "</g>"
    )


def _freed(at: _Point, words: str) -> str:
    x, y = at
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="{_SOLDIER:g}" fill="#fff" stroke="{_TURN}" stroke-width="2"/>'
        + _text((x, y + 4), 11, words, fill=_TURN, bold=True)
    )


def _cross(at: _Point) -> str:
    return f'<path d="M{at[0] - 13:g} {at[1] - 13:g}l26 26m0 -26l-26 26" stroke="{_CASUALTY}" stroke-width="4" fill="none"/>'


def _ring(at: _Point, colour: str) -> str:
    return f'<circle cx="{at[0]:g}" cy="{at[1]:g}" r="{_RING:g}" fill="none" stroke="{colour}" stroke-width="3"/>'


def _question_mark(at: _Point) -> str:
    return _text((at[0] + 12, at[1] - 2), 20, "?", fill=_DOUBT, bold=True)


def _sight(at: _Point) -> str:
    x, y = at
    return (
        f'<g stroke="{_TARGET}" stroke-width="2" fill="none"><circle cx="{x:g}" cy="{y:g}" r="17" stroke-dasharray="4 3"/>'
        f'<path d="M{x - 22:g} {y:g}h10m24 0h10M{x:g} {y - 22:g}v10m0 24v10"/></g>'
    )


def _legend_entries(
    zone: Collection[Square],
    last: Turn | None,
    casualties: Collection[Square],
    put_back: Collection[Square],
    doubts: Collection[Square],
    target: Square | None,
) -> list[tuple[str, str]]:
    """Return a symbol, about its own middle, and its meaning for every kind of mark that is used."""
    origin = (0.0, 0.0)
    captures = last is not None and any(move.captures for move in last.moves)
    freed = last is not None and last.freed
    entries = (
        (
            zone,
            f'<rect x="-20" y="-20" width="40" height="40" fill="{_FIELD[Side.G][0]}"/>'
            f'<rect x="-20" y="-20" width="40" height="40" {_ZONE} stroke="#222" stroke-width="2"/>',
            "zone",
        ),
        (last, _arrow([(-22, 0), (34, 0)], ""), "last turn"),
        (captures, _ring(origin, _PRISONER), "prisoner taken"),
        (freed, _freed(origin, "+"), "comrades freed"),
        (target, _sight(origin), "aimed at"),
        (casualties, _cross(origin), "casualty"),
        (put_back, _ring(origin, _PUT_BACK), "put back"),
        (doubts, _text((0, 7), 26, "?", fill=_DOUBT, bold=True), "in doubt"),
    )
    return [(symbol, words) for used, symbol, words in entries if used]


def _legend(sheet: _Sheet, entries: Iterable[tuple[str, str]]) -> tuple[list[str], float]:
    """Return what the marks mean, in as many rows as are needed, and the height of them."""
    drawn: list[str] = []
    left = right = _MARGIN
    row = 0
    for symbol, words in entries:
        length = _SYMBOL + _length_of(words, _LEGEND_SIZE) + 10
        if right > left and right + length > sheet.width - _MARGIN / 2:
            row, right = row + 1, left
        y = sheet.bottom + _STRIP + 16 + row * _LEGEND_STEP
        drawn.append(
            f'<g class="meaning"><rect x="{right:g}" y="{y - 9:g}" width="18" height="18" rx="3" fill="#f1ead8"/>'
            f'<g transform="translate({right + 9:g} {y:g}) scale(0.36)">{symbol}</g>'
            + _text((right + _SYMBOL, y + 4), _LEGEND_SIZE, words, anchor="start")
            + "</g>"
        )
        right += length
    return drawn, (row + 1) * _LEGEND_STEP if drawn else 0.0

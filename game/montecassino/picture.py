"""A position as a picture: board, numbers, soldiers, zone with its banners, and what a shot did to whom."""

from collections.abc import Callable, Collection, Mapping
from xml.sax.saxutils import escape

from game.montecassino.squares import Side, Square

__all__ = ["draw_position"]

_CELL = 40.0
_MARGIN = 26.0
_STRIP = 22.0  # the green strip where the cannon stands
_FIELD = {Side.A: ("#eae1cf", "#e0d5be"), Side.G: ("#dfe7c8", "#d2dcb6")}
_UNIFORM = {Side.A: "#4c6b2f", Side.G: "#6f6f78"}


def draw_position(
    soldiers: Mapping[Square, Side],
    *,
    zone: Collection[Square] = (),
    casualties: Collection[Square] = (),
    put_back: Collection[Square] = (),
    doubts: Collection[Square] = (),
    target: Square | None = None,
    title: str = "",
) -> str:
    """Draw a position as SVG, as the Allies see it: A-1 at the lower left, the Germans at the top.

    Parameters
    ----------
    soldiers
        Who stands where.
    zone
        The agreed artillery zone; its four outer corners get banners (C4).
    casualties, put_back, doubts
        Squares marked with a red cross, a blue ring, and a question mark.
    target
        The square aimed at.
    title
        Read out by a screen reader, and shown above the board.
    """
    width = 8 * _CELL + 2 * _MARGIN
    height = 18 * _CELL + 2 * _MARGIN + 2 * _STRIP
    top = _MARGIN + _STRIP

    def corner(square: Square) -> tuple[float, float]:
        x, y = square.centre_mm(1.0)
        return _MARGIN + (x - 0.5) * _CELL, top + (17.5 - y) * _CELL

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:g}" height="{height:g}" fill="#7b5b3a"/>',
    ]
    for y in (_MARGIN, top + 18 * _CELL):
        parts.append(
            f'<rect x="{_MARGIN:g}" y="{y:g}" width="{8 * _CELL:g}" height="{_STRIP:g}" fill="#4f7a3a"/>'
        )
    if title:
        parts.append(
            f'<text x="{width / 2:g}" y="17" font-size="14" fill="#fff" text-anchor="middle">{escape(title)}</text>'
        )
    zone_squares = set(zone)
    for field in Side:
        for number in range(1, 73):
            square = Square(field, number)
            x, y = corner(square)
            fill = _FIELD[field][(number + (number - 1) // 8) % 2]
            parts.append(
                f'<rect x="{x:g}" y="{y:g}" width="{_CELL:g}" height="{_CELL:g}" fill="{fill}" stroke="#8d8468" stroke-width="0.6"/>'
            )
            if square in zone_squares:
                parts.append(
                    f'<rect x="{x:g}" y="{y:g}" width="{_CELL:g}" height="{_CELL:g}" fill="#e2a93b" fill-opacity="0.22"/>'
                )
            parts.append(f'<text x="{x + 3:g}" y="{y + 10:g}" font-size="8" fill="#6d664f">{number}</text>')
    middle = top + 9 * _CELL
    parts.append(
        f'<line x1="{_MARGIN:g}" x2="{_MARGIN + 8 * _CELL:g}" y1="{middle:g}" y2="{middle:g}" stroke="#7a2d1d" stroke-width="2"/>'
    )
    parts.extend(_banners(zone_squares, corner))
    for square, side in sorted(soldiers.items()):
        x, y = corner(square)
        centre_x, centre_y = x + _CELL / 2, y + _CELL / 2
        parts.append(
            f'<circle cx="{centre_x:g}" cy="{centre_y:g}" r="11" fill="{_UNIFORM[side]}" stroke="#222" stroke-width="1"/>'
        )
        parts.append(
            f'<text x="{centre_x:g}" y="{centre_y + 4:g}" font-size="11" fill="#fff" text-anchor="middle">{side}</text>'
        )
    for square in casualties:
        x, y = corner(square)
        parts.append(
            f'<path d="M{x + 7:g} {y + 7:g}l26 26m0 -26l-26 26" stroke="#c4161c" stroke-width="4" fill="none"/>'
        )
    for square in put_back:
        x, y = corner(square)
        parts.append(
            f'<circle cx="{x + _CELL / 2:g}" cy="{y + _CELL / 2:g}" r="15" fill="none" stroke="#1f5fa8" stroke-width="3"/>'
        )
    for square in doubts:
        x, y = corner(square)
        parts.append(
            f'<text x="{x + _CELL - 8:g}" y="{y + 18:g}" font-size="20" font-weight="bold" fill="#b0007a" text-anchor="middle">?</text>'
        )
    if target is not None:
        x, y = corner(target)
        cx, cy = x + _CELL / 2, y + _CELL / 2
        parts.append(
            f'<g stroke="#d1500b" stroke-width="2" fill="none"><circle cx="{cx:g}" cy="{cy:g}" r="17" stroke-dasharray="4 3"/>'
            f'<path d="M{cx - 22:g} {cy:g}h10m24 0h10M{cx:g} {cy - 22:g}v10m0 24v10"/></g>'
        )
    parts.append("</svg>")
    return "\n".join(parts)


def _banners(zone: set[Square], corner: Callable[[Square], tuple[float, float]]) -> list[str]:
    if not zone:
        return []
    corners = [corner(square) for square in zone]
    left, right = min(x for x, _ in corners), max(x for x, _ in corners) + _CELL
    high, low = min(y for _, y in corners), max(y for _, y in corners) + _CELL
    drawn = []
    for x, outward in ((left, -1), (right, 1)):
        for y in (high, low):
            pole_x = x + outward * 5
            drawn.append(
                f'<path d="M{pole_x:g} {y + 9:g}v-20" stroke="#222" stroke-width="1.6"/>'
                f'<path d="M{pole_x:g} {y - 11:g}l{outward * 13:g} 4.5l{-outward * 13:g} 4.5z" fill="#c4161c"/>'
            )
    return drawn

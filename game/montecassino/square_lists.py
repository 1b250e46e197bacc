"""Lists of squares with their runs folded, as the position string has them (clause N4)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from game.montecassino.squares import (
    MOST_BOARDS,
    SQUARE_PATTERN,
    Square,
    SquareError,
    all_squares,
    faults_told,
    square_told,
)

# By index. To look squares up is quicker than to make them.
_IN_ORDER = tuple(sorted(all_squares() + all_squares(MOST_BOARDS)))

_ITEM = re.compile(rf"{SQUARE_PATTERN}(?:-{SQUARE_PATTERN})?", re.ASCII)


def parse_squares(text: str) -> tuple[Square, ...]:
    """Read a list of squares as N4 writes it: ``A01-A24,G49``, ``A01.1-A24.1,A01.2``, or ``-`` for none.

    Order does not matter, and what is one run may be given as several.

    Returns
    -------
    tuple of Square
        Sorted.

    Raises
    ------
    SquareError
        With every fault of the list: unreadable items, numbers off the board, runs that cross from A to G or from
        board to board or do not go up, squares that stand twice, and squares of one board beside those of two.
    """
    faults: list[str] = []
    squares = read_squares(text, faults)
    faults.extend(mixed_faults(squares))
    if faults:
        raise SquareError(faults)
    return tuple(sorted(squares))


def read_squares(text: str, faults: list[str]) -> set[Square]:
    """Read what can be read of a list of squares; what is wrong with its items is added to `faults`."""
    squares: set[Square] = set()
    if text == "-":
        return squares
    twice: set[Square] = set()
    for item in text.split(","):
        found = _read_item(item, faults)
        twice.update(squares.intersection(found))
        squares.update(found)
    faults.extend(f"{square} stands twice" for square in sorted(twice))
    return squares


def mixed_faults(squares: Collection[Square]) -> list[str]:
    """Name an example of each kind where squares of one board stand beside those of two joined."""
    alone = min((square for square in squares if not square.board), default=None)
    joined = min((square for square in squares if square.board), default=None)
    if alone is None or joined is None:
        return []
    return [
        f"{joined} names one of two boards and {alone} none: expected a board for every square or for none"
    ]


def _read_item(item: str, faults: list[str]) -> list[Square]:
    """Read one square or one run; what is wrong is added to `faults`, and gives no squares."""
    match = _ITEM.fullmatch(item)
    if match is None:
        faults.append(f"{item!r} is neither a square nor a run such as A01-A24")
        return []
    first = square_told(match[1], match[2], match[3])
    last = first if match[4] is None else square_told(match[4], match[5], match[6])
    off_board = [fault for end in dict.fromkeys([first, last]) for fault in faults_told(*end)]
    if off_board:
        faults.extend(off_board)
        return []
    (field, low, board), (last_field, high, last_board) = first, last
    if field is not last_field:
        faults.append(f"the run {item} crosses from one field to the other")
        return []
    if board != last_board:
        needed = (
            "crosses from one board to the other"
            if board and last_board
            else "names its board at one end only"
        )
        faults.append(f"the run {item} {needed}")
        return []
    if match[4] is not None and high <= low:
        faults.append(f"the run {item} does not go up")
        return []
    from_first = Square(field, low, board or 0).index
    return list(_IN_ORDER[from_first : from_first + high + 1 - low])


def format_squares(squares: Iterable[Square]) -> str:
    """Write squares as N4 does: sorted, consecutive numbers of one field and board as a run, ``-`` for none."""
    runs: list[list[Square]] = []
    for square in sorted(squares):
        if runs and _goes_on(runs[-1][-1], square):
            runs[-1].append(square)
        else:
            runs.append([square])
    return (
        ",".join(_short(run[0]) if len(run) == 1 else f"{_short(run[0])}-{_short(run[-1])}" for run in runs)
        or "-"
    )


def _goes_on(last: Square, square: Square) -> bool:
    return last.number + 1 == square.number and last.board == square.board and last.field is square.field


def _short(square: Square) -> str:
    return str(square).replace("-", "", 1)

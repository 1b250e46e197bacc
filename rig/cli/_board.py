"""A position for the terminal: the board as the Allies see it, and what each side has left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from game.montecassino import BOARD_FILES, BOARD_ROWS, Position, Side, Square, Winner, all_squares, outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SIDE_NAMES", "board_lines", "headline", "state_in_words", "state_lines"]

SIDE_NAMES = {Side.A: "Allies", Side.G: "Germans"}
"""What each side is called at the table."""

_SOLDIER = {Side.A: "bold bright_white on dark_green", Side.G: "bold bright_white on grey37"}
_CELL = 4  # columns of a square


def board_lines(position: Position) -> Iterator[Text]:
    """Yield the board line by line, the Germans' base first; two boards joined stand side by side.

    A soldier is its side's letter; an empty square is its number in its field. The squares at both ends of a line
    are named beside it.
    """
    files = position.boards * BOARD_FILES
    margin = len(str(all_squares(position.boards)[0])) + 2
    yield _caption(Side.G, margin, files)
    for line in range(BOARD_ROWS, 0, -1):
        squares = [Square.from_own(Side.A, line, file, position.boards) for file in range(files)]
        text = Text().append(f"{squares[0]!s:<{margin}}", style="dim")
        for square in squares:
            side = position.soldiers.get(square)
            if side is None:
                text.append(f"{square.number:^{_CELL}}", style="dim")
            else:
                text.append(f"{side:^{_CELL}}", style=_SOLDIER[side])
        text.append(f"  {squares[-1]}", style="dim")
        yield text
        if line == BOARD_ROWS // 2 + 1:
            yield Text(" " * margin + "-" * (_CELL * files))
    yield _caption(Side.A, margin, files)


def state_lines(position: Position) -> Iterator[str]:
    """Yield what the board does not show: men, prisoners, shots, retreats, and whose turn it is."""
    for side in Side:
        soldiers, shots = len(position.squares_of(side)), position.shots_left[side]
        said = (
            f"{SIDE_NAMES[side]} ({side}): soldiers on the board {soldiers}, prisoners held {position.held[side]}, "
            f"shots left {shots}"
        )
        yield f"{said}, has retreated" if side in position.retreated else said
    yield state_in_words(position)


def headline(position: Position) -> str:
    """Say whose turn it is or who has won, in a few words."""
    ended = outcome(position)
    if ended is None:
        return f"{SIDE_NAMES[position.turn]} to move"
    if ended.winner is Winner.DRAW:
        return "the battle is drawn"
    return f"the battle is over, won by the {SIDE_NAMES[Side(ended.winner)]}"


def state_in_words(position: Position) -> str:
    """Say whose turn it is, or who has won and why."""
    ended = outcome(position)
    return headline(position) if ended is None else f"{headline(position)}: {ended.reason}"


def _caption(side: Side, margin: int, files: int) -> Text:
    return Text(" " * margin + SIDE_NAMES[side].center(_CELL * files).rstrip(), style="bold")

"""A position for the terminal: the board as the Allies see it, and what each side has left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from game.montecassino import (
    BOARD_FILES,
    BOARD_ROWS,
    Position,
    Side,
    Square,
    Turn,
    Winner,
    all_squares,
    board_indices,
    outcome,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["SIDE_NAMES", "board_lines", "headline", "state_in_words", "state_lines"]

SIDE_NAMES = {Side.A: "Allies", Side.G: "Germans"}
"""What each side is called at the table."""

_SOLDIER = {Side.A: "bold bright_white on dark_green", Side.G: "bold bright_white on grey37"}
_IN_ZONE = "yellow"
_LAST_TURN = "bold cyan"
_CELL = 4  # columns of a square
_HALF = _CELL * BOARD_FILES  # of a board


def board_lines(
    position: Position, *, zone: Collection[Square] = (), last: Turn | None = None
) -> Iterator[Text]:
    """Yield the board line by line, the Germans' base first; two boards joined stand side by side.

    A soldier is its side's letter; an empty square is its number in its field. The squares at both ends of a line
    are named beside it. What the marks mean stands below.

    Parameters
    ----------
    position
        Who stands where.
    zone
        The agreed artillery zone.
    last
        The infantry turn that led here.
    """
    in_zone = frozenset(zone)
    arrived = {move.squares[-1]: "x" if move.captures else ">" for move in last.moves} if last else {}
    left = (
        {move.squares[0] for move in last.moves if move.squares[0] not in position.soldiers}
        if last
        else set()
    )
    # Two boards fill the 80 columns of a terminal, and no more.
    label = len(str(all_squares(position.boards)[0])) + (2 if position.boards == 1 else 1)
    yield _caption(Side.G, position.boards, label)
    for line in range(BOARD_ROWS, 0, -1):
        squares = [
            Square.from_own(Side.A, line, file, position.boards)
            for file in range(position.boards * BOARD_FILES)
        ]
        text = Text().append(f"{squares[0]!s:<{label}}", style="dim")
        for file, square in enumerate(squares):
            if file == BOARD_FILES:
                text.append("|")
            side = position.soldiers.get(square)
            if side is None:
                said, style = str(square.number), "dim"
            else:
                said, style = arrived.get(square, "") + side, _SOLDIER[side]
            if square in left:
                said, style = f"{said}>", _LAST_TURN
            elif square in in_zone:
                said, style = f"{said}:", _IN_ZONE if side is None else style
            text.append(f"{said:^{_CELL}}", style=style)
        text.append(f"  {squares[-1]}", style="dim")
        yield text
        if line == BOARD_ROWS // 2 + 1:
            yield Text(" " * label + "+".join(["-" * _HALF] * position.boards))
    yield _caption(Side.A, position.boards, label)
    if in_zone:
        yield Text("25: or A: is in the zone", style="dim")
    if last is not None:
        mover = position.turn.enemy
        signs = {">": f">{mover} has moved there", "x": f"x{mover} has taken a prisoner there"}
        meant = [meaning for sign, meaning in signs.items() if sign in arrived.values()]
        meant += [f"{min(left).number}> has been left"] if left else []
        yield Text(f"last turn {last}: {', '.join(meant)}", style="dim")


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


def _caption(side: Side, boards: int, label: int) -> Text:
    name = SIDE_NAMES[side]
    if boards > 1:
        name = "|".join(f"{SIDE_NAMES[side]}, board {board}".center(_HALF) for board in board_indices(boards))
    return Text(" " * label + name.center(_HALF).rstrip(), style="bold")

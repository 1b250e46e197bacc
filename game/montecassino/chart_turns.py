"""From turns to rows of the combat chart, and back: rows note only where a soldier started and where it came to (N2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from types import MappingProxyType

from game.montecassino.chart import Act, ChartRow
from game.montecassino.entries import Abandon, Adjourn, Entry, Retreat, Shot
from game.montecassino.position import Position, PositionError
from game.montecassino.squares import BOARD_ROWS, Side, Square, all_squares
from game.montecassino.turns import MOST_STEPS, IllegalTurnError, Move, Turn, apply_turn

_BY_SIGN: Mapping[Act, Entry] = MappingProxyType(
    {Act.RETREAT: Retreat(), Act.ABANDON: Abandon(), Act.ADJOURN: Adjourn()}
)


def rows_of_entry(number: int, side: Side, entry: Entry, after: Position) -> tuple[ChartRow, ...]:
    """Return the rows that note what a side did.

    Parameters
    ----------
    number : int
        Number of the turn in the battle, from 1.
    side : Side
        Who did it.
    entry : Entry
        What it did.
    after : Position
        What it gave.
    """
    enemies = len(after.squares_of(side.enemy))
    if isinstance(entry, Shot):
        return (ChartRow(number=number, act=Act.ARTILLERY, losses=entry.casualties, enemies=enemies),)
    if not isinstance(entry, Turn):
        return (ChartRow(number=number, act=Act(str(entry)), enemies=enemies),)
    last = len(entry.moves) - 1
    return tuple(
        ChartRow(
            number=None if index else number,
            act=Act.INFANTRY,
            start=move.squares[0],
            end=move.squares[-1],
            captured=int(move.captures),
            freed=entry.freed if index == last else 0,
            enemies=enemies,
        )
        for index, move in enumerate(entry.moves)
    )


def entry_of_rows(rows: Sequence[ChartRow], position: Position) -> Entry:
    """Return what the rows of one turn note, as it can be played in a position.

    The ways between From and To are not noted, and soldiers may stand in another order than they moved in. All ways and
    orders that are legal give the same position; the first that is found is taken.

    Raises
    ------
    IllegalTurnError
        If an infantry turn is not legal by any, with the clause that forbids the straightest.
    """
    if rows[0].act is Act.ARTILLERY:
        return Shot(rows[0].losses)
    if rows[0].act is not Act.INFANTRY:
        return _BY_SIGN[rows[0].act]
    return _turn_of_rows(rows, position)


def why_never_legal(rows: Sequence[ChartRow]) -> str | None:
    """Return why the infantry turn that the rows note is legal in no position; None where it may be in some.

    It is tried on the emptiest board: the soldiers that move, those that are taken, and one enemy out of the way. Of
    another act, or of no rows, there is nothing to say.
    """
    if not rows or rows[0].act is not Act.INFANTRY:
        return None
    reasons: dict[str, Side] = {}
    for side in Side:
        try:
            _refuse_too_many(rows)
            _turn_of_rows(rows, _emptiest_board(rows, side))
        except PositionError as error:
            return str(error)
        except IllegalTurnError as error:
            reasons.setdefault(str(error), side)
        else:
            return None
    if len(reasons) == 1:
        return next(iter(reasons))
    return "; ".join(f"for side {side}, {why}" for why, side in reasons.items())


def _turn_of_rows(rows: Sequence[ChartRow], position: Position) -> Turn:
    _refuse_too_many(rows)
    freeing = [row for row in rows if row.freed]
    if len(freeing) > 1:
        raise IllegalTurnError("P3", "freeing ends the turn, and more than one soldier frees")
    straightest: IllegalTurnError | None = None
    for others in permutations([row for row in rows if not row.freed]):
        for moves in product(*(_moves(row, position.turn) for row in (*others, *freeing))):
            turn = Turn(moves, sum(row.freed for row in freeing))
            try:
                apply_turn(position, turn)
            except IllegalTurnError as error:
                straightest = straightest or error
            else:
                return turn
    assert straightest is not None, "every row gives a move"
    raise straightest


def _refuse_too_many(rows: Sequence[ChartRow]) -> None:
    if len(rows) > MOST_STEPS:
        raise IllegalTurnError("M1", f"{len(rows)} soldiers move, and {MOST_STEPS} is the most")


def _moves(row: ChartRow, side: Side) -> list[Move]:
    """Return the ways in which a soldier may have come from From to To, the straightest first.

    Going sideways may come before, between or after the steps forward (M4). What no soldier can do is one leap, and the
    rules say what is wrong with it.
    """
    assert row.start is not None and row.end is not None, "an infantry row"
    start, end = row.start, row.end
    boards = 2 if start.board or end.board else 1
    line, file = start.own_line(side), start.own_file(side)
    forward = end.own_line(side) - line
    aside = end.own_file(side) - file

    def way(*steps: tuple[int, int]) -> Move:
        squares = (Square.from_own(side, line + up, file + across, boards) for up, across in steps)
        return Move((start, *squares, end), captures=bool(row.captured))

    if row.captured and forward >= 1 and abs(aside) == 1:
        return [way(*((up, 0) for up in range(1, forward)))]
    if not row.captured and forward >= 1 and aside == 0:
        return [way(*((up, 0) for up in range(1, forward)))]
    if not row.captured and forward >= 1 and abs(aside) == 1:
        return [
            way(*((up, 0) for up in range(1, turning + 1)), *((up, aside) for up in range(turning, forward)))
            for turning in range(forward, -1, -1)
        ]
    return [way()]


def _emptiest_board(rows: Sequence[ChartRow], side: Side) -> Position:
    starts = [row.start for row in rows if row.start is not None]
    taken = [row.end for row in rows if row.captured and row.end is not None]
    boards = 2 if any(square.board for square in starts) else 1
    touched = {*starts, *(row.end for row in rows)}
    # An enemy on the mover's own line 18 defends nothing (P2).
    aside = next(
        square
        for square in all_squares(boards)
        if square.own_line(side) == BOARD_ROWS and square not in touched
    )
    soldiers = {**dict.fromkeys([*taken, aside], side.enemy), **dict.fromkeys(starts, side)}
    held = {side: 0, side.enemy: sum(row.freed for row in rows)}
    return Position(side, soldiers, held, dict.fromkeys(Side, 0))

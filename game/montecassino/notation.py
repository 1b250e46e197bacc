"""Reading what a player writes down for a turn (clause N5).

`str()` of an entry is its full text, and reads back as an equal entry. People write less: only where a soldier starts and
ends, as the combat chart does (``A-72>G-49``), or only where it ends (``G-49``). Such a text is held against the rules:
what it may mean here are the legal turns in which the soldiers go, in that order, through the squares that it names.
If they all give the same position, that is what was meant.

Three things can be wrong, and each is an error of its own: `TurnTextError`, nobody could read it; `IllegalTurnError`,
nothing that it may mean is allowed here; `AmbiguousTurnError`, it may mean several things.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product

from game.montecassino.entries import Abandon, Adjourn, Entry, Retreat, Shot, apply_entry
from game.montecassino.position import Position
from game.montecassino.square_lists import parse_squares
from game.montecassino.squares import BOARD_FILES, BOARD_ROWS, Side, Square, SquareError, board_indices
from game.montecassino.turns import MOST_STEPS, IllegalTurnError, Move, Turn, TurnTextError, apply_turn

_MOST_NAMED = 6  # candidates that a sentence names

_AROUND_SIGNS = re.compile(r"\s*([>x;+*,|.-])\s*")
_WITHIN_A_SQUARE = re.compile(r"(?<=[AGT])\s+(?=\d)")
_FREED = re.compile(r"\+([1-9]\d{0,2})\Z", re.ASCII)
_STEP_SIGN = re.compile("[>x]")

# Lines forward and files to the right. What goes both ways takes a prisoner, and ends the move (M6).
_STEPS = ((1, 0), (0, -1), (0, 1), (-1, 0), (1, -1), (1, 1))

_Place = tuple[int, int]
"""Own line and own file."""


class AmbiguousTurnError(ValueError):
    """A text that may mean several turns here, which give different positions.

    Attributes
    ----------
    text : str
        What was read.
    candidates : tuple of Turn
        One for each position that may be meant, ordered by their text.
    """

    def __init__(self, text: str, candidates: Iterable[Turn]) -> None:
        self.text = text
        self.candidates = tuple(sorted(candidates, key=str))
        named = [str(turn) for turn in self.candidates[:_MOST_NAMED]]
        more = len(self.candidates) - len(named)
        said = f"{', '.join(named)} or {more} more" if more else f"{', '.join(named[:-1])} or {named[-1]}"
        super().__init__(f"{text!r} may be {said}")


@dataclass(frozen=True, slots=True)
class _Said:
    """What a text says of one soldier: squares on its way, the last of them its end, and whether it takes there."""

    squares: tuple[Square, ...]
    captures: bool

    @property
    def start(self) -> Square | None:
        return self.squares[0] if len(self.squares) > 1 else None


def read_entry(position: Position, text: str) -> Entry:
    """Read what the side to move does in a position, in full or in short.

    Lower case, blanks around signs, a blank in place of ``;``, the Italian ``T-49``, ``A9`` for ``A-09`` and ``>`` for
    a step that can only be a capture are read too.

    Raises
    ------
    TurnTextError
        If the text cannot be read.
    IllegalTurnError
        If nothing that it may mean is allowed in this position; the clause is that of the nearest.
    AmbiguousTurnError
        If it may mean several turns that give different positions.
    """
    plain = _plain(text)
    entry = _call(plain)
    if entry is None:
        return _resolve(position, text.strip(), *_read_turn(position, plain))
    apply_entry(position, entry)
    return entry


def _plain(text: str) -> str:
    """Return the text as N5 writes it, as far as signs, case and blanks go."""
    plain = text.strip().upper().replace("X", "x")
    plain = _AROUND_SIGNS.sub(r"\1", plain)
    plain = _WITHIN_A_SQUARE.sub("", plain)
    return ";".join(plain.split())


def _call(plain: str) -> Entry | None:
    """Read an entry that is no infantry turn, or return None."""
    if plain.startswith("*"):
        try:
            return Shot(parse_squares(plain[1:] or "-"))
        except SquareError as error:
            raise TurnTextError(f"{plain!r} is no shot: {error}") from error
    calls: dict[str, Entry] = {str(call): call for call in (Retreat(), Abandon(), Adjourn())}
    return calls.get(plain)


def _read_turn(position: Position, plain: str) -> tuple[list[_Said], int]:
    """Read what a text says of each soldier, and how many comrades are freed."""
    freed = _FREED.search(plain)
    body = plain if freed is None else plain[: freed.start()]
    said = [_read_move(part) for part in body.split(";")]
    on_table = board_indices(position.boards)
    for square in (square for each in said for square in each.squares):
        if square.board not in on_table:
            expected = "no board, as there is one" if position.boards == 1 else f"{square}.1 or {square}.2"
            raise TurnTextError(f"{plain!r} has {square}, expected {expected}")
    return said, 0 if freed is None else int(freed[1])


def _read_move(part: str) -> _Said:
    if _STEP_SIGN.search(part):
        move = Turn.parse(part).moves[0]
        return _Said(move.squares, move.captures)
    try:
        return _Said((Square.parse(part),), captures=False)
    except SquareError as error:
        raise TurnTextError(f"{part!r} is no turn: {error}") from error


def _resolve(position: Position, text: str, said: list[_Said], freed: int) -> Turn:
    """Return the one turn that is meant."""
    in_full = all(_names_every_step(each, position.turn) for each in said)
    nearest: IllegalTurnError | None = None
    found: dict[Position, Turn] = {}
    for turn in _readings(position, said, freed, in_full):
        try:
            after = apply_turn(position, turn)
        except IllegalTurnError as error:
            nearest = nearest or error
            continue
        if in_full:
            return turn  # whatever else it may mean has the same starts and ends, and gives the same position
        found.setdefault(after, turn)
    if not found:
        raise nearest or _out_of_reach(position, said)
    if len(found) > 1:
        raise AmbiguousTurnError(text, found.values())
    return next(iter(found.values()))


def _names_every_step(said: _Said, side: Side) -> bool:
    """Whether each square lies beside the one before."""
    places = [_place(square, side) for square in said.squares]
    return said.start is not None and all(_distance(here, there) == 1 for here, there in pairwise(places))


def _readings(position: Position, said: list[_Said], freed: int, in_full: bool) -> Iterator[Turn]:
    """Yield the turns that a text may mean, legal or not: what it says in full first, then by steps."""
    if in_full:
        yield Turn(tuple(Move(each.squares, each.captures) for each in said), freed)
    if len(said) > MOST_STEPS:
        return
    ways = [_ways(position, each) for each in said]
    if sum(min((move.steps for move in moves), default=0) for moves in ways) > MOST_STEPS:
        return
    found = (moves for moves in product(*ways) if _steps(moves) <= MOST_STEPS)
    yield from (Turn(moves, freed) for moves in sorted(found, key=_steps))


def _steps(moves: Iterable[Move]) -> int:
    return sum(move.steps for move in moves)


def _ways(position: Position, said: _Said) -> list[Move]:
    """Return the ways that a soldier may take by what is said of it, whoever stands on them."""
    side = position.turn
    named = [_place(square, side) for square in said.squares]
    if said.start is None:
        starts = [_place(square, side) for square in position.squares_of(side)]
        onward = named
    else:
        starts, onward = named[:1], named[1:]
    enemy_at_end = position.soldiers.get(said.squares[-1]) is side.enemy
    files = position.boards * BOARD_FILES
    found: list[Move] = []
    paths: list[tuple[tuple[_Place, ...], int]] = [
        ((start,), 0) for start in starts if _distance(start, onward[-1]) <= MOST_STEPS
    ]
    for path, passed in paths:  # grows while it is walked
        line, file = path[-1]
        for forward, aside in _STEPS:
            there = (line + forward, file + aside)
            takes = forward != 0 and aside != 0
            if takes and not enemy_at_end and not said.captures:
                continue
            left = MOST_STEPS - len(path)
            if not (1 <= there[0] <= BOARD_ROWS and 0 <= there[1] < files):
                continue
            if there in path or _distance(there, onward[-1]) > (0 if takes else left):
                continue
            now_passed = passed + (there == onward[passed])
            way = (*path, there)
            if now_passed < len(onward) and not takes:
                paths.append((way, now_passed))
            elif now_passed == len(onward) and takes >= said.captures:
                squares = tuple(Square.from_own(side, *place, position.boards) for place in way)
                found.append(Move(squares, takes))
    return found


def _place(square: Square, side: Side) -> _Place:
    return square.own_line(side), square.own_file(side)


def _distance(here: _Place, there: _Place) -> int:
    return max(abs(here[0] - there[0]), abs(here[1] - there[1]))


def _out_of_reach(position: Position, said: list[_Said]) -> IllegalTurnError:
    """Say why there is no way at all by which the soldiers could go as they are said to."""
    if len(said) > MOST_STEPS:
        return IllegalTurnError("M1", f"{len(said)} soldiers take a step each, and {MOST_STEPS} is the most")
    side = position.turn
    for each in said:
        if each.start is not None and position.soldiers.get(each.start) is not side:
            return IllegalTurnError("M1", f"there is no soldier of side {side} on {each.start}")
    for each in said:
        if not _ways(position, each):
            who = (
                f"no soldier of side {side} can"
                if each.start is None
                else f"the soldier on {each.start} cannot"
            )
            takes = "take a prisoner on" if each.captures else "come to"
            way = " by that way" if len(each.squares) > 2 else ""
            return IllegalTurnError("M1", f"{who} {takes} {each.squares[-1]} in {MOST_STEPS} steps{way}")
    return IllegalTurnError("M1", f"the turn takes more steps than {MOST_STEPS}, which is the most")

"""All legal infantry turns of a position, one after another (clauses M and P)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from game.montecassino._bits import Frame, forces_of, frame_of, indices
from game.montecassino._freeing import most_freed
from game.montecassino.outcomes import outcome
from game.montecassino.position import Position
from game.montecassino.squares import Square
from game.montecassino.turns import MOST_STEPS, Move, Turn


class _Neighbours(NamedTuple):
    """Numbers of the bits around one, by the step that leads there."""

    forward: tuple[int, ...]
    lateral: tuple[int, ...]
    backward: tuple[int, ...]
    taking: tuple[int, ...]


class _Group(NamedTuple):
    """One soldier's steps, with its squares as bits: the start, all that it enters, and the end."""

    move: Move
    steps: int
    start: int
    entered: int
    end: int


@cache
def _near(frame: Frame) -> tuple[_Neighbours, ...]:
    """Return what is around each bit."""
    return tuple(_neighbours(frame, index) for index in range(frame.size))


def _neighbours(frame: Frame, index: int) -> _Neighbours:
    bit = 1 << index
    lateral = tuple(indices(frame.beside(bit)))
    last_line = bit & frame.line_18
    return _Neighbours(
        forward=() if last_line else (index + frame.forward,),
        lateral=lateral,
        backward=(index - frame.forward,) if bit & frame.may_step_back else (),
        taking=() if last_line else tuple(beside + frame.forward for beside in lateral),
    )


def legal_turns(position: Position, movers: Iterable[Square] | None = None) -> Iterator[Turn]:
    """Yield every legal infantry turn; the same soldiers in another order, or by another way, are another turn.

    Nothing is built ahead of what is asked for. A position whose battle is over has none.

    Parameters
    ----------
    position : Position
        At the start of the turn.
    movers : Iterable of Square, optional
        The squares whose soldiers may move; by default all of the side to move.
    """
    if outcome(position) is not None:
        return
    own, enemy, comrades_held = forces_of(position)
    frame = frame_of(position)
    empty = frame.all & ~own & ~enemy
    may_move = own
    if movers is not None:
        may_move &= sum(frame.bit_of[square.index] for square in frozenset(movers))
    groups = [
        group for start in indices(may_move) for group in _groups(frame, start, empty, enemy, MOST_STEPS)
    ]
    yield from _turns(frame, comrades_held, own, enemy, may_move, MOST_STEPS, (), groups)


def _turns(
    frame: Frame,
    comrades_held: int,
    own: int,
    enemy: int,
    unmoved: int,
    steps_left: int,
    moves: tuple[Move, ...],
    groups: list[_Group],
) -> Iterator[Turn]:
    """Yield the turns that begin with `moves` and go on with one of `groups`, the legal ones from here."""
    for group in groups:
        move, steps, start, _, end = group
        so_far = (*moves, move)
        yield Turn(so_far)
        enemy_after = enemy & ~end
        if end & frame.line_18 or not enemy_after:
            continue  # V0: the step that wins ends the turn
        own_after = own ^ start ^ end
        empty = frame.all & ~own_after & ~enemy_after
        if comrades_held and end & frame.line_16 and not start & frame.line_16:
            for freed in range(1, most_freed(frame, comrades_held, end, enemy_after, empty) + 1):
                yield Turn(so_far, freed)
        left = steps_left - steps
        if not left:
            continue
        still_legal = [
            other
            for other in groups
            if other.steps <= left and other.start != start and not other.entered & end
        ]
        # Opened by this move: what leads comrades onto or over the square that it has left.
        still_unmoved = unmoved ^ start
        nearby = frame.one_step_from(start)
        if left > 1:
            nearby |= frame.one_step_from(nearby)
        for other_start in indices(still_unmoved & nearby):
            still_legal += [
                other
                for other in _groups(frame, other_start, empty, enemy_after, left)
                if other.entered & start
            ]
        yield from _turns(
            frame, comrades_held, own_after, enemy_after, still_unmoved, left, so_far, still_legal
        )


def _groups(frame: Frame, start: int, empty: int, enemy: int, most_steps: int) -> list[_Group]:
    """Return what one soldier may do with up to `most_steps` steps."""
    start_bit = 1 << start
    most = most_steps if start_bit & frame.lines_3_to_15 else 1
    near_by = _near(frame)
    found: list[_Group] = []
    paths: list[tuple[tuple[int, ...], int, bool]] = [((start,), 0, False)]
    for path, entered, sidestepped in paths:  # grows while it is walked
        steps = len(path)
        near = near_by[path[-1]]
        ways = [(there, sidestepped, False) for there in near.forward if empty >> there & 1]
        if not sidestepped:
            ways += [(there, True, False) for there in near.lateral if empty >> there & 1]
            ways += [(there, False, True) for there in near.taking if enemy >> there & 1]
        if steps == 1:
            ways += [(there, True, True) for there in near.backward if empty >> there & 1]
        for there, aside, ends in ways:
            end = 1 << there
            way = (*path, there)
            takes = bool(end & enemy)
            found.append(_Group(_move(frame, way, takes), steps, start_bit, entered | end, end))
            if steps < most and not ends and not end & frame.line_16:
                paths.append((way, entered | end, aside))
    return found


@cache
def _move(frame: Frame, path: tuple[int, ...], takes: bool) -> Move:
    return Move(tuple(frame.squares[index] for index in path), takes)

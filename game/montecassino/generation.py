"""All legal infantry turns of a position, one after another (clauses M and P)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from game.montecassino._bits import (
    ALL,
    FORWARD,
    LINE_16,
    LINE_18,
    LINES_3_TO_15,
    MAY_STEP_BACK,
    NOT_LEFT,
    NOT_RIGHT,
    SQUARES,
    forces_of,
    indices,
    one_step_from,
    square_of,
)
from game.montecassino._freeing import most_freed
from game.montecassino.outcomes import outcome
from game.montecassino.position import Position
from game.montecassino.squares import Side
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


def _neighbours(index: int) -> _Neighbours:
    bit = 1 << index
    lateral = (*((index - 1,) if bit & NOT_LEFT else ()), *((index + 1,) if bit & NOT_RIGHT else ()))
    last_line = bit & LINE_18
    return _Neighbours(
        forward=() if last_line else (index + FORWARD,),
        lateral=lateral,
        backward=(index - FORWARD,) if bit & MAY_STEP_BACK else (),
        taking=() if last_line else tuple(beside + FORWARD for beside in lateral),
    )


_NEAR = tuple(map(_neighbours, range(SQUARES)))


def legal_turns(position: Position) -> Iterator[Turn]:
    """Yield every legal infantry turn; the same soldiers in another order, or by another way, are another turn.

    Nothing is built ahead of what is asked for. A position whose battle is over has none.
    """
    if outcome(position) is not None:
        return
    own, enemy, comrades_held = forces_of(position)
    side = position.turn
    empty = ALL & ~own & ~enemy
    groups = [group for start in indices(own) for group in _groups(side, start, empty, enemy, MOST_STEPS)]
    yield from _turns(side, comrades_held, own, enemy, own, MOST_STEPS, (), groups)


def _turns(
    side: Side,
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
        if end & LINE_18 or not enemy_after:
            continue  # V0: the step that wins ends the turn
        own_after = own ^ start ^ end
        empty = ALL & ~own_after & ~enemy_after
        if comrades_held and end & LINE_16 and not start & LINE_16:
            for freed in range(1, most_freed(comrades_held, end, enemy_after, empty) + 1):
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
        nearby = one_step_from(start)
        if left > 1:
            nearby |= one_step_from(nearby)
        for other_start in indices(still_unmoved & nearby):
            still_legal += [
                other
                for other in _groups(side, other_start, empty, enemy_after, left)
                if other.entered & start
            ]
        yield from _turns(
            side, comrades_held, own_after, enemy_after, still_unmoved, left, so_far, still_legal
        )


def _groups(side: Side, start: int, empty: int, enemy: int, most_steps: int) -> list[_Group]:
    """Return what one soldier may do with up to `most_steps` steps."""
    start_bit = 1 << start
    most = most_steps if start_bit & LINES_3_TO_15 else 1
    found: list[_Group] = []
    paths: list[tuple[tuple[int, ...], int, bool]] = [((start,), 0, False)]
    for path, entered, sidestepped in paths:  # grows while it is walked
        steps = len(path)
        near = _NEAR[path[-1]]
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
            found.append(_Group(_move(side, way, takes), steps, start_bit, entered | end, end))
            if steps < most and not ends and not end & LINE_16:
                paths.append((way, entered | end, aside))
    return found


@cache
def _move(side: Side, path: tuple[int, ...], takes: bool) -> Move:
    return Move(tuple(square_of(index, side) for index in path), takes)

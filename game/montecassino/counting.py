"""The distinct positions that infantry turns give, and counting them (clause N6).

Many turns give the same position: in another order, by another way, with one soldier in another's place. So this does
not walk through the turns. To the others in a turn a soldier's move means two things: the square where it ends is
closed, and the square that it has left is open. Moves that are each legal on the board as it stands can therefore be
made together, in one order or the other, as long as they end on different squares. What remains are the turns in
which a soldier steps on or over a square that a comrade has just left; those are looked for one by one, and so are
the endings that nothing may follow: a step that wins, and freeing.

A result is one int: the mover's soldiers, and above them the enemy's, both in the mover's frame. A move is its
difference, so the result of several moves is an exclusive or.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from game.montecassino._bits import (
    ALL,
    FORWARD,
    LINE_16,
    LINE_17,
    LINE_18,
    LINES_3_TO_13,
    LINES_3_TO_14,
    LINES_3_TO_15,
    LINES_13_TO_15,
    NOT_LEFT,
    NOT_RIGHT,
    SQUARES,
    Forces,
    Pattern,
    beside,
    forces_of,
    indices,
    one_step_from,
    single_steps,
    square_of,
    turned,
)
from game.montecassino._freeing import brought_home, most_freed
from game.montecassino.outcomes import outcome
from game.montecassino.position import Position
from game.montecassino.turns import MOST_STEPS

# One soldier's move: its difference to the board, where it starts and where it ends.
_Move = tuple[int, int, int]


def results(position: Position) -> Iterator[Position]:
    """Yield the distinct positions that one infantry turn can give, in no particular order."""
    if outcome(position) is not None:
        return
    side = position.turn
    forces = forces_of(position)
    own_before, enemy_before = forces.own.bit_count(), forces.enemy.bit_count()
    for packed in _distinct(forces):
        own, enemy = packed & ALL, packed >> SQUARES
        soldiers = {square_of(index, side): side for index in indices(own)}
        soldiers.update((square_of(index, side), side.enemy) for index in indices(enemy))
        yield replace(
            position,
            turn=side.enemy,
            soldiers=soldiers,
            held={
                side: position.held[side] + enemy_before - enemy.bit_count(),
                side.enemy: position.held[side.enemy] - (own.bit_count() - own_before),
            },
        )


def perft(position: Position, depth: int) -> int:
    """Count positions over `depth` infantry turns (N6).

    Raises
    ------
    ValueError
        If `depth` is less than 1.
    """
    if depth < 1:
        raise ValueError(f"depth is {depth}, expected 1 or more")
    if outcome(position) is not None:
        return 0
    return _count(forces_of(position), position.held[position.turn], depth)


def _count(forces: Forces, prisoners: int, depth: int) -> int:
    """Count as `perft` does; `prisoners` are the enemies that the mover holds."""
    found = _distinct(forces)
    if depth == 1:
        return len(found)
    own_before, enemy_before = forces.own.bit_count(), forces.enemy.bit_count()
    total = 0
    for packed in found:
        own, enemy = packed & ALL, packed >> SQUARES
        if not enemy or own & LINE_18:
            continue
        captured = enemy_before - enemy.bit_count()
        freed = own.bit_count() - own_before
        reply = Forces(turned(enemy), turned(own), prisoners + captured)
        total += _count(reply, forces.comrades_held - freed, depth - 1)
    return total


def _distinct(forces: Forces) -> set[int]:
    """Return the results of all turns of a battle that is not over."""
    own, enemy, comrades_held = forces
    before = own | enemy << SQUARES
    empty = ALL & ~own & ~enemy
    # Steps that win end the turn; with one enemy left, taking it is such a step too.
    takeable = enemy if enemy.bit_count() > 1 else 0
    ones = _moves(single_steps(own, empty & ~LINE_18, takeable & ~LINE_18))
    twos = _moves(_double_steps(own, empty, takeable))
    threes = _moves(_triple_steps(own, empty, takeable))
    followers = {start: _steps_into(start, own) for start in (1 << index for index in indices(own))}

    found = {before ^ change for moves in (ones, twos, threes) for change, _, _ in moves}
    for number, (change, start, end) in enumerate(ones):
        after = before ^ change
        # One step and two steps, in either order; the two may lead over the square that the one has left.
        found.update(after ^ other for other, start_2, end_2 in twos if start_2 != start and end_2 != end)
        followed = _double_steps(
            (own ^ start) & _within_two_steps(start), (empty | start) & ~end, takeable & ~end
        )
        found.update(after ^ other for other, _, _ in _moves(followed))
        # A comrade steps into the square left, and anybody may take the third step.
        for change_2, start_2 in followers[start]:
            after_2 = after ^ change_2
            found.add(after_2)
            found.update(
                after_2 ^ third
                for third, start_3, end_3 in ones
                if end_3 != end and start_3 not in (start, start_2)
            )
            found.update(after_2 ^ third for third, start_3 in followers[start_2] if start_3 != start)
        # Two or three steps that are each legal as the board stands, or the third into a square left.
        rest = [move for move in ones[number + 1 :] if move[1] != start and move[2] != end]
        for number_2, (change_2, start_2, end_2) in enumerate(rest):
            after_2 = after ^ change_2
            found.add(after_2)
            found.update(
                after_2 ^ third
                for third, start_3, end_3 in rest[number_2 + 1 :]
                if end_3 != end_2 and start_3 != start_2
            )
            if after_2 >> SQUARES:
                found.update(after_2 ^ third for third, start_3 in followers[start] if start_3 != start_2)
                found.update(after_2 ^ third for third, start_3 in followers[start_2] if start_3 != start)
    for change, start, _ in twos:
        found.update(before ^ change ^ other for other, _ in followers[start])

    liberators = LINES_13_TO_15 if comrades_held else 0
    if own & (LINE_17 | liberators) or not takeable:
        for packed, unmoved, steps_left in _openings(before, own, ones, twos, followers):
            found.update(_endings(packed, unmoved, steps_left, comrades_held))
    return found


def _openings(
    before: int,
    own: int,
    ones: list[_Move],
    twos: list[_Move],
    followers: dict[int, list[tuple[int, int]]],
) -> Iterator[tuple[int, int, int]]:
    """Yield what a turn may have done before its last move: the board, who has not moved, and the steps left."""
    yield before, own, MOST_STEPS
    for change, start, _ in twos:
        yield before ^ change, own ^ start, MOST_STEPS - 2
    for number, (change, start, end) in enumerate(ones):
        after, unmoved = before ^ change, own ^ start
        yield after, unmoved, MOST_STEPS - 1
        for change_2, start_2 in followers[start]:
            yield after ^ change_2, unmoved ^ start_2, MOST_STEPS - 2
        for change_2, start_2, end_2 in ones[number + 1 :]:
            if start_2 != start and end_2 != end:
                yield after ^ change_2, unmoved ^ start_2, MOST_STEPS - 2


def _endings(packed: int, unmoved: int, steps_left: int, comrades_held: int) -> Iterator[int]:
    """Yield the results of last moves that win or free comrades."""
    own, enemy = packed & ALL, packed >> SQUARES
    if not enemy:
        return
    empty = ALL & ~own & ~enemy
    for change, _, _ in _moves(single_steps(unmoved & LINE_17, empty & LINE_18, enemy & LINE_18)):
        yield packed ^ change
    last_enemy = enemy.bit_count() == 1
    if last_enemy:
        for change, _, _ in _moves(_up_to(steps_left, unmoved, empty, enemy)):
            if change >> SQUARES:
                yield packed ^ change
    if comrades_held:
        takeable = 0 if last_enemy else enemy
        for change, _, end in _moves(_up_to(steps_left, unmoved & LINES_13_TO_15, empty, takeable)):
            if end & LINE_16:
                after = packed ^ change
                for freed in range(1, most_freed(comrades_held, end, enemy, empty) + 1):
                    yield brought_home(after, end, empty, freed)


def _moves(patterns: Iterable[Pattern]) -> list[_Move]:
    """Return the moves of a few patterns one by one."""
    found = []
    for ends, shift, takes in patterns:
        left = ends
        while left:
            end = left & -left
            left ^= end
            start = end >> shift if shift > 0 else end << -shift
            change = start | end
            found.append((change | end << SQUARES if takes else change, start, end))
    return found


def _up_to(steps: int, movers: int, empty: int, enemy: int) -> Iterator[Pattern]:
    """Yield the patterns of one soldier's moves of up to `steps` steps."""
    for step_count, patterns in enumerate((single_steps, _double_steps, _triple_steps), 1):
        if step_count <= steps:
            yield from patterns(movers, empty, enemy)


def _double_steps(movers: int, empty: int, enemy: int) -> tuple[Pattern, ...]:
    """Return what one soldier reaches by exactly two steps (M3, M4, M6, M7)."""
    once = (movers & LINES_3_TO_14) << FORWARD & empty
    to_left, to_right = _beside_one_ahead(movers, empty, once)
    return (
        (once << FORWARD & empty, 2 * FORWARD, False),
        (to_left, FORWARD - 1, False),
        (to_right, FORWARD + 1, False),
        ((once & NOT_LEFT) << FORWARD - 1 & enemy, 2 * FORWARD - 1, True),
        ((once & NOT_RIGHT) << FORWARD + 1 & enemy, 2 * FORWARD + 1, True),
    )


def _triple_steps(movers: int, empty: int, enemy: int) -> tuple[Pattern, ...]:
    """Return what one soldier reaches by exactly three steps (M3, M4, M6, M7)."""
    once = (movers & LINES_3_TO_14) << FORWARD & empty
    twice = (movers & LINES_3_TO_13) << 2 * FORWARD & once << FORWARD & empty
    to_left, to_right = (beside & ~LINE_16 for beside in _beside_one_ahead(movers, empty, once))
    return (
        (twice << FORWARD & empty, 3 * FORWARD, False),
        (((twice & NOT_LEFT) >> 1 | to_left << FORWARD) & empty, 2 * FORWARD - 1, False),
        (((twice & NOT_RIGHT) << 1 | to_right << FORWARD) & empty, 2 * FORWARD + 1, False),
        ((twice & NOT_LEFT) << FORWARD - 1 & enemy, 3 * FORWARD - 1, True),
        ((twice & NOT_RIGHT) << FORWARD + 1 & enemy, 3 * FORWARD + 1, True),
    )


def _beside_one_ahead(movers: int, empty: int, once: int) -> tuple[int, int]:
    """Return the squares one ahead and one to the left, or right, reached by a forward and a lateral step.

    `once` are those reached by the forward step alone.
    """
    sidling = movers & LINES_3_TO_15
    return (
        ((once & NOT_LEFT) >> 1 | ((sidling & NOT_LEFT) >> 1 & empty) << FORWARD) & empty,
        ((once & NOT_RIGHT) << 1 | ((sidling & NOT_RIGHT) << 1 & empty) << FORWARD) & empty,
    )


def _steps_into(square: int, movers: int) -> list[tuple[int, int]]:
    """Return the single steps into a square that a comrade leaves, as difference to the board and start."""
    return [(square | 1 << index, 1 << index) for index in indices(one_step_from(square) & movers)]


def _within_two_steps(square: int) -> int:
    """Return the squares from which two steps may lead over or onto this one."""
    behind = square >> FORWARD
    return behind | behind >> FORWARD | beside(square) | beside(behind)

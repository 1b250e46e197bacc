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

from game.montecassino._bits import Forces, Frame, Pattern, forces_of, frame_of, indices
from game.montecassino._freeing import brought_home, most_freed
from game.montecassino.outcomes import outcome
from game.montecassino.position import Position
from game.montecassino.turns import MOST_STEPS

MOST_DEPTH = 100
"""Turns that `perft` looks ahead at most; no count of so many ends in anybody's time."""

# One soldier's move: its difference to the board, where it starts and where it ends.
_Move = tuple[int, int, int]


def results(position: Position) -> Iterator[Position]:
    """Yield the distinct positions that one infantry turn can give, in no particular order."""
    if outcome(position) is not None:
        return
    side = position.turn
    frame = frame_of(position)
    forces = forces_of(position)
    own_before, enemy_before = forces.own.bit_count(), forces.enemy.bit_count()
    for packed in distinct_results(frame, forces):
        own, enemy = packed & frame.all, packed >> frame.size
        soldiers = {frame.squares[index]: side for index in indices(own)}
        soldiers.update((frame.squares[index], side.enemy) for index in indices(enemy))
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
        If `depth` is less than 1 or more than `MOST_DEPTH`.
    """
    if not 1 <= depth <= MOST_DEPTH:
        raise ValueError(f"depth is {depth}, expected 1 to {MOST_DEPTH}")
    if outcome(position) is not None:
        return 0
    mover = position.turn
    frames = frame_of(position), frame_of(position, mover.enemy)
    return _count(frames, forces_of(position), position.held[mover], depth)


def _count(frames: tuple[Frame, Frame], forces: Forces, prisoners: int, depth: int) -> int:
    """Count as `perft` does, in the mover's frame and the enemy's; `prisoners` are the enemies that the mover holds."""
    frame, enemy_frame = frames
    found = distinct_results(frame, forces)
    if depth == 1:
        return len(found)
    own_before, enemy_before = forces.own.bit_count(), forces.enemy.bit_count()
    total = 0
    for packed in found:
        own, enemy = packed & frame.all, packed >> frame.size
        if not enemy or own & frame.line_18:
            continue
        captured = enemy_before - enemy.bit_count()
        freed = own.bit_count() - own_before
        reply = Forces(frame.turned(enemy), frame.turned(own), prisoners + captured)
        total += _count((enemy_frame, frame), reply, forces.comrades_held - freed, depth - 1)
    return total


def distinct_results(frame: Frame, forces: Forces) -> set[int]:
    """Return the results of all turns of a battle that is not over: `own | enemy << frame.size` of each."""
    own, enemy, comrades_held = forces
    size = frame.size
    before = own | enemy << size
    empty = frame.all & ~own & ~enemy
    # Steps that win end the turn; with one enemy left, taking it is such a step too.
    takeable = enemy if enemy.bit_count() > 1 else 0
    ones = _moves(frame, frame.single_steps(own, empty & ~frame.line_18, takeable & ~frame.line_18))
    twos = _moves(frame, _double_steps(frame, own, empty, takeable))
    threes = _moves(frame, _triple_steps(frame, own, empty, takeable))
    followers = {start: _steps_into(frame, start, own) for start in (1 << index for index in indices(own))}

    found = {before ^ change for moves in (ones, twos, threes) for change, _, _ in moves}
    for number, (change, start, end) in enumerate(ones):
        after = before ^ change
        # One step and two steps, in either order; the two may lead over the square that the one has left.
        found.update(after ^ other for other, start_2, end_2 in twos if start_2 != start and end_2 != end)
        near = (own ^ start) & _within_two_steps(frame, start)
        followed = _double_steps(frame, near, (empty | start) & ~end, takeable & ~end)
        found.update(after ^ other for other, _, _ in _moves(frame, followed))
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
            if after_2 >> size:
                found.update(after_2 ^ third for third, start_3 in followers[start] if start_3 != start_2)
                found.update(after_2 ^ third for third, start_3 in followers[start_2] if start_3 != start)
    for change, start, _ in twos:
        found.update(before ^ change ^ other for other, _ in followers[start])

    liberators = frame.lines_13_to_15 if comrades_held else 0
    if own & (frame.line_17 | liberators) or not takeable:
        for packed, unmoved, steps_left in _openings(before, own, ones, twos, followers):
            found.update(_endings(frame, packed, unmoved, steps_left, comrades_held))
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


def _endings(frame: Frame, packed: int, unmoved: int, steps_left: int, comrades_held: int) -> Iterator[int]:
    """Yield the results of last moves that win or free comrades."""
    own, enemy = packed & frame.all, packed >> frame.size
    if not enemy:
        return
    empty = frame.all & ~own & ~enemy
    winning = frame.single_steps(unmoved & frame.line_17, empty & frame.line_18, enemy & frame.line_18)
    for change, _, _ in _moves(frame, winning):
        yield packed ^ change
    last_enemy = enemy.bit_count() == 1
    if last_enemy:
        for change, _, _ in _moves(frame, _up_to(frame, steps_left, unmoved, empty, enemy)):
            if change >> frame.size:
                yield packed ^ change
    if comrades_held:
        takeable = 0 if last_enemy else enemy
        for change, _, end in _moves(
            frame, _up_to(frame, steps_left, unmoved & frame.lines_13_to_15, empty, takeable)
        ):
            if end & frame.line_16:
                after = packed ^ change
                for freed in range(1, most_freed(frame, comrades_held, end, enemy, empty) + 1):
                    yield brought_home(frame, after, end, empty, freed)


def _moves(frame: Frame, patterns: Iterable[Pattern]) -> list[_Move]:
    """Return the moves of a few patterns one by one."""
    size = frame.size
    found = []
    for ends, shift, takes in patterns:
        left = ends
        while left:
            end = left & -left
            left ^= end
            start = end >> shift if shift > 0 else end << -shift
            change = start | end
            found.append((change | end << size if takes else change, start, end))
    return found


def _up_to(frame: Frame, steps: int, movers: int, empty: int, enemy: int) -> Iterator[Pattern]:
    """Yield the patterns of one soldier's moves of up to `steps` steps."""
    for step_count, patterns in enumerate((Frame.single_steps, _double_steps, _triple_steps), 1):
        if step_count <= steps:
            yield from patterns(frame, movers, empty, enemy)


def _double_steps(frame: Frame, movers: int, empty: int, enemy: int) -> tuple[Pattern, ...]:
    """Return what one soldier reaches by exactly two steps (M3, M4, M6, M7)."""
    once = (movers & frame.lines_3_to_14) << frame.forward & empty
    to_left, to_right = _beside_one_ahead(frame, movers, empty, once)
    return (
        (once << frame.forward & empty, 2 * frame.forward, False),
        (to_left, frame.forward - 1, False),
        (to_right, frame.forward + 1, False),
        ((once & frame.not_left) << frame.forward - 1 & enemy, 2 * frame.forward - 1, True),
        ((once & frame.not_right) << frame.forward + 1 & enemy, 2 * frame.forward + 1, True),
    )


def _triple_steps(frame: Frame, movers: int, empty: int, enemy: int) -> tuple[Pattern, ...]:
    """Return what one soldier reaches by exactly three steps (M3, M4, M6, M7)."""
    once = (movers & frame.lines_3_to_14) << frame.forward & empty
    twice = (movers & frame.lines_3_to_13) << 2 * frame.forward & once << frame.forward & empty
    to_left, to_right = (beside & ~frame.line_16 for beside in _beside_one_ahead(frame, movers, empty, once))
    return (
        (twice << frame.forward & empty, 3 * frame.forward, False),
        (((twice & frame.not_left) >> 1 | to_left << frame.forward) & empty, 2 * frame.forward - 1, False),
        (((twice & frame.not_right) << 1 | to_right << frame.forward) & empty, 2 * frame.forward + 1, False),
        ((twice & frame.not_left) << frame.forward - 1 & enemy, 3 * frame.forward - 1, True),
        ((twice & frame.not_right) << frame.forward + 1 & enemy, 3 * frame.forward + 1, True),
    )


def _beside_one_ahead(frame: Frame, movers: int, empty: int, once: int) -> tuple[int, int]:
    """Return the squares one ahead and one to the left, or right, reached by a forward and a lateral step.

    `once` are those reached by the forward step alone.
    """
    sidling = movers & frame.lines_3_to_15
    return (
        ((once & frame.not_left) >> 1 | ((sidling & frame.not_left) >> 1 & empty) << frame.forward) & empty,
        ((once & frame.not_right) << 1 | ((sidling & frame.not_right) << 1 & empty) << frame.forward) & empty,
    )


def _steps_into(frame: Frame, square: int, movers: int) -> list[tuple[int, int]]:
    """Return the single steps into a square that a comrade leaves, as difference to the board and start."""
    return [(square | 1 << index, 1 << index) for index in indices(frame.one_step_from(square) & movers)]


def _within_two_steps(frame: Frame, square: int) -> int:
    """Return the squares from which two steps may lead over or onto this one."""
    behind = square >> frame.forward
    return behind | behind >> frame.forward | frame.beside(square) | frame.beside(behind)

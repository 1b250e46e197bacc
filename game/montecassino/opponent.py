"""A simple opponent for one person alone: it looks one turn ahead, and moves infantry only.

It weighs every distinct position that its turn can give. A win is taken. Otherwise the position of the most worth is, in
which the enemy cannot win by its next turn, if there is one. Worth is soldiers, how far they have come, and how many of
them the enemy could take. The figures are by feel: they make a sensible game, and nothing hangs on them.

It never fires, as only the table knows what a shot does, and it never retreats, which gives half a point away (R3).
"""

from __future__ import annotations

from heapq import nlargest
from random import Random

from game.montecassino._bits import Forces, Frame, forces_of, frame_of, indices
from game.montecassino.counting import distinct_results
from game.montecassino.generation import legal_turns
from game.montecassino.outcomes import outcome
from game.montecassino.position import Position
from game.montecassino.squares import BOARD_ROWS
from game.montecassino.turns import MOST_STEPS, Turn, apply_turn

_SOLDIER = 100
_EXPOSED = 70
"""What a soldier is worth less where the enemy could take it; of three at most, which is all that one turn takes."""
_COVERED = 40
"""The same, where a comrade could take the taker."""
_THREAT = 60
"""A soldier on own line 17 that nobody can take, and that would win by its next step."""
_MOST_TAKEN = 3
_BY_LINE = (*(line * line // 8 for line in range(BOARD_ROWS - 1)), 60, 0)
"""What a soldier is worth more by its own line, from 0 (no line) to 18 (won)."""

_MOST_CHECKED = 20
"""Positions at the top of the list that are searched for a win of the enemy, before all count as lost."""


def choose_turn(position: Position, rng: Random) -> Turn:
    """Return the turn that the opponent would make for the side to move.

    Parameters
    ----------
    position : Position
        Where the battle goes on.
    rng : Random
        Decides among turns of the same worth.

    Raises
    ------
    ValueError
        If the battle is over.
    """
    if outcome(position) is not None:
        raise ValueError("the battle is over, and nobody moves")
    sight = _Sight(position)
    found = distinct_results(sight.frame, forces_of(position))
    weighed = ((sight.worth(packed), rng.random(), packed) for packed in found)
    best = [packed for _, _, packed in nlargest(_MOST_CHECKED, weighed)]
    chosen = next((packed for packed in best if not sight.lost(packed)), best[0])
    return _turn_giving(position, sight.frame, chosen)


class _Sight:
    """How the side to move sees the positions that its turn can give, each packed as `distinct_results` has them."""

    def __init__(self, position: Position) -> None:
        self.frame = frame_of(position)
        self.foe_frame = frame_of(position, position.turn.enemy)
        self._before = forces_of(position)
        self._prisoners = position.held[position.turn]
        self._line_2 = self.frame.line_1 << self.frame.forward
        self._by_bit = tuple(_BY_LINE[1 + number // self.frame.forward] for number in range(self.frame.size))

    def worth(self, packed: int) -> float:
        """Return what a position is worth, the enemy being to move; infinite where it is won."""
        frame = self.frame
        own, enemy = packed & frame.all, packed >> frame.size
        if _won(frame, self.foe_frame, own, enemy):
            return float("inf")
        forward = frame.forward
        empty = frame.all & ~own & ~enemy
        if self._one_step_from_winning(own, enemy):
            return float("-inf")
        # The squares that each side's soldiers can take on, having gone straight ahead.
        foe_goes = enemy & frame.lines_3_to_15 << forward
        foe_once = foe_goes >> forward & empty
        foe_twice = (foe_once & frame.lines_3_to_15 << forward) >> forward & empty
        exposed = frame.beside(enemy | foe_once | foe_twice) >> forward & own
        once = (own & frame.lines_3_to_15) << forward & empty
        covered = exposed & frame.beside(own | once) << forward
        with_cover = covered.bit_count()
        without = min(_MOST_TAKEN, exposed.bit_count() - with_cover)
        threats = own & frame.line_17 & ~exposed & (empty >> forward | frame.beside(enemy >> forward))
        # Of how far all have come, only what this turn has changed tells one position from another.
        by_bit, before = self._by_bit, self._before.own
        gained = sum(map(by_bit.__getitem__, indices(own & ~before)))
        given_up = sum(map(by_bit.__getitem__, indices(before & ~own)))
        return (
            _SOLDIER * (own.bit_count() - enemy.bit_count())
            + gained
            - given_up
            + _THREAT * threats.bit_count()
            - _EXPOSED * without
            - _COVERED * min(_MOST_TAKEN - without, with_cover)
        )

    def _one_step_from_winning(self, own: int, enemy: int) -> int:
        """Return the enemies that the next step can take to the own first line (V2)."""
        frame = self.frame
        empty = frame.all & ~own & ~enemy
        return enemy & self._line_2 & (empty << frame.forward | frame.beside(own << frame.forward))

    def lost(self, packed: int) -> bool:
        """Whether the enemy can win by its next turn."""
        frame, foe_frame = self.frame, self.foe_frame
        own, enemy = packed & frame.all, packed >> frame.size
        if _won(frame, foe_frame, own, enemy):
            return False
        # A step takes one soldier at most, and closes the square ahead of one more: many are out of danger unlooked.
        free_ahead = own << frame.forward & frame.all & ~own & ~enemy
        if free_ahead.bit_count() > 2 * MOST_STEPS:
            return bool(self._one_step_from_winning(own, enemy))
        prisoners = self._prisoners + self._before.enemy.bit_count() - enemy.bit_count()
        replies = distinct_results(foe_frame, Forces(frame.turned(enemy), frame.turned(own), prisoners))
        return any(
            _won(foe_frame, frame, reply & foe_frame.all, reply >> foe_frame.size) for reply in replies
        )


def _won(frame: Frame, foe_frame: Frame, own: int, enemy: int) -> bool:
    """Whether the side that has just moved has won (V1 to V3)."""
    if not enemy or own & frame.line_18:
        return True
    empty = frame.all & ~own & ~enemy
    if enemy >> frame.forward & empty:
        return False  # one of them can step forward
    foe_own, foe_enemy = frame.turned(enemy), frame.turned(own)
    steps = foe_frame.single_steps(foe_own, frame.turned(empty), foe_enemy)
    return not any(ends for ends, _, _ in steps)


def _turn_giving(position: Position, frame: Frame, packed: int) -> Turn:
    """Return a turn that gives a position."""
    before, own = forces_of(position).own, packed & frame.all
    freed = own.bit_count() - before.bit_count()
    # Whoever moves stands near a square that is left or entered, though comrades may pass a square on.
    near = before ^ own
    for _ in range(MOST_STEPS + 1):
        near |= near << frame.forward & frame.all | near >> frame.forward | frame.beside(near)
    movers = [frame.squares[index] for index in indices(near & before)]
    soldiers = {frame.squares[index]: frame.side for index in indices(own)}
    soldiers |= {frame.squares[index]: frame.side.enemy for index in indices(packed >> frame.size)}
    return next(
        turn
        for turn in legal_turns(position, movers)
        if turn.freed == freed
        and (freed or _moved(frame, turn) == before ^ own)
        and apply_turn(position, turn).soldiers == soldiers
    )


def _moved(frame: Frame, turn: Turn) -> int:
    """Return the squares that a turn leaves or enters, but for those that one leaves and another enters."""
    squares = 0
    for move in turn.moves:
        squares ^= frame.bit_of[move.squares[0].index] ^ frame.bit_of[move.squares[-1].index]
    return squares

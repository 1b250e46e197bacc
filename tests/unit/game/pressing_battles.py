"""Battles that go on at random from where they stand: soldiers press forward, and now and then a cannon fires."""

from __future__ import annotations

from itertools import islice
from random import Random

from game.montecassino import IllegalTurnError, Move, Position, Side, Square, Turn, apply_turn, legal_turns
from game.montecassino.agreement import Agreement
from game.montecassino.battle import Battle
from game.montecassino.entries import Abandon, Adjourn, Entry, Retreat, Shot

STEPS = ((1, 0), (1, 0), (1, 0), (1, 0), (0, 1), (0, -1), (-1, 0))


def press_on(draw: Random, battle: Battle, most_turns: int) -> Battle:
    """Play on until the battle ends or so many turns are played."""
    for _ in range(most_turns):
        if battle.outcome is not None:
            break
        if battle.adjourned:
            battle = battle.resume()
        try:
            battle = battle.play(random_entry(draw, battle.position, battle.agreement))
        except IllegalTurnError:
            # A retreat or a shot that is spent: the infantry marches.
            battle = battle.play(random_turn(draw, battle.position))
    return battle


def random_entry(draw: Random, position: Position, agreement: Agreement) -> Entry:
    what = draw.random()
    if what < 0.005:
        return Abandon()
    if what < 0.02:
        return Adjourn()
    if what < 0.04:
        return Retreat()
    if what < 0.2:
        zone = set(agreement.zones[position.turn])
        hit = [square for square in position.soldiers if square in zone]
        return Shot(tuple(draw.sample(hit, min(len(hit), draw.choice((0, 1, 1, 2, 5))))))
    return random_turn(draw, position)


def random_turn(draw: Random, position: Position) -> Turn:
    """Return a legal turn: a capture or a freeing often, where there is one."""
    side = position.turn
    own = position.squares_of(side)
    for _ in range(60):
        moves: list[Move] = []
        steps_left = draw.randint(1, 3)
        while steps_left:
            move = random_move(draw, position, side, draw.choice(own), draw.randint(1, steps_left))
            if move is None:
                break
            moves.append(move)
            steps_left -= move.steps
        for freed in draw.sample((0, 1, 2), 3):
            turn = Turn(tuple(moves), freed)
            try:
                apply_turn(position, turn)
            except IllegalTurnError:
                continue
            return turn
    return draw.choice(list(islice(legal_turns(position), 50)))


def random_move(draw: Random, position: Position, side: Side, start: Square, steps: int) -> Move | None:
    """Return some soldier's steps, not many of them against the rules; None off the board."""
    squares = [start]
    for _ in range(steps):
        line, file = squares[-1].own_line(side), squares[-1].own_file(side)
        files = 8 * position.boards
        if line == 18:
            return None
        for beside in (file - 1, file + 1):
            if 0 <= beside < files:
                diagonal = Square.from_own(side, line + 1, beside, position.boards)
                if position.soldiers.get(diagonal) is side.enemy:
                    return Move((*squares, diagonal), captures=True)
        up, across = draw.choice(STEPS)
        if not (1 <= line + up <= 18 and 0 <= file + across < files):
            return None
        squares.append(Square.from_own(side, line + up, file + across, position.boards))
    return Move(tuple(squares))

"""Three ways to the same rules: turns one by one, distinct results, and the judge of a single turn."""

import hashlib
import json
from itertools import chain, islice, permutations, product
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from game.montecassino import (
    BOARD_FILES,
    BOARD_ROWS,
    IllegalTurnError,
    Move,
    Position,
    RetreatError,
    Side,
    Square,
    Turn,
    apply_turn,
    immobilised,
    legal_turns,
    outcome,
    perft,
    results,
    retreat,
)

CASES = json.loads((Path(__file__).parent / "data" / "positions.json").read_text())


@pytest.mark.parametrize("case", CASES["positions"], ids=lambda case: case["id"])
def test_rules_cases(case):
    position = Position.parse(case["position"])
    found = sorted(map(str, results(position)))
    assert perft(position, 1) == len(found) == case["perft1"]
    assert hashlib.sha256("\n".join(found).encode()).hexdigest() == case["results_sha256"]
    assert immobilised(position) == case["immobilised"]
    ended = outcome(position)
    assert (ended and ended.winner) == case["winner"]
    try:
        after_retreat = str(retreat(position))
    except RetreatError:
        after_retreat = None
    assert after_retreat == case["after_retreat"]


@pytest.mark.parametrize("case", CASES["perft2"], ids=lambda case: case["id"])
def test_n6_counts_over_two_turns(case):
    position = Position.parse(case["position"])
    assert perft(position, 1) == case["perft1"]
    assert perft(position, 2) == case["perft2"]


def test_n6_a_count_needs_a_depth():
    with pytest.raises(ValueError, match="depth is 0"):
        perft(Position.parse("A A30 G30 0/0 0/0 -"), 0)


def test_turns_are_made_as_they_are_asked_for():
    start = Position.parse("A A01-A24 G01-G24 0/0 20/20 -")
    first = list(islice(legal_turns(start), 3))
    assert len(set(first)) == 3


@pytest.mark.parametrize("position", ["A A30 - 0/0 0/0 -", "A A17 A18,A25 0/0 5/0 -"])
def test_v_a_battle_that_is_over_has_no_turns(position):
    ended = Position.parse(position)
    assert list(legal_turns(ended)) == list(results(ended)) == []
    assert perft(ended, 1) == perft(ended, 2) == 0


@st.composite
def skirmishes(draw: st.DrawFn, most_own: int, most_enemies: int) -> Position:
    """A few soldiers close together, where they open and close squares to each other, with comrades held."""
    side = draw(st.sampled_from(Side))
    first_line = draw(st.integers(1, BOARD_ROWS - 3))
    near = [
        Square.from_own(side, line, file)
        for line, file in product(range(first_line, first_line + 4), range(BOARD_FILES - 3))
    ]
    squares = draw(st.lists(st.sampled_from(near), min_size=2, max_size=most_own + most_enemies, unique=True))
    own_count = draw(st.integers(1, min(most_own, len(squares) - 1)))
    enemies = squares[own_count : own_count + most_enemies]
    soldiers = dict.fromkeys(squares[:own_count], side) | dict.fromkeys(enemies, side.enemy)
    # A base with little room makes freeing run short (P4).
    guards = draw(st.sampled_from([0, 0, 18, 22]))
    base = [Square.from_own(side, 1 + index // BOARD_FILES, index % BOARD_FILES) for index in range(guards)]
    for index, square in enumerate(base):
        if first_line > 3:
            soldiers[square] = side if index < 15 else side.enemy
    comrades_held = draw(st.integers(0, 3))
    position = Position(side, soldiers, {side: 0, side.enemy: comrades_held}, dict.fromkeys(Side, 0))
    assume(outcome(position) is None)
    return position


@given(skirmishes(5, 5))
@settings(max_examples=80)
def test_the_distinct_results_are_those_of_all_turns(position):
    turns = list(islice(legal_turns(position), 3000))
    assume(len(turns) < 3000)
    assert len(set(turns)) == len(turns)
    by_turns = {apply_turn(position, turn) for turn in turns}
    found = list(results(position))
    assert len(found) == len(set(found)) == perft(position, 1)
    assert set(found) == by_turns


@given(skirmishes(4, 4))
@settings(max_examples=40)
def test_captures_and_freeing_conserve_the_men_of_both_sides(position):
    def men(of: Position, side: Side) -> int:
        return len(of.squares_of(side)) + of.held[side.enemy]

    for after in results(position):
        assert all(men(after, side) == men(position, side) for side in Side)


def mirrored(position: Position) -> Position:
    return Position(
        position.turn.enemy,
        {square.mirrored: side.enemy for square, side in position.soldiers.items()},
        {side: position.held[side.enemy] for side in Side},
        {side: position.shots_left[side.enemy] for side in Side},
        {side.enemy for side in position.retreated},
    )


@given(skirmishes(5, 5))
@settings(max_examples=25)
def test_exchanging_the_sides_exchanges_the_results(position):
    assert {mirrored(after) for after in results(position)} == set(results(mirrored(position)))


def every_move(start: Square, steps: int, side: Side) -> list[Move]:
    """Every way of `steps` steps to any of the eight squares around, taking somebody at the end or not."""
    paths = [(start,)]
    for _ in range(steps):
        paths = [(*path, there) for path in paths for there in around(path[-1], side)]
    return [Move(path, captures) for path in paths for captures in (False, True)]


def around(square: Square, side: Side) -> list[Square]:
    line, file = square.own_line(side), square.own_file(side)
    return [
        Square.from_own(side, line + ahead, file + aside)
        for ahead, aside in product((-1, 0, 1), repeat=2)
        if (ahead, aside) != (0, 0) and 1 <= line + ahead <= BOARD_ROWS and 0 <= file + aside < BOARD_FILES
    ]


def is_legal(position: Position, turn: Turn) -> bool:
    try:
        apply_turn(position, turn)
    except IllegalTurnError:
        return False
    return True


@given(skirmishes(2, 3).filter(lambda position: len(position.squares_of(position.turn)) <= 2))
@settings(max_examples=12)
def test_generator_and_judge_agree_on_every_turn_legal_or_not(position):
    side = position.turn
    movers = position.squares_of(side)
    alone = ((move,) for start in movers for steps in (1, 2, 3) for move in every_move(start, steps, side))
    pairs = (
        moves
        for first, second in permutations(movers, 2)
        for steps in ((1, 1), (1, 2), (2, 1))
        for moves in product(every_move(first, steps[0], side), every_move(second, steps[1], side))
    )
    judged = {
        turn
        for moves in chain(alone, pairs)
        for freed in ((0, 1, 2, 3) if moves[-1].squares[-1].own_line(side) == 16 else (0,))
        if is_legal(position, turn := Turn(moves, freed))
    }
    assert judged == set(legal_turns(position))

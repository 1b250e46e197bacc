"""Three ways to the same rules: turns one by one, distinct results, and the judge of a single turn."""

import hashlib
import json
from collections import Counter
from itertools import chain, islice, permutations, product
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from montecassino_strategies import battles, mirrored, skirmishes

from game.montecassino import (
    BASE_LINES,
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
    for depth in (0, 101):
        with pytest.raises(ValueError, match=f"depth is {depth}, expected 1 to 100"):
            perft(Position.parse("A A30 G30 0/0 0/0 -"), depth)


def test_turns_are_made_as_they_are_asked_for():
    start = Position.parse("A A01-A24 G01-G24 0/0 20/20 -")
    first = list(islice(legal_turns(start), 3))
    assert len(set(first)) == 3


@pytest.mark.parametrize("position", ["A A30 - 0/0 0/0 -", "A A17 A18,A25 0/0 5/0 -"])
def test_v_a_battle_that_is_over_has_no_turns(position):
    ended = Position.parse(position)
    assert list(legal_turns(ended)) == list(results(ended)) == []
    assert perft(ended, 1) == perft(ended, 2) == 0


@given(skirmishes(5, 5))
@settings(max_examples=80)
def test_n6_the_distinct_results_are_those_of_all_turns(position):
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


@given(skirmishes(5, 5, boards=(1,)))
@settings(max_examples=25)
def test_exchanging_the_sides_exchanges_the_results(position):
    assert {mirrored(after) for after in results(position)} == set(results(mirrored(position)))


def lines_of(position: Position) -> tuple[object, ...]:
    """All that stays the same when two boards are turned: in the base nothing but how many stand on each line.

    Board 1 comes before board 2 for both sides (S3), and turning exchanges the two. So the freed, and those who
    retreat, go to other files of the same line.
    """
    in_bases = Counter(
        (owner, square.own_line(owner))
        for square, owner in position.soldiers.items()
        if in_own_base(square, owner)
    )
    outside = {item for item in position.soldiers.items() if not in_own_base(*item)}
    return position.turn, frozenset(outside), frozenset(in_bases.items()), *position.held.items()


def in_own_base(square: Square, owner: Side) -> bool:
    return square.own_line(owner) <= BASE_LINES


@given(skirmishes(5, 5, boards=(2,)))
@settings(max_examples=25)
def test_s3_exchanging_the_sides_of_two_boards_exchanges_the_results_but_for_the_files_of_those_brought_home(
    position,
):
    turned = mirrored(position)
    assert immobilised(turned) == immobilised(position)
    ours, theirs = set(map(mirrored, results(position))), set(results(turned))
    if not position.held[position.turn.enemy]:
        assert ours == theirs
    assert {lines_of(after) for after in ours} == {lines_of(after) for after in theirs}


@given(battles((1,)).filter(lambda position: position.turn not in position.retreated))
@settings(max_examples=25)
def test_r2_exchanging_the_sides_exchanges_the_retreat(position):
    assert mirrored(retreat(position)) == retreat(mirrored(position))


@given(battles((2,)).filter(lambda position: position.turn not in position.retreated))
@settings(max_examples=25)
def test_s3_r2_a_retreat_on_two_boards_fills_the_same_lines_for_either_side(position):
    assert lines_of(mirrored(retreat(position))) == lines_of(retreat(mirrored(position)))


def every_move(start: Square, steps: int, side: Side, boards: int) -> list[Move]:
    """Every way of `steps` steps to any of the eight squares around, taking somebody at the end or not."""
    paths = [(start,)]
    for _ in range(steps):
        paths = [(*path, there) for path in paths for there in around(path[-1], side, boards)]
    return [Move(path, captures) for path in paths for captures in (False, True)]


def around(square: Square, side: Side, boards: int) -> list[Square]:
    line, file = square.own_line(side), square.own_file(side)
    return [
        Square.from_own(side, line + ahead, file + aside, boards)
        for ahead, aside in product((-1, 0, 1), repeat=2)
        if (ahead, aside) != (0, 0)
        and 1 <= line + ahead <= BOARD_ROWS
        and 0 <= file + aside < boards * BOARD_FILES
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
    side, boards = position.turn, position.boards
    movers = position.squares_of(side)
    alone = (
        (move,) for start in movers for steps in (1, 2, 3) for move in every_move(start, steps, side, boards)
    )
    pairs = (
        moves
        for first, second in permutations(movers, 2)
        for steps in ((1, 1), (1, 2), (2, 1))
        for moves in product(
            every_move(first, steps[0], side, boards), every_move(second, steps[1], side, boards)
        )
    )
    judged = {
        turn
        for moves in chain(alone, pairs)
        for freed in ((0, 1, 2, 3) if moves[-1].squares[-1].own_line(side) == 16 else (0,))
        if is_legal(position, turn := Turn(moves, freed))
    }
    assert judged == set(legal_turns(position))

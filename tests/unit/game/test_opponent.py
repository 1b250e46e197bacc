"""The opponent that looks one turn ahead."""

from random import Random

import pytest
from hypothesis import given, settings
from montecassino_strategies import positions

from game.montecassino import (
    Agreement,
    Battle,
    Outcome,
    Position,
    Reason,
    Side,
    Turn,
    Winner,
    apply_turn,
    choose_turn,
    legal_turns,
    outcome,
    results,
)


def chosen(position: str, seed: int = 0) -> Position:
    before = Position.parse(position)
    return apply_turn(before, choose_turn(before, Random(seed)))


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ("A A01-A16,G15 G02-G14,G17 0/0 0/0 -", Reason.LAST_LINE),
        ("G A01-A07,A17 G01-G16,A15 0/0 0/0 -", Reason.LAST_LINE),
        ("A A30,A60 A39 23/0 0/0 -", Reason.NO_SOLDIERS),
        ("A A30,A42,A20 A39,A49,A29 21/0 0/0 -", Reason.NO_SOLDIERS),
        ("A A41,A66 A57 23/0 0/0 -", Reason.IMMOBILISED),
    ],
)
def test_v1_v2_v3_a_win_is_taken(position, reason):
    assert outcome(chosen(position)) == Outcome(Winner(Position.parse(position).turn), reason)


@pytest.mark.parametrize("seed", range(3))
def test_a_win_of_the_enemys_next_turn_is_prevented(seed):
    """A German on A-12 stands one step before the Allies' first line, and two Allies could take it."""
    before = "A A05-A07,A60-A64 A12,G01-G08 0/0 0/0 -"
    after = chosen(before, seed)
    assert all(ended is None or ended.winner != Winner.G for ended in map(outcome, results(after)))


def test_a_battle_that_is_over_has_no_turn():
    with pytest.raises(ValueError, match="the battle is over"):
        chosen("A A30 - 0/0 0/0 -")


def test_the_same_seed_makes_the_same_turn_and_another_may_not():
    start = Position.start(Side.A, 20)
    assert choose_turn(start, Random(5)) == choose_turn(start, Random(5))
    assert len({choose_turn(start, Random(seed)) for seed in range(4)}) > 1


@settings(max_examples=25, deadline=None)
@given(positions())
def test_the_turn_is_legal_anywhere(position):
    if outcome(position) is None:
        assert apply_turn(position, choose_turn(position, Random(0))).turn is position.turn.enemy


def test_s3_the_turn_is_legal_on_two_boards():
    battle = Battle.begin(Agreement(Side.G, boards=2, lines=1))
    for seed in range(2):
        battle = battle.play(choose_turn(battle.position, Random(seed)))


@pytest.mark.parametrize("side", Side)
def test_it_beats_somebody_who_moves_at_random(side):
    """Of 100 battles of three lines it has won 100; two of one line are quick enough for every day."""
    for seed in range(2):
        rng = Random(seed)
        position = Position.start(side if seed else side.enemy, 0, lines=1)
        while outcome(position) is None:
            turn = choose_turn(position, rng) if position.turn is side else at_random(position, rng)
            position = apply_turn(position, turn)
        assert outcome(position).winner == Winner(side)


def at_random(position: Position, rng: Random) -> Turn:
    movers = list(position.squares_of(position.turn))
    while True:
        turns = list(legal_turns(position, rng.sample(movers, min(3, len(movers)))))
        if turns:
            return rng.choice(turns)


def test_legal_turns_of_a_few_soldiers_are_those_in_which_nobody_else_moves():
    position = Position.parse("A A17-A24,A30,G28 A39,G01-G08,G40 0/2 0/0 -")
    movers = position.squares_of(Side.A)[3:6]
    expected = [
        turn for turn in legal_turns(position) if all(move.squares[0] in movers for move in turn.moves)
    ]
    assert set(legal_turns(position, movers)) == set(expected)
    assert len(list(legal_turns(position, movers))) == len(expected)

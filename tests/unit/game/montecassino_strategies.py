"""Positions and shots drawn at random for property tests, on one board and on two."""

from collections.abc import Sequence
from itertools import product

from hypothesis import assume
from hypothesis import strategies as st

from game.montecassino import (
    ALL_SQUARES,
    BASE_LINES,
    BOARD_FILES,
    BOARD_ROWS,
    SOLDIERS_PER_SIDE,
    Cause,
    Fall,
    Position,
    Side,
    Square,
    all_squares,
    outcome,
    own_squares,
)

ONE_OR_TWO = (1, 2)

squares = st.sampled_from(ALL_SQUARES)
any_squares = st.sampled_from((*all_squares(1), *all_squares(2)))
sides = st.sampled_from(Side)


@st.composite
def positions(draw: st.DrawFn, boards: Sequence[int] = (1,)) -> Position:
    """Any position that N4 allows, with a shot left for the side to move."""
    joined = draw(st.sampled_from(boards))
    men = joined * SOLDIERS_PER_SIDE
    placed = draw(st.lists(st.sampled_from(all_squares(joined)), unique=True, max_size=2 * men))
    count_a = draw(st.integers(max(0, len(placed) - men), min(men, len(placed))))
    turn = draw(sides)
    return Position(
        turn,
        {square: Side.A if index < count_a else Side.G for index, square in enumerate(placed)},
        {
            Side.A: draw(st.integers(0, men - (len(placed) - count_a))),
            Side.G: draw(st.integers(0, men - count_a)),
        },
        {side: draw(st.integers(int(side is turn), 99)) for side in Side},
        draw(st.sets(sides)),
        joined,
    )


def battles(boards: Sequence[int] = (1,)) -> st.SearchStrategy[Position]:
    """Positions of battles that go on."""
    return positions(boards).filter(lambda position: outcome(position) is None)


@st.composite
def skirmishes(
    draw: st.DrawFn, most_own: int, most_enemies: int, boards: Sequence[int] = ONE_OR_TWO
) -> Position:
    """A few soldiers close together, where they open and close squares to each other, with comrades held."""
    joined = draw(st.sampled_from(boards))
    side = draw(sides)
    first_line = draw(st.integers(1, BOARD_ROWS - 3))
    # On two boards about the seam.
    first_file = 0 if joined == 1 else BOARD_FILES - 2
    near = [
        Square.from_own(side, line, first_file + file, joined)
        for line, file in product(range(first_line, first_line + 4), range(BOARD_FILES - 3))
    ]
    placed = draw(st.lists(st.sampled_from(near), min_size=2, max_size=most_own + most_enemies, unique=True))
    own_count = draw(st.integers(1, min(most_own, len(placed) - 1)))
    enemies = placed[own_count : own_count + most_enemies]
    soldiers = dict.fromkeys(placed[:own_count], side) | dict.fromkeys(enemies, side.enemy)
    # A base with little room makes freeing run short (P4); on two boards it would make too many turns.
    guards = draw(st.sampled_from([0, 0, 18, 22])) if joined == 1 else 0
    if first_line > BASE_LINES:
        for index, square in enumerate(own_squares(side)[:guards]):
            soldiers[square] = side if index < 15 else side.enemy
    comrades_held = draw(st.integers(0, 3))
    position = Position(
        side, soldiers, {side: 0, side.enemy: comrades_held}, dict.fromkeys(Side, 0), boards=joined
    )
    assume(outcome(position) is None)
    return position


@st.composite
def falls_of(draw: st.DrawFn, position: Position, certain: bool = False) -> list[Fall]:
    """Falls that the position allows, one certainly direct at most."""
    causes = st.lists(st.sampled_from(Cause), min_size=1, max_size=1 if certain else 4, unique=True)
    falls: list[Fall] = []
    if position.soldiers:
        for square in draw(st.lists(st.sampled_from(list(position.soldiers)), unique=True, max_size=8)):
            fall = Fall(square, position.soldiers[square], tuple(draw(causes)))
            if fall.certainly_direct and any(other.certainly_direct for other in falls):
                fall = Fall(square, fall.side, (Cause.RICOCHET,))
            falls.append(fall)
    return falls


def mirrored(position: Position) -> Position:
    """Return the position with the board turned round and the sides exchanged."""
    return Position(
        position.turn.enemy,
        {square.mirrored: side.enemy for square, side in position.soldiers.items()},
        {side: position.held[side.enemy] for side in Side},
        {side: position.shots_left[side.enemy] for side in Side},
        {side.enemy for side in position.retreated},
        position.boards,
    )

"""Positions and shots drawn at random for property tests."""

from hypothesis import strategies as st

from game.montecassino import ALL_SQUARES, Cause, Fall, Position, Side

squares = st.sampled_from(ALL_SQUARES)
sides = st.sampled_from(Side)


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """Any position that N4 allows, with a shot left for the side to move."""
    placed = draw(st.lists(squares, unique=True, max_size=48))
    count_a = draw(st.integers(max(0, len(placed) - 24), min(24, len(placed))))
    turn = draw(sides)
    return Position(
        turn,
        {square: Side.A if index < count_a else Side.G for index, square in enumerate(placed)},
        {
            Side.A: draw(st.integers(0, 24 - (len(placed) - count_a))),
            Side.G: draw(st.integers(0, 24 - count_a)),
        },
        {side: draw(st.integers(int(side is turn), 99)) for side in Side},
        draw(st.sets(sides)),
    )


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

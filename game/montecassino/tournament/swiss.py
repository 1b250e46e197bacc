"""Swiss pairing: one round, as one perfect matching of least cost.

Every two players who could meet are an edge, and so is every player with the bye where their number is odd. Each edge has
a cost for each of the goals below, which stand in order: no amount of a later goal makes up for the least of an earlier one.
So the costs of an edge are put together as the digits of one whole number, each digit with room for the most that a whole
round can cost, and the perfect matching of the least sum is the one that serves the goals in their order. A library finds
it, exactly (`Matcher`). So a round has a rematch only where every pairing of these players has one.

The goals follow the Dutch system (FIDE Handbook, C.04.3), with its brackets weighed all at once instead of from the top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Protocol

from game.montecassino.tournament.contenders import Contender

__all__ = ["GOALS", "Cost", "Matcher", "pair_swiss"]

Cost = tuple[int, int, int]
"""An edge: two vertices, the lower one first, and what it costs."""

_LARGEST_TOTAL = 2**120
"""A library that reckons in whole numbers of 128 bits needs some of them for its own."""


class Matcher(Protocol):
    """Finds a perfect matching of least cost."""

    def __call__(self, size: int, costs: Sequence[Cost]) -> Iterable[tuple[int, int]]:
        """Return pairs of vertices, each vertex 0 to `size` - 1 once, with the least sum of costs.

        Every two vertices have an edge in `costs`, `size` is even, and the same costs give the same pairs.
        """
        ...


def pair_swiss(
    field: Sequence[Contender], matcher: Matcher
) -> tuple[tuple[tuple[Contender, Contender], ...], Contender | None]:
    """Return who meets whom, and who has the bye.

    Parameters
    ----------
    field : sequence of Contender
        All who are in play, two at least, the first one first.
    matcher : Matcher
        What finds the matching.

    Returns
    -------
    pairs : tuple of (Contender, Contender)
        The one who stands higher comes first; board 1 is the pair with the most points.
    bye : Contender or None
        Who has no opponent.

    Raises
    ------
    OverflowError
        If there are so many players and rounds that the goals do not fit into one number; that takes thousands.
    """
    # Where the number is odd, the vertex after the last player's is the bye.
    vertices = [*field, None] if len(field) % 2 == 1 else [*field]
    size = len(vertices)
    edges = list(combinations(range(size), 2))
    totals = [0] * len(edges)
    most = 0
    for goal in GOALS:
        costs = [goal(field[i], vertices[j]) for i, j in edges]
        # A whole round costs less than this by the goal.
        room = size // 2 * max(costs) + 1
        totals = [total * room + cost for total, cost in zip(totals, costs, strict=True)]
        most = most * room + room
    if most > _LARGEST_TOTAL:
        raise OverflowError(f"{len(field)} players are too many to be paired exactly after so many rounds")
    costed = [(i, j, total) for (i, j), total in zip(edges, totals, strict=True)]
    pairs: list[tuple[Contender, Contender]] = []
    bye = None
    for pair in matcher(size, costed):
        i, j = sorted(pair)
        second = vertices[j]
        if second is None:
            bye = field[i]
        else:
            pairs.append((field[i], second))
    pairs.sort(
        key=lambda pair: (
            -max(pair[0].halves, pair[1].halves),
            -pair[0].halves - pair[1].halves,
            pair[0].place,
        )
    )
    return tuple(pairs), bye


# The goals. Each takes the two of an edge, the higher one first, or one and None for the bye.


def _rematches(first: Contender, second: Contender | None) -> int:
    """Keep opponents from meeting again; where some must, those who met least often."""
    return 0 if second is None else first.met.get(second.player, 0)


def _second_byes(first: Contender, second: Contender | None) -> int:
    """Give the bye to nobody who had one already, or a point by forfeit."""
    return first.byes if second is None else 0


def _bye_to_the_last(first: Contender, second: Contender | None) -> int:
    """Give the bye to the lowest that the goals above allow, by points and then by entry."""
    return first.from_last if second is None else 0


def _floats(first: Contender, second: Contender | None) -> int:
    """Bring players of equal points together.

    Where they cannot, differences count by their squares: two of half a point rather than one of a whole.
    """
    return 0 if second is None else (first.halves - second.halves) ** 2


def _sides(first: Contender, second: Contender | None) -> int:
    """Give everybody both sides equally often: the squares of the differences that the round leaves."""
    if second is None:
        return 0
    low, high = sorted((first.surplus, second.surplus))
    # Who had the Allies less often gets them.
    return (low + 1) ** 2 + (high - 1) ** 2


def _repeated_floats(first: Contender, second: Contender | None) -> int:
    """Spare who met one of more points in the last round, or of fewer, from doing so again."""
    if second is None:
        return 0
    if first.halves == second.halves:
        return 0
    return (first.last_float < 0) + (second.last_float > 0)


def _order(first: Contender, second: Contender | None) -> int:
    """Pair the first of the upper half of equal points with the first of the lower half, and so on down.

    Between two groups the last of the upper one meets the first of the lower one.
    """
    if second is None:
        return 0
    if first.halves == second.halves:
        return (second.group_place - first.group_place - first.group_size // 2) ** 2
    return (first.group_size - 1 - first.group_place) ** 2 + second.group_place**2


GOALS: Sequence[Callable[[Contender, Contender | None], int]] = (
    _rematches,
    _second_byes,
    _bye_to_the_last,
    _floats,
    _sides,
    _repeated_floats,
    _order,
)
"""In order."""

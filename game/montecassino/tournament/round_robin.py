"""Round robin: everybody meets everybody, by the circle method.

The players but one stand round a circle of odd size and the last one in its middle. In round r the player at place r meets
the one in the middle (or has the bye), and each other player meets the one at the same distance the other way round.

Who has the Allies follows from the distance. From r to a player and from r to the opponent the ways are d and size - d, one
odd and one even; the odd one has the Allies. From round to round each d falls by one, so sides alternate, and over the
whole each player has every d from 1 to size - 1 once: as many odd as even. The middle alternates by the round, so that
everybody's numbers of battles on the two sides differ by one at most, and not at all with a bye or in a double round.
"""

from __future__ import annotations

__all__ = ["Meeting", "round_robin"]

Meeting = tuple[int, int | None]
"""Places of the two who meet, from 0: who has the Allies, who has the Germans; None beside the one who has the bye."""


def round_robin(players: int, *, double: bool = False) -> tuple[tuple[Meeting, ...], ...]:
    """Return who meets whom in each round.

    Parameters
    ----------
    players : int
        How many there are, 2 at least.
    double : bool
        Whether everybody meets everybody once more, on the other side.

    Returns
    -------
    tuple of tuple of Meeting
        The rounds; the bye, where the number is odd, is the last meeting of each.

    Raises
    ------
    ValueError
        If there are fewer than two players.
    """
    if players < 2:
        raise ValueError(f"a round robin of {players} players has no battles")
    size = players - 1 if players % 2 == 0 else players
    single = tuple(_round(place, size, odd=players % 2 == 1) for place in range(size))
    if not double:
        return single
    turned = tuple(tuple((a, None) if g is None else (g, a) for a, g in meetings) for meetings in single)
    return single + turned


def _round(place: int, size: int, *, odd: bool) -> tuple[Meeting, ...]:
    around: list[Meeting] = []
    for d in range(1, size, 2):
        around.append(((place + d) % size, (place - d) % size))
    if odd:
        return (*around, (place, None))
    middle: Meeting = (size, place) if place % 2 == 0 else (place, size)
    return (middle, *around)

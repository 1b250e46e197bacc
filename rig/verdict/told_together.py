"""What is said alike of many soldiers, said once: after a bump or in fog nearly everybody seems to have moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

__all__ = ["Said", "parted", "told_together"]

Said = tuple[str, str, str]
"""A soldier, the line that it has of its own, and what is said of it together with others."""

_MOST_ALIKE = 8  # as many a person still reads one by one
_NAMED = 3


def told_together(said: Iterable[Said]) -> Iterator[str]:
    """Give a line for each soldier, and one for all of whom the same is said where they are many.

    Examples
    --------
    >>> list(told_together([("A-01", "A-01 fell: dragged, 63% sure", "fell: dragged")]))
    ['A-01 fell: dragged, 63% sure']
    >>> list(told_together(parted(f"A-{k:02} is put back.") for k in range(1, 24)))
    ['23 soldiers, A-01, A-02, A-03 and 20 more: each is put back.']
    """
    lines = list(said)
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for soldier, _, together in lines:
        alike[together].append(soldier)
    for soldier, own_line, together in lines:
        soldiers = alike[together]
        if len(soldiers) <= _MOST_ALIKE:
            yield own_line
        elif soldier == soldiers[0]:
            named, rest = ", ".join(soldiers[:_NAMED]), len(soldiers) - _NAMED
            yield f"{len(soldiers)} soldiers, {named} and {rest} more: each {together}"


def parted(sentence: str) -> Said:
    """Part a sentence, which may begin with a soldier's square, after its first word."""
    first, _, rest = sentence.partition(" ")
    return first, sentence, rest

"""Names of people, cannons and programmes: how long they may be, and whether anything of one is to be seen."""

from __future__ import annotations

import unicodedata

__all__ = ["LONGEST_NAME", "is_seen"]

LONGEST_NAME = 60
"""Letters of a name, so that it stands in one line of a table."""

# By their category they are letters or symbols: the fillers of Korean, and Braille without a dot.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def is_seen(text: str) -> bool:
    r"""Whether any sign of a text leaves something on paper by itself, as a letter, a digit and a symbol do.

    Examples
    --------
    >>> is_seen("Ada"), is_seen("\u200b"), is_seen(" ")
    (True, False, False)
    """
    return any(unicodedata.category(sign)[0] in "LNPS" and sign not in _BLANK for sign in text)

"""Names that people gave to files and folders, in messages: a line stays one, and no terminal is ruled by a name."""

from __future__ import annotations

import shlex
import unicodedata

__all__ = ["as_typed", "on_one_line"]

# Of characters; the second is what Python keeps the bytes of a word as that are no UTF-8.
_NO_SIGNS = {"Cc", "Cs", "Zl", "Zp"}
# What turns the order of the signs behind it round, to the end of the line.
_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def on_one_line(text: object) -> str:
    r"""Return a text with what is no sign, as a line break, or turns the signs behind it round shown by its number.

    Examples
    --------
    >>> on_one_line("shot\n1")
    'shot\\n1'
    """
    return "".join(map(_shown, str(text)))


def as_typed(name: object) -> str:
    r"""Return a name as it is typed in a command: quoted where the shell needs it, and on one line.

    Examples
    --------
    >>> as_typed("shot 1"), as_typed("shot\n1")
    ("'shot 1'", "$'shot\\n1'")
    """
    text = str(name)
    if on_one_line(text) == text:
        return shlex.quote(text)
    escaped = text.replace("\\", r"\\").replace("'", r"\'")
    return f"$'{on_one_line(escaped)}'"


def _shown(sign: str) -> str:
    if unicodedata.category(sign) in _NO_SIGNS or unicodedata.bidirectional(sign) in _TURNS:
        return sign.encode("unicode_escape").decode("ascii")
    return sign

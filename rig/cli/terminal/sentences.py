"""Sentences in a terminal that is narrower than they are: it would break them in the middle of a word.

A row is filled up with blanks, and the terminal goes on in the next one by itself. So to whoever copies it a line stays one,
with the command or the path in it. What goes into a pipe or a file is left as it is.
"""

from __future__ import annotations

import os
import re
import sys
from typing import IO

__all__ = ["echo", "in_rows", "rows_of"]

_GAP_AND_WORD = re.compile(r"(\s*)(\S+)")


def echo(words: str, *, err: bool = False, end: str = "\n") -> None:
    """Print sentences, broken between words where they are read in a terminal; on standard error if so asked."""
    stream = sys.stderr if err else sys.stdout
    print(in_rows(words, stream), file=stream, end=end, flush=True)


def in_rows(words: str, stream: IO[str]) -> str:
    """Return sentences as a stream shows them best: filled up to its rows where it is a terminal, else as they are."""
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):  # no terminal, closed, or no file at all
        return words
    return "\n".join(rows_of(line, width) for line in words.split("\n")) if width else words


def rows_of(line: str, width: int) -> str:
    """Return a line in which no word that a row can hold begins where the row cannot hold its rest.

    Parameters
    ----------
    line
        Without line breaks; a blank at its beginning or its end stays.
    width
        Of a row, in columns.
    """
    if _columns(line) <= width:
        return line
    begins = line[: len(line) - len(line.lstrip())]
    rows, used = "", 0
    for gap, word in _GAP_AND_WORD.findall(line):
        # One column stays free, so that a blank parts the last word of a row from the first of the next.
        if rows and used + _columns(gap + word) >= width:
            blanks = " " * (width - used) or " "
            rows += blanks + begins + word
            used = (used + len(blanks)) % width + _columns(begins + word)
        else:
            rows += gap + word
            used += _columns(gap + word)
        if used > width:  # a path, say, which the terminal breaks
            used = (used - 1) % width + 1
    return rows + line[len(line.rstrip()) :]


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)

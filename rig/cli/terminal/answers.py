"""What the person at the terminal answers, line by line, while the cannon is kept company."""

from __future__ import annotations

import os
import queue
import re
import sys
import threading
from collections.abc import Callable, Mapping

import typer

from rig.cli.terminal.sentences import echo, in_rows

__all__ = ["Answers", "asked", "said_yes", "wait_for_enter"]

_WAIT_S = 0.05  # well below the silence after which the cannon makes itself safe
_CHUNK_BYTES = 4096
_KEY = re.compile(r"\x1b\[[A-D]|.", re.DOTALL)  # an arrow comes as three bytes at once


def asked(words: str) -> str:
    """Ask, and return what is typed, nothing for Enter alone.

    Raises
    ------
    typer.Abort
        On Ctrl-C, or where there is nobody to answer. What is said next begins a line of its own.
    """
    try:
        return str(typer.prompt(in_rows(words, sys.stdout), default="", show_default=False))
    except typer.Abort:
        echo("")
        raise


def wait_for_enter(words: str) -> None:
    """Ask for work at the table, and return once it is done."""
    asked(f"{words} Press Enter when it is done")


def said_yes(question: str) -> bool:
    """Ask at a terminal; only a plain yes is one. Where nobody sits at one nobody is asked, and it is no."""
    if not sys.stdin.isatty():
        return False
    try:
        return _is_yes(input(in_rows(f"{question} [y/N] ", sys.stdout)))
    except EOFError:
        return False
    except KeyboardInterrupt:
        echo("")
        raise


class Answers:
    """Lines of standard input, from a terminal, a pipe or a file.

    Parameters
    ----------
    by_keys
        Where the terminal gives each key as it is pressed: the line that each stands for. Other keys are ignored.

    Attributes
    ----------
    company : callable
        Called several times a second while an answer is awaited; what it raises ends the waiting. The link is kept
        alive here, so that a person may take their time.
    ended : bool
        Whether there are no more lines.
    """

    def __init__(self, *, by_keys: Mapping[str, str] | None = None) -> None:
        self.company: Callable[[], None] = lambda: None
        self._by_keys = by_keys
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.ended = False
        # The system's own call, not sys.stdin: a thread that ends in the middle of it holds no lock of Python's.
        try:
            number = sys.stdin.fileno()
        except (OSError, ValueError, AttributeError):
            self.ended = True  # there is no standard input
            return
        threading.Thread(target=self._listen, args=(number,), name="answers", daemon=True).start()

    def line(self, question: str) -> str | None:
        """Ask, and return the next line; None once there are no more."""
        echo(f"{question} ", end="")
        try:
            return self.next()
        except KeyboardInterrupt:
            echo("")
            raise

    def next(self) -> str | None:
        """Return the next line; None once there are no more."""
        while not self.ended:
            self.company()
            try:
                line = self._lines.get(timeout=_WAIT_S)
            except queue.Empty:
                continue
            if line is not None:
                return line
            self.ended = True
        return None

    def yes(self, question: str) -> bool:
        """Ask; only a plain yes is one. Where nobody answers, it is no."""
        answer = self.line(f"{question} [y/N]")
        if not sys.stdin.isatty():
            # The log of a pipe reads as a terminal does.
            echo("(no answer)" if answer is None else answer)
        return answer is not None and _is_yes(answer)

    def _listen(self, number: int) -> None:
        rest = b""
        try:
            while data := os.read(number, _CHUNK_BYTES):
                if self._by_keys is not None:
                    for key in _KEY.findall(data.decode("utf-8", "replace")):
                        if key in self._by_keys:
                            self._lines.put(self._by_keys[key])
                    continue
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._lines.put(line.decode("utf-8", "replace"))
        except OSError:
            pass  # standard input is closed, or a folder: nobody answers
        if rest:
            self._lines.put(rest.decode("utf-8", "replace"))
        self._lines.put(None)


def _is_yes(answer: str) -> bool:
    return answer.strip().lower() in {"y", "yes"}

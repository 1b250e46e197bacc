"""Sentences in a narrow terminal are broken between words; in a pipe they are left whole."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest
from rich.console import Console

from rig.cli import main
from rig.cli.terminal.battle import say
from rig.cli.terminal.sentences import in_rows, rows_of

SENTENCE = (
    "rig: shot 12 at G-49 was fired, or may have been, and was never judged; rig judge 12 reads its recording; "
    "or say who stands where: --position '...', or --position camera to read it from the picture"
)


def on_screen(line: str, width: int) -> list[str]:
    """What a terminal of that width shows of a line."""
    return [line[at : at + width] for at in range(0, len(line), width)]


@pytest.mark.parametrize("width", [20, 40, 41, 60, 80])
def test_no_word_that_fits_into_a_row_is_broken_over_two(width: int) -> None:
    shown = on_screen(rows_of(SENTENCE, width), width)
    assert len(shown) > 1
    assert [word for row in shown for word in row.split()] == SENTENCE.split()
    assert all(row[-1] == " " for row in shown[:-1]), "copied as one line, the words of two rows are parted"


def test_a_line_that_fits_is_left_as_it_is() -> None:
    assert rows_of("  two  blanks ", 14) == "  two  blanks "


def test_what_is_set_in_stays_so_in_each_row() -> None:
    assert on_screen(rows_of("  one two three", 10), 10) == ["  one two ", "  three"]


@pytest.mark.parametrize("width", [20, 33, 40])
def test_a_path_longer_than_a_row_is_whole_in_the_line(width: int) -> None:
    path = "/home/anna/table/recordings/shot-00001/recording.json"
    line = f"recorded in {path}: and so on, for another row or two of words"
    assert rows_of(line, width).split() == line.split()


def test_the_width_of_a_name_in_other_letters_is_its_own() -> None:
    shown = rows_of("東京東京 and four more words", 12)
    assert shown == "東京東京    and four    more words"


@contextmanager
def terminal(columns: int) -> Iterator[tuple[IO[str], int]]:
    """A terminal of that width to write to, and where to read what came."""
    screen, line = pty.openpty()
    fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(line, "w", encoding="utf-8") as stream:
        yield stream, screen
    os.close(screen)


def test_errors_are_broken_in_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["judge", "1", "--settings", "a-name-of-some-length.toml"]
    assert main(words) == 2
    whole = capsys.readouterr().err
    assert whole.count("\n") == 1
    with terminal(40) as (stream, screen):
        monkeypatch.setattr(sys, "stderr", stream)
        assert main(words) == 2
        shown = os.read(screen, 4096).decode()
    assert shown.count("\n") == 1, "whoever copies it has one line"
    assert [word for row in on_screen(shown, 40) for word in row.split()] == whole.split()


def test_what_goes_into_a_pipe_is_left_whole() -> None:
    pipe = io.StringIO()
    assert in_rows(SENTENCE, pipe) == SENTENCE
    say(Console(file=pipe, width=40), SENTENCE)
    assert pipe.getvalue() == f"{SENTENCE}\n"

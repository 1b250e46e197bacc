"""A question that is broken off: what is said next begins a line of its own."""

import io
import os
import sys

import pytest
import typer

from rig.cli.terminal.answers import Answers, asked, said_yes, wait_for_enter


class Interrupted(io.StringIO):
    """A terminal at which somebody presses Ctrl-C."""

    def isatty(self) -> bool:
        return True

    def readline(self, *_: object) -> str:
        raise KeyboardInterrupt


@pytest.mark.parametrize("typed", [Interrupted(), io.StringIO()], ids=["Ctrl-C", "nobody there"])
@pytest.mark.parametrize("ask", [asked, wait_for_enter])
def test_a_question_that_is_broken_off_ends_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ask, typed
) -> None:
    monkeypatch.setattr(sys, "stdin", typed)
    with pytest.raises(typer.Abort):
        ask("range in cm")
    out = capsys.readouterr().out
    assert out.startswith("range in cm")
    assert out.endswith(": \n")


def test_a_yes_or_no_that_is_broken_off_ends_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        said_yes("Fire all the same?")
    assert capsys.readouterr().out.endswith("\n")


def test_a_question_beside_a_cannon_that_is_broken_off_ends_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    reading, writing = os.pipe()
    with os.fdopen(reading) as typing, os.fdopen(writing, "w"):
        monkeypatch.setattr(sys, "stdin", typing)
        answers = Answers()
        answers.company = interrupt
        with pytest.raises(KeyboardInterrupt):
            answers.line("The servo supply is off?")
    assert capsys.readouterr().out == "The servo supply is off? \n"

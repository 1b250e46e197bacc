"""What `--help` says of each command."""

from __future__ import annotations

import pytest
from all_commands import all_commands

from rig.cli import main


def test_no_paragraph_of_a_help_text_is_broken_where_its_docstring_is() -> None:
    """The line ends of a docstring stay in the help, amid a sentence."""
    broken = [
        " ".join(("rig", *words))
        for words, each in all_commands()
        if any("\n" in paragraph for paragraph in (each.help or "").split("\n\n"))
    ]
    assert broken == []


def test_that_several_may_be_given_or_none_is_said_once() -> None:
    """The line of usage puts its own brackets and dots round an argument's name."""
    doubled = [
        " ".join(("rig", *words, piece))
        for words, each in all_commands()
        for piece in each.collect_usage_pieces(each.context_class(each))
        if "[[" in piece or "...}" in piece or "...]..." in piece
    ]
    assert doubled == []


@pytest.mark.parametrize("columns", [1, 40, 52, 60, 63, 64, 80])
def test_no_word_of_any_help_is_cut_off_in_a_narrow_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    cut: dict[str, list[str]] = {}
    for words, _ in all_commands():
        assert main([*words, "--help"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines
        cut[" ".join(words)] = [line for line in lines if "…" in line]
    assert {words: lines for words, lines in cut.items() if lines} == {}

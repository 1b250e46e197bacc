"""What `--help` says of each command."""

from __future__ import annotations

from all_commands import all_commands


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

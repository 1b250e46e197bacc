"""An empty word names no file and no folder, whatever the command; it was taken as the present folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from all_commands import all_commands

from rig.cli import main


def _given(words: tuple[str, ...], of: Any, named: Any) -> tuple[str, ...]:
    """Give the words of a command that name one file or folder by an empty word, and all else that it asks for."""
    if named.param_type_name == "option":
        words = (*words, named.opts[0], "")
    arguments = [each for each in of.params if each.param_type_name == "argument"]
    return (*words, *("" if each is named else "1" for each in arguments if each.required or each is named))


GIVEN = [
    _given(words, of, named)
    for words, of in all_commands()
    for named in of.params
    if named.type_descriptor.annotation in (Path, list[Path])
]


@pytest.mark.parametrize("given", GIVEN, ids=" ".join)
def test_an_empty_word_is_no_file_and_no_folder(
    given: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(given) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(": found an empty word, expected the name of a file or a folder\n")
    assert list(tmp_path.iterdir()) == []

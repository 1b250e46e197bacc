"""An option that takes one value and is given two is refused, whatever the command; the last was taken in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from all_commands import all_commands

from rig.cli import main

VALUES = [
    (*words, option.opts[0])
    for words, each in all_commands()
    for option in each.params
    if option.param_type_name == "option" and not option.is_flag and not option.multiple
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("given", VALUES, ids=" ".join)
def test_two_values_are_both_named(given: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    *words, option = given
    assert main([*words, option, "one", f"{option}=two"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        f"rig: {err.removeprefix('rig: ').partition(':')[0]}: found one and two, expected one of them\n",
    )
    assert option in err


def test_the_same_value_twice_may_have_been_meant_for_another_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["analyse", "film", "--jobs", "2", "--jobs", "2"]) == 2
    assert "found 2 and 2, expected one of them" in capsys.readouterr().err


def test_a_flag_and_its_contrary_are_refused_and_a_flag_that_is_said_twice_is_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["camera", "calibrate", "films", "--store", "--no-store"]) == 2
    assert "found --store and --no-store, expected one of them" in capsys.readouterr().err
    assert main(["aim", "G-10", "--explain", "--explain"]) == 0


def test_what_may_be_given_twice_still_may_and_a_group_s_settings_give_way_to_those_behind_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "table.toml").write_text("", encoding="utf-8")
    assert main(["stats", "--by", "target", "--by", "dwell"]) == 2
    assert "rig-log.sqlite" in capsys.readouterr().err
    assert main(["log", "--settings", "no such", "show", "1", "--settings", "table.toml"]) == 2
    assert "no such" not in capsys.readouterr().err

"""Battles on disk: whole at every moment, and refused in words."""

import os

import pytest

from game.montecassino import Agreement, Battle, Shot, Side, format_battle
from rig.battle.file import FaultyBattleFile, read_battle, write_battle

BEGUN = Battle.begin(Agreement(Side.A))


def faults_of(path):
    with pytest.raises(FaultyBattleFile) as caught:
        read_battle(path)
    assert caught.value.name == str(path)
    return caught.value.faults


def test_a_battle_written_is_read_again(tmp_path):
    path = tmp_path / "b.json"
    for battle in (BEGUN, BEGUN.play(Shot())):
        write_battle(path, battle)
        assert read_battle(path) == battle
    assert list(tmp_path.iterdir()) == [path]


def test_a_battle_that_an_editor_of_windows_kept_is_read(tmp_path):
    path = tmp_path / "b.json"
    path.write_bytes(format_battle(BEGUN).replace("\n", "\r\n").encode("utf-8-sig"))
    assert read_battle(path) == BEGUN


def test_what_cannot_be_read_is_said(tmp_path):
    path = tmp_path / "b.json"
    assert faults_of(path) == (
        "the file: found nothing, expected a battle file; rig game play --battle begins one",
    )
    assert faults_of(tmp_path) == ("the file: found a folder, expected a battle file",)
    path.write_bytes(b'{"format": "\xff"}')
    assert faults_of(path) == ("byte 13: found what is not UTF-8, expected JSON, which is",)
    path.write_text(format_battle(BEGUN).replace('"lines": 3', '"lines": 0').replace("20/20", "x"))
    assert len(faults_of(path)) == 2


def test_a_file_that_cannot_be_written_is_refused_and_what_was_there_stays(tmp_path, monkeypatch):
    path = tmp_path / "b.json"
    write_battle(path, BEGUN)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FaultyBattleFile, match="No space left on device"):
        write_battle(path, BEGUN.play(Shot()))
    assert read_battle(path) == BEGUN
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FaultyBattleFile, match="Is a directory"):
        write_battle(tmp_path, BEGUN)
    with pytest.raises(FaultyBattleFile, match="No such file or directory"):
        write_battle(tmp_path / "nowhere" / "b.json", BEGUN)


def test_a_link_stays_a_link(tmp_path):
    link, real = tmp_path / "link.json", tmp_path / "real.json"
    link.symlink_to(real)
    write_battle(link, BEGUN)
    assert link.is_symlink()
    assert read_battle(real) == BEGUN

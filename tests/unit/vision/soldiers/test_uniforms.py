"""Sides where the position is told: the picture overrules it only where it is plain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from game.montecassino import Side, Square
from rig.recording import recording_of
from twin.clips import Disorder, film_disorder
from vision.outcome import Standing
from vision.reading import TableBefore, read_before

LONE = Square(Side.A, 66)
"""The only one of its side on a field whose light mixes into its colours."""


@pytest.fixture(scope="module")
def table() -> Disorder:
    return film_disorder(106)


def _read(table: Disorder, exchanged: Square | None = None) -> Standing:
    """Read the table before anything happened to it, one soldier's side told wrongly."""
    times_us = [at_us for at_us, _ in table.frames[:3]]
    scene = recording_of(Path("table"), table.keys, times_us).scene
    assert scene.expected is not None
    if exchanged is not None:
        scene = replace(scene, expected={**scene.expected, exchanged: scene.expected[exchanged].enemy})
    before = read_before([picture for _, picture in table.frames[:3]], times_us, scene)
    assert isinstance(before, TableBefore)
    return before.board.standing


def test_nobody_is_taken_for_the_other_sides_for_the_light_of_the_field(table: Disorder) -> None:
    standing = _read(table)
    assert {s.square: s.side for s in standing.soldiers} == {s.square: s.side for s in table.before}
    assert not [note for note in standing.differences if "one of" in note]


def test_who_is_told_to_be_of_the_wrong_side_is_named_all_the_same(table: Disorder) -> None:
    wrong = next(s.square for s in table.before if s.square != LONE)
    standing = _read(table, wrong)
    assert [note for note in standing.differences if str(wrong) in note and "one of" in note]

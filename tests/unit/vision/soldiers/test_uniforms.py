"""Sides where the position is told: the picture overrules it only where it is plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from game.montecassino import Side, Square
from rig.recording import Recording, read_frames, write_recording
from twin.clips import Disorder, film_disorder, photograph
from vision.outcome import Standing
from vision.table_before import TableBefore, read_before

LONE = Square(Side.A, 66)
"""By its colours alone it would be of the other side, for the light of the field beside it."""


@pytest.fixture(scope="module")
def table() -> Disorder:
    return film_disorder(106)


@pytest.fixture(scope="module")
def filmed(table: Disorder, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Recording]:
    folder = tmp_path_factory.mktemp("table")
    return folder, write_recording(folder, table.keys, table.frames)


def _read(
    filmed: tuple[Path, Recording],
    exchanged: Square | None = None,
    expected: Mapping[Square, Side] | None = None,
) -> Standing:
    """Read the table before anything happened to it, one soldier's side told wrongly."""
    folder, recording = filmed
    scene = recording.scene if expected is None else replace(recording.scene, expected=expected)
    assert scene.expected is not None
    if exchanged is not None:
        scene = replace(scene, expected={**scene.expected, exchanged: scene.expected[exchanged].enemy})
    before = read_before(list(read_frames(folder, recording)), recording.timestamps_us, scene)
    assert isinstance(before, TableBefore)
    return before.board.standing


def test_nobody_is_taken_for_the_other_sides_for_the_light_of_the_field(
    table: Disorder, filmed: tuple[Path, Recording]
) -> None:
    standing = _read(filmed)
    assert {s.square: s.side for s in standing.soldiers} == {s.square: s.side for s in table.before}
    assert not [note for note in standing.differences if "one of" in note]


def test_who_is_told_to_be_of_the_wrong_side_is_named_all_the_same(
    table: Disorder, filmed: tuple[Path, Recording]
) -> None:
    wrong = next(s.square for s in table.before if s.square != LONE)
    standing = _read(filmed, wrong)
    assert [note for note in standing.differences if str(wrong) in note and "one of" in note]


def test_where_colours_differ_little_how_all_are_parted_names_who_was_told_wrongly(tmp_path: Path) -> None:
    table = film_disorder(111)
    filmed = tmp_path, write_recording(tmp_path, table.keys, table.frames)
    assert not [note for note in _read(filmed).differences if "one of" in note]
    for wrong in [s.square for s in table.before][::12]:
        (named,) = [note for note in _read(filmed, wrong).differences if "one of" in note]
        assert named.startswith(f"{wrong} should hold a soldier of ")


def test_those_who_crossed_are_not_taken_for_the_other_sides_for_a_field_that_shows_on_all_of_them(
    tmp_path: Path,
) -> None:
    """Six of twelve Allies stand on the other field, whose colour shows on them as on all fourteen who are at home there."""
    still = photograph(903030)
    filmed = tmp_path, write_recording(tmp_path, still.keys, still.frames)
    told = {s.square: s.side for s in still.standing}
    standing = _read(filmed, expected=told)
    assert {s.square: s.side for s in standing.soldiers} == told
    assert not [note for note in standing.differences if "one of" in note]

"""Uniforms taught from a set-up, and used where no position is told."""

from dataclasses import replace
from pathlib import Path

import painted_table as painted
import pytest
from painted_table import Table

from game.montecassino import Side, Square
from rig.uniforms_file import NAME, UniformsFileError, find_uniforms, write_uniforms
from vision.scene import Uniforms
from vision.soldiers import read_board
from vision.soldiers.teaching import NotTaught, teach_uniforms

START = painted.squares(
    "A " + " ".join(f"A-{n:02d}" for n in range(1, 25)) + " G " + " ".join(f"G-{n:02d}" for n in range(1, 25))
)
CAMERA = painted.view()
SCENE = painted.scene(CAMERA)


def picture(position: dict[Square, Side]):
    return Table(CAMERA, tuple(painted.standing(position).values())).paint()


@pytest.fixture(scope="module")
def taught() -> Uniforms:
    return teach_uniforms(picture(START), SCENE)


def test_sides_are_known_where_each_stands_in_the_other_field(taught: Uniforms) -> None:
    """Without being taught, the heap nearer to a base is taken for that side's."""
    swapped = {square: side.enemy for square, side in START.items() if square.number % 3}
    found = read_board(picture(swapped), replace(SCENE, uniforms=taught), CAMERA).standing
    assert {s.square: s.side for s in found.soldiers} == swapped


def test_it_is_kept_beside_the_recordings(taught: Uniforms, tmp_path: Path) -> None:
    recording = tmp_path / "shot-1"
    recording.mkdir()
    assert find_uniforms(recording) is None
    write_uniforms(tmp_path / NAME, taught)
    again = find_uniforms(recording)
    assert again is not None
    for side in Side:
        assert again.shares[side] == pytest.approx(taught.shares[side], abs=1e-6)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "uniforms/1", "A": [], "G": []}', "\x00"])
def test_a_faulty_file_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(UniformsFileError, match=NAME):
        find_uniforms(tmp_path)


def test_what_does_not_teach_says_why() -> None:
    battle = {square: side for square, side in START.items() if square.number < 20} | {
        Square.parse("A-50"): Side.A
    }
    with pytest.raises(NotTaught, match="A-50"):
        teach_uniforms(picture(battle), SCENE)
    alone = {square: side for square, side in START.items() if side is Side.A}
    with pytest.raises(NotTaught, match="0 soldiers of side G"):
        teach_uniforms(picture(alone), SCENE)

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
from vision.table_before import TableBefore, read_before

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


def read(position: dict[Square, Side], uniforms: Uniforms | None) -> TableBefore:
    scene = replace(SCENE, uniforms=uniforms)
    before = read_before([picture(position)] * 8, [8333 * k for k in range(8)], scene)
    assert isinstance(before, TableBefore)
    return before


def test_they_are_learnt_from_a_position_that_is_told_wherever_the_sides_stand() -> None:
    told = {square: side.enemy for square, side in START.items() if square.number < 8}
    learnt = teach_uniforms(picture(told), replace(SCENE, expected=told))
    found = read_board(picture(painted.CROWD), replace(SCENE, uniforms=learnt), CAMERA)
    assert found.by_taught
    assert {s.square: s.side for s in found.standing.soldiers} == painted.CROWD


def test_at_the_same_table_they_are_used_and_the_notes_name_their_file(taught: Uniforms) -> None:
    before = read(painted.CROWD, replace(taught, kept_in="table/uniforms.json"))
    assert before.notes == ("the sides are told by the uniforms taught in table/uniforms.json",)
    assert {s.square: s.side for s in before.board.standing.soldiers} == painted.CROWD
    assert read(painted.CROWD, None).notes == ()


def test_where_a_position_is_told_it_names_the_sides(taught: Uniforms) -> None:
    scene = replace(SCENE, uniforms=taught, expected=painted.CROWD)
    assert not read_board(picture(painted.CROWD), scene, CAMERA).by_taught


def test_on_an_empty_board_they_tell_nothing(taught: Uniforms) -> None:
    before = read({}, taught)
    assert before.board.standing.soldiers == ()
    assert before.notes == ()


@pytest.mark.parametrize(
    "worn",
    [
        pytest.param({Side.A: (60, 150, 60), Side.G: (90, 60, 150)}, id="other colours"),
        pytest.param(
            {side: tuple(round(1.5 * part) for part in worn) for side, worn in painted.UNIFORMS.items()},
            id="much brighter ones, which resemble each its own side's most",
        ),
        pytest.param(dict.fromkeys(Side, painted.UNIFORMS[Side.A]), id="more of a side than there are"),
    ],
)
def test_those_of_another_table_are_not_used_and_the_notes_say_so(
    taught: Uniforms, worn: dict[Side, tuple[int, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(painted, "UNIFORMS", worn)
    before = read(START, replace(taught, kept_in="table/uniforms.json"))
    assert before.notes == (
        "the uniforms taught in table/uniforms.json are not those of this table: "
        "the sides are told as if none were taught",
    )
    assert {s.square: s.side for s in before.board.standing.soldiers} == START


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


def test_a_folder_or_a_link_that_leads_nowhere_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    """Passed over, the sides would be told as if nothing had been taught, and nobody would know."""
    (tmp_path / "shot" / NAME).mkdir(parents=True)
    with pytest.raises(UniformsFileError, match=NAME):
        find_uniforms(tmp_path / "shot")
    (tmp_path / NAME).symlink_to(tmp_path / "moved.json")
    (tmp_path / "another").mkdir()
    with pytest.raises(UniformsFileError, match=NAME):
        find_uniforms(tmp_path / "another")


def test_uniforms_that_look_the_same_teach_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painted, "UNIFORMS", dict.fromkeys(Side, painted.UNIFORMS[Side.A]))
    with pytest.raises(NotTaught, match="look the same in this picture"):
        teach_uniforms(picture(START), SCENE)


def test_what_does_not_teach_says_why() -> None:
    battle = {square: side for square, side in START.items() if square.number < 20} | {
        Square.parse("A-50"): Side.A
    }
    with pytest.raises(NotTaught, match="A-50"):
        teach_uniforms(picture(battle), SCENE)
    alone = {square: side for square, side in START.items() if side is Side.A}
    with pytest.raises(NotTaught, match="0 soldiers of side G"):
        teach_uniforms(picture(alone), SCENE)
    for names, seen in (
        (("G-02",), "1 soldier of side G is seen"),
        (("G-02", "G-12"), "2 soldiers of side G are seen"),
    ):
        few = {Square.parse(name): Side.G for name in names}
        with pytest.raises(NotTaught, match=f"{seen}, and 3 are needed"):
            teach_uniforms(picture(alone | few), SCENE)


def test_a_position_that_has_little_to_do_with_the_table_teaches_nothing() -> None:
    elsewhere = {Square.parse(f"{side}-{n}"): side for side in Side for n in range(40, 64)}
    with pytest.raises(NotTaught, match=r"does not stand as the position says on 96 squares, .* 48 soldiers"):
        teach_uniforms(picture(START), replace(SCENE, expected=elsewhere))
    with pytest.raises(NotTaught, match="on 49 squares, and it names 1 soldier: "):
        teach_uniforms(picture(START), replace(SCENE, expected=dict([next(iter(elsewhere.items()))])))

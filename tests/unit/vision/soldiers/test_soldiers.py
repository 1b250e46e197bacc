"""Who stands where: squares, sides and feet, with and without a known position."""

import math
from dataclasses import replace

import cv2
import numpy as np
import painted_table as painted
import pytest
from painted_table import CROWD, Figure, Table

from game.montecassino import Side, Square
from vision.outcome import Standing
from vision.registration import BoardView, register
from vision.scene import Scene
from vision.soldiers import read_board

START = painted.squares(
    "A " + " ".join(f"A-{n:02d}" for n in range(1, 25)) + " G " + " ".join(f"G-{n:02d}" for n in range(1, 25))
)


def read(table: Table, scene: Scene) -> Standing:
    picture = table.paint()
    camera = register(picture, scene)
    assert isinstance(camera, BoardView), camera
    return read_board(picture, scene, camera).standing


def seen(standing: Standing) -> dict[Square, Side]:
    return {s.square: s.side for s in standing.soldiers}


@pytest.mark.parametrize("position", [CROWD, START], ids=["battle", "start"])
@pytest.mark.parametrize("checkered", [False, True], ids=["plain", "checkered"])
@pytest.mark.parametrize("roll_rad", [0.0, math.pi])
def test_a_position_is_read_without_knowing_it(
    position: dict[Square, Side], checkered: bool, roll_rad: float
) -> None:
    camera = painted.view(roll_rad=roll_rad, tilt_rad=0.04)
    placed = painted.standing(position)
    table = Table(camera, tuple(placed.values()), checkered=checkered, clutter=True)
    standing = read(table, painted.scene(camera))
    assert seen(standing) == position
    off = [
        math.hypot(s.x_mm - placed[s.square].x_mm, s.y_mm - placed[s.square].y_mm) for s in standing.soldiers
    ]
    # The foot, not the head: at the ends of the board a head is seen 14 mm from its foot.
    assert np.median(off) < 3
    assert max(off) < 7
    assert standing.differences == ()


def test_sides_are_told_by_colour_where_they_stand_mixed() -> None:
    mixed = painted.squares("A A-01 A-04 G-40 G-38 G-36 A-60 A-33 G G-01 G-06 A-40 A-44 A-38 G-60 G-33")
    camera = painted.view()
    assert seen(read(Table(camera, tuple(painted.standing(mixed).values())), painted.scene(camera))) == mixed


def test_one_side_alone_is_one_side() -> None:
    alone = painted.squares("A A-01 A-04 A-12 A-20 A-33 A-40 A-60")
    camera = painted.view()
    assert seen(read(Table(camera, tuple(painted.standing(alone).values())), painted.scene(camera))) == alone


@pytest.mark.parametrize("square", ["A-40", "G-40"])
@pytest.mark.parametrize("uniform", list(Side))
def test_one_soldier_alone_is_of_the_field_that_it_stands_on(square: str, uniform: Side) -> None:
    """There is nobody to compare it with."""
    camera = painted.view()
    alone = Square.parse(square)
    table = Table(camera, tuple(painted.standing({alone: uniform}).values()))
    assert seen(read(table, painted.scene(camera))) == {alone: alone.field}
    assert seen(read(table, painted.scene(camera, expected={alone: uniform}))) == {alone: uniform}


def test_an_empty_board_holds_nobody() -> None:
    camera = painted.view()
    assert read(Table(camera, clutter=True), painted.scene(camera)).soldiers == ()


def test_captured_soldiers_beside_the_board_do_not_count() -> None:
    camera = painted.view(focal_px=1000)
    beside = tuple(Figure(Side.G, x, y) for x, y in ((-40, 300), (-42, 345), (405, 500), (402, 200)))
    placed = tuple(painted.standing(CROWD).values())
    assert seen(read(Table(camera, placed + beside), painted.scene(camera))) == CROWD


def test_a_soldier_that_is_missing_or_too_many_is_named() -> None:
    said = {s: side for s, side in CROWD.items() if s != Square.parse("A-52")}
    said[Square.parse("A-45")] = Side.A
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(CROWD).values()))
    standing = read(table, painted.scene(camera, expected=said))
    assert seen(standing) == CROWD
    assert any("A-45" in line and "empty" in line for line in standing.differences)
    assert any("A-52" in line and "soldier" in line for line in standing.differences)
    assert len(standing.differences) == 2


def test_a_soldier_that_nobody_told_of_is_of_the_side_whose_uniform_it_wears() -> None:
    """It has come far into the other side's field."""
    stranger = Square.parse("G-58")
    assert CROWD[stranger] is Side.A
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(CROWD).values()))
    said = {s: side for s, side in CROWD.items() if s != stranger}
    assert seen(read(table, painted.scene(camera, expected=said))) == CROWD


def test_who_is_known_to_stand_there_is_on_the_board_though_nobody_is_seen() -> None:
    camera = painted.view()
    hidden = Square.parse("A-26")
    placed = {s: figure for s, figure in painted.standing(CROWD).items() if s != hidden}
    board = read_board(
        Table(camera, tuple(placed.values())).paint(), painted.scene(camera), camera, frozenset({hidden})
    )
    assert seen(board.standing).keys() == CROWD.keys()
    assert board.unseen == {hidden}


def test_a_soldier_that_hardly_shows_stands_where_the_position_says_so() -> None:
    camera = painted.view()
    placed = painted.standing(CROWD)
    faint = next(iter(CROWD))
    shown = Table(camera, tuple(placed.values())).paint().astype(np.float64)
    bare = Table(camera, tuple(f for s, f in placed.items() if s != faint)).paint().astype(np.float64)

    def stands(share: float, said: dict[Square, Side] | None) -> bool:
        picture = np.round(bare + share * (shown - bare)).astype(np.uint8)
        standing = read_board(picture, painted.scene(camera, expected=said), camera).standing
        return faint in seen(standing)

    assert stands(0.05, CROWD)
    assert not stands(0.05, None)
    assert not stands(0.0, CROWD)


def test_a_soldier_of_the_wrong_side_is_named() -> None:
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(CROWD).values()))
    standing = read(table, painted.scene(camera, expected={**CROWD, Square.parse("A-26"): Side.G}))
    assert seen(standing) == CROWD
    assert [line for line in standing.differences if "A-26" in line] == list(standing.differences)
    assert standing.differences != ()


@pytest.mark.parametrize("position", [CROWD, START], ids=["battle", "start"])
def test_a_position_whose_sides_are_exchanged_is_told(position: dict[Square, Side]) -> None:
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(position).values()))

    def told(expected: dict[Square, Side]) -> list[str]:
        differences = read(table, painted.scene(camera, expected=expected)).differences
        return [line for line in differences if "exchanged" in line]

    assert told(position) == []
    assert len(told({square: side.enemy for square, side in position.items()})) == 1


@pytest.mark.parametrize(("height_mm", "foot_mm"), [(33.0, 8.5), (50.0, 14.0)])
def test_the_size_of_the_figures_is_learnt(height_mm: float, foot_mm: float) -> None:
    camera = painted.view(height_mm=900, focal_px=850)
    table = Table(camera, tuple(painted.standing(CROWD).values()), height_mm=height_mm, foot_mm=foot_mm)
    standing = read(table, painted.scene(camera))
    assert seen(standing) == CROWD
    assert standing.height_mm == pytest.approx(height_mm, abs=8)
    assert standing.foot_radius_mm == pytest.approx(foot_mm, abs=2.5)


@pytest.mark.parametrize("height_mm", [24.0, 33.0, 50.0])
def test_figures_are_said_to_be_less_tall_than_what_they_cover(height_mm: float) -> None:
    """Arms, packs and bases cover some of it; small figures are said to be small."""
    camera = painted.view(height_mm=900, focal_px=850)
    table = Table(camera, tuple(painted.standing(CROWD).values()), height_mm=height_mm)
    board = read_board(table.paint(), painted.scene(camera), camera)
    assert board.standing.height_mm < board.figure.height_mm
    assert board.standing.height_mm == pytest.approx(height_mm, abs=7)


def test_where_uniforms_look_alike_nobody_is_said_to_be_of_the_other_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(painted, "UNIFORMS", dict.fromkeys(Side, painted.UNIFORMS[Side.A]))
    camera = painted.view()
    standing = read(
        Table(camera, tuple(painted.standing(CROWD).values())), painted.scene(camera, expected=CROWD)
    )
    assert seen(standing) == CROWD
    assert standing.differences == ()


def test_a_few_who_have_crossed_the_middle_are_no_position_with_its_sides_exchanged() -> None:
    crossed = painted.squares("A G-68 G-70 G-66 G-58 G-56 G A-68 A-70 A-66 A-58 A-56")
    camera = painted.view()
    standing = read(
        Table(camera, tuple(painted.standing(crossed).values())), painted.scene(camera, expected=crossed)
    )
    assert seen(standing) == crossed
    assert standing.differences == ()


def test_at_the_start_who_wears_a_little_more_of_the_other_uniform_is_of_the_field_he_stands_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Set up he is where his side stands, unless he plainly is of the other."""
    start = {Square(side, n): side for side in Side for n in range(1, 17)}
    allied, german = (np.array(painted.UNIFORMS[side]) for side in Side)
    between = tuple((0.62 * allied + 0.38 * german).tolist())
    worn = {**painted.UNIFORMS, "between": between}
    monkeypatch.setattr(painted, "UNIFORMS", worn)
    placed = painted.standing(start)
    odd = Square.parse("G-09")
    placed[odd] = replace(placed[odd], side="between")  # type: ignore[arg-type]
    camera = painted.view()
    assert seen(read(Table(camera, tuple(placed.values())), painted.scene(camera))) == start


def test_a_grey_camera_reads_the_position_it_knows() -> None:
    camera = painted.view()
    picture = Table(camera, tuple(painted.standing(CROWD).values())).paint()
    grey = np.ascontiguousarray(picture[..., 1])
    scene = painted.scene(camera, expected=CROWD)
    found = register(grey, scene)
    assert isinstance(found, BoardView)
    assert seen(read_board(grey, scene, found).standing) == CROWD


def test_the_same_picture_is_read_the_same_way() -> None:
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(CROWD).values()))
    first, second = (read(replace(table), painted.scene(camera)) for _ in range(2))
    assert first == second


def test_a_field_that_is_mostly_manned_is_no_pattern_of_the_board() -> None:
    """Where more than half of alike squares hold soldiers, what they have in common is not the bare board."""
    squares = [Square(Side.A, number) for number in range(1, 73) if number % 5 not in (1, 3)]
    position = {square: Side.A if square.number < 40 else Side.G for square in squares[:44]}
    camera = painted.view()
    table = Table(camera, tuple(painted.standing(position).values()))
    assert seen(read(table, painted.scene(camera))).keys() == position.keys()


@pytest.mark.parametrize(("along_px", "down_px"), [(6.0, 1.0), (3.0, 3.0)])
def test_figures_that_hardly_show_are_taken_to_be_no_larger_than_usual(
    along_px: float, down_px: float
) -> None:
    """In a lamp's spot, on a board of their own colours and with a grain; they were taken for twice as wide."""
    camera = painted.view(tilt_rad=0.03)
    figures = tuple(painted.standing(CROWD).values())
    shown = Table(camera, figures, noise=0.0).paint().astype(np.float64)
    bare = Table(camera, noise=0.0).paint().astype(np.float64)
    grain = cv2.GaussianBlur(
        np.random.default_rng(3).normal(size=bare.shape[:2]), (0, 0), along_px, sigmaY=down_px
    )
    v, u = np.mgrid[: bare.shape[0], : bare.shape[1]]
    lamp = 0.7 + 0.56 * np.exp(-((u - 500) ** 2 + (v - 350) ** 2) / (2 * 90**2))
    seen = (bare + 0.2 * (shown - bare) + (8 / grain.std() * grain)[..., None]) * lamp[..., None]
    board = read_board(np.clip(seen, 0, 255).astype(np.uint8), painted.scene(camera, expected=CROWD), camera)
    assert board.figure.foot_radius_mm == pytest.approx(11.0, abs=2.5)
    assert board.figure.height_mm == pytest.approx(42.0, abs=4.5)


def test_two_kinds_of_figures_that_both_sides_have_do_not_make_anybody_the_other_sides() -> None:
    """Each side has twice as many of one kind as of the other, and the position is told."""
    camera = painted.view(tilt_rad=0.03)
    placed = painted.standing(CROWD)
    counted = {Side.A: 0, Side.G: 0}
    figures = []
    for square, side in sorted(CROWD.items()):
        counted[side] += 1
        looks_like = side.enemy if counted[side] % 3 == 0 else side
        figures.append(replace(placed[square], side=looks_like))
    standing = read(Table(camera, tuple(figures)), painted.scene(camera, expected=CROWD))
    assert seen(standing) == CROWD
    assert not [note for note in standing.differences if "one of" in note]

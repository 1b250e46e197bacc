import math
from dataclasses import replace

import numpy as np
import pytest

from game.montecassino import Cause, Side, Square, parse_squares
from twin.physics import BodySettings
from twin.soldier import ALL_STANCES, MOST_LEAN, REACH, Build, Headgear, base_mesh, parts
from twin.table import MOVED_MM, Table, TableError, TableFaults, TableSettings

SQUARE_MM = 45.0


def soldiers(text):
    return {square: square.field for square in parse_squares(text)}


def exact(**bodies):
    return TableSettings(placement_sd_mm=0.0, facing_sd_rad=0.0, bodies=BodySettings(**bodies))


def shoot(table, target, *, height_mm, speed_mps=9.0, from_mm=200.0, aside_mm=0.0):
    """Fire along +y at a square's middle, at a height over the board, from a short way off."""
    x_mm, y_mm = Square.parse(target).centre_mm(SQUARE_MM)
    table.launch((x_mm + aside_mm, y_mm - from_mm, height_mm), 0.0, 0.01, speed_mps, table.now_us)
    table.settle()
    return table.truth()


def test_soldiers_stand_near_the_middle_of_their_squares_and_look_at_the_enemy():
    table = Table(TableSettings(), soldiers("A01-A24,G01-G24"), seed=4)
    standing = table.standing()
    assert len(standing) == 48
    for each in standing:
        x_mm, y_mm = each.square.centre_mm(SQUARE_MM)
        assert math.hypot(each.x_mm - x_mm, each.y_mm - y_mm) < 8.0
        assert Square.at_mm(each.x_mm, each.y_mm, SQUARE_MM) == each.square
    _, now = table.arrangement()
    sight_y = 1 - 2 * now.poses[:, 6] ** 2
    for side, along_y in zip(now.sides, sight_y, strict=True):
        assert along_y > 0.8 if side is Side.A else along_y < -0.8


def test_who_is_hit_on_the_chest_falls_away_from_the_shot_and_was_hit_directly():
    table = Table(exact(), soldiers("A44"))
    truth = shoot(table, "A44", height_mm=30.0)
    (fall,) = truth.falls
    assert (str(fall.square), fall.cause) == ("A-44", Cause.DIRECT)
    assert truth.launched_us < fall.at_us < table.now_us
    _, now = table.arrangement()
    w, x, y, z = now.poses[0, 3:]
    head_along_y = 2 * (y * z - w * x)
    assert head_along_y > 0.5
    assert truth.contacts[0][1] == "A-44"
    x_mm, _, z_mm = truth.first_contact_mm
    assert abs(x_mm - Square.parse("A44").centre_mm(SQUARE_MM)[0]) < 3.0
    assert abs(z_mm - 30.0) < 5.0


MAKES = [
    Build(base_half_long=0.19, base_half_short=0.18, headgear=Headgear.CAP, packed=False),
    Build(base_half_long=0.32, base_half_short=0.18, base_squareness=1.0, stoutness=1.25),
    Build(base_half_long=0.28, base_half_short=0.28, stoutness=0.75, headgear=Headgear.HELMET),
    Build(base_height=0.09, coated=True, lean=MOST_LEAN, stances=(4, 5, 6, 7), headgear=Headgear.PEAKED),
    Build(base_height=0.025, lean=-0.08, stances=(6, 7, 8, 9), headgear=Headgear.BERET),
]


@pytest.mark.parametrize("build", MAKES)
def test_figures_of_every_make_stand_until_they_are_hit(build: Build) -> None:
    table = Table(exact(build=build), soldiers("A40,A44"))
    stood = {each.square: (each.x_mm, each.y_mm) for each in table.standing()}
    truth = shoot(table, "A44", height_mm=30.0)
    assert [(str(fall.square), fall.cause) for fall in truth.falls] == [("A-44", Cause.DIRECT)]
    (left,) = table.standing()
    assert str(left.square) == "A-40"
    assert math.hypot(left.x_mm - stood[left.square][0], left.y_mm - stood[left.square][1]) < 0.1


@pytest.mark.parametrize("build", MAKES)
def test_a_make_is_as_it_is_told(build: Build) -> None:
    mesh = base_mesh(1.0, build).split('"')[3].split()
    x, y, z = np.array(mesh, float).reshape(-1, 3).T
    assert z.max() - z.min() == pytest.approx(build.base_height)
    assert (x.max(), y.max()) == pytest.approx((build.base_half_long, build.base_half_short), abs=1e-5)
    # Of an ellipse's corners, the sum of squares is 1 at the most; of a rectangle's, 2.
    corner = ((x / build.base_half_long) ** 2 + (y / build.base_half_short) ** 2).max()
    assert corner == pytest.approx(1.0, abs=1e-4) if build.base_squareness == 0 else corner > 1.5
    names = {part.name for part in parts(0, build)}
    assert ("pack" in names) == build.packed
    assert ("brim" in names) == (build.headgear is Headgear.BRIMMED)
    assert ("peak" in names) == (build.headgear is Headgear.PEAKED)
    assert ("coat" in names) == build.coated
    heads = {
        b: next(p for p in parts(0, b) if p.name == "face").place for b in (build, replace(build, lean=0.0))
    }
    forward = heads[build][1] - heads[replace(build, lean=0.0)][1]
    assert forward == pytest.approx(build.lean, abs=0.25 * abs(build.lean))
    torso = {b: next(p for p in parts(0, b) if p.name == "torso").size[0] for b in (build, Build())}
    assert torso[build] == pytest.approx(build.stoutness * torso[Build()])


def test_each_of_all_stances_is_another_and_stays_within_reach() -> None:
    seen = set()
    for stance in range(ALL_STANCES):
        build = Build(stances=(stance, 0, 0, 0), lean=MOST_LEAN)
        held = [part for part in parts(0, build) if part.name.startswith(("arm", "rifle"))]
        seen.add(tuple(part.place for part in held))
        ends = np.array([part.place for part in held]).reshape(-1, 3)
        assert np.hypot(ends[:, 0], ends[:, 1]).max() <= REACH
    assert len(seen) == ALL_STANCES


def test_soldiers_in_a_close_file_drag_each_other_down():
    dragged = 0
    for height_mm in (24.0, 26.0, 28.0, 30.0):
        settings = TableSettings(square_mm=36.0, placement_sd_mm=0.0, facing_sd_rad=0.0)
        table = Table(settings, soldiers("A36,A44,A52"))
        x_mm, y_mm = Square.parse("A36").centre_mm(36.0)
        table.launch((x_mm, y_mm - 150.0, height_mm), 0.0, 0.01, 9.5, 0)
        table.settle()
        falls = {str(fall.square): fall.cause for fall in table.truth().falls}
        assert falls.pop("A-36", Cause.DIRECT) is Cause.DIRECT
        touched = {what for _, what in table.truth().contacts}
        assert all(cause is Cause.DRAGGED for square, cause in falls.items() if square not in touched)
        dragged += len(falls)
    assert dragged >= 2


def test_a_shot_off_the_board_makes_a_ricochet():
    table = Table(exact(), soldiers("A44"))
    x_mm, y_mm = Square.parse("A44").centre_mm(SQUARE_MM)
    table.launch((x_mm, y_mm - 90.0, 30.0), 0.0, -0.5, 9.0, 0)
    table.settle()
    truth = table.truth()
    assert [what for _, what in truth.contacts[:2]] == ["board", "A-44"]
    assert [(str(fall.square), fall.cause) for fall in truth.falls] == [("A-44", Cause.RICOCHET)]


def test_who_is_pushed_but_stands_is_moved():
    """On ice a soldier hit at its middle slides away upright."""
    table = Table(exact(soldier_friction=0.03, board_friction=0.03), soldiers("A44"))
    truth = shoot(table, "A44", height_mm=18.0, speed_mps=3.0)
    assert truth.falls == ()
    (moved,) = truth.moved
    x_mm, y_mm = Square.parse("A44").centre_mm(SQUARE_MM)
    assert str(moved.square) == "A-44"
    assert math.hypot(moved.x_mm - x_mm, moved.y_mm - y_mm) > MOVED_MM


def test_the_truth_is_written_as_the_recording_format_says():
    truth = shoot(Table(exact(), soldiers("A44,G44")), "A44", height_mm=30.0)
    data = truth.as_json()
    assert list(data) == ["before", "falls", "moved", "pellet", "contacts", "first_contact_mm"]
    assert data["before"][0] == {"side": "A", "square": "A-44", "x_mm": 157.5, "y_mm": 247.5}
    assert set(data["falls"][0]) == {"side", "square", "cause", "t_us"}
    times_us = [row[0] for row in data["pellet"]]
    assert times_us[0] == truth.launched_us
    steps_us = np.diff(times_us[:60])
    assert (steps_us >= 900).all()
    assert steps_us.max() < 1300
    assert data["contacts"][0].keys() == {"t_us", "what"}


def test_a_miss_touches_nobody():
    truth = shoot(Table(exact(), soldiers("A44")), "A44", height_mm=30.0, aside_mm=60.0)
    assert truth.falls == truth.moved == ()
    assert all(what in ("board", "edge") for _, what in truth.contacts)


def test_the_same_seed_gives_the_same_shot_and_another_seed_another():
    def outcome(seed, steps_us=10_000):
        table = Table(TableSettings(), soldiers("A01-A16,G41-G48,G49-G56"), seed=seed)
        table.launch((180.0, -20.0, 45.0), 0.02, 0.0, 9.6, 5000)
        while not table.at_rest:
            table.advance(table.now_us + steps_us)
        return table.truth()

    assert outcome(3) == outcome(3)
    assert outcome(3).pellet == outcome(3, 777).pellet
    assert outcome(3).before != outcome(4).before


def test_a_push_moves_and_turns_one_soldier_and_leaves_it_standing():
    table = Table(TableSettings(), soldiers("A44,A45"), seed=2)
    before = {s.square: s for s in table.standing()}
    table.push(Square.parse("A44"), (7.0, -4.0), 0.8)
    after = {s.square: s for s in table.standing()}
    pushed, was = after[Square.parse("A44")], before[Square.parse("A44")]
    assert (pushed.x_mm - was.x_mm, pushed.y_mm - was.y_mm) == pytest.approx((7.0, -4.0))
    assert after[Square.parse("A45")] == before[Square.parse("A45")]
    w, x, y, z = table.arrangement()[1].poses[0, 3:]
    assert (x, y) == pytest.approx((0.0, 0.0))
    assert w * w + z * z == pytest.approx(1.0)


def test_hands_take_away_and_put_back_without_touching_the_others():
    table = Table(TableSettings(), soldiers("A44,A45,A46"), seed=2)
    shoot(table, "A44", height_mm=30.0)
    lying = [square for square in table.soldiers if square not in {s.square for s in table.standing()}]
    assert [str(square) for square in lying] == ["A-44"]
    others = {s.square: s for s in table.standing()}
    table.put_back(Square.parse("A44"))
    after = {s.square: s for s in table.standing()}
    assert len(after) == 3
    assert all(after[square] == standing for square, standing in others.items())
    x_mm, y_mm = Square.parse("A44").centre_mm(SQUARE_MM)
    back = after[Square.parse("A44")]
    assert math.hypot(back.x_mm - x_mm, back.y_mm - y_mm) < 8.0

    table.remove(Square.parse("A45"))
    assert [str(s.square) for s in table.standing()] == ["A-44", "A-46"]
    with pytest.raises(TableError, match="no soldier belongs to A-45"):
        table.put_back(Square.parse("A45"))


def test_a_new_position_leaves_those_who_stay_where_they_are():
    table = Table(TableSettings(), soldiers("A44,A45"), seed=2)
    before = {s.square: s for s in table.standing()}
    table.set_up(soldiers("A45,G12"))
    after = {s.square: s for s in table.standing()}
    assert [str(square) for square in after] == ["A-45", "G-12"]
    assert after[Square.parse("A45")] == before[Square.parse("A45")]


def test_time_goes_forward_only_and_hands_wait_for_rest():
    table = Table(TableSettings(), soldiers("A44"))
    with pytest.raises(TableError, match="no shot has come to rest"):
        table.truth()
    table.launch((180.0, 0.0, 45.0), 0.0, 0.0, 9.6, 1000)
    table.advance(20_000)
    with pytest.raises(TableError, match="cannot go back"):
        table.advance(10_000)
    with pytest.raises(TableError, match="while things move"):
        table.put_back(Square.parse("A44"))
    with pytest.raises(TableError, match="while things move"):
        table.launch((180.0, 0.0, 45.0), 0.0, 0.0, 9.6, 30_000)
    table.settle()
    assert table.at_rest


def test_a_sleeve_makes_a_fall_that_nothing_in_the_shot_caused():
    """Clause C7: a fall that nothing touched is of another cause."""
    faults = TableFaults(sleeve_square="A-44", sleeve_after_us=50_000)
    table = Table(TableSettings(faults=faults), soldiers("A44,G44"))
    table.launch((300.0, -20.0, 60.0), 0.1, 0.05, 9.0, 1000)
    table.settle()
    (fall,) = table.truth().falls
    assert (str(fall.square), fall.cause) == ("A-44", Cause.OTHER)
    assert fall.at_us > 51_000

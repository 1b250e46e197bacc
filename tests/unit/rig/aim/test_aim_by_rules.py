"""Aims weighed by the rules: C4 zone, C5 put back, C6 own casualties, C7 options (issue: aim that knows the rules)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.aim import Aim, solve
from calibration.scatter import Scatter
from game.montecassino import (
    ALL_SQUARES,
    Fall,
    JudgeError,
    Option,
    Position,
    Side,
    Square,
    judge,
    parse_squares,
    proposed_zone,
)
from rig.aim.by_rules import CAUSES, AimChooser, counted
from rig.aim.fall_table import fall_table, fall_table_origin
from rig.aim.pointing import cannon_of
from rig.settings import Settings

SETTINGS = Settings()
CROWD = "A A01-A08,A58,A60 G01-G08,G41,G42,G49,G50,G53,G61 0/0 20/20 -"


def chooser(position: str = CROWD, option: Option = Option.I, **changes) -> AimChooser:
    given = {"zone": ALL_SQUARES, **changes}
    zone = given.pop("zone")
    return AimChooser(Position.parse(position), zone, option, SETTINGS.cannon, SETTINGS.board, **given)


def aim_at_point(found: AimChooser, x_mm: float, y_mm: float, z_mm: float = 24.0) -> Aim:
    cannon = cannon_of(found.position.turn, SETTINGS.cannon, SETTINGS.board)
    aim = solve(cannon, (x_mm / 1000, y_mm / 1000, z_mm / 1000))
    assert isinstance(aim, Aim)
    return aim


@pytest.mark.parametrize("option", Option)
@pytest.mark.parametrize("zone", [ALL_SQUARES, proposed_zone(Side.A), parse_squares("G53,G61,A58")])
def test_expected_losses_are_the_averages_of_the_judge_over_the_same_falls(option, zone):
    """Falls are drawn from the chances, shot by shot, and each shot is judged as a real one."""
    found = chooser(option=option, zone=zone, scatter=Scatter(azimuth_rad=0.02, elevation_rad=0.02))
    aim = aim_at_point(found, 160.0, 360.0)
    shots = 700
    touches = found.touches([aim.elevation_rad], [aim.traverse_m], [aim.azimuth_rad], found.draws(shots))
    expected = found.values(touches)
    soldiers = list(found.position.soldiers.items())
    chances = found.table.chances(
        [(square.own_line(Side.A), square.own_file(Side.A)) for square, _ in soldiers]
    ).reshape(-1, len(soldiers), len(CAUSES))
    rng = np.random.default_rng(3)
    lost = np.zeros((shots, 2))
    for number, code in enumerate(touches.code[0, 0]):
        if code < 0:
            continue
        falls = []
        for (square, side), ways in zip(soldiers, chances[code], strict=True):
            way = int(np.searchsorted(np.cumsum(ways), rng.random(), side="right"))
            if way < len(CAUSES):
                falls.append(Fall(square, side, (CAUSES[way],)))
        verdict = judge(found.position, zone, option, falls)
        for square in verdict.casualties:
            lost[number, 0 if found.position.soldiers[square] is Side.G else 1] += 1
    for mean, spread, value in zip(
        lost.mean(axis=0), lost.std(axis=0), (expected.enemy, expected.own), strict=True
    ):
        assert mean == pytest.approx(value[0, 0], abs=4 * max(spread, 0.05) / np.sqrt(shots))


def test_what_counts_is_zone_and_option():
    """C4, C5, C7: options i, ii, iii count less and less, and nobody outside the zone counts."""
    position = Position.parse(CROWD)
    zone = parse_squares("G53,G61,A58")
    rows = {option: counted(position, zone, option) for option in Option}
    inside = [square in zone for square in position.soldiers]
    assert (rows[Option.I][inside] == [1, 1, 1]).all()
    assert (rows[Option.II][inside] == [1, 1, 0]).all()
    assert (rows[Option.III][inside] == [1, 0, 0]).all()
    assert not any(row[~np.array(inside)].any() for row in rows.values())


def test_net_weighs_own_casualties():
    """C6: the own side loses men too; A-58 and A-60 stand in the way of low shots."""
    aims = {}
    for weight in (0.0, 1.0, 3.0):
        found = chooser(own_weight=weight, scatter=Scatter(azimuth_rad=0.03))
        aim = aim_at_point(found, *Square.parse("A-58").centre_mm(45.0))
        aims[weight] = found.weigh(aim.traverse_m, aim.azimuth_rad, aim.elevation_rad)
    assert aims[1.0].own > 0.3
    for weight, weighed in aims.items():
        assert weighed.net == pytest.approx(weighed.enemy - weight * weighed.own)


def test_the_best_aim_hits_enemies_in_the_zone_and_beats_what_is_aimed_at_each_of_them():
    found = chooser(zone=proposed_zone(Side.A))
    ranked = found.best(3)
    assert [each.net for each in ranked] == sorted((each.net for each in ranked), reverse=True)
    assert len({each.main_target for each in ranked}) == 3
    best = ranked[0]
    for square in parse_squares("G41,G42,G49,G50,G53,G61"):
        aim = aim_at_point(found, *square.centre_mm(45.0))
        weighed = found.weigh(aim.traverse_m, aim.azimuth_rad, aim.elevation_rad)
        assert best.net > weighed.net - 4 * (best.net_error + weighed.net_error)
    assert best.main_target in found.zone
    assert found.position.soldiers[best.main_target] is Side.G
    assert sum(best.touched.values()) <= 1 + 1e-9
    assert sum(best.leaves.values()) == pytest.approx(best.enemy + best.own)


def test_a_soldier_alone_is_worth_its_chance_to_be_hit_and_to_fall():
    """The other soldiers stand in their bases, far away."""
    found = chooser("A A01 G53 0/0 20/20 -", Option.III)
    (best,) = found.best(5)
    assert best.main_target == Square.parse("G-53")
    assert best.enemy == pytest.approx(best.leaves[Square.parse("G-53")])
    assert 0.5 < best.enemy <= best.touched[Square.parse("G-53")]


def test_no_aim_is_worth_anything_where_no_enemy_stands_in_the_zone():
    assert chooser("A A01-A08 G01-G08 0/0 20/20 -", zone=proposed_zone(Side.A)).best(3) == []


def test_the_other_side_sees_the_board_turned_round():
    at_a = chooser("A A01,A02 G53,G61 0/0 20/20 -").best(1)[0]
    at_g = chooser("G A53,A61 G01,G02 0/0 20/20 -").best(1)[0]
    assert at_g.net == pytest.approx(at_a.net, abs=0.02)
    assert at_a.main_target is not None
    assert at_g.main_target == at_a.main_target.mirrored


def test_the_map_is_high_where_the_enemy_stands():
    found = chooser("A A01 G53 0/0 20/20 -")
    board = found.board_map()
    assert board.net.shape == (54, 24)
    x_mm, y_mm = Square.parse("G-53").centre_mm(45.0)
    at_target = board.net[np.abs(board.y_mm - y_mm) < 1, np.abs(board.x_mm - x_mm) < 1]
    assert at_target[0] > 0.9 * np.nanmax(board.net)
    assert np.nanmax(board.net[:, np.abs(board.x_mm - x_mm) > 50]) < 0.05
    assert np.isnan(board.net[0]).all(), "too near to be aimed at"


def test_feet_seen_by_the_camera_are_where_the_shot_strikes():
    x_mm, y_mm = Square.parse("G-53").centre_mm(45.0)
    moved = chooser("A A01 G53 0/0 20/20 -", feet_mm={Square.parse("G-53"): (x_mm + 18, y_mm)})
    aim = aim_at_point(moved, x_mm + 18, y_mm)
    beside = chooser("A A01 G53 0/0 20/20 -")
    at = (aim.traverse_m, aim.azimuth_rad, aim.elevation_rad)
    assert moved.weigh(*at).enemy > 0.6
    assert beside.weigh(*at).enemy < 0.1


def test_without_a_shot_left_there_is_nothing_to_aim():
    """C3."""
    with pytest.raises(JudgeError, match="no shot left"):
        chooser("A A01 G53 0/0 0/20 -")


def test_a_weight_below_0_is_refused():
    with pytest.raises(ValueError, match="own_weight is -1, expected 0 or more"):
        chooser(own_weight=-1)


def test_the_table_that_comes_with_the_rig_is_sound():
    table = fall_table()
    assert "twin" in fall_table_origin()
    # Hit higher, a soldier falls more surely; whoever stands right behind is dragged along most often.
    assert table.fell[-1, 1] > table.fell[0, 1]
    assert np.unravel_index(table.dragged.mean(axis=(0, 1)).argmax(), (6, 5)) == (2, 2)
    assert table.lines[2] == 1
    assert table.files[2] == 0


def test_a_narrow_servo_still_has_a_grid():
    narrow = SETTINGS.cannon.azimuth.model_copy(update={"min_us": 1497, "max_us": 1503})
    found = replace(chooser(), cannon=SETTINGS.cannon.model_copy(update={"azimuth": narrow}))
    elevations, azimuths = found.grid_rad()
    assert len(elevations) == 60
    assert list(azimuths) == [0.0]

"""Labelled shots without end: what a number stands for is whole, and clear to judge."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from game.montecassino import Position, Side
from rig.cli import main
from rig.recording import read_frames, read_recording
from twin.clips import film_disorder, photograph
from twin.contacts import BOARD, SHOT, Contact, blame_is_shared
from twin.drawn_looks import of_another_size, on_board_of_another_thickness, packed_for_a_cable
from twin.physics import BodySettings
from twin.pictures.artwork import BoardLook, Finish, TableLook, board, ground, table
from twin.pictures.camera import CameraSettings
from twin.pictures.look import LookSettings
from twin.pictures.scene import Arrangement
from twin.pictures.stage import Stage
from twin.soldier import Build
from twin.table import TableSettings

FEW_PICTURES = 1018
"""The number of a shot at 60 pictures a second, which is filmed quickly."""
DISORDER = 7
"""The number of a table on which some fell and some were pushed."""
FALLEN = 600_031
"""The number of a small still with soldiers that lie about."""


def test_rig_clips_films_shots_with_their_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["clips", str(tmp_path), "--count", "1", "--seed", str(FEW_PICTURES)]
    assert main(asked) == 0
    folder = tmp_path / f"clip-{FEW_PICTURES:05d}"
    recording = read_recording(folder)
    truth = json.loads((folder / "truth.json").read_text())
    frames = list(read_frames(folder, recording))
    assert len(frames) == len(recording.timestamps_us)
    stood = {(each["side"], each["square"]) for each in truth["before"]}
    assert {(fall["side"], fall["square"]) for fall in truth["falls"]} <= stood
    assert all(fall["cause"] in ("direct", "ricochet", "dragged") for fall in truth["falls"])
    # It begins before the shot and goes on until everybody lies.
    times_us = recording.timestamps_us
    assert times_us[0] < truth["pellet"][0][0] < times_us[-1]
    assert all(fall["t_us"] < times_us[-1] for fall in truth["falls"])
    if recording.keys.position is not None:
        told = Position.parse(recording.keys.position).soldiers
        assert {(str(side), str(square)) for square, side in told.items()} == stood
    # What is there already is left alone.
    written = (folder / "clip.mkv").stat().st_mtime_ns
    capsys.readouterr()
    assert main(asked) == 0
    assert (folder / "clip.mkv").stat().st_mtime_ns == written
    assert capsys.readouterr().out.endswith(": the one asked for is there already\n")


def test_a_still_tells_who_stands_and_who_lies() -> None:
    still = photograph(FALLEN)
    assert still.lying
    assert not {each.square for each in still.standing} & set(still.lying)
    size = (still.keys["camera"]["height"], still.keys["camera"]["width"], 3)
    assert [picture.shape for _, picture in still.frames] == [size] * 3
    # At rest: pictures differ by their noise alone.
    first, *_, last = (picture.astype(float) for _, picture in still.frames)
    assert 0 < abs(first - last).mean() < 6


def test_a_disorder_tells_who_fell_and_who_stands_elsewhere() -> None:
    disorder = film_disorder(DISORDER)
    size = (disorder.keys["camera"]["height"], disorder.keys["camera"]["width"])
    assert [picture.shape[:2] for _, picture in disorder.frames] == [size] * 6
    times_us = [at_us for at_us, _ in disorder.frames]
    assert times_us == sorted(times_us)
    told = disorder.as_json()
    stood = {each["square"] for each in told["before"]}
    fell, moved = ({each["square"] for each in told[key]} for key in ("falls", "moved"))
    assert fell
    assert moved
    assert fell | moved <= stood
    assert not fell & moved
    assert {str(each.square) for each in disorder.after} == stood - fell
    # The table changed between the third picture and the fourth, and only there.
    steps = [
        abs(one.astype(float) - other).mean() for (_, one), (_, other) in itertools.pairwise(disorder.frames)
    ]
    assert int(np.argmax(steps)) == 2


def test_half_the_boards_are_as_thick_as_cardboard_or_as_a_shelf() -> None:
    usual = TableSettings()
    drawn = [on_board_of_another_thickness(seed, usual, 0.5).bodies for seed in range(120)]
    others_mm = [each.board_thickness_mm for each in drawn if each != usual.bodies]
    assert 40 < len(others_mm) < 80
    assert 2.0 <= min(others_mm) < 3.0
    assert 14.0 < max(others_mm) <= 20.0


def test_a_fifth_of_the_tables_are_smaller_or_larger_in_proportion() -> None:
    usual = TableSettings()
    drawn = [of_another_size(seed, usual, 0.2) for seed in range(300)]
    others = [each for each in drawn if each != usual]
    assert 35 < len(others) < 90
    assert 25.0 <= min(each.square_mm for each in others) < 29.0
    assert 54.0 < max(each.square_mm for each in others) <= 60.0
    for each in others:
        size = each.square_mm / usual.square_mm
        assert each.bodies.soldier_height_mm == pytest.approx(size * usual.bodies.soldier_height_mm)
        assert each.bodies.soldier_mass_g == pytest.approx(size**3 * usual.bodies.soldier_mass_g)
        assert each.surface.y0_m == pytest.approx(size * usual.surface.y0_m)
        assert each.shot == usual.shot


def test_three_cameras_in_ten_pack_their_pictures() -> None:
    usual = CameraSettings()
    drawn = [packed_for_a_cable(seed, usual, 0.3).jpeg_quality for seed in range(200)]
    qualities = [each for each in drawn if each is not None]
    assert 40 < len(qualities) < 80
    assert 60 <= min(qualities) < 66
    assert 88 < max(qualities) < 95


@pytest.mark.parametrize("look", list(BoardLook))
def test_a_board_is_dyed_field_by_field(look: BoardLook) -> None:
    usual = board(look, square_mm=45.0, strip_mm=0.0).astype(float)
    dyed = board(look, square_mm=45.0, strip_mm=0.0, finish=Finish(dye_a=(0.5, 1.0, 1.0))).astype(float)
    half = len(usual) // 2
    change = (dyed - usual).mean(axis=1)
    assert change[half + 60 :, 2].mean() < -15  # red, on the Allies' field at the lower edge
    assert abs(change[: half - 60]).max() < 1


@pytest.mark.parametrize("look", list(BoardLook))
def test_the_ground_of_a_field_is_told_as_it_is_drawn(look: BoardLook) -> None:
    finish = Finish(dye_a=(0.6, 0.9, 1.0), dye_g=(1.0, 0.8, 0.7))
    drawn = board(look, square_mm=45.0, strip_mm=0.0, finish=finish).astype(float)[:, :, ::-1] / 255
    half = len(drawn) // 2
    for field, told in zip((drawn[half:], drawn[:half]), ground(look, finish), strict=True):
        # Half of a checkered field is darker, and wood has its grain.
        assert np.median(field, axis=(0, 1)) == pytest.approx(np.array(told), rel=0.28)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_painted_on_the_ground_leaves_lines_and_strips_alone(seed: int) -> None:
    ink = (0.9, 0.1, 0.5)
    bare, drawn = (
        board(
            BoardLook.PLAIN, square_mm=45.0, strip_mm=65.0, finish=Finish(painting_seed=each, ink=ink)
        ).astype(int)
        for each in (None, seed)
    )
    differs = (bare != drawn).any(axis=2)
    on_lines = (bare == [128, 26, 230]).all(axis=2)
    assert on_lines.sum() > 10_000
    assert not differs[on_lines].any()
    strip_px = round(65.0 * 3)
    assert not differs[:strip_px].any()
    assert not differs[-strip_px:].any()
    assert differs[strip_px:-strip_px].mean() > 0.8
    # Paint is no brighter than paper: some of it may be, most is darker.
    assert np.median(drawn[strip_px:-strip_px]) < np.median(bare[strip_px:-strip_px])


def test_figures_that_all_stand_alike_are_drawn() -> None:
    build = Build(stances=(3, 3, 3, 3))
    stage = Stage(
        LookSettings(), TableSettings(bodies=BodySettings(build=build)), slots=1, picture_px=(64, 64)
    )
    stage.arrange(Arrangement((Side.A,), (2,), np.array([[0, 0, 0, 1.0, 0, 0, 0]]), None), np.array([True]))
    parts = [stage.model.geom(k) for k in range(stage.model.ngeom)]
    shown = {part.name for part in parts if part.name.startswith("soldier-0") and part.rgba[3] == 1.0}
    assert {"soldier-0-torso", "soldier-0-rifle", "soldier-0-arm-left"} <= shown


def test_soldiers_of_a_side_are_of_one_dye_unless_it_spreads() -> None:
    poses = np.zeros((2, 7))
    poses[:, 3] = 1.0
    arrangement = Arrangement((Side.A, Side.A), (0, 0), poses, None)
    differ = []
    for spread in (0.0, 0.08):
        stage = Stage(LookSettings(dye_spread=spread), TableSettings(), slots=2, picture_px=(64, 64))
        stage.arrange(arrangement, np.ones(2, dtype=bool))
        first, second = (stage.model.geom(f"soldier-{k}-torso").rgba for k in range(2))
        assert first[3] == second[3] == 1.0
        differ.append(float(np.abs(first - second).max()))
    assert differ[0] == 0.0
    assert differ[1] > 0.005


def test_things_beside_the_board_leave_the_board_alone() -> None:
    bare, littered = (table(TableLook.GREY, finish=Finish(litter=n, litter_seed=3)) for n in (0, 4))
    differs = np.argwhere((bare != littered).any(axis=2))
    assert len(differs)
    beside_mm = abs(differs[:, 1] - 700) * 2200 / 1400
    assert beside_mm.min() > 180


def test_blame_is_shared_where_shot_and_soldier_push_at_once() -> None:
    def push(by: int, at_s: float, impulse_ns: float) -> Contact:
        return Contact((by, 0) if by < 0 else (0, by), at_s, None, at_s, impulse_ns, at_s)

    shot = push(SHOT, 0.050, 1e-3)
    assert blame_is_shared([shot, push(1, 0.055, 9e-4)], 0)
    assert not blame_is_shared([shot, push(1, 0.120, 9e-4)], 0), "long after"
    assert not blame_is_shared([shot, push(1, 0.055, 1e-4)], 0), "a mere brush"
    assert not blame_is_shared([push(1, 0.050, 1e-3), push(2, 0.052, 1e-3)], 0), (
        "two soldiers: dragged either way"
    )
    assert not blame_is_shared([Contact((BOARD, SHOT), 0.05, None)], 0)

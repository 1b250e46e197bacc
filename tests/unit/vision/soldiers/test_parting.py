"""Sides that nothing but the picture tells: looks first, and where soldiers stand where looks tell nothing."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import painted_table as painted
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rig.recording import read_frames, read_recording, write_recording
from twin.clips import film
from vision.soldiers.figure import Figure
from vision.soldiers.parting import HARDLY_TOLD, Spreads, looks_of, part
from vision.soldiers.surface import Raster
from vision.soldiers.uniforms import learn_looks
from vision.table_before import TableBefore, read_before

AXES = 4
_FEW = 6  # pictures, all of them before the shot
SPREADS = Spreads(np.eye(AXES), np.full(AXES, 4.0), np.full(AXES, 30.0))
ALIKE = np.ones((36, 1))  # all wear one colour


def soldiers(
    seed: int, apart: float, by_field: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Looks, lines forward and sides of a table on which a third has crossed the middle."""
    draw = np.random.default_rng(seed)
    first = np.arange(36) < 18
    crossed = np.arange(36) % 3 == 0
    forward = draw.uniform(0.5, 4.0, 36) * np.where(first, 1, -1) * np.where(crossed, -1, 1)
    side = np.where(first, 0.5, -0.5)[:, None] * np.array([apart, -apart, 0.0, 0.0])
    field = np.where(forward > 0, 0.5, -0.5)[:, None] * np.array([0.0, 0.0, by_field, 0.0])
    return draw.normal(0, 1, (36, AXES)) + side + field, forward, first


def few_crossed(
    seed: int, every: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Noise of looks, lines forward, sides and fields of a table on which every so-manieth has crossed the middle."""
    draw = np.random.default_rng(seed)
    first = np.arange(36) < 18
    on_first = first ^ (np.arange(36) % every == 0)
    forward = draw.uniform(0.5, 3.0, 36) * np.where(on_first, 1, -1)
    return draw.normal(0, 1, (36, AXES)), forward, first, on_first


@given(st.integers(0, 1000))
def test_who_has_crossed_is_told_by_its_looks(seed: int) -> None:
    looks, forward, first = soldiers(seed, apart=9.0)
    assert ((part(looks, ALIKE, SPREADS, forward, np.zeros(36), forward > 0) > 0) == first).all()


@given(st.integers(0, 200))
def test_what_a_field_adds_to_its_soldiers_is_not_taken_for_a_side(seed: int) -> None:
    looks, forward, first = soldiers(seed, apart=10.0, by_field=4.0)
    assert ((part(looks, ALIKE, SPREADS, forward, np.zeros(36), forward > 0) > 0) == first).all()


@given(st.integers(0, 200))
def test_a_field_that_makes_its_own_look_like_the_others_hides_no_side(seed: int) -> None:
    """Who stands on his own field looks like who does on the other; only who has crossed looks otherwise."""
    noise, forward, first, on_first = few_crossed(seed, every=4)
    apart = np.array([8.0, -8.0, 0.0, 0.0])
    looks = noise + (first.astype(float) - on_first)[:, None] * apart
    assert ((part(looks, ALIKE, SPREADS, forward, np.zeros(36), on_first) > 0) == first).all()


@given(st.integers(0, 200))
def test_of_sides_that_plainly_differ_nobody_is_hardly_told(seed: int) -> None:
    looks, forward, first = soldiers(seed, apart=15.0)
    worn = np.where(first[:, None], [0.6, 0.4, 0.0], [0.0, 0.4, 0.6])
    assert (np.abs(part(looks, worn, SPREADS, forward, np.zeros(36), forward > 0)) > HARDLY_TOLD).all()


@given(st.integers(0, 200))
def test_who_wears_a_little_of_both_and_stands_in_the_middle_alone_is_hardly_told(seed: int) -> None:
    """An honest eye names whom it can hardly tell."""
    looks, forward, first = soldiers(seed, apart=15.0)
    worn = np.where(first[:, None], [0.6, 0.4, 0.0], [0.0, 0.4, 0.6])
    looks[0] = (looks[first][1:].mean(axis=0) + looks[~first].mean(axis=0)) / 2
    worn[0] = (0.3, 0.4, 0.3)
    forward[0] = 0.0
    log_odds = part(looks, worn, SPREADS, forward, np.zeros(36), forward > 0)
    assert np.flatnonzero(np.abs(log_odds) < HARDLY_TOLD).tolist() == [0]


@given(st.integers(0, 200))
def test_where_all_look_alike_each_is_of_the_base_that_it_stands_near(seed: int) -> None:
    _, forward, _ = soldiers(seed, apart=0.0)
    told = part(np.zeros((36, AXES)), ALIKE, SPREADS, forward, np.zeros(36), forward > 0)
    assert ((told > 0) == (forward > 0)).all()


@given(st.integers(0, 200))
def test_where_all_look_alike_in_the_middle_each_is_of_the_side_whose_enemy_it_looks_at(seed: int) -> None:
    """Soldiers mostly look towards the enemy; where nothing else tells, that does."""
    facing = np.random.default_rng(seed).permutation(np.repeat([-1.0, 1.0], 18))
    told = part(np.zeros((36, AXES)), ALIKE, SPREADS, np.zeros(36), facing, facing > 0)
    assert ((told > 0) == (facing > 0)).all()


@given(st.integers(0, 200))
def test_who_looks_the_other_way_is_told_by_its_uniform(seed: int) -> None:
    """Nothing makes a player set a soldier so that it looks at the enemy."""
    looks, forward, first = soldiers(seed, apart=10.0)
    about = np.random.default_rng(seed).random(36) < 0.3
    facing = np.where(first ^ about, 20.0, -20.0)
    worn = np.where(first[:, None], [0.6, 0.4, 0.0], [0.0, 0.4, 0.6])
    assert ((part(looks, worn, SPREADS, forward, facing, forward > 0) > 0) == first).all()


@given(st.integers(0, 200))
def test_no_side_is_given_more_soldiers_than_it_has(seed: int) -> None:
    """S1 gives each side 24: of 29 who look like one, the five who look least like it are the other's, and are named."""
    draw = np.random.default_rng(seed)
    like_first = np.concatenate([np.full(24, 0.5), np.full(5, 0.2), np.full(17, -0.5)])
    looks = draw.normal(0, 0.3, (46, AXES)) + like_first[:, None] * np.array([12.0, -12.0, 0.0, 0.0])
    parted = part(looks, np.ones((46, 1)), SPREADS, np.zeros(46), np.zeros(46), draw.random(46) < 0.5)
    sides = [parted[:24] > 0, parted[24:] > 0]
    assert all(side.all() or not side.any() for side in sides)
    assert sides[0][0] != sides[1][0]
    assert (np.abs(parted[24:29]) < HARDLY_TOLD).any()


@given(st.integers(0, 200))
def test_of_two_ways_to_part_a_table_the_one_that_colours_agree_with_is_taken(seed: int) -> None:
    """Half of them stand in the light: they look otherwise, and wear what the others of their side wear."""
    draw = np.random.default_rng(seed)
    first = np.arange(36) < 18
    lit = np.arange(36) % 2 == 0
    looks = draw.normal(0, 1, (36, AXES)) + np.column_stack([8.0 * first, 9.0 * lit, 9.0 * lit, np.zeros(36)])
    worn = np.where(first[:, None], [0.5, 0.3, 0.2, 0.0], [0.2, 0.0, 0.3, 0.5])
    fields = np.arange(36) % 3 == 0
    alike, parted = (
        part(looks, shares, SPREADS, np.zeros(36), np.zeros(36), fields) > 0 for shares in (ALIKE, worn)
    )
    assert (alike == lit).all() or (alike != lit).all()
    assert (parted == first).all() or (parted != first).all()


@given(st.integers(0, 200))
def test_a_field_whose_colour_shows_on_all_who_stand_there_is_not_taken_for_a_side(seed: int) -> None:
    """A few have crossed the middle: they wear their side's colour, but more of the field's shows on them."""
    noise, forward, first, on_first = few_crossed(seed, every=6)
    looks = noise + np.where(first, 0.5, -0.5)[:, None] * np.array([6.0, -6.0, 0.0, 0.0])
    worn = np.where(first[:, None], [0.4, 0.0], [0.0, 0.4])
    shown = np.where(on_first[:, None], [0.6, 0.0], [0.0, 0.6])
    parted = part(looks, np.hstack([worn, shown]), SPREADS, forward, np.zeros(36), on_first)
    assert ((parted > 0) == first).all()


@given(st.integers(0, 200))
def test_who_looks_otherwise_than_his_side_is_told_by_the_colours_that_all_of_it_wear(seed: int) -> None:
    """Every fourth of a box of figures stands otherwise than the rest, and looks as much like the enemy as like its own."""
    looks, forward, first = soldiers(seed, apart=5.0)
    otherwise = np.arange(36) % 4 == 1
    looks[otherwise] -= np.where(first[otherwise], 0.5, -0.5)[:, None] * np.array([5.0, -5.0, 0.0, 0.0])
    worn = np.where(first[:, None], [0.9, 0.1], [0.1, 0.9])
    assert ((part(looks, worn, SPREADS, forward, np.zeros(36), forward > 0) > 0) == first).all()


@given(st.integers(0, 200))
def test_who_looks_like_neither_side_is_of_the_one_whose_colours_it_wears(seed: int) -> None:
    looks, forward, first = soldiers(seed, apart=9.0)
    looks[0] = looks[1:].mean(axis=0)
    forward[0] = 0.0
    worn = np.where(first[:, None], [0.6, 0.4, 0.0], [0.0, 0.4, 0.6])
    worn[0] = (0.0, 0.4, 0.6)
    assert part(looks, worn, SPREADS, forward, np.zeros(36), forward > 0)[0] < 0
    worn[0] = (0.6, 0.4, 0.0)
    assert part(looks, worn, SPREADS, forward, np.zeros(36), forward > 0)[0] > 0


def test_one_soldier_is_of_the_base_that_it_stands_near() -> None:
    assert part(np.zeros((1, AXES)), ALIKE[:1], SPREADS, np.array([-3.0]), np.zeros(1), np.array([False])) < 0


def test_a_darker_soldier_is_told_from_a_brighter_one_whatever_its_colour() -> None:
    draw = np.random.default_rng(0)
    dark, bright = (
        looks_of(draw.normal(level, 3, (60, 3)).clip(0, 255).astype(np.float32)) for level in (60, 120)
    )
    rise = np.log((120 + 8) / (60 + 8))
    assert np.allclose((bright - dark)[:8], rise, atol=0.1)
    assert np.allclose((bright - dark)[8:], 0.0, atol=0.15)


def test_the_colours_of_a_soldiers_parts_are_told_from_its_darkest_to_its_brightest() -> None:
    """Sides were learnt to be told by them in this order: trousers are no helmet."""
    parts = np.repeat(np.float32([(10, 10, 60), (100, 100, 100), (250, 200, 200)]), 30, axis=0)
    red, blue = looks_of(np.random.default_rng(1).permutation(parts))[8:14].reshape(2, 3)
    assert red[0] > 1
    assert red[1:] == pytest.approx([0, 0], abs=0.01)
    assert blue[2] > 0.1
    assert blue[:2] == pytest.approx([0, 0], abs=0.01)


def test_what_lies_between_two_pixels_is_told_in_proportion() -> None:
    """Of as many dark ones as bright ones the middle is half way."""
    dark, bright = (np.full((10, 1), level, np.float32) for level in (60.0, 180.0))
    median = 3
    halfway = (looks_of(dark)[median] + looks_of(bright)[median]) / 2
    assert looks_of(np.concatenate([dark, bright]))[median] == pytest.approx(halfway, abs=1e-5)


def test_a_grey_soldier_is_described_as_one_whose_colours_are_equal() -> None:
    light = np.random.default_rng(0).uniform(20, 200, (60, 1)).astype(np.float32)
    assert np.allclose(looks_of(light), looks_of(np.repeat(light, 3, axis=1)))


def test_whose_upper_body_is_seen_beyond_all_that_is_laid_flat_is_told_by_the_rest() -> None:
    """From a camera that stands very low a soldier in the corner leans out of the picture of the board."""
    low = painted.view(height_mm=150.0, focal_px=140.0)
    raster = Raster(low, painted.scene(low))
    flat = np.full((*raster.shape, 3), 90.0, np.float32)
    cover = np.ones(raster.shape, np.float32)
    in_the_corner, amid = (22.0, 22.0), (180.0, 405.0)
    looks, shares = learn_looks(flat, cover, raster, low, Figure(42.0, 11.0), [in_the_corner, amid])
    assert np.isfinite(looks).all()
    assert shares.sum(axis=1) == pytest.approx([1.0, 1.0])


def test_a_table_whose_sides_may_be_parted_otherwise_says_so_and_names_who_is_in_doubt(
    tmp_path: Path,
) -> None:
    """Uniforms alike, without a position: some of 22 are taken for the other side's, and any eye would be in doubt."""
    clip = film(895_048)
    recording = write_recording(tmp_path / "shot", clip.keys, clip.frames)
    frames = list(islice(read_frames(tmp_path / "shot", recording), _FEW))
    scene = replace(recording.scene, expected=None, fire_us=None)
    before = read_before(frames, recording.timestamps_us[:_FEW], scene)
    assert isinstance(before, TableBefore)
    (note,) = before.board.standing.differences
    told = {str(s.square): s.side for s in before.board.standing.soldiers}
    wrong = {str(each.square) for each in clip.truth.before if told[str(each.square)] is not each.side}
    assert note.startswith("the uniforms look alike, and ")
    assert len([square for square in wrong if square in note]) >= 0.5 * len(wrong) > 0


_WRONG_SIDES = {"shot-05": 3, "shot-07": 0}
SHARED = Path(__file__).parents[5] / "shared" / "recordings"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recordings of ../shared are not here")
@pytest.mark.parametrize("name", ["shot-05", "shot-07"])
def test_sides_of_other_figures_than_the_twins_are_told_without_a_position(name: str) -> None:
    """Figures and uniforms that nothing was learnt from: grey ones, and some that have crossed.

    None to three of the grey ones are taken for the other side's, by which pictures are read, as long as grey pictures are
    parted by what was learnt from all: by what was learnt from grey ones alone none is, but 101 of 4,559 soldiers on grey
    tables of the twin's are, instead of 52.
    """
    recording = read_recording(SHARED / name)
    truth = json.loads((SHARED / name / "truth.json").read_text("utf-8"))
    frames = list(islice(read_frames(SHARED / name, recording), _FEW))
    scene = replace(recording.scene, expected=None, fire_us=None)
    before = read_before(frames, recording.timestamps_us[:_FEW], scene)
    assert isinstance(before, TableBefore)
    told = {(str(s.square), str(s.side)) for s in before.board.standing.soldiers}
    true = {(each["square"], each["side"]) for each in truth["before"]}
    assert {square for square, _ in told} == {square for square, _ in true}
    assert len(true - told) <= _WRONG_SIDES[name]

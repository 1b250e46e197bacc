"""What must not happen before a shot is told, and the shot is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from guarded_table import ALL, CAMERA, PLACED, SCENE, SLEEVE, STANDING, TABLE, Image, arm, bump, clip
from painted_table import Figure

from game.montecassino import Square
from vision.guards import Alarm, TableGuard, Trouble


@cache
def guard() -> TableGuard:
    return TableGuard(TABLE.paint(seed=99), CAMERA, SCENE, STANDING, watched=ALL)


def check(*pictures: Image) -> Alarm | None:
    return guard().check(pictures)


def test_before_a_shot_an_unchanged_table_is_clear() -> None:
    assert check(*clip(count=3)) is None


def test_before_a_shot_a_hand_is_told() -> None:
    found = check(arm(TABLE.paint(), 300))
    assert found is not None
    assert found.trouble is Trouble.HAND


@pytest.mark.parametrize("seen_in", [0, 1, 2])
def test_before_a_shot_a_hand_in_any_of_the_newest_pictures_is_told(seen_in: int) -> None:
    pictures = clip(count=3)
    pictures[seen_in] = arm(pictures[seen_in], 300)
    found = check(*pictures)
    assert found is not None
    assert found.trouble is Trouble.HAND


@pytest.mark.parametrize(("wide_px", "told"), [(20, False), (28, True)])
def test_before_a_shot_what_is_as_large_as_a_fingertip_is_told(wide_px: int, told: bool) -> None:
    """Of 1.6 mm2 each pixel: 127 mm2 are none, 178 mm2 are one."""
    with_it = TABLE.paint()
    with_it[40:44, 304 : 304 + wide_px] = SLEEVE
    assert (check(with_it) is not None) is told


def lit(picture: Image, light: float) -> Image:
    return np.clip(light * picture.astype(float), 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("light", "told"), [(0.7, "-30 %"), (0.77, None), (1.1, None), (1.35, "+3")], ids=str
)
def test_before_a_shot_light_that_changed_by_more_than_a_quarter_is_told_either_way(
    light: float, told: str | None
) -> None:
    found = check(lit(TABLE.paint(), light))
    assert (found and found.trouble) is (told and Trouble.LIGHT)
    assert told is None or (found is not None and told in found.reason)


@pytest.mark.parametrize("light", [0.77, 1.0, 1.1])
def test_before_a_shot_a_bump_is_told_as_one_in_darker_and_brighter_light(light: float) -> None:
    found = check(lit(bump(TABLE.paint(), 5.0), light))
    assert found is not None
    assert found.reason.startswith("the table or the camera was moved by 6.")


@pytest.mark.parametrize("before", [0, 2])
def test_before_a_shot_a_bump_is_told_from_a_hand(before: int) -> None:
    found = check(*clip(count=before), bump(TABLE.paint(), 5.0))
    assert found is not None
    assert found.trouble is Trouble.BUMP


@pytest.mark.parametrize("fate", ["fell", "taken"])
def test_before_a_shot_a_soldier_that_fell_or_was_taken_is_named(fate: str) -> None:
    square = Square.parse("A-12")
    others = tuple(f for s, f in PLACED.items() if s != square)
    lying: tuple[Figure, ...] = (replace(PLACED[square], lean_rad=math.pi / 2, heading_rad=1.2),)
    found = check(replace(TABLE, figures=others, moving=lying if fate == "fell" else ()).paint())
    assert found is not None
    assert found.trouble is Trouble.FALL
    assert "A-12" in found.reason


def test_before_a_shot_dark_pictures_and_other_light_are_told() -> None:
    for picture, trouble in (
        (np.zeros((450, 800, 3), np.uint8), Trouble.COVERED),
        (np.full((450, 800, 3), 180, np.uint8), Trouble.COVERED),
        ((0.5 * TABLE.paint()).astype(np.uint8), Trouble.LIGHT),
    ):
        found = check(picture)
        assert found is not None
        assert found.trouble is trouble
    dark = check(np.zeros((450, 800, 3), np.uint8))
    assert dark is not None
    assert dark.reason == "the picture is dark (mean grey level 0): lens covered or lights out"
    assert guard().check([]) is not None


def test_before_a_shot_pictures_of_another_size_are_told() -> None:
    for pictures in ([TABLE.paint()[::2, ::2]], [TABLE.paint(), TABLE.paint()[..., 0]]):
        found = check(*pictures)
        assert found is not None
        assert found.trouble is Trouble.COVERED
        assert found.reason.startswith("the picture's size changed from (800, 450) to ")


def test_before_a_shot_the_newest_of_several_troubles_is_told() -> None:
    taken = replace(TABLE, figures=tuple(f for s, f in PLACED.items() if s != Square.parse("A-12")))
    for pictures, trouble in (
        ([arm(TABLE.paint(), 300), taken.paint()], Trouble.FALL),
        ([taken.paint(), arm(TABLE.paint(), 300)], Trouble.HAND),
    ):
        found = check(*pictures)
        assert found is not None
        assert found.trouble is trouble


@pytest.mark.parametrize(("clear_share", "told"), [(0.2, True), (0.6, False)])
def test_before_a_shot_a_lens_that_is_fogged_is_told_as_that(clear_share: float, told: bool) -> None:
    picture = TABLE.paint().astype(float)
    found = check((clear_share * picture + (1 - clear_share) * picture.mean()).astype(np.uint8))
    assert (found is not None and "lens covered or fogged" in found.reason) is told


def test_before_a_shot_another_table_is_told_though_nothing_is_watched() -> None:
    blind = TableGuard(TABLE.paint(seed=99), CAMERA, SCENE, STANDING, watched=~ALL)
    assert blind.check([TABLE.paint()]) is None
    found = blind.check([np.ascontiguousarray(TABLE.paint()[:, ::-1])])
    assert found is not None
    assert (found.trouble, found.reason) == (
        Trouble.BUMP,
        "the picture shows another table than when it was read",
    )


def test_before_a_shot_what_moves_outside_the_watched_part_does_not_matter() -> None:
    watched = ALL.copy()
    watched[:, 550:] = False
    blind = TableGuard(TABLE.paint(seed=99), CAMERA, SCENE, STANDING, watched=watched)
    assert blind.check([arm(TABLE.paint(), 200)]) is None

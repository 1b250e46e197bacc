"""What must not happen before a shot is told, and the shot is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from guarded_table import ALL, CAMERA, PLACED, SCENE, STANDING, TABLE, Image, arm, bump, clip
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


def test_before_a_shot_dark_pictures_other_light_and_other_sizes_are_told() -> None:
    for picture, trouble in (
        (np.zeros((450, 800, 3), np.uint8), Trouble.COVERED),
        (np.full((450, 800, 3), 180, np.uint8), Trouble.COVERED),
        ((0.5 * TABLE.paint()).astype(np.uint8), Trouble.LIGHT),
        (np.zeros((225, 400, 3), np.uint8), Trouble.COVERED),
    ):
        found = check(picture)
        assert found is not None
        assert found.trouble is trouble
    dark = check(np.zeros((450, 800, 3), np.uint8))
    assert dark is not None
    assert dark.reason == "the picture is dark (mean grey level 0): lens covered or lights out"
    assert guard().check([]) is not None


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

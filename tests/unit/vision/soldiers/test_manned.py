"""Who stands on which square, by the odds of each and by the position that is told."""

from __future__ import annotations

import numpy as np
import pytest

from game.montecassino import ALL_SQUARES, SOLDIERS_PER_SIDE, Side, Square
from vision.soldiers.manned import are_hardly_seen, who_stands

A_1, A_2, G_1, G_2 = (Square.parse(name) for name in ("A-01", "A-02", "G-01", "G-02"))
TOLD = {A_1: Side.A, G_1: Side.G}


def odds_of(*of: float) -> dict[Square, float]:
    """Log-odds of A-01, A-02, G-01 and G-02, and of a board that is bare otherwise."""
    return dict.fromkeys(ALL_SQUARES, -20.0) | dict(zip((A_1, A_2, G_1, G_2), of, strict=True))


@pytest.mark.parametrize(
    ("odds", "manned", "note"),
    [
        (0.8, True, None),
        (0.6, True, "A-02 is not plain: it is taken for manned"),
        (-0.6, False, "A-02 is not plain: it is taken for empty"),
        (-0.8, False, None),
    ],
)
def test_without_a_position_the_likelier_is_taken_and_what_is_not_plain_is_noted(
    odds: float, manned: bool, note: str | None
) -> None:
    squares, notes = who_stands(odds_of(9.0, odds, 9.0, -9.0), None, (), hardly_seen=False)
    assert set(squares) == {A_1, G_1} | ({A_2} if manned else set())
    assert notes == ([] if note is None else [note])


def test_without_a_position_no_more_are_seen_than_the_game_has_and_those_are_the_surest() -> None:
    odds = {square: 1.0 + 0.1 * k for k, square in enumerate(ALL_SQUARES)}
    squares, _ = who_stands(odds, None, (), hardly_seen=False)
    assert set(squares) == set(ALL_SQUARES[-2 * SOLDIERS_PER_SIDE :])


@pytest.mark.parametrize(("odds", "stands"), [(-8.5, True), (-9.5, False)])
def test_who_should_stand_there_does_unless_the_square_is_plainly_empty(odds: float, stands: bool) -> None:
    squares, notes = who_stands(odds_of(odds, -9.0, 9.0, -9.0), TOLD, (), hardly_seen=False)
    assert set(squares) == ({A_1, G_1} if stands else {G_1})
    assert notes == ([] if stands else ["A-01 should hold a soldier and is seen empty"])


@pytest.mark.parametrize(("odds", "stands"), [(5.5, False), (6.5, True)])
def test_nobody_stands_where_nobody_should_unless_he_is_plainly_seen(odds: float, stands: bool) -> None:
    squares, notes = who_stands(odds_of(9.0, odds, 9.0, -9.0), TOLD, (), hardly_seen=False)
    assert set(squares) == {A_1, G_1} | ({A_2} if stands else set())
    assert notes == (["A-02 should be empty and a soldier is seen on it"] if stands else [])


@pytest.mark.parametrize("expected", [None, TOLD, {**TOLD, A_2: Side.A}], ids=["untold", "other", "told"])
def test_who_is_known_to_stand_there_stands_there_though_nobody_is_seen(
    expected: dict[Square, Side] | None,
) -> None:
    squares, _ = who_stands(odds_of(9.0, -20.0, 9.0, -9.0), expected, {A_2}, hardly_seen=False)
    assert set(squares) == {A_1, A_2, G_1}


def test_where_soldiers_hardly_show_a_position_is_believed_that_is_likelier_than_any_other() -> None:
    faint = dict.fromkeys(ALL_SQUARES, -9.5) | {A_1: -5.0, G_1: -4.0}
    assert who_stands(faint, TOLD, (), hardly_seen=True) == (sorted(TOLD), [])


def test_where_soldiers_hardly_show_a_position_that_nothing_speaks_for_is_held_against_each_square() -> None:
    faint = dict.fromkeys(ALL_SQUARES, -1.0) | {A_1: -0.5, G_1: 1.0, G_2: 2.0}
    squares, notes = who_stands(faint, TOLD, (), hardly_seen=True)
    assert set(squares) == {G_1, G_2}
    assert notes == [
        "A-01 should hold a soldier and is seen empty",
        "G-02 should be empty and a soldier is seen on it",
    ]
    squares, notes = who_stands(dict.fromkeys(ALL_SQUARES, -1.0), {}, (), hardly_seen=True)
    assert (squares, notes) == ([], [])


def test_one_square_that_shows_plainly_does_not_decide_whether_a_position_is_believed() -> None:
    told = {**TOLD, A_2: Side.A}
    nobody = dict.fromkeys(ALL_SQUARES, -9.5) | {A_1: 1.0}
    squares, _ = who_stands(nobody, told, (), hardly_seen=True)
    assert squares == [A_1]
    faint = dict.fromkeys(ALL_SQUARES, -9.5) | {A_1: -5.0, A_2: -4.5, G_1: -4.0, G_2: 5.0}
    assert who_stands(faint, told, (), hardly_seen=True) == (sorted(told), [])


@pytest.mark.parametrize(("open_squares", "hardly"), [(3, False), (5, True)])
def test_soldiers_hardly_show_where_more_than_two_squares_may_be_read_wrongly(
    open_squares: int, hardly: bool
) -> None:
    """A square of even odds is read wrongly every other time, whichever way."""
    odds = np.full(len(ALL_SQUARES), 12.0)
    odds[::2] *= -1
    odds[:open_squares] = 0.0
    assert are_hardly_seen(odds) is hardly

"""The table of falls: chances by class of touch and by place."""

import numpy as np
import pytest

from calibration.falls import PRIOR_SHOTS, FallTable
from calibration.strikes import TouchBins

BINS = TouchBins((0.5,), (0.0,))
LINES, FILES = (-1, 0, 1), (-1, 0, 1)


def table(**changes) -> FallTable:
    places = (2, 2, 3, 3)
    values = {"fell": np.full((2, 2), 0.8), "dragged": np.zeros(places), "ricochet": np.zeros(places)}
    values["dragged"][:, :, 2, 1] = [[0.1, 0.2], [0.3, 0.4]]
    values["ricochet"][:, :, 1, 2] = 0.05
    return FallTable(BINS, LINES, FILES, **(values | changes))


def test_the_soldier_touched_falls_directly_or_off_the_board():
    chances = table().chances([(9, 3)])
    assert chances.shape == (1, 2, 2, 2, 1, 3)
    assert (chances[0, :, :, 0, 0] == [0.8, 0, 0]).all()
    assert (chances[0, :, :, 1, 0] == [0, 0.8, 0]).all()


def test_who_stands_behind_is_dragged_and_who_stands_to_the_right_is_struck_by_ricochet():
    touched, behind, right, far = range(4)
    chances = table().chances([(9, 3), (10, 3), (9, 4), (12, 3)])
    assert (chances[touched, :, :, 0, behind, 2] == [[0.1, 0.2], [0.3, 0.4]]).all()
    assert (chances[touched, :, :, 0, right, 1] == 0.05).all()
    assert (chances[touched, :, :, :, far] == 0).all()
    assert (chances[behind, :, :, :, touched, 2] == 0).all()


def test_every_place_of_the_table_has_its_own_chance_and_none_beyond_has_any():
    by_place = np.arange(1, 10).reshape(3, 3) / 100
    dragged = np.broadcast_to(by_place, (2, 2, 3, 3))
    places = [
        (9, 3),
        *((line, file) for line in range(7, 12) for file in range(1, 6) if (line, file) != (9, 3)),
    ]
    found = table(dragged=dragged, ricochet=np.zeros_like(dragged)).chances(places)[0]
    for other, (line, file) in enumerate(places[1:], start=1):
        in_table = 8 <= line <= 10 and 2 <= file <= 4
        expected = by_place[line - 8, file - 2] if in_table else 0.0
        assert (found[:, :, :, other, 2] == expected).all(), (line, file)


def test_a_place_on_which_nobody_ever_stood_has_no_chance():
    nobody = np.zeros((2, 2, 3, 3))
    counts = dict.fromkeys(("neighbours", "dragged", "ricochet"), nobody)
    found = FallTable.from_counts(BINS, LINES, FILES, touched=np.ones((2, 2)), fell=np.ones((2, 2)), **counts)
    assert (found.dragged == 0).all()
    assert (found.ricochet == 0).all()


def test_no_soldier_can_fall_in_two_ways_more_often_than_always():
    chances = table().chances([(line, file) for line in range(5, 9) for file in range(8)])
    assert (chances.sum(axis=-1) <= 1).all()


def test_counts_become_chances_and_rare_ones_are_pulled_to_the_mean_of_their_place():
    stood = np.full((2, 2, 3, 3), 50)
    fallen = np.zeros((2, 2, 3, 3))
    fallen[0, 0, 2, 1] = 10
    found = FallTable.from_counts(
        BINS,
        LINES,
        FILES,
        touched=[[10, 20], [0, 40]],
        fell=[[5, 20], [0, 10]],
        neighbours=stood,
        dragged=fallen,
        ricochet=np.zeros_like(fallen),
    )
    assert (found.fell == [[0.5, 1.0], [0.0, 0.25]]).all()
    everywhere = 10 / 200
    assert found.dragged[0, 0, 2, 1] == pytest.approx((10 + PRIOR_SHOTS * everywhere) / (50 + PRIOR_SHOTS))
    assert found.dragged[1, 1, 2, 1] == pytest.approx(PRIOR_SHOTS * everywhere / (50 + PRIOR_SHOTS))
    assert found.dragged[:, :, 0, 0].max() == 0
    assert found.ricochet.max() == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"fell": np.zeros((2, 3))}, r"fell has the shape \(2, 3\), expected \(2, 2\)"),
        ({"fell": np.full((2, 2), 1.2)}, "fell holds a number that is no chance"),
        ({"dragged": np.full((2, 2, 3, 3), np.nan)}, "dragged holds a number that is no chance"),
    ],
)
def test_a_table_that_cannot_be_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        table(**changes)


def test_places_rise_by_one():
    with pytest.raises(ValueError, match=r"lines are .* whole numbers rising by one"):
        FallTable(BINS, (-1, 1), FILES, np.zeros((2, 2)), np.zeros((2, 2, 2, 3)), np.zeros((2, 2, 2, 3)))

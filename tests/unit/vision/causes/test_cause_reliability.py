"""How right the causes of falls are, and how honest their confidence, on what was seen of filmed shots.

The shots are the twin's, with its looks, lenses, cameras and aims varied; what was seen is kept in `fall_cases.jsonl`.
They are those that the constants were measured on: this holds what was reached, it does not prove it for others.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks._fall_cases import FallCase, read_cases
from game.montecassino import Cause
from vision.causes import FallCause

CASES = Path(__file__).parents[1] / "fall_cases.jsonl"


@cache
def explained() -> tuple[tuple[FallCase, tuple[FallCause, ...]], ...]:
    return tuple((case, case.explained()) for case in read_cases(CASES))


def matched() -> list[tuple[FallCause, Cause]]:
    """Every fall found that is true, and its true cause."""
    return [
        (fall, case.truth[fall.toppling.soldier.square])
        for case, falls in explained()
        for fall in falls
        if fall.toppling.soldier.square in case.truth
    ]


def test_c7_causes_of_filmed_falls_are_right() -> None:
    falls = matched()
    assert len(falls) > 1100
    assert np.mean([fall.cause is cause for fall, cause in falls]) >= 0.975


def test_where_the_falls_are_right_so_is_every_cause() -> None:
    whole = [
        all(fall.cause is case.truth[fall.toppling.soldier.square] for fall in falls)
        for case, falls in explained()
        if {fall.toppling.soldier.square for fall in falls} == set(case.truth)
    ]
    assert np.mean(whole) >= 0.95


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.93), (0.93, 0.97), (0.97, 0.985), (0.985, 1.01)])
def test_of_falls_called_so_sure_so_many_are_right(low: float, high: float) -> None:
    group = [
        (fall.confidence, fall.cause is cause) for fall, cause in matched() if low <= fall.confidence < high
    ]
    stated, right = np.mean(group, axis=0)
    # By chance alone two standard deviations are passed in one of twenty.
    assert len(group) >= 10
    chance = np.sqrt(stated * (1 - stated) / len(group))
    assert right >= stated - 2 * chance - 0.01


def test_probabilities_are_right_as_often_as_they_say() -> None:
    stated = np.array([fall.probabilities[cause] for fall, _ in matched() for cause in Cause])
    true = np.array([cause is truth for _, truth in matched() for cause in Cause])
    for low, high in ((0.0, 0.02), (0.02, 0.2), (0.2, 0.8), (0.8, 1.01)):
        group = (low <= stated) & (stated < high)
        chance = np.sqrt((stated[group] * (1 - stated[group])).sum()) / group.sum()
        assert true[group].mean() == pytest.approx(stated[group].mean(), abs=3 * chance + 0.01)


def test_c8_few_falls_are_left_open_and_the_others_are_right() -> None:
    falls = matched()
    assert np.mean([len(fall.possible) > 1 for fall, _ in falls]) <= 0.075
    assert np.mean([fall.cause is cause for fall, cause in falls if len(fall.possible) == 1]) >= 0.99

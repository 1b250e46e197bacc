"""The table at the end of `rig demo`: what the rig saw of each soldier beside what the twin knows of it."""

from types import SimpleNamespace

import pytest

from game.montecassino import Square
from rig.cli.demo import _rows


@pytest.mark.parametrize(("true_causes", "truth"), [({}, "stands"), ({"A-71": "dragged"}, "dragged")])
def test_of_a_soldier_that_was_seen_pushed_the_truth_is_told_in_its_row(
    true_causes: dict[str, str], truth: str
) -> None:
    pushed = SimpleNamespace(soldier=SimpleNamespace(square=Square.parse("A-71")))
    told = SimpleNamespace(
        done=SimpleNamespace(analysis=SimpleNamespace(reading=SimpleNamespace(falls=[], pushes=[pushed]))),
        shot=SimpleNamespace(verdict=SimpleNamespace(casualties=()), doubts=()),
        true_causes={Square.parse(square): cause for square, cause in true_causes.items()},
    )
    assert list(_rows(told)) == [("A-71", "pushed", "", "put back", truth)]  # type: ignore[arg-type]

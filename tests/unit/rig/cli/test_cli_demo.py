"""The table at the end of a demo: what the rig saw of each soldier and ruled, beside what the twin knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from logged_shots import PLAN, START, until
from painted_shot import FALLS, perhaps_fallen, record

from game.montecassino import Square
from rig.cli.demo import _rows, _Told
from rig.log import Stage, open_log_in_memory
from rig.verdict.analyse import Analysis, analyse_folder
from rig.verdict.judging import decide
from rig.verdict.logged_reading import log_reading


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """A shot that pushed one, who may have fallen."""
    return perhaps_fallen(analyse_folder(record(tmp_path_factory.mktemp("demo") / "shot")))


def rows(
    analysis: Analysis, true_causes: Mapping[Square, str], leaves: bool | None = None
) -> list[tuple[str, ...]]:
    """Give the rows of a shot, and what its commander said, if he was asked."""
    plan = replace(PLAN, position="G A01-A23 G25-G48 0/0 20/20 -", zone="A01-A23", option="i", side="G")
    with open_log_in_memory() as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        log_reading(log, shot_id, plan, analysis)
        if leaves is not None:
            decide(log, shot_id, str(FALLS), leaves=leaves)
        done: Any = SimpleNamespace(analysis=analysis)
        return list(_rows(_Told(done, log.shot(shot_id), true_causes)))


@pytest.mark.parametrize("leaves", [False, True])
def test_one_that_may_have_fallen_has_a_row_with_its_commanders_word(pushed: Analysis, leaves: bool) -> None:
    ruling = "leaves" if leaves else "put back"
    assert rows(pushed, {FALLS: "direct"}, leaves) == [
        (str(FALLS), "pushed, may have fallen", "", f"{ruling} (commander)", "direct")
    ]


@pytest.mark.parametrize(("true_causes", "truth"), [({}, "stands"), ({FALLS: "dragged"}, "dragged")])
def test_of_a_soldier_that_was_seen_pushed_the_truth_is_told_in_its_row(
    pushed: Analysis, true_causes: Mapping[Square, str], truth: str
) -> None:
    stands = replace(pushed, reading=replace(pushed.reading, perhaps_fallen=()))
    assert rows(stands, true_causes) == [(str(FALLS), "pushed", "", "put back", truth)]


def test_one_that_fell_and_was_not_seen_to_has_a_row_of_its_own(pushed: Analysis) -> None:
    unseen = Square.parse("A-05")
    told = rows(pushed, {FALLS: "direct", unseen: "dragged"}, leaves=True)
    assert told[1:] == [(str(unseen), "not seen", "", "", "dragged")]

"""What was read of a shot, on record: one that may have fallen is on the docket, and its commander's word decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from logged_shots import PLAN, START, until
from painted_shot import FALLS, perhaps_fallen, record

from rig.log import Stage, open_log_in_memory
from rig.verdict.analyse import analyse_folder
from rig.verdict.docket import open_cases, rule
from rig.verdict.logged_reading import log_reading


@pytest.mark.parametrize(("ruling", "leaves"), [("other", False), ("direct", True)])
def test_c8_one_that_seems_to_stand_and_may_have_fallen_waits_for_its_commander(
    tmp_path: Path, ruling: str, leaves: bool
) -> None:
    told = perhaps_fallen(analyse_folder(record(tmp_path / "shot")))
    assert f"{FALLS} (A): it may have fallen (30 %)." in list(told.in_words())
    assert [each["square"] for each in told.as_json()["falls"]] == []
    assert [each["square"] for each in told.as_json()["moved"]] == [str(FALLS)]
    plan = replace(PLAN, position="G A01-A23 G25-G48 0/0 20/20 -", zone="A01-A23", option="i", side="G")
    with open_log_in_memory() as log:
        session_id = log.start_session(START)
        shot_id = until(log, session_id, Stage.RECORDED, plan=plan)
        verdict = log_reading(log, shot_id, plan, told)
        assert verdict.undecided == (FALLS,)
        (case,) = open_cases(log)
        assert [(a.cause, a.probability, a.leaves) for a in case.answers] == [
            ("other", 0.7, False),
            ("direct", 0.3, True),
        ]
        assert case.evidence == "it may have fallen (30 %)"
        rule(log, case.doubt.number, ruling, side="A", name="Ada")
        final = log.shot(shot_id).verdict
        assert final is not None
        assert (str(FALLS) in final.casualties) == leaves
        assert (str(FALLS) in final.put_back) == (not leaves)

"""The table at the end of a demo: what it says of a soldier that seems to stand and may have fallen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from logged_shots import PLAN, START, until
from painted_shot import FALLS, perhaps_fallen, record

from rig.cli.demo import _rows, _Told
from rig.log import Stage, open_log_in_memory
from rig.verdict.analyse import analyse_folder
from rig.verdict.judging import decide
from rig.verdict.logged_reading import log_reading


@pytest.mark.parametrize("leaves", [False, True])
def test_one_that_may_have_fallen_has_a_row_with_its_commanders_word(tmp_path: Path, leaves: bool) -> None:
    analysis = perhaps_fallen(analyse_folder(record(tmp_path / "shot")))
    plan = replace(PLAN, position="G A01-A23 G25-G48 0/0 20/20 -", zone="A01-A23", option="i", side="G")
    with open_log_in_memory() as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        log_reading(log, shot_id, plan, analysis)
        decide(log, shot_id, str(FALLS), leaves=leaves)
        done: Any = SimpleNamespace(analysis=analysis)
        told = _Told(done, log.shot(shot_id), {FALLS: "direct"})
    ruling = "leaves" if leaves else "put back"
    assert list(_rows(told)) == [
        (str(FALLS), "pushed, may have fallen", "", f"{ruling} (commander)", "direct")
    ]

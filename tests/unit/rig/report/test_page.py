"""The report as a page: of no shot, of a fall that may be none, and of what was written by people and is no markup."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from logged_shots import PLAN, START, until
from painted_shot import FALLS, perhaps_fallen, record

from game.montecassino import Square
from rig.log import Stage, open_log_in_memory
from rig.report.page import ShotPage, write_report
from rig.report.shot import page_of_shot
from rig.verdict.analyse import analyse_folder
from rig.verdict.judging import decide
from rig.verdict.logged_reading import log_reading
from rig.verdict.unseen_shot import of_the_shot

UNSEEN = Square.parse("A-05")  # who fell, and was not seen to

HOSTILE = "<script>alert('x')</script> & \"Co\""


def written(path: Path, *shots: ShotPage) -> str:
    write_report(path, title=HOSTILE, summary=[HOSTILE], shots=shots)
    return path.read_text()


def test_what_people_wrote_is_text_wherever_it_stands(tmp_path: Path) -> None:
    shot = ShotPage(
        number=1,
        target=HOSTILE,
        side=HOSTILE,
        option=HOSTILE,
        zone=HOSTILE,
        facts=[(HOSTILE, HOSTILE)],
        falls=[
            dict.fromkeys(
                ("square", "side", "cause", "confidence", "evidence", "verdict", "truth", "wrong"), HOSTILE
            )
        ],
        casualties=[HOSTILE],
        put_back={HOSTILE: HOSTILE},
        doubts=[HOSTILE],
        before_svg="<svg>before</svg>",
        after_svg="<svg>after</svg>",
        truth_known=True,
    )
    text = written(tmp_path / "report.html", shot)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 15
    assert "<svg>before</svg><svg>after</svg>" in text, "a drawing is drawn"


def test_a_report_of_no_shot_is_a_page_all_the_same(tmp_path: Path) -> None:
    text = written(tmp_path / "a folder" / "report.html")
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")


@pytest.mark.parametrize(("ruling", "leaves"), [("stays", "put back"), ("leaves", "leaves")])
def test_one_that_seems_to_stand_and_may_have_fallen_is_told_with_what_became_of_it(
    tmp_path: Path, ruling: str, leaves: str
) -> None:
    folder = record(tmp_path / "shot")
    analysis = perhaps_fallen(analyse_folder(folder))
    plan = replace(PLAN, position="G A01-A23 G25-G48 0/0 20/20 -", zone="A01-A23", option="i", side="G")
    with open_log_in_memory() as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        log_reading(log, shot_id, plan, analysis)
        decide(log, shot_id, str(FALLS), leaves=ruling == "leaves")
        page = page_of_shot(1, log.shot(shot_id), analysis, folder, true_causes={FALLS: "direct"})
    (row,) = page.falls
    assert (row["square"], row["cause"], row["verdict"], row["truth"], row["wrong"]) == (
        str(FALLS),
        "pushed, may have fallen",
        leaves,
        "direct",
        "",
    )


def test_one_that_fell_and_was_not_seen_to_has_a_row_of_its_own(tmp_path: Path) -> None:
    folder = record(tmp_path / "shot")
    analysis = analyse_folder(folder)
    plan = replace(PLAN, position="G A01-A23 G25-G48 0/0 20/20 -", zone="A01-A23", option="i", side="G")
    with open_log_in_memory() as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        log_reading(log, shot_id, plan, analysis)
        page = page_of_shot(
            1, log.shot(shot_id), analysis, folder, true_causes={FALLS: "direct", UNSEEN: "dragged"}
        )
    _, row = page.falls
    assert (row["square"], row["side"], row["cause"], row["truth"], row["wrong"]) == (
        str(UNSEEN),
        "A",
        "not seen",
        "dragged",
        "yes",
    )


def test_why_a_shot_was_not_seen_is_said_once_of_it_and_not_of_each_fall(tmp_path: Path) -> None:
    folder = record(tmp_path / "shot")
    analysis = analyse_folder(folder)
    reason = analysis.reading.track.reason
    plan = replace(PLAN, position="G A01-A23 G25-G48 0/0 20/20 -", zone="A01-A23", option="i", side="G")
    with open_log_in_memory() as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        log_reading(log, shot_id, plan, analysis)
        page = page_of_shot(1, log.shot(shot_id), analysis, folder)
    assert ("the shot was not seen", of_the_shot(reason)) in page.facts
    (row,) = page.falls
    assert reason in analysis.reading.falls[0].evidence
    assert reason not in row["evidence"]

"""The pages for the person at the table: every command in them is run, and prints what they show."""

from __future__ import annotations

import itertools
import re
import shlex
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace as changed
from pathlib import Path

import pytest
from logged_shots import CERTAIN, DOUBTFUL, PLAN, START, read_and_judge, until
from painted_shot import record
from painted_table import CROWD

from game.montecassino import Position, Side
from rig.cli import main
from rig.log import Analysis, Stage, open_log

_DOCS = Path(__file__).parents[4] / "docs"
_BLOCK = re.compile(r"(?:<!-- rig\.toml: (?P<edits>.*?) -->\n)?```console\n(?P<lines>.*?)```", re.DOTALL)
_NOVEMBER_UTC_US = 1_795_200_000_000_000


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _commands(page: str) -> Iterator[tuple[str | None, str, list[str]]]:
    """Give each command of a page: edits of rig.toml before it, its words, and the lines that the page shows."""
    for block in _BLOCK.finditer((_DOCS / page).read_text()):
        edits = block["edits"]
        for shown in re.split(r"^\$ ", block["lines"], flags=re.MULTILINE)[1:]:
            command, *lines = shown.splitlines()
            yield edits, command, lines
            edits = None


def _run_page(page: str, capsys: pytest.CaptureFixture[str]) -> int:
    run = 0
    for edits, command, shown in _commands(page):
        if edits is not None:
            text = Path("rig.toml").read_text()
            for edit in edits.split("; "):
                before, _, after = edit.partition(" -> ")
                assert before in text
                text = text.replace(before, after)
            Path("rig.toml").write_text(text)
        program, *words = shlex.split(command)
        assert program == "rig"
        main(words)
        captured = capsys.readouterr()
        printed = [" ".join(line.split()) for line in (captured.out + captured.err).splitlines()]
        for line in shown:
            assert " ".join(line.split()) in printed, f"`{command}` does not print: {line}"
        run += 1
    return run


def test_settings_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_page("settings.md", capsys) == 4


def test_aim_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_page("aim.md", capsys) == 4


def test_certificate_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_page("certificate.md", capsys) == 5


def test_log_page(capsys: pytest.CaptureFixture[str]) -> None:
    ticks = itertools.count(_NOVEMBER_UTC_US, 400_000)
    plan = changed(PLAN, position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    hit = changed(CERTAIN, evidence="the track ends at its foot")
    ricochet = changed(
        CERTAIN, square="G-34", causes=("ricochet",), confidence=0.9, evidence="the track bends at G-41 first"
    )
    hidden = changed(DOUBTFUL, evidence="the first touch is hidden behind A-60")
    with open_log(Path("rig-log.sqlite"), now_utc_us=lambda: next(ticks)) as log:
        session_id = log.start_session(START)
        for target, falls in (("G-33", (hit,)), ("G-41", (ricochet, hidden))):
            shot_id = until(log, session_id, Stage.RECORDED, plan=changed(plan, target=target))
            read_and_judge(log, shot_id, Analysis(software_version="0.1.0", raw={}, falls=falls))
        until(log, session_id, Stage.ASKED, plan=changed(plan, target="G-35"))
        position = Position(Side.G, CROWD, dict.fromkeys(Side, 0), dict.fromkeys(Side, 20))
        filmed = changed(plan, side="G", target="A-12", position=str(position), zone="A25-A72", option="i")
        shot_id = until(log, session_id, Stage.SEEN, plan=filmed)
        record(Path("recordings/shot-00004"), position=str(position), zone="A25-A72")
        log.recorded(shot_id, "recordings/shot-00004")
    assert _run_page("log.md", capsys) == 10


def test_docket_page(capsys: pytest.CaptureFixture[str]) -> None:
    plan = changed(PLAN, position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    ricochet = changed(CERTAIN, square="G-34", causes=("ricochet",))
    with open_log(Path("rig-log.sqlite")) as log:
        session_id = log.start_session(START)
        raw = {"probabilities": {"G-41": {"direct": 0.58, "ricochet": 0.37}}}
        for falls in ((CERTAIN,), (ricochet, DOUBTFUL)):
            shot_id = until(log, session_id, Stage.RECORDED, plan=plan)
            read_and_judge(log, shot_id, Analysis(software_version="0.1.0", raw=raw, falls=falls))
        log.end_session(session_id, "done")
    assert _run_page("docket.md", capsys) == 3


def test_statistics_page(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("group.csv", "group-2.csv"):
        shutil.copy(_DOCS / "examples" / name, name)
    Path("slips.csv").write_text("x,y\n1,2\n3,abc\n4,1\n5\n")
    Path("one.csv").write_text("x_mm,y_mm\n3,4\n")
    plan = changed(PLAN, target="G-49", position="A A01-A24 G41-G64 0/0 20/20 -", plan=None, plan_index=None)
    hit, dragged = changed(CERTAIN, square="G-49"), changed(CERTAIN, square="G-50", causes=("dragged",))
    doubtful = changed(DOUBTFUL, square="G-49", causes=("direct", "dragged"))
    with open_log(Path("rig-log.sqlite")) as log:
        session_id = log.start_session(START)
        for option, falls in (("i", (hit, dragged)), ("i", ()), ("iii", (hit,)), ("iii", (doubtful,))):
            shot_id = until(log, session_id, Stage.RECORDED, plan=changed(plan, option=option))
            read_and_judge(log, shot_id, Analysis(software_version="0.1.0", raw={}, falls=falls))
        log.end_session(session_id, "done")
    assert _run_page("statistics.md", capsys) == 5

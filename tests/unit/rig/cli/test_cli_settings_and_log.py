"""`rig init`, `check`, `log` and `decide` as the person at the table has them: what is printed, and how they end."""

from __future__ import annotations

import errno
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace as changed
from datetime import date
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from cli_answer import Answer, Rig, one_line
from logged_shots import DOUBTFUL, PLAN, START, UNPLUGGED, read_and_judge, until

from rig.cli import RefusedError, app, main
from rig.cli import command as rig_command
from rig.log import Analysis, Shot, Stage, open_log
from rig.log._rows import read_shots


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Rig:
    """Run `rig` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answer:
        status = main(words)
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return run


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    """Three shots: judged, in doubt, and asked for when its process died."""
    path = tmp_path / "rig-log.sqlite"
    plan = changed(PLAN, position="A A01-A24 G25-G48 0/0 20/20 -")
    with open_log(path) as log:
        session_id = log.start_session(START)
        for fall in (changed(DOUBTFUL, causes=("direct",)), DOUBTFUL):
            shot_id = until(log, session_id, Stage.RECORDED, plan=plan, recorded=UNPLUGGED)
            read_and_judge(log, shot_id, Analysis(software_version="0.1.0", raw={}, falls=(fall,)))
        until(log, session_id, Stage.ASKED, plan=plan)
    return path


def test_init_writes_settings_that_check_finds_sound(rig: Rig) -> None:
    assert rig("init") == Answer(
        0, "wrote rig.toml; change what differs on your table, then: rig check\n", ""
    )
    assert rig("check") == Answer(0, "rig.toml: nothing wrong\n", "")


def test_the_version_is_told(rig: Rig) -> None:
    assert rig("--version") == Answer(0, f"{version('montecassino-rig')}\n", "")


def test_init_never_writes_over_settings(rig: Rig) -> None:
    Path("rig.toml").write_text("[port]\n")
    assert "rig.toml is there already" in one_line(rig("init"), 1)
    assert Path("rig.toml").read_text() == "[port]\n"


def test_init_into_a_folder_that_is_not_there_is_one_line(rig: Rig) -> None:
    assert one_line(rig("init", "nowhere/rig.toml"), 2) == (
        "nowhere/rig.toml cannot be written: No such file or directory"
    )


def test_check_says_everything_a_line_each(rig: Rig) -> None:
    Path("rig.toml").write_text("[camera]\nfsp = 60\nwidth_px = 3\n")
    answer = rig("check")
    assert answer.status == 2
    assert answer.err.splitlines() == [
        "rig.toml: camera.width_px: found 3, expected a number from 160 to 7680",
        "rig.toml: camera.fsp: found a key that nothing reads, expected a key of camera (did you mean fps?)",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("KEY = 1", "[no_end]+ ...: found a key that nothing reads, expected a key of the file"),
        (
            '[board]\n"KEY\\n" = 2',
            r'board\."[no_end]+ ...: found a key that nothing reads, expected a key of board',
        ),
        (
            "[board.KEY]\nx = 1",
            r"board\.[no_end]+ ...: found a key that nothing reads, expected a key of board",
        ),
        (
            "[board.marker_centres_mm]\n0 = [-40, 0]\n1 = [400, 0]\n2 = [-40, 800]\nKEY = [400, 800]",
            r"board\.marker_centres_mm\.[no_end]+ ...: found the name '[no_end]+ ..., expected a marker's number",
        ),
    ],
)
def test_of_a_key_of_thousands_of_characters_the_beginning_is_told(rig: Rig, text: str, told: str) -> None:
    Path("rig.toml").write_text(text.replace("KEY", "no_end" * 500))
    answer = rig("check")
    assert answer.status == 2
    assert re.match(rf"rig\.toml: {told}", answer.err)
    assert len(answer.err) < 450


def test_check_looks_at_the_calibration_too(rig: Rig) -> None:
    Path("rig.toml").write_text('[cannon]\ncalibration = "nowhere.json"\nload_s = 0\n')
    answer = rig("check")
    assert answer.status == 2
    assert answer.err.splitlines() == [
        "rig.toml: cannon.load_s: found 0, expected a number above 0, at most 60",
        "rig.toml: cannon.calibration: nowhere.json: the file: found nothing, expected a calibration, as `rig calibrate "
        "range` writes it",
    ]


def test_check_of_a_missing_file_names_it(rig: Rig) -> None:
    answer = rig("check", "--settings", "other.toml")
    assert answer.status == 2
    assert answer.err == (
        "other.toml: the file: found nothing, expected a settings file; `rig init` writes one\n"
    )


@pytest.mark.usefixtures("shots")
def test_log_lists_shots_and_tells_what_a_dead_process_left(rig: Rig) -> None:
    answer = rig("log")
    assert answer.status == 0
    assert [line.split()[0] for line in answer.out.splitlines() if "G-49" in line] == ["1", "2", "3"]
    assert answer.err.startswith("rig: shot 3 at G-49: fire was asked for, and it may have been fired")
    assert rig("log").err == "", "it is told once"


@pytest.mark.usefixtures("shots")
@pytest.mark.parametrize("words", [("log",), ("log", "sessions"), ("docket",)])
def test_a_narrow_terminal_cuts_nothing_off(
    rig: Rig, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    wide = rig(*words).out.replace("─", "")
    monkeypatch.setenv("COLUMNS", "60")
    assert all(len(line.rstrip()) <= 60 for line in rig(*words).out.splitlines()), (
        "nor is a row broken in two"
    )
    monkeypatch.setenv("COLUMNS", "20")
    assert sorted(rig(*words).out.replace("─", "").split()) == sorted(wide.split())


def test_a_log_in_which_nothing_was_shot_says_so(rig: Rig, tmp_path: Path) -> None:
    with open_log(tmp_path / "rig-log.sqlite") as log:
        log.end_session(log.start_session(START), "the cannon did not answer")
    assert rig("log") == Answer(0, "nothing was shot yet\n", "")


@pytest.mark.parametrize("days", [0, 400])
def test_of_what_was_not_all_shot_this_year_the_year_is_told(rig: Rig, tmp_path: Path, days: int) -> None:
    now_us = time.time_ns() // 1000
    for at_us in (now_us - days * 86_400_000_000, now_us):
        with open_log(tmp_path / "rig-log.sqlite", now_utc_us=lambda at_us=at_us: at_us) as log:
            session_id = log.start_session(START)
            until(log, session_id, Stage.SEEN)
            log.end_session(session_id, "finished")
    year = f"{date.today():%Y}-"
    for words in (("log",), ("log", "sessions")):
        told = rig(*words).out
        assert bool(days) == (year in told), told
        assert bool(days) == (f"{int(year[:4]) - 1}-" in told or f"{int(year[:4]) - 2}-" in told), told


@pytest.mark.usefixtures("shots")
def test_log_says_when_it_leaves_shots_out(rig: Rig) -> None:
    answer = rig("log", "--last", "1")
    assert "2 earlier shots are not shown; rig log --last 3 shows all" in answer.out
    assert "1 earlier shot is not shown; rig log --last 3 shows all" in rig("log", "--last", "2").out


@pytest.mark.usefixtures("shots")
@pytest.mark.parametrize(
    ("words", "needed"),
    [(("log", "--last", "1"), [3]), (("log", "sessions"), []), (("judge",), [3])],
)
def test_a_list_reads_no_shot_that_it_does_not_show(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], needed: list[int]
) -> None:
    """With thousands of shots in the log whoever looks at the last ones would wait for seconds."""
    rig("log")  # what a dead process left is marked
    read: list[int] = []

    def reading(*which: Any) -> tuple[Shot, ...]:
        shots = read_shots(*which)
        read.extend(shot.shot_id for shot in shots)
        return shots

    monkeypatch.setattr("rig.log.sql_store.read_shots", reading)
    assert rig(*words).status == 0
    assert read == needed


@pytest.mark.usefixtures("shots")
def test_as_many_shots_may_be_asked_for_as_one_likes(rig: Rig) -> None:
    rig("log")  # what a dead process left is told
    assert rig("log", "--last", "9" * 30) == rig("log")


@pytest.mark.usefixtures("shots")
def test_commands_that_are_told_name_the_settings_where_they_are_not_the_usual_ones(rig: Rig) -> None:
    wrote = rig("init", "table 2.toml").out
    assert wrote.endswith("then: rig check --settings 'table 2.toml'\n")
    of_table = ("--settings", "table 2.toml")
    looked = rig("doctor", *of_table, "--port", "/dev/nowhere").out
    assert "name another: rig doctor --settings 'table 2.toml' --port PORT" in looked
    told = rig("log", *of_table, "--last", "1").out
    assert "2 earlier shots are not shown; rig log --settings 'table 2.toml' --last 3 shows all" in told
    told = rig("docket", *of_table, "show", "1").out
    assert ": rig docket --settings 'table 2.toml' rule 1 CAUSE --side G --by NAME" in told
    command = re.search(r"rig (docket .* rule 1) CAUSE", told)
    assert command is not None
    ruled = rig(*shlex.split(command[1]), "direct", "--side", "G", "--by", "Ada")
    assert ruled.status == 0


@pytest.mark.usefixtures("shots")
@pytest.mark.parametrize(
    "words", [("log", "show", "1"), ("log", "sessions"), ("log", "export", "out"), ("docket", "show", "1")]
)
def test_the_settings_file_may_be_named_before_and_behind_a_command_of_a_group(
    rig: Rig, words: tuple[str, ...]
) -> None:
    group, *rest = words
    Path("table").mkdir()
    Path("table/rig.toml").write_text('[log]\npath = "../rig-log.sqlite"\n')
    before = rig(group, "--settings", "table/rig.toml", *rest)
    assert before.out
    assert rig(*words, "--settings", "table/rig.toml").out == before.out
    assert rig(group, "-s", "nowhere.toml", *rest, "-s", "table/rig.toml").out == before.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("log", "--last", "1", "sessions"),
            "--last: it does nothing before sessions; sessions has one of its own, behind its name",
        ),
        (("stats", "--by", "option", "group", "g.csv"), "--by: it does nothing before group"),
        (
            ("stats", "-s", "x.toml", "compare", "g.csv", "h.csv"),
            "--settings: it does nothing before compare",
        ),
        (
            ("stats", "--json", "group", "g.csv"),
            "--json: it does nothing before group; group has one of its own, behind its name",
        ),
    ],
)
def test_an_option_that_would_do_nothing_is_told(rig: Rig, words: tuple[str, ...], said: str) -> None:
    answer = rig(*words)
    assert (answer.status, answer.out, answer.err) == (2, "", f"rig: {said}\n")


@pytest.mark.usefixtures("shots")
def test_a_signature_that_would_turn_its_line_round_is_refused(rig: Rig) -> None:
    rule = ("docket", "rule", "1", "ricochet", "--side", "G", "--by")
    answer = rig(*rule, "Ada\u202e")
    assert answer.status == 2
    assert r"found 'Ada\u202e', expected a name that can be printed in one line" in answer.err
    assert rig(*rule, "\u05e9\u05dc\u05d5\u05dd").status == 0, "a name in Hebrew is one"


def test_log_shows_a_cause_with_square_brackets_as_it_is(rig: Rig, tmp_path: Path) -> None:
    with open_log(tmp_path / "rig-log.sqlite") as log:
        shot_id = until(log, log.start_session(START), Stage.PLANNED)
        log.abort(shot_id, "[/2]")
    assert "aborted: [/2]" in rig("log").out


@pytest.mark.usefixtures("shots")
def test_log_show_gives_all_that_is_known(rig: Rig) -> None:
    out = rig("log", "show", "2").out
    for said in (
        "shot 2, A at G-49: judged, doubts pending: G-41 (G decides)",
        "firmware 0.1.0",
        "transcripts/1.bin",
        "+0.005 s",
        UNPLUGGED,
        "traverse 150.0 mm, azimuth -1.15 deg, elevation +2.86 deg, for ",
        ", by the calibration as set",
        "9.599 m/s",
        "recordings/shot-00002",
        "G-41 fell: direct or ricochet, 60% sure (hidden)",
    ):
        assert said in out


@pytest.mark.usefixtures("shots")
def test_log_show_gives_a_ruling_with_its_cause_who_signed_it_and_when(rig: Rig) -> None:
    rig("docket", "rule", "1", "ricochet", "--side", "G", "--by", "Ada")
    (line,) = [line for line in rig("log", "show", "2").out.splitlines() if line.startswith("  doubt ")]
    assert re.fullmatch(
        r"  doubt       G-41 fell, direct or ricochet: ruled ricochet, stays, said G, signed Ada, "
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d",
        line,
    )


def test_of_a_soldier_that_seems_to_stand_it_is_said_that_it_may_have_fallen(rig: Rig) -> None:
    plan = changed(PLAN, position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    pushed = changed(DOUBTFUL, causes=("other", "direct"))
    analysis = Analysis(software_version="0.1.0", raw={"moved": [{"square": "G-41"}]}, falls=(pushed,))
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        read_and_judge(log, shot_id, analysis)
    said = rig("log", "show", "1").out
    assert "    G-41 may have fallen: other or direct, 60% sure (hidden)" in said
    assert "  doubt       G-41 may have fallen, other or direct: the commander of G decides" in said
    assert rig("decide").out.startswith("shot 1: G-41 may have fallen, other or direct: ")
    assert rig("decide", "1", "G-41", "stays").out.startswith("shot 1: G-41 may have fallen, other or")


def test_log_show_says_what_held_a_ruling_and_gives_no_number_that_leaves_it_out(rig: Rig) -> None:
    plan = changed(PLAN, position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    why = "the table or the camera was moved by 21.9 mm during the shot"
    analysis = Analysis(
        software_version="0.1.0", raw={"held": [why]}, falls=(changed(DOUBTFUL, causes=("direct", "other")),)
    )
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        read_and_judge(log, shot_id, analysis)
    said = rig("log", "show", "1").out.splitlines()
    assert f"    the ruling is held: {why}" in said
    assert "    G-41 fell: direct or other (hidden)" in said


def test_log_show_tells_the_notes_of_a_reading(rig: Rig) -> None:
    """As after the shot itself: what it says of camera and release explains what the verdict rests on."""
    plan = changed(PLAN, position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    note = "the shot left about 18 ms later than fire_us says, and was read without it"
    analysis = Analysis(software_version="0.1.0", raw={"notes": [note]}, falls=())
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        read_and_judge(log, shot_id, analysis)
    assert f"    note: {note}" in rig("log", "show", "1").out.splitlines()


def test_log_show_says_once_why_a_shot_was_not_seen(rig: Rig) -> None:
    plan = changed(PLAN, position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    reason, order = (
        "no streak moves like a shot",
        "judged by the order in which soldiers moved, and who stood near",
    )
    fall = changed(DOUBTFUL, evidence=f"{reason}; the fall is {order}")
    other = changed(fall, square="G-42", evidence=f"{fall.evidence}; it may have been dragged (38 %)")
    analysis = Analysis(software_version="0.1.0", raw={}, falls=(fall, other))
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        read_and_judge(log, shot_id, analysis)
    said = rig("log", "show", "1").out.splitlines()
    begins = said.index(f"    the shot was not seen: {reason}; falls are {order}")
    causes = " or ".join(fall.causes)
    assert said[begins + 1 : begins + 3] == [
        f"    G-41 fell: {causes}, 60% sure",
        f"    G-42 fell: {causes}, 60% sure (it may have been dragged (38 %))",
    ]


def test_stats_say_how_many_shots_are_left_out_of_the_rate_of_any_enemy(rig: Rig) -> None:
    plan = changed(PLAN, position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    analysis = Analysis(
        software_version="0.1.0", raw={}, falls=(changed(DOUBTFUL, causes=("direct", "other")),)
    )
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        read_and_judge(log, shot_id, analysis)
    assert (
        "any: 1 may have felled an enemy or not: the camera could not tell" in rig("stats").out.splitlines()
    )


@pytest.mark.usefixtures("shots")
def test_log_show_puts_what_it_says_in_one_column_also_beside_the_longest_name(rig: Rig) -> None:
    out = rig("log", "show", "3").out
    begins = {line.split()[0]: re.match(r"  [a-z]+ +", line) for line in out.splitlines()[1:]}
    assert {"agreed", "session", "planned", "interrupted"} <= begins.keys()
    assert {name: found and found.end() for name, found in begins.items()} == dict.fromkeys(begins, 14)


@pytest.mark.usefixtures("shots")
def test_log_export_writes_both_tables(rig: Rig) -> None:
    answer = rig("log", "export", "out", "--format", "csv")
    assert answer.out == "out/shots.csv: 3 rows\nout/falls.csv: 2 rows\n"
    assert sorted(path.name for path in Path("out").iterdir()) == ["falls.csv", "shots.csv"]
    rig("log", "export", "out")
    assert len(list(Path("out").iterdir())) == 4


@pytest.mark.usefixtures("shots")
def test_log_export_writes_and_tells_a_format_that_is_named_twice_once(rig: Rig) -> None:
    answer = rig("log", "export", "out", "--format", "csv", "-f", "CSV")
    assert answer.out == "out/shots.csv: 3 rows\nout/falls.csv: 2 rows\n"


@pytest.mark.usefixtures("shots")
def test_decide_lists_takes_and_refuses(rig: Rig) -> None:
    assert rig("decide").out == "shot 2: G-41 fell, direct or ricochet: the commander of G decides\n"
    assert "has no doubt about G-33" in one_line(rig("decide", "2", "G-33", "leaves"), 2)
    assert "the commander of G decides, not A" in one_line(
        rig("decide", "2", "G-41", "leaves", "--side", "a"), 2
    )
    assert rig("decide", "2", "G-41", "Stays").out == (
        "shot 2: G-41 fell, direct or ricochet: stays, said G\nshot 2 is judged: leave -, put back G-41\n"
    )
    assert rig("decide").out == "nothing waits for a decision\n"
    assert "G has decided already: it stays" in one_line(rig("decide", "2", "G-41", "leaves"), 2)


@pytest.mark.usefixtures("shots")
def test_the_command_that_is_told_of_a_doubt_takes_the_word(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_more = SimpleNamespace(in_words=tuple)
    monkeypatch.setattr(
        "rig.verdict.late_judging.judge_recorded", lambda log, shot: (log.shot(shot), nothing_more)
    )
    (told,) = [line for line in rig("judge", "2").out.splitlines() if "rig decide" in line]
    words = told.partition("rig ")[2].partition("|")[0].replace("SQUARE", "G-41").split()
    assert "shot 2: G-41 fell, direct or ricochet: leaves, said G" in rig(*words).out


@pytest.mark.usefixtures("shots")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("log", "show", "99"), "there is no shot 99"),
        (("log", "show", "x"), "shot: found x, expected a whole number"),
        (("log", "--last", "0"), "--last: found 0, expected at least 1"),
        (("log", "export", "rig-log.sqlite"), "rig-log.sqlite: Not a directory"),
        (("decide", "99", "G-41", "stays"), "there is no shot 99"),
        (("decide", "2", "G-99", "stays"), "G-99 is not on the board"),
        (
            ("decide", "2", "G-41", "perhaps"),
            "word: found 'perhaps', expected leaves or stays",
        ),
        (("decide", "2", "G-41"), "rig decide 12 G-41 stays"),
        (("decide", "2", "G-41", "stays", "--side", ""), "--side: found '', expected A or G"),
        (
            ("docket", "rule", "1", "direct", "--side", "", "--by", "Ada"),
            "--side: found '', expected A or G",
        ),
        (("docket", "rule", "1", "", "--side", "g", "--by", "Ada"), "found '', expected direct or ricochet"),
        (("shot",), "No such command 'shot'"),
        (("transcript", "gone"), "gone: found nothing, expected a transcript"),
        (("monitor", "."), ".: found a folder, expected a transcript"),
        (("certificate", "--tape", "648,650,655", "--pdf", "x.png"), "expected a name that ends in .pdf"),
        (("certificate", "--tape", "648,650,655", "--html", "x.pdf"), "expected a name that ends in .html"),
        (("check", "--setings", "x"), "No such option: --setings"),
        (("check", "cellar.toml"), "(cellar.toml); the settings file is named by --settings"),
        (("calibrate", "range", "shots.csv"), "(shots.csv); a CSV file is named by --csv"),
        (("aim", "table", "table.csv"), "(table.csv); a CSV file is named by --csv"),
        (("shoot", "G-49", "table.csv"), "unexpected extra argument(s) (table.csv)"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(rig: Rig, words: tuple[str, ...], said: str) -> None:
    rig("log")  # what a dead process left is told here, not below
    assert said in one_line(rig(*words), 2)


@pytest.mark.parametrize(
    ("port", "camera"), [("socket://localhost:1", "twin"), ("twin", "http://localhost:1/camera.mjpg")]
)
def test_the_twin_has_no_half_at_the_command_line_either(rig: Rig, port: str, camera: str) -> None:
    rig("init")
    answer = rig("shoot", "G-49", "--port", port, "--camera", camera)
    assert answer.status == 2
    assert answer.err == (
        f"rig: --camera: found '{camera}' with --port '{port}', expected both twin, or neither: the "
        "twin's camera sees the twin's table only\n"
    )


def test_a_log_that_is_not_there_is_one_line(rig: Rig) -> None:
    assert one_line(rig("log"), 2) == "rig-log.sqlite: there is no log here; the first shot makes one"
    assert not Path("rig-log.sqlite").exists()


def test_settings_that_cannot_be_used_are_told_a_line_for_each_fault(rig: Rig) -> None:
    Path("rig.toml").write_text("[log]\npath = 3\n[port]\nbaud = true\n")
    answer = rig("log")
    assert answer.status == 2
    assert answer.err.splitlines() == [
        "rig: rig.toml: port.baud: found true, expected a whole number",
        "rig: rig.toml: log.path: found 3, expected a string",
    ]


def test_settings_that_must_not_be_read_are_told_with_what_to_do(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the superuser has them too, who may read everything."""
    path = Path("rig.toml")
    path.write_text("")
    opened = Path.open

    def refuse(each: Path, *args: Any, **named: Any) -> Any:
        if each == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(each))
        return opened(each, *args, **named)

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(os, "access", lambda *_: False)
    for words in (("log",), ("check",)):
        answer = rig(*words)
        assert answer.status == 2
        assert answer.err.removeprefix("rig: ") == (
            "rig.toml: the file: found one that you may not read, expected a file that can be read "
            "(its owner lets you: chmod +r rig.toml)\n"
        )


@pytest.mark.parametrize(
    ("put", "found"),
    [
        (Path.mkdir, "a folder, expected a file that can be read"),
        (os.mkfifo, "a device or a pipe, expected a file that can be read"),
        (
            lambda path: path.symlink_to("moved.toml"),
            "a link that leads nowhere, expected a settings file; `rig init` writes one",
        ),
    ],
    ids=["a folder", "a pipe", "a link"],
)
def test_what_is_no_file_in_the_place_of_the_settings_is_told(
    rig: Rig, put: Callable[[Path], None], found: str
) -> None:
    put(Path("rig.toml"))
    for words in (("log",), ("check",), ("aim", "G-40")):
        answer = rig(*words)
        assert answer.status == 2
        assert answer.err.removeprefix("rig: ") == f"rig.toml: the file: found {found}\n"


@pytest.fixture
def command() -> Callable[[BaseException], None]:
    """Hang a command on the application that raises, for as long as the test runs."""
    before = list(app.registered_commands)

    def hang(error: BaseException) -> None:
        @app.command("raise-it")
        def raise_it() -> None:
            raise error

        rig_command.cache_clear()

    yield hang
    app.registered_commands[:] = before
    rig_command.cache_clear()


def _load_broken_off() -> ImportError:
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as ended:
            raise ImportError("initialization failed") from ended
    except ImportError as failed:
        return failed


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RefusedError("the lane\nis not clear"), 1),
        (KeyboardInterrupt(), 130),
        (typer.Abort(), 130),
        (_load_broken_off(), 130),
        (FileNotFoundError(2, "No such file or directory", "plan.toml"), 2),
    ],
)
def test_every_expected_end_is_one_line(
    rig: Rig, command: Callable[[BaseException], None], error: BaseException, status: int
) -> None:
    command(error)
    one_line(rig("raise-it"), status)


@pytest.mark.parametrize("bug", [ZeroDivisionError("ours"), ImportError("no such module")])
def test_a_bug_keeps_its_traceback(
    rig: Rig, command: Callable[[BaseException], None], bug: Exception
) -> None:
    command(bug)
    with pytest.raises(type(bug)):
        rig("raise-it")


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    script = (
        "import sys, typer\n"
        "from rig.cli import app, main\n"
        "@app.command()\n"
        "def talk():\n"
        "    for _ in range(100_000):\n"
        "        typer.echo('shot')\n"
        "sys.exit(main(['talk']))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "shot\n"
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_command_asked_to_end_makes_safe_and_says_so_in_one_line(tmp_path: Path, name: str) -> None:
    script = (
        "import os, signal, sys, time\n"
        "from rig.cli import app, main\n"
        "@app.command()\n"
        "def wait():\n"
        "    try:\n"
        f"        os.kill(os.getpid(), signal.{name})\n"
        "        time.sleep(60)\n"
        "    finally:\n"
        "        print('safe')\n"
        "sys.argv[1:] = ['wait']\n"
        "sys.exit(main())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "safe\n", "rig: stopped\n")


def test_signs_that_a_terminal_does_not_know_are_shown_by_their_number(tmp_path: Path) -> None:
    script = "import sys; from rig.start import main; sys.exit(main())"
    for words in (["new", "t.json", "--rounds", "1"], ["add", "t.json", "Zo\xeb"], ["standings", "t.json"]):
        ended = subprocess.run(
            [sys.executable, "-c", script, "tournament", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, "")
    assert r"Zo\xeb" in ended.stdout


def test_help_begins_with_where_to_start(rig: Rig) -> None:
    panels = re.findall(r"^╭─ (.+?) ─", rig("--help").out, re.MULTILINE)
    assert panels == [
        "Options",
        "Start here",
        "Set up",
        "Shoot",
        "Look",
        "Look back",
        "Calibrate",
        "The rules",
    ]


def test_help_imports_nothing_heavy() -> None:
    """`rig --help` must be quick: pictures, physics, databases and tables are imported by who needs them."""
    script = (
        "import sys\n"
        "from rig.cli import main\n"
        "main(['--help'])\n"
        "heavy = {'cv2', 'mujoco', 'matplotlib', 'sqlalchemy', 'pyarrow', 'scipy', 'numpy', 'pydantic', 'twin'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stderr == "[]\n"


def test_what_the_log_knows_is_shown_without_the_eye(shots: Path) -> None:
    """It reads no pictures: what looks at them, and the mathematics behind that, take longer to import than all that it does."""
    script = (
        "import sys\n"
        "from rig.cli import main\n"
        "status = main(['log', 'show', '2'])\n"
        "print(status, sorted({'cv2', 'av', 'numpy', 'scipy', 'vision'} & set(sys.modules)), file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=shots.parent, capture_output=True, text=True, check=True
    )
    assert ended.stderr.splitlines()[-1] == "0 []"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shoot", "G-20", "--side", "X"), "--side: found 'X', expected a side that has a cannon: A or G"),
        (("game", "play", "--against", "computer", "--side", "X"), "--side: found 'X', expected A or G"),
        (("decide", "1", "A-32", "leaves", "--side", "X"), "--side: found 'X', expected A or G"),
        (("shoot", "G-20", "--option", "iv"), "--option: found 'iv', expected i, ii or iii"),
        (("game", "play", "--option", "iv"), "--option: found 'iv', expected i, ii or iii"),
        (("tournament", "new", "t.json", "--option", "iv"), "--option: found 'iv', expected i, ii or iii"),
        (("log", "export", "out", "-f", "xml"), "--format: found 'xml', expected csv or parquet"),
        (("shoot",), "Missing argument 'target'"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_what_is_typed_wrongly_is_told_in_the_same_words_by_every_command(
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    assert capsys.readouterr().err == f"rig: {said}\n"

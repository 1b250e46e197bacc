"""`rig game` as the person at the terminal has it, and as another program has it through a pipe."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from game.montecassino import Position, Turn, apply_turn, legal_turns, perft
from rig.cli import main
from rig.cli.terminal.board import board_lines

DATA = Path(__file__).parents[2] / "game" / "data"
CASES = json.loads((DATA / "positions.json").read_text())
SHOTS = json.loads((DATA / "shots.json").read_text())["shots"]

START = "A A01-A24 G01-G24 0/0 20/20 -"
BATTLE = "G A01-A16,A29,G40 A44,G01-G20 1/2 3/20 G"
OVER = "A A17 A18,A25 0/0 5/0 -"
GAME = [sys.executable, "-c", "import sys; from rig.cli import main; sys.exit(main())", "game"]


def rig(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], list[str]]:
    """Give the exit status, and the lines on standard output and standard error."""
    status = main(["game", *words])
    captured = capsys.readouterr()
    return status, captured.out.splitlines(), captured.err.splitlines()


def test_show_has_every_soldier_on_its_square_and_the_number_of_every_empty_one(capsys):
    status, out, _ = rig(capsys, "show", BATTLE)
    assert status == 0
    rows = [line.split() for line in out[1:20] if "----" not in line]
    assert [(row[0], row[-1]) for row in rows][8:10] == [("G-72", "G-65"), ("A-65", "A-72")]
    cells = list(chain.from_iterable(row[1:-1] for row in rows))
    soldiers = Position.parse(BATTLE).soldiers
    # From the top left, as the Allies see it: their own lines from the 18th down.
    numbered = [f"G-{number:02d}" for line in range(9) for number in range(line * 8 + 8, line * 8, -1)]
    numbered += [
        f"A-{number:02d}" for line in range(8, -1, -1) for number in range(line * 8 + 1, line * 8 + 9)
    ]
    by_name = {str(square): str(side) for square, side in soldiers.items()}
    assert cells == [by_name.get(name, str(int(name[2:]))) for name in numbered]


JOINED = "A A01.1-A08.1,A30.1,A01.2-A06.2 A69.1,G01.1-G08.1,G50.2 2/2 18/19 G"


def test_s3_show_has_two_boards_side_by_side(capsys):
    status, out, _ = rig(capsys, "show", JOINED)
    assert status == 0
    rows = [line.replace("|", " ").split() for line in out[1:20] if "----" not in line]
    assert [(row[0], row[-1]) for row in rows][8:10] == [("G-72.1", "G-65.2"), ("A-65.1", "A-72.2")]
    soldiers = {str(square): str(side) for square, side in Position.parse(JOINED).soldiers.items()}
    numbered = [
        f"{field}-{number:02d}.{board}"
        for field, lines in (("G", range(9)), ("A", range(8, -1, -1)))
        for line in lines
        for board in (1, 2)
        for number in sorted(range(line * 8 + 1, line * 8 + 9), reverse=field == "G")
    ]
    cells = list(chain.from_iterable(row[1:-1] for row in rows))
    assert cells == [soldiers.get(name, str(int(name[2:4]))) for name in numbered]
    assert out[0].split() == ["Germans,", "board", "1", "|", "Germans,", "board", "2"]
    assert max(map(len, out[:20])) <= 80


def test_c4_show_marks_the_zone_and_says_what_the_mark_means(capsys, tmp_path):
    file = tmp_path / "board.svg"
    status, out, _ = rig(capsys, "show", BATTLE, "--zone", "G25-G40,A44", "--svg", str(file))
    assert (status, out[21]) == (0, "25: or A: is in the zone")
    assert sum(line.count(":") for line in out[:20]) == 17
    assert "G40:" not in "".join(out[:20])
    assert "zone" in ET.parse(file).getroot().itertext()
    assert "zone" not in "".join(rig(capsys, "show", BATTLE)[1])


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("G25.1", "G-25.1 names one of two boards, and the position has one"),
        (
            "hop,G99",
            "--zone: 'hop' is neither a square nor a run such as A01-A24; G-99 is not on the board",
        ),
    ],
)
def test_a_zone_that_is_none_here_is_one_line(capsys, zone, said):
    status, out, err = rig(capsys, "show", BATTLE, "--zone", zone)
    assert (status, out, len(err)) == (2, [], 1)
    assert said in err[0]


@pytest.mark.parametrize(
    ("turn", "cells", "meaning"),
    [
        ("A-17>A-25>A-33", ["17>", ">A"], "last turn A-17>A-25>A-33: >A has moved there, 17> has been left"),
        ("A-17xA-26", ["17>", "xA"], "last turn A-17xA-26: xA has taken a prisoner there, 17> has been left"),
        (
            "A-17>A-25;A-09>A-17",
            ["9>", ">A", ">A"],
            "last turn A-17>A-25;A-09>A-17: >A has moved there, 9> has been left",
        ),
    ],
)
def test_the_board_marks_the_last_turn(turn, cells, meaning):
    before = Position.parse("A A09,A17 A26,G01 0/0 0/0 -")
    last = Turn.parse(turn)
    lines = [line.plain for line in board_lines(apply_turn(before, last), last=last)]
    assert sorted(cell for line in lines[1:20] for cell in line.split() if set(cell) & set(">x")) == sorted(
        cells
    )
    assert lines[-1].startswith(meaning)


def test_the_marks_of_a_turn_of_the_germans_are_told_with_their_letter():
    last = Turn.parse("G-17>G-25")
    lines = [
        line.plain for line in board_lines(apply_turn(Position.parse("G A01 G17 0/0 0/0 -"), last), last=last)
    ]
    assert lines[-1] == "last turn G-17>G-25: >G has moved there, 17> has been left"


def test_a_narrow_terminal_cuts_nothing_off(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    assert rig(capsys, "show", BATTLE)[1][1].endswith("G-01")


def test_show_says_what_the_board_does_not(capsys):
    _, out, _ = rig(capsys, "show", BATTLE)
    assert out[-3:] == [
        "Allies (A): soldiers on the board 18, prisoners held 1, shots left 3",
        "Germans (G): soldiers on the board 21, prisoners held 2, shots left 20, has retreated",
        "Germans to move",
    ]


@pytest.mark.parametrize(
    ("position", "said"),
    [
        (OVER, "won by the Germans: the enemy has no legal step"),
        ("G A30 - 0/0 0/0 -", "won by the Allies: the enemy has no soldier"),
        ("G - - 0/0 0/0 -", "the battle is drawn: neither side"),
    ],
)
def test_v_show_says_how_the_battle_has_ended(capsys, position, said):
    assert said in rig(capsys, "show", position)[1][-1]


def test_show_draws_the_position_into_a_file(capsys, tmp_path):
    file = tmp_path / "board.svg"
    status, out, _ = rig(capsys, "show", BATTLE, "--svg", str(file))
    assert (status, out[-1]) == (0, f"wrote {file}")
    assert ET.parse(file).getroot().findtext("{http://www.w3.org/2000/svg}title") == "Germans to move"


def test_a_picture_that_cannot_be_written_is_one_line(capsys, tmp_path):
    status, _, err = rig(capsys, "show", START, "--svg", str(tmp_path / "none" / "board.svg"))
    assert (status, len(err)) == (2, 1)
    assert "No such file or directory" in err[0]


def test_moves_lists_the_legal_turns(capsys):
    status, out, _ = rig(capsys, "moves", BATTLE)
    assert status == 0
    assert list(map(Turn.parse, out)) == list(legal_turns(Position.parse(BATTLE)))
    assert rig(capsys, "moves", BATTLE, "--limit", "3")[1] == out[:3]


def test_v_moves_of_a_battle_that_is_over_are_none_and_it_says_why(capsys):
    status, out, err = rig(capsys, "moves", OVER)
    assert (status, out) == (0, [])
    assert err[0].startswith("rig: the battle is over, won by the Germans")


def test_check_names_every_fault_of_a_position(capsys):
    status, out, err = rig(capsys, "check", "B A01-A30 A01 0/0 x -", "A-17>A-25")
    assert (status, out) == (2, [])
    assert [line.split(" ")[1] for line in err] == ["turn", "A-01", "shots", "side"]
    assert rig(capsys, "check", START) == (0, ["position: nothing wrong"], [])


def test_check_says_whether_a_turn_is_legal_and_by_which_clause_not(capsys):
    after = "G A01-A16,A18-A25 G01-G24 0/0 20/20 -"
    assert rig(capsys, "check", START, "A-17>A-25") == (0, ["legal; then:", after], [])
    status, out, err = rig(capsys, "check", START, "A-09>A-17")
    assert (status, out, err) == (1, [], ["rig: not legal by M8: an own soldier stands on A-17"])
    status, _, err = rig(capsys, "check", START, "A-17xA-26>A-34")
    assert (status, err[0].partition(": taking")[0]) == (1, "rig: not legal by M6")


def test_a_turn_that_cannot_be_read_is_another_matter_than_an_illegal_one(capsys):
    status, _, err = rig(capsys, "check", START, "hop")
    assert (status, err[0].partition(":")[2][:22]) == (2, " 'hop' is not a move: ")


def test_n6_perft_counts(capsys):
    assert rig(capsys, "perft", BATTLE, "1")[1] == [str(perft(Position.parse(BATTLE), 1))]
    assert rig(capsys, "perft", START, "0")[0] == 2


@pytest.mark.parametrize("command", [["show"], ["moves"], ["perft", "1"]])
def test_a_bad_position_is_one_line(capsys, command):
    status, _, err = rig(capsys, command[0], "A A73 - 0/0 0/0 -", *command[1:])
    assert status == 2
    assert err == [
        "rig: not a valid position: soldiers of A: A-73 is not on the board: numbers go from 1 to 72"
    ]


def questions() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Give every rules case as questions, with what must stand in the answers."""
    for case in CASES["positions"]:
        asked = {"position": case["position"]}
        yield {**asked, "ask": "perft", "depth": 1}, {"count": case["perft1"]}
        yield {**asked, "ask": "results"}, {"sha256": case["results_sha256"]}
        yield {**asked, "ask": "state"}, {"winner": case["winner"], "immobilised": case["immobilised"]}
        yield {**asked, "ask": "retreat"}, {"after": case["after_retreat"]}
    for case in CASES["perft2"]:
        yield {"position": case["position"], "ask": "perft", "depth": 2}, {"count": case["perft2"]}
    for case in SHOTS:
        asked = {key: case[key] for key in ("position", "zone", "option", "falls", "moved", "decisions")}
        expected = ("casualties", "put_back", "doubts", "after", "winner")
        yield {**asked, "ask": "shot"}, {key: case[key] for key in expected}


def test_ask_answers_the_rules_cases_through_a_pipe():
    asked, expected = zip(*questions(), strict=True)
    lines = "".join(json.dumps(question) + "\n" for question in asked)
    ran = subprocess.run([*GAME, "ask"], input=lines, capture_output=True, text=True, check=True)
    answers = list(map(json.loads, ran.stdout.splitlines()))
    assert len(answers) == len(asked)
    for question, said, due in zip(asked, answers, expected, strict=True):
        if question["ask"] == "results":
            said["sha256"] = hashlib.sha256("\n".join(said["results"]).encode()).hexdigest()
        assert said == {**said, **due}, question
    assert ran.stderr == ""


def test_ask_answers_each_line_before_it_reads_the_next_and_goes_on_after_a_bad_one():
    good = json.dumps({"position": START, "ask": "perft", "depth": 1}).encode() + b"\n"
    with subprocess.Popen([*GAME, "ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin is not None and program.stdout is not None
        for line in (good, b"hop\n", b"\xff\n", b"\n", good):
            program.stdin.write(line)
            program.stdin.flush()
            # Would wait for ever, were the answer kept back.
            said = json.loads(program.stdout.readline())
            assert said == {"count": 382} if line is good else list(said) == ["error"]
        program.stdin.write(good.rstrip())
        program.stdin.close()
        assert json.loads(program.stdout.readline()) == {"count": 382}
        assert program.stdout.read() == b""
    assert program.returncode == 0


def test_moves_end_quietly_when_nobody_reads_on():
    with subprocess.Popen([*GAME, "moves", START], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None and program.stderr is not None
        assert program.stdout.readline() == b"A-17>A-25\n"
        program.stdout.close()
        assert program.stderr.read() == b""


@pytest.mark.parametrize(
    "words", [("ask",), ("play", "--first", "A"), ("perft", START, "1")], ids=lambda it: it[0]
)
def test_streams_that_were_closed_are_none_and_no_traceback(words):
    command = f"exec {shlex.join([*GAME, *words])} <&- >&-"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")

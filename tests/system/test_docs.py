"""The pages: links lead somewhere, commands exist and print what is shown, quoted messages are the code's own."""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace as changed
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from logged_shots import DOUBTFUL, PLAN, START, read_and_judge, until

from game.montecassino import parse_battle
from rig.battle.file import read_battle
from rig.cli import command as rig_command
from rig.cli import main
from rig.cli.terminal.sentences import rows_of
from rig.log import Analysis, Stage, open_log
from rig.recording import read_frames, read_recording
from rig.verdict.analyse import analyse_folder

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("firmware/*.md")],
    key=lambda page: page.relative_to(ROOT),
)
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: str, language: str) -> list[str]:
    found = FENCE.findall((ROOT / page).read_text(encoding="utf-8"))
    return [text for _, said, text in found if said == language]


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Give the relative links of a page: the file and the heading in it, "" for none."""
    for target in LINK.findall(prose(page)):
        if "://" not in target:
            path, _, heading = target.partition("#")
            yield (page.parent / path).resolve() if path else page, heading


def headings(page: Path) -> set[str]:
    """Give the names by which a page's headings are linked to."""
    return {
        re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        for text in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, heading in links(page):
        assert target.exists(), f"{name_of(page)} links to {target}, which is not there"
        if heading:
            assert heading in headings(target), f"{name_of(page)}: {name_of(target)} has no heading {heading}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.exists():
            reached.add(page)
            waiting += [target for target, _ in links(page) if target.suffix == ".md"]
    assert {name_of(page) for page in PAGES} <= {name_of(page) for page in reached}


def commands_shown(page: Path) -> Iterator[list[str]]:
    """Give the words after `rig` of each command that a page shows, in a line of its own or in the text."""
    text = page.read_text(encoding="utf-8")
    lines = [
        line.removeprefix("$ ") for _, _, block in FENCE.findall(text) for line in block.strip().splitlines()
    ]
    for shown in lines + re.findall(r"`([^`\n]+)`", FENCE.sub("", text)):
        if shown.strip().startswith("rig "):
            yield shown.partition(" # ")[0].split()[1:]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_shown_is_one(page: Path) -> None:
    for words in commands_shown(page):
        command: Any = rig_command()
        said = f"{name_of(page)}: rig {' '.join(words)}"
        if words[0] in {"COMMAND", "..."}:
            continue
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        # `rig aim G-49`: what is no command of that group is a word of the one by default.
        command = getattr(command, "by_default", command)
        assert command.name != "rig" or words[0].startswith("-"), f"{said}: there is no such command"
        known = {"--help", *(option for each in command.params for option in each.opts)}
        for word in words:
            option = word.partition("=")[0].rstrip("`,.;:")
            if option.startswith("--"):
                assert option in known, f"{said}: it has no option {option}"


def test_every_command_is_in_the_readme() -> None:
    shown = {words[0] for words in commands_shown(ROOT / "README.md")}
    assert set(rig_command().commands) <= shown


def test_every_make_target_named_is_there() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"(?:^ *|`)make (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert named <= targets, f"{name_of(page)}: make {named - targets} is not in the Makefile"


def test_the_readme_names_every_room() -> None:
    rooms = set(re.findall(r"^\| `(\w+)/` \|", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert all((ROOT / room).is_dir() for room in rooms)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= rooms


# Commands that take no time are run, and print what the page shows


def _on_screen(lines: Iterable[str], columns: int = 80) -> Iterator[str]:
    for row in (rows_of(line, columns) for line in lines):
        yield from (row[at : at + columns] for at in range(0, len(row), columns))


def run_blocks(page: str, capsys: pytest.CaptureFixture[str]) -> int:
    run = 0
    for block in blocks(page, "console"):
        for shown in re.split(r"^ *\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = shown.splitlines()
            program, *words = shlex.split(command)
            assert program == "rig"
            main(words)
            captured = capsys.readouterr()
            lines_printed = (captured.out + captured.err).splitlines()
            # A long line is shown whole, or as a terminal of 80 columns shows it.
            printed = [line.strip() for line in (*lines_printed, *_on_screen(lines_printed))]
            for line in lines:
                assert line.strip() in printed, f"{page}: `{command}` does not print: {line}"
            run += 1
    return run


def test_settings_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_blocks("README.md", capsys) == 2


def test_settings_and_the_first_shot_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_blocks("docs/first-shot.md", capsys) == 3


def test_doubts_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = changed(PLAN, target="G-41", position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    ricochet = changed(
        DOUBTFUL, square="G-34", causes=("ricochet",), confidence=0.9, evidence="it bends first"
    )
    hidden = changed(DOUBTFUL, evidence="the first touch is hidden behind A-60")
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        read_and_judge(log, shot_id, Analysis(software_version="0.1.0", raw={}, falls=(ricochet, hidden)))
    assert run_blocks("docs/verdict.md", capsys) == 5


def test_faulty_recordings_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = json.loads(blocks("docs/recording.md", "json")[0])
    del keys["zone"]
    Path("film-1").mkdir()
    Path("film-1/recording.json").write_text(json.dumps(keys))
    assert run_blocks("docs/recording.md", capsys) == 2


def test_the_second_shot_of_the_demo_is_read_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rig.cli.demo._SHOTS", (("G-61", "i"), ("A-58", "i")))
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["demo"]) == 0
    assert "…" not in capsys.readouterr().out.partition("Six shots: ")[2], (
        "its table is whole in a narrow terminal"
    )
    page = Path("build/demo/report.html").read_text(encoding="utf-8")
    assert "4 of 4 causes agree with what the twin knows happened." in page
    assert "<td>A-50 (A)</td><td>dragged</td>" in page
    folder = "build/demo/recordings/shot-00002"
    # In words and as JSON it is the same reading.
    monkeypatch.setattr("rig.verdict.analyse.analyse_folder", cache(analyse_folder))
    assert main(["analyse", folder]) == 0
    (shown,) = (block for block in blocks("docs/recording.md", "") if "soldiers stood" in block)
    assert capsys.readouterr().out == shown
    assert main(["analyse", folder, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    kept = json.loads(blocks("docs/recording.md", "json")[1])
    assert {key: read[key] for key in ("moved", "first_contact_mm", "verdict")} == {
        key: kept[key] for key in ("moved", "first_contact_mm", "verdict")
    }
    for of_many in ("soldiers", "falls", "pellet"):
        assert read[of_many][: len(kept[of_many])] == kept[of_many]


def test_calibrations_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shots.csv").write_text(blocks("docs/calibration.md", "csv")[0])
    assert run_blocks("docs/calibration.md", capsys) == 4


def test_positions_as_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_blocks("docs/game.md", capsys) == 8


def test_charts_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("friday.csv").write_text(blocks("docs/chart.md", "csv")[0])
    Path("example.txt").write_text(blocks("docs/chart.md", "text")[0])
    assert run_blocks("docs/chart.md", capsys) == 6


def test_battles_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = "".join(blocks("docs/battle.md", "console"))
    typed = re.findall(r"^(?:\d+ \w+ \(\w+\)|Squares of .*): (.*\n)", shown, re.MULTILINE)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("".join(typed).encode())))
    assert run_blocks("docs/battle.md", capsys) == 5
    battle = parse_battle(blocks("docs/battle.md", "json")[0])
    assert changed(read_battle(Path("friday.json")), began=battle.began) == battle


def test_questions_are_answered_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answered = blocks("docs/game.md", "jsonl")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(asked.encode())))
    assert main(["game", "ask"]) == 0
    assert capsys.readouterr().out == answered


def test_the_recording_shown_is_one(tmp_path: Path) -> None:
    (tmp_path / "recording.json").write_text(blocks("docs/recording.md", "json")[0])
    read_recording(tmp_path)


def test_a_recording_made_by_hand_as_the_page_says_can_be_read(tmp_path: Path) -> None:
    film = cv2.VideoWriter(str(tmp_path / "clip.mp4"), cv2.VideoWriter.fourcc(*"mp4v"), 60.0, (320, 240))
    for shade in range(0, 200, 20):
        film.write(np.full((240, 320, 3), shade, np.uint8))
    film.release()
    (program,) = blocks("docs/recording.md", "python")
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    recording = read_recording(tmp_path)
    assert len(list(read_frames(tmp_path, recording))) == len(recording.timestamps_us) == 10


# Messages that the pages explain


# What stands between the fixed parts of a message: values, ends of sentences, and how a fault puts its parts together.
VALUES = re.compile(
    r"\.\.\.|\b\d+\b(?: s\b)?|[AG]-\d+|side [AG]|\. |; |: |\bs(?=;)|found nothing|found | within |, expected "
)


@cache
def strings_of_the_code() -> str:
    """Give every text that the code may print, its values left out."""
    texts = [(ROOT / "rig/link/wire.toml").read_text(), (ROOT / "setup.sh").read_text()]
    for package in ("game", "calibration", "vision", "rig", "twin"):
        for file in (ROOT / package).rglob("*.py"):
            texts += [
                node.value
                for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
    return "\n".join(texts)


@pytest.mark.parametrize("page", ["docs/first-shot.md", "docs/troubleshooting.md"])
def test_messages_explained_are_the_codes_own(page: str) -> None:
    known = strings_of_the_code()
    cells = re.findall(r"^\| (`.*?) \|", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    explained = [message for cell in cells for message in re.findall(r"`(.+?)`", cell)]
    assert len(explained) > 15
    pieces = {piece.strip(" ;:(,.") for message in explained for piece in VALUES.split(message)}
    unknown = sorted(piece for piece in pieces if len(piece) > 8 and piece not in known)
    assert not unknown, f"{page} explains what nothing in the code says"

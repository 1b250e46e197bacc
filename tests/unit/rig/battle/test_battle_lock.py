"""A battle file is written by one program at a time; another is told which."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from game.montecassino import Agreement, Battle, Side
from rig.battle.file import FaultyBattleFile, read_battle, write_battle
from rig.battle.lock import BattleInUse, hold_battle
from rig.cli import main

BEGUN = Battle.begin(Agreement(Side.A))
FILE = Path("friday.json")
RIG = [sys.executable, "-u", "-c", "import sys; from rig.cli import main; sys.exit(main())"]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def playing() -> Iterator[subprocess.Popen[str]]:
    """Somebody who plays the battle at another terminal, and has made a turn."""
    write_battle(FILE, BEGUN)
    process = subprocess.Popen(
        [*RIG, "game", "play", "--battle", str(FILE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("A-17>A-25\n")
    process.stdin.flush()
    while not read_battle(FILE).history:
        assert process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize(
    "words",
    [("game", "play"), ("shoot", "G-49"), ("game", "enter")],
    ids=" ".join,
)
def test_a_second_program_is_refused_and_told_which_is_the_first(
    playing: subprocess.Popen[str], words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    before = FILE.read_bytes()
    Path("rig.toml").touch()
    assert main([*words, *(["--battle"] if words != ("game", "enter") else []), str(FILE)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"rig: friday.json: rig game play, process {playing.pid}, has this battle open and would write over what is "
        "played here; end that first\n"
    )
    assert FILE.read_bytes() == before
    # Looking is allowed at any time.
    assert main(["game", "replay", str(FILE)]) == 0


def test_the_battle_is_free_once_its_program_was_killed(playing: subprocess.Popen[str]) -> None:
    playing.send_signal(signal.SIGKILL)
    playing.wait()
    with hold_battle(FILE, "a test"):
        pass
    assert [each.name for each in Path().iterdir()] == [str(FILE)]


def test_a_link_is_the_file_that_it_leads_to() -> None:
    write_battle(FILE, BEGUN)
    Path("link.json").symlink_to(FILE)
    with (
        hold_battle(FILE, "the first"),
        pytest.raises(BattleInUse, match=f"the first, process {os.getpid()},"),
        hold_battle(Path("link.json"), "the second"),
    ):
        pytest.fail("both hold it")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".", "found a folder"),
        ("/", "found a folder"),
        ("nowhere/b.json", "No such file"),
        ("circle", "Too many levels of symbolic links"),
        ("circle/b.json", "Too many levels of symbolic links"),
    ],
)
def test_a_place_that_cannot_be_written_is_told(path: str, why: str) -> None:
    Path("circle").symlink_to("circle")
    with pytest.raises(FaultyBattleFile, match=why), hold_battle(Path(path), "a test"):
        pytest.fail("it is held")


def test_a_lock_that_is_taken_away_while_it_is_being_taken_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """One who let go took its lock along, and a third program was there first with a new one."""
    write_battle(FILE, BEGUN)
    place, take = Path("friday.json.lock"), fcntl.flock
    others: list[int] = []

    def late(lock: int, how: int) -> None:
        if not others:
            place.unlink()
            others.append(os.open(place, os.O_RDWR | os.O_CREAT))
            take(others[0], fcntl.LOCK_EX)
            os.write(others[0], b"the third,")
        take(lock, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(BattleInUse, match="the third, has"), hold_battle(FILE, "the second"):
        pytest.fail("both hold it")
    os.close(others[0])

"""What the players were told of a shot is on record, whatever happens to the rig then; what was not told can be had later.

The fault is real: the files of the process cannot grow any more. Only its moment is set from inside. (`test_killed.py` has
the rig killed at any moment.)
"""

import os
import resource
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from small_twin import RIGS, SMALL_TWIN

import rig.cli.shoot
import rig.match
from game.montecassino import Agreement, Battle, Option, Position, Side, Verdict
from rig.battle.file import read_battle, write_battle
from rig.cli import main
from rig.log import Shot, Stage, open_log

START = Position.parse("A A01-A08,A17 G01-G08,G53,G61 0/0 20/20 -")
FILE = Path("friday.json")
_LONGER_THAN_A_CLIP_BYTES = 1_000_000
FELLED = "G-61"  # by the first shot of this seed at G-53


@dataclass(frozen=True)
class Done:
    returncode: int | None
    stdout: str
    stderr: str


def shoot(folder: Path, *, once_told: int | None = None, before_the_verdict: int | None = None) -> Done:
    """Fire in a battle of its own, in a process whose files can grow to so many bytes from some moment on."""
    (folder / "rig.toml").write_text(SMALL_TWIN.format(seed=1), encoding="utf-8")
    write_battle(folder / FILE, Battle.begin(Agreement(Side.A, Option.I), START))
    process = RIGS.Process(target=_shoot, args=(folder, once_told, before_the_verdict))
    process.start()
    process.join()
    return Done(process.exitcode, (folder / "out").read_text(), (folder / "err").read_text())


def _shoot(folder: Path, once_told: int | None, before_the_verdict: int | None) -> None:
    os.chdir(folder)
    os.environ["COLUMNS"] = "200"
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, encoding="utf-8") for number in (1, 2))
    told, logged = rig.cli.shoot._told, rig.match.log_reading

    def told_and_then(read: rig.match.ShotRead) -> Iterator[str]:
        yield from told(read)
        limit(once_told)

    def log_reading(*what: Any, **more: Any) -> Verdict:
        if before_the_verdict is not None:
            with closing(sqlite3.connect("rig-log.sqlite")) as log, log:
                log.execute("CREATE TABLE season AS SELECT zeroblob(?) AS shots", (before_the_verdict,))
        limit(before_the_verdict)
        return logged(*what, **more)

    rig.cli.shoot._told, rig.match.log_reading = told_and_then, log_reading
    sys.exit(main(["shoot", "G-53", "--battle", str(FILE)]))


def limit(file_bytes: int | None) -> None:
    if file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))


def the_shot() -> Shot:
    with open_log(Path("rig-log.sqlite"), create=False) as log:
        (shot,) = log.shots()
    return shot


def leaving(said: str) -> Sequence[str]:
    return [line.removesuffix(" leaves.") for line in said.splitlines() if line.endswith(" leaves.")]


def test_a_verdict_that_was_told_is_in_the_log_where_the_disk_takes_no_recording(tmp_path, monkeypatch):
    done = shoot(tmp_path, once_told=4096)
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert said == (
        "rig: shot 1 was fired, and its verdict is in the log; its recording cannot be kept: "
        "recordings/shot-00001: cannot be written: File too large"
    )
    monkeypatch.chdir(tmp_path)
    shot = the_shot()
    assert shot.verdict is not None
    assert list(shot.verdict.casualties) == leaving(done.stdout) == [FELLED]
    assert shot.entry(Stage.ABORTED) is None
    assert str(read_battle(FILE).position) == shot.verdict.after
    assert list(Path("recordings/shot-00001").iterdir()) == []


def test_a_verdict_that_the_log_does_not_take_is_not_told_and_is_had_from_the_recording(
    tmp_path, monkeypatch, capsys
):
    # Enough for a clip; what the log has written in this session is longer already.
    done = shoot(tmp_path, before_the_verdict=_LONGER_THAN_A_CLIP_BYTES)
    assert done.returncode == 1
    assert leaving(done.stdout) == []
    assert "left at" not in done.stdout
    (said,) = done.stderr.splitlines()
    assert said.startswith(
        "rig: shot 1 was fired; its recording is whole in recordings/shot-00001, and the log does not take that: "
    )
    assert said.endswith("once that is mended: rig judge 1")
    monkeypatch.chdir(tmp_path)
    assert main(["judge"]) == 0
    told = capsys.readouterr()
    assert "shot 1 at G-53: fired" in told.err
    assert told.out.startswith("shot 1, A at G-53: fired")
    assert main(["shoot", "G-53"]) == 1
    assert "was never judged" in capsys.readouterr().err
    assert main(["judge", "1"]) == 0
    assert leaving(capsys.readouterr().out) == [FELLED]
    shot = the_shot()
    assert shot.verdict is not None
    assert shot.verdict.casualties == (FELLED,)
    assert shot.recording_path == "recordings/shot-00001"
    assert main(["judge"]) == 0
    assert capsys.readouterr().out == "every shot that was fired is judged\n"
    assert main(["game", "enter", str(FILE), "1"]) == 0
    assert str(read_battle(FILE).position) == shot.verdict.after

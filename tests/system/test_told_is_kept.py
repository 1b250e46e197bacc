"""What the players were told of a shot is on record, whatever happens to the rig then; what was not told can be had later.

The fault is real: the files of the process cannot grow any more. Only its moment is set from inside. (`test_killed.py` has
the rig killed at any moment.)
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from small_twin import SMALL_TWIN

from game.montecassino import Agreement, Battle, Option, Position, Side
from rig.battle_file import read_battle, write_battle
from rig.cli import main
from rig.log import Shot, Stage, open_log

START = Position.parse("A A01-A08,A17 G01-G08,G53,G61 0/0 20/20 -")
FILE = Path("friday.json")
FELLED = "G-61"  # by the first shot of this seed at G-53
WITH_A_FAULT = """
import resource, sys
import rig.match
from rig.cli import main, shoot

told, logged = shoot._told, rig.match.log_reading

def no_file_may_grow_over(limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

def told_and_then(read):
    yield from told(read)
    {once_told}

def log_reading(*args, **options):
    {before_the_verdict}
    return logged(*args, **options)

shoot._told, rig.match.log_reading = told_and_then, log_reading
sys.exit(main())
"""


def shoot(
    folder: Path, *, once_told: str = "pass", before_the_verdict: str = "pass"
) -> subprocess.CompletedProcess[str]:
    """Fire in a battle of its own, in a process that something happens to."""
    (folder / "rig.toml").write_text(SMALL_TWIN.format(seed=1), encoding="utf-8")
    write_battle(folder / FILE, Battle.begin(Agreement(Side.A, Option.I), START))
    script = WITH_A_FAULT.format(once_told=once_told, before_the_verdict=before_the_verdict)
    return subprocess.run(
        [sys.executable, "-u", "-c", script, "shoot", "G-53", "--battle", str(FILE)],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )


def the_shot() -> Shot:
    with open_log(Path("rig-log.sqlite"), create=False) as log:
        (shot,) = log.shots()
    return shot


def leaving(said: str) -> Sequence[str]:
    return [line.removesuffix(" leaves.") for line in said.splitlines() if line.endswith(" leaves.")]


def test_a_verdict_that_was_told_is_in_the_log_where_the_disk_takes_no_recording(tmp_path, monkeypatch):
    done = shoot(tmp_path, once_told="no_file_may_grow_over(4096)")
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
    assert list(Path("recordings/shot-00001").iterdir()) == []


def test_a_verdict_that_the_log_does_not_take_is_not_told_and_is_had_from_the_recording(
    tmp_path, monkeypatch, capsys
):
    # Enough for a clip, and the log is longer already.
    done = shoot(tmp_path, before_the_verdict="no_file_may_grow_over(100_000)")
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

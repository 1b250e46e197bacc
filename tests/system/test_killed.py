"""Kill the controller at 20 random moments of a shot: the log opens, and tells the truth each time (issue's promise).

The witness is the link's transcript, which knows nothing of the log: whether a fire command ever left the controller, and
whether the cannon said that a shot was seen. And what the players were told until then: the log has it.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_twin import SMALL_TWIN

from rig.link.codec import Frame
from rig.link.messages import Fire, ShotSeen
from rig.link.transcript import decoded, read_transcript
from rig.log import Fired, Stage, open_log

# Early, in the middle, and most of them about the moment of fire: what the controller had just said, and how long after.
MOMENTS = [
    *(("looking for the cannon", 1.5), ("reading the table", 2.0), ("homing", 0.3), ("cocking", 0.3)),
    *(("loading", 0.2),) * 2,
    *(("checking the lane, arming, firing", 0.6),) * 8,
    *(("watching", 3.0),) * 2,
    *(("recording", 1.5),) * 2,
    *(("reading the shot", 2.0),) * 2,
]


def shoot(folder: Path, seed: int) -> subprocess.Popen[str]:
    (folder / "rig.toml").write_text(SMALL_TWIN.format(seed=seed), encoding="utf-8")
    return subprocess.Popen(
        [
            sys.executable,
            "-u",
            "-c",
            "import sys; from rig.cli import main; sys.exit(main())",
            "shoot",
            "G-61",
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )


def messages_of(folder: Path) -> list[object]:
    """Every message that went over the line, either way."""
    found: list[object] = []
    for path in (folder / "transcripts").glob("*"):
        items = [item for _, item in decoded(read_transcript(path))]
        found += [item.message for item in items if isinstance(item, Frame)]
    return found


@pytest.mark.parametrize("number", range(len(MOMENTS)))
def test_log_tells_the_truth_of_a_shot_whose_controller_was_killed(number, tmp_path):
    words, within_s = MOMENTS[number]
    process = shoot(tmp_path, seed=number)
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith(words):
            break
    else:
        pytest.fail(f"the shot ended without saying {words!r}: {''.join(said)}")
    time.sleep(random.Random(number).uniform(0.0, within_s))
    process.send_signal(signal.SIGKILL)
    said.append(process.communicate()[0])
    told = "".join(said)

    messages = messages_of(tmp_path)
    fire_left = any(isinstance(message, Fire) for message in messages)
    shot_seen = any(isinstance(message, ShotSeen) for message in messages)
    with open_log(tmp_path / "rig-log.sqlite") as log:
        shots = log.shots()
        assert len(shots) <= 1
        if not shots:
            assert not fire_left
            return
        shot = shots[0]
        assert shot.finished
        if fire_left:
            assert shot.entry(Stage.ASKED) is not None, "fire left the controller before the log knew of it"
            assert shot.fired in {Fired.YES, Fired.UNCERTAIN}
        if shot.fired is Fired.NO:
            assert not fire_left
        if shot.fired is Fired.YES:
            assert shot_seen
        if ", left at " in told:
            assert shot.verdict is not None, "a verdict was told before the log had it"
            leaving = {
                line.removesuffix(" leaves.") for line in told.splitlines() if line.endswith(" leaves.")
            }
            assert leaving <= set(shot.verdict.casualties)
        if words == "recording":
            assert ", left at " in told
        if shot.entry(Stage.RECORDED) is not None:
            assert shot.recording_path is not None
            assert (tmp_path / shot.recording_path / "recording.json").is_file()

"""Kill the controller at 20 random moments of a shot: the log opens, and tells the truth each time (issue's promise).

The witness is the link's transcript, which knows nothing of the log: whether a fire command ever left the controller, and
whether the cannon said that a shot was seen. And what the players were told until then: the log has it.
"""

import os
import random
import sys
from pathlib import Path

import pytest
from small_twin import RIGS, SMALL_TWIN

from rig.cli import main
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


def control(folder: Path, words: Path) -> None:
    """Be a controller that fires one shot in a folder, and says what it says into a pipe."""
    os.chdir(folder)
    pipe = os.open(words, os.O_WRONLY)
    os.dup2(pipe, 1)
    os.dup2(pipe, 2)
    sys.stdout = sys.stderr = os.fdopen(pipe, "w", buffering=1, encoding="utf-8")
    os.environ["COLUMNS"] = "200"
    sys.exit(main(["shoot", "G-61"]))


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
    (tmp_path / "rig.toml").write_text(SMALL_TWIN.format(seed=number), encoding="utf-8")
    os.mkfifo(tmp_path / "words")
    controller = RIGS.Process(target=control, args=(tmp_path, tmp_path / "words"))
    controller.start()
    said = []
    with (tmp_path / "words").open(encoding="utf-8") as pipe:
        for line in pipe:
            said.append(line)
            if line.startswith(words):
                break
        else:
            pytest.fail(f"the shot ended without saying {words!r}: {''.join(said)}")
        controller.join(random.Random(number).uniform(0.0, within_s))  # or until it has ended by itself
        controller.kill()
        said.append(pipe.read())
    controller.join()
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

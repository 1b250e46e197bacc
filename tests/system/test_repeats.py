"""Same seed, two runs: the same transcript, truth and verdicts (issue's promise)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from one_shot import order, rig_on
from small_twin import SMALL_TWIN

from rig.cli.opening.twin import settle
from rig.log import open_log

SCRIPT = """
import json, sys
from pathlib import Path
from game.montecassino import Option, Square
from rig.cli.opening.rig import open_rig
from rig.cli.arguments.orders import zone_of
from rig.cli.opening.twin import settle
from rig.hands import PromptedHands
from rig.match import Order
from rig.settings import read_settings
from game.montecassino import Position

settings = read_settings(Path("rig.toml"))
position = Position.parse(settings.game.position)
truths = []
with open_rig(settings, position, PromptedHands(print, print), progress=lambda words: None) as rig:
    for target in sys.argv[1:]:
        done = rig.match.shoot(Order(Square.parse(target), position, zone_of(settings, position.turn), Option.I))
        settle(rig.twin)
        truths.append(dict(rig.twin.truth().as_json()))
        rig.hands.set_up(done.verdict.casualties, done.verdict.put_back)
        position = done.verdict.after
        assert position is not None, done.verdict.doubts
Path("truth.json").write_text(json.dumps(truths))
"""


def run(folder: Path, seed: int, *targets: str) -> tuple[str, str, list[object]]:
    """Shots in a process of their own: transcript, truth and verdicts."""
    folder.mkdir()
    (folder / "rig.toml").write_text(SMALL_TWIN.format(seed=seed), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, *targets], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    (transcript,) = (folder / "transcripts").glob("*")
    with open_log(folder / "rig-log.sqlite", create=False) as log:
        judged = [(shot.verdicts, shot.analyses[0].falls, shot.muzzle_gate) for shot in log.shots()]
    return transcript.read_text(), (folder / "truth.json").read_text(), judged


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repeats")
    both = ("G-61", "A-58")
    return run(folder / "first", 5, *both), run(folder / "again", 5, *both)


def test_same_seed_gives_the_same_bytes_on_the_line(runs):
    first, again = runs
    assert first[0] == again[0]


def test_same_seed_gives_the_same_truth_and_the_same_verdicts(runs):
    first, again = runs
    assert first[1] == again[1]
    assert first[2] == again[2]


def test_another_seed_gives_another_shot(runs, tmp_path):
    with rig_on(tmp_path, seed=6) as (rig, position):
        rig.match.shoot(order(rig, position))
        settle(rig.twin)
        other = json.loads(json.dumps(rig.twin.truth().as_json()))
    assert json.loads(runs[0][1])[0]["pellet"] != other["pellet"]

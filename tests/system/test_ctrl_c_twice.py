"""Ctrl-C pressed twice: what the first has begun is brought to its end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_twin import SMALL_TWIN

from rig.log import Fired, open_log
from rig.settings import read_settings


@pytest.mark.parametrize("stage", ["looking for the cannon", "cocking"])
def test_a_shot_that_is_ended_twice_is_given_up_in_one_line_and_its_session_closed(tmp_path, stage):
    (tmp_path / "rig.toml").write_text(SMALL_TWIN.format(seed=3), encoding="utf-8")
    command = [sys.executable, "-u", "-c", "import sys; from rig.cli import main; main()", "shoot", "G-61"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as rig:
        assert rig.stdout is not None
        while stage not in rig.stdout.readline():
            assert rig.poll() is None
        os.killpg(rig.pid, signal.SIGINT)
        time.sleep(0.05)
        os.killpg(rig.pid, signal.SIGINT)
        _, err = rig.communicate(timeout=120)
    assert (rig.returncode, err.splitlines()) == (130, ["rig: stopped"])
    with open_log(Path(read_settings(tmp_path / "rig.toml").log.path)) as log:
        assert all(session.ended_utc_us is not None for session in log.sessions())
        assert all(shot.fired is Fired.NO for shot in log.shots())

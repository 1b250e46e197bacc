"""On the twin: a camera that stamps its pictures late is found out by its own shots, and read as if it did not."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import pytest

from rig.camera_delay import see_delay
from rig.cli import main
from rig.recording import write_recording
from rig.settings import read_settings
from twin.clips import Clip

LATE_US = 18_000
TAKEN_OFF_US = 7_000


@pytest.fixture(scope="module")
def recordings(plain: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same shot six times: four as a late camera stamps it, two after part of that was taken off; and one without a release."""
    folder = tmp_path_factory.mktemp("late")
    for off_us, (first, *others) in ((0, (0, 1, 2, 3, 6)), (TAKEN_OFF_US, (4, 5))):
        keys = {**plain.keys, "camera": {**plain.keys["camera"], "delay_us": off_us}}
        frames = [(time_us + LATE_US - off_us, picture) for time_us, picture in plain.frames]
        write_recording(folder / f"shot-{first}", keys, frames)
        for k in others:
            shutil.copytree(folder / f"shot-{first}", folder / f"shot-{k}")
    told = folder / "shot-6" / "recording.json"
    told.write_text(json.dumps({**json.loads(told.read_text()), "fire_us": None}))
    return folder


def test_the_delay_is_learnt_and_stored(
    recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rig.camera_delay.see_delay", cache(see_delay))
    assert main(["init"]) == 0
    assert main(["camera", "delay", str(recordings)]) == 0
    said, why_not = capsys.readouterr()
    assert "shot-6: it does not say when the shot left" in why_not
    assert "shot-6" not in said
    assert "6 of 7 shots tell" in said
    stored_us = read_settings(Path("rig.toml")).camera.delay_us
    assert stored_us == pytest.approx(LATE_US, abs=1000)
    assert f"camera.delay_us = {stored_us}, was 0" in said
    assert main(["camera", "delay", str(recordings), "--no-store"]) == 0
    assert "not stored (as asked)" in capsys.readouterr().out


def test_too_few_shots_change_nothing(
    recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    before = Path("rig.toml").read_text(encoding="utf-8")
    assert main(["camera", "delay", str(recordings / "shot-0")]) != 0
    assert "1 of 1 shots tell it, and 5 are needed" in capsys.readouterr().err
    assert Path("rig.toml").read_text(encoding="utf-8") == before

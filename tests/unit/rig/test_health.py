"""What is said of the computer: room on the disk, clock, date; and of what the chip tells."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rig import health
from rig.eye import ring_for
from rig.health import INPUTS, Level, camera_health, clock_health, disk_health, firmware_health, inputs_health
from rig.link import wire
from rig.link.messages import Identity, Moving, Status
from rig.settings import Camera as CameraSettings
from rig.settings import Log, Port, Settings


def settings_in(folder: Path) -> Settings:
    return Settings(
        log=Log(path=str(folder / "log.sqlite"), recordings=str(folder / "r"), transcripts=str(folder / "t"))
    )


@pytest.mark.parametrize(
    ("free_bytes", "level", "says"),
    [
        (100_000_000_000, Level.OK, "1000 or more shots"),
        (800_000_000, Level.OK, "room for 40 shots"),
        (797_000_000, Level.WARNING, "make room for the 40 of a battle"),
        (199_000_000, Level.FAULT, "room for 9 shots"),
        (0, Level.FAULT, "room for 0 shots"),
    ],
)
def test_room_is_told_in_shots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_bytes: int, level: Level, says: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free_bytes))
    findings = {finding.part: finding for finding in disk_health(settings_in(tmp_path))}
    assert findings["recordings"].level is level
    assert says in str(findings["recordings"])


def test_only_the_disk_of_the_recordings_must_have_room_for_clips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100_000_000))
    large = CameraSettings(width_px=3840, height_px=2160, clip_after_s=10)
    findings = {
        f.part: str(f) for f in disk_health(settings_in(tmp_path).model_copy(update={"camera": large}))
    }
    assert "room for 0 shots of 725 MB" in findings["recordings"]
    for part in ("log", "transcripts"):
        assert "room for 50 shots of 2 MB" in findings[part]


def test_a_date_that_cannot_be_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(now=lambda zone: datetime(1970, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(health, "datetime", now)
    findings = {finding.part: finding for finding in clock_health()}
    assert findings["date"].level is Level.WARNING and "set the computer's clock" in findings["date"].todo
    assert findings["clock"].level is Level.OK


def test_a_clock_that_runs_backward_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter(range(10_000, 0, -1))
    monkeypatch.setattr(health.time, "monotonic_ns", lambda: next(readings))
    assert next(clock_health()).level is Level.FAULT


class Blank:
    """A camera that shows a bare table, and its time."""

    name, width_px, height_px, fps = "blank", 1280, 720, 120.0

    def __init__(self, exposure_us: int | None = None) -> None:
        self.exposure_us = exposure_us
        self.time_us = 0

    def now_us(self) -> int:
        return self.time_us

    def wait(self, time_us: int) -> None:
        self.time_us += time_us

    def poll(self) -> list[SimpleNamespace]:
        image = np.full((self.height_px, self.width_px, 3), 120, np.uint8)
        return [SimpleNamespace(index=0, timestamp_us=self.time_us, image=image)]

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("has_mb", "level"), [(8000, Level.OK), (1000, Level.WARNING)])
def test_the_memory_that_a_shot_takes_is_told(
    monkeypatch: pytest.MonkeyPatch, has_mb: int, level: Level
) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": has_mb * 1000, "SC_PAGE_SIZE": 1000}.__getitem__)
    camera, settings = Blank(), Settings()
    findings = {f.part: f for f in camera_health(camera, camera, camera.wait, settings)}  # type: ignore[arg-type]
    ring = ring_for(camera, settings)  # type: ignore[arg-type]
    assert findings["memory"].level is level
    assert f"up to {ring.most_bytes // 1_000_000} MB" in findings["memory"].found
    clip_s = settings.camera.clip_before_s + settings.camera.clip_after_s
    assert ring.most_frames >= clip_s * camera.fps


@pytest.mark.parametrize(
    ("told_us", "asked_us", "level", "says"),
    [
        pytest.param(None, 1000, None, "", id="it says nothing"),
        pytest.param(1000, None, Level.OK, "1000 us", id="short, as it chose"),
        pytest.param(8300, None, Level.WARNING, "smears over 83 mm", id="long, as it chose"),
        pytest.param(1100, 1000, Level.OK, "1100 us", id="about as asked"),
        pytest.param(8300, 1000, Level.WARNING, "8300 us, 1000 us were asked for", id="other than asked"),
        pytest.param(4000, 4000, Level.OK, "4000 us", id="long, as asked"),
    ],
)
def test_an_exposure_is_held_against_what_was_asked_for(
    told_us: int | None, asked_us: int | None, level: Level | None, says: str
) -> None:
    camera = Blank(told_us)
    settings = Settings(camera=CameraSettings(exposure_us=asked_us))
    findings = {f.part: f for f in camera_health(camera, camera, camera.wait, settings)}  # type: ignore[arg-type]
    if level is None:
        assert "exposure" not in findings
        return
    assert (findings["exposure"].level, says in findings["exposure"].found) == (level, True)


@pytest.mark.parametrize(
    ("says_fps", "level"), [(30.0, Level.WARNING), (48.0, Level.OK), (50.0, Level.OK), (60.0, Level.WARNING)]
)
def test_a_camera_that_is_faster_than_it_says_is_told_and_so_is_a_slower_one(
    says_fps: float, level: Level
) -> None:
    camera = Blank()
    camera.fps = says_fps  # and gives 50
    settings = Settings(camera=CameraSettings(fps=says_fps))
    findings = {f.part: f for f in camera_health(camera, camera, camera.wait, settings)}  # type: ignore[arg-type]
    assert findings["camera rate"].level is level
    assert findings["camera rate"].found.startswith("50 pictures a second")


@pytest.mark.parametrize(
    ("source", "delay_us", "is_told"), [("0", 0, True), ("0", 18_000, False), ("twin", 0, False)]
)
def test_a_camera_whose_delay_is_not_learnt_is_told(source: str, delay_us: int, is_told: bool) -> None:
    camera, asked = Blank(), CameraSettings(source=source, delay_us=delay_us)
    settings = Settings(camera=asked, port=Port(url="twin" if source == "twin" else "/dev/ttyACM0"))
    findings = {f.part: f for f in camera_health(camera, camera, camera.wait, settings)}  # type: ignore[arg-type]
    assert ("delay" in findings) is is_told


@pytest.mark.parametrize("member", wire.Input)
def test_every_input_is_told_and_one_that_stands_wrong_says_what_to_do(member: wire.Input) -> None:
    ready = wire.Input.ESTOP_OK | wire.Input.KEY_ON | wire.Input.LANE_CLEAR
    assert [finding.level for finding in inputs_health(ready)] == [Level.OK] * len(wire.Input)
    wrong = [finding for finding in inputs_health(ready ^ member) if finding.level is not Level.OK]
    assert [finding.part for finding in wrong] == [INPUTS[member].part]
    assert wrong[0].todo


def test_resets_and_faults_that_the_chip_tells_are_warnings() -> None:
    identity = Identity(1, 0, 1, 0, wire.Board.UNO, wire.ResetCause.BROWN_OUT, 0, 0, 0)
    faults = frozenset({wire.Fault.BROWN_OUT, wire.Fault.STUCK_GATE})
    status = Status(wire.State.SAFE, wire.Cause.RESET, wire.Input(0), Moving(0), faults, 0, 0, 0, 0)
    told = list(firmware_health(identity, status))
    assert [finding.level for finding in told] == [Level.OK] + [Level.WARNING] * 3
    assert "power supply" in told[1].todo
    assert wire.says(wire.Fault.STUCK_GATE) in str(told[2]) + str(told[3])

"""What is said of the computer: room on the disk, clock, date; and of what the chip tells."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import painted_table as painted
import pytest
from fading_spring import fading
from numpy.typing import NDArray
from painted_settings import settings_of

from rig import health
from rig.calibrating.calibration_file import write_calibration
from rig.camera_health import camera_health
from rig.eye import ring_for
from rig.health import (
    INPUTS,
    Finding,
    Level,
    clock_health,
    disk_health,
    firmware_health,
    history_health,
    inputs_health,
    learnt_health,
)
from rig.link import wire
from rig.link.history import Remembered
from rig.link.messages import HistoryEntry, Identity, Moving, Status
from rig.settings import Camera as CameraSettings
from rig.settings import Cannon, Log, Port, Settings


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
        (20_000_000, Level.FAULT, "room for 1 shot of"),
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


def test_the_folder_one_is_in_has_a_name_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    findings = {finding.part: finding.found for finding in disk_health(Settings())}
    assert findings["log"].startswith("this folder can be written to")
    assert findings["recordings"].startswith("recordings can be written to")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: path.mkdir(), "found a folder, expected a log file"),
        (lambda path: path.write_text("shots fired: 3\n"), "this is no log"),
    ],
)
def test_a_log_that_no_shot_could_be_kept_in_is_told(
    tmp_path: Path, make: Callable[[Path], object], says: str
) -> None:
    settings = settings_in(tmp_path)
    make(Path(settings.log.path))
    told = [finding for finding in disk_health(settings) if finding.part == "log"]
    assert (told[0].level, says in str(told[0])) == (Level.FAULT, True)


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


def test_room_is_told_anew_where_the_cameras_own_pictures_take_more_than_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Grainy(Blank):
        def poll(self) -> list[SimpleNamespace]:
            noise = np.random.default_rng(self.time_us).normal(0, 5, (self.height_px, self.width_px, 3))
            image = np.clip(120 + noise, 0, 255).astype(np.uint8)
            return [SimpleNamespace(timestamp_us=self.time_us, image=image)]

    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=800_000_000))
    settings = settings_in(tmp_path)
    before = [f for f in disk_health(settings) if f.part == "recordings"]
    assert [f.level for f in before] == [Level.OK] and "room for 40 shots of 20 MB" in before[0].found
    for camera, levels in ((Grainy(), [Level.WARNING]), (Blank(), [])):
        told = [
            f
            for f in camera_health(camera, camera, camera.wait, settings)  # type: ignore[arg-type]
            if f.part == "recordings"
        ]
        assert [f.level for f in told] == levels
        for finding in told:
            assert re.match(
                r"a picture as this camera gives it takes \d+ KB, with room for [123]\d shots of",
                finding.found,
            )
            assert "make room for the 40 of a battle" in finding.todo


def test_a_date_that_cannot_be_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(now=lambda zone: datetime(1970, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(health, "datetime", now)
    findings = {finding.part: finding for finding in clock_health()}
    assert findings["date"].level is Level.WARNING and "set the computer's clock" in findings["date"].todo
    assert findings["clock"].level is Level.OK


def test_a_date_that_can_be_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(now=lambda zone: datetime(2026, 3, 1, 20, 15, tzinfo=UTC))
    monkeypatch.setattr(health, "datetime", now)
    assert list(clock_health())[1] == Finding(Level.OK, "date", "2026-03-01 20:15 UTC")


def test_a_clock_that_runs_backward_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter(range(10_000, 0, -1))
    monkeypatch.setattr(health.time, "monotonic_ns", lambda: next(readings))
    assert next(clock_health()).level is Level.FAULT


class Blank:
    """A camera that shows a bare table, and its time."""

    name, width_px, height_px, fps = "blank", 1280, 720, 120.0
    most_waiting = 0

    def __init__(self, exposure_us: int | None = None) -> None:
        self.exposure_us = exposure_us
        self.time_us = 0

    def now_us(self) -> int:
        return self.time_us

    def wait(self, time_us: int) -> None:
        self.time_us += time_us

    def poll(self) -> list[SimpleNamespace]:
        image = np.full((self.height_px, self.width_px, 3), 120, np.uint8)
        return [SimpleNamespace(timestamp_us=self.time_us, image=image)]

    def close(self) -> None:
        pass


VIEW = painted.view()


class Painted(Blank):
    """A camera over a painted table."""

    name, width_px, height_px = "painted", VIEW.width_px, VIEW.height_px

    def __init__(self, image: NDArray[np.uint8]) -> None:
        super().__init__()
        self.image = image

    def poll(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(timestamp_us=self.time_us, image=self.image)]


def seen_by(camera: Blank, **asked: object) -> dict[str, Finding]:
    """What is said of a camera over a table with the painted markers; keyword arguments are of `[camera]`."""
    settings = settings_of(VIEW, **asked)
    return {f.part: f for f in camera_health(camera, camera, camera.wait, settings)}  # type: ignore[arg-type]


def without_markers(*covered: int) -> NDArray[np.uint8]:
    """A picture of the table with some of its markers covered."""
    left = {number: at for number, at in painted.MARKERS.centres_mm.items() if number not in covered}
    return painted.Table(VIEW, markers=replace(painted.MARKERS, centres_mm=left)).paint()


def test_a_camera_that_sees_the_board_and_its_markers_is_well() -> None:
    findings = seen_by(Painted(without_markers()))
    for part in ("camera", "board", "markers"):
        assert findings[part].level is Level.OK
    assert findings["camera"].found == "painted opens and gives 960 x 540 px"
    assert findings["markers"].found == "all 4 are seen"


@pytest.mark.parametrize("asked", [{"width_px": 1280}, {"height_px": 720}])
def test_a_camera_that_gives_another_size_than_was_asked_for_is_told(asked: dict[str, int]) -> None:
    wanted = {"width_px": 960, "height_px": 540} | asked
    found = seen_by(Painted(without_markers()), **asked)["camera"]
    assert (found.level, found.found) == (Level.WARNING, "it gives 960 x 540 px")
    assert found.todo.startswith(f"{wanted['width_px']} x {wanted['height_px']} was asked for")


def test_markers_that_are_not_seen_are_named() -> None:
    findings = seen_by(Painted(without_markers(1, 2)))
    assert findings["board"].level is Level.OK
    assert findings["markers"].level is Level.WARNING
    assert findings["markers"].found == "1, 2 not seen or not where they should lie"


def test_a_board_whose_lines_are_not_seen_is_told_to_be_known_only_roughly() -> None:
    picture = without_markers(0)
    corners_mm = np.array([(-6.0, -6, 0), (366, -6, 0), (366, 816, 0), (-6, 816, 0)])
    cv2.fillPoly(picture, [VIEW.project(corners_mm).astype(np.int32)], (90, 90, 90))
    found = seen_by(Painted(picture))["board"]
    assert found.level is Level.WARNING
    assert "the board's lines are not seen" in found.found
    assert found.todo.startswith("more markers")


def test_a_board_of_which_a_part_is_outside_the_picture_is_a_fault() -> None:
    aside = replace(VIEW, translation_mm=VIEW.translation_mm - (200.0, 0.0, 0.0))
    found = seen_by(Painted(painted.Table(aside).paint()))["board"]
    assert found.level is Level.FAULT
    assert found.found.startswith("part of the board is outside the picture, A01-A")


@pytest.mark.parametrize(
    ("every_us", "told"), [(1_000_000, "3 pictures in 3 s"), (2_000_000, "1 picture in 3 s")]
)
def test_a_camera_that_gives_hardly_a_picture_is_a_fault_and_nothing_more_is_said_of_it(
    every_us: int, told: str
) -> None:
    class Slow(Painted):
        def poll(self) -> list[SimpleNamespace]:
            return super().poll() if self.time_us % every_us == 0 else []

    findings = seen_by(Slow(without_markers()))
    assert list(findings) == ["camera"]
    assert (findings["camera"].level, findings["camera"].found) == (Level.FAULT, told)


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


def test_the_memory_of_what_waits_in_the_camera_is_told_with_a_shots() -> None:
    camera, waits = Blank(), Blank()
    waits.most_waiting = 241
    plain, both = (
        {f.part: f.found for f in camera_health(each, each, each.wait, Settings())}["memory"]  # type: ignore[arg-type]
        for each in (camera, waits)
    )
    assert "wait" not in plain
    assert "at the most and 241 that wait in the camera" in both
    more_mb = int(both.split()[-2]) - int(plain.split()[-2])
    assert more_mb == pytest.approx(241 * 1280 * 720 * 3 / 1e6, abs=1)


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
    ("late_us", "level", "says"),
    [
        pytest.param(lambda k: 0, Level.OK, "its pictures come evenly", id="evenly"),
        pytest.param(lambda k: 3000 * (k % 3), Level.OK, "stamped 2.4 ms too early or late", id="in packets"),
        pytest.param(
            lambda k: 37 * k * k, Level.WARNING, "its pictures come unevenly", id="ever more slowly"
        ),
    ],
)
def test_how_evenly_a_cameras_pictures_come_is_told(
    late_us: Callable[[int], int], level: Level, says: str
) -> None:
    class Wavering(Blank):
        def poll(self) -> list[SimpleNamespace]:
            (frame,) = super().poll()
            frame.timestamp_us += late_us(self.time_us // 20_000)
            return [frame]

    camera, settings = Wavering(), Settings()
    findings = {f.part: f for f in camera_health(camera, camera, camera.wait, settings)}  # type: ignore[arg-type]
    assert findings["camera pace"].level is level
    assert says in findings["camera pace"].found


@pytest.mark.parametrize(
    ("every_us", "fps", "level"), [(100_000, "10", Level.WARNING), (200_000, "5.0", Level.FAULT)]
)
def test_a_camera_too_slow_for_any_shot_to_be_judged_is_a_fault(
    every_us: int, fps: str, level: Level
) -> None:
    class Dim(Blank):
        def poll(self) -> list[SimpleNamespace]:
            return super().poll() if self.time_us % every_us == 0 else []

    camera, settings = Dim(), Settings()
    findings = {f.part: f for f in camera_health(camera, camera, camera.wait, settings)}  # type: ignore[arg-type]
    assert findings["camera rate"].level is level
    assert findings["camera rate"].found.startswith(f"{fps} pictures a second")


@pytest.mark.parametrize(
    ("source", "delay_us", "is_told"), [("0", 0, True), ("0", 18_000, False), ("twin", 0, False)]
)
def test_a_camera_whose_delay_is_not_learnt_is_told(source: str, delay_us: int, is_told: bool) -> None:
    camera, asked = Blank(), CameraSettings(source=source, delay_us=delay_us)
    settings = Settings(camera=asked, port=Port(url="twin" if source == "twin" else "/dev/ttyACM0"))
    findings = {f.part: f for f in camera_health(camera, camera, camera.wait, settings)}  # type: ignore[arg-type]
    assert ("delay" in findings) is is_told


@pytest.mark.parametrize(
    ("text", "todo"),
    [
        (None, "make it: rig calibrate range"),
        ('{"format": "cannon-calibration/0"}', "move it away and make it anew: rig calibrate range"),
    ],
)
def test_a_calibration_that_cannot_be_used_is_told_with_a_way_out_that_is_open(
    tmp_path: Path, text: str | None, todo: str
) -> None:
    """`rig calibrate range` writes over no file that may be somebody's work, as one of another version."""
    path = tmp_path / "calibration.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    (found,) = learnt_health(
        Settings(cannon=Cannon(calibration=str(path)), log=Log(recordings=str(tmp_path)))
    )
    assert (found.level, found.todo) == (Level.FAULT, f"name another in rig.toml, or {todo}")


@pytest.mark.parametrize(
    ("sd", "shots_fired", "level", "says"),
    [
        (1e-5, 224, Level.OK, "aimed for 8.95 m/s"),
        (1e-4, 224, Level.WARNING, "too little known: calibrate anew"),
        (1e-5, 5024, Level.WARNING, "more than that can tell"),
        (1e-5, None, Level.WARNING, "is not known"),
    ],
)
def test_a_spring_that_fades_is_told_with_how_worn_it_is(
    tmp_path: Path, sd: float, shots_fired: int | None, level: Level, says: str
) -> None:
    write_calibration(tmp_path / "c.json", fading(sd=sd), [], shots_fired=shots_fired)
    settings = settings_in(tmp_path).model_copy(
        update={
            "cannon": Cannon(calibration=str(tmp_path / "c.json")),
            "port": Port(url="/dev/ttyACM0"),
        }
    )
    _, spring = learnt_health(settings)
    assert (spring.level, spring.part) == (level, "spring")
    assert says in spring.found


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


def test_what_the_cannon_remembers_is_told_and_what_a_reset_cut_off() -> None:
    refused, reason = wire.HistoryKind.REFUSED, wire.Refusal.LANE_NOT_CLEAR
    entry = HistoryEntry(8, refused, reason, wire.Command.ARM, 0, 2_500_000)
    assert list(history_health([Remembered(7, None), Remembered(8, entry)])) == [
        Finding(Level.OK, "noted 7", "what it noted then was cut off by a reset"),
        Finding(Level.OK, "noted 8", "at 2.500000 s: arm was refused: the lane is not clear"),
    ]

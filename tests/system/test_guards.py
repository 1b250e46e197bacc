"""On the twin: a shot is refused while something is wrong over the table, and held where that happens during it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from small_twin import SMALL_TWIN

from game.montecassino import Cause, Side, parse_squares
from rig.cli import main
from rig.log import Fired, Stage, open_log
from twin.pictures.camera import Camera, CameraFaults, CameraSettings
from twin.pictures.optics import Lens
from twin.table import Table, TableFaults, TableSettings
from vision.guards import Trouble
from vision.reading import ShotReading, read_shot
from vision.scene import MarkerMap, Scene

FAULTS = {
    "hand": ("[twin.table.faults]\nhand_at_us = 3_000_000\nhand_mm = [120.0, 500.0]", "over the table"),
    "hand that lies there before the table is read": (
        "[twin.table.faults]\nhand_at_us = 0\nhand_mm = [120.0, 500.0]",
        "lies over the board that is no soldier",
    ),
    "bump": ("[twin.camera.faults]\nbump_at_us = 3_000_000", "was moved by"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_happens_while_the_lever_is_drawn_stops_the_shot(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made, said = FAULTS[fault]
    Path("rig.toml").write_text(f"{SMALL_TWIN.format(seed=3)}\n{made}\n", encoding="utf-8")
    assert main(["shoot", "G-53"]) == 1
    loaded, line = capsys.readouterr().err.splitlines()
    assert loaded.startswith("rig: a shot is still seated in the muzzle: take it out")
    assert "lane is not clear" in line
    assert said in line
    with open_log(Path("rig-log.sqlite"), create=False) as log:
        (shot,) = log.shots()
    assert shot.fired is Fired.NO
    assert Stage.COCKED in {entry.stage for entry in shot.history}
    assert Stage.ARMED not in {entry.stage for entry in shot.history}


@pytest.mark.parametrize("rate", ["fps = 5.0\nclip_before_s = 0.3", "fps = 30.0\nclip_before_s = 0.05"])
def test_no_shot_is_fired_that_too_few_pictures_would_show_to_be_judged(
    rate: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    slow = SMALL_TWIN.format(seed=3).replace("fps = 60.0", rate)
    Path("rig.toml").write_text(slow, encoding="utf-8")
    assert main(["shoot", "G-53"]) == 2
    found, needed = ("5.0", "8.6") if "5.0" in rate else ("30.0", "40")
    assert capsys.readouterr().err.startswith(
        f"rig: camera twin: {found} pictures a second come, and at least {needed} are needed for a shot to be judged."
    )
    with open_log(Path("rig-log.sqlite"), create=False) as log:
        assert list(log.shots()) == []


@cache
def filmed(*, camera: CameraFaults | None = None, table: TableFaults | None = None) -> ShotReading:
    """A shot on the twin's table, filmed small, and read."""
    lens = Lens(width_px=640, height_px=360, focal_px=780.0)
    stands = {square: square.field for square in parse_squares("A01-A08,G49,G50,G57")}
    there = Table(TableSettings(faults=table or TableFaults()), stands, seed=4)
    eye = Camera(
        CameraSettings(fps=60.0, lens=lens, faults=camera or CameraFaults()),
        there,
        seed=4,
        soldiers=len(stands),
    )
    try:
        eye.advance(FIRE_US)
        there.launch((200.0, -25.0, 45.0), 0.0, -0.05, 8.0, FIRE_US)
        eye.advance(FIRE_US + 600_000)
        frames = eye.poll()
        markers = eye.markers
        assert markers is not None
        scene = Scene(
            square_mm=45.0,
            cannon_side=Side.A,
            fps=60.0,
            markers=MarkerMap(
                markers["dictionary"],
                markers["size_mm"],
                {int(n): tuple(c) for n, c in markers["centres_mm"].items()},
            ),
            intrinsics=tuple(eye.intrinsics),  # type: ignore[arg-type]
            muzzle_mm=(200.0, -25.0, 45.0),
            expected=stands,
            exposure_us=1000,
            fire_us=FIRE_US,
        )
        reading = read_shot(
            [frame.image for frame in frames], [frame.timestamp_us for frame in frames], scene
        )
    finally:
        eye.close()
    assert isinstance(reading, ShotReading), reading
    return reading


FIRE_US = 200_000
DURING: dict[str, tuple[dict[str, object], Trouble | None]] = {
    "nothing": ({}, None),
    "hand": ({"table": TableFaults(hand_at_us=FIRE_US + 300_000, hand_mm=(120.0, 300.0))}, Trouble.HAND),
    "hand all the while": ({"table": TableFaults(hand_at_us=0, hand_mm=(120.0, 300.0))}, Trouble.HAND),
    "bump": ({"camera": CameraFaults(bump_at_us=FIRE_US + 300_000)}, Trouble.BUMP),
    "cap": (
        {"camera": CameraFaults(cap_on_at_us=FIRE_US + 300_000, cap_off_at_us=FIRE_US + 450_000)},
        Trouble.COVERED,
    ),
    "shake and flicker": ({"camera": CameraFaults(shake_px=1.5, flicker=0.08)}, None),
}


@pytest.mark.parametrize("happens", DURING)
def test_what_happens_during_a_shot_holds_its_ruling_and_nothing_else_does(happens: str) -> None:
    faults, trouble = DURING[happens]
    reading = filmed(**faults)  # type: ignore[arg-type]
    assert [alarm.trouble for alarm in reading.alarms] == ([] if trouble is None else [trouble])
    if trouble is not None:
        assert all(Cause.OTHER in fall.possible for fall in reading.falls)


@pytest.mark.parametrize("bump_mm", [(14.0, -9.0), (-30.0, 12.0)])
def test_after_a_bump_the_board_is_placed_anew_and_the_shot_is_read_as_without_it(
    bump_mm: tuple[float, float],
) -> None:
    plain = filmed()
    bumped = filmed(camera=CameraFaults(bump_at_us=FIRE_US + 300_000, bump_mm=bump_mm))
    assert plain.falls
    assert [(f.toppling.soldier.square, f.cause) for f in bumped.falls] == [
        (f.toppling.soldier.square, f.cause) for f in plain.falls
    ]
    assert [push.soldier.square for push in bumped.pushes] == [push.soldier.square for push in plain.pushes]
    (alarm,) = bumped.alarms
    assert "ms after the release" in alarm.reason

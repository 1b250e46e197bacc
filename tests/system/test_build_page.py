"""docs/build.md says what the code says: pins, frame, arithmetic, and drawings that are drawn anew."""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType

import pytest

from rig.settings import Settings
from twin import TwinSettings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/build.md").read_text(encoding="utf-8")
GRAVITY_MPS2 = 9.80665


@pytest.fixture(scope="module")
def drawings() -> ModuleType:
    spec = importlib.util.spec_from_file_location("drawings", ROOT / "docs/drawings/__main__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_drawing_is_what_its_program_draws(drawings: ModuleType, tmp_path: Path) -> None:
    drawings.main(tmp_path)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in (ROOT / "docs/drawings").glob("*.svg")}
    assert sorted(drawn) == sorted(kept)
    for name, data in drawn.items():
        assert data == kept[name], f"{name}: draw it anew with: python docs/drawings"
        assert f"](drawings/{name})" in PAGE


def test_the_pin_map_is_the_firmwares(drawings: ModuleType) -> None:
    shown = dict(re.findall(r"^\| ([AD]\d+) \| `(\w+)` \|$", PAGE, re.MULTILINE))
    assert shown == {pin: name.lower() for name, pin in drawings.pins().items()}
    wiring = (ROOT / "docs/wiring.md").read_text(encoding="utf-8")
    for pin in shown:
        assert re.search(rf"^\| {pin} \|", wiring, re.MULTILINE), f"docs/wiring.md does not have {pin}"


def test_every_pin_is_drawn() -> None:
    svg = (ROOT / "docs/drawings/wiring-signals.svg").read_text(encoding="utf-8")
    for pin in re.findall(r"^\| ([AD]\d+) \| `\w+` \|$", PAGE, re.MULTILINE):
        assert f">{pin}<" in svg


def test_the_frame_is_the_settings_own() -> None:
    cannon = Settings().cannon
    for key in ("strip_offset_mm", "muzzle_height_mm", "barrel_length_mm", "gate_spacing_mm"):
        assert f"| `{key}` | {getattr(cannon, key):g} |" in PAGE
    left_mm, right_mm = cannon.traverse.ends_mm()
    assert (
        f"| `traverse` | {left_mm:.0f} to {right_mm:.0f} mm, home at {cannon.traverse.centre_mm:g} mm |"
        in PAGE
    )
    for name, home_rad in (("azimuth", 0.0), ("elevation", cannon.elevation.centre_rad)):
        axis = getattr(cannon, name)
        low, high = (
            math.degrees(home_rad + (us - axis.centre_us) / axis.us_per_rad)
            for us in (axis.min_us, axis.max_us)
        )
        assert f"| `{name}` | {low:.0f} to {high:.0f} degrees, home".replace("| -", "| −") in PAGE


def test_the_servos_torque_follows_from_the_spring() -> None:
    spring = TwinSettings().plant.spring
    force_kgf, stroke_mm = spring.draw_force_kgf, spring.draw_mm
    radius_mm = stroke_mm / (math.pi / 2)
    torque_kgfcm = force_kgf * radius_mm / 10
    needed_kgfcm = torque_kgfcm * 1.5 / 0.4
    assert f"{force_kgf} kgf × 9.80665 m/s² = {force_kgf * GRAVITY_MPS2:.1f} N" in PAGE
    assert f"{stroke_mm:g} mm ÷ (π ÷ 2) = {radius_mm:.1f} mm" in PAGE
    assert f"= {torque_kgfcm:.1f} kgf·cm ({torque_kgfcm * GRAVITY_MPS2 / 100:.2f} N·m)" in PAGE
    assert f"× 1.5 = {torque_kgfcm * 1.5:.1f} kgf·cm" in PAGE
    assert f"÷ 0.4 = {needed_kgfcm:.1f} kgf·cm" in PAGE
    assert f"**{math.ceil(needed_kgfcm)} kgf·cm or more at 6 V**" in PAGE
    assert f"÷ 2 = {force_kgf * GRAVITY_MPS2 * stroke_mm / 2000:.2f} J" in PAGE


def test_what_is_said_of_the_shot_holds() -> None:
    assert f"1 degree is {6500 * math.tan(math.radians(1)):.0f} mm at 6.5 m" in PAGE
    assert f"blocks one for {6 / 10:.1f} ms" in PAGE

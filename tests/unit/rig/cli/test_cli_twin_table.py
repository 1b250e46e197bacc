"""The [twin] table: every key that a twin has, nothing else, and the twin's own defaults for the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from game.montecassino import Position, Side
from rig.cli import main
from rig.cli.opening.twin_table import twin_settings, twin_text
from rig.settings import Settings, SettingsError, parse_settings
from rig.settings_text import settings_text
from twin import TwinSettings
from twin.pictures.look import Marker

_POSITION = Position.parse("G A01-A24 G25-G48 0/0 20/20 -")


def _twin(text: str) -> TwinSettings:
    return twin_settings(parse_settings(text), _POSITION)


def _faults(text: str) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        _twin(text)
    return [str(fault) for fault in refused.value.faults]


def test_without_a_table_the_twin_is_as_it_comes_with_the_position_set_up() -> None:
    twin = _twin("")
    assert twin == TwinSettings(soldiers=_POSITION.soldiers, side=Side.G)


def test_what_is_not_given_keeps_the_twins_own_default() -> None:
    """The traverse has another backlash than servos at large; jamming it must not change that."""
    default = TwinSettings().plant
    traverse = _twin("[twin.plant.traverse]\nstuck = true").plant.traverse
    assert traverse.stuck
    assert traverse.backlash_us == default.traverse.backlash_us != default.azimuth.backlash_us


def test_nested_keys_lists_and_tables_in_lists_arrive() -> None:
    twin = _twin(
        "[twin]\nseed = 5\nplant.loader.jams = [1, 4]\ncamera.look.board = 'baize'\n"
        "[[twin.resets]]\nat_us = 9\ncause = 2\n"
    )
    assert twin.seed == 5
    assert twin.plant.loader.jams == (1, 4)
    assert twin.camera.look.board == "baize"
    assert [(reset.at_us, reset.cause) for reset in twin.resets] == [(9, 2)]


def test_everything_wrong_is_said_at_once() -> None:
    assert _faults(
        "[twin]\nsed = 4\nside = 'A'\nline = 3\nplant.spring.speed_scater = 2\ncamera.faults.stall_at_us = 1.5\n"
        "camera.look.uniform_a = [1, 2]\ncamera.look.lamps = {}"
    ) == [
        "twin.plant.spring.speed_scater: found a key that nothing reads, expected a key of twin.plant.spring"
        " (did you mean speed_scatter?)",
        "twin.line: found 3, expected a table, [twin.line]",
        "twin.camera.look.uniform_a: found [1, 2], expected a list of at least 3 items",
        "twin.camera.look.lamps: found {}, expected a list (each table of it begins with [[twin.camera.look.lamps]])",
        "twin.camera.faults.stall_at_us: found 1.5, expected a whole number",
        "twin.sed: found a key that nothing reads, expected a key of twin (did you mean seed?)",
        "twin.side: found a key that nothing reads, expected a key of twin"
        " (it comes from the turn in [game] position)",
    ]


def test_what_the_twin_itself_refuses_is_named_with_its_table() -> None:
    faults = _faults("[twin]\nplant.traverse.slew_us_per_s = -1.0\n[[twin.resets]]\nat_us = -5\ncause = 2\n")
    assert [fault.partition(": found ")[0] for fault in faults] == ["twin.plant.traverse", "twin.resets[1]"]
    assert "slew_us_per_s" in faults[0]
    assert "at_us" in faults[1]


def test_markers_of_the_file_are_the_twins_own_and_those_that_no_table_has_are_named() -> None:
    text = "[[twin.camera.look.markers]]\nnumber = 3\ncentre_mm = [{x}, 0]\n"
    assert _twin(text.format(x=20)).camera.look.markers == (Marker(number=3, centre_mm=(20, 0)),)
    (fault,) = _faults(text.format(x=20) + text.format(x=1e8).replace("3", "4"))
    assert fault.startswith("twin.camera.look.markers[2]: found settings that do not fit")
    assert fault.endswith("centre_mm has 1e+08, expected -10000 to 10000")


_LAMP = "[[twin.camera.look.lamps]]\nposition_mm = [0, 400, {height}]\ncolour = [0.5, 0.5, {blue}]\n"


def test_of_a_list_every_lamp_that_cannot_be_is_named_by_its_number() -> None:
    lamps = [(1500, 0.5), (-3, 0.5), (1500, 50)]
    faults = _faults("".join(_LAMP.format(height=height, blue=blue) for height, blue in lamps))
    refused = "found settings that do not fit, expected what a twin can be: "
    assert faults == [
        f"twin.camera.look.lamps[2]: {refused}position_mm has -3 for its height, expected more than 0",
        f"twin.camera.look.lamps[3]: {refused}colour has 50, expected 0 to 10",
    ]


_LARGER_SHOT = "[cannon]\ngate_spacing_mm = {spacing}\n[twin.plant.gate]\nshot_diameter_mm = {shot}\nfirst_stuck = true\n"


def test_what_does_not_fit_the_rest_of_the_file_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = _LARGER_SHOT.format(spacing=10, shot=15)
    fault = (
        "twin.plant.gate: found settings that do not fit, expected what a twin can be: spacing_mm is 10, "
        "expected 15 or more"
    )
    assert _faults(text) == [fault]
    monkeypatch.chdir(tmp_path)
    Path("rig.toml").write_text(text)
    assert main(["check"]) == 2
    assert capsys.readouterr().err == f"rig.toml: {fault}\n"


def test_what_fits_the_rest_of_the_file_need_not_fit_the_twins_own_table() -> None:
    gate = _twin(_LARGER_SHOT.format(spacing=30, shot=25)).plant.gate
    assert (gate.spacing_mm, gate.shot_diameter_mm, gate.first_stuck) == (30, 25, True)


def test_a_lens_that_folds_the_picture_back_is_a_fault() -> None:
    """Drawn, its picture grew to many times the sensor's."""
    folds = "found [0.0, 0.0, -0.9, 0.0, 0.0], with which the picture folds back 289 px from its middle"
    assert _faults("[twin]\ncamera.lens.p1 = -0.9") == [
        f"twin.camera.lens.distortion: {folds}, "
        "expected p1 and p2 of a lens that sees as far as the picture's corners, 734 px from it"
    ]
    (fault,) = _faults("[twin]\ncamera.lens.k1 = -5.0")
    assert fault.startswith("twin.camera.lens.distortion: found [-5.0, 0.0, 0.0, 0.0, 0.0], with which")
    assert _twin("[twin]\ncamera.lens.k1 = -0.3\ncamera.lens.p1 = 0.002").camera.lens.p1 == 0.002


def test_numbers_that_no_table_has_are_faults_however_large() -> None:
    faults = _faults(
        f"[twin]\nchip.line_baud = {10**400}\ntable.shot.mass_g = 1e300\nattendant.arrives_us = {2**63}"
    )
    assert [fault.partition(": found ")[0] for fault in faults] == [
        "twin.chip.line_baud",
        "twin.table.shot.mass_g",
        "twin.attendant.arrives_us",
    ]
    assert faults[1].endswith("found 1e+300, expected a number of at most 1e+09")


def test_what_a_new_file_says_of_the_twin_is_its_default() -> None:
    text = settings_text(Settings(), twin=twin_text())
    assert twin_settings(parse_settings(text), _POSITION) == _twin("")


def test_what_a_new_file_offers_can_be_uncommented() -> None:
    lines = [line.removeprefix("# ") if " = " in line else line for line in twin_text().splitlines()]
    twin = _twin("\n".join(["[twin]", *lines]))
    assert twin.plant.loader.jams == (3,)
    assert twin.plant.gate.first_stuck


def test_check_names_faults_of_the_twin_beside_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rig.toml").write_text("[port]\nbaud = 3\n[twin]\nsed = 4\n")
    assert main(["check"]) == 2
    assert [line.partition(": found")[0] for line in capsys.readouterr().err.splitlines()] == [
        "rig.toml: port.baud",
        "rig.toml: twin.sed",
    ]

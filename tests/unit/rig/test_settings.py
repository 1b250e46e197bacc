"""`rig.toml`: what is written is read back, and everything wrong is said at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.files.checked_file import Table, validate
from rig.link.wire import SETTING_LIMITS, Setting
from rig.settings import (
    Board,
    Camera,
    Cannon,
    Port,
    Settings,
    SettingsError,
    Traverse,
    Trigger,
    parse_settings,
    read_settings,
)
from rig.settings_text import settings_text


def _faults(text: str) -> dict[str, str]:
    """Give what is wrong with a text: key and the rest of its sentence."""
    with pytest.raises(SettingsError) as refused:
        parse_settings(text)
    faults = {fault.key: str(fault).removeprefix(f"{fault.key}: ") for fault in refused.value.faults}
    assert len(faults) == len(refused.value.faults), "a key is named once"
    return faults


def _tables(model: type[Table], path: str = "") -> Iterator[tuple[str, type[Table]]]:
    yield path, model
    for key, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Table):
            yield from _tables(field.annotation, f"{path}.{key}".lstrip("."))


def test_an_empty_file_is_the_defaults() -> None:
    assert parse_settings("") == Settings()


def test_what_is_written_is_read_back() -> None:
    assert parse_settings(settings_text(Settings())) == Settings()


def test_values_that_have_no_default_are_written_and_read_back() -> None:
    settings = Settings(
        port=Port(url="/dev/ttyACM0"),
        camera=Camera(
            source="http://table:8080/stream",
            exposure_us=1000,
            intrinsics_px=(1600.0, 1601.5, 640.0, 360.0),
            distortion=(-0.1, 0.02, 1e-05, 0.0, 0.0),
        ),
        cannon=Cannon(trigger=Trigger(kind="latch"), loader=True),
        board=Board(square_mm=44.0),
        twin={"seed": 7, "camera": {"noise": 0.5}, "note": 'a "quoted" \\ word'},
    )
    assert parse_settings(settings_text(settings)) == settings


@given(st.text(max_size=40))
def test_any_text_survives_being_written(text: str) -> None:
    settings = Settings(twin={"note": text})
    assert parse_settings(settings_text(settings)).twin == {"note": text}


def test_every_key_has_a_comment_and_an_optional_one_an_example() -> None:
    for path, model in _tables(Settings):
        for key, field in model.model_fields.items():
            is_table = isinstance(field.annotation, type) and issubclass(field.annotation, Table)
            assert is_table or field.description, f"{path}.{key}"
            assert field.default is not None or field.examples or field.default_factory, f"{path}.{key}"


def test_commented_out_examples_are_sound_themselves() -> None:
    text = settings_text(Settings())
    keys = ("exposure_us", "intrinsics_px", "distortion")
    for key in keys:
        assert f"\n# {key} = " in text
        text = text.replace(f"\n# {key} = ", f"\n{key} = ")
    camera = parse_settings(text).camera
    assert all(getattr(camera, key) is not None for key in keys)


def test_every_number_carries_its_unit_in_its_name() -> None:
    units = ("_mm", "_px", "_us", "_s", "_mps", "_rad", "_per_mm", "_per_rad", "_per_s")
    without = {"baud", "fps", "shots", "distortion"}  # bits a second, frames a second, a count, no unit
    for path, model in _tables(Settings):
        for key, field in model.model_fields.items():
            numeric = any(kind in str(field.annotation) for kind in ("int", "float"))
            assert not numeric or key.endswith(units) or key in without, f"{path}.{key}"


def test_everything_wrong_is_said_at_once() -> None:
    assert _faults(
        """
        [port]
        url = 3
        [camera]
        fps = "fast"
        widht = 3
        intrinsics_px = [1, 2, 3]
        [cannon]
        load_s = 50
        sides = ["A", "B"]
        [cannon.traverse]
        min_us = 2000
        max_us = 1000
        [cannon.trigger]
        kind = "solenoyd"
        [game]
        position = "A A01"
        zone_a = "G99"
        [bord]
        """
    ) == {
        "port.url": "found 3, expected a string",
        "camera.fps": 'found "fast", expected a number',
        "camera.widht": "found a key that nothing reads, expected a key of camera (did you mean width_px?)",
        "camera.intrinsics_px": "found [1, 2, 3], expected a list of at least 4 items",
        "cannon.sides[2]": "found \"B\", expected 'A' or 'G'",
        "cannon.load_s": "found 50, expected less than dwell_s, 30: the lever is let down after that",
        "cannon.traverse.max_us": "found 1000, expected a pulse longer than min_us, 2000",
        "cannon.trigger.kind": "found \"solenoyd\", expected 'solenoid' or 'latch' (did you mean 'solenoid'?)",
        "game.position": (
            'found "A A01", expected a position: 2 fields parted by one blank, expected 6:'
            " turn, A soldiers, G soldiers, prisoners, shots left, retreated"
        ),
        "game.zone_a": (
            'found "G99", expected a list of squares, as G25-G72: G-99 is not on the board:'
            " numbers go from 1 to 72"
        ),
        "bord": "found a key that nothing reads, expected a key of the file (did you mean board?)",
    }


@pytest.mark.parametrize(
    ("text", "key", "sentence"),
    [
        ("[board]\nsquare_mm = 4.5", "board.square_mm", "found 4.5, expected a number from 10 to 200"),
        ("[board]\nsquare_mm = inf", "board.square_mm", "found Infinity, expected a number from 10 to 200"),
        ("[camera]\nfps = 1e-9", "camera.fps", "found 1e-09, expected a number from 1 to 1000"),
        ("[camera]\nfps = nan", "camera.fps", "found NaN, expected a number from 1 to 1000"),
        (
            "[camera]\nexposure_us = 20000",
            "camera.exposure_us",
            "found 20000, expected at most 8333: of 120 pictures a second none is exposed for longer",
        ),
        (
            "[camera]\nfps = 200\nreadout_us = 8000",
            "camera.readout_us",
            "found 8000, expected at most 5000: of 200 pictures a second none is read out for longer",
        ),
        ("[camera]\nwidth_px = 1.5", "camera.width_px", "found 1.5, expected a whole number"),
        ("[camera]\nwidth_px = true", "camera.width_px", "found true, expected a whole number"),
        ("[camera]\nheight_px = 12", "camera.height_px", "found 12, expected a number from 120 to 4320"),
        ("[cannon]\ndwell_s = 61.0", "cannon.dwell_s", "found 61.0, expected a number from 1 to 60"),
        ('[cannon]\nloader = "yes"', "cannon.loader", 'found "yes", expected a boolean'),
        ("[cannon]\nsides = []", "cannon.sides", "found [], expected a list of at least 1 item"),
        (
            "[board]\nmarker_centres_mm = {}",
            "board.marker_centres_mm",
            "found {}, expected a table of at least 4 keys",
        ),
        ('[cannon]\nsides = "A"', "cannon.sides", 'found "A", expected a list'),
        ('[cannon]\nsides = ["A", "A"]', "cannon.sides", "found a side twice, expected each side once"),
        ("camera = 3", "camera", "found 3, expected a table, [camera]"),
        (
            "[camera]\nsource = 4294967296",
            "camera.source",
            "found 4294967296, expected a device number up to 9999, a video file or a URL",
        ),
        (
            '[log]\nrecordings = "a\\u0000b"',
            "log.recordings",
            'found "a\\u0000b", expected a name without the character U+0000',
        ),
        (
            "[camera]\ndistortion = [0.1, 0.0, 0.0, 0.0, 0.0]",
            "camera.distortion",
            "found distortion without intrinsics_px, expected both, or neither",
        ),
        (
            "[camera]\nintrinsics_px = [1000.0, 0.0, 600.0, 300.0]",
            "camera.intrinsics_px",
            "found fx 1000, fy 0, expected focal lengths from 144 to 12800 px, for pictures of 1280 x 720 px",
        ),
        (
            "[camera]\nintrinsics_px = [1000.0, 1000.0, 600.0, 300.0]\ndistortion = [0.0, 0.0, 1e5, 0.0, 0.0]",
            "camera.distortion",
            "found [0.0, 0.0, 100000.0, 0.0, 0.0], expected terms of a lens: p1 and p2 up to 1, the others up to 1000 "
            "either way",
        ),
        (
            "[camera]\nintrinsics_px = [900.0, 900.0, 640.0, 360.0]\ndistortion = [-5.0, 0.0, 0.0, 0.0, 0.0]",
            "camera.distortion",
            "found [-5.0, 0.0, 0.0, 0.0, 0.0], with which the picture folds back 155 px from its middle, expected terms of "
            "a lens that sees as far as the picture's rim, 640 px from it",
        ),
        (
            "[camera]\nintrinsics_px = [1560.0, 1560.0, 640.0, 360.0]\ndistortion = [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0]",
            "camera.distortion",
            "found [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0], with which the picture folds back 450 px from its middle, "
            "expected terms of a lens that sees as far as the picture's rim, 640 px from it",
        ),
        (
            "[camera]\nintrinsics_px = [900.0, 900.0, 640.0, 360.0]\ndistortion = [-0.1, 0.0, 0.3, -0.4, 0.0]",
            "camera.distortion",
            "found [-0.1, 0.0, 0.3, -0.4, 0.0], with which the picture folds back 300 px from its middle, expected p1 and p2 "
            "of a lens that sees as far as the picture's corners, 734 px from it",
        ),
        (
            "[board]\nmarker_size_mm = 1.0",
            "board.marker_size_mm",
            "found 1.0, expected a number from 5 to 500",
        ),
        (
            "[camera]\nintrinsics_px = [1000.0, 1000.0, 1300.0, 300.0]",
            "camera.intrinsics_px",
            "found cx 1300.0, cy 300.0, expected a centre inside the picture of 1280 x 720 px",
        ),
        (
            '[camera]\nsource = "0"',
            "camera.source",
            "found '0' with port.url 'twin', expected both `twin`, or neither:"
            " the twin's camera sees the twin's table only",
        ),
        (
            "[board]\nmarker_centres_mm = { 0 = [-40, 0], 1 = [400, 0], 2 = [-40, 800], x = [400, 800] }",
            "board.marker_centres_mm.x",
            "found the name 'x', expected a marker's number, as 0",
        ),
        (
            "[board]\nmarker_centres_mm = { 0 = [-40, 0], 1 = [400, 0], 2 = [-40, 800], 98 = [400, 800] }",
            "board.marker_centres_mm.98",
            "found marker 98, expected a number that it has: DICT_4X4_50 has markers 0 to 49",
        ),
        (
            "[board]\nmarker_size_mm = 36\nmarker_centres_mm = { 0 = [-40, 0], 1 = [400, 0], 2 = [-40, 800], 3 = [-30, 5] }",
            "board.marker_centres_mm.3",
            "found a marker 10 mm from marker 0, expected markers that lie side by side, at least 36 mm apart",
        ),
        (
            "[board]\nmarker_centres_mm = { 0 = [-2.9, 2.4], 1 = [38.9, 2.4], 2 = [-2.9, 78.6], 3 = [38.9, 78.6] }",
            "board.marker_centres_mm",
            "found 0, 1, 2, 3 on the board's squares, expected markers beside them; they reach from 0, 0 to 360, 810 mm"
            " (are they in cm?)",
        ),
        (
            "[port]\nurl = /dev/ttyACM0",
            "line 2, column 7",
            'found "url = /dev/ttyACM0", expected TOML (invalid value; text stands in quotes)',
        ),
        (
            "[board]\nsquare_mm = 45,5  # measured",
            "line 2, column 15",
            'found "square_mm = 45,5  # measured", expected TOML (expected newline or end of document after a statement; '
            "decimals stand behind a point)",
        ),
        (
            "[camera]\nfps = 60\nfps = 120",
            "line 3, column 10",
            'found "fps = 120", expected TOML (cannot overwrite a value)',
        ),
        (
            "\0" * 3000,  # as a disk leaves a file that was being written
            "line 1, column 1",
            'found "' + 19 * r"\u0000" + r"\u000 ..., expected TOML (invalid statement)",
        ),
        (
            "[cannon.elevation]\ncentre_us = 2200",
            "cannon.elevation.centre_us",
            "found 2200, expected a pulse from min_us to max_us, 1000 to 2000",
        ),
        (
            "[cannon.azimuth]\nus_per_rad = 0",
            "cannon.azimuth.us_per_rad",
            "found 0, expected a number other than 0",
        ),
        (
            "[cannon.elevation]\nus_per_rad = -150",
            "cannon.elevation.us_per_rad",
            "found -150, with which the barrel is at -176 and 206 degrees at the ends of its pulses, expected a barrel that stays"
            " within 180 degrees of level and of straight ahead",
        ),
        (
            "[cannon.azimuth]\nus_per_rad = 16.7",
            "cannon.azimuth.us_per_rad",
            "found 16.7, with which the barrel is at -1715 and 1715 degrees at the ends of its pulses, expected a barrel that"
            " stays within 180 degrees of level and of straight ahead (is it for each degree?)",
        ),
        (
            "[cannon.traverse]\nus_per_mm = 0",
            "cannon.traverse.us_per_mm",
            "found 0, expected a number other than 0",
        ),
        (
            "[cannon.traverse]\nus_per_mm = 2.0",
            "cannon.traverse",
            "found limits from -70 to 430 mm along the strip, expected limits inside the board's width,"
            " 0 to 360 mm (C2)",
        ),
        (
            "[cannon.draw]\nbreech_us = 1000",
            "cannon.draw.breech_us",
            "found 1000, expected a pulse other than rest_us",
        ),
        (
            "[cannon.draw]\nease_us_per_s = 1500",
            "cannon.draw.ease_us_per_s",
            "found 1500, expected at most speed_us_per_s, 1000",
        ),
        (
            "[cannon.latch]\nheld_us = 2100",
            "cannon.latch.held_us",
            "found 2100, expected a pulse between free_us and lubricate_us, 1000 and 2000",
        ),
        ("[game]\nshots = 19", "game.position", None),
        (
            '[game]\noption = "iv"',
            "game.option",
            "found \"iv\", expected 'i', 'ii' or 'iii'",
        ),
        (
            "[log]\npaht = 'x'",
            "log.paht",
            "found a key that nothing reads, expected a key of log (did you mean path?)",
        ),
    ],
)
def test_one_fault_is_one_clear_sentence(text: str, key: str, sentence: str | None) -> None:
    if sentence is None:
        with pytest.raises(SettingsError) as refused:
            parse_settings(text)
        assert {fault.key for fault in refused.value.faults} == {key}
    else:
        assert _faults(text) == {key: sentence}


def test_a_device_number_needs_no_quotes() -> None:
    plain = parse_settings('[port]\nurl = "COM3"\n[camera]\nsource = 0')
    assert plain == parse_settings('[port]\nurl = "COM3"\n[camera]\nsource = "0"')


def test_a_conflict_with_a_faulty_key_is_not_made_up() -> None:
    """`dwell_s` cannot be read, so nothing is said about `load_s`, which is held against it."""
    assert set(_faults('[cannon]\nload_s = 50\ndwell_s = "long"')) == {"cannon.dwell_s"}
    assert set(_faults('[port]\nurl = 5\n[camera]\nsource = "0"')) == {"port.url"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[port\nurl = 'x'", "line 1, column 6"),
        ("[port]\nurl = twin", "line 2, column 7"),
        ("[port]\nbaud = 1\nbaud = 2\n", "line 3, column 9"),
        ('[port]\nurl = "twin', "line 2, column 12"),
        ("[camera]\nintrinsics_px = [1.0,", "end of document"),
    ],
)
def test_a_mistake_in_the_toml_is_named_with_its_line(text: str, key: str) -> None:
    faults = _faults(text)
    assert list(faults) == [key]


@given(st.text(max_size=60))
def test_any_text_is_settings_or_a_settings_error(text: str) -> None:
    try:
        parse_settings(text)
    except SettingsError as error:
        assert error.faults
        assert str(error).startswith("rig.toml: ")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)


@given(st.sampled_from([path for path, _ in _tables(Settings)]), st.text(max_size=8), _JSON)
def test_any_value_at_any_place_is_taken_or_named(path: str, key: str, value: object) -> None:
    data: object = {key: value}
    for name in reversed(path.split(".")) if path else ():
        data = {name: data}
    try:
        validate(Settings, data, "rig.toml", SettingsError)
    except SettingsError as error:
        assert all(fault.key and fault.found and fault.expected for fault in error.faults)


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="found nothing, expected a settings file; `rig init` writes one"):
        read_settings(tmp_path / "rig.toml")


def test_a_file_that_is_no_text_says_so(tmp_path: Path) -> None:
    path = tmp_path / "rig.toml"
    path.write_bytes(b"[port]\nurl = '\xff'\n")
    with pytest.raises(SettingsError, match="byte 15: found text that is not UTF-8"):
        read_settings(path)


def test_log_paths_are_taken_from_the_files_folder(tmp_path: Path) -> None:
    path = tmp_path / "rig.toml"
    path.write_text('[log]\npath = "/var/rig.sqlite"\n')
    log = read_settings(path).log
    assert log.path == "/var/rig.sqlite"
    assert log.recordings == str(tmp_path / "recordings")


def test_many_faults_are_counted_in_one_line() -> None:
    with pytest.raises(SettingsError) as refused:
        parse_settings("[port]\nurl = 1\nbaud = 2\nx = 3")
    assert str(refused.value) == "rig.toml: port.url: found 1, expected a string, and 2 more faults"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[cannon]\nload_s = 20\ndwell_s = 20", "cannon.load_s"),
        ("[cannon.azimuth]\nmin_us = 1500\nmax_us = 1500", "cannon.azimuth.max_us"),
        ("[cannon.latch]\nheld_us = 1000", "cannon.latch.held_us"),
        ("[cannon.traverse]\ncentre_mm = 149.9", "cannon.traverse"),  # beyond the board's left end alone
        ("[cannon.traverse]\ncentre_mm = 210.1", "cannon.traverse"),  # beyond its right end alone
    ],
)
def test_what_is_only_just_too_much_is_refused(text: str, key: str) -> None:
    assert set(_faults(text)) == {key}


def test_c2_the_ends_of_the_strip_are_left_and_right_whichever_way_the_servo_turns() -> None:
    for us_per_mm in (4.0, -4.0):
        traverse = Traverse(us_per_mm=us_per_mm, centre_mm=150.0, min_us=1100, max_us=1700)
        assert traverse.ends_mm() == ((50.0, 200.0) if us_per_mm > 0 else (100.0, 250.0))


@pytest.mark.parametrize(
    ("key", "setting", "per_unit"),
    [
        *(
            (f"{axis}.{end}_us", f"{axis}_{end}_ticks", 2)
            for axis in ("traverse", "azimuth", "elevation")
            for end in ("min", "max")
        ),
        ("draw.rest_us", "draw_rest_ticks", 2),
        ("draw.breech_us", "draw_breech_ticks", 2),
        ("latch.free_us", "latch_free_ticks", 2),
        ("latch.lubricate_us", "latch_lubricate_ticks", 2),
        ("azimuth.speed_us_per_s", "azimuth_speed_ticks", 0.04),
        ("draw.speed_us_per_s", "draw_speed_ticks", 0.04),
        ("latch.speed_us_per_s", "latch_speed_ticks", 0.04),
        ("draw.ease_us_per_s", "draw_ease_speed_ticks", 0.04),
        ("trigger.hold_us", "trigger_hold_ms", 0.001),
        ("dwell_s", "dwell_ms", 1000),
        ("loader_hold_us", "loader_hold_ms", 0.001),
    ],
)
def test_what_the_firmware_would_not_take_is_refused_before(key: str, setting: str, per_unit: float) -> None:
    limits = SETTING_LIMITS[Setting[setting.upper()]]
    table, _, name = f"cannon.{key}".rpartition(".")
    for beyond in (round(limits.minimum / per_unit) - 1, round(limits.maximum / per_unit) + 1):
        assert f"cannon.{key}" in _faults(f"[{table}]\n{name} = {beyond}")


def test_each_setting_of_the_cannon_goes_to_the_firmware_under_its_own_name_and_in_its_unit() -> None:
    """Ticks are 0.5 us; speeds are ticks in a frame of 20 ms."""
    cannon = parse_settings("""
[cannon]
dwell_s = 29.5
load_s = 12
loader = true
loader_hold_us = 250_000
traverse = { min_us = 1010, max_us = 1990, centre_us = 1510, speed_us_per_s = 400 }
azimuth = { min_us = 1020, max_us = 1980, centre_us = 1520, speed_us_per_s = 425 }
elevation = { min_us = 1030, max_us = 1970, centre_us = 1530, speed_us_per_s = 450 }
draw = { rest_us = 1040, breech_us = 1960, speed_us_per_s = 900, ease_us_per_s = 325 }
latch = { free_us = 1050, held_us = 1550, lubricate_us = 1950, speed_us_per_s = 2400 }
trigger = { kind = "latch", hold_us = 35_000 }
""").cannon
    values = {
        "draw_rest_ticks": 2080,
        "draw_breech_ticks": 3920,
        "draw_speed_ticks": 36,
        "draw_ease_speed_ticks": 13,
        "latch_free_ticks": 2100,
        "latch_held_ticks": 3100,
        "latch_lubricate_ticks": 3900,
        "latch_speed_ticks": 96,
        "trigger_kind": 1,
        "trigger_hold_ms": 35,
        "dwell_ms": 29_500,
        "loader_present": 1,
        "loader_hold_ms": 250,
        "cock_timeout_ms": 1540 + 2 * 1040 + 2 * 220,  # at rest, there and back, latched and free
        "let_down_timeout_ms": 8000,
        "shot_timeout_ms": 250 + 220,  # the latch needs 11 frames of 20 ms
    }
    for axis, ticks in {
        "traverse": (2020, 3980, 3020, 16),
        "azimuth": (2040, 3960, 3040, 17),
        "elevation": (2060, 3940, 3060, 18),
    }.items():
        names = (f"{axis}_{what}_ticks" for what in ("min", "max", "home", "speed"))
        values |= dict(zip(names, ticks, strict=True))
    assert cannon.firmware_values() == values
    solenoid = Cannon().firmware_values()
    assert (solenoid["trigger_kind"], solenoid["loader_present"]) == (0, 0)


@pytest.mark.parametrize(
    ("text", "faulty"),
    [
        ("draw = { rest_us = 500, breech_us = 2500, speed_us_per_s = 220, ease_us_per_s = 150 }", False),
        ("draw = { rest_us = 500, breech_us = 2500, speed_us_per_s = 200, ease_us_per_s = 150 }", True),
        ("latch = { speed_us_per_s = 150 }", False),
        ("trigger = { kind = 'latch' }\nlatch = { speed_us_per_s = 1000 }", False),
        ("trigger = { kind = 'latch' }\nlatch = { speed_us_per_s = 900 }", True),
    ],
)
def test_a_lever_too_slow_for_what_the_firmware_can_wait_for_is_a_fault(text: str, faulty: bool) -> None:
    with pytest.raises(SettingsError, match="speed_us_per_s") if faulty else nullcontext():
        parse_settings(f"[cannon]\n{text}")


def test_firmware_values_are_settings_of_the_wire_and_lie_in_their_ranges() -> None:
    """Whatever rig.toml allows, the firmware takes."""
    slow = Cannon.model_validate_json(
        '{"traverse": {"speed_us_per_s": 50, "min_us": 500, "max_us": 2500}, "draw": {"speed_us_per_s": 10000,'
        ' "ease_us_per_s": 150}, "latch": {"speed_us_per_s": 150}, "trigger": {"hold_us": 5000, "kind": "latch"}, "dwell_s": 60, "loader": true,'
        ' "loader_hold_us": 1000000}'
    )
    for cannon in (Cannon(), slow):
        for name, value in cannon.firmware_values().items():
            limits = SETTING_LIMITS[Setting[name.upper()]]
            assert limits.minimum <= value <= limits.maximum, name

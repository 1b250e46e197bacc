"""Promise: settings survive a loss of power at any byte; bad ones mean factory settings and a reported fault."""

import pytest
from cannon_host import FACTORY, Cannon, Refused, cannon_in, crc
from hypothesis import given, settings
from hypothesis import strategies as st

from rig.link import wire
from rig.link.wire import (
    SETTING_LIMITS,
    Axis,
    Command,
    Event,
    Refusal,
    ResetCause,
    Setting,
    SettingsSource,
    State,
)

RECORD = 2 + 2 * len(Setting) + 2
COPY = 128


def record(sequence: int, values: dict[Setting, int], *, count: int = len(Setting)) -> bytes:
    body = bytes([sequence, count]) + b"".join(values[s].to_bytes(2, "little") for s in sorted(Setting))
    return body + crc(body).to_bytes(2, "little")


def restarted(cannon: Cannon) -> dict[Setting, int]:
    cannon.reset(ResetCause.POWER_ON)
    cannon.run(10, beat=False)
    cannon.identify(session=99)
    return {s: cannon.ask(Command.READ_SETTING, setting=s)["value"] for s in Setting}


def save(cannon: Cannon) -> None:
    cannon.ask(Command.SAVE_SETTINGS)
    cannon.run(400)


def test_factory_settings_are_those_of_the_wire_and_a_blank_chip_is_no_fault() -> None:
    cannon = cannon_in(State.SAFE)
    assert restarted(cannon) == FACTORY
    assert cannon.view.faults == 0
    assert cannon.identify(session=100)["settings_source"] == SettingsSource.FACTORY


def test_checksum_of_identify_is_that_of_the_values() -> None:
    cannon = cannon_in(State.SAFE)
    values = b"".join(FACTORY[s].to_bytes(2, "little") for s in sorted(Setting))
    assert cannon.identify(session=5)["settings_crc"] == crc(values)


def test_saved_settings_come_back_and_the_save_is_told() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.ask(Command.CONFIGURE, setting=Setting.DWELL_MS, value=12345)
    assert cannon.command(Command.CONFIGURE, setting=Setting.DWELL_MS, value=12345) is not None
    save(cannon)
    assert len(cannon.happened(Event.SETTINGS_SAVED)) == 1
    assert restarted(cannon) == FACTORY | {Setting.DWELL_MS: 12345}
    assert cannon.identify(session=100)["settings_source"] == SettingsSource.STORED


def test_nothing_is_changed_or_saved_while_a_save_is_under_way() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.ask(Command.SAVE_SETTINGS)
    assert cannon.command(Command.SAVE_SETTINGS) == Refused(Refusal.BUSY, 0)
    assert cannon.command(Command.CONFIGURE, setting=Setting.DWELL_MS, value=2000) == Refused(Refusal.BUSY, 0)


@pytest.mark.parametrize("written", range(RECORD))
def test_power_lost_at_any_byte_of_a_save_leaves_old_or_new_settings(written: int) -> None:
    cannon = cannon_in(State.SAFE)
    for dwell_ms in (11000, 12000):
        cannon.ask(Command.CONFIGURE, setting=Setting.DWELL_MS, value=dwell_ms)
        save(cannon)
    cannon.ask(Command.CONFIGURE, setting=Setting.DWELL_MS, value=13000)
    cannon.receive(cannon.request(Command.SAVE_SETTINGS))
    cannon.fail_after_writes(written)
    cannon.run(400, beat=False)
    assert restarted(cannon) == FACTORY | {Setting.DWELL_MS: 12000}
    assert not cannon.view.faults & wire.Fault.SETTINGS_CORRUPT.mask


@given(st.data())
def test_one_damaged_copy_leaves_the_other(data: st.DataObject) -> None:
    cannon = cannon_in(State.SAFE)
    cannon.eeprom[0:RECORD] = record(3, FACTORY | {Setting.DWELL_MS: 11000})
    cannon.eeprom[COPY : COPY + RECORD] = record(4, FACTORY | {Setting.DWELL_MS: 12000})
    copy = data.draw(st.integers(0, 1))
    at = COPY * copy + data.draw(st.integers(0, RECORD - 1))
    cannon.eeprom[at] = bytes([cannon.eeprom[at][0] ^ data.draw(st.integers(1, 255))])
    assert restarted(cannon)[Setting.DWELL_MS] == (11000 if copy else 12000)


@given(st.integers(0, 255), st.integers(0, 1))
def test_newer_copy_is_used_whichever_it_is_also_when_its_count_has_wrapped(
    sequence: int, newer: int
) -> None:
    cannon = cannon_in(State.SAFE)
    for copy in (0, 1):
        count, dwell_ms = (sequence + 1, 12000) if copy == newer else (sequence, 11000)
        at = COPY * copy
        cannon.eeprom[at : at + RECORD] = record(count % 256, FACTORY | {Setting.DWELL_MS: dwell_ms})
    assert restarted(cannon)[Setting.DWELL_MS] == 12000


@pytest.mark.parametrize("rubbish", [0, 1])
def test_rubbish_in_one_copy_beside_a_blank_one_is_a_fault(rubbish: int) -> None:
    cannon = cannon_in(State.SAFE)
    cannon.eeprom[COPY * rubbish] = b"\x01"
    assert restarted(cannon) == FACTORY
    assert cannon.view.faults & wire.Fault.SETTINGS_CORRUPT.mask


@pytest.mark.parametrize("axis", ["TRAVERSE", "AZIMUTH", "ELEVATION"])
@pytest.mark.parametrize("end", ["MIN", "MAX"])
def test_stored_centre_outside_its_limits_is_rubbish_though_its_checksum_is_right(
    axis: str, end: str
) -> None:
    """S-7, S-12. Homing would go there."""
    home, bound = Setting[f"{axis}_HOME_TICKS"], Setting[f"{axis}_{end}_TICKS"]
    outside = FACTORY[bound] + (1 if end == "MAX" else -1)
    cannon = cannon_in(State.SAFE)
    cannon.eeprom[0:RECORD] = record(1, FACTORY | {home: outside})
    assert restarted(cannon) == FACTORY
    assert cannon.view.faults & wire.Fault.SETTINGS_CORRUPT.mask


@settings(max_examples=50)
@given(st.binary(min_size=256, max_size=256).filter(lambda data: data != b"\xff" * 256))
def test_rubbish_means_factory_settings_and_a_fault(rubbish: bytes) -> None:
    cannon = cannon_in(State.SAFE)
    cannon.eeprom[0:256] = rubbish
    assert restarted(cannon) == FACTORY
    assert cannon.view.faults & wire.Fault.SETTINGS_CORRUPT.mask


@pytest.mark.parametrize("setting", Setting)
def test_stored_value_out_of_range_is_rubbish_though_its_checksum_is_right(setting: Setting) -> None:
    limits = SETTING_LIMITS[setting]
    for value in {limits.minimum - 1, limits.maximum + 1} - {-1}:
        cannon = cannon_in(State.SAFE)
        cannon.eeprom[0:RECORD] = record(1, FACTORY | {setting: value})
        assert restarted(cannon) == FACTORY
        assert cannon.view.faults & wire.Fault.SETTINGS_CORRUPT.mask


def test_record_of_another_number_of_settings_is_rubbish() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.eeprom[0:RECORD] = record(1, FACTORY, count=len(Setting) - 1)
    restarted(cannon)
    assert cannon.view.faults & wire.Fault.SETTINGS_CORRUPT.mask


@given(st.sampled_from(Setting), st.integers(0, 0xFFFF))
def test_setting_is_taken_within_its_range_only(setting: Setting, value: int) -> None:
    cannon = cannon_in(State.SAFE)
    answer = cannon.command(Command.CONFIGURE, setting=setting, value=value)
    limits = SETTING_LIMITS[setting]
    if limits.minimum <= value <= limits.maximum:
        assert answer == {"setting": setting, "value": value}
    else:
        assert answer == Refused(Refusal.BAD_VALUE, setting)
        assert cannon.ask(Command.READ_SETTING, setting=setting)["value"] == limits.default


def test_setting_that_is_none_is_refused() -> None:
    cannon = cannon_in(State.SAFE)
    assert cannon.command(Command.CONFIGURE, setting=200, value=1) == Refused(Refusal.BAD_VALUE, 200)
    assert cannon.command(Command.READ_SETTING, setting=200) == Refused(Refusal.BAD_VALUE, 200)


def test_home_outside_its_axis_is_neither_homed_nor_saved() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.ask(Command.CONFIGURE, setting=Setting.AZIMUTH_MAX_TICKS, value=2500)
    refused = Refused(Refusal.BAD_VALUE, Setting.AZIMUTH_HOME_TICKS)
    assert cannon.command(Command.HOME) == refused
    assert cannon.command(Command.SAVE_SETTINGS) == refused


@pytest.mark.parametrize(
    ("stands_ticks", "bound", "ticks"),
    [(3800, Setting.AZIMUTH_MAX_TICKS, 3500), (2200, Setting.AZIMUTH_MIN_TICKS, 2500)],
)
def test_axis_left_outside_by_new_limits_gets_no_pulses_until_it_is_homed(
    stands_ticks: int, bound: Setting, ticks: int
) -> None:
    """S-7."""
    cannon = cannon_in(State.READY)
    cannon.ask(Command.MOVE, axis=Axis.AZIMUTH, pulse_ticks=stands_ticks)
    cannon.run(1000)
    cannon.ask(Command.SAFE)
    cannon.ask(Command.CONFIGURE, setting=bound, value=ticks)
    cannon.run(40)
    assert cannon.pulse(Axis.AZIMUTH) == 0
    cannon.ask(Command.HOME)
    cannon.run(40)
    assert cannon.pulse(Axis.AZIMUTH) == 3000
    cannon.run(940)
    assert cannon.state == State.HOMING, "its servo may stand anywhere, and has a second to come"
    cannon.run_until(State.READY, limit_ms=100)


def test_draw_whose_rest_is_set_elsewhere_gets_no_pulses_until_it_is_homed() -> None:
    """S-7. Where it stands is on its way to the breech, within its limits; but nothing moves in safe."""
    cannon = cannon_in(State.READY)
    cannon.ask(Command.SAFE)
    rest_ticks = FACTORY[Setting.DRAW_REST_TICKS] - 200
    cannon.ask(Command.CONFIGURE, setting=Setting.DRAW_REST_TICKS, value=rest_ticks)
    cannon.run(100)
    assert cannon.pulse(Axis.DRAW) == 0
    cannon.ask(Command.HOME)
    cannon.run(40)
    assert cannon.pulse(Axis.DRAW) == rest_ticks


def test_axes_that_stand_where_the_new_settings_let_them_keep_their_pulses() -> None:
    cannon = cannon_in(State.READY)
    for axis in (Axis.TRAVERSE, Axis.AZIMUTH, Axis.ELEVATION):
        cannon.ask(Command.MOVE, axis=axis, pulse_ticks=3400)
    cannon.run(1000)
    cannon.ask(Command.SAFE)
    before = cannon.pulses
    assert all(before)
    cannon.ask(Command.CONFIGURE, setting=Setting.AZIMUTH_MAX_TICKS, value=3500)
    cannon.run(40)
    assert cannon.pulses == before


def test_first_homing_gives_the_aim_a_second_and_the_next_one_does_not() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.ask(Command.HOME)
    cannon.run(980)
    assert cannon.state == State.HOMING
    cannon.run_until(State.READY, limit_ms=500)
    cannon.ask(Command.SAFE)
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY, limit_ms=500)


def test_homing_is_not_done_before_the_aim_is_home() -> None:
    cannon = cannon_in(State.READY)
    cannon.ask(Command.MOVE, axis=Axis.ELEVATION, pulse_ticks=3800)
    cannon.run(1000)
    cannon.ask(Command.SAFE)
    assert cannon.pulse(Axis.ELEVATION) == 3800
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    assert cannon.pulse(Axis.ELEVATION) == 3000


def test_settings_stay_while_the_lever_is_held_or_the_draw_is_out() -> None:
    cannon = cannon_in(State.COCKED)
    cannon.ask(Command.SAFE)
    assert cannon.command(Command.CONFIGURE, setting=Setting.LATCH_HELD_TICKS, value=1000) == Refused(
        Refusal.LEVER_DRAWN, 0
    )
    cannon = cannon_in(State.COCKING)
    cannon.run(700)
    cannon.ask(Command.SAFE)
    answer = cannon.command(Command.CONFIGURE, setting=Setting.DRAW_REST_TICKS, value=1000)
    assert answer == Refused(Refusal.AXIS_MOVING, Axis.DRAW)

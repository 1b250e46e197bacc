"""The wire is described once: header, enumerations and documents all come from wire.toml."""

from pathlib import Path

import pytest
from cannon_host import frame

from rig.link import wire
from rig.link.wire_header import wire_header
from rig.link.wire_tables import with_tables

ROOT = Path(__file__).resolve().parents[3]


def test_committed_header_is_what_the_description_prints() -> None:
    header = (ROOT / "firmware" / "core" / "wire.h").read_text(encoding="utf-8")
    assert header == wire_header(), "run: python -m rig.link.wire_header > firmware/core/wire.h"


def test_every_member_has_a_sentence_but_settings_whose_name_says_all() -> None:
    for enumeration in (wire.Command, wire.Event, wire.State, wire.Cause, wire.Refusal, wire.Fault):
        for member in enumeration:
            assert wire.says(member).strip()
    assert wire.says(wire.Input.LANE_CLEAR)
    assert wire.says(wire.Setting.TRIGGER_KIND)


def test_two_inputs_at_once_have_no_single_sentence() -> None:
    with pytest.raises(ValueError, match="more than one input"):
        wire.says(wire.Input.KEY_ON | wire.Input.LANE_CLEAR)


def test_types_of_commands_answers_events_and_refusals_never_meet() -> None:
    types = [*wire.Command, *(c + wire.ANSWER_OFFSET for c in wire.Command), *wire.Event, wire.REFUSAL_TYPE]
    assert len(set(types)) == len(types)


def test_frame_bytes_with_a_meaning_stay_distinct_when_escaped() -> None:
    special = {wire.FLAG, wire.ESCAPE, wire.STOP}
    assert len(special) == 3
    assert not special & {byte ^ wire.ESCAPE_XOR for byte in special}


def test_layout_says_what_does_not_fit() -> None:
    layout = wire.COMMAND_LAYOUTS[wire.Command.MOVE].payload
    with pytest.raises(ValueError, match="expected"):
        layout.pack({"axis": 1})
    with pytest.raises(ValueError, match="does not fit"):
        layout.pack({"axis": 256, "pulse_ticks": 0})
    with pytest.raises(ValueError, match="expected 3"):
        layout.unpack(b"\0")


def test_factory_settings_lie_in_their_ranges() -> None:
    for limits in wire.SETTING_LIMITS.values():
        assert limits.minimum <= limits.default <= limits.maximum


def test_tables_of_the_protocol_are_what_the_description_prints() -> None:
    document = (ROOT / "firmware" / "PROTOCOL.md").read_text(encoding="utf-8")
    assert document == with_tables(document), "run: python -m rig.link.wire_tables firmware/PROTOCOL.md"


def test_example_frame_of_the_protocol_is_one() -> None:
    document = (ROOT / "firmware" / "PROTOCOL.md").read_text(encoding="utf-8")
    assert frame(5, wire.Command.STATUS, session=0x1234).hex(" ").upper() in document


def test_document_without_a_place_for_tables_is_refused() -> None:
    with pytest.raises(ValueError, match="tables"):
        with_tables("# nothing")

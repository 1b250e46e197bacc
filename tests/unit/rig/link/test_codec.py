"""The codec, tested by joining two ends; wire.toml's promises about frames."""

import itertools
from dataclasses import fields
from enum import IntEnum, IntFlag
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.link import messages, wire
from rig.link.codec import Damaged, Decoder, Frame, StopByte, crc16, encode, request_frame
from rig.link.words import in_words


def _values(kind: Any, bits: str) -> st.SearchStrategy[Any]:
    if kind == frozenset[wire.Fault]:
        return st.frozensets(st.sampled_from(wire.Fault))
    if isinstance(kind, type) and issubclass(kind, IntFlag):
        return st.integers(0, sum(kind)).map(kind)
    if isinstance(kind, type) and issubclass(kind, IntEnum):
        return st.sampled_from(kind)
    return st.integers(0, 2 ** int(bits[1:]) - 1)


def _messages(kind: type[messages.Message], layout: wire.Layout) -> st.SearchStrategy[messages.Message]:
    hints = get_type_hints(kind)
    return st.builds(
        kind,
        **{name: _values(hints[name], bits) for name, bits in zip(layout.names, layout.kinds, strict=True)},
    )


def _frames() -> st.SearchStrategy[Frame]:
    codes = [(wire.REFUSAL_TYPE, messages.Refused, wire.REFUSAL_LAYOUT)]
    for command, layout in wire.COMMAND_LAYOUTS.items():
        codes.append((command, messages.REQUESTS[command], layout.payload))
        codes.append((command + wire.ANSWER_OFFSET, messages.ANSWERS[command], layout.answer))
    codes += [(event, messages.EVENTS[event], layout) for event, layout in wire.EVENT_LAYOUTS.items()]
    return st.one_of(
        st.builds(Frame, st.integers(0, 255), st.just(code), _messages(kind, layout))
        for code, kind, layout in codes
    )


def _in_pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@given(st.lists(_frames(), max_size=6), st.lists(st.integers(0, 10_000), max_size=8))
def test_what_one_end_encodes_the_other_decodes_however_it_is_split(frames, cuts):
    decoder = Decoder()
    data = b"".join(encode(frame) for frame in frames)
    assert [item for piece in _in_pieces(data, cuts) for item in decoder.feed(piece)] == frames


@given(_frames())
def test_a_frame_holds_flag_only_at_its_end_and_no_bare_stop(frame):
    data = encode(frame)
    assert data.index(wire.FLAG) == len(data) - 1
    assert wire.STOP not in data


@given(_frames(), st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_never_gives_another_frame(frame, where, change):
    data = bytearray(encode(frame))
    data[where % len(data)] ^= change
    items = Decoder().feed(bytes(data) + bytes([wire.FLAG]))
    assert not [item for item in items if isinstance(item, Frame) and item != frame]


@given(st.binary(max_size=200), _frames())
def test_garbage_costs_at_most_the_frame_it_runs_into(garbage, frame):
    decoder = Decoder()
    decoder.feed(garbage)
    decoder.feed(bytes([wire.FLAG]))
    assert decoder.feed(encode(frame)) == [frame]


@given(_frames(), st.integers(0, 10_000))
def test_a_stop_in_the_middle_of_a_frame_comes_out_and_leaves_the_frame_whole(frame, where):
    data = encode(frame)
    cut = where % len(data)
    assert Decoder().feed(data[:cut] + bytes([wire.STOP]) + data[cut:]) == [StopByte(), frame]


def test_a_damaged_frame_is_reported_with_its_bytes_and_what_is_wrong():
    data = bytearray(encode(request_frame(3, messages.Arm())))
    data[0] ^= 0xFF
    (damaged,) = Decoder().feed(bytes(data))
    assert isinstance(damaged, Damaged)
    assert damaged.data == bytes(data[:-1])
    assert "checksum" in damaged.why


def test_a_frame_that_ends_in_the_middle_of_an_escape_is_none_whatever_its_checksum_says():
    data = encode(request_frame(3, messages.Arm()))
    (damaged,) = Decoder().feed(data[:-1] + bytes([wire.ESCAPE, wire.FLAG]))
    assert isinstance(damaged, Damaged)
    assert "escape" in damaged.why


def _with_crc(body: bytes) -> bytes:
    out = bytearray()
    for byte in body + crc16(body).to_bytes(2, "little"):
        special = byte in {wire.FLAG, wire.ESCAPE, wire.STOP}
        out += bytes([wire.ESCAPE, byte ^ wire.ESCAPE_XOR]) if special else bytes([byte])
    return bytes([*out, wire.FLAG])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (bytes([1, 0x33]), "type 0x33 has no meaning"),
        (bytes([1, wire.Command.ARM, 9]), "arm: payload of 1 bytes found, expected 0"),
        (bytes([1, wire.Command.SAFE + wire.ANSWER_OFFSET, 99]), "99 is not a valid State"),
    ],
)
def test_a_sound_frame_without_meaning_is_reported_as_such(body, why):
    (damaged,) = Decoder().feed(_with_crc(body))
    assert isinstance(damaged, Damaged)
    assert why in damaged.why


def test_a_babbling_line_takes_no_more_memory_than_a_frame():
    decoder = Decoder()
    items = decoder.feed(b"\x55" * 10_000)
    assert sum(len(item.data) for item in items) > 9_900
    decoder.feed(bytes([wire.FLAG]))
    sound = request_frame(1, messages.ReadStatus())
    assert decoder.feed(encode(sound)) == [sound]


@pytest.mark.parametrize("length", range(50, 70))
def test_what_stands_at_the_end_of_a_babble_is_no_frame_however_sound(length):
    frame = encode(Frame(1, wire.Command.ARM + wire.ANSWER_OFFSET, messages.Token(0xBEEF, 3000)))
    items = Decoder().feed(b"\x55" * length + frame)
    assert all(isinstance(item, Damaged) for item in items)
    assert sum(len(item.data) for item in items) == length + len(frame) - 1


def test_a_frame_has_one_spelling_an_escape_before_a_byte_that_needs_none_is_damage():
    data = encode(request_frame(1, messages.ReadStatus()))
    assert data[0] == 1
    (damaged,) = Decoder().feed(bytes([wire.ESCAPE, 1 ^ wire.ESCAPE_XOR]) + data[1:])
    assert isinstance(damaged, Damaged)
    assert damaged.why == "an escape before a byte that needs none"


def test_empty_frames_are_nothing():
    assert Decoder().feed(bytes([wire.FLAG]) * 5) == []


def test_crc_is_x25_by_its_published_check_value():
    assert crc16(b"123456789") == 0x906E  # reveng catalogue, CRC-16/IBM-SDLC


def test_a_message_is_not_encoded_as_another_type():
    with pytest.raises(ValueError, match="cannot go out"):
        encode(Frame(1, wire.Command.FIRE, messages.Arm()))
    with pytest.raises(ValueError, match="does not fit"):
        encode(request_frame(1, messages.Fire(1 << 32)))


@given(_frames())
def test_every_frame_can_be_told_in_words_with_every_field_named(frame):
    words = in_words(frame)
    assert "\n" not in words
    if not isinstance(frame.message, messages.HistoryEntry):  # which is a sentence
        assert len(words.split(", ")) >= max(1, len(fields(frame.message)) - 1)


@pytest.mark.parametrize(
    ("code", "message", "words"),
    [
        (
            wire.Command.MOVE,
            messages.Move(wire.Axis.AZIMUTH, 3001),
            "move: axis azimuth, pulse 1500.5 us",
        ),
        (
            wire.Command.CONFIGURE,
            messages.Configure(wire.Setting.DWELL_MS, 30000),
            "configure: setting dwell ms, value 30000 ms",
        ),
        (
            wire.Command.COCK + wire.ANSWER_OFFSET,
            messages.Begun(2400),
            "answer to cock: expected 2400 ms",
        ),
        (
            wire.REFUSAL_TYPE,
            messages.Refused(wire.Refusal.LANE_NOT_CLEAR, 0),
            "refused: the lane is not clear",
        ),
        (
            wire.Event.SHOT_SEEN,
            messages.ShotSeen(2_000_000, 2_004_500, 1200),
            "event shot seen: released 2.000000 s, left first 2.004500 s, transit 600 us",
        ),
        (
            wire.Command.HEARTBEAT + wire.ANSWER_OFFSET,
            messages.Alive(wire.State.COCKED, wire.Input.ESTOP_OK | wire.Input.KEY_ON, 5_000_000),
            "answer to heartbeat: state cocked, inputs estop ok + key on, time 5.000000 s",
        ),
        (wire.Command.FIRE, messages.Fire(0xC0FFEE), "fire: token 0xc0ffee"),
    ],
)
def test_words_carry_units_and_names(code, message, words):
    assert in_words(Frame(1, code, message)) == words

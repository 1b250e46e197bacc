"""Bytes to messages and back. No port, no clock, no waiting: what comes in is a value, what goes out is a value.

The form of a frame is described at the top of `wire.toml`; its checksum holds for one session. The decoder takes bytes in
pieces of any size and never fails: what cannot be read comes out as `Damaged`, and the next flag begins anew.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

from rig.counted import counted
from rig.link import messages, wire
from rig.link.messages import Message

__all__ = [
    "STOP_BYTES",
    "Damaged",
    "Decoder",
    "Frame",
    "Item",
    "StopByte",
    "crc16",
    "encode",
    "request_frame",
]

_HEAD = 2  # SEQ, TYPE
_CRC = 2
_LONGEST = _HEAD + wire.LONGEST_PAYLOAD + _CRC
# Of no session: they begin one, or tell that there is none.
_SESSIONLESS: Final = frozenset(
    {wire.Command.IDENTIFY, wire.Command.IDENTIFY + wire.ANSWER_OFFSET, wire.Event.BOOTED}
)
_SPECIAL: Final = frozenset({wire.FLAG, wire.ESCAPE, wire.STOP})

STOP_BYTES: Final = bytes([wire.STOP])
"""What makes the cannon safe, at once and in the midst of anything."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A message with its place in the conversation."""

    seq: int
    """Id of a command or of the command answered; an event's number."""
    code: int
    """Type byte; tells which command an answer belongs to."""
    message: Message


@dataclass(frozen=True, slots=True)
class StopByte:
    """A bare stop byte."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """Bytes that are no frame."""

    data: bytes
    """As they came, without the flag that ended them."""
    why: str
    """What is wrong with them."""


Item: TypeAlias = Frame | StopByte | Damaged


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        remainder = byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x8408 if remainder & 1 else 0)  # 0x1021 with its bits reversed
        table.append(remainder)
    return tuple(table)


_CRC_TABLE: Final = _crc_table()


def crc16(data: bytes) -> int:
    """Return the CRC-16/X-25 of `data`.

    Examples
    --------
    >>> hex(crc16(b"123456789"))
    '0x906e'
    """
    remainder = 0xFFFF
    for byte in data:
        remainder = remainder >> 8 ^ _CRC_TABLE[(remainder ^ byte) & 0xFF]
    return remainder ^ 0xFFFF


def _checksum(content: bytes, session: int | None) -> int:
    """Return the checksum of a frame's SEQ, TYPE and PAYLOAD in a session."""
    if session is None or content[1] in _SESSIONLESS:
        return crc16(content)
    return crc16(session.to_bytes(2, "little") + content)


def request_frame(seq: int, request: messages.Request[messages.Answer]) -> Frame:
    """Return the frame of a command with the id `seq`."""
    return Frame(seq, request.command, request)


def encode(frame: Frame, session: int | None = None) -> bytes:
    """Return the bytes of a frame.

    Parameters
    ----------
    frame
        What to say.
    session
        The session that it is said in; None before the first.

    Raises
    ------
    ValueError
        Where a value does not fit its field.
    """
    kind_layout = _KINDS.get(frame.code)
    if kind_layout is None or type(frame.message) is not kind_layout[0]:
        raise ValueError(f"a {type(frame.message).__name__} cannot go out as type {frame.code:#04x}")
    body = bytes([frame.seq, frame.code]) + messages.pack(frame.message, kind_layout[1])
    body += _checksum(body, session).to_bytes(_CRC, "little")
    out = bytearray()
    for byte in body:
        out += bytes([wire.ESCAPE, byte ^ wire.ESCAPE_XOR]) if byte in _SPECIAL else bytes([byte])
    out.append(wire.FLAG)
    return bytes(out)


def _kinds() -> dict[int, tuple[type[Message], wire.Layout]]:
    kinds: dict[int, tuple[type[Message], wire.Layout]] = {
        wire.REFUSAL_TYPE: (messages.Refused, wire.REFUSAL_LAYOUT)
    }
    for command, layout in wire.COMMAND_LAYOUTS.items():
        kinds[command] = (messages.REQUESTS[command], layout.payload)
        kinds[command + wire.ANSWER_OFFSET] = (messages.ANSWERS[command], layout.answer)
    for event, event_layout in wire.EVENT_LAYOUTS.items():
        kinds[event] = (messages.EVENTS[event], event_layout)
    return kinds


_KINDS: Final = _kinds()
"""The class and the layout that each type byte stands for."""


class Decoder:
    """Turns the bytes of one direction into items, in order, as they become whole.

    Attributes
    ----------
    session : int or None
        The session whose frames are understood, besides those that belong to none; None before the first.

    Examples
    --------
    >>> decoder = Decoder()
    >>> sent = encode(request_frame(7, messages.Arm()))
    >>> decoder.feed(sent[:3])
    []
    >>> decoder.feed(sent[3:])
    [Frame(seq=7, code=12, message=Arm())]
    """

    def __init__(self, session: int | None = None) -> None:
        self.session = session
        self._raw = bytearray()  # as it came, since the last flag
        self._body = bytearray()  # with the escapes undone
        self._escaped = False
        self._fault = ""

    def feed(self, data: bytes) -> list[Item]:
        """Take in bytes and return what they complete."""
        items: list[Item] = []
        for byte in data:
            if byte == wire.STOP:
                items.append(StopByte())  # beside the frame, not in it
            elif byte == wire.FLAG:
                if self._raw:
                    items.append(self._finish())
                self._begin()
            else:
                self._take(byte)
                if len(self._raw) > 2 * _LONGEST:
                    # A babbling line: hand it out in pieces, so that memory stays bounded.
                    items.append(Damaged(bytes(self._raw), "no frame is that long"))
                    self._begin()
                    self._fault = "the tail of something too long"
        return items

    def _begin(self) -> None:
        self._raw.clear()
        self._body.clear()
        self._escaped = False
        self._fault = ""

    def _take(self, byte: int) -> None:
        self._raw.append(byte)
        if self._escaped:
            self._body.append(byte ^ wire.ESCAPE_XOR)
            self._escaped = False
            if self._body[-1] not in _SPECIAL:
                self._fault = self._fault or "an escape before a byte that needs none"
        elif byte == wire.ESCAPE:
            self._escaped = True
        else:
            self._body.append(byte)

    def _finish(self) -> Item:
        raw, body = bytes(self._raw), bytes(self._body)
        if self._fault:
            return Damaged(raw, self._fault)
        if self._escaped:
            return Damaged(raw, "it ends in the middle of an escape")
        if not _HEAD + _CRC <= len(body) <= _LONGEST:
            return Damaged(raw, f"{counted(len(body), 'byte')}; a frame has {_HEAD + _CRC} to {_LONGEST}")
        content, received = body[:-_CRC], int.from_bytes(body[-_CRC:], "little")
        if (computed := _checksum(content, self.session)) != received:
            return Damaged(
                raw,
                f"its checksum is {received:#06x}, computed {computed:#06x}: damaged, or of another session",
            )
        seq, code, payload = content[0], content[1], content[_HEAD:]
        kind_layout = _KINDS.get(code)
        if kind_layout is None:
            return Damaged(raw, f"type {code:#04x} has no meaning")
        try:
            return Frame(seq, code, messages.unpack(kind_layout[0], payload, kind_layout[1]))
        except ValueError as error:
            return Damaged(raw, str(error))

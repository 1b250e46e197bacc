"""The line to the cannon: bytes, messages, commands done at most once, events, and the record of all of it."""

from rig.link.errors import (
    BoardReset,
    LinkError,
    LinkLost,
    NoAnswer,
    NotDone,
    PortBusy,
    PortError,
    PortForbidden,
    PortGone,
    PortMissing,
    Refused,
    WrongWireVersion,
)
from rig.link.link import EventsMissed, Link
from rig.link.port import Clock, Port
from rig.link.serial_port import SerialPort, WallClock
from rig.link.transcript import RecordedPort, Transcript, TranscriptError, read_transcript, tell

__all__ = [
    "BoardReset",
    "Clock",
    "EventsMissed",
    "Link",
    "LinkError",
    "LinkLost",
    "NoAnswer",
    "NotDone",
    "Port",
    "PortBusy",
    "PortError",
    "PortForbidden",
    "PortGone",
    "PortMissing",
    "RecordedPort",
    "Refused",
    "SerialPort",
    "Transcript",
    "TranscriptError",
    "WallClock",
    "WrongWireVersion",
    "read_transcript",
    "tell",
]

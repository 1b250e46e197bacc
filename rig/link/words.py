"""Messages in words, values with their units: what a person reads in a transcript."""

from dataclasses import fields
from enum import IntEnum, IntFlag
from typing import Final

from rig.link import messages, wire
from rig.link.codec import Frame
from rig.link.messages import Message
from rig.ticks import TICKS_PER_US

__all__ = ["entry_in_words", "in_words", "name_of"]

_CODES: Final = {
    "board": wire.Board,
    "reset_cause": wire.ResetCause,
    "settings_source": wire.SettingsSource,
}
_HEXADECIMAL: Final = frozenset({"token", "settings_crc"})


def name_of(member: IntEnum) -> str:
    """Return a member's name as plain words: `let down` for `Command.LET_DOWN`."""
    return member.name.lower().replace("_", " ")


def in_words(frame: Frame) -> str:
    """Return what a frame says, without its time and its number.

    Examples
    --------
    >>> from rig.link.codec import request_frame
    >>> in_words(request_frame(3, messages.Move(wire.Axis.ELEVATION, 3000)))
    'move: axis elevation, pulse 1500 us'
    """
    message = frame.message
    values = ", ".join(_field(message, field.name) for field in fields(message))  # type: ignore[arg-type]
    if isinstance(message, messages.Refused):
        detail = f" ({message.detail})" if message.detail else ""
        return f"refused: {wire.says(message.reason)}{detail}"
    if isinstance(message, messages.HistoryEntry):
        return f"answer to read history: newest {message.newest}, {entry_in_words(message)}"
    if isinstance(message, messages.Request):
        head = name_of(message.command)
    elif isinstance(message, messages.Event):
        head = f"event {name_of(message.event)}"
    else:
        head = f"answer to {name_of(wire.Command(frame.code - wire.ANSWER_OFFSET))}"
    return f"{head}: {values}" if values else head


def entry_in_words(entry: messages.HistoryEntry) -> str:
    """Return what an entry of the history says, without its number.

    Examples
    --------
    >>> arm, armed = wire.Command.ARM, wire.State.ARMED
    >>> refused, reason = wire.HistoryKind.REFUSED, wire.Refusal.LANE_NOT_CLEAR
    >>> entry_in_words(messages.HistoryEntry(9, refused, reason, arm, 0, 2_500_000))
    'at 2.500000 s: arm was refused: the lane is not clear'
    """
    kind = entry.kind
    detail = f" ({entry.detail})" if entry.detail else ""
    if kind is wire.HistoryKind.MISSING:
        return "no such entry"
    if kind is wire.HistoryKind.RESET:
        return f"the chip started: {_says(wire.ResetCause, entry.code)}"
    if kind is wire.HistoryKind.REFUSED:
        what = f"{_name(wire.Command, entry.about)} was refused: {_says(wire.Refusal, entry.code)}{detail}"
    elif kind is wire.HistoryKind.FAULT:
        if entry.code == wire.Fault.RECEIVE_OVERRUN:
            detail = f" ({', '.join(wire.says(loss) for loss in wire.Loss if loss & entry.detail)})"
        what = f"fault in state {_name(wire.State, entry.about)}: {_says(wire.Fault, entry.code)}{detail}"
    else:
        ways = f"from {_name(wire.State, entry.about)} to {_name(wire.State, entry.detail)}"
        what = f"{ways}: {_says(wire.Cause, entry.code)}"
    return f"at {entry.time_us / 1e6:.6f} s: {what}"


def _name(enumeration: type[IntEnum], code: int) -> str:
    return next((name_of(member) for member in enumeration if member == code), f"unknown ({code})")


_Told = wire.ResetCause | wire.Refusal | wire.Fault | wire.Cause


def _says(enumeration: type[_Told], code: int) -> str:
    return next((wire.says(member) for member in enumeration if member == code), f"unknown ({code})")


def _field(message: Message, name: str) -> str:
    value = getattr(message, name)
    if name == "value" and isinstance(message, messages.Configure | messages.SettingValue):
        return _quantity("value", message.setting.name.lower().rpartition("_")[2], value)
    if name in _CODES:
        known = [member for member in _CODES[name] if member == value]
        return f"{name.replace('_', ' ')} {name_of(known[0]) if known else f'unknown ({value})'}"
    if isinstance(value, frozenset):
        return f"{name} {' + '.join(sorted(name_of(member) for member in value)) or 'none'}"
    if isinstance(value, IntFlag):
        seen = [str(member.name).lower().replace("_", " ") for member in type(value) if member in value]
        return f"{name} {' + '.join(seen) or 'none'}"
    if isinstance(value, IntEnum):
        return f"{name} {name_of(value)}"
    if name in _HEXADECIMAL:
        return f"{name.replace('_', ' ')} {value:#x}"
    label, _, unit = name.rpartition("_")
    return _quantity(label or name, unit, value)


def _quantity(label: str, unit: str, value: int) -> str:
    label = label.replace("_", " ")
    if unit == "ticks":
        return f"{label} {value / TICKS_PER_US:g} us"
    if unit == "us":
        return f"{label} {value / 1e6:.6f} s"  # a moment on the cannon's clock
    if unit == "ms":
        return f"{label} {value} ms"
    return (
        f"{label} {unit} {value}" if unit not in {label, "value", "kind", "present"} else f"{label} {value}"
    )

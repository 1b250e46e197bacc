"""Writes the tables of ``firmware/PROTOCOL.md``: ``python -m rig.link.wire_tables firmware/PROTOCOL.md``.

The document is prose with a line ``<!-- tables -->`` and a line ``<!-- end of tables -->``; what stands between them
comes from ``wire.toml``.
"""

import sys
from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import Path

from rig.link import wire

__all__ = ["with_tables"]

_BEGIN = "<!-- tables -->\n"
_END = "<!-- end of tables -->\n"


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(heading) + " |",
        "|" + " --- |" * len(heading),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def _fields(layout: wire.Layout) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in zip(layout.names, layout.kinds, strict=True)) or "–"


def _name(member: IntEnum) -> str:
    return f"`{member.name.lower()}`"


def _codes(
    title: str, enumeration: type[wire.State | wire.Cause | wire.Refusal | wire.Fault | wire.HistoryKind]
) -> list[str]:
    rows = [(str(member.value), _name(member), wire.says(member)) for member in enumeration]
    return [f"### {title}", "", *_table(("code", "name", "meaning"), rows)]


def _bits(enumeration: type[wire.Input | wire.Loss]) -> list[str]:
    rows = [
        (str(member.bit_length() - 1), f"0x{member:02X}", f"`{str(member.name).lower()}`", wire.says(member))
        for member in enumeration
    ]
    return _table(("bit", "mask", "name", "set means"), rows)


def _tables() -> list[str]:
    lines = ["### Commands", ""]
    lines += _table(
        ("type", "command", "payload", f"answer (type + 0x{wire.ANSWER_OFFSET:02X})", "meaning"),
        (
            (
                f"0x{command:02X}",
                _name(command),
                _fields(layouts.payload),
                _fields(layouts.answer),
                wire.says(command),
            )
            for command, layouts in wire.COMMAND_LAYOUTS.items()
        ),
    )
    lines += [
        f"A refusal has type 0x{wire.REFUSAL_TYPE:02X} for every command: {_fields(wire.REFUSAL_LAYOUT)}.",
        "",
    ]
    lines += ["### Events", ""]
    lines += _table(
        ("type", "event", "payload", "meaning"),
        (
            (f"0x{event:02X}", _name(event), _fields(layout), wire.says(event))
            for event, layout in wire.EVENT_LAYOUTS.items()
        ),
    )
    lines += _codes("States", wire.State)
    lines += _codes("Causes of a change of state", wire.Cause)
    lines += _codes("Reasons of a refusal", wire.Refusal)
    lines += _codes("Faults", wire.Fault)
    lines += ["### Bits of the detail of `receive_overrun`", "", *_bits(wire.Loss)]
    lines += _codes("Kinds of entries of the history", wire.HistoryKind)
    lines += ["### Reset causes, boards, sources of settings, axes", ""]
    small: tuple[type[wire.ResetCause | wire.Board | wire.SettingsSource | wire.Axis], ...] = (
        wire.ResetCause,
        wire.Board,
        wire.SettingsSource,
        wire.Axis,
    )
    fields = {wire.ResetCause: "reset_cause", wire.Board: "board", wire.SettingsSource: "settings_source"}
    lines += _table(
        ("field", "code", "name", "meaning"),
        (
            (f"`{fields.get(enumeration, 'axis')}`", str(member.value), _name(member), wire.says(member))
            for enumeration in small
            for member in enumeration
        ),
    )
    lines += ["### Inputs", "", *_bits(wire.Input)]
    lines += ["### Settings", ""]
    lines += _table(
        ("code", "setting", "factory", "least", "most", "meaning"),
        (
            (
                str(setting.value),
                _name(setting),
                str(limits.default),
                str(limits.minimum),
                str(limits.maximum),
                wire.says(setting),
            )
            for setting, limits in wire.SETTING_LIMITS.items()
        ),
    )
    return lines


def with_tables(document: str) -> str:
    """Return the document with its tables as ``wire.toml`` has them.

    Raises
    ------
    ValueError
        When the document lacks one of the two marks.
    """
    before, begin, rest = document.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"the document has no lines {_BEGIN.strip()!r} and {_END.strip()!r}")
    return before + begin + "\n" + "\n".join(_tables()) + "\n" + end + after


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")

"""Prints the firmware's view of the wire: ``python -m rig.link.wire_header > firmware/core/wire.h``."""

from enum import IntEnum

from rig.link import wire

__all__ = ["wire_header"]


def _define(name: str, value: str, comment: str = "") -> str:
    line = f"#define {name} {value}"
    return f"{line} /* {comment} */" if comment else line


def _enum(prefix: str, enumeration: type[IntEnum]) -> list[str]:
    lines = [f"enum {prefix.lower()} {{"]
    lines += [f"    {prefix}_{member.name} = {member.value}," for member in enumeration]
    lines += ["};", f"#define {prefix}_COUNT {len(enumeration)}u", ""]
    return lines


def _layout(prefix: str, layout: wire.Layout) -> list[str]:
    """Length of a payload, with its fields beside it for the reader."""
    fields = ", ".join(f"{name}:{kind}" for name, kind in zip(layout.names, layout.kinds, strict=True))
    return [_define(f"{prefix}_LENGTH", f"{layout.size}u", fields)]


def wire_header() -> str:
    """Return the text of ``firmware/core/wire.h``."""
    lines = [
        "/* The wire between controller and cannon. Printed from rig/link/wire.toml by",
        " * `python -m rig.link.wire_header`; do not edit. Numbers are little-endian and unsigned. */",
        "#ifndef WIRE_H",
        "#define WIRE_H",
        "",
        _define("WIRE_VERSION", f"{wire.WIRE_VERSION}u"),
        _define("WIRE_FLAG", f"0x{wire.FLAG:02X}u"),
        _define("WIRE_ESCAPE", f"0x{wire.ESCAPE:02X}u"),
        _define("WIRE_STOP", f"0x{wire.STOP:02X}u"),
        _define("WIRE_ESCAPE_XOR", f"0x{wire.ESCAPE_XOR:02X}u"),
        _define("WIRE_LONGEST_PAYLOAD", f"{wire.LONGEST_PAYLOAD}u"),
        _define(
            "WIRE_LONGEST_COMMAND_PAYLOAD",
            f"{max(layout.payload.size for layout in wire.COMMAND_LAYOUTS.values())}u",
        ),
        _define(
            "WIRE_LONGEST_ANSWER_PAYLOAD",
            f"{max(layout.answer.size for layout in wire.COMMAND_LAYOUTS.values())}u",
        ),
        _define(
            "WIRE_LONGEST_EVENT_PAYLOAD", f"{max(layout.size for layout in wire.EVENT_LAYOUTS.values())}u"
        ),
        _define("WIRE_HISTORY_ENTRIES", f"{wire.HISTORY_ENTRIES}u"),
        _define("WIRE_BAUD", f"{wire.BAUD}ul"),
        _define("WIRE_EVENT_RESEND_MS", f"{wire.EVENT_RESEND_MS}u"),
        _define("WIRE_HEARTBEAT_TIMEOUT_MS", f"{wire.HEARTBEAT_TIMEOUT_MS}u"),
        _define("WIRE_ANSWER_OFFSET", f"0x{wire.ANSWER_OFFSET:02X}u"),
        _define("WIRE_REFUSAL_TYPE", f"0x{wire.REFUSAL_TYPE:02X}u"),
        *_layout("WIRE_REFUSAL", wire.REFUSAL_LAYOUT),
        "",
        *_enum("WIRE_COMMAND", wire.Command),
    ]
    for command, layouts in wire.COMMAND_LAYOUTS.items():
        lines += _layout(f"WIRE_COMMAND_{command.name}", layouts.payload)
        lines += _layout(f"WIRE_ANSWER_{command.name}", layouts.answer)
    lines += ["", *_enum("WIRE_EVENT", wire.Event)]
    for event, layout in wire.EVENT_LAYOUTS.items():
        lines += _layout(f"WIRE_EVENT_{event.name}", layout)
    lines.append("")
    enumerations: tuple[tuple[str, type[IntEnum]], ...] = (
        ("WIRE_STATE", wire.State),
        ("WIRE_CAUSE", wire.Cause),
        ("WIRE_REFUSAL", wire.Refusal),
        ("WIRE_FAULT", wire.Fault),
        ("WIRE_HISTORY_KIND", wire.HistoryKind),
        ("WIRE_RESET_CAUSE", wire.ResetCause),
        ("WIRE_BOARD", wire.Board),
        ("WIRE_SETTINGS_SOURCE", wire.SettingsSource),
        ("WIRE_AXIS", wire.Axis),
        ("WIRE_SETTING", wire.Setting),
    )
    for prefix, enumeration in enumerations:
        lines += _enum(prefix, enumeration)
    lines += [_define(f"WIRE_INPUT_{member.name}_MASK", f"0x{member.value:02X}u") for member in wire.Input]
    lines += [_define(f"WIRE_LOSS_{member.name}_MASK", f"0x{member.value:02X}u") for member in wire.Loss]
    lines += [
        "",
        "/* Factory value, minimum and maximum of every setting, in the order of their codes. */",
        "#define WIRE_SETTINGS_TABLE \\",
    ]
    rows = [
        f"    {{{limits.default}u, {limits.minimum}u, {limits.maximum}u}}"
        for _, limits in sorted(wire.SETTING_LIMITS.items())
    ]
    lines += [f"{row}, \\" for row in rows[:-1]]
    lines += [rows[-1], "", "#endif", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    print(wire_header(), end="")
